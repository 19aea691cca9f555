"""Dropping pieces that are never needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.linear_programs import deepest_point
from pldc.function.max_affine import Array, MaxAffine, as_points


def drop_dominated(f: MaxAffine) -> MaxAffine:
    """Keep, of all pieces with the same slope, the highest one. Values are unchanged everywhere; no LP."""
    _, group = np.unique(f.slopes, axis=0, return_inverse=True)
    order = np.lexsort((np.arange(f.n_pieces), -f.offsets, group.ravel()))
    first = np.unique(group.ravel()[order], return_index=True)[1]
    return _take(f, np.sort(order[first]))


def prune_on(f: MaxAffine, X: ArrayLike, tol: float = 0.0) -> MaxAffine:
    """Keep pieces enough to reach f at every row of `X`, to within `tol` (in the units of f).

    With tol = 0 these are the active pieces. Otherwise, tile by tile, the piece that serves most of the rows not yet
    served is kept, until all are.
    """
    points = as_points(X, f.n_features)
    if tol == 0:
        return _take(f, np.unique(f.active(points)))
    kept = np.zeros(f.n_pieces, dtype=bool)
    for _, values in f._tiles(points):
        serves = values >= values.max(axis=1, keepdims=True) - tol
        left = serves[~serves[:, kept].any(axis=1)]
        while len(left):
            best = int(left.sum(axis=0).argmax())
            kept[best] = True
            left = left[~left[:, best]]
    return _take(f, np.flatnonzero(kept))


def prune_exact(f: MaxAffine, tol: float = 1e-9) -> MaxAffine:
    """Keep a piece if and only if it rises above all others somewhere, by more than `tol` × the scale of f.

    Notes
    -----
    Redundancy removal after Clarkson: a piece is tested by one LP against the pieces already known to be
    needed, never against all of them, so the cost follows the number of pieces that stay.
    """
    if not 0 <= tol < 1:
        raise ValueError(f"tol must be ≥ 0, got {tol}: without X also below 1, the scale of f, or no piece would stay.")
    f = drop_dominated(f)
    while f.n_pieces > 2:  # of two different slopes each rules somewhere
        kept, doubtful = _needed(f, tol)
        again = _take(f, np.sort(np.array(kept + doubtful)))
        # Pieces far below all others set the scale by which heights are judged. They are gone now: judge again those
        # that were dropped for rising by too little.
        if not doubtful or not _spread(again)[2] < 0.1 * _spread(f)[2]:
            return _take(f, np.sort(np.array(kept)))
        f = again
    return f


def _needed(f: MaxAffine, tol: float) -> tuple[list[int], list[int]]:
    """Return the pieces that rise above the others by more than tol, and those dropped that come within tol of it."""
    S, t, tol = _normalised(f, tol)
    doubtful: list[int] = []
    needed: list[int] = []
    for j in _likely_needed(f):
        if _highest_rise(S, t, j, needed)[0] > tol:
            needed.append(j)
    waiting = [j for j in range(f.n_pieces) if j not in set(needed)]
    while waiting:
        j = waiting[-1]
        height, point = _highest_rise(S, t, j, needed)
        if height <= tol:
            waiting.pop()
            if height >= -max(tol, 1e-9):
                doubtful.append(j)
            continue
        # Of those still waiting, the highest at x is needed: j beats all of `needed` there, and what was dropped is
        # below `needed` everywhere.
        winner = waiting[int((S[waiting] @ point + t[waiting]).argmax())]
        needed.append(winner)
        waiting.remove(winner)
    # A piece that entered on a tie, or before its rivals, may have become redundant: test each once more.
    for j in list(needed):
        rest = [i for i in needed if i != j]
        if rest and _highest_rise(S, t, j, rest)[0] <= tol:
            needed = rest
            doubtful.append(j)
    return needed, doubtful


def _normalised(f: MaxAffine, tol: float) -> tuple[Array, Array, float]:
    """Slopes, offsets and tolerance in numbers of order one; the same pieces are needed.

    The common slope and height, the unit of each feature and the place of the origin do not matter: the origin moves
    to where the pieces are closest to meeting. What rounding of the given offsets can explain does not count.
    """
    rounding = 16 * np.finfo(float).eps * float(np.abs(f.offsets).max())
    S, t, scale = _spread(f)
    if scale <= rounding:
        return S, np.zeros_like(t), tol
    return S, t / scale, max(tol, rounding / scale)


def _spread(f: MaxAffine) -> tuple[Array, Array, float]:
    """Slopes and offsets after recentring, and how far the pieces are from meeting in one point."""
    S = f.slopes - f.slopes.mean(axis=0)
    largest = np.abs(S).max(axis=0)
    S = S / np.where(largest > 0, largest, 1.0)
    t = f.offsets - f.offsets.mean()
    t = t - S @ np.linalg.lstsq(S, t, rcond=None)[0]
    return S, t, float(np.abs(t).max())


def _likely_needed(f: MaxAffine) -> list[int]:
    """Pieces that are highest far out along some slope direction: good first guesses, nothing more."""
    directions = f.slopes - f.slopes.mean(axis=0)
    directions = directions / (np.abs(directions).max() or 1.0)  # squares of slopes may be beyond all floats
    return [int(j) for j in np.unique((directions @ directions.T).argmax(axis=1))]


def _highest_rise(S: Array, t: Array, j: int, others: list[int]) -> tuple[float, Array]:
    """How far piece j rises above all `others`, and where; if the solver fails, far enough: in doubt, j is kept."""
    found = deepest_point(S[j] - S[others], t[j] - t[others])
    return (1.0, np.zeros(S.shape[1])) if found is None else found


def _take(f: MaxAffine, index: Array) -> MaxAffine:
    return MaxAffine(f.slopes[index], f.offsets[index])
