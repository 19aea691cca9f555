"""Features bent at knots: with them each piece of a function is a sum of one-dimensional curves.

Hinges map a row x to x itself and, for every feature and each interval [a, b] between its knots, to the ramp

    clip((x_j − a) / (b − a), 0, 1),

which rises by one across the interval and is flat elsewhere. An affine function of these is a sum of curves, one a
feature, with bends at the knots; a maximum of such sums less another is piecewise linear in x. With one piece it is an
additive model; with more, its curves differ from regime to regime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import ROUNDING, Array, IntArray, as_points, frozen


@dataclass(frozen=True, eq=False, repr=False)
class Hinges:
    """The map x ↦ (x, ramps between the knots of each feature).

    Parameters
    ----------
    knots : sequence of d arrays
        For each feature none, or two and more, increasing.

    Examples
    --------
    >>> Hinges([[0.0, 1.0, 3.0]])([[-1.0], [0.5], [2.0]])
    array([[-1. ,  0. ,  0. ],
           [ 0.5,  0.5,  0. ],
           [ 2. ,  1. ,  0.5]])
    """

    knots: Sequence[Array]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", tuple(frozen(k, 1, "knots") for k in self.knots))
        if not self.knots:
            raise ValueError("Hinges need the knots of at least one feature.")
        for each in self.knots:
            if len(each) == 1 or not (np.diff(each) > 0).all():
                raise ValueError("The knots of a feature must be none, or two and more, and increasing.")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.knots)

    @property
    def n_columns(self) -> int:
        """Number of columns that they are mapped to."""
        return self.n_features + int(sum(len(k) - 1 for k in self.knots if len(k)))

    def __call__(self, X: ArrayLike) -> Array:
        """Map the rows of `X`."""
        points = as_points(X, self.n_features)
        out = np.empty((len(points), self.n_columns))
        out[:, : self.n_features] = points
        with np.errstate(over="ignore"):  # far away a ramp is 0 or 1 all the same
            np.clip((points[:, self.source] - self.start) / self.width, 0.0, 1.0, out=out[:, self.n_features :])
        return out

    @property
    def source(self) -> IntArray:
        """The feature of each ramp."""
        return np.repeat(np.arange(self.n_features), [max(len(k) - 1, 0) for k in self.knots])

    @property
    def start(self) -> Array:
        """Where each ramp begins."""
        return np.concatenate([k[:-1] for k in self.knots])

    @property
    def width(self) -> Array:
        """How long each ramp is."""
        return np.concatenate([np.diff(k) for k in self.knots])

    def cells(self, X: Array) -> IntArray:
        """Number of the interval between knots that each x_j lies in, shape (n, d); at a knot, that to its right."""
        return np.column_stack([np.searchsorted(k, x, side="right") for x, k in zip(X.T, self.knots, strict=True)])

    def rising(self, X: Array) -> Array:
        """Derivative of each ramp along its feature at the rows of X, shape (n, ramps)."""
        cell = self.cells(X)
        number = np.concatenate([np.arange(max(len(k) - 1, 0)) for k in self.knots])
        return (cell[:, self.source] == number + 1) / self.width

    def fold(self, columns: Array) -> Array:
        """Add up columns of ramps (…, ramps) feature by feature: (…, d)."""
        out = np.zeros((*columns.shape[:-1], self.n_features))
        for j in np.unique(self.source):
            out[..., j] = columns[..., self.source == j].sum(axis=-1)
        return out

    def slopes(self, pieces: Array) -> list[Array]:
        """Slopes along each feature of pieces (k, columns), interval by interval, with the open ends: (k, cells)."""
        out = []
        for j, knots in enumerate(self.knots):
            linear = pieces[:, [j]]
            inside = pieces[:, self.n_features :][:, self.source == j] / np.diff(knots) if len(knots) else linear[:, :0]
            out.append(np.hstack([linear, linear + inside, linear]) if len(knots) else linear)
        return out

    def within(self, X: Array, unit: Array) -> Array:
        """The unit of each feature in the column of the interval that x_j lies in, else 0; columns as of `slopes`."""
        count = [len(k) + 1 for k in self.knots]
        out = np.zeros((len(X), sum(count)))
        np.put_along_axis(out, self.cells(X) + np.cumsum([0, *count[:-1]]), unit[None], axis=1)
        return out

    def nearest_bend(self, X: Array, curves: Sequence[Array], unit: Array) -> Array:
        """Distance of each row to the nearest knot at which a curve bends, in units of the features; ∞ if none does.

        Curves are slopes (pieces, cells) of each feature. Where all pieces bend alike, that cancels in a difference.
        """
        out = np.full(len(X), np.inf)
        for x, knots, slopes, size in zip(X.T, self.knots, curves, unit, strict=True):
            change = np.ptp(np.diff(slopes, axis=1), axis=0)
            at = knots[change > ROUNDING * np.abs(slopes).max()]
            if len(at) and size > 0:
                right = np.searchsorted(at, x)
                gaps = (np.abs(x - at[np.clip(right - side, 0, len(at) - 1)]) for side in (0, 1))
                with np.errstate(over="ignore"):  # far away
                    np.minimum(out, np.minimum(*gaps) / size, out=out)
        return out

    def scaled(self, size: Array, shift: Array) -> Hinges:
        """Return the hinges of x that bend where these do at size · x + shift; sizes are positive."""
        return Hinges([(k - b) / a for k, a, b in zip(self.knots, size, shift, strict=True)])

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Hinges):
            return NotImplemented
        pairs = zip(self.knots, other.knots, strict=False)
        return self.n_features == other.n_features and all(np.array_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(tuple(k.tobytes() for k in self.knots))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hinges, (self.knots,)  # copies are checked and read-only, too

    def __repr__(self) -> str:
        return f"Hinges({len(self.source)} ramps of {self.n_features} features)"
