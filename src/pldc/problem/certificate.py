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
from pldc.problem.class_losses import ClassLoss
from pldc.problem.losses import Loss
from pldc.problem.program import ROUNDING_OF_Y, Problem, Solution
from pldc.problem.repair import repair

# The gap is relative to the objective, but never to less than this share of the loss of the best constant: an objective
# of zero (a target that is exactly constant, or exactly linear beside a free linear term) has no relative gap.
FLOOR = 1e-9
CONTRADICTION = 1e-9
IMBALANCE = 1e-12  # of the dual variables of a class, relative to all: what rounding leaves


@dataclass(frozen=True)
class Certificate:
    """Proof of near-optimality: lower ≤ optimum ≤ upper.

    Attributes
    ----------
    upper : float
        Objective of `solution`, which satisfies every constraint.
    lower : float
        No function of the class has an objective below this.
    gap : float
        (upper − lower) / max(upper, lower), but no less than 1e-9 of the objective of the best constant below the line.
    solution : Solution
        The feasible point that attains `upper`.
    """

    upper: float
    lower: float
    gap: float
    solution: Solution = field(repr=False, compare=False)


def certify(problem: Problem, solution: Solution) -> Certificate:
    """Bound the optimum of `problem` from both sides, starting from any iterate."""
    feasible = replace(repair(problem, solution), multipliers=solution.multipliers, dual=solution.dual)
    lower = lower_bound(problem, solution.multipliers, solution.dual)
    return bracket(problem, problem.objective(feasible), lower, feasible)


def bracket(problem: Problem, upper: float, lower: float, feasible: Solution) -> Certificate:
    """Make a certificate of two bounds; bounds that contradict each other by more than rounding prove nothing."""
    slack = CONTRADICTION * max(abs(upper), problem.null_risk)
    lower = min(lower, upper) if lower <= upper + slack else 0.0
    scale = max(abs(upper), abs(lower), FLOOR * problem.null_risk)
    gap = (upper - lower) / scale if upper - lower > rounding_of_loss(problem) else 0.0
    return Certificate(upper, lower, gap if np.isfinite([upper, lower, gap]).all() else np.inf, feasible)


def rounding_of_loss(problem: Problem) -> float:
    """Return the loss of residuals that are rounding errors of y: what an exact fit may have."""
    error = ROUNDING_OF_Y * float(np.abs(problem.y).max())
    return float(max(problem.loss.value([error, -error]))) if isinstance(problem.loss, Loss) else 0.0


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
    if X.shape[1] == 1 and dual is not None and isinstance(problem.loss, Loss) and all(map(issparse, flows)):
        # Neighbours may be so close that their large flows hide ω in rounding, and cancel in sums: differences first.
        h, mean = np.array([moments(mu, X) for mu in flows]), dual
        div = np.array([np.asarray((mu - mu.T).sum(axis=0)).ravel() for mu in flows])
    else:
        h = np.array([mu @ X - o[:, None] * X for mu, o in zip(flows, out, strict=True)])
    if isinstance(problem.loss, Loss):
        omega = orthogonal_to_linear(problem, mean)
        return max(dual_value(problem, omega, norm) for norm in flow_norms(problem, omega, div, h))
    hints = [share for share in (observed_dual(problem, problem.loss, mean), dual) if share is not None]
    return max(class_dual_value(problem, problem.loss, share, div, h) for share in hints)


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


def class_dual_value(problem: Problem, loss: ClassLoss, share: Array, div: Array, h: Array) -> float:
    """Value of the dual at ω near `share` (m, o), per unit of weight; zero where it cannot be brought into balance."""
    w = problem.weight
    share = loss.nearest(np.nan_to_num(share, nan=0.0, posinf=0.0, neginf=0.0), problem.y, w)
    mass = w * share
    if not np.abs(mass.sum(axis=1)).max() <= IMBALANCE * np.abs(mass).sum():
        return 0.0
    norm = min(flow_norms(problem, problem.at_nodes(mass), div, h))
    value = loss.reward(share, problem.y, w, _ratio(problem.lam, norm))[0] if np.isfinite(norm) else 0.0
    return value if np.isfinite(value) else 0.0


