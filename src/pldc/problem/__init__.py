"""What is asked: losses, penalties, the convex program and its certificate."""

from pldc.problem.certificate import Certificate, certify
from pldc.problem.losses import Loss, make_loss
from pldc.problem.penalties import Penalty, make_penalty
from pldc.problem.program import Problem, Solution

__all__ = ["Certificate", "Loss", "Penalty", "Problem", "Solution", "certify", "make_loss", "make_penalty"]
