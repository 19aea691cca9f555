"""How the program is answered: one algorithm a file."""

from pldc.solve.admm import Admm
from pldc.solve.choose import SOLVERS, Auto, make_solver
from pldc.solve.contract import Solver
from pldc.solve.exact import Exact
from pldc.solve.line import Line

__all__ = ["SOLVERS", "Admm", "Auto", "Exact", "Line", "Solver", "make_solver"]
