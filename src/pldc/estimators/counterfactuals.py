"""What would change a prediction: the nearest row beyond a threshold, in the columns that were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pldc.columns.cells import Table, is_missing
from pldc.estimators.checks import positive, shown
from pldc.estimators.reading import column_of, listed
from pldc.estimators.tables import is_table
from pldc.function import Counterfactual
from pldc.function.counterfactual import nearest_crossing, nearest_lead
from pldc.function.max_affine import Array
from pldc.function.nearest import Nearest

REACH = 4.0  # standard deviations from the mean, within which a counterfactual is looked for


class Given(NamedTuple):
    """A row that was given: its features, and the cells of its columns."""

    row: Array
    cells: list[Any]


def named(name: str, given: Any) -> Mapping[Any, Any]:
    """Return a dictionary by features; an empty one for None."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict from feature (name or number), got {type(given).__name__}.")
    return given or {}


class Question(NamedTuple):
    """What is asked of a row, in features: what a unit of each costs, where it may go, and which take whole numbers."""

    given: Given
    cost: Array
    box: Array
    whole: Array
    seconds: float


class Counterfactuals:
    """What both estimators share when they answer "what would change this?"."""

    def _question(
        self: Any, x: Any, cost: Any, fixed: Sequence[Any], bounds: Any, whole: Sequence[Any], max_seconds: float
    ) -> Question:
        """Check the parameters of a question."""
        check_is_fitted(self, "model_")
        given, price = self._given_row(x), 1.0 / self.model_.spread
        for name, value in named("cost", cost).items():
            price[self._number(name)] *= positive(f"cost of {name!r}", value)
        seconds, numbers = positive("max_seconds", max_seconds), [self._number(name) for name in listed(whole)]
        for name, at in zip(listed(whole), numbers, strict=True):
            if not is_missing(given.cells[column_of(self.model_.column_names, name)]) and given.row[at] % 1:
                raise ValueError(f"whole names the column {name!r}, but the cell of x is {given.row[at]:g}.")
        box, steps = self._box(given, fixed, named("bounds", bounds), numbers)
        return Question(given, price, box, steps, seconds)

    def _answered(
        self: Any, question: Question, found: Nearest, before: Any, reached: Any, threshold: Any, wanted: str
    ) -> Counterfactual:
        """Return the answer in the columns of the table; `reached` is a function of the nearest row."""
        row, cells = question.given
        if found.point is None:
            why = "exists;"
            if np.isfinite(found.bound):
                why = f"was found in {question.seconds:g} seconds, or rounding undid it: raise max_seconds,"
            raise ValueError(
                f"No row within the bounds {wanted} {why} widen the bounds or fix fewer features." + self._held(cells)
            )
        return Counterfactual(
            features=self.model_.column_names,
            x=as_array(cells),
            point=as_array([self._cell(k, cell, row, found.point) for k, cell in enumerate(cells)]),
            prediction=before,
            reached=reached(found.point),
            threshold=threshold,
            cost=found.cost,
            bound=found.bound,
        )

    def _held(self: Any, cells: list[Any]) -> str:
        """Say which columns stay as they are whatever the bounds."""
        names, found = self.model_.column_names, dict[str, list[str]]()
        for k, cell in enumerate(cells):
            if self.model_.number_of(k) is None:
                kind = self.model_.columns.columns[k].kind
                found.setdefault({"date": "dates"}.get(kind, "categories"), []).append(names[k])
            elif is_missing(cell):
                found.setdefault("missing cells", []).append(names[k])
        told = [f"{what} ({', '.join(map(repr, columns)):.80})" for what, columns in found.items()]
        return f" These stay as they are: {', '.join(told)}." if told else ""

    def _given_row(self: Any, x: Any) -> Given:
        """Read one row, and keep its cells as they are."""
        model = self.model_
        if not is_table(x):
            row, names = self._one_row("x", model.reference(self._reference(x))), model.column_names
            if hasattr(x, "keys"):
                keys = names if set(names) <= set(x.keys()) else range(len(names))
                cells = [x[key] for key in keys]
            else:
                cells = list(x)
        else:
            points = self._points(x)
            if len(points) != 1:
                raise ValueError(f"A counterfactual is of one row, got a table of {len(points)}.")
            row, cells = points[0], [column.values[0] for column in Table.read(x).columns]
        numbers = [model.number_of(k) is not None for k in range(len(cells))]
        return Given(row, [plain(c, k in model.booleans) if numbers[k] else c for k, c in enumerate(cells)])

    def _cell(self: Any, column: int, cell: Any, row: Array, point: Array) -> Any:
        """Return the cell of a column at the point: as it was given, if it does not change."""
        at = self.model_.number_of(column)
        if at is None or point[at] == row[at]:
            return cell
        if isinstance(cell, timedelta):
            return timedelta(days=float(point[at]))
        return bool(point[at]) if isinstance(cell, bool) else float(point[at])

    def _box(
        self: Any, given: Given, fixed: Sequence[Any], bounds: Mapping[Any, Any], numbers: Sequence[int]
    ) -> tuple[Array, Array]:
        """Return the lowest and highest value that each feature may take, and which take whole numbers."""
        model, (row, cells) = self.model_, given
        box = model.center[:, None] + REACH * np.outer(model.spread, [-1.0, 1.0])
        box = np.column_stack([np.minimum(box[:, 0], row), np.maximum(box[:, 1], row)])
        held, whole = np.ones(len(row), dtype=bool), np.isin(np.arange(len(row)), numbers)
        for column, cell in enumerate(cells):  # categories, dates and missing cells stay as they are
            at = model.number_of(column)
            if at is not None:
                held[at] = is_missing(cell)
                if column in model.booleans and row[at] in (0.0, 1.0):
                    whole[at], box[at] = True, [0.0, 1.0]
        for name, pair in bounds.items():
            at, column = self._number(name), column_of(model.column_names, name)
            if is_missing(cells[column]):
                raise ValueError(f"The cell {name!r} of x is missing, and stays so: give no bounds of it.")
            ends = [old if end is None else end for end, old in zip(pair_of(name, pair), box[at], strict=True)]
            if not ends[0] <= row[at] <= ends[1]:
                raise ValueError(f"bounds of {name!r} are {shown(pair)}; x must lie within, and is at {row[at]:g}.")
            box[at] = np.clip(ends, 0.0, 1.0) if whole[at] and column in model.booleans else ends
        for name in listed(fixed):
            held[model.source == column_of(model.column_names, name)] = True
        box[held] = row[held, None]
        return box, whole & ~held

    def _number(self: Any, column: Any) -> int:
        """Return the feature of a column that holds numbers."""
        model = self.model_
        found = model.number_of(column_of(model.column_names, column))
        if found is None:
            raise ValueError(f"The column {column!r} holds no numbers: it stays as it is.")
        return int(found)


