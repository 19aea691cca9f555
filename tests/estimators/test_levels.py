"""Several quantiles at once."""

import pickle
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_pinball_score
from tests.quick import few_kinds, quick

from pldc import DCRegressor, Quantile
from pldc.estimators.misses import missed_levels
from pldc.problem.recipe import Rows

LEVELS = (0.1, 0.5, 0.9)
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (300, 2))
SPREAD = 0.2 + np.abs(X[:, 0])
Y = X[:, 1] + SPREAD * RNG.standard_normal(300)


@pytest.fixture(scope="module")
def model():
    with few_kinds():
        return DCRegressor(loss=Quantile(LEVELS), n_jobs=1).fit(X, Y)


def test_columns_are_the_fits_of_each_level_in_order(model):
    with few_kinds():
        each = [DCRegressor(loss=Quantile(q), n_jobs=1).fit(X, Y).predict(X) for q in LEVELS]
    np.testing.assert_array_equal(model.predict(X), np.sort(np.column_stack(each), axis=1))
    assert [f.n_features for f in model.functions_] == [2, 2, 2]
    assert {kind["level"] for kind in model.chosen_} == set(LEVELS)


def test_levels_never_cross_and_hold_their_shares(model):
    far = 10 * RNG.normal(size=(500, 2))
    assert (np.diff(model.predict(far), axis=1) >= 0).all()
    share = (Y[:, None] <= model.predict(X)).mean(axis=0)
    np.testing.assert_allclose(share, LEVELS, atol=0.07)
    low, _, high = model.predict([[0.0, 0.0], [0.9, 0.0]]).T
    assert (high - low)[1] > 2 * (high - low)[0]  # true: 5.5


def fresh(n, seed):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, (n, 5))
    return Z, np.sin(3 * Z[:, 0]) + Z[:, 1] + 0.5 * (1 + Z[:, 2]) * rng.standard_normal(n)


def off_band(settings, n, seed):
    """Shares of new rows below and above a band from 0.1 to 0.9."""
    Z, z = fresh(4000, 99)
    low, high = DCRegressor(loss=Quantile([0.1, 0.9]), n_jobs=1, **settings).fit(*fresh(n, seed)).predict(Z).T
    return [np.mean(z < low), np.mean(z > high)]


@contextmanager
def not_moved():
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in ("few_pieces", "students"):
            patch.setattr(f"pldc.fit.{place}.at_level", lambda members, folds, settings: (members, folds))
        yield


@pytest.mark.parametrize("settings", [{}, {"n_pieces": 3}, {"clip": False}])
def test_bands_hold_their_share_of_new_rows(settings):
    """Fits that follow their training rows alone hold some 0.65."""
    with quick():
        held = [off_band(settings, 120, seed) for seed in range(3)]
        with not_moved():
            before = [off_band(settings, 120, seed) for seed in range(3)]
    assert np.mean(before) > 0.15
    np.testing.assert_allclose(np.mean(held, axis=0), 0.1, atol=0.035)


def test_bands_hold_their_share_with_all_defaults():
    np.testing.assert_allclose(off_band({}, 150, 2), 0.1, atol=0.03)  # not moved: 0.15 on either side


def test_the_score_is_that_of_functions_that_were_moved():
    with few_kinds():
        model = DCRegressor(loss=Quantile(0.9), n_jobs=1).fit(X, Y)
    rows, total = model._folds.rows, 0.0
    for (f,), (low, high), (_, test) in zip(
        model._folds.functions, model._folds.limits, model._folds.splits, strict=True
    ):
        off = rows.y[test] - np.clip(f(rows.X[test]), low, high)
        total += rows.weight[test] @ np.maximum(1.8 * off, -0.2 * off)
    assert model.cv_score_ == pytest.approx(-total / rows.weight.sum() / Y.std(), rel=1e-6)  # y standardised


def test_score_is_the_share_of_the_pinball_loss_explained(model):
    weight = RNG.uniform(0.5, 2, 300)
    known = [
        d2_pinball_score(Y, f, sample_weight=weight, alpha=q) for q, f in zip(LEVELS, model.predict(X).T, strict=True)
    ]
    assert model.score(X, Y, weight) == pytest.approx(np.mean(known))
    assert model.score(X, Y) > 0.1


