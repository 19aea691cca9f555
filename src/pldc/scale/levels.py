"""Means of the target in the levels of categories, over all rows of any store: counted in one pass.

A row must not see its own target. So its number, as if by chance, puts it into one of some parts, and its statistics
are those of the other parts. Equal rows are in one part: if they are many, what the other parts lack would tell their
target. They see the statistics of all rows, where one row more or less hardly counts.

Sums are of multiples of a small unit, so that they are exact, and the same in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from pldc.columns.cells import Table, cells_as
from pldc.columns.features import Array, Column
from pldc.columns.levels import LevelSums, codes_of
from pldc.scale.shards import Block

PARTS = 5
UNIT = 2.0**20  # of sums; while they are below 2^33, they are exact
UNKNOWN, MISSING = -1, -2
MOST_PIECES = 64  # that are added before they are merged
FRESH = 1 << 14  # levels by which counts may grow before they are merged


def part_of_rows(key: Array) -> Array:
    """Return the part that each row is in, by its number."""
    return np.asarray(key % np.uint64(PARTS)).astype(np.intp)


@dataclass(frozen=True)
class Parts:
    """Says which statistics a row sees.

    Attributes
    ----------
    repeated : bool
        Most rows are equal to others: all see the statistics of all rows.
    frequent : array
        Numbers of rows that are equal to many others: these do.
    """

    repeated: bool
    frequent: Array

    def __call__(self, key: Array) -> Array:
        """Return the place of each row's statistics in `Apart.means`: its part, or that after the last."""
        if self.repeated:
            return np.full(len(key), PARTS)
        return np.where(np.isin(key, self.frequent), PARTS, part_of_rows(key))


@dataclass(frozen=True)
class Counts:
    """Sums for the levels of a column; levels that the sample has come by their places, others by their names.

    Attributes
    ----------
    room : int
        Levels by name that are kept: those whose names have the lowest hashes. The others count as unknown.
    known : tuple of (places, sums)
        Sums are of shape (levels, parts, 1 + 2 m).
    named : tuple of (names, sums)
    """

    room: int
    known: tuple[tuple[Array, Array], ...]
    named: tuple[tuple[list[str], Array], ...]

    def __add__(self, other: Counts) -> Counts:
        both = Counts(self.room, self.known + other.known, self.named + other.named)
        named, pieces = sum(len(names) for names, _ in both.named), len(both.named) + len(both.known)
        known = [len(codes) for codes, _ in both.known]
        return (
            both.merged() if named > self.room + FRESH or sum(known) > 2 * max(known) + FRESH or pieces > 64 else both
        )

    def merged(self) -> Counts:
        """Return the same sums, each level once."""
        names = [name for some, _ in self.named for name in some]
        places: dict[str, int] = {}
        at = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.intp)
        sums = added(at, np.concatenate([each for _, each in self.named]))[1]
        known, levels = list(self.known), list(places)
        if len(levels) > self.room:
            order = np.argsort([hash_of(name) for name in levels], kind="stable")
            kept, dropped = np.sort(order[: self.room]), order[self.room :]
            known.append((np.full(len(dropped), UNKNOWN), sums[dropped]))
            levels, sums = [levels[k] for k in kept], sums[kept]
        codes = np.concatenate([codes for codes, _ in known])
        return Counts(self.room, (added(codes, np.concatenate([each for _, each in known])),), ((levels, sums),))


def added(codes: Array, sums: Array) -> tuple[Array, Array]:
    """Add up what has the same code; codes come in order."""
    if not len(codes):
        return codes, sums
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    return codes[first], np.add.reduceat(sums[order], first, axis=0)


def hash_of(name: str) -> int:
    """Return a number as if by chance for a name."""
    return int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


class ColumnCounts(tuple[Counts, ...]):
    """Those of several columns."""

    def __add__(self, other: Any) -> ColumnCounts:
        return ColumnCounts(a + b for a, b in zip(self, other, strict=True))


