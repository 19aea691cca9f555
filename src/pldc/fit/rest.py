"""All rows of a table of which a fit holds but a sample: read as the sample was, and added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from pldc.compact.polish import Evaluation, RowsLost, Total
from pldc.fit.class_order import ClassOrder
from pldc.function.max_affine import Array
from pldc.problem.recipe import Rows
from pldc.scale import Block, Shards, Sums


@dataclass(frozen=True)
class Work:
    """What is done with a block, wherever it is."""

    read: Callable[[Block], Rows]
    order: ClassOrder
    evaluation: Evaluation

    def __call__(self, block: Block) -> Sums:
        """Read and evaluate."""
        return Sums(self.evaluation(self.order.rows(self.read(block))))


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
    """

    rows: int
    sample: int
    made: int

    def __str__(self) -> str:
        passes = "no pass" if not self.made else "one pass" if self.made == 1 else f"{self.made} passes"
        return f"to a sample of {self.sample} of {self.rows} rows, then in {passes} over all"


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
    """

    shards: Shards
    read: Callable[[Block], Rows]
    n: int
    span: Array
    errors: list[Exception] = field(default_factory=list)
    sample: int = 0
    ended: list[int] = field(default_factory=list)

    @property
    def passes(self) -> Passes:
        """How it was read."""
        return Passes(self.n, self.sample, len(self.ended))

    def total(self, order: ClassOrder) -> Total:
        """Return what adds up an evaluation over all rows, with classes in an order of their own."""

        def add(evaluation: Evaluation) -> Sums:
            try:
                found: Sums = self.shards.sum(Work(self.read, order, evaluation))
            except Exception as error:
                self.errors.append(error)
                raise RowsLost from error
            self.ended.append(len(self.ended) + 1)
            return found

        return Total(self.n, add)
