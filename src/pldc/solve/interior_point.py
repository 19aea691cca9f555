"""Structured primal-dual interior point for the program, on the pairs of points that it is given.

Every inequality has a slack s and a multiplier z, both positive; Newton steps drive all products s·z to zero together
with the residuals of the optimality conditions. There are seven kinds:

    PAIR   φ_i − φ_j − ⟨g_j, x_i − x_j⟩      PLUS, MINUS  g⁺, g⁻      NORM  L − rows(g⁺ + g⁻)      SIGN  ±c
    OVER, UNDER   e⁺ and e⁻, whose multipliers are the room w·up − ω and ω + w·down in the dual box of the loss:
                  f − y = ε ω / w + e⁺ − e⁻  (see `problem.losses`; the squared loss has no box and no such rows)

The loop is that of `predictor_corrector`.
"""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.problem.program import Problem, Solution
from pldc.solve.newton import Newton, Variables
from pldc.solve.newton_classes import ClassNewton
from pldc.solve.pairs import AllPairs, WorkingSet
from pldc.solve.predictor_corrector import Direction, PredictorCorrector, centred_loss
from pldc.solve.workers import Workers
from pldc.solve.working_set import violated

PAIR, PLUS, MINUS, NORM, SIGN, OVER, UNDER = range(7)
ROOM = 10.0  # slack of a new row, in units of that of a typical active one
WAIST = 5.0  # of the hyperboloid to start at, in median distances from its centre


