"""The accurate engine: the interior point on a growing set of pairs of points, stopped by the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.problem.certificate import Certificate, bracket, certify
from pldc.problem.program import Problem, Solution
from pldc.problem.scaling import degree, normalise
from pldc.solve.admm import Admm
from pldc.solve.coarsen import clusters, coarsen, refine
from pldc.solve.interior_point import InteriorPoint
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.workers import Workers
from pldc.solve.working_set import first_rows

Monitor = Callable[[dict[str, float]], None]

PATIENCE = 30  # iterations in which the gap, or the centring parameter, must fall by a tenth
EXHAUSTED = 1e-3  # share of the asked gap below which the interior point's own gap cannot help the certificate
RADII = (1e-6, 0.0, 1e-5)  # in scaled numbers: near-duplicates merged, then as they are, then merged more widely
ALL_PAIRS = 100  # points up to which all pairs are held
QUICK_ITERATIONS = 60  # of the quick engine, to find the first working set
CLOSE, RARELY = 3.0, 5  # certify once the interior point's own gap is within CLOSE · tol; before, one iteration in five
LARGEST_LAM = 1e6  # in scaled numbers; the answer is a constant (or linear) function long before

STATUS = {
    "optimal": "the asked gap is certified",
    "stalled": "rounding stopped the interior point; a larger tol, a larger lam or standardised data would help",
    "max_iter": "max_iter iterations were not enough; raise max_iter",
}


@dataclass(frozen=True)
class ExactSolver:
    """Solve the program to a certified relative gap.

    Parameters
    ----------
    tol : float, default=1e-6
        Certified relative gap to reach.
    max_iter : int, default=200
    threads : int or None
        None: as many as the BLAS would use.
    """

    tol: float = 1e-6
    max_iter: int = 200
    threads: int | None = None

    def solve(self, problem: Problem, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution with its multipliers; `status` says whether the gap was reached.

        Parameters
        ----------
        problem : Problem
        monitor : callable, optional
            Called once an iteration with a dict: iteration, upper, lower, gap, seconds; bounds are in the units of the
            objective of `problem`.
        """
        scaled, scaling = normalise(problem)
        run = _Run(scaled, self, scaling.y_size ** degree(problem), monitor)
        with Workers(self.threads) as workers:
            for radius in RADII:
                if run.status == "optimal":
                    break
                rep = clusters(scaled, radius)
                if radius == 0.0:
                    run.descend(scaled, workers)
                elif (rep != np.arange(len(rep))).any():
                    run.descend(coarsen(scaled, rep), workers, rep)
        solution = scaling.restore(problem, run.best.solution)
        return replace(solution, status=run.status, iterations=len(run.history), history=run.history)


class _Run:
    """The best bounds so far, the history, and when to stop."""

    def __init__(self, problem: Problem, settings: ExactSolver, unit: float, monitor: Monitor | None):
        self.problem, self.settings, self.unit, self.monitor = problem, settings, unit, monitor
        self.history: list[dict[str, float]] = []
        self.began = time.perf_counter()
        self.best = certify(problem, affine_fit(problem))
        self.status = "optimal" if self.best.gap <= settings.tol else "max_iter"

    def descend(self, target: Problem, workers: Workers, rep: IntArray | None = None) -> None:
        """Run the interior point on the problem, or on its `target` with points merged into representatives `rep`."""
        self.status = "max_iter"
        method = self._start(replace(target, lam=min(target.lam, LARGEST_LAM)), workers)
        gap_mark, mu_mark, since, first = np.inf, np.inf, 0, True
        while self.status == "max_iter" and len(self.history) < self.settings.max_iter:
            if not first and not method.step():
                self.status = "stalled"
                break
            complete = first or not method.hold_violated()
            first = False
            own_gap = method.mu * method.count / self.best.upper
            if own_gap <= CLOSE * self.settings.tol or len(self.history) % RARELY == 0:
                self._certify(method, target, rep)
            since += 1
            if self.best.gap < 0.9 * gap_mark or method.mu < 0.9 * mu_mark:
                gap_mark, mu_mark, since = min(gap_mark, self.best.gap), min(mu_mark, method.mu), 0
            self._record()
            exhausted = complete and own_gap < EXHAUSTED * self.settings.tol
            if self.status != "optimal" and (exhausted or since >= PATIENCE):
                self._certify(method, target, rep)
                self.status = "optimal" if self.best.gap <= self.settings.tol else "stalled"

    def _start(self, target: Problem, workers: Workers) -> InteriorPoint:
        """Hold all pairs of a small problem; else those that a short run of the quick engine points to."""
        if len(target.X) <= ALL_PAIRS:
            return InteriorPoint(target, workers, AllPairs(target.X, len(target.signs)))
        quick = Admm(target, workers)
        for _ in range(QUICK_ITERATIONS):
            quick.step()
        solution = quick.solution()
        self.best = tighter(self.problem, self.best, certify(self.problem, solution)) if target is self.problem else self.best
        return InteriorPoint(target, workers, WorkingSet(target.X, first_rows(target, solution, workers)))

    def _certify(self, method: InteriorPoint, target: Problem, rep: IntArray | None) -> None:
        iterate = method.solution()
        if rep is not None:
            iterate = refine(self.problem, rep, target, iterate)
        self.best = tighter(self.problem, self.best, certify(self.problem, iterate))
        if self.best.gap <= self.settings.tol:
            self.status = "optimal"

    def _record(self) -> None:
        row = {
            "iteration": len(self.history),
            "upper": self.unit * self.best.upper,
            "lower": self.unit * self.best.lower,
            "gap": self.best.gap,
            "seconds": time.perf_counter() - self.began,
        }
        self.history.append(row)
        if self.monitor is not None:
            self.monitor(row)


def tighter(problem: Problem, a: Certificate, b: Certificate) -> Certificate:
    """Combine two certificates of one problem: the lower upper bound and the higher lower bound."""
    up = b if b.upper < a.upper else a
    low = b if b.lower > a.lower else a
    solution = replace(up.solution, multipliers=low.solution.multipliers)
    return bracket(problem, up.upper, low.lower, solution)


def affine_fit(problem: Problem) -> Solution:
    """Return the best constant, or the least-squares affine fit where a linear term is free.

    Its multipliers prove the constant optimal if λ is large enough; an exact affine fit needs no proof.
    """
    P, (n, d) = len(problem.signs), problem.X.shape
    values, linear = np.zeros((P, n)), np.zeros(d)
    values[0] = problem.signs[0] * problem.null_fit
    if problem.linear:
        root = np.sqrt(problem.weight)
        design = np.column_stack([np.ones(len(problem.y)), problem.X[problem.node]])
        intercept, *linear = np.linalg.lstsq(root[:, None] * design, root * problem.y, rcond=None)[0]
        values[0] = problem.signs[0] * intercept
    fit = problem.fit(values, np.asarray(linear))[problem.node]
    omega = problem.at_nodes(problem.weight * problem.loss.derivative(fit - problem.y))
    omega -= omega.mean()
    flows = np.array([flow(sign * omega) for sign in problem.signs])
    return Solution(values=values, slopes=np.zeros((P, n, d)), linear=np.asarray(linear), multipliers=flows)


def flow(demand: Array) -> Array:
    """Return a flow μ ≥ 0 [j, i] with divergence `demand`, which sums to zero."""
    plus, minus = np.maximum(demand, 0.0), np.maximum(-demand, 0.0)
    return np.outer(minus, plus / plus.sum()) if plus.sum() > 0 else np.zeros((len(demand), len(demand)))
