"""One term of a function: the difference of two max-affine functions of the features, or of features bent at knots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import algebra
from pldc.function.hinges import Hinges
from pldc.function.max_affine import ROUNDING, TILE, Array, IntArray, MaxAffine, real
from pldc.function.optimize import minimum, never_falls, polytope
from pldc.function.prune import prune_exact, prune_on
from pldc.function.seminorm import Norm, bound_of_curves, bound_over_active_pairs, bound_over_all_pairs

BLOCK_ROWS = 8192  # rows whose columns are held at once
MOST_NUMBERS = 1 << 20  # numbers in a table of rows and intervals that is held at once


@dataclass(frozen=True, eq=False)
class LocalModel:
    """The affine functions that rule at given points: f(x) = ⟨slope, x⟩ + intercept around each.

    Attributes
    ----------
    plus, minus : int arrays of shape (n,)
        The active piece of each part. Of a sum of T terms (n, T): one column a term.
    slope : array of shape (n, d)
        NaN, as the intercept, at points that are not finite.
    intercept : array of shape (n,)
        The value of the local affine function at the origin.
    """

    plus: IntArray
    minus: IntArray
    slope: Array
    intercept: Array


@dataclass(frozen=True)
class Term:
    """The function x ↦ plus(φ(x)) − minus(φ(x)), where φ are the hinges or, without them, x itself.

    Points and boxes are arrays, checked by :class:`pldc.PLDC`, whose docstrings say what the methods mean.

    Parameters
    ----------
    plus, minus : MaxAffine
        The convex parts, of the features or of the columns of the hinges.
    hinges : Hinges, optional
    """

    plus: MaxAffine
    minus: MaxAffine
    hinges: Hinges | None = None

    def __post_init__(self) -> None:
        for name, part in (("plus", self.plus), ("minus", self.minus)):
            if not isinstance(part, MaxAffine):
                raise TypeError(f"{name} must be a MaxAffine function, got {type(part).__name__}.")
        algebra.same_domain(self.plus, self.minus)
        if self.hinges is None:
            return
        if not isinstance(self.hinges, Hinges):
            raise TypeError(f"hinges must be Hinges or None, got {type(self.hinges).__name__}.")
        if self.plus.n_features != self.hinges.n_columns:
            raise ValueError(
                f"The parts have {self.plus.n_features} features and the hinges {self.hinges.n_columns} columns."
            )

    @property
    def parts(self) -> tuple[MaxAffine, MaxAffine]:
        """Both convex parts."""
        return self.plus, self.minus

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.plus.n_features if self.hinges is None else self.hinges.n_features

    def __call__(self, points: Array) -> Array:
        """Evaluate at the rows."""
        if self.hinges is None:
            return self.plus(points) - self.minus(points)
        out = np.empty(len(points))
        for rows in blocks(len(points), BLOCK_ROWS):
            columns = self.hinges(points[rows])
            out[rows] = self.plus(columns) - self.minus(columns)
        return out

    def local(self, points: Array) -> LocalModel:
        """Return the active pieces, slope and intercept at each row."""
        n = len(points)
        out = LocalModel(np.empty(n, np.intp), np.empty(n, np.intp), np.empty(points.shape), np.empty(n))
        for rows in blocks(n, BLOCK_ROWS):
            columns = points[rows] if self.hinges is None else self.hinges(points[rows])
            k, l = self.plus.active(columns), self.minus.active(columns)
            slope, intercept = self.plus.slopes[k] - self.minus.slopes[l], self.plus.offsets[k] - self.minus.offsets[l]
            if self.hinges is not None:
                value, d = (slope * columns).sum(axis=1) + intercept, self.n_features
                slope = slope[:, :d] + self.hinges.fold(slope[:, d:] * self.hinges.rising(points[rows]))
                intercept = value - (slope * points[rows]).sum(axis=1)
            out.plus[rows], out.minus[rows], out.slope[rows], out.intercept[rows] = k, l, slope, intercept
        return out

    def room(self, points: Array, unit: Array) -> Array:
        """Distance from each row within which both parts are affine: to another piece, or to a knot.

        Knots count at which the curve of a piece bends. It may be one that rules further on only: then the distance is
        too small.
        """
        if self.hinges is None:
            return np.minimum(*(takeover(part, points, part.slopes, unit[None]) for part in self.parts))
        curves = [self.hinges.slopes(part.slopes) for part in self.parts]
        tables = [np.hstack(each) for each in curves]
        out = self.hinges.nearest_bend(points, [np.vstack(both) for both in zip(*curves, strict=True)], unit)
        for rows in blocks(len(points), max(1, MOST_NUMBERS // tables[0].shape[1])):
            columns, weight = self.hinges(points[rows]), self.hinges.within(points[rows], unit)
            for part, table in zip(self.parts, tables, strict=True):
                np.minimum(out[rows], takeover(part, columns, table, weight), out=out[rows])
        return out

    def seminorm_bound(self, norm: Norm, active_pairs: bool) -> float:
        """Upper bound on the DC seminorm; with hinges the same for all arguments."""
        if self.hinges is not None:
            return bound_of_curves(self.hinges.slopes(self.plus.slopes), self.hinges.slopes(self.minus.slopes), norm)
        bound = bound_over_active_pairs if active_pairs else bound_over_all_pairs
        return bound(self.plus, self.minus, norm)

    def bounds_on(self, box: Array) -> tuple[float, float]:
        """Return numbers between which the term stays over a box; without hinges its exact range."""
        if self.hinges is not None:
            if not np.isfinite(box).all():
                raise ValueError("bounds_on of a function with hinges needs a box with finite ends.")
            box = self.hinges(box.T).T  # every column rises with its feature
        over = polytope(self.plus.n_features, box)
        return minimum(self.plus, self.minus, over).fun, -minimum(self.minus, self.plus, over).fun

    def rises(self, feature: int, box: Array) -> bool:
        """Whether it is proved that the term never falls along a feature, in the box; without hinges that is exact.

        With hinges it is proved interval by interval: no plus piece is less steep than a minus piece.
        """
        if self.hinges is None:
            return never_falls(self.plus, self.minus, feature, box)
        low, high = box[feature]
        knots = self.hinges.knots[feature]
        cells = slice(np.searchsorted(knots, low, "right"), np.searchsorted(knots, high, "left") + 1)
        up, down = (self.hinges.slopes(part.slopes)[feature][:, cells] for part in self.parts)
        size = max(np.abs(up).max(), np.abs(down).max())
        return bool((up.min(axis=0) >= down.max(axis=0) - ROUNDING * size).all())

    def steepness(self, feature: int) -> float:
        """Return the largest slope that a piece has anywhere along a feature."""
        sizes = (part.slopes for part in self.parts)
        if self.hinges is None:
            return float(max(np.abs(slopes[:, feature]).max() for slopes in sizes))
        return float(max(np.abs(self.hinges.slopes(slopes)[feature]).max() for slopes in sizes))

    def map_parts(self, change: Callable[[MaxAffine], MaxAffine]) -> Term:
        """Return the term with both parts changed alike."""
        return Term(change(self.plus), change(self.minus), self.hinges)

    def prune(self, points: Array | None, tol: float) -> Term:
        """Drop pieces that are not needed, anywhere or at the rows."""
        if points is None:
            return self.map_parts(lambda part: prune_exact(part, tol))
        columns = points if self.hinges is None else self.hinges(points)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.plus(columns) - self.minus(columns)
        if not np.isfinite(values).all():
            raise ValueError("The function is too large at some rows of X to be pruned there: its values overflow.")
        allowed = tol * float(np.ptp(values))
        return self.map_parts(lambda part: prune_on(part, columns, allowed))

    @algebra.quiet
    def moved(self, step: Array) -> Term:
        """Return x ↦ term(x + step)."""
        if self.hinges is None:
            return self.map_parts(lambda part: MaxAffine(part.slopes, part.offsets + part.slopes @ step))
        d, hinges = self.n_features, self.hinges.scaled(np.ones(self.n_features), step)
        up, down = (MaxAffine(part.slopes, part.offsets + part.slopes[:, :d] @ step) for part in self.parts)
        return Term(up, down, hinges)

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None) -> Term:
        """Return x ↦ term(matrix @ x + vector); with hinges the matrix must be diagonal and positive."""
        if self.hinges is None:
            return self.map_parts(lambda part: algebra.compose(part, matrix, vector))
        A, d = real(matrix, "matrix"), self.n_features
        if A.shape != (d, d) or (np.diag(np.diag(A)) != A).any() or not (np.diag(A) > 0).all():
            raise TypeError("Hinged features can be shifted and scaled by positive numbers, but not mixed.")
        ramps = self.plus.n_features - d
        wide = np.diag(np.append(np.diag(A), np.ones(ramps)))
        shift = np.zeros(d) if vector is None else real(vector, "vector")
        moved = self.map_parts(lambda part: algebra.compose(part, wide, np.append(shift, np.zeros(ramps))))
        return Term(moved.plus, moved.minus, self.hinges.scaled(np.diag(A), shift))

    def __neg__(self) -> Term:
        return Term(self.minus, self.plus, self.hinges)


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` rows that cover n."""
    for start in range(0, n, size):
        yield slice(start, start + size)


