"""Reading a fitted model: what matters, how, why a row has its prediction, and what would change it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pldc.estimators.checks import choice, shown
from pldc.estimators.tables import is_table
from pldc.function import PLDC, Contributions, Curve, Explanation, Interactions, LevelMeans
from pldc.function.contributions import METHODS, contributions
from pldc.function.curve import category_curve, partial_dependence
from pldc.function.max_affine import Array, real
from pldc.function.regions import FEW_PIECES, Regions, RegionTable
from pldc.function.swaps import interactions, sample

SPREADS = 2.5  # standard deviations on either side of the mean that stand for the range of the training rows
MOST_COLUMNS = 12  # whose interactions are found unless others are asked for: 66 pairs


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
            chosen = sorted({column_of(model.column_names, each) for each in listed(columns)})
            if len(chosen) < 2:
                raise ValueError(f"Interactions are of pairs: columns must name two at least, got {shown(columns)}.")
        if (X[0] == X).all():
            raise ValueError(
                f"interactions(X) compares rows with each other: give two different ones at least, got {len(X)} row"
                f"{'s that are all alike' * (len(X) > 1)}."
            )
        shuffled = X[np.random.RandomState(0).permutation(len(X))]
        rows = sample(shuffled, np.ones(len(X)))
        return Interactions(model.column_names, interactions(model.outcome, rows, model.source, chosen))

    def _reference(self: Any, reference: Any) -> Any:
        """Return a point given by its columns, or as a table of one row, in the features that the function sees."""
        columns = self.model_.columns
        if reference is not None and is_table(reference):
            if len(reference) != 1:
                raise ValueError(
                    f"Slopes need one reference, got a table of {len(reference)} rows: give one of them, or "
                    "method='path' or 'shapley', which take the mean over them."
                )
            return self._points(reference)[0]
        if reference is None or columns is None:
            return reference
        if hasattr(reference, "keys"):
            return columns.apply({name: [reference[name]] for name in reference.keys()})[0]  # noqa: SIM118 (a Series)
        return columns.apply([list(reference)])[0]

    def explorer(
        self: Any,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        rows: int = 0,
        simpler: Sequence[Any] = (4, 8, 16),
        title: str | None = None,
        target: str | None = None,
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
            By default the names of the target and of the first columns.
        target : str, optional
            What is predicted, as the page shall call it. By default the name of `y`, if it is a Series, or of the
            column that ``pldc fit`` was given.
        """
        from pldc.estimators.explorer import write_page

        check_is_fitted(self, "model_")
        write_page(self, path, X, y, rows, simpler, title, target)

    def _references(self: Any, reference: Any) -> Array:
        """Return the rows that contributions are measured from: one, or those of a table."""
        if reference is not None and is_table(reference):
            return np.asarray(self._points(reference))
        return self._one_row("reference", self.model_.reference(self._reference(reference)))[None]

    def _curve(self: Any, f: PLDC, feature: Any, X: Array, between: Any, limits: tuple[float, float]) -> Any:
        """Return how the mean of f, cut to limits, follows a column."""
        model = self.model_
        column = column_of(model.column_names, feature)
        name, at, gap = model.column_names[column], model.number_of(column), model.gap_of(column)
        if at is None:
            if model.columns.columns[column].kind == "date":
                raise ValueError(
                    f"The column {name!r} holds dates, along whose cycles predictions are not piecewise linear: "
                    "compare predictions at the dates of interest instead."
                )
            if between is not None:
                raise ValueError(f"between is for columns of numbers; {name!r} holds categories.")
            levels, places, values = model.columns.each_level(column)
            return category_curve(f, X, name, levels, places, values, limits)
        if column in model.booleans:
            if between is not None:
                raise ValueError(f"between is for columns of numbers; {name!r} holds booleans.")
            if gap is None:
                return category_curve(f, X, name, (False, True), np.array([at]), np.array([[0.0], [1.0]]), limits)
            fill = model.columns.features[at].fill
            values = np.array([[0.0, 0.0], [1.0, 0.0], [fill, 1.0]])
            return category_curve(f, X, name, (False, True, None), np.array([at, gap]), values, limits)
        if gap is not None:  # a cell that is given is not missing
            X = X.copy()
            X[:, gap] = 0.0
        low, high = self._ends(at, X[:, at]) if between is None else _pair("between", between)
        return partial_dependence(f, at, X, float(low), float(high), limits, name)

    def _ends(self: Any, feature: int, x: Array) -> tuple[float, float]:
        """Return the ends of a curve along a feature: the range of its numbers; of one number, that of the training."""
        ends = np.array([x.min(), x.max()])
        if ends[0] == ends[1]:
            near = self.model_.center[feature] + np.array([-SPREADS, SPREADS]) * self.model_.spread[feature]
            ends = np.array([min(ends[0], near[0]), max(ends[1], near[1])])
        return float(ends[0]), float(ends[1])

    def _told(self: Any, found: Any) -> RegionTable:
        """Return regions as a table in the words of the model."""
        words = {"opposites": self.model_.opposites}
        if not isinstance(found, Regions):
            words = {"regions": replace(found.regions, **words)}
        return RegionTable(replace(found, **words), self.model_.feature_names)

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

    def curve(self: Any, feature: Any, X: Any = None, between: tuple[float, float] | None = None) -> Curve | LevelMeans:
        """Return how the mean prediction follows one column: partial dependence, exact, with all its kinks.

        No grid is laid: every row's kinks along the column are found, and between the kinks of all rows the mean is
        linear. With a single row as `X` it is the curve of that row.

        Parameters
        ----------
        feature : str or int
            Name of a column, or its number; one of numbers or of categories.
        X : array or DataFrame of shape (n, d)
            Rows whose other columns stay as they are. (The model keeps none of its own.) Some hundred will do: time
            grows with their number.
        between : (float, float), optional
            Ends of the curve, beyond which it is NaN; by default the range of the column in `X`. Where `X` has one
            number alone, 2.5 standard deviations on either side of the mean of the training rows.

        Returns
        -------
        Curve
            With `x` and `y` at both ends and all kinks; ``curve(values)`` evaluates it.
        LevelMeans
            Of a category, and of booleans: the mean prediction if all rows had that level, level by level.
        """
        X = rows_for_curve(self, X)
        return self._curve(self.model_.function, feature, X, between, self.model_.cut)

    def region_table(self: Any, X: Any, tol: float | None = None) -> RegionTable:
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
        RegionTable
            A dict of columns, fullest region first: ``print`` shows it as text, ``pandas.DataFrame`` and
            ``polars.DataFrame`` take it. "where" is the shortest rule of
            thresholds that tells the rows of the region from the others, with its "precision" and "recall"; "decided
            by" has the features that tell them best, each alone; "value" is that of the function at the typical row of
            the region, which follows. :meth:`PLDC.regions` of ``function_`` also says which region each row is in.
        """
        X = self._points(X)
        return self._told(thinned(self.model_.function, X, tol).regions(X))


def thinned(f: PLDC, X: Array, tol: float | None) -> PLDC:
    """Return a function whose regions can be listed: without the pieces that `tol` lets go."""
    if tol is not None and (not isinstance(tol, Real) or not 0 <= float(tol) < np.inf):
        raise ValueError(f"tol must be a number ≥ 0, got {tol!r:.80}.")
    if tol is None:
        tol = 0.0 if f.is_plain and max(f.n_pieces) <= FEW_PIECES else 1e-2
    return f.prune(X, tol=tol) if tol != 0 else f  # at 0, too, dropping could swap pieces that tie at a row


def listed(given: Any) -> list[Any]:
    """Return columns as a list; one name or number is a list of itself."""
    return [given] if isinstance(given, str | Integral) else list(given)


def rows_for_curve(model: Any, X: Any) -> Array:
    """Check the rows that a curve is a mean over."""
    if X is None:
        raise TypeError(
            f"{type(model).__name__}.curve(feature, X) needs rows X, over which it is a mean: give those of the fit, "
            "or some hundred of them."
        )
    return np.asarray(model._points(X))


def column_of(names: Sequence[str], given: Any) -> int:
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
