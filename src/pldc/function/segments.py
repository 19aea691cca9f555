"""Which piece rules where on straight segments: the exact breakpoints of a function along a line.

On a segment every piece of a max-affine function is a line over t in [0, 1], and their maximum is convex. The walk
starts with the piece that rules at t = 0, finds the first line that overtakes it, and goes on from there; the slopes
rise at every step, so that it ends. Features that are bent at knots are straight between them: such segments are cut
there first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array, IntArray, MaxAffine
from pldc.function.term import MOST_NUMBERS, Term, blocks


class Stretches(NamedTuple):
    """Stretches of segments on which one piece rules, those of a segment in the order of t.

    Attributes
    ----------
    segment, piece : int arrays of shape (s,)
    begin, end : arrays of shape (s,)
        In units of the segment: from 0 to 1.
    rise : array of shape (s,)
        The change of the piece from t = 0 to t = 1.
    """

    segment: IntArray
    piece: IntArray
    begin: Array
    end: Array
    rise: Array


class Straight(NamedTuple):
    """Parts of segments on which the columns of a term are straight.

    Attributes
    ----------
    owner : int array of shape (m,)
        The segment that each belongs to.
    start, stop : arrays of shape (m, columns)
        The columns of the term at its ends.
    begin, end : arrays of shape (m,)
        Where it lies in its segment, from 0 to 1.
    """

    owner: IntArray
    start: Array
    stop: Array
    begin: Array
    end: Array


def stretches(part: MaxAffine, start: Array, stop: Array) -> Stretches:
    """Return which piece rules where on the segments from the rows of `start` to those of `stop`."""
    value = start @ part.slopes.T + part.offsets
    rise = (stop - start) @ part.slopes.T
    segment, at = np.arange(len(start)), np.zeros(len(start))
    piece = np.where(value >= value.max(axis=1, keepdims=True), rise, -np.inf).argmax(axis=1)
    found: list[tuple[Array, ...]] = []
    while len(segment):
        here = np.arange(len(segment)), piece
        gain = rise - rise[here][:, None]
        when = np.full(gain.shape, np.inf)
        with np.errstate(over="ignore"):
            np.divide(value[here][:, None] - value, gain, out=when, where=gain > 0)
        np.maximum(when, at[:, None], out=when)  # rounding must not lead back
        first = when.min(axis=1)
        following = np.where(when <= first[:, None], rise, -np.inf).argmax(axis=1)  # of several the steepest
        found.append((segment, piece, at, np.minimum(first, 1.0), rise[here]))
        on = first < 1.0
        segment, piece, at, value, rise = segment[on], following[on], first[on], value[on], rise[on]
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Stretches(*(column[order] for column in columns))


def straight(term: Term, start: Array, stop: Array) -> Iterator[Straight]:
    """Yield the columns of a term on the segments between rows, cut at knots, some segments at a time."""
    knots = 0 if term.hinges is None else sum(len(k) for k in term.hinges.knots)
    widest = max(term.plus.n_features, term.plus.n_pieces, term.minus.n_pieces)
    for rows in blocks(len(start), max(1, 4 * MOST_NUMBERS // (widest * (knots + 1)))):
        A, B = start[rows], stop[rows]
        if term.hinges is None:
            n = len(A)
            yield Straight(np.arange(rows.start, rows.start + n), A, B, np.zeros(n), np.ones(n))
            continue
        owner, at = _crossings(term.hinges, A, B)
        columns = term.hinges(A[owner] + at[:, None] * (B - A)[owner])
        inside = np.flatnonzero((owner[1:] == owner[:-1]) & (at[1:] > at[:-1]))
        yield Straight(owner[inside] + rows.start, columns[inside], columns[inside + 1], at[inside], at[inside + 1])


def _crossings(hinges: Hinges, A: Array, B: Array) -> tuple[IntArray, Array]:
    """Return where the segments from A to B begin, cross a knot, and end: segment and t, in order."""
    n = len(A)
    owner, at = [np.tile(np.arange(n), 2)], [np.repeat([0.0, 1.0], n)]
    for knots, a, step in zip(hinges.knots, A.T, (B - A).T, strict=True):
        if not len(knots):
            continue
        when = np.full((n, len(knots)), np.inf)
        with np.errstate(over="ignore"):
            np.divide(knots - a[:, None], step[:, None], out=when, where=(step != 0)[:, None])
        segment, knot = np.nonzero((when > 0) & (when < 1))
        owner.append(segment)
        at.append(when[segment, knot])
    rows, times = np.concatenate(owner), np.concatenate(at)
    order = np.lexsort((times, rows))
    return rows[order], times[order]
