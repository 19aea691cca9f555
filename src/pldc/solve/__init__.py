"""How the program is answered: one algorithm a file."""

from pldc.solve.admm import AdmmSolver
from pldc.solve.exact import ExactSolver
from pldc.solve.line import LineSolver

Solver = ExactSolver | AdmmSolver | LineSolver

__all__ = ["AdmmSolver", "ExactSolver", "LineSolver", "Solver"]
