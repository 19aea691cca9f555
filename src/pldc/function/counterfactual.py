"""What would change a prediction: the nearest point at which a function crosses a threshold, or leads others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.nearest import Lead, Nearest, nearest_beyond
from pldc.function.numbers import Printed, number, table
from pldc.function.pldc import PLDC


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Printed):
    """What would change a prediction: the nearest row at which it reaches a threshold.

    Attributes
    ----------
    features : tuple of str
        Names of the d columns.
    x, point : arrays of shape (d,)
        The cells of the row that was given, and of the nearest one beyond the threshold.
    prediction, reached : float
        At the two; of classes their labels.
    threshold : float
        Of classes the label that was looked for.
    cost : float
        Distance of the two: of each column its change in standard deviations, times its cost.
    bound : float
        No row is nearer than this. Equal to `cost`, but for rounding, unless time was out; 0: none was found.
    """

    features: tuple[str, ...]
    x: Array
    point: Array
    prediction: Any
    reached: Any
    threshold: Any
    cost: float
    bound: float

    @property
    def changes(self) -> dict[str, Any]:
        """What is to be added to the cell of each column that changes."""
        return {self.features[k]: self.point[[k]].tolist()[0] - self.x[[k]].tolist()[0] for k in self._moved()}

    def _moved(self) -> list[int]:
        """Columns whose cells differ; those that stay are the same objects, or equal numbers, or no numbers."""
        pairs = enumerate(zip(self.x, self.point, strict=True))
        return [k for k, (a, b) in pairs if not (a is b or a == b or a != a)]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {
            "point": dict(zip(self.features, self.point.tolist(), strict=True)),
            "changes": self.changes,
            "prediction": self.prediction,
            "reached": self.reached,
            "threshold": self.threshold,
            "cost": self.cost,
            "bound": self.bound,
        }

    def __str__(self) -> str:
        body = [[self.features[k], written(self.x[k]), written(self.point[k])] for k in self._moved()]
        lines = table(
            ["column", "is", "would be"], [*body, ["prediction", written(self.prediction), written(self.reached)]]
        )
        lines.append(f"distance {number(self.cost, 3)} standard deviations")
        if self.bound < self.cost * (1 - 1e-3):
            proved = f"no row is nearer than {number(self.bound, 3)}" if self.bound > 0 else "no bound was found"
            lines[-1] += f"; time was out: {proved}"
        return "\n".join(lines)


def written(cell: Any) -> str:
    """Write a cell: a number with the digits that matter, all else as it is."""
    return number(cell) if isinstance(cell, float) else str(cell)


def nearest_crossing(
    function: PLDC,
    x: Array,
    threshold: float,
    cost: Array,
    box: Array,
    max_seconds: float = 60.0,
    whole: np.ndarray | None = None,
) -> Nearest:
    """Find the nearest point to x at which f is on the other side of the threshold.

    Parameters
    ----------
    function : PLDC
    x : array of shape (d,)
        Within the box.
    threshold : float
    cost : array of shape (d,)
        Of one unit of each feature, above 0.
    box : array of shape (d, 2)
        Finite lower and upper ends; equal where a feature is fixed.
    max_seconds : float
        For the mixed-integer program; afterwards the best point so far is returned, and its bound.
    whole : bool array of shape (d,), optional
        Features that are whole steps away from x.
    """
    step = threshold - float(function(x[None])[0])
    if step == 0:
        return Nearest(x.copy(), 0.0, 0.0)
    sign = 1.0 if step > 0 else -1.0
    return nearest_beyond(Lead(sign * function), x, sign * threshold, cost, box, max_seconds, whole)


def nearest_lead(
    functions: Sequence[PLDC],
    wanted: int,
    x: Array,
    cost: Array,
    box: Array,
    max_seconds: float = 60.0,
    whole: np.ndarray | None = None,
) -> Nearest:
    """Find the nearest point to x at which one of several functions is the highest; the rest as above.

    Where several are, it is the first of them, as for ``argmax``.
    """
    others = [k for k in range(len(functions)) if k != wanted]
    lead = Lead(functions[wanted], tuple(functions[k] for k in others), tuple(k < wanted for k in others))
    if lead.beyond(x[None], 0.0)[0]:
        return Nearest(x.copy(), 0.0, 0.0)
    return nearest_beyond(lead, x, 0.0, cost, box, max_seconds, whole)
