import functools
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from pldc.select.discrepancy import discrepancy, linear_program, wasserstein
from pldc.solve import Admm, Exact, Line


def brute_force(X, sign, penalty):
    """D̂ by CVXPY, written from the definition."""
    n, d = X.shape
    phi, g = [cp.Variable(n) for _ in range(2)], [cp.Variable((n, d)) for _ in range(2)]
    rows = []
    for p in range(2):
        for j in range(n):
            rows.append(phi[p] - phi[p][j] >= (X - X[j]) @ g[p][j])
    size = cp.abs(g[0]) + cp.abs(g[1])
    seminorm = cp.max(cp.sum(size, axis=1)) if penalty == "joint" else cp.sum(cp.max(size, axis=0))
    problem = cp.Problem(cp.Maximize(2.0 / n * sign @ (phi[0] - phi[1])), [*rows, seminorm <= 1, phi[0][0] == 0])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def sample(seed):
    rng = np.random.default_rng(seed)
    n, d = 2 * int(rng.integers(2, 9)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)).round(1 if seed % 3 == 0 else 12)  # some with ties
    return X, rng.permutation(np.repeat([1.0, -1.0], n // 2))


@pytest.mark.parametrize("penalty", ["joint", "componentwise"])
@pytest.mark.parametrize("seed", range(12))
def test_linear_program_equals_brute_force(seed, penalty):
    X, sign = sample(seed)
    assert linear_program(X, sign, penalty) == pytest.approx(brute_force(X, sign, penalty), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("penalty", ["joint", "componentwise"])
@pytest.mark.parametrize(("method", "tol"), [("exact", 1e-5), ("admm", 2e-2)])
def test_engines_bracket_the_linear_program(method, tol, penalty):
    X = np.random.default_rng(1).normal(size=(20, 2))
    truth = discrepancy(X, penalty=penalty, n_splits=2, method="lp")
    found = discrepancy(X, penalty=penalty, n_splits=2, method=method, tol=tol)
    assert (found.halves[:, 0] <= truth.halves[:, 0] * (1 + 1e-7)).all()
    assert (found.halves[:, 1] >= truth.halves[:, 1] * (1 - 1e-7)).all()
    assert found.upper - found.lower <= tol * found.upper
    assert found.lower == pytest.approx(truth.value, rel=tol)


@pytest.mark.parametrize("seed", range(8))
def test_every_split_is_found(seed):
    """The best constant of the labels is any between them: an engine must not be lost there."""
    X = np.random.default_rng(seed).normal(size=(18, 2))
    truth = discrepancy(X, n_splits=4, method="lp")
    found = discrepancy(X, n_splits=4, method="exact")
    assert np.allclose(found.halves, truth.halves, rtol=0.011)


def test_one_feature_has_an_engine_of_its_own():
    rng = np.random.default_rng(5)
    few, many = rng.normal(size=(60, 1)), rng.normal(size=(1200, 1))
    truth = discrepancy(few, n_splits=2, method="lp")
    found = discrepancy(few, n_splits=2)
    assert found.lower * (1 - 1e-7) <= truth.value <= found.upper * (1 + 1e-7)
    for bounds in (found, discrepancy(many, n_splits=1, max_rows=None)):
        assert bounds.upper - bounds.lower <= 0.01 * bounds.upper


@pytest.mark.parametrize(
    ("shape", "method", "engine"),
    [
        ((500, 2), "auto", "exact"),
        ((502, 2), "auto", "admm"),
        ((502, 1), "auto", "line"),
        ((200, 2), "admm", "admm"),
        ((50, 1), "exact", "exact"),
    ],
)
def test_which_engine(monkeypatch, shape, method, engine):
    asked = []

    def solve(self, problem, start=None, monitor=None):
        asked.append(self)
        raise InterruptedError

    for solver in (Admm, Exact, Line):
        monkeypatch.setattr(solver, "solve", solve)
    with pytest.raises(InterruptedError):
        discrepancy(np.random.default_rng(0).normal(size=shape), method=method, max_rows=None, tol=1e-5)
    assert asked[0].name == engine
    if engine == "admm":
        assert (asked[0].max_iter, asked[0].tol) == (300, 1e-4)  # coarser and shorter than it would be otherwise
    else:
        assert asked[0].max_iter >= 200 and asked[0].tol < 1e-4


def test_without_memory_the_quick_engine_is_taken_with_its_own_settings(monkeypatch):
    asked = []

    def solve(self, problem, start=None, monitor=None):
        asked.append((self.max_iter, self.tol))
        raise InterruptedError

    monkeypatch.setattr("pldc.solve.choose.available", lambda: 1e6)
    monkeypatch.setattr(Admm, "solve", solve)
    monkeypatch.setattr(Admm, "memory", lambda self, problem: 1e3)
    with pytest.raises(InterruptedError):
        discrepancy(np.random.default_rng(0).normal(size=(200, 2)), tol=1e-5)
    assert asked == [(300, 1e-4)]


def test_never_above_twice_the_wasserstein_distance_but_above_it_for_two_points():
    for seed in range(10):
        X, sign = sample(seed)
        far = wasserstein(X[sign > 0], X[sign < 0])
        assert linear_program(X, sign, "joint") <= 2.0 * far * (1 + 1e-7)
    two = np.array([[-1.0], [1.0]])
    assert wasserstein(two[:1], two[1:]) == 2.0
    assert linear_program(two, np.array([1.0, -1.0]), "joint") == pytest.approx(4.0)


def test_scales_with_the_rows_and_ignores_shifts():
    X = np.random.default_rng(2).normal(size=(16, 2))
    a, b = (discrepancy(Z, n_splits=1, tol=1e-4) for Z in (X, 3.0 * X + 7.0))
    assert b.value == pytest.approx(3.0 * a.value, rel=1e-3)


@functools.cache
def value_in_units_of(unit, method):
    return discrepancy(unit * np.random.default_rng(2).normal(size=(10, 2)), n_splits=1, method=method).value


@pytest.mark.parametrize("method", ["lp", "exact", "admm"])
@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e20, 1e150])
def test_any_unit(unit, method):
    assert value_in_units_of(unit, method) == pytest.approx(unit * value_in_units_of(1.0, method), rel=1e-9)


def test_a_program_that_is_not_solved_is_said(monkeypatch):
    failed = SimpleNamespace(status=4, message="numerical difficulties", fun=-1.0)
    monkeypatch.setattr("pldc.select.discrepancy.linprog", lambda *program, **settings: failed)
    with pytest.raises(RuntimeError, match="numerical difficulties"):
        linear_program(*sample(0), "joint")


def test_odd_rows_subsample_and_equal_rows():
    rng = np.random.default_rng(3)
    found = discrepancy(rng.normal(size=(31, 2)), n_splits=1, max_rows=15)
    assert found.n_rows == 14 and 0 < found.lower <= found.upper
    same = discrepancy(np.ones((8, 2)), n_splits=1)
    assert same.lower == same.upper == 0.0


def test_shrinks_with_more_rows():
    rng = np.random.default_rng(4)
    small, large = (discrepancy(rng.uniform(size=(n, 2)), n_splits=2, tol=0.05).value for n in (20, 80))
    assert large < 0.8 * small


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"X": [[1.0]]}, "two rows"),
        ({"X": [1.0, 2.0]}, "two-dimensional"),
        ({"X": [[np.nan], [1.0]]}, "finite"),
        ({"X": [[-1e308], [1e308]]}, "rescale"),
        ({"X": [[0.0], [1.0]], "method": "magic"}, "method"),
        ({"X": [[0.0], [1.0]], "penalty": "l2"}, "penalty"),
        ({"X": [[0.0], [1.0]], "n_splits": 0}, "n_splits"),
    ],
)
def test_bad_input(settings, match):
    with pytest.raises(ValueError, match=match):
        discrepancy(**settings)
    with pytest.raises(ValueError, match="equal shapes"):
        wasserstein([[1.0]], [[1.0], [2.0]])
