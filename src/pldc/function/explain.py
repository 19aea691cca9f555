"""Reading a prediction: the affine function that rules at a row, feature by feature, and how far it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.checks import positive, whole
from pldc.function.max_affine import Array, IntArray, as_points, number, real
from pldc.function.numbers import Printed, numbers, table
from pldc.function.pldc import PLDC
from pldc.function.term import as_unit

BALL_POINTS = 64  # points that a mean slope is taken over, in pairs ±u
MOST_NUMBERS = 1 << 20  # numbers in the table of such points that is held at once


class Explained(Printed):
    """What explanations of values and of classes say in the same way."""

    room: Array
    averaged: np.ndarray
    neighbourhood: float
    measure: str
    _head = "row {}\n{}"

    def __len__(self) -> int:
        return len(self.room)

    def table(self, row: int = 0) -> str:
        """Return a text table of one row."""
        raise NotImplementedError

    def reach(self, row: int = 0) -> str:
        """Say how far from the row its slopes hold, or what they are means over."""
        row = row_of(self, row)
        if self.averaged[row]:
            return f"are means over a neighbourhood of {self.neighbourhood:.2g} {self.measure}"
        far = f"within {self.room[row]:.2g} {self.measure}" if np.isfinite(self.room[row]) else "everywhere"
        return f"hold {far}"

    def __str__(self) -> str:
        shown = [self._head.format(i, self.table(i)) for i in range(min(3, len(self)))]
        if len(self) > 3:
            shown.append(f"… and {len(self) - 3} more rows")
        return "\n\n".join(shown)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Explained):
    """Why each row has its prediction: prediction = intercept + Σ contributions, unless clipped.

    Attributes
    ----------
    features : tuple of str
        Names of the d features.
    prediction : array of shape (n,)
        What ``predict`` returns for the row.
    intercept : array of shape (n,)
        The local affine function at the reference point.
    slopes : array of shape (n, d)
        The local affine function's slope in each feature; its mean over a neighbourhood, where `averaged`.
    contributions : array of shape (n, d)
        slope × (feature − reference), feature by feature.
    pieces : int array of shape (n, 2)
        The active piece of the plus and of the minus part; of a sum of T terms (n, 2T), all plus parts first.
    clipped : bool array of shape (n,)
        Whether the prediction was cut to the range of the training targets; the contributions of such a row
        add up to the uncut value.
    room : array of shape (n,)
        How far from the row one affine function rules: 0 on a kink, ∞ if everywhere.
    averaged : bool array of shape (n,)
        Whether the row is closer to a kink than `neighbourhood`, so that its slopes are means. The intercept is such
        that the contributions still add up.
    neighbourhood : float
        Radius of the ball that means are taken over.
    measure : str
        What `room` and `neighbourhood` are counted in.
    unit : array of shape (d,) or None
        Spread of each feature.
    """

    features: tuple[str, ...]
    prediction: Array
    intercept: Array
    slopes: Array
    contributions: Array
    pieces: IntArray
    clipped: np.ndarray
    room: Array
    averaged: np.ndarray
    neighbourhood: float
    measure: str = "standard deviations"
    unit: Array | None = None

    def to_dict(self, row: int = 0) -> dict[str, Any]:
        """Return the explanation of one row as plain Python values."""
        row = row_of(self, row)
        return {
            "prediction": float(self.prediction[row]),
            "intercept": float(self.intercept[row]),
            "clipped": bool(self.clipped[row]),
            "room": float(self.room[row]),
            "averaged": bool(self.averaged[row]),
            "reach": self.reach(row),
            "pieces": tuple(int(k) for k in self.pieces[row]),
            "slopes": dict(zip(self.features, self.slopes[row].tolist(), strict=True)),
            "contributions": dict(zip(self.features, self.contributions[row].tolist(), strict=True)),
        }

    def table(self, row: int = 0) -> str:
        """Return a text table of one row, largest contributions first."""
        row = row_of(self, row)
        note = "  (cut to the range of the training targets)" if self.clipped[row] else ""
        lines = slope_table(self, row, {"intercept": self.intercept[row], "prediction": self.prediction[row]})
        lines[-1] += note
        lines.append(f"slopes {self.reach(row)}")
        return "\n".join(lines)


def row_of(explained: Any, row: int) -> int:
    """Return the number of a row of an explanation; a negative one counts from the end."""
    count = len(explained)
    return whole("row", row, -count, most=count - 1)


def slope_table(why: Any, row: int, below: dict[str, float]) -> list[str]:
    """Return lines with the slope and the contribution of each feature, the largest first, and what they add up to."""
    order = np.argsort(-np.abs(why.contributions[row]), kind="stable")
    slopes = numbers(why.slopes[row, order], 5, unit=None if why.unit is None else why.unit[order])
    parts = numbers([*why.contributions[row, order], *below.values()], 5)
    left = [*(why.features[k] for k in order), *below]
    body = [list(cells) for cells in zip(left, slopes + [""] * len(below), parts, strict=True)]
    return table(["feature", "slope", "contribution"], body)


def explain(
    function: PLDC,
    X: ArrayLike,
    reference: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
    unit: ArrayLike | None = None,
    neighbourhood: float = 0.1,
) -> Explanation:
    """Explain the value of `function` at each row of `X` by its local affine function.

    Next to a kink that function would mislead: a small step changes it. There slopes are means over a neighbourhood.

    Parameters
    ----------
    function : PLDC
    X : array of shape (n, d)
    reference : array of shape (d,), optional
        Where contributions are measured from; the origin if not given.
    features : sequence of str, optional
        Names; x0, x1, … if not given.
    limits : (float, float)
        Range the prediction is cut to.
    unit : array of shape (d,), optional
        Spread of each feature, to measure distances in; ones if not given.
    neighbourhood : float, default=0.1
        Rows closer to a kink than this, in units of `unit`, get the mean slope over 64 fixed points of the ball with
        this radius. 0 for none.
    """
    if not isinstance(function, PLDC):
        raise TypeError(f"Give a PLDC, such as model.function_, not {type(function).__name__}.")
    points = as_points(X, function.n_features)
    origin = np.zeros(function.n_features) if reference is None else real(reference, "reference")
    if origin.shape != (function.n_features,):
        raise ValueError(f"reference must have shape ({function.n_features},), got {origin.shape}.")
    if not np.isfinite(origin).all():
        raise ValueError("reference must be finite; it contains NaN or infinity.")
    names = tuple(f"x{k}" for k in range(function.n_features)) if features is None else tuple(map(str, features))
    if len(names) != function.n_features:
        raise ValueError(f"The function has {function.n_features} features, got {len(names)} names.")
    sizes = as_unit(np.ones(function.n_features) if unit is None else unit, function.n_features)
    near = positive("neighbourhood", neighbourhood, zero=True)
    lowest, highest = (number(limit) for limit in limits)
    local, room = function.local(points), function.room(points, sizes)
    averaged = room < near
    slopes = local.slope.copy()
    slopes[averaged] = mean_slope(function, points[averaged], near * sizes)
    contributions = slopes * (points - origin)
    value = function(points)
    prediction = np.clip(value, lowest, highest)
    return Explanation(
        features=names,
        prediction=prediction,
        intercept=value - contributions.sum(axis=1),
        slopes=slopes,
        contributions=contributions,
        pieces=np.column_stack([local.plus, local.minus]),
        clipped=(value < lowest) | (value > highest),
        room=room,
        averaged=averaged,
        neighbourhood=near,
        measure="units of the features" if unit is None else "standard deviations",
        unit=None if unit is None else sizes,
    )


def mean_slope(function: PLDC, points: Array, radius: Array) -> Array:
    """Mean gradient of the function over a neighbourhood of each point: a ball, stretched by the radius (d,)."""
    steps = radius * in_ball(len(radius))
    out = np.empty(points.shape)
    block = max(1, MOST_NUMBERS // steps.size)
    for start in range(0, len(points), block):
        rows = slice(start, start + block)
        around = points[rows, None] + steps
        out[rows] = function.gradient(around.reshape(-1, len(radius))).reshape(around.shape).mean(axis=1)
    return out


def in_ball(d: int) -> Array:
    """Return points of the unit ball in d dimensions, always the same ones: u and −u, radii spread as in the ball."""
    pairs = BALL_POINTS // 2
    direction = np.random.RandomState(0).normal(size=(pairs, d))
    radius = ((np.arange(pairs) + 0.5) / pairs) ** (1.0 / d)
    half = direction * (radius / np.linalg.norm(direction, axis=1))[:, None]
    return np.vstack([half, -half])
