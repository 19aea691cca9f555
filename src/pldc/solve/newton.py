"""The linear algebra of the interior point: one Newton system, eliminated down to one small dense matrix.

Variables: values φ (P, n); slopes g = g⁺ − g⁻ with g⁺, g⁻ ≥ 0 (P, n, d); bounds L (q,); linear term c (d,). The system
is

    Hess(loss) + θ on pair rows  φ_i − φ_j − ⟨g_j, x_i − x_j⟩
               + γ on norm rows  L − rows(g⁺ + g⁻)
               + 1/p⁺, 1/p⁻ on g⁺, g⁻ themselves (p = 0 fixes the variable at zero: a monotone feature).

Given u = dg⁺ − dg⁻, the sum dg⁺ + dg⁻ is eliminated by hand. With e, ζ, D per slope and κ, η per norm row,

    e = 1 / (p⁺ + p⁻),   ζ = (p⁻ − p⁺) e,   D = 4 p⁺ p⁻ e,   κ = γ / (1 + γ Σ D),
    dg± = D ((r⁺ + r⁻)/2 + η) / 2 ± p± e u,           η = κ (dL − Σ D (r⁺ + r⁻)/2 + Σ ζ u),

what is left for u at point j is a least-squares problem with the rows

    √θ_ij (dφ_i − dφ_j − ⟨u, x_i − x_j⟩),    √e (u − p⁺ r⁺ + p⁻ r⁻),    √κ (⟨ζ, u⟩ + dL − Σ D (r⁺ + r⁻)/2).

It is eliminated by orthogonal factorisations, not by its normal equations: near the solution θ and e differ by sixteen
orders of magnitude and only square roots of that survive in double precision. A QR factor of each part's pair rows is
merged with the other rows; W, the components of the right-hand sides in the column space, then gives the dense
symmetric matrix over (φ, L, c), of size P·n + q + d whatever the number of pairs: the sum of squares less WᵀW.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pldc.function.max_affine import Array
from pldc.problem.program import Problem
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.workers import Workers

ACCURACY = 1e-11
REFINEMENTS = 8


@dataclass
class Variables:
    """One array for each block of variables (or of their right-hand sides)."""

    phi: Array
    gp: Array
    gm: Array
    L: Array
    c: Array

    def plus(self, step: float, other: Variables) -> Variables:
        """Return self + step · other."""
        return Variables(*(a + step * b for a, b in zip(self.blocks(), other.blocks(), strict=True)))

    def dot(self, other: Variables) -> float:
        """Inner product over all blocks."""
        return sum(float(np.vdot(a, b)) for a, b in zip(self.blocks(), other.blocks(), strict=True))

    def largest(self) -> float:
        """Largest absolute entry."""
        return max(float(np.abs(block).max(initial=0.0)) for block in self.blocks())

    def blocks(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return all blocks, in order."""
        return self.phi, self.gp, self.gm, self.L, self.c


class Forward(NamedTuple):
    """A right-hand side without slopes, (φ, L, c), and what `Newton.backward` needs to find them."""

    rhs: tuple[Array, Array, Array]
    white: Array
    R1: Array
    mean: Array


