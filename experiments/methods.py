"""The methods that the studies compare: ours, rivals tuned fairly, and the paper's rivals as its authors coded them.

A method is a function (X, y) → fitted model with `predict`. Fair rivals see standardised features and choose their
settings by 5-fold cross-validation; networks for numbers take scikit-learn's 200 steps, those for classes up to 1000.
Those that extrapolate (MLP, MARS, SVR, Gaussian process, xRFM, ridge) stay within the range of the targets, as ours
does; without that a few rows far out decide their mean errors. EBM and xRFM have their defaults, and xRFM keeps a fifth
of the rows to choose by.

"pldc, paper" takes λ as the authors do: ten values from 2 to 2⁻⁸ D̂, the least error in 5 folds, the smallest of equally
good ones. (D̂ is measured on 30 rows and carried over to all; the folds are fitted roughly, and the end accurately.)

Those "as coded" repeat what the authors' MATLAB scripts do, weaknesses included:

- kNN: the number of neighbours belongs to the fold and not to the candidate, so the choice between 1 and 10 is one of
  chance; regression uses the classifier, whose prediction is the most frequent training target among the neighbours.
- MLP: the "1 to 10 layers" are 1 to 10 neurons of one hidden layer, without weight decay; a fifth of the rows stops the
  training early, and in regression the error on those rows, and no fold, chooses the number of neurons. (Their toolbox
  trains by another algorithm and leaves some rows out as a test set of its own; ours does not.)
- SVM: linear, one class against the rest, on features as they are.
- MARS: additive, 101 terms at most, no lines; up to about twenty rows it is a constant. (Theirs smooths the hinges to
  cubics in the end; ours does not.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from experiments.mars import Mars

Method = Callable[[np.ndarray, np.ndarray], Any]
FOLDS = 5
DRAWS, FEW = 25, 8  # random settings of XGBoost, and of slower methods
XGBOOST = {
    "n_estimators": [100, 200, 400, 800],
    "learning_rate": [0.03, 0.1, 0.2],
    "max_depth": [2, 3, 4, 6],
    "subsample": [0.6, 0.8, 1.0],
    "colsample_bytree": [0.6, 0.8, 1.0],
    "min_child_weight": [1, 3, 8],
}
HIST = {
    "learning_rate": [0.03, 0.1],
    "max_leaf_nodes": [4, 8, 31],
    "min_samples_leaf": [2, 5, 20],
    "max_iter": [100, 300],
}
MLP = {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0], "hidden_layer_sizes": [(10,), (50,), (50, 50)]}
ROUNDING = 1e-12  # of a mean over folds: shares of right classes that are equal may differ by so much


def dc(**settings: Any) -> Method:
    """Return our regressor."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from pldc import DCRegressor

        return DCRegressor(n_jobs=1, **settings).fit(X, y)

    return fit


def paper_program(model: Method) -> Method:
    """Return our model with λ chosen as in the paper: from ten values, the best, and of equals the smallest."""

    def choose(self: Any, scores: np.ndarray, flat: np.ndarray) -> int:
        mean = self.share @ scores
        equal = mean >= mean.max() - ROUNDING * abs(mean.max())
        return int(np.flatnonzero(equal)[-1])  # the grid decreases

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from pldc.select import search

        with patch.multiple(search, LOWER=0, HIGHER=0), patch.object(search.Search, "_choose", choose):
            return model(X, y)

    return fit


