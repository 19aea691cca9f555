"""From any iterate to a point that satisfies every constraint of the program, at little cost in the objective.

For each part: lift the values onto the max-affine function of the iterate, F_i = max_j φ_j + ⟨g_j, x_i − x_j⟩. A point
that the lift leaves alone keeps its slope, which is a subgradient there. A point that moved needs a new one: its own
slope, pushed onto {a : ⟨a, x_k − x_i⟩ ≤ F_k − F_i for all k} by repeated projection. What is still violated after that
is mended in one of two ways, whichever costs less: the slope of the active piece (always a subgradient, but it may pair
large slopes of both parts), or a parabola added to the part (a small bend everywhere). A constant, and the linear term
alone, are candidates too. Each is scaled and shifted, and the cheapest is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.problem.program import Problem, Solution

ROUNDING_OF_PAIRS = 64 * np.finfo(np.float64).eps
PROJECTIONS = 30
BLOCK_NUMBERS = 1 << 20  # numbers in a block of rows × points


@np.errstate(over="ignore", invalid="ignore")  # an absurdly large iterate overflows; its candidates are not chosen
def repair(problem: Problem, solution: Solution) -> Solution:
    """Return a feasible point near `solution`."""
    values, constant = without_constants(problem, sane(solution.values))
    slopes = keep_sign(sane(solution.slopes), problem.slope_sign)
    linear = sane(solution.linear) * problem.linear
    linear = keep_sign(linear, problem.monotone)
    X = problem.centred
    parts = [lift(X, phi, g) for phi, g in zip(values, slopes, strict=True)]
    F = np.array([part[0] for part in parts])
    active = np.array([part[1] for part in parts])
    moved = [np.flatnonzero(part[2]) for part in parts]
    flat = replace(solution, values=np.zeros_like(F), slopes=np.zeros_like(slopes))
    none = np.zeros_like(constant)
    candidates = [(replace(flat, linear=linear), none), (replace(flat, linear=np.zeros_like(linear)), none)]
    if not any(len(rows) for rows in moved):
        candidates.append((replace(solution, values=F, slopes=slopes, linear=linear), constant))
        return best_of(problem, candidates)
    bent, steep = replace(solution, values=F.copy(), slopes=slopes.copy(), linear=linear), slopes.copy()
    for p, rows in enumerate(moved):
        own, curvature, bad = subgradients(X, F[p], rows, slopes[p, rows], problem.slope_sign[p, 0])
        bent.slopes[p, rows] = steep[p, rows] = own
        steep[p, rows[bad]] = slopes[p, active[p, rows[bad]]]
        bend(problem, p, bent, curvature)
    candidates += [(bent, constant), (replace(bent, values=F, slopes=steep), constant)]
    return best_of(problem, candidates)


def without_constants(problem: Problem, values: Array) -> tuple[Array, Array]:
    """Return the values of the parts around zero, and what the first part of each output needs for f to be the same.

    A constant in both parts cancels in f, however large; but rounding counts in units of the largest value, and would
    forgive any violation beside it.
    """
    middle = 0.5 * (values.min(axis=1, keepdims=True) + values.max(axis=1, keepdims=True))
    constant = np.zeros_like(middle)
    constant[:: len(problem.signs) // problem.outputs, 0] = problem.signs[0] * problem.by_output(middle).ravel()
    return values - middle, constant


def best_of(problem: Problem, candidates: list[tuple[Solution, Array]]) -> Solution:
    """Return the feasible point of the lowest objective, after rescaling each; a constant is always among them.

    To the values of each belong constants of its parts (P, 1), which are added last.
    """

    def cost(point: Solution) -> float:
        value = problem.objective(point)
        return value if np.isfinite(value) else np.inf

    return min((rescale(problem, *each) for each in candidates), key=cost)


def sane(a: Array) -> Array:
    """Replace what is not a finite number by zero."""
    return np.where(np.isfinite(a), a, 0.0)


def keep_sign(slopes: Array, sign: Array) -> Array:
    """Set to zero what a monotone feature forbids."""
    return np.where(slopes * sign < 0, 0.0, slopes)


def tolerance(F: Array) -> float:
    """What rounding alone may leave of a violation."""
    return float(ROUNDING_OF_PAIRS * max(np.abs(F).max(), np.finfo(float).tiny))


def blocks(rows: int, points: int) -> list[slice]:
    """Slices of `rows` rows such that a block times the number of points stays small."""
    step = max(1, BLOCK_NUMBERS // points)
    return [slice(start, start + step) for start in range(0, rows, step)]


def lift(X: Array, phi: Array, g: Array) -> tuple[Array, Array, Array]:
    """Values of the max-affine function at the points, its active pieces, and which points it moved."""
    if X.shape[1] == 1 and convex_on_a_line(X[:, 0], phi, g[:, 0]):
        return phi, np.arange(len(X)), np.zeros(len(X), dtype=bool)
    offsets = phi - np.einsum("jk,jk->j", g, X)
    active, F = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    for J in blocks(len(X), len(X)):
        pieces = X[J] @ g.T
        pieces += offsets
        at = np.arange(len(pieces))
        pieces[at, J.start + at] = phi[J]
        active[J] = pieces.argmax(axis=1)
        F[J] = pieces[at, active[J]]
    moved = phi + tolerance(F) < F
    return np.where(moved, F, phi), active, moved


def convex_on_a_line(x: Array, phi: Array, g: Array) -> bool:
    """Whether every point lies above the piece of every other, up to rounding, in one pass over neighbours.

    Where slopes increase, what a point may lack above a far one's piece is at most the sum of what neighbours lack.
    """
    order = np.argsort(x, kind="stable")
    rise, gap, slope = np.diff(phi[order]), np.diff(x[order]), g[order]
    lacks = np.maximum(slope[:-1] * gap - rise, 0.0).sum(), np.maximum(rise - slope[1:] * gap, 0.0).sum()
    return bool((np.diff(slope) >= 0).all() and max(lacks) <= tolerance(phi) * max(1.0, len(x) / 100.0))


def subgradients(X: Array, F: Array, rows: IntArray, g: Array, sign: Array) -> tuple[Array, float, Array]:
    """Push the slopes g of the points `rows` onto their feasible sets, worst constraint first.

    Also the curvature of a parabola that outweighs what is still violated then, and at which of the rows that is.
    """
    out, curvature, bad = np.empty_like(g), 0.0, np.zeros(len(rows), dtype=bool)
    squares, limit = np.einsum("ij,ij->i", X, X), tolerance(F)
    for J in blocks(len(rows), len(X)):
        lengths = squares + squares[rows[J], None] - 2.0 * X[rows[J]] @ X.T
        lengths = np.maximum(lengths, 1e-15 * (squares + squares[rows[J], None]) + np.finfo(float).tiny)
        out[J] = project(X, F, rows[J], g[J], sign, lengths, limit)
        worst = violations(X, F, rows[J], out[J])
        i, k = np.nonzero(worst > limit)
        if len(i):
            D = X[k] - X[rows[J][i]]
            bad[J.start + i] = True
            bend = 2.0 * worst[i, k] / np.maximum(np.einsum("ij,ij->i", D, D), 1e-300)
            curvature = max(curvature, float(bend.max()))
    return out, curvature, bad


def violations(X: Array, F: Array, rows: IntArray, g: Array) -> Array:
    """⟨g_i, x_k − x_i⟩ − (F_k − F_i) for i in `rows` and all k: positive where violated."""
    out = g @ X.T
    out -= np.einsum("ik,ik->i", g, X[rows])[:, None]
    out -= F - F[rows, None]
    out[np.arange(len(rows)), rows] = -np.inf
    return out


def project(X: Array, F: Array, rows: IntArray, g: Array, sign: Array, lengths: Array, limit: float) -> Array:
    """Push each slope back over its worst constraint, again and again; `lengths` are squared distances."""
    g, todo = g.copy(), np.arange(len(rows))
    for _ in range(PROJECTIONS):
        v = violations(X, F, rows[todo], g[todo])
        k = (v * np.abs(v) / lengths[todo]).argmax(axis=1)
        at = np.arange(len(todo))
        left = v[at, k] > limit
        todo, at, k = todo[left], at[left], k[left]
        if len(todo) == 0:
            break
        D = X[k] - X[rows[todo]]
        step = v[at, k] / np.maximum(np.einsum("ij,ij->i", D, D), np.finfo(float).tiny)
        g[todo] = keep_sign(g[todo] - step[:, None] * D, sign)
    return g


def bend(problem: Problem, p: int, point: Solution, curvature: float) -> None:
    """Add (c/2)‖x − z‖² to part p of the point.

    z is the mean of the points, or a corner of their box where the slopes must keep a sign.
    """
    if curvature == 0.0:
        return
    X, sign = problem.centred, problem.slope_sign[p, 0]
    z = np.where(sign > 0, X.min(axis=0), np.where(sign < 0, X.max(axis=0), X.mean(axis=0)))
    c = min(curvature * (1 + 1e-9), 1e150)
    point.values[p] += 0.5 * c * ((X - z) ** 2).sum(axis=1)
    point.slopes[p] += c * (X - z)


def rescale(problem: Problem, solution: Solution, constant: Array | float = 0.0) -> Solution:
    """Replace f by t f + b, t ≥ 0, if that lowers the objective: the constraints are a cone.

    f is the solution with constants of its parts (P, 1), if there are any.
    """
    fit = problem.fit(solution.values + constant, solution.linear)[..., problem.node]
    t, b = problem.loss.multiple(problem, fit, problem.lam * problem.penalty.value(solution.slopes))
    constant = np.zeros((len(problem.signs), 1)) + t * constant
    # The constants first, before they meet the values: what cancels here takes nothing from their shape.
    constant[:: len(problem.signs) // problem.outputs, 0] += problem.signs[0] * b
    values = t * solution.values + constant
    return replace(solution, values=values, slopes=t * solution.slopes, linear=t * solution.linear)
