"""The quick engine: two-block ADMM on all pairs of points, stopped by the certificate.

Block one, one least-squares problem (`least_squares`): values φ, slopes g, linear term c. Block two, each in closed
form: the slacks of all pairs (`sweep`), copies q of the slopes that carry the penalty and the signs, copies e of the
fit at every observation that carry the loss (the squared loss needs none), and a copy of c where it has a sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.sparse import csr_array

from pldc.problem.program import Problem, Solution
from pldc.problem.repair import keep_sign
from pldc.problem.scaling import normalise
from pldc.solve.least_squares import EqualWeights, InverseDistance, Rows
from pldc.solve.run import LARGEST_LAM, Monitor, Run, bounded
from pldc.solve.sweep import make_sweep
from pldc.solve.workers import Workers

RELAX = 1.6
RHO = 16.0  # penalty parameter of the rows, in units of λ / (n L)
STIFFNESS = 0.1  # that of the slopes, relative to the rows' own pull on them
RESETS = (10, 30, 80, 200, 500)  # iterations after which the penalty parameter follows the seminorm reached
LEAST_SPREAD = 0.1  # of scores: the penalty parameter of the loss follows it
WEIGHTED_POINTS = 3000  # up to which rows are weighted: it needs four n × n arrays
FIRST_CHECK, SPACING = 50, 1.25  # certify after so many iterations, then whenever they have grown by this factor


@dataclass(frozen=True)
class Admm:
    """Approach the optimum quickly; a certified gap of 1e-2 is realistic.

    Parameters
    ----------
    tol : float, default=1e-2
        Certified relative gap to reach.
    max_iter : int, default=2000
    threads : int or None
        None: as many as the BLAS would use.
    weighted : bool or None
        Weigh the row of a pair by one over its squared distance: fewer iterations, each dearer, and four n × n
        arrays where otherwise there is none. None: up to 3000 points.
    dtype : {"float64", "float32"}
        For the pass over all pairs.
    device : str or None
        A torch device for that pass, such as "cuda"; None for NumPy.
    """

    name: ClassVar[str] = "admm"
    realistic_tol: ClassVar[float] = 1e-2
    rough_points: ClassVar[int] = 0
    tol: float = 1e-2
    max_iter: int = 2000
    threads: int | None = None
    weighted: bool | None = None
    dtype: str = "float64"
    device: str | None = None

    def refuses(self, problem: Problem) -> str | None:
        """It answers all problems."""
        return None

    def memory(self, problem: Problem) -> float:
        """Estimate the bytes that it will need at its peak."""
        n, d = problem.X.shape
        dense = 8 * n * n if n <= WEIGHTED_POINTS else n * n / 4  # the latter: sparse multipliers, many at the start
        return 8.0 * (dense + 4 * n * d * d)

    def rough_path(
        self, problem: Problem, lams: Sequence[float], iterations: Sequence[int], start: Solution | None = None
    ) -> Iterator[Solution]:
        """Give rough solutions for each λ in turn, by so many iterations, each from where the last one ended."""
        scaled, scaling = normalise(problem)
        unit = scaled.lam / problem.lam
        hint = None if start is None else scaling.reduce(problem, start)
        with Workers(self.threads) as workers:
            method: AdmmIteration | None = None
            for lam, count in zip(lams, iterations, strict=True):
                scaled_lam = min(unit * lam, LARGEST_LAM)
                if method is None:
                    method = AdmmIteration(replace(scaled, lam=scaled_lam), workers, start=hint)
                else:
                    method.change_lam(scaled_lam)
                for _ in range(count):
                    method.step()
                yield scaling.restore(problem, method.solution())

    def solve(self, problem: Problem, start: Solution | None = None, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution with its multipliers; see :class:`pldc.solve.Solver`."""
        run = Run(problem, self.tol, self.max_iter, monitor)
        hint = None if start is None else run.scaling.reduce(problem, start)
        weighted = len(problem.X) <= WEIGHTED_POINTS if self.weighted is None else self.weighted
        with Workers(self.threads) as workers, run.interruptible():
            try:
                if run.status == "running":
                    method = AdmmIteration(bounded(run.problem), workers, weighted, self.dtype, self.device, hint)
                    check, run.latest = FIRST_CHECK, method.solution
                while run.status == "running":
                    method.step()
                    if method.iterations == check:
                        run.offer(method.solution())
                        check = max(check + FIRST_CHECK, int(SPACING * check))
                    run.record()
            except LinAlgError:
                run.status = "stalled"
        return run.solution()


