"""Prediction intervals by CV+: the fold models of a cross-validation, and how far each was off where it had not looked.

For a new x, every training row i gives two numbers, f₋ₖ(x) ± |y_i − f₋ₖ(x_i)|, k its fold and f₋ₖ the fit without it.
The interval runs from a low quantile of the lower ones to a high quantile of the upper ones. Where rows are
exchangeable it covers with probability at least 2 · coverage − 1 (about), and about `coverage` in practice (Barber,
Candès, Ramdas, Tibshirani 2021).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Rows

CHUNK = 1 << 22  # numbers held at once


@dataclass(frozen=True)
class CrossFit:
    """The fits of all folds, and their residuals at the rows they did not see.

    Attributes
    ----------
    functions : list of PLDC
    residuals, weights : lists of arrays
        For each fold: |y − f(x)| at the rows left out, and the weights of those rows.
    limits : list of (float, float)
        For each fold, the range that its predictions are cut to.
    rows : Rows, optional
        All rows,
    splits : list of (train, test)
        and the places of those that each fold was fitted to and left out.
    """

    functions: list[PLDC]
    residuals: list[Array]
    weights: list[Array]
    limits: list[tuple[float, float]]
    rows: Rows | None = None
    splits: list[tuple[IntArray, IntArray]] = field(default_factory=list)

    def interval(self, X: Array, coverage: float) -> tuple[Array, Array]:
        """Return lower and upper ends at the rows of X."""
        centers = np.stack([np.clip(f(X), *cut) for f, cut in zip(self.functions, self.limits, strict=True)])
        size, weight = np.concatenate(self.residuals), np.concatenate(self.weights)
        fold = np.repeat(np.arange(len(self.functions)), [len(r) for r in self.residuals])
        low, high = np.empty(len(X)), np.empty(len(X))
        step = max(1, CHUNK // max(len(size), 1))
        for start in range(0, len(X), step):
            at = slice(start, start + step)
            center = centers[fold][:, at]
            high[at] = _upper_quantile(center + size[:, None], weight, coverage)
            low[at] = -_upper_quantile(size[:, None] - center, weight, coverage)
        return low, high


def _upper_quantile(values: Array, weight: Array, coverage: float) -> Array:
    """Smallest value, column by column, below or at which lies `coverage` of the weight and of one more row.

    Without weights this is the ⌈coverage · (n + 1)⌉-th smallest of n; the largest where that exceeds n.
    """
    order = np.argsort(values, axis=0)
    mass = np.cumsum(weight[order], axis=0)
    need = coverage * (mass[-1] + weight.mean()) * (1 - 1e-12)
    at = np.minimum((mass < need).sum(axis=0), len(values) - 1)
    return np.take_along_axis(values, np.take_along_axis(order, at[None], axis=0), axis=0)[0]
