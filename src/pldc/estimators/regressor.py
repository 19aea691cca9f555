"""Regression behind scikit-learn's interface."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.utils.validation import check_is_fitted

from pldc.columns import Encoding
from pldc.estimators.answers import Answers
from pldc.estimators.base import DCEstimator
from pldc.estimators.blocks import AllRows
from pldc.estimators.checks import check_targets, check_weight, choice, flag, to_score
from pldc.estimators.counterfactuals import RegressionCounterfactuals
from pldc.estimators.monotone import signs_of
from pldc.estimators.reading import RegressionReading
from pldc.estimators.sources import over_blocks, targets_of
from pldc.estimators.tables import Given, encoded, read
from pldc.fit import Settings
from pldc.function.max_affine import Array, real
from pldc.model import Model
from pldc.problem.losses import Loss, make_loss
from pldc.problem.penalties import Seminorm
from pldc.problem.program import SHAPES
from pldc.problem.recipe import Recipe
from pldc.scale.sources import is_source
from pldc.select.cross_fit import CrossFit
from pldc.solve.run import Monitor


class DCRegressor(Answers, RegressionCounterfactuals, RegressionReading, RegressorMixin, DCEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Piecewise-linear regression by a difference of convex functions.

    Fits f = φ₁ − φ₂, both parts convex and piecewise linear in the features or in curves of them, in one of two ways:

    - **Few pieces**, the default. The mean of some fits of K − K pieces each, found by descent; what kind, how many
      pieces and how smooth is chosen at rows left out. Seconds for any number of rows. No certificate.
    - **A piece for every row**, ``n_pieces="rows"``: the convex program of the paper,

          weighted mean of loss(f(x), y)  +  lam · seminorm(f),

      solved to a certified relative gap. The seminorm sums the largest slopes of both parts: it bounds how steep f can
      be. For tables of up to a few thousand rows.

    Parameters
    ----------
    n_pieces : "auto", "rows" or int, default="auto"
        "auto": few pieces, what predicts best (`chosen_` tells); but the program where one of its own settings is given
        (`lam`, `penalty`, `standardize`, `solver`), and for fewer than four distinct rows.
        "rows": the program.
        A number: one function of at most so many pieces in each part, learned from the fit of "auto" (see
        :meth:`simplify`); settings of the program are not used then.
    loss : {"squared", "absolute", "huber", "quantile", "poisson"} or Loss, default="squared"
        What is averaged: (f − y)² for the mean; ``|f − y|`` for the median; ``Huber(delta=1.35)``, squared up to
        `delta` and linear beyond; ``Quantile(level=0.5)``, twice the pinball loss; ``Poisson()`` for counts, f − y
        log f with f the mean. ``Quantile([0.1, 0.5, 0.9])`` fits several levels, but not with ``n_pieces="rows"``, and
        `predict` has a column for each, which never cross. A name stands for the loss with its defaults. `delta` is in
        units of the standard deviation of y (of y itself without `standardize`).
    shape : {"dc", "convex", "concave"}, default="dc"
        Restrict f to be convex or concave. `predict` is so only with ``clip=False``.
    monotone : sequence or dict, optional
        −1, 0 or 1 for each feature (or a dict from feature name to sign): f does not increase, is free, or does not
        decrease in it. Fits of few pieces are sums of monotone curves, S-shaped ones included. The program imposes a
        sign on the slopes of each convex part, which excludes an S.
    categorical_features : "from_dtype", None or sequence, default="from_dtype"
        Columns that hold categories. "from_dtype": those of text, and those whose type says so. Or their names, their
        places, or a mask; None: none. What becomes of them, of dates and of missing cells: see the page on real tables.
    clip : bool, default=True
        Cut predictions to the range of the training targets; not the ends of intervals. Outside the data f grows
        linearly.
    cv : int, cross-validation generator, iterable or CrossValidation, default=5
        How rows are left out to choose by. A number deals the distinct rows out to so many folds (of fewer rows, one a
        fold), by their content and not by their order; for few pieces and more than 1000 rows, the first of these folds
        alone is left out. Rows that belong together (one patient, one day) must not be split: pass `groups` to `fit`,
        or a splitter of scikit-learn. :class:`pldc.CrossValidation` also has a scorer, and more.
    max_seconds : float, optional
        Limit on the time of a fit of few pieces, with that of reading the table; what was found by then is kept. It
        does not end the pass that draws a sample. None: none.
    max_memory : int or str, optional
        Bytes, or a text such as "500MB", for a table that is read block by block: a path, a dataset of Arrow, an array
        on disk, a function that gives blocks. None: 1 GB. See the page on large tables.
    device : str, optional
        Of torch, such as "cuda", for the products of few pieces with all rows. None: NumPy.
    lam : "cv", "srm" or float, default="cv"
        Of the program: weight of the seminorm. Smaller follows the data more closely.
        "cv": by cross-validation on a geometric grid whose scale is the maximum discrepancy of the rows (see
        :mod:`pldc.select.discrepancy`); the grid grows by itself where the best value lies at its end. (With fewer
        than four distinct rows: the scale itself.)
        "srm": the value of the theory, 24 M D̂ for the squared loss, M the largest deviation of y. It is meant for the
        worst case, smooths a lot, and does not look at weights of rows.
        A number > 0: that weight. Good ones often lie between 0.001 and 1.
    penalty : {"componentwise", "joint"} or Seminorm, default="componentwise"
        Of the program: the seminorm, coordinate by coordinate, or of all of them together (the paper's).
        :class:`pldc.Seminorm` can leave a linear term free: a large `lam` then gives linear regression, not a constant.
    standardize : bool, default=True
        Of the program: write it in standardised X and y, so that `lam` has no units. Slopes and values are always
        reported in the units of the data.
    solver : {"auto", "exact", "admm", "line"} or solver, default="auto"
        Of the program. ``Exact(tol=1e-4)``, an interior point on the pairs of rows that matter, reaches small gaps; its
        time grows like n³ and its memory like n². ``Admm(tol=1e-2)``, an iteration over all pairs, needs little memory.
        ``Line(tol=1e-4)`` is for one feature, and linear in n. ``Auto(tol=1e-4)`` takes what suits; `tol` is the
        certified relative gap between the objective reached and the best possible one. In a grid search, list whole
        objects: ``{"solver": [Exact(1e-2), Exact(1e-4)]}``; so with losses.
    n_jobs : int, optional
        Threads of a search or a solve, and processes of the program's cross-validation, which run through joblib: its
        parallel_config chooses another backend, such as Dask. None: as many as the BLAS would use; −1: all cores.
    random_state : int, RandomState or None, default=None
        For the starts of few pieces, and for the random halves of the discrepancy (``lam="srm"`` and
        `generalization_bound`). None is a fixed one: the same fit every time.
    verbose : int, default=0
        1 logs progress to the ``pldc`` logger at level INFO (else DEBUG), and shows it on standard error if no logging
        is set up: every two seconds for few pieces, one line an iteration for the program.

    Attributes
    ----------
    model_ : Model
        All that was learned, in one frozen record without training rows. The attributes below are its numbers.
    function_ : PLDC
        The fitted function in the units of the data (not clipped). By default the mean of fits of few pieces; with a
        number as `n_pieces`, and of the program, one difference of two maxima.
    functions_ : list of PLDC
        Of several quantiles, in the place of `function_`: one for each level.
    chosen_ : list of dict
        Few pieces: the kinds of functions that were kept. Each with its features ("plain" or "hinged"), knots of each
        feature, pieces of each part, ridge, how often coordinates were learned, and the number of starts averaged.
    fidelity_ : float
        With a number as `n_pieces`: R² to the larger model at rows left out; where `max_seconds` left no time for the
        folds, at fresh points between the rows.
    simplification_ : Simplification
        With a number as `n_pieces`: `fidelity_` and the cross-validated scores of both.
    certificate_ : Certificate
        Of the program: ``upper``, ``lower`` and ``gap``.
    lam_ : float
        Of the program: the weight used.
    seminorm_ : float
        Of the program: the seminorm as it measures it, in its (standardised) units: ``certificate_.upper = mean loss +
        lam_ · seminorm_``. It looks at the data points only; between them pieces of both parts may meet that never meet
        at one. ``function_.seminorm_bound(penalty, active_pairs=True)`` bounds the seminorm everywhere.
    solver_ : str
        Of the program: the solver that was used.
    cv_results_ : dict of arrays
        Few pieces: "params", "mean_test_score" and "rank_test_score" of all kinds that were compared. The program with
        ``lam="cv"``: scores of every `lam` on every fold, in the form of scikit-learn's GridSearchCV. Scores are the
        mean loss of standardised targets, negative, unless there is a scorer.
    cv_score_ : float
        The score of what is returned at the rows left out; of more than 1000 rows, that of its best part alone.
    n_iter_ : int
        Iterations of the solver, or steps that a descent may take.
    passes_ : Passes
        Only if a sample of a table was fitted first: the table's rows, those of the sample, how many passes were made
        over all rows after it, and about how many rows were held for steps in between. It is not in model files.
    clip_range_ : (float, float)
        Range of the training targets.
    feature_importances_ : array of shape (d,)
        Mean ``|slope|`` × spread: how far a prediction moves if a cell is swapped for that of another training row.
    reference_, spread_ : arrays of shape (d,)
        Means and standard deviations of the features that the function sees: where `explain` measures contributions
        from, and the unit in which it says how far slopes hold.
    n_features_in_ : int
        Columns of the table.
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    Fits of few pieces descend from several starts: they are local optima, and there is no certificate of their own.
    :func:`pldc.certify` compares any function with the best that any number of pieces could do.

    The program's optimal objective is unique, and so are the fitted values under the squared loss. Its slopes are not:
    the seminorm looks at the largest ones, and a slope below them, at the edge of the data above all, is one of many
    that are equally good. Extrapolation inherits that; `clip` limits it.

    Several targets: ``sklearn.multioutput.MultiOutputRegressor(DCRegressor())``.

    References
    ----------
    A. Siahkamari, A. Gangrade, B. Kulis, V. Saligrama. Piecewise Linear Regression via a Difference of Convex
    Functions. ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from pldc import DCRegressor
    >>> X = np.linspace(-1, 1, 21)[:, None]
    >>> model = DCRegressor(lam=1e-3).fit(X, np.abs(X[:, 0]))
    >>> model.predict([[0.5]]).round(2)
    array([0.5])
    """

    _of_the_program: ClassVar[dict[str, tuple[Any, ...]]] = {
        "lam": ("cv",),
        "penalty": ("componentwise",),
        "standardize": (True,),
        "solver": ("auto",),
    }

    def __init__(
        self,
        *,
        n_pieces: int | str = "auto",
        loss: str | Loss = "squared",
        shape: str = "dc",
        monotone: Any = None,
        categorical_features: Any = "from_dtype",
        clip: bool = True,
        cv: Any = 5,
        max_seconds: float | None = None,
        max_memory: float | str | None = None,
        device: str | None = None,
        lam: float | str = "cv",
        penalty: str | Seminorm = "componentwise",
        standardize: bool = True,
        solver: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_pieces = n_pieces
        self.loss = loss
        self.shape = shape
        self.monotone = monotone
        self.categorical_features = categorical_features
        self.clip = clip
        self.cv = cv
        self.max_seconds = max_seconds
        self.max_memory = max_memory
        self.device = device
        self.lam = lam
        self.penalty = penalty
        self.standardize = standardize
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        monitor: Monitor | None = None,
    ) -> DCRegressor:
        """Fit the function.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            Or a table that is read block by block: a path, a dataset of Arrow, an array on disk larger than
            `max_memory`, an array or frame of Dask, or a function that gives blocks. See the page on large tables.
        y : array of shape (n,), or str
            The name of a column, where X is a path, a dataset or a frame of Dask; None where blocks bring targets.
        sample_weight : array of shape (n,), optional
            Given as y is. A weight of 2 equals the row twice; a weight of 0 equals the row left out.
        groups : array of shape (n,), optional
            Rows of one group stay together in cross-validation.
        monitor : callable, optional
            Few pieces: called after every fit with a dict of comparing (1 while kinds are compared), iteration, of,
            score and seconds. The program: called once an iteration of the final solve with a dict of iteration, upper,
            lower, gap and seconds; the bounds are renewed now and then only. If it returns a true value the fit ends
            there, with the best function so far. Ctrl-C does the same and then raises KeyboardInterrupt as usual: the
            model is fitted. Pressed again, before the search has begun, or during the cross-validation of the program,
            it leaves the model unfitted.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups, monitor)
        return self

    def _given(self, X: Any, y: Any, weight: Any, groups: Any = None, everywhere: AllRows | None = None) -> Given:
        """Check the data, and turn the table into numbers."""
        check_targets(y)
        X, y = read(self, X, y, y_numeric=True)
        y, weight = np.asarray(y, dtype=np.float64), check_weight(weight, len(y))
        self._loss().check(y[weight > 0])
        return encoded(self, X, y, weight, [("mean target", y)], groups, everywhere)

    def __sklearn_tags__(self) -> Any:
        """What the loss is not for, or does not aim at, is not tested."""
        tags = super().__sklearn_tags__()
        with suppress(ValueError):  # a loss that `fit` will refuse
            loss = make_loss(self.loss, classes=False)
            tags.regressor_tags.poor_score = loss.off_centre
            tags.target_tags.positive_only = loss.nonnegative
        return tags

    def _settings(self, given: Given, groups: ArrayLike | None = None, *, folds: int | None = None) -> Settings:
        settings = super()._settings(given, groups, folds=folds)
        return replace(settings, clip=flag("clip", self.clip))

    def _lam(self, rules: tuple[str, ...] = ("cv", "srm")) -> float | str:
        return super()._lam(rules)

    def _loss(self) -> Loss:
        return make_loss(self.loss, classes=False)

    def _recipe(self, columns: Encoding | None) -> Recipe:
        seminorm = self._seminorm()
        return Recipe(
            loss=self._loss(),
            penalty=seminorm.penalty,
            shape=choice("shape", self.shape, tuple(SHAPES)),
            monotone=signs_of(self.monotone, getattr(self, "feature_names_in_", None), self.n_features_in_, columns),
            linear=seminorm.free_linear,
            standardize=self.standardize,
        )

    def _keep(self, model: Model, folds: CrossFit | None = None) -> None:
        super()._keep(model, folds)
        self.clip_range_ = model.target_range
        if model.levels is None:
            self.function_ = model.function
        else:
            self.functions_ = list(model.functions)

    def predict(self, X: Any) -> Array:
        """Evaluate the fitted function at the rows of X (clipped, if `clip`); of several levels (n, m), not decreasing.

        X may be read block by block, as in :meth:`fit`. Of arrays and frames of Dask a lazy array of Dask is returned.
        """
        if is_source(X):
            return over_blocks(self, self.predict, X)
        X = self._points(X)  # first: it says whether there is a model
        return self.model_.predict(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R²; of several levels the mean share of the pinball loss explained (scikit-learn's D²).

        X may be read block by block, as in :meth:`fit`.
        """
        check_is_fitted(self, "model_")
        if is_source(X):
            y, sample_weight = targets_of(X, y, sample_weight)
        y, sample_weight = to_score(y, sample_weight)
        check_targets(y)
        y, predicted = real(y, "y"), np.asarray(self.predict(X))
        if self.model_.levels is None:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        columns = zip(self.model_.levels, predicted.T, strict=True)
        return float(np.mean([d2_pinball_score(y, f, sample_weight=sample_weight, alpha=q) for q, f in columns]))


__all__ = ["DCRegressor"]