def as_unit(unit: ArrayLike, n_features: int) -> Array:
    """Return units of the features as an array, checked."""
    sizes = real(unit, "unit")
    if sizes.shape != (n_features,):
        raise ValueError(f"unit must have shape ({n_features},), got {sizes.shape}.")
    if not (np.isfinite(sizes).all() and (sizes >= 0).all()):
        raise ValueError("unit must be finite numbers ≥ 0.")
    return sizes


def scattered(terms: Sequence[Term], box: Array, count: int = 4096) -> Array:
    """Return points of a box, always the same ones; where it has no end, they go a little beyond all knots."""
    ends = np.zeros((2, len(box)))
    for j in range(len(box)):
        knots = np.concatenate([np.zeros(0), *(t.hinges.knots[j] for t in terms if t.hinges is not None)])
        if len(knots):
            ends[:, j] = knots.min(), knots.max()
    pad = np.where(np.ptp(ends, axis=0) > 0, np.ptp(ends, axis=0), 1.0)
    low, high = box.T
    low = np.where(np.isfinite(low), low, np.minimum(ends[0], high) - pad)
    high = np.where(np.isfinite(high), high, np.maximum(ends[1], low) + pad)
    # Slopes at a point are those to its right: points lie below the upper ends.
    return np.asarray(low + np.random.RandomState(0).rand(count, len(box)) * (high - low))


