"""Empirical maximum discrepancy: how far apart the means of two random halves can be made by a function of seminorm 1.

    D̂ = max { mean of f over one half − mean of f over the other :  ‖f‖ ≤ 1 }

It scales with the seminorm, D̂(‖f‖ ≤ L) = L · D̂, and it fixes the scale of λ: with labels +1 on one half and −1 on the
other, D̂ / 2 is exactly the λ above which the best fit under the absolute loss is a constant. So any solver of the
program finds it. A fit f at some λ proves D̂ ≥ (difference of its means) / ‖f‖, and where that λ was too small the
quotient is a better one; a lower bound ℓ on the objective, which is 1 for the constant, proves

    D̂ ≤ 2 λ + (1 − ℓ) · width,    width: twice the largest distance of two points, ‖·‖_∞,

for a function of seminorm 1 varies by at most `width`, and scaled to stay within ±1 it may not beat the bound.

Twice, because the program bounds the slopes of both parts at the same point. From x_j to x_i the first part may rise
with the slope that it has at x_i and the second fall with the one that it has at x_j; with two points, f = 2x has
seminorm 1 by the program's count. For the same reason D̂ may exceed the Wasserstein distance of the halves, which
bounds it for functions whose slopes add up to at most 1 everywhere; it never exceeds twice that distance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_array, hstack, vstack

from pldc.function.checks import choice, positive, whole
from pldc.function.max_affine import Array, real
from pldc.problem.certificate import certify
from pldc.problem.losses import Absolute
from pldc.problem.penalties import Penalty, make_penalty
from pldc.problem.program import LARGEST, Problem, Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.select.folds import ordered
from pldc.solve.choose import make_solver

ROWS_FOR_THE_THEORY = 300  # of the subsample for the weight of the theory, and for the bound
MOST_SPLITS = 10_000
METHODS = ("auto", "lp", "exact", "admm")
LINEAR_PROGRAM_ROWS, EXACT_ROWS = 40, 500  # up to which "auto" solves the linear program, and takes `Exact`
STEPS = 8  # of λ
QUICK_ITERATIONS, QUICK_GAP = 300, 1e-4  # of the quick engine, for each


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """The maximum discrepancy of functions of seminorm at most one, averaged over random halves.

    Attributes
    ----------
    lower, upper : float
        Certified bounds of the average; exact up to the solver's tolerance.
    halves : array of shape (n_splits, 2)
        The bounds for each split into halves.
    n_rows : int
        Rows that were used: fewer than there are where `max_rows` was smaller.
    """

    lower: float
    upper: float
    halves: Array
    n_rows: int

    @property
    def value(self) -> float:
        """The value proved by a function: the lower bound."""
        return self.lower

    def __float__(self) -> float:
        return self.value


def discrepancy(
    X: ArrayLike,
    *,
    penalty: str = "joint",
    n_splits: int = 5,
    tol: float = 1e-2,
    method: str = "auto",
    max_rows: int | None = 500,
    threads: int | None = None,
    random_state: Any = 0,
) -> Discrepancy:
    """Return the empirical maximum discrepancy of functions of seminorm at most one on the rows of X.

    Parameters
    ----------
    X : array of shape (n, d)
        At least two rows. Units matter: standardise the columns first, unless they share a unit.
    penalty : {"joint", "componentwise"}
        The seminorm.
    n_splits : int, default=5
        Random halves to average over. Of an odd number of rows each split leaves one out.
    tol : float, default=1e-2
        Relative distance of the bounds at which to stop. ``method="admm"`` may end above it.
    method : {"auto", "lp", "exact", "admm"}
        "lp": one linear program with all n² rows, by HiGHS, for small n and for checks; "exact" and "admm": the
        accurate and the quick engine; "auto": the program up to 40 rows, the engine of one feature where there is but
        one, the accurate engine up to 500 rows, if memory suffices, else the quick one, with bounds often far apart.
    max_rows : int or None, default=500
        Of more rows than this a random subsample is used; it makes the discrepancy larger. None: all rows.
    threads : int, optional
    random_state : int, RandomState or None
    """
    points = _rows(X)
    if not np.isfinite(points).all():
        raise ValueError("X must be finite; it contains NaN or infinity.")
    if np.abs(points).max(initial=0.0) > LARGEST:
        raise ValueError(f"X must not exceed {LARGEST:g} in size: rescale it.")
    if len(points) < 2:
        raise ValueError(f"Two halves need at least two rows, got {len(points)}.")
    choice("method", method, METHODS)
    whole("n_splits", n_splits, 1, most=MOST_SPLITS)
    tol = positive("tol", tol)
    for name, limit in (("max_rows", max_rows), ("threads", threads)):
        if limit is not None:
            whole(name, limit, 1, optional=True)
    rng = random_state if isinstance(random_state, np.random.RandomState) else np.random.RandomState(random_state)
    if max_rows is not None and len(points) > max_rows:
        points = points[rng.choice(len(points), max(2, max_rows), replace=False)]
    norm, n = make_penalty(penalty), len(points) // 2 * 2
    bounds = []
    for _ in range(n_splits):
        rows = points[rng.permutation(len(points))[:n]]
        sign = np.repeat([1.0, -1.0], n // 2)
        if method == "lp" or (method == "auto" and n <= LINEAR_PROGRAM_ROWS):
            bounds.append((linear_program(rows, sign, penalty),) * 2)
        else:
            quick = method == "auto" and n > EXACT_ROWS and rows.shape[1] > 1
            bounds.append(_by_threshold(rows, sign, norm, tol, "admm" if quick else method, threads))
    halves = np.array(bounds)
    lower, upper = halves.mean(axis=0)
    return Discrepancy(float(lower), float(upper), halves, n)


def wasserstein(X: ArrayLike, Y: ArrayLike) -> float:
    """Wasserstein-1 distance, ground cost ‖·‖_∞, of two samples of equal size: never below half their discrepancy."""
    A, B = _rows(X), _rows(Y)
    if A.shape != B.shape:
        raise ValueError(f"The samples must have equal shapes, got {A.shape} and {B.shape}.")
    cost = np.abs(A[:, None, :] - B[None, :, :]).max(axis=2)
    return float(cost[linear_sum_assignment(cost)].mean())


def _rows(X: ArrayLike) -> Array:
    points = real(X, "X")
    if points.ndim != 2 or not points.shape[1]:
        raise ValueError(f"X must be two-dimensional, (rows, features); got shape {points.shape}.")
    return points


def _by_threshold(
    X: Array, sign: Array, penalty: Penalty, tol: float, engine: str, threads: int | None
) -> tuple[float, float]:
    """Raise λ to just below the best quotient so far until the bounds meet."""
    width = 2.0 * float(np.ptp(X, axis=0).max())
    half = len(X) // 2
    upper = 2.0 * float(np.abs(X[:half] - X[half:]).max(axis=1).mean())  # any matching of the halves bounds it
    lower = float(np.abs(X[:half].mean(axis=0) - X[half:].mean(axis=0)).max())  # the best of the coordinates
    start: Solution | None = None
    for step in range(STEPS):
        if upper - lower <= tol * upper:
            break
        lam = 0.5 * max(lower, 1e-3 * upper) * (1.0 - 0.1 * tol)
        problem = Problem.from_data(X, sign, loss=Absolute(), penalty=penalty, lam=lam)
        gap = max(1e-9, 0.05 * max(tol, 0.1 ** (step + 1)) * lam / width)  # coarse at first: λ is far off then
        solver = make_solver(engine, problem, tol=gap, threads=threads)
        if gap < solver.realistic_tol:
            solver = replace(solver, tol=max(gap, QUICK_GAP), max_iter=QUICK_ITERATIONS)  # type: ignore[type-var]
        start = solver.solve(problem, start)
        if start.status == "interrupted":
            raise KeyboardInterrupt
        certificate = certify(problem, start)
        lower = max(lower, quotient(problem, certificate.solution))
        upper = min(upper, 2.0 * lam + (1.0 - certificate.lower) * width)
    return lower, upper


def quotient(problem: Problem, solution: Solution) -> float:
    """Difference of the means of f over the halves, divided by the seminorm; zero for a constant."""
    fit = problem.fit(solution.values, solution.linear)[problem.node]
    size = problem.penalty.value(solution.slopes)
    return 2.0 * float(problem.weight @ (problem.y * fit)) / size if size > 0 else 0.0


def linear_program(X: Array, sign: Array, penalty: str) -> float:
    """Solve for D̂ with all pairs of rows at once: (φ₁, φ₂, a⁺, a⁻, b⁺, b⁻, L) by HiGHS.

    Its tolerances are absolute; D̂ is not, and is found for rows of size one.
    """
    size = float(np.ptp(X, axis=0).max())
    if not size > 0:
        return 0.0
    X = X / size
    n, d = X.shape
    q = 1 if penalty == "joint" else d
    j, i = (index.ravel() for index in np.nonzero(~np.eye(n, dtype=bool)))
    row = np.arange(len(j))
    values = coo_array((np.repeat([1.0, -1.0], len(row)), (np.tile(row, 2), np.concatenate([j, i]))), (len(row), n))
    at = d * np.repeat(j, d) + np.tile(np.arange(d), len(j))
    slopes = coo_array(((X[i] - X[j]).ravel(), (np.repeat(row, d), at)), (len(row), n * d))
    none_v, none_s = coo_array((len(row), n)), coo_array((len(row), n * d))
    nothing = coo_array((len(row), q))
    first = hstack([values, none_v, slopes, -slopes, none_s, none_s, nothing])
    second = hstack([none_v, values, none_s, none_s, slopes, -slopes, nothing])
    count = n if penalty == "joint" else n * d
    group = np.repeat(np.arange(n), d) if penalty == "joint" else np.arange(n * d)
    sums = coo_array((np.ones(n * d), (group, np.arange(n * d))), (count, n * d))
    bound = np.zeros(count, dtype=int) if penalty == "joint" else np.tile(np.arange(d), n)
    limit = coo_array((-np.ones(count), (np.arange(count), bound)), (count, q))
    norm = hstack([coo_array((count, 2 * n)), sums, sums, sums, sums, limit])
    budget = hstack([coo_array((1, 2 * n + 4 * n * d)), coo_array(np.ones((1, q)))])
    cost = np.concatenate([-2.0 * sign / n, 2.0 * sign / n, np.zeros(4 * n * d + q)])
    limits: list[Any] = [(None, None)] * (2 * n) + [(0.0, None)] * (4 * n * d + q)
    limits[0] = limits[n] = (0.0, 0.0)  # constants are free: fix both parts at one point
    result = linprog(
        cost,
        A_ub=vstack([first, second, norm, budget]).tocsr(),
        b_ub=np.concatenate([np.zeros(2 * len(row) + count), [1.0]]),
        bounds=limits,
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    return size * float(-result.fun)


def discrepancy_of(recipe: Recipe, rows: Rows, random_state: Any) -> Discrepancy:
    """Return the discrepancy of the rows, whatever their order, in the units of the program."""
    rows = ordered(rows)
    Z = recipe.units(rows).scale_X(rows.X)
    return discrepancy(Z, penalty=recipe.penalty.name, max_rows=ROWS_FOR_THE_THEORY, random_state=random_state)
