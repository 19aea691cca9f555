"""What a loss is: the only thing that the certificate, the solvers and the descent know of it.

A loss ℓ(f, y) ≥ 0 is convex in f. It has one value f an observation, of shape (o,), or the scores of m classes, of
shape (m, o), and y are labels 0 … m − 1. Its dual variables ω = ∂ℓ/∂f have the shape of f and are given for a unit of
weight; ω times the weight is called a share, and shares of observations at one point add up.

The dual of the program earns −Σ_o w_o ℓ*(ω_o, y_o), with ℓ*(ω, y) = sup_f ⟨ω, f⟩ − ℓ(f, y).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pldc.function.max_affine import Array, IntArray

if TYPE_CHECKING:
    from pldc.problem.losses.box_form import Residuals

ROUNDING_OF_Y = 8 * np.finfo(np.float64).eps


class Observations(Protocol):
    """What a loss may ask of a program; :class:`~pldc.problem.Problem` has it all."""

    @property
    def y(self) -> Array:
        """Targets (o,)."""

    @property
    def weight(self) -> Array:
        """Weights (o,), positive, of sum one."""

    @property
    def node(self) -> IntArray:
        """The point of each observation."""

    @property
    def outputs(self) -> int:
        """Number of classes, or one."""

    @property
    def node_weight(self) -> Array:
        """Weight of each point (n,)."""

    @property
    def null_fit(self) -> Any:
        """The best constant, or constants (m,)."""

    def at_nodes(self, observed: Array) -> Array:
        """Sum a quantity of the observations over those at each point."""


class Dual(NamedTuple):
    """A ray of the dual: shares summed at the points, and the largest Σ −w ℓ* along t times them for 0 ≤ t ≤ `most`."""

    at_points: Array
    value: Callable[[float], float]


class Loss(ABC):
    """The interface of all losses. Concrete ones are frozen dataclasses whose fields are their parameters.

    Attributes
    ----------
    name : str
    scores : bool
        One score for each class, else one value.
    degree : int
        ℓ grows like this power of the unit of y.
    shifts : bool
        ℓ depends on f − y alone: y may be centred.
    scales : bool
        y has a unit, and may be given another; see `rescaled`.
    nonnegative : bool
        y must not be negative.
    quadratic : bool
        ℓ is a multiple of (f − y)².
    resists_outliers : bool
        ℓ grows like the distance alone: a good unit of y is one that outliers do not move.
    of_means : bool
        The best f(x) is the mean of y given x.
    off_centre : bool
        The best f(x) is far from the middle of y given x.
    gives_probabilities : bool
        exp(f_c) / Σ exp(f) is the probability of a class.
    boxed : bool
        ℓ is a sum of parabolas with bounded slopes, as interior points need it; see `box_form`.
    """

    name: str
    scores: bool = False
    shifts: bool = False
    scales: bool = True
    nonnegative: bool = False
    of_means: bool = False
    gives_probabilities: bool = False
    boxed: bool = False

    @property
    def levels(self) -> tuple[float, ...]:
        """Of quantiles; none of other losses."""
        return ()

    @property
    def each(self) -> tuple[Loss, ...]:
        """The losses that this one stands for: itself alone, or one for each of several levels."""
        return (self,)

    @property
    def degree(self) -> int:
        """See above."""
        return 1

    @property
    def quadratic(self) -> bool:
        """See above."""
        return False

    @property
    def resists_outliers(self) -> bool:
        """See above."""
        return False

    @property
    def off_centre(self) -> bool:
        """See above."""
        return False

    def check(self, y: Array, outputs: int = 1) -> None:
        """Refuse targets that the loss is not for."""
        if self.scores != (outputs > 1):
            raise ValueError("Several outputs are for a loss of classification, and it for several outputs.")
        if self.nonnegative and (y < 0).any():
            raise ValueError(f"The {self.name} loss is for y ≥ 0; the smallest y is {y.min():g}.")

    @abstractmethod
    def at(self, f: Array, y: Array) -> Array:
        """ℓ(f, y) of each observation."""

    @abstractmethod
    def gradient(self, f: Array, y: Array) -> Array:
        """ω: the derivative in f, or a subgradient."""

    def both(self, f: Array, y: Array) -> tuple[Array, Array]:
        """Return `at` and `gradient`."""
        return self.at(f, y), self.gradient(f, y)

    @abstractmethod
    def prox(self, v: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """argmin_f step · ℓ(f, y) + ‖f − v‖² / 2 of each observation; `near` is close to it, if that is known."""

    @abstractmethod
    def conjugate(self, omega: Array, y: Array) -> Array:
        """ℓ*(ω, y) of each observation, infinite outside its domain."""

    @abstractmethod
    def room(self, omega: Array, y: Array | None = None) -> float:
        """Return a large t, if not the largest, for which t · ω is in the domain of ℓ*."""

    def reward(self, omega: Array, y: Array, weight: Array, most: float) -> tuple[float, float]:
        """Best value of −Σ w ℓ*(t ω, y) for 0 ≤ t ≤ `most`, and its t: concave in t, so thirds are cut off."""

        def value(t: float) -> float:
            return -float(weight @ self.conjugate(t * omega, y))

        end = min(most, self.room(omega, y))
        if not np.isfinite(end):  # ω = 0
            return value(0.0), 0.0
        low, high = 0.0, end
        for _ in range(60):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if value(a) < value(b) else (low, b)
        best = max((end, 0.5 * (low + high), 0.0), key=value)
        return value(best), best

    @abstractmethod
    def constant(self, data: Observations) -> tuple[Any, Array]:
        """Return the best constant f, one for each class, and shares that sum to zero and prove it best."""

    @abstractmethod
    def split(self, data: Observations, omega: Array) -> Array:
        """Guess shares from their sums `omega` at the points."""

    @abstractmethod
    def duals(self, data: Observations, omega: Array, hint: Array | None) -> list[Dual]:
        """Return feasible rays of the dual near shares whose sums at the points are `omega`; `hint`: such shares."""

    @abstractmethod
    def multiple(self, data: Observations, fit: Array, size: float) -> tuple[float, Any]:
        """Return t ≥ 0 and b with a small mean loss of t · fit + b, plus t · size; `fit` is at the observations."""

    def rescaled(self, unit: float) -> Loss:
        """Return ℓ' with ℓ(unit · f, unit · y) = unit^degree ℓ'(f, y)."""
        return self

    def smoothed(self, width: float) -> Loss:
        """Return the loss without kinks narrower than `width`, for a descent along its gradient."""
        return self

    def spread(self, data: Observations) -> float:
        """Return a typical size of f around the best constant."""
        return float(np.std(data.y)) if self.scales else 1.0

    def rounding(self, y: Array) -> float:
        """Return the loss that an exact fit may have, for rounding."""
        return 0.0

    @abstractmethod
    def residual_unit(self, y: Array, spread: float) -> float:
        """Return a residual for each unit of ω, where f has the given `spread`: the penalty parameter of ADMM."""

    def box_form(self, data: Observations) -> Residuals:
        """Return the loss as a sum of parabolas with bounded slopes."""
        raise ValueError(f"The {self.name} loss is no sum of parabolas with bounded slopes.")
