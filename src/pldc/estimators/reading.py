"""Reading a fitted model: what matters, how, why a row has its prediction, and what would change it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pldc.estimators.checks import choice, positive, shown
from pldc.function import PLDC, Contributions, Counterfactual, Curve, Explanation, Interactions
from pldc.function.contributions import METHODS, contributions
from pldc.function.counterfactual import nearest_crossing
from pldc.function.curve import partial_dependence
from pldc.function.max_affine import Array, real
from pldc.function.regions import FEW_PIECES
from pldc.function.swaps import interactions, sample

MOST_COLUMNS = 12  # whose interactions are found unless others are asked for: 66 pairs
REACH = 4.0  # standard deviations from the mean, within which a counterfactual is looked for


def named(name: str, given: Any) -> Mapping[Any, Any]:
    """Return a dictionary by features; an empty one for None."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict from feature (name or number), got {type(given).__name__}.")
    return given or {}


class Reading:
    """What both estimators answer of a model as a whole."""

    def interactions(self: Any, X: Any, columns: Sequence[Any] | None = None) -> Interactions:
        """Say how much the effect of each column depends on each other one.

        For pairs of rows of `X` both cells are swapped, together and each alone; the strength is the mean size of
        f(x) − f(x, one swapped) − f(x, other swapped) + f(x, both swapped). Zero: the columns do not interact.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            Rows to compare: at most 256 of them are looked at.
        columns : sequence of str or int, optional
            The columns whose pairs are looked at; by default the twelve most important.

        Returns
        -------
        Interactions
            With `strength`, in the units of the prediction (of classes: probability); ``print`` shows the strongest.
        """
        X, model = self._points(X), self.model_
        if columns is None:
            chosen = np.argsort(-model.importances, kind="stable")[:MOST_COLUMNS].tolist()
        else:
            chosen = sorted({_column(model.column_names, each) for each in columns})
        shuffled = X[np.random.RandomState(0).permutation(len(X))]
        rows = sample(shuffled, np.ones(len(X)))
        return Interactions(model.column_names, interactions(model.outcome, rows, model.source, chosen))

    def explorer(
        self: Any,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        rows: int = 0,
        simpler: Sequence[Any] = (4, 8, 16),
        title: str | None = None,
    ) -> None:
        """Write one HTML file on which the model can be tried: it runs in the browser, and needs no network.

        Sliders for every column move the prediction, its interval and its reasons; there are curves with all kinks, a
        map of two columns with its linear regions, the table of pieces, what would change the prediction, and what is
        proved. Predictions are those of `predict`. Whoever has the file has the model.

        Parameters
        ----------
        path : str or path
            Ends in ``.html``; an older file is replaced.
        X : array or DataFrame of shape (n, d), optional
            Rows from which the ends of the sliders and the typical row come. Without it they span 2.5 standard
            deviations around the mean, which the model knows.
        y : array of shape (n,), optional
            Targets of `X`. With them the page has a slider from few pieces to the whole model, each with its cost.
        rows : int, default=0
            How many rows of `X`, from the first on, go into the page to be looked at; by default none do.
        simpler : sequence of int or of simplified models, default=(4, 8, 16)
            Numbers of pieces that :meth:`simplify` is asked for, if there is `y`, which takes as long as these calls
            do; or models that it gave. ``()``: none.
        title : str, optional
        """
        from pldc.estimators.explorer import write_page

        check_is_fitted(self, "model_")
        write_page(self, path, X, y, rows, simpler, title)

    def _references(self: Any, reference: Any) -> Array:
        """Return the rows that contributions are measured from: one, or those of a table."""
        if reference is not None and np.ndim(reference) == 2:
            return np.asarray(self._points(reference))
        return self._one_row("reference", self.model_.reference(self._reference(reference)))[None]

    def _one_row(self: Any, name: str, given: Any) -> Array:
        """Check a row of numbers."""
        row = np.asarray(given, dtype=np.float64)
        if row.shape != self.model_.center.shape:
            raise ValueError(f"{name} must have {len(self.model_.center)} numbers, got the shape {row.shape}.")
        if not np.isfinite(row).all():
            raise ValueError(f"{name} must be finite; it contains NaN or infinity.")
        return row


