"""The accurate engine: the interior point on a growing set of pairs of points, stopped by the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.sparse import csr_array

from pldc.function.max_affine import IntArray
from pldc.problem.losses import Loss
from pldc.problem.program import Problem, Solution
from pldc.solve.admm import WEIGHTED_POINTS, AdmmIteration
from pldc.solve.coarsen import clusters, coarsen, refine
from pldc.solve.interior_point import InteriorPoint
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.run import Monitor, Run, bounded
from pldc.solve.workers import Workers
from pldc.solve.working_set import first_rows, pulled_back

PATIENCE = 30  # iterations in which the gap, or the centring parameter, must fall by a tenth
EXHAUSTED = 1e-7  # share of the asked gap below which the interior point's own gap cannot help the certificate
RADII = (1e-6, 0.0, 1e-5)  # in scaled numbers: near-duplicates merged, then as they are, then merged more widely
ALL_PAIRS = 100  # points up to which all pairs are held
SLOTS = 120  # rows that the fullest point holds in a part: 40 to 60 in most solves, more where points cluster
# Iterations of the quick engine, to find the first working set; beyond so many points, n / 5.
QUICK_ITERATIONS, MANY_POINTS = 15, 500
FAR_GAP, MORE_ITERATIONS = 1e-2, 500  # a gap that the quick engine may better, in so many iterations
ALL_CERTIFIED_POINTS = 150  # points up to which every iterate is certified: the best bound may be that of any of them
# Beyond: one in so many, and those whose own gap is below so many times tol, a small one, or a tenth of the last one.
CERTIFY_EVERY, CLOSE_TIMES_TOL, SMALL_GAP = 5, 3.0, 1e-5


@dataclass(frozen=True)
class Exact:
    """Solve the program to a certified relative gap.

    Parameters
    ----------
    tol : float, default=1e-4
        Certified relative gap to reach.
    max_iter : int, default=200
    threads : int or None
        None: as many as the BLAS would use.
    """

    name: ClassVar[str] = "exact"
    realistic_tol: ClassVar[float] = 0.0
    tol: float = 1e-4
    max_iter: int = 200
    threads: int | None = None

    def refuses(self, problem: Problem) -> str | None:
        """Return why it cannot answer the problem."""
        return without_box_form(problem.loss, self.name)

    def memory(self, problem: Problem) -> float:
        """Estimate the bytes that it will need at its peak."""
        m, (n, d) = problem.outputs, problem.X.shape
        P = len(problem.signs) // m
        q = d if problem.penalty.name == "componentwise" else 1
        scores = 0.0 if m == 1 else 3.0 * (m * n) ** 2
        if n <= ALL_PAIRS:
            return 8.0 * (m * n * P * d * (P * n + q) * 3 + scores)
        C = P * SLOTS + q
        return 8.0 * (m * (5 * (P * n + q) ** 2 + 2 * P * n * n / 8 + n * (C * C + 4 * P * d * C)) + scores)

    def solve(self, problem: Problem, start: Solution | None = None, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution; see :class:`pldc.solve.Solver`. Flows of `start` show which pairs matter."""
        run = Run(problem, self.tol, self.max_iter, monitor)
        hint = None if start is None else run.scaling.reduce(problem, start)
        with Workers(self.threads) as workers, run.interruptible():
            for radius in RADII if problem.outputs == 1 else (0.0,):
                if run.status not in ("running", "stalled"):
                    break
                rep = clusters(run.problem, radius)
                if radius == 0.0:
                    descend(run, run.problem, workers, hint=hint)
                elif (rep != np.arange(len(rep))).any():
                    descend(run, coarsen(run.problem, rep), workers, rep)
            if run.status == "stalled" and run.best.gap > FAR_GAP:
                try_quick_iterations(run, workers)
        return run.solution()


def without_box_form(loss: Loss, solver: str) -> str | None:
    """Return why interior points cannot use a loss."""
    reason = f"The {loss.name} loss has no form that solver={solver!r} can use: take solver='admm' or 'auto'."
    return None if loss.boxed else reason


