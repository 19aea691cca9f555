"""Reading a prediction: the affine function that rules at a row, feature by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import Array, IntArray, as_points
from pldc.function.total import AnyPLDC


@dataclass(frozen=True)
class Explanation:
    """Why each row has its prediction: prediction = intercept + Σ contributions, unless clipped.

    Attributes
    ----------
    features : tuple of str
        Names of the d features.
    prediction : array of shape (n,)
        What ``predict`` returns for the row.
    intercept : array of shape (n,)
        The local affine function at the reference point.
    slopes : array of shape (n, d)
        The local affine function's slope in each feature.
    contributions : array of shape (n, d)
        slope × (feature − reference), feature by feature.
    pieces : int array of shape (n, 2)
        The active piece of the plus and of the minus part; of a sum of T functions (n, 2T), all plus parts first.
    clipped : bool array of shape (n,)
        Whether the prediction was cut to the range of the training targets; the contributions of such a row
        add up to the uncut value.
    """

    features: tuple[str, ...]
    prediction: Array
    intercept: Array
    slopes: Array
    contributions: Array
    pieces: IntArray
    clipped: np.ndarray

    def __len__(self) -> int:
        return len(self.prediction)

    def to_dict(self, row: int = 0) -> dict[str, Any]:
        """Return the explanation of one row as plain Python values."""
        return {
            "prediction": float(self.prediction[row]),
            "intercept": float(self.intercept[row]),
            "clipped": bool(self.clipped[row]),
            "pieces": tuple(int(k) for k in self.pieces[row]),
            "slopes": dict(zip(self.features, self.slopes[row].tolist(), strict=True)),
            "contributions": dict(zip(self.features, self.contributions[row].tolist(), strict=True)),
        }

    def table(self, row: int = 0) -> str:
        """Return a text table of one row, largest contributions first."""
        width = max(10, *(len(name) for name in self.features))
        order = np.argsort(-np.abs(self.contributions[row]), kind="stable")
        lines = [f"{'feature':<{width}}  {'slope':>12}  {'contribution':>12}"]
        lines += [
            f"{self.features[k]:<{width}}  {self.slopes[row, k]:>12.5g}  {self.contributions[row, k]:>12.5g}"
            for k in order
        ]
        lines.append(f"{'intercept':<{width}}  {'':>12}  {self.intercept[row]:>12.5g}")
        note = "  (cut to the range of the training targets)" if self.clipped[row] else ""
        lines.append(f"{'prediction':<{width}}  {'':>12}  {self.prediction[row]:>12.5g}{note}")
        return "\n".join(lines)

    def __str__(self) -> str:
        shown = [f"row {i}\n{self.table(i)}" for i in range(min(3, len(self)))]
        if len(self) > 3:
            shown.append(f"… and {len(self) - 3} more rows")
        return "\n\n".join(shown)


@dataclass(frozen=True)
class ClassExplanation:
    """Why each row has its class and not the runner-up: margin = intercept + Σ contributions.

    Attributes
    ----------
    features : tuple of str
        Names of the d features.
    prediction, runner_up : arrays of shape (n,)
        The classes with the highest and the second highest score.
    margin : array of shape (n,)
        The score of the one less that of the other.
    intercept : array of shape (n,)
        The local affine margin at the reference point.
    slopes, contributions : arrays of shape (n, d)
        Of the margin: its slope in each feature, and slope × (feature − reference).
    """

    features: tuple[str, ...]
    prediction: np.ndarray
    runner_up: np.ndarray
    margin: Array
    intercept: Array
    slopes: Array
    contributions: Array

    def __len__(self) -> int:
        return len(self.margin)

    def to_dict(self, row: int = 0) -> dict[str, Any]:
        """Return the explanation of one row as plain Python values."""
        return {
            "prediction": self.prediction[row].item()
            if hasattr(self.prediction[row], "item")
            else self.prediction[row],
            "runner_up": self.runner_up[row].item() if hasattr(self.runner_up[row], "item") else self.runner_up[row],
            "margin": float(self.margin[row]),
            "intercept": float(self.intercept[row]),
            "slopes": dict(zip(self.features, self.slopes[row].tolist(), strict=True)),
            "contributions": dict(zip(self.features, self.contributions[row].tolist(), strict=True)),
        }

    def table(self, row: int = 0) -> str:
        """Return a text table of one row, largest contributions first."""
        width = max(10, *(len(name) for name in self.features))
        order = np.argsort(-np.abs(self.contributions[row]), kind="stable")
        lines = [f"{self.prediction[row]}, and not {self.runner_up[row]}"]
        lines.append(f"{'feature':<{width}}  {'slope':>12}  {'contribution':>12}")
        lines += [
            f"{self.features[k]:<{width}}  {self.slopes[row, k]:>12.5g}  {self.contributions[row, k]:>12.5g}"
            for k in order
        ]
        lines.append(f"{'intercept':<{width}}  {'':>12}  {self.intercept[row]:>12.5g}")
        lines.append(f"{'margin':<{width}}  {'':>12}  {self.margin[row]:>12.5g}")
        return "\n".join(lines)

    def __str__(self) -> str:
        shown = [f"row {i}: {self.table(i)}" for i in range(min(3, len(self)))]
        if len(self) > 3:
            shown.append(f"… and {len(self) - 3} more rows")
        return "\n\n".join(shown)


def explain_classes(
    functions: Sequence[AnyPLDC],
    X: ArrayLike,
    classes: np.ndarray,
    reference: ArrayLike | None = None,
    features: Sequence[str] | None = None,
) -> ClassExplanation:
    """Explain at each row of `X` by how much, and by what, the highest of the scores leads the second.

    Parameters
    ----------
    functions : sequence of PLDC, WarpedPLDC or PLDCSum
        The scores.
    X : array of shape (n, d)
    classes : array
        The label of each score.
    reference : array of shape (d,), optional
        Where contributions are measured from; the origin if not given.
    features : sequence of str, optional
        Names; x0, x1, … if not given.
    """
    each = [explain(f, X, reference, features) for f in functions]
    scores = np.array([e.prediction for e in each])
    order = np.argsort(-scores, axis=0, kind="stable")
    first, second, at = order[0], order[1], np.arange(scores.shape[1])

    def lead(values: Array) -> Array:
        return np.asarray(values[first, at] - values[second, at])

    return ClassExplanation(
        features=each[0].features,
        prediction=classes[first],
        runner_up=classes[second],
        margin=lead(scores),
        intercept=lead(np.array([e.intercept for e in each])),
        slopes=lead(np.array([e.slopes for e in each])),
        contributions=lead(np.array([e.contributions for e in each])),
    )


def explain(
    function: AnyPLDC,
    X: ArrayLike,
    reference: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> Explanation:
    """Explain the value of `function` at each row of `X` by its local affine function.

    Parameters
    ----------
    function : PLDC, WarpedPLDC or PLDCSum
    X : array of shape (n, d)
    reference : array of shape (d,), optional
        Where contributions are measured from; the origin if not given.
    features : sequence of str, optional
        Names; x0, x1, … if not given.
    limits : (float, float)
        Range the prediction is cut to.
    """
    points = as_points(X, function.n_features)
    origin = np.zeros(function.n_features) if reference is None else np.asarray(reference, dtype=np.float64)
    if origin.shape != (function.n_features,):
        raise ValueError(f"reference must have shape ({function.n_features},), got {origin.shape}.")
    if not np.isfinite(origin).all():
        raise ValueError("reference must be finite; it contains NaN or infinity.")
    names = tuple(f"x{k}" for k in range(function.n_features)) if features is None else tuple(map(str, features))
    if len(names) != function.n_features:
        raise ValueError(f"The function has {function.n_features} features, got {len(names)} names.")
    local = function.local(points)
    value = function(points)
    prediction = np.clip(value, *limits)
    return Explanation(
        features=names,
        prediction=prediction,
        intercept=local.intercept + local.slope @ origin,
        slopes=local.slope,
        contributions=local.slope * (points - origin),
        pieces=np.column_stack([local.plus, local.minus]),
        clipped=prediction != value,
    )
