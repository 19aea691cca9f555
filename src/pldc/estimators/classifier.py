"""Classification behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pldc.columns import Encoding
from pldc.columns.cells import check_labels
from pldc.estimators.base import DCEstimator
from pldc.estimators.blocks import AllRows
from pldc.estimators.checks import HUGE, check_weight, shown, to_score
from pldc.estimators.class_reading import ClassReading
from pldc.estimators.counterfactuals import ClassCounterfactuals
from pldc.estimators.sources import over_blocks, targets_of
from pldc.estimators.tables import Given, encoded, plain_labels, read
from pldc.function.max_affine import Array, real
from pldc.model import Model
from pldc.problem.losses import Hinge, LogLoss, Loss, make_loss
from pldc.problem.penalties import Seminorm
from pldc.problem.recipe import Recipe
from pldc.scale.sources import is_source
from pldc.select.cross_fit import CrossFit
from pldc.solve.run import Monitor


class DCClassifier(ClassCounterfactuals, ClassReading, ClassifierMixin, DCEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Classification by one difference of convex functions for each class.

    A row is of the class with the highest score. The scores are fitted in one of two ways:

    - **Few pieces**, the default: the mean of some fits of few pieces each, under the log loss, found by descent; what
      kind, how many pieces and how smooth is chosen at rows left out. Of two classes one function tells. Seconds for
      any number of rows. No certificate.
    - **A piece for every row**, ``n_pieces="rows"``: the convex program of the paper,

          weighted mean of loss(f_1(x), …, f_m(x); label)  +  lam · Σ_c seminorm(f_c),

      solved to a certified relative gap.

    Parameters
    ----------
    n_pieces : "auto", "rows" or int, default="auto"
        "auto": few pieces, what predicts best (`chosen_` tells); but the program where one of its own settings is given
        (``loss="hinge"``, `lam`, `penalty`, `standardize`, `solver`), and for fewer than four distinct rows. A number:
        for each class one function of at most so many pieces in each part, learned from the default fit; see
        :meth:`simplify`. "rows": the program.
    loss : {"auto", "log", "hinge"} or Loss, default="auto"
        "log" or ``LogLoss()``: log Σ_c exp(f_c) − f_y; its scores give probabilities. "hinge" or ``Hinge()``:
        Σ_{c≠y} max(f_c − f_y + 1, 0), the paper's, of the program alone. "auto": "log" for few pieces, "hinge" for the
        program (the log loss has no linear program: ``solver="exact"`` refuses it).
    class_weight : dict or "balanced", optional
        Multiplies the weights of the rows of each class.
    categorical_features : "from_dtype", None or sequence, default="from_dtype"
        Columns that hold categories; see :class:`DCRegressor`.
    cv : int, cross-validation generator, iterable or CrossValidation, default=5
        A number deals the rows of every class out to so many folds, by their content and not by their order.
    max_seconds : float, optional
        Limit on the time of a fit of few pieces, not of the program; see :class:`DCRegressor`. None: none.
    max_memory : int or str, optional
        Bytes, or a text such as "500MB", for a table that is read block by block: a path, a dataset of Arrow, an array
        on disk, a function that gives blocks. None: 1 GB. See the page on large tables.
    device : str, optional
        Of torch, such as "cuda", for the products of few pieces with all rows. None: NumPy.
    lam : "cv" or float, default="cv"
        Of the program: weight of the seminorms, by cross-validation, or a number > 0.
    penalty : {"joint", "componentwise"} or Seminorm, default="joint"
        Of the program: the seminorm; see :class:`DCRegressor`.
    standardize : bool, default=True
        Of the program: solve in standardised X.
    solver : {"auto", "exact", "admm"} or solver, default="auto"
        Of the program: as for :class:`DCRegressor`, with a gap of 1e-2. "auto" takes "exact" for the hinge where
        classes × distinct rows are few.
    n_jobs : int, optional
        Threads of a search or a solve, and processes of the program's cross-validation.
    random_state : int, RandomState or None, default=None
        For the starts of few pieces. None is a fixed one: the same fit every time.
    verbose : int, default=0
        1 logs progress.

    Attributes
    ----------
    model_ : Model
        All that was learned, in one frozen record without training rows. The attributes below are its numbers.
    classes_ : array of shape (m,)
        The labels, sorted.
    functions_ : list of PLDC
        The score of each class, in the units of the data. Of two classes, few pieces give the first the score zero.
    chosen_ : list of dict
        Few pieces: the kinds of functions that were kept; see :class:`DCRegressor`.
    fidelity_ : float
        With a number as `n_pieces`: the share of the rows left out at which the larger model says the same class; where
        `max_seconds` left no time for the folds, of fresh points between the rows.
    simplification_ : ClassSimplification
        With a number as `n_pieces`: `fidelity_`, and the cross-validated scores and errors of both.
    certificate_ : Certificate
        Of the program: ``upper``, ``lower`` and ``gap``.
    lam_ : float
        Of the program.
    cv_results_ : dict of arrays
        As for :class:`DCRegressor`.
    cv_score_ : float
        The score at the rows left out: the mean loss, negative (for few pieces, as if one row more had been seen, of
        all classes alike; `simplification_` counts no such row), unless there is a scorer. Of the program with
        ``lam="cv"`` it is that of the rough fits by which `lam` was chosen, which also calibrate the probabilities.
        With a number as `lam` the folds are solved where rough fits are far off: the same `lam` then has another score.
    seminorm_ : float
        Of the program: the sum of the seminorms as it measures them.
    solver_ : {"exact", "admm"}
        Of the program.
    n_iter_ : int
    passes_ : Passes
        Only if a sample of a table was fitted first: the table's rows, those of the sample, how many passes were made
        over all rows after it, and about how many rows were held for steps in between. It is not in model files.
    feature_importances_ : array of shape (d,)
        How much probability moves from class to class, on average, if a column's cell is swapped for that of another
        training row.
    reference_, spread_ : arrays of shape (d,)
        Means and standard deviations of the training features: where `explain` measures contributions from, and the
        unit in which it says how far slopes hold.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    The same rows give the same fit, whatever their order and whatever the classes are called.

    Examples
    --------
    >>> import numpy as np
    >>> from pldc import DCClassifier
    >>> X = np.linspace(-2, 2, 24)[:, None]
    >>> model = DCClassifier(lam=0.01).fit(X, np.where(np.abs(X[:, 0]) < 1, "inside", "outside"))
    >>> model.predict([[0.0], [1.7]]).tolist()
    ['inside', 'outside']
    """

    _tol = 1e-2
    _of_the_program: ClassVar[dict[str, tuple[Any, ...]]] = {
        "loss": ("auto", "log", LogLoss()),
        "lam": ("cv",),
        "penalty": ("joint",),
        "standardize": (True,),
        "solver": ("auto",),
    }

    def __init__(
        self,
        *,
        n_pieces: int | str = "auto",
        loss: str | Loss = "auto",
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        cv: Any = 5,
        max_seconds: float | None = None,
        max_memory: float | str | None = None,
        device: str | None = None,
        lam: float | str = "cv",
        penalty: str | Seminorm = "joint",
        standardize: bool = True,
        solver: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_pieces = n_pieces
        self.loss = loss
        self.class_weight = class_weight
        self.categorical_features = categorical_features
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
    ) -> DCClassifier:
        """Fit the scores to labels, of two classes at least; the rest is as for :meth:`DCRegressor.fit`.

        Labels are text, whole numbers (as floats, too), booleans or levels of a category. Of other kinds, such as
        numbers with fractions or dates, make text.
        """
        self._fit(X, y, sample_weight, groups, monitor)
        return self

    def _given(self, X: Any, y: Any, weight: Any, groups: Any = None, everywhere: AllRows | None = None) -> Given:
        """Check the data; the table and the labels become numbers."""
        check_labels(y)
        X, y = read(self, X, plain_labels(y))
        check_classification_targets(y)
        weight = check_weight(weight, len(y))
        with np.errstate(over="ignore"):
            weight = check_weight(weight * self._class_factors(y, weight), len(y))
        here = weight > 0
        self.classes_ = np.unique(y[here])
        if len(self.classes_) < 2:
            only = self.classes_[:1]
            raise ValueError(f"A classifier needs rows of two classes at least; there is only one class, {only}.")
        codes = np.zeros(len(y))
        codes[here] = np.searchsorted(self.classes_, y[here])
        shares = [(f"share of {label}", (codes == k) + 0.0) for k, label in enumerate(self.classes_.tolist())]
        return encoded(self, X, codes, weight, shares, groups, everywhere)

    def _class_factors(self, y: np.ndarray, weight: Array) -> Array:
        """Return what `class_weight` multiplies each weight by; "balanced" makes the classes weigh the same."""
        if self.class_weight is None:
            return np.ones(len(y))
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            label = np.unique(y, return_inverse=True)[1]
            total = np.bincount(label, weights=weight)
            return np.asarray(weight.sum() / np.count_nonzero(total) / np.where(total > 0, total, 1.0))[label]
        if not isinstance(self.class_weight, Mapping):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {shown(self.class_weight)}.")
        given = {label: real(factor, "class_weight") for label, factor in self.class_weight.items()}
        if not all(factor.ndim == 0 and np.isfinite(factor) and factor >= 0 for factor in given.values()):
            raise ValueError(f"class_weight must hold finite numbers ≥ 0, got {shown(self.class_weight)}.")
        labels = np.unique(y).tolist()
        unknown = [label for label in given if label not in labels]
        if unknown and len(given) - len(unknown) < len(labels):
            raise ValueError(f"class_weight names {shown(unknown)}, and y holds no such label: give {shown(labels)}.")
        factors = np.asarray(
            compute_sample_weight({label: float(f) for label, f in given.items()}, y), dtype=np.float64
        )
        largest = float(factors.max(initial=0.0))
        if largest == 0.0:
            raise ValueError(f"class_weight is zero for all classes of y, {shown(self.class_weight)}.")
        return factors if largest < HUGE else factors / largest

    def _loss(self) -> Loss:
        """Return the loss; "auto" goes with the way of fitting."""
        if isinstance(self.loss, str) and self.loss == "auto":
            return make_loss("hinge" if self._pieces() == "rows" else "log", classes=True)
        loss = make_loss(self.loss, classes=True)
        if isinstance(loss, Hinge) and isinstance(self._pieces(), int):
            raise ValueError("loss='hinge' is of the program: give n_pieces='rows', or loss='log' for few pieces.")
        return loss

    def _recipe(self, columns: Encoding | None) -> Recipe:
        seminorm = self._seminorm()
        return Recipe(
            loss=self._loss(),
            penalty=seminorm.penalty,
            shape="dc",
            monotone=np.zeros(self._width(columns), dtype=int),
            linear=seminorm.free_linear,
            standardize=self.standardize,
            outputs=len(self.classes_),
        )

    def _keep(self, model: Model, folds: CrossFit | None = None) -> None:
        super()._keep(model, folds)
        if model.classes is not None:
            self.classes_ = model.classes
        self.functions_ = list(model.functions)

    def decision_function(self, X: Any) -> Array:
        """Return the scores at the rows of X, (n, m); of two classes the score of the second less that of the first."""
        X = self._points(X)
        scores = self.model_.scores(X)
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the highest score at each row of X."""
        if is_source(X):
            return over_blocks(self, self.predict, X)
        X = self._points(X)
        return np.asarray(self.classes_[self.model_.scores(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class at each row of X, (n, m).

        They are softmax of the scores times one temperature, fitted to the scores that the folds gave to rows left out.
        Under the log loss of the program they are the model itself.
        """
        if is_source(X):
            return over_blocks(self, self.predict_proba, X)
        X = self._points(X)
        return self.model_.probabilities(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities, (n, m): finite also where a probability rounds to zero."""
        if is_source(X):
            return over_blocks(self, self.predict_log_proba, X)
        X = self._points(X)
        return np.asarray(log_softmax((self.model_.temperature or 1.0) * self.model_.scores(X), axis=1))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is right; X may be read block by block, as in :meth:`fit`."""
        if is_source(X):
            check_is_fitted(self, "model_")
            y, sample_weight = targets_of(X, y, sample_weight, labels=True)
        y, sample_weight = to_score(y, sample_weight)
        check_labels(y)
        return float(accuracy_score(plain_labels(y), np.asarray(self.predict(X)), sample_weight=sample_weight))


__all__ = ["DCClassifier"]
