"""Errors at rows left out: how far predictions were off, and where they are off by more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pldc.function.digits import significant
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC

MOST_ERRORS = 1000  # at rows left out that are kept: of more, so many quantiles
ERROR_DIGITS = 4  # of the size of an error, which is rounded up: an interval is never too narrow


@dataclass(frozen=True, eq=False)
class Errors:
    """What intervals are made of: the errors at rows left out, and where they are large.

    Attributes
    ----------
    size : array of shape (k,)
        Sizes of the errors, increasing; in units of the scale, if there is one.
    weight : array of shape (k,) or (1,)
        Of the rows they were made at; (1,): of all alike.
    scale : PLDC or None
        How large errors are at x, on average; None: as large everywhere.
    limits : (float, float)
        Range that the scale is cut to.
    """

    size: Array
    weight: Array
    scale: PLDC | None = None
    limits: tuple[float, float] = (0.0, np.inf)

    @classmethod
    def of(cls, size: Array, weight: Array) -> Errors:
        """Keep all, or of many so many quantiles."""
        order = np.lexsort((weight, size))
        size, weight = size[order], weight[order]
        if len(size) > MOST_ERRORS:
            mass = np.cumsum(weight)
            share = mass[-1] / MOST_ERRORS
            at = np.searchsorted(mass, share * np.arange(1, MOST_ERRORS + 1) * (1 - 1e-12))
            size, weight = size[np.minimum(at, len(size) - 1)], np.array([share])
        alike = weight[:1] if len(weight) and (weight == weight[0]).all() else weight
        return cls(significant(size, ERROR_DIGITS, up=True), alike)

    def quantile(self, coverage: float) -> float:
        """Smallest size at or below which lies `coverage` of the weight and of one more row; else the largest."""
        mass = np.cumsum(np.broadcast_to(self.weight, self.size.shape))
        need = coverage * (mass[-1] + self.weight.mean()) * (1 - 1e-12)
        return float(self.size[min(int((mass < need).sum()), len(self.size) - 1)])

    def width(self, X: Array, coverage: float) -> Array:
        """How far an interval reaches to either side at each row of X."""
        scale = np.ones(len(X)) if self.scale is None else np.clip(self.scale(X), *self.limits)
        return np.asarray(self.quantile(coverage) * scale)
