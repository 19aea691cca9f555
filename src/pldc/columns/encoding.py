"""The rules by which the cells of a table become the numbers that a function sees."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from pldc.columns import serialise
from pldc.columns.cells import Table, cells_as
from pldc.columns.features import Array, Column, Feature, Level, Missing, Number, Statistic


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become numbers: what a model that was fitted to categories and gaps must know.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the table.
    features : tuple of Feature
        What the function sees, in its order; those of one column follow each other.
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the encoded features: columns keep theirs, and what would have a name twice has a number."""
        names = [feature.name(self.columns[feature.column].name) for feature in self.features]
        taken = {name for name, feature in zip(names, self.features, strict=True) if isinstance(feature, Number)}
        for k, feature in enumerate(self.features):
            if not isinstance(feature, Number):
                numbered = (f"{names[k]} ({count})" for count in itertools.count(2))
                names[k] = next(name for name in itertools.chain([names[k]], numbered) if name not in taken)
                taken.add(names[k])
        return tuple(names)

    @property
    def opposites(self) -> dict[int, str]:
        """Of features that say whether a cell is a level or missing: what is true where they are 0, by their places."""
        named = zip(self.features, self.feature_names, strict=True)
        both = [
            (name, f.name(self.columns[f.column].name), f.opposite(self.columns[f.column].name)) for f, name in named
        ]
        return {k: no + name[len(plain) :] for k, (name, plain, no) in enumerate(both) if no is not None}

    @property
    def source(self) -> Array:
        """Place of the column that each encoded feature is made from."""
        return np.array([feature.column for feature in self.features], dtype=np.intp)

    def number_of(self, column: int) -> int | None:
        """Return the place of the feature that is the number in a column; None if it holds no numbers."""
        return self._place(column, Number)

    def gap_of(self, column: int) -> int | None:
        """Return the place of the feature that says that a cell of a column is missing, if there is one."""
        return self._place(column, Missing)

    def _place(self, column: int, kind: type[Feature]) -> int | None:
        at = index(column)
        own = [k for k, f in enumerate(self.features) if f.column == at and isinstance(f, kind)]
        return own[0] if own else None

    @property
    def has_statistics(self) -> bool:
        """Whether a feature was learned from the targets."""
        return any(isinstance(feature, Statistic) for feature in self.features)

    def levels(self, column: int) -> tuple[str, ...]:
        """Levels of a column of categories that training saw; of other columns none."""
        at = index(column)
        own = [feature for feature in self.features if feature.column == at]
        tables = [[level for level, _ in f.table] for f in own if isinstance(f, Statistic)]
        return tuple(tables[0] if tables else [f.level for f in own if isinstance(f, Level)])

    def each_level(self, column: int) -> tuple[tuple[str | None, ...], Array, Array]:
        """Return the levels of a category, None for a missing cell if training saw any, with the numbers of each.

        The numbers are those of the features at the places that come second, a row for each level.
        """
        places = np.flatnonzero(self.source == index(column))
        levels: tuple[str | None, ...] = self.levels(column)
        levels += (None,) * (self.gap_of(column) is not None)
        cells = np.array([*levels, None], dtype=object)[:-1]
        return levels, places, np.column_stack([self.features[k].values(cells) for k in places])

    def apply(self, table: Any, statistics: Mapping[int, Callable[[Array], Array]] | None = None) -> Array:
        """Return the numbers of a table, (n, number of features).

        Parameters
        ----------
        statistics : dict of callables, optional
            From the place of a column and its cells to its statistics (n, m), where they are not those of new rows.
        table : DataFrame of pandas or polars, Arrow table, array of shape (n, d), or dict of columns
            With the columns of the training: by their names, in any order, or without names in that of the training.
        """
        given = Table.read(table)
        given = given.in_order(self.names)
        out = np.empty((given.n_rows, len(self.features)))
        own = statistics or {}
        for column, places in itertools.groupby(range(len(self.features)), lambda k: self.features[k].column):
            rule = self.columns[column]
            cells = cells_as(given.columns[column], rule.name, rule.kind, rule.zone)
            for k in places:
                if column not in own or not isinstance(self.features[k], Statistic):
                    out[:, k] = self.features[k].values(cells)
            if column in own:
                learned = [k for k, f in enumerate(self.features) if f.column == column and isinstance(f, Statistic)]
                out[:, learned] = own[column](cells)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as a dictionary of strings, numbers and lists, for JSON and the like."""
        return serialise.to_dict(self.columns, self.features)

    @classmethod
    def from_dict(cls, record: Any) -> Encoding:
        """Return the rules of a dictionary made by :meth:`to_dict`; a malformed one is refused with the place named."""
        return cls(*serialise.from_dict(record))