class RegressionCounterfactuals(Counterfactuals):
    """What :class:`pldc.DCRegressor` answers to "what would change this?"."""

    def counterfactual(
        self: Any,
        x: Any,
        threshold: float,
        *,
        cost: Mapping[Any, float] | None = None,
        fixed: Sequence[Any] = (),
        bounds: Mapping[Any, tuple[float | None, float | None]] | None = None,
        whole: Sequence[Any] = (),
        max_seconds: float = 30.0,
    ) -> Counterfactual:
        """Find what would change a prediction: the nearest row at which it crosses a threshold.

        Distance is the sum of the changes of all columns, in standard deviations of the training rows, each times its
        cost. The answer comes by linear programs for a function without hinges of one term (``simplify``,
        ``n_pieces="rows"``) and without booleans or whole numbers, else by a mixed-integer program. It is exact unless
        time is out, as it mostly is for a default fit, a mean of several functions: ``simplify`` it first. Then the
        best row that was found by seeded search or the program is returned, and `bound` says how near one can be.

        Parameters
        ----------
        x : array of shape (d,), Series, dict by column names, or table of one row
        threshold : float
            To be reached from the side on which the prediction of `x` is.
        cost : dict, optional
            From column (name or number) to the cost of a standard deviation; 1 for those not named.
        fixed : sequence of str or int, optional
            Columns that must not change. Categories, dates and missing cells never do. Columns that held booleans in
            training change from one to the other.
        bounds : dict, optional
            From column to (low, high), None for a side that is free; by default within four standard deviations of the
            training mean, and `x` itself. These may lie outside the range of the training rows, which the model does
            not keep: give bounds where cells must be possible.
        whole : sequence of str or int, optional
            Columns that take whole numbers, such as a number of rooms. Nothing else says so.
        max_seconds : float, default=30
            Of a mixed-integer program. A search before it takes a fifth of this at most, and so does one after it.

        Returns
        -------
        Counterfactual
            With `point`, `changes`, `cost`, `bound`, in the columns of the table; ``print`` shows a table.
        """
        question = self._question(x, cost, fixed, bounds, whole, max_seconds)
        model, f, row = self.model_, self.model_.function, question.given.row
        low, high = model.cut
        if not isinstance(threshold, Real) or not low <= threshold <= high or not np.isfinite(float(threshold)):
            raise ValueError(
                f"threshold must be a number that predictions can reach, from {low:g} to {high:g} (clip=False when "
                f"fitting lets them go on), got {shown(threshold)}."
            )
        before, found = float(model.predict(row[None])[0]), Nearest(row, 0.0, 0.0)
        if before != threshold:  # one that is cut to the threshold has reached it
            to = float(threshold)
            found = nearest_crossing(f, row, to, question.cost, question.box, question.seconds, question.whole)

        def reached(point: Array) -> float:
            return float(model.predict(point[None])[0])

        wanted = f"with a prediction of {threshold:g}"
        return self._answered(question, found, before, reached, float(threshold), wanted)