class Newton:
    """The system at given weights: `solve` inverts it, `apply` multiplies by it."""

    def __init__(
        self,
        problem: Problem,
        pairs: AllPairs | WorkingSet,
        workers: Workers,
        theta: Array,
        gamma: Array,
        p_plus: Array,
        p_minus: Array,
        psi: Array | None,
        c_weight: Array,
    ):
        self.problem, self.pairs = problem, pairs
        self.theta, self.gamma = theta, gamma
        self.p_plus, self.p_minus = p_plus, p_minus
        self.psi, self.c_weight = psi, c_weight
        self._eliminate_slopes(workers)
        self.H, self.size = self._dense(pairs.reduced(self.W, theta, workers))
        if psi is not None:
            at = np.arange(len(psi))
            self.H[at, at] += psi
            self.factor, self.scaling = regularised_cholesky(self.H, self.size)
            del self.H

    def _eliminate_slopes(self, workers: Workers) -> None:
        """Eliminate u at every point, blocks of points on threads."""
        P, n, d = self.p_plus.shape
        q = self.gamma.shape[1]
        self.e = 1.0 / (self.p_plus + self.p_minus)
        self.zeta = (self.p_minus - self.p_plus) * self.e
        self.D = 4.0 * self.p_plus * self.p_minus * self.e
        self.kappa = self.gamma / (1.0 + self.gamma * self.problem.penalty.rows(self.D))
        self.R_inverse = np.empty((n, P * d, P * d))
        self.Q_e = np.empty((n, P * d, P * d))
        self.Q_norm = np.empty((n, q, P * d))
        self.W = np.empty((n, P * d, P * self.theta.shape[2] + q))
        workers.over_blocks(self._eliminate_block, n)

    def _eliminate_block(self, J: slice) -> None:
        """Eliminate u at the points in J: fill R⁻¹, Q and W there."""
        P, _, d = self.p_plus.shape
        q, m = self.gamma.shape[1], self.theta.shape[2]
        size = J.stop - J.start
        root_theta = np.sqrt(self.theta[:, J])
        Q, R = np.linalg.qr(root_theta[:, :, :, None] * self.pairs.differences(J))
        r = R.shape[2]  # d, or the number of slots if there are fewer
        stack = np.zeros((size, P * r + P * d + q, P * d))
        for p in range(P):
            stack[:, p * r : (p + 1) * r, p * d : (p + 1) * d] = R[p]
        at = np.arange(P * d)
        stack[:, P * r + at, at] = np.sqrt(self.e[:, J]).transpose(1, 0, 2).reshape(size, P * d)
        # The rows of the bounds: ζ of every slope that counts towards the bound.
        counts = np.tile(np.eye(d), P) if q == d else np.ones((q, P * d))
        zeta = self.zeta[:, J].transpose(1, 0, 2).reshape(size, 1, P * d)
        root_kappa = np.sqrt(self.kappa[J])[:, :, None]
        stack[:, P * r + P * d :] = root_kappa * zeta * counts
        merged, R = np.linalg.qr(stack)
        self.R_inverse[J] = np.linalg.inv(R)
        heads, self.Q_e[J], self.Q_norm[J] = np.split(merged, [P * r, P * r + P * d], axis=1)

        # The column of a slot: √θ times its row of Q (and the opposite of their sum for the point itself).
        W = self.W[J]
        Q *= -root_theta[:, :, :, None]
        Q[:, np.arange(size), self.pairs.own[J]] = -Q.sum(axis=2)
        for p in range(P):
            head = heads[:, p * r : (p + 1) * r].transpose(0, 2, 1)
            np.matmul(head, Q[p].transpose(0, 2, 1), out=W[:, :, p * m : (p + 1) * m])
        W[:, :, P * m :] = (root_kappa * self.Q_norm[J]).transpose(0, 2, 1)

    def _dense(self, reduced: Array) -> tuple[Array, Array]:
        """Return the dense matrix in the variables (f, φ_2 …, L, c), φ_1 replaced by f = Σ s_p φ_p + X c, and its size.

        The weight ψ of the loss, still to be added, grows without bound where the loss is kinked; on f alone it does no
        harm.
        """
        problem, s = self.problem, self.problem.signs
        P, n, d = self.p_plus.shape
        m = len(reduced)
        H = reduced
        if problem.linear:
            H = np.zeros((m + d, m + d))
            H[:m, :m] = reduced
        size = np.zeros(len(H))
        size[: P * n] = self.pairs.degree(self.theta).ravel()
        bounds = np.arange(P * n, m)
        size[bounds] = self.kappa.sum(axis=0)
        H[bounds, bounds] += size[bounds]
        H[:n] *= s[0]
        H[:, :n] *= s[0]
        for p in range(1, P):
            part = slice(p * n, (p + 1) * n)
            H[part, :m] -= s[p] * H[:n, :m]
            H[:m, part] -= s[p] * H[:m, :n]
            size[part] += size[:n]
            corner = H[part, part]
            corner += np.diag(corner).mean() / n  # both parts may move together: fix that direction
        if problem.linear:
            H[m:, :m] = -(problem.X.T @ H[:n, :m])
            H[:m, m:] = H[m:, :m].T
            H[m:, m:] = -(H[m:, :n] @ problem.X) + np.diag(self.c_weight)
            size[m:] = size[:n] @ problem.X**2 + self.c_weight
        return H, size

    def _solve_dense(self, phi: Array, L: Array, c: Array) -> tuple[Array, Array, Array]:
        """Solve for (φ, L, c), changing variables on the way in and out."""
        rhs = self.in_fit(phi, L, c)
        x = self.scaling * cho_solve(self.factor, self.scaling * rhs, check_finite=False)
        return self.out_of_fit(x, len(L))

    def in_fit(self, phi: Array, L: Array, c: Array) -> Array:
        """Right-hand side of the dense system, in the variables (f, φ_2 …, L, c)."""
        problem, s = self.problem, self.problem.signs
        first = s[0] * phi[0]
        rest = phi[1:] - s[1:, None] * first
        return np.concatenate([first, rest.ravel(), L, (c - problem.X.T @ first) if problem.linear else c[:0]])

    def out_of_fit(self, x: Array, q: int) -> tuple[Array, Array, Array]:
        """(φ, L, c) of a solution of the dense system with q bounds."""
        problem, s, X = self.problem, self.problem.signs, self.problem.X
        P, (n, d) = len(s), X.shape
        fit, rest = x[:n], x[n : P * n].reshape(P - 1, n)
        dc = x[P * n + q :] if problem.linear else np.zeros(d)
        first = s[0] * (fit - s[1:] @ rest - X @ dc)
        return np.vstack([first, rest]), x[P * n : P * n + q], dc

    def solve(self, b: Variables) -> Variables:
        """Return x with apply(x) = b."""
        return refined(self.once, self.apply, b)

    def once(self, b: Variables) -> Variables:
        """Solve the eliminated system."""
        forward = self.forward(b)
        return self.backward(forward, *self._solve_dense(*forward.rhs))

    def forward(self, b: Variables) -> Forward:
        """Eliminate the slopes from a right-hand side."""
        problem = self.problem
        P, n, d = self.p_plus.shape
        mean = 0.5 * (b.gp + b.gm)
        u0 = np.sqrt(self.e) * (self.p_plus * b.gp - self.p_minus * b.gm)
        R1 = problem.penalty.rows(self.D * mean)
        white = u0.transpose(1, 0, 2).reshape(n, 1, P * d) @ self.Q_e
        white += (np.sqrt(self.kappa) * R1)[:, None, :] @ self.Q_norm
        white = white.reshape(n, P * d)
        drop = self.pairs.columns_adjoint(self.W, white)
        rhs = b.phi - drop[: P * n].reshape(P, n), b.L + (self.kappa * R1).sum(axis=0) - drop[P * n :], b.c
        return Forward(rhs, white, R1, mean)

    def backward(self, forward: Forward, dphi: Array, dL: Array, dc: Array) -> Variables:
        """Find the slopes that belong to (φ, L, c)."""
        problem, R1, mean = self.problem, forward.R1, forward.mean
        P, n, d = self.p_plus.shape
        white = forward.white - self.pairs.columns(self.W, np.concatenate([dphi.ravel(), dL]))
        u = np.matmul(self.R_inverse, white[:, :, None]).reshape(n, P, d).transpose(1, 0, 2)
        eta = self.kappa * (dL - R1 + problem.penalty.rows(self.zeta * u))
        half = 0.5 * self.D * (mean + eta)
        return Variables(dphi, half + self.p_plus * self.e * u, half - self.p_minus * self.e * u, dL, dc)

    def apply(self, x: Variables) -> Variables:
        """Multiply by the system: O(P n² d). A variable fixed at zero has zero here as well."""
        problem = self.problem
        df = 0.0 if self.psi is None else self.psi * problem.fit(x.phi, x.c)
        phi, g = self.pairs.adjoint(self.theta * self.pairs(x.phi, x.gp - x.gm))
        force = self.gamma * (x.L - problem.penalty.rows(x.gp + x.gm))
        free_p, free_m = self.p_plus > 0, self.p_minus > 0
        return Variables(
            phi + problem.signs[:, None] * df,
            np.where(free_p, g - force + x.gp / np.where(free_p, self.p_plus, 1.0), 0.0),
            np.where(free_m, -g - force + x.gm / np.where(free_m, self.p_minus, 1.0), 0.0),
            force.sum(axis=0),
            problem.X.T @ df + self.c_weight * x.c if problem.linear else np.zeros_like(x.c),
        )


