"""The Newton system of several classes: one elimination for each class, then one dense matrix over all scores.

The loss couples the scores of the classes at a point, and nothing else does. So every class has a :class:`Newton` of
its own, without a loss; its second part, bounds and slopes are eliminated, which leaves an (n, n) matrix on its scores.
These stand on the diagonal of the matrix of order m·n to which the loss adds an (m, m) block at every point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve

from pldc.function.max_affine import Array
from pldc.problem.penalties import EachOutput
from pldc.problem.program import Problem
from pldc.solve.newton import Newton, Variables, refined, regularised_cholesky
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.workers import Workers


class ClassNewton:
    """The system at given weights, with the interface of :class:`Newton`.

    Parameters
    ----------
    problem, pairs, workers, theta, gamma, p_plus, p_minus
        As for :class:`Newton`, the parts and bounds of all classes one after the other.
    psi : array of shape (n, m, m)
        Second derivative of the loss in the scores at each point.
    """

    def __init__(
        self,
        problem: Problem,
        pairs: AllPairs | WorkingSet,
        workers: Workers,
        theta: Array,
        gamma: Array,
        p_plus: Array,
        p_minus: Array,
        psi: Array,
    ):
        assert isinstance(problem.penalty, EachOutput)
        self.problem, self.psi, self.m = problem, psi, problem.outputs
        single = replace(problem, outputs=1, penalty=problem.penalty.one)
        nothing = np.zeros(problem.X.shape[1])
        self.parts = np.split(np.arange(len(problem.signs)), self.m)
        rows: Sequence[AllPairs | WorkingSet] = pairs.split(self.m)
        self.classes = [
            Newton(single, of_class, workers, theta[at], weight, p_plus[at], p_minus[at], None, nothing)
            for at, of_class, weight in zip(self.parts, rows, np.split(gamma, self.m, axis=1), strict=True)
        ]
        self._factor()

    def _factor(self) -> None:
        """Eliminate all but the scores of each class, and factor what is left."""
        m, n = self.m, len(self.problem.X)
        K, size = np.zeros((m * n, m * n)), np.empty(m * n)
        self.inner = []
        for c, one in enumerate(self.classes):
            H, at = one.H, slice(c * n, (c + 1) * n)
            factor, scaling = regularised_cholesky(H[n:, n:].copy(), one.size[n:])
            cross = scaling[:, None] * H[n:, :n]
            K[at, at] = H[:n, :n] - cross.T @ cho_solve(factor, cross, check_finite=False)
            size[at] = one.size[:n]
            self.inner.append((factor, scaling, H[n:, :n]))
            del one.H
        points = np.arange(n)
        for b in range(m):
            for c in range(m):
                K[b * n + points, c * n + points] += self.psi[:, b, c]
        at_all = np.arange(m * n)
        K += max(float(K[at_all, at_all].mean()), np.finfo(float).tiny) / (m * n)  # all scores may move together
        self.factor, self.scaling = regularised_cholesky(K, size + self.psi.diagonal(axis1=1, axis2=2).T.ravel())

    def solve(self, b: Variables) -> Variables:
        """Return x with apply(x) = b."""
        return refined(self.once, self.apply, b)

    def once(self, b: Variables) -> Variables:
        """Solve the eliminated system."""
        n, states, score_rhs, others = len(self.problem.X), [], [], []
        for one, part, (factor, scaling, cross) in zip(self.classes, self._split(b), self.inner, strict=True):
            state = one.forward(part)
            rhs = one.in_fit(*state.rhs)
            other = scaling * cho_solve(factor, scaling * rhs[n:], check_finite=False)
            states.append(state)
            others.append(rhs[n:])
            score_rhs.append(rhs[:n] - cross.T @ other)
        scores = self.scaling * cho_solve(self.factor, self.scaling * np.concatenate(score_rhs), check_finite=False)
        out = []
        for c, (one, state, (factor, scaling, cross)) in enumerate(zip(self.classes, states, self.inner, strict=True)):
            f = scores[c * n : (c + 1) * n]
            rest = scaling * cho_solve(factor, scaling * (others[c] - cross @ f), check_finite=False)
            out.append(one.backward(state, *one.out_of_fit(np.concatenate([f, rest]), len(state.rhs[1]))))
        return self._join(out)

    def apply(self, x: Variables) -> Variables:
        """Multiply by the system."""
        out = self._join([one.apply(part) for one, part in zip(self.classes, self._split(x), strict=True)])
        scores = self.problem.by_output(x.phi)
        out.phi = out.phi + self.problem.to_parts(np.einsum("ibc,ci->bi", self.psi, scores))
        return out

    def _split(self, x: Variables) -> list[Variables]:
        bounds = np.split(x.L, self.m)
        return [
            Variables(x.phi[at], x.gp[at], x.gm[at], L, c)
            for at, L, c in zip(self.parts, bounds, x.c.reshape(self.m, -1), strict=True)
        ]

    def _join(self, parts: list[Variables]) -> Variables:
        phi, gp, gm, L, c = (np.concatenate(block) for block in zip(*(part.blocks() for part in parts), strict=True))
        return Variables(phi, gp, gm, L, c.reshape(self.m, -1))
