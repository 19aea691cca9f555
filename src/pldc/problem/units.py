"""Standardised units: the coordinates in which a program is written, and the way back for the function it yields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pldc.function.max_affine import Array, MaxAffine
from pldc.function.pldc import PLDC


@dataclass(frozen=True)
class Units:
    """Standardisation of X and y, directions to turn X into, and the inverse of both on functions.

    Attributes
    ----------
    center, scale : arrays of shape (d,)
    y_center, y_scale : float
    turn : array of shape (d, k), optional
        The coordinates of a row x are (x − center) / scale @ turn; not given: no turn.
    """

    center: Array
    scale: Array
    y_center: float
    y_scale: float
    turn: Array | None = None

    @classmethod
    def none(cls, n_features: int) -> Units:
        """Return units that change nothing."""
        return cls(np.zeros(n_features), np.ones(n_features), 0.0, 1.0)

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array) -> Units:
        """Weighted mean and standard deviation; what is constant keeps the scale one."""
        center, y_center = weighted_mean(X, weight), weighted_mean(y[:, None], weight)
        return cls(
            center,
            _spread(X, center, weight),
            float(y_center[0]),
            float(_spread(y[:, None], y_center, weight)[0]),
        )

    def scale_X(self, X: Array) -> Array:
        """Return X in these units."""
        Z = (X - self.center) / self.scale
        return Z if self.turn is None else Z @ self.turn

    def scale_y(self, y: Array) -> Array:
        """Return y in these units."""
        return (y - self.y_center) / self.y_scale

    def restore(self, f: PLDC) -> PLDC:
        """Return x ↦ y_center + y_scale · f((x − center) / scale @ turn)."""
        parts = []
        for part, shift in ((f.plus, self.y_center), (f.minus, 0.0)):
            slopes = part.slopes if self.turn is None else part.slopes @ self.turn.T
            offsets = self.y_scale * (part.offsets - slopes @ (self.center / self.scale)) + shift
            parts.append(MaxAffine(slopes * self.y_scale / self.scale, offsets))
        return PLDC(*parts)


def weighted_mean(X: Array, weight: Array) -> Array:
    """Return the weighted mean of the rows of X."""
    return np.asarray((weight / weight.sum()) @ X)


def _spread(X: Array, center: Array, weight: Array) -> Array:
    """Weighted standard deviation of each column, without overflow; one where the column is constant to rounding."""
    deviation = X - center
    largest = np.abs(deviation).max(axis=0)
    constant = largest <= 8 * np.finfo(float).eps * np.abs(X).max(axis=0)
    safe = np.where(constant, 1.0, largest)
    return np.where(constant, 1.0, safe * np.sqrt(weighted_mean((deviation / safe) ** 2, weight)))
