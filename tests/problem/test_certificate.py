"""The certificate against an independent optimum, for good iterates and for garbage."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from tests.oracle import optimum
from tests.problems import DELTA, LEVEL, build, garbage, random_settings, synthetic

from pldc.problem import certify
from pldc.problem.certificate import along_tree, bracket, directly, lower_bound
from pldc.problem.losses import Hinge
from pldc.problem.program import Problem, Solution
from pldc.problem.repair import best_of, repair
from pldc.solve import Exact


def worst_violation(problem, solution):
    """Largest violation of any constraint, by the definition."""
    D = problem.X[None, :, :] - problem.X[:, None, :]
    rows = solution.values[:, None, :] - solution.values[:, :, None] - np.einsum("pjk,jik->pji", solution.slopes, D)
    sign = (problem.slope_sign * solution.slopes).min()
    linear = (problem.monotone * solution.linear).min()
    return max(-rows.min(), -sign, -linear)


def test_the_helper_can_fail():
    problem = build(*synthetic(10, 2))
    assert worst_violation(problem, garbage(problem, np.random.default_rng(0))) > 0.1


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_repair_makes_any_iterate_feasible(size):
    rng = np.random.default_rng(0)
    for X, y, settings in random_settings(48):
        problem = build(X, y, **settings)
        point = repair(problem, garbage(problem, rng, size))
        scale = max(1.0, np.abs(point.values).max(), np.abs(point.slopes).max())
        assert worst_violation(problem, point) <= 1e-9 * scale


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_constant_in_both_parts_forgives_no_violation(outputs):
    """Beside 2⁵² a violation of one is rounding; f is the same without it."""
    problem = build(*synthetic(12, 2), loss="absolute")
    if outputs == 3:
        settings = {"loss": Hinge(), "penalty": problem.penalty, "lam": 0.05, "outputs": 3}
        problem = Problem.from_data(problem.X, np.arange(12.0) % 3, **settings)
    rng = np.random.default_rng(0)
    values = np.round(2 * rng.standard_normal((2 * outputs, 12)))
    linear = np.zeros(2) if outputs == 1 else np.zeros((3, 2))
    slopes = 0.0 if outputs == 1 else 0.01 * rng.standard_normal((6, 12, 2))  # scores without any are replaced anyway
    rough = Solution(values, np.zeros((2 * outputs, 12, 2)) + slopes, linear)
    plain, moved = (certify(problem, dataclasses.replace(rough, values=values + c)) for c in (0.0, 2.0**52))
    assert worst_violation(problem, moved.solution) <= 1e-9
    assert moved.upper == pytest.approx(plain.upper, rel=1e-9)


@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_nor_does_one_in_a_single_part(shape):
    x = np.linspace(0, 1, 8)[:, None]
    y = (x[:, 0] > 0.56) * 1.0
    problem = build(x, y, loss="absolute", lam=0.3, shape=shape)
    best = optimum(x, y, loss="absolute", penalty="componentwise", lam=0.3, shape=shape)
    for a in np.linspace(-1.5, 1.5, 61):
        values, slopes = np.zeros((len(problem.signs), 8)), np.zeros((len(problem.signs), 8, 1))
        values[0], slopes[0] = a * x[:, 0] + 2.0**51, a
        found = certify(problem, Solution(values, slopes, np.zeros(1)))
        assert found.upper >= best * (1 - 1e-9) and worst_violation(problem, found.solution) <= 1e-9


def test_repair_leaves_a_feasible_optimum_alone():
    problem = build(*synthetic(20, 2))
    solution = Exact(tol=1e-8).solve(problem)
    again = repair(problem, solution)
    assert problem.objective(again) == pytest.approx(problem.objective(solution), rel=1e-7)


def test_repair_survives_numbers_that_are_not():
    problem = build(*synthetic(10, 2))
    rough = garbage(problem, np.random.default_rng(0))
    rough.values[0, 0], rough.slopes[1, 2, 0], rough.multipliers[0, 1, 2] = np.nan, np.inf, np.nan
    certificate = certify(problem, rough)
    assert 0 <= certificate.lower <= certificate.upper < np.inf


def test_small_damage_costs_little():
    """An almost optimal iterate with noise of 1e-6 keeps its bounds to about that accuracy."""
    rng = np.random.default_rng(0)
    for penalty in ("joint", "componentwise"):
        problem = build(*synthetic(40, 3), penalty=penalty, lam=0.02)
        solution = Exact(tol=1e-8).solve(problem)
        noisy = dataclasses.replace(
            solution,
            values=solution.values + 1e-6 * rng.standard_normal(solution.values.shape),
            slopes=solution.slopes + 1e-6 * rng.standard_normal(solution.slopes.shape),
            multipliers=[mu + 1e-9 * rng.standard_normal(mu.shape) for mu in solution.multipliers],
        )
        assert certify(problem, noisy).gap < 1e-3


@pytest.mark.parametrize("case", range(24))
def test_bounds_bracket_the_optimum_for_garbage(case):
    X, y, settings = list(random_settings(24, seed=3))[case]
    best = optimum(X, y, delta=DELTA, level=LEVEL, **settings)
    problem = build(X, y, **settings)
    rng = np.random.default_rng(case)
    for size in (1e-3, 1.0, 100.0):
        certificate = certify(problem, garbage(problem, rng, size))
        assert certificate.lower <= best * (1 + 1e-7) + 1e-10
        assert certificate.upper >= best * (1 - 1e-7) - 1e-10


def test_garbage_multipliers_can_prove_something():
    """The lower bound is not trivially zero: rough but sensible multipliers give a positive bound."""
    problem = build(*synthetic(30, 2), lam=0.05)
    solution = Exact(tol=1e-2).solve(problem)
    rng = np.random.default_rng(0)
    noisy = [mu * (1 + 0.1 * rng.standard_normal(mu.shape)) for mu in solution.multipliers]
    assert lower_bound(problem, noisy) > 0.2 * problem.objective(solution)


def test_no_multipliers_prove_nothing():
    problem = build(*synthetic(10, 2))
    rough = dataclasses.replace(garbage(problem, np.random.default_rng(0)), multipliers=None)
    assert certify(problem, rough).lower == 0.0


def test_sparse_multipliers_give_the_same_bound():
    problem = build(*synthetic(15, 2))
    solution = Exact(tol=1e-4).solve(problem)
    as_sparse = [sparse.csr_array(mu) for mu in solution.multipliers]
    assert lower_bound(problem, as_sparse) == pytest.approx(lower_bound(problem, solution.multipliers), rel=1e-12)


@pytest.mark.parametrize("route", [along_tree, directly])
def test_routes_carry_the_demand(route):
    """For a flow with the asked divergence, Σ_j Σ_i μ_ji (x_i − x_j) = Σ_i demand_i x_i."""
    problem = build(*synthetic(20, 3))
    demand = np.random.default_rng(0).standard_normal(20)
    demand -= demand.mean()
    np.testing.assert_allclose(route(problem, demand).sum(axis=0), demand @ problem.X, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
def test_split_is_the_conjugate_of_the_sum(loss):
    """Σ_o of the shared-out conjugates equals the conjugate of the summed loss, by brute force."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [1.0], [2.0]], [4, 1, 3], axis=0)
    problem = build(X, rng.standard_normal(8), loss=loss, weight=rng.uniform(0.5, 2, 8))
    omega = np.array([0.05, -0.02, 0.01])
    share = problem.loss.split(problem, omega)
    np.testing.assert_allclose(problem.at_nodes(share), omega, atol=1e-15)
    value = problem.loss.softness * share**2 / (2 * problem.weight) + share * problem.y
    assert (share <= problem.weight * problem.loss.up + 1e-15).all()
    assert (share >= -problem.weight * problem.loss.down - 1e-15).all()
    f = np.linspace(-10, 10, 200_001)
    for i in range(3):
        own = problem.node == i
        risk = sum(w * problem.loss.at(f, y) for w, y in zip(problem.weight[own], problem.y[own], strict=True))
        assert value[own].sum() == pytest.approx((omega[i] * f - risk).max(), abs=1e-4)


