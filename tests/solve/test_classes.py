"""Several classes: both engines and the certificate against an independent model."""

import numpy as np
import pytest
from tests.oracle import class_optimum, optimum
from tests.problems import garbage

from pldc.problem import Problem, certify, make_loss, make_penalty
from pldc.solve import Admm, Exact
from pldc.solve.choose import make_solver
from pldc.solve.interior_point import InteriorPoint
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.workers import Workers


def labelled(n=20, d=2, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.floor(1.5 * (np.abs(X[:, 0]) + X[:, -1] ** 2)).astype(int) % m
    y[:m] = np.arange(m)
    return X, y


def build(X, y, m, loss="hinge", penalty="componentwise", lam=0.03, **settings):
    chosen = {"loss": make_loss(loss), "penalty": make_penalty(penalty)}
    return Problem.from_data(X, y, lam=lam, outputs=m, **chosen, **settings)


CASES = [(m, penalty, lam) for m in (2, 3, 4) for penalty in ("componentwise", "joint") for lam in (0.3, 0.03, 0.003)]


@pytest.mark.parametrize(("m", "penalty", "lam"), CASES)
def test_accurate_engine_finds_the_optimum_of_the_hinge(m, penalty, lam):
    X, y = labelled(18, 2, m, seed=m)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    problem = build(X, y, m, penalty=penalty, lam=lam, weight=weight)
    solution = Exact(tol=1e-6).solve(problem)
    found = certify(problem, solution)
    truth = class_optimum(X, y, m, loss="hinge", penalty=penalty, lam=lam, weight=weight)
    assert solution.status == "optimal" and found.gap <= 1e-6
    assert found.upper == pytest.approx(truth, rel=1e-5)
    assert found.lower <= truth * (1 + 1e-6) and found.upper >= truth * (1 - 1e-6)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("penalty", ["componentwise", "joint"])
def test_quick_engine_brackets_the_optimum(loss, penalty):
    X, y = labelled()
    problem = build(X, y, 3, loss, penalty, 0.02)
    solution = Admm(tol=1e-2, max_iter=1500).solve(problem)
    found = certify(problem, solution)
    truth = class_optimum(X, y, 3, loss=loss, penalty=penalty, lam=0.02)
    assert found.lower <= truth + 1e-5 and found.upper >= truth - 1e-5
    assert solution.status == "optimal" and found.gap <= 0.011


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_garbage_is_bracketed_too(loss):
    rng = np.random.default_rng(0)
    X, y = labelled(14, 2, 3, seed=4)
    X[3] = X[4]  # labels meet at a point
    y[3], y[4] = 0, 1
    problem = build(X, y, 3, loss)
    truth = class_optimum(X, y, 3, loss=loss, penalty="componentwise", lam=0.03)
    for size in (1e-3, 1.0, 100.0):
        for _ in range(5):
            found = certify(problem, garbage(problem, rng, size))
            assert found.lower <= truth + 1e-5 and found.upper >= truth - 1e-5


@pytest.mark.parametrize("penalty", ["componentwise", "joint"])
def test_two_classes_are_one_function_under_the_ordinary_hinge(penalty):
    X, y = labelled(16, 2, 2, seed=5)
    problem = build(X, y, 2, penalty=penalty, lam=0.05)
    found = certify(problem, Exact(tol=1e-6).solve(problem))
    assert found.upper == pytest.approx(optimum(X, 2 * y - 1, loss="hinge", penalty=penalty, lam=0.05), rel=1e-5)


def test_a_large_lam_gives_constants():
    X, y = labelled()
    for loss in ("hinge", "log"):
        problem = build(X, y, 3, loss, lam=10.0)
        solution = Admm(tol=1e-3).solve(problem)
        assert solution.status == "optimal" and not solution.slopes.any()
        assert certify(problem, solution).upper == pytest.approx(problem.null_risk)


def test_weight_two_is_the_row_twice():
    X, y = labelled(15)
    weight = np.ones(15)
    weight[4], weight[7] = 2.0, 0.0
    rows = np.r_[np.delete(np.arange(15), 7), 4]
    a = Exact(tol=1e-6).solve(build(X, y, 3, weight=weight))
    b = Exact(tol=1e-6).solve(build(X[rows], y[rows], 3))
    assert np.allclose(a.values, b.values) and np.allclose(a.slopes, b.slopes)


def test_a_working_set_of_all_pairs_makes_the_same_steps():
    X, y = labelled()
    problem = build(X, y, 3)
    n, parts = len(problem.X), len(problem.signs)
    member = np.broadcast_to(~np.eye(n, dtype=bool), (parts, n, n))
    with Workers(1) as workers:
        methods = [
            InteriorPoint(problem, workers, AllPairs(problem.X, parts)),
            InteriorPoint(problem, workers, WorkingSet(problem.X, member)),
        ]
        for _ in range(6):
            assert all(method.step() for method in methods)
    a, b = (method.solution() for method in methods)
    assert np.allclose(a.values, b.values, atol=1e-7) and np.allclose(a.slopes, b.slopes, atol=1e-7)


def test_beyond_all_pairs():
    X, y = labelled(130, 2, 3)
    problem = build(X, y, 3, lam=0.01)
    solution = Exact(tol=1e-3).solve(problem)
    assert solution.status == "optimal"
    assert certify(problem, solution).gap <= 1.01e-3


def test_log_loss_has_no_accurate_engine():
    X, y = labelled()
    problem = build(X, y, 3, "log")
    with pytest.raises(ValueError, match="log loss"):
        make_solver("exact", problem, tol=1e-3)
    with pytest.raises(ValueError, match="log loss"):
        Exact().solve(problem)
    assert isinstance(make_solver("auto", problem, tol=1e-3), Admm)
    assert isinstance(make_solver("auto", build(X, y, 3), tol=1e-3), Exact)


def test_what_classes_do_not_have():
    X, y = labelled()
    with pytest.raises(ValueError, match="without a free linear term"):
        build(X, y, 3, linear=True)
    with pytest.raises(ValueError, match="0, 1"):
        build(X, y + 1, 3)
    with pytest.raises(ValueError, match="Several outputs"):
        build(X, y, 1)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_the_certificate_closes_where_labels_meet_at_a_point(loss):
    rng = np.random.default_rng(0)
    X, y = np.repeat(np.arange(6.0), 4)[:, None], rng.integers(0, 3, 24)
    y[:3] = 0, 1, 2
    problem = build(X, y, 3, loss, lam=0.01)
    assert len(problem.X) == 6 and len(problem.y) > 6
    solver = Exact(tol=1e-5) if loss == "hinge" else Admm(tol=1e-2)
    solution = solver.solve(problem)
    truth = class_optimum(X, y, 3, loss=loss, penalty="componentwise", lam=0.01)
    assert solution.status == "optimal"
    assert certify(problem, solution).upper == pytest.approx(truth, rel=1e-5 if loss == "hinge" else 1e-2)


def test_a_class_without_rows():
    X, y = labelled(16, 2, 2)
    for loss in ("hinge", "log"):
        problem = build(X, y, 3, loss)
        assert np.abs(problem.null_fit).max() < 20
        found = certify(problem, Admm(tol=1e-2, max_iter=2000).solve(problem))
        assert found.gap <= 0.05
        scores = np.array([f(problem.X) for f in problem.functions(found.solution)])
        assert (scores[2] < scores[:2].max(axis=0)).all()
