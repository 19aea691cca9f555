"""Losses of classification: one score f_c for each class, all of them in one term a row.

    hinge   Σ_{c≠y} max(f_c − f_y + 1, 0)          (the paper's)
    log     log Σ_c exp(f_c) − f_y

Scores have shape (m, o): class, observation; labels are 0 … m − 1. The dual variables of a row are ω_c = ∂ℓ/∂f_c, which
sum to zero over the classes: for the hinge ω_c = θ_c in [0, 1] for c ≠ y, for the log loss ω_c = p_c − [c = y] with p a
distribution. What −ℓ* earns at ω is `reward`; `nearest` is a point of that domain near any ω.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.special import xlogy

from pldc.function.max_affine import Array

ROUNDS = 60  # of Newton's method, at most
TINY = 1e-300
SMALLEST = 1e-8  # probability
FARTHEST = 5.0  # that a score is moved at once
DUST = 1e-9  # dual variables below this are what rounding left
RARE = 1e-6  # share of a class that is not there


@dataclass(frozen=True)
class Hinge:
    """Σ_{c≠y} max(f_c − f_y + 1, 0)."""

    name = "hinge"

    def at(self, F: Array, y: Array) -> Array:
        """Loss of the scores F (m, o) of observations with labels y."""
        label, at = y.astype(np.intp), np.arange(F.shape[1])
        return np.asarray(np.maximum(F - F[label, at] + 1.0, 0.0).sum(axis=0) - 1.0)

    def prox(self, V: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """argmin_F step · ℓ(F) + ‖F − V‖² / 2, observation by observation.

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
        """Best constant scores for classes of the given shares, and the ω (label, class) that prove them best."""
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

    def dual_at(self, F: Array, y: Array) -> Array:
        """A subgradient ω (m, o)."""
        label, at = y.astype(np.intp), np.arange(F.shape[1])
        omega = (F - F[label, at] + 1.0 > 0).astype(np.float64)
        omega[label, at] = 0.0
        omega[label, at] = -omega.sum(axis=0)
        return omega

    def nearest(self, omega: Array, y: Array, weight: Array) -> Array:
        """θ in the box with every class in balance, Σ_o w_o ω_oc = 0, near the given ω (m, o)."""
        label, at = y.astype(np.intp), np.arange(omega.shape[1])
        theta = np.clip(omega, 0.0, 1.0)
        theta[label, at] = 0.0
        theta = balanced(theta, label, weight)
        if theta.max(initial=0.0) < DUST:
            theta[:] = 0.0
        theta /= max(1.0, float(theta.max(initial=0.0)))
        theta[label, at] = -theta.sum(axis=0)
        return theta

    def reward(self, omega: Array, y: Array, weight: Array, most: float) -> tuple[float, float]:
        """Best value of −ℓ* along t · ω for 0 ≤ t ≤ `most`, and its t."""
        label = y.astype(np.intp)
        theta = np.where(np.arange(len(omega))[:, None] == label, 0.0, omega)
        t = min(most, 1.0 / max(float(theta.max(initial=0.0)), TINY))
        return t * float(weight @ theta.sum(axis=0)), t


@dataclass(frozen=True)
class LogLoss:
    """Log Σ_c exp(f_c) − f_y."""

    name = "log"

    def at(self, F: Array, y: Array) -> Array:
        """Loss of the scores F (m, o) of observations with labels y."""
        return log_sum(F) - F[y.astype(np.intp), np.arange(F.shape[1])]

    def prox(self, V: Array, y: Array, step: Array, near: Array | None = None) -> Array:
        """argmin_F step · ℓ(F) + ‖F − V‖² / 2: Newton's method, halved where it does not descend.

        It begins at `near`, if something close to the answer is known, else at V.
        """
        label, at = y.astype(np.intp), np.arange(V.shape[1])
        F = V if near is None else near
        value = step * self.at(F, y) + 0.5 * ((F - V) ** 2).sum(axis=0)
        largest = np.abs(V).max(axis=0)
        rounding = 1e-12 * (1.0 + step + largest)
        for _ in range(ROUNDS):
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
        """Best constant scores for classes of the given shares, and the ω (label, class) there."""
        b = np.log(np.maximum(share, RARE))
        return b - b.mean(), share - np.eye(len(share))

    def dual_at(self, F: Array, y: Array) -> Array:
        """The gradient ω (m, o)."""
        p = softmax(F)
        p[y.astype(np.intp), np.arange(F.shape[1])] -= 1.0
        return p

    def nearest(self, omega: Array, y: Array, weight: Array) -> Array:
        """P − [c = y] with p a distribution and every class in balance, near the given ω (m, o)."""
        label, at = y.astype(np.intp), np.arange(omega.shape[1])
        wanted = np.bincount(label, weights=weight, minlength=len(omega))
        there = np.flatnonzero(wanted > 0)
        p = omega.copy()
        p[label, at] += 1.0
        q = tilted(np.log(np.maximum(p[there], SMALLEST)), wanted[there], weight)
        out = np.zeros_like(omega)
        out[there] = q
        out[label, at] -= 1.0
        return out

    def reward(self, omega: Array, y: Array, weight: Array, most: float) -> tuple[float, float]:
        """Best value of −ℓ* along t · ω for 0 ≤ t ≤ `most`, and its t: concave in t."""
        label, at = y.astype(np.intp), np.arange(omega.shape[1])
        own = np.zeros_like(omega)
        own[label, at] = 1.0

        def value(t: float) -> float:
            p = np.clip(own + t * omega, 0.0, 1.0)
            return -float(weight @ xlogy(p, p).sum(axis=0))

        low, high = 0.0, min(most, 1.0)
        for _ in range(60):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if value(a) < value(b) else (low, b)
        best = max((min(most, 1.0), 0.5 * (low + high)), key=value)
        return value(best), best


ClassLoss = Hinge | LogLoss
CLASS_LOSSES = ("hinge", "log")


def make_class_loss(name: Any) -> ClassLoss:
    """Return the loss called `name`."""
    if name == "hinge":
        return Hinge()
    if name == "log":
        return LogLoss()
    raise ValueError(f"loss must be one of {CLASS_LOSSES}, got {name!r}.")


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
    for _ in range(ROUNDS):
        p = softmax(F + b[:, None])
        excess = p @ weight - wanted
        if np.abs(excess).max() <= 1e-15 * weight.sum():
            break
        H = np.diag(p @ weight) - (p * weight) @ p.T
        move = np.linalg.lstsq(H, excess, rcond=1e-14)[0]
        move *= min(1.0, FARTHEST / max(float(np.abs(move).max()), TINY))
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
