"""The loss as the interior point sees it: a sum of one-dimensional losses of residuals that are linear in the fit.

A regression has one residual an observation, f − y. The hinge of an observation with label y has one for every other
class c, f_c − f_y + 1, each with the loss max(r, 0): no quadratic part, and a dual variable between 0 and its weight.
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.class_losses import Hinge
from pldc.problem.losses import Loss
from pldc.problem.program import Problem


class Residuals:
    """Residuals of a regression.

    Attributes
    ----------
    weight : array of shape (k,)
    loss : Loss
        Of each residual.
    """

    def __init__(self, problem: Problem):
        assert isinstance(problem.loss, Loss)
        self.problem, self.weight, self.loss = problem, problem.weight, problem.loss

    def __call__(self, fit: Array) -> Array:
        """Residuals of the fit at the points."""
        return self.change(fit) - self.problem.y

    def change(self, fit: Array) -> Array:
        """How the residuals change with the fit."""
        return np.asarray(fit[self.problem.node])

    def adjoint(self, omega: Array) -> Array:
        """Transpose of `change`."""
        return self.problem.at_nodes(omega)

    def curvature(self, psi: Array) -> Array:
        """Weights ψ of the squared changes, as a second derivative in the fit."""
        return self.problem.at_nodes(psi)

    def corrected(self, omega: Array, psi: Array, flow: Array) -> Array:
        """Change ω, in proportion to ψ, so that its adjoint is `flow`."""
        lack = (flow - self.adjoint(omega)) / self.curvature(psi)
        return omega + psi * lack[self.problem.node]

    def dual(self, omega: Array) -> Array | None:
        """ω as a hint for the certificate: regression needs none."""
        return None


class HingeResiduals(Residuals):
    """Residuals of the hinge of several classes."""

    def __init__(self, problem: Problem):
        label = problem.y.astype(np.intp)
        self.row, self.c = np.nonzero(np.arange(problem.outputs) != label[:, None])
        self.y, self.at = label[self.row], problem.node[self.row]
        self.problem, self.weight = problem, problem.weight[self.row]
        self.loss = Loss("hinge", 0.0, 0.0, 1.0)
        labels = np.zeros((problem.outputs, len(problem.X)), dtype=bool)
        labels[label, problem.node] = True
        self.pure = (labels.sum(axis=0) == 1)[self.at]  # residuals at points of one label

    def __call__(self, fit: Array) -> Array:
        """Residuals of the scores at the points."""
        return self.change(fit) + 1.0

    def change(self, fit: Array) -> Array:
        """How the residuals change with the scores."""
        return np.asarray(fit[self.c, self.at] - fit[self.y, self.at])

    def adjoint(self, omega: Array) -> Array:
        """Transpose of `change`."""
        m, n = self.problem.outputs, len(self.problem.X)
        up = np.bincount(self.c * n + self.at, weights=omega, minlength=m * n)
        return np.asarray(up - np.bincount(self.y * n + self.at, weights=omega, minlength=m * n)).reshape(m, n)

    def curvature(self, psi: Array) -> Array:
        """Weights ψ of the squared changes, as (m, m) second derivatives in the scores at each point."""
        m, n = self.problem.outputs, len(self.problem.X)
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

    def dual(self, omega: Array) -> Array | None:
        """ω of every class and observation, per unit of weight."""
        out = np.zeros((self.problem.outputs, len(self.problem.y)))
        out[self.c, self.row] = omega / self.weight
        out[self.problem.y.astype(np.intp), np.arange(out.shape[1])] = -out.sum(axis=0)
        return out

    def _into(self, psi: Array) -> Array:
        """Σψ over the residuals of the same class at the same point."""
        n = len(self.problem.X)
        place = self.c * n + self.at
        return np.asarray(np.bincount(place, weights=psi, minlength=self.problem.outputs * n)[place])


def residuals_of(problem: Problem) -> Residuals:
    """Return the residuals of a problem."""
    if isinstance(problem.loss, Loss):
        return Residuals(problem)
    if isinstance(problem.loss, Hinge):
        return HingeResiduals(problem)
    raise ValueError("The log loss has no form that solver='exact' can use: take solver='admm' or 'auto'.")