def descend(
    run: Run, target: Problem, workers: Workers, rep: IntArray | None = None, hint: Solution | None = None
) -> None:
    """Run the interior point on the problem, or on its `target` with points merged into representatives `rep`."""
    method = first_iterate(bounded(target), workers, hint)
    step_to_gap(run, target, method, rep)
    if run.status == "stalled" and isinstance(method.pairs, WorkingSet):
        # Rows that come in when μ is tiny may block every step: once more, with these rows from the start.
        step_to_gap(run, target, InteriorPoint(method.problem, workers, method.pairs), rep)


def step_to_gap(run: Run, target: Problem, method: InteriorPoint, rep: IntArray | None) -> None:
    """Step until the gap is reached, or nothing is gained any more."""
    run.status = "running"
    inner = method.solution()

    def current() -> Solution:
        return inner if rep is None else refine(run.problem, rep, target, inner)

    run.latest = current
    gap_mark, mu_mark, since, feasible, gap_then = np.inf, np.inf, 0, True, 0.0
    while run.status == "running":
        own_gap = method.mu * method.count / run.best.upper
        if (
            len(target.X) <= ALL_CERTIFIED_POINTS
            or own_gap <= max(CLOSE_TIMES_TOL * run.tol, SMALL_GAP, 0.1 * gap_then)
            or len(run.history) % CERTIFY_EVERY == 0
        ):
            run.offer(current())
            gap_then = own_gap
        run.record()
        since += 1
        if run.best.gap < 0.9 * gap_mark or method.mu < 0.9 * mu_mark:
            gap_mark, mu_mark, since = min(gap_mark, run.best.gap), min(mu_mark, method.mu), 0
        exhausted = feasible and own_gap < EXHAUSTED * run.tol
        if run.status == "running" and (exhausted or since >= PATIENCE or not method.step()):
            run.status = "stalled"
        if run.status == "running":
            iterate = method.solution()  # before new rows come in, whose multipliers are guesses
            method.hold_violated()
            inner = pulled_back(target, inner, iterate, method.workers)
            feasible = inner is iterate
    if run.status == "stalled":
        run.offer(current())
        run.latest = None


def try_quick_iterations(run: Run, workers: Workers) -> None:
    """Try the quick engine, from its own start, where rounding stopped the interior point far from the optimum.

    It is asked, certified and recorded ten times in all.
    """
    run.status = "running"
    try:
        quick = AdmmIteration(bounded(run.problem), workers, len(run.problem.X) <= WEIGHTED_POINTS)
        run.latest = quick.solution
        while run.status == "running" and quick.iterations < MORE_ITERATIONS:
            for _ in range(MORE_ITERATIONS // 10):
                quick.step()
            run.offer(quick.solution())
            run.record()
    except LinAlgError:
        run.latest = None
    if run.status == "running":
        run.status = "stalled"


def first_iterate(target: Problem, workers: Workers, hint: Solution | None) -> InteriorPoint:
    """Hold all pairs of a small problem; else those that the hint, or a short run of the quick engine, points to."""
    if len(target.X) <= ALL_PAIRS:
        return InteriorPoint(target, workers, AllPairs(target.X, len(target.signs)))
    if hint is None:
        hint = quick_guess(target, workers)
    return InteriorPoint(target, workers, WorkingSet(target.X, first_rows(target, hint, workers)))


def quick_guess(target: Problem, workers: Workers) -> Solution:
    """Run the quick engine for a moment; where its linear algebra fails, a paraboloid without multipliers stands in."""
    try:
        quick = AdmmIteration(target, workers)
        n = len(target.X)
        for _ in range(QUICK_ITERATIONS if n <= MANY_POINTS else n // 5):
            quick.step()
        return quick.solution()
    except LinAlgError:
        P, (n, d) = len(target.signs), target.X.shape
        values, slopes = 0.5 * (target.X**2).sum(axis=1), target.X
        nothing = [csr_array((n, n)) for _ in range(P)]
        linear = np.zeros(d) if target.outputs == 1 else np.zeros((target.outputs, d))
        return Solution(np.tile(values, (P, 1)), np.tile(slopes, (P, 1, 1)), linear, nothing)
