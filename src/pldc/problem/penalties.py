"""The DC seminorms as functions of the slopes of all parts at all points.

Slopes have shape (P, n, d): part, point, feature. A penalty bounds, at every point j, sums of |slope|:

    joint          Σ_p Σ_k |g_pjk| ≤ L        for all j,        penalty L
    componentwise  Σ_p |g_pjk|     ≤ L_k      for all j and k,  penalty Σ_k L_k

Both are written with `rows`: the (n, q) sums, q = 1 or d, whose columns each have one bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pldc.function.checks import shown
from pldc.function.max_affine import Array


class Penalty(ABC):
    """A seminorm of the slopes."""

    name: str

    @abstractmethod
    def rows(self, sizes: Array) -> Array:
        """Sum nonnegative sizes (P, n, d) into the left-hand sides (n, q) of the bounds."""

    @abstractmethod
    def dual(self, sizes: Array) -> float:
        """Dual norm of a slope-shaped array with absolute values `sizes`."""

    @abstractmethod
    def groups(self, slopes: Array) -> Array:
        """Order the slopes (P, n, d) as (q, n, g): what each bound sums at each point."""

    @abstractmethod
    def ungroup(self, groups: Array, shape: tuple[int, ...]) -> Array:
        """Undo `groups`."""

    def prox(self, v: Array, step: float, near: Array | None = None) -> Array:
        """argmin_g step · penalty(g) + ‖g − v‖² / 2; `near` are bounds (q,) close to the answer's, if known."""
        return self.ungroup(prox_of_groups(self.groups(v), step, near), v.shape)

    def bounds(self, slopes: Array) -> Array:
        """L: the smallest bounds (q,) that hold."""
        return np.asarray(self.rows(np.abs(slopes)).max(axis=0))

    def value(self, slopes: Array) -> float:
        """The seminorm."""
        return float(self.bounds(slopes).sum())


@dataclass(frozen=True)
class Joint(Penalty):
    """max_j Σ_p ‖g_pj‖₁: the paper's seminorm."""

    name = "joint"

    def rows(self, sizes: Array) -> Array:
        """Sum over parts and features."""
        return np.asarray(sizes.sum(axis=(0, 2))[:, None])

    def dual(self, sizes: Array) -> float:
        """Σ_j max_{p,k} |h_pjk|."""
        return float(sizes.max(axis=(0, 2)).sum())

    def groups(self, slopes: Array) -> Array:
        """All slopes of a point: (1, n, P d)."""
        return slopes.transpose(1, 0, 2).reshape(1, slopes.shape[1], -1)

    def ungroup(self, groups: Array, shape: tuple[int, ...]) -> Array:
        """(P, n, d) again."""
        P, n, d = shape
        return groups.reshape(n, P, d).transpose(1, 0, 2)


@dataclass(frozen=True)
class Componentwise(Penalty):
    """Σ_k max_j Σ_p |g_pjk|: one bound a feature (the paper's appendix)."""

    name = "componentwise"

    def rows(self, sizes: Array) -> Array:
        """Sum over parts."""
        return np.asarray(sizes.sum(axis=0))

    def dual(self, sizes: Array) -> float:
        """max_k Σ_j max_p |h_pjk|."""
        return float(sizes.max(axis=0).sum(axis=0).max())

    def groups(self, slopes: Array) -> Array:
        """The slopes of a point along one feature: (d, n, P)."""
        return np.ascontiguousarray(slopes.transpose(2, 1, 0))

    def ungroup(self, groups: Array, shape: tuple[int, ...]) -> Array:
        """(P, n, d) again."""
        return groups.transpose(2, 1, 0)


