"""What a fitted regressor answers beyond its prediction, with the rows of its fit or new ones."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pldc.estimators.checks import positive
from pldc.estimators.sources import over_blocks
from pldc.fit.program import Path, solve_path
from pldc.fit.spine import FOLDS
from pldc.function.max_affine import Array, real
from pldc.problem.penalties import Joint
from pldc.scale.sources import is_source
from pldc.select.bound import Bound, bound_of_fit
from pldc.select.discrepancy import discrepancy_of
from pldc.solve.progress import shown


class Answers:
    """Methods of :class:`pldc.DCRegressor`: paths, intervals, bounds."""

    def path(
        self: Any,
        X: Any,
        y: Any,
        lams: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Path:
        """Solve the program along several values of `lam`, each from the one before; the estimator is not changed.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        lams : array of shape (k,)
            In any order; solved from the largest to the smallest.
        sample_weight : array of shape (n,), optional
        groups : array of shape (n,), optional
            Rows of one group are not in each other's statistics, where a category has more than a dozen levels.

        Returns
        -------
        Path
            Functions, certificates, losses and seminorms, for `lams` in decreasing order. Draw it with
            :func:`pldc.view.plots.plot_path`.
        """
        copy = clone(self)
        given = copy._given(X, y, sample_weight, groups)
        rows = given.rows.take(np.flatnonzero(given.rows.weight > 0))
        values = np.sort(real(lams, "lams").ravel())[::-1]
        if not len(values) or not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"lams must hold positive finite numbers, got {lams!r:.80}.")
        with shown(self.verbose) as log:
            return solve_path(rows, copy._settings(given, folds=FOLDS), values, log)

    def predict_interval(self: Any, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends of prediction intervals at the rows of X.

        They reach as far from the prediction as the errors of the fits of the folds went, at rows left out: further
        where these were large, less far where they were small. So they
        need ``lam="cv"``, the default, and at least four distinct rows. They hold about `coverage` of new targets in
        practice; nothing is guaranteed, since the smoothing is chosen by the same folds. Where `max_seconds` ended the
        fit before it was known where errors are large, and of fewer than 40 distinct rows, intervals are as wide
        everywhere; the summary of the model says so. With fewer than
        1 / (1 − coverage) rows the largest error stands in for a quantile that is not there.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            Or a table that is read block by block, as in :meth:`fit`.
        coverage : float, default=0.9
        """
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"coverage must lie strictly between 0 and 1, got {coverage!r:.80}.")
        if is_source(X):
            low, high = over_blocks(self, lambda rows: np.column_stack(self.predict_interval(rows, coverage)), X).T
            return low, high
        X, levels = self._points(X), getattr(self._loss(), "levels", ())
        if self.model_.levels is None and levels not in ((), (0.5,)):
            raise ValueError(
                f"This model predicts the quantile {levels[0]:g}, around which errors lie to one side: fit two levels, "
                "loss=Quantile([0.05, 0.95]), and take their predictions as the ends, or fit loss='squared' or "
                "'absolute', whose intervals have any coverage."
            )
        return self.model_.interval(X, float(coverage))

    def generalization_bound(
        self: Any, X: Any, y: Any, delta: float = 0.05, M: float | None = None, sample_weight: ArrayLike | None = None
    ) -> Bound:
        """Bound the expected loss of `function_`, with probability at least 1 − delta; see :mod:`pldc.select.bound`.

        The theorem is for the worst case: on tables of ordinary size the bound is far above the loss on new rows. The
        discrepancy comes from five random halves of at most 300 rows, whatever their number; it may take minutes.

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
        function = self.model_.function
        if not (isinstance(delta, Real) and 0 < delta < 1):
            raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r:.80}.")
        columns = self.model_.columns
        if columns is not None and columns.has_statistics:
            raise ValueError(
                "The bound is for features that do not depend on the targets; those of a category of more than a dozen "
                "levels do, being means of the target."
            )
        rows = self._as_fitted(clone(self), X, y, sample_weight).rows
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        if len(rows.y) < 2:
            raise ValueError("The discrepancy needs at least two rows.")
        recipe, number = self._recipe(columns), None if M is None else positive("M", M)
        joint = replace(recipe, standardize=True, penalty=Joint())
        halves = discrepancy_of(joint, rows, 0 if self.random_state is None else self.random_state)
        return bound_of_fit(function, recipe, rows, halves.upper, number, float(delta))
