"""Standardised units: the coordinates in which a program is written, and the way back for the function it yields."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pldc.function.max_affine import Array, MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.warp import Warp, WarpedPLDC

LARGE = 1_000_000  # numbers in a table


class Geometry(NamedTuple):
    """Coordinates warp(z) @ turn of standardised features z; what is None is left out.

    Attributes
    ----------
    warp : Warp or None
        Each feature stretched, more here than there.
    turn : array of shape (d, d), or None
        Directions.
    """

    warp: Warp | None = None
    turn: Array | None = None

    def __call__(self, Z: Array) -> Array:
        """Return the coordinates of the rows of Z."""
        warped = Z if self.warp is None else self.warp(Z)
        return warped if self.turn is None else warped @ self.turn

    def slopes_in(self, Z: Array, slopes: Array) -> Array:
        """Turn slopes (…, n, d) along the features z, at the rows of Z, into slopes along the coordinates."""
        if self.warp is not None:
            slopes = slopes / self._stretch(Z)
        return slopes if self.turn is None else slopes @ np.linalg.inv(self.turn).T

    def slopes_out(self, Z: Array, slopes: Array) -> Array:
        """Undo `slopes_in`."""
        slopes = slopes if self.turn is None else slopes @ self.turn.T
        return slopes if self.warp is None else slopes * self._stretch(Z)

    def _stretch(self, Z: Array) -> Array:
        """Mean of the stretches on both sides: rows lie on knots, and no side is better than the other."""
        if self.warp is None:
            return np.ones(Z.shape)
        return 0.5 * (self.warp.stretch(Z) + self.warp.stretch(Z, left=True))


AXES = Geometry()


@dataclass(frozen=True)
class Units:
    """Standardisation of X and y, coordinates made of X, and the inverse of both on functions.

    Attributes
    ----------
    center, scale : arrays of shape (d,)
    y_center, y_scale : float
    geometry : Geometry
        The coordinates of a row x are geometry((x − center) / scale).
    """

    center: Array
    scale: Array
    y_center: float
    y_scale: float
    geometry: Geometry = AXES

    @classmethod
    def none(cls, n_features: int) -> Units:
        """Return units that change nothing."""
        return cls(np.zeros(n_features), np.ones(n_features), 0.0, 1.0)

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array) -> Units:
        """Weighted mean and standard deviation; what is constant keeps the scale one."""
        (center, scale), (y_center, y_scale) = _standard(X, weight), _standard(y[:, None], weight)
        return cls(center, scale, float(y_center[0]), float(y_scale[0]))

    def scale_X(self, X: Array) -> Array:
        """Return X in these units."""
        return self.geometry((X - self.center) / self.scale)

    def scale_y(self, y: Array) -> Array:
        """Return y in these units."""
        return (y - self.y_center) / self.y_scale

    def restore(self, f: PLDC) -> PLDC | WarpedPLDC:
        """Return x ↦ y_center + y_scale · f(geometry((x − center) / scale))."""
        warp, turn = self.geometry
        if warp is not None:
            plain = replace(self, center=np.zeros(len(self.center)), scale=np.ones(len(self.scale)))
            return WarpedPLDC(_restore(plain, f, turn), warp.after(self.center, self.scale))
        return _restore(self, f, turn)


def _restore(units: Units, f: PLDC, turn: Array | None) -> PLDC:
    """Return x ↦ y_center + y_scale · f((x − center) / scale @ turn)."""
    parts = []
    for part, shift in ((f.plus, units.y_center), (f.minus, 0.0)):
        slopes = part.slopes if turn is None else part.slopes @ turn.T
        offsets = units.y_scale * (part.offsets - slopes @ (units.center / units.scale)) + shift
        parts.append(MaxAffine(slopes * units.y_scale / units.scale, offsets))
    return PLDC(*parts)


def weighted_mean(X: Array, weight: Array) -> Array:
    """Return the weighted mean of the rows of X."""
    return np.asarray((weight / weight.sum()) @ X)


def _standard(X: Array, weight: Array) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column, without overflow.

    Where a column is constant to rounding they are its first value, exactly, and one. Of large tables one column after
    the other is looked at, so that no copy of the whole is made.
    """
    if X.shape[1] > 1 and X.size > LARGE:
        columns = [_standard(X[:, [j]], weight) for j in range(X.shape[1])]
        return np.concatenate([c for c, _ in columns]), np.concatenate([s for _, s in columns])
    center = weighted_mean(X, weight)
    deviation = X - center
    largest = np.abs(deviation).max(axis=0)
    constant = largest <= 8 * np.finfo(float).eps * np.abs(X).max(axis=0)
    safe = np.where(constant, 1.0, largest)
    spread = safe * np.sqrt(weighted_mean((deviation / safe) ** 2, weight))
    return np.where(constant, X[0], center), np.where(constant, 1.0, spread)
