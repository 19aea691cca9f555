"""Some point beyond a threshold that is near, quickly: where exact programs begin, and what is left if time is out.

Ways to points of the box are cut where the threshold is met. From the best of them seeded moves of one to three
features are tried, around them at sizes that shrink, and around x; each that stays beyond the threshold at less cost is
taken. At last every feature goes back towards x, one after the other, until the threshold is just met. Whole features
move by whole steps only.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np

from pldc.function.max_affine import Array

ROUGHLY, HALVINGS = 20, 50  # to find where many ways meet the threshold, and one
STARTS, FEW_ROUNDS = 8, 20  # points that moves begin from, and how many rounds of them
ROUNDS, MOVES, MOST_TRIED = 120, 2048, 256  # of moves; in a round; of these that are evaluated
DECADES = 3  # of the sizes of moves in a round
LEAST_MOVE = 1e-5  # of the distance, below which moves are not worth a round
Values = Callable[[Array], Array]


def near_point(
    f: Values, x: Array, target: float, ends: Array, cost: Array, box: Array, whole: np.ndarray, end: float
) -> Array | None:
    """Return a point with f ≥ target that is near x, or None; `ends` are points of the box to go towards.

    Moves stop at the time `end`.
    """
    if whole.any():
        ends = np.vstack([np.where(whole, x + np.round(ends - x), ends), np.where(whole, x, ends)])
    found = _met(f, x, target, ends, box, whole)
    if not len(found):
        return None

    def away(point: Array) -> float:
        return float(np.abs(point - x) @ cost)

    starts = sorted(found, key=away)[:STARTS]
    each = [nearer(f, point, x, target, cost, box, whole, end, FEW_ROUNDS) for point in starts]
    return nearer(f, min(each, key=away), x, target, cost, box, whole, end)


def _met(f: Values, x: Array, target: float, ends: Array, box: Array, whole: np.ndarray) -> Array:
    """Return where the ways from x to the ends meet the target, those that do."""
    ends = ends[f(ends) >= target] if len(ends) else ends
    if not len(ends):
        return ends
    start = np.where(whole, ends, x)  # what moves by whole steps does so at once
    low, high = np.zeros(len(ends)), np.ones(len(ends))  # f ≥ target at high
    for _ in range(ROUGHLY):
        middle = 0.5 * (low + high)
        there = f(start + middle[:, None] * (ends - start)) >= target
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    found = np.clip(start + high[:, None] * (ends - start), box[:, 0], box[:, 1])
    return found[f(found) >= target]


def nearer(
    f: Values,
    point: Array,
    x: Array,
    target: float,
    cost: Array,
    box: Array,
    whole: np.ndarray,
    end: float,
    rounds: int = ROUNDS,
) -> Array:
    """Return a point with f ≥ target that is no farther from x than the one given, which has it."""
    rng = np.random.RandomState(0)
    point, away = point.copy(), float(np.abs(point - x) @ cost)
    size, least = 0.5 * away, LEAST_MOVE * away
    for _ in range(rounds):
        if size <= least or monotonic() > end:
            break
        tried = _moved(rng, point, x, size, cost, box, whole)
        costs = np.abs(tried - x) @ cost
        order = np.flatnonzero(costs < away - 0.1 * least)[:MOST_TRIED]
        beyond = order[f(tried[order]) >= target] if len(order) else order
        if len(beyond):
            best = beyond[costs[beyond].argmin()]
            point, away = tried[best], float(costs[best])
        else:
            size *= 0.5
    return pulled_back(lambda rows: f(rows) >= target, point, x, cost, whole)


def _moved(
    rng: np.random.RandomState, point: Array, x: Array, size: float, cost: Array, box: Array, whole: Any
) -> Array:
    """Return points that differ in one to three features: from one by steps, or from x by as much as it does."""
    free, chosen = np.flatnonzero(box[:, 1] > box[:, 0]), np.zeros((MOVES, len(x)), dtype=bool)
    picks, count = rng.choice(free, (MOVES, 3)), rng.randint(1, 4, MOVES)
    for k in range(3):
        chosen[np.arange(MOVES), picks[:, k]] |= k < count
    steps, near = rng.normal(size=chosen.shape), np.arange(MOVES) % 2 == 0
    away = np.where(near, size, float(np.abs(point - x) @ cost))
    steps *= away[:, None] / cost * 10.0 ** -rng.uniform(0.0, DECADES, chosen.shape)  # some features bend at once
    steps = np.where(whole, np.sign(steps) * np.ceil(np.abs(steps)), steps)
    back = chosen & (rng.uniform(size=chosen.shape) < 0.25)
    begin = np.where(near[:, None], point, x)
    return np.clip(np.where(back, x, np.where(chosen, begin + steps, begin)), box[:, 0], box[:, 1])


def pulled_back(beyond: Callable[[Array], np.ndarray], point: Array, x: Array, cost: Array, whole: np.ndarray) -> Array:
    """Move a point that is beyond the threshold back towards x, feature by feature, until it is just met."""
    point = point.copy()
    for j in np.argsort(-np.abs(point - x) * cost, kind="stable"):
        if point[j] == x[j]:
            continue
        tried = point.copy()
        tried[j] = x[j]
        if beyond(tried[None])[0]:
            point = tried
            continue
        near, far = 0.0, abs(point[j] - x[j])  # beyond at far
        way = np.sign(point[j] - x[j])
        for _ in range(HALVINGS):
            middle = np.round(0.5 * (near + far)) if whole[j] else 0.5 * (near + far)
            if not near < middle < far:
                break
            tried[j] = x[j] + way * middle
            if beyond(tried[None])[0]:
                far, point = middle, tried.copy()
            else:
                near = middle
    return point
