"""The nearest point at which a function reaches a threshold, or leads others, by an exact program.

Distance is Σ cost_j |x_j − z_j|. Where f = φ₁ − φ₂ has one plain term, the points with f ≥ τ are a union of polyhedra,
one for each piece of φ₁:

    { z : b_l·z + β_l + τ ≤ a_k·z + α_k for all pieces l of φ₂ },

so the answer is the best of as many small linear programs. Programs whose bound is no better than what was found are
left out: of one inequality alone the least cost is known. Sums of terms, hinges, whole numbers, and a score that must
reach several others are a mixed-integer program (:mod:`pldc.function.integer_program`). For f ≤ τ both parts change
places.

Programs are solved up to a tolerance. Along numbers that vary freely they ask for a hair more than τ. Whole numbers may
reach τ without a hair to spare: a program that asks for a little less finds them, its point is tested with the function
itself, and if it falls short it is cut off and the program solved again. No point is returned that fails the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from pldc.function.integer_program import CLOSE, nearest_by_integers
from pldc.function.linear_programs import TIGHT
from pldc.function.max_affine import Array
from pldc.function.near_start import near_point, nearer, pulled_back
from pldc.function.pldc import PLDC
from pldc.function.term import Term, scattered

SPAN = 1e3  # of the values over the box, in the units of the programs
SLACK = 1e-6  # in these units: what solvers take for nothing
HAIR = 1e-7  # of the step in value, by which the threshold is passed: rounding must not undo it
HAIRS = 5  # each ten times the last
MOST_CUTS, FEW_CUTS = 32, 4  # of whole numbers alone, and beside others
TRIFLE = 1e-9  # of the distance, that no feature is moved by
MOST_STEPS, TRIES = 4, 512  # neighbours, by steps of rounding, of a point that falls short of the threshold by it
SCATTERED, SHARE = 512, 0.2  # points to find one beyond the threshold from, and of the time that this may take


class Nearest(NamedTuple):
    """The nearest point beyond a threshold.

    Attributes
    ----------
    point : array of shape (d,) or None
        None: there is none within the bounds.
    cost : float
        Its distance.
    bound : float
        No point is nearer than this; equal to `cost` but for rounding unless time was out.
    """

    point: Array | None
    cost: float
    bound: float


@dataclass(frozen=True, eq=False)
class Lead:
    """How far a function leads the highest of some others; the function itself, if there are none."""

    wanted: PLDC
    others: tuple[PLDC, ...] = ()
    wins_ties: tuple[bool, ...] = ()  # of each other function: the lead over it must be above zero

    def __call__(self, X: Array) -> Array:
        """Evaluate at the rows of X."""
        values = self.wanted(X)
        return values - np.max([f(X) for f in self.others], axis=0) if self.others else values

    def beyond(self, X: Array, threshold: float) -> np.ndarray:
        """Tell at which rows of X it reaches the threshold and loses no tie, one row at a time as for a prediction."""
        out = np.zeros(len(X), dtype=bool)
        for k, row in enumerate(X[:, None]):
            value, rivals = self.wanted(row)[0], [f(row)[0] for f in self.others]
            pairs = zip(rivals, self.wins_ties, strict=True)
            out[k] = all(value > f if wins else value >= f for f, wins in pairs) if rivals else value >= threshold
        return out

    def moved(self, by: Array) -> Lead:
        """Return x ↦ lead(x − by)."""
        return Lead(self.wanted.moved(by), tuple(f.moved(by) for f in self.others), self.wins_ties)

    def scaled(self, by: float) -> Lead:
        """Return x ↦ by · lead(x)."""
        return Lead(by * self.wanted, tuple(by * f for f in self.others), self.wins_ties)


def nearest_beyond(
    f: Lead,
    x: Array,
    threshold: float,
    cost: Array,
    box: Array,
    max_seconds: float,
    whole: np.ndarray | None,
) -> Nearest:
    """Find the nearest point that is beyond the threshold; the parameters are those of ``nearest_crossing``."""
    whole = np.zeros(len(x), dtype=bool) if whole is None else whole
    box = _inward(x, box, whole)
    search = _Search(f, x, threshold, cost, box, max_seconds, whole & (box[:, 1] > box[:, 0]))
    found = search.drawn_in(search.among_whole() if search.whole.any() else search.with_hair())
    return found._replace(bound=min(found.bound, found.cost) * (1 - CLOSE))


class _Search:
    """The programs of one question: functions of x − origin, in units in which they span the same over the box."""

    def __init__(
        self, f: Lead, x: Array, threshold: float, cost: Array, box: Array, max_seconds: float, whole: np.ndarray
    ):
        self.f, self.x, self.threshold, self.cost, self.box, self.whole = f, x, threshold, cost, box, whole
        self.last = monotonic() + max_seconds
        self.end = self.last - SHARE * max_seconds  # of programs; the rest draws their answer in
        self.start: Array | None = None  # of x − origin
        self.origin = f.wanted.origin
        near = f.moved(-self.origin)
        here = float(near((x - self.origin)[None])[0])
        values = near(scattered(near.wanted.centred, box - self.origin[:, None], SCATTERED))
        size = max(float(np.abs(values - here).max()), abs(threshold - here)) or 1.0
        self.near, self.target = near.scaled(SPAN / size), threshold * (SPAN / size)
        self.hair = max(HAIR * abs(threshold - here) * (SPAN / size), SLACK)

    def with_hair(self) -> Nearest:
        """Ask for a hair more than the threshold, and for more where rounding undoes it."""
        first = self._program(self.hair)
        found = self._tested(first)
        more = [0.0] if first.point is None else [self.hair * 10.0**k for k in range(1, HAIRS)]
        for hair in more:
            if found.point is not None or monotonic() > self.end:
                break
            found = self._tested(self._program(hair))
        return found._replace(bound=first.bound if found.point is None else min(first.bound, found.bound))

    def among_whole(self) -> Nearest:
        """Ask for a little less, and cut off what is not beyond the threshold after all."""
        mixed = bool((~self.whole & (self.box[:, 1] > self.box[:, 0])).any())
        best = self.with_hair() if mixed else Nearest(None, np.inf, np.inf)
        least = best.bound  # of all that have a hair to spare; programs with cuts speak of the others
        lower, cuts = least, list[Array]()
        for _ in range(FEW_CUTS if mixed else MOST_CUTS):
            found = self._program(-SLACK, best.point, cuts)
            lower = min(least, found.bound)
            if found.cost >= best.cost * (1 - CLOSE):
                break
            tested = self._tested(found)
            if tested.point is not None:
                best = tested
                break
            if monotonic() > self.end:
                break
            if not cuts and not mixed:
                best = self.with_hair()
            steps = np.round(found.point - (self.x - self.origin)) * self.whole
            if mixed:  # the threshold and no more, with the whole numbers held
                held = np.where(self.whole[:, None], (self.x + steps)[:, None], self.box)
                exact = self._tested(self._program(0.0, best.point, box=held))
                best, least = min(exact, best, key=lambda one: one.cost), min(least, found.bound)
            cuts.append(steps)
        return self._nearer(best)._replace(bound=lower)

    def _program(
        self, more: float, known: Array | None = None, cuts: Sequence[Array] = (), box: Array | None = None
    ) -> Nearest:
        """Find the nearest point that is so much beyond the threshold; of x − origin, and up to tolerance."""
        f, x, cost, whole = self.near, self.x - self.origin, self.cost, self.whole
        held, box = box is not None, (self.box if box is None else box) - self.origin[:, None]
        if known is not None:
            known = known - self.origin
        elif not cuts and not held:
            known = self.start = self._quick_start(self.target + max(more, self.hair))
        if self._of_pieces():
            return _nearest_of_pieces(f.wanted.centred[0], x, self.target + more, cost, box, known)
        if known is not None:  # nothing beyond its distance matters
            reach = float(cost @ np.abs(known - x)) / cost
            near = np.column_stack([np.maximum(box[:, 0], x - reach), np.minimum(box[:, 1], x + reach)])
            box = box if held else _inward(x, near, whole)
        lots = [(-other).terms for other in f.others]
        seconds = max(self.end - monotonic(), SLACK)
        return Nearest(
            *nearest_by_integers(f.wanted.centred, x, self.target + more, cost, box, known, seconds, whole, lots, cuts)
        )

    def _of_pieces(self) -> bool:
        """Say whether linear programs, piece by piece, answer: they need no near start."""
        return self.f.wanted.is_plain and not self.f.others and not self.whole.any()

    def _quick_start(self, target: float) -> Array | None:
        """Return a point that is beyond the target, of x − origin, or None where none is found at once."""
        x, box, now = self.x - self.origin, self.box - self.origin[:, None], monotonic()
        ends = np.vstack([scattered(self.near.wanted.centred, box, SCATTERED), *_single(x, box)])
        end = now if self._of_pieces() else now + SHARE * (self.end - now)
        return near_point(self.near, x, target, ends, self.cost, box, self.whole, end)

    def drawn_in(self, found: Nearest) -> Nearest:
        """Draw an answer that time kept from being proved the nearest as near as moves and steps back take it."""
        if self._of_pieces() or (found.point is not None and found.cost <= found.bound * (1 + SLACK)):
            return found
        begin = self.start if found.point is None else found.point - self.origin
        if begin is None:
            return found
        x, box, target = self.x - self.origin, self.box - self.origin[:, None], self.target + self.hair
        near = nearer(self.near, begin, x, target, self.cost, box, self.whole, self.last)
        tested = self._tested(Nearest(near, float(np.abs(near - x) @ self.cost), found.bound))
        found = min(found, tested, key=lambda one: one.cost)
        if found.point is None:
            return found
        point = pulled_back(
            lambda rows: self.f.beyond(rows, self.threshold), found.point, self.x, self.cost, self.whole
        )
        return found._replace(point=point, cost=float(np.abs(point - self.x) @ self.cost))

    def _tested(self, found: Nearest) -> Nearest:
        """Return what a program found as a point that is beyond the threshold, or as none.

        Far from zero numbers are some way apart: a point may be so only after a few steps of rounding.
        """
        if found.point is None:
            return found
        x, whole = self.x, self.whole
        moved = found.point - (x - self.origin)
        moved[np.abs(moved) * self.cost <= TRIFLE * found.cost] = 0.0  # rounding of the programs is no change
        moved = np.where(whole, np.round(moved), moved)
        near = np.random.RandomState(0).randint(-MOST_STEPS, MOST_STEPS + 1, (TRIES, len(x)))
        for steps in (np.zeros((1, len(x))), near):
            tried = np.clip(x + moved + steps * np.spacing(np.abs(x + moved)), self.box[:, 0], self.box[:, 1])
            tried = np.where(moved == 0, x, np.where(whole, x + moved, tried))
            costs = np.where(self.f.beyond(tried, self.threshold), np.abs(tried - x) @ self.cost, np.inf)
            best = int(costs.argmin())
            if costs[best] < np.inf:
                return found._replace(point=tried[best], cost=float(costs[best]))
            if not (moved * ~whole).any():
                break
        return Nearest(None, np.inf, found.bound)

    def _nearer(self, found: Nearest) -> Nearest:
        """Take whole steps back towards x for as long as that does: solvers round where ranges are wide."""
        point = found.point
        while point is not None:
            gap = np.round(point - self.x) * self.whole
            back = [k * np.sign(gap) * row for row in np.eye(len(gap)) for k in range(1, 5) if abs(gap @ row) >= k]
            tried = point - np.array(back).reshape(-1, len(gap))
            tried = tried[self.f.beyond(tried, self.threshold)]
            if not len(tried):
                break
            point = tried[(np.abs(tried - self.x) @ self.cost).argmin()]
            found = found._replace(point=point, cost=float(np.abs(point - self.x) @ self.cost))
        return found


def _inward(x: Array, box: Array, whole: np.ndarray) -> Array:
    """Return a box whose ends are whole steps away from x, where features are."""
    steps = np.floor(np.abs(box - x[:, None]) * (1 + TRIFLE) + TRIFLE)
    return np.where(whole[:, None], x[:, None] + steps * [-1.0, 1.0], box)


def _single(x: Array, box: Array, count: int = 16) -> list[Array]:
    """Return points that differ from x in one feature."""
    out = []
    for j, (low, high) in enumerate(box):
        if high > low:
            points = np.tile(x, (count, 1))
            points[:, j] = np.linspace(low, high, count)
            out.append(points)
    return out


def _nearest_of_pieces(term: Term, x: Array, target: float, cost: Array, box: Array, known: Array | None) -> Nearest:
    """Solve a linear program for each piece of the plus part, the most promising first."""
    plus, minus = term.parts
    up, down = box[:, 1] - x, x - box[:, 0]
    value_plus, value_minus = plus.slopes @ x + plus.offsets, minus.slopes @ x + minus.offsets
    bounds = np.column_stack([np.zeros(2 * len(x)), np.concatenate([up, down]) * np.tile(cost, 2)])
    best, distance = known, np.inf if known is None else float(cost @ np.abs(known - x))
    lower = np.empty(plus.n_pieces)
    for k in range(plus.n_pieces):
        short = value_minus + target - value_plus[k]  # that each inequality lacks at x
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.abs((plus.slopes[k] - minus.slopes) / cost).max(axis=1)
            lower[k] = np.where(short > 0, short / gain, 0.0).max()
    for k in np.argsort(lower, kind="stable"):
        if lower[k] >= distance:
            break
        rows = (minus.slopes - plus.slopes[k]) / cost  # in units of cost
        size = np.maximum(np.abs(rows).max(axis=1), np.finfo(float).tiny)
        found = linprog(
            np.ones(2 * len(x)),
            A_ub=np.hstack([rows, -rows]) / size[:, None],
            b_ub=(value_plus[k] - value_minus - target) / size,
            bounds=bounds,
            options=TIGHT,
        )
        if found.x is not None and found.fun < distance:
            moved = (found.x[: len(x)] - found.x[len(x) :]) / cost
            best, distance = np.clip(x + moved, box[:, 0], box[:, 1]), float(found.fun)
    return Nearest(best, distance, distance)
