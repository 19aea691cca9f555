"""Features bent at knots, and PLDC functions of them: each piece is a sum of one-dimensional curves.

Hinges map a row x to x itself and, for every feature and each interval [a, b] between its knots, to the ramp

    clip((x_j − a) / (b − a), 0, 1),

which rises by one across the interval and is flat elsewhere. An affine function of these is a sum of curves, one a
feature, with bends at the knots; a maximum of such sums less another is piecewise linear in x. With one piece it is an
additive model; with more, its curves differ from regime to regime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.knots import bending, nearest_knot
from pldc.function.max_affine import Array, IntArray, MaxAffine, as_points, frozen
from pldc.function.optimize import polytope
from pldc.function.pldc import PLDC, LocalModel, as_unit, of_type, takeover
from pldc.function.regions import Regions, group
from pldc.function.seminorm import Norm

BLOCK = 8192  # rows whose features are held at once
NUMBERS = 1 << 20  # numbers in a table of rows and intervals that is held at once
REMEDY = "model.simplify(X, y) gives one PLDC (but with monotone), as does n_pieces='rows'"


@dataclass(frozen=True)
class Hinges:
    """The map x ↦ (x, ramps between the knots of each feature).

    Parameters
    ----------
    knots : sequence of d arrays
        For each feature none, or two and more, increasing.

    Examples
    --------
    >>> Hinges([[0.0, 1.0, 3.0]])([[-1.0], [0.5], [2.0]])
    array([[-1. ,  0. ,  0. ],
           [ 0.5,  0.5,  0. ],
           [ 2. ,  1. ,  0.5]])
    """

    knots: Sequence[Array]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", tuple(frozen(k, 1, "knots") for k in self.knots))
        if not self.knots:
            raise ValueError("Hinges need the knots of at least one feature.")
        for each in self.knots:
            if len(each) == 1 or not (np.diff(each) > 0).all():
                raise ValueError("The knots of a feature must be none, or two and more, and increasing.")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.knots)

    @property
    def n_columns(self) -> int:
        """Number of columns that they are mapped to."""
        return self.n_features + int(sum(len(k) - 1 for k in self.knots if len(k)))

    def __call__(self, X: ArrayLike) -> Array:
        """Map the rows of `X`."""
        points = as_points(X, self.n_features)
        out = np.empty((len(points), self.n_columns))
        out[:, : self.n_features] = points
        with np.errstate(over="ignore"):  # far away a ramp is 0 or 1 all the same
            np.clip((points[:, self.source] - self.start) / self.width, 0.0, 1.0, out=out[:, self.n_features :])
        return out

    @property
    def source(self) -> IntArray:
        """The feature of each ramp."""
        return np.repeat(np.arange(self.n_features), [max(len(k) - 1, 0) for k in self.knots])

    @property
    def start(self) -> Array:
        """Where each ramp begins."""
        return np.concatenate([k[:-1] for k in self.knots])

    @property
    def width(self) -> Array:
        """How long each ramp is."""
        return np.concatenate([np.diff(k) for k in self.knots])

    def cells(self, X: Array) -> IntArray:
        """Number of the interval between knots that each x_j lies in, shape (n, d); at a knot, that to its right."""
        return np.column_stack([np.searchsorted(k, x, side="right") for x, k in zip(X.T, self.knots, strict=True)])

    def rising(self, X: Array) -> Array:
        """Derivative of each ramp along its feature at the rows of X, shape (n, ramps)."""
        cell = self.cells(X)
        number = np.concatenate([np.arange(max(len(k) - 1, 0)) for k in self.knots])
        return (cell[:, self.source] == number + 1) / self.width

    def fold(self, columns: Array) -> Array:
        """Add up columns of ramps (…, ramps) feature by feature: (…, d)."""
        out = np.zeros((*columns.shape[:-1], self.n_features))
        for j in np.unique(self.source):
            out[..., j] = columns[..., self.source == j].sum(axis=-1)
        return out

    def slopes(self, pieces: Array) -> list[Array]:
        """Slopes along each feature of pieces (k, columns), interval by interval, with the open ends: (k, cells)."""
        out = []
        for j, knots in enumerate(self.knots):
            linear = pieces[:, [j]]
            inside = pieces[:, self.n_features :][:, self.source == j] / np.diff(knots) if len(knots) else linear[:, :0]
            out.append(np.hstack([linear, linear + inside, linear]) if len(knots) else linear)
        return out

    def within(self, X: Array, unit: Array) -> Array:
        """The unit of each feature in the column of the interval that x_j lies in, else 0; columns as of `slopes`."""
        count = [len(k) + 1 for k in self.knots]
        out = np.zeros((len(X), sum(count)))
        np.put_along_axis(out, self.cells(X) + np.cumsum([0, *count[:-1]]), unit[None], axis=1)
        return out


@dataclass(frozen=True)
class HingedPLDC:
    """The function x ↦ function(hinges(x)), with the interface of :class:`PLDC` but for most of its algebra. Immutable.

    Supports ``-f``, ``c * f``, ``f / c`` and adding a number.

    Parameters
    ----------
    function : PLDC
        Of as many features as the hinges have columns.
    hinges : Hinges

    Examples
    --------
    >>> f = HingedPLDC(PLDC.affine([0.0, 1.0, -2.0]), Hinges([[0.0, 1.0, 3.0]]))
    >>> f([[0.5], [2.0]]), f.gradient([[0.5], [2.0]])
    (array([0.5, 0. ]), array([[ 1.],
           [-1.]]))
    """

    function: PLDC
    hinges: Hinges

    def __post_init__(self) -> None:
        if self.function.n_features != self.hinges.n_columns:
            raise ValueError(
                f"The function has {self.function.n_features} features and the hinges {self.hinges.n_columns} columns."
            )

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.hinges.n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus part, each a sum of curves."""
        return self.function.n_pieces

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        points = as_points(X, self.n_features)
        out = np.empty(len(points))
        for start in range(0, len(points), BLOCK):
            rows = slice(start, start + BLOCK)
            out[rows] = self.function(self.hinges(points[rows]))
        return out

    def gradient(self, X: ArrayLike) -> Array:
        """Slope of the affine function that rules at each row of `X`, shape (n, d)."""
        return self.local(X).slope

    def local(self, X: ArrayLike) -> LocalModel:
        """Return the active pieces, slope and intercept at each row of `X`, in the features as they are."""
        points = as_points(X, self.n_features)
        blocks = [self._local(points[start : start + BLOCK]) for start in range(0, max(len(points), 1), BLOCK)]
        return LocalModel(*(np.concatenate([getattr(b, name) for b in blocks]) for name in LocalModel.__annotations__))

    def _local(self, points: Array) -> LocalModel:
        columns, d = self.hinges(points), self.n_features
        inner = self.function.local(columns)
        slope = inner.slope[:, :d] + self.hinges.fold(inner.slope[:, d:] * self.hinges.rising(points))
        value = (inner.slope * columns).sum(axis=1) + inner.intercept
        return replace(inner, slope=slope, intercept=value - (slope * points).sum(axis=1))

    def seminorm_bound(self, norm: Norm = "joint", active_pairs: bool = False) -> float:
        """Upper bound on the DC seminorm, the same for both norms and with or without `active_pairs`.

        Every curve of a piece becomes convex when the convex curve is added whose bends are the largest of all pieces
        at each knot; added to both parts, f is unchanged. The slopes of what is added are at most half the sum of its
        bends, so the bound is Σ_j P_j + M_j + Σ of the bends of feature j, P_j and M_j the largest slopes of the parts.
        """
        if norm not in get_args(Norm):
            raise ValueError(f"norm must be one of {get_args(Norm)}, got {norm!r}.")
        total = 0.0
        plus, minus = (self.hinges.slopes(part.slopes) for part in (self.function.plus, self.function.minus))
        for up, down in zip(plus, minus, strict=True):
            bends = np.maximum(-np.diff(np.vstack([up, down]), axis=1), 0.0).max(axis=0, initial=0.0)
            total += float(np.abs(up).max() + np.abs(down).max() + bends.sum())
        return total

    def prune(self, X: ArrayLike | None = None, tol: float | None = None) -> HingedPLDC:
        """Drop pieces that are not needed; see :meth:`PLDC.prune`."""
        return replace(self, function=self.function.prune(None if X is None else self.hinges(X), tol))

    def drop_dominated(self) -> HingedPLDC:
        """Drop pieces that lie below another piece of equal slopes."""
        return replace(self, function=self.function.drop_dominated())

    def regions(self, X: ArrayLike) -> Regions:
        """Group the rows of `X` by the pieces and intervals between knots that rule there; see :meth:`PLDC.regions`."""
        points = as_points(X, self.n_features)
        local = self.local(points)
        return group(points, self._region_keys(points), local.slope, local.intercept)

    def _region_keys(self, points: Array) -> Array:
        local = self.local(points)
        return np.column_stack([local.plus, local.minus, self.hinges.cells(points)])

    def room(self, X: ArrayLike, unit: ArrayLike) -> Array:
        """Distance from each row of `X` within which f is affine: to another piece or a knot; see :meth:`PLDC.room`.

        Knots count at which the curve of a piece bends. It may be one that rules further on only: then the distance is
        too small.
        """
        points, unit = as_points(X, self.n_features), as_unit(unit, self.n_features)
        parts = (self.function.plus, self.function.minus)
        curves = [self.hinges.slopes(part.slopes) for part in parts]
        tables = [np.hstack(each) for each in curves]
        bends = [bending(k, np.vstack(both)) for k, *both in zip(self.hinges.knots, *curves, strict=True)]
        out = nearest_knot(points, bends, unit)
        step = max(1, NUMBERS // tables[0].shape[1])
        for start in range(0, len(points), step):
            rows = slice(start, start + step)
            columns, weight = self.hinges(points[rows]), self.hinges.within(points[rows], unit)
            for part, table in zip(parts, tables, strict=True):
                np.minimum(out[rows], takeover(part, columns, table, weight), out=out[rows])
        return out

    def minimize(self, bounds: Any = None, **settings: Any) -> Any:
        """Refused: the curves of the pieces are neither convex nor concave."""
        raise TypeError(f"minimize is for a PLDC of the features themselves: {REMEDY}.")

    def maximize(self, bounds: Any = None, **settings: Any) -> Any:
        """Refused, as :meth:`minimize` is."""
        raise TypeError(f"maximize is for a PLDC of the features themselves: {REMEDY}.")

    def bounds_on(self, box: Any) -> tuple[float, float]:
        """Return numbers between which f stays over a box, given as d pairs (low, high); the range may be narrower."""
        ends = polytope(self.n_features, box).bounds
        if not np.isfinite(ends).all():
            raise ValueError("bounds_on of a function with hinges needs a box with finite ends.")
        image = self.hinges(ends.T).T  # every column rises with its feature
        return self.function.bounds_on(image)

    def is_monotone(self, feature: int, box: Any = None, increasing: bool = True) -> bool:
        """Say whether f is nondecreasing (or nonincreasing) along a feature, everywhere in the box.

        True is proved, interval by interval: no plus piece is less steep than a minus piece. False is proved by a
        falling slope at a point. Where neither is found it is refused.
        """
        if not isinstance(feature, Integral) or not 0 <= feature < self.n_features:
            raise ValueError(f"feature must be its number, 0 to {self.n_features - 1}; got {feature!r}.")
        low, high = polytope(self.n_features, box).bounds.T
        if low[feature] == high[feature]:
            return True  # a fixed feature
        f, knots = self if increasing else -self, self.hinges.knots
        first, last = (np.searchsorted(knots[feature], e[feature], s) for e, s in ((low, "right"), (high, "left")))
        curves = (f.hinges.slopes(part.slopes)[feature] for part in (f.function.plus, f.function.minus))
        up, down = (each[:, first : last + 1] for each in curves)
        size = max(np.abs(up).max(), np.abs(down).max())
        if (up.min(axis=0) >= down.max(axis=0) - 1e-12 * size).all():
            return True
        ends = np.array([k[[0, -1]] if len(k) else [0.0, 0.0] for k in knots]).T
        pad = np.where(np.ptp(ends, axis=0) > 0, np.ptp(ends, axis=0), 1.0)
        low = np.where(np.isfinite(low), low, np.minimum(ends[0], high) - pad)
        high = np.where(np.isfinite(high), high, np.maximum(ends[1], low) + pad)
        # Slopes at a point are those to its right: points lie below the upper ends.
        X = low + np.random.RandomState(0).rand(4096, self.n_features) * (high - low)
        if (f.gradient(X)[:, feature] < -1e-9 * size).any():
            return False
        raise TypeError(f"It could not be decided whether f is monotone: {REMEDY}.")

    def lipschitz(self, order: float = 2, box: Any = None) -> float:
        """Refused: the slopes change with the intervals between knots."""
        raise TypeError(f"lipschitz is for a PLDC of the features themselves: {REMEDY}.")

    def to_relu(self, compact: bool = False) -> list[tuple[Array, Array]]:
        """Refused: the network would have to make the ramps first."""
        raise TypeError(f"to_relu is for a PLDC of the features themselves: {REMEDY}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the function as a dictionary of numbers and lists, for JSON; exact to the last bit."""
        from pldc.function.record import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> HingedPLDC:
        """Return the function of a dictionary made by :meth:`to_dict`; a malformed one is refused."""
        from pldc.function.record import from_dict

        return of_type(cls, from_dict(record))

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> HingedPLDC:
        """Return x ↦ f(matrix @ x + vector), for a diagonal matrix of positive numbers."""
        A = np.asarray(matrix, dtype=np.float64)
        size = np.diag(A)
        if A.shape != (self.n_features, self.n_features) or (np.diag(size) != A).any() or not (size > 0).all():
            raise TypeError("Hinged features can be shifted and scaled by positive numbers, but not mixed.")
        shift = np.zeros(len(size)) if vector is None else np.asarray(vector, dtype=np.float64)
        return replace(
            self,
            function=stretched(self.function, size, shift),
            hinges=Hinges([(k - b) / a for k, a, b in zip(self.hinges.knots, size, shift, strict=True)]),
        )

    __array_ufunc__ = None

    def __neg__(self) -> HingedPLDC:
        return replace(self, function=-self.function)

    def __add__(self, number: Any) -> HingedPLDC:
        return replace(self, function=self.function + number) if isinstance(number, Real) else NotImplemented

    __radd__ = __add__

    def __mul__(self, factor: Any) -> HingedPLDC:
        return replace(self, function=self.function * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> HingedPLDC:
        return replace(self, function=self.function / divisor)

    def __repr__(self) -> str:
        return f"HingedPLDC({' − '.join(map(str, self.n_pieces))} pieces in {self.n_features} dimensions)"


def stretched(function: PLDC, size: Array, shift: Array) -> PLDC:
    """Return the function with its first columns z read as size · z + shift; the other columns stay."""
    d = len(size)
    parts = []
    for part in (function.plus, function.minus):
        slopes = part.slopes.copy()
        offsets = part.offsets + slopes[:, :d] @ shift
        slopes[:, :d] *= size
        parts.append(MaxAffine(slopes, offsets))
    return PLDC(*parts)
