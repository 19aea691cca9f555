"""Which compact functions to fit, and their mean: by rows left out.

First every candidate is fitted, with all its ridges, to the folds of a sample of the rows. Those few are kept whose
mean predicts best the rows left out. Each of them is then fitted again from several new starts, to all rows, and to the
folds where there are few rows; what is returned is the mean of all these. So the scores of the folds in the end come
from fits that had no part in the choice, but for the kind and the ridge.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pldc.compact.clock import Clock
from pldc.compact.members import Candidate, Fits, Task, fit_member
from pldc.compact.plan import FEW_ROWS, MANY_ROWS, Plan
from pldc.compact.polish import Total, polished
from pldc.compact.start import RARE, straight_line
from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Split

COMPARING = 0.5  # share of a limit on time that may be spent on comparing
FEWEST_NUMBERS = 4000  # of X from which on several starts are fitted at once
NEW_SEED = 1000  # starts of the final fits are others than those of the choice

logger = logging.getLogger("pldc")
Functions = tuple[PLDC, ...]  # one, or the score of each class


class Entry(NamedTuple):
    """A candidate with one ridge, in one round."""

    candidate: Candidate
    round: int
    ridge: float

    @property
    def alone(self) -> Candidate:
        """The candidate with this ridge alone, up to this round."""
        return replace(self.candidate, ridges=(self.ridge,), rounds=self.round)


@dataclass
class Found:
    """What is known of the best function at any moment.

    Attributes
    ----------
    functions : list of tuples of PLDC
        Of every member: its function, or the score of each class. Their mean is the fit.
    fold_functions : list of lists
        For every fold that was fitted, the functions whose mean is its fit.
    left_out : list of arrays
        For every fold, that mean at the rows it left out.
    entries : list of Entry
        The kinds that were kept.
    scores : list of (Entry, float)
        Of all that were compared, at the rows left out.
    score : float or None
        Of the fit, at the rows left out.
    fits : list of Fits
        Those of the members; the last of each is that of all rows.
    """

    functions: list[Functions]
    fold_functions: list[list[Functions]] = field(default_factory=list)
    left_out: list[Array] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    scores: list[tuple[Entry, float]] = field(default_factory=list)
    score: float | None = None
    fits: list[Fits] = field(default_factory=list)


@dataclass
class Search:
    """The search for compact functions on given rows and folds.

    Parameters
    ----------
    task : Task
        Its rows are in no order that means anything: their beginning is a sample.
    splits : callable
        Number of rows, of the beginning, to folds: pairs of places to fit and to leave out.
    score : callable
        (values in the units of the data, places) to a number, higher is better.
    clip : bool
        Cut values to the range of the targets that a fit has seen.
    clock : Clock
    pool : ThreadPoolExecutor or None
    seed : int
    level : int
        Of the log.
    monitor : callable, optional
        Told of every fit; a true answer ends the search with what there is.
    total : Total, optional
        Where the task has but a sample of the rows.
    """

    task: Task
    splits: Callable[[int], list[Split]]
    score: Callable[[Array, IntArray], float]
    clip: bool
    clock: Clock
    pool: ThreadPoolExecutor | None
    seed: int = 0
    level: int = logging.DEBUG
    monitor: Callable[[dict[str, float]], Any] | None = None
    total: Total | None = None

    def __post_init__(self) -> None:
        self.found = Found([self._shares() if self.task.loss.scores else (self._line(),)])
        self.told = self.clock.spent()

    def run(self, plan: Plan) -> Found:
        """Search; `found` holds the best so far all the while."""
        try:
            n = len(self.task.rows.y)
            few = min(n, plan.sample)
            sample = self.task if few == n else self.task.take(np.arange(few))
            splits = self.splits(few)
            if not splits:
                raise ValueError(
                    "The folds leave no row out among those that are compared on: shuffle the folds of cv."
                )
            entries = self._choose(sample, splits, plan)
            alone = n <= MANY_ROWS and self.total is None
            self._refit(entries, self.splits(n) if alone else [], plan)
            if self.total is not None and self.found.fits:
                self.began = self.clock.spent()
                polished(self.found.fits, self.total, self.clock.over, self._polished)
        finally:
            self.clock.cancelled = True  # threads that are still at work end at their next step
        return self.found

    def _choose(self, sample: Task, splits: list[Split], plan: Plan) -> list[Entry]:
        """Compare the candidates on the folds of a sample."""
        self.began = self.clock.spent()
        groups = np.array([within(train, sample.rows.weight) for train, _ in splits])
        jobs = [(c, s) for s in range(plan.choosers) for c in plan.candidates]
        sums: dict[Entry, list[Array]] = {}
        fits: dict[Entry, tuple[Fits, int]] = {}
        count: dict[Entry, int] = {}
        members = self._members(sample, jobs, groups, COMPARING)
        for number, ((candidate, _), rounds) in enumerate(zip(jobs, members, strict=False), start=1):
            if not rounds:
                break
            for r, fit in enumerate(rounds):
                values = fit.values()
                for k, ridge in enumerate(candidate.ridges):
                    entry = Entry(candidate, r, ridge)
                    new = self._left_out(values[:, k], splits)
                    sums[entry] = [a + b for a, b in zip(sums[entry], new, strict=True)] if entry in sums else new
                    count[entry] = count.get(entry, 0) + 1
                    fits.setdefault(entry, (fit, k))
            self._tell("comparing", number, len(jobs))
            if self.clock.over(COMPARING):
                break
        means = {e: [v / count[e] for v in values] for e, values in sums.items()}
        scores = {e: self._score(values, splits) for e, values in means.items()}
        chosen = self._greedy(means, scores, splits, plan.kept)
        first, k = fits[chosen[0]]
        self.found = Found(
            functions=[first.functions(0, k)],
            fold_functions=[[first.functions(fold, k)] for fold in range(len(splits))],
            left_out=means[chosen[0]],
            splits=splits,
            entries=chosen[:1],
            scores=sorted(scores.items(), key=lambda s: -s[1]),
            score=scores[chosen[0]],
        )
        return chosen

    def _refit(self, entries: list[Entry], splits: list[Split], plan: Plan) -> None:
        """Fit what is kept from several starts: to all rows, and to the folds if there are some."""
        self.began = self.clock.spent()
        weight = self.task.rows.weight
        groups = np.array([*(within(train, weight) for train, _ in splits), weight])
        last = [
            replace(e.alone, steps=plan.patience * e.candidate.steps, starts=plan.starts, second=plan.second)
            for e in entries
        ]
        jobs = [(candidate, NEW_SEED + s) for s in range(plan.members) for candidate in last]
        # Of many rows the folds are fitted from the first start of each kind alone.
        both = len(jobs) if len(weight) <= FEW_ROWS else len(last)
        parts = [(jobs[:both], groups), (jobs[both:], groups[-1:])]
        whole: list[Functions] = []
        fits: list[Fits] = []
        folds: list[list[Functions]] = [[] for _ in splits]
        values: list[list[Array]] = []
        for some, weights in parts:
            for rounds in self._members(self.task, some, weights):
                if not rounds or (self.clock.over() and whole):
                    return
                fit = rounds[-1]
                whole.append(fit.functions(len(weights) - 1, 0))
                fits.append(fit)
                self.found = replace(
                    self.found,
                    functions=list(whole),
                    entries=entries[: len(whole)],
                    fits=[] if self.total is None else list(fits),
                )
                if len(weights) > 1:
                    values.append(self._left_out(fit.values()[:-1, 0], splits))
                    for k, functions in enumerate(folds):
                        functions.append(fit.functions(k, 0))
                    self.found.splits, self.found.fold_functions = splits, [list(functions) for functions in folds]
                    self.found.left_out = [np.mean([v[k] for v in values], axis=0) for k in range(len(splits))]
                    self.found.score = self._score(self.found.left_out, splits)
                self._tell("fitting", len(whole), len(jobs))

    def _polished(self, done: int, count: int, fits: list[Fits]) -> None:
        """Keep fits that have seen all rows."""
        self.found = replace(self.found, functions=[fit.functions(0, 0) for fit in fits])
        self._tell("all rows", done, count)

    def _members(
        self, task: Task, jobs: Sequence[tuple[Candidate, int]], groups: Array, share: float = 1.0
    ) -> Iterable[list[Fits]]:
        """Fit each job, within a share of the time: of few rows, a thread for each; of many, all threads for each.

        Of very few, one thread does all: two would wait for each other most of the time.
        """
        alone = len(task.rows.y) <= FEW_ROWS
        together = alone and self.pool is not None and task.rows.X.size >= FEWEST_NUMBERS

        def stop() -> bool:
            return self.clock.over(share)

        first = jobs[0] if jobs else None

        def work(job: tuple[Candidate, int]) -> list[Fits]:
            if stop() and job != first:
                return []
            return fit_member(task, job[0], groups, [self.seed, job[1]], None if alone else self.pool, stop)

        return self.pool.map(work, jobs) if together and self.pool is not None else map(work, jobs)

    def _greedy(
        self, values: dict[Entry, list[Array]], scores: dict[Entry, float], splits: list[Split], most: int
    ) -> list[Entry]:
        """Return the best entry, and those that improve the mean most, one after the other."""
        known = {e: s for e, s in scores.items() if np.isfinite(s)}
        if not known:
            raise ValueError(
                "No score of the cross-validation is a number: the scorer may need more rows in a fold than there are "
                "(R² needs two), or y may be too large to square."
            )
        chosen = [max(known, key=known.__getitem__)]
        best, total = known[chosen[0]], values[chosen[0]]
        while len(chosen) < most:
            trials = {
                e: self._score([(a + b) / (len(chosen) + 1) for a, b in zip(total, values[e], strict=True)], splits)
                for e in known
                if e not in chosen
            }
            if not trials or not max(trials.values()) > best:
                break
            new = max(trials, key=trials.__getitem__)
            chosen.append(new)
            best, total = trials[new], [a + b for a, b in zip(total, values[new], strict=True)]
        return chosen

    def _left_out(self, values: Array, splits: list[Split]) -> list[Array]:
        """Values (folds, …, n) of each fold's fit at the rows it left out, in the units of the data."""
        units = self.task.units
        folds = zip(values, splits, strict=True)
        return [units.y_center + units.y_scale * f[..., test].astype(np.float64) for f, (_, test) in folds]

    def _score(self, values: list[Array], splits: list[Split]) -> float:
        """Score values at the rows left out, cut to the range of the targets that each fold has seen."""
        rows = self.task.rows
        share = np.array([rows.weight[test].sum() for _, test in splits])
        scores = []
        for v, (train, test) in zip(values, splits, strict=True):
            seen = rows.y[train]
            scores.append(self.score(np.clip(v, seen.min(), seen.max()) if self.clip else v, test))
        return float(share / share.sum() @ scores)

    def _line(self) -> PLDC:
        """Ridge regression on some rows: what there is from the first moment."""
        rows, units = self.task.rows, self.task.units
        some = slice(0, 10_000)
        w = rows.weight[some] / rows.weight[some].sum()
        flat = self.task.monotone.any() or self.task.shape != "dc"
        Z = units.scale_X(rows.X[some]) * (0.0 if flat else 1.0)
        slope, level = straight_line(Z, units.scale_y(rows.y[some]), w)
        a = units.y_scale * slope / units.scale * (0.0 if flat else 1.0)
        return PLDC.affine(a, units.y_center + units.y_scale * level - float(a @ units.center))

    def _shares(self) -> Functions:
        """Constant scores: logarithms of the shares of the classes."""
        rows = self.task.rows
        share = np.bincount(rows.y.astype(np.intp), weights=rows.weight, minlength=self.task.classes)
        level = np.log(np.maximum(share / share.sum(), RARE))
        return tuple(PLDC.affine(np.zeros(rows.X.shape[1]), float(v)) for v in level)

    def _tell(self, what: str, done: int, count: int) -> None:
        """Log how far it is, every two seconds, and ask the monitor whether to stop."""
        now = self.clock.spent()
        if now - self.told > 2.0:
            self.told = now
            left = (now - self.began) / done * (count - done)
            logger.log(self.level, "%s: %d of %d fits, %.0f s so far, about %.0f s left", what, done, count, now, left)
        if self.monitor is not None:
            score = np.nan if self.found.score is None else self.found.score
            row = {
                "comparing": float(what == "comparing"),
                "iteration": done,
                "of": count,
                "score": score,
                "seconds": now,
            }
            self.clock.stopped |= bool(self.monitor(row))
            self.clock.cancelled |= self.clock.stopped


def within(places: IntArray, weight: Array) -> Array:
    """Return the weights at some places, as often as they are named; zero elsewhere."""
    return np.bincount(places, weights=weight[places], minlength=len(weight))
