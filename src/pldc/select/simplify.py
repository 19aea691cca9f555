"""What few pieces cost: a student of the whole model, and one of every fold's, scored at the rows that it left out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from pldc.compact.members import Task
from pldc.compact.search import Clock, Split
from pldc.compact.student import STARTS, Student, learn, r_squared
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Recipe, Rows
from pldc.select.few_pieces import robust_units
from pldc.select.intervals import CrossFit
from pldc.solve.workers import Workers

FOR_THE_WHOLE = 0.8  # share of a limit on time, the beginning included, after which the folds have their turn
IN_A_FOLD = STARTS // 3  # starts of the student of a fold


@dataclass(frozen=True)
class Simplification:
    """A model of few pieces beside the one that it was learned from.

    Attributes
    ----------
    n_pieces : (int, int)
        Of the plus and of the minus part.
    fidelity : float
        R² of the few pieces to the larger model, at rows that neither had seen; mean over the folds. Of a fit that was
        ended early: at fresh points between the rows.
    score : float
        Cross-validated score of the few pieces; NaN for a fit that was ended early. Without `scoring` it is the mean
        loss of standardised targets, negative: for the squared loss about R² − 1.
    score_before : float
        Cross-validated score of the larger model, on the same folds.
    """

    n_pieces: tuple[int, int]
    fidelity: float
    score: float
    score_before: float

    def __str__(self) -> str:
        plus, minus = self.n_pieces
        scores = f"cross-validated score {self.score:.4g}, {self.score_before:.4g} before"
        if np.isnan(self.score):
            scores = "not cross-validated, for want of time"
        return f"{plus} − {minus} pieces: {scores}; fidelity {self.fidelity:.3f}"


def simplified(
    recipe: Recipe,
    rows: Rows,
    teacher: PLDC,
    n_pieces: int,
    folds: CrossFit,
    splits: list[Split],
    *,
    score: Callable[[Array, Rows], float],
    clip: bool,
    seed: int,
    threads: int | None,
    clock: Clock,
) -> tuple[PLDC, Simplification, CrossFit | None]:
    """Learn few pieces from `teacher`, and from the fits of its folds to say what that costs.

    Returned are the function, what is to be said of it, and the students of the folds; none where time was out.
    """

    def student(part: Rows, function: PLDC, starts: int, pool: ThreadPoolExecutor | None, share: float) -> Student:
        task = Task(part, robust_units(part, recipe), recipe.residual_loss, recipe.shape, recipe.monotone)
        limits = span(part) if clip else (-np.inf, np.inf)

        def values(X: Array) -> Array:
            return np.clip(function(X), *limits) if recipe.shape == "dc" else function(X)  # cut, it would not be convex

        settings = {"limits": limits, "starts": starts, "seed": seed, "pool": pool}
        return learn(task, values, n_pieces, stop=lambda: clock.over(share), **settings)  # type: ignore[arg-type]

    def short(found: Student) -> PLDC:
        return found.function.prune() if found.function.is_plain else found.function

    others: list[Student] = []
    with Workers(threads) as workers:
        whole = student(rows, teacher, 1 if clock.over() else STARTS, workers.pool, FOR_THE_WHOLE)
        for function, (train, _) in zip(folds.functions, splits, strict=True):
            if clock.over():
                break
            others.append(student(rows.take(train), function, IN_A_FOLD, workers.pool, 1.0))
    few = short(whole)
    if len(others) < len(splits) or not splits:
        return few, Simplification(few.n_pieces, whole.fidelity, np.nan, np.nan), None
    tests = [rows.take(test) for _, test in splits]
    new = [np.clip(s.function(t.X), *cut) for s, t, cut in zip(others, tests, folds.limits, strict=True)]
    old = [np.clip(f(t.X), *cut) for f, t, cut in zip(folds.functions, tests, folds.limits, strict=True)]
    share = np.array([t.weight.sum() for t in tests])
    share /= share.sum()

    def mean(values: list[float]) -> float:
        return float(share @ values)

    about = Simplification(
        n_pieces=few.n_pieces,
        fidelity=mean([r_squared(a, b, t.weight) for a, b, t in zip(new, old, tests, strict=True)]),
        score=mean([score(v, t) for v, t in zip(new, tests, strict=True)]),
        score_before=mean([score(v, t) for v, t in zip(old, tests, strict=True)]),
    )
    residuals = [np.abs(t.y - v) for t, v in zip(tests, new, strict=True)]
    return few, about, replace(folds, functions=[s.function for s in others], residuals=residuals)


def span(rows: Rows) -> tuple[float, float]:
    """Range of the targets."""
    return float(rows.y.min()), float(rows.y.max())
