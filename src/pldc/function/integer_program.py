"""The nearest point at which a sum of terms reaches a value, as a mixed-integer linear program.

A sum of terms reaches τ where Σ p_t − m_t ≥ τ with p_t at most, and m_t at least, the maximum of its pieces. The second
is convex. For the first one piece is chosen in each term, by binary numbers z with Σ_k z_k = 1:

    p ≤ piece_k + M_k (1 − z_k),   M_k = the most that another piece is above it.

How much that can be is bounded over the box and, where a point at some distance is known already, over all points that
are not farther: along one way of length C pieces part by at most C times their steepest difference.

Along a feature with knots x = low + Σ_i w_i r_i, where the steps from one knot to the next are filled in turn: r_{i+1}
≤ δ_i ≤ r_i with binary δ_i. Each piece is linear in the r, since its curves are straight between knots. Where several
sums must reach τ, as a score that leads all others, they share the terms that they have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import diags_array

from pldc.function.max_affine import Array, MaxAffine
from pldc.function.mixed_integer import Program
from pldc.function.term import Term

MOST_BINARIES = 3000
INFEASIBLE, FAILED = 2, 4  # of milp
CLOSE = 1e-6  # relative gap at which a program is solved
LEAST = 1e-3  # seconds for a program where time is out


def nearest_by_integers(
    terms: Sequence[Term],
    x: Array,
    target: float,
    cost: Array,
    box: Array,
    known: Array | None,
    max_seconds: float,
    whole: np.ndarray | None = None,
    more: Sequence[Sequence[Term]] = (),
    cuts: Sequence[Array] = (),
) -> tuple[Array | None, float, float]:
    """Find the nearest point z in the box with Σ terms(z) ≥ target: point, its cost, and a bound on that.

    Features in `whole` are whole steps from x, as are the ends of their box. If there are `more` terms, the sum must
    reach the target together with each lot of them. Points that are the steps of a cut from x in all whole features are
    left out.
    """
    farthest = np.inf if known is None else float(cost @ np.abs(known - x))
    whole = np.zeros(len(x), dtype=bool) if whole is None else whole
    steps = _Steps([term for lot in (terms, *more) for term in lot], x, cost, box, farthest, whole)
    lots = [[_Ruled.of(term, steps) for term in lot] for lot in (terms, *more)]
    binaries = steps.binaries + sum(len(each.choice) for lot in lots for each in lot if len(each.choice) > 1)
    if binaries > MOST_BINARIES:
        raise ValueError(
            f"The nearest point would be a program of {binaries} binary numbers, more than {MOST_BINARIES}: ask a "
            "model of few pieces, model.simplify(X, y), fix some features, or narrow the bounds."
        )
    program = _Program(steps)
    first, *others = [program.sum_of(lot) for lot in lots]
    for other in others or [{}]:
        program.reach(first | other, target)
    for cut in cuts:
        program.cut_off(cut)
    point, bound = program.solve(max_seconds)
    candidates = [p for p in (point, known) if p is not None]
    if not candidates:
        return None, np.inf, bound
    costs = [float(cost @ np.abs(p - x)) for p in candidates]
    best = int(np.argmin(costs))
    return candidates[best], costs[best], min(bound, costs[best])


class _Steps:
    """Steps along each free feature, between its ends and the knots of all terms: x_j = ends_j[0] + Σ w r."""

    def __init__(self, terms: Sequence[Term], x: Array, cost: Array, box: Array, farthest: float, whole: np.ndarray):
        self.x, self.cost, self.farthest = x, cost, farthest
        self.free = np.flatnonzero(box[:, 1] > box[:, 0])
        self.whole, self.held_whole = whole[self.free], np.flatnonzero(whole & (box[:, 1] <= box[:, 0])).tolist()
        self.ends = []
        for j in self.free.tolist():
            low, high = box[j]
            only_ends = whole[j] and high - low < 1.5
            bent = [] if only_ends else [t.hinges.knots[j] for t in terms if t.hinges is not None]
            inner = np.unique(np.concatenate([np.empty(0), *bent]))
            self.ends.append(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))
        self.count = [len(e) - 1 for e in self.ends]
        self.total = sum(self.count)
        self.binaries = sum(c - 1 for c in self.count) + int(self.whole.sum())

    def points(self, j: int) -> Array:
        """The fixed point with the feature at each of its ends and knots."""
        out = np.tile(self.x, (len(self.ends[j]), 1))
        out[:, self.free[j]] = self.ends[j]
        return out


class _Curves:
    """The pieces of a part as functions of the steps: base + Σ_i rise_i r_i."""

    def __init__(self, term: Term, part: MaxAffine, steps: _Steps):
        def values(points: Array) -> Array:
            columns = points if term.hinges is None else term.hinges(points)
            return np.asarray(columns @ part.slopes.T + part.offsets).T

        self.steps, self.here = steps, values(steps.x[None])[:, 0]
        self.change = [values(steps.points(j)) - self.here[:, None] for j in range(len(steps.free))]  # from x to there
        self.base = self.here + sum(change[:, 0] for change in self.change)
        self.rise = np.hstack([np.zeros((part.n_pieces, 0)), *(np.diff(change, axis=1) for change in self.change)])

    def lead(self, k: int) -> tuple[Array, Array]:
        """Bounds on how much each piece is above piece k."""
        low = high = self.here - self.here[k]
        least, most = low, high
        fall, climb = np.zeros(len(low)), np.zeros(len(low))  # for a unit of distance
        for j, change in enumerate(self.change):
            difference = change - change[k]
            low, high = low + difference.min(axis=1), high + difference.max(axis=1)
            far = np.abs(self.steps.ends[j] - self.steps.x[self.steps.free[j]])
            steep = difference[:, far > 0] / (far[far > 0] * self.steps.cost[self.steps.free[j]])
            fall, climb = np.minimum(fall, steep.min(axis=1)), np.maximum(climb, steep.max(axis=1))
        if np.isfinite(self.steps.farthest):
            low = np.maximum(low, least + self.steps.farthest * fall)
            high = np.minimum(high, most + self.steps.farthest * climb)
        return low, high

    def that_can_rule(self) -> list[tuple[int, float]]:
        """Pieces that no other one is above everywhere, each with the most that one is above it."""
        leads = [self.lead(k) for k in range(len(self.base))]
        dominated = [bool((low > 0).any()) for low, _ in leads]
        return [(k, float(high.max())) for k, (_, high) in enumerate(leads) if not dominated[k]]


class _Ruled(NamedTuple):
    """A term as functions of the steps, and which pieces of its plus part can rule."""

    plus: _Curves
    minus: _Curves
    choice: list[tuple[int, float]]

    @classmethod
    def of(cls, term: Term, steps: _Steps) -> _Ruled:
        """Return that of a term."""
        plus = _Curves(term, term.plus, steps)
        return cls(plus, _Curves(term, term.minus, steps), plus.that_can_rule())


class _Program:
    """Variables: the steps r first; then δ and the way along each free feature; then what the terms add."""

    def __init__(self, steps: _Steps):
        self.steps = steps
        self.program = Program()
        self.price: list[float] = []
        self.counts: dict[int, tuple[int, float, float]] = {}  # of steps from x, with their ends
        self.r = self._variables(steps.total, 0.0, 1.0)
        place, ways = 0, []
        for j, ends in enumerate(steps.ends):
            own = range(place, place + steps.count[j])
            place += steps.count[j]
            for i in list(own)[:-1]:
                d = self._variables(1, 0.0, 1.0, integer=1)[0]
                self._row({d: 1.0, i: -1.0}, -np.inf, 0.0)
                self._row({i + 1: 1.0, d: -1.0}, -np.inf, 0.0)
            feature = int(steps.free[j])
            ways += self._variables(1, 0.0, np.inf, price=1.0)
            widths = np.diff(ends) * steps.cost[feature]
            offset = float((steps.x[feature] - ends[0]) * steps.cost[feature])
            self._row({**dict(zip(own, widths, strict=True)), ways[-1]: -1.0}, -np.inf, offset)
            self._row({**dict(zip(own, widths, strict=True)), ways[-1]: 1.0}, offset, np.inf)
            if steps.whole[j]:
                low, high = np.round(ends[[0, -1]] - steps.x[feature])
                count = self._variables(1, low, high, integer=1)[0]
                self._row({**dict(zip(own, np.diff(ends), strict=True)), count: -1.0}, -low, -low)
                self.counts[feature] = count, low, high
        self._row(dict.fromkeys(ways, 1.0), 0.0, steps.farthest * (1 + CLOSE))

    def sum_of(self, terms: Sequence[_Ruled]) -> dict[int, float]:
        """Add what the terms add, and return a row of their sum."""
        return {self.at_most(each.plus, each.choice): 1.0 for each in terms} | {
            self.at_least(each.minus): -1.0 for each in terms
        }

    def reach(self, sums: dict[int, float], target: float) -> None:
        """A sum must be so large."""
        self._row(sums, target, np.inf)

    def cut_off(self, steps: Array) -> None:
        """Leave out the points that are so many steps from x: one count at least is above its own, or below."""
        if any(steps[self.steps.held_whole]):
            return
        beside = self._variables(1, 0.0, 0.0)  # nothing, if there is no other point
        for feature, (count, low, high) in self.counts.items():
            at = float(steps[feature])
            if not low <= at <= high:
                return
            if at < high:
                beside += self._variables(1, 0.0, 1.0, integer=1)
                self._row({count: 1.0, beside[-1]: low - at - 1.0}, low, np.inf)
            if at > low:
                beside += self._variables(1, 0.0, 1.0, integer=1)
                self._row({count: 1.0, beside[-1]: high - at + 1.0}, -np.inf, high)
        self._row(dict.fromkeys(beside, 1.0), 1.0, np.inf)

    def at_most(self, curves: _Curves, choice: list[tuple[int, float]]) -> int:
        """Add a variable that is at most the maximum of the pieces."""
        p = self._variables(1, -np.inf, np.inf)[0]
        chosen = [self._variables(1, 0.0, 1.0, integer=1)[0] for _ in choice] if len(choice) > 1 else []
        for number, (k, most) in enumerate(choice):
            row = {p: 1.0, **{i: -v for i, v in zip(self.r, curves.rise[k], strict=True) if v}}
            if chosen:
                row[chosen[number]] = max(most, 0.0)
            self._row(row, -np.inf, float(curves.base[k]) + (max(most, 0.0) if chosen else 0.0))
        if chosen:
            self._row(dict.fromkeys(chosen, 1.0), 1.0, 1.0)
        return p

    def at_least(self, curves: _Curves) -> int:
        """Add a variable that is at least the maximum of the pieces."""
        m = self._variables(1, -np.inf, np.inf)[0]
        for base, rise in zip(curves.base, curves.rise, strict=True):
            row = {m: 1.0, **{i: -v for i, v in zip(self.r, rise, strict=True) if v}}
            self._row(row, float(base), np.inf)
        return m

    def solve(self, max_seconds: float) -> tuple[Array | None, float]:
        """Return the nearest point, or None, and a bound on its cost."""
        program, end = self.program.assembled(), monotonic() + max_seconds
        integer, low, high, price = program.integrality, program.lower, program.upper, np.array(self.price)
        exact = LinearConstraint(program.A, program.row_lower, program.row_upper)
        for constraints, presolve in ((_eased(exact), False), (exact, False), (exact, True)):
            options = {"time_limit": max(end - monotonic(), LEAST), "mip_rel_gap": CLOSE, "presolve": presolve}
            found = milp(price, integrality=integer, bounds=Bounds(low, high), constraints=constraints, options=options)
            clean = None if found.x is None else _held(price, integer, np.round(found.x), low, high, exact)
            lost = found.status == 0 and (clean is None or price @ clean > found.fun * (1 + CLOSE))
            if found.status != FAILED and not (lost and constraints is not exact):
                break  # else: an error of the solver, or what was eased made a difference
        bound = np.inf
        if found.status != INFEASIBLE:  # without a bound of its own, only what was proved optimal bounds itself
            proved = found.fun if found.status == 0 else 0.0
            bound = float(proved if found.mip_dual_bound is None else found.mip_dual_bound)
        if found.x is None:
            return None, bound
        steps = found.x if clean is None else clean
        point, place = self.steps.x.copy(), 0
        for feature, ends in zip(self.steps.free, self.steps.ends, strict=True):
            r = np.clip(steps[place : place + len(ends) - 1], 0.0, 1.0)
            place += len(ends) - 1
            point[feature] = np.clip(ends[0] + np.diff(ends) @ r, ends[0], ends[-1])
        return point, bound

    def _variables(self, count: int, low: float, high: float, integer: int = 0, price: float = 0.0) -> list[int]:
        self.price += [price] * count
        places = self.program.variables("", np.full(count, low), np.full(count, high), whole=bool(integer))
        return [int(place) for place in places]

    def _row(self, row: dict[int, float], low: float, high: float) -> None:
        places, factors = np.array(list(row), dtype=np.intp), np.array([list(row.values())], dtype=float)
        self.program.rows(places, factors, low, high)


def _eased(exact: LinearConstraint) -> LinearConstraint:
    """Return rows whose largest factor is at most one.

    The solver takes numbers for whole up to a tolerance. Times a large factor that is more than it lets a row be missed
    by: it repairs each such point, and writes so to the screen, past Python. Without presolve it hardly ever does.
    """
    size = np.maximum(np.abs(exact.A).max(axis=1).toarray().ravel(), 1.0)
    return LinearConstraint(diags_array(1.0 / size) @ exact.A, exact.lb / size, exact.ub / size)


def _held(
    price: Array, integer: Array, whole: Array, low: Array, high: Array, constraints: LinearConstraint
) -> Array | None:
    """Return the best point once more, without the solver's tolerance of whole numbers; None if there is none."""
    bounds = Bounds(np.where(integer == 1, whole, low), np.where(integer == 1, whole, high))
    point: Array | None = milp(price, bounds=bounds, constraints=constraints).x
    return point
