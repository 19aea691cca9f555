"""Features stretched more here than there, and PLDC functions of such features.

A warp maps each feature by an increasing piecewise-linear function of its own. A PLDC of warped features is continuous
and piecewise linear in the features themselves, so it is a difference of convex functions of them, too; but written out
it has a piece for every cell between knots that a piece crosses. So it is kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import Array, as_points, frozen
from pldc.function.optimize import Optimum, opposite, polytope
from pldc.function.pldc import PLDC, ROUNDING, LocalModel, as_unit, of_type, takeover
from pldc.function.regions import Regions, group
from pldc.function.seminorm import Norm

REMEDY = "model.simplify(X, y) gives one PLDC (but with monotone), as does n_pieces='rows' with geometry='axes'"


@dataclass(frozen=True)
class Warp:
    """The map x ↦ (w₁(x₁), …, w_d(x_d)), each w increasing and piecewise linear; beyond its knots it goes on straight.

    Parameters
    ----------
    knots, images : sequences of d arrays
        For each feature, two knots or more, increasing, and their images, increasing.

    Examples
    --------
    >>> Warp([[0.0, 1.0, 2.0]], [[0.0, 1.0, 4.0]])([[0.5], [1.5], [3.0]])
    array([[0.5],
           [2.5],
           [7. ]])
    """

    knots: Sequence[Array]
    images: Sequence[Array]

    def __post_init__(self) -> None:
        for name in ("knots", "images"):
            object.__setattr__(self, name, tuple(frozen(v, 1, name) for v in getattr(self, name)))
        if not self.knots or [k.shape for k in self.knots] != [i.shape for i in self.images]:
            raise ValueError("A warp needs knots and as many images for each feature.")
        for each in (*self.knots, *self.images):
            if len(each) < 2 or not (np.diff(each) > 0).all():
                raise ValueError("The knots of a feature, and their images, must be two or more, and increasing.")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.knots)

    def __call__(self, X: ArrayLike) -> Array:
        """Map the rows of `X`."""
        points = as_points(X, self.n_features)
        out = np.empty(points.shape)
        for k, (x, knots, images) in enumerate(zip(points.T, self.knots, self.images, strict=True)):
            at = cell(x, knots)
            out[:, k] = images[at] + (x - knots[at]) * (np.diff(images) / np.diff(knots))[at]
        return out

    def stretch(self, X: ArrayLike, left: bool = False) -> Array:
        """Derivatives w_k'(x_k) at the rows of `X`, shape (n, d); at a knot, that to its right (or left)."""
        points = as_points(X, self.n_features)
        columns = zip(points.T, self.knots, self.stretches, strict=True)
        return np.column_stack([s[cell(x, k, left)] for x, k, s in columns])

    @property
    def stretches(self) -> list[Array]:
        """Derivative of each w between its knots."""
        return [np.diff(images) / np.diff(knots) for knots, images in zip(self.knots, self.images, strict=True)]

    def inverse(self) -> Warp:
        """Return the warp that undoes this one."""
        return Warp(self.images, self.knots)

    def image(self, box: Array) -> Array:
        """Map a box, d pairs (low, high) of which some may be infinite."""
        finite = np.isfinite(box)
        corners = self(np.where(finite, box, 0.0).T).T
        return np.where(finite, corners, box)

    def after(self, center: Array, scale: Array) -> Warp:
        """Return x ↦ warp((x − center) / scale)."""
        knots, images = [], []
        for c, s, old, image in zip(center, scale, self.knots, self.images, strict=True):
            new = c + s * old
            apart = np.concatenate([[True], np.diff(new) > 0])  # far from zero, rounding may join two
            if apart.sum() < 2:  # a straight line through all knots
                half = max(abs(c), s)
                rise = (image[-1] - image[0]) / (old[-1] - old[0]) / s
                knots.append(c + half * np.array([-1.0, 1.0]))
                images.append(image[0] - rise * s * old[0] + half * rise * np.array([-1.0, 1.0]))
            else:
                knots.append(new[apart])
                images.append(image[apart])
        return Warp(knots, images)


