"""What is asked: losses, penalties, the convex program and its certificate."""

from pldc.problem.certificate import Certificate, certify
from pldc.problem.losses import Absolute, Hinge, Huber, LogLoss, Loss, Poisson, Quantile, Squared, make_loss
from pldc.problem.penalties import Penalty, make_penalty
from pldc.problem.program import Problem, Solution

__all__ = [
    "Absolute",
    "Certificate",
    "Hinge",
    "Huber",
    "LogLoss",
    "Loss",
    "Penalty",
    "Poisson",
    "Problem",
    "Quantile",
    "Solution",
    "Squared",
    "certify",
    "make_loss",
    "make_penalty",
]
