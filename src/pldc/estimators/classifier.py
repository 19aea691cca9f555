"""Classification behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pldc.estimators.base import DCEstimator, PredictedScores
from pldc.estimators.checks import check_weight
from pldc.function import ClassExplanation, explain_classes
from pldc.function.max_affine import Array
from pldc.problem import make_penalty
from pldc.problem.class_losses import make_class_loss, softmax
from pldc.problem.recipe import Recipe, Rows
from pldc.select.folds import distinct
from pldc.select.program import FittedProgram
from pldc.select.search import Search
from pldc.solve.run import Monitor

TEMPERATURES = (-5.0, 4.0)  # logarithms


def _has_probabilities(model: DCClassifier) -> bool:
    if hasattr(model, "functions_"):
        able = model._fitted_loss == "log" or model._calibration is not None
    else:  # once it is fitted
        able = model.loss == "log" or model.lam == "cv"
    if able:
        return True
    raise AttributeError(
        "Probabilities need loss='log', or lam='cv', whose folds calibrate the scores of the hinge (four distinct rows "
        "at least)."
    )


class DCClassifier(ClassifierMixin, DCEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Classification by one difference of convex functions for each class, with a certificate of optimality.

    Minimises over scores f_1 … f_m, each a difference of two convex piecewise-linear functions,

        weighted mean of loss(f_1(x), …, f_m(x); label)  +  lam · Σ_c seminorm(f_c),

    a convex program, to a certified relative gap `tol`. A row is of the class with the highest score.

    Parameters
    ----------
    loss : {"hinge", "log"}, default="hinge"
        "hinge": Σ_{c≠y} max(f_c − f_y + 1, 0), the paper's. "log": log Σ_c exp(f_c) − f_y; its scores give
        probabilities. It has no linear program: ``solver="exact"`` refuses it.
    penalty : {"joint", "componentwise"}, default="joint"
        The seminorm; see :class:`DCRegressor`.
    lam : "cv" or float, default="cv"
        Weight of the seminorms: by cross-validation, or a number > 0.
    cv : int, cross-validation generator or iterable, default=5
        A number deals the rows of every class out to so many folds, by their content and not by their order.
    max_cv_rows : int or None, default=1500
        As for :class:`DCRegressor`.
    scoring : str or callable, optional
        Scorer of scikit-learn, larger is better. None: the loss itself.
    one_standard_error : bool, default=False
        Take the largest `lam` whose score is within one standard error of the best.
    class_weight : dict or "balanced", optional
        Multiplies the weights of the rows of each class.
    standardize : bool, default=True
        Solve in standardised X.
    solver : {"auto", "exact", "admm"}, default="auto"
        As for :class:`DCRegressor`. "auto" takes "exact" for the hinge where classes × distinct rows are few.
    tol : float, default=1e-2
        Certified relative gap between the objective reached and the best possible one.
    max_iter : int, optional
        Limit on iterations of the solver. None: 200 for "exact", 2000 for "admm".
    n_jobs : int, optional
        Threads of a solve, and processes of the cross-validation.
    random_state : ignored
        Nothing here is random.
    device : str, optional
        A torch device for the pass of ``solver="admm"`` over all pairs.
    verbose : int, default=0
        1 logs progress.

    Attributes
    ----------
    classes_ : array of shape (m,)
        The labels, sorted.
    functions_ : list of PLDC
        The score of each class, in the units of the data.
    certificate_ : Certificate
        Of the program whose solution `functions_` are.
    lam_ : float
    cv_results_ : dict of arrays
        With ``lam="cv"``, as for :class:`DCRegressor`.
    cv_score_ : float
        With ``lam="cv"``, the mean score of the `lam` chosen at the rows left out.
    seminorm_ : float
        Sum of the seminorms as the program measures them.
    solver_ : {"exact", "admm"}
    n_iter_ : int
    reference_ : array of shape (d,)
        Mean of the training rows: where `explain` measures contributions from.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    With two classes the best scores are opposite to each other, and the program is that of one function under the
    ordinary hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from pldc import DCClassifier
    >>> X = np.linspace(-2, 2, 24)[:, None]
    >>> model = DCClassifier(lam=0.01).fit(X, np.where(np.abs(X[:, 0]) < 1, "inside", "outside"))
    >>> model.predict([[0.0], [1.7]]).tolist()
    ['inside', 'outside']
    """

    _labels: ClassVar[bool] = True

    def __init__(
        self,
        *,
        loss: str = "hinge",
        penalty: str = "joint",
        lam: float | str = "cv",
        cv: Any = 5,
        max_cv_rows: int | None = 1500,
        scoring: Any = None,
        one_standard_error: bool = False,
        class_weight: Any = None,
        standardize: bool = True,
        solver: str = "auto",
        tol: float = 1e-2,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        device: str | None = None,
        verbose: int = 0,
    ):
        self.loss = loss
        self.penalty = penalty
        self.lam = lam
        self.cv = cv
        self.max_cv_rows = max_cv_rows
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.class_weight = class_weight
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
    ) -> DCClassifier:
        """Fit the scores.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
            Labels of any kind, of two classes at least.
        sample_weight : array of shape (n,), optional
            A weight of 2 equals the row twice; a weight of 0 equals the row left out.
        groups : array of shape (n,), optional
            Rows of one group stay together in cross-validation.
        monitor : callable, optional
            As for :meth:`DCRegressor.fit`.

        Returns
        -------
        self
        """
        self._forget()
        self._check_monitor(monitor)
        given = self._rows_of(X, y, sample_weight)
        self._fit_rows(given, groups, monitor)
        return self

    def _rows_of(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Rows:
        """Check the data; labels become numbers."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weight = check_weight(sample_weight, len(y))
        weight = weight * self._class_factors(y, weight)
        here = weight > 0
        self.classes_ = np.unique(y[here])
        if len(self.classes_) < 2:
            only = self.classes_[:1]
            raise ValueError(f"A classifier needs rows of two classes at least; there is only one class, {only}.")
        codes = np.zeros(len(y))
        codes[here] = np.searchsorted(self.classes_, y[here])
        return Rows(X, codes, weight)

    def _class_factors(self, y: np.ndarray, weight: Array) -> Array:
        """Return what `class_weight` multiplies each weight by; "balanced" makes the classes weigh the same."""
        if self.class_weight is None:
            return np.ones(len(y))
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            names, label = np.unique(y, return_inverse=True)
            total = np.bincount(label, weights=weight)
            return np.asarray(weight.sum() / len(names) / np.where(total > 0, total, 1.0))[label]
        factors = np.asarray(compute_sample_weight(self.class_weight, y), dtype=np.float64)
        if not (np.isfinite(factors).all() and (factors >= 0).all()):
            raise ValueError(f"class_weight must hold finite numbers ≥ 0, got {self.class_weight!r}.")
        return factors

    def _recipe(self) -> Recipe:
        return Recipe(
            loss=make_class_loss(self.loss),
            penalty=make_penalty(self.penalty),
            shape="dc",
            monotone=np.zeros(self.n_features_in_, dtype=int),
            linear=False,
            standardize=self.standardize,
            outputs=len(self.classes_),
        )

    def _keep_folds(self, search: Search) -> None:
        """Calibrate the scores where the folds did not look."""
        if self.loss == "hinge":
            scores = np.concatenate(search.left_out(), axis=1)
            tests = Rows(*(np.concatenate([getattr(test, name) for test in search.test]) for name in Rows._fields))
            self._calibration = calibrate(scores, tests)

    def _known(self, prediction: Array, test: Rows) -> tuple[Any, np.ndarray]:
        return PredictedScores(prediction.T, self.classes_), self.classes_[test.y.astype(int)]

    def _remember(self, fitted: FittedProgram, rows: Rows) -> None:
        super()._remember(fitted, rows)
        self._fitted_loss = self.loss
        self.functions_ = fitted.functions

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self, "functions_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.column_stack([f(X) for f in self.functions_])

    def decision_function(self, X: Any) -> Array:
        """Return the scores at the rows of X, (n, m); of two classes the score of the second less that of the first."""
        scores = self._scores(X)
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the highest score at each row of X."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class at each row of X, (n, m).

        With the log loss they are the model itself. The hinge has none; its scores are multiplied by one temperature,
        fitted to the scores that the folds of cross-validation gave to rows left out.
        """
        scores = self._scores(X).T
        if self._calibration is not None:
            scores = self._calibration * scores
        return softmax(scores).T

    def explain(self, X: Any, reference: Any = None) -> ClassExplanation:
        """Explain each prediction: the class, the runner-up, the margin between them, and its local linear reasons.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), Series or dict by feature names, optional
            Contributions are slope × (x − reference); the mean of the training rows if not given.
        """
        check_is_fitted(self, "functions_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return explain_classes(
            self.functions_,
            X,
            self.classes_,
            reference=self._reference(reference),
            features=getattr(self, "feature_names_in_", None),
        )


def calibrate(scores: Array, rows: Rows) -> float:
    """Return the temperature for which softmax(temperature · scores) predicts the labels of the rows best.

    One number: the order of the classes stays that of the scores. The likelihood is that of smoothed labels, by
    Laplace's rule: of n rows, each is of its class with probability (n + 1) / (n + m) and of any other with
    1 / (n + m). So rows that are all right do not make it certain. A weight counts as so many rows, unless weights are
    so small that the number of distinct rows of equal weight that would tell as much is larger.
    """
    m, label, share = len(scores), rows.y.astype(np.intp), rows.weight / rows.weight.sum()
    weight = distinct(rows, True)[0].weight
    n = max(weight.sum(), weight.sum() ** 2 / (weight @ weight))
    target = np.full(scores.shape, 1.0 / (n + m))
    target[label, np.arange(len(label))] = (n + 1.0) / (n + m)

    def loss(log_temperature: float) -> float:
        p = softmax(np.exp(log_temperature) * scores)
        return -float(share @ (target * np.log(np.maximum(p, 1e-300))).sum(axis=0))

    return float(np.exp(minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x))


__all__ = ["DCClassifier"]
