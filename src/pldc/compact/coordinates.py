"""Coordinates learned from the gradients of a fit, in which slopes along directions that matter cost less."""

from __future__ import annotations

import numpy as np

from pldc.compact.objective import Objective
from pldc.function.max_affine import Array

FLOOR = 1e-3  # added to the mean eigenvalue one: no direction is lost for good
MOST_ROWS, BLOCK = 6144, 2048  # whose gradients are looked at, at most, and at one go


def learned_turns(objective: Objective, x: Array) -> Array:
    """Return for each fit the square root of the mean of ∇f ∇f', scaled to keep the mean variance of the columns.

    Of the scores of several classes, ∇f ∇f' is summed over them, less their mean.
    """
    table, D = objective.table, objective.table.size - 1
    outer, spread = np.zeros((len(x), D, D)), np.zeros((len(x), D, D))
    for start in range(0, min(table.n, MOST_ROWS), BLOCK):
        rows = slice(start, min(start + BLOCK, table.n))
        columns = table.make(rows, table.dtype)
        phi = columns[:-1].T.astype(np.float64)  # centred: columns have mean zero over all rows
        for b in range(len(x)):
            w = objective.weight[objective.group[b], rows].astype(np.float64)
            g = objective.gradients(x, b, columns).astype(np.float64)
            if len(g) > 1:  # of scores the differences count
                g -= g.mean(axis=0)
            outer[b] += np.einsum("mnd,n,mne->de", g, w, g, optimize=True)
            spread[b] += (phi * w[:, None]).T @ phi
    size = np.trace(outer, axis1=1, axis2=2) / D
    outer /= np.where(size > 0, size, 1.0)[:, None, None]
    outer[size <= 0] = np.eye(D)
    value, vector = np.linalg.eigh(outer + FLOOR * np.eye(D))
    turn = (vector * np.sqrt(np.maximum(value, FLOOR))[:, None, :]) @ vector.swapaxes(1, 2)
    there = ((spread @ turn) * turn).sum(axis=(1, 2))
    here = np.trace(spread, axis1=1, axis2=2)
    return turn * np.sqrt(np.where(there > 0, here / np.where(there > 0, there, 1.0), 1.0))[:, None, None]