class ClassCounterfactuals(Counterfactuals):
    """What :class:`pldc.DCClassifier` answers to "what would change this?"."""

    def counterfactual(
        self: Any,
        x: Any,
        label: Any = None,
        *,
        cost: Mapping[Any, float] | None = None,
        fixed: Sequence[Any] = (),
        bounds: Mapping[Any, tuple[float | None, float | None]] | None = None,
        whole: Sequence[Any] = (),
        max_seconds: float = 30.0,
    ) -> Counterfactual:
        """Find what would change a prediction: the nearest row that is of a class.

        Distance is the sum of the changes of all columns, in standard deviations of the training rows, each times its
        cost. Found by a mixed-integer program, exactly unless time is out: the score of the class must be as high as
        all others.

        Parameters
        ----------
        x : array of shape (d,), Series, dict by column names, or table of one row
        label : optional
            The class. None: any other than that of `x`, whichever is nearest; with more than two classes a program for
            each.
        cost, fixed, bounds, whole
            As for :meth:`DCRegressor.counterfactual`.
        max_seconds : float, default=30
            In all. Then the best row so far is returned, with a bound on how near one can be.

        Returns
        -------
        Counterfactual
            With `point`, `changes`, `cost`, `bound`, in the columns of the table; `prediction` and `reached` are
            classes. ``print`` shows a table.
        """
        question = self._question(x, cost, fixed, bounds, whole, max_seconds)
        model, names = self.model_, self.classes_.tolist()

        def reached(point: Array) -> Any:
            return names[int(model.scores(point[None])[0].argmax())]

        functions, row = list(model.functions), question.given.row
        before = reached(row)
        others = [name for name in names if name != before]
        if label is not None:
            if np.ndim(label) or label not in names:
                raise ValueError(f"label must be one of the classes, {shown(names)}; got {shown(label)}.")
            label = names[names.index(label)]  # as a value of Python
        found = Nearest(row, 0.0, 0.0)
        if label is None and len(others) > 1:  # that one score passes the highest is enough
            at, share = names.index(before), question.seconds / len(others)
            pairs = [sorted((at, k)) for k in range(len(names)) if k != at]  # the first of them wins ties
            each = [
                nearest_lead(two, 1 - pair.index(at), row, question.cost, question.box, share, question.whole)
                for pair in pairs
                for two in [[functions[k] for k in pair]]
            ]
            found = min(each, key=lambda one: (one.point is None, one.cost))
            found = found._replace(bound=min(one.bound for one in each))
        elif before != (label := others[0] if label is None else label):
            at = names.index(label)
            found = nearest_lead(functions, at, row, question.cost, question.box, question.seconds, question.whole)
        wanted = "of another class" if label is None else f"of the class {label!r:.80}"
        answer = self._answered(question, found, before, reached, label, wanted)
        return answer if label is not None else replace(answer, threshold=answer.reached)


def pair_of(name: Any, given: Any) -> tuple[float | None, float | None]:
    """Return bounds of a column: two numbers, or None for a side that is free."""
    try:
        low, high = given
        ends = [None if end is None else float(end) for end in (low, high)]
    except (TypeError, ValueError, OverflowError):
        ends = [np.nan]
    if not all(end is None or np.isfinite(end) for end in ends):
        raise ValueError(
            f"bounds of {name!r} must be two finite numbers (low, high), None for a side that is free; got "
            f"{shown(given)}."
        )
    low, high = ends
    if low is not None and high is not None and low > high:
        raise ValueError(f"bounds of {name!r} are {shown(given)}: the lower end is above the upper; give (low, high).")
    return low, high


def plain(cell: Any, boolean: bool) -> Any:
    """Return a cell as a value of Python with which one can count; others as they are."""
    if is_missing(cell):
        return cell
    if isinstance(cell, np.timedelta64):
        return cell.astype("timedelta64[us]").item()
    if isinstance(cell, (bool, np.bool_)) or (boolean and cell in (0, 1)):
        return bool(cell)
    return float(cell) if isinstance(cell, (Real, Decimal)) else cell


def as_array(cells: list[Any]) -> Array:
    """Return cells as an array: of floats, where all of them are."""
    out = np.empty(len(cells), dtype=np.float64 if all(type(cell) is float for cell in cells) else object)
    for k, cell in enumerate(cells):
        out[k] = cell
    return out
