"""A program solved and read: the function in the units of the data, and how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pldc.function.pldc import PLDC
from pldc.problem.certificate import Certificate, certify
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Units
from pldc.solve import Solver
from pldc.solve.run import Monitor


@dataclass(frozen=True)
class FittedProgram:
    """One program, solved to a certified gap.

    Attributes
    ----------
    functions : list of PLDC
        In the units of the data: one, or the score of each class.
    lam : float
    certificate : Certificate
    loss, seminorm : float
        The two terms of the objective as the program measures them: ``certificate.upper = loss + lam · seminorm``.
    solver : {"exact", "admm", "line"}
    iterations : int
    status : str
        How the solve ended.
    """

    functions: list[PLDC]
    lam: float
    certificate: Certificate = field(repr=False)
    loss: float
    seminorm: float
    solver: str
    iterations: int
    status: str

    @property
    def function(self) -> PLDC:
        """The function of a regression."""
        (one,) = self.functions
        return one


def solve_program(
    rows: Rows, recipe: Recipe, lam: float, solver_for: Callable[[Problem], Solver], monitor: Monitor
) -> FittedProgram:
    """Solve the program of `rows`; Ctrl-C ends the solve with the best solution so far."""
    units = recipe.units(rows)
    problem = recipe.problem(rows, units, lam)
    solver = solver_for(problem)
    return read(problem, units, solver.solve(problem, monitor=monitor), solver)


def read(problem: Problem, units: Units, solution: Solution, solver: Solver) -> FittedProgram:
    """Certify a solution, and write its function in the units of the data."""
    certificate = certify(problem, solution)
    feasible = certificate.solution
    return FittedProgram(
        functions=[units.restore(f.drop_dominated()) for f in problem.functions(feasible)],
        lam=problem.lam,
        certificate=replace(certificate, solution=replace(feasible, multipliers=None, history=[])),
        loss=problem.risk(problem.fit(feasible.values, feasible.linear)),
        seminorm=problem.penalty.value(feasible.slopes),
        solver=solver.name,
        iterations=solution.iterations,
        status=solution.status,
    )
