"""What must not matter to a fit with all defaults: order, repetition, units, constant columns. Fewer kinds are tried.

Fits as they come are in test_defaults.py and test_checks.py.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import PredefinedSplit
from tests.problems import corner, slanted, synthetic

from pldc import CrossValidation, DCRegressor
from pldc.compact.members import Candidate
from pldc.compact.plan import Plan

X, Y = slanted()
GRID = np.random.default_rng(99).normal(scale=1.5, size=(200, 2))
pytestmark = pytest.mark.usefixtures("quick_module")


@pytest.fixture(scope="module")
def fitted():
    return DCRegressor().fit(X, Y)


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none(fitted):
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    weighted = DCRegressor().fit(X, Y, sample_weight=weight)
    repeated = DCRegressor().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_array_equal(weighted.predict(GRID), repeated.predict(GRID))
    np.testing.assert_array_equal(weighted.predict_interval(GRID), repeated.predict_interval(GRID))
    assert np.abs(weighted.predict(X) - fitted.predict(X)).max() > 1e-3


@pytest.mark.parametrize("by", ["splitter", "groups"])
def test_order_repetition_and_weight_zero_change_nothing_beside_folds_of_ones_own(by):
    fold = np.arange(len(Y)) % 4

    def fit(at, weight=None, y=Y):
        if by == "groups":
            return DCRegressor(cv=4).fit(X[at], y[at], sample_weight=weight, groups=fold[at])
        return DCRegressor(cv=PredefinedSplit(fold[at])).fit(X[at], y[at], sample_weight=weight)

    plain = fit(np.arange(len(Y)))
    twice = np.random.default_rng(5).permutation(np.tile(np.arange(len(Y)), 2))
    assert np.allclose(fit(twice).predict(X), plain.predict(X), atol=1e-6)
    heavy = np.arange(len(Y)) >= 8
    without = fit(np.flatnonzero(heavy))
    zero = fit(np.arange(len(Y)), heavy.astype(float), np.where(heavy, Y, 1e9))
    assert zero.clip_range_ == without.clip_range_
    assert np.allclose(zero.predict(X), without.predict(X), atol=1e-6)


def test_of_many_rows_neither_weights_nor_order_nor_threads_matter_either(monkeypatch):
    plan = Plan([Candidate(4, 3, (1e-2, 0.1), 0, 8), Candidate(0, 4, (1e-2,), 1, 8)], 10**6, 1, 2, 2)
    monkeypatch.setattr("pldc.fit.few_pieces.plan_for", lambda *size, **kinds: plan)
    X, y = corner(n=1100)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, size=1100)
    many = rng.permutation(np.repeat(np.arange(1100), counts))
    weighted = DCRegressor(n_jobs=1).fit(X, y, sample_weight=counts)
    repeated = DCRegressor(n_jobs=2).fit(np.asfortranarray(X[many]), y[many])
    assert len(weighted._folds.rows.y) == (counts > 0).sum()
    np.testing.assert_array_equal(weighted.predict(GRID), repeated.predict(GRID))
    np.testing.assert_array_equal(weighted.predict_interval(GRID), repeated.predict_interval(GRID))
    assert weighted.cv_score_ == repeated.cv_score_


def test_groups_of_many_rows_are_all_fitted():
    many, target = synthetic(200, 2)
    model = DCRegressor(cv=CrossValidation(max_rows=50)).fit(many, target, groups=np.arange(200) % 10)
    assert model.clip_range_ == (target.min(), target.max())
    assert np.allclose(model.reference_, many.mean(axis=0))


def test_rows_of_one_group_stay_together():
    X, y = corner()
    groups = np.arange(len(y)) // 2
    pairs = np.repeat(X[::2], 2, axis=0)
    pairs[1::2, 0] += 1e-6
    noise = np.repeat(np.random.default_rng(0).normal(size=len(y) // 2), 2)
    alone, together = (DCRegressor().fit(pairs, noise, groups=g) for g in (None, groups))
    assert together.cv_score_ < 1.5 * alone.cv_score_  # noise that is seen twice can be learned by heart
    with pytest.raises(ValueError, match="groups must hold one label"):
        DCRegressor().fit(X, y, groups=groups[:-1])


@pytest.mark.parametrize("x, y", [(1.0, 8.0), (2.0**10, 1.0), (2.0**-500, 2.0**500)])
def test_units_change_nothing(fitted, x, y):
    other = DCRegressor().fit(x * X, y * Y)  # powers of two: no rounding, which would send a descent another way
    assert np.allclose(other.predict(x * X) / y, fitted.predict(X), rtol=0, atol=1e-6 * Y.std())


@pytest.mark.parametrize("x, x_shift, y, y_shift", [(1.0, 0.0, 7.0, -3.0), (1e3, 5.0, 1.0, 0.0), (1e-150, 0, 1e150, 0)])
def test_any_units_are_fitted_as_well(fitted, x, x_shift, y, y_shift):
    other = DCRegressor().fit(x * X + x_shift, y * Y + y_shift)
    found = (other.predict(x * X + x_shift) - y_shift) / y
    assert r2_score(Y, found) > fitted.score(X, Y) - 0.02


@pytest.mark.parametrize("value", [0.0, 1.1e33, 1.1e100])
def test_a_constant_column_of_any_size(fitted, value):
    wide = np.column_stack([X, np.full(len(Y), value)])
    model = DCRegressor().fit(wide, Y)
    assert model.score(wide, Y) > fitted.score(X, Y) - 0.05
    assert not model.explain(wide[:3]).slopes[:, 2].any()


def test_single_precision_given_is_the_same_numbers_in_double():
    single, double = (DCRegressor().fit(X.astype(np.float32).astype(kind), Y) for kind in (np.float32, np.float64))
    np.testing.assert_array_equal(single.predict(GRID), double.predict(GRID))
    assert single.predict(GRID.astype(np.float32)).dtype == np.float64


def test_a_seed_is_a_result_and_another_another(fitted):
    seeds = [0, 3, np.random.RandomState(3), np.random.RandomState(3)]
    zero, three, first, again = (DCRegressor(random_state=seed).fit(X, Y).predict(GRID) for seed in seeds)
    expected = fitted.predict(GRID)
    assert np.array_equal(zero, expected) and np.array_equal(first, again)
    assert not np.array_equal(three, expected) and not np.array_equal(first, expected)


CODE = """
import sys
import numpy as np
from pldc import DCRegressor
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (17_000, 4))
y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(17_000)
sys.path.insert(0, ".")
from tests.quick import few_kinds
with few_kinds():
    print(DCRegressor().fit(X, y).predict(X[:2000]).tobytes().hex())
"""


def test_numbers_of_blas_threads_change_no_fit_of_many_rows():
    """Here descents are in single precision, and rounding parts them: so nothing may be rounded otherwise."""
    found = []
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        own = os.environ | dict.fromkeys(names, threads)
        out = subprocess.run([sys.executable, "-c", CODE], env=own, capture_output=True, text=True, check=True)
        found.append(np.frombuffer(bytes.fromhex(out.stdout.strip())))
    assert np.abs(found[0] - found[1]).max() <= 1e-6 * np.ptp(found[0])
