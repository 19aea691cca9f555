"""What one number that a function sees is made of: one cell of the table, read by a fixed rule.

A cell comes as a number (NaN where missing), as the text of a level (None where missing), or as a date: the days since
1 January 1970 on the clock of its column (NaN where missing).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

Array = np.ndarray
MONDAY = 3.0  # days from a Monday to 1 January 1970
WAVES = ("linear", "sin", "cos")


@dataclass(frozen=True)
class Column:
    """A column as training saw it.

    Attributes
    ----------
    name : str
        x0, x1, … where the table had no names.
    kind : {"number", "category", "date"}
        How its cells are read: as numbers (booleans are 0 and 1, lengths of time are days), as the text of levels (1,
        1.0 and "1" are one level), or as days since 1970.
    zone : str or None
        Time zone of a column of dates.
    """

    name: str
    kind: str
    zone: str | None = None


@dataclass(frozen=True)
class Feature:
    """One encoded feature; `column` is the place of the column that it is made from."""

    kind: ClassVar[str]
    column: int

    def name(self, column: str) -> str:
        """Say what the feature is, given the name of its column."""
        raise NotImplementedError

    def opposite(self, column: str) -> str | None:
        """Say what is true where the feature is 0, if it is 0 or 1; else None."""
        return None

    def values(self, cells: Array) -> Array:
        """Return the numbers of the cells of the column."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Feature):
    """The number itself; `fill` where it is missing."""

    kind: ClassVar[str] = "number"
    fill: float

    def name(self, column: str) -> str:
        """Return the name of the column."""
        return column

    def values(self, cells: Array) -> Array:
        """Return the numbers, without gaps."""
        return np.where(np.isnan(cells), self.fill, cells)


@dataclass(frozen=True)
class Missing(Feature):
    """1 where the cell is missing, else 0; of a column of any kind."""

    kind: ClassVar[str] = "missing"

    def name(self, column: str) -> str:
        """Return "age is missing" of "age"."""
        return f"{column} is missing"

    def opposite(self, column: str) -> str:
        """Return "age is not missing" of "age"."""
        return f"{column} is not missing"

    def values(self, cells: Array) -> Array:
        """Return the indicator."""
        return missing(cells).astype(np.float64)


@dataclass(frozen=True)
class Level(Feature):
    """1 where the category is `level`, else 0. A level that training did not see is 0 in all of them."""

    kind: ClassVar[str] = "level"
    level: str

    def name(self, column: str) -> str:
        """Return "cut = Ideal" of "cut"."""
        return f"{column} = {self.level}"

    def opposite(self, column: str) -> str:
        """Return "cut ≠ Ideal" of "cut"."""
        return f"{column} ≠ {self.level}"

    def values(self, cells: Array) -> Array:
        """Return the indicator."""
        return (cells == self.level).astype(np.float64)


@dataclass(frozen=True)
class Statistic(Feature):
    """Mean of the target in each level (share of a class), drawn towards the mean of all.

    Attributes
    ----------
    table : tuple of (str, float)
        Levels and their numbers.
    default : float
        Of a level that training did not see.
    missing : float
        Of a missing cell.
    about : str
        What the statistic is of, for the name.
    """

    kind: ClassVar[str] = "statistic"
    table: tuple[tuple[str, float], ...]
    default: float
    missing: float
    about: str = "mean target"

    def name(self, column: str) -> str:
        """Return "city: mean target" of "city"."""
        return f"{column}: {self.about}"

    def values(self, cells: Array) -> Array:
        """Look the levels up."""
        known: dict[Any, float] = dict(self.table)
        known[None] = self.missing
        return np.array([known.get(cell, self.default) for cell in cells], dtype=np.float64)


@dataclass(frozen=True)
class DatePart(Feature):
    """A part of a date, in days since 1970 on the clock of the column; `fill` where it is missing.

    Attributes
    ----------
    fill : float
    wave : {"linear", "sin", "cos"}
        t itself, or sin or cos of 2π t / period; a week begins on Monday, at 0:00.
    period : float
        In days: 1, 7 or 365.2425. Not used by "linear".
    """

    kind: ClassVar[str] = "date"
    fill: float
    wave: str = "linear"
    period: float = 1.0

    def name(self, column: str) -> str:
        """Return "when: days" or "when: day of the week (sin)" of "when"."""
        cycle = {1.0: "time of day", 7.0: "day of the week"}.get(self.period, "day of the year")
        return f"{column}: days" if self.wave == "linear" else f"{column}: {cycle} ({self.wave})"

    def values(self, cells: Array) -> Array:
        """Return the part, without gaps."""
        return np.where(np.isnan(cells), self.fill, self.part(cells))

    def part(self, days: Array) -> Array:
        """Return the part of days, NaN where they are."""
        if self.wave == "linear":
            return days
        shift = MONDAY if self.period == 7.0 else 0.0
        angle = 2.0 * np.pi * np.mod(days + shift, self.period) / self.period
        return np.sin(angle) if self.wave == "sin" else np.cos(angle)


def missing(cells: Array) -> Array:
    """Say which cells are missing: NaN among numbers, None among levels."""
    if cells.dtype == object:
        return np.array([cell is None for cell in cells], dtype=bool)
    return np.isnan(cells)
