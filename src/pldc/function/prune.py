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
    if not tol >= 0:
        raise ValueError(f"tol must be ≥ 0, got {tol}.")
    f = drop_dominated(f)
    if f.n_pieces == 1:
        return f
    S, t, tol = _normalised(f, tol)
    needed: list[int] = []
    for j in _likely_needed(f):
        if _where_it_rises(S, t, j, needed, tol) is not None:
            needed.append(j)
    waiting = [j for j in range(f.n_pieces) if j not in set(needed)]
    while waiting:
        j = waiting[-1]
        point = _where_it_rises(S, t, j, needed, tol)
        if point is None:
            waiting.pop()
            continue
        # Of those still waiting, the highest at x is needed: j beats all of `needed` there, and what was dropped is
        # below `needed` everywhere.
        winner = waiting[int((S[waiting] @ point + t[waiting]).argmax())]
        needed.append(winner)
        waiting.remove(winner)
    # A piece that entered on a tie, or before its rivals, may have become redundant: test each once more.
    for j in list(needed):
        rest = [i for i in needed if i != j]
        if rest and _where_it_rises(S, t, j, rest, tol) is None:
            needed = rest
    return _take(f, np.sort(np.array(needed)))


def _normalised(f: MaxAffine, tol: float) -> tuple[Array, Array, float]:
    """Slopes, offsets and tolerance in numbers of order one; the same pieces are needed.

    The common slope and height, the unit of each feature and the place of the origin do not matter: the origin moves
    to where the pieces are closest to meeting. A few pieces far from the others do not set the scale, and what
    rounding of the given offsets can explain does not count.
    """
    S = f.slopes - f.slopes.mean(axis=0)
    largest = np.abs(S).max(axis=0)
    S = S / np.where(largest > 0, largest, 1.0)
    t = f.offsets - np.median(f.offsets)
    distant = np.abs(t)[np.abs(t) > 16 * np.finfo(float).eps * np.median(np.abs(f.offsets))]
    near = np.abs(t) <= (1e3 * np.quantile(distant, 0.25, method="lower") if len(distant) else np.inf)
    rounding = 16 * np.finfo(float).eps * float(np.abs(f.offsets[near]).max())
    t = t - S @ np.linalg.lstsq(S[near], t[near], rcond=None)[0]
    t = t - t[near].mean()
    scale = float(np.abs(t[near]).max())
    if scale <= rounding:
        return S, np.where(near, 0.0, np.sign(t)), tol
    return S, t / scale, max(tol, rounding / scale)


def _likely_needed(f: MaxAffine) -> list[int]:
    """Pieces that are highest far out along some slope direction: good first guesses, nothing more."""
    directions = f.slopes - f.slopes.mean(axis=0)
    return [int(j) for j in np.unique((directions @ directions.T).argmax(axis=1))]


def _where_it_rises(S: Array, t: Array, j: int, others: list[int], tol: float) -> Array | None:
    """Find a point where piece j is above all `others`; None if there is none. In doubt, j is kept."""
    found = deepest_point(S[j] - S[others], t[j] - t[others])
    if found is None:
        return np.zeros(S.shape[1])
    height, point = found
    return point if height > tol else None


def _take(f: MaxAffine, index: Array) -> MaxAffine:
    return MaxAffine(f.slopes[index], f.offsets[index])
