"""Directions of a kernel smoother."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, PredefinedSplit

from pldc import PLDC, DCClassifier, DCRegressor
from pldc.problem.recipe import Rows
from pldc.problem.units import AXES
from pldc.select import smooth
from pldc.select.coordinates import Step
from pldc.select.search import Search, geometric_grid
from pldc.select.smooth import smooth_turn, smoother, turn_of_smoother

RECIPE = DCRegressor(lam=0.1).fit(np.eye(3), np.arange(3.0))._recipe()  # for fits, of three features
ALL = range(len(smooth.WIDTHS))


def ridge_function(n, d, seed=0, noise=0.1):
    """A function of the mean direction of d features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    s = X.sum(axis=1) / np.sqrt(d)
    return X, np.sin(np.pi * s) + s**2 + noise * rng.standard_normal(n)


def rows_of(X, y, weight=None):
    return Rows(X, y, np.ones(len(y)) if weight is None else weight)


def share_along(turn, direction):
    """Share of the squared stretch of a turn that lies along one direction."""
    unit = direction / np.linalg.norm(direction)
    return unit @ turn @ turn @ unit / np.trace(turn @ turn)


def kernel(A, B, width):
    return np.exp(-np.sqrt(((A[:, None] - B) ** 2).sum(axis=2)) / width)


@pytest.mark.parametrize("columns", [1, 3])
def test_error_and_gradients_are_those_of_kernel_ridge_regression(columns):
    rng = np.random.default_rng(1)
    Z, Y, weight = rng.standard_normal((14, 3)), rng.standard_normal((14, columns)), rng.uniform(0.5, 2.0, 14)
    weight *= 14 / weight.sum()
    distance = np.sqrt(((Z[:, None] - Z) ** 2).sum(axis=2))
    unit = np.median(distance[distance > 0])
    least = (np.inf,)
    for k, factor in enumerate(smooth.WIDTHS):
        for ridge in smooth.RIDGES:
            error = 0.0
            for i in range(14):
                rest = np.delete(np.arange(14), i)
                model = KernelRidge(alpha=ridge, kernel="precomputed")
                model.fit(kernel(Z[rest], Z[rest], unit * factor), Y[rest], sample_weight=weight[rest])
                wrong = model.predict(kernel(Z[[i]], Z[rest], unit * factor))[0] - Y[i]
                error += weight[i] * wrong @ wrong / 14
            least = min(least, (error, k, unit * factor, ridge))
    error, k, width, ridge = least
    found = smoother(Z, Y, weight / 14, ALL)
    assert found[0] == pytest.approx(error, rel=1e-8) and found[1] == k

    model = KernelRidge(alpha=ridge, kernel="precomputed").fit(kernel(Z, Z, width), Y, sample_weight=weight)
    step, outer = 1e-6, np.zeros((3, 3))
    for z, w in zip(Z, weight, strict=True):
        # The kernel has a kink at its own point; central differences see the mean of its two slopes, nought.
        ends = [model.predict(kernel(z + s * step * np.eye(3), Z, width)) for s in (1, -1)]
        gradient = (ends[0] - ends[1]) / (2 * step)
        outer += w * gradient @ gradient.T / 14
    assert np.allclose(found[2], outer, rtol=1e-5)


def test_repeated_fits_find_the_direction_of_a_few_rows(monkeypatch):
    X, y = ridge_function(60, 6)
    last = turn_of_smoother(X, y[:, None], np.ones(60))
    monkeypatch.setattr(smooth, "MOST_FITS", 1)
    first = turn_of_smoother(X, y[:, None], np.ones(60))
    assert share_along(last, np.ones(6)) > 0.97 > 0.9 > share_along(first, np.ones(6))


