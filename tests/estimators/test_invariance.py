"""What must not matter to a fit with all defaults: order, repetition, units, constant columns. Fewer kinds are tried.

Fits as they come are in test_defaults.py and test_checks.py.
"""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import PredefinedSplit
from tests.problems import corner, slanted, synthetic
from threadpoolctl import threadpool_info, threadpool_limits

from pldc import CrossValidation, DCRegressor
from pldc.compact.members import Candidate
from pldc.compact.plan import Plan
from pldc.solve.workers import blas_threads

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


@pytest.mark.parametrize("how", ["fit", "simplify"])
def test_the_blas_has_one_thread_from_the_first_sum_to_the_last(how, monkeypatch):
    """With two, sums end in other digits, and descents on many rows part there: by 2 % of the range of y on 60,000."""
    seen, model = [], DCRegressor(n_pieces="auto").fit(X[:60], Y[:60])

    def spied(*given):
        seen.append([each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"])
        raise KeyError("seen")

    monkeypatch.setattr(f"pldc.estimators.base.{how}", spied)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyError, match="seen"):
            getattr(model, how)(X[:60], Y[:60])
        after = blas_threads()
    assert before == after == 2 and set(seen[0]) == {1}
