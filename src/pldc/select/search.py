"""Cross-validation of λ.

Every fold is fitted along a grid of λ, roughly, from the largest to the smallest; the λ with the best mean score on the
rows left out is taken. The grid grows by itself where that one lies at its end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from pldc.function.max_affine import Array
from pldc.problem.program import Problem, Solution
from pldc.problem.recipe import Recipe, Rows, Split
from pldc.select.cross_fit import CrossFit
from pldc.select.fold_fits import Fit, fit_path
from pldc.solve import Solver

RATIO = 2.0
HIGHEST, LOWEST = 1, -8  # exponents of the first grid, in units of the scale of λ
TIE = 0.25  # standard errors of the difference within which two values are as good as each other
LOWER, HIGHER = 5, 3  # how many ratios beyond those ends the grid may grow
AT_ONCE = 3  # values it grows by

logger = logging.getLogger("pldc")
Score = Callable[[Array, Rows], float]


def geometric_grid(scale: float) -> list[float]:
    """Return ten values from 2 to 2⁻⁸ times `scale`, decreasing."""
    return [scale * RATIO**e for e in range(HIGHEST, LOWEST - 1, -1)]


class Search:
    """The search over λ on given rows and folds.

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

    Attributes
    ----------
    lam : float
        The λ chosen. It and the rest are set by :meth:`run`.
    lams : list of float
        All that were tried, decreasing.
    scores : array of shape (folds, λ)
        At the rows left out.
    mean_score : float
        That of `lam`, folds weighted by the rows they leave out.
    test : list of Rows
        The rows that each fold leaves out.
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

    def run(self, scale: float) -> None:
        """Search a grid on the `scale` of λ, grown as needed."""
        lams = geometric_grid(scale)
        fits = self._fit(lams)
        while True:
            scores = np.array(
                [[self.score(fit.prediction, test) for fit in fold] for fold, test in zip(fits, self.test, strict=True)]
            )
            flat = np.array([all(fit.seminorm == 0 for fit in column) for column in zip(*fits, strict=True)])
            best = self._choose(scores, flat)
            more = beyond(scale, lams, best)
            if not more:
                break
            if more[0] < lams[-1]:
                new = self._fit(more, [shrunk(fold[-1].solution, more[0] / lams[-1]) for fold in fits])
                lams, fits = lams + more, [old + extra for old, extra in zip(fits, new, strict=True)]
            else:
                new = self._fit(more)
                lams, fits = more + lams, [extra + old for old, extra in zip(fits, new, strict=True)]
        self.lam, self.lams, self.scores = lams[best], lams, scores
        self.mean_score = float((self.share @ scores)[best])
        self._seconds = np.array([[fit.seconds for fit in fold] for fold in fits])
        self._chosen = [fold[best] for fold in fits]
        message = "cross-validation: best lam %.4g of %d values, mean score %.6g"
        logger.log(self.level, message, self.lam, len(lams), self.mean_score)

    def run_at(self, lam: float, solver_for: Callable[[Problem], Solver]) -> None:
        """Fit the folds at one λ alone, coming from larger ones: for what they say of the rows left out.

        Nothing says that this λ is a good one: at a small one, rough fits may be far off, and are solved.
        """
        lams = [lam * RATIO**e for e in range(AT_ONCE, -1, -1)]
        fits = self._fit(lams, solver_for=solver_for)
        self.lam, self.lams = lam, [lam]
        self._chosen = [fold[-1] for fold in fits]
        self.scores = np.array([[self.score(fold[-1].prediction, t)] for fold, t in zip(fits, self.test, strict=True)])
        self._seconds = np.array([[sum(fit.seconds for fit in fold)] for fold in fits])
        self.mean_score = float((self.share @ self.scores)[0])

    def left_out(self) -> list[Array]:
        """Values of each fold's fit at the rows that it left out."""
        return [fit.prediction for fit in self._chosen]

    def cross_fit(self) -> CrossFit:
        """Return the fits of the folds, with their values where they did not look."""
        return CrossFit(
            functions=[tuple(fit.functions) for fit in self._chosen],
            values=self.left_out(),
            limits=[self._limits(train) for train in self.train],
            rows=self.rows,
            splits=self.splits,
        )

    def results(self) -> dict[str, Any]:
        """Return the scores in the form of scikit-learn's GridSearchCV."""
        mean = self.share @ self.scores
        out: dict[str, Any] = {
            "params": [{"lam": float(lam)} for lam in self.lams],
            "param_lam": np.array(self.lams),
            "mean_fit_time": self._seconds.mean(axis=0),
            "std_fit_time": self._seconds.std(axis=0),
        }
        out |= {f"split{k}_test_score": row for k, row in enumerate(self.scores)}
        out["mean_test_score"] = mean
        unit = size_of(self.scores)
        out["std_test_score"] = unit * np.sqrt(self.share @ ((self.scores - mean) / unit) ** 2)
        out["rank_test_score"] = np.array([1 + int((mean > value).sum()) for value in mean])
        return out

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

    def _fit(
        self,
        lams: list[float],
        starts: Sequence[Solution | None] = (),
        solver_for: Callable[[Problem], Solver] | None = None,
    ) -> list[list[Fit]]:
        """Fit all folds along `lams`, telling how many are done."""
        began = told = time.perf_counter()
        out: list[list[Fit]] = []
        count = len(self.train)
        folds = zip(self.train, self.test, starts or [None] * count, strict=True)
        tasks = (
            delayed(fit_path)(self.recipe, train, test.X, lams, self._limits(train), start, self.patient, solver_for)
            for train, test, start in folds
        )
        one_by_one = get_active_backend()[0].supports_return_generator
        for fits in Parallel(n_jobs=self.jobs, return_as="generator" if one_by_one else "list")(tasks):
            out.append(fits)
            now = time.perf_counter()
            if now - told > 2.0 and len(out) < count:
                told = now
                left = (now - began) / len(out) * (count - len(out))
                logger.log(self.level, "cross-validation: %d of %d folds, %.0f s left of it", len(out), count, left)
        return out

    def _limits(self, rows: Rows) -> tuple[float, float]:
        return (float(rows.y.min()), float(rows.y.max())) if self.clip else (-np.inf, np.inf)


def beyond(scale: float, lams: list[float], best: int) -> list[float]:
    """Return values to try beyond the end of `lams` at which the best one lies; none if it lies inside."""
    steps = RATIO ** np.arange(1, AT_ONCE + 1)
    if best == len(lams) - 1:
        low = scale * RATIO ** (LOWEST - LOWER)
        return [lam for lam in lams[-1] / steps if lam > low / 1.001]
    if best == 0:
        high = scale * RATIO ** (HIGHEST + HIGHER)
        return [lam for lam in lams[0] * steps[::-1] if lam < high * 1.001]
    return []


def size_of(scores: Array) -> float:
    """Return a power of two of about the size of the scores, in which their squares do not overflow."""
    return float(2.0 ** np.frexp(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))[1].clip(-1000, 1000))


def shrunk(solution: Solution | None, factor: float) -> Solution:
    """Return the solution as a start for λ times `factor`: the norm of its flows is λ."""
    if solution is None:
        raise ValueError("Only the last fit of a path has the flows that another begins with.")
    return replace(solution, multipliers=[factor * flow for flow in solution.multipliers])
