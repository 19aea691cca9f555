"""How the program is answered: one algorithm a file."""

from pldc.solve.admm import AdmmSolver
from pldc.solve.exact import ExactSolver

__all__ = ["AdmmSolver", "ExactSolver"]