class InteriorPoint(PredictorCorrector):
    """The interior point for one problem: `solution` is the current iterate, `step` makes the next one.

    Parameters
    ----------
    problem : Problem
        Its numbers should be of order one.
    workers : Workers
        Threads for the elimination.
    pairs : AllPairs or WorkingSet
        The pair rows to hold.
    """

    def __init__(self, problem: Problem, workers: Workers, pairs: AllPairs | WorkingSet):
        self.problem, self.workers, self.pairs = problem, workers, pairs
        self.residuals = problem.loss.box_form(problem)
        self.loss = self.residuals.loss
        self.boxed, self.curved = bool(np.isfinite(self.loss.up)), self.loss.softness > 0
        self._start()

    def solution(self) -> Solution:
        """Return the current iterate."""
        x = self.x
        flows = self.pairs.matrix(self.z[PAIR])
        return Solution(x.phi, x.gp - x.gm, x.c, multipliers=flows, dual=self.residuals.dual(self.omega))

    def _start(self) -> None:
        """Start at a hyperboloid in every part, strictly inside all constraints, on the central path of a large μ.

        Near most points it is a paraboloid. Far from them its slopes stay bounded, or a single far point would have
        slopes and slacks of another size than all others.
        """
        problem = self.problem
        X, sign = problem.X, problem.slope_sign
        low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        beyond = 0.2 * np.maximum(high - low, 1e-6 * np.ptp(X, axis=0))
        spread = max(float(np.median(np.abs(X - middle).sum(axis=1))), 1e-12)
        steepness = max(problem.spread, 1e-12) / spread
        corner = np.where(sign > 0, X.min(axis=0) - beyond, X.max(axis=0) + beyond)
        z = np.where(sign == 0, middle, corner)
        square = ((X - z) ** 2).sum(axis=2)
        waist = WAIST * np.sqrt(np.maximum(np.median(square, axis=1, keepdims=True), 1e-24))
        root = np.sqrt(waist**2 + square)
        phi = steepness * waist * root
        slope = steepness * (waist / root)[:, :, None] * (X - z)
        margin = 0.1 * steepness * spread
        self.free_plus, self.free_minus = (
            np.broadcast_to(sign >= 0, slope.shape),
            np.broadcast_to(sign <= 0, slope.shape),
        )
        gp = np.where(self.free_plus, np.maximum(slope, 0.0) + margin, 0.0)
        gm = np.where(self.free_minus, np.maximum(-slope, 0.0) + margin, 0.0)
        # A signed slope has no opposite side to balance the margin: the values tilt with it.
        phi += np.einsum("pjk,jk->pj", np.where(sign == 0, 0.0, sign * margin) * np.ones_like(slope), X)
        c = (0.1 * steepness * problem.monotone * problem.linear).astype(np.float64)
        if problem.outputs > 1:
            c = np.zeros((problem.outputs, len(c)))
        rows = problem.penalty.rows(gp + gm)
        L = 1.1 * rows.max(axis=0) + 1e-3 * steepness
        level = np.reshape(self.residuals.level(problem.fit(phi, c)), (-1, 1))
        phi[:: len(phi) // problem.outputs] += problem.signs[0] * level
        self.x = Variables(phi, gp, gm, L, c)

        S = self.pairs(phi, gp - gm)
        held = self.pairs.mask > 0
        S = np.where(held, np.maximum(S, 1e-6 * float(np.median(S[held])) if held.any() else 1.0), 1.0)
        self.c_sign = (problem.monotone * problem.linear).astype(np.float64) * np.ones_like(c)
        s = [
            S,
            np.where(self.free_plus, gp, 1.0),
            np.where(self.free_minus, gm, 1.0),
            L - rows,
            np.where(self.c_sign != 0, self.c_sign * c, 1.0),
        ]
        self.mask: list[Array] = [
            self.pairs.mask,
            self.free_plus.astype(float),
            self.free_minus.astype(float),
            np.ones_like(rows),
            np.abs(self.c_sign),
        ]
        mu = problem.lam * s[NORM].shape[1] / float((1.0 / s[NORM]).sum())
        mu = max(mu, 10.0 * problem.null_risk / sum(float(mask.sum()) for mask in self.mask))
        z_list = [mask * mu / slack for mask, slack in zip(self.mask, s, strict=True)]
        self.omega = np.zeros(len(self.residuals.weight))
        if self.boxed:
            r = self.residuals(problem.fit(phi, c))
            self.omega, room_up, room_down = centred_loss(self.residuals, r, mu)
            s += [mu / room_up, mu / room_down]
            z_list += [room_up, room_down]
            self.mask += [np.ones_like(r), np.ones_like(r)]
        self.s, self.z = s, z_list
        self.count = sum(float(mask.sum()) for mask in self.mask)

    def hold_violated(self) -> None:
        """Take into the working set the pairs that are violated, or would be after another step like the last one.

        A row that comes in before it is violated does not make the iterate infeasible. A new row starts on the central
        path: slack as large as its value or violation, multiplier μ/s, but no smaller a slack than a typical active
        row has, whose multiplier is λ / n.
        """
        if isinstance(self.pairs, AllPairs):
            return
        slopes = self.x.gp - self.x.gm
        mu = self.mu
        room = ROOM * mu * len(self.problem.X) / self.problem.lam
        new = violated(self.problem, self.x.phi, slopes, self.pairs.member, self.workers)
        ahead = self.x.plus(*self.taken)
        new |= violated(self.problem, ahead.phi, ahead.gp - ahead.gm, self.pairs.member, self.workers)
        if not new.any():
            return
        place = self.pairs.add(new)
        rows: Array = self.pairs(self.x.phi, slopes)[place]
        slack = np.maximum(np.abs(rows), room)
        wider = self.pairs.mask.shape[2] - self.s[PAIR].shape[2]
        for values, start, padding in ((self.s, slack, 1.0), (self.z, mu / slack, 0.0)):
            values[PAIR] = np.pad(values[PAIR], ((0, 0), (0, 0), (0, wider)), constant_values=padding)
            values[PAIR][place] = start
        self.mask[PAIR] = self.pairs.mask
        self.count = sum(float(mask.sum()) for mask in self.mask)

    def linearise(self) -> None:
        """Look how far the iterate is from each optimality condition, and factor their derivatives."""
        self._residuals()
        self.newton = self._newton()

    def move(self, length: float, change: Variables) -> None:
        """Change the variables."""
        self.x, self.taken = self.x.plus(length, change), (length, change)

    def _residuals(self) -> None:
        """How far the iterate is from each optimality condition."""
        problem, x = self.problem, self.x
        self.r_pair = (self.pairs(x.phi, x.gp - x.gm) - self.s[PAIR]) * self.pairs.mask
        self.r_norm = x.L - problem.penalty.rows(x.gp + x.gm) - self.s[NORM]
        residual, weight = self.residuals(problem.fit(x.phi, x.c)), self.residuals.weight
        if self.boxed:
            self.r_loss = residual - self.loss.softness * self.omega / weight - self.s[OVER] + self.s[UNDER]
        else:
            self.omega = residual * weight / self.loss.softness
            self.r_loss = np.zeros_like(residual)
        omega = self.residuals.adjoint(self.omega)
        phi, g = self.pairs.adjoint(self.z[PAIR])
        nu = self.z[NORM]
        bounds = self._of_slopes(nu)
        self.r_dual = Variables(
            problem.to_parts(omega) - phi,
            self.free_plus * (bounds - g - self.z[PLUS]),
            self.free_minus * (bounds + g - self.z[MINUS]),
            problem.lam - nu.sum(axis=0),
            (omega @ problem.X - self.c_sign * self.z[SIGN]) * problem.linear,
        )

    def _newton(self) -> Newton | ClassNewton:
        problem, s, z = self.problem, self.s, self.z
        softness = self.loss.softness / self.residuals.weight
        if self.boxed:
            self.psi = 1.0 / (softness + s[OVER] / z[OVER] + s[UNDER] / z[UNDER])
        else:
            self.psi = 1.0 / softness
        self.theta = z[PAIR] / s[PAIR]
        self.gamma = z[NORM] / s[NORM]
        inverse = [
            np.where(free, s[k] / np.where(free, z[k], 1.0), 0.0)
            for k, free in ((PLUS, self.free_plus), (MINUS, self.free_minus))
        ]
        curvature = self.residuals.curvature(self.psi)
        weights = (problem, self.pairs, self.workers, self.theta, self.gamma, inverse[0], inverse[1], curvature)
        return Newton(*weights, z[SIGN] / s[SIGN]) if problem.outputs == 1 else ClassNewton(*weights)

    def _of_slopes(self, norm: Array) -> Array:
        """Give a quantity of the norm rows (n, q) to every slope that counts towards them: (P, n, d) or alike."""
        m = self.problem.outputs
        if m == 1:
            return norm
        each = len(self.problem.signs) // m
        return np.repeat(np.stack(np.split(norm, m, axis=1)), each, axis=0)

    def direction(self, target: list[Array]) -> Direction:
        """Solve the linearised conditions for a wanted change `target` of every product s·z."""
        problem, s, z, r = self.problem, self.s, self.z, self.r_dual
        pull = [k / slack for k, slack in zip(target[:OVER], s[:OVER], strict=True)]
        pair = pull[PAIR] - self.theta * self.r_pair
        norm = pull[NORM] - self.gamma * self.r_norm
        phi, g = self.pairs.adjoint(pair)
        shift = self.r_loss
        if self.boxed:
            shift = shift - target[OVER] / z[OVER] + target[UNDER] / z[UNDER]
        force = self.residuals.adjoint(self.psi * shift)
        each = self._of_slopes(norm)
        dx = self.newton.solve(
            Variables(
                phi - r.phi - problem.to_parts(force),
                self.free_plus * (pull[PLUS] - r.gp + g - each),
                self.free_minus * (pull[MINUS] - r.gm - g - each),
                norm.sum(axis=0) - r.L,
                (self.c_sign * pull[SIGN] - r.c - force @ problem.X) * problem.linear,
            )
        )
        ds = [
            self.pairs(dx.phi, dx.gp - dx.gm) + self.r_pair,
            dx.gp,
            dx.gm,
            dx.L - problem.penalty.rows(dx.gp + dx.gm) + self.r_norm,
            self.c_sign * dx.c,
        ]
        dz = [p - w / v * u for p, w, v, u in zip(pull, z, s, ds, strict=False)]
        domega = self.psi * (self.residuals.change(problem.fit(dx.phi, dx.c)) + shift)
        if self.boxed:
            # ψ may be huge and the change in fit tiny: take the change of ω at a point from the flows instead.
            parts = len(problem.signs) // problem.outputs
            flow = problem.by_output(self.pairs.adjoint(dz[PAIR])[0] - r.phi) / parts
            domega = self.residuals.corrected(domega, self.psi, flow)
            dz += [-domega, domega]
            ds += [
                (k - slack * u) / w for k, slack, u, w in zip(target[OVER:], s[OVER:], dz[OVER:], z[OVER:], strict=True)
            ]
        return Direction(dx, ds, dz, domega)
