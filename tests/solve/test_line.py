"""The solver of one dimension, against the accurate engine and an independent program of the L1 spline."""

import time
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from tests.problems import build

from pldc import Auto, DCRegressor
from pldc.problem import certify
from pldc.problem.repair import convex_on_a_line
from pldc.solve import Exact, Line, line

LOSSES = ["squared", "absolute", "huber", "quantile"]


def wave(n, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    x = np.round(rng.uniform(-2, 3, n), 1) if ties else rng.uniform(-2, 3, n)
    return x[:, None], np.sin(3 * x) + 0.3 * np.abs(x) + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("lam", [1e-3, 0.05])
def test_equals_the_accurate_engine(loss, shape, linear, lam):
    X, y = wave(60, seed=len(loss), ties=lam > 0.01)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    problem = build(X, y, loss=loss, shape=shape, linear=linear, lam=lam, weight=weight)
    ours = certify(problem, Line(tol=1e-6).solve(problem))
    other = certify(problem, Exact(tol=1e-6).solve(problem))
    assert ours.gap <= 1.01e-6
    assert ours.upper == pytest.approx(other.upper, rel=3e-6)
    assert ours.lower <= other.upper * (1 + 1e-9) and other.lower <= ours.upper * (1 + 1e-9)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_few_knots_and_rounds_reach_the_same_optimum(loss, linear, monkeypatch):
    problem = build(*wave(150), loss=loss, linear=linear, lam=0.01)
    full = certify(problem, Line(tol=1e-6).solve(problem))
    monkeypatch.setattr(line, "FIRST_KNOTS", 8)
    few = Line(tol=1e-6).solve(problem)
    assert few.status == "optimal"
    certificate = certify(problem, few)
    assert certificate.gap <= 1.01e-6 and certificate.upper == pytest.approx(full.upper, rel=3e-6)


def spline(x, y, lam, loss):
    """min Σ loss / n + λ Σ |bend|: the L1 spline with knots at the data, its second derivative a sum of bends."""
    f = cp.Variable(len(x))
    slope = cp.multiply(f[1:] - f[:-1], 1 / np.diff(x))
    risk = cp.sum_squares(f - y) if loss == "squared" else cp.norm1(f - y)
    problem = cp.Problem(cp.Minimize(risk / len(x) + lam * cp.norm1(slope[1:] - slope[:-1])))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, f.value


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("seed", range(4))
def test_a_free_linear_term_makes_it_the_l1_spline_with_factor_two(seed, loss):
    X, y = wave(50, seed)
    order = np.argsort(X[:, 0])
    X, y, lam = X[order], y[order], 0.02
    value, fit = spline(X[:, 0], y, lam, loss)
    problem = build(X, y, loss=loss, linear=True, lam=2 * lam)
    solution = Line(tol=1e-7).solve(problem)
    certificate = certify(problem, solution)
    assert certificate.upper == pytest.approx(value, rel=1e-5)
    if loss == "squared":
        np.testing.assert_allclose(problem.fit(solution.values, solution.linear), fit, atol=2e-3)


def test_the_estimator_chooses_it_and_keeps_few_pieces():
    X, y = wave(20_000)
    model = DCRegressor(lam=1e-3)
    began = time.perf_counter()
    model.fit(X, y)
    assert time.perf_counter() - began < 20
    assert model.solver_ == "line" and model.certificate_.gap <= model.model_.program.tol
    assert sum(model.function_.n_pieces) < 300
    assert model.score(X, y) > 0.9
    weighted = DCRegressor(lam=1e-3).fit(X[:500], y[:500], sample_weight=np.full(500, 2.0))
    plain = DCRegressor(lam=1e-3).fit(X[:500], y[:500])
    np.testing.assert_allclose(weighted.predict(X[:50]), plain.predict(X[:50]), atol=1e-6)


def test_cross_validation_on_a_line():
    X, y = wave(640)  # folds of more than 300 rows are fitted by it
    model = DCRegressor(n_pieces="rows", cv=2, n_jobs=1, solver=Auto(tol=1e-3)).fit(X, y)
    assert model.score(*wave(500, seed=9)) > 0.85


def test_what_it_does_not_know_goes_elsewhere():
    X, y = wave(40)
    model = DCRegressor(lam=0.01, monotone=[1]).fit(X, y)
    assert model.solver_ == "exact"
    with pytest.raises(ValueError, match="one feature"):
        DCRegressor(lam=0.01, solver="line").fit(np.hstack([X, X**2]), y)


def test_two_points_constant_targets_and_interruption():
    two = DCRegressor(lam=1e-4, solver="line").fit([[0.0], [1.0]], [0.0, 1.0])
    assert two.predict([[0.0], [1.0]]) == pytest.approx([0.0, 1.0], abs=0.02)
    flat = DCRegressor(lam=1e-3, solver="line").fit([[0.0], [1.0], [2.0]], [5.0, 5.0, 5.0])
    assert flat.predict([[0.5]]) == pytest.approx(5.0)
    problem = build(*wave(300), lam=1e-3)
    stopped = Line(tol=1e-9).solve(problem, monitor=lambda row: row["iteration"] >= 3)
    assert stopped.status == "stopped" and len(stopped.history) == 4


@pytest.mark.parametrize("kind", ["near-duplicates", "many scales"])
def test_hard_spacing_is_left_to_the_accurate_engine(kind):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 40)
    x = np.concatenate([x, x + 1e-13]) if kind == "near-duplicates" else np.exp(rng.uniform(-30, 3, 150))
    problem = build(x[:, None], np.sin(5 * np.minimum(x, 2)) + 0.1 * rng.standard_normal(len(x)), lam=1e-2)
    solution = Line(tol=1e-4).solve(problem)
    assert solution.status == "optimal" and certify(problem, solution).gap <= 1.01e-4


def test_points_that_lack_a_little_at_close_neighbours_are_not_taken_for_convex():
    x, values, slopes = np.array([0.0, 1e-14, 1.0]), np.array([0.0, 0.0, 0.9]), np.array([1.0, 0.9, 1.0])
    assert not convex_on_a_line(x, values, slopes)
    assert convex_on_a_line(x, np.array([0.0, 0.0, 1.0]), np.array([-1.0, 0.5, 1.0]))


def test_flows_between_close_neighbours_do_not_hide_the_dual(monkeypatch):
    monkeypatch.setattr(line, "EXACT_INSTEAD_POINTS", 0)
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 1, 1500))
    x = np.concatenate([x, x[::50] + 1e-9])
    problem = build(
        x[:, None], np.sin(9 * x) + 0.3 * rng.standard_normal(len(x)), loss="absolute", linear=True, lam=1e-3
    )
    solution = Line(tol=1e-5).solve(problem)
    assert solution.status == "optimal" and certify(problem, solution).gap <= 1.01e-5
    without = certify(problem, replace(solution, dual=None))
    assert without.lower <= certify(problem, solution).upper  # the hint makes the bound better, never wrong


def test_a_wrong_hint_is_no_proof():
    problem = build(*wave(80), loss="absolute", lam=0.01)
    solution = Line(tol=1e-6).solve(problem)
    best = certify(problem, solution)
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-2, 1.0):
        bad = replace(solution, dual=solution.dual + size * rng.standard_normal(len(solution.dual)))
        assert certify(problem, bad).lower <= best.upper * (1 + 1e-12)
