"""Everything that a fit depends on but its rows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pldc.function.max_affine import Array, IntArray
from pldc.problem.recipe import Recipe, Rows, Split

Score = Callable[[Array, Rows], float]


@dataclass(frozen=True)
class CrossValidation:
    """How rows are left out, to choose by.

    Parameters
    ----------
    folds : int, cross-validation generator of scikit-learn or iterable, default=5
        A number deals the distinct rows out to so many folds, by their content and not by their order.
    scoring : str or callable, optional
        Scorer of scikit-learn, larger is better; a callable may use ``predict`` on the rows it is given, and nothing
        else. None: the loss itself.
    one_standard_error : bool, default=False
        Of the program: take the largest `lam` whose score is within one standard error of the best.
    max_rows : int or None, default=1500
        Of the program: of more distinct rows than this, a number of folds looks at a random subsample, and `lam` is
        carried over to all rows at the rate of the discrepancy, n^(−2/(d+4)). None: all rows.

    Examples
    --------
    >>> CrossValidation(3, scoring="r2")
    CrossValidation(folds=3, scoring='r2', one_standard_error=False, max_rows=1500)
    """

    folds: Any = 5
    scoring: Any = None
    one_standard_error: bool = False
    max_rows: int | None = 1500


@dataclass(frozen=True)
class Settings:
    """What is asked of a fit, in plain values.

    Attributes
    ----------
    recipe : Recipe
        Loss, penalty, shape.
    n_pieces : "auto", "rows" or int
        A mean of compact functions, the program, or one function of so many pieces in each part.
    lam : "cv", "srm" or float
    solver : str or Solver
        Of the program.
    folds : int or list of (train, test)
        Number of folds, or places of the rows as they were given.
    score : callable or None
        Prediction and rows to a number, larger is better; None: the loss.
    one_standard_error : bool
    max_rows : int or None
        That the cross-validation of the program looks at.
    clip : bool
        Cut predictions to the range of the targets.
    max_seconds : float or None
        Of a fit of few pieces.
    device : str or None
        Of torch, for the products of a fit of few pieces; None: NumPy.
    threads : int or None
        Of a solve or a search; None: as many as the BLAS would use.
    jobs : int or None
        Processes of the cross-validation of the program; None: those of joblib's context.
    seed : int or RandomState
        For the discrepancy, and for starts.
    starts_seed : int
    verbose : int
    source : int array or None
        The column that each feature comes from, for importances; None: each its own.
    as_new : Rows or None
        The rows as they would be read to predict, where training reads them otherwise: for importances.
    """

    recipe: Recipe
    n_pieces: str | int = "auto"
    lam: float | str = "cv"
    solver: Any = "auto"
    folds: int | list[Split] = 5
    score: Score | None = None
    one_standard_error: bool = False
    max_rows: int | None = 1500
    clip: bool = True
    max_seconds: float | None = None
    device: str | None = None
    threads: int | None = None
    jobs: int | None = None
    seed: Any = 0
    starts_seed: int = 0
    verbose: int = 0
    source: IntArray | None = None
    as_new: Rows | None = None

    @property
    def level(self) -> int:
        """Logging level of the progress."""
        return logging.INFO if self.verbose else logging.DEBUG

    def score_in_units_of(self, rows: Rows) -> Score:
        """Return the score, or that of the loss with the targets of `rows` standardised."""
        if self.score is not None:
            return self.score
        unit = self.recipe.units(Rows(rows.X[:, :0], rows.y, rows.weight)).y_scale
        return lambda prediction, test: -self.recipe.mean_loss(prediction, test, unit)