@dataclass(frozen=True)
class WarpedPLDC:
    """The function x ↦ function(warp(x)), with the interface of :class:`PLDC` but for most of its algebra. Immutable.

    There are no `plus` and `minus` that are convex in x. Supports ``-f``, ``c * f``, ``f / c`` and adding a number.

    Parameters
    ----------
    function : PLDC
    warp : Warp

    Examples
    --------
    >>> f = WarpedPLDC(PLDC.affine([2.0]), Warp([[0.0, 1.0, 2.0]], [[0.0, 1.0, 4.0]]))
    >>> f([[0.5], [1.5]]), f.gradient([[0.5], [1.5]])
    (array([1., 5.]), array([[2.],
           [6.]]))
    """

    function: PLDC
    warp: Warp

    def __post_init__(self) -> None:
        if self.function.n_features != self.warp.n_features:
            raise ValueError(
                f"The function has {self.function.n_features} features and the warp {self.warp.n_features}."
            )

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.function.n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus part, in warped features."""
        return self.function.n_pieces

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        return self.function(self.warp(X))

    def gradient(self, X: ArrayLike) -> Array:
        """Slope of the affine function that rules at each row of `X`, shape (n, d)."""
        return self.local(X).slope

    def local(self, X: ArrayLike) -> LocalModel:
        """Return the active pieces, slope and intercept at each row of `X`, in the features as they are."""
        points = as_points(X, self.n_features)
        warped = self.warp(points)
        inner = self.function.local(warped)
        slope = inner.slope * self.warp.stretch(points)
        value = (inner.slope * warped).sum(axis=1) + inner.intercept
        return replace(inner, slope=slope, intercept=value - (slope * points).sum(axis=1))

    def room(self, X: ArrayLike, unit: ArrayLike) -> Array:
        """Distance from each row of `X` within which f is affine: to another piece or a knot; see :meth:`PLDC.room`.

        Knots count at which the slope of a piece changes. It may be one that rules further on only: then the distance
        is too small.
        """
        points, unit = as_points(X, self.n_features), as_unit(unit, self.n_features)
        warped, weight = self.warp(points), self.warp.stretch(points) * unit
        parts = (self.function.plus, self.function.minus)
        plus, minus = (takeover(part, warped, part.slopes, weight) for part in parts)
        pieces = np.vstack([part.slopes for part in parts])
        bends = [
            bending(
                knots[1:-1], np.outer([slopes.min(), slopes.max()], stretch)
            )  # beyond its knots it goes on straight
            for slopes, knots, stretch in zip(pieces.T, self.warp.knots, self.warp.stretches, strict=True)
        ]
        return np.minimum(nearest_knot(points, bends, unit), np.minimum(plus, minus))

    def seminorm_bound(self, norm: Norm = "joint", active_pairs: bool = False) -> float:
        """Upper bound on the DC seminorm, the same for both norms and with or without `active_pairs`.

        With P_k and M_k the largest slopes of the two parts along warped feature k, both become convex functions of x
        when max(P_k, M_k) times a convex function c_k(x_k) is added to each whose bends are those of w_k; the slopes of
        c_k are at most half the total variation of w_k'. So the bound is
        Σ_k (P_k + M_k) max w_k' + max(P_k, M_k) · variation of w_k'.
        """
        if norm not in get_args(Norm):
            raise ValueError(f"norm must be one of {get_args(Norm)}, got {norm!r}.")
        P, M = (np.abs(part.slopes).max(axis=0) for part in (self.function.plus, self.function.minus))
        steepest = np.array([stretch.max() for stretch in self.warp.stretches])
        variation = np.array([np.abs(np.diff(stretch)).sum() for stretch in self.warp.stretches])
        return float(((P + M) * steepest + np.maximum(P, M) * variation).sum())

    def regions(self, X: ArrayLike) -> Regions:
        """Group the rows of `X` by the pieces, and cells between knots, that rule there; see :meth:`PLDC.regions`."""
        points = as_points(X, self.n_features)
        local = self.local(points)
        return group(points, self._region_keys(points), local.slope, local.intercept)

    def _region_keys(self, points: Array) -> Array:
        cells = [cell(x, knots) for x, knots in zip(points.T, self.warp.knots, strict=True)]
        return np.column_stack([self.function._region_keys(self.warp(points)), *cells])

    def minimize(self, bounds: Any = None, n_jobs: int | None = None) -> Optimum:
        """Find the global minimum over a box, which the warp maps to a box; exact. See :meth:`PLDC.minimize`.

        Other constraints would be curved in warped features: for them fit with ``geometry="axes"``.
        """
        box = polytope(self.n_features, bounds).bounds
        found = self.function.minimize(self.warp.image(box), n_jobs=n_jobs)
        if found.x is None:
            return found
        x = np.clip(self.warp.inverse()(found.x[None])[0], box[:, 0], box[:, 1])
        return replace(found, x=x)

    def maximize(self, bounds: Any = None, n_jobs: int | None = None) -> Optimum:
        """Find the global maximum over a box; see :meth:`minimize`."""
        return opposite((-self).minimize(bounds, n_jobs))

    def bounds_on(self, box: Any) -> tuple[float, float]:
        """Return the exact range of f over a box, given as d pairs (low, high)."""
        return self.minimize(box).fun, self.maximize(box).fun

    def is_monotone(self, feature: int, box: Any = None, increasing: bool = True) -> bool:
        """Say whether f is nondecreasing (or nonincreasing) along a feature, in the box; warps do not change that."""
        image = self.warp.image(polytope(self.n_features, box).bounds)
        return self.function.is_monotone(feature, image, increasing)

    def lipschitz(self, order: float = 2, box: Any = None) -> float:
        """Refused: the slopes change with the cells between knots."""
        raise TypeError(f"lipschitz is for a PLDC of the features themselves: {REMEDY}.")

    def to_relu(self, compact: bool = False) -> list[tuple[Array, Array]]:
        """Refused: the network would have to warp the features first."""
        raise TypeError(f"to_relu is for a PLDC of the features themselves: {REMEDY}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the function as a dictionary of numbers and lists, for JSON; exact to the last bit."""
        from pldc.function.record import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> WarpedPLDC:
        """Return the function of a dictionary made by :meth:`to_dict`; a malformed one is refused."""
        from pldc.function.record import from_dict

        return of_type(cls, from_dict(record))

    def prune(self, X: ArrayLike | None = None, tol: float | None = None) -> WarpedPLDC:
        """Drop pieces that are not needed; see :meth:`PLDC.prune`."""
        return replace(self, function=self.function.prune(None if X is None else self.warp(X), tol))

    def drop_dominated(self) -> WarpedPLDC:
        """Drop pieces that lie below another piece of equal slope."""
        return replace(self, function=self.function.drop_dominated())

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> WarpedPLDC:
        """Return x ↦ f(matrix @ x + vector), for a diagonal matrix of positive numbers."""
        A = np.asarray(matrix, dtype=np.float64)
        size = np.diag(A)
        if A.shape != (self.n_features, self.n_features) or (np.diag(size) != A).any() or not (size > 0).all():
            raise TypeError("Warped features can be shifted and scaled by positive numbers, but not mixed.")
        shift = np.zeros(len(size)) if vector is None else np.asarray(vector, dtype=np.float64)
        return replace(self, warp=self.warp.after(-shift / size, 1.0 / size))

    __array_ufunc__ = None

    def __neg__(self) -> WarpedPLDC:
        return replace(self, function=-self.function)

    def __add__(self, number: Any) -> WarpedPLDC:
        return replace(self, function=self.function + number) if isinstance(number, Real) else NotImplemented

    __radd__ = __add__

    def __mul__(self, factor: Any) -> WarpedPLDC:
        return replace(self, function=self.function * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> WarpedPLDC:
        return replace(self, function=self.function / divisor)

    def __repr__(self) -> str:
        return f"WarpedPLDC({' − '.join(map(str, self.n_pieces))} pieces in {self.n_features} dimensions)"


def cell(x: Array, knots: Array, left: bool = False) -> np.ndarray:
    """Number of the interval between knots that each x lies in, the outer ones without end."""
    return np.clip(np.searchsorted(knots, x, side="left" if left else "right") - 1, 0, len(knots) - 2)


def bending(knots: Array, slopes: Array) -> Array:
    """Return the knots at which slopes (pieces, knots + 1) change, and not all alike: that would cancel in a PLDC."""
    change = np.ptp(np.diff(slopes, axis=1), axis=0)
    return np.asarray(knots[change > ROUNDING * np.abs(slopes).max()])


def nearest_knot(X: Array, knots: Sequence[Array], unit: Array) -> Array:
    """Distance of each row to the nearest knot of any feature, in units of the features; ∞ if there is none."""
    out = np.full(len(X), np.inf)
    for x, at, size in zip(X.T, knots, unit, strict=True):
        if len(at) and size > 0:
            right = np.searchsorted(at, x)
            gaps = (np.abs(x - at[np.clip(right - side, 0, len(at) - 1)]) for side in (0, 1))
            with np.errstate(over="ignore"):  # far away
                np.minimum(out, np.minimum(*gaps) / size, out=out)
    return out
