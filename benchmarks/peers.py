"""General solvers on the same program, by row generation: PIQP, Clarabel and HiGHS.

Variables: φ₁, φ₂, the positive and negative sides of all slopes, the bounds L, and, for the absolute loss, the two
sides of every residual. Rows: the pairs held so far and the bounds. Each round solves, certifies the answer with the
package's own certificate, and adds the ten most violated pairs of every point.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pldc.problem import Absolute, Problem, Solution, certify
from pldc.solve.workers import Workers
from pldc.solve.working_set import violated

NEAREST = 10


class Program(NamedTuple):
    """min x'Px/2 + c'x  s.t.  E x = b,  A x ≥ 0,  x ≥ lower; the first rows of A are the pairs (p, j, i)."""

    P: sp.csc_matrix
    c: np.ndarray
    E: sp.csc_matrix
    b: np.ndarray
    A: sp.csc_matrix
    lower: np.ndarray
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray]


def program(problem: Problem, member: np.ndarray) -> Program:
    """Write the componentwise program on the pairs held, squared or absolute loss."""
    X, y = problem.X, problem.y[np.argsort(problem.node)]
    n, d = X.shape
    nd = n * d
    slopes = 2 * n  # φ₁, φ₂, then g₁⁺, g₁⁻, g₂⁺, g₂⁻, L, residuals
    bounds = slopes + 4 * nd
    size = bounds + d
    absolute = problem.loss == Absolute()
    total = size + 2 * n * absolute
    P = sp.csc_matrix((total, total))
    c = np.zeros(total)
    c[bounds:size] = problem.lam
    E, b = sp.csc_matrix((0, total)), np.zeros(0)
    identity = sp.identity(n)
    if absolute:
        c[size:] = 1.0 / n
        E = sp.hstack([identity, -identity, sp.csc_matrix((n, 4 * nd + d)), -identity, identity], format="csc")
        b = y
    else:
        D = sp.hstack([identity, -identity, sp.csc_matrix((n, total - 2 * n))], format="csc")
        P = (2.0 / n) * (D.T @ D).tocsc()
        c[:n], c[n : 2 * n] = -2.0 * y / n, 2.0 * y / n
    p, j, i = np.nonzero(member)
    m = len(p)
    row = np.arange(m)
    D = X[i] - X[j]
    base = slopes + 2 * nd * p[:, None] + d * j[:, None] + np.arange(d)
    entries = [
        (row, p * n + i, np.ones(m)),
        (row, p * n + j, -np.ones(m)),
        (np.repeat(row, d), base.ravel(), -D.ravel()),
        (np.repeat(row, d), (base + nd).ravel(), D.ravel()),
    ]
    at = np.arange(nd)
    entries.append((m + at, bounds + at % d, np.ones(nd)))
    entries += [(m + at, slopes + k * nd + at, -np.ones(nd)) for k in range(4)]
    r, k, v = (np.concatenate([e[a] for e in entries]) for a in range(3))
    A = sp.csc_matrix((v, (r, k)), shape=(m + nd, total))
    lower = np.full(total, -np.inf)
    lower[slopes:] = 0.0
    return Program(P, c, E, b, A, lower, (p, j, i))


def piqp(q: Program) -> tuple[np.ndarray, np.ndarray]:
    """Solve by PIQP's sparse interior point; return x and the multipliers of A x ≥ 0."""
    import piqp as module

    solver = module.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-8
    solver.settings.eps_duality_gap_abs, solver.settings.eps_duality_gap_rel = 1e-8, 1e-6
    solver.settings.kkt_solver = module.KKTSolver.sparse_ldlt
    zeros = np.zeros(q.A.shape[0])
    solver.setup(q.P, q.c, q.E, q.b, q.A, zeros, np.full_like(zeros, np.inf), q.lower, np.full_like(q.lower, np.inf))
    solver.solve()
    return np.array(solver.result.x), np.abs(np.array(solver.result.z_l))


def clarabel(q: Program) -> tuple[np.ndarray, np.ndarray]:
    """Solve by Clarabel."""
    import clarabel as module

    signed = np.flatnonzero(np.isfinite(q.lower))
    sides = sp.csc_matrix((np.ones(len(signed)), (np.arange(len(signed)), signed)), shape=(len(signed), len(q.c)))
    A = sp.vstack([q.E, -q.A, -sides], format="csc")
    b = np.concatenate([q.b, np.zeros(q.A.shape[0] + len(signed))])
    cones = [module.ZeroConeT(len(q.b)), module.NonnegativeConeT(q.A.shape[0] + len(signed))]
    settings = module.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = 1e-6
    result = module.DefaultSolver(sp.triu(q.P, format="csc"), q.c, A, b, cones, settings).solve()
    z = np.array(result.z)[len(q.b) : len(q.b) + q.A.shape[0]]
    return np.array(result.x), z


def highs(q: Program) -> tuple[np.ndarray, np.ndarray]:
    """Solve a linear program by HiGHS (its quadratic solver is an active-set method far out of reach here)."""
    from scipy.optimize import linprog

    limits = np.column_stack([q.lower, np.full_like(q.lower, np.inf)])
    result = linprog(q.c, A_ub=-q.A, b_ub=np.zeros(q.A.shape[0]), A_eq=q.E, b_eq=q.b, bounds=limits, method="highs-ipm")
    return result.x, -result.ineqlin.marginals


PEERS: dict[str, Callable[[Program], tuple[np.ndarray, np.ndarray]]] = {
    "PIQP": piqp,
    "Clarabel": clarabel,
    "HiGHS": highs,
}


def generate_rows(problem: Problem, solver: str, tol: float, limit: float) -> dict[str, float]:
    """Solve by row generation to a certified gap, or until `limit` seconds have passed after a round."""
    X = problem.X
    n, d = X.shape
    distance = np.abs(X[:, None] - X).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    member = np.zeros((2, n, n), dtype=bool)
    near = np.argpartition(distance, min(NEAREST, n - 1), axis=1)[:, :NEAREST]
    for p in range(2):
        np.put_along_axis(member[p], near, True, axis=1)
        np.fill_diagonal(member[p], False)
    start, gap, rounds = time.perf_counter(), np.inf, 0
    with Workers(2) as workers:
        while gap > tol and time.perf_counter() - start < limit:
            q = program(problem, member)
            x, z = PEERS[solver](q)
            values = x[: 2 * n].reshape(2, n)
            sides = x[2 * n : 2 * n + 4 * n * d].reshape(2, 2, n, d)
            slopes = sides[:, 0] - sides[:, 1]
            p, j, i = q.pairs
            flows = [sp.csr_array((z[: len(p)][p == k], (j[p == k], i[p == k])), shape=(n, n)) for k in range(2)]
            iterate = Solution(values=values, slopes=slopes, linear=np.zeros(d), multipliers=flows)
            gap = min(gap, certify(problem, iterate).gap)
            rounds += 1
            new = violated(problem, values, slopes, member, workers)
            if not new.any():
                break
            member |= new
    return {"seconds": time.perf_counter() - start, "gap": gap, "rounds": rounds}
