"""Certificates against an independent model of the program: 500 random problems, all kinds of data and settings.

Every case is a fit through the estimators, and what is claimed of it is held beside the optimum that CVXPY finds:

    lower ≤ optimum ≤ upper,      gap ≤ tol or a warning,      the function that is returned attains upper.

Standardisation and losses are written again here, from their statement.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any
from unittest import SkipTest

import cvxpy as cp
import numpy as np
from scipy.special import logsumexp, xlogy
from sklearn.exceptions import ConvergenceWarning
from tests.oracle import class_optimum, optimum
from threadpoolctl import threadpool_limits

import pldc

CASES = 500
FLOOR = 1e-3
LOSSES = ("squared", "absolute", "huber", "quantile", "poisson", "hinge", "log")
KINDS = ("normal", "rounded", "constant column", "copied column", "outlier", "near copies", "scales", "offset", "grid")
TARGETS = ("corner", "rounded", "heavy tails", "constant", "noise")
TIGHT, LOOSE = 2e-6, 5e-5  # of the reference: programs of lines and squares, and those with a logarithm


@dataclass
class Case:
    """A problem drawn from its number."""

    number: int
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    weight: np.ndarray | None = field(repr=False)
    loss: str
    kind: str
    target: str
    penalty: str
    lam: float
    delta: float = 0.7
    level: float = 0.8
    shape: str = "dc"
    monotone: list[int] | None = None
    linear: bool = False
    standardize: bool = True
    solver: Any = "auto"

    def __str__(self) -> str:
        return f"{self.number}: {self.loss}, {self.kind}, {self.target}, {self.X.shape[0]} × {self.X.shape[1]}"

    @property
    def classes(self) -> bool:
        """Whether it is a classification."""
        return self.loss in ("hinge", "log")


def rows(rng: np.random.Generator, kind: str, n: int, d: int) -> np.ndarray:
    """Features of a kind."""
    X = rng.standard_normal((n, d))
    if kind == "rounded":
        return np.round(X)
    if kind == "grid":
        return rng.integers(0, 3, (n, d)).astype(float)
    if kind == "constant column":
        X[:, rng.integers(d)] = 3.25
    if kind == "copied column":
        X[:, -1] = X[:, 0]
    if kind == "outlier":
        X[0] *= 50.0
    if kind == "near copies":
        X[1] = X[0] + 1e-7 * rng.standard_normal(d)
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-4, 4, d)
    if kind == "offset":
        X += 1e4
    return X


def targets(rng: np.random.Generator, kind: str, X: np.ndarray) -> np.ndarray:
    """Targets of a kind."""
    n, noise = len(X), rng.standard_normal(len(X))
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if kind == "constant":
        return np.full(n, 2.5)
    if kind == "noise":
        return noise
    y = np.abs(Z[:, 0]) + 0.5 * Z[:, -1] + 0.2 * (rng.standard_t(1.5, n) if kind == "heavy tails" else noise)
    return np.round(y) if kind == "rounded" else y


def make(number: int) -> Case:
    """Draw a case."""
    rng = np.random.default_rng([11, number])
    loss, kind, target = LOSSES[number % len(LOSSES)], KINDS[number % len(KINDS)], TARGETS[number % len(TARGETS)]
    few = loss in ("hinge", "log", "poisson")
    n, d = int(rng.integers(4, 11 if few else 19)), int(rng.choice([1, 1, 2, 3, 3 if few else 7]))
    X = rows(rng, kind, n, d)
    y = targets(rng, target, X)
    case = Case(number, X, y, None, loss, kind, target, str(rng.choice(["joint", "componentwise"])), 1.0)
    case.lam = float(10 ** rng.uniform(-2.5, 0.7))
    if rng.random() < 0.5:
        case.weight = rng.choice([rng.uniform(0.1, 2.0, n), rng.integers(0, 4, n) + (np.arange(n) < 3)])
    case.standardize = kind in ("scales", "offset") or bool(rng.random() < 0.7)
    if case.classes:
        m = int(rng.integers(2, 4))
        case.y = np.argsort(np.argsort(y)) * m // n
        return case
    if loss == "poisson":
        case.y = np.round(np.maximum(y + 1.0, 0.0))
    case.shape = str(rng.choice(["dc", "dc", "convex", "concave"]))
    case.linear = bool(rng.random() < 0.3)
    if rng.random() < 0.3:
        case.monotone = rng.integers(-1, 2, d).tolist()
    accurate = [] if loss == "poisson" else ["auto", pldc.Exact(1e-6), *([pldc.Line(1e-5)] if d == 1 else [])]
    case.solver = [*accurate, pldc.Admm(1e-2)][int(rng.integers(len(accurate) + 1))]
    if isinstance(case.solver, pldc.Line) and (case.shape != "dc" or case.monotone or case.linear):
        case.solver = "auto"
    return case


def cases() -> list[Case]:
    """All of them."""
    return [make(number) for number in range(CASES)]


def standardised(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X and y in the units of the program, and weights that sum to one; rows without weight are left out."""
    weight = np.ones(len(case.y)) if case.weight is None else np.asarray(case.weight, dtype=float)
    X, y, weight = case.X[weight > 0], case.y[weight > 0], weight[weight > 0] / weight.sum()
    if not case.standardize:
        return X, y, weight

    def unit(column: np.ndarray) -> tuple[float, float]:
        if np.ptp(column) == 0:
            return float(column[0]), 1.0
        mean = float(np.average(column, weights=weight))
        return mean, float(np.sqrt(np.average((column - mean) ** 2, weights=weight)))

    X = np.column_stack([(column - unit(column)[0]) / unit(column)[1] for column in X.T])
    if case.classes:
        return X, y, weight
    mean, spread = unit(y)
    return X, (y if case.loss == "poisson" else y - mean) / spread, weight


