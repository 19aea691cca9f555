"""PLDC: a piecewise-linear function written as a difference of two max-affine functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import algebra
from pldc.function.max_affine import TILE, Array, IntArray, MaxAffine, as_points
from pldc.function.optimize import Optimum, minimum, never_falls, opposite, polytope, steepest
from pldc.function.prune import drop_dominated, prune_exact, prune_on
from pldc.function.regions import Regions, group
from pldc.function.seminorm import Norm, bound_over_active_pairs, bound_over_all_pairs

ROUNDING = 1e-12  # slopes that differ by less, relative to their size, are one slope


@dataclass(frozen=True)
class LocalModel:
    """The affine functions that rule at given points: f(x) = ⟨slope, x⟩ + intercept around each.

    Attributes
    ----------
    plus, minus : int arrays of shape (n,)
        The active piece of each part.
    slope : array of shape (n, d)
    intercept : array of shape (n,)
        The value of the local affine function at the origin.
    """

    plus: IntArray
    minus: IntArray
    slope: Array
    intercept: Array


@dataclass(frozen=True)
class PLDC:
    """The function x ↦ plus(x) − minus(x), both parts max-affine. Every piecewise-linear function is one.

    Supports ``f + g``, ``f - g``, ``-f``, ``c * f``, ``f / c``, ``abs(f)``, adding a number, ``f.maximum(g)``,
    ``f.minimum(g)`` and ``f.compose(matrix, vector)``; all exact. Immutable.

    Parameters
    ----------
    plus, minus : MaxAffine
        The convex parts.

    Examples
    --------
    >>> plus = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
    >>> minus = MaxAffine([[2.0], [0.0]], [-2.0, 0.0])
    >>> hat = PLDC(plus, minus)
    >>> hat([[-1.0], [0.0], [1.0], [2.0]])
    array([1., 0., 1., 0.])
    """

    plus: MaxAffine
    minus: MaxAffine

    def __post_init__(self) -> None:
        algebra.same_domain(self.plus, self.minus)

    @classmethod
    def affine(cls, slope: ArrayLike, intercept: float = 0.0) -> PLDC:
        """Return the affine function x ↦ ⟨slope, x⟩ + intercept."""
        row = np.asarray(slope, dtype=np.float64)[None]
        if row.ndim != 2:
            raise ValueError(f"slope must be a vector, got an array of shape {row.shape[1:]}.")
        return cls(MaxAffine(row, np.array([intercept])), MaxAffine.zero(row.shape[1]))

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.plus.n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus part."""
        return self.plus.n_pieces, self.minus.n_pieces

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        points = as_points(X, self.n_features)
        return self.plus(points) - self.minus(points)

    def gradient(self, X: ArrayLike) -> Array:
        """Slope of the affine function that rules at each row of `X`, shape (n, d)."""
        return self.local(X).slope

    def local(self, X: ArrayLike) -> LocalModel:
        """Return the active pieces, slope and intercept at each row of `X`."""
        points = as_points(X, self.n_features)
        k, l = self.plus.active(points), self.minus.active(points)
        return LocalModel(
            plus=k,
            minus=l,
            slope=self.plus.slopes[k] - self.minus.slopes[l],
            intercept=self.plus.offsets[k] - self.minus.offsets[l],
        )

    def room(self, X: ArrayLike, unit: ArrayLike) -> Array:
        """Distance from each row of `X` within which f is affine: to where another piece of a part takes over.

        Parameters
        ----------
        X : array of shape (n, d)
        unit : array of shape (d,)
            Distances are Euclidean, in features divided by these. A feature with 0 stays where it is.

        Returns
        -------
        array of shape (n,)
            0 on a kink; ∞ where f is affine everywhere. Never too large. Too small only where bends cancel.

        Examples
        --------
        >>> abs(PLDC.affine([1.0])).room([[-3.0], [0.0]], unit=[2.0])
        array([1.5, 0. ])
        """
        points, weight = as_points(X, self.n_features), as_unit(unit, self.n_features)[None]
        plus, minus = (takeover(part, points, part.slopes, weight) for part in (self.plus, self.minus))
        return np.minimum(plus, minus)

    def seminorm_bound(self, norm: Norm = "joint", active_pairs: bool = False) -> float:
        """Upper bound on the DC seminorm, proved by this decomposition.

        Parameters
        ----------
        norm : {"joint", "componentwise"}
            joint: the supremum of ‖v₁‖₁ + ‖v₂‖₁ over subgradients (the paper's seminorm); componentwise: the
            sum over coordinates of the supremum of ``|v₁ₖ| + |v₂ₖ|``.
        active_pairs : bool, default=False
            False takes the largest slope of each part, at once. True counts only pairs of pieces that are
            active together somewhere; tighter, and costs linear programs.
        """
        bound = bound_over_active_pairs if active_pairs else bound_over_all_pairs
        return bound(self.plus, self.minus, norm)

    def prune(self, X: ArrayLike | None = None, tol: float | None = None) -> PLDC:
        """Drop pieces that are not needed.

        Parameters
        ----------
        X : array of shape (n, d), optional
            Not given: keep exactly the pieces that rise above the others somewhere in space, found by linear programs;
            values are unchanged everywhere. Given: keep pieces enough to reproduce the values at the rows of X; values
            elsewhere may change.
        tol : float, optional
            Without X (default 1e-9): how far a piece must rise above the others to count, relative to the scale of the
            offsets. With X (default 0): how much each part may change at the rows of X, relative to the range of f
            there; 1e-3 often leaves a small fraction of the pieces.
        """
        if X is None:
            tol = 1e-9 if tol is None else tol
            return PLDC(prune_exact(self.plus, tol), prune_exact(self.minus, tol))
        points = as_points(X, self.n_features)
        if len(points) == 0:
            raise ValueError("prune(X) needs at least one row: no piece is active on an empty X.")
        if not np.isfinite(points).all():
            raise ValueError("X must be finite; it contains NaN or infinity.")
        tol = 0.0 if tol is None else tol
        if not (tol >= 0 and np.isfinite(tol)):
            raise ValueError(f"tol must be ≥ 0, got {tol}: a finite number is needed.")
        allowed = tol * float(np.ptp(self(points)))
        return PLDC(prune_on(self.plus, points, allowed), prune_on(self.minus, points, allowed))

    def regions(self, X: ArrayLike) -> Regions:
        """Group the rows of `X` by the pieces that rule there: how many rows each region has, and its slopes.

        A fit has about a piece for every row; ``f.prune(X, tol=1e-2)`` first gives few regions that say the same.

        Examples
        --------
        >>> f = abs(PLDC.affine([1.0]))
        >>> print(f.regions([[-2.0], [-1.0], [3.0]]).to_text(["x"]))
        region  rows  share  intercept   x
             0     2    67%          0  -1
             1     1    33%          0   1
        """
        points = as_points(X, self.n_features)
        local = self.local(points)
        return group(points, self._region_keys(points), local.slope, local.intercept)

    def _region_keys(self, points: Array) -> Array:
        """Equal rows for points in one region."""
        return np.column_stack([self.plus.active(points), self.minus.active(points)])

    def minimize(
        self,
        bounds: Any = None,
        A_ub: ArrayLike | None = None,
        b_ub: ArrayLike | None = None,
        A_eq: ArrayLike | None = None,
        b_eq: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> Optimum:
        """Find the global minimum over a polytope: exact, by at most one linear program for each piece of `minus`.

        Parameters
        ----------
        bounds : sequence of d pairs (low, high), optional
            None, for a side, where there is none; by default there are none at all.
        A_ub, b_ub, A_eq, b_eq : arrays, optional
            ``A_ub @ x ≤ b_ub`` and ``A_eq @ x = b_eq``, as for SciPy's `linprog`.
        n_jobs : int, optional
            Threads; by default one for each core.

        Returns
        -------
        Optimum
            With `x`, `fun`, the `pieces` that are active there, and a `status`: "optimal", "unbounded" or "infeasible".

        Examples
        --------
        >>> f = abs(PLDC.affine([1.0], -1.0)) - 2.0 * abs(PLDC.affine([1.0]))
        >>> f.minimize(bounds=[(-1, 3)]).fun
        -4.0
        """
        over = polytope(self.n_features, bounds, A_ub, b_ub, A_eq, b_eq)
        return minimum(self.plus, self.minus, over, n_jobs)

    def maximize(self, bounds: Any = None, **settings: Any) -> Optimum:
        """Find the global maximum over a polytope; settings as for :meth:`minimize`."""
        return opposite((-self).minimize(bounds, **settings))

    def bounds_on(self, box: Any) -> tuple[float, float]:
        """Return the exact range of f over a box, given as d pairs (low, high)."""
        low, high = self.minimize(bounds=box), self.maximize(bounds=box)
        return low.fun, high.fun

    def is_monotone(self, feature: int, box: Any = None, increasing: bool = True) -> bool:
        """Say whether f is nondecreasing (or nonincreasing) along a feature, everywhere in the box; exact.

        Parameters
        ----------
        feature : int
        box : sequence of d pairs (low, high), optional
            The whole space if it is not given.
        increasing : bool, default=True
        """
        if not isinstance(feature, Integral) or not 0 <= feature < self.n_features:
            raise ValueError(f"feature must be its number, 0 to {self.n_features - 1}; got {feature!r}.")
        f = self if increasing else -self
        return never_falls(f.plus, f.minus, feature, polytope(self.n_features, box).bounds)

    def lipschitz(self, order: float = 2, box: Any = None) -> float:
        """Return the smallest L with ``|f(x) - f(z)| ≤ L ‖x - z‖`` for all x and z (in the box); exact.

        Parameters
        ----------
        order : {1, 2, inf}, default=2
            Of the norm of x.
        box : sequence of d pairs (low, high), optional
        """
        return steepest(self.plus, self.minus, float(order), polytope(self.n_features, box).bounds)

    def to_relu(self, compact: bool = False) -> list[tuple[Array, Array]]:
        """Return layers (weight, bias) of a ReLU network that computes f.

        A hidden layer maps h to ``max(weight @ h + bias, 0)``; the last one, of one row, has no maximum. See
        :func:`pldc.function.relu.to_relu`.
        """
        from pldc.function.relu import to_relu

        return to_relu(self, compact)

    @classmethod
    def from_relu(cls, layers: Sequence[tuple[ArrayLike, ArrayLike]], most_pieces: int = 5000) -> PLDC:
        """Return the function of a ReLU network of one output, given as layers (weight, bias).

        Pieces are found one linear program at a time: meant for small networks, and functions pruned before `to_relu`.
        See :func:`pldc.function.relu.from_relu`.
        """
        from pldc.function.relu import from_relu

        return from_relu(layers, most_pieces)

    def to_dict(self) -> dict[str, Any]:
        """Return the function as a dictionary of numbers and lists, for JSON; exact to the last bit."""
        from pldc.function.record import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> PLDC:
        """Return the function of a dictionary made by :meth:`to_dict`; a malformed one is refused."""
        from pldc.function.record import from_dict

        return of_type(cls, from_dict(record))

    def drop_dominated(self) -> PLDC:
        """Drop pieces that lie below another piece of equal slope: no LP, values unchanged everywhere."""
        return PLDC(drop_dominated(self.plus), drop_dominated(self.minus))

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> PLDC:
        """Return x ↦ f(matrix @ x + vector)."""
        return PLDC(
            algebra.compose(self.plus, matrix, vector),
            algebra.compose(self.minus, matrix, vector),
        )

    def maximum(self, other: PLDC | float) -> PLDC:
        """Pointwise maximum: max(f₁ − f₂, g₁ − g₂) = max(f₁ + g₂, g₁ + f₂) − (f₂ + g₂)."""
        other = self._lift(other)
        up = algebra.maximum(algebra.add(self.plus, other.minus), algebra.add(other.plus, self.minus))
        return PLDC(up, algebra.add(self.minus, other.minus))

    def minimum(self, other: PLDC | float) -> PLDC:
        """Pointwise minimum."""
        return -((-self).maximum(-self._lift(other)))

    def _lift(self, other: PLDC | float) -> PLDC:
        """Turn a number into a constant function."""
        if isinstance(other, PLDC):
            return other
        if isinstance(other, Real):
            return PLDC.affine(np.zeros(self.n_features), float(other))
        raise TypeError(f"Expected a PLDC or a number, got {type(other).__name__}.")

    __array_ufunc__ = None  # array + f is an error, not an array of functions

    def __abs__(self) -> PLDC:
        return self.maximum(-self)

    def __neg__(self) -> PLDC:
        return PLDC(self.minus, self.plus)

    def __add__(self, other: Any) -> PLDC:
        if isinstance(other, PLDC):
            return PLDC(algebra.add(self.plus, other.plus), algebra.add(self.minus, other.minus))
        if isinstance(other, Real):
            return PLDC(algebra.shift(self.plus, float(other)), self.minus)
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> PLDC:
        return self + (-float(other) if isinstance(other, Real) else -other)

    def __rsub__(self, other: Any) -> PLDC:
        return (-self) + other

    def __mul__(self, factor: Any) -> PLDC:
        if not isinstance(factor, Real):
            return NotImplemented
        size = abs(float(factor))
        if not np.isfinite(size):
            raise ValueError(f"The factor must be a finite number, got {factor}.")
        scaled = PLDC(algebra.scale(self.plus, size), algebra.scale(self.minus, size))
        return scaled if float(factor) >= 0 else -scaled

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> PLDC:
        return self * (1.0 / float(divisor)) if isinstance(divisor, Real) else NotImplemented

    def __repr__(self) -> str:
        return f"PLDC({self.plus.n_pieces} − {self.minus.n_pieces} pieces in {self.n_features} dimensions)"


def of_type(kind: type, function: Any) -> Any:
    """Return the function if it is of the wanted kind."""
    if not isinstance(function, kind):
        raise ValueError(f"The dictionary holds a {type(function).__name__}, not a {kind.__name__}.")
    return function


def as_unit(unit: ArrayLike, n_features: int) -> Array:
    """Return units of the features as an array, checked."""
    sizes = np.asarray(unit, dtype=np.float64)
    if sizes.shape != (n_features,):
        raise ValueError(f"unit must have shape ({n_features},), got {sizes.shape}.")
    if not (np.isfinite(sizes).all() and (sizes >= 0).all()):
        raise ValueError("unit must be finite numbers ≥ 0.")
    return sizes


def takeover(part: MaxAffine, points: Array, table: Array, weight: Array) -> Array:
    """Distance from each point to where another piece of the part takes over, if slopes stay as they are there.

    Parameters
    ----------
    part : MaxAffine
    points : array of shape (n, columns of the part)
    table : array of shape (pieces, c)
        Slopes of the pieces.
    weight : array of shape (n, c) or (1, c)
        At point i the slope of piece k, times the units, is ``table[k] * weight[i]``.

    Returns
    -------
    array of shape (n,)
        The least of lead / length of the difference of slopes, over pieces of another slope; ∞ if there is none.
    """
    out = np.full(len(points), np.inf)
    most = weight.max(axis=0, initial=0.0)
    table, weight = table * most, weight / np.where(most > 0, most, 1.0)
    size = float(np.abs(table).max(initial=0.0))
    if size == 0 or len(points) == 0:
        return out
    table = table / size  # numbers of order one: their squares are neither 0 nor ∞
    active = part.active(points)
    order = np.argsort(active, kind="stable")
    step = max(1, TILE // part.n_pieces)
    for rows in np.split(order, np.flatnonzero(np.diff(active[order])) + 1):  # a step for each piece that rules
        k = active[rows[0]]
        slopes, offsets = (part.slopes[k] - part.slopes).T, part.offsets[k] - part.offsets
        bend, own = ((table[k] - table) ** 2).T, table[k] ** 2
        for start in range(0, len(rows), step):
            at = rows[start : start + step]
            square = (weight if len(weight) == 1 else weight[at]) ** 2
            steep, least = np.sqrt(square @ bend), ROUNDING * np.sqrt(square @ own)
            with np.errstate(over="ignore"):  # far away
                lead = np.maximum(points[at] @ slopes + offsets, 0.0) / size
                distance = np.full(lead.shape, np.inf)
                np.divide(lead, steep, out=distance, where=np.broadcast_to(steep > least[:, None], lead.shape))
            out[at] = distance.min(axis=1)
    return out