class AdmmIteration:
    """The iteration for one problem in numbers of order one: `step` makes it, `solution` reads it.

    Parameters
    ----------
    problem : Problem
    workers : Workers
    weighted, dtype, device
        As for :class:`Admm`.
    start : Solution, optional
    """

    def __init__(
        self,
        problem: Problem,
        workers: Workers,
        weighted: bool = True,
        dtype: Any = np.float64,
        device: str | None = None,
        start: Solution | None = None,
    ):
        self.problem = problem
        self.X = X = problem.X - problem.X.mean(axis=0)
        P, (n, d) = len(problem.signs), X.shape
        self.rows: Rows
        if weighted:
            self.unit = 1.0
            self.rows = InverseDistance(X, STIFFNESS * n / d, workers)
        else:
            self.unit = max(2.0 * float((X**2).sum()) / n, np.finfo(float).tiny)  # mean squared distance
            self.rows = EqualWeights(X, STIFFNESS * n / d * self.unit)
        self.sweep = make_sweep(X, P, workers, dtype, device)
        self.squared = problem.loss.quadratic
        spread = problem.spread if problem.loss.scales else LEAST_SPREAD
        self.tau = problem.weight / problem.loss.residual_unit(problem.y, spread)
        self.iterations = 0
        self.size = 2.0 * np.sqrt(d)
        several = () if problem.outputs == 1 else (problem.outputs,)
        self.c, self.c_dual = np.zeros((*several, d)), np.zeros(d)
        self.q_dual = np.zeros((P, n, d))
        self.e_dual = np.zeros((*several, len(problem.y)))
        if start is None:
            # A paraboloid in each part: strictly convex, so that few rows have a multiplier at first.
            steep = problem.spread / max(float(np.abs(X).sum(axis=1).mean()), np.finfo(float).tiny)
            self.phi, self.g = np.tile(0.5 * steep * (X**2).sum(axis=1), (P, 1)), np.tile(steep * X, (P, 1, 1))
            self.q = np.zeros((P, n, d))
            self.e = np.multiply.outer(problem.null_fit, np.ones(len(problem.y)))
            self._set_rho()
            self.sweep.Phi, self.sweep.G = self.phi, self.g
        else:
            self._warm(start)
        self.c_copy = self.c

    def _warm(self, start: Solution) -> None:
        """Start where another problem on the same points ended: its multipliers are those of all copies, too."""
        problem = self.problem
        self.c = start.linear
        self.phi, self.g = start.values.copy(), start.slopes
        self.phi[0] += problem.signs[0] * float(np.sum(start.linear @ problem.X.mean(axis=0)))
        self.q = self.g
        self.size = problem.penalty.value(self.q) or self.size
        self._set_rho()
        self.sweep.Phi, self.sweep.G = self.phi, self.g
        self.e = problem.fit(start.values, start.linear)[..., problem.node]
        div = np.zeros(self.phi.shape)  # the derivative of the loss, which every flow has as its divergence
        for p, mu in enumerate(start.multipliers or []):
            flow = csr_array(mu)
            flow.sum_duplicates()
            div[p] = np.asarray(flow.sum(axis=0) - flow.sum(axis=1))
            self.q_dual[p] = (np.asarray(flow.sum(axis=1))[:, None] * self.X - flow @ self.X) / self.sigma
            flow.data = -np.maximum(flow.data, 0.0)
            self.sweep.restart(p, self.rows.weigh(flow, inverse=True) / self.rho)
        omega = problem.by_output(div) * (problem.outputs / len(problem.signs))
        self.e_dual = (problem.loss.split(problem, omega) if start.dual is None else start.dual) / self.tau
        if problem.linear:
            self.c_dual = np.where(problem.monotone == 0, 0.0, -(omega @ self.X) / (self.rho * self.c_weight + 1e-300))

    def _set_rho(self) -> None:
        """Set the penalty parameter for the seminorm reached, and factor what depends on it."""
        problem, n = self.problem, len(self.X)
        P = len(problem.signs) // problem.outputs
        self.rho = RHO * problem.lam / (n * self.size * self.unit)
        self.sigma = self.rho * self.rows.stiffness
        self.T = problem.at_nodes(self.tau) / self.rho
        self.solve_fit = self.rows.solver(1.0 / P, self.T)
        self.solve_part = self.rows.solver(1.0, np.zeros(n)) if P > 1 else None
        if problem.linear:
            TX = self.T[:, None] * self.X
            inner = np.column_stack([self.solve_fit(column) for column in TX.T])
            self.c_weight = np.abs(problem.monotone) * float(self.T.sum()) * (self.X**2).mean(axis=0)
            self.c_inverse = np.linalg.pinv(self.X.T @ TX - TX.T @ inner + np.diag(self.c_weight), hermitian=True)

    def step(self) -> None:
        """One iteration."""
        problem = self.problem
        self._least_squares()
        self.sweep.advance(self.phi, self.g, RELAX)

        mixed = RELAX * self.g + (1.0 - RELAX) * self.q + self.q_dual
        near = problem.penalty.bounds(self.q)
        self.q = problem.penalty.prox(keep_sign(mixed, problem.slope_sign), problem.lam / self.sigma, near)
        self.q_dual = mixed - self.q
        if not self.squared:
            fit = (problem.by_output(self.phi) + self.c @ self.X.T)[..., problem.node]
            mixed = RELAX * fit + (1.0 - RELAX) * self.e + self.e_dual
            self.e = problem.loss.prox(mixed, problem.y, problem.weight / self.tau, self.e)
            self.e_dual = mixed - self.e
        if problem.linear:
            mixed = RELAX * self.c + (1.0 - RELAX) * self.c_copy + self.c_dual
            self.c_copy = keep_sign(mixed, problem.monotone)
            self.c_dual = mixed - self.c_copy
        self.iterations += 1
        if self.iterations in RESETS:
            self._follow_seminorm()

    def _least_squares(self) -> None:
        """Block one, as a change from (Φ, G): the targets of all rows are sparse then."""
        problem, rows = self.problem, self.rows
        P, Phi, G = len(problem.signs), self.sweep.Phi, self.sweep.G
        each = P // problem.outputs
        target = problem.y if self.squared else self.e - self.e_dual
        t = problem.at_nodes(self.tau * target) / self.rho / self.T - problem.by_output(Phi)
        theta, flow = rows.theta(self.sweep.targets(), self.q - self.q_dual - G)
        h = rows.rhs(flow, theta)
        fit = self.solve_fit((problem.by_output(h) / each + self.T * t).T).T
        if problem.linear:
            pull = self.X.T @ (self.T * (t - fit)) + self.c_weight * (self.c_copy - self.c_dual)
            self.c = self.c_inverse @ pull
            fit = fit - self.solve_fit(self.T * (self.X @ self.c))
        if self.solve_part is None:
            change = problem.to_parts(fit)
        else:  # the loss sees only the difference of the parts: their sum has a system of its own
            total = self.solve_part(h.reshape(problem.outputs, each, -1).sum(axis=1).T).T
            change = 0.5 * (np.repeat(total, each, axis=0) + problem.to_parts(fit))
        self.phi = Phi + change
        self.g = G + rows.slopes(change, theta)

    def change_lam(self, lam: float) -> None:
        """Go on with another λ from here: what does not depend on it is kept; the flows, whose norm λ is, follow it."""
        ratio = lam / self.problem.lam
        self.problem = replace(self.problem, lam=lam)
        self.iterations = 0
        self._change_rho(self.problem.penalty.value(self.q) or self.size, ratio)

    def _follow_seminorm(self) -> None:
        size = self.problem.penalty.value(self.q)
        if size > 0 and not 1 / 1.3 < size / self.size < 1.3:
            self._change_rho(size)

    def _change_rho(self, size: float, ratio: float = 1.0) -> None:
        """Set the penalty parameter for the seminorm `size`, and multiply all flows by `ratio`."""
        old, self.size = self.rho, size
        if not self.problem.loss.scales:  # scores have no scale but that which λ leaves them
            scores = self.problem.by_output(self.phi)
            spread = max(float(np.sqrt(scores.var(axis=1).mean())), LEAST_SPREAD)
            tau = self.problem.weight / self.problem.loss.residual_unit(self.problem.y, spread)
            self.e_dual, self.tau = self.e_dual * (self.tau / tau), tau
        self._set_rho()
        self.sweep.scale_multipliers(ratio * old / self.rho)
        self.q_dual = self.q_dual * (ratio * old / self.rho)

    def solution(self) -> Solution:
        """Return the iterate, with its multipliers."""
        problem = self.problem
        values = self.phi.copy()
        values[0] -= problem.signs[0] * float(np.sum(self.c @ problem.X.mean(axis=0)))
        flows = [self.rho * self.rows.weigh(self.sweep.multipliers(p)) for p in range(len(values))]
        dual = None if problem.outputs == 1 else self.e_dual * self.tau
        return Solution(values=values, slopes=self.q, linear=self.c, multipliers=flows, dual=dual)
