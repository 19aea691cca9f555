"""What every engine shares: the best bounds so far, the history, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array

from pldc.function.max_affine import Array
from pldc.problem.certificate import CertifiedSolution, bracket, certify, tree_flow
from pldc.problem.program import Problem, Solution
from pldc.problem.scaling import normalise

Monitor = Callable[[dict[str, float]], Any]

RIDGE = 1e-7
LARGEST_LAM = 1e6  # in scaled numbers; the answer is a constant (or linear) function long before
STATUS = {
    "optimal": "the asked gap is certified",
    "stalled": "rounding stopped the solver; raise its tol, or lam, standardise X, or round X to its digits",
    "max_iter": "max_iter iterations were not enough; raise max_iter or tol of the solver, or lam",
    "stopped": "the monitor stopped the fit",
    "interrupted": "the fit was interrupted",
}


class Run:
    """One solve, in numbers of order one.

    Parameters
    ----------
    problem : Problem
    tol : float
    max_iter : int
    monitor : callable, optional
        Called with the record of each iteration; the solve stops if it returns a true value.

    Attributes
    ----------
    problem : Problem
        In numbers of order one.
    best : CertifiedSolution
        The best bounds so far, from different iterates perhaps.
    status : str
        "running", or a key of STATUS.
    """

    def __init__(self, problem: Problem, tol: float, max_iter: int, monitor: Monitor | None):
        self.original, self.tol, self.max_iter, self.monitor = problem, tol, max_iter, monitor
        self.problem, self.scaling = normalise(problem)
        self.unit = self.scaling.y_size**problem.loss.degree
        self.history: list[dict[str, float]] = []
        self.began = time.perf_counter()
        self.status = "running"
        self.latest: Callable[[], Solution] | None = None  # reads the current iterate
        self.best = certify(self.problem, affine_fit(self.problem))
        self._judge()

    def offer(self, iterate: Solution) -> None:
        """Certify an iterate, and keep what is better than the bounds so far."""
        self.best = tighter(self.problem, self.best, certify(self.problem, iterate))
        self._judge()

    def prefer(self, iterate: Solution) -> None:
        """Take an iterate in place of the best one if it, too, reaches the asked gap."""
        lower, before = self.best.lower, self.best.solution
        other = certify(self.problem, iterate)
        proof = other.solution if other.lower > lower else before
        solution = replace(other.solution, multipliers=proof.multipliers, dual=proof.dual)
        other = bracket(self.problem, other.upper, max(lower, other.lower), solution)
        if other.gap <= self.tol:
            self.best = other

    def _judge(self) -> None:
        if self.best.gap <= self.tol:
            self.status = "optimal"

    def record(self) -> None:
        """Note one iteration, tell the monitor, and stop if it says so or the limit is reached."""
        row = {
            "iteration": len(self.history),
            "upper": self.unit * self.best.upper,
            "lower": self.unit * self.best.lower,
            "gap": self.best.gap,
            "seconds": time.perf_counter() - self.began,
        }
        self.history.append(row)
        stop = self.monitor is not None and self.monitor(row)
        if self.status == "running":
            if stop:
                self.status = "stopped"
            elif len(self.history) >= self.max_iter:
                self.status = "max_iter"

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Turn Ctrl-C into a status: what was found so far is kept."""
        try:
            yield
        except KeyboardInterrupt:
            self.status = "interrupted"

    def solution(self) -> Solution:
        """Return the best solution in the units of the original problem; a solve cut short has its last say."""
        if self.status != "optimal" and self.latest is not None:
            status = self.status
            self.offer(self.latest())
            self.status = self.status if self.status == "optimal" else status
        solution = self.scaling.restore(self.original, self.best.solution)
        return replace(solution, status=self.status, iterations=len(self.history), history=self.history)


def bounded(problem: Problem) -> Problem:
    """Return the problem with a λ no larger than any that matters."""
    return replace(problem, lam=min(problem.lam, LARGEST_LAM))


def tighter(problem: Problem, a: CertifiedSolution, b: CertifiedSolution) -> CertifiedSolution:
    """Combine two certificates of one problem: the lower upper bound and the higher lower bound."""
    up = b if b.upper < a.upper else a
    low = b if b.lower > a.lower else a
    solution = replace(up.solution, multipliers=low.solution.multipliers, dual=low.solution.dual)
    return bracket(problem, up.upper, low.lower, solution)


def affine_fit(problem: Problem) -> Solution:
    """Return the best constant, or the least-squares affine fit where a linear term is free.

    Its multipliers prove the constant optimal if λ is large enough; an exact affine fit needs no proof.
    """
    P, (n, d), m = len(problem.signs), problem.X.shape, problem.outputs
    values, linear = np.zeros((P, n)), np.zeros(d if m == 1 else (m, d))
    level, share = problem.null_fit, problem.null_share
    if problem.linear:
        level, linear = least_squares(problem)
        fit = level + problem.X[problem.node] @ linear
        share = problem.weight * problem.loss.gradient(fit, problem.y)
    values[:: P // m] = problem.signs[0] * np.reshape(level, (m, 1))
    flows = [flow(problem, part - part.mean()) for part in problem.to_parts(problem.at_nodes(share))]
    return Solution(values, np.zeros((P, n, d)), linear, multipliers=flows, dual=share)


def least_squares(problem: Problem) -> tuple[float, Array]:
    """Return level and slope of the least-squares affine fit, with the signs of monotone features."""
    root, d = np.sqrt(problem.weight), problem.X.shape[1]
    design = np.column_stack([np.ones(len(problem.y)), problem.X[problem.node]])
    if problem.monotone.any():
        allowed = np.where(problem.monotone > 0, 0.0, -np.inf), np.where(problem.monotone < 0, 0.0, np.inf)
        limits = tuple(np.append(free, bound) for free, bound in zip((-np.inf, np.inf), allowed, strict=True))
        # A trace of ridge: on dependent columns the bounded problem has solutions of any size.
        tall = np.vstack([root[:, None] * design, RIDGE * np.eye(d + 1)])
        found = lsq_linear(tall, np.append(root * problem.y, np.zeros(d + 1)), limits, tol=1e-14).x
    else:
        found = np.linalg.lstsq(root[:, None] * design, root * problem.y, rcond=None)[0]
    return float(found[0]), found[1:]


def flow(problem: Problem, demand: Array) -> csr_array:
    """Return a sparse flow μ ≥ 0 [j, i] with divergence `demand`, which sums to zero."""
    child, up, need = tree_flow(problem, demand)
    j, i = np.where(need > 0, up, child), np.where(need > 0, child, up)
    return csr_array((np.abs(need), (j, i)), shape=(len(demand),) * 2)
