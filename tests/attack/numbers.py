"""Extreme numbers, for every kind of fit: predictions and explanations must be finite, and agree with each other.

``cases()`` yields all of them, ``few()`` those of the everyday tests, and ``check(case)`` fits one and raises
AssertionError where something does not hold. What a table can say at all is decided by its rounding: where numbers are
a spread of 1 around 1e15, eight steps are left of it, and only finite answers are asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pldc import DCClassifier, DCRegressor

ROWS = 24
SCALES = (1e-150, 1e-20, 1.0, 1e20, 1e150)
BEYOND = (1e155, 1e300)  # of X alone: squares are beyond all floats
OFFSETS = (0.0, 1e4, 1e8, 1e12, 1e15)  # in units of the spread
CLEAR = 1e13  # offset up to which rounding leaves a table its meaning
KINDS: dict[str, Any] = {
    "default": DCRegressor(),
    "pieces": DCRegressor(n_pieces=2),
    "rows": DCRegressor(n_pieces="rows", lam=0.02),
    "rows, chosen": DCRegressor(n_pieces="rows", n_jobs=1),
    "rows, absolute": DCRegressor(n_pieces="rows", lam=0.02, loss="absolute"),
    "convex": DCRegressor(shape="convex"),
    "monotone": DCRegressor(monotone=[0, 1]),
    "classes": DCClassifier(),
    "classes, rows": DCClassifier(n_pieces="rows", lam=0.02, n_jobs=1),
}
SLOW = ("pieces", "rows, chosen", "classes, rows")


@dataclass(frozen=True)
class Case:
    """A kind of fit, and what happens to the numbers of its table: scale · (number + offset)."""

    kind: str
    x_scale: float = 1.0
    x_offset: float = 0.0
    y_scale: float = 1.0
    y_offset: float = 0.0
    dtype: str = "float64"
    elsewhere: bool = False  # fitted in another process, too

    def __str__(self) -> str:
        where = ", other processes" if self.elsewhere else ""
        x, y = f"X {self.x_scale:g} (Z + {self.x_offset:g})", f"y {self.y_scale:g} (t + {self.y_offset:g})"
        return f"{self.kind}: {x}, {y}{where}"


def cases() -> Iterator[Case]:
    """Yield all cases: scales with scales, offsets with offsets, some of both, and single precision."""
    for kind in KINDS:
        of_classes = kind.startswith("classes")
        for a, b in product(SCALES, (1.0,) if of_classes else SCALES):
            yield Case(kind, x_scale=a, y_scale=b)
        for a in BEYOND:
            yield Case(kind, x_scale=a)
        for a, b in product(OFFSETS, (0.0,) if of_classes else OFFSETS):
            if a or b:
                yield Case(kind, x_offset=a, y_offset=b)
        for a, b in product(SCALES, OFFSETS[1:4]):
            if a != 1.0:
                yield Case(kind, x_scale=a, x_offset=b, y_scale=1.0 if of_classes else 1.0 / a, y_offset=0.0)
        for a, b in ((1e-30, 0.0), (1.0, 1e4), (1e30, 10.0)):
            yield Case(kind, x_scale=a, x_offset=b, dtype="float32")
        yield Case(kind, elsewhere=True)


def few() -> Iterator[Case]:
    """Yield three hard cases of every kind; of those that take long, one."""
    for kind in KINDS:
        y = {} if kind.startswith("classes") else {"y_scale": 1e150}
        yield Case(kind, x_offset=1e12, y_offset=1e6 if y else 0.0)
        if kind not in SLOW:
            yield Case(kind, x_scale=1e-150, **y)
            yield Case(kind, x_scale=1e300)
            yield Case(kind, x_scale=1e20, x_offset=1e4, dtype="float32")


def table(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X and y as the case has them, and y before that."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(ROWS, 2))
    t = np.abs(Z[:, 0]) + 0.5 * Z[:, 1] + 0.1 * rng.normal(size=ROWS)
    X = (case.x_scale * (Z + case.x_offset)).astype(case.dtype)
    if case.kind.startswith("classes"):
        return X, (t > 0.8).astype(int), t
    return X, case.y_scale * (t + case.y_offset), t


def check(case: Case) -> None:
    """Fit, predict and explain; raise AssertionError where something is not finite, or does not add up."""
    X, y, t = table(case)
    if case.elsewhere:
        check_elsewhere(case)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)  # a gap that was missed, and is told
        model = KINDS[case.kind].__sklearn_clone__().fit(X, y)
        found = model.explain(X)
        ahead = model.explain(X + np.ptp(X, axis=0).astype(X.dtype))
        for name in ("slopes", "contributions", "intercept"):
            finite(case, name, getattr(found, name))
            finite(case, f"{name} beyond the rows", getattr(ahead, name))
        if case.kind.startswith("classes"):
            check_classes(case, model, X, y, found)
        else:
            check_values(case, model, X, t, found)
    if case.dtype == "float32":
        again = KINDS[case.kind].__sklearn_clone__().fit(X.astype(np.float64), y)
        same(case, "single precision", model.predict(X), again.predict(X.astype(np.float64)))


def check_values(case: Case, model: Any, X: np.ndarray, t: np.ndarray, found: Any) -> None:
    """Say what must hold of a regression."""
    value = model.predict(X)
    finite(case, "prediction", value)
    same(case, "explained prediction", found.prediction, value)
    total = found.intercept + found.contributions.sum(axis=1)
    size = np.abs(found.contributions).sum(axis=1) + np.abs(value) + np.abs(found.intercept)
    off = np.where(found.clipped, 0.0, np.abs(total - value))
    assert (off <= 1e-12 * size).all(), f"{case}: contributions miss the prediction by {(off / size).max():.2g}"
    assert not np.isnan(found.room).any(), f"{case}: room is NaN"
    if hasattr(model, "certificate_"):
        assert 0 <= model.certificate_.gap <= 1.0, f"{case}: gap {model.certificate_.gap}"
    if model.model_.errors is not None:
        for end in model.predict_interval(X):
            finite(case, "interval", end)
    if max(abs(case.x_offset), abs(case.y_offset)) <= CLEAR:
        left = value / case.y_scale - case.y_offset - t
        share = float(np.mean(left**2) / np.var(t))
        assert share < 0.5, f"{case}: the fit leaves {share:.0%} of the variance"


def check_classes(case: Case, model: Any, X: np.ndarray, y: np.ndarray, found: Any) -> None:
    """Say what must hold of a classification."""
    finite(case, "scores", model.decision_function(X))
    p = model.predict_proba(X)
    assert np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1.0), f"{case}: probabilities"
    same(case, "explained class", found.prediction, model.predict(X))
    total = found.intercept + found.contributions.sum(axis=1)
    size = np.abs(found.contributions).sum(axis=1) + np.abs(found.margin) + np.abs(found.intercept)
    off = np.abs(total - found.margin)
    assert (off <= 1e-12 * size).all(), f"{case}: contributions miss the margin by {(off / size).max():.2g}"
    if abs(case.x_offset) <= CLEAR:
        assert model.score(X, y) > 0.7, f"{case}: accuracy {model.score(X, y):.2f}"


FIT = """
import sys
from tests.attack.numbers import KINDS, Case, table
kind = sys.argv[1]
X, y, _ = table(Case(kind))
model = KINDS[kind].__sklearn_clone__().fit(X, y)
values = model.predict_proba(X) if kind.startswith("classes") else model.predict(X)
print(*[float(value).hex() for value in values.ravel()])
"""


def check_elsewhere(case: Case) -> None:
    """Fit in two other processes, with one and with two threads of the BLAS: the same to the last bit."""
    told = []
    for threads, seed in (("1", "1"), ("2", "2")):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": seed}
        words = [sys.executable, "-W", "ignore", "-c", FIT, case.kind]
        told.append(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)
    assert told[0] == told[1] and told[0].count("0x") >= ROWS, f"{case}: processes differ"


def finite(case: Case, name: str, values: np.ndarray) -> None:
    """Raise unless all values are finite."""
    assert np.isfinite(values).all(), f"{case}: {name} is not finite"


def same(case: Case, name: str, one: np.ndarray, other: np.ndarray) -> None:
    """Raise unless both arrays are equal."""
    assert np.array_equal(one, other), f"{case}: {name} differs"
