"""The loop of the interior points: predict, correct, and step.

Every inequality has a slack s and a multiplier z, both positive; steps drive all products s·z to zero together with the
residuals of the optimality conditions. A direction follows Mehrotra: a predictor, then a corrector that aims at a
centre chosen by how far the predictor could go, then some of Gondzio's corrections while they lengthen the step. What
is particular to a program is how its linearised conditions are solved: a subclass says it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.losses import Residuals

TO_BOUNDARY = 0.995
SHORTEST_STEP = 1e-10


class Direction(NamedTuple):
    """Changes of the variables, of all slacks, of all multipliers, and of ω."""

    x: Any
    s: list[Array]
    z: list[Array]
    omega: Array


class PredictorCorrector(ABC):
    """An iterate with slacks `s` and multipliers `z`, arrays kind by kind, and the dual variables `omega` of the loss.

    Attributes
    ----------
    mask : list of arrays
        One where an inequality is held, else zero.
    count : float
        Number of inequalities.
    curved : bool
        The loss is: steps of slacks and multipliers are then equal.
    correctors : int
        Of Gondzio, at most.
    """

    s: list[Array]
    z: list[Array]
    mask: list[Array]
    omega: Array
    count: float
    curved: bool
    correctors: int = 2

    @abstractmethod
    def linearise(self) -> None:
        """Look how far the iterate is from each optimality condition, and factor their derivatives."""

    @abstractmethod
    def direction(self, target: list[Array]) -> Direction:
        """Solve the linearised conditions for a wanted change `target` of every product s·z."""

    @abstractmethod
    def move(self, length: float, change: Any) -> None:
        """Change the variables."""

    @property
    def mu(self) -> float:
        """Average product of slack and multiplier."""
        return sum(float(np.vdot(s, z * m)) for s, z, m in zip(self.s, self.z, self.mask, strict=True)) / self.count

    def step(self) -> bool:
        """Take one step; False if the system cannot be solved or no progress is possible."""
        try:
            self.linearise()
            direction, (a, b) = self._search()
        except np.linalg.LinAlgError:
            return False
        a, b = min(1.0, TO_BOUNDARY * a), min(1.0, TO_BOUNDARY * b)
        if not min(a, b) > SHORTEST_STEP:
            return False
        self.move(a, direction.x)
        self.s = [s + a * ds for s, ds in zip(self.s, direction.s, strict=True)]
        self.z = [z + b * dz for z, dz in zip(self.z, direction.z, strict=True)]
        self.omega = self.omega + b * direction.omega
        return True

    def _search(self) -> tuple[Direction, tuple[float, float]]:
        """Predict, correct, and correct again while that lengthens the step."""
        products = [s * z for s, z in zip(self.s, self.z, strict=True)]
        predictor = self.direction([-product for product in products])
        a, b = self._lengths(predictor)
        mu = self.mu
        after = sum(float(v.sum()) for v in self._products_after(predictor, a, b)) / self.count
        centre = mu * min(1.0, max(after / mu, 1e-8)) ** 3
        # Mehrotra's second-order term assumes a full step of the predictor; where that blocks, for the step it took.
        best = -1.0
        for share in (1.0, a * b):
            aim = [
                m * (centre - share * ds * dz) - product
                for m, ds, dz, product in zip(self.mask, predictor.s, predictor.z, products, strict=True)
            ]
            other = self.direction(aim)
            lengths = self._lengths(other)
            if sum(lengths) > best:
                target, direction, (a, b), best = aim, other, lengths, sum(lengths)
            if min(lengths) > 0.1:
                break
        for _ in range(self.correctors):
            if min(a, b) >= 0.95:
                break
            # Gondzio: products at a longer step, pulled back into [0.1, 10] × centre.
            ahead = self._products_after(direction, min(1.0, 1.1 * a + 0.1), min(1.0, 1.1 * b + 0.1))
            pull = [np.maximum(np.clip(v, 0.1 * centre, 10.0 * centre) - v, -10.0 * centre) for v in ahead]
            target = [k + m * v for k, m, v in zip(target, self.mask, pull, strict=True)]
            other = self.direction(target)
            a_new, b_new = self._lengths(other)
            if not a_new + b_new > a + b + 0.02 * min(1.0, a + b):
                break
            direction, a, b = other, a_new, b_new
        return direction, (a, b)

    def _products_after(self, direction: Direction, a: float, b: float) -> list[Array]:
        """Products s·z after steps a and b."""
        return [
            (s + a * ds) * (z + b * dz) * m
            for s, z, ds, dz, m in zip(self.s, self.z, direction.s, direction.z, self.mask, strict=True)
        ]

    def _lengths(self, direction: Direction) -> tuple[float, float]:
        """Longest steps that keep slacks and multipliers positive; equal where the loss is curved."""
        a = min(longest(s, ds) for s, ds in zip(self.s, direction.s, strict=True))
        b = min(longest(z, dz) for z, dz in zip(self.z, direction.z, strict=True))
        return (min(a, b),) * 2 if self.curved else (a, b)


def centred_loss(residuals: Residuals, r: Array, mu: float) -> tuple[Array, Array, Array]:
    """Solve r = ε ω / w + μ / (w·up − ω) − μ / (ω + w·down) for ω by bisection; return ω and the room on both sides."""
    w, loss = residuals.weight, residuals.loss
    low, high = np.zeros_like(w), np.ones_like(w)  # share of the box below ω
    width = w * (loss.up + loss.down)
    for _ in range(40):
        share = 0.5 * (low + high)
        omega = share * width - w * loss.down
        left = loss.softness * omega / w + mu / ((1 - share) * width) - mu / (share * width) < r
        low, high = np.where(left, share, low), np.where(left, high, share)
    share = np.clip(share, 1e-8, 1 - 1e-8)
    return share * width - w * loss.down, (1 - share) * width, share * width


def longest(s: Array, ds: Array) -> float:
    """Largest step ≤ 1 / TO_BOUNDARY with s + step · ds ≥ 0; zero for a direction that is not a number."""
    ratio = np.divide(ds, s, out=np.zeros_like(s), where=s > 0)  # s = 0: left out by a mask
    shrink = -float(ratio.min(initial=0.0))
    if np.isnan(shrink):
        return 0.0
    return min(1.0 / shrink, 1.0 / TO_BOUNDARY) if shrink > 0 else 1.0 / TO_BOUNDARY
