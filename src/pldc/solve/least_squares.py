"""The least-squares half of the quick engine: values and slopes of one part, given what every row should be.

    min over φ, g   ½ Σ_ji ω_ji (φ_i − φ_j − ⟨g_j, x_i − x_j⟩ − T_ji)² + ½ s Σ_j ‖g_j − q_j‖² + (terms in φ)

The slopes of point j are g_j = N_j (K_j φ + θ_j) with

    N_j = (Σ_i ω_ji D D' + s I)⁻¹,   D = x_i − x_j,   K_j φ = Σ_i ω_ji D (φ_i − φ_j),   θ_j = s q_j − Σ_i ω_ji D T_ji,

and what is left for φ is H φ = h with H = Σ_ji ω_ji (e_i − e_j)(e_i − e_j)' − K'NK and
h_i = Σ_j ω_ji T_ji − Σ_j ω_ij T_ij + (K'Nθ)_i. T is sparse.

With equal weights N_j is a rank-one update of one matrix and H is diagonal plus rank 2d + 2 (`EqualWeights`); with
ω_ji = 1 / ‖x_i − x_j‖² it is dense, factored once (`InverseDistance`), and the iteration needs fewer steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor
from scipy.linalg.lapack import dpotrs
from scipy.sparse import csr_array

from pldc.function.max_affine import Array
from pldc.solve.workers import Workers

Solve = Callable[[Array], Array]
Targets = Array | Sequence[csr_array | Array]  # of all parts: (P, n, n), or one array, sparse perhaps, a part
CHUNK_BYTES = 1 << 26


class Rows(ABC):
    """Weights of the pair rows, and the systems they lead to. X is centred; `stiffness` is s."""

    N: Array
    pull: Array  # Σ_i ω_ji (x_i − x_j)

    def __init__(self, X: Array, stiffness: float):
        self.X, self.stiffness = X, stiffness
        self.X_and_ones = np.column_stack([X, np.ones(len(X))])

    @abstractmethod
    def smooth(self, V: Array) -> Array:
        """Return ω V for V of shape (n, k)."""

    @abstractmethod
    def solver(self, share: float, extra: Array) -> Solve:
        """Return a solver of (share · H + diag(extra)) x = b; with extra = 0 for b that sums to zero."""

    def slopes(self, phi: Array, theta: Array) -> Array:
        """Return g = N (K φ + θ) for the values (P, n) and θ (P, n, d) of all parts: one product with ω."""
        X, d = self.X, self.X.shape[1]
        S = self._smooth_parts(phi[:, :, None] * X, phi)
        K = S[:, :, :d] - X * S[:, :, d:] - phi[:, :, None] * self.pull
        return np.matmul(self.N, (K + theta)[..., None])[..., 0]

    def _smooth_parts(self, V: Array, v: Array) -> Array:
        """ω times V (P, n, d) and v (P, n), as (P, n, d + 1)."""
        P, n, d = V.shape
        table = np.empty((n, P, d + 1))
        table[:, :, :d], table[:, :, d] = V.transpose(1, 0, 2), v.T
        return self.smooth(table.reshape(n, -1)).reshape(n, P, d + 1).transpose(1, 0, 2)

    def times_N(self, V: Array) -> Array:
        """N_j v_j for every point."""
        return np.matmul(self.N, V[:, :, None])[:, :, 0]

    def theta(self, T: Targets, q: Array) -> tuple[Array, Array]:
        """Return θ (P, n, d) and Σ_j ω_ji T_ji − Σ_j ω_ij T_ij (P, n), for T of all parts."""
        d = self.X.shape[1]
        if isinstance(T, np.ndarray):
            weighed: Any = self.weigh(T)
            sums, into = weighed @ self.X_and_ones, weighed.sum(axis=1)
        else:
            parts = [self.weigh(t) for t in T]
            sums = np.array([t @ self.X_and_ones for t in parts])
            into = np.array([np.asarray(t.sum(axis=0)) for t in parts])
        out = sums[:, :, d]
        return self.stiffness * q - sums[:, :, :d] + out[:, :, None] * self.X, into - out

    def rhs(self, flow: Array, theta: Array) -> Array:
        """Return h (P, n), for what `theta` returned: one product with ω."""
        X, d = self.X, self.X.shape[1]
        v = np.matmul(self.N, theta[..., None])[..., 0]
        S = self._smooth_parts(v, (X * v).sum(axis=2))
        return np.asarray(flow + (X * S[:, :, :d]).sum(axis=2) - S[:, :, d] - (self.pull * v).sum(axis=2))

    def weigh(self, T: Any, inverse: bool = False) -> Any:
        """ω T, or T / ω, entry by entry; T is sparse or not."""
        return T


class EqualWeights(Rows):
    """ω = 1: everything in O(n d²)."""

    def __init__(self, X: Array, stiffness: float):
        super().__init__(X, stiffness)
        n, d = X.shape
        G = np.linalg.inv(X.T @ X + stiffness * np.eye(d))
        u = X @ G
        kappa = np.einsum("jk,jk->j", X, u)
        self.N = G - (n / (1.0 + n * kappa))[:, None, None] * (u[:, :, None] * u[:, None, :])
        self.pull = -n * X
        Y = self.times_N(X)
        self.kappa = np.einsum("jk,jk->j", X, Y)
        self.U = np.column_stack([np.ones(n), X, Y, self.kappa])
        M = np.zeros((2 * d + 2, 2 * d + 2))
        M[0, 0] = 2.0 + self.kappa.sum()
        M[0, 1 : d + 1] = M[1 : d + 1, 0] = -Y.sum(axis=0)
        M[0, -1] = M[-1, 0] = -n
        M[1 : d + 1, 1 : d + 1] = self.N.sum(axis=0)
        M[1 : d + 1, d + 1 : -1] = M[d + 1 : -1, 1 : d + 1] = n * np.eye(d)
        self.M = M

    def smooth(self, V: Array) -> Array:
        """Every row is the sum."""
        return np.broadcast_to(V.sum(axis=0), V.shape)

    def solver(self, share: float, extra: Array) -> Solve:
        """Woodbury: H = diag(2n − n²κ) − U M U'."""
        n, gauge = len(self.X), not extra.any()
        M = share * self.M
        if gauge:
            M[0, 0] -= 1.0  # 11' fixes the constant, which H leaves free
        inverse: Array = 1.0 / (share * (2.0 * n - n**2 * self.kappa) + extra)
        core = np.linalg.solve(np.eye(len(M)) - M @ (self.U.T @ (inverse[:, None] * self.U)), M)

        def solve(b: Array) -> Array:
            x = (inverse * b.T).T  # b may have several columns
            x += (inverse * (self.U @ (core @ (self.U.T @ x))).T).T
            return np.asarray(x)

        return solve


