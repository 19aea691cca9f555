"""Losses of regression, as one family.

Every loss here is an infimal convolution of a parabola with an asymmetric absolute value,

    ℓ(r) = min_q  q² / (2ε) + up · (r − q)⁺ + down · (r − q)⁻,        r = f − y,

so its conjugate is a sum: ℓ*(ω) = ε ω² / 2 on −down ≤ ω ≤ up. Everything below follows from that line:

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

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import Array


@dataclass(frozen=True)
class Loss:
    """One member of the family; see the table at the top of the module.

    Parameters
    ----------
    name : str
    softness : float
        ε: the width of the quadratic part, 0 for none.
    down, up : float
        Largest slope to the left and to the right, possibly infinite.
    """

    name: str
    softness: float
    down: float
    up: float

    def __post_init__(self) -> None:
        if np.isinf(self.down) != np.isinf(self.up) or (np.isinf(self.up) and not self.softness > 0):
            raise ValueError("A loss is bounded in slope on both sides or, with a quadratic part, on neither.")

    def derivative(self, r: ArrayLike) -> Array:
        """A subgradient at r (zero at a kink at zero)."""
        r = np.asarray(r, dtype=np.float64)
        steep = r / self.softness if self.softness > 0 else np.where(r == 0, 0.0, np.copysign(np.inf, r))
        return np.clip(steep, -self.down, self.up)

    def value(self, r: ArrayLike) -> Array:
        """ℓ(r)."""
        omega = self.derivative(r)
        return np.asarray(omega * r - 0.5 * self.softness * omega**2)

    def at(self, f: Array, y: Array) -> Array:
        """Loss of the fit f at targets y."""
        return self.value(f - y)

    def conjugate(self, omega: ArrayLike) -> Array:
        """sup_r ω r − ℓ(r): infinite outside the box."""
        omega = np.asarray(omega, dtype=np.float64)
        inside = (omega >= -self.down) & (omega <= self.up)
        return np.where(inside, 0.5 * self.softness * omega**2, np.inf)

    def prox(self, v: ArrayLike, step: ArrayLike) -> Array:
        """argmin_r step · ℓ(r) + (r − v)² / 2."""
        v, step = np.asarray(v, dtype=np.float64), np.asarray(step, dtype=np.float64)
        return np.asarray(v - step * np.clip(v / (self.softness + step), -self.down, self.up))


def squared() -> Loss:
    """Return (f − y)²: the mean."""
    return Loss("squared", 0.5, np.inf, np.inf)


def absolute() -> Loss:
    """Return |f − y|: the median."""
    return Loss("absolute", 0.0, 1.0, 1.0)


def huber(delta: float) -> Loss:
    """Squared up to `delta`, linear beyond."""
    if not (delta > 0 and np.isfinite(delta)):
        raise ValueError(f"huber_delta must be a positive finite number, got {delta!r}.")
    return Loss("huber", 0.5, 2.0 * delta, 2.0 * delta)


def quantile(q: float) -> Loss:
    """Twice the pinball loss at level `q`, so that q = 1/2 is the absolute loss."""
    if not 0 < q < 1:
        raise ValueError(f"quantile must lie strictly between 0 and 1, got {q!r}.")
    return Loss("quantile", 0.0, 2.0 * q, 2.0 * (1.0 - q))


LOSSES = ("squared", "absolute", "huber", "quantile")


def make_loss(name: str, *, quantile_level: float = 0.5, huber_delta: float = 1.35) -> Loss:
    """Return the loss called `name`."""
    if name == "squared":
        return squared()
    if name == "absolute":
        return absolute()
    if name == "huber":
        return huber(huber_delta)
    if name == "quantile":
        return quantile(quantile_level)
    raise ValueError(f"loss must be one of {LOSSES}, got {name!r}.")
