"""How much columns matter, alone and together: what happens to predictions when cells are swapped between rows.

Of a row x and another row z let f(x ← z_j) be the value at x with the cell of column j from z. Then

    |f(x) − f(x ← z_j)| = |mean slope between the two cells| × the distance between them,

whose mean over pairs of rows is the importance of the column: mean |slope| × spread, in the units of the prediction. It
needs no slope at a point, which means little for categories and for cells on a knot. For a linear function it is
|slope| × the mean distance of two cells. Likewise

    |f(x) − f(x ← z_j) − f(x ← z_k) + f(x ← z_jk)|

is by how much the effect of one column depends on the other; its mean is zero just where they do not interact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.function.numbers import NOTHING, Printed, numbers, table

MOST_ROWS, PAIRS = 256, 1024  # rows that are compared, and how many pairs of them
FEWEST_PAIRS, MOST_CELLS = 64, 1 << 24  # of many features fewer pairs: so many cells of all tables that are evaluated
Values = Callable[[Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Printed):
    """How much the effect of each column depends on each other one.

    Attributes
    ----------
    features : tuple of str
        Names of the g columns.
    strength : array of shape (g, g)
        Symmetric, in the units of the prediction: zero where two columns do not interact, and on the diagonal; NaN for
        pairs that were not asked for.
    """

    features: tuple[str, ...]
    strength: Array

    def pairs(self) -> list[tuple[str, str, float]]:
        """Return all pairs that were looked at, the strongest first."""
        found = [
            (self.features[j], self.features[k], float(self.strength[j, k]))
            for j, k in combinations(range(len(self.features)), 2)
            if not np.isnan(self.strength[j, k])
        ]
        return sorted(found, key=lambda pair: -pair[2])

    def __str__(self) -> str:
        pairs = self.pairs()[:10]
        shown = numbers([strength for *_, strength in pairs], 3)
        return "\n".join(
            table(["columns", "strength"], [[f"{a} × {b}", s] for (a, b, _), s in zip(pairs, shown, strict=True)])
        )


def sample(points: Array, weight: Array) -> Array:
    """Return rows that stand for all, in the order given, each as often as it weighs."""
    count = min(len(points), MOST_ROWS, _pairs(points.shape[1]))
    mass = np.cumsum(weight)
    at = np.searchsorted(mass, (np.arange(count) + 0.5) * (mass[-1] / count))
    return np.asarray(points[np.minimum(at, len(points) - 1)])


def importances(values: Values, rows: Array, source: IntArray) -> Array:
    """Mean change of the values when the cells of a column are swapped, column by column, (g,).

    Parameters
    ----------
    values : callable
        (n, d) → (n,), or (n, m): sizes of changes are then added up.
    rows : array of shape (n, d)
        In an order that means nothing: each is compared with those that follow.
    source : int array of shape (d,)
        The column, 0 to g − 1, of each feature.
    """
    out, shifts = np.zeros(int(source.max()) + 1), _shifts(*rows.shape)
    before = values(rows)
    for shift in shifts:
        other = np.roll(rows, -shift, axis=0)
        for j in range(len(out)):
            out[j] += _size(before - values(np.where(source == j, other, rows)))
    return out / max(len(shifts), 1)


def interactions(values: Values, rows: Array, source: IntArray, columns: Sequence[int]) -> Array:
    """Mean size of what two columns change together and not each alone, for all pairs of `columns`, (g, g)."""
    count, shifts = int(source.max()) + 1, _shifts(*rows.shape)
    out = np.full((count, count), np.nan)
    out[columns, columns] = 0.0
    for j, k in combinations(columns, 2):
        out[j, k] = out[k, j] = 0.0
    before, largest = values(rows), 0.0
    for shift in shifts:
        other = np.roll(rows, -shift, axis=0)
        alone = {j: values(np.where(source == j, other, rows)) for j in columns}
        largest = max([largest, *(_size(before - each) for each in alone.values())])
        for j, k in combinations(columns, 2):
            both = values(np.where((source == j) | (source == k), other, rows))
            size = _size(before - alone[j] - alone[k] + both) / len(shifts)
            out[j, k] += size
            out[k, j] += size
    out[out <= NOTHING * largest] = 0.0  # rounding
    return out


def _pairs(d: int) -> int:
    return max(FEWEST_PAIRS, min(PAIRS, MOST_CELLS // d**2))


def _shifts(n: int, d: int) -> range:
    """How far on the rows are that each is compared with."""
    return range(1, 1 + min(n - 1, max(_pairs(d) // n, 1)))


def _size(change: Array) -> float:
    return float(np.abs(change.reshape(len(change), -1)).sum(axis=1).mean())
