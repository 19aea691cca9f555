"""Classes so rare that a sample has few of their rows, or none: it gets more of them, and each counts for less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pldc.scale.held import ENOUGH
from pldc.scale.repeats import Part, joined, lowest, part_of
from pldc.scale.sample import Sample
from pldc.scale.shards import Block, Shards
from pldc.scale.targets import keys_of, weights_of

ALIKE = 1.05  # rows of a kind, on average, up to which the kinds with low numbers are like the others


class Parts(tuple[Part | None, ...]):
    """Rows of several classes, of each the kinds with the lowest numbers; None: no row."""

    most = 2 * ENOUGH

    def __add__(self, other: Any) -> Parts:
        pairs = zip(self, other, strict=True)
        return Parts(b if a is None else a if b is None else lowest([a, b], self.most) for a, b in pairs)


@dataclass(frozen=True)
class Rare:
    """Draws rows of some classes: what :meth:`Shards.sum` is asked to add up.

    Attributes
    ----------
    labels : tuple
    """

    labels: tuple[Any, ...]

    def __call__(self, block: Block) -> Parts:
        """Return, of each class, the kinds of rows with the lowest numbers, with the counts of their rows."""
        y, weight, key = np.asarray(block.y), weights_of(block), keys_of(block, True)
        out: list[Part | None] = []
        for label in self.labels:
            at = np.flatnonzero(np.asarray(y == label) & (weight > 0))
            part = part_of(block, y, weight, key, at, Parts.most) if len(at) else None
            out.append(part if part is None else lowest([part], Parts.most))
        return Parts(out)


def with_rare(shards: Shards, found: Sample, part: Part) -> Part:
    """Return the rows of a sample with enough of every class; of rare ones in a pass of their own.

    The rows of a rare class weigh together what its share of all rows says. One whose rows are repeated, and of which
    the sample has some, stays as it is: there its kinds are in proportion.
    """
    labels, count = np.unique(part.y, return_counts=True)
    there = dict(zip(labels, count.tolist(), strict=True))
    lacking = tuple(label for label, n in found.counts.items() if there.get(label, 0) < min(n, ENOUGH))
    if not lacking:
        return part
    enough = max(1, min(ENOUGH, found.most // (2 * len(lacking))))
    parts, others = [], np.ones(len(part.y), dtype=bool)
    for label, own in zip(lacking, shards.sum(Rare(lacking)), strict=True):
        if there.get(label, 0) and (own.count.mean() > ALIKE or there[label] >= enough):
            continue
        others &= np.asarray(part.y != label)
        own = own.take(np.arange(min(len(own.key), 2 * enough)))
        worth = found.counts[label] / found.n * len(part.y) / own.count.sum()  # rows of the sample for each of them
        parts.append(replace(own, weight=own.weight * worth, count=np.ones_like(own.count)))
    return joined([part.take(np.flatnonzero(others)), *parts])
