"""Algorithm 1 of the paper, literally: for tests and for teaching.

Siahkamari, Gangrade, Kulis and Saligrama, "Piecewise Linear Regression via a Difference of Convex Functions", ICML
2020, appendix "Algorithms via ADMM". Names are the paper's: ŷ → y_hat, η → eta, ζ → zeta; φ₁ = ŷ + z and φ₂ = z. It
minimises

    Σ_i (ŷ_i − y_i)² + λ Σ_d L_d      (componentwise seminorm, loss summed: λ here is n times `lam` elsewhere)

by a many-block ADMM, which comes without a proof of convergence. Nothing else in the package uses it.
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.losses import Squared
from pldc.problem.penalties import Componentwise
from pldc.problem.program import Problem, Solution


def algorithm_1(X: Array, y: Array, lam: float, T: int = 10_000, rho: float = 0.01) -> dict[str, Array]:
    """Run T iterations and return all variables of the paper by name."""
    n, D = X.shape
    y_hat, z = np.zeros(n), np.zeros(n)
    s, t, alpha, beta = (np.zeros((n, n)) for _ in range(4))
    L = np.zeros(D)
    a, b, p, q, u, gamma, eta, zeta = (np.zeros((n, D)) for _ in range(8))
    diff = X[:, None, :] - X[None, :, :]  # x_i − x_j at [i, j]
    total = X.sum(axis=0)
    Lambda = np.linalg.inv(
        n * X[:, :, None] * X[:, None, :]
        - X[:, :, None] * total[None, None, :]
        - total[None, :, None] * X[:, None, :]
        + X.T @ X
        + np.eye(D)
    )
    for _ in range(T):
        pair_a = np.einsum("ijk,ijk->ij", a[:, None, :] + a[None, :, :], diff)
        pair_b = np.einsum("ijk,ijk->ij", b[:, None, :] + b[None, :, :], diff)
        A = (alpha.T - alpha + s.T - s + pair_a + 2 * y[None, :]).sum(axis=1)
        B = (beta.T - beta + t.T - t + pair_b).sum(axis=1)
        y_hat = 2 / (2 + n * rho) * y + rho / (2 * (2 + n * rho)) * A - rho / (2 * (2 + n * rho)) * B
        z = -1 / (2 + n * rho) * y + 1 / (2 * n * (2 + n * rho)) * A + (1 + n * rho) / (2 * n * (2 + n * rho)) * B

        y_ij = y_hat[:, None] - y_hat[None, :]
        z_ij = z[:, None] - z[None, :]
        a = np.einsum("ikl,il->ik", Lambda, p - eta + np.einsum("ij,ijk->ik", alpha + s + y_ij + z_ij, diff))
        b = np.einsum("ikl,il->ik", Lambda, q - zeta + np.einsum("ij,ijk->ik", beta + t + z_ij, diff))
        L = (-lam / rho + (gamma + np.abs(p) + np.abs(q) + u).sum(axis=0)) / n
        p = 0.5 * np.sign(eta + a) * np.maximum(np.abs(eta + a) + L - u - np.abs(q) - gamma, 0)
        q = 0.5 * np.sign(zeta + b) * np.maximum(np.abs(zeta + b) + L - u - np.abs(p) - gamma, 0)
        u = np.maximum(-gamma - np.abs(p) - np.abs(q) + L, 0)
        row_a = np.einsum("ik,ijk->ij", a, diff)
        row_b = np.einsum("ik,ijk->ij", b, diff)
        s = np.maximum(-alpha - y_ij - z_ij + row_a, 0)
        t = np.maximum(-beta - z_ij + row_b, 0)
        alpha = alpha + s + y_ij + z_ij - row_a
        beta = beta + t + z_ij - row_b
        gamma = gamma + u + np.abs(p) + np.abs(q) - L
        eta = eta + a - p
        zeta = zeta + b - q
    return {
        "y_hat": y_hat,
        "z": z,
        "a": a,
        "b": b,
        "L": L,
        "p": p,
        "q": q,
        "s": s,
        "t": t,
        "u": u,
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "eta": eta,
        "zeta": zeta,
    }


def reference_solution(X: Array, y: Array, lam: float, T: int = 10_000, rho: float = 0.01) -> tuple[Problem, Solution]:
    """Return the program that Algorithm 1 addresses, in the package's units, and the iterate it ends with.

    X must have distinct rows.
    """
    problem = Problem.from_data(X, y, loss=Squared(), penalty=Componentwise(), lam=lam / len(y))
    if len(problem.X) != len(X):
        raise ValueError("The rows of X must be distinct.")
    state = algorithm_1(X, y, lam, T, rho)
    order = np.lexsort(X.T[::-1])  # the package sorts the points
    values = np.stack([state["y_hat"] + state["z"], state["z"]])[:, order]
    slopes = np.stack([state["a"], state["b"]])[:, order]
    # α and β are scaled multipliers (≥ 0) of a summed loss; row [i, j] owns the slope of point i, as in `Solution`.
    scale = rho / len(y)
    multipliers = np.stack([state["alpha"], state["beta"]])[:, order][:, :, order] * scale
    solution = Solution(values, slopes, np.zeros(X.shape[1]), multipliers, status="T iterations", iterations=T)
    return problem, solution
