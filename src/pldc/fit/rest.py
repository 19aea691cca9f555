"""All rows of a table of which a fit holds but a sample: read as the sample was, and added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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
    """

    shards: Shards
    read: Callable[[Block], Rows]
    n: int
    span: Array
    errors: list[Exception] = field(default_factory=list)

    def total(self, order: ClassOrder) -> Total:
        """Return what adds up an evaluation over all rows, with classes in an order of their own."""

        def add(evaluation: Evaluation) -> Sums:
            try:
                found: Sums = self.shards.sum(Work(self.read, order, evaluation))
            except Exception as error:
                self.errors.append(error)
                raise RowsLost from error
            return found

        return Total(self.n, add)
