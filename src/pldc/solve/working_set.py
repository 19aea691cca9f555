"""Which of the n² pair rows the interior point needs to hold.

At a solution each point touches a few dozen rows at most. The first ones come from a short run of the quick engine:
rows with the largest multipliers, the tightest rows, and the nearest points. Later ones are found as they are violated,
or would be after one more step; rows are never dropped, so the search ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.program import Problem, Solution
from pldc.solve.workers import Workers

HEAVIEST, TIGHTEST, NEAREST = 12, 20, 3  # rows of each kind a point starts with, in each part
MOST_NEW = 5  # rows a point takes in at once, in each part
PULL = 1.1  # times the way back to the first point that satisfies all rows
VIOLATED = 1e-10  # relative to the largest value


def first_rows(problem: Problem, solution: Solution, workers: Workers) -> Array:
    """Choose the pairs [p, j, i] (bool) to start with, from an approximate solution with sparse multipliers."""
    X, n = problem.centred, len(problem.X)
    member = np.zeros((len(problem.signs), n, n), dtype=bool)

    def work(J: slice) -> None:
        distance = _distances(X, J)
        for p, phi in enumerate(solution.values):
            rows, mu = member[p, J], solution.multipliers[p][J.start : J.stop].toarray()
            _choose(rows, mu * np.where(np.isfinite(distance), distance, 0.0), HEAVIEST)
            rows &= mu > 0
            _choose(rows, -_rows(X, phi, solution.slopes[p], J) / distance - np.isinf(distance) * 1e300, TIGHTEST)
            _choose(rows, -distance, NEAREST)
            rows[np.arange(len(rows)), np.arange(J.start, J.stop)] = False

    workers.over_blocks(work, n)
    return member


def violated(problem: Problem, values: Array, slopes: Array, member: Array, workers: Workers) -> Any:
    """Find violated pairs [p, j, i] that are not held: for each point the few that are violated most, by distance."""
    X, n = problem.centred, len(problem.X)
    new = np.zeros_like(member)
    limit = _rounding(values)

    def work(J: slice) -> None:
        for p, phi in enumerate(values):
            R = _rows(X, phi, slopes[p], J)
            R[member[p, J]] = 0.0
            at = np.flatnonzero((-limit > R).any(axis=1))
            if len(at):
                depth = -R[at] / _distances(X, at + J.start)
                rows = np.zeros(depth.shape, dtype=bool)
                _choose(rows, depth, MOST_NEW)
                new[p, at + J.start] = rows & (R[at] < -limit)

    workers.over_blocks(work, n)
    return new


def pulled_back(problem: Problem, inner: Solution, outer: Solution, workers: Workers) -> Solution:
    """Move `outer` towards `inner`, which is strictly inside all pair rows, until it is so as well.

    The objective is convex: the point between costs no more than the mean of the two. Rows that the working set does
    not hold yet are violated a little in most iterations, and a point pulled back is far cheaper than a repaired one.
    """
    X, n = problem.centred, len(problem.X)
    limit = _rounding(outer.values)

    def work(J: slice) -> float:
        t = 0.0
        for p in range(len(problem.signs)):
            R = _rows(X, outer.values[p], outer.slopes[p], J)
            bad = -limit > R
            bad[np.arange(len(R)), np.arange(J.start, J.stop)] = False
            if bad.any():
                at = np.flatnonzero(bad.any(axis=1))
                safe = _rows(X, inner.values[p], inner.slopes[p], at + J.start)[bad[at]]
                lack = R[bad]
                t = max(t, float((lack / np.minimum(lack - safe, -1e-300)).max()))
        return t

    t = min(1.0, PULL * max(workers.over_blocks(work, n)))
    if t == 0.0:
        return outer
    return replace(
        outer,
        values=(1.0 - t) * outer.values + t * inner.values,
        slopes=(1.0 - t) * outer.slopes + t * inner.slopes,
        linear=(1.0 - t) * outer.linear + t * inner.linear,
    )


def _rounding(values: Array) -> float:
    """A violation so small that it is left to the certificate to repair."""
    return VIOLATED * max(float(np.abs(values).max()), 1.0)


def _rows(X: Array, phi: Array, g: Array, J: Any) -> Array:
    """Evaluate φ_i − φ_j − ⟨g_j, x_i − x_j⟩ for j in J and all i."""
    out = g[J] @ -X.T
    out += phi
    out -= (phi[J] - np.einsum("jk,jk->j", g[J], X[J]))[:, None]
    return out


def _distances(X: Array, J: Any) -> Array:
    """Euclidean distances from the points in J to all points; infinite for a point and itself."""
    squares = np.einsum("ij,ij->i", X, X)
    D = X[J] @ (-2.0 * X.T)
    D += squares
    D += squares[J][:, None]
    np.sqrt(np.maximum(D, 1e-30, out=D), out=D)
    own = np.arange(len(X))[J]
    D[np.arange(len(own)), own] = np.inf
    return D


def _choose(rows: Array, score: Array, count: int) -> None:
    """Mark the `count` largest scores of each row."""
    if count < score.shape[1]:
        np.put_along_axis(rows, np.argpartition(-score, count, axis=1)[:, :count], True, axis=1)
    else:
        rows[:] = True
