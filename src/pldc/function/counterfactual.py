"""What would change a prediction: the nearest point at which a function crosses a threshold, by an exact program.

Distance is Σ cost_j |x_j − z_j|. Where f = φ₁ − φ₂ has one plain term, the points with f ≥ τ are a union of polyhedra,
one for each piece of φ₁:

    { z : b_l·z + β_l + τ ≤ a_k·z + α_k for all pieces l of φ₂ },

so the answer is the best of as many small linear programs. Programs whose bound is no better than what was found are
left out: of one inequality alone the least cost is known. Sums of terms, hinges, whole numbers, and a score that must
reach several others are a mixed-integer program (:mod:`pldc.function.integer_program`). For f ≤ τ both parts change
places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from pldc.function.integer_program import nearest_by_integers
from pldc.function.linear_programs import TIGHT
from pldc.function.max_affine import Array
from pldc.function.numbers import number, table
from pldc.function.pldc import PLDC
from pldc.function.term import Term, scattered

HAIR = 1e-7  # of the step in value, by which the threshold is passed: rounding must not undo it
TRIFLE = 1e-9  # of the distance, that no feature is moved by
MOST_STEPS, TRIES = 4, 512  # neighbours, by steps of rounding, of a point that falls short of the threshold by it
LEAST_LEAD = 1e-3  # of scores that tie: a hair of it
HALVINGS, SCATTERED = 50, 512  # to find some point beyond the threshold


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """What would change a prediction: the nearest row at which it reaches a threshold.

    Attributes
    ----------
    features : tuple of str
        Names of the d columns.
    x, point : arrays of shape (d,)
        The cells of the row that was given, and of the nearest one beyond the threshold.
    prediction, reached : float
        At the two; of classes their labels.
    threshold : float
        Of classes the label that was looked for.
    cost : float
        Distance of the two: of each column its change in standard deviations, times its cost.
    bound : float
        No row is nearer than this. Equal to `cost`, but for rounding, unless time was out.
    """

    features: tuple[str, ...]
    x: Array
    point: Array
    prediction: Any
    reached: Any
    threshold: Any
    cost: float
    bound: float

    @property
    def changes(self) -> dict[str, Any]:
        """What is to be added to the cell of each column that changes."""
        return {self.features[k]: self.point[[k]].tolist()[0] - self.x[[k]].tolist()[0] for k in self._moved()}

    def _moved(self) -> list[int]:
        """Columns whose cells differ; those that stay are the same objects, or equal numbers, or no numbers."""
        pairs = enumerate(zip(self.x, self.point, strict=True))
        return [k for k, (a, b) in pairs if not (a is b or a == b or a != a)]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values."""
        return {
            "point": dict(zip(self.features, self.point.tolist(), strict=True)),
            "changes": self.changes,
            "prediction": self.prediction,
            "reached": self.reached,
            "threshold": self.threshold,
            "cost": self.cost,
            "bound": self.bound,
        }

    def __str__(self) -> str:
        body = [[self.features[k], written(self.x[k]), written(self.point[k])] for k in self._moved()]
        lines = table(
            ["column", "is", "would be"], [*body, ["prediction", written(self.prediction), written(self.reached)]]
        )
        lines.append(f"distance {number(self.cost, 3)} standard deviations")
        if self.bound < self.cost * (1 - 1e-3):
            lines[-1] += f"; time was out: no row is nearer than {number(self.bound, 3)}"
        return "\n".join(lines)


def written(cell: Any) -> str:
    """Write a cell: a number with the digits that matter, all else as it is."""
    return number(cell) if isinstance(cell, float) else str(cell)


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

    def __call__(self, X: Array) -> Array:
        """Evaluate at the rows of X."""
        values = self.wanted(X)
        return values - np.max([f(X) for f in self.others], axis=0) if self.others else values

    def moved(self, by: Array) -> Lead:
        """Return x ↦ lead(x − by)."""
        return Lead(self.wanted.moved(by), tuple(f.moved(by) for f in self.others))


def nearest_crossing(
    function: PLDC,
    x: Array,
    threshold: float,
    cost: Array,
    box: Array,
    max_seconds: float = 60.0,
    whole: np.ndarray | None = None,
) -> Nearest:
    """Find the nearest point to x at which f is on the other side of the threshold.

    Parameters
    ----------
    function : PLDC
    x : array of shape (d,)
        Within the box.
    threshold : float
    cost : array of shape (d,)
        Of one unit of each feature, above 0.
    box : array of shape (d, 2)
        Finite lower and upper ends; equal where a feature is fixed.
    max_seconds : float
        For the mixed-integer program; afterwards the best point so far is returned, and its bound.
    whole : bool array of shape (d,), optional
        Features that are whole steps away from x.
    """
    step = threshold - float(function(x[None])[0])
    if step == 0:
        return Nearest(x.copy(), 0.0, 0.0)
    sign = 1.0 if step > 0 else -1.0
    hair = HAIR * abs(step)
    return _nearest_beyond(Lead(sign * function), x, sign * threshold, hair, cost, box, max_seconds, whole)