class RegressionReading(Reading):
    """What :class:`pldc.DCRegressor` answers of its function."""

    def explain(
        self: Any, X: Any, reference: Any = None, neighbourhood: float = 0.1, method: str = "local"
    ) -> Explanation | Contributions:
        """Explain each prediction: by the affine function that rules at its row, or by how it differs from a reference.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), Series or dict by feature names, or table of rows, optional
            Where contributions are measured from; the mean of the training rows if not given. "path" and "shapley" take
            a table, too (2-D array or DataFrame), and are means over its rows.
        neighbourhood : float, default=0.1
            Of "local", in standard deviations of the training features. Rows closer to a kink get mean slopes over a
            ball of this radius: those of one side would not hold. 0 takes the slopes of one piece always.
        method : {"local", "path", "shapley"}, default="local"
            "local": the slopes that rule at the row, and how far from it; contributions are slope × (x − reference).
            "path": slopes are added up along the straight way from the reference (integrated gradients), exactly, kink
            by kink; contributions add up to f(x) − f(reference).
            "shapley": f(x) − f(reference) is shared by Shapley's rule, over all coalitions of columns, of which there
            may be 12. Columns outside a coalition are as in the reference.

        Returns
        -------
        Explanation
            Of "local": prediction, intercept, slopes, contributions, active pieces, and how far the slopes hold.
        Contributions
            Of the others: prediction, baseline, and what each column contributes. ``print`` shows a table of both.
        """
        X = self._points(X)
        if choice("method", method, ("local", *METHODS)) == "local":
            return self.model_.explain(X, self._reference(reference), neighbourhood)
        model = self.model_
        return contributions(
            model.function, X, self._references(reference), method, model.column_names, model.source, model.cut
        )

    def curve(self: Any, feature: Any, X: Any, between: tuple[float, float] | None = None) -> Curve:
        """Return how the mean prediction follows one feature: partial dependence, exact, with all its kinks.

        No grid is laid: every row's kinks along the feature are found, and between the kinks of all rows the mean is
        linear. With a single row as `X` it is the curve of that row.

        Parameters
        ----------
        feature : str or int
            Name of a column, or its number.
        X : array or DataFrame of shape (n, d)
            Rows whose other features stay as they are. (The model keeps none of its own.) Some hundred will do: time
            grows with their number.
        between : (float, float), optional
            Ends of the curve; by default the range of the feature in `X`.

        Returns
        -------
        Curve
            With `x` and `y` at both ends and all kinks; ``curve(values)`` evaluates it.
        """
        X, model = self._points(X), self.model_
        column = _column(model.column_names, feature)
        name, at, gap = model.column_names[column], self._number(feature), model.gap_of(column)
        if gap is not None:  # a cell that is given is not missing
            X = X.copy()
            X[:, gap] = 0.0
        low, high = (X[:, at].min(), X[:, at].max()) if between is None else _pair("between", between)
        return partial_dependence(model.function, at, X, float(low), float(high), model.cut, name)

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

        Distance is the sum of the changes of all features, in standard deviations of the training rows, each times its
        cost. The answer is exact: by linear programs for a function without hinges of one term (``simplify``,
        ``n_pieces="rows"``), else by a mixed-integer program.

        Parameters
        ----------
        x : array of shape (d,), Series, dict by feature names, or table of one row
        threshold : float
            To be reached from the side on which the prediction of `x` is.
        cost : dict, optional
            From feature (name or number) to the cost of a standard deviation; 1 for those not named.
        fixed : sequence of str or int, optional
            Features that must not change. Categories, dates and missing cells never do.
        bounds : dict, optional
            From feature to (low, high), None for a side that is free; by default within four standard deviations of the
            training mean, and `x` itself.
        max_seconds : float, default=30
            Of a mixed-integer program. Then the best row so far is returned, with a bound on how near one can be.

        Returns
        -------
        Counterfactual
            With `point`, `changes`, `cost`, `bound`; ``print`` shows a table.
        """
        check_is_fitted(self, "model_")
        model = self.model_
        points = self._points(x) if np.ndim(x) == 2 else self._one_row("x", model.reference(self._reference(x)))[None]
        if len(points) != 1:
            raise ValueError(f"A counterfactual is of one row, got a table of {len(points)}.")
        row, (low, high) = points[0], model.cut
        if not isinstance(threshold, Real) or not low <= threshold <= high or not np.isfinite(float(threshold)):
            raise ValueError(
                f"threshold must be a number that predictions can reach, from {low:g} to {high:g} (clip=False when "
                f"fitting lets them go on), got {shown(threshold)}."
            )
        price = np.ones(len(row))
        for name, value in named("cost", cost).items():
            price[self._number(name)] = positive(f"cost of {name!r}", value)
        box, limit = self._box(row, fixed, named("bounds", bounds)), positive("max_seconds", max_seconds)
        found = nearest_crossing(model.function, row, float(threshold), price / model.spread, box, limit)
        if found.point is None:
            why = "exists;" if np.isinf(found.bound) else f"was found in {limit:g} seconds: raise max_seconds,"
            why += " widen the bounds or fix fewer features"
            raise ValueError(f"No row within the bounds with a prediction of {threshold:g} {why}.")
        before, after = model.predict(np.array([row, found.point])).tolist()
        names = model.feature_names or model.column_names
        return Counterfactual(names, row, found.point, before, after, float(threshold), found.cost, found.bound)

    def _box(self: Any, row: Array, fixed: Sequence[Any], bounds: Mapping[Any, Any]) -> Array:
        """Return the lowest and highest value that each feature may take."""
        model = self.model_
        box = model.center[:, None] + REACH * np.outer(model.spread, [-1.0, 1.0])
        box = np.column_stack([np.minimum(box[:, 0], row), np.maximum(box[:, 1], row)])
        for name, pair in bounds.items():
            at = self._number(name)
            box[at] = [old if given is None else given for given, old in zip(pair, box[at], strict=True)]
            if not box[at, 0] <= row[at] <= box[at, 1]:
                raise ValueError(f"bounds of {name!r} are {shown(pair)}; x must lie within, and is at {row[at]:g}.")
        held = np.ones(len(row), dtype=bool)  # categories, dates and missing cells stay as they are
        for column in range(len(model.column_names)):
            number, gap = model.number_of(column), model.gap_of(column)
            if number is not None:
                held[number] = gap is not None and row[gap] == 1.0
        held[[self._number(name) for name in fixed]] = True
        box[held] = row[held, None]
        return box

    def region_table(self: Any, X: Any, tol: float | None = None) -> dict[str, Any]:
        """List which linear function rules where: the rows of `X` in each region, where it is, and its slopes.

        For a readable table first call ``model.simplify(X, y)``: it gives one function of few pieces.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        tol : float, optional
            Pieces are first dropped as long as values at the rows change by no more than this share of their range. 0
            drops none: slopes are those of :meth:`explain` with ``neighbourhood=0``. By default 0 for one function of
            64 pieces or fewer in each part, else 1e-2.

        Returns
        -------
        dict of columns
            Fullest region first; ``pandas.DataFrame`` and ``polars.DataFrame`` take it. "where" is the shortest rule of
            thresholds that tells the rows of the region from the others, with its "precision" and "recall"; "decided
            by" has the features that tell them best, each alone; "value" is that of the function at the typical row of
            the region, which follows. :meth:`PLDC.regions` of ``function_`` also says which region each row is in.
        """
        X = self._points(X)
        return thinned(self.model_.function, X, tol).regions(X).columns(self.model_.feature_names)

    def _number(self: Any, column: Any) -> int:
        """Return the feature of a column that holds numbers."""
        model = self.model_
        found = model.number_of(_column(model.column_names, column))
        if found is None:
            raise ValueError(f"The column {column!r} holds no numbers: it stays as it is.")
        return int(found)


def thinned(f: PLDC, X: Array, tol: float | None) -> PLDC:
    """Return a function whose regions can be listed: without the pieces that `tol` lets go."""
    if tol is not None and (not isinstance(tol, Real) or not 0 <= float(tol) < np.inf):
        raise ValueError(f"tol must be a number ≥ 0, got {tol!r:.80}.")
    if tol is None:
        tol = 0.0 if f.is_plain and max(f.n_pieces) <= FEW_PIECES else 1e-2
    return f.prune(X, tol=tol) if tol != 0 else f  # at 0, too, dropping could swap pieces that tie at a row


def _column(names: Sequence[str], given: Any) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(given, str) and given in names:
        return names.index(given)
    if isinstance(given, Integral) and int(given) in range(len(names)):
        return int(given)
    raise ValueError(f"There is no column {shown(given)}: the model has {shown(list(names))}.")


def _pair(name: str, given: Any) -> tuple[float, float]:
    ends = real(given, name)
    if not (ends.shape == (2,) and np.isfinite(ends).all() and ends[0] < ends[1]):
        raise ValueError(f"{name} must be two finite numbers (low, high), got {shown(given)}.")
    return float(ends[0]), float(ends[1])