def dc_classes(scoring: str | None = None, **settings: Any) -> Method:
    """Return our classifier."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from pldc import CrossValidation, DCClassifier

        return DCClassifier(n_jobs=1, cv=CrossValidation(FOLDS, scoring=scoring), **settings).fit(X, y)

    return fit


def tuned(model: Any, grid: dict[str, list], draws: int | None = None, classes: bool = False) -> Method:
    """Return the model on standardised features, with all settings of the grid, or `draws` of them, cross-validated."""
    name = type(model).__name__.lower()
    space = {f"{name}__{key}": values for key, values in grid.items()}

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        pipe = make_pipeline(StandardScaler(), model)
        if classes:
            folds: Any = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        else:
            folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=0)
        common = {"cv": folds, "scoring": None if classes else "neg_mean_squared_error", "error_score": "raise"}
        if draws is None:
            return GridSearchCV(pipe, space, **common).fit(X, y)
        return RandomizedSearchCV(pipe, space, n_iter=draws, random_state=0, **common).fit(X, y)

    return fit


def knn(classes: bool = False) -> Method:
    """Return nearest neighbours with their number and weights tuned, as many as the smallest fold allows."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        most = len(y) - -(-len(y) // min(FOLDS, len(y)))
        grid = {
            "n_neighbors": [k for k in (*range(1, 11), 15, 25) if k <= most],
            "weights": ["uniform", "distance"],
        }
        return tuned((KNeighborsClassifier if classes else KNeighborsRegressor)(), grid, classes=classes)(X, y)

    return fit


def in_units(method: Method) -> Method:
    """Return the method with its targets standardised."""
    return lambda X, y: TransformedTargetRegressor(Fitting(method), transformer=StandardScaler()).fit(X, y)


class Within(NamedTuple):
    """A model that predicts nothing beyond the targets it saw."""

    model: Any
    low: float
    high: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict."""
        return np.clip(self.model.predict(X), self.low, self.high)


def within_range(method: Method) -> Method:
    """Return the method with its predictions clipped to the range of the targets."""
    return lambda X, y: Within(method(X, y), y.min(), y.max())


class Fitting(RegressorMixin, BaseEstimator):
    """A method as an estimator."""

    def __init__(self, method: Method):
        self.method = method

    def fit(self, X: np.ndarray, y: np.ndarray) -> Fitting:
        """Fit."""
        self.model_ = self.method(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict."""
        return np.asarray(self.model_.predict(X)).reshape(len(X))


