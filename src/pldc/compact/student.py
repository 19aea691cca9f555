"""One function of few pieces, or one for the score of each class, learned from a larger model and the rows together.

The larger model, the teacher, says what to think of points where there is no row: between near neighbours. A few pieces
fitted to rows and such points together predict far better than the same pieces fitted to the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from pldc.compact.members import Candidate, Task, fit_member
from pldc.compact.soft_labels import SoftLabels, membership
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.losses import Loss, Squared
from pldc.problem.recipe import Rows

MOST_ROWS = 20_000  # that a student looks at
LESSON_POINTS, FRESH_POINTS = 4000, 2000  # between rows: to learn from, and to choose by
CLASS_POINTS = 2000  # to learn classes from: a probability at a point says more than a value
NEIGHBOURS = 8
ROWS_SHARE = 0.15  # weight of the rows, beside the points
TEACHER_SHARE = 0.5  # in the teacher at a row, beside its target
KNOTS = 8  # of monotone students: plain pieces exclude an S
STARTS, CLASS_STARTS = 12, 4
RIDGES, ROUNDS, STEPS = (1e-5, 1e-3), 1, 150
CLASS_RIDGES, CLASS_STEPS = (1e-3,), 100
SHORT_STEPS = 60  # steps of a student for whom no time is left


class Student(NamedTuple):
    """What was learned from a teacher.

    Attributes
    ----------
    functions : tuple of PLDC
        One, or the score of each class.
    fidelity : float
        At fresh points: R² of its values to the teacher's; of classes, the share where both say the same.
    """

    functions: tuple[PLDC, ...]
    fidelity: float

    @property
    def function(self) -> PLDC:
        """That of a regression."""
        (one,) = self.functions
        return one


def between(Z: Array, X: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw points on the segments from rows of X to near neighbours, near in the coordinates Z."""
    near = min(NEIGHBOURS, len(Z) - 1)
    if near < 1:
        return X[rng.integers(len(X), size=count)]
    neighbour = cKDTree(Z).query(Z, near + 1)[1]
    i = rng.integers(len(X), size=count)
    j = neighbour[i, rng.integers(1, near + 1, size=count)]
    return np.asarray(X[i] + rng.random(count)[:, None] * (X[j] - X[i]))


def learn(
    task: Task,
    teacher: Callable[[Array], Array],
    n_pieces: int,
    *,
    limits: tuple[float, float] = (-np.inf, np.inf),
    starts: int = STARTS,
    seed: int = 0,
    pool: ThreadPoolExecutor | None = None,
    stop: Callable[[], bool] | None = None,
) -> Student:
    """Learn `n_pieces` pieces a part.

    Parameters
    ----------
    task : Task
        Its rows are in no order that means anything: of many, the first are looked at.
    teacher : callable
        Rows of X to values (n,), or to probabilities of the classes (n, m).
    n_pieces : int
    limits : (float, float)
        Range that values are cut to.
    starts : int
        Of which the best is taken.
    """
    stop = stop or never
    rows = task.rows.take(np.arange(min(len(task.rows.y), MOST_ROWS)))
    rng = np.random.default_rng(seed)
    Z = task.units.scale_X(rows.X)
    scores = task.loss.scores
    count = CLASS_POINTS if scores else LESSON_POINTS
    points, fresh = between(Z, rows.X, count, rng), between(Z, rows.X, FRESH_POINTS, rng)
    known, wanted = teacher(points), teacher(fresh)
    at_rows = teacher(rows.X)
    if task.loss.of_means or scores:  # targets of other losses are not what the function shall be
        own = membership(rows.y, task.classes) if scores else rows.y
        at_rows = TEACHER_SHARE * at_rows + (1 - TEACHER_SHARE) * own
    weight = np.append(ROWS_SHARE * rows.weight / rows.weight.sum(), np.full(count, (1 - ROWS_SHARE) / count))
    order = rng.permutation(len(weight))
    together = Rows(np.vstack([rows.X, points]), np.concatenate([at_rows, known]), weight).take(order)
    loss: Loss = SoftLabels() if scores else Squared()
    lesson = replace(task, rows=together, loss=loss)
    signed = bool(task.monotone.any())
    rounds = 0 if signed else ROUNDS
    knots = KNOTS if signed and task.shape == "dc" else 0
    ridges, steps = (CLASS_RIDGES, CLASS_STEPS) if scores else (RIDGES, STEPS)
    candidate = Candidate(knots, n_pieces, ridges, rounds, steps)

    if stop():  # too late for more than one short attempt
        starts, candidate = 1, replace(candidate, rounds=0, steps=SHORT_STEPS)

    groups = np.broadcast_to(together.weight, (starts, len(weight)))
    fits = fit_member(lesson, candidate, groups, seed, pool, stop if starts > 1 else never, apart=True)
    found = [fit.functions(g, k) for fit in fits for g in range(starts) for k in range(len(ridges))]

    def values(functions: tuple[PLDC, ...], X: Array) -> Array:
        each = np.clip([f(X) for f in functions], *limits)
        return each if scores else each[0]

    def error(functions: tuple[PLDC, ...]) -> float:
        missed = rows.weight / rows.weight.sum() @ loss.at(values(functions, rows.X), at_rows)
        return float(ROWS_SHARE * missed + (1 - ROWS_SHARE) * np.mean(loss.at(values(functions, fresh), wanted)))

    best = min(found, key=error)
    said = values(best, fresh)
    return Student(best, agreement(said, wanted.argmax(axis=1)) if scores else r_squared(said, wanted))


def never() -> bool:
    """Do not stop."""
    return False


def r_squared(values: Array, target: Array, weight: Array | None = None) -> float:
    """Return the share of the variance of `target` that the values explain; one where there is none to explain."""
    w = np.full(len(target), 1 / len(target)) if weight is None else weight / weight.sum()
    spread = float(w @ (target - w @ target) ** 2)
    missed = float(w @ (target - values) ** 2)
    rounding = 1e-24 * float(w @ target**2)
    return 1.0 - missed / spread if spread > rounding else float(missed <= rounding)


def agreement(scores: Array, label: Array, weight: Array | None = None) -> float:
    """Return the share of the rows at which the highest of the scores (m, n) is that of the label."""
    return float(np.average(scores.argmax(axis=0) == label, weights=weight))
