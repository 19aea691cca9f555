"""(rows, settings) → model, from top to bottom.

Few pieces, the default:  order and folds → standardise → search for kinds → refit → mean → (simplify) → model.
The program:              order → standardise → choose λ → solve → certify → back into the units of the data → model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.polish import Total
from pldc.fit.class_order import ClassOrder
from pldc.fit.few_pieces import compact_model, prepared
from pldc.fit.noise import errors_of
from pldc.fit.program import program_model
from pldc.fit.rest import Rest
from pldc.fit.settings import Settings
from pldc.fit.steps import Steps
from pldc.fit.students import simplified
from pldc.function.swaps import importances, sample
from pldc.model import Model
from pldc.problem.recipe import Rows, Split
from pldc.problem.units import with_digits
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import mixed
from pldc.solve.progress import shown
from pldc.solve.run import Monitor

FEWEST_ROWS = 4  # distinct ones, of which some can be left out
FOLDS = 5  # of a simplification whose model has none
SHORTEST_FIT = 0.1  # seconds
FOR_THE_TEACHER = 0.6  # share of a limit on time for the model that few pieces are learned from


class Fitted(NamedTuple):
    """What a fit returns.

    Attributes
    ----------
    model : Model
    folds : CrossFit or None
        The fits of the folds, with their rows: not part of the model, but `simplify` goes on from them.
    interrupted : bool
        Ctrl-C ended it; the model is the best so far.
    """

    model: Model
    folds: CrossFit | None
    interrupted: bool


def fit(given: Rows, settings: Settings, monitor: Monitor | None = None, rest: Rest | None = None) -> Fitted:
    """Learn from the rows; those of weight zero count for nothing, though folds may name them.

    Where there is a rest, the rows are a sample of it: what it chose is then fitted to all.
    """
    given = given._replace(X=with_digits(given.X))
    if len(settings.recipe.loss.each) > 1:
        return several(given, settings, monitor, rest)
    clock = Clock(settings.max_seconds)
    with shown(settings.verbose) as log:
        order = ClassOrder.by_content(given, settings.recipe.outputs)
        if settings.n_pieces != "rows":
            rows, splits = prepared(order.rows(given), settings.folds, classes=settings.recipe.outputs > 1)
            if len(rows.y) >= FEWEST_ROWS:
                total = None if rest is None else rest.total(order)
                found = few_pieces(rows, splits, order.settings(settings), clock, monitor, total)
                return restored(found if rest is None else within(found, rest), order)
        return restored(program(order.rows(given), order.settings(settings), clock, log, monitor), order)


def within(found: Fitted, rest: Rest) -> Fitted:
    """Cut predictions to the range of all targets, and not to that of the sample's."""
    model, span = found.model, (float(rest.span[0]), float(rest.span[1]))
    if not np.isfinite(model.target_range).all():
        return found
    limits = span if np.isfinite(model.limits).all() else model.limits
    return found._replace(model=replace(model, target_range=span, limits=limits))


def several(given: Rows, settings: Settings, monitor: Monitor | None, rest: Rest | None = None) -> Fitted:
    """Fit each of several quantiles by itself; predictions put them in order where they would cross.

    After Ctrl-C the others are fitted in the shortest time.
    """
    if settings.n_pieces == "rows":
        raise ValueError("The program fits one level at a time: give Quantile one level, or leave n_pieces='auto'.")
    losses, levels = settings.recipe.loss.each, settings.recipe.loss.levels
    clock = Clock(settings.max_seconds)
    models: list[Model] = []
    interrupted = False
    for k, loss in enumerate(losses):
        limit = share_of_time(settings.max_seconds, clock, len(losses) - k)
        one = replace(settings, recipe=replace(settings.recipe, loss=loss))
        found = fit(given, replace(one, max_seconds=SHORTEST_FIT if interrupted else limit), monitor, rest)
        models.append(found.model)
        interrupted |= found.interrupted
    chosen = [dict(kind, level=q) for q, model in zip(levels, models, strict=True) for kind in model.chosen]
    scores: list[Any] = [model.cv_score for model in models]
    whole = replace(
        models[0],
        functions=tuple(model.function for model in models),
        levels=levels,
        errors=None,
        cv_score=None if None in scores else float(np.mean(scores)),
        cv_results={},
        simplification=None,
        program=None,
        chosen=chosen,
        importances=np.mean([model.importances for model in models if model.importances is not None], axis=0),
        seconds=clock.spent(),
    )
    return Fitted(whole, None, interrupted)


def share_of_time(seconds: float | None, clock: Clock, count: int) -> float | None:
    """Divide the time that is left among so many fits."""
    return None if seconds is None else max(seconds - clock.spent(), SHORTEST_FIT) / count


def restored(found: Fitted, order: ClassOrder) -> Fitted:
    """Return what was fitted to classes in an order by content with the numbers that they were given with."""
    back = order.back
    return Fitted(back.model(found.model), back.folds(found.folds), found.interrupted)


def program(given: Rows, settings: Settings, clock: Clock, log: Monitor, monitor: Monitor | None) -> Fitted:
    """Fit the program."""
    rows = given.take(np.flatnonzero(given.weight > 0))
    found = with_errors(Fitted(*program_model(rows, given, settings, log, monitor)), settings, Clock())
    return told(found, mixed(rows), settings, clock)


