"""What would change a prediction: the nearest row beyond a threshold, in the columns that were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pldc.columns.cells import Table, is_missing
from pldc.estimators.checks import positive, shown
from pldc.estimators.reading import column_of
from pldc.function import Counterfactual
from pldc.function.counterfactual import Nearest, nearest_crossing
from pldc.function.max_affine import Array

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


class Counterfactuals:
    """What :class:`pldc.DCRegressor` answers to "what would change this?"."""

    def counterfactual(
        self: Any,
        x: Any,
        threshold: float,
        *,
        cost: Mapping[Any, float] | None = None,
        fixed: Sequence[Any] = (),
        bounds: Mapping[Any, tuple[float | None, float | None]] | None = None,
        max_seconds: float = 30.0,
    ) -> Counterfactual:
        """Find what would change a prediction: the nearest row at which it crosses a threshold.

        Distance is the sum of the changes of all columns, in standard deviations of the training rows, each times its
        cost. The answer is exact: by linear programs for a function without hinges of one term (``simplify``,
        ``n_pieces="rows"``) and without booleans, else by a mixed-integer program.

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
            training mean, and `x` itself.
        max_seconds : float, default=30
            Of a mixed-integer program. Then the best row so far is returned, with a bound on how near one can be.

        Returns
        -------
        Counterfactual
            With `point`, `changes`, `cost`, `bound`, in the columns of the table; ``print`` shows a table.
        """
        check_is_fitted(self, "model_")
        model, f, (row, cells) = self.model_, self.model_.function, self._given_row(x)
        low, high = model.cut
        if not isinstance(threshold, Real) or not low <= threshold <= high or not np.isfinite(float(threshold)):
            raise ValueError(
                f"threshold must be a number that predictions can reach, from {low:g} to {high:g} (clip=False when "
                f"fitting lets them go on), got {shown(threshold)}."
            )
        price = np.ones(len(row))
        for name, value in named("cost", cost).items():
            price[self._number(name)] = positive(f"cost of {name!r}", value)
        limit, before = positive("max_seconds", max_seconds), float(model.predict(row[None])[0])
        box, two = self._box(Given(row, cells), fixed, named("bounds", bounds))
        found = Nearest(row, 0.0, 0.0)  # one that is cut to the threshold has reached it
        if before != threshold:
            found = nearest_crossing(f, row, float(threshold), price / model.spread, box, limit, two)
        if found.point is None:
            why = "exists;" if np.isinf(found.bound) else f"was found in {limit:g} seconds: raise max_seconds,"
            why += " widen the bounds or fix fewer features"
            raise ValueError(f"No row within the bounds with a prediction of {threshold:g} {why}.")
        return Counterfactual(
            features=model.column_names,
            x=as_array(cells),
            point=as_array([self._cell(k, cell, row, found.point) for k, cell in enumerate(cells)]),
            prediction=before,
            reached=float(model.predict(found.point[None])[0]),
            threshold=float(threshold),
            cost=found.cost,
            bound=found.bound,
        )

    def _given_row(self: Any, x: Any) -> Given:
        """Read one row, and keep its cells as they are."""
        model = self.model_
        if np.ndim(x) != 2:
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

    def _box(self: Any, given: Given, fixed: Sequence[Any], bounds: Mapping[Any, Any]) -> tuple[Array, Array]:
        """Return the lowest and highest value that each feature may take, and which take no others."""
        model, (row, cells) = self.model_, given
        box = model.center[:, None] + REACH * np.outer(model.spread, [-1.0, 1.0])
        box = np.column_stack([np.minimum(box[:, 0], row), np.maximum(box[:, 1], row)])
        held, two = np.ones(len(row), dtype=bool), np.zeros(len(row), dtype=bool)
        for column, cell in enumerate(cells):  # categories, dates and missing cells stay as they are
            at = model.number_of(column)
            if at is not None:
                held[at] = is_missing(cell)
                if column in model.booleans and row[at] in (0.0, 1.0):
                    two[at], box[at] = True, [0.0, 1.0]
        for name, pair in bounds.items():
            at = self._number(name)
            if is_missing(cells[column_of(model.column_names, name)]):
                raise ValueError(f"The cell {name!r} of x is missing, and stays so: give no bounds of it.")
            ends = [old if end is None else end for end, old in zip(pair_of(name, pair), box[at], strict=True)]
            if not ends[0] <= row[at] <= ends[1]:
                raise ValueError(f"bounds of {name!r} are {shown(pair)}; x must lie within, and is at {row[at]:g}.")
            box[at] = ends
            if two[at] and not (ends[0] <= 0.0 and ends[1] >= 1.0):  # the other value is out of bounds
                held[at] = True
            elif two[at]:
                box[at] = [0.0, 1.0]
        for name in fixed:
            held[model.source == column_of(model.column_names, name)] = True
        box[held] = row[held, None]
        return box, two & ~held

    def _number(self: Any, column: Any) -> int:
        """Return the feature of a column that holds numbers."""
        model = self.model_
        found = model.number_of(column_of(model.column_names, column))
        if found is None:
            raise ValueError(f"The column {column!r} holds no numbers: it stays as it is.")
        return int(found)


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
    return ends[0], ends[1]


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
