"""What a fit with all defaults, one of few pieces, promises to users."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

from pldc import CrossValidation, DCRegressor
from tests.problems import slanted, synthetic

X, Y = slanted()


@pytest.fixture(scope="module")
def fitted():
    return DCRegressor().fit(X, Y)


def test_it_is_no_program_unless_a_setting_of_the_program_is_changed(fitted):
    for name in ("certificate_", "lam_", "seminorm_", "solver_"):
        assert not hasattr(fitted, name)
    assert hasattr(DCRegressor(n_pieces="rows", lam=0.1).fit(X, Y), "certificate_")
    assert hasattr(DCRegressor(lam=0.1).fit(X, Y), "certificate_")
    assert not hasattr(DCRegressor(loss="absolute", clip=False, random_state=1).fit(X, Y), "certificate_")


def test_order_threads_and_repetition_change_nothing(fitted):
    expected = fitted.predict(X)
    order = np.random.default_rng(5).permutation(len(Y))
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    assert np.array_equal(DCRegressor(n_jobs=1).fit(X[order], Y[order]).predict(X), expected)
    assert np.array_equal(DCRegressor(n_jobs=2).fit(np.tile(X, (2, 1)), np.tile(Y, 2)).predict(X), expected)
    weighted = DCRegressor().fit(X, Y, sample_weight=weight)
    repeated = DCRegressor().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert np.allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)
    assert np.allclose(weighted.predict_interval(X), repeated.predict_interval(X), atol=1e-6)
    assert np.abs(weighted.predict(X) - expected).max() > 1e-3


@pytest.mark.parametrize("by", ["splitter", "groups"])
def test_order_repetition_and_weight_zero_change_nothing_beside_folds_of_ones_own(by):
    fold = np.arange(len(Y)) % 4
    order = np.random.default_rng(5).permutation(len(Y))

    def fit(at, weight=None, y=Y):
        if by == "groups":
            return DCRegressor(cv=4).fit(X[at], y[at], sample_weight=weight, groups=fold[at])
        return DCRegressor(cv=PredefinedSplit(fold[at])).fit(X[at], y[at], sample_weight=weight)

    plain = fit(np.arange(len(Y)))
    assert np.allclose(fit(order).predict(X), plain.predict(X), atol=1e-6)
    assert np.allclose(fit(np.tile(np.arange(len(Y)), 2)).predict(X), plain.predict(X), atol=1e-6)
    heavy = np.arange(len(Y)) >= 8
    without = fit(np.flatnonzero(heavy))
    zero = fit(np.arange(len(Y)), heavy.astype(float), np.where(heavy, Y, 1e9))
    assert zero.clip_range_ == without.clip_range_
    assert np.allclose(zero.predict(X), without.predict(X), atol=1e-6)


def test_groups_of_many_rows_are_all_fitted():
    many, target = synthetic(200, 2)
    model = DCRegressor(cv=CrossValidation(max_rows=50)).fit(many, target, groups=np.arange(200) % 10)
    assert model.clip_range_ == (target.min(), target.max())
    assert np.allclose(model.reference_, many.mean(axis=0))


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


@pytest.mark.parametrize("cv", [KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0), 3])
def test_any_splitter_and_scorer(cv):
    model = DCRegressor(cv=CrossValidation(cv, scoring="r2")).fit(X, Y)
    assert 0.5 < model.cv_score_ <= 1 and 0.5 < model.cv_results_["mean_test_score"].max() <= 1  # no negative loss
    low, high = model.predict_interval(X)
    assert (low <= high).all()


def test_a_scorer_of_ones_own_predicts_only():
    model = DCRegressor(cv=CrossValidation(scoring=lambda m, X, y: -np.abs(m.predict(X) - y).mean())).fit(X, Y)
    assert -0.5 < model.cv_score_ < 0


def test_a_seed_may_be_a_generator_of_numbers(fitted):
    seeds = [np.random.RandomState(3), np.random.RandomState(3), 3]
    first, again, number = (DCRegressor(random_state=seed).fit(X, Y).predict(X) for seed in seeds)
    assert np.array_equal(first, again) and not np.array_equal(number, fitted.predict(X))


def test_intervals_cover():
    new_X, new_y = slanted(400, seed=7)
    model = DCRegressor().fit(*slanted(60, seed=6))
    low, high = model.predict_interval(new_X, 0.8)
    assert (low <= high).all() and 0.7 <= ((low <= new_y) & (new_y <= high)).mean() <= 0.97
    wide = model.predict_interval(new_X, 0.95)
    assert (wide[0] <= low).all() and (wide[1] >= high).all()


def test_explanations_add_up_and_regions_count_rows(fitted):
    why = fitted.explain(X)
    inside = ~why.clipped
    assert np.array_equal(why.prediction, fitted.predict(X))
    assert np.allclose((why.intercept + why.contributions.sum(axis=1))[inside], why.prediction[inside])
    assert np.allclose(fitted.explain(X, neighbourhood=0).slopes, fitted.function_.gradient(X))
    assert fitted.region_table(X)["rows"].sum() == len(Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(fitted, frame):
    table = frame({"left": X[:, 0], "right": X[:, 1]})
    model = DCRegressor().fit(table, Y)
    assert np.array_equal(model.predict(table), fitted.predict(X))
    assert model.explain(table[:3]).features == ("left", "right")
    assert {"slope of left", "slope of right"} <= set(model.region_table(table))


def test_pickles(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(again.predict_interval(X), fitted.predict_interval(X))


def test_several_targets_are_fitted_each_by_itself(fitted):
    targets = np.column_stack([Y, X[:, 1] ** 2])
    model = DCRegressor().fit(X, targets)
    assert np.array_equal(model.predict(X)[:, 0], fitted.predict(X)) and not hasattr(model, "function_")
    low, high = model.predict_interval(X)
    assert low.shape == (len(Y), 2) and (low <= high).all()
    assert len(model.explain(X[:2])) == len(model.region_table(X)) == len(model.generalization_bound()) == 2


@pytest.mark.parametrize("n", range(1, 9))
def test_few_rows(n):
    model = DCRegressor().fit(X[:n], Y[:n])
    assert Y[:n].min() <= model.predict(X).min() and model.predict(X).max() <= Y[:n].max()
