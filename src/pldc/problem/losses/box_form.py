"""A loss as the interior points see it: a sum of one-dimensional losses of residuals that are linear in the fit.

A regression has one residual an observation, f − y. The hinge of an observation with label y has one for every other
class c, f_c − f_y + 1, each with the loss max(r, 0): no quadratic part, and a dual variable between 0 and its weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.losses.base import Observations

if TYPE_CHECKING:
    from pldc.problem.losses.residual import ResidualLoss


class Residuals:
    """Residuals of a regression.

    Attributes
    ----------
    weight : array of shape (k,)
    loss : ResidualLoss
        Of each residual.
    """

    weight: Array

    def __init__(self, data: Observations, loss: ResidualLoss):
        self.data, self.weight, self.loss = data, data.weight, loss

    def __call__(self, fit: Array) -> Array:
        """Residuals of the fit at the points."""
        return self.change(fit) - self.data.y

    def change(self, fit: Array) -> Array:
        """How the residuals change with the fit."""
        return np.asarray(fit[self.data.node])

    def adjoint(self, omega: Array) -> Array:
        """Transpose of `change`."""
        return self.data.at_nodes(omega)

    def curvature(self, psi: Array) -> Array:
        """Weights ψ of the squared changes, as a second derivative in the fit."""
        return self.data.at_nodes(psi)

    def corrected(self, omega: Array, psi: Array, flow: Array) -> Array:
        """Change ω, in proportion to ψ, so that its adjoint is `flow`."""
        lack = (flow - self.adjoint(omega)) / self.curvature(psi)
        return omega + psi * lack[self.data.node]

    def level(self, fit: Array) -> Any:
        """Return what to add to the fit for residuals around zero."""
        return float(self.weight @ (self.data.y - fit[self.data.node]))

    def dual(self, omega: Array) -> Array | None:
        """Shares of the observations as a hint for the certificate: regression needs none."""
        return None


class HingeResiduals(Residuals):
    """Residuals of the hinge of several classes."""

    def __init__(self, data: Observations, loss: ResidualLoss):
        label = data.y.astype(np.intp)
        self.row, self.c = np.nonzero(np.arange(data.outputs) != label[:, None])
        self.y, self.at = label[self.row], data.node[self.row]
        self.data, self.weight, self.loss = data, data.weight[self.row], loss
        self.shape = data.outputs, len(data.node_weight)
        labels = np.zeros(self.shape, dtype=bool)
        labels[label, data.node] = True
        self.pure = (labels.sum(axis=0) == 1)[self.at]  # residuals at points of one label

    def __call__(self, fit: Array) -> Array:
        """Residuals of the scores at the points."""
        return self.change(fit) + 1.0

    def change(self, fit: Array) -> Array:
        """How the residuals change with the scores."""
        return np.asarray(fit[self.c, self.at] - fit[self.y, self.at])

    def adjoint(self, omega: Array) -> Array:
        """Transpose of `change`."""
        m, n = self.shape
        up = np.bincount(self.c * n + self.at, weights=omega, minlength=m * n)
        return np.asarray(up - np.bincount(self.y * n + self.at, weights=omega, minlength=m * n)).reshape(m, n)

    def curvature(self, psi: Array) -> Array:
        """Weights ψ of the squared changes, as (m, m) second derivatives in the scores at each point."""
        m, n = self.shape
        out = np.zeros(n * m * m)
        for a, b, sign in (
            (self.c, self.c, 1.0),
            (self.y, self.y, 1.0),
            (self.c, self.y, -1.0),
            (self.y, self.c, -1.0),
        ):
            out += np.bincount((self.at * m + a) * m + b, weights=sign * psi, minlength=n * m * m)
        return out.reshape(n, m, m)

    def corrected(self, omega: Array, psi: Array, flow: Array) -> Array:
        """Where a point has one label, the flow into another class is the ω of that class; elsewhere no change."""
        lack = (flow - self.adjoint(omega))[self.c, self.at]
        return omega + np.where(self.pure, psi * lack / np.maximum(self._into(psi), 1e-300), 0.0)

    def level(self, fit: Array) -> Any:
        """Return what to add to the scores to have the best constants on average."""
        return self.data.null_fit - fit.mean(axis=1)

    def dual(self, omega: Array) -> Array | None:
        """Shares of every class and observation."""
        out = np.zeros((self.shape[0], len(self.data.y)))
        out[self.c, self.row] = omega
        out[self.data.y.astype(np.intp), np.arange(out.shape[1])] = -out.sum(axis=0)
        return out

    def _into(self, psi: Array) -> Array:
        """Σψ over the residuals of the same class at the same point."""
        place = self.c * self.shape[1] + self.at
        return np.asarray(np.bincount(place, weights=psi)[place])
