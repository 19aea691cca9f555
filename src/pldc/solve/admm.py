"""The quick engine: two-block ADMM on all pairs of points, stopped by the certificate.

Block one, one least-squares problem (`least_squares`): values φ, slopes g, linear term c. Block two, each in closed
form: the slacks of all pairs (`sweep`), copies q of the slopes that carry the penalty and the signs, copies e of the
fit at every observation that carry the loss (the squared loss needs none), and a copy of c where it has a sign.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.certificate import certify
from pldc.problem.program import Problem, Solution
from pldc.problem.repair import keep_sign
from pldc.problem.scaling import degree, normalise
from pldc.solve.least_squares import EqualWeights, InverseDistance, Rows
from pldc.solve.sweep import Sweep
from pldc.solve.workers import Workers

RELAX = 1.6
RHO, STIFF = 16.0, 0.1
RESETS = (10, 30, 80, 200, 500)  # iterations after which the penalty parameter follows the seminorm reached
LOSS_SCALE = 0.3


class Admm:
    """The iteration for one problem in numbers of order one: `step` makes it, `solution` reads it."""

    def __init__(self, problem: Problem, workers: Workers, weighted: bool = True, dtype: type = np.float64):
        self.problem = problem
        X = problem.X - problem.X.mean(axis=0)
        P, (n, d) = len(problem.signs), X.shape
        self.X = X
        self.rows: Rows
        if weighted:
            self.unit = 1.0
            self.rows = InverseDistance(X, STIFF * n / d, workers, dtype)
        else:
            self.unit = max(2.0 * float((X**2).sum()) / n, 1e-300)  # mean squared distance
            self.rows = EqualWeights(X, STIFF * n / d * self.unit)
        self.sweep = Sweep(X, P, workers, dtype)
        self.squared = not np.isfinite(problem.loss.up)
        self.phi, self.g = np.zeros((P, n)), np.zeros((P, n, d))
        self.q, self.q_dual = np.zeros((P, n, d)), np.zeros((P, n, d))
        self.c, self.c_copy, self.c_dual = np.zeros(d), np.zeros(d), np.zeros(d)
        self.e = np.full(len(problem.y), problem.null_fit)
        self.e_dual = np.zeros(len(problem.y))
        self.iterations = 0
        if True:
            steep = float(np.std(problem.y)) / max(float(np.abs(X).sum(axis=1).mean()), 1e-12)
            self.sweep.Phi[:] = 0.5 * steep * (X**2).sum(axis=1)
            self.sweep.G[:] = steep * X
        self.size = 2.0 * np.sqrt(d)
        self._set_rho()

    def _set_rho(self) -> None:
        problem, n = self.problem, len(self.X)
        self.rho = RHO * problem.lam / (n * self.size * self.unit)
        self.sigma = self.rho * self.rows.stiffness
        self.tau = problem.weight * (2.0 if self.squared else 1.0 / LOSS_SCALE)
        T = problem.at_nodes(self.tau) / self.rho
        P = len(problem.signs)
        self.T = T
        self.solve_fit = self.rows.solver(1.0 / P, T)
        self.solve_part = self.rows.solver(1.0, np.zeros(n)) if P > 1 else None
        if problem.linear:
            TX = T[:, None] * self.X
            inner = np.column_stack([self.solve_fit(column) for column in TX.T])
            self.c_weight = np.abs(problem.monotone) * float(T.mean()) * (self.X**2).mean(axis=0) * n
            A = self.X.T @ TX - TX.T @ inner + np.diag(self.c_weight)
            self.c_inverse = np.linalg.pinv(A, hermitian=True)

    def step(self) -> None:
        """One iteration."""
        problem, rows, signs = self.problem, self.rows, self.problem.signs
        target = problem.y if self.squared else self.e - self.e_dual
        # The least-squares step is taken from (Φ, G), where all targets of the rows are sparse.
        Phi, G = self.sweep.Phi, self.sweep.G
        t = problem.at_nodes(self.tau * target) / self.rho / self.T - signs @ Phi
        T = [rows.weigh(self.sweep.targets(p)) for p in range(len(signs))]
        theta = [rows.theta(T[p], self.q[p] - self.q_dual[p] - G[p]) for p in range(len(signs))]
        h = np.array([rows.rhs(T[p], theta[p]) for p in range(len(signs))])
        fit = self.solve_fit(signs @ h / len(signs) + self.T * t)
        if problem.linear:
            pull = self.X.T @ (self.T * (t - fit)) + self.c_weight * (self.c_copy - self.c_dual)
            self.c = self.c_inverse @ pull
            fit = fit - self.solve_fit(self.T * (self.X @ self.c))
        if self.solve_part is None:
            change = signs[:, None] * fit
        else:
            # The loss sees only the difference of the parts: their sum has a system of its own.
            change = 0.5 * (self.solve_part(h.sum(axis=0)) + signs[:, None] * fit)
        self.phi = Phi + change
        self.g = G + np.array([rows.slopes(change[p], theta[p]) for p in range(len(signs))])
        self.sweep.advance(self.phi, self.g, RELAX)

        mixed = RELAX * self.g + (1.0 - RELAX) * self.q + self.q_dual
        self.q = problem.penalty.prox(keep_sign(mixed, problem.slope_sign), problem.lam / self.sigma, problem.penalty.bounds(self.q))
        self.q_dual = mixed - self.q
        if not self.squared:
            f = (signs @ self.phi + self.X @ self.c)[problem.node]
            mixed = RELAX * f + (1.0 - RELAX) * self.e + self.e_dual
            self.e = problem.y + problem.loss.prox(mixed - problem.y, problem.weight / self.tau)
            self.e_dual = mixed - self.e
        if problem.linear:
            mixed = RELAX * self.c + (1.0 - RELAX) * self.c_copy + self.c_dual
            self.c_copy = keep_sign(mixed, problem.monotone)
            self.c_dual = mixed - self.c_copy
        self.iterations += 1
        if self.iterations in RESETS:
            size = problem.penalty.value(self.q)
            if size > 0 and not 1 / 1.3 < size / self.size < 1.3:
                old = self.rho
                self.size = size
                self._set_rho()
                self.sweep.scale_multipliers(old / self.rho)
                self.q_dual *= old / self.rho

    def solution(self) -> Solution:
        """The iterate, with its multipliers."""
        values = self.phi.copy()
        values[0] -= self.problem.signs[0] * (self.problem.X.mean(axis=0) @ self.c)
        return Solution(
            values=values,
            slopes=self.q,
            linear=self.c,
            multipliers=[self.rho * self.rows.weigh(self.sweep.multipliers(p)) for p in range(len(self.phi))],
        )
