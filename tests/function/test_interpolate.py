"""Functions through data: the quadratic construction, its witnesses, and the smallest seminorm."""

import cvxpy as cp
import numpy as np
import pytest

from pldc import can_interpolate, interpolate
from pldc.function.interpolate import interpolate as quadratic
from pldc.solve.interpolation import minimal_interpolant


def data(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(10))
def test_quadratic_passes_through_the_data_within_its_seminorm_bound(seed):
    X, y = data(12 + seed, 1 + seed % 4, seed)
    f = interpolate(X, y)
    np.testing.assert_allclose(f(X), y, atol=1e-9 * np.abs(f.plus(X)).max())
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    C = (np.abs(y[:, None] - y)[squares > 0] / squares[squares > 0]).max()
    centred = X - 0.5 * (X.min(axis=0) + X.max(axis=0))
    assert f.seminorm_bound() <= 2 * C * np.abs(centred).sum(axis=1).max() * (1 + 1e-12)


def test_witnesses_satisfy_the_characterisation():
    X, y = data(20, 3, 1)
    found = can_interpolate(X, y)
    assert found
    for values, slopes in ((y + found.z, found.a), (found.z, found.b)):
        rows = values[None, :] - values[:, None] - np.einsum("jk,jik->ji", slopes, X[None] - X[:, None])
        assert rows.min() >= -1e-9 * np.abs(values).max()


def test_conflicting_rows_are_named():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0]])
    y = np.array([1.0, 2.0, 1.5, 2.0])
    found = can_interpolate(X, y)
    assert not found
    assert found.conflicts.tolist() == [[0, 2]]
    for method in ("quadratic", "minimal"):
        with pytest.raises(ValueError, match="rows 0 and 2"):
            interpolate(X, y, method=method)


@pytest.mark.parametrize("method", ["quadratic", "minimal"])
def test_small_and_degenerate_data(method):
    assert interpolate([[2.0]], [3.0], method=method)([[7.0]]) == pytest.approx(3.0)
    same = interpolate([[1.0], [1.0], [2.0]], [5.0, 5.0, 6.0], method=method)
    np.testing.assert_allclose(same([[1.0], [2.0]]), [5.0, 6.0], atol=1e-9)
    flat = interpolate([[1.0, 4.0], [2.0, 4.0]], [1.0, 2.0], method=method)  # a constant column
    np.testing.assert_allclose(flat([[1.0, 4.0], [2.0, 4.0]]), [1.0, 2.0], atol=1e-9)
    for X, y, message in (
        ([[np.nan]], [1.0], "NaN"),
        ([[1.0]], [1.0, 2.0], "shape"),
        (np.zeros((0, 2)), [], "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            interpolate(X, y, method=method)
    with pytest.raises(ValueError, match="method must be"):
        interpolate([[1.0]], [1.0], method="cubic")


def smallest_seminorm(X, y, penalty):
    """The linear program of the smallest seminorm, for CVXPY."""
    n, d = X.shape
    z, a, b = cp.Variable(n), cp.Variable((n, d)), cp.Variable((n, d))
    rows = []
    for j in range(n):
        rows += [y - y[j] + z - z[j] >= (X - X[j]) @ a[j], z - z[j] >= (X - X[j]) @ b[j]]
    size = cp.abs(a) + cp.abs(b)
    norm = cp.max(cp.sum(size, axis=1)) if penalty == "joint" else cp.sum(cp.max(size, axis=0))
    problem = cp.Problem(cp.Minimize(norm), rows)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("penalty", ["joint", "componentwise"])
@pytest.mark.parametrize("seed", range(6))
def test_minimal_reaches_the_smallest_seminorm(seed, penalty):
    X, y = data(14, 1 + seed % 3, seed)
    X, y = 3.0 * X + 5.0, 100.0 * y - 20.0
    found = minimal_interpolant(X, y, penalty)
    best = smallest_seminorm(X, y, penalty)
    np.testing.assert_allclose(found.function(X), y, atol=1e-7 * np.ptp(y))
    assert found.lower <= best * (1 + 1e-6)
    assert found.upper == pytest.approx(best, rel=2e-3)
    assert found.upper >= best * (1 - 1e-6)
    assert found.upper < quadratic(X, y).seminorm_bound(penalty)


def test_close_points_keep_the_tolerance_or_warn():
    rng = np.random.default_rng(0)
    X, y = np.sort(rng.uniform(0, 1, 100))[:, None], rng.standard_normal(100)
    found = minimal_interpolant(X, y)
    assert found.upper - found.lower <= 1e-4 * found.upper
    np.testing.assert_allclose(found.function(X), y, atol=1e-6)


@pytest.mark.parametrize("method", ["quadratic", "minimal"])
def test_rows_far_from_the_origin(method):
    X = 1e12 + np.random.default_rng(0).uniform(0, 1, (20, 2))
    y = np.sin(3 * (X - 1e12).sum(axis=1))
    np.testing.assert_allclose(interpolate(X, y, method=method)(X), y, atol=1e-9)


def test_rounding_is_said():
    with pytest.warns(RuntimeWarning, match="nearly coincide"):
        interpolate([[0.0], [1e-9], [1.0]], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="tol must be"):
        interpolate([[0.0]], [0.0], tol=-1)
    with pytest.raises(ValueError, match="penalty"):
        interpolate([[0.0]], [0.0], penalty="foo")
    with pytest.raises(ValueError, match="so close"):
        interpolate([[0.0], [1e-170]], [0.0, 1.0])
