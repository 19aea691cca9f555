"""Cross-validation of λ, and of the rounds of a learned geometry.

A round fits every fold along a grid of λ, roughly, from the largest to the smallest; the λ with the best mean score on
the rows left out is the round's. The gradients of each fold's fit then give the coordinates of its next round: the
features warped or stretched, or turned directions. Beside this chain stand rounds that need no fit before them. But for
λ nothing crosses folds, so the score of a later round is as honest as that of the first. In the end those rounds are
kept whose mean prediction scores best.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.problem.penalties import EachOutput
from pldc.problem.program import Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import AXES, Geometry
from pldc.select.coordinates import Coordinates, Sample, Step, learned_turn
from pldc.select.intervals import CrossFit
from pldc.select.rough import Fit, fit_path

RATIO = 2.0
HIGHEST, LOWEST = 1, -8  # exponents of the first grid, in units of the scale of λ
TIE = 0.25  # standard errors of the difference within which two values are as good as each other
LOWER, HIGHER = 5, 3  # how many ratios beyond those ends the first grid may grow
AT_ONCE = 3  # values it grows by
REACH = (4, 2)  # ratios by which the grid of a later round reaches above and below what λ is guessed to be,
NEAR = (3, 1)  # and where the round before was of the same kind
MOST_KEPT = 3  # rounds that are averaged

logger = logging.getLogger("pldc")
Score = Callable[[Array, Rows], float]
Split = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class Round:
    """One round of the search.

    Attributes
    ----------
    lam : float
        The λ chosen.
    lams : array of shape (k,)
        All that were tried, decreasing.
    scores, seconds : arrays of shape (folds, k)
        Score on the rows left out (higher is better), and time of the fit.
    predictions : list of arrays
        For each fold, the values of its fit at `lam` at the rows left out.
    functions : list of lists of PLDC
        The fit of each fold at `lam`.
    geometry : Geometry
        Coordinates of the round, learned from all rows.
    learned : str
        What they were learned as (:class:`Step`).
    recipe : Recipe
    """

    lam: float
    lams: Array
    scores: Array
    seconds: Array
    predictions: list[Array]
    functions: list[list[PLDC]]
    geometry: Geometry
    learned: str
    recipe: Recipe


def geometric_grid(scale: float) -> list[float]:
    """Return ten values from 2 to 2⁻⁸ times `scale`, decreasing."""
    return [scale * RATIO**e for e in range(HIGHEST, LOWEST - 1, -1)]


def around(lam: float, reach: tuple[int, int]) -> list[float]:
    """Return λ times powers of the ratio, decreasing: so many above, so many below."""
    return [lam * RATIO**e for e in range(reach[0], -reach[1] - 1, -1)]


def learn_geometry(recipe: Recipe, rows: Rows, lam: float, rounds: int) -> Geometry:
    """Learn directions from all rows `rounds` times at one λ, without folds."""
    geometry = AXES
    lams = around(lam, (REACH[0], 0))
    for _ in range(rounds):
        *_, fit = fit_path(recipe, rows, rows.X[:0], geometry, lams, (-np.inf, np.inf))
        turn = learned_turn(recipe, fit.points, fit.weight, fit.outer)
        if turn is None:
            break
        geometry = Geometry(turn=turn)
    return geometry


class Search:
    """The search over λ and rounds on given rows and folds.

    Parameters
    ----------
    recipe : Recipe
    rows : Rows
    splits : list of (train, test) index arrays
    score : callable
        ``score(prediction, rows)``: higher is better.
    clip : bool
        Cut predictions to the range of the targets that a fit has seen.
    cautious : bool
        Take the largest λ whose score is within one standard error of the best.
    patient : bool
        Iterate longer, for a score that does not see how far a fit is from its solution.
    jobs : int or None
        For joblib: folds in parallel.
    level : int
        Logging level of the progress.
    """

    def __init__(
        self,
        recipe: Recipe,
        rows: Rows,
        splits: list[Split],
        score: Score,
        *,
        clip: bool = True,
        cautious: bool = False,
        patient: bool = False,
        jobs: int | None = None,
        level: int = logging.DEBUG,
    ):
        self.recipe, self.rows, self.splits, self.score = recipe, rows, splits, score
        self.clip, self.cautious, self.patient, self.jobs, self.level = clip, cautious, patient, jobs, level
        self.train = [rows.take(train) for train, _ in splits]
        self.test = [rows.take(test) for _, test in splits]
        mass = np.array([test.weight.sum() for test in self.test])
        self.share = mass / mass.sum()
        self.coordinates = Coordinates.axes(len(splits))
        self.rounds: list[Round] = []

    def run(self, scale: float, steps: Sequence[Step] = (), beside: Sequence[Step] = ()) -> list[Round]:
        """Search a grid on the `scale` of λ; then, for each step, learn the geometry and search around the best λ.

        Of equal steps in a row, those are left out that follow one whose score was no better than that of the one
        before it. Those of `beside` learn from no fit.
        """
        self.scale = scale
        fits = self._round(self.recipe, geometric_grid(scale))
        scores = [-np.inf]
        for before, step in zip([None, *steps], steps, strict=False):
            if step is not before:
                scores = [-np.inf]
            elif not scores[-1] > scores[-2]:
                continue
            if not self._move(step, fits):
                break
            fits = self._round(step.recipe, self._lams(step, fits, NEAR if step is before else REACH))
            scores.append(self.mean_score([len(self.rounds) - 1]))
        for step in beside:
            if self._move(step, fits):
                alike = step.learn == "axes"  # the first round's coordinates
                self._round(step.recipe, around(self.rounds[0].lam, REACH) if alike else geometric_grid(scale))
        return self.rounds

    def best_rounds(self, most: int = MOST_KEPT) -> tuple[int, ...]:
        """Return the rounds, `most` of them at most, whose mean prediction scores best out of fold; the best first."""
        count = len(self.rounds)
        sets = [chosen for size in range(1, min(most, count) + 1) for chosen in combinations(range(count), size)]
        scores = {chosen: self.mean_score(chosen) for chosen in sets}
        known = {chosen: score for chosen, score in scores.items() if not np.isnan(score)}
        best = max(known, key=known.__getitem__)
        return tuple(sorted(best, key=lambda r: -scores[(r,)]))

    def cross_fit(self, chosen: Sequence[int]) -> CrossFit:
        """Return the folds' fits, the mean of the chosen rounds, with their residuals where they did not look."""
        return CrossFit(
            functions=[PLDC.mean([self.rounds[r].functions[k][0] for r in chosen]) for k in range(len(self.splits))],
            residuals=[np.abs(test.y - v) for test, v in zip(self.test, self.left_out(chosen), strict=True)],
            weights=[test.weight for test in self.test],
            limits=[self._limits(train) for train in self.train],
            rows=self.rows,
            splits=self.splits,
        )

    def results(self) -> dict[str, Any]:
        """Return the scores in the form of scikit-learn's GridSearchCV."""
        lams = np.concatenate([r.lams for r in self.rounds])
        number = np.repeat(np.arange(len(self.rounds)), [len(r.lams) for r in self.rounds])
        scores, seconds = (np.hstack([getattr(r, name) for r in self.rounds]) for name in ("scores", "seconds"))
        mean = self.share @ scores
        out: dict[str, Any] = {
            "params": [{"lam": float(lam), "round": int(k)} for lam, k in zip(lams, number, strict=True)],
            "param_lam": lams,
            "param_round": number,
            "param_learned": np.array([r.learned for r in self.rounds])[number],
            "param_linear": np.array([r.recipe.linear for r in self.rounds])[number],
            "mean_fit_time": seconds.mean(axis=0),
            "std_fit_time": seconds.std(axis=0),
        }
        out |= {f"split{k}_test_score": row for k, row in enumerate(scores)}
        out["mean_test_score"] = mean
        unit = size_of(scores)
        out["std_test_score"] = unit * np.sqrt(self.share @ ((scores - mean) / unit) ** 2)
        out["rank_test_score"] = np.array([1 + int((mean > value).sum()) for value in mean])
        return out

    def left_out(self, chosen: Sequence[int]) -> list[Array]:
        """Mean prediction of the chosen rounds at the rows that each fold left out."""
        return [np.mean([self.rounds[r].predictions[k] for r in chosen], axis=0) for k in range(len(self.splits))]

    def mean_score(self, chosen: Sequence[int]) -> float:
        """Score of the mean of the chosen rounds at the rows left out."""
        scores = [self.score(values, test) for values, test in zip(self.left_out(chosen), self.test, strict=True)]
        return float(self.share @ scores)

    def _round(self, recipe: Recipe, lams: list[float]) -> list[Fit]:
        """Search one grid, grown as needed; return the folds' fits at the best λ."""
        fits = self._fit(recipe, lams, None)
        grown = False
        while True:
            scores = np.array(
                [[self.score(fit.prediction, test) for fit in fold] for fold, test in zip(fits, self.test, strict=True)]
            )
            flat = np.array([all(fit.seminorm == 0 for fit in column) for column in zip(*fits, strict=True)])
            best = self._choose(scores, flat)
            more = [] if self.rounds and grown else self._beyond(lams, best)
            if not more:
                break
            grown = True
            if more[0] < lams[-1]:
                new = self._fit(recipe, more, [shrunk(fold[-1].solution, more[0] / lams[-1]) for fold in fits])
                lams, fits = lams + more, [old + extra for old, extra in zip(fits, new, strict=True)]
            else:
                new = self._fit(recipe, more, None)
                lams, fits = more + lams, [extra + old for old, extra in zip(fits, new, strict=True)]
        self.rounds.append(
            Round(
                lam=lams[best],
                lams=np.array(lams),
                scores=scores,
                seconds=np.array([[fit.seconds for fit in fold] for fold in fits]),
                predictions=[fold[best].prediction for fold in fits],
                functions=[fold[best].functions for fold in fits],
                geometry=self.coordinates.whole,
                learned=self.coordinates.learned,
                recipe=recipe,
            )
        )
        logger.log(
            self.level,
            "cross-validation, round %d (%s%s): best lam %.4g of %d values, mean score %.6g",
            len(self.rounds) - 1,
            self.coordinates.learned,
            ", free linear term" if recipe.linear else "",
            lams[best],
            len(lams),
            float(self.share @ scores[:, best]),
        )
        return [fold[best] for fold in fits]

    def _choose(self, scores: Array, flat: Array) -> int:
        """Index of the best λ; of those that are not clearly worse, the largest.

        Clearly: by a quarter of a standard error of the difference, fold by fold. If asked to be cautious, one standard
        error of the best score counts instead, which is far more. Else scores of classes that are constant, which tell
        nothing apart, have to be the best: where they are not, the largest λ counts that is no worse than they are.
        """
        mean = self.share @ scores
        if not np.isfinite(mean).any():
            raise ValueError(
                "No score of the cross-validation is a number: the scorer may need more rows in a fold than there are "
                "(R² needs two), or y may be too large to square."
            )
        unit = size_of(scores)
        scores, mean = scores / unit, np.where(np.isfinite(mean), mean / unit, -np.inf)
        best = int(mean.argmax())
        folds = len(scores)
        if folds < 2:
            return best
        if self.cautious:
            allowed = np.full(len(mean), scores[:, best].std(ddof=1)) / np.sqrt(folds)
        else:
            usable = np.where(np.isfinite(mean), scores, scores[:, [best]])
            allowed = TIE * (scores[:, [best]] - usable).std(axis=0, ddof=1) / np.sqrt(folds)
        chosen = int(np.flatnonzero(mean >= mean[best] - allowed)[0])
        if flat[chosen] and not (flat[best] or self.cautious) and self.recipe.outputs > 1:
            return int(np.flatnonzero(~flat & (mean >= mean[chosen]))[0])
        return chosen

    def _beyond(self, lams: list[float], best: int) -> list[float]:
        """Return values to try beyond the end at which the best one lies; none if it lies inside.

        A later round grows once, and only downwards: a rough fit at a large λ, from nothing, is not yet as smooth as
        the accurate one will be, and may score well for that alone.
        """
        steps = RATIO ** np.arange(1, AT_ONCE + 1)
        if self.rounds and best != len(lams) - 1:
            return []
        low = 0.0 if self.rounds else self.scale * RATIO ** (LOWEST - LOWER)
        high = self.scale * RATIO ** (HIGHEST + HIGHER)
        if best == len(lams) - 1:
            return [lam for lam in lams[-1] / steps if lam > low / 1.001]
        if best == 0:
            return [lam for lam in lams[0] * steps[::-1] if lam < high * 1.001]
        return []

    def _fit(self, recipe: Recipe, lams: list[float], starts: Sequence[Solution | None] | None) -> list[list[Fit]]:
        """Fit all folds along `lams`, telling how many are done."""
        began = told = time.perf_counter()
        out: list[list[Fit]] = []
        begin: Sequence[Solution | None] = starts or [None] * len(self.train)
        folds = zip(self.train, self.test, self.coordinates.folds, begin, strict=True)
        tasks = (
            delayed(fit_path)(recipe, train, test.X, geometry, lams, self._limits(train), start, self.patient)
            for train, test, geometry, start in folds
        )
        one_by_one = get_active_backend()[0].supports_return_generator
        for fits in Parallel(n_jobs=self.jobs, return_as="generator" if one_by_one else "list")(tasks):
            out.append(fits)
            now = time.perf_counter()
            if now - told > 2.0 and len(out) < len(self.train):
                told = now
                count = len(self.train)
                left = (now - began) / len(out) * (count - len(out))
                what = "cross-validation, round %d: %d of %d folds, %.0f s left of it"
                logger.log(self.level, what, len(self.rounds), len(out), count, left)
        return out

    def _limits(self, rows: Rows) -> tuple[float, float]:
        return (float(rows.y.min()), float(rows.y.max())) if self.clip else (-np.inf, np.inf)

    def _move(self, step: Step, fits: list[Fit]) -> bool:
        """Learn the coordinates of the next round; False: there is nothing to learn."""
        found = self.coordinates.learn(step, Sample(self.rows, self.train, self.share), fits, self.jobs)
        self.coordinates = found or self.coordinates
        return found is not None

    def _lams(self, step: Step, fits: list[Fit], reach: tuple[int, int]) -> list[float]:
        """Return the grid of the next round, around the λ of the last one.

        In other coordinates, or for another penalty, λ · penalty stays about the same: λ changes by the mean ratio of
        the two penalties.
        """
        m = step.recipe.outputs
        penalty = step.recipe.penalty if m == 1 else EachOutput(step.recipe.penalty, m)
        there = [
            penalty.value(geometry.slopes_in(fit.points, fit.slopes))
            for fit, geometry in zip(fits, self.coordinates.folds, strict=True)
        ]
        here = [fit.seminorm for fit in fits]
        ratio = sum(here) / sum(there) if sum(there) > 0 else 1.0
        return around(ratio * self.rounds[-1].lam, reach)


def size_of(scores: Array) -> float:
    """Return a power of two of about the size of the scores, in which their squares do not overflow."""
    return float(2.0 ** np.frexp(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))[1].clip(-1000, 1000))


def shrunk(solution: Solution | None, factor: float) -> Solution:
    """Return the solution as a start for λ times `factor`: the norm of its flows is λ."""
    if solution is None:
        raise ValueError("Only the last fit of a path has the flows that another begins with.")
    return replace(solution, multipliers=[factor * flow for flow in solution.multipliers])
