"""All rows of a table of which a fit holds but a sample: read as the sample was, and added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pldc.compact.polish import Add, Evaluation, RowsLost, Total
from pldc.fit.class_order import ClassOrder
from pldc.function.max_affine import Array
from pldc.problem.recipe import Rows
from pldc.scale import Block, Hold, Shards, Sums, held
from pldc.scale.held import shares_of


@dataclass(frozen=True)
class Work:
    """What is done with a block, wherever it is."""

    read: Callable[[Block], Rows]
    order: ClassOrder
    evaluation: Evaluation

    def __call__(self, block: Block) -> Sums:
        """Read and evaluate."""
        return Sums(self.evaluation(self.order.rows(self.read(block))))


def as_read(block: Block) -> Rows:
    """Return the rows of a block that was read before."""
    return Rows(block.X, block.y, np.ones(len(block.y)) if block.weight is None else block.weight)


class Passes(NamedTuple):
    """How a table was read of which a sample was fitted first.

    Attributes
    ----------
    rows : int
        All rows, without those of weight zero.
    sample : int
        Rows that were fitted first.
    made : int
        Passes over all rows, after that of the sample.
    held : int
        Rows, about, that were held for steps between the sample and all rows; 0: none.
    """

    rows: int
    sample: int
    made: int
    held: int = 0

    def __str__(self) -> str:
        passes = "no pass" if not self.made else "one pass" if self.made == 1 else f"{self.made} passes"
        some = f", to some {self.held} of them" if self.held else ""
        return f"to a sample of {self.sample} of {self.rows} rows{some}, then in {passes} over all"


@dataclass(frozen=True)
class Rest:
    """All rows, the sample among them.

    Attributes
    ----------
    shards : Shards
    read : callable
        A block to rows as the fit sees them; it can be pickled.
    n : int
        How many there are.
    span : array of shape (2,)
        Lowest and highest target.
    errors : list of Exception
        That ended a pass: what was learned before is kept.
    sample : int
        Rows of the sample.
    ended : list of int
        Passes that came to their end, by their number.
    held : int
        Rows to hold for steps between the sample and all rows; 0: none.
    classes : bool
        Targets of blocks are labels.
    counts : dict
        From labels to the number of their rows.
    stores : list of Shards
        Of the rows that are held, once they are.
    """

    shards: Shards
    read: Callable[[Block], Rows]
    n: int
    span: Array
    errors: list[Exception] = field(default_factory=list)
    sample: int = 0
    ended: list[int] = field(default_factory=list)
    held: int = 0
    classes: bool = False
    counts: dict[Any, int] = field(default_factory=dict)
    stores: list[Shards] = field(default_factory=list)

    @property
    def passes(self) -> Passes:
        """How it was read."""
        return Passes(self.n, self.sample, len(self.ended), self.held if self.stores else 0)

    def total(self, order: ClassOrder) -> Total:
        """Return what adds up an evaluation over all rows, with classes in an order of their own."""

        def add(evaluation: Evaluation) -> Sums:
            with self.noted():
                found: Sums = self.shards.sum(Work(self.read, order, evaluation))
            self.ended.append(len(self.ended) + 1)
            return found

        def add_held(evaluation: Evaluation) -> Sums:
            with self.noted():
                found: Sums = self.stores[0].sum(Work(as_read, order, evaluation))
            return found

        def hold() -> Add | None:
            if not self.held:
                return None
            if not self.stores:
                share = self.held / self.n
                with self.noted():
                    work = Hold(self.read, share, self.classes, shares_of(self.counts, share))
                    self.stores.append(held(self.shards, work))
            return add_held

        return Total(self.n, add, hold)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep an error: what was learned before is kept, and `fit` raises it in the end."""
        try:
            yield
        except Exception as error:
            self.errors.append(error)
            raise RowsLost from error