def test_it_stops_where_the_error_no_longer_falls(monkeypatch):
    errors, seen = [3.0, 2.0, 2.5, 1.0], []

    def fake(Z, Y, share, widths):
        assert np.allclose(share @ Z, 0) and np.allclose(share @ Y, 0)
        seen.append(widths)
        return errors[len(seen) - 1], len(seen), np.diag([1.0, float(len(seen))])

    monkeypatch.setattr(smooth, "smoother", fake)
    X, y = ridge_function(20, 2)
    weight = np.arange(1.0, 21.0)
    turn = turn_of_smoother(X, y[:, None] + 1e3, weight)
    assert seen == [ALL, range(0, 3), range(1, 4)]  # those beside the last width
    first = np.sqrt(np.diag([1.0, 1.0]) + 1e-3 * np.eye(2))
    second = first @ np.diag([1.0, 2.0]) @ first
    expected = np.sqrt(np.diag(second) / np.diag(second).mean() + 1e-3)
    assert np.allclose(np.diag(turn) / turn[0, 0], expected / expected[0])
    before, after = (np.cov(Z.T, aweights=weight).trace() for Z in (X, X @ turn))
    assert after == pytest.approx(before)


@pytest.mark.parametrize(
    ("x", "shift", "y_unit", "y_shift"),
    [(1e-9, 0.0, 1e160, 0.0), (1e9, 0.0, 1e-170, 0.0), (1.0, 1e6, 1.0, 0.0), (1.0, 0.0, 1.0, 1e4)],
)
def test_it_knows_no_units(x, shift, y_unit, y_shift):
    X, y = ridge_function(40, 3)
    Y, weight = y[:, None], np.arange(1.0, 41.0)
    turn = turn_of_smoother(X, Y, weight)
    assert np.allclose(turn_of_smoother(x * X + shift, y_unit * Y + y_shift, 7 * weight), turn, atol=1e-4)
    assert np.allclose(turn_of_smoother(X[:, ::-1], Y, weight)[::-1, ::-1], turn, atol=1e-6)


def test_a_weight_is_a_number_of_rows_and_none_is_no_row():
    X, y = ridge_function(30, 4)
    count = np.arange(30) % 4
    weighted = smooth_turn(RECIPE, rows_of(X, y, count.astype(float)))
    repeated = smooth_turn(RECIPE, rows_of(np.repeat(X, count, axis=0), np.repeat(y, count)))
    assert np.allclose(weighted, repeated, atol=1e-8)
    assert not np.allclose(weighted, smooth_turn(RECIPE, rows_of(X, y)), atol=1e-2)


def test_weights_with_a_splitter():
    X, y = ridge_function(40, 3)
    fold = np.arange(40) % 4
    twice = DCRegressor(cv=PredefinedSplit(np.tile(fold, 2)), n_jobs=1).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    double = DCRegressor(cv=PredefinedSplit(fold), n_jobs=1).fit(X, y, sample_weight=np.full(40, 2.0))
    assert twice.cv_score_ == pytest.approx(double.cv_score_, rel=1e-6)
    assert np.allclose(twice.predict(X), double.predict(X), atol=1e-6)


def test_rows_without_weight_beside_a_splitter():
    X, y = ridge_function(1000, 2)
    weight = np.zeros(1000)
    weight[::25] = 1.0
    folds = KFold(4, shuffle=True, random_state=0)
    model = DCRegressor(n_pieces="rows", cv=folds, n_jobs=1, max_rounds=1).fit(X, y, weight)
    assert set(model.cv_results_["param_round"]) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.random.default_rng(0).standard_normal((9, 2)), np.full(9, 3.0)),
        (np.ones((9, 2)), np.arange(9.0)),
        (np.ones((1, 2)), np.ones(1)),
        (np.arange(9.0)[:, None], np.arange(9.0)),
    ],
)
def test_nothing_to_learn_is_nothing_learned(X, y):
    assert smooth_turn(RECIPE, rows_of(X, y)) is None


def test_points_that_are_nearly_one_have_no_direction_between_them():
    X, y = ridge_function(30, 3)
    near = X + 1e-12 * np.random.default_rng(1).standard_normal(X.shape)
    both = rows_of(np.vstack([X, near]), np.concatenate([y, y]))
    turn = smooth_turn(RECIPE, both)
    assert np.isfinite(turn).all() and share_along(turn, np.ones(3)) > 0.9


def test_of_many_rows_some_are_enough(monkeypatch):
    X, y = ridge_function(300, 4)
    order = np.argsort(X[:, 0])
    monkeypatch.setattr(smooth, "MOST_ROWS", 150)
    seen = []
    fit = smooth.smoother
    monkeypatch.setattr(smooth, "smoother", lambda Z, *rest: seen.append(Z) or fit(Z, *rest))
    turn = smooth_turn(RECIPE, rows_of(X[order], y[order]))
    assert {len(Z) for Z in seen} == {150} and share_along(turn, np.ones(4)) > 0.97
    assert np.allclose(turn, smooth_turn(RECIPE, rows_of(X, y)))  # whatever the order of the rows


