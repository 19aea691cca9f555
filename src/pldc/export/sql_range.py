"""How large and how small a feature may be in a database where a product beyond all numbers ends the query.

PostgreSQL calls it an error if a product is too large for a floating-point number, or so small that it would be zero:
one strange cell, and no row has a prediction. Infinite numbers and zeros are no error.
"""

from __future__ import annotations

from math import ceil, floor, log10

import numpy as np

from pldc.export.learned import Learned

MOST, LEAST = 300, -280  # products of a feature and a slope: powers of ten, sums of them are numbers as well


def steepest(known: Learned) -> list[float]:
    """Return for each feature the largest number that it is multiplied by: a slope, or one by the width of a ramp."""
    out = np.zeros(len(known.features))
    for term in (term for function in known.functions for term in function.terms):
        for part in term.parts:
            np.maximum(out, np.abs(part.slopes[:, : len(out)]).max(axis=0), out=out)
        if term.hinges is not None:
            np.maximum.at(out, term.hinges.source, 1.0 / np.maximum(term.hinges.width, 1e-300))
    return [float(each) for each in out]


def room(slope: float) -> float:
    """Return how large a feature may be: a power of ten."""
    return float(f"1e{MOST - ceil(log10(max(slope, 1.0)))}")


def kept_in_room(value: str, slope: float) -> str:
    """Return a feature that leaves the room by no more than the factor 2; so does a missing one."""
    far = 2.0 * room(slope)
    return f"LEAST(GREATEST({value}, {-far}), {far})"


def no_crumbs(value: str, slope: float) -> str:
    """Return a number that is 0 where its products would hardly be more."""
    return f"CASE WHEN abs({value}) < {float(f'1e{LEAST - floor(log10(slope))}')} THEN 0.0 ELSE {value} END"