def test_dual_value_stays_below_the_optimum_on_the_ray():
    """However large ω is, scaling it into the feasible set keeps the bound valid."""
    X, y = synthetic(12, 2)
    best = optimum(X, y, loss="absolute", penalty="joint", lam=0.1)
    problem = build(X, y, loss="absolute", penalty="joint", lam=0.1)
    omega = np.random.default_rng(0).standard_normal(12)
    omega -= omega.mean()
    for factor in (1e-3, 1.0, 1e3):
        h = np.array([directly(problem, s * factor * omega) for s in problem.signs])
        (ray,) = problem.loss.duals(problem, factor * omega, None)
        assert 0 < ray.value(problem.lam / problem.penalty.dual(np.abs(h))) <= best + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_monotone_and_free_linear_on_dependent_columns(seed):
    """The projection with signs is degenerate here; the bound must hold all the same."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 2))
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    y = X[:, 0] + X[:, 2] + 0.5 * rng.standard_normal(12)
    settings = {"loss": "squared", "penalty": "componentwise", "lam": 0.3, "monotone": [0, 1, 1], "linear": True}
    best = optimum(X, y, **settings)
    problem = build(X, y, **settings)
    certificate = certify(problem, Exact(tol=1e-6).solve(problem))
    assert certificate.gap <= 1e-6
    assert certificate.lower <= best * (1 + 1e-7) and certificate.upper >= best * (1 - 1e-7)
    for size in (1.0, 30.0):
        rough = dataclasses.replace(garbage(problem, rng), multipliers=size * rng.random((2, 12, 12)) / 144)
        assert certify(problem, rough).lower <= best * (1 + 1e-7)


def one_sided(problem, solution):
    """Multipliers of an optimum, all of the work put on one part: the same ω, but flows that do not balance."""
    plus, minus = solution.multipliers
    return [2 * plus, 0 * minus], [0 * plus, 2 * minus]


def test_flows_that_do_not_balance_are_made_to(monkeypatch):
    exceeded = 0
    for seed in range(12):
        problem = build(*synthetic(14, 1, seed), penalty="joint", lam=0.2)
        solution = Exact(tol=1e-8).solve(problem)
        best = problem.objective(solution)
        for multipliers in one_sided(problem, solution):
            assert lower_bound(problem, multipliers) <= best * (1 + 1e-9)
            with monkeypatch.context() as patch:  # the same without the repair proves too much: the check can fail
                for route in ("along_tree", "directly"):
                    patch.setattr(f"pldc.problem.certificate.{route}", lambda problem, demand: 0 * problem.X)
                exceeded += lower_bound(problem, multipliers) > best * (1 + 1e-6)
    assert exceeded > 0


def test_multipliers_that_overflow_prove_nothing():
    problem = build(*synthetic(12, 2))
    solution = Exact(tol=1e-6).solve(problem)
    multipliers = [mu.copy() for mu in solution.multipliers]
    multipliers[0][0, 1] = multipliers[0][1, 0] = 1.5e308
    with np.errstate(over="ignore", invalid="ignore"):
        assert lower_bound(problem, multipliers) <= problem.objective(solution)


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_absurdly_large_iterates_have_a_finite_upper_bound(size):
    problem = build(*synthetic(12, 2))
    certificate = certify(problem, garbage(problem, np.random.default_rng(0), size))
    assert certificate.upper <= problem.null_risk * (1 + 1e-12)
    assert 0 <= certificate.gap <= 1


def test_bounds_that_contradict_each_other_prove_nothing():
    problem = build(*synthetic(10, 2))
    rough = garbage(problem, np.random.default_rng(0))
    assert bracket(problem, 0.5, 0.7, rough).gap == 1.0
    assert bracket(problem, 0.5, 0.5 + 1e-15, rough).gap == 0.0
    assert bracket(problem, np.nan, 0.1, rough).gap == np.inf
    assert bracket(problem, 1e-15, 0.0, rough).gap > 1e-7  # squares of rounding errors are far smaller,
    kinked = build(*synthetic(10, 2), loss="absolute")
    assert bracket(kinked, 1e-15, 0.0, rough).gap == 0.0  # but not the errors themselves
    assert bracket(kinked, 1e-13, 0.0, rough).gap > 1e-5


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_the_place_of_the_origin_does_not_matter(offset):
    X, y = synthetic(20, 2)
    problem = build(np.round(X, 3) + offset, y, lam=0.05)
    assert certify(problem, Exact(tol=1e-6).solve(problem)).gap <= 1e-5


def noisy_optimum(noise):
    rng = np.random.default_rng(0)
    problem = build(*synthetic(24, 2), penalty="joint", lam=0.02)
    solution = Exact(tol=1e-6).solve(problem)
    for _ in range(10):
        values = solution.values + noise * rng.standard_normal(solution.values.shape)
        slopes = solution.slopes + noise * rng.standard_normal(solution.slopes.shape)
        yield problem, dataclasses.replace(solution, values=values, slopes=slopes)


def test_projections_of_the_slopes_are_needed(monkeypatch):
    problem, noisy = next(noisy_optimum(1e-3))
    full = problem.objective(repair(problem, noisy))
    monkeypatch.setattr("pldc.problem.repair.PROJECTIONS", 0)
    assert problem.objective(repair(problem, noisy)) > full * (1 + 1e-4)


@pytest.mark.parametrize("dropped", [2, 3], ids=["parabola", "active slopes"])
def test_each_way_of_mending_is_the_better_one_for_some_iterate(monkeypatch, dropped):
    worse = []
    for noise in (1e-4, 1e-2):
        for problem, noisy in noisy_optimum(noise):
            full = problem.objective(repair(problem, noisy))
            with monkeypatch.context() as patch:
                patch.setattr("pldc.problem.repair.best_of", lambda p, c: best_of(p, c[:dropped] + c[dropped + 1 :]))
                worse.append(problem.objective(repair(problem, noisy)) / full - 1)
    assert max(worse) > 1e-3
    assert min(worse) >= 0


def test_a_large_lam_leaves_the_linear_term_alone():
    """With slopes that cost a fortune, the repair falls back on what is free: a constant and the linear term."""
    problem = build(*synthetic(20, 2), loss="absolute", linear=True, lam=1e8)
    noisy = dataclasses.replace(garbage(problem, np.random.default_rng(0)), linear=np.array([0.1, -0.2]))
    point = repair(problem, noisy)
    assert not point.slopes.any()
    assert problem.objective(point) <= problem.null_risk * (1 + 1e-9)
