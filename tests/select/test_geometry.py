import numpy as np
import pytest

from pldc.select.geometry import outer_product, turn_to, warp_to


def test_outer_product_is_a_weighted_mean():
    rng = np.random.default_rng(0)
    G, w = rng.normal(size=(7, 3)), rng.uniform(size=7)
    assert np.allclose(outer_product(G, w), sum(wi * np.outer(g, g) for wi, g in zip(w, G, strict=True)) / w.sum())


def test_turn_stretches_what_varies_and_keeps_the_mean_variance():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(500, 3))
    direction = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    A = turn_to(np.outer(direction, direction), Z, np.ones(500))
    assert np.allclose(A, A.T)
    assert np.var(Z @ A, axis=0).mean() == pytest.approx(np.var(Z, axis=0).mean())
    assert np.allclose(turn_to(np.outer(direction, direction), 1e3 * Z, np.ones(500)), A)
    assert np.linalg.norm(direction @ A) > 10 * np.linalg.norm(np.array([0.0, 0.0, 1.0]) @ A)


def test_diagonal_turn_only_scales_and_keeps_signs():
    A = turn_to(np.array([[4.0, 1.9], [1.9, 1.0]]), np.random.default_rng(2).normal(size=(50, 2)), np.ones(50), True)
    assert A[0, 1] == A[1, 0] == 0.0 and A[0, 0] > A[1, 1] > 0


def test_nothing_to_learn_from_a_constant():
    assert turn_to(np.zeros((2, 2)), np.ones((5, 2)), np.ones(5)) is None
    assert turn_to(np.eye(2), np.ones((5, 2)), np.ones(5)) is None


def test_a_warp_makes_slopes_even_and_keeps_the_mean_variance():
    rng = np.random.default_rng(3)
    Z = rng.uniform(-1, 1, size=(2000, 2))
    slope = np.column_stack([np.exp(3 * Z[:, 0]), np.full(2000, 0.3)])  # of f(z) = exp(3 z₁) / 3 + 0.3 z₂
    warp = warp_to(Z, slope**2, np.ones(2000))
    assert np.var(warp(Z), axis=0).mean() == pytest.approx(np.var(Z, axis=0).mean())
    inner = np.abs(Z[:, 0]) < 0.7
    along = (slope / warp.stretch(Z))[inner, 0]
    assert along.max() / along.min() < 4 < 60 < slope[inner, 0].max() / slope[inner, 0].min()
    assert np.ptp(warp.stretches[1]) < 1e-9 and all(len(k) <= 34 for k in warp.knots)
    mirrored = warp_to(-Z, slope**2, np.ones(2000))
    assert np.allclose(mirrored(-Z) - mirrored(0 * Z[:1]), -(warp(Z) - warp(0 * Z[:1])))


def test_weights_of_a_warp_equal_repetition():
    rng = np.random.default_rng(4)
    Z, squares = rng.normal(size=(30, 2)), rng.uniform(size=(30, 2))
    weight = rng.integers(1, 4, size=30)
    heavy = warp_to(Z, squares, weight)
    repeated = warp_to(np.repeat(Z, weight, axis=0), np.repeat(squares, weight, axis=0), np.ones(weight.sum()))
    assert np.allclose(heavy(Z), repeated(Z))


def test_a_warp_of_a_constant_feature_of_close_values_and_of_nothing():
    Z = np.column_stack([np.full(6, 1e33), [0.0, 1e-12, 2e-12, 0.5, 1.0, 1.0]])
    warp = warp_to(Z, np.ones((6, 2)), np.ones(6))
    assert np.isfinite(warp(Z)).all() and np.allclose(warp.knots[1], [0.0, 0.5, 1.0])
    assert warp_to(Z, np.zeros((6, 2)), np.ones(6)) is None
    assert warp_to(np.ones((6, 2)), np.ones((6, 2)), np.ones(6)) is None
