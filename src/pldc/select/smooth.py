"""Directions of a smooth fit, found before any piecewise-linear one.

The gradients of a fit along the axes know little of a function that varies along a few directions of many features: of
few rows that fit has seen none of them. Kernel ridge regression is fitted in no time and has gradients too. Their mean
outer product gives the coordinates in which it is fitted again, as long as the error of leaving out one row falls
(a recursive feature machine: Radhakrishnan et al., Science 383, 2024).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from pldc.function.max_affine import Array
from pldc.problem.recipe import Recipe, Rows
from pldc.select.folds import distinct, subsample
from pldc.select.geometry import outer_product, turn_to

MOST_ROWS = 400  # of more, so many take part
MOST_FITS = 8
WIDTHS = np.sqrt([0.5, 1.0, 2.0, 4.0, 8.0])  # of the kernel, in median distances
RIDGES = 10.0 ** np.arange(-4, 2)
TOGETHER = 1e-6  # of the largest distance: points so close are one


def smooth_turn(recipe: Recipe, rows: Rows) -> Array | None:
    """Return the turn that a least-squares smoother of the rows asks for; None where there is nothing to learn.

    Classes are smoothed as their indicators, one each.
    """
    if rows.X.shape[1] == 1:  # one feature has one direction
        return None
    units, classes = recipe.units(rows), recipe.outputs > 1
    rows, _ = distinct(rows.take(np.flatnonzero(rows.weight > 0)), classes)  # a copy left in would tell of the other
    some = rows.take(subsample(len(rows.y), MOST_ROWS))
    targets = np.eye(recipe.outputs)[some.y.astype(int)] if classes else some.y[:, None]
    return turn_of_smoother(units.scale_X(some.X), targets, some.weight)


def turn_of_smoother(Z: Array, Y: Array, weight: Array) -> Array | None:
    """Return the turn of the coordinates Z @ turn in which a smoother of Y leaves out rows with the least error."""
    share = weight / weight.sum()
    sizes = np.ptp(Z, axis=0).max(), np.ptp(Y, axis=0).max()
    if not min(sizes) > 0:
        return None
    Z, Y = (Z - share @ Z) / sizes[0], (Y - share @ Y) / sizes[1]
    turn: Array | None = np.eye(Z.shape[1])
    least, best, near = np.inf, None, range(len(WIDTHS))
    for _ in range(MOST_FITS):
        if turn is None:
            break
        error, width, outer = smoother(Z @ turn, Y, share, near)
        if not error < least:
            break
        least, best = error, turn_to(turn @ outer @ turn.T, Z, weight)
        turn, near = best, range(max(width - 1, 0), min(width + 2, len(WIDTHS)))
    return best


def smoother(Z: Array, Y: Array, share: Array, widths: range) -> tuple[float, int, Array]:
    """Fit all columns of Y by the kernel exp(−distance / width) of one of some widths, and a ridge.

    Returns
    -------
    error : float
        The least squared error at rows left out, one at a time: mean over rows, sum over columns; infinite where all
        rows are one point.
    width : int
        The place of its width among `WIDTHS`.
    outer : array of shape (d, d)
        Mean outer product of its gradients, sum over columns.
    """
    distance = cdist(Z, Z)
    least = TOGETHER * distance.max()
    best = (np.inf, 0, np.zeros((Z.shape[1], Z.shape[1])))
    if not least > 0:
        return best
    unit = float(np.median(distance[distance > least]))
    root = np.sqrt(len(Y) * share)[:, None]
    for k in widths:
        kernel = np.exp(-distance / (unit * WIDTHS[k]))
        value, vector = np.linalg.eigh(root * kernel * root.T)
        inverse = 1 / (np.maximum(value, 0) + RIDGES[:, None])
        coefficients = vector @ (inverse[:, :, None] * (vector.T @ (root * Y)))
        left_out = coefficients / (inverse @ (vector**2).T)[:, :, None]
        errors = (left_out**2).sum(axis=2).mean(axis=1)
        i = int(errors.argmin())
        if errors[i] < best[0]:
            pull = kernel / np.maximum(distance, least) / (unit * WIDTHS[k])
            outer = np.zeros_like(best[2])
            for c in (root * coefficients[i]).T:
                outer += outer_product(pull @ (c[:, None] * Z) - (pull @ c)[:, None] * Z, share)
            best = float(errors[i]), k, outer
    return best