def reference(case: Case) -> float:
    """The optimum, by CVXPY."""
    X, y, weight = standardised(case)
    shared: dict[str, Any] = {"loss": case.loss, "penalty": case.penalty, "lam": case.lam, "weight": weight}
    if case.classes:
        labels = np.unique(y, return_inverse=True)[1]
        return float(class_optimum(X, labels, labels.max() + 1, **shared))
    numbers = {"delta": case.delta, "level": case.level, "floor": FLOOR}
    shaped = {"shape": case.shape, "monotone": case.monotone, "linear": case.linear}
    return float(optimum(X, y, **shared, **numbers, **shaped))


def mean_loss(case: Case, f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean loss of values, or of scores (n, m)."""
    if case.classes:
        own = f[np.arange(len(y)), y]
        over = np.maximum(f - own[:, None] + 1, 0.0).sum(axis=1) - 1 if case.loss == "hinge" else logsumexp(f, 1) - own
        return float(weight @ over)
    r = f - y
    size, c = np.abs(r), FLOOR
    if case.loss == "poisson":
        above, below = np.maximum(f, c), np.minimum(f - c, 0.0)
        deviance = above - y - xlogy(y, above) + xlogy(y, y)
        return float(weight @ (deviance + below * (c - y + below / 2) / c))
    return float(
        weight
        @ {
            "squared": r**2,
            "absolute": size,
            "huber": np.where(size <= case.delta, r**2, case.delta * (2 * size - case.delta)),
            "quantile": 2 * np.where(r < 0, case.level * -r, (1 - case.level) * r),
        }[case.loss]
    )


def fitted(case: Case) -> tuple[Any, bool]:
    """The estimator, and whether it warned that its gap is too large."""
    penalty = pldc.Seminorm(case.penalty, free_linear=case.linear)
    shared: dict[str, Any] = {"lam": case.lam, "penalty": penalty, "standardize": case.standardize, "n_jobs": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.classes:
            model: Any = pldc.DCClassifier(n_pieces="rows", loss=case.loss, cv=2, **shared)
        else:
            losses = {"huber": pldc.Huber(case.delta), "quantile": pldc.Quantile(case.level)}
            shared |= {"shape": case.shape, "monotone": case.monotone, "solver": case.solver}
            model = pldc.DCRegressor(n_pieces="rows", loss=losses.get(case.loss, case.loss), clip=False, **shared)
        model.fit(case.X, case.y, sample_weight=case.weight)
    wrong = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    assert not wrong, f"warned: {wrong[0].message}"
    return model, bool(caught)


def claimed(case: Case, model: Any) -> float:
    """The objective of the function that is returned, in the units of the program."""
    _, y, weight = standardised(case)
    here = np.ones(len(case.y), dtype=bool) if case.weight is None else np.asarray(case.weight) > 0
    if case.classes:
        f: np.ndarray = np.column_stack([g(case.X[here]) for g in model.functions_])
        y = np.unique(y, return_inverse=True)[1]
    else:
        f, raw = model.predict(case.X[here]), case.y[here]
        if case.standardize and np.ptp(raw) > 0:
            mean = np.average(raw, weights=weight)
            spread = np.sqrt(np.average((raw - mean) ** 2, weights=weight))
            f = (f if case.loss == "poisson" else f - mean) / spread
        elif case.standardize and case.loss != "poisson":
            f = f - raw[0]
    return mean_loss(case, f, y, weight) + model.lam_ * model.seminorm_


def check(case: Case) -> int:
    """Hold the claims beside the reference."""
    with threadpool_limits(1):
        model, warned = fitted(case)
        found, objective = model.certificate_, claimed(case, model)
        try:
            best = reference(case)
        except (AssertionError, cp.SolverError) as error:
            raise SkipTest(f"the reference found no answer: {error}") from None
    tol = getattr(case.solver, "tol", 1e-2 if case.classes or case.loss == "poisson" else 1e-4)
    slack = (LOOSE if case.loss in ("poisson", "log") else TIGHT) * (1 + abs(best))
    assert found.lower <= best + slack, f"lower {found.lower!r} above the optimum {best!r}"
    assert found.upper >= best - slack, f"upper {found.upper!r} below the optimum {best!r}"
    assert warned or found.gap <= 1.01 * tol, f"gap {found.gap:.3g} above {tol:g} without a warning"
    assert abs(objective - found.upper) <= 1e-6 * (1 + abs(found.upper)), f"claims {found.upper!r}, does {objective!r}"
    return 4
