"""Losses of classification: one score f_c for each class, all of them in one term a row.

    hinge   Σ_{c≠y} max(f_c − f_y + 1, 0)          (the paper's)
    log     log Σ_c exp(f_c) − f_y

The dual variables ω of a row sum to zero over the classes. For the hinge ω_c = θ_c in [0, 1] for c ≠ y; for the log
loss ω_c = p_c − [c = y] with p a distribution.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit, xlogy

from pldc.function.max_affine import Array
from pldc.problem.losses.base import Dual, Loss, Observations
from pldc.problem.losses.box_form import HingeResiduals
from pldc.problem.losses.residual import Boxed

NEWTON_STEPS = 60  # at most
TINY = 1e-300
SMALLEST_PROBABILITY = 1e-8
LARGEST_MOVE = 5.0  # of a score at once
DUST = 1e-9  # dual variables below this are what rounding left
ABSENT = 1e-6  # share of a class that is not there
IMBALANCE = 1e-12  # of the dual variables of a class, relative to all: what rounding leaves
FACTORS = (1.0, 0.99, 1.01, 0.95, 1.05, 0.9, 1.1, 0.5, 0.2)  # that scores are multiplied by, the best of which is kept


class ClassLoss(Loss):
    """A loss of the scores of all classes, which have no unit but their own."""

    scores = True
    scales = False
    residual: float  # for each unit of ω, in units of the spread of the scores

    def check(self, y: Array, outputs: int = 1) -> None:
        """Refuse what is no label."""
        super().check(y, outputs)
        if not np.isin(y, np.arange(outputs)).all():
            raise ValueError(f"Labels of {outputs} classes must be 0, 1, …")

    @abstractmethod
    def constants(self, share: Array) -> tuple[Array, Array]:
        """Best constant scores for classes of the given shares, and the ω (label, class) that prove them best."""

    @abstractmethod
    def nearest(self, omega: Array, y: Array, weight: Array) -> Array:
        """Return dual variables near ω (m, o) that are in the domain, with every class in balance: Σ_o w_o ω_oc = 0."""

    def constant(self, data: Observations) -> tuple[Array, Array]:
        """By the weights of the classes."""
        label = data.y.astype(np.intp)
        scores, omega = self.constants(np.bincount(label, weights=data.weight, minlength=data.outputs))
        return scores, data.weight * omega[label].T

    def duals(self, data: Observations, omega: Array, hint: Array | None) -> list[Dual]:
        """Return the guess and the hint, as near as they can be brought into balance."""
        y, w, out = data.y, data.weight, []
        for share in (self.split(data, omega), hint):
            if share is None:
                continue
            near = self.nearest(np.nan_to_num(share / w, nan=0.0, posinf=0.0, neginf=0.0), y, w)
            if np.abs((w * near).sum(axis=1)).max() <= IMBALANCE * np.abs(w * near).sum():
                out.append(Dual(data.at_nodes(w * near), partial(self._best_along, data, near)))
        return out

    def _best_along(self, data: Observations, omega: Array, most: float) -> float:
        return self.reward(omega, data.y, data.weight, most)[0]

    def multiple(self, data: Observations, fit: Array, size: float) -> tuple[float, Array]:
        """Return the best of a few factors; the best constants in place of scores without slopes."""
        if size == 0:
            return 0.0, data.null_fit
        t = min(FACTORS, key=lambda factor: float(data.weight @ self.at(factor * fit, data.y)) + factor * size)
        return t, np.zeros(len(fit))

    def residual_unit(self, y: Array, spread: float) -> float:
        """Scores have no scale but that which λ leaves them: their spread over the points."""
        return self.residual * spread


@dataclass(frozen=True)
class Hinge(ClassLoss):
    """Σ_{c≠y} max(f_c − f_y + 1, 0): the paper's."""

    name = "hinge"
    residual = 6.0
    boxed = True

    def at(self, F: Array, y: Array) -> Array:
        """ℓ."""
        label, at = y.astype(np.intp), np.arange(F.shape[1])
        return np.asarray(np.maximum(F - F[label, at] + 1.0, 0.0).sum(axis=0) - 1.0)

    def prox(self, V: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """Find one root an observation.

        With t = f_y the others are f_c = v_c − step θ_c, θ_c = clip((v_c − t + 1) / step, 0, 1), and t is the root of
        t − v_y − step Σ θ_c, increasing and piecewise linear: its values at the 2 (m − 1) bends show where it lies.
        """
        label, at = y.astype(np.intp), np.arange(V.shape[1])
        v = V[label, at]
        other = np.arange(len(V))[:, None] != label
        above = V.T[other.T].reshape(len(v), -1).T + 1.0  # (m − 1, o): θ_c = 0 from here on, 1 up to `step` below
        bends = np.concatenate([above - step, above])
        order = np.argsort(bends, axis=0)
        bends = np.take_along_axis(bends, order, axis=0)
        slope = 1.0 + np.cumsum(np.where(order < len(above), 1.0, -1.0), axis=0)
        excess = np.empty(bends.shape)
        excess[0] = bends[0] - v - step * len(above)
        excess[1:] = excess[0] + np.cumsum(slope[:-1] * np.diff(bends, axis=0), axis=0)
        last = (excess <= 0).sum(axis=0) - 1  # the last bend below the root; before the first one the slope is one
        k = np.maximum(last, 0)
        t = bends[k, at] - excess[k, at] / np.where(last < 0, 1.0, slope[k, at])
        theta = np.where(other, np.clip((V - t + 1.0) / step, 0.0, 1.0), 0.0)
        out = V - step * theta
        out[label, at] = v + step * theta.sum(axis=0)
        return out

    def constants(self, share: Array) -> tuple[Array, Array]:
        """By a linear program."""
        there = np.flatnonzero(share > 0)
        m = len(there)
        y, c = (a.ravel() for a in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
        y, c = y[y != c], c[y != c]
        k = np.arange(len(y))
        A = np.zeros((len(y), m + len(y)))
        A[k, c], A[k, y], A[k, m + k] = 1.0, -1.0, -1.0
        bounds = [*[(None, None)] * m, *[(0.0, None)] * len(y)]
        cost = np.concatenate([np.zeros(m), share[there][y]])
        found = linprog(cost, A, -np.ones(len(y)), bounds=bounds, method="highs")
        theta = np.zeros((len(share), len(share)))
        theta[there[y], there[c]] = np.clip(-found.ineqlin.marginals / share[there][y], 0.0, 1.0)
        b = np.full(len(share), found.x[:m].min(initial=0.0) - 1.0)
        b[there] = found.x[:m]
        return b - b[there].mean(), theta - np.diag(theta.sum(axis=1))

    def gradient(self, F: Array, y: Array) -> Array:
        """One for every class within the margin."""
        label, at = y.astype(np.intp), np.arange(F.shape[1])
        omega = (F - F[label, at] + 1.0 > 0).astype(np.float64)
        omega[label, at] = 0.0
        omega[label, at] = -omega.sum(axis=0)
        return omega

    def nearest(self, omega: Array, y: Array, weight: Array) -> Array:
        """Clip θ to its box, and multiply by factors near one."""
        label, at = y.astype(np.intp), np.arange(omega.shape[1])
        theta = np.clip(omega, 0.0, 1.0)
        theta[label, at] = 0.0
        theta = balanced(theta, label, weight)
        if theta.max(initial=0.0) < DUST:
            theta[:] = 0.0
        theta /= max(1.0, float(theta.max(initial=0.0)))
        theta[label, at] = -theta.sum(axis=0)
        return theta

    def conjugate(self, omega: Array, y: Array) -> Array:
        """−Σ θ_c in the box."""
        theta = others(omega, y)
        inside = ((theta >= 0) & (theta <= 1)).all(axis=0) & (np.abs(omega.sum(axis=0)) <= DUST)
        return np.where(inside, -theta.sum(axis=0), np.inf)

    def room(self, omega: Array, y: Array | None = None) -> float:
        """Return the t of the largest θ."""
        return 1.0 / max(float(others(omega, y).max(initial=0.0)), TINY)

    def reward(self, omega: Array, y: Array, weight: Array, most: float) -> tuple[float, float]:
        """−ℓ* is linear: as far as there is room."""
        t = min(most, self.room(omega, y))
        return t * float(weight @ others(omega, y).sum(axis=0)), t

    def split(self, data: Observations, omega: Array) -> Array:
        """Give every observation at a point the same ω; where labels meet, other hints may be better."""
        return np.asarray(data.weight * (omega / data.node_weight)[:, data.node])

    def box_form(self, data: Observations) -> HingeResiduals:
        """One residual for every other class, without a quadratic part."""
        return HingeResiduals(data, Boxed(0.0, 0.0, 1.0))


@dataclass(frozen=True)
class LogLoss(ClassLoss):
    """log Σ_c exp(f_c) − f_y: softmax of the scores are probabilities."""

    name = "log"
    residual = 10.0
    gives_probabilities = True

    def at(self, F: Array, y: Array) -> Array:
        """ℓ."""
        return log_sum(F) - F[y.astype(np.intp), np.arange(F.shape[1])]

    def both(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return ℓ and ω for scores (…, m, o) of many fits; one score alone is label 1's, less label 0's."""
        label, at = y.astype(np.intp), np.arange(F.shape[-1])
        if F.shape[-2] == 1:
            sign = (1 - 2 * label).astype(F.dtype)
            p = expit(sign * F)
            return np.asarray(np.logaddexp(0.0, sign * F)[..., 0, :]), sign * p
        F = F - F.max(axis=-2, keepdims=True)
        p = np.exp(F)
        total = p.sum(axis=-2, keepdims=True)
        value = np.log(total[..., 0, :]) - F[..., label, at]
        p /= total
        p[..., label, at] -= 1.0
        return value, p

    def prox(self, V: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """Take Newton's steps from `near`, or else from V, halved where they do not descend."""
        label, at = y.astype(np.intp), np.arange(V.shape[1])
        F = V if near is None else near
        value = step * self.at(F, y) + 0.5 * ((F - V) ** 2).sum(axis=0)
        largest = np.abs(V).max(axis=0)
        rounding = 1e-12 * (1.0 + step + largest)
        for _ in range(NEWTON_STEPS):
            p = softmax(F)
            gradient = F - V + step * p
            gradient[label, at] -= step
            if not (np.abs(gradient) > rounding).any():
                break
            D = 1.0 / (1.0 + step * p)  # the Hessian is diag(1/D) − step p p'
            Dp = D * p
            move = D * gradient
            move = move + Dp * (step * (p * move).sum(axis=0) / (1.0 - step * (p * Dp).sum(axis=0)))
            length = np.ones(V.shape[1])
            for _ in range(30):
                new = F - length * move
                after = step * self.at(new, y) + 0.5 * ((new - V) ** 2).sum(axis=0)
                worse = after > value + 1e-14 * (1.0 + np.abs(value) + step * largest)
                if not worse.any():
                    break
                length = np.where(worse, 0.5 * length, length)
            F, value = new, after
        return F

    def constants(self, share: Array) -> tuple[Array, Array]:
        """Logarithms of the shares."""
        b = np.log(np.maximum(share, ABSENT))
        return b - b.mean(), share - np.eye(len(share))

    def gradient(self, F: Array, y: Array) -> Array:
        """P − [c = y]."""
        p = softmax(F)
        p[y.astype(np.intp), np.arange(F.shape[1])] -= 1.0
        return p

    def nearest(self, omega: Array, y: Array, weight: Array) -> Array:
        """Multiply probabilities by a factor for each class."""
        label, at = y.astype(np.intp), np.arange(omega.shape[1])
        wanted = np.bincount(label, weights=weight, minlength=len(omega))
        there = np.flatnonzero(wanted > 0)
        p = omega.copy()
        p[label, at] += 1.0
        q = tilted(np.log(np.maximum(p[there], SMALLEST_PROBABILITY)), wanted[there], weight)
        out = np.zeros_like(omega)
        out[there] = q
        out[label, at] -= 1.0
        return out

    def conjugate(self, omega: Array, y: Array) -> Array:
        """Σ p log p; what is outside of [0, 1], for rounding, is cut off."""
        p = omega.copy()
        p[y.astype(np.intp), np.arange(omega.shape[1])] += 1.0
        p = np.clip(p, 0.0, 1.0)
        return np.asarray(xlogy(p, p).sum(axis=0))

    def room(self, omega: Array, y: Array | None = None) -> float:
        """Return one: that ω is in the domain is taken for granted."""
        return 1.0

    def split(self, data: Observations, omega: Array) -> Array:
        """Observations at a point have the same probabilities: exact."""
        own = (np.arange(data.outputs)[:, None] == data.y).astype(np.float64)
        p = (omega + data.at_nodes(data.weight * own)) / data.node_weight
        return np.asarray(data.weight * (p[:, data.node] - own))


def others(omega: Array, y: Array | None) -> Array:
    """Return ω with zero in place of that of the label."""
    return np.where(np.arange(len(omega))[:, None] == y, 0.0, omega)


def log_sum(F: Array) -> Array:
    """Return log Σ_c exp(F_c) of every column: SciPy's is slow on few numbers."""
    top = F.max(axis=0)
    return np.asarray(top + np.log(np.exp(F - top).sum(axis=0)))


def softmax(F: Array) -> Array:
    """Return exp(F) with columns that sum to one."""
    p = np.exp(F - F.max(axis=0))
    return np.asarray(p / p.sum(axis=0))


def tilted(F: Array, wanted: Array, weight: Array) -> Array:
    """Return softmax(F + b) with b such that the class weights are `wanted`: Newton's method on a convex function."""
    b = np.zeros(len(F))

    def value(v: Array) -> float:
        return float(weight @ log_sum(F + v[:, None]) - wanted @ v)

    current = value(b)
    for _ in range(NEWTON_STEPS):
        p = softmax(F + b[:, None])
        excess = p @ weight - wanted
        if np.abs(excess).max() <= 1e-15 * weight.sum():
            break
        H = np.diag(p @ weight) - (p * weight) @ p.T
        move = np.linalg.lstsq(H, excess, rcond=1e-14)[0]
        move *= min(1.0, LARGEST_MOVE / max(float(np.abs(move).max()), TINY))
        length = 1.0
        while length > 1e-6 and not value(b - length * move) <= current + 1e-15 * abs(current):
            length *= 0.5
        if length <= 1e-6:  # no descent along Newton's direction: scale every class to its weight instead
            move, length = np.log(np.maximum(p @ weight, TINY) / wanted), 1.0
        b = b - length * move
        current = value(b)
    return softmax(F + b[:, None])


def balanced(theta: Array, label: Array, weight: Array) -> Array:
    """Multiply θ (class, observation) by factors near one, one for each (label, class), that balance every class.

    T[y, c] = Σ_o w_o θ_oc over the rows of label y must have equal row and column sums. With potentials π the entry
    is multiplied by 1 + π_y − π_c; each round solves the Laplacian system of T.
    """
    m = len(theta)
    for _ in range(20):
        T = np.zeros((m, m))
        np.add.at(T, label, (weight * theta).T)
        lack = T.sum(axis=0) - T.sum(axis=1)
        if np.abs(lack).max(initial=0.0) <= 1e-15 * T.sum():
            break
        both = T + T.T
        pi = np.linalg.lstsq(np.diag(both.sum(axis=1)) - both, lack, rcond=1e-12)[0]
        theta = theta * np.clip(1.0 + pi[label] - pi[:, None], 0.0, 2.0)
    return theta
