"""scikit-learn estimators: thin wrappers around problem, solver and function."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from pldc.function import Explanation, explain
from pldc.function.max_affine import Array
from pldc.problem import Problem, certify, make_loss, make_penalty
from pldc.problem.program import SHAPES
from pldc.problem.units import Units, weighted_mean
from pldc.solve import AdmmSolver, ExactSolver
from pldc.solve.choose import make_solver
from pldc.solve.progress import shown
from pldc.solve.run import STATUS, Monitor

LINEAR = ("penalized", "free")


class DCRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Piecewise-linear regression by a difference of convex functions, with a certificate of optimality.

    Minimises over f = φ₁ − φ₂, both convex and piecewise linear,

        weighted mean of loss(f(x), y)  +  lam · seminorm(f),

    a convex program, to a certified relative gap `tol`. The seminorm sums the largest slopes of both parts: it bounds
    how steep f can be, coordinate by coordinate (``penalty="componentwise"``) or in all of them together
    (``"joint"``, the paper's).
    With ``standardize=True`` the program is written for standardised X and y, so `lam` has no units.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "quantile"}, default="squared"
        What is averaged: (f − y)² for the mean; ``|f − y|`` for the median; huber, squared up to `huber_delta` and
        linear beyond; quantile, twice the pinball loss at level `quantile`.
    quantile : float, default=0.5
        Level for ``loss="quantile"``; 0.5 is the absolute loss.
    huber_delta : float, default=1.35
        Where the huber loss turns linear, in units of the standard deviation of y (of y itself without `standardize`).
        Outliers inflate that deviation: against them a value such as 0.2 is more robust than the default.
    penalty : {"componentwise", "joint"}, default="componentwise"
        The seminorm.
    lam : float, default=0.01
        Weight of the seminorm, > 0. Smaller follows the data more closely; choose it by cross-validation, with a score
        that fits the loss (R² does not fit quantiles). Good values often lie between 0.001 and 1; absolute and quantile
        loss need larger ones than squared loss.
    shape : {"dc", "convex", "concave"}, default="dc"
        Restrict f to be convex or concave. `predict` is so only with ``clip=False``.
    monotone : sequence or dict, optional
        −1, 0 or 1 for each feature (or a dict from feature name to sign): f does not increase, is free, or does not
        decrease in it. Imposed as a sign on the slopes of each convex part, which is sufficient for a monotone f but
        not necessary: a monotone f whose parts are not monotone, such as an S-shaped curve, is excluded.
    linear : {"penalized", "free"}, default="penalized"
        "free" adds a linear term that is not penalised, so a large `lam` gives linear regression instead of a constant.
        It helps when there are many more rows than features and hurts when there are not.
    clip : bool, default=True
        Cut predictions to the range of the training targets. Outside the data f grows linearly.
    standardize : bool, default=True
        Solve in standardised X and y. Slopes and values are always reported in the units of the data.
    solver : {"auto", "exact", "admm"}, default="auto"
        "exact", an interior point on the pairs of rows that matter, reaches small gaps; its time grows like n³ and its
        memory like n². "admm", an iteration over all pairs, needs little memory and about n² time an iteration, and
        reaches a gap of about 1e-2. "auto" takes "exact" up to 3000 distinct rows, if memory suffices.
    tol : float, default=1e-4
        Certified relative gap between the objective reached and the best possible one. For ``solver="admm"``, 1e-2 is
        realistic.
    max_iter : int, optional
        Limit on iterations of the solver. None: 200 for "exact", 2000 for "admm".
    n_jobs : int, optional
        Threads. None: as many as the BLAS would use; −1: all cores.
    random_state : int, RandomState or None, default=None
        Has no effect: the solvers draw no random numbers. Accepted for use in generic code.
    device : str, optional
        A torch device such as "cuda" for the pass of ``solver="admm"`` over all pairs; None for NumPy. "auto" ignores
        it where it takes "exact".
    verbose : int, default=0
        1 logs one line an iteration to the ``pldc`` logger at level INFO (else DEBUG), and shows it on standard error
        if no logging is set up.

    Attributes
    ----------
    function_ : PLDC
        The fitted function in the units of the data (not clipped).
    certificate_ : Certificate
        ``upper``, ``lower`` and ``gap`` of the program stated above, and the ``solution`` that attains ``upper``:
        values and slopes of both parts at the distinct (standardised) rows.
    lam_ : float
        The weight used.
    seminorm_ : float
        The seminorm as the program measures it, in its (standardised) units: ``objective = mean loss + lam_ ·
        seminorm_``. It looks at the data points only; between them pieces of both parts may meet that never meet at
        one. ``function_.seminorm_bound(penalty, active_pairs=True)`` bounds the seminorm everywhere, in the units of
        the data; in equal units it is at most twice `seminorm_`.
    solver_ : {"exact", "admm"}
        The solver that was used.
    n_iter_ : int
        Its iterations.
    clip_range_ : (float, float)
        Range of the training targets.
    reference_ : array of shape (d,)
        Mean of the training rows: where `explain` measures contributions from.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    The optimal objective is unique, and so are the fitted values under the squared loss. The slopes are not: the
    seminorm looks at the largest ones, and a slope below them, at the edge of the data above all, is one of many that
    are equally good. Extrapolation inherits that; `clip` limits it.

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

    def __init__(
        self,
        *,
        loss: str = "squared",
        quantile: float = 0.5,
        huber_delta: float = 1.35,
        penalty: str = "componentwise",
        lam: float = 0.01,
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
        self.loss = loss
        self.quantile = quantile
        self.huber_delta = huber_delta
        self.penalty = penalty
        self.lam = lam
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
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, monitor: Monitor | None = None
    ) -> DCRegressor:
        """Fit the function.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            A weight of 2 equals the row twice; a weight of 0 equals the row left out.
        monitor : callable, optional
            Called once an iteration with a dict of iteration, upper, lower, gap and seconds; the bounds are renewed
            now and then only. If it returns a true value the fit stops there, with the best function so far. Ctrl-C
            during the solve does the same and then raises KeyboardInterrupt as usual: the model is fitted, and its
            certificate tells how well. (Pressed again, or before the first iteration, it leaves the model unfitted.)

        Returns
        -------
        self
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # a fit that fails leaves no half of an older one behind
        if monitor is not None and not callable(monitor):
            raise TypeError(f"monitor must be callable, got {monitor!r}.")
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        weight = _check_weight(sample_weight, len(y))
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        units = Units.of(X, y, weight) if self.standardize else Units.none(X.shape[1])
        problem = Problem.from_data(
            units.scale_X(X),
            units.scale_y(y),
            weight=weight,
            loss=make_loss(
                self.loss,
                quantile_level=_number("quantile", self.quantile),
                huber_delta=_number("huber_delta", self.huber_delta),
            ),
            penalty=make_penalty(self.penalty),
            lam=_number("lam", self.lam),
            shape=_choice("shape", self.shape, tuple(SHAPES)),
            monotone=self._monotone_signs(),
            linear=_choice("linear", self.linear, LINEAR) == "free",
        )
        solver = self._solver(problem)
        with shown(self.verbose) as log:
            solution = solver.solve(problem, monitor=_both(log, monitor))
        certificate = certify(problem, solution)
        feasible = certificate.solution
        self.function_ = units.restore(problem.function(feasible).drop_dominated())
        self.certificate_ = replace(certificate, solution=replace(feasible, multipliers=None, history=[]))
        self.seminorm_ = problem.penalty.value(feasible.slopes)
        self.lam_ = problem.lam
        self.solver_ = "exact" if isinstance(solver, ExactSolver) else "admm"
        self.n_iter_ = solution.iterations
        self.clip_range_ = float(y.min()), float(y.max())
        self.reference_ = weighted_mean(X, weight)
        # The gap is recomputed: the solver's word is not taken, rounding is forgiven. The model is complete by now, so
        # nothing is lost where the warning is an error.
        if not certificate.gap <= 1.01 * solver.tol:
            reason = STATUS[solution.status]
            if solution.status == "optimal":  # in the solver's own numbers, but not in those of the data
                reason = "rounding in the units of X and y; shift and scale them to numbers of order one"
            warnings.warn(
                f"The certified relative gap is {certificate.gap:.2g}, not tol={self.tol:.2g}: {reason}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if solution.status == "interrupted":
            raise KeyboardInterrupt(f"Interrupted at a certified gap of {certificate.gap:.2g}; the model is usable.")
        return self

    def predict(self, X: Any) -> Array:
        """Evaluate the fitted function at the rows of X (clipped, if `clip`)."""
        check_is_fitted(self, "function_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.clip(self.function_(X), *self._limits())

    def explain(self, X: Any, reference: ArrayLike | None = None) -> Explanation:
        """Explain each prediction by the affine function that rules at its row.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), optional
            Contributions are slope × (x − reference); the mean of the training rows if not given.

        Returns
        -------
        Explanation
            prediction, intercept, slopes, contributions and active pieces, row by row; ``print`` shows a table.
        """
        check_is_fitted(self, "function_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return explain(
            self.function_,
            X,
            reference=self.reference_ if reference is None else reference,
            features=getattr(self, "feature_names_in_", None),
            limits=self._limits(),
        )

    def _limits(self) -> tuple[float, float]:
        return self.clip_range_ if self.clip else (-np.inf, np.inf)

    def _solver(self, problem: Problem) -> ExactSolver | AdmmSolver:
        tol, limit = _number("tol", self.tol), self.max_iter
        if limit is not None and (not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 1):
            raise ValueError(f"max_iter must be None or a whole number ≥ 1, got {limit!r}.")
        threads = self.n_jobs
        if threads is not None and (not isinstance(threads, Integral) or threads == 0):
            raise ValueError(f"n_jobs must be None, −1 or a whole number ≥ 1, got {threads!r}.")
        if threads is not None and threads < 0:
            threads = max(1, cpu_count() + 1 + int(threads))
        return make_solver(
            self.solver,
            problem,
            tol=tol,
            max_iter=None if limit is None else int(limit),
            threads=threads,
            device=self.device,
        )

    def _monotone_signs(self) -> ArrayLike | None:
        if not isinstance(self.monotone, Mapping):
            return self.monotone
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                "monotone is a dict of feature names, but X has no column names: pass a sequence of signs."
            )
        unknown = set(self.monotone) - set(names)
        if unknown:
            raise ValueError(f"monotone names unknown features {sorted(unknown)}; X has {list(names)}.")
        return [self.monotone.get(name, 0) for name in names]


def _both(log: Monitor, monitor: Monitor | None) -> Monitor:
    """Log every iteration, and ask the user's monitor whether to stop."""
    if monitor is None:
        return log

    def tell(row: dict[str, float]) -> Any:
        log(row)
        return monitor(dict(row))

    return tell


def _check_weight(sample_weight: ArrayLike | None, n: int) -> Array:
    """Return one weight ≥ 0 a row, scaled so that the largest is one."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one weight a row; got {weight.shape}.")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite; it contains NaN or infinity.")
    if (weight < 0).any():
        raise ValueError("Negative values in sample_weight: weights must be ≥ 0.")
    if not (weight > 0).any():
        raise ValueError("All values of sample_weight are zero: there is nothing to fit.")
    return np.asarray(weight / weight.max())


def _number(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (number > 0 and np.isfinite(number)):
        raise ValueError(f"{name} must be a positive finite number, got {value!r}.")
    return number


def _choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not (isinstance(value, str) and value in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")
    return value


__all__ = ["DCRegressor"]
