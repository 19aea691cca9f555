"""Some rows of a store, the same whatever the blocks: read once, and held where they are for many steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pldc.scale.hashes import HIGHEST
from pldc.scale.shards import Block, Blocks, Shards
from pldc.scale.stacking import rows_of
from pldc.scale.targets import keys_of, weights_of

ENOUGH = 200  # rows of a class
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
    rare : dict
        From the labels of classes of which more rows are held to their share; these weigh less.
    """

    read: Callable[[Block], Any]
    share: float
    classes: bool = False
    rare: dict[Any, float] = field(default_factory=dict)

    def __call__(self, block: Block) -> Held:
        """Read."""
        y, weight, key = np.asarray(block.y), weights_of(block), keys_of(block, self.classes)
        here, factor = key <= highest(self.share), np.ones(len(y))
        for label, share in self.rare.items():
            own = np.asarray(y == label)
            here[own], factor[own] = key[own] <= highest(share), self.share / share
        at = np.flatnonzero(here & (weight > 0))
        if not len(at):
            return Held()
        return Held([Block(*self.read(Block(rows_of(block.X, at), y[at], (weight * factor)[at], block.where)))])


def highest(share: float) -> Any:
    """Return the highest of the numbers, as if by chance, of such a share of all rows."""
    return np.uint64(HIGHEST if share >= 1.0 else int(share * HIGHEST))


def shares_of(counts: dict[Any, int], share: float) -> dict[Any, float]:
    """Return the shares of classes so rare that at this share there would not be enough rows of them."""
    return {label: min(1.0, ENOUGH / n) for label, n in counts.items() if n * share < ENOUGH}


def held(shards: Shards, work: Hold) -> Shards:
    """Return a store of the rows that `work` reads: on the machines where they are, if the store knows of several."""
    if hasattr(shards, "hold"):
        found: Shards = shards.hold(work)
        return found
    blocks = shards.sum(work).joined()
    return Blocks(lambda: blocks, getattr(shards, "threads", 1))
