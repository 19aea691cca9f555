"""Some rows of a store, the same whatever the blocks: read once, and held where they are for many steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.scale.hashes import HIGHEST
from pldc.scale.shards import Block, Blocks, Shards
from pldc.scale.stacking import rows_of
from pldc.scale.targets import keys_of, weights_of

ROWS = 1 << 14  # of a block that is held, at least, if there are so many


class Held(tuple[Block, ...]):
    """Blocks of rows that were read."""

    def __add__(self, other: Any) -> Held:
        return Held((*self, *other))

    def as_one(self) -> Block:
        """Return all rows as one block."""
        if not self:
            return Block(np.zeros((0, 1)), np.zeros(0))
        X, y, weight = (np.concatenate(each) for each in zip(*(block[:3] for block in self), strict=True))
        return Block(X, y, weight)

    def joined(self) -> list[Block]:
        """Return the same rows in fewer blocks."""
        ends = np.cumsum([len(block.y) for block in self]) // ROWS
        cuts = np.flatnonzero(np.diff(ends)) + 1
        return [Held(self[k] for k in some).as_one() for some in np.split(np.arange(len(self)), cuts) if len(some)]


@dataclass(frozen=True)
class Hold:
    """Reads the rows of a block whose number, as if by chance, is low.

    Attributes
    ----------
    read : callable
        A block to (X, y, weight) as the fit sees them; it can be pickled.
    share : float
        Of the rows to hold.
    classes : bool
        Targets are labels.
    """

    read: Callable[[Block], Any]
    share: float
    classes: bool = False

    def __call__(self, block: Block) -> Held:
        """Read."""
        y, weight = np.asarray(block.y), weights_of(block)
        at = np.flatnonzero((weight > 0) & (keys_of(block, self.classes) <= np.uint64(int(self.share * HIGHEST))))
        if not len(at):
            return Held()
        return Held([Block(*self.read(Block(rows_of(block.X, at), y[at], weight[at], block.where)))])


def held(shards: Shards, work: Hold) -> Shards:
    """Return a store of the rows that `work` reads: on the machines where they are, if the store knows of several."""
    if hasattr(shards, "hold"):
        found: Shards = shards.hold(work)
        return found
    blocks = shards.sum(work).joined()
    return Blocks(lambda: blocks, getattr(shards, "threads", 1))
