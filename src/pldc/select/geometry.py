"""Directions learned from the gradients of a fit.

The seminorm measures slopes along the axes. A fit has explicit gradients, and their mean outer product

    M = mean ∇f ∇f'

says along which directions f varies and how much. In the coordinates z = M^½ x, directions that matter are stretched:
the same slope in z is a steeper one in x, and costs no more.
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array

FLOOR = 1e-3  # added to the mean eigenvalue one: no direction is lost for good


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
    share = weight / weight.sum()
    before, after = (float((share @ (V - share @ V) ** 2).mean()) for V in (Z, Z @ A))
    return A * np.sqrt(before / after) if after > 0 else None
