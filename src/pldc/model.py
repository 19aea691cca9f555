"""What was learned: a frozen record of a fit, without the rows that it was made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.columns import Encoding
from pldc.function import PLDC, ClassExplanation, Explanation, explain, explain_classes
from pldc.function.errors import Errors
from pldc.function.max_affine import Array, IntArray, real
from pldc.problem.certificate import Certificate
from pldc.problem.losses import softmax


@dataclass(frozen=True)
class SolvedProgram:
    """The numbers of a program that was solved.

    Attributes
    ----------
    lam : float
        Weight of the seminorm.
    certificate : Certificate
    loss, seminorm : float
        The two terms of the objective as the program measures them: ``certificate.upper = loss + lam · seminorm``.
    solver : str
        The solver that was used.
    status : str
        How it ended.
    tol : float
        The gap that was asked for.
    """

    lam: float
    certificate: Certificate
    loss: float
    seminorm: float
    solver: str
    status: str
    tol: float


@dataclass(frozen=True)
class Simplification:
    """A model of few pieces beside the one that it was learned from.

    Attributes
    ----------
    n_pieces : (int, int)
        Of the plus and of the minus part.
    fidelity : float
        R² of the few pieces to the larger model, at rows that neither had seen; mean over the folds. Of a fit that was
        ended early: at fresh points between the rows.
    score : float
        Cross-validated score of the few pieces; NaN for a fit that was ended early. Without `scoring` it is the mean
        loss of standardised targets, negative: for the squared loss about R² − 1.
    score_before : float
        Cross-validated score of the larger model, on the same folds.
    squared : bool
        Whether these are scores of the squared loss, so that R² is about 1 + score.
    """

    n_pieces: tuple[int, int]
    fidelity: float
    score: float
    score_before: float
    squared: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        plus, minus = self.n_pieces
        scores = f"cross-validated score {self.score:.4g}, {self.score_before:.4g} before"
        if self.squared:
            scores = f"cross-validated R² about {1 + self.score:.3f} (score {self.score:.4g}), "
            scores += f"{1 + self.score_before:.3f} ({self.score_before:.4g}) before"
        if np.isnan(self.score):
            scores = "not cross-validated, for want of time"
        return f"{plus} − {minus} pieces: {scores}; fidelity {self.fidelity:.3f}"


@dataclass(frozen=True)
class ClassSimplification(Simplification):
    """Scores of few pieces beside the classifier that they were learned from.

    Attributes
    ----------
    n_pieces : (int, int)
        Of the plus and of the minus part: the most that a score has.
    fidelity : float
        Share of the rows left out at which both say the same class; of a fit that was ended early, of fresh points
        between the rows.
    score, score_before : float
        Cross-validated: the log loss of the probabilities, negative, unless there is a scorer. NaN for a fit that was
        ended early. The `cv_score_` of the larger model differs: it counts one row more, of all classes alike.
    error, error_before : float
        Cross-validated share of wrong classes.
    """

    error: float
    error_before: float

    def __str__(self) -> str:
        plus, minus = self.n_pieces
        said = "not cross-validated, for want of time"
        if not np.isnan(self.score):
            said = f"cross-validated score {self.score:.4g}, {self.score_before:.4g} before; "
            said += f"wrong {self.error:.1%}, {self.error_before:.1%} before"
        return f"{plus} − {minus} pieces a score: {said}; says the same as before at {self.fidelity:.1%} of the rows"


@dataclass(frozen=True, eq=False)
class Model:
    """What a fit has learned, and what is to be said of it.

    Attributes
    ----------
    kind : {"compact", "simplified", "program"}
        A mean of compact functions; one function of few pieces; the convex program.
    functions : tuple of PLDC
        In the units of the data: one, or the score of each class, or one for each level of several quantiles.
    center, spread : arrays of shape (d,)
        Mean and standard deviation of the training features.
    limits : (float, float)
        Range that predictions of a regression are cut to.
    target_range : (float, float)
        Range of the training targets of a regression.
    lowest : float
        Below which no target can lie: 0 for counts. Predictions and intervals stay above it.
    n_iter : int
        Iterations of the solver, or of a descent.
    classes : array or None
        Labels.
    temperature : float or None
        Factor of the scores of classes under which softmax gives probabilities; None: they give none.
    levels : tuple of float or None
        Of several quantiles.
    feature_names : tuple of str or None
        Of what the functions see.
    columns : Encoding or None
        How the columns of the table become these features; all that is asked of a model is in features. None: the table
        is of numbers, as they are.
    medians : array of shape (d,) or None
        Of the training features, where `columns` is None: what stands for a missing number then.
    booleans : tuple of int
        Places of the columns that held nothing but True and False in training.
    errors : Errors or None
        At rows left out.
    cv_score : float or None
        At rows left out.
    cv_results : dict
        Of all that was compared.
    chosen : list of dict
        The kinds of compact functions that were kept.
    simplification : Simplification or None
    program : SolvedProgram or None
    importances : array of shape (columns,) or None
        How far a prediction moves if the cell of a column is swapped for that of another training row, on average: mean
        ``|slope|`` × spread. Of classes: how much probability moves.
    seconds : float or None
        That the fit took.
    target : str or None
        Name of what is predicted, where it is known.
    version : str
        Of the package that made it.
    """

    kind: str
    functions: tuple[PLDC, ...]
    center: Array
    spread: Array
    limits: tuple[float, float] = (-np.inf, np.inf)
    target_range: tuple[float, float] = (-np.inf, np.inf)
    lowest: float = -np.inf
    n_iter: int = 1
    classes: np.ndarray | None = None
    temperature: float | None = None
    levels: tuple[float, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    columns: Encoding | None = None
    medians: Array | None = None
    booleans: tuple[int, ...] = ()
    errors: Errors | None = None
    cv_score: float | None = None
    cv_results: dict[str, Any] = field(default_factory=dict)
    chosen: list[dict[str, Any]] = field(default_factory=list)
    simplification: Simplification | ClassSimplification | None = None
    program: SolvedProgram | None = None
    importances: Array | None = None
    seconds: float | None = None
    target: str | None = None
    version: str = ""

    def __post_init__(self) -> None:
        for array in (self.center, self.spread):
            array.setflags(write=False)
        width = self.center.size if self.columns is None else len(self.columns.columns)
        if not set(self.booleans) <= set(range(width)):
            raise ValueError(f"booleans must be places of columns, got {self.booleans!r:.80}.")

    @property
    def function(self) -> PLDC:
        """The function of a regression."""
        if self.levels is not None:
            raise ValueError(
                f"This model predicts several quantiles, {self.levels}, each by a function of its own: ask one of "
                "them, model.functions_[k], or fit one level, loss=Quantile(0.9)."
            )
        if len(self.functions) > 1:
            raise ValueError("This model has a score for each class, functions_, and not one function to ask.")
        return self.functions[0]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that answers speak of."""
        if self.columns is not None:
            return self.columns.names
        return self.feature_names or tuple(f"x{k}" for k in range(len(self.center)))

    @property
    def opposites(self) -> dict[int, str]:
        """Of features that say whether a cell is True, a level or missing: what is true where they are 0."""
        numbers = [(self.number_of(column), self.column_names[column]) for column in self.booleans]
        found = {at: f"{name} is False" for at, name in numbers if at is not None}
        return found if self.columns is None else found | self.columns.opposites

    @property
    def source(self) -> IntArray:
        """The column that each feature comes from."""
        return np.arange(len(self.center)) if self.columns is None else self.columns.source

    def number_of(self, column: int) -> int | None:
        """Return the feature that is the number in a column; None if the column holds no numbers."""
        return column if self.columns is None else self.columns.number_of(column)

    def gap_of(self, column: int) -> int | None:
        """Return the feature that says that a cell of a column is missing, if there is one."""
        return None if self.columns is None else self.columns.gap_of(column)

    @property
    def cut(self) -> tuple[float, float]:
        """Range that predictions of a regression stay in."""
        return max(self.limits[0], self.lowest), self.limits[1]

    def predict(self, X: Array) -> Array:
        """Values of a regression at the rows of X, cut to `limits`; of several levels, columns that increase."""
        values = self.function(X) if self.levels is None else np.sort(self.scores(X), axis=1)
        return np.maximum(np.clip(values, *self.limits), self.lowest)

    def values(self, X: Array) -> Array:
        """What a fit is scored by at the rows of X: predictions (n,), or scores of the classes (m, n)."""
        return self.predict(X) if self.temperature is None else self.scores(X).T

    def scores(self, X: Array) -> Array:
        """Scores of the classes at the rows of X, (n, m)."""
        return np.column_stack([f(X) for f in self.functions])

    def probabilities(self, X: Array) -> Array:
        """Probabilities of the classes at the rows of X, (n, m)."""
        if self.temperature is None:
            raise ValueError("The scores of this model were not calibrated: they give no probabilities.")
        return softmax(self.temperature * self.scores(X).T).T

    def outcome(self, X: Array) -> Array:
        """What importances speak of: predictions, (n,); of classes half the probabilities, (n, m).

        Changes are added up over columns. Half of those of probabilities is what moves; of levels it is their mean.
        """
        if self.levels is not None:
            return self.predict(X) / len(self.levels)
        if len(self.functions) == 1:
            return self.predict(X)
        return 0.5 * softmax((self.temperature or 1.0) * self.scores(X).T).T

    def interval(self, X: Array, coverage: float) -> tuple[Array, Array]:
        """Ends of prediction intervals at the rows of X: the prediction, and as far as errors at rows left out went."""
        if self.levels is not None:
            raise ValueError(
                f"This model predicts quantiles, {self.levels}: take two of its columns as an interval. Intervals of "
                "any coverage are those of a fit of loss='squared' or 'absolute'."
            )
        if self.errors is None:
            raise ValueError(f"Intervals come from rows left out, and this fit left out none: {self._remedy()}.")
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"coverage must lie strictly between 0 and 1, got {coverage!r:.80}.")
        middle, width = self.predict(X), self.errors.width(X, coverage)
        return np.maximum(middle - width, self.lowest), middle + width

    def explain(self, X: Array, reference: Any = None, neighbourhood: float = 0.1) -> Explanation:
        """Explain the values of a regression; see :meth:`pldc.DCRegressor.explain`."""
        return explain(
            self.function,
            X,
            reference=self.reference(reference),
            features=self.feature_names,
            limits=self.cut,
            unit=self.spread,
            neighbourhood=neighbourhood,
        )

    def explain_classes(self, X: Array, reference: Any = None, neighbourhood: float = 0.1) -> ClassExplanation:
        """Explain the classes of a classification; see :meth:`pldc.DCClassifier.explain`."""
        if self.classes is None:
            raise ValueError("This model is one of a regression: it has no classes.")
        return explain_classes(
            self.functions,
            X,
            self.classes,
            reference=self.reference(reference),
            features=self.feature_names,
            unit=self.spread,
            neighbourhood=neighbourhood,
        )

    def reference(self, given: Any = None) -> ArrayLike:
        """Return the point to measure contributions from: the training mean, or as given, named numbers by name."""
        if given is None:
            return self.center
        if not hasattr(given, "keys"):
            return self._filled(real(given, "reference"))
        labels, count = list(given.keys()), len(self.center)
        names: list[Any] = list(self.feature_names or range(count))
        for order in (names, list(range(count))):
            if len(labels) == count and set(labels) == set(order):
                return self._filled(np.array([given[label] for label in order], dtype=np.float64))
        raise ValueError(f"reference must name each feature of X, {names}; it names {labels}.")

    def _remedy(self) -> str:
        """Say how a fit leaves rows out."""
        if self.kind == "program":
            return "fit with lam='cv' and at least four distinct rows"
        if self.kind == "simplified":
            return "raise max_seconds"
        return "fit at least four distinct rows, and raise max_seconds if it is given"

    def _filled(self, row: Array) -> Array:
        """Return numbers with the medians where they are missing, as for predictions."""
        if self.medians is None or row.shape != self.medians.shape:
            return row
        return np.where(np.isnan(row), self.medians, row)
