"""What a solver is, and what it says before any work."""

from __future__ import annotations

from typing import Protocol

from pldc.problem.program import Problem, Solution
from pldc.solve.run import Monitor


class Solver(Protocol):
    """A frozen record of settings that answers problems. A new one is a file of its own, and an entry in `SOLVERS`.

    `tol` is the certified relative gap to reach; `threads` None means as many as the BLAS would use.
    """

    @property
    def name(self) -> str:
        """By which users call it."""

    @property
    def tol(self) -> float:
        """Certified relative gap to reach."""

    @property
    def threads(self) -> int | None:
        """How many it may use."""

    def refuses(self, problem: Problem) -> str | None:
        """Return why it cannot answer the problem, and what can; None if it can."""

    def memory(self, problem: Problem) -> float:
        """Estimate the bytes that it will need at its peak."""

    def solve(self, problem: Problem, start: Solution | None = None, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution with its multipliers; `status` says whether the gap was reached.

        Parameters
        ----------
        problem : Problem
        start : Solution, optional
            Of a similar problem on the same points (another λ, say), with its multipliers.
        monitor : callable, optional
            Called once an iteration with a dict: iteration, upper, lower, gap, seconds; bounds are in the units of the
            objective of `problem`. The solve stops, with the best solution so far, if it returns a true value.
        """
