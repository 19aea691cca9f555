"""Solutions along λ, from large to small, each starting where the last one ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.certificate import Certificate
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.scaling import normalise
from pldc.select.program import read
from pldc.solve import LineSolver, Solver
from pldc.solve.admm import Admm
from pldc.solve.line import fits_a_line
from pldc.solve.run import LARGEST_LAM, Monitor
from pldc.solve.workers import Workers

SolverFor = Callable[[Problem], Solver]
ON_A_LINE, ROUGHLY = 300, 1e-2  # points in one dimension from which rough fits take its own solver, to such a gap


@dataclass(frozen=True)
class Path:
    """Fits along λ, from large to small.

    Attributes
    ----------
    lams : array of shape (k,)
        Decreasing.
    functions : list of PLDC
        In the units of the data.
    certificates : list of Certificate
        Of the program at each λ.
    losses, seminorms : arrays of shape (k,)
        The two terms of the objective, in the units of the program: ``losses + lams · seminorms`` are the objectives.
    """

    lams: Array
    functions: list[PLDC]
    certificates: list[Certificate]
    losses: Array
    seminorms: Array

    def __len__(self) -> int:
        return len(self.lams)

    def pieces(self, X: Array, tol: float = 1e-3) -> Array:
        """Pieces of both parts that each fit needs at the rows of X, to `tol` of its range; shape (k, 2)."""
        return np.array([function.prune(X, tol=tol).n_pieces for function in self.functions])


def accurate_path(recipe: Recipe, rows: Rows, lams: Array, solver_for: SolverFor, monitor: Monitor) -> Path:
    """Solve for each λ in turn, handing every solve the solution before it: its pairs of rows, above all."""
    units = recipe.units(rows)
    problem = recipe.problem(rows, units, float(lams[0]))
    solver = solver_for(problem)
    fits, start = [], None
    for lam in lams:
        at = replace(problem, lam=float(lam))
        start = solver.solve(at, start, monitor)
        if start.status == "interrupted":
            raise KeyboardInterrupt
        fits.append(read(at, units, start, solver))
    return Path(
        lams=lams,
        functions=[fit.function for fit in fits],
        certificates=[fit.certificate for fit in fits],
        losses=np.array([fit.loss for fit in fits]),
        seminorms=np.array([fit.seminorm for fit in fits]),
    )


def coarse_path(
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
            yield LineSolver(tol=ROUGHLY).solve(replace(problem, lam=lam))
        return
    scaled, scaling = normalise(problem)
    unit = scaled.lam / problem.lam
    hint = None if start is None else scaling.reduce(problem, start)
    with Workers(threads) as workers:
        method: Admm | None = None
        for lam, count in zip(lams, iterations, strict=True):
            scaled_lam = min(unit * lam, LARGEST_LAM)
            if method is None:
                method = Admm(replace(scaled, lam=scaled_lam), workers, start=hint)
            else:
                method.change_lam(scaled_lam)
            for _ in range(count):
                method.step()
            yield scaling.restore(problem, method.solution())
