"""Exact Shapley values: what each column adds to f(x), averaged over all orders in which columns become known."""

from __future__ import annotations

from math import comb

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.function.term import MOST_NUMBERS, blocks

MOST_COLUMNS = 12  # 4096 coalitions


def shapley_values(function: PLDC, points: Array, references: Array, source: IntArray) -> Array:
    """Share f(x) − mean f(reference) among the columns by Shapley's rule, over all 2^g coalitions.

    A coalition is worth the mean of f at points that have its columns from x and the others from a reference
    (interventional values). Columns may have several features: `source` says which.

    Parameters
    ----------
    function : PLDC
    points : array of shape (n, d)
    references : array of shape (m, d)
    source : int array of shape (d,)
        The column, 0 to g − 1, of each feature.

    Returns
    -------
    array of shape (n, g)
    """
    count = int(source.max()) + 1
    if count > MOST_COLUMNS:
        raise ValueError(
            f"Exact Shapley values are for up to {MOST_COLUMNS} columns ({2**MOST_COLUMNS} coalitions); this model has "
            f"{count}: use method='path', which has no such limit."
        )
    member = (np.arange(2**count)[:, None] >> np.arange(count)) & 1 == 1  # (coalitions, columns)
    known, weight = member[:, source], _weights(member)
    out = np.empty((len(points), count))
    for i, x in enumerate(points):
        worth = np.zeros(len(known))
        for rows in blocks(len(known), max(1, MOST_NUMBERS // references.size)):
            mixed = np.where(known[rows, None], x, references)
            worth[rows] = function(mixed.reshape(-1, len(x))).reshape(len(mixed), -1).mean(axis=1)
        out[i] = worth @ weight
    return out


def _weights(member: np.ndarray) -> Array:
    """Weight of the worth of each coalition in the value of each column, (coalitions, columns)."""
    count = member.shape[1]
    size = member.sum(axis=1)
    others = np.array([comb(count - 1, k) for k in range(count)], dtype=np.float64)
    joined = 1.0 / (count * others[np.maximum(size - 1, 0)])  # the column is the last of the coalition
    left = 1.0 / (count * others[np.minimum(size, count - 1)])  # the column comes next
    return np.where(member, joined[:, None], -left[:, None])
