"""PLDC: a piecewise-linear function, written as a short sum of differences of two max-affine functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.checks import flag, positive, shown
from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array, MaxAffine, as_points, number, real
from pldc.function.optimize import Optimum, around, minimum, opposite, polytope, steepest
from pldc.function.prune import drop_dominated
from pldc.function.regions import Regions, group
from pldc.function.relu import Layers, from_relu, to_relu
from pldc.function.seminorm import Norm
from pldc.function.serialise import from_dict, to_dict
from pldc.function.term import LocalModel, Term, as_unit, scattered
from pldc.function.term_sum import REMEDY, TermSum


@dataclass(frozen=True, init=False, repr=False)
class PLDC(TermSum):
    """The function x ↦ Σ_t plus_t(φ_t(x)) − minus_t(φ_t(x)): a short sum of terms, mostly one. Immutable.

    Both parts of a term are max-affine. φ is x itself or, where a term has hinges, x with ramps between knots. Every
    piecewise-linear function can be written with a single term without hinges.

    Supports ``f + g``, ``f - g``, ``-f``, ``c * f``, ``f / c``, ``abs(f)``, adding a number, ``f.maximum(g)``,
    ``f.minimum(g)`` and ``f.compose(matrix, vector)``; all exact. The sum of two functions of one term without hinges
    is again one term: their pieces multiply. Every other sum, and that of :meth:`total` and :meth:`mean`, keeps the
    terms of both.

    Parameters
    ----------
    plus, minus : MaxAffine
        The convex parts of the only term.
    hinges : Hinges, optional
        The parts are functions of its columns.

    Attributes
    ----------
    terms : tuple of Term
        Each with `plus`, `minus` and `hinges`.
    center : tuple of d floats, or None
        Of a fit to rows far from the origin: a point near them, from which f is evaluated. None: from the origin.
    centred : tuple of Term
        The terms as functions of x − center.

    Examples
    --------
    >>> plus = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
    >>> minus = MaxAffine([[2.0], [0.0]], [-2.0, 0.0])
    >>> hat = PLDC(plus, minus)
    >>> hat([[-1.0], [0.0], [1.0], [2.0]])
    array([1., 0., 1., 0.])
    """

    centred: tuple[Term, ...]
    center: tuple[float, ...] | None

    def __init__(self, plus: MaxAffine, minus: MaxAffine, hinges: Hinges | None = None) -> None:
        object.__setattr__(self, "centred", (Term(plus, minus, hinges),))
        object.__setattr__(self, "center", None)

    @classmethod
    def affine(cls, slope: ArrayLike, intercept: float = 0.0) -> PLDC:
        """Return the affine function x ↦ ⟨slope, x⟩ + intercept."""
        row = real(slope, "slope")[None]
        if row.ndim != 2:
            raise ValueError(f"slope must be a vector, got an array of shape {row.shape[1:]}.")
        return cls(MaxAffine(row, np.array([intercept])), MaxAffine.zero(row.shape[1]))

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        points = self._points(X)
        return np.asarray(sum(term(points) for term in self.centred))

    def _points(self, X: ArrayLike) -> Array:
        """Return the rows of X less the centre."""
        points = as_points(X, self.n_features)
        return points if self.center is None else points - np.array(self.center)

    def _box(self, box: Any) -> Array:
        """Return the ends (d, 2) of a box less the centre."""
        return polytope(self.n_features, box).bounds - self.origin[:, None]

    def gradient(self, X: ArrayLike) -> Array:
        """Slope of the affine function that rules at each row of `X`, shape (n, d); NaN where a row is not finite."""
        return self.local(X).slope

    def local(self, X: ArrayLike) -> LocalModel:
        """Return the active pieces, slope and intercept at each row of `X`; of a sum one column of pieces a term."""
        points, finite = self._finite(X)
        slope, intercept, plus, minus = np.zeros(points.shape), np.zeros(len(points)), [], []
        for term in self.centred:
            local = term.local(points)
            slope += local.slope
            intercept += local.intercept
            plus.append(local.plus)
            minus.append(local.minus)
        intercept -= slope @ self.origin
        slope[~finite], intercept[~finite] = np.nan, np.nan
        if len(self.centred) == 1:
            return LocalModel(plus[0], minus[0], slope, intercept)
        return LocalModel(np.column_stack(plus), np.column_stack(minus), slope, intercept)

    def _finite(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return the rows of X less the centre, zeros for those that are not finite, and which are."""
        points = self._points(X)
        finite = np.asarray(np.isfinite(points).all(axis=1))
        return np.where(finite[:, None], points, 0.0), finite

    def room(self, X: ArrayLike, unit: ArrayLike) -> Array:
        """Distance from each row of `X` within which f is affine: to where another piece takes over, or a knot.

        Parameters
        ----------
        X : array of shape (n, d)
        unit : array of shape (d,)
            Distances are Euclidean, in features divided by these. A feature with 0 stays where it is.

        Returns
        -------
        array of shape (n,)
            0 on a kink; ∞ where f is affine everywhere; NaN where a row is not finite. Never too large. Too small only
            where bends cancel, or where a piece bends at a knot beyond which another rules.

        Examples
        --------
        >>> abs(PLDC.affine([1.0])).room([[-3.0], [0.0]], unit=[2.0])
        array([1.5, 0. ])
        """
        (points, finite), sizes = self._finite(X), as_unit(unit, self.n_features)
        room = np.min([term.room(points, sizes) for term in self.centred], axis=0)
        return np.where(finite, room, np.nan)

    def seminorm_bound(self, norm: Norm = "joint", active_pairs: bool = False) -> float:
        """Upper bound on the DC seminorm, proved by this decomposition: the sum of the bounds of its terms.

        Parameters
        ----------
        norm : {"joint", "componentwise"}
            joint: the supremum of ‖v₁‖₁ + ‖v₂‖₁ over subgradients (the paper's seminorm); componentwise: the
            sum over coordinates of the supremum of ``|v₁ₖ| + |v₂ₖ|``. A term with hinges has one bound for both.
        active_pairs : bool, default=False
            False takes the largest slope of each part, at once. True counts only pairs of pieces that are
            active together somewhere; tighter, and costs linear programs. No matter to terms with hinges.
        """
        pairs = flag("active_pairs", active_pairs)
        return sum(term.seminorm_bound(norm, pairs) for term in self.centred)

    def prune(self, X: ArrayLike | None = None, tol: float | None = None) -> PLDC:
        """Drop pieces that are not needed, term by term.

        Parameters
        ----------
        X : array of shape (n, d), optional
            Not given: keep exactly the pieces that rise above the others somewhere in space, found by linear programs;
            values are unchanged everywhere. Given: keep pieces enough to reproduce the values at the rows of X; values
            elsewhere may change.
        tol : float, optional
            Without X (default 1e-9): how far a piece must rise above the others to count, relative to the scale of the
            offsets. With X (default 0): how much each part may change at the rows of X, relative to the range of its
            term there; 1e-3 often leaves a small fraction of the pieces.
        """
        share = (1e-9 if X is None else 0.0) if tol is None else positive("tol", tol, zero=True)
        if X is None:
            return self._each(lambda term: term.prune(None, share))
        points = self._points(X)
        if len(points) == 0:
            raise ValueError("prune(X) needs at least one row: no piece is active on an empty X.")
        if not np.isfinite(points).all():
            raise ValueError("X must be finite; it contains NaN or infinity.")
        return self._each(lambda term: term.prune(points, share))

    def drop_dominated(self) -> PLDC:
        """Drop pieces that lie below another piece of equal slope: no LP, values unchanged everywhere."""
        return self._each(lambda term: term.map_parts(drop_dominated))

    def regions(self, X: ArrayLike) -> Regions:
        """Group the rows of `X` by the pieces that rule there: how many rows each region has, and its slopes.

        With hinges also by the intervals between knots. A fit of the program has about a piece for every row;
        ``f.prune(X, tol=1e-2)`` first gives few regions that say the same.

        Examples
        --------
        >>> f = abs(PLDC.affine([1.0]))
        >>> print(f.regions([[-2.0], [-1.0], [3.0]]).to_text(["x"]))
        region        0    1
        rows          2    1
        share       67%  33%
        value         2    3
        slope of x   -1    1
        0: x ≤ 0 (precision 100%, recall 100%)
        1: x > 0 (precision 100%, recall 100%)
        """
        points, around = as_points(X, self.n_features), self._points(X)
        local = self.local(points)
        cells = [term.hinges.cells(around) for term in self.centred if term.hinges is not None]
        keys = np.column_stack([local.plus, local.minus, *cells])
        return group(points, keys, local.slope, local.intercept, lambda at: self(points[at]))

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

        A sum is written out first; a function with hinges is refused.

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
            With `x`, `fun`, the `pieces` that are active there (of the sum written out), and a `status`: "optimal",
            "unbounded" or "infeasible".

        Examples
        --------
        >>> f = abs(PLDC.affine([1.0], -1.0)) - 2.0 * abs(PLDC.affine([1.0]))
        >>> f.minimize(bounds=[(-1, 3)]).fun
        -4.0
        """
        over = polytope(self.n_features, bounds, A_ub, b_ub, A_eq, b_eq)
        if self.center is None:
            return minimum(*self._plain("A global optimum").parts, over, n_jobs)
        found = minimum(*self._plain("A global optimum").parts, around(over, self.origin), n_jobs)
        if found.x is None:
            return found
        x = self.origin + found.x  # rounds: the value is that at this point
        return replace(found, x=x, fun=float(self(x[None])[0]))

    def maximize(self, bounds: Any = None, **settings: Any) -> Optimum:
        """Find the global maximum over a polytope; settings as for :meth:`minimize`."""
        return opposite((-self).minimize(bounds, **settings))

    def bounds_on(self, box: Any) -> tuple[float, float]:
        """Return numbers between which f stays over a box, given as d pairs (low, high).

        Exact for a single term without hinges, and for sums of such that can be written out. Else the sums of the
        bounds of all terms, which may be further apart.
        """
        ends = self._box(box)
        terms = self.written_out().centred if self._can_be_plain() else self.centred
        low, high = np.sum([term.bounds_on(ends) for term in terms], axis=0)
        return float(low), float(high)

    def is_monotone(self, feature: int, box: Any = None, increasing: bool = True) -> bool:
        """Say whether f is nondecreasing (or nonincreasing) along a feature, everywhere in the box.

        Exact for a single term without hinges, and for sums of such that can be written out. Else True is proved term
        by term and False by a slope at a point; where neither is found the question is refused.

        Parameters
        ----------
        feature : int
        box : sequence of d pairs (low, high), optional
            The whole space if it is not given.
        increasing : bool, default=True
        """
        if not isinstance(feature, Integral) or not 0 <= feature < self.n_features:
            raise ValueError(f"feature must be its number, 0 to {self.n_features - 1}; got {shown(feature)}.")
        at, ends = int(feature), self._box(box)
        f = self if flag("increasing", increasing) else -self
        if ends[at, 0] == ends[at, 1] or all(term.rises(at, ends) for term in f.centred):
            return True
        if self._can_be_plain():
            return len(f.centred) > 1 and f.written_out().centred[0].rises(at, ends)
        size = sum(term.steepness(at) for term in f.centred)
        if (f.gradient(scattered(f.centred, ends) + self.origin)[:, at] < -1e-9 * size).any():
            return False
        raise TypeError(f"With hinges or so many pieces it could not be decided if f is monotone: prune, or {REMEDY}.")

    def lipschitz(self, order: float = 2, box: Any = None) -> float:
        """Return the smallest L with ``|f(x) - f(z)| ≤ L ‖x - z‖`` for all x and z (in the box); exact.

        A sum is written out first, and each pair of its pieces may be a linear program: prune it before. A function
        with hinges is refused.

        Parameters
        ----------
        order : {1, 2, inf}, default=2
            Of the norm of x.
        box : sequence of d pairs (low, high), optional
        """
        return steepest(*self._plain("The Lipschitz constant").parts, number(order), self._box(box))

    def to_relu(self, compact: bool = False) -> Layers:
        """Return layers (weight, bias) of a ReLU network that computes f.

        A hidden layer maps h to ``max(weight @ h + bias, 0)``; the last one, of one row, has no maximum. With K pieces
        in the longest part there are 2⌈log₂ K⌉ hidden layers, as in the paper; of P pieces in all, none has more than
        2P nodes. Hinges take one more layer, of a node for each knot and two for each feature, and another where f has
        a centre. A default fit of 200
        rows and 5 features has 11 hidden layers of at most 1700 nodes: 42 MB. Layers above a GiB are refused.

        Parameters
        ----------
        compact : bool, default=False
            Leave out layers that only carry values along: ⌈log₂ K⌉ hidden layers, and one for hinges, of at most 2P
            nodes, mostly 3P / 2. The fit above has 6 of at most 1250 nodes: 15 MB.
        """
        return to_relu(self.centred, flag("compact", compact), self.center)

    @classmethod
    def from_relu(cls, layers: Sequence[tuple[ArrayLike, ArrayLike]], most_pieces: int = 5000) -> PLDC:
        """Return the function of a ReLU network of one output, given as layers (weight, bias).

        Pieces are found one linear program at a time: meant for small networks, and functions pruned before `to_relu`.

        Parameters
        ----------
        layers : sequence of (weight, bias)
            As :meth:`to_relu` returns them; the last layer has one row and no maximum.
        most_pieces : int, default=5000
            Sums multiply pieces. Where a part would have more than this before it is pruned, the network is refused.
        """
        return cls(*from_relu(layers, most_pieces))

    def to_dict(self) -> dict[str, Any]:
        """Return the function as a dictionary of numbers and lists, for JSON; exact to the last bit."""
        return to_dict(self.centred, self.center)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> PLDC:
        """Return the function of a dictionary made by :meth:`to_dict`; a malformed one is refused, with the place."""
        return cls._of(*from_dict(record))
