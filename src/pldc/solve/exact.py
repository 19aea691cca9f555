"""The accurate engine: the interior point on all pairs of points, stopped by the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.certificate import Certificate, certify, relative_gap
from pldc.problem.program import Problem, Solution
from pldc.problem.scaling import degree, normalise
from pldc.solve.interior_point import InteriorPoint
from pldc.solve.workers import Workers

Monitor = Callable[[dict[str, float]], None]

PATIENCE = 30  # iterations in which the gap, or the centring parameter, must fall by a tenth
LARGEST_LAM = 1e6  # in scaled numbers; the answer is a constant (or linear) function long before

STATUS = {
    "optimal": "the asked gap is certified",
    "stalled": "rounding stopped the interior point; a larger tol, a larger lam or standardised data would help",
    "max_iter": "max_iter iterations were not enough; raise max_iter",
}


@dataclass(frozen=True)
class ExactSolver:
    """Solve the program to a certified relative gap.

    Parameters
    ----------
    tol : float, default=1e-6
        Certified relative gap to reach.
    max_iter : int, default=200
    threads : int or None
        None: as many as the BLAS would use.
    """

    tol: float = 1e-6
    max_iter: int = 200
    threads: int | None = None

    def solve(self, problem: Problem, monitor: Monitor | None = None) -> Solution:
        """Return a feasible solution with its multipliers; `status` says whether the gap was reached.

        Parameters
        ----------
        problem : Problem
        monitor : callable, optional
            Called once an iteration with a dict: iteration, upper, lower, gap, seconds; bounds are in the units of the
            objective of `problem`.
        """
        scaled, scaling = normalise(problem)
        unit = scaling.y_size ** degree(problem)
        target = replace(scaled, lam=min(scaled.lam, LARGEST_LAM))
        history: list[dict[str, float]] = []
        began = time.perf_counter()
        best = certify(scaled, affine_fit(scaled))
        status = "optimal" if best.gap <= self.tol else "max_iter"
        gap_mark, mu_mark, since = best.gap, np.inf, 0
        with Workers(self.threads) as workers:
            method = InteriorPoint(target, workers) if best.gap > self.tol else None
            while method is not None and best.gap > self.tol and len(history) < self.max_iter:
                if history and not method.step():
                    status = "stalled"
                    break
                iterate = method.solution()
                best = tighter(scaled, best, certify(scaled, iterate))
                since += 1
                if best.gap < 0.9 * gap_mark or method.mu < 0.9 * mu_mark:
                    gap_mark, mu_mark, since = min(gap_mark, best.gap), min(mu_mark, method.mu), 0
                row = {
                    "iteration": len(history),
                    "upper": unit * best.upper,
                    "lower": unit * best.lower,
                    "gap": best.gap,
                    "seconds": time.perf_counter() - began,
                }
                history.append(row)
                if monitor is not None:
                    monitor(row)
                if best.gap <= self.tol:
                    status = "optimal"
                elif since >= PATIENCE:
                    status = "stalled"
                    break
        solution = scaling.restore(problem, best.solution)
        # ω, and with it every flow, is a derivative of the loss: it scales like loss / y.
        multipliers = solution.multipliers * scaling.y_size ** (degree(problem) - 1)
        return replace(solution, multipliers=multipliers, status=status, iterations=len(history), history=history)


def tighter(problem: Problem, a: Certificate, b: Certificate) -> Certificate:
    """Combine two certificates of one problem: the lower upper bound and the higher lower bound."""
    up = b if b.upper < a.upper else a
    low = b if b.lower > a.lower else a
    solution = replace(up.solution, multipliers=low.solution.multipliers)
    return Certificate(up.upper, low.lower, relative_gap(problem, up.upper, low.lower), solution)


def affine_fit(problem: Problem) -> Solution:
    """Return the best constant, or the least-squares affine fit where a linear term is free.

    Its multipliers prove the constant optimal if λ is large enough; an exact affine fit needs no proof.
    """
    P, (n, d) = len(problem.signs), problem.X.shape
    values, linear = np.zeros((P, n)), np.zeros(d)
    values[0] = problem.signs[0] * problem.null_fit
    if problem.linear:
        root = np.sqrt(problem.weight)
        design = np.column_stack([np.ones(len(problem.y)), problem.X[problem.node]])
        intercept, *linear = np.linalg.lstsq(root[:, None] * design, root * problem.y, rcond=None)[0]
        values[0] = problem.signs[0] * intercept
    fit = problem.fit(values, np.asarray(linear))[problem.node]
    omega = problem.at_nodes(problem.weight * problem.loss.derivative(fit - problem.y))
    omega -= omega.mean()
    flows = np.array([flow(sign * omega) for sign in problem.signs])
    return Solution(values=values, slopes=np.zeros((P, n, d)), linear=np.asarray(linear), multipliers=flows)


def flow(demand: Array) -> Array:
    """Return a flow μ ≥ 0 [j, i] with divergence `demand`, which sums to zero."""
    plus, minus = np.maximum(demand, 0.0), np.maximum(-demand, 0.0)
    return np.outer(minus, plus / plus.sum()) if plus.sum() > 0 else np.zeros((len(demand), len(demand)))
