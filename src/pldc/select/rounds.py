"""A program solved and read: the function in the units of the data, and how good it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from joblib import Parallel, delayed

from pldc.function.pldc import PLDC
from pldc.problem.certificate import Certificate, certify
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Geometry, Units
from pldc.solve import Solver
from pldc.solve.run import Monitor

CUT_SHORT = ("interrupted", "stopped")
Plan = list[tuple[Recipe, float, Geometry]]  # λ and coordinates of each round


@dataclass(frozen=True)
class FittedRound:
    """One program, solved to a certified gap: a round of a learned geometry, or a point of a path.

    Attributes
    ----------
    functions : list of PLDC
        In the units of the data: one, or the score of each class.
    lam : float
    penalty : {"componentwise", "joint"}
    linear : bool
        Whether the program has a free linear term.
    certificate : Certificate
    loss, seminorm : float
        The two terms of the objective as the program measures them: ``certificate.upper = loss + lam · seminorm``.
    geometry : Geometry
        The coordinates of the program are geometry(standardised x); its `warp` and `turn` are None along the axes.
    solver : {"exact", "admm", "line"}
    iterations : int
    status : str
        How the solve ended.
    """

    functions: list[PLDC]
    lam: float
    penalty: str
    linear: bool
    certificate: Certificate = field(repr=False)
    loss: float
    seminorm: float
    geometry: Geometry = field(repr=False)
    solver: str
    iterations: int
    status: str

    @property
    def function(self) -> PLDC:
        """The function of a regression."""
        (one,) = self.functions
        return one


def solve_round(
    rows: Rows,
    recipe: Recipe,
    lam: float,
    geometry: Geometry,
    solver_for: Callable[[Problem], Solver],
    monitor: Monitor,
) -> FittedRound:
    """Solve the program of `rows` in the coordinates `geometry`."""
    units = recipe.units(rows, geometry)
    problem = recipe.problem(rows, units, lam)
    solver = solver_for(problem)
    return read(problem, units, solver.solve(problem, monitor=monitor), solver)


def solve_rounds(
    rows: Rows, plan: Plan, solver_for: Callable[[Problem], Solver], monitor: Monitor, processes: int = 1
) -> tuple[list[FittedRound], str]:
    """Solve the programs of all rounds, the first in this process, where Ctrl-C keeps its best.

    With several `processes` the others are solved meanwhile by them, unmonitored. Returned with the rounds is how it
    ended, the status of the last. If that was cut short, it is left out, unless it is the only one: it would spoil the
    mean with finished ones.
    """
    first, *others = plan
    rest: Iterator[FittedRound]
    if others and processes > 1:
        tasks = (delayed(solve_round)(rows, *each, solver_for, unseen) for each in others)
        rest = Parallel(n_jobs=processes, return_as="generator")(tasks)  # they begin at once
    else:
        rest = (solve_round(rows, *each, solver_for, monitor) for each in others)
    fitted = [solve_round(rows, *first, solver_for, monitor)]
    try:
        while fitted[-1].status not in CUT_SHORT and len(fitted) < len(plan):
            fitted.append(next(rest))
    except KeyboardInterrupt:  # while waiting for others: all that are here are finished
        return fitted, "interrupted"
    ended = fitted[-1].status
    return fitted[:-1] if ended in CUT_SHORT and len(fitted) > 1 else fitted, ended


def unseen(row: dict[str, float]) -> None:
    """Look at no iteration."""


def read(problem: Problem, units: Units, solution: Solution, solver: Solver) -> FittedRound:
    """Certify a solution, and write its function in the units of the data."""
    certificate = certify(problem, solution)
    feasible = certificate.solution
    return FittedRound(
        functions=[units.restore(f.drop_dominated()) for f in problem.functions(feasible)],
        lam=problem.lam,
        penalty=problem.penalty.name,
        linear=problem.linear,
        certificate=replace(certificate, solution=replace(feasible, multipliers=None, history=[])),
        loss=problem.risk(problem.fit(feasible.values, feasible.linear)),
        seminorm=problem.penalty.value(feasible.slopes),
        geometry=units.geometry,
        solver=solver.name,
        iterations=solution.iterations,
        status=solution.status,
    )
