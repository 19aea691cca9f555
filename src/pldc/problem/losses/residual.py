"""Losses of the residual r = f − y, as one family.

Every loss here is an infimal convolution of a parabola with an asymmetric absolute value,

    ℓ(r) = min_q  q² / (2ε) + up · (r − q)⁺ + down · (r − q)⁻,

so its conjugate is a sum: ε ω² / 2 + ω y on −down ≤ ω ≤ up. Everything below follows from that line:

    ω = ℓ'(r) = clip(r / ε, −down, up)      ℓ(r) = ω r − ε ω² / 2      prox: ω = clip(v / (ε + s), −down, up)

and so does the form that the interior point solves (a box on ω, with weight ε on ω²).

==========  ====  ========  ========  =========================================
name        ε     down      up        ℓ(r)
==========  ====  ========  ========  =========================================
squared     1/2   ∞         ∞         r²
absolute    0     1         1         |r|
huber       1/2   2δ        2δ        r² for |r| ≤ δ, else 2δ|r| − δ²
quantile    0     2q        2(1−q)    2q (y − f)⁺ + 2(1 − q) (f − y)⁺
==========  ====  ========  ========  =========================================

The scalings make huber with a large δ equal to squared, and quantile at q = 1/2 equal to absolute.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from pldc.function.checks import shown
from pldc.function.max_affine import Array
from pldc.problem.losses.base import ROUNDING_OF_Y, Observations
from pldc.problem.losses.box_form import Residuals
from pldc.problem.losses.values import ValueLoss

INFLATED = 4  # times that outliers inflate the deviation of y before they are set apart
LEAST_SHARE = 1e-2  # of that deviation below which no size of y is typical: the engines would not arrive
NORMAL = 1.4826  # standard deviations of a normal variable in its median distance from the middle
MIDDLE = 0.25, 0.75  # levels of quantiles that are near the middle
LARGEST = float(np.finfo(np.float64).max)


class ResidualLoss(ValueLoss):
    """One member of the family; see the table at the top of the module."""

    shifts = True
    boxed = True

    @property
    @abstractmethod
    def softness(self) -> float:
        """ε: the width of the quadratic part, 0 for none."""

    @property
    @abstractmethod
    def down(self) -> float:
        """Largest slope to the left, possibly infinite."""

    @property
    @abstractmethod
    def up(self) -> float:
        """Largest slope to the right; infinite if `down` is."""

    @property
    def degree(self) -> int:
        """2 with a quadratic part, else 1."""
        return 2 if self.softness > 0 else 1

    @property
    def quadratic(self) -> bool:
        """Whether there is no box."""
        return bool(np.isinf(self.up))

    @property
    def resists_outliers(self) -> bool:
        """Whether there is no quadratic part."""
        return not self.softness > 0

    def at(self, f: Array, y: Array) -> Array:
        """ℓ(f − y)."""
        return self.both(f, y)[0]

    def gradient(self, f: Array, y: Array) -> Array:
        """A subgradient (zero at a kink at zero)."""
        return self._slope(f - y)

    def both(self, f: Array, y: Array) -> tuple[Array, Array]:
        """ℓ and ω."""
        r = f - y
        omega = self._slope(r)
        return np.asarray(omega * r - 0.5 * self.softness * omega**2), omega

    def _slope(self, r: Any) -> Array:
        r = np.asarray(r, dtype=np.float64)
        steep = r / self.softness if self.softness > 0 else np.where(r == 0, 0.0, np.copysign(np.inf, r))
        return np.clip(steep, -self.down, self.up)

    def conjugate(self, omega: Array, y: Array) -> Array:
        """ε ω² / 2 + ω y: infinite outside the box."""
        omega = np.asarray(omega, dtype=np.float64)
        inside = (omega >= -self.down) & (omega <= self.up)
        return np.where(inside, 0.5 * self.softness * omega**2 + omega * y, np.inf)

    def prox(self, v: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """ω is a clip."""
        r = v - y
        return np.asarray(y + (r - step * np.clip(r / (self.softness + step), -self.down, self.up)))

    def room(self, omega: Array, y: Array | None = None) -> float:
        """Return the largest t with t · ω in the box."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limit = np.where(omega > 0, self.up / omega, np.where(omega < 0, -self.down / omega, np.inf))
        return float(limit.min())

    def reward(self, omega: Array, y: Array, weight: Array, most: float) -> tuple[float, float]:
        """Return the best of −ε t² Σ w ω² / 2 − t Σ w ω y, a parabola in t, and its t."""
        bend, push = self.softness * float(weight @ omega**2), -float(weight @ (omega * y))
        if not push > 0:
            return 0.0, 0.0
        t = min(most, self.room(omega), push / bend if bend != 0 else np.inf)
        value = t * push - 0.5 * bend * t**2
        return (value, t) if np.isfinite(value) else (0.0, 0.0)

    def fit_at(self, omega: Array, y: Array) -> Array:
        """Y + ε ω; at the ends of the box, any f beyond."""
        return y + self.softness * omega

    def irls_weight(self, f: Array, y: Array) -> Array:
        """One over the larger of ε and what the slopes allow."""
        r = f - y
        floor = self.softness or max(1e-9 * float(np.ptp(y)) / max(self.down, self.up), np.finfo(float).tiny)
        return 1.0 / np.maximum(floor, np.abs(r) / np.where(r > 0, self.up, self.down))

    def smoothed(self, width: float) -> ResidualLoss:
        """Replace a kink by a parabola."""
        return self if self.softness > 0 else Boxed(width, self.down, self.up)

    def spread(self, data: Observations) -> float:
        """Return the standard deviation of y or, where the loss hardly sees what inflates it, a typical distance.

        That is the median distance from the best constant, of those y that differ from it.
        """
        deviation = super().spread(data)
        distance = np.abs(data.y - data.null_fit)
        differ = distance > ROUNDING_OF_Y * np.abs(data.y).max()
        if self.quadratic or not differ.any():
            return deviation
        typical = max(NORMAL * weighted_median(distance[differ], data.weight[differ]), LEAST_SHARE * deviation)
        return typical if INFLATED * typical < deviation else deviation

    def rounding(self, y: Array) -> float:
        """Return the loss of residuals that are rounding errors of y."""
        error = ROUNDING_OF_Y * float(np.abs(y).max())
        return float(self.at(np.array([error, -error]), np.zeros(2)).max())

    def residual_unit(self, y: Array, spread: float) -> float:
        """For a quadratic loss, exactly ε."""
        return self.softness if self.quadratic else super().residual_unit(y, spread)

    def box_form(self, data: Observations) -> Residuals:
        """Return the loss itself: it is of this form."""
        return Residuals(data, self)


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """(f − y)²: the mean."""

    name = "squared"
    softness = 0.5
    down = up = np.inf
    of_means = True


