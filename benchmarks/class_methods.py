"""The classifiers of the study of classes: ours with all defaults, and rivals; each on one thread.

Settings are chosen by five stratified folds of the training half: of the SVM by accuracy (its probabilities are
Platt's, by folds of its own), of the others by the log loss. Boosted trees come with their defaults, and with the best
of random settings, drawn until `LIMIT` seconds of processor time are spent. The forest has 500 trees and
otherwise defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.class_scores import log_loss, spread_over

Method = Callable[[np.ndarray, np.ndarray], Any]
LIMIT = 6.0  # seconds of processor time for the settings of boosted trees, in each cell
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
XGBOOST = {
    "n_estimators": [50, 100, 200, 400],
    "learning_rate": [0.03, 0.1, 0.3],
    "max_depth": [1, 2, 3, 4, 6],
    "subsample": [0.6, 0.8, 1.0],
    "colsample_bytree": [0.6, 0.8, 1.0],
    "min_child_weight": [0.3, 1, 3],
}
CATBOOST = {
    "iterations": [50, 100, 200, 400],
    "learning_rate": [None, 0.03, 0.1],  # None: CatBoost's own rule
    "depth": [2, 4, 6],
    "l2_leaf_reg": [1, 3, 9],
}


def pldc(X: np.ndarray, y: np.ndarray) -> Any:
    """Ours, all defaults."""
    from pldc import DCClassifier

    return DCClassifier(n_jobs=1).fit(X, y)


def logistic(X: np.ndarray, y: np.ndarray) -> Any:
    """Logistic regression."""
    return scaled(LogisticRegression(max_iter=2000), {"C": list(10.0 ** np.arange(-3, 4))}, negative_log_loss)(X, y)


def mlp(X: np.ndarray, y: np.ndarray) -> Any:
    """One hidden layer of 50 neurons; its weight decay is tuned."""
    net = MLPClassifier((50,), solver="lbfgs", max_iter=200, random_state=0)
    return scaled(net, {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0]}, negative_log_loss)(X, y)


def svm(X: np.ndarray, y: np.ndarray) -> Any:
    """RBF kernel, with probabilities by Platt."""
    grid = {"C": list(10.0 ** np.arange(-1, 4)), "gamma": list(10.0 ** np.arange(-4, 2))}
    best = scaled(SVC(), grid, "accuracy", refit=False)(X, y).best_params_
    model = make_pipeline(StandardScaler(), SVC(probability=True, random_state=0))
    return model.set_params(**best).fit(X, y)


def forest(X: np.ndarray, y: np.ndarray) -> Any:
    """Random forest."""
    return RandomForestClassifier(500, random_state=0, n_jobs=1).fit(X, y)


def scaled(model: Any, grid: dict[str, list], scoring: Any, refit: bool = True) -> Method:
    """Return the model on standardised features, the settings of the grid by folds."""
    pipe = make_pipeline(StandardScaler(), model)
    space = {f"{type(model).__name__.lower()}__{key}": values for key, values in grid.items()}
    return GridSearchCV(pipe, space, scoring=scoring, cv=FOLDS, refit=refit, error_score="raise").fit


def negative_log_loss(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Score of a fold, which may lack classes."""
    classes = np.union1d(model.classes_, y)
    return -log_loss(spread_over(model.predict_proba(X), model.classes_, classes), np.searchsorted(classes, y))


class Numbered:
    """A classifier that wants classes 0, 1, … without gaps, which folds may have."""

    def __init__(self, model: Any):
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> Numbered:
        """Fit."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model.fit(X, codes)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probabilities."""
        return self.model.predict_proba(X)


def xgboost(**settings: Any) -> Any:
    """Return XGBoost."""
    from xgboost import XGBClassifier

    return Numbered(XGBClassifier(n_jobs=1, random_state=0, **settings))


def catboost(**settings: Any) -> Any:
    """Return CatBoost."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=0, random_seed=0, thread_count=1, allow_writing_files=False, **settings)


def tuned(make: Callable, space: dict[str, list]) -> Method:
    """Return boosted trees with the best of random settings by the log loss of folds, drawn until the time is spent.

    A setting is given up in the middle of its folds when it is worse already. Where the time does not suffice for one,
    the defaults are taken.
    """

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        rng = np.random.default_rng(0)
        folds = list(FOLDS.split(X, y))
        end = time.process_time() + LIMIT
        best: dict[str, Any] = {}
        least = np.inf

        def loss(settings: dict[str, Any]) -> float:
            total = 0.0
            for train, test in folds:
                model = make(**settings).fit(X[train], y[train])
                total -= len(test) * negative_log_loss(model, X[test], y[test])
                if total >= least or time.process_time() > end:
                    return np.inf
            return total

        while time.process_time() < end:
            settings = {key: values[rng.integers(len(values))] for key, values in space.items()}
            now = loss(settings)
            if now < least:
                best, least = settings, now
        return make(**best).fit(X, y)

    return fit


METHODS: dict[str, Method] = {
    "pldc": pldc,
    "logistic regression": logistic,
    "RBF SVM": svm,
    "random forest": forest,
    "XGBoost": lambda X, y: xgboost().fit(X, y),
    "MLP": mlp,
    "CatBoost": lambda X, y: catboost().fit(X, y),
    "XGBoost, tuned": tuned(xgboost, XGBOOST),
    "CatBoost, tuned": tuned(catboost, CATBOOST),
}
