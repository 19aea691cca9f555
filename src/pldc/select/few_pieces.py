"""A compact fit of a table: folds, units and threads for :mod:`pldc.compact`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pldc.compact.members import Candidate, Task
from pldc.compact.plan import FEW_ROWS, Plan, plan_for
from pldc.compact.search import Clock, Found, Search, Split
from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Units
from pldc.select.folds import distinct, divided, interleaved, mixed
from pldc.select.intervals import CrossFit
from pldc.solve.workers import Workers

SHUFFLE = 1  # seed of the order of rows that were sorted for the folds
QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations

logger = logging.getLogger("pldc")


class CompactFit(NamedTuple):
    """What a compact fit found.

    Attributes
    ----------
    function : PLDC
    cross_fit : CrossFit
        The fits of the folds, for intervals.
    found : Found
    rows : Rows
        In the order of the search.
    units : Units
    """

    function: PLDC
    cross_fit: CrossFit | None
    found: Found
    rows: Rows
    units: Units


def robust_units(rows: Rows, recipe: Recipe) -> Units:
    """Standardise; where the loss grows like the distance alone, the unit of y is one that outliers do not move."""
    units = Units.of(*rows)
    if recipe.residual_loss.softness > 0:
        return units
    order = np.argsort(rows.y, kind="stable")
    mass = np.cumsum(rows.weight[order])
    low, middle, high = rows.y[order][np.searchsorted(mass, np.array([0.25, 0.5, 0.75]) * mass[-1])]
    spread = (high - low) / QUARTILES
    return replace(units, y_center=float(middle), y_scale=float(spread)) if spread > 0 else units


def prepared(rows: Rows, folds: int) -> tuple[Rows, list[Split]]:
    """Return distinct rows in an order that means nothing, and folds of them: of many rows one alone is left out."""
    if len(rows.y) > FEW_ROWS:
        rows = mixed(rows)
    if len(rows.y) <= FEW_ROWS:
        shares = divided(distinct(rows)[0], folds)
        return shuffled(shares, interleaved(len(shares.y), min(folds, len(shares.y))))
    left_out = np.arange(len(rows.y)) % folds == 0  # so that of every beginning of the rows a share is left out
    return rows, [(np.flatnonzero(~left_out), np.flatnonzero(left_out))]


def shuffled(rows: Rows, splits: list[Split]) -> tuple[Rows, list[Split]]:
    """Shuffle rows that are in an order, and the places of their folds."""
    order = np.random.RandomState(SHUFFLE).permutation(len(rows.y))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return rows.take(order), [(np.sort(place[train]), np.sort(place[test])) for train, test in splits]


def fit_compact(
    recipe: Recipe,
    rows: Rows,
    splits: list[Split],
    *,
    score: Callable[[Array, Rows], float],
    clip: bool,
    clock: Clock,
    plan: Plan | None = None,
    threads: int | None = None,
    seed: int = 0,
    level: int = logging.DEBUG,
    monitor: Callable[[dict[str, float]], Any] | None = None,
) -> tuple[CompactFit, bool]:
    """Search for compact functions of the rows; also return whether Ctrl-C ended it.

    Parameters
    ----------
    recipe : Recipe
        Its loss, shape and monotone features count.
    rows : Rows
        In an order that means nothing.
    splits : list of (train, test)
        Places of the rows to fit and to leave out.
    score : callable
        Prediction and rows to a number, higher is better.
    clip : bool
        Cut the predictions of folds to the range of the targets they were fitted to.
    clock : Clock
        Runs since the beginning of the fit.
    plan : Plan, optional
    """
    units = robust_units(rows, recipe)
    task = Task(rows, units, recipe.residual_loss, recipe.shape, recipe.monotone)
    straight = recipe.shape != "dc"  # a curve would bend a convex function
    hinged = bool(recipe.monotone.any()) and not straight  # its pieces can rise in the shape of an S
    n, d = rows.X.shape
    plan = plan or plan_for(n, d, plain=straight, hinged=hinged)
    if recipe.monotone.any():  # directions have no signs
        plan = replace(plan, candidates=[replace(c, rounds=0) for c in plan.candidates])
    tests = {}

    def few(m: int) -> list[Split]:
        parts = [(train[train < m], test[test < m]) for train, test in splits]
        return [part for part in parts if len(part[0]) and len(part[1])]

    def its_score(values: Array, at: Any) -> float:
        key = id(at)
        if key not in tests:
            tests[key] = at, rows.take(at)  # holds `at`, so that its id stays its own
        return score(values, tests[key][1])

    with Workers(threads) as workers:
        search = Search(task, few, its_score, clip, clock, workers.pool, seed, level, monitor)
        try:
            found, interrupted = search.run(plan), False
        except KeyboardInterrupt:
            found, interrupted = search.found, True
    return CompactFit(PLDC.mean(found.functions), cross_fit(found, rows, clip), found, rows, units), interrupted


def cross_fit(found: Found, rows: Rows, clip: bool) -> CrossFit | None:
    """Return the fits of the folds, with their residuals at the rows they left out."""
    if not found.fold_functions:
        return None
    limits = [
        (float(rows.y[train].min()), float(rows.y[train].max())) if clip else (-np.inf, np.inf)
        for train, _ in found.splits
    ]
    return CrossFit(
        functions=[PLDC.mean(functions) for functions in found.fold_functions],
        residuals=[
            np.abs(rows.y[test] - np.clip(v, *cut))
            for (_, test), v, cut in zip(found.splits, found.left_out, limits, strict=True)
        ],
        weights=[rows.weight[test] for _, test in found.splits],
        limits=limits,
        rows=rows,
        splits=found.splits,
    )


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
