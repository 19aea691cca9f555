"""Several quantiles at once."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_pinball_score
from tests.quick import few_kinds

from pldc import DCRegressor, Quantile

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
    np.testing.assert_allclose(share, LEVELS, atol=0.06)
    low, _, high = model.predict([[0.0, 0.0], [0.9, 0.0]]).T
    assert (high - low)[1] > 2 * (high - low)[0]  # true: 5.5


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
    with pytest.raises(ValueError, match="take two of its columns .* fitted, not calibrated"):
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
    with pytest.warns(ConvergenceWarning, match=r"Quantiles that are off: 0.1 \(\d+% of the training rows are below\)"):
        short.fit(X, Y)
    assert short.predict(X).shape == (300, 3)


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
