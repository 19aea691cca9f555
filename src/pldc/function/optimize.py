"""Exact questions about a PLDC function over a polytope: its minimum, range, slopes and signs of slopes.

The minimum is found by at most one small linear program for each piece of the minus part (φ₂ is the largest of its
pieces, so −φ₂ is the smallest of their opposites, and the two minima can be exchanged):

    min_{x ∈ Q} φ₁(x) − φ₂(x) = min_j min_{x ∈ Q, t} { t − ⟨b_j, x⟩ − β_j : t ≥ ⟨a_i, x⟩ + α_i for all i }.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from pldc.function.linear_programs import deepest_point
from pldc.function.max_affine import Array, MaxAffine

Status = Literal["optimal", "unbounded", "infeasible"]
INTERIOR = 1e-9  # radius of a ball that a set with interior holds, in numbers of order one
OPTIMAL, INFEASIBLE, UNBOUNDED = 0, 2, 3  # of linprog


@dataclass(frozen=True)
class Optimum:
    """The answer of `minimize` and `maximize`.

    Attributes
    ----------
    x : array of shape (d,) or None
        Where the optimum is attained; None unless the status is "optimal".
    fun : float
        Its value; −∞ or ∞ where there is none.
    pieces : (int, int) or None
        A piece of the plus and one of the minus part that are active at x.
    status : {"optimal", "unbounded", "infeasible"}
    n_programs : int
        Linear programs solved.
    """

    x: Array | None
    fun: float
    pieces: tuple[int, int] | None
    status: Status
    n_programs: int


@dataclass(frozen=True)
class Polytope:
    """The points x with A_ub x ≤ b_ub, A_eq x = b_eq and bounds on every coordinate."""

    bounds: Array  # (d, 2), possibly infinite
    A_ub: Array
    b_ub: Array
    A_eq: Array
    b_eq: Array


def polytope(
    d: int,
    bounds: Iterable[Any] | None = None,
    A_ub: ArrayLike | None = None,
    b_ub: ArrayLike | None = None,
    A_eq: ArrayLike | None = None,
    b_eq: ArrayLike | None = None,
) -> Polytope:
    """Check and complete the description of a polytope in d dimensions; arguments as those of SciPy's `linprog`."""
    if bounds is None:
        box = np.tile([-np.inf, np.inf], (d, 1))
    else:
        pairs = [tuple(pair) for pair in bounds]
        if len(pairs) == 1 and d > 1:
            pairs = pairs * d
        if len(pairs) != d or any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"bounds must be {d} pairs (low, high), one for each feature; got {len(pairs)} entries.")
        box = np.array(
            [[-np.inf if low is None else low, np.inf if high is None else high] for low, high in pairs], dtype=float
        )
        if np.isnan(box).any() or (box[:, 0] > box[:, 1]).any():
            raise ValueError("Each pair of bounds must be (low, high) with low ≤ high; use None where there is none.")
    rows = []
    for matrix, vector, name in ((A_ub, b_ub, "ub"), (A_eq, b_eq, "eq")):
        if (matrix is None) != (vector is None):
            raise ValueError(f"A_{name} and b_{name} must be given together.")
        A = np.zeros((0, d)) if matrix is None else np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        b = np.zeros(0) if vector is None else np.atleast_1d(np.asarray(vector, dtype=np.float64))
        if A.shape != (len(b), d) or not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise ValueError(
                f"A_{name} must be finite and of shape ({len(b)}, {d}) to go with b_{name}; got {A.shape}."
            )
        rows += [A, b]
    return Polytope(box, *rows)