def test_every_fold_learns_from_its_own_rows_and_the_free_round_from_none(monkeypatch):
    X, y = ridge_function(40, 3)
    rows = rows_of(X, y)
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    search = Search(RECIPE, rows, halves, lambda prediction, test: -test.y.var(), jobs=1)
    tried, begin = [], search._round
    monkeypatch.setattr(
        search, "_round", lambda recipe, lams: tried.append((search.coordinates.folds, lams)) or begin(recipe, lams)
    )
    _, directions, free = search.run(0.5, (), [Step(RECIPE, "smooth"), Step(RECIPE, "axes")])
    for geometry, (train, _) in zip(tried[1][0], halves, strict=True):
        assert geometry.warp is None and np.allclose(geometry.turn, smooth_turn(RECIPE, rows.take(train)))
    assert not np.allclose(tried[1][0][0].turn, tried[1][0][1].turn)
    assert np.allclose(directions.geometry.turn, smooth_turn(RECIPE, rows)) and tried[1][1] == geometric_grid(0.5)
    assert free.geometry == AXES and tried[2][0] == [AXES, AXES]


def test_a_fold_without_directions_leaves_the_round_out():
    X, y = ridge_function(40, 3)
    y[:20] = 1.0
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    search = Search(RECIPE, rows_of(X, y), halves, lambda prediction, test: 0.0, jobs=1)
    assert not search._move(Step(RECIPE, "smooth"), [])


def test_one_direction_of_five_features_is_learned_from_fifty_rows():
    X, y = ridge_function(50, 5, noise=0.25)
    X_new, y_new = ridge_function(2000, 5, seed=1, noise=0.0)
    axes, learned = (
        np.mean((DCRegressor(n_pieces="rows", geometry=g, n_jobs=1).fit(X, y).predict(X_new) - y_new) ** 2)
        / y_new.var()
        for g in ("axes", None)
    )
    assert learned < 0.25 < 0.7 < axes


def test_many_rows_are_fitted_along_the_directions_of_the_smoother_alone(monkeypatch):
    monkeypatch.setattr("pldc.estimators.base.SEVERAL_SOLVES", 79)
    X, y = ridge_function(80, 5, noise=0.25)
    X_new, y_new = ridge_function(2000, 5, seed=1, noise=0.0)
    model = DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)
    first = np.unique(model.cv_results_["param_round"], return_index=True)[1]
    assert model.cv_results_["param_learned"][first].tolist() == ["axes", "smooth", "axes"]
    assert model.cv_results_["param_linear"][first].tolist() == [False, False, True]
    assert isinstance(model.function_, PLDC) and model.rounds_[0].penalty == "joint"
    assert share_along(model.rounds_[0].geometry.turn, np.ones(5)) > 0.9
    assert np.mean((model.predict(X_new) - y_new) ** 2) / y_new.var() < 0.15
    assert (model.predict(X_new) == DCRegressor(geometry="smoother", n_jobs=1).fit(X, y).predict(X_new)).all()
    monkeypatch.setattr("pldc.estimators.base.SEVERAL_SOLVES", 80)
    assert len(set(DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y).cv_results_["param_round"])) > 3


def test_the_smoother_alone_gives_one_function_of_few_rows_too():
    X, y = ridge_function(60, 3, seed=1, noise=0.3)
    y = y + 2 * np.abs(X[:, 0]) + X[:, 1]
    one, mean = (DCRegressor(geometry="smoother", combine=c, n_jobs=1).fit(X, y) for c in (None, "average"))
    assert isinstance(one.function_, PLDC) and len(one.rounds_) == 1 < len(mean.rounds_)


def test_many_rows_that_vary_along_the_axes_are_fitted_along_these():
    X, _ = ridge_function(80, 3)
    y = np.abs(X[:, 0]) + np.maximum(X[:, 1], 0.0)
    model = DCRegressor(geometry="smoother", n_jobs=1).fit(X, y)
    assert model.rounds_[0].geometry.turn is None and model.rounds_[0].penalty == "componentwise"