def test_what_needs_one_function_says_so(model):
    assert not hasattr(model, "function_")
    with pytest.raises(AttributeError, match="several functions, functions_"):
        _ = model.function_
    questions = [lambda: model.curve(0, X), lambda: model.region_table(X), lambda: model.counterfactual(X[0], 0.0)]
    questions.append(lambda: model.generalization_bound(X, Y))
    questions += [lambda method=method: model.explain(X, method=method) for method in ("local", "path", "shapley")]
    for ask in questions:
        with pytest.raises(ValueError, match=r"several quantiles, \(0.1, .*functions_\[k\], or fit one level"):
            ask()
    with pytest.raises(ValueError, match="take two of its columns as an interval. Intervals of any coverage"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="one level at a time"):
        DCRegressor(loss=Quantile(LEVELS), n_pieces="rows").fit(X, Y)


def test_levels_are_checked_and_kept():
    for wrong in ([], [0.5, 0.1], [0.1, 0.1], [0.0, 0.5], ["a"], "ab", [[0.1, 0.2]], None, 1.0):
        with pytest.raises(ValueError, match="level"):
            Quantile(wrong)
    assert Quantile([0.1, 0.9]) == Quantile((0.1, 0.9)) == Quantile(np.array([0.1, 0.9]))
    assert hash(Quantile([0.1, 0.9])) == hash(Quantile((0.1, 0.9)))
    assert clone(DCRegressor(loss=Quantile([0.1, 0.9]))).loss == Quantile([0.1, 0.9])
    with pytest.raises(ValueError, match="stands for several"):
        _ = Quantile([0.1, 0.9]).up
    assert Quantile([0.3]).up == Quantile(0.3).up and len(Quantile([0.3]).each) == 1


def test_a_pickle_and_a_limit_of_time(model, monkeypatch):
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    monkeypatch.setattr("pldc.fit.spine.SHORTEST_FIT", 1e-6)
    short = DCRegressor(loss=Quantile(LEVELS), max_seconds=1e-6, n_jobs=1)
    off = r"Quantiles that are off: 0.1 \(\d+% of the training rows are below"
    with not_moved(), pytest.warns(ConvergenceWarning, match=off):  # functions that begin at one place, and stay there
        short.fit(X, Y)
    short.fit(X, Y)  # rows left out say how far apart they belong: no warning
    np.testing.assert_allclose((Y[:, None] <= short.predict(X)).mean(axis=0), LEVELS, atol=0.05)


def test_the_score_is_the_mean_of_those_of_the_levels(model):
    with few_kinds(), warnings.catch_warnings():
        warnings.simplefilter("error")
        each = [DCRegressor(loss=Quantile(q), n_jobs=1).fit(X, Y).cv_score_ for q in LEVELS]
        DCRegressor(loss=Quantile(LEVELS), n_jobs=1).fit(X, Y)  # no warning: its quantiles hold their shares
    assert model.cv_score_ == pytest.approx(np.mean(each))
    assert f"mean quantile loss {-np.mean(each):.4f}"[:24] in str(model)
    assert "over 3 levels at rows left out" in str(model)


def test_ties_are_on_both_sides_of_a_level():
    steps = np.repeat([0.0, 1.0], 150)
    with few_kinds(), warnings.catch_warnings():
        warnings.simplefilter("error")
        DCRegressor(loss=Quantile([0.3, 0.7]), n_jobs=1).fit(steps[:, None] + 1e-3 * X, steps)


class Constants:
    """A model whose levels are constants."""

    def __init__(self, levels, values):
        self.levels, self.values = levels, values

    def predict(self, X):
        return np.tile(self.values, (len(X), 1))


@pytest.mark.parametrize(
    "levels, values, off",
    [
        ((0.6, 0.7), (830.0, 830.0), "0.6 (83% of the training rows are below), 0.7 (83%"),  # both where they began
        ((0.6, 0.7), (730.0, 830.0), ""),  # too far out, but apart: new rows want that
        ((0.1, 0.9), (300.0, 700.0), "0.1 (30% of the training rows are below), 0.9 (70%"),
        ((0.1, 0.9), (20.0, 980.0), ""),
        ((0.1, 0.2, 0.9), (5.0, 5.0, 900.0), "0.2 (0% of the training rows are below)"),
    ],
)
def test_levels_that_are_off_are_named(levels, values, off):
    rows = Rows(np.zeros((1000, 1)), np.arange(1000.0) + 0.5, np.ones(1000))
    assert off in missed_levels(Constants(levels, values), rows)
    assert bool(off) == bool(missed_levels(Constants(levels, values), rows))


def test_ctrl_c_in_one_level_leaves_all():
    calls = []

    def monitor(row):
        calls.append(row)
        if len(calls) == 1:
            raise KeyboardInterrupt

    model = DCRegressor(loss=Quantile(LEVELS), n_jobs=1)
    with few_kinds(), pytest.raises(KeyboardInterrupt, match="usable"):
        model.fit(X, Y, monitor=monitor)
    assert model.predict(X).shape == (300, 3) and len(model.functions_) == 3