def nearest_lead(
    functions: Sequence[PLDC],
    wanted: int,
    x: Array,
    cost: Array,
    box: Array,
    max_seconds: float = 60.0,
    whole: np.ndarray | None = None,
) -> Nearest:
    """Find the nearest point to x at which one of several functions is the highest; the rest as above."""
    lead = Lead(functions[wanted], tuple(f for k, f in enumerate(functions) if k != wanted))
    value = float(lead(x[None])[0])
    if value > 0:
        return Nearest(x.copy(), 0.0, 0.0)
    return _nearest_beyond(lead, x, 0.0, HAIR * max(-value, LEAST_LEAD), cost, box, max_seconds, whole)


def _nearest_beyond(
    f: Lead,
    x: Array,
    threshold: float,
    hair: float,
    cost: Array,
    box: Array,
    max_seconds: float,
    whole: np.ndarray | None,
) -> Nearest:
    """Find the nearest point with f ≥ threshold, by programs that ask for a hair more."""
    origin = f.wanted.origin
    near = f.moved(-origin)  # a function of x − origin, as are all numbers below
    whole = np.zeros(len(x), dtype=bool) if whole is None else whole
    box = _inward(x, box, whole)
    whole = whole & (box[:, 1] > box[:, 0])
    found = _nearest(near, x - origin, threshold + hair, cost, box - origin[:, None], max_seconds, whole)
    if found.point is None:
        return found
    moved = found.point - (x - origin)
    moved[np.abs(moved) * cost <= TRIFLE * found.cost] = 0.0  # rounding of the programs is no change
    return _rounded(f, x, np.where(whole, np.round(moved), moved), threshold, found, cost, box, whole)


def _inward(x: Array, box: Array, whole: np.ndarray) -> Array:
    """Return a box whose ends are whole steps away from x, where features are."""
    steps = np.floor(np.abs(box - x[:, None]) * (1 + TRIFLE) + TRIFLE)
    return np.where(whole[:, None], x[:, None] + steps * [-1.0, 1.0], box)


def _rounded(
    f: Lead,
    x: Array,
    moved: Array,
    threshold: float,
    found: Nearest,
    cost: Array,
    box: Array,
    whole: np.ndarray,
) -> Nearest:
    """Return x + moved in numbers that there are; far from zero they are some way apart, and one may fall short."""
    near = np.random.RandomState(0).randint(-MOST_STEPS, MOST_STEPS + 1, (TRIES, len(x)))
    tried = x + moved + np.vstack([np.zeros(len(x)), near]) * np.spacing(np.abs(x + moved))
    tried = np.where(moved == 0, x, np.where(whole, x + moved, np.clip(tried, box[:, 0], box[:, 1])))
    costs, beyond = np.abs(tried - x) @ cost, f(tried) >= threshold
    if beyond[0] or not beyond.any():
        return found._replace(point=tried[0])
    best = int(np.where(beyond, costs, np.inf).argmin())
    return found._replace(point=tried[best], cost=max(found.cost, float(costs[best])))


def _nearest(
    f: Lead, x: Array, target: float, cost: Array, box: Array, max_seconds: float, whole: np.ndarray
) -> Nearest:
    """Find the nearest point with f ≥ target, of a function whose centre is the origin."""
    known = _some_point(f, x, target, cost, box, whole)
    if f.wanted.is_plain and not f.others and not whole.any():
        return _nearest_of_pieces(f.wanted.centred[0], x, target, cost, box, known)
    if known is not None:  # nothing beyond its distance matters
        reach = float(cost @ np.abs(known - x)) / cost
        box = np.column_stack([np.maximum(box[:, 0], x - reach), np.minimum(box[:, 1], x + reach)])
        box = _inward(x, box, whole)
    others = [(-other).terms for other in f.others]
    return Nearest(*nearest_by_integers(f.wanted.centred, x, target, cost, box, known, max_seconds, whole, others))


def _some_point(f: Lead, x: Array, target: float, cost: Array, box: Array, whole: np.ndarray) -> Array | None:
    """Return a point with f ≥ target that is not far, or None: the best of some ways to points of the box."""
    ends = np.vstack([scattered(f.wanted.centred, box, SCATTERED), *_single(x, box)])
    if whole.any():
        ends = np.vstack([np.where(whole, x + np.round(ends - x), ends), np.where(whole, x, ends)])
    ends = ends[f(ends) >= target]
    if not len(ends):
        return None
    start = np.where(whole, ends, x)  # what moves by whole steps does so at once
    low, high = np.zeros(len(ends)), np.ones(len(ends))  # f ≥ target at high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        there = f(start + middle[:, None] * (ends - start)) >= target
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    found = np.clip(start + high[:, None] * (ends - start), box[:, 0], box[:, 1])
    found = found[f(found) >= target]
    if not len(found):
        return None
    return np.asarray(found[(np.abs(found - x) @ cost).argmin()])


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