class InverseDistance(Rows):
    """ω_ji = 1 / max(‖x_i − x_j‖², floor), up to the floor."""

    def __init__(self, X: Array, stiffness: float, workers: Workers):
        super().__init__(X, stiffness)
        n, d = X.shape
        self.omega = inverse_square_distances(X)
        self.workers = workers
        squares = (X[:, :, None] * X[:, None, :]).reshape(n, d * d)
        S = self.smooth(np.column_stack([np.ones(n), X, squares]))
        degree, mean = S[:, :1], S[:, 1 : d + 1]
        self.pull = mean - degree * X
        cross = X[:, :, None] * mean[:, None, :]
        moment = S[:, d + 1 :].reshape(n, d, d) - cross - cross.transpose(0, 2, 1)
        moment += degree[:, :, None] * squares.reshape(n, d, d)
        self.N = np.linalg.inv(moment + stiffness * np.eye(d))
        self.H = self._dense(degree[:, 0])

    def _dense(self, degree: Array) -> Array:
        """H, a chunk of points at a time."""
        n, d = self.X.shape
        root = np.linalg.cholesky(self.N)
        step = max(1, CHUNK_BYTES // (8 * n * d))
        H = -2.0 * self.omega
        H[np.arange(n), np.arange(n)] += 2.0 * degree
        for start in range(0, n, step):
            block = np.arange(start, min(start + step, n))
            C = self.omega[block, :, None] * (self.X - self.X[block, None, :])
            C[np.arange(len(block)), block] = -self.pull[block]
            Z = np.matmul(C, root[block]).transpose(1, 0, 2).reshape(n, -1)

            def subtract(J: slice, Z: Array = Z) -> None:
                H[J] -= Z[J] @ Z.T

            self.workers.over_blocks(subtract, n)
        return H

    def weigh(self, T: Any, inverse: bool = False) -> Any:
        """ω T, or T / ω, entry by entry; T is sparse or not."""
        if isinstance(T, np.ndarray):  # its diagonals are zero, and so is that of ω
            return np.divide(T, self.omega, out=np.zeros_like(T), where=self.omega > 0) if inverse else T * self.omega
        j = np.repeat(np.arange(len(self.X)), np.diff(T.indptr))
        weight = self.omega[j, T.indices]
        return csr_array((T.data / weight if inverse else T.data * weight, T.indices, T.indptr), shape=T.shape)

    def smooth(self, V: Array) -> Array:
        """One product with ω."""
        out = np.empty(V.shape)

        def work(J: slice) -> None:
            np.matmul(self.omega[J], V, out=out[J])

        self.workers.over_blocks(work, len(V))
        return out

    def solver(self, share: float, extra: Array) -> Solve:
        """Cholesky, the constant fixed by a multiple of 11'."""
        A = share * self.H
        A[np.arange(len(A)), np.arange(len(A))] += extra
        if not extra.any():
            A += max(float(np.diag(A).mean()), np.finfo(float).tiny) / len(A)
        factor, lower = nudged_cholesky(A)
        return lambda b: np.asarray(dpotrs(factor, b, lower=lower)[0])  # as cho_solve, without its checks


def nudged_cholesky(A: Array) -> tuple[Array, bool]:
    """Cholesky factor of A; where rounding has made it indefinite, of A with a slightly larger diagonal."""
    at, nudge = np.arange(len(A)), 0.0
    size = max(float(np.abs(A[at, at]).max()), np.finfo(float).tiny)
    while True:
        B = A.copy()
        B[at, at] += nudge * size
        try:
            return cho_factor(B.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            nudge = max(100.0 * nudge, np.finfo(float).eps)
            if not nudge < 1e-3:
                raise


def inverse_square_distances(X: Array) -> Array:
    """1 / ‖x_i − x_j‖², no larger than for a tenth of the median neighbour distance, zero for i = j."""
    squares = np.einsum("ij,ij->i", X, X)
    D = squares[:, None] + squares
    D -= 2.0 * X @ X.T
    at = np.arange(len(X))
    D[at, at] = np.inf
    floor = max(0.01 * float(np.median(D.min(axis=1))), 1e-12 * float(squares.mean()))
    np.maximum(D, floor, out=D)
    np.divide(1.0, D, out=D)
    D[at, at] = 0.0
    return D
