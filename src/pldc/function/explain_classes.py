"""Reading a class: why it and not the runner-up, feature by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.explain import Explained, explain, row_of, slope_table
from pldc.function.max_affine import Array, IntArray, as_points
from pldc.function.numbers import verdict
from pldc.function.pldc import PLDC


@dataclass(frozen=True, eq=False, repr=False)
class ClassExplanation(Explained):
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
        Of the margin: its slope in each feature, and slope × (feature − reference). Positive ones speak for the class.
    room : array of shape (n,)
        How far from the row both scores are affine: 0 on a kink, ∞ if everywhere.
    averaged : bool array of shape (n,)
        Whether a kink of one of them is closer than `neighbourhood`, so that its slopes are means. The intercept is
        such that the contributions still add up.
    neighbourhood : float
        Radius of the ball that means are taken over.
    measure : str
        What `room` and `neighbourhood` are counted in.
    unit : array of shape (d,) or None
        Spread of each feature.
    """

    features: tuple[str, ...]
    prediction: np.ndarray
    runner_up: np.ndarray
    margin: Array
    intercept: Array
    slopes: Array
    contributions: Array
    room: Array
    averaged: np.ndarray
    neighbourhood: float
    measure: str
    unit: Array | None = None
    _head = "row {}: {}"

    def to_dict(self, row: int = 0) -> dict[str, Any]:
        """Return the explanation of one row as plain Python values."""
        row = row_of(self, row)
        first, second = (label[[row]].tolist()[0] for label in (self.prediction, self.runner_up))
        return {
            "prediction": first,
            "runner_up": second,
            "margin": float(self.margin[row]),
            "intercept": float(self.intercept[row]),
            "room": float(self.room[row]),
            "averaged": bool(self.averaged[row]),
            "reach": self.reach(row),
            "slopes": dict(zip(self.features, self.slopes[row].tolist(), strict=True)),
            "contributions": dict(zip(self.features, self.contributions[row].tolist(), strict=True)),
        }

    def table(self, row: int = 0) -> str:
        """Return a text table of one row, largest contributions first."""
        row = row_of(self, row)
        lines = [verdict(self.prediction[row], self.runner_up[row])]
        lines += slope_table(self, row, {"intercept": self.intercept[row], "margin": self.margin[row]})
        lines.append(f"slopes {self.reach(row)}")
        return "\n".join(lines)


class Ranked(NamedTuple):
    """Scores at rows, and which of them are the highest and the second."""

    functions: list[PLDC]
    labels: np.ndarray
    points: Array
    first: IntArray
    second: IntArray
    lead: Array


def ranked(functions: Any, X: ArrayLike, classes: Any) -> Ranked:
    """Return scores and labels, if they go together, and who leads whom by how much at the rows of X."""
    scores, labels = list(functions), np.asarray(classes)
    if not all(isinstance(f, PLDC) for f in scores):
        raise TypeError("The scores must be PLDCs, such as model.functions_.")
    if len(scores) < 2 or labels.shape != (len(scores),):
        raise ValueError(f"There must be two scores or more, and a label for each; got {len(scores)}.")
    points = as_points(X, scores[0].n_features)
    values = np.array([f(points) for f in scores])
    first, second = np.argsort(-values, axis=0, kind="stable")[:2]
    at = np.arange(len(points))
    return Ranked(scores, labels, points, first, second, np.asarray(values[first, at] - values[second, at]))


def explain_classes(
    functions: Sequence[PLDC],
    X: ArrayLike,
    classes: np.ndarray,
    reference: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    unit: ArrayLike | None = None,
    neighbourhood: float = 0.1,
) -> ClassExplanation:
    """Explain at each row of `X` by how much, and by what, the highest of the scores leads the second.

    Parameters
    ----------
    functions : sequence of PLDC
        The scores.
    X : array of shape (n, d)
    classes : array
        The label of each score.
    reference : array of shape (d,), optional
        Where contributions are measured from; the origin if not given.
    features : sequence of str, optional
        Names; x0, x1, … if not given.
    unit, neighbourhood
        As for :func:`explain`: next to a kink of one of both scores, its slopes are means.
    """
    functions, labels, points, first, second, lead = ranked(functions, X, classes)
    n, d = points.shape
    intercept, slopes, contributions = np.zeros(n), np.zeros((n, d)), np.zeros((n, d))
    room, averaged = np.full(n, np.inf), np.zeros(n, dtype=bool)
    for k, f in enumerate(functions):
        for place, sign in ((first, 1.0), (second, -1.0)):
            at = place == k
            if not at.any() and (k or sign < 0):  # the first is asked for names, and to check the rest
                continue
            own = explain(f, points[at], reference, features, unit=unit, neighbourhood=neighbourhood)
            intercept[at] += sign * own.intercept
            slopes[at] += sign * own.slopes
            contributions[at] += sign * own.contributions
            room[at] = np.minimum(room[at], own.room)
            averaged[at] |= own.averaged
            names, measure, spread = own.features, own.measure, own.unit
    return ClassExplanation(
        features=names,
        prediction=labels[first],
        runner_up=labels[second],
        margin=lead,
        intercept=intercept,
        slopes=slopes,
        contributions=contributions,
        room=room,
        averaged=averaged,
        neighbourhood=float(neighbourhood),
        measure=measure,
        unit=spread,
    )
