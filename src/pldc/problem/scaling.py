"""The same program in numbers of order one, and the way back.

Writing x = m + σ x', y = b + τ y' and f(x) = b + τ f'(x'), slopes scale by τ/σ and the loss by τ^k, k its degree, so

    loss + λ · penalty = τ^k (loss' + λ' · penalty'),        λ' = λ τ^(1−k) / σ,

with one σ for all features: solutions correspond exactly, whatever the penalty. Where the loss allows no shift of y,
b = 0; where y has no unit, τ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.program import Problem, Solution

LARGEST = 1e300


@dataclass(frozen=True)
class Scaling:
    """x = shift + size · x', y = y_shift + y_size · y'."""

    shift: Array
    size: float
    y_shift: float
    y_size: float

    def restore(self, problem: Problem, solution: Solution) -> Solution:
        """Return the solution of the original `problem` that corresponds to one in scaled numbers."""
        slope = self.y_size / self.size
        linear = slope * solution.linear
        values = self.y_size * solution.values
        values[0] += problem.signs[0] * (self.y_shift - float(np.sum(linear @ self.shift)))
        # ω, and with it every flow, is a derivative of the loss: it scales like loss / y.
        unit = self.y_size ** (problem.loss.degree - 1)
        multipliers = None if solution.multipliers is None else [unit * mu for mu in solution.multipliers]
        dual = None if solution.dual is None else unit * solution.dual
        slopes = slope * solution.slopes
        return replace(solution, values=values, slopes=slopes, linear=linear, multipliers=multipliers, dual=dual)

    def reduce(self, problem: Problem, solution: Solution) -> Solution:
        """Return the solution in scaled numbers that corresponds to one of the original `problem`."""
        slope = self.y_size / self.size
        values = solution.values.copy()
        values[0] -= problem.signs[0] * (self.y_shift - float(np.sum(solution.linear @ self.shift)))
        unit = self.y_size ** (problem.loss.degree - 1)
        multipliers = None if solution.multipliers is None else [mu / unit for mu in solution.multipliers]
        return replace(
            solution,
            values=values / self.y_size,
            slopes=solution.slopes / slope,
            linear=solution.linear / slope,
            multipliers=multipliers,
            dual=None if solution.dual is None else solution.dual / unit,
        )


def normalise(problem: Problem) -> tuple[Problem, Scaling]:
    """Return `problem` in numbers of order one, and the scaling that undoes it."""
    X, y, loss = problem.X, problem.y, problem.loss
    shift = _middle(X)
    size = _size(X - shift)
    y_shift = float(_middle(y[:, None])[0]) if loss.shifts else 0.0
    y_size = _size(y - y_shift) if loss.scales else 1.0
    lam = (problem.lam / size) * y_size ** (1 - loss.degree)
    scaled = replace(
        problem,
        X=(X - shift) / size,
        y=(y - y_shift) / y_size,
        lam=float(np.clip(lam, 1.0 / LARGEST, LARGEST)),
        loss=loss.rescaled(y_size),
    )
    return scaled, Scaling(shift, size, y_shift, y_size)


def _middle(a: Array) -> Array:
    """Midrange of each column: no sum, so no overflow."""
    return 0.5 * a.min(axis=0) + 0.5 * a.max(axis=0)


def _size(a: Array) -> float:
    """Root mean square, computed relative to the largest entry; 1 if all entries are zero."""
    largest = float(np.abs(a).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((a / largest) ** 2))) if largest > 0 else 1.0
