"""How large and how small a feature may be in a database where a product beyond all numbers ends the query.

PostgreSQL calls it an error if a product is too large for a floating-point number, or so small that it would be zero:
one strange cell, and no row has a prediction. So are sums that are too large. Infinite numbers and zeros are no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from pldc.export.learned import Learned
from pldc.function import Term
from pldc.function.max_affine import Array

MEASURED = ("number", "date")  # kinds of features that may be as large as a cell
LARGEST = 1.7e308  # of a number: what is beyond is none
BEYOND = 1.75e308  # where numbers end that are none
MOST = 300  # products of a feature and a slope: a power of ten, sums of them are numbers as well
LEAST = -323  # products that are not zero: a power of ten
GENTLE = 1e-30  # a slope, or share of the steepest: a product with a smaller one is guarded by itself
LEAST_DAYS = 1e-40  # of a date or its waves that is not zero: a date is a number of microseconds


class Range:
    """The slopes that features, or ramps, are multiplied by.

    Attributes
    ----------
    steepest, gentlest : array
        Of each, in absolute value. The gentlest is that of slopes which are not guarded, infinite if there are none:
        what is nothing to these is no more than 1e-290 to any other.
    starts : array
        How far from the centre the farthest ramp of a feature begins, which is subtracted.
    """

    def __init__(self, slopes: Array) -> None:
        self.steepest = slopes.max(axis=0)
        self.gentlest = np.where(slopes > GENTLE * np.maximum(self.steepest, 1.0), slopes, np.inf).min(axis=0)
        self.starts = np.zeros(slopes.shape[1])

    @classmethod
    def of_features(cls, known: Learned) -> Range:
        """Return that of all features."""
        terms, count = [term for function in known.functions for term in function.terms], len(known.features)
        out = cls(np.vstack([np.abs(part.slopes[:, :count]) for term in terms for part in term.parts]))
        for hinges in {term.hinges for term in terms if term.hinges is not None}:
            np.maximum.at(out.starts, hinges.source, np.abs(hinges.start))
        return out

    @classmethod
    def of_ramps(cls, terms: Sequence[Term], count: int) -> Range:
        """Return that of the ramps which come after the features, in terms of equal hinges."""
        return cls(np.vstack([np.abs(part.slopes[:, count:]) for term in terms for part in term.parts]))

    def named(self, columns: Iterable[str]) -> list[tuple[str, float]]:
        """Return columns, each with its gentlest slope."""
        return list(zip(columns, self.gentlest.tolist(), strict=True))

    def room(self, k: int) -> float:
        """Return how large a feature may be: a power of ten, or nearly the largest number."""
        slope = float(self.steepest[k])
        power = MOST - ceil(log10(slope)) if slope else np.inf
        return min(float(f"1e{power}") if power <= 308 else LARGEST, LARGEST - float(self.starts[k]))

    def kept(self, value: str, k: int) -> str:
        """Return a feature that leaves the room by no more than the factor 2; so does a missing one."""
        far = min(2.0 * self.room(k), BEYOND - float(self.starts[k]))
        return f"LEAST(GREATEST({value}, {-far}), {far})"

    def no_crumbs(self, value: str, k: int, smallest: float) -> str:
        """Return a number that is 0 where its products would be; one that is not 0 is at least `smallest`."""
        limit = least(self.gentlest[k])
        return value if smallest >= limit else f"CASE WHEN abs({value}) < {limit} THEN 0.0 ELSE {value} END"

    def ramp(self, k: int, value: str, width: float) -> str:
        """Return a ramp of a value less its start: cut before it is divided, and 0 where its products would be."""
        crumbs = least(self.gentlest[k])
        limit = 10.0 * max(crumbs, 1e-323) * width if crumbs or width > 1.0 else 5e-324
        return f"CASE WHEN {value} < {limit} THEN 0.0 ELSE LEAST({value}, {width!r}) / {width!r} END"


def least(slope: float) -> float:
    """Return a power of ten from which on products with a slope are not zero."""
    return 0.0 if slope >= 1.0 else float(f"1e{LEAST - floor(log10(slope))}")


def product(slope: float, column: str) -> str:
    """Return a product with a slope that is gentler than all others: zero where it would be too small."""
    return f"CASE WHEN abs({column}) < {least(abs(slope))} THEN 0.0 ELSE {slope!r}*{column} END"


def smallest(feature: Any, middle: float) -> float:
    """Return how small a feature less its centre may be, if it is not zero."""
    if feature.kind not in MEASURED:
        values = [0.0, 1.0]
        if feature.kind == "statistic":
            values = [*(value for _, value in feature.table), feature.default, feature.missing]
        return min((abs(value - middle) for value in values if value != middle), default=np.inf)
    if middle:  # numbers next to each other, on its side that is nearer to zero
        return float(np.spacing(abs(middle))) / 2.0
    return LEAST_DAYS if feature.kind == "date" else 5e-324


def less_centre(value: str, middle: float) -> str:
    """Return a number less its centre. A difference that would be no number is one beyond the room."""
    if abs(middle) > 1e290:  # a nearer one is lost beside the largest number
        function, end = ("GREATEST", middle - 1.79e308) if middle > 0 else ("LEAST", middle + 1.79e308)
        value = f"{function}({value}, {end!r})"
    return f"{value} - {middle!r}"
