"""How the mean prediction follows one feature: partial dependence with its exact kinks, without a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import ROUNDING, Array, IntArray, real
from pldc.function.numbers import numbers, one_line, table
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
        return np.asarray(np.interp(real(x, "x"), self.x, self.y, left=np.nan, right=np.nan))

    @property
    def slopes(self) -> Array:
        """Slope between each pair of neighbouring kinks, (k − 1,)."""
        return np.asarray(np.diff(self.y) / np.diff(self.x))

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return f"Curve({one_line(self.feature)}: {len(self)} points, mean of {self.rows} rows)"


@dataclass(frozen=True, eq=False)
class LevelMeans:
    """The mean prediction if all rows had one level of a category, or were True or False, level by level.

    Attributes
    ----------
    feature : str
    levels : tuple of (str, bool or None)
        None: a missing cell, where training saw some.
    y : array of shape (k,)
    rows : int
        Number of rows that they are means over.
    """

    feature: str
    levels: tuple[str | bool | None, ...]
    y: Array
    rows: int

    def __call__(self, level: str | bool | None) -> float:
        """Return the mean of one level."""
        if level not in self.levels:
            raise ValueError(f"{self.feature!r} has no level {level!r:.80}: it has {list(self.levels)!r:.200}.")
        return float(self.y[self.levels.index(level)])

    def __len__(self) -> int:
        return len(self.levels)

    def __str__(self) -> str:
        order = np.argsort(-self.y, kind="stable")
        names = ["(missing)" if self.levels[k] is None else str(self.levels[k]) for k in order]
        body = [list(pair) for pair in zip(names, numbers(self.y[order]), strict=True)]
        return "\n".join(table([self.feature, "mean"], body))

    def __repr__(self) -> str:
        return f"LevelMeans({one_line(self.feature)}: {len(self)} levels, mean of {self.rows} rows)"


def category_curve(
    function: PLDC,
    points: Array,
    name: str,
    levels: tuple[str | bool | None, ...],
    places: IntArray,
    values: Array,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> LevelMeans:
    """Return the mean of f over the rows of `points` with each of the values (k, m) at the features in places (m,)."""
    means, moved = np.empty(len(levels)), points.copy()
    for k, own in enumerate(values):
        moved[:, places] = own
        means[k] = np.clip(function(moved), *limits).mean()
    return LevelMeans(name, levels, means, len(points))


def partial_dependence(
    function: PLDC,
    feature: int,
    points: Array,
    low: float,
    high: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
    name: str | None = None,
) -> Curve:
    """Return the mean of f over the rows of `points` as their feature goes from `low` to `high`.

    Each row gives a curve whose kinks are where another piece takes over, at a knot, or where f is cut to `limits`. The
    mean has the kinks of all of them; those that cancel are left out.
    """
    name = f"x{feature}" if name is None else name
    start, stop = points.copy(), points.copy()
    start[:, feature], stop[:, feature] = low, high
    first = function(start)
    begin, end = float(np.clip(first, *limits).mean()), float(np.clip(function(stop), *limits).mean())
    if not high > low:
        return Curve(name, np.array([low]), np.array([begin]), len(points))
    times, changes = _cut(*_bends(function, start, stop), first, limits)
    at, place = np.unique(times, return_inverse=True)
    change = np.bincount(place, weights=changes, minlength=len(at)) / len(points)
    slope = np.cumsum(change)
    kink = np.abs(change) > ROUNDING * np.abs(changes).sum() / len(points)
    kink[(at <= 0) | (at >= 1)] = False
    first_slope = float(slope[at <= 0][-1]) if (at <= 0).any() else 0.0
    t, slopes = np.append(at[kink], 1.0), np.append(first_slope, slope[kink])
    apart = np.append(np.diff(t, prepend=0.0)[:-1] > ROUNDING, True)  # pieces shorter than rounding are none
    t, slopes = t[apart], slopes[apart]
    values = begin + np.append(0.0, np.cumsum(slopes * np.diff(t, prepend=0.0)))
    values += np.append(0.0, t) * (end - values[-1])  # rounding of the sum, spread over the way
    x = np.append(low + (high - low) * np.append(0.0, t[:-1]), high)
    apart = np.append(np.diff(x) > 0, True)  # far from zero kinks may round to one number
    apart[0] = True
    return Curve(name, x[apart], values[apart], len(points))


def _bends(function: PLDC, start: Array, stop: Array) -> tuple[Array, Array, Array]:
    """Return where the curves of the rows change their slopes, t in [0, 1): row, t, and the change."""
    rows, times, changes = [], [], []
    for term in function.centred:
        for piece in straight(term, start - function.origin, stop - function.origin):
            length = piece.end - piece.begin
            for part, sign in zip(term.parts, (1.0, -1.0), strict=True):
                found = stretches(part, piece.start, piece.stop)
                row, slope = piece.owner[found.segment], sign * found.rise / length[found.segment]
                follows = np.append(False, row[1:] == row[:-1])
                rows.append(row)
                times.append(piece.begin[found.segment] + found.begin * length[found.segment])
                changes.append(slope - np.where(follows, np.append(0.0, slope[:-1]), 0.0))
    return np.concatenate(rows), np.concatenate(times), np.concatenate(changes)


def _cut(row: Array, time: Array, change: Array, first: Array, limits: tuple[float, float]) -> tuple[Array, Array]:
    """Return the changes of slope of all rows together, each row cut to the limits; `first` has its value at t = 0."""
    if limits == (-np.inf, np.inf):
        return time, change
    order = np.lexsort((time, row))
    row, time, change = row[order], time[order], change[order]
    new = np.append(True, row[1:] != row[:-1])
    begins = np.flatnonzero(new)
    of_row = np.cumsum(new) - 1

    def within(increments: Array) -> Array:
        """Running sums that begin anew at each row, this place included."""
        total = np.cumsum(increments)
        return np.asarray(total - (total - increments)[begins][of_row])

    slope = within(change)
    until = np.append(time[1:], 1.0)
    until[np.append(begins[1:] - 1, len(row) - 1)] = 1.0
    gained = slope * (until - time)
    value = first[row] + within(gained) - gained  # where each stretch begins
    # Inside the limits on [a, b]: from the value that is entered by to the one that is left by.
    enter, leave = (np.where(slope >= 0, limits[k], limits[1 - k]) for k in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.clip(time + (enter - value) / slope, time, until)
        b = np.clip(time + (leave - value) / slope, time, until)
    moves = (slope != 0) & (b > a)
    return np.concatenate([a[moves], b[moves], [0.0]]), np.concatenate([slope[moves], -slope[moves], [0.0]])
