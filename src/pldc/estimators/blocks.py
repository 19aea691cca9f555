"""Blocks of a table become rows as a fit sees them, by the rules that were learned from a sample, and from all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from pldc.columns import Encoding, Statistic
from pldc.columns.cells import Table, check_labels
from pldc.columns.learn import Draft
from pldc.columns.levels import LevelSums
from pldc.function.max_affine import Array
from pldc.problem.recipe import Rows
from pldc.scale import Block, Shards
from pldc.scale.levels import PARTS, Apart, CountLevels, Parts
from pldc.scale.repeats import Part
from pldc.scale.targets import keys_of, targets, weights_of

BEYOND = "X holds a whole number in a block of the table that is beyond all floats: mend it, or leave the row out."
LEVEL_BYTES = 800  # of a level while it is counted, beside its sums


@dataclass(frozen=True)
class Reading:
    """Turns blocks into rows, by the rules that were learned from the sample.

    Attributes
    ----------
    columns : Encoding or None
    medians : array or None
        Of a table of numbers: what stands where one is missing.
    classes : array or None
    factors : array or None
        Of the weight of each class.
    apart : dict
        From the places of columns of many levels to the statistics of rows that are fitted.
    parts : Parts or None
        Which of them a row sees.
    """

    columns: Encoding | None = None
    medians: Array | None = None
    classes: Array | None = None
    factors: Array | None = None
    apart: dict[int, Apart] = field(default_factory=dict)
    parts: Parts | None = None

    def __call__(self, block: Block) -> Rows:
        """Read."""
        if self.columns is not None:
            own: dict[int, Callable[[Array], Array]] = {}
            if self.parts is not None and self.apart:
                part = self.parts(keys_of(block, self.classes is not None))
                own = {k: partial(statistics, part=part) for k, statistics in self.apart.items()}
            X = self.columns.apply(Table(Table.read(block.X).columns), own)  # in the order of the first block
        else:
            X = numbers_of(block.X)
            if np.isnan(X).any():
                X = np.where(np.isnan(X), 0.0 if self.medians is None else self.medians, X)
        if not np.isfinite(X).all():
            raise ValueError(f"X contains infinity in a block of the table, in column {self.infinite(block, X)!r}.")
        return Rows(X, *self.targets(block))

    def targets(self, block: Block) -> tuple[Array, Array]:
        """Return the targets, or numbers of classes, and the weights of a block."""
        y, weight = np.asarray(block.y), weights_of(block)  # checked in each pass: a table may change meanwhile
        if self.classes is None or self.factors is None:
            return targets(y), weight
        try:
            codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        except TypeError:  # they cannot be compared
            check_labels(y)
            raise
        known = np.asarray(self.classes[codes] == y)
        if not known.all():
            check_labels(y)
            strange = y[~known & (weight > 0)].tolist()
            if strange:
                raise ValueError(f"A block has the label {strange[0]!r:.80}, which no row had at first.")
        return codes.astype(np.float64), weight * self.factors[codes] * known

    def infinite(self, block: Block, X: Array) -> str:
        """Name the first feature that is infinite in a block."""
        first = int(np.argmin(np.isfinite(X).all(axis=0)))
        if self.columns is not None:
            return str(self.columns.feature_names[first])
        names = Table.read(block.X).names
        return f"x{first}" if names is None else names[first]


def numbers_of(X: Any) -> Array:
    """Return a block of numbers as an array."""
    columns = [X] if isinstance(X, np.ndarray) else [column.values for column in Table.read(X).columns]
    if any(column.dtype.kind == "c" for column in columns):
        raise ValueError("X holds complex numbers in a block: Complex data not supported. Give their parts.")
    try:
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    except OverflowError:
        raise ValueError(BEYOND) from None


@dataclass(frozen=True)
class Indicators:
    """Turns the targets of a block into what means are taken of: the targets, or indicators of classes.

    Attributes
    ----------
    read : Reading
    which : array or None
        Numbers of the classes.
    """

    read: Reading
    which: Array | None

    def __call__(self, block: Block) -> tuple[Array, Array, Array]:
        """Return the numbers of the rows, as if by chance, what means are taken of, and the weights."""
        y, weight = self.read.targets(block)
        wanted = y[:, None] if self.which is None else (y[:, None] == self.which) + 0.0
        return keys_of(block, self.which is not None), wanted, weight


@dataclass
class AllRows:
    """Learns the statistics of columns of many levels from all rows of a store, in a pass over them.

    Attributes
    ----------
    shards : Shards
    n : int
        Rows, without those of weight zero.
    sample : Part
        Some of them.
    memory : float
        Bytes that the levels may take.
    classes : callable
        Returns the classes, once they are known; None: targets are numbers.
    parts : Parts
        Which statistics a row sees.
    apart : dict
        From the place of a column to the statistics of rows that are fitted, once they are learned.
    """

    shards: Shards
    n: int
    sample: Part
    memory: float
    classes: Callable[[], Array | None]
    parts: Parts
    apart: dict[int, Apart] = field(default_factory=dict)

    def reading(self, y: Array, weight: Array) -> Reading:
        """Return what reads targets; those of the sample, and its weights with factors, are `y` and `weight`."""
        classes = self.classes()
        if classes is None:
            return Reading()
        first = np.array([np.flatnonzero(y == k)[0] for k in range(len(classes))])
        return Reading(classes=classes, factors=weight[first] / self.sample.weight[first])

    def learn(self, draft: Draft, wanted: Sequence[tuple[str, Array]], y: Array) -> tuple[Encoding, Array]:
        """Return the rules of the columns, with the numbers of the sample.

        Parameters
        ----------
        draft : Draft
        wanted : sequence of (str, array)
            What means are taken of, with its name, of the rows of the sample.
        y : array
            Their targets, or numbers of classes.
        """
        read = self.reading(y, draft.weight)
        which = None if read.classes is None else np.array([y[np.argmax(each)] for _, each in wanted])
        values, weight = np.column_stack([each for _, each in wanted]), draft.weight / draft.weight.sum()
        center = weight @ values
        size = np.abs(values - center).max(axis=0)
        size[size == 0] = 1.0
        scale = size * np.sqrt(weight @ ((values - center) / size) ** 2)
        scale[scale == 0] = 1.0
        room = self.memory / len(draft.levels) / (LEVEL_BYTES + 2 * 8 * PARTS * (1 + 2 * len(center)))
        work = CountLevels(
            {k: draft.columns[k] for k in draft.levels},
            draft.levels,
            Indicators(read, which),
            center,
            scale,
            float(draft.weight[draft.weight > 0].mean()),
            int(room),
        )
        alike = bool((draft.weight[draft.weight > 0] >= 1.0).all())  # then a weight is a number of rows
        found = work.sums(self.shards.sum(work), None if alike else self.n)
        self.apart = {k: Apart.of(sums) for k, sums in found.items()}
        part = self.parts(self.sample.key)

        def learned(k: int) -> tuple[list[str], Array, Array]:
            sums: LevelSums = found[k]
            return sums.levels, sums.everywhere, self.apart[k](draft.cells[k], part)

        return draft.finished([about for about, _ in wanted], learned)

    def slim(self, columns: Encoding | None) -> Encoding | None:
        """Return rules without the tables of levels that `apart` has: they need not be sent to where rows are."""
        if columns is None or not self.apart:
            return columns
        features = (
            replace(each, table=()) if isinstance(each, Statistic) and each.column in self.apart else each
            for each in columns.features
        )
        return replace(columns, features=tuple(features))
