"""What a fitted regressor answers beyond its prediction."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pldc.estimators.checks import positive
from pldc.fit.program import Path, solve_path
from pldc.fit.spine import FOLDS
from pldc.function import PLDC, Explanation
from pldc.function.max_affine import Array
from pldc.problem.penalties import Joint
from pldc.select.bound import Bound, bound_of_fit
from pldc.select.discrepancy import discrepancy_of
from pldc.solve.progress import shown

FEW_PIECES = 64  # of each part, up to which a table of regions shows them all


class Answers:
    """Methods of :class:`pldc.DCRegressor`: intervals, bounds, explanations, tables."""

    def path(self: Any, X: Any, y: Any, lams: ArrayLike, sample_weight: ArrayLike | None = None) -> Path:
        """Solve the program along several values of `lam`, each from the one before; the estimator is not changed.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        lams : array of shape (k,)
            In any order; solved from the largest to the smallest.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        Path
            Functions, certificates, losses and seminorms, for `lams` in decreasing order. Draw it with
            :func:`pldc.view.plots.plot_path`.
        """
        copy = clone(self)
        rows = copy._rows_of(X, y, sample_weight)
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        values = np.sort(np.asarray(lams, dtype=np.float64).ravel())[::-1]
        if not len(values) or not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"lams must hold positive finite numbers, got {lams!r}.")
        with shown(self.verbose) as log:
            return solve_path(rows, copy._settings(rows, folds=FOLDS), values, log)

    def predict_interval(self: Any, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends of prediction intervals at the rows of X.

        They reach as far from the prediction as the errors of the fits of the folds went, at rows left out: further
        where these were large, less far where they were small. So they
        need ``lam="cv"``, the default, and at least four distinct rows. They hold about `coverage` of new targets in
        practice; nothing is guaranteed, since the smoothing is chosen by the same folds. With fewer than
        1 / (1 − coverage) rows the largest error stands in for a quantile that is not there.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        coverage : float, default=0.9
        """
        X = self._points(X)
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"coverage must lie strictly between 0 and 1, got {coverage!r}.")
        return self.model_.interval(X, float(coverage))

    def generalization_bound(
        self: Any, X: Any, y: Any, delta: float = 0.05, M: float | None = None, sample_weight: ArrayLike | None = None
    ) -> Bound:
        """Bound the expected loss of `function_`, with probability at least 1 − delta; see :mod:`pldc.select.bound`.

        The theorem is for the worst case: on tables of ordinary size the bound is far above the loss on new rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The rows of the fit.
        y : array of shape (n,)
        delta : float, default=0.05
        M : float, optional
            Bound on the size of f and of the noise around the mean of y, in the units of y. None: estimated by the
            largest deviation of y, or of the fit, from the mean.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        Bound
            Every term, in the units of the loss of y; ``print`` shows them with the assumptions. The seminorm is the
            joint one in standardised features, bounded by the pieces of `function_`.
        """
        self._points(X)
        if not (isinstance(delta, Real) and 0 < delta < 1):
            raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r}.")
        rows = clone(self)._rows_of(X, y, sample_weight)
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        if len(rows.y) < 2:
            raise ValueError("The discrepancy needs at least two rows.")
        recipe, number = self._recipe(), None if M is None else positive("M", M)
        joint = replace(recipe, standardize=True, penalty=Joint())
        halves = discrepancy_of(joint, rows, 0 if self.random_state is None else self.random_state)
        return bound_of_fit(self.function_, recipe, rows, halves.upper, number, float(delta))

    def explain(self: Any, X: Any, reference: Any = None, neighbourhood: float = 0.1) -> Explanation:
        """Explain each prediction by the affine function that rules at its row.

        It also says how far from the row that function rules. Next to a kink, slopes are means over a neighbourhood:
        those of one side would not hold.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), Series or dict by feature names, optional
            Contributions are slope × (x − reference); the mean of the training rows if not given.
        neighbourhood : float, default=0.1
            In standard deviations of the training features. Rows closer to a kink get mean slopes over a ball of this
            radius. 0 takes the slopes of one piece always.

        Returns
        -------
        Explanation
            prediction, intercept, slopes, contributions, active pieces, and how far the slopes hold, row by row;
            ``print`` shows a table.
        """
        X = self._points(X)
        return self.model_.explain(X, reference, neighbourhood)

    def region_table(self: Any, X: Any, tol: float | None = None) -> dict[str, Any]:
        """List which linear function rules where: the rows of `X` in each region, and its slopes.

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
            Fullest region first; ``pandas.DataFrame`` and ``polars.DataFrame`` take it. :meth:`PLDC.regions` of
            ``function_`` also says which region each row is in.
        """
        X = self._points(X)
        return thinned(self.function_, X, tol).regions(X).columns(self.model_.feature_names)


def thinned(f: PLDC, X: Array, tol: float | None) -> PLDC:
    """Return a function whose regions can be listed: without the pieces that `tol` lets go."""
    if tol is not None and (not isinstance(tol, Real) or not 0 <= float(tol) < np.inf):
        raise ValueError(f"tol must be a number ≥ 0, got {tol!r:.80}.")
    if tol is None:
        tol = 0.0 if f.is_plain and max(f.n_pieces) <= FEW_PIECES else 1e-2
    return f.prune(X, tol=tol) if tol != 0 else f  # at 0, too, dropping could swap pieces that tie at a row
