"""Classes so rare that a sample has few of their rows, or none: it gets more of them, and each counts for less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pldc.scale.hashes import HIGHEST
from pldc.scale.repeats import Part, joined, lowest, part_of
from pldc.scale.sample import Sample
from pldc.scale.shards import Block, Shards
from pldc.scale.targets import keys_of, weights_of

ENOUGH = 200  # rows of a class
FEWEST = 5  # where there are very many rare ones


@dataclass(frozen=True)
class Rare:
    """Draws rows of some classes: what :meth:`Shards.sum` is asked to add up.

    Attributes
    ----------
    highest : dict
        From labels to the highest number, as if by chance, of the rows to take.
    """

    highest: dict[Any, int]

    def __call__(self, block: Block) -> Part:
        """Return those of a block, each kind once."""
        y, weight, key = np.asarray(block.y), weights_of(block), keys_of(block, True)
        here = np.zeros(len(y), dtype=bool)
        for label, highest in self.highest.items():
            here |= np.asarray(y == label) & (key <= np.uint64(highest))
        at = np.flatnonzero(here & (weight > 0))
        return lowest([part_of(block, y, weight, key, at, len(at))], len(at))


def with_rare(shards: Shards, found: Sample, part: Part) -> Part:
    """Return the rows of a sample with enough of every class; of rare ones in a pass of their own.

    The rows of a rare class weigh together what its share of all rows says.
    """
    labels, count = np.unique(part.y, return_counts=True)
    there = dict(zip(labels, count.tolist(), strict=True))
    lacking = [label for label, n in found.counts.items() if there.get(label, 0) < min(n, ENOUGH)]
    if not lacking:
        return part
    enough = max(FEWEST, min(ENOUGH, found.most // (2 * len(lacking))))
    share = {label: min(1.0, 2 * enough / found.counts[label]) for label in lacking}
    drawn: Part = shards.sum(Rare({label: min(HIGHEST, int(s * HIGHEST)) for label, s in share.items()}))
    parts, others = [], np.ones(len(part.y), dtype=bool)
    for label in lacking:
        others &= np.asarray(part.y != label)
        own = drawn.take(np.flatnonzero(drawn.y == label))
        worth = found.counts[label] / found.n * len(part.y) / own.count.sum()  # rows of the sample for each of them
        parts.append(replace(own, weight=own.weight * worth, count=np.ones_like(own.count)))
    return joined([part.take(np.flatnonzero(others)), *parts])
