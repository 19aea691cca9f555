"""A short sum of PLDC functions, kept as a sum: written out, its pieces would multiply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.hinges import REMEDY, HingedPLDC
from pldc.function.max_affine import Array, as_points
from pldc.function.optimize import Optimum
from pldc.function.pldc import PLDC, LocalModel, of_type
from pldc.function.regions import Regions, group
from pldc.function.seminorm import Norm

MOST_PIECES = 100_000


@dataclass(frozen=True)
class PLDCSum:
    """The function x ↦ Σ_t terms[t](x), with the interface of :class:`PLDC`. Immutable.

    Parameters
    ----------
    terms : tuple of PLDC or HingedPLDC
        At least one, all of the same number of features.

    Examples
    --------
    >>> half = PLDC.affine([0.5])
    >>> PLDCSum((half, abs(half)))([[-2.0], [2.0]])
    array([0., 2.])
    """

    terms: tuple[PLDC | HingedPLDC, ...]

    def __post_init__(self) -> None:
        if not self.terms or not all(isinstance(term, (PLDC, HingedPLDC)) for term in self.terms):
            raise TypeError("A PLDCSum needs at least one PLDC.")
        if len({term.n_features for term in self.terms}) > 1:
            raise ValueError(f"The terms have different numbers of features: {[t.n_features for t in self.terms]}.")

    @classmethod
    def mean(cls, functions: Sequence[PLDC | HingedPLDC]) -> AnyPLDC:
        """Return the mean of the functions: itself where there is only one."""
        if len(functions) == 1:
            return functions[0]
        return cls(tuple(function / len(functions) for function in functions))

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.terms[0].n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus parts, over all terms."""
        counts = np.array([term.n_pieces for term in self.terms])
        plus, minus = counts.sum(axis=0)
        return int(plus), int(minus)

    def __call__(self, X: ArrayLike) -> Array:
        """Evaluate at the rows of `X`."""
        points = as_points(X, self.n_features)
        return np.asarray(sum(term(points) for term in self.terms))

    def gradient(self, X: ArrayLike) -> Array:
        """Slope of the affine function that rules at each row of `X`, shape (n, d)."""
        return self.local(X).slope

    def local(self, X: ArrayLike) -> LocalModel:
        """Return the slope and intercept at each row of `X`, and the active pieces: one column a term."""
        points = as_points(X, self.n_features)
        locals_ = [term.local(points) for term in self.terms]
        return LocalModel(
            plus=np.column_stack([l.plus for l in locals_]),
            minus=np.column_stack([l.minus for l in locals_]),
            slope=np.sum([l.slope for l in locals_], axis=0),
            intercept=np.sum([l.intercept for l in locals_], axis=0),
        )

    def room(self, X: ArrayLike, unit: ArrayLike) -> Array:
        """Distance from each row of `X` within which all terms are affine; see :meth:`PLDC.room`."""
        points = as_points(X, self.n_features)
        return np.asarray(np.min([term.room(points, unit) for term in self.terms], axis=0))

    def seminorm_bound(self, norm: Norm = "joint", active_pairs: bool = False) -> float:
        """Upper bound on the DC seminorm: the sum of the terms' own."""
        return sum(term.seminorm_bound(norm, active_pairs) for term in self.terms)

    def prune(self, X: ArrayLike | None = None, tol: float | None = None) -> PLDCSum:
        """Drop pieces that are not needed, term by term; see :meth:`PLDC.prune`."""
        return PLDCSum(tuple(term.prune(X, tol) for term in self.terms))

    def regions(self, X: ArrayLike) -> Regions:
        """Group the rows of `X` by the pieces of all terms that rule there; see :meth:`PLDC.regions`."""
        points = as_points(X, self.n_features)
        local = self.local(points)
        keys = np.hstack([term._region_keys(points) for term in self.terms])
        return group(points, keys, local.slope, local.intercept)

    def minimize(self, bounds: Any = None, **settings: Any) -> Optimum:
        """Find the global minimum over a polytope, after writing the sum out; see :meth:`PLDC.minimize`.

        Refused where the sum cannot be written out: prune the terms first, or ask each of `terms`.
        """
        return self.expand().minimize(bounds, **settings)

    def maximize(self, bounds: Any = None, **settings: Any) -> Optimum:
        """Find the global maximum over a polytope; see :meth:`minimize`."""
        return self.expand().maximize(bounds, **settings)

    def bounds_on(self, box: Any) -> tuple[float, float]:
        """Return numbers between which the sum stays over a box, given as d pairs (low, high).

        The exact range, as of :meth:`PLDC.bounds_on`, if the sum can be written out. Else the sums of the exact ends of
        its terms, which may be further apart.
        """
        if self._writes_out():
            return self.expand().bounds_on(box)
        low, high = np.sum([term.bounds_on(box) for term in self.terms], axis=0)
        return float(low), float(high)

    def is_monotone(self, feature: int, box: Any = None, increasing: bool = True) -> bool:
        """Say whether the sum is monotone: it is if all its terms are; else it is written out, if it can be.

        See :meth:`PLDC.is_monotone`.
        """
        each = all(term.is_monotone(feature, box, increasing) for term in self.terms)
        return each or self.expand().is_monotone(feature, box, increasing)

    def lipschitz(self, order: float = 2, box: Any = None) -> float:
        """Return the Lipschitz constant, after writing the sum out; see :meth:`PLDC.lipschitz`.

        The pieces of the terms multiply, and each pair of them may be a linear program: prune first.
        """
        return self.expand().lipschitz(order, box)

    def to_relu(self, compact: bool = False) -> list[tuple[Array, Array]]:
        """Return a ReLU network, after writing the sum out; see :meth:`PLDC.to_relu`."""
        return self.expand().to_relu(compact)

    def to_dict(self) -> dict[str, Any]:
        """Return the function as a dictionary of numbers and lists, for JSON; exact to the last bit."""
        from pldc.function.record import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> PLDCSum:
        """Return the function of a dictionary made by :meth:`to_dict`; a malformed one is refused."""
        from pldc.function.record import from_dict

        return of_type(cls, from_dict(record))

    def drop_dominated(self) -> PLDCSum:
        """Drop pieces that lie below another piece of equal slope, term by term."""
        return PLDCSum(tuple(term.drop_dominated() for term in self.terms))

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> PLDCSum:
        """Return x ↦ f(matrix @ x + vector); hinged features can be scaled and shifted only."""
        return PLDCSum(tuple(term.compose(matrix, vector) for term in self.terms))

    def _counts(self) -> Array:
        """Pieces of both parts of the sum written out."""
        return np.asarray(np.prod([np.array(term.n_pieces, dtype=float) for term in self.terms], axis=0))

    def _writes_out(self) -> bool:
        return all(isinstance(term, PLDC) for term in self.terms) and bool(self._counts().max() <= MOST_PIECES)

    def expand(self) -> PLDC:
        """Write the sum out as one PLDC. The pieces of the terms multiply: prune first."""
        terms = [term for term in self.terms if isinstance(term, PLDC)]
        if len(terms) < len(self.terms):
            raise TypeError(f"A sum with functions of hinged features has no short list of pieces: {REMEDY}.")
        counts = self._counts()
        if counts.max() > MOST_PIECES:
            raise ValueError(
                f"Written out, the sum would have {counts[0]:.3g} − {counts[1]:.3g} pieces, more than {MOST_PIECES}. "
                "Drop pieces first with prune(X, tol=...)."
            )
        return reduce(add, terms)

    __array_ufunc__ = None

    def __neg__(self) -> PLDCSum:
        return PLDCSum(tuple(-term for term in self.terms))

    def __add__(self, number: Any) -> PLDCSum:
        if not isinstance(number, Real):
            return NotImplemented
        return PLDCSum((self.terms[0] + number, *self.terms[1:]))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> PLDCSum:
        return PLDCSum(tuple(term * factor for term in self.terms)) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> PLDCSum:
        return self * (1.0 / float(divisor)) if isinstance(divisor, Real) else NotImplemented

    def __repr__(self) -> str:
        return f"PLDCSum({' + '.join(map(repr, self.terms))})"


AnyPLDC = PLDC | HingedPLDC | PLDCSum
