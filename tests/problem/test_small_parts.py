"""Small parts of the program and of its proof, against their definitions: safety nets hide their mistakes otherwise."""

import cvxpy as cp
import numpy as np
import pytest
from tests.problems import build, synthetic

from pldc.problem import Problem, certificate, make_loss, make_penalty
from pldc.problem.certificate import orthogonal_to_linear, tree_flow
from pldc.problem.losses import LOSSES, Absolute, Hinge, Huber, LogLoss, Poisson, Quantile, Squared
from pldc.problem.losses.residual import weighted_median
from pldc.problem.losses.values import RESIDUAL
from pldc.problem.repair import convex_on_a_line, lift, without_constants
from pldc.problem.scaling import _size
from pldc.problem.units import Units, weighted_mean


def labelled(rows=24, points=9, m=3, seed=0):
    """A program of classes with several labels at a point."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(points, 2))[np.arange(rows) % points]
    y, weight = np.arange(rows) % m, rng.uniform(0.1, 2.0, rows)
    settings = {"loss": LogLoss(), "penalty": make_penalty("joint"), "lam": 0.1, "outputs": m}
    return rng, Problem.from_data(X, y, weight=weight, **settings)


def crowded(loss, seed=0):
    """A program with several observations at a point, and small weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 1))[np.arange(30) % 6]
    y, weight = rng.uniform(0.5, 1.5, 30), rng.uniform(0.1, 2.0, 30)
    return rng, Problem.from_data(X, y, weight=weight, loss=loss, penalty=make_penalty("joint"), lam=0.1)


class TestNearestDual:
    @pytest.mark.parametrize("signs", [[1, 0, -1], [1, 1, 1], [-1, 0, 0], [0, 0, 0]])
    @pytest.mark.parametrize("seed", range(3))
    def test_it_is_the_projection(self, signs, seed):
        problem = build(*synthetic(14, 3, seed), linear=True, monotone=signs)
        omega = np.random.default_rng(seed).normal(size=14)
        found, X = orthogonal_to_linear(problem, omega), problem.centred
        best = cp.Variable(14)
        moments = [sign * X[:, k] @ best >= 0 if sign else X[:, k] @ best == 0 for k, sign in enumerate(signs)]
        cp.Problem(cp.Minimize(cp.sum_squares(best - omega)), [cp.sum(best) == 0, *moments]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(found, best.value, atol=1e-5)
        for k, sign in enumerate(signs):
            moment = X[:, k] @ found
            assert sign * moment >= -1e-9 if sign else abs(moment) <= 1e-9

    def test_an_answer_that_breaks_a_sign_is_not_taken(self, monkeypatch):
        problem = build(*synthetic(14, 2), linear=True, monotone=[1, 1])
        monkeypatch.setattr(certificate, "nnls", lambda A, b: (np.array([50.0, -50.0]), 0.0))
        found = orthogonal_to_linear(problem, np.random.default_rng(0).normal(size=14))
        np.testing.assert_allclose(problem.centred.T @ found, 0.0, atol=1e-9)


def test_flow_along_a_line_is_what_lies_beyond():
    problem = build(*synthetic(20, 1))
    demand = np.random.default_rng(1).normal(size=20)
    child, up, need = tree_flow(problem, demand - demand.mean())
    x = problem.X[:, 0]
    for c, u, flow in zip(child, up, need, strict=True):
        beyond = x >= x[c] if x[c] > x[u] else x <= x[c]
        assert flow == pytest.approx((demand - demand.mean())[beyond].sum(), abs=1e-12)


class TestClasses:
    def test_a_dual_of_the_domain_stays_as_it_is(self):
        label, m = np.repeat([0, 1, 2], 4), 3
        theta = np.full((m, 12), 0.3)
        theta[label, np.arange(12)] = -0.6
        np.testing.assert_allclose(Hinge().nearest(theta, label.astype(float), np.ones(12)), theta, atol=1e-12)

    def test_the_conjugate_is_infinite_outside(self):
        y = np.zeros(3)
        omega = np.array([[-0.5, -0.5, -2.0], [0.5, 0.7, 2.0]])
        np.testing.assert_array_equal(np.isfinite(Hinge().conjugate(omega, y)), [True, False, False])

    @pytest.mark.parametrize("loss", [Hinge(), LogLoss()])
    def test_scores_without_slopes_give_way_to_the_best_constants(self, loss):
        _, problem = labelled()
        factor, constants = loss.multiple(problem, np.zeros((3, len(problem.y))), 0.0)
        assert factor == 0.0
        np.testing.assert_array_equal(constants, problem.null_fit)

    def test_shares_of_observations_at_a_point_are_exact(self):
        rng, problem = labelled()
        F = rng.normal(size=(3, len(problem.X)))[:, problem.node]
        share = problem.weight * LogLoss().gradient(F, problem.y)
        np.testing.assert_allclose(LogLoss().split(problem, problem.at_nodes(share)), share, atol=1e-12)

    def test_which_scores_are_probabilities(self):
        assert LogLoss().gives_probabilities and not Hinge().gives_probabilities


@pytest.mark.parametrize("loss", [Squared(), Huber(5e4), Poisson(0.01)], ids=lambda loss: loss.name)
def test_shares_of_values_at_a_point_are_exact_far_away(loss):
    rng, problem = crowded(loss)
    f = rng.uniform(200.0, 300.0, len(problem.X))[problem.node]
    share = problem.weight * loss.gradient(f, problem.y)
    np.testing.assert_allclose(loss.split(problem, problem.at_nodes(share)), share, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name, kind in LOSSES.items() if not kind.scores])
