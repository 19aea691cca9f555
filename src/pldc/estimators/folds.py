"""Splitters and scorers of scikit-learn, turned into what the spine takes: places of rows, and a plain function."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from pldc.compact.plan import FEW_ROWS
from pldc.estimators.checks import flag, shown, whole
from pldc.fit import CrossValidation
from pldc.function.max_affine import Array
from pldc.problem.losses import softmax
from pldc.problem.recipe import Rows, Split
from pldc.select.folds import dealt, group_folds, one_by_one

CV = "a number, a splitter, or pairs of places to fit and to leave out"
FEWEST_ROWS = 4  # that a cross-validation looks at
MOST_FOLDS = 1_000_000
STATISTIC_FOLDS = 5  # of statistics, at most; and of rows that a splitter never leaves out


def cross_validation(cv: Any) -> CrossValidation:
    """Return the parameter `cv` as an object, with its numbers checked."""
    found = cv if isinstance(cv, CrossValidation) else CrossValidation(cv)
    if isinstance(found.folds, Real) and whole("cv", found.folds, 2) > MOST_FOLDS:
        raise ValueError(f"cv must be at most {MOST_FOLDS} folds, got {shown(found.folds)}.")
    if found.max_rows is not None:
        whole("max_rows", found.max_rows, FEWEST_ROWS, optional=True)
    flag("one_standard_error", found.one_standard_error)
    return found


def folds_of(model: Any, cv: CrossValidation, given: Rows, groups: ArrayLike | None) -> int | list[Split]:
    """Return a number of folds, or the places of each; rows of weight zero are in none."""
    if groups is not None and np.shape(groups) != given.y.shape:
        raise ValueError(f"groups must hold one label for each of {len(given.y)} rows, got shape {np.shape(groups)}.")
    number = isinstance(cv.folds, Integral)
    if number and groups is None:
        return int(cv.folds)
    if number:
        try:
            names, label = np.unique(np.asarray(groups)[given.weight > 0], return_inverse=True)
        except TypeError:
            raise ValueError("groups must hold labels that can be compared: all numbers, or all text.") from None
        if len(names) < 2:
            raise ValueError("All rows are of one group: there is no other to validate on.")
        numbers = np.zeros(len(given.y), dtype=np.intp)
        numbers[given.weight > 0] = label
        return group_folds(given, numbers, min(int(cv.folds), len(names)))
    if isinstance(cv.folds, str):
        raise ValueError(f"cv must be {CV}; got the text {shown(cv.folds)}.")
    splitter = check_cv(cv.folds, given.y, classifier=is_classifier(model))
    try:
        pairs = list(splitter.split(given.X, given.y, groups))
    except TypeError as error:
        raise ValueError(f"cv must be {CV}: {error!s:.200}.") from None
    splits = []
    for fold in pairs:
        train, test = (places(part, len(given.y)) for part in fold)
        train, test = train[given.weight[train] > 0], test[given.weight[test] > 0]
        if len(train) and len(test):
            splits.append((train, test))
    if not splits:
        raise ValueError(f"cv={shown(cv.folds)} yields no fold with rows to fit and rows to validate on.")
    return splits


def folds_for_statistics(model: Any, given: Rows, groups: ArrayLike | None) -> tuple[list[Split], list[Split] | None]:
    """Return where the statistics of each row come from, and folds to choose by in which they are of other rows.

    The first are pairs of places: statistics of the one are features of the other, and no row is a feature twice. A row
    that is left out has thus statistics of the rows that are fitted then. The second is None where the fit is to deal
    rows out by itself: the program looks at some of many rows only.

    Rows that differ in their targets alone are dealt out one by one, see :func:`one_by_one`.
    """
    cv, classes = cross_validation(model.cv), is_classifier(model)
    found = folds_of(model, cv, given, groups)
    if not isinstance(found, list):
        splits, count = dealt(given, found, classes)
        if found > STATISTIC_FOLDS:  # of few rows left out, the statistics of the others would tell their targets
            few = dealt(given, STATISTIC_FOLDS, classes)[0]
            return one_by_one(given, few), None if count > FEW_ROWS else splits
        if model._pieces() == "rows" and cv.max_rows is not None and count > cv.max_rows:
            return one_by_one(given, splits), None
        return one_by_one(given, splits), splits if count <= FEW_ROWS or model._pieces() == "rows" else splits[:1]
    if len(found) > STATISTIC_FOLDS and groups is None:
        return one_by_one(given, dealt(given, STATISTIC_FOLDS, classes)[0]), found
    free = given.weight > 0
    pairs = []
    for train, test in found:
        own = test[free[test]]
        pairs.append((train, np.unique(own)))
        free[own] = False
    rest = given._replace(weight=np.where(free, given.weight, 0.0))  # never left out
    everywhere = np.flatnonzero(given.weight > 0)
    others = dealt(rest, STATISTIC_FOLDS, classes)[0] if free.any() else []
    return pairs + [(np.setdiff1d(everywhere, own), own) for _, own in others], found


def places(part: Any, n: int) -> np.ndarray:
    """Return the places that a splitter names, as numbers or as a mask."""
    try:
        found = np.arange(n)[np.asarray(part)]
        if found.ndim == 1:
            return found
        raise IndexError
    except IndexError:
        raise ValueError(f"cv must name places of {n} rows, 0 to {n - 1}; got {np.asarray(part)!r:.80}.") from None


def scorer_of(model: Any, scoring: Any, classes: np.ndarray | None) -> Callable[[Array, Rows], float] | None:
    """Return score(prediction, rows) of a scorer; None, which stands for the loss, if there is none."""
    if scoring is None:
        return None
    try:
        scorer = check_scoring(model, scoring=scoring)
    except ValueError:
        raise ValueError(
            "scoring must be None, a name among sklearn.metrics.get_scorer_names() or a function score(model, X, y); "
            f"got {shown(scoring)}."
        ) from None

    def score(prediction: Array, test: Rows) -> float:
        if classes is None:
            known, y = Predicted(prediction), test.y
        else:
            known, y = PredictedScores(prediction.T, classes), classes[test.y.astype(int)]
        if np.ptp(test.weight) == 0:
            return float(scorer(known, test.X, y))
        try:
            return float(scorer(known, test.X, y, sample_weight=test.weight))
        except TypeError:  # a scorer that knows no weights
            return float(scorer(known, test.X, y))

    return score


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
