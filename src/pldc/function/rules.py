"""Where a group of rows is, in words: the shortest rule of thresholds that tells its rows from all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pldc.function.checks import shown
from pldc.function.max_affine import Array, real
from pldc.function.numbers import number, simplest_between

MOST_CONDITIONS, WIDTH = 4, 4  # of a rule, and rules that are carried on at each length
GAIN = 0.02  # of F₁ that one condition more must bring
MOST_ROWS = 4000  # that a rule is looked for among
NOISE = 1e-9  # of the range of the middle half: numbers that differ by less are one, and no threshold is between them
Opposites = Mapping[int, str]
NONE: Opposites = MappingProxyType({})


class Condition(NamedTuple):
    """One threshold: the feature is above it, or at most as large."""

    feature: int
    above: bool
    value: float

    def holds(self, points: Array) -> np.ndarray:
        """Say at which rows it holds."""
        column = points[:, self.feature]
        return column > self.value if self.above else column <= self.value

    def text(self, names: Sequence[str], opposites: Opposites = NONE) -> str:
        """Write it down; `opposites` are as for :meth:`Rule.text`."""
        if self.feature in opposites and 0 <= self.value < 1:
            name, no = names[self.feature], opposites[self.feature]
            yes = f"{name} is True" if no == f"{name} is False" else name
            return yes if self.above else no
        return f"{names[self.feature]} {'>' if self.above else '≤'} {number(self.value, 12)}"


@dataclass(frozen=True)
class Rule:
    """All of some thresholds at once, and how well they tell a group of rows from the others.

    Attributes
    ----------
    conditions : tuple of Condition
        None: the group has all rows, or no threshold helps.
    precision : float
        Share of the group among the rows where the rule holds.
    recall : float
        Share of the rows of the group where it holds.
    """

    conditions: tuple[Condition, ...]
    precision: float
    recall: float

    def holds(self, points: Array) -> np.ndarray:
        """Say at which rows the rule holds."""
        points = self._fitting(real(points, "points"))
        out = np.ones(len(points), dtype=bool)
        for condition in self.conditions:
            out &= condition.holds(points)
        return out

    def _fitting(self, table: Array) -> Array:
        """Return a table that has a column for each feature that is asked for."""
        needed = 1 + max([-1, *(condition.feature for condition in self.conditions)])
        if table.ndim != 2 or table.shape[1] < needed:
            raise ValueError(f"The rule is about {needed} features or more; got the shape {table.shape}.")
        return table

    def text(self, names: Sequence[str], opposites: Opposites = NONE) -> str:
        """Write it down: thresholds on one feature as an interval.

        Parameters
        ----------
        names : sequence of str
        opposites : dict, optional
            Of features that are 1 where what their name says is true, and else 0: what is true there, by their places.
            They need no threshold.

        Examples
        --------
        >>> rule = Rule((Condition(0, False, 0.0), Condition(1, True, 2.0)), 1.0, 1.0)
        >>> rule.text(["heating = wood", "rooms"], {0: "heating ≠ wood"})
        'heating ≠ wood and rooms > 2'
        """
        names = self._fitting(np.array([list(map(str, names))], dtype=object))[0].tolist()
        if not (isinstance(opposites, Mapping) and all(isinstance(words, str) for words in opposites.values())):
            raise TypeError(f"opposites must be a dictionary from places of features to words, got {shown(opposites)}.")
        if not self.conditions:
            return "everywhere"
        parts = []
        for feature in dict.fromkeys(c.feature for c in self.conditions):
            mine = [c for c in self.conditions if c.feature == feature]
            low, high = (next((c for c in mine if c.above is above), None) for above in (True, False))
            if low is not None and high is not None:
                parts.append(f"{number(low.value, 12)} < {names[feature]} ≤ {number(high.value, 12)}")
            else:
                parts += [c.text(names, opposites) for c in mine]
        return " and ".join(parts)


def find_rule(points: Array, inside: np.ndarray) -> Rule:
    """Find a short rule for the rows that are inside.

    Rules grow by one threshold at a time; at each length the best few by F₁, the harmonic mean of precision and recall,
    are carried on. The shortest is taken that no condition more betters by 0.02. Of many rows the search sees some, and
    precision and recall are of all.
    """
    step = -(-len(points) // MOST_ROWS)
    if step > 1:
        return _judged(find_rule(points[::step], inside[::step]).conditions, points, inside)
    order = np.argsort(points, axis=0, kind="stable")
    best = _judged((), points, inside)
    beam = [best]
    for _ in range(MOST_CONDITIONS):
        longer = [
            _judged(_tightened(rule.conditions, condition), points, inside)
            for rule in beam
            for condition in _best_thresholds(points, order, rule.holds(points), inside, range(points.shape[1]))
        ]
        beam = sorted(dict.fromkeys(longer), key=f1, reverse=True)[:WIDTH]
        beam = sorted((_polished(rule, points, order, inside) for rule in beam), key=f1, reverse=True)
        if not beam or f1(beam[0]) < f1(best) + GAIN:
            break
        best = beam[0]
    return best


def _polished(rule: Rule, points: Array, order: np.ndarray, inside: np.ndarray) -> Rule:
    """Choose each threshold again beside the others, as long as that helps: the first was chosen alone."""
    before = None
    while rule != before:
        before = rule
        for condition in rule.conditions:
            others = tuple(c for c in rule.conditions if c[:2] != condition[:2])
            holds = Rule(others, 0.0, 0.0).holds(points)
            for new in _best_thresholds(points, order, holds, inside, [condition.feature]):
                if new.above is condition.above:
                    rule = max(rule, _judged(_tightened(others, new), points, inside), key=f1)
    return rule


def f1(rule: Rule) -> float:
    """Harmonic mean of precision and recall."""
    total = rule.precision + rule.recall
    return 2.0 * rule.precision * rule.recall / total if total > 0 else 0.0


def _best_thresholds(
    points: Array, order: np.ndarray, holds: np.ndarray, inside: np.ndarray, features: Sequence[int]
) -> list[Condition]:
    """The best threshold of each feature in each direction, among the rows where a rule holds already."""
    found, total = [], int(inside.sum())
    for j in features:
        at = order[holds[order[:, j]], j]
        values, mine = points[at, j], inside[at]
        lower, upper = points[order[len(points) // 4, j], j], points[order[3 * len(points) // 4, j], j]
        edges = np.flatnonzero(values[1:] - values[:-1] > NOISE * (upper - lower))  # a threshold can lie after these
        if not len(edges):
            continue
        below = np.cumsum(mine)[edges]
        for above, hits, held in (
            (False, below, edges + 1),
            (True, int(mine.sum()) - below, len(at) - edges - 1),
        ):
            score = 2.0 * hits / (held + total)  # F₁
            k = edges[int(score.argmax())]
            found.append(Condition(j, above, simplest_between(float(values[k]), float(values[k + 1]))))
    return found


def _tightened(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """Add a threshold; one on the same side of the same feature is replaced by it."""
    return tuple(sorted([new, *(c for c in conditions if c[:2] != new[:2])]))


def _judged(conditions: tuple[Condition, ...], points: Array, inside: np.ndarray) -> Rule:
    """Return the rule with its precision and recall."""
    holds = Rule(conditions, 0.0, 0.0).holds(points)
    hits, held = int((holds & inside).sum()), int(holds.sum())
    return Rule(conditions, hits / held if held else 0.0, hits / max(int(inside.sum()), 1))


def separation(points: Array, inside: np.ndarray) -> Array:
    """How well each feature alone tells the rows inside from the others, 0 to 1, (d,).

    It is the most that the best interval of the feature holds of the ones beyond what it holds of the others (Kuiper's
    statistic).
    """
    out = np.zeros(points.shape[1])
    if inside.all() or not inside.any():
        return out
    step = np.where(inside, 1.0 / inside.sum(), -1.0 / (~inside).sum())
    for j, column in enumerate(points.T):
        order = np.argsort(column, kind="stable")
        last = np.append(column[order][1:] > column[order][:-1], True)
        lead = np.append(0.0, np.cumsum(step[order])[last])
        out[j] = lead.max() - lead.min()
    return out
