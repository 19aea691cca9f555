"""Rules for the columns of a table, learned from its rows: medians, levels, parts of dates, statistics of the target.

All but the statistics look at the features alone. The statistic of a level is the mean of the target there. Its own
row must not be part of it, or the model would learn to read the answer: the numbers of the training rows are those of
other folds, :class:`Draft` tells how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pldc.columns.cells import Table, cells_as, kind_of, refuse_objects
from pldc.columns.encoding import Encoding
from pldc.columns.features import Array, Column, DatePart, Feature, Level, Missing, Number, Statistic, missing
from pldc.columns.levels import codes_of, level_means

MOST_LEVELS = 12  # of a category, up to which each has a feature of its own
CYCLES = (1.0, 7.0, 365.2425)  # days


def kinds_of(table: Table, categorical: Array | None, *, from_types: bool) -> tuple[Column, ...]:
    """Say of each column how it is read.

    Parameters
    ----------
    table : Table
    categorical : bool array of shape (d,) or None
        Columns that are categories whatever they hold.
    from_types : bool
        Columns of text, and those whose type says so, are categories, too. Else such columns are refused.
    """
    names = table.names or tuple(f"x{k}" for k in range(len(table.columns)))
    found = []
    for k, (name, column) in enumerate(zip(names, table.columns, strict=True)):
        kind, zone = kind_of(column, name)
        if categorical is not None and categorical[k]:
            kind, zone = "category", None
        elif kind == "category" and not from_types:
            raise ValueError(
                f"Column {name!r} holds categories: name it in categorical_features, or leave that at 'from_dtype'."
            )
        elif kind == "category":
            refuse_objects(column, name)
        found.append(Column(name, kind, zone))
    return tuple(found)


@dataclass(frozen=True)
class Draft:
    """Rules but for the statistics of the target, which need to know which rows are left out together.

    Attributes
    ----------
    columns : tuple of Column
    cells : list of arrays
        The cells of each column.
    features : list of lists of Feature
        Those of each column; none yet for a category of many levels.
    levels : dict
        From the place of such a category to its levels.
    weight : array of shape (n,)
    """

    columns: tuple[Column, ...]
    cells: list[Array]
    features: list[list[Feature]]
    levels: dict[int, list[str]]
    weight: Array

    @classmethod
    def of(cls, table: Table, columns: tuple[Column, ...], weight: Array) -> Draft:
        """Learn what does not look at the target; rows of weight zero count for nothing."""
        cells = [cells_as(raw, c.name, c.kind, c.zone) for raw, c in zip(table.columns, columns, strict=True)]
        here = weight > 0
        features: list[list[Feature]] = []
        levels = {}
        for k, (column, values) in enumerate(zip(columns, cells, strict=True)):
            seen = values[here]
            if column.kind == "category":
                names = sorted(set(seen.tolist()) - {None})
                if len(names) > MOST_LEVELS:
                    levels[k] = names
                    features.append([])
                    continue
                own: list[Feature] = [Level(k, name) for name in names]
            elif column.kind == "date":
                own = date_parts(k, seen, weight[here])
            else:
                own = [Number(k, weighted_median(seen, weight[here]))]
            if missing(seen).any():
                own.append(Missing(k))
            features.append(own)
        return cls(columns, cells, features, levels, weight)

    def numbers(self) -> Array:
        """Return the rows as numbers that tell equal rows from others, for folds: a level of many is its place."""
        out: list[Array] = []
        for k, (cells, features) in enumerate(zip(self.cells, self.features, strict=True)):
            out += [codes_of(cells, self.levels[k]) + 0.0] if k in self.levels else [f.values(cells) for f in features]
        return np.column_stack(out)

    def finish(
        self, targets: Sequence[tuple[str, Array]], splits: Sequence[tuple[Array, Array]]
    ) -> tuple[Encoding, Array]:
        """Learn the statistics, and return the rules with the numbers of the training rows.

        Parameters
        ----------
        targets : sequence of (str, array of shape (n,))
            What means are taken of, each with its name: the target, or indicators of classes.
        splits : sequence of (places, places)
            Rows that statistics are taken from, and rows whose features they are: none is in both. New rows have those
            of all rows.
        """
        values, label = distinct_targets([target for _, target in targets], len(self.weight))
        weight = self.counted(label) if self.levels else self.weight

        def learned(k: int) -> tuple[list[str], Array, Array]:
            names = self.levels[k]
            codes = codes_of(self.cells[k], names)
            everywhere = level_means(codes, label, values, weight, len(names))
            mean, numbers = everywhere[-1], everywhere[codes]
            for there, here in splits:
                apart = level_means(codes[there], label[there], values, weight[there], len(names), mean)
                numbers[here] = apart[codes[here]]
            numbers[:, (everywhere == mean).all(axis=0)] = mean[(everywhere == mean).all(axis=0)]
            return names, everywhere, numbers

        return self.finished([about for about, _ in targets], learned)

    def finished(
        self, about: Sequence[str], learned: Callable[[int], tuple[list[str], Array, Array]]
    ) -> tuple[Encoding, Array]:
        """Return the rules with the numbers of the training rows.

        Parameters
        ----------
        about : sequence of str
            What means are of.
        learned : callable
            The place of a column of many levels to these, in order, their means as :func:`level_means` returns them,
            and the numbers of the training rows.
        """
        features, columns = [], []
        for k, (cells, own) in enumerate(zip(self.cells, self.features, strict=True)):
            features += own
            columns += [feature.values(cells) for feature in own]
            if k not in self.levels:
                continue
            names, everywhere, numbers = learned(k)
            for what, means in zip(about, everywhere.T.tolist(), strict=True):
                table = tuple(zip(names, means[:-2], strict=True))
                features.append(Statistic(k, table, means[-1], means[-2], what))
            columns += list(numbers.T)
        return Encoding(self.columns, tuple(features)), np.column_stack(columns)

    def counted(self, label: Array) -> Array:
        """Return weights as numbers of rows: where they are less than one on average, distinct rows count as one."""
        here = self.weight > 0
        if not here.any() or self.weight[here].min() >= 1.0:
            return self.weight
        count = len(np.unique(np.column_stack([self.numbers()[here], label[here]]), axis=0))
        return np.asarray(self.weight * max(1.0, count / float(self.weight.sum())))


def distinct_targets(targets: Sequence[Array], n: int) -> tuple[Array, Array]:
    """Return the distinct rows (u, m) of m targets, and which of them each of n rows has."""
    if not targets:
        return np.zeros((1, 0)), np.zeros(n, dtype=np.intp)
    values, label = np.unique(np.column_stack(targets), axis=0, return_inverse=True)
    return values, label.ravel()


def date_parts(column: int, days: Array, weight: Array) -> list[Feature]:
    """Return the linear part of dates, and each cycle that they go round at least once."""
    known = days[~np.isnan(days)]
    parts = [DatePart(column, 0.0)]
    for period in CYCLES:
        if len(known) and np.ptp(known) > period and np.ptp(np.mod(known, period)) > 0:
            parts += [DatePart(column, 0.0, wave, period) for wave in ("sin", "cos")]
    return [DatePart(column, weighted_median(p.part(days), weight), p.wave, p.period) for p in parts]


def weighted_median(values: Array, weight: Array) -> float:
    """Return the median of what is not missing, a weight of 2 being the row twice; 0 where all is missing."""
    here = ~np.isnan(values)
    values, weight = values[here], weight[here]
    if not len(values):
        return 0.0
    if np.ptp(weight) == 0:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    half = 0.5 * mass[-1]
    first = int(np.searchsorted(mass, half * (1 - 1e-12)))
    last = int(np.searchsorted(mass, half * (1 + 1e-12), side="right"))
    return float(0.5 * values[first] + 0.5 * values[min(last, len(values) - 1)])