def told(found: Fitted, rows: Rows, settings: Settings, clock: Clock) -> Fitted:
    """Add what is to be said of the model and needs its rows, which come in an order that means nothing."""
    source = np.arange(rows.X.shape[1]) if settings.source is None else settings.source
    if settings.as_new is not None:
        rows = mixed(settings.as_new.take(np.flatnonzero(settings.as_new.weight > 0)))
    swapped = importances(found.model.outcome, sample(rows.X, rows.weight), source)
    return found._replace(model=replace(found.model, importances=swapped, seconds=clock.spent()))


def few_pieces(
    rows: Rows, splits: list[Split], settings: Settings, clock: Clock, monitor: Monitor | None, total: Total | None
) -> Fitted:
    """Fit a mean of compact functions; where a number of pieces is asked for, learn them from it."""
    if settings.n_pieces == "auto":
        whole = Fitted(*compact_model(rows, splits, settings, clock, monitor, total))
        return told(with_errors(whole, settings, clock.part(1.0, ended=clock.stopped)), rows, settings, clock)
    part = clock.part(FOR_THE_TEACHER)
    teacher, folds, interrupted = compact_model(rows, splits, settings, part, monitor, total)
    clock.cancelled = interrupted or part.stopped
    few, students, late = simplified(
        teacher, folds, rows, int(settings.n_pieces), settings, clock, of_sample=total is not None
    )
    return told(with_errors(Fitted(few, students, interrupted or late), settings, clock), rows, settings, clock)


def with_errors(found: Fitted, settings: Settings, clock: Clock) -> Fitted:
    """Add the errors at rows left out, which intervals are made of; where they are large, if there is time."""
    if settings.recipe.outputs > 1:
        return found
    model, folds, interrupted = found
    clock.cancelled |= interrupted
    errors, late = errors_of(folds, settings, clock)
    return Fitted(replace(model, errors=errors), folds, interrupted or late)


def simplify(teacher: Model, folds: CrossFit | None, given: Rows, n_pieces: int, settings: Settings) -> Fitted:
    """Learn few pieces from a fitted model and rows: those of its folds, or others.

    `settings` are the teacher's. Where `folds` are not of these rows, the teacher is fitted to folds of them first:
    those that the settings give by places, or five.
    """
    if teacher.levels is not None:
        raise ValueError(f"This model predicts several quantiles, {teacher.levels}: simplify a model of one of them.")
    given = given._replace(X=with_digits(given.X))
    order = ClassOrder.by_content(given, settings.recipe.outputs)
    dealt = settings.folds if isinstance(settings.folds, list) else FOLDS
    rows, splits = prepared(order.rows(given), dealt, classes=settings.recipe.outputs > 1)
    if len(rows.y) < FEWEST_ROWS:
        raise ValueError(f"simplify needs at least {FEWEST_ROWS} distinct rows, got {len(rows.y)}.")
    clock, inside, known = Clock(settings.max_seconds), order.settings(settings), order.folds(folds)
    with shown(settings.verbose):
        if known is None or not same_rows(rows, known.rows):
            known = refitted(rows, splits, inside, clock)
        found = Fitted(*simplified(order.model(teacher), known, known.rows, n_pieces, inside, clock))
        found = told(with_errors(found, settings, clock), rows, inside, clock)
        return restored(found, order)


def refitted(rows: Rows, splits: list[Split], settings: Settings, clock: Clock) -> CrossFit:
    """Fit the rows of every fold, in a share of the time.

    Where the folds are given by places, each fit chooses by the others of them: rows that belong together stay so.
    """
    models, by_places = [], isinstance(settings.folds, list)
    steps = Steps("fitting folds of these rows", len(splits), settings.level)
    for k, (train, _) in enumerate(splits):
        limit = settings.max_seconds
        limit = share_of_time(None if limit is None else FOR_THE_TEACHER * limit, clock, len(splits) - k)
        folds = (inner_folds(splits, k) if by_places else []) or FOLDS
        steps.begin()
        found = fit(rows.take(train), replace(settings, max_seconds=limit, folds=folds, verbose=0), steps)
        if found.interrupted:
            raise KeyboardInterrupt
        models.append(found.model)
    values = [model.values(rows.X[test]) for model, (_, test) in zip(models, splits, strict=True)]
    return CrossFit([m.functions for m in models], values, [m.limits for m in models], rows, splits)


def inner_folds(splits: list[Split], k: int) -> list[Split]:
    """Return the other folds of the rows that fold k is fitted to, as places among these."""
    train = splits[k][0]
    others = [[np.flatnonzero(np.isin(train, part)) for part in fold] for j, fold in enumerate(splits) if j != k]
    return [(here, left_out) for here, left_out in others if len(here) and len(left_out)]


def same_rows(a: Rows, b: Rows) -> bool:
    """Say whether two tables hold the same rows, whatever their order."""
    ours, theirs = mixed(a), mixed(b)
    same = ours.X.shape == theirs.X.shape and np.array_equal(ours.X, theirs.X) and np.array_equal(ours.y, theirs.y)
    return same and np.allclose(ours.weight, theirs.weight, rtol=1e-9)
