"""Cross-validation of λ, and of the rounds of a learned geometry.

A round fits every fold along a grid of λ, roughly, from the largest to the smallest; the λ with the best mean score on
the rows left out is the round's. The gradients of each fold's fit then give the coordinates of its next round: the
features stretched, or turned directions. But for that one number nothing crosses folds, so the score of a later round
is as honest as that of the first. In the end those rounds are kept whose mean prediction scores best.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.function.total import PLDCSum
from pldc.problem.penalties import EachOutput
from pldc.problem.program import Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.select.geometry import outer_product, turn_to
from pldc.select.intervals import CrossFit
from pldc.select.path import coarse_path

FEWEST, MOST, ROWS_EACH = 40, 80, 6  # iterations of the quick engine for each λ: one for so many rows, within limits
RATIO = 2.0
HIGHEST, LOWEST = 1, -8  # exponents of the first grid, in units of the scale of λ
TIE = 0.25  # standard errors of the difference within which two values are as good as each other
LOWER, HIGHER = 5, 3  # how many ratios beyond those ends the first grid may grow
AT_ONCE = 3  # values it grows by
NARROW = (1.0, 0.5, 0.25)  # grid of a later round, in units of the λ of the one before
WIDE = (2.0, *NARROW)  # where the penalty is another one, and its λ only known about
MOST_KEPT = 2  # rounds that are averaged

logger = logging.getLogger("pldc")
Score = Callable[[Array, Rows], float]
Split = tuple[IntArray, IntArray]


class Step(NamedTuple):
    """A round after the first: its recipe, and whether its coordinates are stretched features or turned directions."""

    recipe: Recipe
    stretched: bool


class Fit(NamedTuple):
    """A rough fit at one λ: its functions, their values at the rows left out, outer product of gradients, seconds.

    There is one function, or the score of each class. `solution` are values, slopes (in standardised features, whatever
    the turn) and flows: where another begins; `seminorm` is the penalty.
    """

    functions: list[PLDC]
    prediction: Array
    outer: Array
    seconds: float
    solution: Solution
    seminorm: float


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
    turn : array or None
        Coordinates of the round, learned from all rows.
    recipe : Recipe
    """

    lam: float
    lams: Array
    scores: Array
    seconds: Array
    predictions: list[Array]
    functions: list[list[PLDC]]
    turn: Array | None
    recipe: Recipe


def geometric_grid(scale: float) -> list[float]:
    """Return ten values from 2 to 2⁻⁸ times `scale`, decreasing."""
    return [scale * RATIO**e for e in range(HIGHEST, LOWEST - 1, -1)]


