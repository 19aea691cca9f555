"""A PLDC function through any finite data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from pldc.function.max_affine import Array, IntArray, MaxAffine, real
from pldc.function.pldc import PLDC
from pldc.function.term_sum import split_center

TOO_CLOSE = "Some points are so close that their distance is lost in rounding: merge or rescale them."
BLOCK_NUMBERS = 1 << 22  # squared distances that are held at once


@dataclass(frozen=True, eq=False)
class Interpolability:
    """Whether a function can take given values at given points; true or false as a condition.

    Attributes
    ----------
    conflicts : int array of shape (c, 2)
        Pairs of rows with equal x and different y; empty where the data can be interpolated.
    z : array of shape (n,) or None
        Values of the minus part at the rows; those of the plus part are ``y + z``.
    a, b : arrays of shape (n, d) or None
        Subgradients of the plus and the minus part at the rows. With z they witness that both parts are convex:
        ``(y + z)[i] - (y + z)[j] ≥ ⟨a[j], X[i] - X[j]⟩`` and ``z[i] - z[j] ≥ ⟨b[j], X[i] - X[j]⟩`` for all i and j.
    curvature : float
        The constant C of the construction; infinite where there are conflicts.
    """

    conflicts: IntArray
    z: Array | None
    a: Array | None
    b: Array | None
    curvature: float

    def __bool__(self) -> bool:
        return len(self.conflicts) == 0


def can_interpolate(X: ArrayLike, y: ArrayLike) -> Interpolability:
    """Say whether a PLDC function passes through all rows of (X, y), with witnesses.

    It does unless rows with equal x have different y. The witnesses are those of the quadratic construction of
    :func:`interpolate`.

    Examples
    --------
    >>> bool(can_interpolate([[0.0], [1.0]], [1.0, 2.0]))
    True
    >>> can_interpolate([[0.0], [1.0], [1.0]], [1.0, 2.0, 3.0]).conflicts
    array([[1, 2]])
    """
    points, targets = _checked(X, y)
    conflicts = _conflicts(points, targets)
    if len(conflicts):
        return Interpolability(conflicts, None, None, None, np.inf)
    C = _curvature(points, targets)
    slopes = C * (points - _middle(points))
    return Interpolability(conflicts, _paraboloid(points, C) - 0.5 * targets, slopes, slopes, C)


def interpolate(X: ArrayLike, y: ArrayLike) -> PLDC:
    """Return a PLDC function that passes through all rows of (X, y), by adding and subtracting a paraboloid.

    With C the largest ``|y_i - y_j| / ‖x_i - x_j‖²`` and points measured from the middle of their range, the parts are
    ``max_i C ⟨x_i, x - x_i⟩ + C ‖x_i‖² / 2 ± y_i / 2``: no optimisation, at the price of a large seminorm, at most
    ``2 C max_i ‖x_i‖₁``. :func:`pldc.interpolate` with ``method="minimal"`` finds the smallest one.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)

    Raises
    ------
    ValueError
        Where rows with equal x have different y; it names them.

    Examples
    --------
    >>> f = interpolate([[0.0], [1.0], [3.0]], [1.0, 0.0, 2.0])
    >>> f([[0.0], [1.0], [3.0]]).round(12)
    array([1., 0., 2.])
    """
    points, targets = _checked(X, y)
    witness = can_interpolate(points, targets)
    if not witness:
        raise ValueError(_names(witness.conflicts, targets))
    assert witness.a is not None and witness.z is not None
    points, first = np.unique(points, axis=0, return_index=True)
    slopes, z, targets = witness.a[first], witness.z[first], targets[first]
    _, away = split_center(_middle(points), np.ptp(points, axis=0))
    offsets = z - np.einsum("ij,ij->i", slopes, points - away)
    f = PLDC(MaxAffine(slopes, offsets + targets), MaxAffine(slopes, offsets)).moved(away)
    error = float(np.abs(f(points) - targets).max())
    if error > 1e-6 * float(np.ptp(targets)):
        warnings.warn(
            f"Rounding leaves errors of up to {error:.2g} at the rows: merge rows that nearly coincide.",
            RuntimeWarning,
            stacklevel=2,
        )
    return f


def _checked(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    points, targets = real(X, "X"), real(y, "y")
    if points.ndim != 2 or 0 in points.shape:
        raise ValueError(f"X must have the shape (rows, features), with at least one of each; got {points.shape}.")
    if targets.shape != (len(points),):
        raise ValueError(f"y must have the shape ({len(points)},), a number for each row of X; got {targets.shape}.")
    if not (np.isfinite(points).all() and np.isfinite(targets).all()):
        raise ValueError("X and y must be finite; they contain NaN or infinity. Drop or impute these rows.")
    return points, targets


def _conflicts(points: Array, targets: Array) -> IntArray:
    """Pairs of rows with equal x and different y: each row that differs, with the first of its group."""
    _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
    original = first[group.ravel()]
    differs = np.flatnonzero(targets != targets[original])
    return np.column_stack([original[differs], differs])


def _names(conflicts: IntArray, targets: Array) -> str:
    shown = ", ".join(f"rows {i} and {j} (y = {targets[i]:g} and {targets[j]:g})" for i, j in conflicts[:5])
    more = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
    return (
        f"No function passes through rows with equal x and different y: {shown}{more}. "
        "Average such rows first, or fit with DCRegressor, which smooths."
    )


def _middle(points: Array) -> Array:
    return 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)


def _paraboloid(points: Array, C: float) -> Array:
    centred = points - _middle(points)
    return 0.5 * C * np.einsum("ij,ij->i", centred, centred)


def _curvature(points: Array, targets: Array) -> float:
    """Return the largest |y_i − y_j| / ‖x_i − x_j‖² over distinct points, a block of rows at a time."""
    largest, step = 0.0, max(1, BLOCK_NUMBERS // len(points))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        squares = cdist(points[rows], points, "sqeuclidean")
        rise = np.abs(targets[rows, None] - targets)
        if ((squares == 0) & (rise > 0)).any():
            raise ValueError(TOO_CLOSE)
        largest = max(largest, float(np.divide(rise, squares, out=np.zeros_like(rise), where=squares > 0).max()))
    if not np.isfinite(largest):
        raise ValueError(TOO_CLOSE)
    return largest
