"""How the mean prediction follows one feature: partial dependence with its exact kinks, without a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import ROUNDING, Array
from pldc.function.pldc import PLDC
from pldc.function.segments import straight, stretches


@dataclass(frozen=True, eq=False)
class Curve:
    """A piecewise-linear curve: the mean prediction as one feature moves and all others stay as they are.

    Attributes
    ----------
    feature : str
    x, y : arrays of shape (k,)
        Both ends and every kink between them. The curve is linear in between, exactly.
    rows : int
        Number of rows that it is a mean over.
    """

    feature: str
    x: Array
    y: Array
    rows: int

    def __call__(self, x: ArrayLike) -> Array:
        """Evaluate the curve; beyond its ends it is not known, and NaN."""
        return np.asarray(np.interp(np.asarray(x, dtype=np.float64), self.x, self.y, left=np.nan, right=np.nan))

    @property
    def slopes(self) -> Array:
        """Slope between each pair of neighbouring kinks, (k − 1,)."""
        return np.asarray(np.diff(self.y) / np.diff(self.x))

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return f"Curve({self.feature}: {len(self)} points, mean of {self.rows} rows)"


def partial_dependence(
    function: PLDC, feature: int, points: Array, low: float, high: float, name: str | None = None
) -> Curve:
    """Return the mean of f over the rows of `points` as their feature goes from `low` to `high`.

    Each row gives a curve whose kinks are where another piece takes over, or at a knot; the mean has the kinks of all
    of them. Kinks that cancel are left out.
    """
    name = f"x{feature}" if name is None else name
    start, stop = points.copy(), points.copy()
    start[:, feature], stop[:, feature] = low, high
    begin, end = float(function(start).mean()), float(function(stop).mean())
    if not high > low:
        return Curve(name, np.array([low]), np.array([begin]), len(points))
    times, changes = _bends(function, start, stop)
    at, place = np.unique(times, return_inverse=True)
    change = np.bincount(place, weights=changes, minlength=len(at)) / len(points)
    slope = np.cumsum(change)
    size = np.abs(changes).sum() / len(points)
    kink = np.abs(change) > ROUNDING * size
    kink[0] = False
    t = np.append(at[kink], 1.0)
    slopes = np.append(slope[0], slope[kink])
    t, slopes = _apart(t, slopes)
    values = begin + np.concatenate([[0.0], np.cumsum(slopes * np.diff(t, prepend=0.0))])
    values += np.append(0.0, t) * (end - values[-1])  # rounding of the sum, spread over the way
    return Curve(name, low + (high - low) * np.append(0.0, t), values, len(points))


def _bends(function: PLDC, start: Array, stop: Array) -> tuple[Array, Array]:
    """Return where the curves of all rows change their slopes, t in [0, 1), and by how much."""
    times, changes = [np.zeros(1)], [np.zeros(1)]
    for term in function.terms:
        for piece in straight(term, start, stop):
            length = piece.end - piece.begin
            for part, sign in zip(term.parts, (1.0, -1.0), strict=True):
                found = stretches(part, piece.start, piece.stop)
                slope = sign * found.rise / length[found.segment]
                where = piece.begin[found.segment] + found.begin * length[found.segment]
                row = piece.owner[found.segment]
                before = np.where(np.append(False, row[1:] == row[:-1]), np.append(0.0, slope[:-1]), 0.0)
                times.append(where)
                changes.append(slope - before)
    return np.concatenate(times), np.concatenate(changes)


def _apart(t: Array, slopes: Array) -> tuple[Array, Array]:
    """Leave out pieces that are shorter than rounding: `t` are the ends of pieces, `slopes` theirs."""
    keep = np.diff(t, prepend=0.0) > ROUNDING
    keep[-1] = True
    return t[keep], slopes[keep]