def minimum(plus: MaxAffine, minus: MaxAffine, over: Polytope, threads: int | None = None) -> Optimum:
    """Minimise plus − minus over the polytope, exactly.

    A program that is solved bounds all others from below: its multipliers give an affine function under `plus`, whose
    minimum over the box, less any piece, is at hand. A program with a bound no better than the best value is left out.
    """
    d, k, n = plus.n_features, plus.n_pieces, minus.n_pieces
    threads = threads or os.cpu_count() or 1
    rows = np.vstack([plus.slopes, over.A_ub])
    A_ub = np.column_stack([rows, np.append(-np.ones(k), np.zeros(len(over.b_ub)))])
    b_ub = np.concatenate([-plus.offsets, over.b_ub])
    A_eq = np.column_stack([over.A_eq, np.zeros(len(over.b_eq))])
    bounds = np.vstack([over.bounds, [-np.inf, np.inf]])

    def program(j: int) -> Any:
        cost = np.append(-minus.slopes[j], 1.0)
        for presolve in (True, False):
            found = linprog(
                cost, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=over.b_eq, bounds=bounds, options={"presolve": presolve}
            )
            if found.status in (OPTIMAL, INFEASIBLE, UNBOUNDED):
                return found
        raise RuntimeError(f"The linear program of piece {j} of the minus part failed: {found.message}")

    def bound(found: Any) -> Array:
        """Lower bounds of all programs, by the multipliers of one."""
        weight = np.maximum(-found.ineqlin.marginals, 0.0)
        weight[:k] /= weight[:k].sum()
        slope = weight @ rows - found.eqlin.marginals @ over.A_eq - minus.slopes
        offset = -weight @ b_ub + found.eqlin.marginals @ over.b_eq - minus.offsets
        with np.errstate(invalid="ignore"):
            corners = np.where(slope == 0, 0.0, slope * np.where(slope > 0, over.bounds[:, 0], over.bounds[:, 1]))
        return np.asarray(corners.sum(axis=1) + offset)

    lower, waiting, solved = np.full(n, -np.inf), np.ones(n, dtype=bool), 0
    best, value = np.zeros(d), np.inf
    with ThreadPoolExecutor(threads) as pool:
        while (waiting & (lower < value)).any():
            open_ = np.flatnonzero(waiting & (lower < value))
            batch = open_[np.argsort(lower[open_], kind="stable")[: threads if solved else 1]]
            waiting[batch] = False
            solved += len(batch)
            for found in pool.map(program, batch.tolist()):
                if found.status == INFEASIBLE:
                    return Optimum(None, np.inf, None, "infeasible", solved)
                if found.status == UNBOUNDED:
                    return Optimum(None, -np.inf, None, "unbounded", solved)
                x = found.x[:d]
                here = float((plus(x[None]) - minus(x[None]))[0])
                if here < value:
                    best, value = x, here
                lower = np.fmax(lower, bound(found))
    pieces = int(plus.active(best[None])[0]), int(minus.active(best[None])[0])
    return Optimum(best, value, pieces, "optimal", solved)


def opposite(found: Optimum) -> Optimum:
    """Read the minimum of −f as the maximum of f."""
    pieces = None if found.pieces is None else found.pieces[::-1]
    return replace(found, fun=-found.fun, pieces=pieces)


def steepest(plus: MaxAffine, minus: MaxAffine, order: float, bounds: Array) -> float:
    """Return the largest dual norm of a slope that f has on a set with interior: its Lipschitz constant.

    Pairs of pieces are tried from the steepest downwards, each by one linear program, until one is met.
    """
    dual = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}.get(order)
    if dual is None:
        raise ValueError(f"order must be 1, 2 or infinity, got {order}.")
    sizes = np.linalg.norm(plus.slopes[:, None, :] - minus.slopes[None, :, :], ord=dual, axis=2)
    for flat in np.argsort(-sizes, axis=None, kind="stable"):
        k, l = divmod(int(flat), minus.n_pieces)
        if meet(plus, minus, k, l, bounds):
            return float(sizes[k, l])
    return float(sizes.max())  # rounding hides all regions: a bound remains


def never_falls(plus: MaxAffine, minus: MaxAffine, feature: int, bounds: Array) -> bool:
    """Whether plus − minus is nondecreasing along a feature: no falling pair of pieces rules on a set with interior."""
    slopes = plus.slopes[:, None, feature] - minus.slopes[None, :, feature]
    falling = np.argwhere(slopes < 0)
    steep_first = np.argsort(slopes[slopes < 0], kind="stable")
    return not any(meet(plus, minus, int(k), int(l), bounds) for k, l in falling[steep_first])


def meet(plus: MaxAffine, minus: MaxAffine, k: int, l: int, bounds: Array) -> bool:
    """Whether piece k of plus and piece l of minus rule together on a set with interior, within the bounds."""
    A = np.vstack([plus.slopes[k] - plus.slopes, minus.slopes[l] - minus.slopes])
    b = np.concatenate([plus.offsets[k] - plus.offsets, minus.offsets[l] - minus.offsets])
    size = np.linalg.norm(A, axis=1)
    flat = size <= 1e-300
    if (b[flat] < 0).any():
        return False
    finite = np.isfinite(bounds)
    low, high = np.flatnonzero(finite[:, 0]), np.flatnonzero(finite[:, 1])
    eye = np.eye(plus.n_features)
    A = np.vstack([A[~flat], eye[low], -eye[high]])
    b = np.concatenate([b[~flat], -bounds[low, 0], bounds[high, 1]])
    if len(b) == 0:
        return True
    # The unit of each feature: the width of its bounds, or one in which the steepest rows are of order one.
    width = np.where(finite.all(axis=1), bounds[:, 1] - bounds[:, 0], 0.0)
    if (finite.all(axis=1) & (width <= 0)).any():
        return False  # a box without interior
    origin = np.where(finite.all(axis=1), bounds[:, 0], 0.0)
    unit = np.where(width > 0, width, 1.0 / np.maximum(np.abs(A).max(axis=0), 1e-300))
    b = b + A @ origin
    A = A * unit
    size = np.linalg.norm(A, axis=1)
    A, b = A / size[:, None], b / size
    found = deepest_point(A, b / max(1.0, float(np.abs(b).max())) if not finite.all() else b)
    return found is None or found[0] > INTERIOR
