"""How far an iterate is from the optimum, proved from the data alone.

Upper bound: the objective of a feasible point made from the iterate (`repair`).
Lower bound: the value of a feasible point of the dual made from its multipliers (`lower_bound`). The dual is

    max  −Σ_o (w_o ℓ)*(ω_o) − ω_o y_o
    s.t. div μ_p = s_p ω,   dual norm of (h_p) ≤ λ,   and, with a free linear term, Xᵀω = 0,

over flows μ_p ≥ 0 on ordered pairs, where (div μ)_i = Σ_j μ_ji − μ_ij, h_pj = Σ_i μ_pji (x_i − x_j), and ω at a point
is the sum of ω_o over its observations. A monotone feature forgives the sign of h (and of Xᵀω) that it excludes.

Neither bound believes the solver; both hold for any iterate, up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import issparse

from pldc.function.max_affine import Array, IntArray
from pldc.problem.program import Problem, Solution
from pldc.problem.repair import repair

# The gap is relative to the objective, but never to less than this share of the loss of the best constant: an objective
# of zero (a target that is exactly constant, or exactly linear beside a free linear term) has no relative gap.
FLOOR = 1e-9
CONTRADICTION = 1e-9


@dataclass(frozen=True)
class Certificate:
    """Proof of near-optimality of a program: lower ≤ optimum ≤ upper.

    Attributes
    ----------
    upper : float
        Objective of a function that satisfies every constraint: the one returned, by its values as they are computed.
    lower : float
        No function of the class has an objective below this.
    gap : float
        (upper − lower) / max(upper, lower), but no less than 1e-9 of the objective of the best constant below the line.
    """

    upper: float
    lower: float
    gap: float


@dataclass(frozen=True)
class CertifiedSolution(Certificate):
    """A certificate with the feasible `solution` that attains `upper`."""

    solution: Solution = field(repr=False, compare=False)


def certify(problem: Problem, solution: Solution) -> CertifiedSolution:
    """Bound the optimum of `problem` from both sides, starting from any iterate."""
    feasible = replace(repair(problem, solution), multipliers=solution.multipliers, dual=solution.dual)
    lower = lower_bound(problem, solution.multipliers, solution.dual)
    return bracket(problem, problem.objective(feasible), lower, feasible)


def bracket(problem: Problem, upper: float, lower: float, feasible: Solution) -> CertifiedSolution:
    """Make a certificate of two bounds; bounds that contradict each other by more than rounding prove nothing."""
    slack = CONTRADICTION * max(abs(upper), problem.null_risk)
    lower = min(lower, upper) if lower <= upper + slack else 0.0
    return CertifiedSolution(upper, lower, gap_between(problem, upper, lower, problem.y), feasible)


def gap_between(problem: Problem, upper: float, lower: float, y: Array) -> float:
    """Return the relative gap of two bounds, zero where rounding of the targets y explains it."""
    scale = max(abs(upper), abs(lower), FLOOR * problem.null_risk)
    gap = (upper - lower) / scale if upper - lower > problem.loss.rounding(y) else 0.0
    return gap if np.isfinite([upper, lower, gap]).all() else np.inf


def lower_bound(problem: Problem, multipliers: Any, dual: Array | None = None) -> float:
    """Value of a dual feasible point made from approximate multipliers; zero if there are none.

    `dual` is a hint; see :class:`Solution`.
    """
    if multipliers is None:
        return 0.0
    X = problem.centred  # only differences of points count; centred, they do not cancel
    flows = [clean(mu) for mu in multipliers]
    out = [np.asarray(mu.sum(axis=1)).ravel() for mu in flows]
    div = np.array([np.asarray(mu.sum(axis=0)).ravel() - o for mu, o in zip(flows, out, strict=True)])
    mean = problem.by_output(div) * (problem.outputs / len(problem.signs))
    if X.shape[1] == problem.outputs == 1 and dual is not None and all(map(issparse, flows)):
        # Neighbours may be so close that their large flows hide ω in rounding, and cancel in sums: differences first.
        h, mean = np.array([moments(mu, X) for mu in flows]), problem.at_nodes(dual)
        div = np.array([np.asarray((mu - mu.T).sum(axis=0)).ravel() for mu in flows])
    else:
        h = np.array([mu @ X - o[:, None] * X for mu, o in zip(flows, out, strict=True)])
    values = [
        ray.value(_ratio(problem.lam, norm))
        for ray in problem.loss.duals(problem, orthogonal_to_linear(problem, mean), dual)
        for norm in flow_norms(problem, ray.at_points, div, h)
        if np.isfinite(norm)
    ]
    return max([0.0, *(value for value in values if np.isfinite(value))])


def moments(mu: Any, X: Array) -> Array:
    """Σ_i μ_ji (x_i − x_j) for one feature, difference by difference."""
    entries = mu.tocoo()
    j, i = entries.coords
    return np.bincount(j, weights=entries.data * (X[i, 0] - X[j, 0]), minlength=len(X))[:, None]


def flow_norms(problem: Problem, omega: Array, div: Array, h: Array) -> list[float]:
    """Dual norms of flows with divergence ω made in several ways from flows with h and divergence `div`."""
    wanted = problem.to_parts(omega)
    repaired = [h + np.array([route(problem, demand) for demand in wanted - div]) for route in (along_tree, directly)]
    repaired.append(np.array([directly(problem, demand) for demand in wanted]))  # ω alone, on a flow of its own
    return [problem.penalty.dual(excess(flow, problem.slope_sign)) for flow in repaired]


def clean(mu: Any) -> Any:
    """Clip multipliers to μ ≥ 0; what is not a number becomes zero."""
    if isinstance(mu, np.ndarray):
        return np.nan_to_num(np.maximum(mu, 0.0), nan=0.0, posinf=0.0)
    mu = mu.copy()
    mu.data = clean(mu.data)
    return mu


def orthogonal_to_linear(problem: Problem, omega: Array) -> Array:
    """The nearest ω with Σω = 0 and, beside a free linear term, Xᵀω = 0 (or of the sign a monotone feature allows).

    With signs the nearest one is ω + Xν, ν_k of the feature's sign: nonnegative least squares. Its answer is checked;
    the plain projection, Xᵀω = 0, satisfies every sign and stands in where the check fails.
    """
    omega = omega - omega.mean(axis=-1, keepdims=True)
    if not problem.linear:
        return omega
    X, sign = problem.centred - problem.centred.mean(axis=0), problem.monotone  # so that Σω stays zero
    plain = omega - X @ np.linalg.lstsq(X, omega, rcond=None)[0]
    if not sign.any():
        return plain
    design = np.hstack([X * np.where(sign == 0, 1, sign), -X[:, sign == 0]])
    try:
        nearest = omega + design @ nnls(design, -omega)[0]
    except RuntimeError:  # no convergence
        return plain
    moment = X.T @ nearest
    rounding = 1e-12 * np.abs(X).T @ np.abs(omega)
    allowed = np.where(sign == 0, np.abs(moment) <= rounding, sign * moment >= -rounding)
    return nearest if allowed.all() else plain


def directly(problem: Problem, demand: Array) -> Array:
    """Change in h when the flow μ_ji = r⁻_j r⁺_i / Σr⁺ is added, whose divergence is `demand` (which sums to zero)."""
    X = problem.centred
    plus, minus = np.maximum(demand, 0.0), np.maximum(-demand, 0.0)
    total = plus.sum()
    if not total > 0:
        return np.zeros_like(X)
    return minus[:, None] * (plus @ X / total - X)


def along_tree(problem: Problem, demand: Array) -> Array:
    """Change in h when `demand` is routed along the minimum spanning tree of the points.

    Each edge carries what the points below it need in all. Between near-duplicates, where rounding leaves the largest
    mismatch, that flow is almost free.
    """
    child, up, need = tree_flow(problem, demand)
    X, h = problem.centred, np.zeros_like(problem.centred)
    edge = X[child] - X[up]
    np.add.at(h, up, np.maximum(need, 0.0)[:, None] * edge)
    np.add.at(h, child, np.maximum(-need, 0.0)[:, None] * -edge)
    return h


def tree_flow(problem: Problem, demand: Array) -> tuple[IntArray, IntArray, Array]:
    """Route `demand` along the minimum spanning tree: the lower and upper end of each edge, and the flow down it."""
    order, parent = problem.spanning_tree
    if problem.X.shape[1] == 1:  # a chain: all that is needed beyond each point
        return order[1:], parent[order[1:]], np.cumsum(demand[order[::-1]])[::-1][1:]
    need = demand.copy()
    for child in order[:0:-1]:
        need[parent[child]] += need[child]
    return order[1:], parent[order[1:]], need[order[1:]]


def excess(h: Array, slope_sign: Array) -> Array:
    """|h|, less what a sign constraint on the slope forgives: with g ≥ 0 only h < 0 lowers ⟨h, g⟩."""
    return np.where(slope_sign == 0, np.abs(h), np.maximum(-slope_sign * h, 0.0))


def _ratio(a: float, b: float) -> float:
    return a / b if b != 0 else np.inf
