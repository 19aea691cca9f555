"""How wide intervals are, and where: the errors at rows left out, and a small function that says where they are large.

The scale s(x) is fitted to the sizes |r| of these errors, whose mean it estimates, by few pieces under the Poisson
loss: the loss of a mean that is never negative and whose spread grows with it. Its kind and ridge are chosen at errors
left out once more, by the likelihood of |r| / s(x) as exponential, log s + |r| / s. A large ridge leaves a constant: so
where errors are alike everywhere, intervals are, too. A straight line is a kind of its own: it needs no ridge to be
small, and a ridge draws the scale to its mean, which is too wide where errors are smallest. What is kept are the errors
divided by the scale of a fit that did not see them; an interval is the prediction ± a quantile of these, times s(x).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.members import Candidate
from pldc.compact.plan import Plan, fitting
from pldc.compact.search import Search
from pldc.fit.few_pieces import beginning, prepared, task_of
from pldc.fit.settings import Settings
from pldc.function.digits import gathered, in_decimals
from pldc.function.errors import Errors
from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.problem.losses import Poisson
from pldc.problem.recipe import Rows, Split
from pldc.select.cross_fit import CrossFit
from pldc.solve.workers import Workers

FEWEST_ERRORS = 40  # distinct rows, below which intervals are as wide everywhere
MOST_ERRORS = 2000  # that the scale is fitted to
ERROR_FOLDS = 5
LOWEST = 0.1  # of the scale, in mean sizes of the errors
RIDGES = (0.003, 0.03, 0.3, 3.0, 30.0, 300.0)
KINDS = tuple(Candidate(knots, pieces, RIDGES, 0, 40) for knots, pieces in ((6, 1), (0, 4), (0, 1)))
FINE = 3e-3  # of the mean size of the errors: what a scale need not say


def errors_of(folds: CrossFit | None, settings: Settings, clock: Clock) -> tuple[Errors | None, bool]:
    """Return the errors of the fits of the folds, with their scale if there is time; and whether Ctrl-C ended it."""
    if folds is None:
        return None, False
    given = folds.errors
    plain = Errors.of(given.y, given.weight)
    if clock.over():
        return plain, False
    try:
        by_places = left_out_again(folds) if isinstance(settings.folds, list) else []
        return with_scale(plain, given, by_places or ERROR_FOLDS, settings, clock), False
    except KeyboardInterrupt:
        return plain, True


def left_out_again(folds: CrossFit) -> list[Split]:
    """Return folds of the errors that part what folds given by places part, such as groups; none, if that is all.

    Of many folds several are left out together; of rows that several leave out, all errors.
    """
    place = np.concatenate([test for _, test in folds.splits])
    number = np.repeat(np.arange(len(folds.splits)), [len(test) for _, test in folds.splits]) % ERROR_FOLDS
    tests = [number == k for k in np.unique(number)]
    pairs = [(np.flatnonzero(~np.isin(place, place[test])), np.flatnonzero(test)) for test in tests]
    return pairs if all(len(train) for train, _ in pairs) else []


def with_scale(plain: Errors, given: Rows, folds: int | list[Split], settings: Settings, clock: Clock) -> Errors:
    """Fit the scale of errors to the rows they were made at, if there are enough."""
    sizes, splits = prepared(given, folds)
    if len(sizes.y) < FEWEST_ERRORS or not plain.size[-1] > 0:
        return plain
    if len(sizes.y) > MOST_ERRORS:
        sizes, splits = sizes.take(np.arange(MOST_ERRORS)), beginning(splits, MOST_ERRORS)
    mean = float(sizes.weight @ sizes.y / sizes.weight.sum())
    recipe = replace(settings.recipe, loss=Poisson(), shape="dc", monotone=np.zeros_like(settings.recipe.monotone))
    task = task_of(sizes, recipe)

    def likelihood(scale: Array, at: IntArray) -> float:
        size, weight = sizes.y[at], sizes.weight[at]
        scale = np.maximum(scale, LOWEST * mean)
        return -float(weight / weight.sum() @ (np.log(scale / mean) + size / scale))

    kinds = list(dict.fromkeys(fitting(kind, sizes.X.shape[1]) for kind in KINDS))
    with Workers(settings.threads) as workers:
        search = Search(
            task,
            lambda m: beginning(splits, m),
            likelihood,
            True,
            clock.part(1.0),
            workers.pool,
            settings.starts_seed,
            settings.level,
        )
        found = search.run(Plan(kinds, len(sizes.y), 1, 1, len(kinds)))
    if not found.left_out:
        return plain
    unseen = np.concatenate(found.left_out)
    limits = LOWEST * mean, max(float(unseen.max()), mean)
    tests: Rows = sizes.take(np.concatenate([test for _, test in found.splits]))
    scale = gathered(PLDC.mean([one for (one,) in found.functions]).prune())
    scale = in_decimals(scale, task.units.center, task.units.scale, FINE * mean, knots=FINE).drop_dominated()
    return replace(Errors.of(tests.y / np.clip(unseen, *limits), tests.weight), scale=scale, limits=limits)