def test_directions_of_a_smoother_at_a_given_lam():
    X, y = ridge_function(80, 5, noise=0.25)
    X_new, y_new = ridge_function(2000, 5, seed=1, noise=0.0)
    turned, axes = (DCRegressor(lam=0.02, geometry=g).fit(X, y) for g in ("smoother", "axes"))
    errors = [np.mean((model.predict(X_new) - y_new) ** 2) / y_new.var() for model in (turned, axes)]
    assert errors[0] < 0.5 * errors[1] and turned.certificate_.gap <= turned.tol
    signed = [DCRegressor(lam=0.02, geometry=g, monotone=[1, 0, 0, 0, 0]).fit(X, y) for g in ("smoother", "axes")]
    assert (signed[0].predict(X_new) == signed[1].predict(X_new)).all()


@pytest.mark.parametrize("settings", [{"monotone": [1, 0]}, {"columns": 1}])
def test_where_nothing_can_be_turned_the_axes_remain(settings):
    X, y = ridge_function(40, 2)
    X = X[:, : settings.get("columns", 2)]
    model = DCRegressor(geometry="smoother", monotone=settings.get("monotone")).fit(X, y)
    assert set(model.cv_results_["param_learned"]) == {"axes"} and model.rounds_[0].geometry.turn is None


def test_turned_coordinates_are_under_the_joint_seminorm():
    model = DCRegressor(lam=0.1).fit(*ridge_function(20, 3))
    step = model._beside(model._recipe())[0]
    assert step.learn == "smooth" and step.recipe.penalty.name == "joint" != model._recipe().penalty.name


def test_slopes_of_given_sign_are_not_turned():
    model = DCRegressor(n_pieces="rows", monotone=[1, 0]).fit(*ridge_function(30, 2))
    assert not any(step.learn == "smooth" for step in model._beside(model._recipe()))
    assert all(
        r.geometry.turn is None or np.allclose(r.geometry.turn, np.diag(np.diag(r.geometry.turn)))
        for r in model.rounds_
    )


def stripes(n, d, seed=0):
    """Labels 0, 1 and 2 in stripes across the mean direction of d features: 2, 0, 1, 0, 2."""
    X, _ = ridge_function(n, d, seed)
    s = np.abs(X.sum(axis=1)) / np.sqrt(d)
    return X, np.select([s < 0.4, s > 1.0], [1.0, 2.0])


CLASSES = DCClassifier(lam=0.1).fit(*stripes(30, 3))._recipe()  # of three classes


def test_classes_are_smoothed_as_indicators_whatever_their_names_and_order(monkeypatch):
    X, labels = stripes(90, 3)
    count = 1 + np.arange(90) % 3
    turn = smooth_turn(CLASSES, rows_of(X, labels, count.astype(float)))
    Z = (X - np.average(X, axis=0, weights=count)) / np.sqrt(np.cov(X.T, ddof=0, fweights=count).diagonal())
    assert np.allclose(turn, turn_of_smoother(Z, np.eye(3)[labels.astype(int)], count), atol=1e-6)
    assert not np.allclose(turn, smooth_turn(RECIPE, rows_of(X, labels, count.astype(float))), atol=1e-2)

    monkeypatch.setattr(smooth, "MOST_ROWS", 60)
    turn = smooth_turn(CLASSES, rows_of(X, labels))
    other = np.array([2.0, 0.0, 1.0])[labels.astype(int)]
    assert share_along(turn, np.ones(3)) > 0.9
    assert np.allclose(turn, smooth_turn(CLASSES, rows_of(X[::-1], other[::-1])), atol=1e-8)


def test_a_fold_may_lack_a_class():
    X, labels = stripes(60, 3)
    some = labels > 0
    assert share_along(smooth_turn(CLASSES, rows_of(X[some], labels[some])), np.ones(3)) > 0.7


def test_stripes_across_five_features_are_learned_from_eighty_rows():
    X, labels = stripes(80, 5)
    X_new, labels_new = stripes(2000, 5, seed=1)
    axes, learned = (
        np.mean(DCClassifier(geometry=g, n_jobs=1).fit(X, labels).predict(X_new) != labels_new) for g in ("axes", None)
    )
    assert learned < 0.3 < 0.45 < axes
