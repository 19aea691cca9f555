"""The loss of counts: half the Poisson deviance of a mean f, with the identity link, so that f stays piecewise linear.

    ω = ∂ℓ/∂f = (f − y) / max(f, c),      ℓ(f, y) = f − y + y log(y / f) for f ≥ c,

a residual divided by the variance, which is the mean but never less than the floor c. Below c this is a parabola,
ℓ = (f − y)² / (2c) + k with k what makes both meet at c. So ℓ is finite, convex and differentiable everywhere, f = y is
its minimum for every y, and the best constant is the mean whatever the floor. With g = 1 − y / c, the slope at c, the
conjugate is −y log(1 − ω) for g ≤ ω ≤ 1 and c ω² / 2 + ω y − k for ω < g.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import xlogy

from pldc.function.checks import shown
from pldc.function.max_affine import Array
from pldc.problem.losses.base import ROUNDING_OF_Y
from pldc.problem.losses.values import ValueLoss

LARGEST_SLOPE = 1.0 - 1e-12  # at 1 the conjugate is infinite
FLOOR_OF_DESCENT = 0.05  # in units of y: the curvature of the loss is up to one over it, and a descent slow


@dataclass(frozen=True)
class Poisson(ValueLoss):
    """Half the Poisson deviance, f − y log f and what makes it zero at f = y ≥ `floor`: the mean of counts, y ≥ 0.

    Parameters
    ----------
    floor : float, default=0.001
        Below it a mean costs as much as a parabola, not infinitely much; in units of the standard deviation of y (of y
        itself where it is not standardised).
    """

    name = "poisson"
    nonnegative = True
    of_means = True
    floor: float = 1e-3

    def __post_init__(self) -> None:
        if not (isinstance(self.floor, Real) and 0 < self.floor < np.inf):
            raise ValueError(f"The floor of Poisson must be a positive finite number, got {shown(self.floor)}.")

    def _deviance(self, f: Array, y: Array) -> Array:
        """Return f − y + y log(y / f) for f > 0, by a formula that is accurate near f = y."""
        count = np.where(y > 0, y, 1.0)
        r = (f - y) / count
        return np.where(y > 0, count * np.maximum(r - np.log1p(r), 0.0), f)

    def at(self, f: Array, y: Array) -> Array:
        """ℓ: from the floor down, the parabola falls or rises with it."""
        above, below = np.maximum(f, self.floor), np.minimum(f - self.floor, 0.0)
        return np.asarray(self._deviance(above, y) + below * (self.floor - y + 0.5 * below) / self.floor)

    def gradient(self, f: Array, y: Array) -> Array:
        """ω."""
        return np.asarray((f - y) / np.maximum(f, self.floor))

    def prox(self, v: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """Return the root of a quadratic or, below the floor, of a linear equation."""
        b = v - step
        root = np.hypot(b, 2.0 * np.sqrt(step * y))
        above = np.where(b > 0, 0.5 * (b + root), 2.0 * step * y / np.where(b > 0, 1.0, root - b))
        return np.where(above >= self.floor, above, (self.floor * v + step * y) / (self.floor + step))

    def conjugate(self, omega: Array, y: Array) -> Array:
        """ℓ*: infinite beyond 1."""
        inside, c = np.minimum(omega, 1.0), self.floor
        with np.errstate(divide="ignore"):
            above = -xlogy(y, 1.0 - inside)
        offset = self._deviance(np.full(np.shape(y), c), y) - 0.5 * (c - y) * ((c - y) / c)
        below = 0.5 * c * inside**2 + inside * y - offset
        return np.where(omega > 1.0, np.inf, np.where(inside >= 1.0 - y / c, above, below))

    def room(self, omega: Array, y: Array | None = None) -> float:
        """Return how far ω is below 1."""
        steepest = float(omega.max(initial=0.0))
        return LARGEST_SLOPE / steepest if steepest > 0 else np.inf

    def fit_at(self, omega: Array, y: Array) -> Array:
        """Return y / (1 − ω), or a point of the parabola."""
        above = y / np.where(omega < 1.0, 1.0 - omega, 1.0)
        return np.where(omega >= 1.0 - y / self.floor, above, y + self.floor * omega)

    def irls_weight(self, f: Array, y: Array) -> Array:
        """Return one over the variance, as in Fisher scoring."""
        return 1.0 / np.maximum(f, self.floor)

    def rescaled(self, unit: float) -> Poisson:
        """The floor has the unit of y."""
        return Poisson(self.floor / unit)

    def smoothed(self, width: float) -> Poisson:
        """Raise the floor."""
        return Poisson(max(self.floor, width, FLOOR_OF_DESCENT))

    def rounding(self, y: Array) -> float:
        """Return a rounding error of y, whose slope is of order one."""
        return ROUNDING_OF_Y * float(y.max())