def gaussian_process(X: np.ndarray, y: np.ndarray) -> Any:
    """ARD kernel with noise, marginal likelihood, one restart."""
    lengths = RBF(np.full(X.shape[1], 2.0), (1e-2, 1e4))
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * lengths + WhiteKernel(0.1, (1e-6, 10.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def xgboost(X: np.ndarray, y: np.ndarray) -> Any:
    """Twenty-five random settings."""
    from xgboost import XGBRegressor

    model = XGBRegressor(n_jobs=1, random_state=0)
    folds = min(FOLDS, len(y))
    search = RandomizedSearchCV(
        model, XGBOOST, n_iter=DRAWS, cv=folds, random_state=0, scoring="neg_mean_squared_error", error_score="raise"
    )
    return search.fit(X, y)


def xgboost_classes(X: np.ndarray, y: np.ndarray) -> Any:
    """Twenty-five random settings, smaller trees among them."""
    from xgboost import XGBClassifier

    class Numbered(XGBClassifier):
        """It wants the classes of a fold to be 0, 1, …, without gaps."""

        def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
            self.labels_, codes = np.unique(y, return_inverse=True)
            return super().fit(X, codes)

        def predict(self, X: np.ndarray) -> np.ndarray:
            return self.labels_[super().predict(X)]

    grid = XGBOOST | {
        "n_estimators": [50, 100, 200, 400],
        "learning_rate": [0.03, 0.1, 0.3],
        "max_depth": [1, 2, 3, 4, 6],
    }
    return tuned(Numbered(n_jobs=1, random_state=0), grid, DRAWS, classes=True)(X, y)


def ebm(X: np.ndarray, y: np.ndarray) -> Any:
    """Explainable boosting machine, defaults."""
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(n_jobs=1, random_state=0).fit(X, y)


class SinglePrecision(NamedTuple):
    """A model that predicts from numbers of single precision."""

    model: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict."""
        return self.model.predict(X.astype(np.float32))


def xrfm(X: np.ndarray, y: np.ndarray) -> Any:
    """Recursive feature machine, defaults, a fifth of the rows for validation."""
    import torch
    from xrfm import xRFM

    torch.manual_seed(0)
    torch.set_num_threads(1)
    cut = int(0.8 * len(y))
    Z, t = X.astype(np.float32), y.astype(np.float32)[:, None]
    model = xRFM(device="cpu", verbose=False)
    model.fit(Z[:cut], t[:cut], Z[cut:], t[cut:])
    return SinglePrecision(model)


class CodedKNN(BaseEstimator):
    """Nearest neighbours as the authors coded them: K by chance, and the most frequent target, for numbers too."""

    def __init__(self, classes: bool = False):
        self.classes = classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> CodedKNN:
        """Draw K as their loop does: every candidate is scored with the K of the fold's number."""
        rng = np.random.default_rng(0)
        scores = []
        for _ in range(10):
            order, wrong = rng.permutation(len(y)), []
            for k, test in enumerate(np.array_split(order, FOLDS), start=1):
                train = np.setdiff1d(order, test)
                if len(test) and len(train):
                    guess = most_frequent(X[train], y[train], X[test], k)
                    wrong.append(np.mean(guess != y[test]) if self.classes else np.mean((guess - y[test]) ** 2))
            scores.append(np.mean(wrong))
        self.k_, self.X_, self.y_ = 1 + int(np.argmin(scores)), X, y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most frequent target among the neighbours; of equally frequent ones the smallest."""
        return most_frequent(self.X_, self.y_, X, self.k_)


def most_frequent(X: np.ndarray, y: np.ndarray, new: np.ndarray, k: int) -> np.ndarray:
    """Vote of the k nearest rows."""
    near = NearestNeighbors(n_neighbors=min(k, len(y))).fit(X).kneighbors(new, return_distance=False)
    counts = (Counter(y[row].tolist()) for row in near)
    return np.array([min(c, key=lambda value: (-c[value], value)) for c in counts])


class CodedMLP(BaseEstimator):
    """One hidden layer of 1 to 10 neurons, no weight decay, stopped early by a fifth of the rows."""

    def __init__(self, classes: bool = False):
        self.classes = classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> CodedMLP:
        """Choose the number of neurons: of classes by the error on folds, else by that on the rows that stop it."""
        self.center_, self.unit_ = (0.0, 1.0) if self.classes else (y.mean(), y.std() or 1.0)
        target = y if self.classes else (y - self.center_) / self.unit_
        self.scaler_ = StandardScaler().fit(X)  # their toolbox scales inputs and targets by itself, too
        Z = self.scaler_.transform(X)
        errors = []
        for size in range(1, 11):
            wrong = []
            for train, test in KFold(min(FOLDS, len(y)), shuffle=True, random_state=0).split(Z):
                net, stopped_at = self._train(size, Z[train], target[train])
                wrong.append(np.mean(net.predict(Z[test]) != target[test]) if self.classes else stopped_at)
            errors.append(np.mean(wrong))
        self.net_, _ = self._train(1 + int(np.argmin(errors)), Z, target)
        return self

    def _train(self, size: int, X: np.ndarray, y: np.ndarray) -> tuple[Any, float]:
        """Train on four fifths; return the network that was best on the rest, and its error there."""
        model: Any = MLPClassifier if self.classes else MLPRegressor
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[len(y) // 5 :], order[: len(y) // 5]
        best, error = None, np.inf
        for steps in (10, 30, 100, 300):
            net = model(
                hidden_layer_sizes=(size,), activation="tanh", alpha=0.0, solver="lbfgs", max_iter=steps, random_state=0
            )
            guess = net.fit(X[train], y[train]).predict(X[test])
            now = float(np.mean(guess != y[test]) if self.classes else np.mean((guess - y[test]) ** 2))
            if best is None or now < error:
                best, error = net, now
        return best, error

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict."""
        guess = self.net_.predict(self.scaler_.transform(X))
        return guess if self.classes else self.center_ + self.unit_ * guess


REGRESSORS: dict[str, Method] = {
    "pldc": dc(),
    "pldc, paper": paper_program(dc(n_pieces="rows", loss="absolute", penalty="joint", standardize=False, clip=False)),
    "pldc, absolute, standardised": dc(n_pieces="rows", loss="absolute", penalty="joint"),
    "pldc, squared, joint": dc(n_pieces="rows", penalty="joint"),
    "pldc, squared, componentwise": dc(n_pieces="rows", penalty="componentwise"),
    "MLP, as coded": lambda X, y: CodedMLP().fit(X, y),
    "MARS, as coded": lambda X, y: Mars(max_degree=1, max_terms=101, linear=False).fit(X, y),
    "kNN, as coded": lambda X, y: CodedKNN().fit(X, y),
    "MLP": within_range(in_units(tuned(MLPRegressor(solver="lbfgs", max_iter=200, random_state=0), MLP))),
    "MARS": within_range(tuned(Mars(), {"max_degree": [1, 2, 3], "penalty": [2.0, 4.0]})),
    "kNN": knn(),
    "SVR": within_range(
        in_units(tuned(SVR(), {"C": [0.1, 1, 10, 100, 1000], "gamma": [1e-3, 0.01, 0.1, 1.0], "epsilon": [0.01, 0.1]}))
    ),
    "Gaussian process": within_range(gaussian_process),
    "XGBoost": xgboost,
    "HistGradientBoosting": tuned(HistGradientBoostingRegressor(random_state=0), HIST, FEW),
    "random forest": tuned(
        RandomForestRegressor(100, random_state=0), {"max_features": [0.33, 0.66, 1.0], "min_samples_leaf": [1, 3]}
    ),
    "EBM": ebm,
    "xRFM": within_range(
        lambda X, y: make_pipeline(
            StandardScaler(), TransformedTargetRegressor(Fitting(xrfm), transformer=StandardScaler())
        ).fit(X, y)
    ),
    "ridge": within_range(lambda X, y: make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-4, 5))).fit(X, y)),
    "constant": lambda X, y: DummyRegressor().fit(X, y),
}