@dataclass(frozen=True)
class EachOutput(Penalty):
    """The sum of one penalty over several outputs, whose parts follow each other."""

    one: Penalty
    outputs: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the penalty of one output."""
        return self.one.name

    def rows(self, sizes: Array) -> Array:
        """Those of every output, side by side."""
        return np.concatenate([self.one.rows(part) for part in self._parts(sizes)], axis=1)

    def dual(self, sizes: Array) -> float:
        """The largest of them all."""
        return max(self.one.dual(part) for part in self._parts(sizes))

    def groups(self, slopes: Array) -> Array:
        """Those of every output, one after the other."""
        return np.concatenate([self.one.groups(part) for part in self._parts(slopes)])

    def ungroup(self, groups: Array, shape: tuple[int, ...]) -> Array:
        """(P, n, d) again."""
        each = (shape[0] // self.outputs, *shape[1:])
        return np.concatenate([self.one.ungroup(part, each) for part in self._parts(groups)])

    def _parts(self, a: Array) -> list[Array]:
        return np.split(a, self.outputs)


def prox_of_groups(v: Array, step: float, near: Array | None = None) -> Array:
    """Minimise step · Σ_r max_j ‖g_rj‖₁ + ‖g − v‖² / 2 for `v` of shape (r, j, g), r separate problems.

    Given the radius L, group j is projected onto the ℓ₁ ball: soft-thresholded by
    τ_j(L) = max(0, max_m (C_jm − L) / m), C_jm the sum of its m largest sizes. The radius solves
    Σ_j τ_j(L) = step: convex and decreasing in L, so Newton's method from L = 0, or from any L ≥ 0 `near` the root
    after one step, climbs to it.
    """
    sizes = np.abs(v)
    C = _cumulative(sizes)  # (m, r, j)
    count = np.arange(1.0, len(C) + 1)[:, None, None]
    L = np.zeros(v.shape[0]) if near is None else np.asarray(near, dtype=np.float64)
    for k in range(100):
        heights = (C - L[:, None]) / count
        tau = heights.max(axis=0)
        two = len(C) == 2  # argmax is slow over so few
        share = 1.0 - 0.5 * (heights[1] > heights[0]) if two else 1.0 / (1 + heights.argmax(axis=0))
        slope = (share * (tau > 0)).sum(axis=1)
        np.maximum(tau, 0.0, out=tau)
        excess = tau.sum(axis=1) - step
        move = np.where(slope > 0, excess / np.where(slope > 0, slope, 1.0), -L)
        if k > 0 or near is None:
            move = np.maximum(move, 0.0)  # the first step from `near` may go back, past the root; then all go up
        moved = np.maximum(L + move, 0.0)
        done = not (np.abs(moved - L) > 4 * np.finfo(float).eps * moved).any()
        L = moved
        if done:
            break
    # Where even L = 0 costs less than `step`, the threshold is the largest size and the group vanishes.
    return np.asarray(np.sign(v) * np.maximum(sizes - tau[..., None], 0.0))


def _cumulative(sizes: Array) -> Array:
    """Sums of the m largest sizes of each group (…, g), from m = 1 on: (g, …)."""
    if sizes.shape[-1] == 2:
        return np.stack([np.maximum(sizes[..., 0], sizes[..., 1]), sizes[..., 0] + sizes[..., 1]])
    return np.cumsum(-np.sort(-np.ascontiguousarray(np.moveaxis(sizes, -1, 0)), axis=0), axis=0)


PENALTIES: dict[str, type[Penalty]] = {kind.name: kind for kind in (Joint, Componentwise)}


def make_penalty(name: str) -> Penalty:
    """Return the penalty called `name`."""
    if not (isinstance(name, str) and name in PENALTIES):
        raise ValueError(f"penalty must be one of {tuple(PENALTIES)}, got {shown(name)}.")
    return PENALTIES[name]()


@dataclass(frozen=True)
class Seminorm:
    """What the program penalises.

    Parameters
    ----------
    norm : {"componentwise", "joint"}, default="componentwise"
        The sum over features of the largest slopes of both parts along them, or the largest sum over all features (the
        paper's).
    free_linear : bool, default=False
        Add a linear term that is not penalised. A large `lam` then gives linear regression instead of a constant. It
        helps when there are many more rows than features and hurts when there are not.
    """

    norm: str = "componentwise"
    free_linear: bool = False

    @property
    def penalty(self) -> Penalty:
        """The penalty of the slopes."""
        return make_penalty(self.norm)


def make_seminorm(penalty: str | Seminorm) -> Seminorm:
    """Return a seminorm: one is returned as it is, a name stands for one without a free linear term."""
    found = penalty if isinstance(penalty, Seminorm) else Seminorm(penalty)
    make_penalty(found.norm)
    if not isinstance(found.free_linear, bool):
        raise ValueError(f"free_linear must be True or False, got {shown(found.free_linear)}.")
    return found