@dataclass(frozen=True)
class CountLevels:
    """Counts the levels of a block: what :meth:`Shards.sum` is asked to add up.

    Attributes
    ----------
    columns : dict
        From the place of a column to how it is read.
    levels : dict
        From the place of a column to the levels that the sample has.
    targets : callable
        A block to the numbers of its rows, their targets (n, m) and their weights; it can be pickled.
    center, scale : arrays of shape (m,)
        Of the targets.
    unit : float
        Of the weights.
    room : int
        Levels of a column that are kept beside those of the sample.
    """

    columns: dict[int, Column]
    levels: dict[int, list[str]]
    targets: Callable[[Block], tuple[Array, Array, Array]]
    center: Array
    scale: Array
    unit: float
    room: int

    def __call__(self, block: Block) -> ColumnCounts:
        """Count."""
        key, targets, weight = self.targets(block)
        here, table, part = weight > 0, Table.read(block.X), part_of_rows(key)
        deviation = (targets - self.center) / self.scale
        numbers = np.column_stack([np.ones(len(weight)), deviation, deviation**2]) * (weight / self.unit)[:, None]
        numbers, part = np.rint(numbers[here] * UNIT) / UNIT, part[here]
        out = []
        for k, column in self.columns.items():
            cells = cells_as(table.columns[k], column.name, column.kind, column.zone)[here]
            codes = codes_of(cells, self.levels[k])
            new: dict[str, int] = {}
            fresh = np.flatnonzero(codes == UNKNOWN)
            codes[fresh] = [MISSING - 1 - new.setdefault(cells[i], len(new)) for i in fresh]
            places, sums = self.by_part(codes, part, numbers)
            named = places < MISSING
            names = list(new)
            fresh_names = [names[MISSING - 1 - place] for place in places[named]]
            found = Counts(self.room, ((places[~named], sums[~named]),), ((fresh_names, sums[named]),))
            out.append(found if len(names) <= self.room else found.merged())
        return ColumnCounts(out)

    def by_part(self, codes: Array, part: Array, numbers: Array) -> tuple[Array, Array]:
        """Return the codes that there are, in order, and their sums (codes, parts, 1 + 2 m)."""
        places, at = np.unique(codes, return_inverse=True)
        out = np.zeros((len(places) * PARTS, numbers.shape[1]))
        both, sums = added(at * PARTS + part, numbers)
        out[both] = sums
        return places, out.reshape(len(places), PARTS, -1)

    def sums(self, counted: ColumnCounts, rows: int | None) -> dict[int, LevelSums]:
        """Return what was counted, in the order of the names.

        A weight is a number of rows; where there are `rows` of them, weights are at least one on average.
        """
        out = {}
        for k, counts in zip(self.columns, counted, strict=True):
            whole = counts.merged()
            ((places, sums),), ((names, others),) = whole.known, whole.named
            m, known = len(self.center), self.levels[k]
            levels = sorted({*known, *names})
            place = {name: k for k, name in enumerate(levels)}
            table = np.zeros((len(levels) + 2, PARTS, 1 + 2 * m))
            at = [place[known[code]] if code >= 0 else len(levels) + code + 2 for code in places.tolist()]
            table[at] = sums
            table[[place[name] for name in names]] = others
            table *= self.unit
            if rows is not None:
                table *= max(1.0, rows / table[..., 0].sum())
            out[k] = LevelSums(
                levels, table[..., 0], table[..., 1 : 1 + m], table[..., 1 + m :], self.center, self.scale
            )
        return out


@dataclass(frozen=True)
class Apart:
    """Statistics of a column for the rows of blocks that are fitted: those of the other parts.

    Attributes
    ----------
    places : dict
        From levels, and None, to the rows of `means`.
    means : array of shape (parts + 1, levels + 2, m)
        For rows of each part, and last of all rows.
    """

    places: dict[str | None, int]
    means: Array

    @classmethod
    def of(cls, sums: LevelSums) -> Apart:
        """Return those of sums over all rows."""
        means = np.concatenate([sums.apart, sums.everywhere[None]])
        return cls({level: k for k, level in enumerate(sums.levels)} | {None: MISSING}, means)

    def __call__(self, cells: Array, part: Array) -> Array:
        """Return the numbers (n, m) of rows that are in these parts."""
        codes = [self.places.get(cell, UNKNOWN) for cell in cells]
        return np.asarray(self.means[part, codes])
