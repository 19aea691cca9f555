"""What few pieces cost: a student of the whole model, and one of every fold's, scored at the rows that it left out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.student import STARTS, Student, learn, r_squared
from pldc.fit.few_pieces import task_of
from pldc.fit.settings import Settings
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.model import Model, Simplification
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit
from pldc.solve.workers import Workers

FOR_THE_WHOLE = 0.8  # share of a limit on time, the beginning included, after which the folds have their turn
STARTS_IN_A_FOLD = STARTS // 3


def simplified(
    teacher: Model, folds: CrossFit | None, rows: Rows, n_pieces: int, settings: Settings, clock: Clock
) -> tuple[Model, CrossFit | None, bool]:
    """Learn few pieces from a model; those of the fits of its folds say what that costs.

    Returned are the model, the students of the folds (none where time was out), and whether Ctrl-C ended it.
    """
    interrupted = False
    try:
        few, about, students = learned(teacher.function, folds, rows, n_pieces, settings, clock)
    except KeyboardInterrupt:  # one short attempt without folds: seconds are not spent again
        clock.cancelled = interrupted = True
        few, about, students = learned(teacher.function, folds, rows, n_pieces, settings, clock)
    model = replace(
        teacher,
        kind="simplified",
        functions=(few,),
        simplification=about,
        program=None,
        errors=None,
        cv_score=None if students is None else about.score,
    )
    return model, students, interrupted


def learned(
    teacher: PLDC, folds: CrossFit | None, rows: Rows, n_pieces: int, settings: Settings, clock: Clock
) -> tuple[PLDC, Simplification, CrossFit | None]:
    """Learn from the teacher and, in the time left, from the fits of its folds."""
    recipe, clip = settings.recipe, settings.clip

    def student(part: Rows, function: PLDC, starts: int, pool: ThreadPoolExecutor | None, share: float) -> Student:
        limits = (float(part.y.min()), float(part.y.max())) if clip else (-np.inf, np.inf)

        def values(X: Array) -> Array:
            return np.clip(function(X), *limits) if recipe.shape == "dc" else function(X)  # cut, it would not be convex

        return learn(
            task_of(part, recipe),
            values,
            n_pieces,
            limits=limits,
            starts=starts,
            seed=settings.starts_seed,
            pool=pool,
            stop=lambda: clock.over(share),
        )

    others: list[Student] = []
    with Workers(settings.threads) as workers:
        whole = student(rows, teacher, 1 if clock.over() else STARTS, workers.pool, FOR_THE_WHOLE)
        for function, (train, _) in [] if folds is None else zip(folds.functions, folds.splits, strict=True):
            if clock.over():
                break
            others.append(student(rows.take(train), function, STARTS_IN_A_FOLD, workers.pool, 1.0))
    few = whole.function.prune() if whole.function.is_plain else whole.function
    if folds is None or len(others) < len(folds.splits):
        return few, Simplification(few.n_pieces, whole.fidelity, np.nan, np.nan), None
    tests = [rows.take(test) for _, test in folds.splits]
    new = [np.clip(s.function(t.X), *cut) for s, t, cut in zip(others, tests, folds.limits, strict=True)]
    old = [np.clip(f(t.X), *cut) for f, t, cut in zip(folds.functions, tests, folds.limits, strict=True)]
    share = np.array([t.weight.sum() for t in tests])
    share /= share.sum()
    score = settings.score_in_units_of(rows)

    def mean(values: list[float]) -> float:
        return float(share @ values)

    about = Simplification(
        n_pieces=few.n_pieces,
        fidelity=mean([r_squared(a, b, t.weight) for a, b, t in zip(new, old, tests, strict=True)]),
        score=mean([score(v, t) for v, t in zip(new, tests, strict=True)]),
        score_before=mean([score(v, t) for v, t in zip(old, tests, strict=True)]),
    )
    return few, about, replace(folds, functions=[s.function for s in others], values=new)
