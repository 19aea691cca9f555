"""The quick engine against the accurate one and under changes that must not matter."""

import numpy as np
import pytest
from tests.problems import build, random_settings, synthetic

from pldc.problem import certify
from pldc.solve import Admm, Exact, admm
from pldc.solve.workers import Workers

CASES = list(random_settings(24, seed=31))  # one of each kind


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_it_converges_to_the_optimum(case, weighted):
    X, y, settings = CASES[case]
    problem = build(X, y, **settings)
    best = certify(problem, Exact(tol=1e-8).solve(problem))
    solution = Admm(tol=1e-2, max_iter=20000, weighted=weighted).solve(problem)
    certificate = certify(problem, solution)
    assert solution.status == "optimal" and certificate.gap <= 1.01e-2
    floor = 1e-9 * problem.null_risk
    assert certificate.lower <= best.upper * (1 + 1e-7) + floor
    assert certificate.upper >= best.lower * (1 - 1e-7) - floor


def test_it_keeps_converging():
    problem = build(*synthetic(40, 2), lam=0.05)
    gaps = [certify(problem, Admm(tol=1e-12, max_iter=k).solve(problem)).gap for k in (100, 400, 1600, 6400)]
    assert gaps[1] < 0.5 * gaps[0] and gaps[2] < 0.5 * gaps[1] and gaps[3] < 1e-4


def test_single_precision_reaches_the_same_gap():
    problem = build(*synthetic(150, 3), lam=0.05)
    solution = Admm(tol=1e-2, dtype="float32").solve(problem)
    assert solution.status == "optimal" and certify(problem, solution).gap <= 1.01e-2


def test_torch_gives_the_same_answer():
    pytest.importorskip("torch")
    problem = build(*synthetic(80, 3), lam=0.05)
    ours, theirs = (Admm(tol=1e-9, max_iter=120, device=device).solve(problem) for device in (None, "cpu"))
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-8)
    np.testing.assert_allclose(theirs.slopes, ours.slopes, atol=1e-8)


def test_a_start_saves_iterations():
    X, y = synthetic(120, 3)
    problem = build(X, y, loss="absolute", lam=0.05, linear=True)
    cold = Admm(tol=1e-2, max_iter=5000).solve(problem)
    warm = Admm(tol=1e-2, max_iter=5000).solve(problem, start=cold)
    assert cold.iterations > 100 and warm.iterations <= 50
    near = Admm(tol=1e-2, max_iter=5000).solve(build(X, y, loss="absolute", lam=0.055, linear=True), start=cold)
    assert near.status == "optimal"


@pytest.mark.parametrize("settings", [{}, {"loss": "absolute"}, {"linear": True, "monotone": [1, 0]}])
def test_the_optimum_is_a_fixed_point(settings):
    """Started at the solution, with its multipliers, the iteration stays: every copy has the right multiplier."""
    problem = build(*synthetic(25, 2), lam=0.05, **settings)
    best = Exact(tol=1e-9).solve(problem)
    with Workers(1) as workers:
        method = admm.AdmmIteration(problem, workers, start=best)
        for _ in range(3):
            method.step()
        fit = problem.fit(method.solution().values, method.c)
    assert np.abs(fit - problem.fit(best.values, best.linear)).max() < 2e-3


def test_checks_cost_little(monkeypatch):
    """Certificates are rare: at most one in so many iterations."""
    calls = []
    original = admm.Run.offer
    monkeypatch.setattr(admm.Run, "offer", lambda self, it: (calls.append(len(self.history)), original(self, it)))
    solution = Admm(tol=1e-12, max_iter=1000).solve(build(*synthetic(20, 2)))
    assert solution.status in ("max_iter", "stalled")
    assert len(calls) <= 14 and calls[0] == 49


@pytest.mark.parametrize("engine", [Admm, Exact])
def test_a_monitor_stops_the_solve_with_the_best_so_far(engine):
    problem = build(*synthetic(40, 2))
    solution = engine(tol=1e-12, max_iter=500).solve(problem, monitor=lambda row: row["iteration"] >= 7)
    assert solution.status == "stopped" and solution.iterations == 8
    assert np.isfinite(certify(problem, solution).gap)
    assert certify(problem, solution).upper < problem.null_risk


@pytest.mark.parametrize("engine", [Admm, Exact])
def test_an_interrupt_keeps_the_best_so_far(engine):
    problem = build(*synthetic(40, 2))

    def interrupt(row):
        if row["iteration"] == 7:
            raise KeyboardInterrupt

    solution = engine(tol=1e-12, max_iter=500).solve(problem, monitor=interrupt)
    stopped = engine(tol=1e-12, max_iter=500).solve(problem, monitor=lambda row: row["iteration"] == 7)
    assert solution.status == "interrupted"
    assert certify(problem, solution).upper == certify(problem, stopped).upper < 0.9 * problem.null_risk


@pytest.mark.parametrize("engine", [Admm, Exact])
@pytest.mark.parametrize("lam", [1e-2, 1e5, 1e14])
def test_near_duplicates_and_a_large_lam_never_raise(engine, lam):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((65, 2))
    X = np.concatenate([X, X + 1e-9 * rng.standard_normal((65, 2))])
    problem = build(X, rng.standard_cauchy(130), loss="absolute", linear=True, lam=lam)
    solution = engine(tol=1e-2, max_iter=40).solve(problem)
    assert np.isfinite(solution.values).all() and np.isfinite(certify(problem, solution).upper)


def test_one_place_many_targets():
    problem = build(np.ones((30, 2)), np.random.default_rng(0).standard_normal(30), loss="quantile", linear=True)
    assert np.isfinite(Admm(tol=1e-6, max_iter=60).solve(problem).values).all()


def test_failing_linear_algebra_is_a_status(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(admm, "InverseDistance", fail)
    problem = build(*synthetic(120, 2))
    assert Admm().solve(problem).status == "stalled"
    assert Exact(tol=1e-4).solve(problem).status == "optimal"  # the working set starts from near points


@pytest.mark.parametrize("n, d", [(1, 1), (2, 1), (3, 5)])
def test_tiny_problems(n, d):
    rng = np.random.default_rng(0)
    problem = build(rng.standard_normal((n, d)), rng.standard_normal(n), lam=0.1)
    assert Admm(tol=1e-2).solve(problem).status == "optimal"


def test_constant_and_repeated_columns():
    X, y = synthetic(30, 2)
    X = np.column_stack([X, X[:, 0], np.ones(30)])
    for weighted in (True, False):
        assert Admm(tol=1e-2, weighted=weighted).solve(build(X, y, linear=True)).status == "optimal"