def refined(once: Callable[[Variables], Variables], apply: Callable[[Variables], Variables], b: Variables) -> Variables:
    """Solve once, then use conjugate gradients on what rounding left over."""
    x = once(b)
    r = b.plus(-1.0, apply(x))
    best, smallest = x, r.largest()
    enough = ACCURACY * b.largest()
    direction, previous = None, 0.0
    for _ in range(REFINEMENTS):
        if smallest <= enough:
            break
        z = once(r)
        rz = r.dot(z)
        direction = z if direction is None else z.plus(rz / previous, direction)
        image = apply(direction)
        curvature = direction.dot(image)
        if not (rz > 0 and curvature > 0):
            break
        x, r, previous = x.plus(rz / curvature, direction), r.plus(-rz / curvature, image), rz
        if r.largest() < smallest:
            best, smallest = x, r.largest()
    return best


def regularised_cholesky(H: Array, size: Array) -> tuple[tuple[Array, bool], Array]:
    """Cholesky factor of H scaled to unit diagonal, and the scaling.

    `size` is the diagonal before anything was subtracted from it: rounding errors are relative to that, and so is the
    nudge that makes H positive definite where little is left of its diagonal.
    """
    at = np.arange(len(H))
    plain = H[at, at].copy()
    nudge = np.finfo(float).eps
    while True:
        diagonal = np.maximum(plain, 0.0) + nudge * size
        scaling = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = H * scaling[:, None]
        scaled *= scaling
        scaled[at, at] = 1.0 + nudge
        try:
            return cho_factor(scaled.T, lower=True, overwrite_a=True, check_finite=False), scaling
        except LinAlgError:
            nudge *= 100.0
            if not nudge < 1e-4:
                raise
