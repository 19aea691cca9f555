"""The log loss of rows that belong to a class with a probability: what a student of a classifier learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from pldc.function.max_affine import Array
from pldc.problem.losses import LogLoss


@dataclass(frozen=True)
class SoftLabels(LogLoss):
    """log Σ_c exp(f_c) − Σ_c q_c f_c for targets q, (o, m), that sum to one; with labels, it is the log loss."""

    name = "log, of probabilities"

    def at(self, F: Array, y: Array) -> Array:
        """ℓ."""
        return self.both(F, y)[0]

    def gradient(self, F: Array, y: Array) -> Array:
        """Probabilities less targets."""
        return self.both(F, y)[1]

    def both(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return ℓ and ω for scores (…, m, o) of many fits; one score alone is class 1's, less class 0's."""
        q = y.T.astype(F.dtype)
        if F.shape[-2] == 1:
            value = np.logaddexp(0.0, F) - q[1:] * F
            return np.asarray(value[..., 0, :]), expit(F) - q[1:]
        F = F - F.max(axis=-2, keepdims=True)
        p = np.exp(F)
        total = p.sum(axis=-2, keepdims=True)
        value = np.log(total[..., 0, :]) - (q * F).sum(axis=-2)
        p /= total
        p -= q
        return value, p


def membership(label: Array, classes: int) -> Array:
    """Return one in the column of each row's class, and zero in the others, (n, classes)."""
    return np.asarray(label.astype(np.intp)[:, None] == np.arange(classes), dtype=np.float64)
