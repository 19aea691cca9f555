"""Exact questions about a PLDC function over a polytope: its minimum, range, slopes and signs of slopes.

The minimum is found by at most one small linear program for each piece of the minus part (φ₂ is the largest of its
pieces, so −φ₂ is the smallest of their opposites, and the two minima can be exchanged):

    min_{x ∈ Q} φ₁(x) − φ₂(x) = min_j min_{x ∈ Q, t} { t − ⟨b_j, x⟩ − β_j : t ≥ ⟨a_i, x⟩ + α_i for all i }.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from pldc.function.checks import shown
from pldc.function.linear_programs import TIGHT, deepest_point
from pldc.function.max_affine import Array, MaxAffine, real

Status = Literal["optimal", "unbounded", "infeasible"]
INTERIOR = 1e-7  # depth of a point, in numbers of order one, that the accuracy of linear programs does not explain
ZOOM, FAR = 1e-5, 1e3  # closer and closer coordinates; rows farther than this do not matter there
ROUNDING_OF_PIECES = 16 * np.finfo(float).eps
OPTIMAL, INFEASIBLE, UNBOUNDED = 0, 2, 3  # of linprog


@dataclass(frozen=True, eq=False)
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
        pairs: list[tuple[Any, ...]] = []
        with suppress(TypeError):  # no sequence of sequences
            pairs = [tuple(pair) for pair in bounds]
        if len(pairs) != d or any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"bounds must be {d} pairs (low, high), one for each feature; got {shown(bounds)}.")
        box = real(
            [[-np.inf if low is None else low, np.inf if high is None else high] for low, high in pairs], "bounds"
        )
        if box.shape != (d, 2) or np.isnan(box).any() or (box[:, 0] > box[:, 1]).any():
            raise ValueError("Each pair of bounds must be (low, high) with low ≤ high; use None where there is none.")
    rows = []
    for matrix, vector, name in ((A_ub, b_ub, "ub"), (A_eq, b_eq, "eq")):
        if (matrix is None) != (vector is None):
            raise ValueError(f"A_{name} and b_{name} must be given together.")
        A = np.zeros((0, d)) if matrix is None else np.atleast_2d(real(matrix, f"A_{name}"))
        b = np.zeros(0) if vector is None else np.atleast_1d(real(vector, f"b_{name}"))
        if A.shape != (len(b), d):
            raise ValueError(f"A_{name} must be of shape ({len(b)}, {d}) to go with b_{name}; got {A.shape}.")
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise ValueError(f"A_{name} and b_{name} must be finite; they contain NaN or infinity.")
        rows += [A, b]
    return Polytope(box, *rows)


def around(over: Polytope, center: Array) -> Polytope:
    """Return the polytope of x − center."""
    b_ub, b_eq = over.b_ub - over.A_ub @ center, over.b_eq - over.A_eq @ center
    return replace(over, bounds=over.bounds - center[:, None], b_ub=b_ub, b_eq=b_eq)


def minimum(plus: MaxAffine, minus: MaxAffine, over: Polytope, n_jobs: int | None = None) -> Optimum:
    """Minimise plus − minus over the polytope, exactly.

    A program that is solved bounds all others from below: its multipliers give an affine function under `plus`, whose
    minimum over the box, less any piece, is at hand. A program with a bound no better than the best value is left out.
    """
    origin, unit = _coordinates(plus, minus, over.bounds)
    phi, psi = _in_numbers_of_order_one(plus, minus, origin, unit)
    box = (over.bounds - origin[:, None]) / unit[:, None]
    A_box, b_box = _rows_of_order_one(over.A_ub * unit, over.b_ub - over.A_ub @ origin)
    A_eq, b_eq = _rows_of_order_one(over.A_eq * unit, over.b_eq - over.A_eq @ origin)
    d, k, n = plus.n_features, plus.n_pieces, minus.n_pieces
    rows = np.vstack([phi.slopes, A_box])
    A_ub = np.column_stack([rows, np.append(-np.ones(k), np.zeros(len(b_box)))])
    b_ub = np.concatenate([-phi.offsets, b_box])
    wide_eq = np.column_stack([A_eq, np.zeros(len(b_eq))])
    bounds = np.vstack([box, [-np.inf, np.inf]])

    def program(j: int) -> Any:
        cost = np.append(-psi.slopes[j], 1.0)
        for options in ({"presolve": True, **TIGHT}, {"presolve": False, **TIGHT}, {"presolve": False}):
            found = linprog(cost, A_ub=A_ub, b_ub=b_ub, A_eq=wide_eq, b_eq=b_eq, bounds=bounds, options=options)
            if found.status in (OPTIMAL, INFEASIBLE, UNBOUNDED):
                return found
        raise RuntimeError(f"The linear program of piece {j} of the minus part failed: {found.message}")

    def bound(found: Any) -> Array:
        """Lower bounds of all programs, by the multipliers of one."""
        weight = np.maximum(-found.ineqlin.marginals, 0.0)
        weight[:k] /= weight[:k].sum()
        slope = weight @ rows - found.eqlin.marginals @ A_eq - psi.slopes
        offset = -weight @ b_ub + found.eqlin.marginals @ b_eq - psi.offsets
        with np.errstate(invalid="ignore"):
            corners = np.where(slope == 0, 0.0, slope * np.where(slope > 0, box[:, 0], box[:, 1]))
        return np.asarray(corners.sum(axis=1) + offset)

    lower, waiting, solved = np.full(n, -np.inf), np.ones(n, dtype=bool), 0
    best, value = np.zeros(d), np.inf
    threads = _threads(n_jobs)
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
                u = found.x[:d]
                here = float((phi(u[None]) - psi(u[None]))[0])
                if here < value:
                    best, value = u, here
                lower = np.fmax(lower, bound(found))
    x = np.clip(origin + unit * best, over.bounds[:, 0], over.bounds[:, 1])[None]
    pieces = int(plus.active(x)[0]), int(minus.active(x)[0])
    return Optimum(x[0], float((plus(x) - minus(x))[0]), pieces, "optimal", solved)


def _threads(n_jobs: int | None) -> int:
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0 or n_jobs < -1):
        raise ValueError(f"n_jobs must be None or −1 for all cores, or a whole number ≥ 1; got {shown(n_jobs)}.")
    return os.cpu_count() or 1 if n_jobs in (None, -1) else int(n_jobs or 1)


def _coordinates(plus: MaxAffine, minus: MaxAffine, bounds: Array) -> tuple[Array, Array]:
    """Origin and unit of each feature: the middle and the width of its bounds, or those in which slopes are alike."""
    low, high = bounds.T
    finite = np.isfinite(bounds).all(axis=1)
    origin = np.where(finite, 0.5 * np.where(finite, low, 0.0) + 0.5 * np.where(finite, high, 0.0), 0.0)
    origin = np.where(~finite & np.isfinite(low), low, np.where(~finite & np.isfinite(high), high, origin))
    width = np.where(finite, np.where(finite, high, 0.0) - np.where(finite, low, 0.0), 0.0)
    slopes = np.vstack([plus.slopes, minus.slopes])
    steep = np.ptp(slopes, axis=0)
    return origin, np.where(width > 0, width, np.where(steep > 0, 1.0 / np.where(steep > 0, steep, 1.0), 1.0))


def _in_numbers_of_order_one(plus: MaxAffine, minus: MaxAffine, origin: Array, unit: Array) -> list[MaxAffine]:
    """Both parts in the coordinates u, less one affine function, divided by one number: the same minimisers."""
    parts = [(f.slopes * unit, f.offsets + f.slopes @ origin) for f in (plus, minus)]
    slope, offset = parts[0][0].mean(axis=0), parts[0][1].mean()
    parts = [(slopes - slope, offsets - offset) for slopes, offsets in parts]
    size = max(float(np.abs(slopes).max()) for slopes, _ in parts)
    size = size if size > 0 else max(float(np.abs(offsets).max()) for _, offsets in parts) or 1.0
    return [MaxAffine(slopes / size, offsets / size) for slopes, offsets in parts]


def _rows_of_order_one(A: Array, b: Array) -> tuple[Array, Array]:
    size = np.abs(A).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    return A / size[:, None], b / size


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
    plus, minus, bounds, _ = _free(plus, minus, bounds)
    if plus.n_features == 0:
        return 0.0
    plus, minus = _ruling(plus, bounds), _ruling(minus, bounds)
    sizes = np.linalg.norm(plus.slopes[:, None, :] - minus.slopes[None, :, :], ord=dual, axis=2)
    for flat in np.argsort(-sizes, axis=None, kind="stable"):
        k, l = divmod(int(flat), minus.n_pieces)
        if meet(plus, minus, k, l, bounds):
            return float(sizes[k, l])
    return float(sizes.max())  # rounding hides all regions: a bound remains


def never_falls(plus: MaxAffine, minus: MaxAffine, feature: int, bounds: Array) -> bool:
    """Whether plus − minus is nondecreasing along a feature: no falling pair of pieces rules on a set with interior."""
    plus, minus, bounds, places = _free(plus, minus, bounds)
    at = places[feature]
    if at < 0:
        return True  # a fixed feature
    plus, minus = _ruling(plus, bounds), _ruling(minus, bounds)
    slopes = plus.slopes[:, None, at] - minus.slopes[None, :, at]
    falling = np.argwhere(slopes < 0)
    steep_first = np.argsort(slopes[slopes < 0], kind="stable")
    return not any(meet(plus, minus, int(k), int(l), bounds) for k, l in falling[steep_first])


def _free(plus: MaxAffine, minus: MaxAffine, bounds: Array) -> tuple[MaxAffine, MaxAffine, Array, Array]:
    """Both parts as functions of the features that are not fixed, their bounds, and the place of each (or −1)."""
    fixed = bounds[:, 0] == bounds[:, 1]
    at = np.where(fixed, bounds[:, 0], 0.0)
    places = np.where(fixed, -1, np.cumsum(~fixed) - 1)
    parts = [MaxAffine(f.slopes[:, ~fixed], f.offsets + f.slopes[:, fixed] @ at[fixed]) for f in (plus, minus)]
    return parts[0], parts[1], bounds[~fixed], places


def _ruling(f: MaxAffine, bounds: Array) -> MaxAffine:
    """The pieces that rule on a set with interior within the bounds: one program each saves many for pairs."""
    nothing = MaxAffine.zero(f.n_features)
    keep = [k for k in range(f.n_pieces) if meet(f, nothing, k, 0, bounds)]
    return MaxAffine(f.slopes[keep], f.offsets[keep]) if keep else f


def meet(plus: MaxAffine, minus: MaxAffine, k: int, l: int, bounds: Array) -> bool:
    """Whether piece k of plus and piece l of minus rule together on a set with interior, within the bounds.

    The deepest point of that set is found in coordinates of order one and, where the set is small or thin, once more
    around that point in coordinates of its own size. What rounding of the offsets can explain has no interior.
    """
    A = np.vstack([plus.slopes[k] - plus.slopes, minus.slopes[l] - minus.slopes])
    b = np.concatenate([plus.offsets[k] - plus.offsets, minus.offsets[l] - minus.offsets])
    noise = np.concatenate(
        [np.abs(plus.offsets) + np.abs(plus.offsets[k]), np.abs(minus.offsets) + np.abs(minus.offsets[l])]
    )
    finite = np.isfinite(bounds)
    low, high = np.flatnonzero(finite[:, 0]), np.flatnonzero(finite[:, 1])
    eye = np.eye(plus.n_features)
    A = np.vstack([A, eye[low], -eye[high]])
    b = np.concatenate([b, -bounds[low, 0], bounds[high, 1]])
    noise = np.concatenate([noise, np.abs(bounds[low, 0]), np.abs(bounds[high, 1])])
    flat = (A == 0).all(axis=1)
    if (b[flat] < 0).any():
        return False
    A, b, noise = A[~flat], b[~flat], noise[~flat]
    if len(b) == 0:
        return True
    origin, unit = _coordinates(plus, minus, bounds)
    b, A = b + A @ origin, A * unit
    size = np.linalg.norm(A, axis=1)
    A, b, noise = A / size[:, None], b / size, ROUNDING_OF_PIECES * noise / size
    point, zoom = np.zeros(A.shape[1]), float(np.abs(b).max()) or 1.0
    for _ in range(3):
        room = A @ point + b
        found = deepest_point(A, np.minimum(room / zoom, FAR))
        if found is None:
            return True  # in doubt they meet: a bound stays a bound
        depth, step = found
        point = point + zoom * step
        room = A @ point + b
        if float((room - noise).min()) > 0 and depth > INTERIOR:
            return True
        if depth < -INTERIOR and float((room + noise).min()) < 0 and depth * zoom < -float(noise.max()):
            return False
        zoom *= ZOOM
    return bool((room - noise).min() > 0)
