"""Which affine function rules where: the rows of a table grouped by linear region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pldc.function.max_affine import Array, IntArray


@dataclass(frozen=True)
class Regions:
    """The linear regions that hold the rows of a table, the fullest first.

    Attributes
    ----------
    of_row : int array of shape (n,)
        The region of each row.
    count : int array of shape (r,)
        Rows in each region.
    slope : array of shape (r, d)
        Within region k the function is ``⟨slope[k], x⟩ + intercept[k]``.
    intercept : array of shape (r,)
    low, high : arrays of shape (r, d)
        Range of the features over the rows of each region.
    """

    of_row: IntArray
    count: IntArray
    slope: Array
    intercept: Array
    low: Array
    high: Array

    def __len__(self) -> int:
        return len(self.count)

    def columns(self, feature_names: Sequence[str] | None = None) -> dict[str, Array]:
        """Return the table by columns, one row a region, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it.

        The rows that a region holds and their share; the linear function that rules there (its intercept is the value
        at x = 0); and where that is: the lowest and highest value of each feature among its rows.
        """
        names = self._names(feature_names)
        fixed: dict[str, Array] = {"rows": self.count, "share": self.count / self.count.sum()}
        slopes = {f"slope of {name}": column for name, column in zip(names, self.slope.T, strict=True)}
        ranges = {
            f"{word} {name}": column
            for word, ends in (("lowest", self.low), ("highest", self.high))
            for name, column in zip(names, ends.T, strict=True)
        }
        return fixed | {"intercept": self.intercept} | slopes | ranges

    def to_text(self, feature_names: Sequence[str] | None = None, most: int = 10) -> str:
        """Return the fullest regions as a table of plain text."""
        head = ["region", "rows", "share", "intercept", *self._names(feature_names)]
        body = [
            [str(k), str(self.count[k]), f"{self.count[k] / self.count.sum():.0%}", f"{self.intercept[k]:.4g}"]
            + [f"{s:.4g}" for s in self.slope[k]]
            for k in range(min(most, len(self)))
        ]
        widths = [max(len(row[c]) for row in [head, *body]) for c in range(len(head))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in [head, *body]]
        if len(self) > most:
            lines.append(f"… and {len(self) - most} more regions with {int(self.count[most:].sum())} rows")
        return "\n".join(lines)

    def _names(self, feature_names: Sequence[str] | None) -> list[str]:
        d = self.slope.shape[1]
        names = [f"x{k}" for k in range(d)] if feature_names is None else [str(name) for name in feature_names]
        if len(names) != d:
            raise ValueError(f"{len(names)} feature names for {d} features.")
        if len(set(names)) < d:
            raise ValueError(f"Feature names must differ, got {names}.")
        return names

    def __str__(self) -> str:
        return self.to_text()


def group(points: Array, keys: Array, slope: Array, intercept: Array) -> Regions:
    """Group rows by equal keys; slope and intercept are those at the rows, equal within a group up to rounding."""
    if len(points) == 0:
        raise ValueError("regions(X) needs at least one row.")
    if not np.isfinite(points).all():
        raise ValueError("X must be finite; it contains NaN or infinity.")
    _, first, inverse, count = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -count))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    of_row = rank[inverse.ravel()]
    by_region = np.argsort(of_row, kind="stable")
    starts = np.cumsum(np.concatenate([[0], count[order][:-1]]))
    sorted_points = points[by_region]
    return Regions(
        of_row=of_row,
        count=count[order],
        slope=slope[first[order]],
        intercept=intercept[first[order]],
        low=np.minimum.reduceat(sorted_points, starts),
        high=np.maximum.reduceat(sorted_points, starts),
    )
