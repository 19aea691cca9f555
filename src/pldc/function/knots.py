"""Knots of piecewise-linear curves, one list a feature: which of them bend a function, and how far the nearest is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import ROUNDING


def bending(knots: Array, slopes: Array) -> Array:
    """Return the knots at which slopes (pieces, knots + 1) change, and not all alike: that would cancel in a PLDC."""
    change = np.ptp(np.diff(slopes, axis=1), axis=0)
    return np.asarray(knots[change > ROUNDING * np.abs(slopes).max()])


def nearest_knot(X: Array, knots: Sequence[Array], unit: Array) -> Array:
    """Distance of each row to the nearest knot of any feature, in units of the features; ∞ if there is none."""
    out = np.full(len(X), np.inf)
    for x, at, size in zip(X.T, knots, unit, strict=True):
        if len(at) and size > 0:
            right = np.searchsorted(at, x)
            gaps = (np.abs(x - at[np.clip(right - side, 0, len(at) - 1)]) for side in (0, 1))
            with np.errstate(over="ignore"):  # far away
                np.minimum(out, np.minimum(*gaps) / size, out=out)
    return out
