"""What a solver is, and what it says before any work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from pldc.problem.program import Problem, Solution
from pldc.solve.run import Monitor


class Solver(Protocol):
    """A frozen record of settings that answers problems. A new one is a file of its own, and an entry in `SOLVERS`.

    `tol` is the certified relative gap to reach; `threads` None means as many as the BLAS would use. It should be a
    frozen dataclass, so that users can type, compare and print it, and so that threads can be handed to it.
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

    @property
    def realistic_tol(self) -> float:
        """Below this gap it makes little progress; 0 if it makes any."""

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


class RoughSolver(Solver, Protocol):
    """A solver that also offers rough solutions, for cross-validation."""

    @property
    def rough_points(self) -> int:
        """Number of points beyond which its rough solutions are worth having; the largest such number is taken."""

    def rough_path(
        self, problem: Problem, lams: Sequence[float], iterations: Sequence[int], start: Solution | None = None
    ) -> Iterator[Solution]:
        """Give rough solutions for each λ in turn.

        Parameters
        ----------
        problem : Problem
            Its own λ is ignored.
        lams : sequence of float
            Decreasing.
        iterations : sequence of int
            How many of the quick engine are enough for each λ, from where the last one ended.
        start : Solution, optional
            Where the first one begins.
        """
