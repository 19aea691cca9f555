import numpy as np
import pytest

from pldc.select.geometry import outer_product, turn_to


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
