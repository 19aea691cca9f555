"""Rows that occur several times: each kind of row is kept once, with its count, and drawn in proportion to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.columns.features import Array
from pldc.scale.shards import Block
from pldc.scale.stacking import rows_of, stacked
from pldc.scale.targets import keys_of, targets, weights_of

MOST_FREQUENT = 1 << 14  # kinds of rows whose counts are kept, wherever their numbers lie


@dataclass(frozen=True)
class Part:
    """Some rows, by numbers as if by chance, which increase.

    Attributes
    ----------
    key : array of shape (n,)
    X : table of n rows
    y : array of shape (n,)
    weight : array of shape (n,)
        Sum over the rows that each stands for.
    count : array of shape (n,)
        How many these are.
    """

    key: Array
    X: Any
    y: Array
    weight: Array
    count: Array

    def take(self, at: Array) -> Part:
        """Return the rows at some places."""
        return Part(self.key[at], rows_of(self.X, at), self.y[at], self.weight[at], self.count[at])

    def __add__(self, other: Part) -> Part:
        return lowest([self, other], len(self.key) + len(other.key))


def joined(parts: list[Part]) -> Part:
    """Return the rows of all parts, in the order of their numbers."""
    key, y, weight, count = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("key", "y", "weight", "count")
    )
    at = in_order(key)
    return Part(key[at], rows_of(stacked([part.X for part in parts]), at), y[at], weight[at], count[at])


def lowest(parts: list[Part], most: int) -> Part:
    """Return the kinds of rows with the lowest numbers of all parts, each once, for all its rows."""
    key, y, weight, count = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("key", "y", "weight", "count")
    )
    at = in_order(key)
    first = starts(key[at])
    if len(first):
        weight, count = (np.add.reduceat(each[at], first)[:most] for each in (weight, count))
    at = at[first[:most]]
    return Part(key[at], rows_of(stacked([part.X for part in parts]), at), y[at], weight, count)


def part_of(block: Block, y: Array, weight: Array, key: Array, at: Array, most: int) -> Part:
    """Return rows of a block: those at some places, or if there are more than `most`, that many kinds of them."""
    at = at[in_order(key[at])]
    count, total = np.ones(len(at), dtype=np.int64), weight[at]
    if len(at) > most:
        first = starts(key[at])
        count, total = (np.add.reduceat(each, first)[:most] for each in (count, total))
        at = at[first[:most]]
    return Part(key[at], rows_of(block.X, at), y[at], total, count)


def in_order(key: Array) -> Array:
    """Return the places of numbers from the lowest on, of equal ones in the order in which they are."""
    at = np.argsort(key)  # several times faster than a stable sort, which is seldom needed
    return at if len(starts(key[at])) == len(key) else np.argsort(key, kind="stable")


def starts(key: Array) -> Array:
    """Return where a new number begins among numbers in order."""
    return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])[: len(key)])


@dataclass(frozen=True)
class Often:
    """Kinds of rows that may be frequent: of any one, at most `short` rows are not counted.

    This is the summary of Misra and Gries. Of n rows, `short` is below n / MOST_FREQUENT, however they are cut.

    Attributes
    ----------
    key, count : array
    short : int
    """

    key: Array
    count: Array
    short: int = 0

    @classmethod
    def of(cls, key: Array) -> Often:
        """Count the rows of a block."""
        return cls(key, np.ones(len(key), dtype=np.int64)).cut(MOST_FREQUENT)

    @classmethod
    def none(cls) -> Often:
        """Count no rows."""
        return cls.of(np.zeros(0, dtype=np.uint64))

    def cut(self, most: int) -> Often:
        """Add up what there is of each kind, and keep the most frequent ones; but not while all are few."""
        if len(self.key) <= most:
            return self
        if (self.count == 1).all():
            key = np.sort(self.key)  # many times faster than to sort the counts along
            first = starts(key)
            if MOST_FREQUENT < len(first) == len(key):  # all differ
                return Often(key[:0], self.count[:0], self.short + 1)
            key, count = key[first], np.diff(first, append=len(key))
        else:
            at = np.argsort(self.key)
            first = starts(self.key[at])
            key, count = self.key[at][first], np.add.reduceat(self.count[at], first)
        if len(key) <= MOST_FREQUENT:
            return Often(key, count, self.short)
        less = 1  # the count of the first one that is dropped, at which there are often many
        if np.count_nonzero(count > 1) > MOST_FREQUENT:
            less = int(np.partition(count, -MOST_FREQUENT - 1)[-MOST_FREQUENT - 1])
        left = count > less
        return Often(key[left], count[left] - less, self.short + less)

    def __add__(self, other: Often) -> Often:
        key, count = np.concatenate([self.key, other.key]), np.concatenate([self.count, other.count])
        return Often(key, count, self.short + other.short).cut(4 * MOST_FREQUENT)

    def above(self, n: int) -> Array:
        """Return the kinds of which there may be as many rows as make one frequent among n; none is left out."""
        found = self.cut(0)
        return found.key[found.count + found.short >= enough(n)]


def enough(n: int) -> float:
    """Return how many rows of a kind are frequent among n rows."""
    return max(2.0, 2 * n / MOST_FREQUENT)


@dataclass(frozen=True)
class Count:
    """Counts some kinds of rows: what :meth:`Shards.sum` is asked to add up.

    Attributes
    ----------
    key : array
        Their numbers.
    classes : bool
        Targets are labels.
    """

    key: Array
    classes: bool = False

    def __call__(self, block: Block) -> Part:
        """Return those of a block, each once."""
        y, weight = np.asarray(block.y), weights_of(block)
        y = y if self.classes else targets(y)
        key = keys_of(block, self.classes)
        at = np.flatnonzero((weight > 0) & np.isin(key, self.key))
        most = len(self.key)
        return lowest([part_of(block, y, weight, key, at, most)], most)


def in_proportion(part: Part, frequent: Part | None, n: int, most: int) -> Part:
    """Draw rows in proportion to their counts; where each occurs once, these are the rows with the lowest numbers.

    A row is drawn as often as its share of the rows says, rounded up or down.

    Parameters
    ----------
    part : Part
        The kinds of rows with the lowest numbers, each once: they stand for all that are not frequent.
    frequent : Part or None
        Those that are, wherever their numbers lie.
    n : int
        All rows.
    most : int
        To draw, at most.
    """
    size, share = min(most, int(part.count.sum())), part.count.astype(np.float64)
    if frequent is None and size == len(part.key) == part.count.sum():
        return part
    if frequent is not None:
        part = part.take(np.flatnonzero(~np.isin(part.key, frequent.key)))
        others = max(0, n - frequent.count.sum()) / max(1, part.count.sum())  # all rows for each that is here
        lot = joined([part, frequent])
        share = np.where(np.isin(lot.key, frequent.key), 1.0, others) * lot.count
        part = lot
    ends = np.cumsum(share)
    at = np.searchsorted(ends, (np.arange(size) + 0.5) * (ends[-1] / size), side="right") if size else np.arange(0)
    drawn = part.take(np.minimum(at, len(ends) - 1))
    return Part(drawn.key, drawn.X, drawn.y, drawn.weight / drawn.count, np.ones(size, dtype=np.int64))
