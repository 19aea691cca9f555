"""Regression behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from pldc.estimators.base import DCEstimator, Predicted
from pldc.estimators.checks import check_weight, choice, positive
from pldc.estimators.few_pieces import FewPieces
from pldc.function import Explanation, explain
from pldc.function.max_affine import Array
from pldc.problem import make_loss, make_penalty
from pldc.problem.program import SHAPES
from pldc.problem.recipe import Recipe, Rows
from pldc.select.bound import Bound, bound_of_fit
from pldc.select.intervals import CrossFit
from pldc.select.path import Path, accurate_path
from pldc.select.program import FittedProgram
from pldc.select.rules import discrepancy_of, theory_lam
from pldc.select.search import Search
from pldc.solve.progress import shown
from pldc.solve.run import Monitor

LINEAR = ("penalized", "free")
FEW = 64  # pieces of each part up to which a table of regions shows them all


class DCRegressor(FewPieces, RegressorMixin, DCEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Piecewise-linear regression by a difference of convex functions.

    Fits f = φ₁ − φ₂, both parts convex and piecewise linear in the features or in curves of them, in one of two ways:

    - **Few pieces**, the default. The mean of some fits of K − K pieces each, found by descent; what kind, how many
      pieces and how smooth is chosen at rows left out. Seconds for any number of rows. No certificate.
    - **A piece for every row**, ``n_pieces="rows"``: the convex program of the paper,

          weighted mean of loss(f(x), y)  +  lam · seminorm(f),

      solved to a certified relative gap `tol`. The seminorm sums the largest slopes of both parts: it bounds how steep
      f can be, coordinate by coordinate (``penalty="componentwise"``) or in all of them together (``"joint"``, the
      paper's). With ``standardize=True`` it is written for standardised X and y, so `lam` has no units. For tables of
      up to a few thousand rows.

    Parameters
    ----------
    n_pieces : "auto", "rows" or int, default="auto"
        "auto": few pieces, what predicts best (`chosen_` tells); but the program where one of its own settings
        (`lam`, `penalty`, `linear`, `standardize`, `solver`, `tol`, `max_iter`, `device`, `one_standard_error`) is not
        its default, and for fewer than four distinct rows.
        "rows": the program.
        A number: one function of at most so many pieces in each part, learned from the fit of "auto" (see
        :meth:`simplify`); settings of the program are not used then.
    max_seconds : float, optional
        Limit on the time of a fit of few pieces; what was found by then is kept. None: none.
    loss : {"squared", "absolute", "huber", "quantile"}, default="squared"
        What is averaged: (f − y)² for the mean; ``|f − y|`` for the median; huber, squared up to `huber_delta` and
        linear beyond; quantile, twice the pinball loss at level `quantile`.
    quantile : float, default=0.5
        Level for ``loss="quantile"``; 0.5 is the absolute loss.
    huber_delta : float, default=1.35
        Where the huber loss turns linear, in units of the standard deviation of y (of y itself without `standardize`).
        Outliers inflate that deviation: against them a value such as 0.2 is more robust than the default, and against
        gross ones ``loss="absolute"``, which needs no unit.
    penalty : {"componentwise", "joint"}, default="componentwise"
        The seminorm.
    lam : "cv", "srm" or float, default="cv"
        Weight of the seminorm. Smaller follows the data more closely.
        "cv": by cross-validation on a geometric grid whose scale is the maximum discrepancy of the rows (see
        :mod:`pldc.select.discrepancy`); the grid grows by itself where the best value lies at its end. (With fewer
        than four distinct rows: the scale itself.)
        "srm": the value of the theory, 24 M D̂ for the squared loss. It is meant for the worst case, and smooths a lot.
        A number > 0: that weight. Good ones often lie between 0.001 and 1.
    cv : int, cross-validation generator or iterable, default=5
        How rows are left out to choose by. A number deals the distinct rows out to so many folds (of fewer rows, one a
        fold), by their content and not by their order; for few pieces and more than 1000 rows, the first of these folds
        alone is left out. Rows that belong together (one patient, one day) must not be split: pass `groups` to `fit`,
        or a splitter of scikit-learn.
    max_cv_rows : int or None, default=1500
        Of more distinct rows than this, cross-validation with a number of folds looks at a random subsample, and λ is
        carried over to all rows at the rate of the discrepancy, n^(−2/(d+4)). None, or a splitter as `cv`: all rows.
    scoring : str or callable, optional
        Scorer of scikit-learn for choosing, larger is better; a callable may use ``predict`` on the rows it is
        given, and nothing else. None: the loss itself.
    one_standard_error : bool, default=False
        Take the largest `lam` whose score is within one standard error of the best.
    M : float, optional
        Bound on the size of y around its mean for ``lam="srm"``, in the units of y; the largest deviation seen if None.
    shape : {"dc", "convex", "concave"}, default="dc"
        Restrict f to be convex or concave. `predict` is so only with ``clip=False``.
    monotone : sequence or dict, optional
        −1, 0 or 1 for each feature (or a dict from feature name to sign): f does not increase, is free, or does not
        decrease in it. Fits of few pieces are sums of monotone curves, S-shaped ones included. The program imposes a
        sign on the slopes of each convex part, which excludes an S.
    linear : {"penalized", "free"}, default="penalized"
        "free" adds a linear term that is not penalised, so a large `lam` gives linear regression instead of a constant.
        It helps when there are many more rows than features and hurts when there are not.
    clip : bool, default=True
        Cut predictions to the range of the training targets. Outside the data f grows linearly.
    standardize : bool, default=True
        Solve in standardised X and y. Slopes and values are always reported in the units of the data.
    solver : {"auto", "exact", "admm", "line"}, default="auto"
        "exact", an interior point on the pairs of rows that matter, reaches small gaps; its time grows like n³ and its
        memory like n². "admm", an iteration over all pairs, needs little memory and about n² time an iteration, and
        reaches a gap of about 1e-2. "auto" takes "exact" up to 3000 distinct rows, if memory suffices,
        and "line", whose time and memory are linear in n, for a single feature (without `monotone`).
    tol : float, default=1e-4
        Certified relative gap between the objective reached and the best possible one. For ``solver="admm"``, 1e-2 is
        realistic.
    max_iter : int, optional
        Limit on iterations of the solver. None: 200 for "exact", 2000 for "admm".
    n_jobs : int, optional
        Threads of a solve, and processes of the cross-validation. These run through joblib: its parallel_config chooses
        another backend, such as Dask. None: as many as the BLAS would use; −1: all cores.
    random_state : int, RandomState or None, default=None
        For the starts of few pieces, and for the random halves of the discrepancy (``lam="srm"`` and
        `generalization_bound`). None is a fixed one: the same fit every time. The solvers of the program and the
        default folds draw no random numbers.
    device : str, optional
        A torch device such as "cuda" for the pass of ``solver="admm"`` over all pairs; None for NumPy. "auto" ignores
        it where it takes "exact".
    verbose : int, default=0
        1 logs progress to the ``pldc`` logger at level INFO (else DEBUG), and shows it on standard error if no logging
        is set up: every two seconds for few pieces, one line an iteration for the program.

    Attributes
    ----------
    function_ : PLDC
        The fitted function in the units of the data (not clipped). By default the mean of functions of few pieces, a
        sum of terms of which some have hinges; with a number as `n_pieces` one term (with hinges where `monotone` is
        set). Of the program one term.
    chosen_ : list of dict
        Few pieces: the kinds of functions that were kept. Each with its features ("plain" or "hinged"), knots of each
        feature, pieces of each part, ridge, how often coordinates were learned, and the number of starts averaged.
    fidelity_ : float
        With a number as `n_pieces`: R² to the larger model at rows left out.
    simplification_ : Simplification
        With a number as `n_pieces`: `fidelity_` and the cross-validated scores of both.
    spread_ : array of shape (d,)
        Standard deviations of the training features: the unit in which `explain` says how far slopes hold.
    certificate_ : Certificate
        ``upper``, ``lower`` and ``gap`` of the program whose solution `function_` is, and the ``solution`` that attains
        ``upper``: values and slopes of both parts at the distinct rows, in the (standardised) units of the program.
    lam_ : float
        The weight used.
    cv_results_ : dict of arrays
        Few pieces: "params", "mean_test_score" and "rank_test_score" of all kinds that were compared. The program with
        ``lam="cv"``: scores of every `lam` on every fold, in the form of scikit-learn's GridSearchCV, in the units of
        the program (mean loss of standardised targets, negative) unless `scoring` is given.
    cv_score_ : float
        The score of what is returned at the rows left out; of more than 1000 rows, that of its best part alone. (The
        program: with ``lam="cv"``.)
    seminorm_ : float
        The seminorm as the program measures it, in its (standardised) units: ``objective = mean loss + lam_ ·
        seminorm_``. It looks at the data points only; between them pieces of both parts may meet that never meet at
        one. ``function_.seminorm_bound(penalty, active_pairs=True)`` bounds the seminorm everywhere, in the units of
        the data; of the program, and in equal units, it is at most twice `seminorm_`.
    solver_ : {"exact", "admm", "line"}
        The solver that was used.
    n_iter_ : int
        Its iterations.
    clip_range_ : (float, float)
        Range of the training targets.
    reference_ : array of shape (d,)
        Mean of the training rows: where `explain` measures contributions from.
    outputs_ : list of DCRegressor
        Only if y has several columns: the fit of each, with the attributes above, which are missing here then.
        `predict` and `predict_interval` give one column for each, `explain` and `generalization_bound` a list.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    Fits of few pieces descend from several starts: they are local optima, and there is no certificate of their own.
    :func:`pldc.certify` compares any function with the best that any number of pieces could do.

    The program's optimal objective is unique, and so are the fitted values under the squared loss. Its slopes are not:
    the seminorm looks at the largest ones, and a slope below them, at the edge of the data above all, is one of many
    that are equally good. Extrapolation inherits that; `clip` limits it.

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
    >>> bool(model.certificate_.gap <= 1e-4)
    True
    >>> round(float(model.predict([[0.5]])[0]), 2)
    0.5
    """

    _rules: ClassVar[tuple[str, ...]] = ("cv", "srm")

    def __init__(
        self,
        *,
        n_pieces: int | str = "auto",
        max_seconds: float | None = None,
        loss: str = "squared",
        quantile: float = 0.5,
        huber_delta: float = 1.35,
        penalty: str = "componentwise",
        lam: float | str = "cv",
        cv: Any = 5,
        max_cv_rows: int | None = 1500,
        scoring: Any = None,
        one_standard_error: bool = False,
        M: float | None = None,
        shape: str = "dc",
        monotone: ArrayLike | Mapping[str, int] | None = None,
        linear: str = "penalized",
        clip: bool = True,
        standardize: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        device: str | None = None,
        verbose: int = 0,
    ):
        self.n_pieces = n_pieces
        self.max_seconds = max_seconds
        self.loss = loss
        self.quantile = quantile
        self.huber_delta = huber_delta
        self.penalty = penalty
        self.lam = lam
        self.cv = cv
        self.max_cv_rows = max_cv_rows
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.M = M
        self.shape = shape
        self.monotone = monotone
        self.linear = linear
        self.clip = clip
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        monitor: Monitor | None = None,
    ) -> DCRegressor:
        """Fit the function.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,) or (n, m)
            With several columns each is fitted by itself; see `outputs_`.
        sample_weight : array of shape (n,), optional
            A weight of 2 equals the row twice; a weight of 0 equals the row left out.
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
        self._forget()
        self._cross_fit: CrossFit | None = None
        self._check_monitor(monitor)
        if len(shape := np.asarray(y).shape) == 2 and shape[1] > 1:
            return self._fit_columns(X, y, sample_weight, groups, monitor)
        given = self._rows_of(X, y, sample_weight)
        if not (self._asks_for_few_pieces() and self._fit_few_pieces(given, groups, monitor)):
            self._fit_rows(given, groups, monitor)
        return self

    def _fit_columns(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None, monitor: Monitor | None
    ) -> DCRegressor:
        """Fit every column of y by itself: their losses add up, so one program for all would have the same solution."""
        _, Y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        fits = [clone(self).fit(X, column, sample_weight, groups, monitor) for column in np.asarray(Y, dtype=float).T]
        self.outputs_ = fits
        self.n_iter_ = max(fit.n_iter_ for fit in fits)
        return self

    def _check_fitted(self) -> None:
        check_is_fitted(self, ["function_", "outputs_"], all_or_any=any)

    def __sklearn_tags__(self) -> Any:
        """Several targets are allowed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _rows_of(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Rows:
        """Check the data."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return Rows(X, np.asarray(y, dtype=np.float64), check_weight(sample_weight, len(y)))

    def _recipe(self) -> Recipe:
        return Recipe(
            loss=make_loss(
                self.loss,
                quantile_level=positive("quantile", self.quantile),
                huber_delta=positive("huber_delta", self.huber_delta),
            ),
            penalty=make_penalty(self.penalty),
            shape=choice("shape", self.shape, tuple(SHAPES)),
            monotone=self._monotone_signs(),
            linear=choice("linear", self.linear, LINEAR) == "free",
            standardize=self.standardize,
        )

    def _check_settings(self) -> None:
        super()._check_settings()
        if positive("quantile", self.quantile) >= 1:
            raise ValueError(f"quantile must lie strictly between 0 and 1, got {self.quantile!r}.")
        if self.M is not None:
            positive("M", self.M, "None or ")

    def _number_without_folds(self, recipe: Recipe, rows: Rows, lam: float | str) -> float:
        """Return λ as given, by theory, or, of too few rows to leave any out, the scale of its grid."""
        if lam == "srm":
            return theory_lam(recipe, rows, self.M, self._seed())
        return super()._number_without_folds(recipe, rows, lam)

    def _keep_folds(self, search: Search) -> None:
        """Keep the fits of all folds for intervals."""
        self._cross_fit = search.cross_fit()

    def _known(self, prediction: Array, test: Rows) -> tuple[Any, Array]:
        return Predicted(prediction), test.y

    def _remember(self, fitted: FittedProgram, rows: Rows) -> None:
        super()._remember(fitted, rows)
        self.function_ = fitted.function
        self.clip_range_ = float(rows.y.min()), float(rows.y.max())
        self._rows = rows

    def path(self, X: Any, y: Any, lams: ArrayLike, sample_weight: ArrayLike | None = None) -> Path:
        """Fit along several values of `lam`, each solve starting from the one before; the estimator is not changed.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        lams : array of shape (k,)
            In any order; solved from the largest to the smallest.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        Path
            Functions, certificates, losses and seminorms, for `lams` in decreasing order. Draw it with
            :func:`pldc.view.plots.plot_path`.
        """
        copy = clone(self)
        rows = copy._rows_of(X, y, sample_weight)
        rows = rows.take(np.flatnonzero(rows.weight > 0))
        values = np.sort(np.asarray(lams, dtype=np.float64).ravel())[::-1]
        if not len(values) or not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"lams must hold positive finite numbers, got {lams!r}.")
        with shown(self.verbose) as log:
            return accurate_path(copy._recipe(), rows, values, copy._solver_for(copy._threads()), log)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends of prediction intervals at the rows of X, by CV+.

        They come from the fits of the folds, so they need ``lam="cv"``, the default, and at least four distinct rows.
        For few pieces and more than 1000 rows there is one fold, of fewer starts than the fit itself: intervals are
        around its values, which differ a little from `predict`.

        They hold about `coverage` of new targets in practice. The guarantee of CV+, 2 · coverage − 1 for exchangeable
        rows, is for folds and settings chosen without looking at the targets; here the smoothing is chosen by the same
        folds. With fewer than 1 / (1 − coverage) rows the largest residual stands in for a quantile that is not there.
        Folds of a splitter of your own should leave every row out once: one left out twice counts twice.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        coverage : float, default=0.9
        """
        self._check_fitted()
        if hasattr(self, "outputs_"):
            low, high = zip(*(fit.predict_interval(X, coverage) for fit in self.outputs_), strict=True)
            return np.column_stack(low), np.column_stack(high)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"coverage must lie strictly between 0 and 1, got {coverage!r}.")
        if self._cross_fit is None:
            raise ValueError(
                "Intervals come from rows left out: fit with lam='cv', at least four distinct rows and enough time."
            )
        return self._cross_fit.interval(X, float(coverage))

    def generalization_bound(self, delta: float = 0.05, M: float | None = None) -> Bound | list[Bound]:
        """Bound the expected loss of `function_`, with probability at least 1 − delta; see :mod:`pldc.select.bound`.

        The theorem is for the worst case: on tables of ordinary size the bound is far above the loss on new rows.

        Parameters
        ----------
        delta : float, default=0.05
        M : float, optional
            Bound on the size of f and of the noise around the mean of y, in the units of y. None: estimated by the
            largest deviation of y, or of the fit, from the mean.

        Returns
        -------
        Bound
            Every term, in the units of the loss of y; ``print`` shows them with the assumptions. The seminorm is the
            joint one in standardised features, bounded by the pieces of `function_`.
        """
        self._check_fitted()
        if hasattr(self, "outputs_"):
            return [fit.generalization_bound(delta, M) for fit in self.outputs_]
        if not (isinstance(delta, Real) and 0 < delta < 1):
            raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r}.")
        if len(self._rows.y) < 2:
            raise ValueError("The discrepancy needs at least two rows.")
        recipe = self._recipe()
        joint = replace(recipe, standardize=True, penalty=make_penalty("joint"))
        halves = discrepancy_of(joint, self._rows, self._seed())
        number = None if M is None else positive("M", M)
        return bound_of_fit(self.function_, recipe, self._rows, halves.upper, number, float(delta))

    def predict(self, X: Any) -> Array:
        """Evaluate the fitted function at the rows of X (clipped, if `clip`)."""
        self._check_fitted()
        if hasattr(self, "outputs_"):
            return np.column_stack([fit.predict(X) for fit in self.outputs_])
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.clip(self.function_(X), *self._limits())

    def explain(self, X: Any, reference: Any = None, neighbourhood: float = 0.1) -> Explanation | list[Explanation]:
        """Explain each prediction by the affine function that rules at its row.

        It also says how far from the row that function rules. Next to a kink, slopes are means over a neighbourhood:
        those of one side would not hold.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), Series or dict by feature names, optional
            Contributions are slope × (x − reference); the mean of the training rows if not given.
        neighbourhood : float, default=0.1
            In standard deviations of the training features. Rows closer to a kink get mean slopes over a ball of this
            radius. 0 takes the slopes of one piece always.

        Returns
        -------
        Explanation
            prediction, intercept, slopes, contributions, active pieces, and how far the slopes hold, row by row;
            ``print`` shows a table.
        """
        self._check_fitted()
        if hasattr(self, "outputs_"):
            return [fit.explain(X, reference, neighbourhood) for fit in self.outputs_]
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return explain(
            self.function_,
            X,
            reference=self._reference(reference),
            features=getattr(self, "feature_names_in_", None),
            limits=self._limits(),
            unit=getattr(self, "spread_", None),
            neighbourhood=neighbourhood,
        )

    def region_table(self, X: Any, tol: float | None = None) -> dict[str, Any] | list[dict[str, Any]]:
        """List which linear function rules where: the rows of `X` in each region, and its slopes.

        For a readable table first call ``model.simplify(X, y)``: it gives one function of few pieces.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        tol : float, optional
            Pieces are first dropped as long as values at the rows change by no more than this share of their range. 0
            drops none: slopes are those of :meth:`explain` with ``neighbourhood=0``. By default 0 for one term of 64
            pieces or fewer in each part, else 1e-2.

        Returns
        -------
        dict of columns
            Fullest region first; ``pandas.DataFrame`` and ``polars.DataFrame`` take it. A list of them for several
            targets. :meth:`PLDC.regions` of ``function_`` also says which region each row is in.
        """
        self._check_fitted()
        if hasattr(self, "outputs_"):
            return [fit.region_table(X, tol) for fit in self.outputs_]
        X = validate_data(self, X, dtype=np.float64, reset=False)
        f = self.function_
        if tol is None:
            tol = 0.0 if f.is_plain and max(f.n_pieces) <= FEW else 1e-2
        if tol != 0:  # at 0, too, dropping could swap pieces that tie at a row
            f = f.prune(X, tol=tol)
        return f.regions(X).columns(getattr(self, "feature_names_in_", None))

    def _limits(self) -> tuple[float, float]:
        return self.clip_range_ if self.clip else (-np.inf, np.inf)

    def _monotone_signs(self) -> Array:
        """Return the sign of each feature."""
        if self.monotone is None:
            return np.zeros(self.n_features_in_, dtype=int)
        signs = np.asarray(self._named_signs(self.monotone) if isinstance(self.monotone, Mapping) else self.monotone)
        if signs.shape != (self.n_features_in_,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(
                f"monotone must hold −1, 0 or 1 for each of {self.n_features_in_} features, got {self.monotone!r}."
            )
        return signs

    def _named_signs(self, monotone: Mapping[str, int]) -> list[int]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                "monotone is a dict of feature names, but X has no column names: pass a sequence of signs."
            )
        unknown = set(monotone) - set(names)
        if unknown:
            raise ValueError(f"monotone names unknown features {sorted(unknown)}; X has {list(names)}.")
        return [monotone.get(name, 0) for name in names]


__all__ = ["DCRegressor"]
