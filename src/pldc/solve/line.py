"""One feature: the program in time and memory linear in the number of points.

On a line only neighbours constrain each other. With S_k the slope of f between points k and k + 1, and σ_k a slope at
point k, both parts can be eliminated: |a| + |b| = max(|a − b|, |a + b|), and two increasing sequences with difference S
and sum T are an increasing T with |ΔS| ≤ ΔT. So

    seminorm = max( ½ variation of (σ_1, S_1, σ_2, S_2, …, σ_n),  max_k |σ_k| ),

where a free linear term makes the second entry void (the first is half the total variation of f': the L1 spline), and a
convex f, whose slopes increase, makes the first one void, or half of σ_n − σ_1 beside a free linear term.

Bends are needed at few points. The program is solved with bends at some points only, the knots, by an interior point
whose sparse system has a band of fixed width and one dense row; data between knots enter through the interpolation
there. The multipliers of the whole chain follow from the residuals by sums: where they leave their bounds, a knot is
missing. Rounds of new knots end with the certificate of the whole program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pldc.problem.program import Problem, Solution
from pldc.solve.exact import Exact, without_box_form
from pldc.solve.one_feature import OneFeatureProgram
from pldc.solve.run import Monitor, Run, bounded

FIRST_KNOTS = 200
MOST_KNOTS = 20_000
# Points up to which the accurate engine takes over where near-duplicates, or many scales, stop this one.
EXACT_INSTEAD_POINTS = 3000
OWN_GAP = 1e-2  # of the interior point on the knots, as a share of the asked one
EARLY = 3e-3  # the same, as a share of the gap so far: while knots are missing, more is not worth it
ROUGH_GAP = 1e-2
STRAIGHT = 1e-5  # bends below this share of the largest may be left out


@dataclass(frozen=True)
class Line:
    """Solve the program in one dimension to a certified relative gap.

    Parameters
    ----------
    tol : float, default=1e-4
        Certified relative gap to reach.
    max_iter : int, default=500
        Iterations over all rounds.
    threads : int or None
        It uses one.
    """

    name: ClassVar[str] = "line"
    realistic_tol: ClassVar[float] = 0.0
    rough_points: ClassVar[int] = 300
    tol: float = 1e-4
    max_iter: int = 500
    threads: int | None = None

    def refuses(self, problem: Problem) -> str | None:
        """Return why it cannot answer the problem."""
        if problem.X.shape[1] != 1 or problem.outputs > 1 or problem.monotone.any():
            return "solver='line' is for a regression on one feature without monotone."
        if not (np.diff(problem.X[:, 0]) > 0).all():
            return "solver='line' wants the points in increasing order."
        return without_box_form(problem.loss, "line")

    def memory(self, problem: Problem) -> float:
        """Estimate the bytes that it will need at its peak."""
        return 2000.0 * len(problem.X)

    def rough_path(
        self, problem: Problem, lams: Sequence[float], iterations: Sequence[int], start: Solution | None = None
    ) -> Iterator[Solution]:
        """Solve for each λ, to a coarse gap: no iteration of the quick engine is needed, nor a start."""
        for lam in lams:
            yield replace(self, tol=ROUGH_GAP).solve(replace(problem, lam=lam))

    def solve(self, problem: Problem, start: Solution | None = None, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution with its multipliers; `start` is not needed. See :class:`Exact`."""
        run = Run(problem, self.tol, self.max_iter, monitor)
        target = bounded(run.problem)
        with run.interruptible():
            if run.status == "running" and len(target.X) > 1:
                _refine(run, target)
        if run.status == "running":
            run.status = "stalled"
        if run.status == "stalled" and len(problem.X) <= EXACT_INSTEAD_POINTS:
            return Exact(tol=self.tol).solve(problem, monitor=monitor)
        return run.solution()


def _refine(run: Run, target: Problem) -> None:
    """Solve on knots, add those that are missing, and so on."""
    n = len(target.X)
    knots = np.unique(np.linspace(0, n - 1, min(n, FIRST_KNOTS)).astype(np.intp))
    chain, least = OneFeatureProgram(target, knots), OWN_GAP * run.tol
    accuracy = max(least, EARLY)
    while _advance(run, chain, accuracy):
        more = np.union1d(chain.knots, chain.missing())
        if len(chain.knots) < len(more) <= MOST_KNOTS:
            chain, accuracy = OneFeatureProgram(target, more), max(least, EARLY * run.best.gap)
        elif accuracy > least:
            accuracy = least  # no knot is missing: go on with these
        else:
            return
    few = chain.bends(STRAIGHT)
    if run.status == "optimal" and len(few) < len(chain.knots):
        lean = OneFeatureProgram(target, few)
        for _ in lean.steps(least):
            pass
        run.prefer(lean.solution())


def _advance(run: Run, chain: OneFeatureProgram, accuracy: float) -> bool:
    """Step to the wanted accuracy on these knots, and certify; False when that ends the solve."""
    run.latest = chain.solution
    for _ in chain.steps(accuracy):
        run.record()
        if run.status != "running":
            return False
    run.offer(chain.solution())
    run.record()
    return run.status == "running"
