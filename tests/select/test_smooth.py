"""Directions of a kernel smoother."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from pldc import DCClassifier, DCRegressor
from pldc.problem.recipe import Rows
from pldc.select import smooth
from pldc.select.search import Search, Step, smooth_turn
from pldc.select.smooth import smooth_outer_product


def ridge_function(n, d, seed=0, noise=0.1):
    """A function of the mean direction of d features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    s = X.sum(axis=1) / np.sqrt(d)
    return X, np.sin(np.pi * s) + s**2 + noise * rng.standard_normal(n)


def share_along(M, direction):
    """Share of the outer product that lies along one direction."""
    unit = direction / np.linalg.norm(direction)
    return unit @ M @ unit / np.trace(M)


def kernel(A, B, width):
    return np.exp(-np.sqrt(((A[:, None] - B) ** 2).sum(axis=2)) / width)


def test_error_and_gradients_are_those_of_kernel_ridge_regression():
    rng = np.random.default_rng(1)
    Z, Y, weight = rng.standard_normal((14, 3)), rng.standard_normal((14, 2)), rng.uniform(0.5, 2.0, 14)
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
                guess = model.predict(kernel(Z[[i]], Z[rest], unit * factor))
                error += weight[i] * ((guess - Y[i]) ** 2).sum() / 14
            least = min(least, (error, k, unit * factor, ridge))
    error, k, width, ridge = least
    found = smooth._smoother(Z, Y, weight, range(len(smooth.WIDTHS)))
    assert found[0] == pytest.approx(error, rel=1e-8) and found[1] == k

    model = KernelRidge(alpha=ridge, kernel="precomputed").fit(kernel(Z, Z, width), Y, sample_weight=weight)
    step, outer = 1e-6, np.zeros((3, 3))
    for z, w in zip(Z, weight, strict=True):
        # The kernel has a kink at its own point; central differences see the mean of its two slopes, nought.
        ends = [model.predict(kernel(z + s * step * np.eye(3), Z, width)) for s in (1, -1)]
        gradient = (ends[0] - ends[1]) / (2 * step)
        outer += w * gradient @ gradient.T / weight.sum()
    assert np.allclose(found[2], outer, rtol=1e-5)


def test_repeated_fits_find_the_direction_of_a_few_rows():
    X, y = ridge_function(60, 6)
    first = smooth._smoother(X, (y - y.mean())[:, None] / y.std(), np.ones(60), range(len(smooth.WIDTHS)))[2]
    last = smooth_outer_product(X, y[:, None], np.ones(60))
    assert share_along(last, np.ones(6)) > 0.97 > 0.9 > share_along(first, np.ones(6))


def test_it_knows_no_units_and_weights_are_shares():
    X, y = ridge_function(40, 3)
    weight = np.arange(1.0, 41.0)
    M = smooth_outer_product(X, y[:, None], weight)
    assert np.allclose(smooth_outer_product(X, y[:, None], 7 * weight), M)
    scaled = smooth_outer_product(X, 1e5 * y[:, None] + 3, weight)
    assert np.allclose(scaled / np.trace(scaled), M / np.trace(M), atol=1e-6)
    turned = smooth_outer_product(X[:, ::-1], y[:, None], weight)
    assert np.allclose(turned, M[::-1, ::-1], atol=1e-6 * np.trace(M))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.random.default_rng(0).standard_normal((9, 2)), np.full(9, 3.0)),
        (np.ones((9, 2)), np.arange(9.0)),
        (np.ones((1, 2)), np.ones(1)),
    ],
)
def test_nothing_to_learn_is_nothing_learned(X, y):
    assert not smooth_outer_product(X, y[:, None], np.ones(len(y))).any()


def test_repeated_points_have_finite_gradients():
    X, y = ridge_function(15, 2)
    M = smooth_outer_product(np.repeat(X, 3, axis=0), np.repeat(y, 3)[:, None], np.ones(45))
    assert np.isfinite(M).all() and np.trace(M) > 0


def test_of_many_rows_some_are_enough(monkeypatch):
    X, y = ridge_function(300, 4)
    whole = smooth_outer_product(X, y[:, None], np.ones(300))
    monkeypatch.setattr(smooth, "MOST_ROWS", 150)
    seen = []
    fit = smooth._smoother
    monkeypatch.setattr(smooth, "_smoother", lambda Z, *rest: seen.append(len(Z)) or fit(Z, *rest))
    some = smooth_outer_product(X, y[:, None], np.ones(300))
    assert set(seen) == {150}
    assert min(share_along(M, np.ones(4)) for M in (whole, some)) > 0.97


def test_every_fold_learns_from_its_own_rows():
    X, y = ridge_function(40, 3)
    rows = Rows(X, y, np.ones(40))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    halves = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    search = Search(recipe, rows, halves, lambda prediction, test: 0.0, jobs=1)
    assert search._learn(Step(recipe, "smooth"), [])
    for geometry, (train, _) in zip(search.geometries, halves, strict=True):
        assert geometry.warp is None and np.allclose(geometry.turn, smooth_turn(recipe, rows.take(train)))
    assert np.allclose(search.geometry.turn, smooth_turn(recipe, rows))
    assert not np.allclose(search.geometries[0].turn, search.geometries[1].turn)


def test_one_direction_of_five_features_is_learned_from_fifty_rows():
    X, y = ridge_function(50, 5, noise=0.25)
    X_new, y_new = ridge_function(2000, 5, seed=1, noise=0.0)
    axes, learned = (
        np.mean((DCRegressor(geometry=g, n_jobs=1).fit(X, y).predict(X_new) - y_new) ** 2) / y_new.var()
        for g in ("axes", None)
    )
    assert learned < 0.25 < 0.7 < axes


def test_classes_that_differ_along_one_direction():
    X, y = ridge_function(80, 5, noise=0.0)
    rows = Rows(X, (y > np.median(y)).astype(float), np.ones(80))
    turn = smooth_turn(DCClassifier(lam=0.1).fit(X, rows.y)._recipe(), rows)
    assert share_along(turn @ turn, np.ones(5)) > 0.8


def test_slopes_of_given_sign_are_not_turned():
    model = DCRegressor(monotone=[1, 0]).fit(*ridge_function(30, 2))
    assert not any(step.learn == "smooth" for step in model._beside(model._recipe()))
    assert all(
        r.geometry.turn is None or np.allclose(r.geometry.turn, np.diag(np.diag(r.geometry.turn)))
        for r in model.rounds_
    )
