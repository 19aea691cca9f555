"""What the estimators share: checks of settings, folds, threads, and how a fit ends."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, check_cv

from pldc.estimators.checks import positive, whole
from pldc.function.max_affine import Array
from pldc.problem import Problem
from pldc.problem.class_losses import softmax
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Units
from pldc.select.folds import distinct, divided, interleaved, subsample
from pldc.select.program import FittedProgram, solve_program
from pldc.select.rules import rate, scale_of_lam
from pldc.select.search import Search, Split
from pldc.solve import Solver
from pldc.solve.choose import make_solver
from pldc.solve.progress import shown
from pldc.solve.run import STATUS, Monitor
from pldc.solve.workers import blas_threads

REALISTIC = 1e-2  # gap that the quick engine reaches
FEWEST = 4  # distinct rows that cross-validation needs


class DCEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Common to DCRegressor and DCClassifier; the parameters are theirs."""

    _rules: ClassVar[tuple[str, ...]] = ("cv",)
    _labels: ClassVar[bool] = False  # y are labels of classes
    lam: Any
    cv: Any
    max_cv_rows: int | None
    solver: str
    tol: float
    max_iter: int | None
    n_jobs: int | None
    random_state: Any
    device: str | None
    verbose: int
    penalty: str
    scoring: Any
    one_standard_error: bool
    _calibration: float | None

    def _fit_rows(self, given: Rows, groups: ArrayLike | None, monitor: Monitor | None) -> None:
        """Choose λ, solve the program, and remember."""
        rows = given.take(np.flatnonzero(given.weight > 0))
        self._check_settings()
        self._check_groups(groups, given)
        recipe = self._recipe()
        lam = self._lam_rule()
        merged, _ = distinct(rows, self._labels)
        few = len(divided(merged, FEWEST, self._labels).y) < FEWEST
        solver_for = self._solver_for(self._threads())
        solver_for(recipe.problem(rows, recipe.units(rows), 1.0))  # refuses what cannot be solved, before any work
        with shown(self.verbose) as log:
            if lam == "cv" and not few:
                number = self._cross_validate(recipe, given, merged, groups)
            else:
                number = self._number_without_folds(recipe, rows, lam)
            fitted = solve_program(rows, recipe, number, solver_for, both(log, monitor))
        self._remember(fitted, rows)
        self._warn(fitted)
        if fitted.status == "interrupted":
            gap = fitted.certificate.gap
            raise KeyboardInterrupt(f"Interrupted at a certified gap of {gap:.2g}; the model is usable.")

    def _cross_validate(self, recipe: Recipe, given: Rows, merged: Rows, groups: ArrayLike | None) -> float:
        """Choose λ, and keep the scores and what the folds' fits are for."""
        rows, splits, share = self._splits(given, merged, groups)
        search = Search(
            recipe,
            rows,
            splits,
            self._score(recipe, merged),
            clip=bool(getattr(self, "clip", False)),
            cautious=bool(self.one_standard_error),
            patient=self._labels and self.scoring is not None,
            jobs=self._jobs(),
            level=self._level(),
        )
        search.run(scale_of_lam(recipe, merged))
        self.cv_results_, self.cv_score_ = search.results(), search.mean_score
        self._keep_folds(search)
        return rate(share, rows.X.shape[1]) * search.lam

    def _score(self, recipe: Recipe, rows: Rows) -> Any:
        """Return score(prediction, rows) for the search: the loss in the units of the program, or a scorer."""
        if self.scoring is None:
            unit = recipe.units(rows).y_scale
            return lambda prediction, test: -recipe.mean_loss(prediction, test, unit)
        scorer = check_scoring(self, scoring=self.scoring)

        def score(prediction: Array, test: Rows) -> float:
            known, y = self._known(prediction, test)
            if np.ptp(test.weight) == 0:
                return float(scorer(known, test.X, y))
            try:
                return float(scorer(known, test.X, y, sample_weight=test.weight))
            except TypeError:  # a scorer that knows no weights
                return float(scorer(known, test.X, y))

        return score

    def _number_without_folds(self, recipe: Recipe, rows: Rows, lam: float | str) -> float:
        """Return λ as given or, of too few rows to leave any out, the scale of its grid."""
        return scale_of_lam(recipe, rows) if isinstance(lam, str) else lam

    def _recipe(self) -> Recipe:
        raise NotImplementedError

    def _keep_folds(self, search: Search) -> None:
        raise NotImplementedError

    def _reference(self, reference: Any) -> ArrayLike:
        """Return the point to measure contributions from: the training mean, or as given, named numbers by name."""
        if reference is None:
            return self.reference_
        if not hasattr(reference, "keys"):
            return np.asarray(reference, dtype=np.float64)
        labels, count = list(reference.keys()), len(self.reference_)
        names: list[Any] = list(getattr(self, "feature_names_in_", range(count)))
        for order in (names, list(range(count))):
            if len(labels) == count and set(labels) == set(order):
                return np.array([reference[label] for label in order], dtype=np.float64)
        raise ValueError(f"reference must name each feature of X, {names}; it names {labels}.")

    def _known(self, prediction: Array, test: Rows) -> tuple[Any, np.ndarray]:
        """Return an estimator that predicts what is known already at the rows, for a scorer, and their targets."""
        raise NotImplementedError

    def _remember(self, fitted: FittedProgram, rows: Rows) -> None:
        """Set the attributes that all fits have."""
        self.certificate_, self.lam_, self.seminorm_ = fitted.certificate, fitted.lam, fitted.seminorm
        self.solver_, self.n_iter_ = fitted.solver, fitted.iterations
        units = Units.of(*rows)
        self.reference_, self.spread_ = units.center, units.scale

    def _forget(self) -> None:
        """Delete what an older fit left: one that fails leaves no half of it behind."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._calibration = None

    def _check_monitor(self, monitor: Monitor | None) -> None:
        if monitor is not None and not callable(monitor):
            raise TypeError(f"monitor must be callable, got {monitor!r}.")

    def _check_settings(self) -> None:
        """Refuse impossible numbers and names of the search, whether this fit uses them or not."""
        if isinstance(self.cv, Real):
            whole("cv", self.cv, 2)
        if self.max_cv_rows is not None:
            whole("max_cv_rows", self.max_cv_rows, FEWEST, optional=True)

    def _check_groups(self, groups: ArrayLike | None, given: Rows) -> None:
        if groups is not None and np.shape(groups) != given.y.shape:
            raise ValueError(
                f"groups must hold one label for each of {len(given.y)} rows, got shape {np.shape(groups)}."
            )

    def _lam_rule(self) -> float | str:
        names = ", ".join(map(repr, self._rules))
        if isinstance(self.lam, str):
            if self.lam not in self._rules:
                raise ValueError(f"lam must be {names} or a positive number, got {self.lam!r}.")
            return self.lam
        return positive("lam", self.lam, f"{names} or ")

    def _seed(self) -> Any:
        return 0 if self.random_state is None else self.random_state

    def _splits(
        self, given: Rows, everything: Rows, groups: ArrayLike | None, most: float | None = None
    ) -> tuple[Rows, list[Split], float]:
        """Return the rows to cross-validate on (`most` of them), the folds, and the share of all that they are."""
        number = isinstance(self.cv, Integral)
        folds = int(self.cv) if number else 0
        if most is None:
            most = self.max_cv_rows if number and self.max_cv_rows is not None else np.inf
        if number and groups is None:
            some = subsample(len(everything.y), most)
            rows = divided(everything.take(some), folds, self._labels)
            return rows, interleaved(len(rows.y), min(folds, len(rows.y))), len(some) / len(everything.y)
        some = subsample(len(given.y), most)
        rows, labels = given.take(some), None if groups is None else np.asarray(groups)[some]
        splitter = check_cv(self.cv, rows.y, classifier=is_classifier(self))
        if number:
            count = len(np.unique(np.asarray(labels)))
            if count < 2:
                raise ValueError("All rows are of one group: there is no other to validate on.")
            splitter = GroupKFold(min(folds, count))
        splits = []
        # Folds name the rows as they were given; those of weight zero are in none.
        for fold in splitter.split(rows.X, rows.y, labels):
            train, test = (np.arange(len(rows.y))[np.asarray(part)] for part in fold)
            train, test = train[rows.weight[train] > 0], test[rows.weight[test] > 0]
            if len(train) and len(test):
                splits.append((train, test))
        if not splits:
            raise ValueError(f"cv={self.cv!r} yields no fold with rows to fit and rows to validate on.")
        return rows, splits, len(some) / len(given.y)

    def _jobs(self) -> int | None:
        """Processes for the folds: as asked, or those of joblib's context, or as many as the BLAS has threads."""
        threads = self._threads()
        if threads is not None:
            return threads
        return blas_threads() if get_active_backend()[1] is None else None

    def _level(self) -> int:
        return logging.INFO if self.verbose else logging.DEBUG

    def _warn(self, fitted: FittedProgram) -> None:
        """Say which gap was missed. The model is complete by now: nothing is lost where the warning is an error."""
        gap = fitted.certificate.gap
        if gap <= 1.01 * self.tol:  # recomputed: the solver's word is not taken, rounding is forgiven
            return
        reason = STATUS[fitted.status]
        if fitted.solver == "admm" and self.tol < REALISTIC:
            reason += f" ({REALISTIC:g} is realistic for solver='admm')"
        free = self.solver == "auto" and self.device is None and getattr(self, "loss", "") != "log"
        if fitted.solver == "admm" and free and fitted.status in ("max_iter", "stalled"):
            reason += "; solver='exact' is accurate, where its memory and time can be had"
        if fitted.status == "optimal":  # in the solver's own numbers, but not in those of the data
            reason = "rounding in the units of X and y; shift and scale them to numbers of order one"
        warnings.warn(
            f"The certified relative gap is {gap:.2g}, not tol={self.tol:.2g}: {reason}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _threads(self) -> int | None:
        threads = self.n_jobs
        if threads is not None and (not isinstance(threads, Integral) or threads == 0):
            raise ValueError(f"n_jobs must be None, −1 or a whole number ≥ 1, got {threads!r}.")
        return max(1, cpu_count() + 1 + int(threads)) if threads is not None and threads < 0 else threads

    def _solver_for(self, threads: int | None) -> Callable[[Problem], Solver]:
        """Return what makes the solver of a program."""
        return partial(
            make_solver,
            self.solver,
            tol=positive("tol", self.tol),
            max_iter=None if self.max_iter is None else whole("max_iter", self.max_iter, 1, optional=True),
            threads=threads,
            device=self.device,
        )


def both(log: Monitor, monitor: Monitor | None) -> Monitor:
    """Log every iteration, and ask the user's monitor whether to stop."""
    if monitor is None:
        return log

    def tell(row: dict[str, float]) -> Any:
        log(row)
        return monitor(dict(row))

    return tell


class Predicted(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Predictions that are known already, for a scorer that wants an estimator."""

    def __init__(self, values: Array):
        self.values = values

    def predict(self, X: Any) -> Array:
        """Return them."""
        return self.values


class PredictedScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Scores (n, m) that are known already, for a scorer that wants a classifier."""

    def __init__(self, scores: Array, classes: np.ndarray):
        self.scores, self.classes = scores, classes
        self.classes_ = classes

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the highest score."""
        return np.asarray(self.classes_[self.scores.argmax(axis=1)])

    def decision_function(self, X: Any) -> Array:
        """Return the scores."""
        return self.scores if self.scores.shape[1] > 2 else self.scores[:, 1] - self.scores[:, 0]

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities as of the log loss."""
        return softmax(self.scores.T).T
