"""Directions learned from the gradients of a fit.

The seminorm measures slopes along the axes. A fit has explicit gradients, and their mean outer product

    M = mean ∇f ∇f'

says along which directions f varies and how much. In the coordinates z = M^½ x, directions that matter are stretched:
the same slope in z is a steeper one in x, and costs no more.

A seminorm knows the steepest slopes only, wherever they are. So features are first stretched by themselves, more where
f is steep along them: along the new feature f has about the same slope everywhere.
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.warp import Warp

FLOOR = 1e-3  # added to the mean eigenvalue one: no direction is lost for good
WARP_FLOOR = 1e-2  # the same for the stretch of a feature
KNOTS = 34  # of a warp, at most
WINDOW = 0.1  # share of the rows over which squared slopes are averaged (standard deviation, by rank)
SAME = 1e-9  # of the range of a feature: values so close are one


def outer_product(gradients: Array, weight: Array) -> Array:
    """Weighted mean of ∇f ∇f' over the rows of `gradients`."""
    return np.asarray((gradients * (weight / weight.sum())[:, None]).T @ gradients)


def turn_to(M: Array, Z: Array, weight: Array, diagonal: bool = False) -> Array | None:
    """Return the matrix A of the coordinates Z @ A, the square root of M scaled to keep the mean variance of Z.

    Parameters
    ----------
    M : array of shape (d, d)
        Mean outer product of gradients in the coordinates of Z.
    Z : array of shape (n, d)
        Rows, to measure the variance.
    weight : array of shape (n,)
    diagonal : bool
        Only stretch the axes, so that signs of slopes keep their meaning.

    Returns
    -------
    array of shape (d, d), or None
        None where there is no gradient to learn from.
    """
    d = len(M)
    size = float(np.trace(M)) / d
    if not (size > 0 and np.isfinite(size)):
        return None
    M = M / size
    if diagonal:
        A = np.diag(np.sqrt(np.diag(M) + FLOOR))
    else:
        value, vector = np.linalg.eigh(M + FLOOR * np.eye(d))
        A = (vector * np.sqrt(np.maximum(value, FLOOR))) @ vector.T
    factor = _same_variance(Z, Z @ A, weight)
    return None if factor is None else A * factor


def warp_to(Z: Array, squares: Array, weight: Array) -> Warp | None:
    """Return the warp that stretches each feature by the root mean square of the slopes along it, rank by rank.

    Parameters
    ----------
    Z : array of shape (n, d)
    squares : array of shape (n, d)
        Squared slopes at the rows.
    weight : array of shape (n,)

    Returns
    -------
    Warp or None
        Scaled to keep the mean variance of Z; None where there is no slope to learn from.
    """
    size = float((weight @ squares).mean() / weight.sum())
    if not (size > 0 and np.isfinite(size)):
        return None
    maps = [_warp_one(z, square / size, weight) for z, square in zip(Z.T, squares.T, strict=True)]
    knots, images = zip(*maps, strict=True)
    factor = _same_variance(Z, Warp(knots, images)(Z), weight)
    return None if factor is None else Warp(knots, [factor * image for image in images])


def _warp_one(z: Array, square: Array, weight: Array) -> tuple[Array, Array]:
    """Knots and images of one feature."""
    values, place = np.unique(z, return_inverse=True)
    new = np.concatenate([[False], np.diff(values) > SAME * (values[-1] - values[0])])
    number = np.cumsum(new)
    values, place = np.bincount(number, values) / np.bincount(number), number[place]
    if len(values) < 2:
        return values[0] + max(1.0, abs(values[0])) * np.array([0.0, 1.0]), np.array([0.0, 1.0])
    mass = np.bincount(place, weight)
    rank = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    half = np.linspace(0, (len(values) - 1) / 2, KNOTS // 2).astype(np.intp)
    at = np.unique(np.concatenate([half, len(values) - 1 - half]))  # the same from either end
    near = np.exp(-0.5 * ((0.5 * (rank[at[1:]] + rank[at[:-1]])[:, None] - rank) / WINDOW) ** 2)
    mean = (near @ np.bincount(place, weight * square)) / (near @ mass)
    stretch = np.sqrt(mean + WARP_FLOOR)
    return values[at], np.concatenate([[0.0], np.cumsum(stretch * np.diff(values[at]))])


def _same_variance(before: Array, after: Array, weight: Array) -> float | None:
    """Return the factor that gives the new coordinates the mean variance of the old; None if they have none."""
    share = weight / weight.sum()
    old, new = (float((share @ (V - share @ V) ** 2).mean()) for V in (before, after))
    return float(np.sqrt(old / new)) if old > 0 and new > 0 else None