def takeover(part: MaxAffine, points: Array, table: Array, weight: Array) -> Array:
    """Distance from each point to where another piece of the part takes over, if slopes stay as they are there.

    Parameters
    ----------
    part : MaxAffine
    points : array of shape (n, columns of the part)
    table : array of shape (pieces, c)
        Slopes of the pieces.
    weight : array of shape (n, c) or (1, c)
        At point i the slope of piece k, times the units, is ``table[k] * weight[i]``.

    Returns
    -------
    array of shape (n,)
        The least of lead / length of the difference of slopes, over pieces of another slope; ∞ if there is none.
    """
    out = np.full(len(points), np.inf)
    most = weight.max(axis=0, initial=0.0)
    table, weight = table * most, weight / np.where(most > 0, most, 1.0)
    size = float(np.abs(table).max(initial=0.0))
    if size == 0 or len(points) == 0:
        return out
    table = table / size  # numbers of order one: their squares are neither 0 nor ∞
    active = part.active(points)
    order = np.argsort(active, kind="stable")
    step = max(1, TILE // part.n_pieces)
    for rows in np.split(order, np.flatnonzero(np.diff(active[order])) + 1):  # a step for each piece that rules
        k = active[rows[0]]
        slopes, offsets = (part.slopes[k] - part.slopes).T, part.offsets[k] - part.offsets
        bend, own = ((table[k] - table) ** 2).T, table[k] ** 2
        for start in range(0, len(rows), step):
            at = rows[start : start + step]
            square = (weight if len(weight) == 1 else weight[at]) ** 2
            steep, least = np.sqrt(square @ bend), ROUNDING * np.sqrt(square @ own)
            with np.errstate(over="ignore"):  # far away
                lead = np.maximum(points[at] @ slopes + offsets, 0.0) / size
                distance = np.full(lead.shape, np.inf)
                np.divide(lead, steep, out=distance, where=np.broadcast_to(steep > least[:, None], lead.shape))
            out[at] = distance.min(axis=1)
    return out
