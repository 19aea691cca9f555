"""What few pieces cost: a student of the whole model, and one of every fold's, scored at the rows that it left out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.student import CLASS_STARTS, STARTS, Student, agreement, learn, r_squared
from pldc.fit.few_pieces import at_level, in_few_digits, task_of, warmed
from pldc.fit.settings import Settings
from pldc.fit.steps import Steps
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.model import ClassSimplification, Model, Simplification
from pldc.problem.losses import LogLoss, softmax
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit
from pldc.solve.workers import Workers

FOR_THE_WHOLE = 0.8  # share of a limit on time, the beginning included, after which the folds have their turn
STARTS_IN_A_FOLD, CLASS_STARTS_IN_A_FOLD = STARTS // 3, 1

Functions = tuple[PLDC, ...]


class Learned(NamedTuple):
    """Few pieces of the whole model, and, where there was time, of the fits of all folds."""

    functions: Functions
    fidelity: float
    folds: CrossFit | None

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Pieces of the plus and of the minus part; of classes the most that a score has."""
        plus, minus = np.max([f.n_pieces for f in self.functions], axis=0)
        return int(plus), int(minus)


def simplified(
    teacher: Model,
    folds: CrossFit | None,
    rows: Rows,
    n_pieces: int,
    settings: Settings,
    clock: Clock,
    of_sample: bool = False,
) -> tuple[Model, CrossFit | None, bool]:
    """Learn few pieces from a model; those of the fits of its folds say what that costs.

    The folds may be of a sample of the rows that the model has seen. Returned are the model, the students of the folds
    (none where time was out), and whether Ctrl-C ended it.
    """
    interrupted = False
    try:
        few = learned(teacher, folds, rows, n_pieces, settings, clock, of_sample)
    except KeyboardInterrupt:  # one short attempt without folds: seconds are not spent again
        clock.cancelled = interrupted = True
        few = learned(teacher, folds, rows, n_pieces, settings, clock, of_sample)
    model = replace(teacher, kind="simplified", functions=few.functions, program=None, cv_score=None, errors=None)
    if settings.recipe.outputs > 1:
        return *of_classes(model, few, folds, settings), interrupted
    return of_values(model, few, folds, settings), few.folds, interrupted


def learned(
    teacher: Model,
    folds: CrossFit | None,
    rows: Rows,
    n_pieces: int,
    settings: Settings,
    clock: Clock,
    of_sample: bool = False,
) -> Learned:
    """Learn from the teacher and, in the time left, from the fits of its folds."""
    recipe, clip = settings.recipe, settings.clip and settings.recipe.outputs == 1
    factor = teacher.temperature or 1.0
    several, in_a_fold = STARTS, STARTS_IN_A_FOLD
    if recipe.outputs > 1:
        several, in_a_fold = CLASS_STARTS, CLASS_STARTS_IN_A_FOLD

    def student(
        part: Rows, functions: Functions, starts: int, pool: ThreadPoolExecutor | None, share: float
    ) -> Student:
        limits = (float(part.y.min()), float(part.y.max())) if clip else (-np.inf, np.inf)

        def values(X: Array) -> Array:
            if recipe.outputs > 1:
                return softmax(factor * np.array([f(X) for f in functions])).T
            (f,) = functions
            return np.clip(f(X), *limits) if recipe.shape == "dc" else f(X)  # cut, it would not be convex

        return learn(
            replace(task_of(part, recipe), device=settings.device),
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
        whole = student(rows, teacher.functions, 1 if clock.over() else several, workers.pool, FOR_THE_WHOLE)
        pairs = [] if folds is None else list(zip(folds.functions, folds.splits, strict=True))
        steps = Steps("learning few pieces", len(pairs), settings.level)
        for functions, (train, _) in pairs:
            if clock.over():
                break
            steps.begin()
            others.append(student(rows.take(train), functions, in_a_fold, workers.pool, 1.0))
    few, after = tuple(f.prune() if f.is_plain else f for f in whole.functions), None
    if folds is not None and len(others) == len(folds.splits):
        after = of_folds(others, folds, recipe.outputs > 1)
        if not of_sample:
            (few,), after = at_level([few], after, settings)
    return Learned(in_few_digits(few, task_of(rows, recipe)), whole.fidelity, after)


def of_folds(students: list[Student], folds: CrossFit, classes: bool) -> CrossFit:
    """Return the students of the fits of all folds in the place of these."""
    new = [
        np.clip([f(folds.rows.X[test]) for f in s.functions], *cut)
        for s, (_, test), cut in zip(students, folds.splits, folds.limits, strict=True)
    ]
    values = new if classes else [v[0] for v in new]
    return replace(folds, functions=[s.functions for s in students], values=values)


def of_values(model: Model, few: Learned, before: CrossFit | None, settings: Settings) -> Model:
    """Add what the few pieces of a regression cost."""
    if few.folds is None or before is None:
        return replace(model, simplification=Simplification(few.n_pieces, few.fidelity, np.nan, np.nan))
    after, score = few.folds, settings.score_in_units_of(before.rows)
    old = [
        np.clip(f(before.rows.X[test]), *cut)
        for (f,), (_, test), cut in zip(before.functions, before.splits, before.limits, strict=True)
    ]
    about = Simplification(
        n_pieces=few.n_pieces,
        fidelity=after.mean(lambda v, t, k: r_squared(v, old[k], t.weight)),
        score=after.mean(lambda v, t, _: score(v, t)),
        score_before=replace(before, values=old).mean(lambda v, t, _: score(v, t)),
        squared=settings.score is None and settings.recipe.loss.name == "squared",
    )
    return replace(model, simplification=about, cv_score=about.score)


def of_classes(
    model: Model, few: Learned, before: CrossFit | None, settings: Settings
) -> tuple[Model, CrossFit | None]:
    """Add what the few pieces of a classification cost, and the temperature of their scores; return the folds, too."""
    if few.folds is None or before is None:  # they were taught probabilities
        about = ClassSimplification(few.n_pieces, few.fidelity, np.nan, np.nan, np.nan, np.nan)
        return replace(model, simplification=about, temperature=1.0), few.folds
    (warm, shift), old = warmed(few.folds), model.temperature
    after = few.folds.shifted(shift)
    functions = tuple(f + float(b) for f, b in zip(model.functions, shift, strict=True))
    scores = [replace(after, values=[warm * F for F in after.values])]
    scores.append(replace(before, values=[(old or 1.0) * F for F in before.values]))
    score = settings.score or log_score
    log = [folds.mean(lambda F, t, _: score(F, t)) for folds in scores]
    wrong = [folds.mean(lambda F, t, _: 1.0 - agreement(F, t.y, t.weight)) for folds in scores]
    about = ClassSimplification(
        n_pieces=few.n_pieces,
        fidelity=after.mean(lambda F, t, k: agreement(F, before.values[k].argmax(axis=0), t.weight)),
        score=log[0],
        score_before=log[1],
        error=wrong[0],
        error_before=wrong[1],
    )
    return replace(model, functions=functions, simplification=about, temperature=warm, cv_score=about.score), after


def log_score(F: Array, rows: Rows) -> float:
    """Return the mean log loss of scores (m, n), negative."""
    return -float(np.average(LogLoss().at(F, rows.y), weights=rows.weight))
