"""Max-affine functions: the convex half of everything that is learned."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pldc.function.checks import whole

Array = NDArray[Any]
IntArray = NDArray[np.intp]

ROUNDING = 1e-12  # slopes that differ by less, relative to their size, are one slope
# Numbers in one rows × pieces tile: half a MiB of float64, so that a tile is reduced while it is still in cache.
TILE = 1 << 16
MOST_FEATURES = 10**7
THREADED_NUMBERS, MOST_THREADS = 1 << 24, 4  # rows × pieces from which an evaluation is worth threads, and how many


def real(values: Any, name: str) -> Array:
    """Return `values` as a float64 array; complex numbers, masks and numbers beyond all floats are refused."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} is a masked array with values that are missing: fill or drop them first.")
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} must be finite; it holds a whole number beyond all floats.") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error!s:.100}.") from None
    raise ValueError(f"{name} must hold real numbers; it is complex.")


def number(value: Any) -> float:
    """Return a real number as a float."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError("A finite number is needed, got a whole number beyond all floats.") from None
    except (TypeError, ValueError):
        raise TypeError(f"A number is needed, got {type(value).__name__}.") from None


def frozen(values: ArrayLike, ndim: int, name: str) -> Array:
    """Return `values` as a read-only, contiguous float64 array of `ndim` dimensions without NaN or infinity."""
    array = np.array(real(values, name), order="C") + 0.0  # −0.0 becomes 0.0: equal numbers, equal bytes
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got an array of shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; it contains NaN or infinity.")
    array.setflags(write=False)
    return array


def as_points(X: ArrayLike, n_features: int) -> Array:
    """Return `X` as a float64 array of shape (rows, `n_features`)."""
    points = real(X, "X")
    if points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError(
            f"Expected points of shape (rows, {n_features}), got {points.shape}. "
            "A single point x is passed as x[None, :]."
        )
    return points


@dataclass(frozen=True, eq=False)
class MaxAffine:
    """The convex function x ↦ max_k ⟨slopes[k], x⟩ + offsets[k].

    Parameters
    ----------
    slopes : array of shape (k, d)
        One row a piece.
    offsets : array of shape (k,)
        The value of each piece at the origin.

    Notes
    -----
    Both arrays are copied and made read-only. Evaluation walks over tiles of rows, so memory stays bounded
    however many points are given; each tile is one BLAS product.

    Examples
    --------
    >>> absolute = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
    >>> absolute([[-3.0], [2.0]])
    array([3., 2.])
    """

    slopes: Array
    offsets: Array

    def __post_init__(self) -> None:
        slopes = frozen(self.slopes, 2, "slopes")
        offsets = frozen(self.offsets, 1, "offsets")
        if len(slopes) != len(offsets):
            raise ValueError(f"{len(slopes)} slopes but {len(offsets)} offsets: every piece needs one of each.")
        if len(slopes) == 0:
            raise ValueError("A max-affine function needs at least one piece.")
        object.__setattr__(self, "slopes", slopes)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def zero(cls, n_features: int) -> MaxAffine:
        """Return the function that is zero everywhere."""
        return cls(np.zeros((1, whole("n_features", n_features, 1, most=MOST_FEATURES))), np.zeros(1))

    @property
    def n_pieces(self) -> int:
        """Number of affine pieces stored."""
        return len(self.offsets)

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return int(self.slopes.shape[1])

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        points = as_points(X, self.n_features)
        out = np.empty(len(points))

        def work(block: slice) -> None:
            into = out[block]
            for rows, tile in self._tiles(points[block]):
                tile.max(axis=1, out=into[rows])

        # The product has the threads of the BLAS, the maximum has none: for many rows, blocks of them on a few threads.
        count = min(os.cpu_count() or 1, MOST_THREADS) if len(points) * self.n_pieces >= THREADED_NUMBERS else 1
        edges = [len(points) * k // count for k in range(count + 1)]
        blocks = [slice(start, stop) for start, stop in pairwise(edges)]
        if count == 1:
            work(blocks[0])
        else:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(work, blocks))
        return out

    def active(self, X: ArrayLike) -> IntArray:
        """Index of a piece that attains the maximum at each row of `X` (the first one, where several do)."""
        points = as_points(X, self.n_features)
        out = np.empty(len(points), dtype=np.intp)
        for rows, tile in self._tiles(points):
            tile.argmax(axis=1, out=out[rows])
        return out

    def gradient(self, X: ArrayLike) -> Array:
        """Return a subgradient at each row of `X`: the slope of the active piece; NaN where a row is not finite."""
        points = as_points(X, self.n_features)
        finite = np.isfinite(points).all(axis=1, keepdims=True)
        return np.where(finite, self.slopes[self.active(np.where(finite, points, 0.0))], np.nan)

    def minimum_over(self, bounds: Any = None, **constraints: Any) -> Any:
        """Find the minimum over a polytope: one linear program; constraints as for :meth:`PLDC.minimize`."""
        from pldc.function.optimize import minimum, polytope

        return minimum(self, MaxAffine.zero(self.n_features), polytope(self.n_features, bounds, **constraints))

    def _tiles(self, points: Array) -> Iterator[tuple[slice, Array]]:
        """Yield (rows, values of all pieces at these rows); a tile is overwritten by the next one."""
        step = min(max(1, TILE // self.n_pieces), max(len(points), 1))
        buffer = np.empty((step, self.n_pieces))
        lifted = np.ones((step, self.n_features + 1))  # (x, 1): the product adds the offsets, too
        for start in range(0, len(points), step):
            rows = slice(start, min(start + step, len(points)))
            count = rows.stop - start
            lifted[:count, :-1] = points[rows]
            yield rows, np.matmul(lifted[:count], self._matrix, out=buffer[:count])

    @cached_property
    def _matrix(self) -> Array:
        """Slopes and offsets, one column a piece."""
        return np.ascontiguousarray(np.column_stack([self.slopes, self.offsets]).T)

    def __eq__(self, other: Any) -> bool:
        """Equal pieces in equal order (a sufficient condition for equal values)."""
        if not isinstance(other, MaxAffine):
            return NotImplemented
        return np.array_equal(self.slopes, other.slopes) and np.array_equal(self.offsets, other.offsets)

    def __hash__(self) -> int:
        return hash((self.slopes.tobytes(), self.offsets.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return MaxAffine, (self.slopes, self.offsets)  # copies are checked and read-only, too

    def __repr__(self) -> str:
        return f"MaxAffine({self.n_pieces} pieces in {self.n_features} dimensions)"
