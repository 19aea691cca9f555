"""Rough fits along λ, for cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.certificate import certify
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.repair import rescale
from pldc.solve import Solver
from pldc.solve.choose import rough_path

# Iterations of the quick engine for each λ: one for so many rows, within limits.
FEWEST_ITERATIONS, MOST_ITERATIONS, ROWS_AN_ITERATION = 40, 80, 6
FAR = 0.1  # relative gap
ARRIVED = 0.9  # share of the objective of a fit below which that of its best multiple shows that it is still far off


class Fit(NamedTuple):
    """A rough fit at one λ.

    Attributes
    ----------
    functions : list of PLDC
        One, or the score of each class.
    prediction : array
        Their values at the rows left out.
    seminorm : float
    seconds : float
    solution : Solution or None
        Where a path to smaller λ begins: only the last fit has it, since its flows are large.
    """

    functions: list[PLDC]
    prediction: Array
    seminorm: float
    seconds: float
    solution: Solution | None


def iterations(n: int, count: int, warm: bool = False, patient: bool = False) -> list[int]:
    """Return how often to iterate for each of `count` values of λ on n rows: from nothing, or where others ended.

    The larger values need not be fitted well, being only a start for the smaller: from nothing at a small λ it would
    take far longer. A score that sees the order of classes alone may find them good all the same: then be `patient`.
    """
    if patient:
        return [MOST_ITERATIONS] * count
    full = min(max(n // ROWS_AN_ITERATION, FEWEST_ITERATIONS), MOST_ITERATIONS)
    if warm:
        return [full] * count
    few = max(count // 2, 1)
    return [FEWEST_ITERATIONS] + [FEWEST_ITERATIONS // 2] * (few - 1) + [full] * (count - few)


def fit_path(
    recipe: Recipe,
    rows: Rows,
    left_out: Array,
    lams: Sequence[float],
    limits: tuple[float, float],
    start: Solution | None = None,
    patient: bool = False,
    solver_for: Callable[[Problem], Solver] | None = None,
) -> list[Fit]:
    """Fit `rows` roughly along λ; predictions are cut to `limits`.

    `start` is the `solution` of a fit of the same rows. For `patient` see :func:`iterations`. `solver_for` gives a
    solver that goes on from the last fit if that is far off.
    """
    units = recipe.units(rows)
    problem = recipe.problem(rows, units, lams[0])
    counts = iterations(len(problem.X), len(lams), start is not None, patient)
    out = []
    began = time.perf_counter()
    for lam, end in zip(lams, rough_path(problem, lams, counts, start, threads=1), strict=True):
        here = replace(problem, lam=lam)
        if solver_for is not None and lam == lams[-1] and certify(here, end).gap > FAR:
            end = solver_for(here).solve(here, end)
        solution = best_multiple(here, end)
        fitted = problem.functions(solution)
        if problem.X.shape[1] == 1:  # most pieces are the same line
            fitted = [f.drop_dominated() for f in fitted]
        functions = [units.restore(f) for f in fitted]
        prediction = np.clip(np.array([f(left_out) for f in functions]), *limits)
        now = time.perf_counter()
        out.append(
            Fit(
                functions=functions,
                prediction=prediction if recipe.outputs > 1 else prediction[0],
                seminorm=problem.penalty.value(solution.slopes),
                seconds=now - began,
                solution=end if lam == lams[-1] else None,
            )
        )
        began = now
    return out


def best_multiple(problem: Problem, solution: Solution) -> Solution:
    """Return the solution or, where that is far better, the best multiple of it; scores no better than none are none.

    A few iterations may not shrink a fit to what a large λ asks for. It would predict well, and the accurate fit, a
    constant, would not. Of scores the order alone may count, and what is left of them, however small, still has it.
    """
    multiple = rescale(problem, solution)
    if problem.objective(multiple) < ARRIVED * problem.objective(solution):
        solution = multiple
    if problem.outputs > 1 and not problem.objective(solution) < problem.null_risk:
        solution = rescale(problem, replace(solution, slopes=np.zeros_like(solution.slopes)))
    return solution