@dataclass(frozen=True)
class Absolute(ResidualLoss):
    """``|f − y|``: the median."""

    name = "absolute"
    softness = 0.0
    down = up = 1.0


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """Squared up to `delta`, linear beyond: the mean, outliers counting less.

    Parameters
    ----------
    delta : float, default=1.35
        In units of the standard deviation of y (of y itself where it is not standardised). Outliers inflate that
        deviation: against them a value such as 0.2 is more robust than the default, and against gross ones the absolute
        loss, which needs no unit.
    """

    name = "huber"
    softness = 0.5
    delta: float = 1.35

    def __post_init__(self) -> None:
        if not (isinstance(self.delta, Real) and 0 < self.delta <= LARGEST):
            raise ValueError(f"The delta of Huber must be a positive finite number, got {shown(self.delta)}.")

    @property
    def down(self) -> float:
        """2δ."""
        return 2.0 * self.delta

    @property
    def up(self) -> float:
        """2δ."""
        return 2.0 * self.delta

    def rescaled(self, unit: float) -> Huber:
        """δ has the unit of y."""
        return Huber(self.delta / unit)


@dataclass(frozen=True)
class Quantile(ResidualLoss):
    """Twice the pinball loss: the quantile of y at `level`.

    Parameters
    ----------
    level : float or increasing sequence of float, default=0.5
        Share of targets below f; 0.5 is the absolute loss. Several levels stand for one fit each (see `each`), whose
        predictions are columns that never cross.
    """

    name = "quantile"
    softness = 0.0
    level: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.level, (Real, str)) and isinstance(self.level, (Sequence, np.ndarray)):
            object.__setattr__(self, "level", tuple(self.level))
        levels = self.levels
        if not (levels and all(isinstance(q, Real) and 0 < q < 1 for q in levels)):
            raise ValueError(
                f"The level of Quantile must lie strictly between 0 and 1, or be several such; got {self.level!r:.80}."
            )
        if any(a >= b for a, b in pairwise(levels)):
            raise ValueError(f"Several levels of Quantile must increase, got {self.level!r:.80}.")

    @property
    def levels(self) -> tuple[float, ...]:
        """All levels, also of one."""
        return self.level if isinstance(self.level, tuple) else (self.level,)

    @property
    def each(self) -> tuple[Quantile, ...]:
        """One loss for each level."""
        return tuple(Quantile(float(q)) for q in self.levels) if isinstance(self.level, tuple) else (self,)

    @property
    def _only(self) -> float:
        if len(self.levels) > 1:
            raise ValueError(f"{self} stands for several losses: take one of `each`.")
        return self.levels[0]

    @property
    def down(self) -> float:
        """2q."""
        return 2.0 * self._only

    @property
    def up(self) -> float:
        """2 (1 − q)."""
        return 2.0 * (1.0 - self._only)

    @property
    def off_centre(self) -> bool:
        """Whether a level is low or high."""
        return not all(MIDDLE[0] <= q <= MIDDLE[1] for q in self.levels)


@dataclass(frozen=True)
class Boxed(ResidualLoss):
    """Any member of the family, by its three numbers."""

    name = "boxed"
    softness: float = 0.0
    down: float = 1.0
    up: float = 1.0

    def __post_init__(self) -> None:
        if np.isinf(self.down) != np.isinf(self.up) or (np.isinf(self.up) and not self.softness > 0):
            raise ValueError("A loss is bounded in slope on both sides or, with a quadratic part, on neither.")

    def rescaled(self, unit: float) -> Boxed:
        """With a quadratic part slopes have the unit of y."""
        return self if self.softness == 0 else Boxed(self.softness, self.down / unit, self.up / unit)


def weighted_median(values: Array, weight: Array) -> float:
    """Return the smallest value that half of the weight does not exceed."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, 0.5 * below[-1])])
