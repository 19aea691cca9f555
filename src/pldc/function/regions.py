"""Which affine function rules where: the rows of a table grouped by linear region."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import numpy as np

from pldc.function.checks import shown, whole
from pldc.function.max_affine import Array, IntArray
from pldc.function.numbers import NOTHING, Printed, number, numbers, one_line, shortened, table
from pldc.function.rules import Rule, find_rule, separation

FEW_PIECES = 64  # of each part, up to which all regions are shown
MOST_RULES, LEAST_SHARE = 12, 0.01  # regions that a rule is looked for: the fullest, each of so many of the rows
ONE_A_ROW = 0.5  # regions for each row, from which they say nothing
MOST_FEATURES, LONGEST_NAME = 20, 24  # in a table of plain text


@dataclass(frozen=True, eq=False, repr=False)
class Regions(Printed):
    """The linear regions that hold the rows of a table, the fullest first.

    Attributes
    ----------
    of_row : int array of shape (n,)
        The region of each row.
    count : int array of shape (r,)
        Rows in each region.
    slope : array of shape (r, d)
        Within region k the function is ``⟨slope[k], x⟩ + intercept[k]``.
    intercept : array of shape (r,)
        At x = 0, which may be far from all rows.
    low, high : arrays of shape (r, d)
        Range of the features over the rows of each region.
    typical : array of shape (r, d)
        Of the rows of each region the one closest to their median.
    value : array of shape (r,)
        The function there.
    rules : tuple of Rule
        Where the fullest regions are: a dozen at most, each of a hundredth of the rows at least.
    decided_by : tuple of tuples of int
        For each of these the features that tell its rows best from the others, each alone; the best first.
    opposites : dict
        Of features that say whether something is true: what is true where they are 0; see :meth:`Rule.text`.
    """

    of_row: IntArray
    count: IntArray
    slope: Array
    intercept: Array
    low: Array
    high: Array
    typical: Array
    value: Array
    rules: tuple[Rule, ...]
    decided_by: tuple[tuple[int, ...], ...]
    opposites: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.count)

    def columns(self, feature_names: Sequence[str] | None = None) -> dict[str, Array]:
        """Return the table by columns, one row a region, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it.

        The rows that a region holds and their share; where it is, as a rule of thresholds with its precision and
        recall, and the features that decide it (both only of the fullest regions); the value at its typical row; its
        slopes; its typical row; and the lowest and highest value of each feature among its rows.
        """
        names, told = self._names(feature_names), len(self.rules)
        untold = len(self) - told
        where = [rule.text(names, self.opposites) for rule in self.rules] + [""] * untold
        decided = [", ".join(names[j] for j in features) for features in self.decided_by] + [""] * untold
        nan = [np.nan] * untold
        fixed: dict[str, Array] = {
            "rows": self.count,
            "share": self.count / self.count.sum(),
            "where": np.array(where, dtype=object),
            "precision": np.array([rule.precision for rule in self.rules] + nan),
            "recall": np.array([rule.recall for rule in self.rules] + nan),
            "decided by": np.array(decided, dtype=object),
            "value": self.value,
        }
        each = (("slope of", self._cleaned()), ("typical", self.typical), ("lowest", self.low), ("highest", self.high))
        return fixed | {
            f"{word} {name}": column for word, numbers_ in each for name, column in zip(names, numbers_.T, strict=True)
        }

    def to_text(
        self,
        feature_names: Sequence[str] | None = None,
        most: int = 10,
        width: int = 79,
        also: Mapping[str, Array] | None = None,
        value: str = "value",
    ) -> str:
        """Return the fullest regions as plain text: a column for each, and where each is.

        Parameters
        ----------
        feature_names : sequence of str, optional
        most : int, default=10
            Regions to show, if so many fit.
        width : int, default=79
            Of the text.
        also : dict, optional
            More to say of each region, by name.
        value : str, default="value"
            What the value at the typical row is called.
        """
        if also is not None and not (
            isinstance(also, Mapping) and all(np.shape(v) == (len(self),) for v in also.values())
        ):
            raise TypeError(f"also must be a dictionary of what to say of each region, got {shown(also)}.")
        also = also or {}
        names, slope = self._names(feature_names), self._cleaned()
        most, width = min(whole("most", most, 0), len(self)), whole("width", width, 1)
        strong = np.argsort(-(np.abs(slope[:most]) * self._spans()).max(axis=0), kind="stable")
        features = np.sort(strong[:MOST_FEATURES])
        left = [
            "region",
            *also,
            "rows",
            "share",
            value,
            *(f"slope of {shortened(names[j], LONGEST_NAME)}" for j in features),
        ]
        cells = [
            [
                str(k),
                *(shortened(str(said[k]), LONGEST_NAME) for said in also.values()),
                str(self.count[k]),
                f"{self.count[k] / self.count.sum():.0%}",
                number(self.value[k]),
            ]
            + numbers(slope[k, features], unit=self._spans()[features])
            for k in range(most)
        ]
        lines = table([left[0]], [[cell] for cell in left[1:]])
        listed = 0
        while listed < most:
            wider = table([left[0], *(c[0] for c in cells[: listed + 1])], _across(left, cells[: listed + 1]))
            if listed and max(map(len, wider)) > width:
                break
            lines, listed = wider, listed + 1
        if len(features) < len(names):
            lines.append(f"… and {len(names) - len(features)} more features, of smaller slopes")
        for k, rule in enumerate(self.rules[:listed]):
            sure = f"precision {rule.precision:.0%}, recall {rule.recall:.0%}"
            lines += wrap(
                f"{k}: {one_line(rule.text(names, self.opposites))} ({sure})", max(width, 20), subsequent_indent="   "
            )
        if len(self) > listed:
            more, rows = len(self) - listed, int(self.count[listed:].sum())
            lines.append(f"… and {more} more region{'s' * (more > 1)} with {rows} row{'s' * (rows > 1)}")
        if len(self) > max(most, ONE_A_ROW * self.count.sum()):
            lines.append("This model has about one region a row: simplify it first, model.simplify(X, y)")
        return "\n".join(lines)

    def _spans(self) -> Array:
        """Range of each feature over all rows."""
        return np.asarray(self.high.max(axis=0) - self.low.min(axis=0))

    def _cleaned(self) -> Array:
        """Slopes, with zeros for what is rounding: nothing beside the largest, over the range of the features."""
        size = np.abs(self.slope) * np.where(self._spans() > 0, self._spans(), 1.0)
        return np.where(size > NOTHING * size.max(initial=0.0), self.slope, 0.0)

    def _names(self, feature_names: Sequence[str] | None) -> list[str]:
        d = self.slope.shape[1]
        names = [f"x{k}" for k in range(d)] if feature_names is None else [str(name) for name in feature_names]
        if len(names) != d:
            raise ValueError(f"{len(names)} feature names for {d} features.")
        if len(set(names)) < d:
            raise ValueError(f"Feature names must differ, got {names!r:.200}.")
        return names

    def __str__(self) -> str:
        return self.to_text()


class RegionTable(Printed, dict[str, Array]):
    """The regions of a model by columns, as ``pandas.DataFrame`` and ``polars.DataFrame`` take them; prints as text.

    Attributes
    ----------
    regions : Regions or ClassRegions
    feature_names : sequence of str or None
    """

    def __init__(self, regions: Any, feature_names: Sequence[str] | None = None) -> None:
        if not callable(getattr(regions, "columns", None)) or isinstance(regions, type):
            raise TypeError(f"regions must be those of a function, such as PLDC.regions(X), got {shown(regions)}.")
        super().__init__(regions.columns(feature_names))
        self.regions, self.feature_names = regions, feature_names

    def to_text(self, most: int = 10, width: int = 79) -> str:
        """Return the fullest regions as plain text; see :meth:`Regions.to_text`."""
        return str(self.regions.to_text(self.feature_names, most, width))

    def __reduce__(self) -> tuple[Any, ...]:
        return RegionTable, (self.regions, self.feature_names)

    def __str__(self) -> str:
        return self.to_text()


def _across(left: list[str], cells: list[list[str]]) -> list[list[str]]:
    """Return the rows of a table, below its head, from its columns."""
    return [[left[i], *(cell[i] for cell in cells)] for i in range(1, len(left))]


def group(points: Array, keys: Array, slope: Array, intercept: Array, value: Callable[[IntArray], Array]) -> Regions:
    """Group rows by equal keys; slope and intercept are those at the rows, equal within a group up to rounding.

    `value` returns that of the function at the rows whose places it is given.
    """
    if len(points) == 0:
        raise ValueError("regions(X) needs at least one row.")
    if not np.isfinite(points).all():
        raise ValueError("X must be finite; it contains NaN or infinity.")
    _, first, inverse, count = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -count))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    of_row, count = rank[inverse.ravel()], count[order]
    slope, intercept = slope[first[order]], intercept[first[order]]
    by_region = np.argsort(of_row, kind="stable")
    ends = np.cumsum(count)
    sorted_points, starts = points[by_region], ends - count
    typical = by_region[_typical(sorted_points, starts, ends)]
    told = [of_row == k for k in range(min(len(count), MOST_RULES)) if count[k] >= LEAST_SHARE * len(points)]
    return Regions(
        of_row=of_row,
        count=count,
        slope=slope,
        intercept=intercept,
        low=np.minimum.reduceat(sorted_points, starts),
        high=np.maximum.reduceat(sorted_points, starts),
        typical=points[typical],
        value=value(typical),
        rules=tuple(find_rule(points, inside) for inside in told),
        decided_by=tuple(_deciding(separation(points, inside)) for inside in told),
    )


def _typical(points: Array, starts: IntArray, ends: IntArray) -> IntArray:
    """Return the place of the row that is closest to the median, of each run; in standard deviations of all rows."""
    around = points / 2 - points[0] / 2  # far from zero means would round
    around = around / np.where((size := np.abs(around).max(axis=0)) > 0, size, 1.0)  # and squares of 1e200 overflow
    spread = around.std(axis=0)
    scaled = around / np.where(spread > 0, spread, 1.0)
    out = np.empty(len(starts), dtype=np.intp)
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        away = ((scaled[start:end] - np.median(scaled[start:end], axis=0)) ** 2).sum(axis=1)
        out[k] = start + int(away.argmin())
    return out


def _deciding(found: Array) -> tuple[int, ...]:
    """Features that separate at least half as well as the best one; three at most."""
    order = np.argsort(-found, kind="stable")[:3]
    return tuple(int(j) for j in order if found[j] > 0 and found[j] >= 0.5 * found.max())
