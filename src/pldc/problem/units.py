"""Standardised units: the coordinates in which a program is written, and the way back for the function it yields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pldc.function.max_affine import Array, MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.term_sum import split_center

LARGE_TABLE_NUMBERS = 1_000_000  # numbers in a table
LEAST = float(np.finfo(np.float64).tiny)  # spread of a column, below which its numbers have lost their digits
STEEPEST = 1e6  # slope of standardised targets, for which there must be room


@dataclass(frozen=True)
class Units:
    """Standardisation of X and y, and its inverse on functions.

    Attributes
    ----------
    center, scale : arrays of shape (d,)
    y_center, y_scale : float
    """

    center: Array
    scale: Array
    y_center: float
    y_scale: float

    @classmethod
    def none(cls, n_features: int) -> Units:
        """Return units that change nothing."""
        return cls(np.zeros(n_features), np.ones(n_features), 0.0, 1.0)

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array) -> Units:
        """Weighted mean and standard deviation; what is constant keeps the scale one."""
        (center, scale), (y_center, y_scale) = _standard(X, weight), _standard(y[:, None], weight)
        with np.errstate(over="ignore"):
            steep = STEEPEST * y_scale[0] / scale
        if not np.isfinite(steep).all():
            raise ValueError(
                f"Slopes would be beyond all floats: y has a spread of {y_scale[0]:.2g}, and a column of X one of "
                f"{scale.min():.2g}. Rescale them."
            )
        return cls(center, scale, float(y_center[0]), float(y_scale[0]))

    def scale_X(self, X: Array) -> Array:
        """Return X in these units."""
        return np.asarray((X - self.center) / self.scale)

    def scale_y(self, y: Array) -> Array:
        """Return y in these units."""
        return (y - self.y_center) / self.y_scale

    def restore(self, f: PLDC) -> PLDC:
        """Return x ↦ y_center + y_scale · f((x − center) / scale), f of one term without hinges."""
        [term], parts = f.centred, []
        near, away = split_center(self.center, self.scale)
        for part, shift in zip(term.parts, (self.y_center, 0.0), strict=True):
            offsets = self.y_scale * (part.offsets - part.slopes @ (near / self.scale)) + shift
            parts.append(MaxAffine(part.slopes * self.y_scale / self.scale, offsets))
        own = 0.0 if f.center is None else self.scale * np.array(f.center)
        return PLDC(parts[0], parts[1]).moved(away + own)


def with_digits(X: Array) -> Array:
    """Return X with columns whose spread is too small for floats to have digits as what they are then: constant.

    Where no other column varies, such a table is refused.
    """
    if not len(X):
        return X
    with np.errstate(over="ignore"):
        spread = np.ptp(X, axis=0)
    lost = (spread > 0) & (spread <= 2 * LEAST)
    if not lost.any():
        return X
    if not (spread > 2 * LEAST).any():
        raise ValueError(f"X has a spread of {spread.max():.2g}: numbers as small as that have no digits. Rescale it.")
    return np.where(lost, X[0], X)


def weighted_mean(X: Array, weight: Array) -> Array:
    """Return the weighted mean of the rows of X."""
    return np.asarray((weight / weight.sum()) @ X)


def _standard(X: Array, weight: Array) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column, without overflow.

    Where a column is constant to rounding they are its first value, exactly, and one. Of large tables one column after
    the other is looked at, so that no copy of the whole is made.
    """
    if X.shape[1] > 1 and X.size > LARGE_TABLE_NUMBERS:
        columns = [_standard(X[:, [j]], weight) for j in range(X.shape[1])]
        return np.concatenate([c for c, _ in columns]), np.concatenate([s for _, s in columns])
    center = weighted_mean(X, weight)
    deviation = X - center
    largest = np.abs(deviation).max(axis=0)
    constant = largest <= np.maximum(8 * np.finfo(float).eps * np.abs(X).max(axis=0), LEAST)
    safe = np.where(constant, 1.0, largest)
    spread = safe * np.sqrt(weighted_mean((deviation / safe) ** 2, weight))
    return np.where(constant, X[0], center), np.where(constant, 1.0, spread)