def iterations(n: int, count: int, warm: bool = False) -> list[int]:
    """Return how often to iterate for each of `count` values of λ on n rows, from where the last one ended.

    A path that begins from nothing in the middle of the grid begins with twice as many. A whole grid need not be exact
    in its larger half, which is only a start for the smaller.
    """
    full = min(max(n // ROWS_EACH, FEWEST), MOST)
    if count <= HIGHEST - LOWEST:
        return [full if warm else 2 * full] + [full] * (count - 1)
    half = count // 2
    return [FEWEST] + [FEWEST // 2] * (half - 1) + [full] * (count - half)


def fit_path(
    recipe: Recipe,
    rows: Rows,
    left_out: Array,
    turn: Array | None,
    lams: Sequence[float],
    limits: tuple[float, float],
    start: Solution | None = None,
) -> list[Fit]:
    """Fit `rows` roughly along λ, in the coordinates `turn`; predictions are cut to `limits`.

    `start` is the `solution` of a fit of the same rows, whatever its coordinates: values and flows are the same in all,
    and slopes turn with them.
    """
    plain = recipe.units(rows)
    problem = recipe.problem(rows, plain, lams[0])
    A = np.eye(problem.X.shape[1]) if turn is None else turn
    problem, units = replace(problem, X=problem.X @ A), replace(plain, turn=turn)  # points keep their order
    if start is not None:
        start = turned(start, np.linalg.inv(A))
    counts = iterations(len(problem.X), len(lams), warm=start is not None)
    out = []
    began = time.perf_counter()
    for solution in coarse_path(problem, lams, counts, start, threads=1):
        fitted = problem.functions(solution)
        outer = sum(outer_product(f.gradient(problem.X) @ A.T, problem.node_weight) for f in fitted)
        functions = [units.restore(f) for f in fitted]
        prediction = np.clip(np.array([f(left_out) for f in functions]), *limits)
        seminorm = problem.penalty.value(solution.slopes)
        now = time.perf_counter()
        out.append(
            Fit(
                functions,
                prediction if recipe.outputs > 1 else prediction[0],
                np.asarray(outer),
                now - began,
                turned(solution, A),
                seminorm,
            )
        )
        began = now
    return out


def turned(solution: Solution, A: Array) -> Solution:
    """Return the solution for points x whose old coordinates are x @ A: values and flows are the same."""
    return replace(solution, slopes=solution.slopes @ A.T, linear=solution.linear @ A.T)


def learned_turn(recipe: Recipe, rows: Rows, outer: Array, stretched: bool = False) -> Array | None:
    """Return the coordinates that the gradients of a fit ask for; where slopes have signs, features are stretched."""
    Z = recipe.units(rows).scale_X(rows.X)
    return turn_to(outer, Z, rows.weight, diagonal=stretched or bool(np.any(recipe.monotone)))


def learn_geometry(recipe: Recipe, rows: Rows, lam: float, rounds: int) -> Array | None:
    """Learn the coordinates of all rows `rounds` times at one λ, without folds."""
    turn, start = None, None
    for _ in range(rounds):
        (fit,) = fit_path(recipe, rows, rows.X[:0], turn, [lam], (-np.inf, np.inf), start)
        new = learned_turn(recipe, rows, fit.outer)
        if new is None:
            break
        turn, start = new, fit.solution
    return turn


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
        jobs: int | None = None,
        level: int = logging.DEBUG,
    ):
        self.recipe, self.rows, self.splits, self.score = recipe, rows, splits, score
        self.clip, self.cautious, self.jobs, self.level = clip, cautious, jobs, level
        self.train = [rows.take(train) for train, _ in splits]
        self.test = [rows.take(test) for _, test in splits]
        mass = np.array([test.weight.sum() for test in self.test])
        self.share = mass / mass.sum()
        self.turns: list[Array | None] = [None] * len(splits)
        self.turn: Array | None = None
        self.rounds: list[Round] = []

    def run(self, scale: float, steps: Sequence[Step] = ()) -> list[Round]:
        """Search a grid on the `scale` of λ; then, for each step, learn the geometry and search around the best λ.

        Of equal steps in a row, those are left out that follow one whose score was no better than that of the one
        before it.
        """
        self.scale = scale
        fits = self._round(self.recipe, geometric_grid(scale), None)
        scores = [-np.inf]
        for before, step in zip([None, *steps], steps, strict=False):
            if step is not before:
                scores = [-np.inf]
            elif not scores[-1] > scores[-2]:
                continue
            if not self._learn(step, fits):
                break
            fits = self._round(step.recipe, self._lams(step, fits), [fit.solution for fit in fits])
            scores.append(self._mean_score([len(self.rounds) - 1]))
        return self.rounds

    def best_rounds(self, most: int = MOST_KEPT) -> tuple[int, ...]:
        """Return the rounds, `most` of them at most, whose mean prediction scores best out of fold."""
        count = len(self.rounds)
        sizes = range(1, min(most, count) + 1)
        sets = [chosen for size in sizes for chosen in combinations(range(count), size)]
        scores = np.array([self._mean_score(chosen) for chosen in sets])
        return sets[int(np.where(np.isnan(scores), -np.inf, scores).argmax())]

    def cross_fit(self, chosen: Sequence[int]) -> CrossFit:
        """Return the folds' fits, the mean of the chosen rounds, with their residuals where they did not look."""
        return CrossFit(
            functions=[PLDCSum.mean([self.rounds[r].functions[k][0] for r in chosen]) for k in range(len(self.splits))],
            residuals=[np.abs(test.y - v) for test, v in zip(self.test, self.left_out(chosen), strict=True)],
            weights=[test.weight for test in self.test],
            limits=[self._limits(train) for train in self.train],
        )

    def results(self) -> dict[str, Any]:
        """Return the scores in the form of scikit-learn's GridSearchCV."""
        lams = np.concatenate([r.lams for r in self.rounds])
        number = np.concatenate([np.full(len(r.lams), k) for k, r in enumerate(self.rounds)])
        scores, seconds = (np.hstack([getattr(r, name) for r in self.rounds]) for name in ("scores", "seconds"))
        mean = self.share @ scores
        out: dict[str, Any] = {
            "params": [{"lam": float(lam), "round": int(k)} for lam, k in zip(lams, number, strict=True)],
            "param_lam": lams,
            "param_round": number,
            "mean_fit_time": seconds.mean(axis=0),
            "std_fit_time": seconds.std(axis=0),
        }
        out |= {f"split{k}_test_score": row for k, row in enumerate(scores)}
        out["mean_test_score"] = mean
        out["std_test_score"] = np.sqrt(self.share @ (scores - mean) ** 2)
        out["rank_test_score"] = np.array([1 + int((mean > value).sum()) for value in mean])
        return out

    def left_out(self, chosen: Sequence[int]) -> list[Array]:
        """Mean prediction of the chosen rounds at the rows that each fold left out."""
        return [np.mean([self.rounds[r].predictions[k] for r in chosen], axis=0) for k in range(len(self.splits))]

    def _mean_score(self, chosen: Sequence[int]) -> float:
        scores = [self.score(values, test) for values, test in zip(self.left_out(chosen), self.test, strict=True)]
        return float(self.share @ scores)

    def _round(self, recipe: Recipe, lams: list[float], starts: list[Solution] | None) -> list[Fit]:
        """Search one grid, grown as needed, each fold from its start; return the folds' fits at the best λ."""
        fits = self._fit(recipe, lams, starts)
        grown = False
        while True:
            scores = np.array(
                [[self.score(fit.prediction, test) for fit in fold] for fold, test in zip(fits, self.test, strict=True)]
            )
            best = self._choose(scores)
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
                turn=self.turn,
                recipe=recipe,
            )
        )
        logger.log(
            self.level,
            "cross-validation, round %d: lam %.4g of %d, mean score %.6g",
            len(self.rounds),
            lams[best],
            len(lams),
            float(self.share @ scores[:, best]),
        )
        return [fold[best] for fold in fits]

    def _choose(self, scores: Array) -> int:
        """Index of the best λ; of those that are not clearly worse, the largest.

        Clearly: by a quarter of a standard error of the difference, fold by fold. If asked to be cautious, one standard
        error of the best score counts instead, which is far more.
        """
        mean = self.share @ scores
        if not np.isfinite(mean).any():
            raise ValueError(
                "No score of the cross-validation is a number: the scorer may need more rows in a fold than there are "
                "(R² needs two), or y may be too large to square."
            )
        mean = np.where(np.isfinite(mean), mean, -np.inf)
        best = int(mean.argmax())
        folds = len(scores)
        if folds < 2:
            return best
        if self.cautious:
            allowed = np.full(len(mean), scores[:, best].std(ddof=1)) / np.sqrt(folds)
        else:
            usable = np.where(np.isfinite(mean), scores, scores[:, [best]])
            allowed = TIE * (scores[:, [best]] - usable).std(axis=0, ddof=1) / np.sqrt(folds)
        return int(np.flatnonzero(mean >= mean[best] - allowed)[0])

    def _beyond(self, lams: list[float], best: int) -> list[float]:
        """Return values to try beyond the end at which the best one lies; none if it lies inside.

        A later round grows once, and only downwards: a rough fit at a large λ, from nothing, is not yet as smooth as
        the accurate one will be, and may score well for that alone.
        """
        steps = RATIO ** np.arange(1, AT_ONCE + 1)
        if self.rounds and best != len(lams) - 1:
            return []
        low, high = self.scale * RATIO ** (LOWEST - LOWER), self.scale * RATIO ** (HIGHEST + HIGHER)
        if best == len(lams) - 1:
            return [lam for lam in lams[-1] / steps if lam > low / 1.001]
        if best == 0:
            return [lam for lam in lams[0] * steps[::-1] if lam < high * 1.001]
        return []

    def _fit(self, recipe: Recipe, lams: list[float], starts: list[Solution] | None) -> list[list[Fit]]:
        """Fit all folds along `lams`, telling how many are done."""
        began = told = time.perf_counter()
        out: list[list[Fit]] = []
        begin: Sequence[Solution | None] = starts or [None] * len(self.train)
        folds = zip(self.train, self.test, self.turns, begin, strict=True)
        tasks = (
            delayed(fit_path)(recipe, train, test.X, turn, lams, self._limits(train), start)
            for train, test, turn, start in folds
        )
        one_by_one = get_active_backend()[0].supports_return_generator
        for fits in Parallel(n_jobs=self.jobs, return_as="generator" if one_by_one else "list")(tasks):
            out.append(fits)
            now = time.perf_counter()
            if now - told > 2.0 and len(out) < len(self.train):
                told = now
                left = (now - began) / len(out) * (len(self.train) - len(out))
                logger.log(self.level, "cross-validation: %d of %d fits, %.0f s left", len(out), len(self.train), left)
        return out

    def _limits(self, rows: Rows) -> tuple[float, float]:
        return (float(rows.y.min()), float(rows.y.max())) if self.clip else (-np.inf, np.inf)

    def _lams(self, step: Step, fits: list[Fit]) -> list[float]:
        """Return the grid of the next round, around the λ of the last one.

        For another penalty, λ · penalty stays about the same: its grid lies around λ times the mean ratio of the two.
        """
        last = self.rounds[-1]
        if step.recipe.penalty == last.recipe.penalty:
            return [factor * last.lam for factor in NARROW]
        m = step.recipe.outputs
        penalty = step.recipe.penalty if m == 1 else EachOutput(step.recipe.penalty, m)
        there = [
            penalty.value(turned(fit.solution, np.linalg.inv(turn)).slopes)
            for fit, turn in zip(fits, self.turns, strict=True)
            if turn is not None
        ]
        here = [fit.seminorm for fit in fits]
        ratio = sum(here) / sum(there) if sum(there) > 0 else 1.0
        return [factor * ratio * last.lam for factor in WIDE]

    def _learn(self, step: Step, fits: list[Fit]) -> bool:
        """Learn the coordinates of the next round, of every fold and of all rows; False: there is nothing to learn.

        Those of all rows come from the folds' gradients together, weighted as their scores are.
        """
        unit = self.recipe.units(self.rows).scale
        scales = [unit / self.recipe.units(train).scale for train in self.train]
        whole = sum(
            share * fit.outer * np.outer(scale, scale)
            for share, fit, scale in zip(self.share, fits, scales, strict=True)
        )
        turns = [
            learned_turn(step.recipe, rows, outer, step.stretched)
            for rows, outer in zip([*self.train, self.rows], [*(fit.outer for fit in fits), whole], strict=True)
        ]
        if any(turn is None for turn in turns):
            return False
        *self.turns, self.turn = turns
        return True


def shrunk(solution: Solution, factor: float) -> Solution:
    """Return the solution as a start for λ times `factor`: the norm of its flows is λ."""
    return replace(solution, multipliers=[factor * flow for flow in solution.multipliers])
