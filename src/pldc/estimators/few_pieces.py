"""Fits of few pieces behind the interface of the regressor: when they are made, and what is kept of them."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pldc.compact.search import Clock, Split
from pldc.estimators.checks import positive, whole
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Rows
from pldc.select.few_pieces import CompactFit, described, fit_compact, prepared, shuffled
from pldc.select.folds import distinct, mixed
from pldc.select.intervals import CrossFit
from pldc.select.simplify import simplified
from pldc.solve.progress import shown
from pldc.solve.run import Monitor

FOLDS = 5  # of a simplification whose model has none
FEWEST = 4  # distinct rows
FOR_THE_TEACHER = 0.6  # share of a limit on time for the model that few pieces are learned from
KINDS = ("auto", "rows")
# Settings of the convex program: whoever changes one of them asks for it.
OF_THE_PROGRAM: dict[str, Any] = {
    "penalty": "componentwise",
    "lam": "cv",
    "one_standard_error": False,
    "linear": "penalized",
    "standardize": True,
    "solver": "auto",
    "tol": 1e-4,
    "max_iter": None,
    "device": None,
}


class FewPieces:
    """Methods of :class:`pldc.DCRegressor` for fits whose pieces are fewer than the rows."""

    n_pieces: Any
    max_seconds: float | None
    clip: bool
    function_: PLDC
    _cross_fit: CrossFit | None

    def _asks_for_few_pieces(self: Any) -> bool:
        """Say whether the fit is one of few pieces: by `n_pieces`, or where no setting asks for the program."""
        if self.max_seconds is not None:
            positive("max_seconds", self.max_seconds, "None or ")
        if isinstance(self.n_pieces, Integral) and not isinstance(self.n_pieces, bool):
            whole("n_pieces", self.n_pieces, 1)
            return True
        if not (isinstance(self.n_pieces, str) and self.n_pieces in KINDS):
            raise ValueError(f"n_pieces must be 'auto', 'rows' or a whole number ≥ 1, got {self.n_pieces!r}.")
        return self.n_pieces == "auto" and all(
            value is default or (type(value) is type(default) and value == default)
            for value, default in ((getattr(self, name), default) for name, default in OF_THE_PROGRAM.items())
        )

    def _fit_few_pieces(self: Any, given: Rows, groups: ArrayLike | None, monitor: Monitor | None) -> bool:
        """Fit few pieces; False: there are too few rows to leave any out."""
        self._check_settings()
        self._check_groups(groups, given)
        recipe = self._recipe()
        clock = Clock(self.max_seconds)
        rows = given if (given.weight > 0).all() else given.take(np.flatnonzero(given.weight > 0))
        if isinstance(self.cv, Integral) and groups is None:
            rows, splits = prepared(rows, int(self.cv))
        else:
            rows, splits, _ = self._splits(given, rows, groups, np.inf)
            rows, splits = shuffled(*merged(rows, splits))
        if len(rows.y) < FEWEST:
            return False
        count = int(self.n_pieces) if isinstance(self.n_pieces, Integral) else None
        targets = Rows(rows.X[:, :0], rows.y, rows.weight)  # the unit of scores is that of y
        part = clock if count is None else clock.part(FOR_THE_TEACHER)
        with shown(self.verbose):
            fit, interrupted = fit_compact(
                recipe,
                rows,
                splits,
                score=self._score(recipe, targets),
                clip=bool(self.clip),
                clock=part,
                threads=self._threads(),
                seed=self._whole_seed(),
                level=self._level(),
                monitor=monitor,
            )
            self._remember_few_pieces(fit)
            clock.cancelled = interrupted or part.stopped
            if count is not None:
                interrupted |= self._take_simple(self, rows, fit.found.splits, count, clock)
        if interrupted:
            raise KeyboardInterrupt("Interrupted; the model holds the best function found so far.")
        return True

    def simplify(self: Any, X: Any, y: Any, n_pieces: int = 8, sample_weight: ArrayLike | None = None) -> Any:
        """Learn one function of few pieces from this model and the rows together.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The rows of the fit; then its folds are used again. Others are cross-validated anew, with a fit a fold,
            which takes several times as long.
        y : array of shape (n,)
        n_pieces : int, default=8
            Pieces of each part, at most.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        DCRegressor
            Fitted. Its `function_` is one function of at most `n_pieces` − `n_pieces` pieces, with at most as many
            linear regions as there are pairs of them, and all it says and does is of that one. `fidelity_` is the R² to
            this model at rows that were left out; `simplification_` has the cross-validated scores of both. With
            `monotone` its pieces are sums of monotone curves.
        """
        self._check_fitted()
        whole("n_pieces", n_pieces, 1)
        if hasattr(self, "outputs_"):
            raise ValueError("simplify is for one target: simplify each of outputs_.")
        validate_data(self, X, dtype=np.float64, reset=False)  # the columns of the fit, in their order
        simple = clone(self).set_params(n_pieces=n_pieces)
        given = simple._rows_of(X, y, sample_weight)
        rows, splits = prepared(given.take(np.flatnonzero(given.weight > 0)), FOLDS)
        if len(rows.y) < FEWEST:
            raise ValueError(f"simplify needs at least {FEWEST} distinct rows, got {len(rows.y)}.")
        mine = self._cross_fit
        if mine is not None and same_rows(rows, mine.rows) and len(mine.splits):
            rows, splits = mine.rows, mine.splits
        else:
            mine = None
        for name in ("clip_range_", "reference_", "spread_", "n_iter_"):
            setattr(simple, name, getattr(self, name))
        simple._rows, simple._cross_fit = rows, mine
        if simple._take_simple(self, rows, splits, n_pieces, Clock()):
            raise KeyboardInterrupt("Interrupted; nothing was returned.")
        return simple

    def _take_simple(self: Any, teacher: Any, rows: Rows, splits: list[Split], n_pieces: int, clock: Clock) -> bool:
        """Set the attributes of one function of few pieces, learned from a fitted model; true if Ctrl-C ended it."""
        recipe, score = self._recipe(), self._score(self._recipe(), rows)
        folds = self._cross_fit
        if folds is None:  # the model has no folds of these rows: fit it to them
            fresh = clone(teacher).set_params(monotone=list(recipe.monotone))
            fits = [clone(fresh).fit(*rows.take(train)) for train, _ in splits]
            limits = [fit._limits() for fit in fits]
            folds = CrossFit([f.function_ for f in fits], [], [rows.weight[t] for _, t in splits], limits, rows, splits)
        learn = partial(
            simplified,
            recipe,
            rows,
            teacher.function_,
            n_pieces,
            folds,
            splits,
            score=score,
            clip=bool(self.clip),
            seed=self._whole_seed(),
            threads=self._threads(),
            clock=clock,
        )
        interrupted = False
        try:
            found = learn()
        except KeyboardInterrupt:  # one short attempt without folds: seconds are not spent again
            clock.cancelled = interrupted = True
            found = learn()
        self.function_, self.simplification_, self._cross_fit = found
        self.fidelity_ = self.simplification_.fidelity
        if self._cross_fit is not None:
            self.cv_score_ = self.simplification_.score
        return interrupted

    def _remember_few_pieces(self: Any, fit: CompactFit) -> None:
        """Set the attributes of a fit of few pieces."""
        found, rows = fit.found, fit.rows
        self.function_ = fit.function
        starts = max(len(found.functions) // max(len(found.entries), 1), 1)
        self.chosen_ = [described(e.candidate, e.ridge, e.round, starts) for e in found.entries]
        if found.score is not None:
            self.cv_score_ = found.score
        params = [described(e.candidate, e.ridge, e.round, 1) for e, _ in found.scores]
        scores = np.array([score for _, score in found.scores])
        self.cv_results_ = {
            "params": params,
            "mean_test_score": scores,
            "rank_test_score": np.array([1 + int((scores > s).sum()) for s in scores]),
        }
        self.clip_range_ = float(rows.y.min()), float(rows.y.max())
        self.reference_, self.spread_ = fit.units.center, fit.units.scale
        self.n_iter_ = max([1, *(e.candidate.steps for e in found.entries)])
        self._cross_fit = fit.cross_fit
        self._rows = rows

    def _whole_seed(self: Any) -> int:
        """Return the seed of the starts."""
        seed = self._seed()
        return int(seed) if isinstance(seed, Integral) else int(check_random_state(seed).randint(2**31 - 1))


def same_rows(a: Rows, b: Rows | None) -> bool:
    """Say whether two tables hold the same rows, whatever their order."""
    if b is None:
        return False
    ours, theirs = mixed(a), mixed(b)
    same = ours.X.shape == theirs.X.shape and np.array_equal(ours.X, theirs.X) and np.array_equal(ours.y, theirs.y)
    return same and np.allclose(ours.weight, theirs.weight, rtol=1e-9)


def merged(rows: Rows, splits: list[Split]) -> tuple[Rows, list[Split]]:
    """Leave out rows of weight zero, merge equal rows of the same folds, and order them by content."""
    keep = rows.weight > 0
    base, member = distinct(rows.take(np.flatnonzero(keep)))
    counts = [np.bincount(part, minlength=len(rows.y))[keep] for fold in splits for part in fold]
    table, place = np.unique(np.column_stack([member, *counts]), axis=0, return_inverse=True)
    weight = np.bincount(place.ravel(), weights=rows.weight[keep])
    parts = [np.repeat(np.arange(len(table)), count) for count in table.T[1:]]
    one = Rows(base.X[table[:, 0]], base.y[table[:, 0]], weight)
    return one, list(zip(parts[::2], parts[1::2], strict=True))
