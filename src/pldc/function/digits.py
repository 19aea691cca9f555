"""Functions in as many decimals as matter: what they say is the same, and what is written of them is half as long."""

from __future__ import annotations

import numpy as np

from pldc.function import algebra
from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array, MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.term import Term

SAME = 1e-12  # of a number: what is so little above a multiple is that multiple
MOST_WHOLE = 1e15  # beyond, a float has no digits to lose


def decimals(values: Array, unit: Array | float, up: bool = False) -> Array:
    """Round, or round up, to multiples of the largest power of ten not above a unit; what has no such numbers stays.

    Examples
    --------
    >>> decimals(np.array([0.123456789, -98.7654321]), 3e-4).tolist()
    [0.1235, -98.7654]
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        place = np.floor(np.log10(unit))
        fine, coarse = 10.0 ** np.maximum(-place, 0.0), 10.0 ** np.maximum(place, 0.0)
        steps = values * fine / coarse
        whole = np.ceil(steps - SAME * np.abs(steps)) if up else np.round(steps)
        out = whole * coarse / fine + 0.0  # no zero has a sign
    return np.where(np.abs(whole) < MOST_WHOLE, out, values)


def significant(values: Array, digits: int, up: bool = False) -> Array:
    """Round, or round up, to so many digits, each number by itself.

    Examples
    --------
    >>> significant(np.array([0.00123456789, 0.0, 98765.4321]), 4).tolist()
    [0.001235, 0.0, 98770.0]
    """
    return decimals(values, np.abs(values) * 10.0 ** (1 - digits), up)


def in_decimals(f: PLDC, center: Array, spread: Array, unit: float, knots: float = 1e-9) -> PLDC:
    """Round slopes and offsets of all pieces: by less than `unit` for each feature with ramps, and a tenth of it else.

    Parameters
    ----------
    f : PLDC
    center, spread : arrays of shape (d,)
        Where rows lie, and how far apart: a slope counts for a spread.
    unit : float
        Of the values of f, that do not matter.
    knots : float, default=1e-9
        How far a knot may move, in spreads.
    """
    at = center if f.center is None else center - np.array(f.center)
    fine = unit / 10.0  # of slopes and offsets, which are few beside ramps
    near = fine / spread

    def rounded(term: Term) -> Term:
        hinges = None if term.hinges is None else _hinges(term.hinges, knots * spread)
        plus, minus = (_part(part, hinges, at, near, unit, fine) for part in term.parts)
        return Term(plus, minus, hinges)

    return f._each(rounded)


def _part(part: MaxAffine, hinges: Hinges | None, at: Array, near: Array, unit: float, fine: float) -> MaxAffine:
    """Round a part. Of ramps it is their sums that are rounded, the heights at knots: errors do not add up."""
    d, slopes = len(at), part.slopes.copy()
    slopes[:, :d] = decimals(slopes[:, :d], near)
    source = np.zeros(0) if hinges is None else hinges.source
    for j in np.unique(source):
        own = d + np.flatnonzero(source == j)
        heights = decimals(np.cumsum(slopes[:, own], axis=1), unit)
        slopes[:, own] = decimals(np.diff(heights, axis=1, prepend=0.0), unit)
    lost = (part.slopes - slopes)[:, :d] @ at
    return MaxAffine(slopes, decimals(part.offsets + lost, fine))


def _hinges(hinges: Hinges, sizes: Array) -> Hinges:
    """Round knots, where they stay apart."""
    knots = [decimals(own, size) for own, size in zip(hinges.knots, sizes, strict=True)]
    return Hinges([new if (np.diff(new) > 0).all() else old for new, old in zip(knots, hinges.knots, strict=True)])


def gathered(f: PLDC) -> PLDC:
    """Return the same function with fewer numbers: parts of a single piece, and terms of these alone, become one."""
    terms: list[Term] = []
    single: dict[Hinges | None, Term] = {}
    for term in f.centred:
        if term.minus.n_pieces == 1:
            zero = MaxAffine.zero(term.minus.n_features)
            back = MaxAffine(-term.minus.slopes, -term.minus.offsets)
            term = Term(algebra.add(term.plus, back), zero, term.hinges)
            if term.plus.n_pieces == 1:
                known = single.get(term.hinges)
                plus = term.plus if known is None else algebra.add(known.plus, term.plus)
                single[term.hinges] = Term(plus, zero, term.hinges)
                continue
        terms.append(term)
    return f._of([*terms, *single.values()], f.center)
