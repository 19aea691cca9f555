"""The program of one feature with bends at some points only, and an interior point for it; see `line`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import solveh_banded
from scipy.sparse import block_array, csr_array, dia_array, diags_array, vstack
from scipy.sparse.linalg import splu

from pldc.function.max_affine import Array, IntArray
from pldc.problem.program import Problem, Solution
from pldc.solve.predictor_corrector import Direction, PredictorCorrector, centred_loss

System = Callable[[Array, Array], tuple[Array, Array]]
Balance = Callable[[Array], Array]

ROWS, OVER, UNDER = range(3)  # kinds of inequalities: those of G, and the two sides of the box of the loss
ITERATIONS = 60  # at most, from one call of `steps`
AMPLE = 10.0  # how generous the start is


class OneFeatureProgram(PredictorCorrector):
    """The program with bends at the knots only, and an interior point for it.

    Variables: f and σ at the m knots, the sizes of the 2 (m − 1) half steps between σ and S (a difference of two parts
    only), and the seminorm L. Inequalities: rows G x ≥ 0, the last one for the variation.
    """

    def __init__(self, problem: Problem, knots: IntArray):
        self.problem, self.knots = problem, knots
        self.residuals = problem.loss.box_form(problem)
        self.loss = self.residuals.loss
        self.boxed, self.curved = bool(np.isfinite(self.loss.up)), self.loss.softness > 0
        x = problem.X[:, 0]
        self.t, self.h = x[knots], np.diff(x[knots])
        n, m = len(x), len(knots)
        self.segment = np.clip(np.searchsorted(knots, np.arange(n), side="right") - 1, 0, m - 2)
        self.share = (x - self.t[self.segment]) / self.h[self.segment]
        self._rows()
        self._start()

    def _rows(self) -> None:
        """The inequalities."""
        problem, m = self.problem, len(self.knots)
        eye = csr_array(diags_array(np.ones(m)))
        slope = dia_array((np.array([np.append(-1 / self.h, 0.0), np.append(0.0, 1 / self.h)]), [0, 1]), (m, m))
        slope = csr_array(slope)[: m - 1]
        before, after = eye[: m - 1], eye[1:]
        up, down = [slope, -before], [-slope, after]  # S_k − σ_k and σ_{k+1} − S_k
        parts = len(problem.signs)
        steps = 2 * (m - 1) if parts == 2 else 0
        self.size = 2 * m + steps + 1
        blocks = []

        def add(f: csr_array, sigma: csr_array, e: csr_array | None, L: float) -> None:
            rows = f.shape[0]
            middle = [csr_array((rows, steps)) if e is None else e] if steps else []
            blocks.append([f, sigma, *middle, csr_array(np.full((rows, 1), L))])

        half = csr_array(diags_array(np.ones(steps))) if steps else None
        for k, (f, sigma) in enumerate((up, down)):
            if half is not None:
                e = half[k * (m - 1) : (k + 1) * (m - 1)]
                add(-f, -sigma, e, 0.0)
                add(f, sigma, e, 0.0)
            else:
                sign = float(problem.signs[0])
                add(sign * f, sign * sigma, None, 0.0)
        # Rows that bound a slope by L: its sign, the first row, and the points.
        self.bounded: list[tuple[float, int, IntArray]] = []
        if not problem.linear:
            full = np.flatnonzero(np.diff(self.knots) > 1)  # segments with points inside
            inside = self.knots[full] + np.diff(self.knots)[full] // 2
            flat = csr_array((len(full), m))
            for sign in (1.0, -1.0):
                self.bounded.append((sign, sum(b[0].shape[0] for b in blocks), self.knots))
                add(csr_array((m, m)), -sign * eye, None, 1.0)
                if len(full):
                    self.bounded.append((sign, sum(b[0].shape[0] for b in blocks), inside))
                    add(-sign * slope[full], flat, None, 1.0)
        self.G = csr_array(block_array(blocks))
        # The last row, for the variation: L less half of all steps, or of σ_m − σ_1.
        self.variation = bool(steps or problem.linear)
        if self.variation:
            row = np.zeros(self.size)
            row[-1] = 1.0
            if steps:
                row[2 * m : -1] = -0.5
            else:
                sign = float(problem.signs[0])
                row[2 * m - 1], row[m] = -0.5 * sign, 0.5 * sign
            self.G = csr_array(vstack([self.G, csr_array(row[None])]))

    def _start(self) -> None:
        problem, m = self.problem, len(self.knots)
        # Far from all bounds: from a small seminorm the way to a large one is long.
        unit = AMPLE * max(problem.spread, 1e-12) / max(float(np.ptp(self.t)), 1e-300)
        self.x = np.zeros(self.size)
        self.x[:m] = problem.null_fit
        self.x[2 * m : -1] = unit
        self.x[-1] = 0.6 * unit * (self.size - 2 * m - 1) + 2.0 * unit
        rows = np.maximum(self.G @ self.x, unit)
        self.count = len(rows) + (2 * len(problem.y) if self.boxed else 0)
        mu = AMPLE * (max(problem.null_risk, 1e-300) + problem.lam * self.x[-1]) / self.count
        self.s, self.z = [rows], [mu / rows]
        r = self.residuals(self._fit(self.x))
        if self.boxed:
            self.omega, up, down = centred_loss(self.residuals, r, mu)
            self.s += [mu / up, mu / down]
            self.z += [up, down]
        else:
            self.omega = r * self.residuals.weight / self.loss.softness
        self.mask = [np.ones_like(s) for s in self.s]

    def _fit(self, x: Array) -> Array:
        """Values at all points, by linear interpolation."""
        left = x[self.segment]
        return np.asarray(left + self.share * (x[self.segment + 1] - left))

    def _fit_adjoint(self, force: Array) -> Array:
        out = np.zeros(self.size)
        m = len(self.knots)
        out[:m] = np.bincount(self.segment, weights=(1 - self.share) * force, minlength=m)
        out[:m] += np.bincount(self.segment + 1, weights=self.share * force, minlength=m)
        return out

    def steps(self, tol: float) -> Iterator[float]:
        """Iterate until the own gap is small; yield it after every iteration."""
        scale = max(self.problem.null_risk, 1e-300)
        for _ in range(ITERATIONS):
            try:
                moved = self.step()
            except (RuntimeError, FloatingPointError):  # a singular matrix
                return
            gap = self.mu * self.count / scale
            yield gap
            small = gap <= tol * max(self._objective() / scale, 1e-12) and self.imbalance <= tol
            if not moved or small:
                return

    def _objective(self) -> float:
        return self.problem.risk(self._fit(self.x)) + self.problem.lam * self.x[-1]

    def linearise(self) -> None:
        """Look how far the iterate is from each optimality condition, and factor their derivatives."""
        w, s, z = self.residuals.weight, self.s, self.z
        self.r_rows = self.G @ self.x - s[ROWS]
        residual, softness = self.residuals(self._fit(self.x)), self.loss.softness / w
        if self.boxed:
            self.r_loss = residual - softness * self.omega - s[OVER] + s[UNDER]
            self.psi = 1.0 / (softness + s[OVER] / z[OVER] + s[UNDER] / z[UNDER])
        else:
            self.omega = residual / softness
            self.r_loss, self.psi = np.zeros_like(residual), 1.0 / softness
        self.r_dual = self._fit_adjoint(self.residuals.adjoint(self.omega)) - self.G.T @ z[ROWS]
        self.r_dual[-1] += self.problem.lam
        self.imbalance = float(np.abs(self.r_dual).max()) / self.problem.lam
        self.solve, self.balance = self._factor(self.psi, s[ROWS] / z[ROWS])

    def direction(self, target: list[Array]) -> Direction:
        """Solve the linearised conditions for a wanted change `target` of every product s·z."""
        s, z, shift = self.s, self.z, self.r_loss
        if self.boxed:
            shift = shift - target[OVER] / z[OVER] + target[UNDER] / z[UNDER]
        force = self._fit_adjoint(self.residuals.adjoint(self.psi * shift))
        dx, flow = self.solve(-self.r_dual - force, target[ROWS] / z[ROWS] - self.r_rows)
        ds, dz = [(target[ROWS] - s[ROWS] * flow) / z[ROWS]], [flow]
        domega = self.psi * (self.residuals.change(self._fit(dx)) + shift)
        if self.boxed:
            # ψ may be huge and the change in fit tiny: let ω balance the multipliers instead.
            lack = self.G.T @ flow - self.r_dual - self._fit_adjoint(self.residuals.adjoint(domega))
            domega = domega + self.psi * self.residuals.change(self.balance(lack))
            dz += [-domega, domega]
            ds += [
                (k - slack * u) / w for k, slack, u, w in zip(target[OVER:], s[OVER:], dz[OVER:], z[OVER:], strict=True)
            ]
        return Direction(dx, ds, dz, domega)

    def move(self, length: float, change: Array) -> None:
        """Change the variables."""
        self.x = self.x + length * change

    def _factor(self, psi: Array, inverse: Array) -> tuple[System, Balance]:
        """Return the solver of the system in (x, z), and that of the curvature of the loss alone."""
        m = len(self.knots)
        curve = self.residuals.curvature(psi)
        k, t = self.segment, self.share
        diagonal = np.bincount(k, curve * (1 - t) ** 2, minlength=m) + np.bincount(k + 1, curve * t**2, minlength=m)
        beside = np.bincount(k, curve * t * (1 - t), minlength=m)[: m - 1]
        pad = np.zeros(self.size - m)
        bands = [np.append(beside, pad), np.append(diagonal, pad), np.append(beside, pad)]
        loss = diags_array(bands, offsets=[-1, 0, 1])
        lu = splu(block_array([[loss, -self.G.T], [-self.G, -diags_array(inverse)]]).tocsc())

        def solve(x: Array, z: Array) -> tuple[Array, Array]:
            both = lu.solve(np.concatenate([x, -z]))
            return both[: self.size], both[self.size :]

        def balance(force: Array) -> Array:
            tiny = 1e-14 * diagonal.max()
            knots = solveh_banded(np.array([np.append(0.0, beside), diagonal + tiny]), force[:m])
            return self._fit(knots)

        return solve, balance

    def bends(self, share: float) -> IntArray:
        """Knots where f bends by more than a share of its largest bend, and both ends."""
        slope = np.diff(self.x[: len(self.knots)]) / self.h
        bend = np.abs(np.diff(slope))
        keep = bend > share * bend.max(initial=0.0)
        return self.knots[np.concatenate([[True], keep, [True]])]

    def solution(self) -> Solution:
        """Return the whole solution: values, slopes and flows at all points."""
        problem, m = self.problem, len(self.knots)
        f, sigma = self.x[:m].copy(), self.x[m : 2 * m].copy()
        slope = np.diff(f) / self.h
        sign = float(problem.signs[0])
        if len(problem.signs) == 1:
            slope = sign * np.maximum.accumulate(sign * slope)
            f = f[0] + np.append(0.0, np.cumsum(self.h * slope))
        # A slope at a knot between those beside it adds nothing to the variation.
        low = np.minimum(np.append(slope[0], slope), np.append(slope, slope[-1]))
        high = np.maximum(np.append(slope[0], slope), np.append(slope, slope[-1]))
        if problem.linear:
            sigma = 0.5 * low + 0.5 * high
        elif len(problem.signs) == 1:
            sigma[1:-1] = np.clip(sigma[1:-1], low[1:-1], high[1:-1])
            sigma[0] = sign * min(sign * sigma[0], sign * slope[0])
            sigma[-1] = sign * max(sign * sigma[-1], sign * slope[-1])
        c = 0.5 * (sigma.min() + sigma.max()) if problem.linear else 0.0
        sigma, slope, f = sigma - c, slope - c, f - c * self.t
        if len(problem.signs) == 1:
            pieces = [(sign * slope, sign * sigma, sign * f[0])]
        else:
            away, back = np.abs(slope - sigma[:-1]), np.abs(sigma[1:] - slope)
            at = np.append(0.0, np.cumsum(away + back))
            at -= 0.5 * at[-1]
            between = at[:-1] + away
            pieces = [
                (0.5 * (between + s * slope), 0.5 * (at + s * sigma), start) for s, start in ((1.0, f[0]), (-1.0, 0.0))
            ]
        values, slopes = [], []
        for each, at_knot, start in pieces:
            chain = np.empty(2 * m - 1)
            chain[::2], chain[1::2] = at_knot, each
            chain = np.maximum.accumulate(chain)  # increasing but for rounding
            at_knot, each = chain[::2], chain[1::2]
            heights = start + np.append(0.0, np.cumsum(self.h * each))
            values.append(heights[self.segment] + self.share * self.h[self.segment] * each[self.segment])
            everywhere = each[self.segment]
            everywhere[self.knots] = at_knot
            slopes.append(everywhere[:, None])
        return Solution(np.array(values), np.array(slopes), np.array([c]), multipliers=self._flows(), dual=self.omega)

    def _pressure(self) -> list[tuple[Array, Array]]:
        """For each part the multipliers of slope ≤ rise and rise ≤ next slope between neighbours."""
        problem = self.problem
        x = problem.X[:, 0]
        omega = self.residuals.adjoint(self.omega)
        omega = omega - omega.mean()
        if problem.linear:
            centred = x - x.mean()
            omega = omega - centred * (centred @ omega) / (centred @ centred)
        force = np.zeros(len(x))
        for sign, first, points in self.bounded:
            np.add.at(force, points, sign * self.z[ROWS][first : first + len(points)])
        rise = -np.diff(x) * np.cumsum(omega)[:-1]
        half = 0.5 * self.z[ROWS][-1] if self.variation else 0.0
        out = []
        for sign in problem.signs:
            up = half - sign * (np.cumsum(force)[:-1] + np.append(0.0, np.cumsum(rise)[:-1]))
            out.append((up, up - sign * rise))
        return out

    def _flows(self) -> list[csr_array]:
        """The multipliers as flows between neighbours; where knots are missing, all raised until none is negative."""
        n, gap = len(self.problem.X), np.diff(self.problem.X[:, 0])
        pressure = self._pressure()
        raised = max(0.0, -min(float(min(up.min(), down.min())) for up, down in pressure))
        left, right = np.arange(n - 1), np.arange(1, n)
        return [
            csr_array(
                (
                    np.concatenate([(up + raised) / gap, (down + raised) / gap]),
                    (np.concatenate([left, right]), np.concatenate([right, left])),
                ),
                shape=(n, n),
            )
            for up, down in pressure
        ]

    def missing(self) -> IntArray:
        """Points where a multiplier is negative: the worst between any two knots."""
        depth = np.zeros(len(self.problem.X))
        for up, down in self._pressure():
            depth[:-1] = np.minimum(depth[:-1], up)
            depth[1:] = np.minimum(depth[1:], down)
        depth[self.knots] = 0.0
        order = np.lexsort((depth, self.segment))
        first = order[np.unique(self.segment[order], return_index=True)[1]]
        return first[depth[first] < 0.0]
