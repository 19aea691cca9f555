"""Few pieces: order and fold the rows, standardise, search, and keep the mean of what predicts best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.members import Candidate, Task
from pldc.compact.plan import FEW_ROWS, MANY_ROWS, plan_for, plan_for_classes
from pldc.compact.polish import Total
from pldc.compact.search import Found, Functions, Search
from pldc.fit.settings import Settings
from pldc.function.digits import in_decimals, significant
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.model import Model
from pldc.problem.recipe import Recipe, Rows, Split, rows_in
from pldc.problem.units import Units
from pldc.select.calibration import calibrate
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import distinct, divided, interleaved, merged_in_folds, mixed
from pldc.select.levels import levelled
from pldc.solve.run import Monitor
from pldc.solve.workers import Workers

SHUFFLE_SEED = 1  # of the order of rows that were sorted for the folds
SCORE_DIGITS = 8  # of cross-validated scores
FINE = 1e-7  # of the spread of the values of a function: what its numbers need not say
SAMPLE = 1000  # rows that this spread is taken from
TEMPERATURE_PRIOR = 10.0  # rows
QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations


def prepared(given: Rows, folds: int | list[Split], classes: bool = False) -> tuple[Rows, list[Split]]:
    """Return distinct rows in an order that means nothing, and folds of them.

    A number of folds deals them out by content; of many rows one fold alone is left out. Folds given by places keep
    them, and equal rows of the same folds are merged.
    """
    if isinstance(folds, list):
        return shuffled(*merged_in_folds(given, folds))
    here = given.weight > 0
    rows = given if here.all() else given.take(np.flatnonzero(here))
    if len(rows.y) > FEW_ROWS:
        rows = mixed(rows)
    if len(rows.y) <= FEW_ROWS:
        shares = divided(distinct(rows, classes)[0], folds, classes)
        return shuffled(shares, interleaved(len(shares.y), min(folds, len(shares.y))))
    left_out = np.arange(len(rows.y)) % folds == 0  # so that of every beginning of the rows a share is left out
    return rows, [(np.flatnonzero(~left_out), np.flatnonzero(left_out))]


def shuffled(rows: Rows, splits: list[Split]) -> tuple[Rows, list[Split]]:
    """Shuffle rows that are in an order, and the places of their folds."""
    order = np.random.RandomState(SHUFFLE_SEED).permutation(len(rows.y))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return rows.take(order), [(np.sort(place[train]), np.sort(place[test])) for train, test in splits]


def robust_units(rows: Rows, recipe: Recipe) -> Units:
    """Standardise; where outliers must not count, the unit of y is one that they do not move."""
    units = replace(recipe, standardize=True).units(rows)
    if not recipe.loss.resists_outliers:
        return units
    order = np.argsort(rows.y, kind="stable")
    mass = np.cumsum(rows.weight[order])
    low, middle, high = rows.y[order][np.searchsorted(mass, np.array([0.25, 0.5, 0.75]) * mass[-1])]
    spread = (high - low) / QUARTILES
    return replace(units, y_center=float(middle), y_scale=float(spread)) if spread > 0 else units


def task_of(rows: Rows, recipe: Recipe) -> Task:
    """Return the rows, standardised, with what is asked of their fit."""
    return Task(rows, robust_units(rows, recipe), recipe.loss, recipe.shape, recipe.monotone, recipe.outputs)


def compact_model(
    rows: Rows,
    splits: list[Split],
    settings: Settings,
    clock: Clock,
    monitor: Monitor | None,
    total: Total | None = None,
) -> tuple[Model, CrossFit | None, bool]:
    """Search for compact functions of the rows, which are in an order that means nothing.

    `total` adds up over all rows, where these are a sample of them. Returned are the model, the fits of the folds, and
    whether Ctrl-C ended it.
    """
    recipe, (n, d) = settings.recipe, rows.X.shape
    if total is not None:  # what is tried depends on how many rows there are, not on how many are in the sample
        n = total.rows
    task = replace(task_of(rows, recipe), device=settings.device)
    straight = recipe.shape != "dc"  # a curve would bend a convex function
    hinged = bool(recipe.monotone.any()) and not straight  # its pieces can rise in the shape of an S
    plan = plan_for(n, d, plain=straight, hinged=hinged)
    if recipe.outputs > 1:
        plan = plan_for_classes(n, d, recipe.outputs)
    if recipe.monotone.any():  # directions have no signs
        plan = replace(plan, candidates=[replace(c, rounds=0) for c in plan.candidates])
    with Workers(settings.threads) as workers:
        search = Search(
            task,
            lambda m: beginning(splits, m),
            scorer(rows, settings),
            settings.clip and recipe.outputs == 1,
            clock,
            workers.pool,
            settings.starts_seed,
            settings.level,
            monitor,
            total,
        )
        try:
            found, interrupted = search.run(plan), False
        except KeyboardInterrupt:
            found, interrupted = search.found, True
    folds = cross_fit(found, rows, settings.clip and recipe.outputs == 1)
    temperature = None if recipe.outputs == 1 else 1.0
    if recipe.outputs > 1 and folds is not None:
        temperature, shift = warmed(folds)
        folds = folds.shifted(shift)
        members = [tuple(f + float(b) for f, b in zip(each, shift, strict=True)) for each in found.functions]
        found = replace(found, functions=members)
    if total is None and folds is not None:
        members, moved = at_level(found.functions, folds, settings)
        if moved is not folds:
            score, folds = settings.score_in_units_of(rows), moved
            found = replace(found, functions=members, score=folds.mean(lambda v, t, _: score(v, t)))
    return model_of(found, task, temperature, settings), folds, interrupted


def warmed(folds: CrossFit) -> tuple[float, Array]:
    """Return the temperature of scores, by the rows left out, and what to add to them so that classes keep shares."""
    scores, rows = np.concatenate(folds.values, axis=1), folds.rows
    count = np.bincount(rows.y.astype(np.intp), weights=rows.weight / rows.weight.max(), minlength=len(scores))
    shares = np.maximum(count / count.sum(), 1.0 / (1.0 + len(scores) * len(rows.y)))  # one may be in no row
    return calibrate(scores, folds.left_out, TEMPERATURE_PRIOR, shares)


def beginning(splits: list[Split], m: int) -> list[Split]:
    """Return the folds of the first m rows."""
    parts = [(train[train < m], test[test < m]) for train, test in splits]
    return [part for part in parts if len(part[0]) and len(part[1])]


def scorer(rows: Rows, settings: Settings) -> Callable[[Array, Any], float]:
    """Return the score of values at some places of the rows; the rows of a fold are taken once."""
    score, tests = settings.score_in_units_of(rows), {}
    if settings.score is None and settings.recipe.outputs > 1:
        score = one_row_more(rows)

    def at_places(values: Array, at: Any) -> float:
        key = id(at)
        if key not in tests:
            tests[key] = at, rows.take(at)  # holds `at`, so that its id stays its own
        return score(values, tests[key][1])

    return at_places


def one_row_more(rows: Rows) -> Callable[[Array, Rows], float]:
    """Return the log loss, negative, of scores (m, n), as if one row more had been seen, of all classes alike.

    On classes that a fit has told apart without error, the loss alone would prefer ever steeper scores.
    """
    shared = 1.0 / (1.0 + rows_in(rows.weight))

    def score(F: Array, test: Rows) -> float:
        total = np.logaddexp.reduce(F, axis=0)
        own = F[test.y.astype(np.intp), np.arange(F.shape[1])]
        loss = total - (1.0 - shared) * own - shared * F.mean(axis=0)
        return -float(test.weight / test.weight.sum() @ loss)

    return score


def model_of(found: Found, task: Task, temperature: float | None, settings: Settings) -> Model:
    """Write down what was found."""
    y, span = task.rows.y, (-np.inf, np.inf)
    if task.classes == 1:
        span = float(y.min()), float(y.max())
    starts = max(len(found.functions) // max(len(found.entries), 1), 1)
    scores = np.array([score for _, score in found.scores])
    return Model(
        kind="compact",
        functions=in_few_digits(mean_of(found.functions), task),
        center=task.units.center,
        spread=task.units.scale,
        limits=span if settings.clip else (-np.inf, np.inf),
        target_range=span,
        lowest=settings.recipe.lowest,
        temperature=temperature,
        n_iter=max([1, *(e.candidate.steps for e in found.entries)]),
        cv_score=found.score,
        cv_results={
            "params": [described(e.candidate, e.ridge, e.round, 1) for e, _ in found.scores],
            "mean_test_score": significant(scores, SCORE_DIGITS),
            "rank_test_score": np.array([1 + int((scores > s).sum()) for s in scores]),
        },
        chosen=[described(e.candidate, e.ridge, e.round, starts) for e in found.entries],
    )


def mean_of(members: list[tuple[PLDC, ...]]) -> tuple[PLDC, ...]:
    """Return the mean of the functions of all members, for each class its own."""
    return tuple(PLDC.mean(each) for each in zip(*members, strict=True))


def in_few_digits(functions: tuple[PLDC, ...], task: Task) -> tuple[PLDC, ...]:
    """Round the numbers of functions to what matters: a descent ends long before their last digits mean anything.

    A function that is convex or monotone stays as it is: rounded, it might be so no longer.
    """
    if task.shape != "dc" or task.monotone.any():
        return functions
    units, some = task.units, task.rows.X[:SAMPLE]
    spread = max(float(np.std(f(some))) for f in functions)
    return tuple(in_decimals(f, units.center, units.scale, FINE * spread) if spread > 0 else f for f in functions)


def cross_fit(found: Found, rows: Rows, clip: bool) -> CrossFit | None:
    """Return the fits of the folds, and their values at the rows they left out."""
    if not found.fold_functions:
        return None
    limits = [
        (float(rows.y[train].min()), float(rows.y[train].max())) if clip else (-np.inf, np.inf)
        for train, _ in found.splits
    ]
    return CrossFit(
        functions=[mean_of(members) for members in found.fold_functions],
        values=[np.clip(v, *cut) for v, cut in zip(found.left_out, limits, strict=True)],
        limits=limits,
        rows=rows,
        splits=found.splits,
    )


def at_level(members: list[Functions], folds: CrossFit, settings: Settings) -> tuple[list[Functions], CrossFit]:
    """Move functions, and the fits of folds, to the level of a quantile; of others, and of very many rows, leave them.

    Of very many rows the folds are of a sample, whose fits lack more than those of all rows.
    """
    levels = settings.recipe.loss.levels
    if not levels or len(folds.rows.y) > MANY_ROWS:
        return members, folds
    lacks, folds = levelled(folds, levels[0])
    return [tuple(f + lacks for f in functions) for functions in members], folds


def described(candidate: Candidate, ridge: float, learned: int, starts: int) -> dict[str, Any]:
    """Say what a candidate is, in words."""
    return {
        "features": "hinged" if candidate.knots else "plain",
        "knots": candidate.knots,
        "pieces": candidate.pieces,
        "ridge": ridge,
        "coordinates_learned": learned,
        "starts": starts,
    }
