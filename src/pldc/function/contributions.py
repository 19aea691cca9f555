"""Why a row differs from a reference, or from many: what each column contributes to the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.function.explain import row_of
from pldc.function.max_affine import Array, IntArray
from pldc.function.numbers import Printed, numbers, table, verdict
from pldc.function.path import mean_path_contributions
from pldc.function.pldc import PLDC
from pldc.function.shapley import shapley_values

METHODS = ("path", "shapley")


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Printed):
    """What each column contributes: prediction = baseline + Σ contributions, unless clipped.

    Attributes
    ----------
    features : tuple of str
        Names of the g columns.
    prediction : array of shape (n,)
        What ``predict`` returns for the row; of classes the margin, by which the class leads the runner-up.
    baseline : array of shape (n,)
        The function, or that margin, at the reference; the mean of several.
    contributions : array of shape (n, g)
    clipped : bool array of shape (n,)
        Whether the prediction was cut to the range of the training targets; the contributions of such a row add up to
        the uncut value.
    method : {"path", "shapley"}
    n_references : int
    labels : array of shape (n, 2) or None
        The class and the runner-up.
    """

    features: tuple[str, ...]
    prediction: Array
    baseline: Array
    contributions: Array
    clipped: np.ndarray
    method: str
    n_references: int
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.prediction)

    def to_dict(self, row: int = 0) -> dict[str, Any]:
        """Return the contributions to one row as plain Python values."""
        row = row_of(self, row)
        labels = (
            {} if self.labels is None else dict(zip(("class", "runner_up"), self.labels[row].tolist(), strict=True))
        )
        return labels | {
            "prediction": float(self.prediction[row]),
            "baseline": float(self.baseline[row]),
            "clipped": bool(self.clipped[row]),
            "contributions": dict(zip(self.features, self.contributions[row].tolist(), strict=True)),
        }

    def table(self, row: int = 0) -> str:
        """Return a text table of one row, largest contributions first."""
        row = row_of(self, row)
        order = np.argsort(-np.abs(self.contributions[row]), kind="stable")
        shown = numbers([*self.contributions[row, order], self.baseline[row], self.prediction[row]])
        result = "prediction" if self.labels is None else "margin"
        names = [*(self.features[k] for k in order), "reference" if self.n_references == 1 else "references", result]
        lines = table(["column", "contribution"], [list(pair) for pair in zip(names, shown, strict=True)])
        if self.labels is not None:
            lines.insert(0, verdict(*self.labels[row].tolist()))
        if self.clipped[row]:
            lines[-1] += "  (cut to the range of the training targets)"
        return "\n".join(lines)

    def __str__(self) -> str:
        shown = [f"row {i}\n{self.table(i)}" for i in range(min(3, len(self)))]
        if len(self) > 3:
            shown.append(f"… and {len(self) - 3} more rows")
        return "\n\n".join(shown)


def contributions(
    function: PLDC,
    points: Array,
    references: Array,
    method: str = "path",
    names: Sequence[str] | None = None,
    source: IntArray | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> Contributions:
    """Share f(x) − f(reference) among the columns, at each row of `points`; the mean over all references.

    Parameters
    ----------
    function : PLDC
    points : array of shape (n, d)
    references : array of shape (m, d)
    method : {"path", "shapley"}
        "path": the slopes along the straight way from the reference, added up. "shapley": Shapley values, for at most
        12 columns.
    names : sequence of str, optional
        Of the columns.
    source : int array of shape (d,), optional
        The column of each feature; by default each its own.
    limits : (float, float)
        Range the prediction is cut to.
    """
    source, names = _columns(function, source, names)
    value = function(points)
    return Contributions(
        features=tuple(names),
        prediction=np.clip(value, *limits),
        baseline=np.full(len(points), function(references).mean()),
        contributions=_shares(function, points, references, method, source),
        clipped=(value < limits[0]) | (value > limits[1]),
        method=method,
        n_references=len(references),
    )


def class_contributions(
    functions: Sequence[PLDC],
    points: Array,
    references: Array,
    classes: np.ndarray,
    method: str = "path",
    names: Sequence[str] | None = None,
    source: IntArray | None = None,
) -> Contributions:
    """Share the margin, by which the highest score leads the second, less that at the references, among the columns."""
    source, names = _columns(functions[0], source, names)
    scores = np.array([f(points) for f in functions])
    first, second = np.argsort(-scores, axis=0, kind="stable")[:2]
    at = np.arange(len(points))
    base = np.array([f(references).mean() for f in functions])
    shares = np.array([_shares(f, points, references, method, source) for f in functions])
    return Contributions(
        features=tuple(names),
        prediction=scores[first, at] - scores[second, at],
        baseline=base[first] - base[second],
        contributions=shares[first, at] - shares[second, at],
        clipped=np.zeros(len(points), dtype=bool),
        method=method,
        n_references=len(references),
        labels=np.column_stack([classes[first], classes[second]]),
    )


def _columns(function: PLDC, source: IntArray | None, names: Sequence[str] | None) -> tuple[IntArray, Sequence[str]]:
    source = np.arange(function.n_features) if source is None else source
    return source, [f"x{k}" for k in range(int(source.max()) + 1)] if names is None else names


def _shares(function: PLDC, points: Array, references: Array, method: str, source: IntArray) -> Array:
    if method == "shapley":
        return shapley_values(function, points, references, source)
    each = mean_path_contributions(function, points, references)
    out = np.zeros((len(points), int(source.max()) + 1))
    np.add.at(out.T, source, each.T)
    return out
