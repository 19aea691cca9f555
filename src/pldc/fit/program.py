"""The program: choose λ, solve, certify, and write the function in the units of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pldc.fit.settings import Settings
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.model import Model, SolvedProgram
from pldc.problem.certificate import Certificate, certify, gap_between
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows, Split
from pldc.problem.units import Units
from pldc.select.calibration import calibrate
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import distinct, divided, interleaved, subsample
from pldc.select.lam import rate, scale_of_lam, theory_lam
from pldc.select.search import Search
from pldc.solve import Solver
from pldc.solve.choose import make_solver
from pldc.solve.run import Monitor

FEWEST_ROWS = 4  # distinct ones, of which some can be left out


def program_model(
    rows: Rows, given: Rows, settings: Settings, log: Monitor, monitor: Monitor | None
) -> tuple[Model, CrossFit | None, bool]:
    """Fit the program to the rows; folds may name places of the `given` ones, those of weight zero included."""
    recipe, standard = settings.recipe, Units.of(*rows)
    units = recipe.units(rows)
    solver_for = partial(make_solver, settings.solver, threads=settings.threads)
    solver_for(recipe.problem(rows, units, 1.0))  # refuses what cannot be solved, before any work
    lam, search = choose_lam(rows, given, settings, solver_for)
    problem = recipe.problem(rows, units, lam)
    solver = solver_for(problem)
    solution = solver.solve(problem, monitor=both(log, monitor))
    functions, numbers = read(recipe, rows, problem, units, solution, solver)
    model = Model(
        kind="program",
        functions=tuple(functions),
        center=standard.center,
        spread=standard.scale,
        n_iter=solution.iterations,
        program=numbers,
    )
    model = of_classes(model, recipe, search) if recipe.outputs > 1 else of_values(model, rows, settings)
    if search is not None:
        model = replace(model, cv_score=search.mean_score, cv_results=search.results())
    folds = None if search is None else search.cross_fit()
    return model, folds, solution.status == "interrupted"


def of_values(model: Model, rows: Rows, settings: Settings) -> Model:
    """Add what a regression has: limits."""
    span = float(rows.y.min()), float(rows.y.max())
    return replace(
        model,
        target_range=span,
        limits=span if settings.clip else (-np.inf, np.inf),
        lowest=settings.recipe.lowest,
    )


def of_classes(model: Model, recipe: Recipe, search: Search | None) -> Model:
    """Add what a classification has: a temperature, calibrated where the folds did not look."""
    if recipe.loss.gives_probabilities or search is None:  # of too few rows to leave any out: as they are
        return replace(model, temperature=1.0)
    tests = Rows(*(np.concatenate([getattr(test, name) for test in search.test]) for name in Rows._fields))
    return replace(model, temperature=calibrate(np.concatenate(search.left_out(), axis=1), tests)[0])


def choose_lam(
    rows: Rows, given: Rows, settings: Settings, solver_for: Callable[[Problem], Solver]
) -> tuple[float, Search | None]:
    """Return λ, and the search that chose it, if one did."""
    recipe, classes = settings.recipe, settings.recipe.outputs > 1
    known = settings.lam if not isinstance(settings.lam, str) else None
    if known is not None and (not classes or recipe.loss.gives_probabilities):
        return known, None
    if settings.lam == "srm":
        return theory_lam(recipe, rows, None, settings.seed), None
    merged, _ = distinct(rows, classes)
    if len(divided(merged, FEWEST_ROWS, classes).y) < FEWEST_ROWS:
        return known or scale_of_lam(recipe, rows), None
    table, splits, share = folds_of(merged, given, settings)
    search = Search(
        recipe,
        table,
        splits,
        settings.score_in_units_of(merged),
        clip=settings.clip and not classes,
        cautious=settings.one_standard_error,
        patient=classes and settings.score is not None,
        jobs=settings.jobs,
        level=settings.level,
    )
    if known is not None:  # scores of the hinge are calibrated where the folds did not look
        search.run_at(known / rate(share, rows.X.shape[1]), solver_for)
        return known, search
    search.run(scale_of_lam(recipe, merged))
    return rate(share, rows.X.shape[1]) * search.lam, search


def folds_of(merged: Rows, given: Rows, settings: Settings) -> tuple[Rows, list[Split], float]:
    """Return the rows to cross-validate on, the folds of them, and the share of all that they are."""
    most = np.inf if settings.max_rows is None else settings.max_rows
    if not isinstance(settings.folds, list):
        some = subsample(len(merged.y), most)
        table = divided(merged.take(some), settings.folds, settings.recipe.outputs > 1)
        return table, interleaved(len(table.y), min(settings.folds, len(table.y))), len(some) / len(merged.y)
    here = np.flatnonzero(given.weight > 0)
    some = here[subsample(len(here), most)]
    place = np.full(len(given.y), -1)
    place[some] = np.arange(len(some))
    parts = [(place[train][place[train] >= 0], place[test][place[test] >= 0]) for train, test in settings.folds]
    splits = [(train, test) for train, test in parts if len(train) and len(test)]
    return given.take(some), splits, len(some) / len(here)


def read(
    recipe: Recipe, rows: Rows, problem: Problem, units: Units, solution: Solution, solver: Solver
) -> tuple[list[PLDC], SolvedProgram]:
    """Write the functions of a solution, one or the score of each class, in the units of the data, and certify them.

    The loss is that of the functions as they are returned, not of the solution: units may round.
    """
    found = certify(problem, solution)
    functions = [units.restore(f.drop_dominated()) for f in problem.functions(found.solution)]
    values = np.array([units.scale_y(f(rows.X)) for f in functions])
    loss = recipe.mean_loss(values if recipe.outputs > 1 else values[0], rows._replace(y=units.scale_y(rows.y)))
    seminorm = problem.penalty.value(found.solution.slopes)
    upper = loss + problem.lam * seminorm
    lower = min(found.lower, upper)
    gap = gap_between(problem, upper, lower, rows.y / units.y_scale)
    numbers = SolvedProgram(
        lam=problem.lam,
        certificate=Certificate(upper, lower, gap),
        loss=loss,
        seminorm=seminorm,
        solver=solver.name,
        status=solution.status,
        tol=solver.tol,
    )
    return functions, numbers


def both(log: Monitor, monitor: Monitor | None) -> Monitor:
    """Log every iteration, and ask the user's monitor whether to stop."""
    if monitor is None:
        return log

    def tell(row: dict[str, float]) -> Any:
        log(row)
        return monitor(dict(row))

    return tell


@dataclass(frozen=True, eq=False)
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


def solve_path(rows: Rows, settings: Settings, lams: Array, log: Monitor) -> Path:
    """Solve for each λ in turn, handing every solve the solution before it: its pairs of rows, above all."""
    units = settings.recipe.units(rows)
    problem = settings.recipe.problem(rows, units, float(lams[0]))
    solver = make_solver(settings.solver, problem, threads=settings.threads)
    fits, start = [], None
    for lam in lams:
        at = replace(problem, lam=float(lam))
        start = solver.solve(at, start, log)
        if start.status == "interrupted":
            raise KeyboardInterrupt
        fits.append(read(settings.recipe, rows, at, units, start, solver))
    return Path(
        lams=lams,
        functions=[functions[0] for functions, _ in fits],
        certificates=[numbers.certificate for _, numbers in fits],
        losses=np.array([numbers.loss for _, numbers in fits]),
        seminorms=np.array([numbers.seminorm for _, numbers in fits]),
    )
