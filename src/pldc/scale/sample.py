"""A sample of the rows of any store, drawn in one pass: by content, whatever their order and their blocks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pldc.columns.cells import HELD, RawColumn, Table, check_labels
from pldc.columns.features import Array
from pldc.scale.hashes import HIGHEST, hashes, kind_seen
from pldc.scale.repeats import Count, Often, Part, enough, in_proportion, joined, lowest, part_of
from pldc.scale.shards import Block, Shards
from pldc.scale.targets import labels_of, targets, weights_of


@dataclass(frozen=True)
class Sample:
    """The kinds of rows with the lowest of numbers as if by chance, and what is known of all rows.

    Equal rows are one kind, and have one number.

    Attributes
    ----------
    most : int
        Rows that are wanted, and kinds that are kept, with the counts of their rows.
    parts : tuple of Part
        Among which these are: up to twice as many, so that they are not copied for every block. While all rows are
        there, each is kept as it is.
    n : int
        Rows that were seen.
    span : array of shape (2,)
        Lowest and highest target, if they are numbers.
    labels : array
        All targets that there are, if they are classes.
    kinds : dict
        What the columns hold, by their names: numbers, categories or dates.
    often : Often
        Kinds of rows that may be frequent.
    frequent : Part or None
        Those that are, counted in a pass of its own, where there are more kinds than are kept.
    counts : dict
        From labels to the number of their rows.
    """

    most: int
    parts: tuple[Part, ...]
    n: int
    span: Array
    labels: Array
    kinds: dict[str, str] = field(default_factory=dict)
    often: Often = field(default_factory=Often.none)
    frequent: Part | None = None
    counts: dict[Any, int] = field(default_factory=dict)

    def __add__(self, other: Sample) -> Sample:
        for name, kind in other.kinds.items():
            if self.kinds.get(name, kind) != kind:
                raise ValueError(
                    f"Column {name!r} holds {HELD[self.kinds[name]]} in one block and {HELD[kind]} in another: give it "
                    "one type in all blocks, or name it in categorical_features."
                )
        check_labels(np.array([*self.labels.tolist(), *other.labels.tolist()], dtype=object))
        parts, key = [*self.parts], self.parts[0].key
        full = len(key) == self.most and bool((key[1:] > key[:-1]).all())
        for new in other.parts:
            if full:  # beyond the last kind nothing is needed
                new = new.take(np.arange(np.searchsorted(new.key, key[-1], side="right")))
            if len(new.key):
                parts.append(new)
        if sum(len(part.key) for part in parts) > 2 * self.most:
            parts = [lowest(parts, self.most)]
        return Sample(
            self.most,
            tuple(parts),
            self.n + other.n,
            np.array([min(self.span[0], other.span[0]), max(self.span[1], other.span[1])]),
            np.union1d(self.labels, other.labels),
            self.kinds | other.kinds,
            self.often + other.often,
            counts={
                label: self.counts.get(label, 0) + other.counts.get(label, 0) for label in self.counts | other.counts
            },
        )

    @property
    def whole(self) -> bool:
        """Whether there are no more kinds of rows than are kept, so that all rows are counted."""
        return int(lowest([*self.parts], self.most).count.sum()) == self.n

    @property
    def repeated(self) -> float:
        """Rows of a kind, on average."""
        count = lowest([*self.parts], self.most).count
        return float(count.mean()) if len(count) else 1.0

    @property
    def rows(self) -> Part:
        """The sample: all rows if they are few, else so many, each kind as often as its share of all rows says."""
        if self.n <= self.most:
            return joined([*self.parts])
        return in_proportion(lowest([*self.parts], self.most), self.frequent, self.n, self.most)


@dataclass(frozen=True)
class Draw:
    """Draws a sample of a block: what :meth:`Shards.sum` is asked to add up.

    Attributes
    ----------
    most : int
    classes : bool
        Targets are labels.
    highest : int
        Number, as if by chance, of the rows to keep: so that those of a block need not all travel.
    categories : collection of str and int
        Names and places of columns that are categories, whatever their blocks hold.
    """

    most: int
    classes: bool = False
    highest: int = HIGHEST
    categories: Collection[Any] = ()

    def __call__(self, block: Block) -> Sample:
        """Draw; weights of zero are left out, and what cannot be learned from is refused."""
        table, y = Table.read(block.X), np.asarray(block.y)
        if len(y) != table.n_rows:
            raise ValueError(f"A block has {table.n_rows} rows and {len(y)} targets.")
        weight, kinds = weights_of(block), self.kinds(table)
        self.refuse_infinite(table)
        span, labels, counts, here = np.array([np.inf, -np.inf]), np.zeros(0), {}, weight > 0
        if self.classes:
            labels, count = labels_of(y, weight)
            counts = dict(zip(labels, count.tolist(), strict=True))
        else:
            y = targets(y)
            if here.any():
                span = np.array([y[here].min(), y[here].max()])
        key = hashes(table, y)
        at = np.flatnonzero(here & (key <= np.uint64(self.highest)))
        part = part_of(block, y, weight, key, at, self.most)
        often = Often.of(key[here])
        return Sample(self.most, (part,), int(here.sum()), span, labels, kinds, often, counts=counts)

    def refuse_infinite(self, table: Table) -> None:
        """Refuse infinite numbers, whether their rows are drawn or not."""
        for name, column in self.read_by_type(table):
            if column.values.dtype.kind == "f" and np.isinf(column.values).any():
                raise ValueError(f"X contains infinity in a block of the table, in column {name!r}.")

    def read_by_type(self, table: Table) -> list[tuple[str, RawColumn]]:
        """Return the columns that are not named as categories, with their names."""
        names = table.names or tuple(f"x{k}" for k in range(len(table.columns)))
        columns = enumerate(zip(names, table.columns, strict=True))
        return [each for k, each in columns if each[0] not in self.categories and k not in self.categories]

    def kinds(self, table: Table) -> dict[str, str]:
        """Return what the columns hold, as far as it must be the same in all blocks."""
        found = {name: kind_seen(column, name) for name, column in self.read_by_type(table)}
        return {name: kind for name, kind in found.items() if kind is not None}


def refuse_unseen(found: Sample, part: Part, categories: Collection[Any]) -> None:
    """Refuse a sample that cannot tell what a column holds, since its few cells are in other rows."""
    if found.n <= len(part.y):  # all rows that count: what others hold says nothing
        return
    seen = Draw(found.most, categories=categories).kinds(Table.read(part.X))
    for name, kind in found.kinds.items():
        if seen.get(name, "number") != kind:
            raise ValueError(
                f"Column {name!r} holds {HELD[kind]}, but nothing of that in the sample of {len(part.y)} rows that is "
                "fitted first: nearly all its cells are missing. Drop it, fill it, or raise max_memory."
            )


def drawn(shards: Shards, most: int, classes: bool, n: int | None, categories: Collection[Any] = ()) -> Sample:
    """Draw a sample of a store.

    Parameters
    ----------
    shards : Shards
    most : int
        Rows that are wanted.
    classes : bool
    n : int or None
        Rows that there are, if it is known and rows are far away: then few more than are wanted travel.
    categories : collection of str and int
        As for :class:`Draw`.
    """
    found: Sample
    share = 1.0 if n is None else (most + 10 * most**0.5) / max(n, 1)
    found = shards.sum(Draw(most, classes, min(HIGHEST, int(share * HIGHEST)), categories))
    if share < 1 and len(lowest([*found.parts], most).key) < most:  # many rows are equal, or weigh nothing
        found = shards.sum(Draw(most, classes, categories=categories))
    frequent = found.often.above(found.n)
    if found.n > most and len(frequent) and not found.whole:
        counted: Part = shards.sum(Count(frequent, classes))
        found = replace(found, frequent=counted.take(np.flatnonzero(counted.count >= enough(found.n))))
    return found