def test_a_loss_says_whether_it_may_be_shifted(name):
    loss, f, y = make_loss(name), np.array([0.5, 2.0, 3.5]), np.array([1.0, 2.5, 1.5])
    assert np.allclose(loss.at(f + 10.0, y + 10.0), loss.at(f, y)) == loss.shifts


def test_the_unit_of_residuals():
    y = np.array([0.0, 1.0, 2.0, 5.0])
    assert Squared().residual_unit(y, 1.0) == Squared().softness
    for loss in (Absolute(), Quantile(0.2), Poisson()):
        for unit in (0.1, 1.0):
            assert loss.residual_unit(unit * y, 0.5) == pytest.approx(RESIDUAL * 0.5 / (unit * y.std()))
        assert loss.residual_unit(y, 0.0) == loss.residual_unit(np.ones(4), 0.5) == RESIDUAL


def test_the_spread_of_a_loss_that_resists_outliers_does_not_see_rounding():
    x, y = np.arange(40.0)[:, None], np.full(40, 1e6)
    y[-12:] += np.linspace(1.0, 2.0, 12)
    y[-1] += 200.0
    plain = build(x, y, loss="absolute")
    rounded = build(x, np.where(np.arange(40) < 20, np.nextafter(y, np.inf), y), loss="absolute")
    assert Absolute().spread(rounded) == pytest.approx(Absolute().spread(plain), rel=1e-3)
    assert Absolute().spread(plain) < 0.5 * y.std()


def test_weighted_median():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values, weight = rng.normal(size=7), rng.integers(1, 6, 7)
        many = np.sort(np.repeat(values, weight))
        assert weighted_median(values, weight.astype(float)) == many[(len(many) - 1) // 2]


def test_minus_zero_is_zero():
    problem = build(np.array([[-0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 3.0]))
    assert len(problem.X) == 2 and not np.signbit(problem.X).any()


class TestRepair:
    def test_parts_are_moved_to_around_zero(self):
        problem = build(*synthetic(12, 2))
        values = np.random.default_rng(0).normal(size=(2, 12)) + [[1000.0], [-50.0]]
        moved, constant = without_constants(problem, values)
        np.testing.assert_allclose(moved.max(axis=1), -moved.min(axis=1))
        np.testing.assert_allclose((moved + constant)[0] - (moved + constant)[1], values[0] - values[1])

    def test_convex_along_the_first_feature_is_not_convex(self):
        x = np.linspace(-1, 1, 9)
        X, phi = np.column_stack([x, np.sin(5 * x)]), x**2
        g = np.column_stack([2 * x, np.full(9, 3.0)])
        F, active, moved = lift(X, phi, g)
        pieces = np.array([[phi[j] + g[j] @ (at - X[j]) for j in range(9)] for at in X])
        np.testing.assert_allclose(F, pieces.max(axis=1), atol=1e-12)
        assert moved.any() and (active != np.arange(9)).any()

    def test_what_is_convex_on_a_line(self):
        x = np.linspace(-1, 1, 9)
        assert convex_on_a_line(x, x**2, 2 * x)
        assert not convex_on_a_line(x, -(x**2), -2 * x) and not convex_on_a_line(x, x**2, 2 * x + 0.5)


def test_sizes_and_means():
    rng = np.random.default_rng(0)
    a, weight = 7 * rng.normal(size=30), rng.uniform(1.0, 5.0, 30)
    assert _size(a) == pytest.approx(np.sqrt(np.mean(a**2))) and _size(np.zeros(3)) == 1.0
    X = rng.normal(size=(30, 2))
    np.testing.assert_allclose(weighted_mean(X, weight), np.average(X, axis=0, weights=weight))


def test_units_of_a_large_table_are_those_of_its_columns(monkeypatch):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 3)) * [1.0, 1e3, 0.0] + 5.0, rng.normal(size=30), rng.uniform(1, 2, 30)
    whole = Units.of(X, y, weight)
    monkeypatch.setattr("pldc.problem.units.LARGE_TABLE_NUMBERS", 10)
    parts = Units.of(X, y, weight)
    np.testing.assert_allclose(parts.center, whole.center)
    np.testing.assert_allclose(parts.scale, whole.scale)
    assert parts.scale[2] == 1.0 and parts.scale[1] > 100 * parts.scale[0]
