"""A sample of the rows of any store, drawn in one pass: by content, whatever their order and their blocks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from pldc.columns.cells import HELD, Table, check_labels
from pldc.columns.features import Array
from pldc.scale.hashes import HIGHEST, hashes, kind_seen
from pldc.scale.schemas import wider
from pldc.scale.shards import Block, Shards


class Part(NamedTuple):
    """Some rows, by numbers as if by chance, which increase."""

    key: Array
    X: Any
    y: Array
    weight: Array

    def take(self, at: Array) -> Part:
        """Return the rows at some places."""
        return Part(self.key[at], rows_of(self.X, at), self.y[at], self.weight[at])


@dataclass(frozen=True)
class Sample:
    """The rows with the lowest of numbers as if by chance, and what is known of all rows.

    Attributes
    ----------
    most : int
        Rows that are kept.
    parts : tuple of Part
        Among which these are: up to twice as many, so that they are not copied for every block.
    n : int
        Rows that were seen.
    span : array of shape (2,)
        Lowest and highest target, if they are numbers.
    labels : array
        All targets that there are, if they are classes.
    kinds : dict
        What the columns hold, by their names: numbers, categories or dates.
    """

    most: int
    parts: tuple[Part, ...]
    n: int
    span: Array
    labels: Array
    kinds: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: Sample) -> Sample:
        for name, kind in other.kinds.items():
            if self.kinds.get(name, kind) != kind:
                raise ValueError(
                    f"Column {name!r} holds {HELD[self.kinds[name]]} in one block and {HELD[kind]} in another: give it "
                    "one type in all blocks, or name it in categorical_features."
                )
        check_labels(np.array([*self.labels.tolist(), *other.labels.tolist()], dtype=object))
        parts = [*self.parts]
        for new in other.parts:
            if len(self.parts[0].key) == self.most:  # it is sorted: beyond its last nothing is needed
                new = new.take(np.arange(np.searchsorted(new.key, self.parts[0].key[-1], side="right")))
            if len(new.key):
                parts.append(new)
        if sum(len(part.key) for part in parts) > 2 * self.most:
            parts = [merged(parts, self.most)]
        span = np.array([min(self.span[0], other.span[0]), max(self.span[1], other.span[1])])
        return Sample(
            self.most,
            tuple(parts),
            self.n + other.n,
            span,
            np.union1d(self.labels, other.labels),
            self.kinds | other.kinds,
        )

    @property
    def rows(self) -> Part:
        """The sample."""
        return merged(list(self.parts), self.most)


def targets(y: Array) -> Array:
    """Return targets as numbers; others are refused."""
    try:
        numbers = np.asarray(y[:0] if y.dtype.kind in "mM" else y, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = y[:0]
    if len(numbers) < len(y):
        raise ValueError(
            f"y must hold numbers; a block holds {y[:1].tolist()[0]!r:.80}. For classes take DCClassifier."
        )
    if not np.isfinite(numbers).all():
        raise ValueError("y must be finite; a block of the table holds NaN or infinity in its target.")
    return numbers


def weights_of(block: Block) -> Array:
    """Return the weights of a block; others than numbers ≥ 0 are refused."""
    weight = np.ones(len(block.y)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    if weight.shape != (len(block.y),):
        raise ValueError(f"A block has {len(block.y)} targets and weights of shape {weight.shape}: give one a row.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("Weights must be finite numbers ≥ 0; a block has others.")
    return weight


def merged(parts: list[Part], most: int) -> Part:
    """Return the rows with the lowest numbers of all parts."""
    key = np.concatenate([part.key for part in parts])
    y, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "weight"))
    at = np.argsort(key, kind="stable")[:most]
    return Part(key, stacked([part.X for part in parts]), y, weight).take(at)


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
        span, labels = np.array([np.inf, -np.inf]), np.zeros(0)
        if self.classes:
            check_labels(y)
            labels = np.unique(y[weight > 0])
        else:
            y = targets(y)
            if (weight > 0).any():
                span = np.array([y[weight > 0].min(), y[weight > 0].max()])
        key = hashes(table, y)
        here = np.flatnonzero((weight > 0) & (key <= np.uint64(self.highest)))
        at = here[np.argsort(key[here], kind="stable")[: self.most]]
        part = Part(key[at], rows_of(block.X, at), y[at], weight[at])
        return Sample(self.most, (part,), int((weight > 0).sum()), span, labels, kinds)

    def kinds(self, table: Table) -> dict[str, str]:
        """Return what the columns hold, as far as it must be the same in all blocks."""
        names = table.names or tuple(f"x{k}" for k in range(len(table.columns)))
        found = {
            name: kind_seen(column, name)
            for k, (name, column) in enumerate(zip(names, table.columns, strict=True))
            if name not in self.categories and k not in self.categories
        }
        return {name: kind for name, kind in found.items() if kind is not None}


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
    if share < 1:
        found = shards.sum(Draw(most, classes, int(share * HIGHEST), categories))
        if len(found.rows.y) == most:
            return found
    found = shards.sum(
        Draw(most, classes, categories=categories)
    )  # also where many rows are equal, or weigh nothing: chance has few to choose
    return found


def rows_of(X: Any, at: Array) -> Any:
    """Return some rows of an array, a frame of pandas or polars, or an Arrow table."""
    if hasattr(X, "iloc"):
        return X.iloc[at]
    if hasattr(X, "get_columns"):
        return X[at]
    return X.take(at) if hasattr(X, "column_names") else np.asarray(X)[at]


def stacked(parts: list[Any]) -> Any:
    """Put rows of the same kind below each other."""
    if hasattr(parts[0], "iloc"):
        import pandas

        return pandas.concat(parts, ignore_index=True)
    if hasattr(parts[0], "column_names"):
        import pyarrow

        types = [reduce(wider, each) for each in zip(*(part.schema.types for part in parts), strict=True)]
        if None in types:
            name = parts[0].column_names[types.index(None)]
            raise ValueError(f"Column {name!r} has several types in the blocks of the table: give it one in all.")
        schema = pyarrow.schema([*zip(parts[0].column_names, types, strict=True)])
        return pyarrow.concat_tables([part.cast(schema) for part in parts]).combine_chunks()
    if hasattr(parts[0], "get_columns"):
        import polars

        return polars.concat(parts, how="vertical_relaxed")
    return np.concatenate(parts)
