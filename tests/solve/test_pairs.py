"""A working set that holds everything is all pairs; one that grows keeps its rows."""

import numpy as np
import pytest

from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.workers import Workers

N, D = 9, 2


@pytest.fixture
def setup():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    everything = np.broadcast_to(~np.eye(N, dtype=bool), (2, N, N))
    return X, AllPairs(X, 2), WorkingSet(X, everything), rng


def as_matrix(pairs, Z):
    return np.array([np.asarray(m.todense()) if hasattr(m, "todense") else m for m in pairs.matrix(Z)])


def slots(working, dense):
    """Quantities [p, j, i] in the slots of a working set."""
    return np.take_along_axis(dense, working.at, axis=2) * working.mask


def test_rows_and_adjoint_agree(setup):
    _, everything, working, rng = setup
    phi, g = rng.standard_normal((2, N)), rng.standard_normal((2, N, D))
    np.testing.assert_allclose(as_matrix(working, working(phi, g)), everything(phi, g), atol=1e-12)
    Z = rng.random((2, N, N)) * everything.mask
    for ours, theirs in zip(working.adjoint(slots(working, Z)), everything.adjoint(Z), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    np.testing.assert_allclose(working.degree(slots(working, Z)), everything.degree(Z))


def test_reduced_matrix_and_columns_agree(setup):
    _, everything, working, rng = setup
    theta = rng.random((2, N, N)) * everything.mask
    bounds = 3
    W = rng.standard_normal((N, 2 * D, 2 * N + bounds))
    m = working.at.shape[2]
    held = np.empty((N, 2 * D, 2 * m + bounds))
    for p in range(2):
        index = np.broadcast_to(working.at[p][:, None, :], (N, 2 * D, m))
        held[:, :, p * m : (p + 1) * m] = np.take_along_axis(W[:, :, p * N : (p + 1) * N], index, axis=2)
    held[:, :, 2 * m :] = W[:, :, 2 * N :]
    v, white = rng.standard_normal(2 * N + bounds), rng.standard_normal((N, 2 * D))
    np.testing.assert_allclose(working.columns(held, v), everything.columns(W, v), atol=1e-12)
    np.testing.assert_allclose(working.columns_adjoint(held, white), everything.columns_adjoint(W, white), atol=1e-12)
    with Workers(2) as workers:
        for _ in range(2):  # the second time from what the first remembered
            ours = working.reduced(held, slots(working, theta), workers)
            np.testing.assert_allclose(ours, everything.reduced(W, theta, workers), atol=1e-12)


def test_growing_keeps_old_slots_and_ignores_what_is_held():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D))
    first = (rng.random((2, N, N)) < 0.3) & ~np.eye(N, dtype=bool)
    more = (rng.random((2, N, N)) < 0.4) & ~np.eye(N, dtype=bool)
    working = WorkingSet(X, first)
    before, mask = working.at.copy(), working.mask.copy()
    part, j, _ = working.add(more)
    assert len(part) == (more & ~first).sum()
    old = mask > 0
    np.testing.assert_array_equal(working.at[:, :, : before.shape[2]][old], before[old])
    held = np.zeros_like(first)
    p, j, k = np.nonzero(working.mask)
    held[p, j, working.at[p, j, k]] = True
    np.testing.assert_array_equal(held, first | more)
    assert working.mask.sum() == held.sum()
    np.testing.assert_allclose(working.D, X[working.at] - X[:, None, :])