CLASSIFIERS: dict[str, Method] = {
    "pldc": dc_classes(),
    "pldc, paper": paper_program(dc_classes("accuracy", n_pieces="rows", penalty="joint", standardize=False)),
    "pldc, axes": dc_classes(n_pieces="rows", penalty="joint"),
    "pldc, componentwise": dc_classes(n_pieces="rows", penalty="componentwise"),
    "pldc, log loss": dc_classes(n_pieces="rows", penalty="joint", loss="log"),
    "MLP, as coded": lambda X, y: CodedMLP(classes=True).fit(X, y),
    "SVM, as coded": lambda X, y: OneVsRestClassifier(SVC(kernel="linear", max_iter=2_000_000)).fit(X, y),
    "kNN, as coded": lambda X, y: CodedKNN(classes=True).fit(X, y),
    "MLP": tuned(
        MLPClassifier(solver="lbfgs", max_iter=1000, random_state=0),
        {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0], "hidden_layer_sizes": [(10,), (50,)]},
        classes=True,
    ),
    "kNN": knn(classes=True),
    "RBF SVM": tuned(
        SVC(), {"C": list(10.0 ** np.arange(-1, 4)), "gamma": list(10.0 ** np.arange(-4, 2))}, classes=True
    ),
    "XGBoost": xgboost_classes,
    "HistGradientBoosting": tuned(HistGradientBoostingClassifier(random_state=0), HIST, FEW, classes=True),
    "random forest": tuned(
        RandomForestClassifier(100, random_state=0),
        {"max_features": [0.33, 0.66, 1.0], "min_samples_leaf": [1, 3]},
        classes=True,
    ),
    "logistic": lambda X, y: make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=10, cv=FOLDS, max_iter=2000)).fit(
        X, y
    ),
    "constant": lambda X, y: DummyClassifier().fit(X, y),
}