def observed_dual(problem: Problem, loss: ClassLoss, omega: Array) -> Array:
    """Guess the dual variable (m, o) of each observation, per unit of weight, from ω (m, n) at the points.

    Where labels meet at a point all have the same probabilities under the log loss, and this is exact; under the hinge
    it is not, and other hints may be better.
    """
    at_point = (omega / problem.node_weight)[:, problem.node]
    if loss.name == "hinge":
        return at_point
    own = (np.arange(problem.outputs)[:, None] == problem.y).astype(np.float64)
    return np.asarray(at_point + (problem.at_nodes(problem.weight * own) / problem.node_weight)[:, problem.node] - own)


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
    omega = omega - omega.mean()
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


def dual_value(problem: Problem, omega: Array, norm: float) -> float:
    """Best value of the dual on the ray t · ω, t ≤ λ / norm; zero if ω or the norm is not a finite number."""
    if not (np.isfinite(norm) and np.isfinite(omega).all()):
        return 0.0
    loss, w = problem.residual_loss, problem.weight
    largest = min(1.0, _ratio(problem.lam, norm), room_in_box(problem, omega, problem.node_weight))
    share = split(problem, largest * omega)
    # On this fixed split the value along s · share is −ε s² Σ share²/(2w) − s Σ share y, a parabola.
    bend = loss.softness * float((share**2 / w).sum())
    push = -float(share @ (problem.y - problem.null_fit))
    if not push > 0:
        return 0.0
    s_max = min(_ratio(problem.lam, largest * norm), room_in_box(problem, share, w))
    s = min(s_max, _ratio(push, bend))
    value = s * push - 0.5 * bend * s**2
    return value if np.isfinite(value) else 0.0


def room_in_box(problem: Problem, omega: Array, weight: Array) -> float:
    """Largest t with −down ≤ t ω / weight ≤ up."""
    loss = problem.residual_loss
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        limit = np.where(omega > 0, loss.up * weight / omega, np.where(omega < 0, -loss.down * weight / omega, np.inf))
    return float(limit.min())


def split(problem: Problem, omega: Array) -> Array:
    """Distribute ω of each point over its observations: the best way, ω_o = w_o ℓ'(f − y_o) for one common f.

    The common f is found by bisection; between the last two values the shares are interpolated, which keeps each
    in its box and their sum exact whatever the accuracy of f.
    """
    node, w, y, loss = problem.node, problem.weight, problem.y, problem.residual_loss
    if len(y) == len(problem.X):
        return omega[node]
    rank = np.lexsort((y, node))
    starts = np.searchsorted(node[rank], np.arange(len(problem.X)))
    ends = np.append(starts[1:], len(y)) - 1
    mean = omega / problem.node_weight
    margin = np.ptp(y) + np.abs(y).max() + np.finfo(float).tiny + loss.softness * np.abs(mean)
    lo, hi = y[rank][starts] - margin, y[rank][ends] + margin

    def share(f: Array) -> Array:
        return w * loss.derivative(f[node] - y)

    for _ in range(80):
        mid = 0.5 * (lo + hi)
        low = problem.at_nodes(share(mid)) < omega
        lo, hi = np.where(low, mid, lo), np.where(low, hi, mid)
    at_lo, at_hi = share(lo), share(hi)
    sum_lo, sum_hi = problem.at_nodes(at_lo), problem.at_nodes(at_hi)
    spread = sum_hi - sum_lo
    part = np.clip(np.where(spread > 0, (omega - sum_lo) / np.where(spread > 0, spread, 1.0), 0.0), 0.0, 1.0)[node]
    shares = (1 - part) * at_lo + part * at_hi
    # Rounding may leave the sum off by an ulp; all observations of the point share it.
    return shares + w / problem.node_weight[node] * (omega - problem.at_nodes(shares))[node]


def _ratio(a: float, b: float) -> float:
    return a / b if b != 0 else np.inf
