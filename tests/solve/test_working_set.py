"""Choosing rows, pulling points back, and the accurate engine on working sets alone."""

import numpy as np
import pytest
from tests.problems import build, random_settings, synthetic

from pldc.problem import Solution, certify
from pldc.solve import Exact, exact
from pldc.solve.admm import AdmmIteration
from pldc.solve.pairs import AllPairs
from pldc.solve.workers import Workers
from pldc.solve.working_set import MOST_NEW, first_rows, pulled_back, violated

CASES = list(random_settings(48, seed=23))


def iterate(problem, rng, bump=0.0):
    """A paraboloid in each part, and noise."""
    X, P = problem.X, len(problem.signs)
    values = np.tile(0.5 * (X**2).sum(axis=1), (P, 1)) + bump * rng.standard_normal((P, len(X)))
    return Solution(values=values, slopes=np.tile(X, (P, 1, 1)), linear=np.zeros(X.shape[1]))


def test_violated_pairs_are_those_of_a_direct_check():
    problem, rng = build(*synthetic(80, 3)), np.random.default_rng(0)
    point = iterate(problem, rng, bump=1.0)
    R = AllPairs(problem.X, 2)(point.values, point.slopes)
    with Workers(2) as workers:
        nothing = np.zeros(R.shape, dtype=bool)
        new = violated(problem, point.values, point.slopes, nothing, workers)
        assert new.any() and (R[new] < 0).all()
        np.testing.assert_array_equal(new.sum(axis=2), np.minimum((R < -1e-9).sum(axis=2), MOST_NEW))
        assert not violated(problem, point.values, point.slopes, R < 0, workers).any()
        convex = iterate(problem, rng)
        assert not violated(problem, convex.values, convex.slopes, nothing, workers).any()


def test_a_point_pulled_back_satisfies_every_row_and_stays_near():
    problem, rng = build(*synthetic(80, 3)), np.random.default_rng(0)
    inner, outer = iterate(problem, rng), iterate(problem, rng, bump=0.05)
    rows = AllPairs(problem.X, 2)
    assert rows(outer.values, outer.slopes).min() < -1e-3
    with Workers(2) as workers:
        point = pulled_back(problem, inner, outer, workers)
        R = rows(point.values, point.slopes)
        assert R.min() >= -1e-12
        share = np.abs(point.values - inner.values).max() / np.abs(outer.values - inner.values).max()
        assert 0.0 < share < 1.0
        assert pulled_back(problem, inner, inner, workers) is inner


def test_first_rows_hold_the_multipliers():
    problem = build(*synthetic(120, 3))
    with Workers(1) as workers:
        quick = AdmmIteration(problem, workers)
        for _ in range(100):
            quick.step()
        solution = quick.solution()
        member = first_rows(problem, solution, workers)
    assert not member[:, np.arange(120), np.arange(120)].any()
    for p, mu in enumerate(solution.multipliers):
        dense = mu.toarray()
        assert dense[member[p]].sum() > 0.95 * dense.sum()
    assert member.sum(axis=2).max() <= 50


@pytest.mark.parametrize("case", range(len(CASES)))
def test_working_sets_reach_the_optimum_of_all_pairs(case, monkeypatch):
    X, y, settings = CASES[case]
    problem = build(X, y, **settings)
    full = certify(problem, Exact(tol=1e-6).solve(problem))
    monkeypatch.setattr(exact, "ALL_PAIRS", 0)
    for name in ("HEAVIEST", "TIGHTEST", "NEAREST"):
        monkeypatch.setattr(f"pldc.solve.working_set.{name}", 1)  # nearly everything has to be found later
    solution = Exact(tol=1e-6).solve(problem)
    certificate = certify(problem, solution)
    assert solution.status == "optimal" and certificate.gap <= 1.01e-6
    floor = 1e-9 * problem.null_risk
    assert certificate.upper == pytest.approx(full.upper, rel=2e-6, abs=floor)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_hundred_and_fifty_rows(loss):
    problem = build(*synthetic(150, 4), loss=loss, lam=0.02)
    seen = []
    solution = Exact(tol=1e-6).solve(problem, monitor=seen.append)
    assert solution.status == "optimal" and certify(problem, solution).gap <= 1.01e-6
    assert (np.diff([row["upper"] for row in seen]) <= 0).all()
    assert sum(mu.nnz for mu in solution.multipliers) < 0.6 * 2 * 150**2  # a working set, not all pairs


def test_a_start_replaces_the_quick_engine(monkeypatch):
    problem = build(*synthetic(120, 3), lam=0.02)
    start = Exact(tol=1e-3).solve(build(*synthetic(120, 3), lam=0.03))
    monkeypatch.setattr(exact, "AdmmIteration", None)
    solution = Exact(tol=1e-5).solve(problem, start=start)
    assert solution.status == "optimal" and certify(problem, solution).gap <= 1.01e-5
