"""Losses: one interface (`base`), one file a family.

A new loss is a frozen dataclass with the methods of :class:`Loss`, in a file of its own, and an entry in `LOSSES` if it
is to have a name.
"""

from __future__ import annotations

from typing import Any

from pldc.function.checks import flag, shown
from pldc.problem.losses.base import ROUNDING_OF_Y, Dual, Loss, Observations
from pldc.problem.losses.box_form import Residuals
from pldc.problem.losses.classes import Hinge, LogLoss, softmax
from pldc.problem.losses.poisson import Poisson
from pldc.problem.losses.residual import Absolute, Boxed, Huber, Quantile, Squared

KINDS: tuple[type[Loss], ...] = (Squared, Absolute, Huber, Quantile, Poisson, Hinge, LogLoss)
LOSSES = {kind.name: kind for kind in KINDS}


def make_loss(loss: Any, classes: bool | None = None) -> Loss:
    """Return a loss: one is returned as it is, a name stands for one with default parameters.

    Parameters
    ----------
    loss : Loss or str
    classes : bool, optional
        Allow losses of classification alone, or of regression alone. None: all.
    """
    if classes is not None:
        flag("classes", classes)
    allowed = {name: kind for name, kind in LOSSES.items() if classes in (None, kind.scores)}
    if isinstance(loss, str) and loss in allowed:
        return allowed[loss]()
    if isinstance(loss, Loss) and classes in (None, loss.scores):
        return loss
    objects = ", ".join(repr(kind()) for kind in allowed.values())
    raise ValueError(f"loss must be one of {tuple(allowed)}, or an object such as {objects}; got {shown(loss)}.")


__all__ = [
    "LOSSES",
    "ROUNDING_OF_Y",
    "Absolute",
    "Boxed",
    "Dual",
    "Hinge",
    "Huber",
    "LogLoss",
    "Loss",
    "Observations",
    "Poisson",
    "Quantile",
    "Residuals",
    "Squared",
    "make_loss",
    "softmax",
]
