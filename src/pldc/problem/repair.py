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

from pldc.function.max_affine import Array
from pldc.problem.program import Problem, Solution

ROUNDING = 64 * np.finfo(np.float64).eps
PROJECTIONS = 30


@np.errstate(over="ignore", invalid="ignore")  # an absurdly large iterate overflows; its candidates are not chosen
def repair(problem: Problem, solution: Solution) -> Solution:
    """Return a feasible point near `solution`."""
    values = sane(solution.values)
    slopes = keep_sign(sane(solution.slopes), problem.slope_sign)
    linear = sane(solution.linear) * problem.linear
    linear = keep_sign(linear, problem.monotone)
    X = problem.centred
    parts = [lift(X, phi, g) for phi, g in zip(values, slopes, strict=True)]
    F = np.array([part[0] for part in parts])
    active = np.array([part[1] for part in parts])
    moved = [np.flatnonzero(part[2]) for part in parts]
    flat = replace(solution, values=np.zeros_like(F), slopes=np.zeros_like(slopes))
    candidates = [replace(flat, linear=linear), replace(flat, linear=np.zeros_like(linear))]
    if not any(len(rows) for rows in moved):
        candidates.append(replace(solution, values=F, slopes=slopes, linear=linear))
        return best_of(problem, candidates)
    own = slopes.copy()
    for p, rows in enumerate(moved):
        if len(rows):
            own[p, rows] = project(X, F[p], rows, slopes[p, rows], problem.slope_sign[p, 0])
    for use_parabola in (True, False):
        G, V = own.copy(), F.copy()
        for p, rows in enumerate(moved):
            worst = violations(X, F[p], rows, own[p, rows])
            if use_parabola:
                V[p], G[p] = bend(problem, p, V[p], G[p], rows, worst)
            else:
                bad = rows[(worst > tolerance(F[p])).any(axis=1)]
                G[p, bad] = slopes[p, active[p, bad]]
        candidates.append(replace(solution, values=V, slopes=G, linear=linear))
    return best_of(problem, candidates)


def best_of(problem: Problem, candidates: list[Solution]) -> Solution:
    """Return the feasible point of the lowest objective, after rescaling each; a constant is always among them."""

    def cost(point: Solution) -> float:
        value = problem.objective(point)
        return value if np.isfinite(value) else np.inf

    return min((rescale(problem, point) for point in candidates), key=cost)


def sane(a: Array) -> Array:
    """Replace what is not a finite number by zero."""
    return np.where(np.isfinite(a), a, 0.0)


def keep_sign(slopes: Array, sign: Array) -> Array:
    """Set to zero what a monotone feature forbids."""
    return np.where(slopes * sign < 0, 0.0, slopes)


def tolerance(F: Array) -> float:
    """What rounding alone may leave of a violation."""
    return float(ROUNDING * max(np.abs(F).max(), np.finfo(float).tiny))


def lift(X: Array, phi: Array, g: Array) -> tuple[Array, Array, Array]:
    """Values of the max-affine function at the points, its active pieces, and which points it moved."""
    pieces = X @ g.T
    pieces += phi - np.einsum("jk,jk->j", g, X)
    np.fill_diagonal(pieces, phi)
    active = pieces.argmax(axis=1)
    F = pieces[np.arange(len(X)), active]
    moved = phi + tolerance(F) < F
    return np.where(moved, F, phi), active, moved


def violations(X: Array, F: Array, rows: Array, g: Array) -> Array:
    """⟨g_i, x_k − x_i⟩ − (F_k − F_i) for i in `rows` and all k: positive where violated."""
    out = g @ X.T
    out -= np.einsum("ik,ik->i", g, X[rows])[:, None]
    out -= F - F[rows, None]
    out[np.arange(len(rows)), rows] = -np.inf
    return out


def project(X: Array, F: Array, rows: Array, g: Array, sign: Array) -> Array:
    """Push each slope onto its feasible set, worst constraint first."""
    g, squares = g.copy(), np.einsum("ij,ij->i", X, X)
    todo = np.arange(len(rows))
    limit = tolerance(F)
    for _ in range(PROJECTIONS):
        v = violations(X, F, rows[todo], g[todo])
        lengths = squares + squares[rows[todo], None] - 2.0 * X[rows[todo]] @ X.T
        lengths = np.maximum(lengths, 1e-15 * (squares + squares[rows[todo], None]) + np.finfo(float).tiny)
        k = (v * np.abs(v) / lengths).argmax(axis=1)
        at = np.arange(len(todo))
        left = v[at, k] > limit
        todo, at, k = todo[left], at[left], k[left]
        if len(todo) == 0:
            break
        D = X[k] - X[rows[todo]]
        step = v[at, k] / np.maximum(np.einsum("ij,ij->i", D, D), np.finfo(float).tiny)
        g[todo] = keep_sign(g[todo] - step[:, None] * D, sign)
    return g


def bend(problem: Problem, p: int, F: Array, G: Array, rows: Array, worst: Array) -> tuple[Array, Array]:
    """Add (c/2)‖x − z‖² to part p, c just large enough to outweigh every violation left.

    z is the mean of the points, or a corner of their box where the slopes must keep a sign.
    """
    X = problem.centred
    bad_row, bad_col = np.nonzero(worst > tolerance(F))
    if len(bad_row) == 0:
        return F, G
    D = X[bad_col] - X[rows[bad_row]]
    c = float((2.0 * worst[bad_row, bad_col] / np.maximum(np.einsum("ij,ij->i", D, D), 1e-300)).max())
    sign = problem.slope_sign[p, 0]
    z = np.where(sign > 0, X.min(axis=0), np.where(sign < 0, X.max(axis=0), X.mean(axis=0)))
    c = min(c * (1 + 1e-9), 1e150)
    return F + 0.5 * c * ((X - z) ** 2).sum(axis=1), G + c * (X - z)


def rescale(problem: Problem, solution: Solution) -> Solution:
    """Replace f by t f + b, t ≥ 0, if that lowers the objective: the constraints are a cone.

    Reweighted least squares of y on the fit (exact in one step for squared loss); only what lowers the objective is
    kept.
    """
    fit = problem.fit(solution.values, solution.linear)[problem.node]
    size = problem.lam * problem.penalty.value(solution.slopes)
    w, loss, y = problem.weight, problem.loss, problem.y
    floor = loss.softness or max(1e-9 * float(np.ptp(y)) / max(loss.down, loss.up), np.finfo(float).tiny)
    best, t, b = (float(w @ loss.value(fit - y)) + size, 1.0, 0.0), 1.0, 0.0
    for _ in range(1 if np.isinf(loss.up) else 8):
        r = t * fit + b - y
        curvature = w / np.maximum(floor, np.abs(r) / np.where(r > 0, loss.up, loss.down))
        total = curvature.sum()
        curvature /= total
        fc, yc = fit - curvature @ fit, y - curvature @ y
        spread = float(curvature @ fc**2)
        t = max(0.0, float(curvature @ (fc * yc)) - size / total) / spread if spread > 0 else 0.0
        b = float(curvature @ (y - t * fit))
        value = float(w @ loss.value(t * fit + b - y)) + t * size
        if value < best[0]:
            best = (value, t, b)
    _, t, b = best
    if (t, b) == (1.0, 0.0):
        return solution
    values = t * solution.values
    values[0] += problem.signs[0] * b
    return replace(solution, values=values, slopes=t * solution.slopes, linear=t * solution.linear)
