"""Rough solutions along λ, from large to small, each starting where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pldc.problem.program import Problem, Solution
from pldc.problem.scaling import normalise
from pldc.solve.admm import AdmmIteration
from pldc.solve.line import Line, fits_a_line
from pldc.solve.run import LARGEST_LAM
from pldc.solve.workers import Workers

ON_A_LINE, ROUGHLY = 300, 1e-2  # points in one dimension from which rough fits take its own solver, to such a gap


def rough_path(
    problem: Problem,
    lams: Sequence[float],
    iterations: Sequence[int],
    start: Solution | None = None,
    threads: int | None = None,
) -> Iterator[Solution]:
    """Give rough solutions of `problem` for each λ in turn, by a few iterations of the quick engine.

    Parameters
    ----------
    problem : Problem
        Its own λ is ignored.
    lams : sequence of float
        Decreasing.
    iterations : sequence of int
        For each λ, from where the last one ended.
    start : Solution, optional
        Where the first one begins.
    threads : int or None
    """
    if len(problem.X) > ON_A_LINE and fits_a_line(problem):
        for lam in lams:
            yield Line(tol=ROUGHLY).solve(replace(problem, lam=lam))
        return
    scaled, scaling = normalise(problem)
    unit = scaled.lam / problem.lam
    hint = None if start is None else scaling.reduce(problem, start)
    with Workers(threads) as workers:
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
