"""What losses of one value f an observation share, whatever their formula."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.losses.base import ROUNDING_OF_Y, Dual, Loss, Observations

RESIDUAL = 0.3  # expected size of a residual, in units of a target that has a standard deviation of one
REWEIGHTINGS = 8  # of the least squares that scales and shifts a fit


class ValueLoss(Loss):
    """A loss of one value. Its ℓ* has the same domain for all y, but for the ends."""

    @abstractmethod
    def fit_at(self, omega: Array, y: Array) -> Array:
        """Return f with derivative ω."""

    @abstractmethod
    def irls_weight(self, f: Array, y: Array) -> Array:
        """Return k > 0 with ω = k · (f − y): the weights of least squares that the loss amounts to near f."""

    def constant(self, data: Observations) -> tuple[float, Array]:
        """Bisect on the derivative; at a kink of the loss any derivative between those of both sides will do."""
        y, w = data.y, data.weight
        lo, hi = float(y.min()), float(y.max())
        for _ in range(100):
            mid = 0.5 * lo + 0.5 * hi
            rising = float(w @ self.gradient(np.full(len(y), mid), y)) >= 0
            lo, hi = (lo, mid) if rising else (mid, hi)
        best = min(lo, hi, key=lambda c: float(w @ self.at(np.full(len(y), c), y)))
        share = w * self.gradient(np.full(len(y), best), y)
        met = np.abs(best - y) <= ROUNDING_OF_Y * np.abs(y).max()
        if met.any():
            share[met] = -w[met] / w[met].sum() * share[~met].sum()
        return best, share

    def split(self, data: Observations, omega: Array) -> Array:
        """Distribute ω of each point over its observations: the best way, w_o ω_o for one common f.

        The common f is found by bisection; between the last two values the shares are interpolated, which keeps each
        in its domain and their sum exact whatever the accuracy of f.
        """
        node, w, y, n = data.node, data.weight, data.y, len(data.node_weight)
        if len(y) == n:
            return omega[node]
        alone = self.fit_at((omega / data.node_weight)[node], y)
        rank = np.lexsort((alone, node))
        starts = np.searchsorted(node[rank], np.arange(n))
        ends = np.append(starts[1:], len(y)) - 1
        margin = np.ptp(y) + np.abs(y).max() + np.finfo(float).tiny
        lo, hi = alone[rank][starts] - margin, alone[rank][ends] + margin

        def share(f: Array) -> Array:
            return w * self.gradient(f[node], y)

        for _ in range(80):
            mid = 0.5 * (lo + hi)
            low = data.at_nodes(share(mid)) < omega
            lo, hi = np.where(low, mid, lo), np.where(low, hi, mid)
        at_lo, at_hi = share(lo), share(hi)
        sum_lo, sum_hi = data.at_nodes(at_lo), data.at_nodes(at_hi)
        spread = sum_hi - sum_lo
        part = np.clip(np.where(spread > 0, (omega - sum_lo) / np.where(spread > 0, spread, 1.0), 0.0), 0.0, 1.0)[node]
        shares = (1 - part) * at_lo + part * at_hi
        # Rounding may leave the sum off by an ulp; all observations of the point share it.
        return shares + w / data.node_weight[node] * (omega - data.at_nodes(shares))[node]

    def duals(self, data: Observations, omega: Array, hint: Array | None) -> list[Dual]:
        """Return the ray of ω itself: its sums at the points determine the best shares, and no hint is needed."""
        return [Dual(omega, partial(self._best_along, data, omega))]

    def _best_along(self, data: Observations, omega: Array, most: float) -> float:
        t = min(1.0, most, self.room(omega / data.node_weight))
        if not (t > 0 and np.isfinite(omega).all()):
            return 0.0
        share = self.split(data, t * omega) / data.weight
        y = data.y - data.null_fit if self.shifts else data.y  # the shares sum to zero: a shift saves digits
        return self.reward(share, y, data.weight, most / t)[0]

    def multiple(self, data: Observations, fit: Array, size: float) -> tuple[float, float]:
        """Reweighted least squares of y on the fit, exact in one step for a quadratic loss; the best of all steps."""
        w, y = data.weight, data.y
        best, t, b = (float(w @ self.at(fit, y)) + size, 1.0, 0.0), 1.0, 0.0
        for _ in range(1 if self.quadratic else REWEIGHTINGS):
            k = w * self.irls_weight(t * fit + b, y)
            total = k.sum()
            k /= total
            fc, yc = fit - k @ fit, y - k @ y
            spread = float(k @ fc**2)
            t = max(0.0, float(k @ (fc * yc)) - size / total) / spread if spread > 0 else 0.0
            b = float(k @ (y - t * fit))
            value = float(w @ self.at(t * fit + b, y)) + t * size
            if value < best[0]:
                best = (value, t, b)
        return best[1], best[2]

    def residual_unit(self, y: Array, spread: float) -> float:
        """Return what is expected of a residual in scaled numbers, less where outliers inflate their scale."""
        deviation = float(np.std(y))
        return RESIDUAL * spread / deviation if spread > 0 and deviation > 0 else RESIDUAL
