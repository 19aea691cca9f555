"""Directions of a smooth fit, found before any piecewise-linear one.

The gradients of a fit along the axes know little of a function that varies along a few directions of many features: of
few rows that fit has seen none of them. Kernel ridge regression is fitted in no time and has gradients too. Their mean
outer product gives the coordinates in which it is fitted again, as long as the error of leaving out one row falls
(a recursive feature machine: Radhakrishnan et al., Science 383, 2024).
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.select.geometry import turn_to

MOST_ROWS = 400  # of more, so many take part
MOST_FITS = 8
WIDTHS = np.sqrt([0.5, 1.0, 2.0, 4.0, 8.0])  # of the kernel, in median distances
RIDGES = 10.0 ** np.arange(-4, 2)
TOGETHER = 1e-6  # median distances: points so close have no direction from one to the other


def smooth_outer_product(Z: Array, Y: Array, weight: Array) -> Array:
    """Return the mean outer product of the gradients of a kernel smoother, summed over targets.

    Parameters
    ----------
    Z : array of shape (n, d)
    Y : array of shape (n, m)
        Targets; of classes the indicators.
    weight : array of shape (n,)

    Returns
    -------
    array of shape (d, d)
        Zero where there is nothing to learn from.
    """
    n, d = Z.shape
    if n > MOST_ROWS:
        some = np.linspace(0, n - 1, MOST_ROWS).astype(np.intp)
        Z, Y, weight = Z[some], Y[some], weight[some]
    share = weight / weight.sum()
    Y = Y - share @ Y
    size = float(np.sqrt((share @ Y**2).sum()))
    outer = np.zeros((d, d))
    if not (size > 0 and np.isfinite(size)):
        return outer
    turn: Array | None = np.eye(d)
    least, near = np.inf, range(len(WIDTHS))
    for _ in range(MOST_FITS):
        if turn is None:
            break
        error, width, found = _smoother(Z @ turn, Y / size, len(Z) * share, near)
        if not error < least:
            break
        least, outer = error, turn @ found @ turn.T
        near = range(max(width - 1, 0), min(width + 2, len(WIDTHS)))
        turn = turn_to(outer, Z, weight)
    return outer


def _smoother(Z: Array, Y: Array, weight: Array, widths: range) -> tuple[float, int, Array]:
    """Fit with the kernel exp(−distance / width); return the best error, its width, and the outer product."""
    square = (Z**2).sum(axis=1)
    distance = np.sqrt(np.maximum(square[:, None] + square - 2 * Z @ Z.T, 0))
    apart = distance[distance > TOGETHER * distance.max()]
    best = (np.inf, 0, np.zeros((Z.shape[1], Z.shape[1])))
    if not len(apart):
        return best
    unit = float(np.median(apart))
    root = np.sqrt(weight)
    for k in widths:
        width = unit * WIDTHS[k]
        kernel = np.exp(-distance / width)
        value, vector = np.linalg.eigh(root[:, None] * kernel * root)
        inverse = 1 / (np.maximum(value, 0) + RIDGES[:, None])
        coefficients = [(vector * i) @ (vector.T @ (root[:, None] * Y)) for i in inverse]
        left_out = [c / ((vector**2) @ i)[:, None] for c, i in zip(coefficients, inverse, strict=True)]
        errors = [float(np.mean((e**2).sum(axis=1))) for e in left_out]
        i = int(np.argmin(errors))
        if errors[i] < best[0]:
            steep = np.where(distance > TOGETHER * unit, kernel / np.maximum(distance, TOGETHER * unit), 0) / width
            best = errors[i], k, _outer(Z, steep, root[:, None] * coefficients[i], weight)
    return best


def _outer(Z: Array, steep: Array, coefficients: Array, weight: Array) -> Array:
    """Mean outer product of the gradients −Σ_j c_j steep_ij (z_i − z_j), summed over columns c of `coefficients`."""
    out = np.zeros((Z.shape[1], Z.shape[1]))
    for c in coefficients.T:
        pull = steep * c
        gradient = pull @ Z - pull.sum(axis=1)[:, None] * Z
        out += (gradient * weight[:, None]).T @ gradient
    return out / weight.sum()
