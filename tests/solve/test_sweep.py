"""The pass over all pairs against the literal recursion on dense arrays, and on torch."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pldc.problem import Problem, make_loss, make_penalty
from pldc.solve import sweep as sweep_module
from pldc.solve.admm import AdmmIteration
from pldc.solve.sweep import DenseSweep, Sweep, TorchSweep
from pldc.solve.workers import Workers

RELAX = 1.6


def rows(X, phi, g):
    """φ_i − φ_j − ⟨g_j, x_i − x_j⟩, one pair at a time."""
    n = len(X)
    return np.array([[phi[i] - phi[j] - g[j] @ (X[i] - X[j]) for i in range(n)] for j in range(n)])


def iterates(n, d, steps, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    curve = 0.5 * (X**2).sum(axis=1)
    return X, [
        (curve + rng.standard_normal((2, n)) / (1 + k), X + rng.standard_normal((2, n, d)) / (1 + k))
        for k in range(steps)
    ]


def dense(X, steps):
    """The recursion W ← W + α (R − max(W, 0)) on n × n arrays."""
    W = np.zeros((2, len(X), len(X)))
    for phi, g in steps:
        R = np.array([rows(X, phi[p], g[p]) for p in range(2)])
        W = W + RELAX * (R - np.maximum(W, 0.0))
    return W


def run(X, steps, make=Sweep, **kwargs):
    with Workers(2) as workers:
        sweep = make(X, 2, workers, **kwargs)
        for phi, g in steps:
            sweep.advance(phi, g, RELAX)
    return sweep


@pytest.mark.parametrize("n, count", [(25, 1), (25, 40), (150, 5)])
def test_pass_equals_the_dense_recursion(n, count):
    X, steps = iterates(n, 3, count)
    W = dense(X, steps)
    assert (W < 0).any() and (W > 0).any()
    sweep = run(X, steps)
    for p in range(2):
        np.testing.assert_allclose(sweep.multipliers(p).toarray(), np.maximum(-W[p], 0.0), atol=1e-8)
        target = rows(X, sweep.Phi[p], sweep.G[p]) + csr_array(sweep.targets()[p]).toarray()
        np.testing.assert_allclose(target, np.abs(W[p]), atol=1e-8)


def test_whole_arrays_equal_the_dense_recursion():
    X, steps = iterates(25, 3, 40)
    W = dense(X, steps)
    sweep = DenseSweep(X, 2)
    for phi, g in steps:
        sweep.advance(phi, g, RELAX)
    for p in range(2):
        np.testing.assert_allclose(sweep.multipliers(p).toarray(), np.maximum(-W[p], 0.0), atol=1e-10)
        target = rows(X, sweep.Phi[p], sweep.G[p]) + sweep.targets()[p]
        np.testing.assert_allclose(target, np.abs(W[p]), atol=1e-10)


def test_whole_arrays_restart_and_rescale_like_sparse_ones():
    X, steps = iterates(25, 3, 6)
    flows = [csr_array(-np.abs(M)) for M in np.random.default_rng(1).standard_normal((2, 25, 25))]
    for flow in flows:
        flow[3, 3] = -np.inf  # a point and itself: dropped
    with Workers(1) as workers:
        sweeps = Sweep(X, 2, workers), DenseSweep(X, 2)
        for sweep in sweeps:
            sweep.Phi, sweep.G = steps[0]
            for p in range(2):
                sweep.restart(p, flows[p])
            sweep.scale_multipliers(0.3)
            for phi, g in steps[1:3]:
                sweep.advance(phi, g, RELAX)
            sweep.scale_multipliers(2.0)
            sweep.advance(*steps[3], RELAX)
    for p in range(2):
        np.testing.assert_allclose(*(sweep.multipliers(p).toarray() for sweep in sweeps), atol=1e-7)
        np.testing.assert_allclose(*(sweep.targets()[p] for sweep in sweeps), atol=1e-7)


@pytest.mark.parametrize("few, dense_up_to", [(0, 500), (0, 0)])
def test_all_ways_to_hold_the_rows_lead_to_the_same_iterate(few, dense_up_to, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    problem = Problem.from_data(
        X, np.sin(3 * X[:, 0]) + X[:, 1], loss=make_loss("absolute"), penalty=make_penalty("joint"), lam=0.02
    )

    def iterate():
        with Workers(1) as workers:
            method = AdmmIteration(problem, workers)
            for _ in range(60):
                method.step()
            method.change_lam(0.005)
            again = AdmmIteration(replace(problem, lam=0.005), workers, start=method.solution())
            for _ in range(30):
                again.step()
        return again.solution()

    whole = iterate()
    monkeypatch.setattr(sweep_module, "DENSE_NUMBERS", few)
    monkeypatch.setattr(sweep_module, "DENSE", dense_up_to)
    other = iterate()
    np.testing.assert_allclose(other.values, whole.values, atol=1e-6)
    np.testing.assert_allclose(other.slopes, whole.slopes, atol=1e-6)


def test_blocks_smaller_than_the_data_change_nothing():
    X, steps = iterates(150, 3, 6)
    whole = run(X, steps)
    with Workers(2) as workers:
        blocked = Sweep(X, 2, workers)
        blocked.rows = 13
        for phi, g in steps:
            blocked.advance(phi, g, RELAX)
    for p in range(2):
        np.testing.assert_allclose(blocked.multipliers(p).toarray(), whole.multipliers(p).toarray(), atol=1e-12)


def test_old_multipliers_are_forgotten():
    """Rows that stay inactive cost nothing after a while: convex iterates leave no entry behind."""
    X = np.random.default_rng(2).permutation(np.mgrid[0:7, 0:6].reshape(2, -1).T).astype(float)
    X -= X.mean(axis=0)
    curve, slopes = np.tile(0.5 * (X**2).sum(axis=1), (2, 1)), np.tile(X, (2, 1, 1))
    noise = np.random.default_rng(1).standard_normal((2, 42))
    once = run(X, [(curve + noise, slopes)])
    later = run(X, [(curve + noise, slopes)] + [(curve, slopes)] * 200)
    assert sum(len(e.index) for e in once.entries) > 100
    assert sum(len(e.index) for e in later.entries) == 0


def test_single_precision_is_close():
    X, steps = iterates(60, 3, 20)
    single, double = run(X, steps, dtype="float32"), run(X, steps)
    difference = single.multipliers(0).toarray() - double.multipliers(0).toarray()
    assert 0 < np.abs(difference).max() < 1e-4


@pytest.mark.parametrize("rows_in_a_block", [8, 1000])
def test_torch_on_the_processor_equals_numpy(rows_in_a_block):
    pytest.importorskip("torch")
    X, steps = iterates(60, 3, 20)
    with Workers(1) as workers:
        sweep = TorchSweep(X, 2, workers, "float64", "cpu")
        sweep.rows = rows_in_a_block
        for phi, g in steps:
            sweep.advance(phi, g, RELAX)
    ours = run(X, steps)
    for p in range(2):
        np.testing.assert_allclose(sweep.multipliers(p).toarray(), ours.multipliers(p).toarray(), atol=1e-8)
        np.testing.assert_allclose(
            csr_array(sweep.targets()[p]).toarray(), csr_array(ours.targets()[p]).toarray(), atol=1e-8
        )


def test_a_missing_torch_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with Workers(1) as workers, pytest.raises(ImportError, match=r"pldc\[gpu\]"):
        TorchSweep(np.zeros((3, 1)), 1, workers, "float64", "cuda")


def test_scaling_and_restarting():
    X, steps = iterates(30, 2, 8)
    sweep = run(X, steps)
    W = dense(X, steps)
    sweep.scale_multipliers(0.5)
    scaled = np.where(W < 0, 0.5 * W, W)
    target = rows(X, sweep.Phi[0], sweep.G[0]) + csr_array(sweep.targets()[0]).toarray()
    np.testing.assert_allclose(target, np.abs(scaled[0]), atol=1e-8)

    M = -sweep.multipliers(0)
    with Workers(1) as workers:
        again = Sweep(X, 2, workers)
        again.restart(0, M)
    np.testing.assert_allclose(again.multipliers(0).toarray(), -M.toarray())


def test_a_device_that_is_not_there_is_named():
    pytest.importorskip("torch")
    with Workers(1) as workers, pytest.raises(ValueError, match="device='nonsense' cannot be used"):
        TorchSweep(np.zeros((3, 1)), 1, workers, "float64", "nonsense")
