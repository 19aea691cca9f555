"""Block one of the ADMM against a literal least-squares problem."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pldc.solve.least_squares import EqualWeights, InverseDistance, inverse_square_distances
from pldc.solve.workers import Workers

N, D, STIFFNESS = 14, 3, 0.7


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    X -= X.mean(axis=0)
    T = rng.standard_normal((N, N)) * (rng.random((N, N)) < 0.3)
    np.fill_diagonal(T, 0.0)
    return X, T, rng.standard_normal((N, D)), rng.uniform(0.5, 2.0, N), rng.standard_normal(N)


def literal(X, omega, T, q, extra, t):
    """Minimise over (φ, g) by one dense least-squares problem, a row for each square."""
    design, target = [], []
    for j in range(N):
        for i in range(N):
            row = np.zeros(N + N * D)
            row[i] += 1.0
            row[j] -= 1.0
            row[N + j * D : N + (j + 1) * D] = -(X[i] - X[j])
            design.append(np.sqrt(omega[j, i]) * row)
            target.append(np.sqrt(omega[j, i]) * T[j, i])
    for k in range(N * D):
        row = np.zeros(N + N * D)
        row[N + k] = np.sqrt(STIFFNESS)
        design.append(row)
        target.append(np.sqrt(STIFFNESS) * q.ravel()[k])
    for i in range(N):
        row = np.zeros(N + N * D)
        row[i] = np.sqrt(extra[i])
        design.append(row)
        target.append(np.sqrt(extra[i]) * t[i])
    x = np.linalg.lstsq(np.array(design), np.array(target), rcond=None)[0]
    return x[:N], x[N:].reshape(N, D)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["sparse", "dense", "batch"])
def test_values_and_slopes_solve_the_least_squares_problem(weighted, free, kind):
    X, T, q, extra, t = data()
    if free:  # no term in φ: values are determined up to a constant
        extra = np.zeros(N)
    with Workers(1) as workers:
        rows = InverseDistance(X, STIFFNESS, workers) if weighted else EqualWeights(X, STIFFNESS)
        omega = inverse_square_distances(X) if weighted else np.ones((N, N))
        weighed = rows.weigh(csr_array(T))
        np.testing.assert_allclose(weighed.toarray(), omega * T)
        targets = {"sparse": [csr_array(T)], "dense": [T], "batch": T[None]}[kind]
        theta, flow = rows.theta(targets, q[None])
        phi = rows.solver(1.0, extra)(rows.rhs(flow, theta)[0] + extra * t)
        g = rows.slopes(phi[None], theta)[0]
    expected, slopes = literal(X, omega, T, q, extra, t)
    if free:
        phi, expected = phi - phi.mean(), expected - expected.mean()
    np.testing.assert_allclose(phi, expected, atol=1e-9)
    np.testing.assert_allclose(g, slopes, atol=1e-9)


def test_weights_are_inverse_squared_distances():
    X = np.array([[0.0], [1.0], [3.0]])
    np.testing.assert_allclose(inverse_square_distances(X), [[0, 1, 1 / 9], [1, 0, 0.25], [1 / 9, 0.25, 0]])


def test_weights_of_near_duplicates_stay_bounded():
    X = np.array([[0.0], [1e-9], [1.0], [2.0], [3.0]])
    assert np.isfinite(inverse_square_distances(X)).all()
    assert inverse_square_distances(X).max() <= 1e3


def test_division_undoes_the_weights():
    X, T, *_ = data()
    with Workers(1) as workers:
        rows = InverseDistance(X, STIFFNESS, workers)
    np.testing.assert_allclose(rows.weigh(rows.weigh(csr_array(T)), inverse=True).toarray(), T)
