"""A sum of terms: what it is made of, and arithmetic, every operation of which is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, reduce
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import algebra
from pldc.function.max_affine import Array, MaxAffine, frozen, number, real
from pldc.function.term import Term

MOST_PIECES = 100_000  # of a part, when a sum is written out
FAR = 1e3  # spreads away from zero from which rows are far: pieces that begin at the origin would lose what they say
REMEDY = "model.simplify(X, y) gives a function without hinges (unless monotone is set), as does n_pieces='rows'"


class TermSum:
    """The terms and the arithmetic of :class:`pldc.PLDC`, without what can be asked of its values."""

    centred: tuple[Term, ...]
    center: tuple[float, ...] | None

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms as functions of x itself; far from the origin their offsets are large, and round."""
        return self._around(None)

    def moved(self, by: ArrayLike) -> Self:
        """Return x ↦ f(x − by), and keep it so: x − by is taken first, and loses nothing where both are large.

        Examples
        --------
        >>> from pldc import PLDC
        >>> f = abs(PLDC.affine([1.0])).moved([1e15])
        >>> f([[1e15 - 2.5], [1e15 + 0.125]])
        array([2.5  , 0.125])
        """
        step = frozen(by, 1, "by")
        if len(step) != self.n_features:
            raise ValueError(f"by must hold {self.n_features} numbers, one for each feature; got {len(step)}.")
        center = tuple((self.origin + step).tolist())
        return self._of(self.centred, center if any(center) else None)

    @property
    def origin(self) -> Array:
        """The centre as an array."""
        return np.zeros(self.n_features) if self.center is None else np.array(self.center)

    def _around(self, center: tuple[float, ...] | None) -> tuple[Term, ...]:
        """Return the terms as functions of x − center."""
        if center == self.center:
            return self.centred
        step = (0.0 if center is None else np.array(center)) - self.origin
        return tuple(term.moved(step) for term in self.centred)

    @classmethod
    def total(cls, functions: Iterable[TermSum]) -> Self:
        """Return the sum of functions, with the terms of all of them: their pieces add up, and do not multiply."""
        functions = tuple(functions)
        if not functions or not all(isinstance(f, TermSum) for f in functions):
            raise TypeError("A sum needs at least one function, and each must be a PLDC.")
        center = shared_center(functions)
        return cls._of((term for f in functions for term in f._around(center)), center)

    @classmethod
    def mean(cls, functions: Iterable[TermSum]) -> Self:
        """Return the mean of functions, with the terms of all of them; see :meth:`total`."""
        functions = tuple(functions)
        return cls.total(f / len(functions) if isinstance(f, TermSum) else f for f in functions)

    @classmethod
    def _of(cls, terms: Iterable[Term], center: tuple[float, ...] | None = None) -> Self:
        """Return the sum of terms of x − center."""
        function = cls.__new__(cls)
        object.__setattr__(function, "centred", tuple(terms))
        object.__setattr__(function, "center", center)
        same_variables(function.centred)
        return function

    def _each(self, change: Callable[[Term], Term]) -> Self:
        return self._of(map(change, self.centred), self.center)

    @property
    def plus(self) -> MaxAffine:
        """The convex part of a function of one term that is added."""
        return self._only_term("plus").plus

    @property
    def minus(self) -> MaxAffine:
        """The convex part of a function of one term that is subtracted."""
        return self._only_term("minus").minus

    def _only_term(self, part: str) -> Term:
        if len(self.centred) > 1:
            raise AttributeError(
                f"Each of the {len(self.centred)} terms has a {part} of its own: ask f.terms[0].{part}."
            )
        return self.terms[0]

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.centred[0].n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus parts, added up over all terms."""
        return sum(t.plus.n_pieces for t in self.centred), sum(t.minus.n_pieces for t in self.centred)

    @property
    def is_plain(self) -> bool:
        """Whether f is one term without hinges: `plus` − `minus`, both convex in the features themselves."""
        return len(self.centred) == 1 and self.centred[0].hinges is None

    def written_out(self) -> Self:
        """Return the same function as a single term: the pieces of the terms multiply, so prune first.

        Refused where some terms have hinges that others have not, or for more than 100 000 pieces in a part.
        """
        hinges = self.centred[0].hinges
        if any(term.hinges != hinges for term in self.centred):
            raise TypeError(f"Terms with different hinges cannot be written out as one: {REMEDY}.")
        plus, minus = self._pieces_written_out()
        if len(self.centred) > 1 and max(plus, minus) > MOST_PIECES:
            raise ValueError(
                f"Written out, the sum would have {plus:.3g} − {minus:.3g} pieces, more than {MOST_PIECES}: "
                "drop pieces first with prune(X, tol=...)."
            )
        return self._joined()

    def _can_be_plain(self) -> bool:
        without = all(term.hinges is None for term in self.centred)
        return self.is_plain or (without and max(self._pieces_written_out()) <= MOST_PIECES)

    def _plain(self, question: str) -> Term:
        """Return the sum as one term of x − center without hinges, which some questions need."""
        if any(term.hinges is not None for term in self.centred):
            raise TypeError(f"{question} cannot be found with hinges: {REMEDY}.")
        return self.written_out().centred[0]

    def _joined(self) -> Self:
        plus, minus = (reduce(algebra.add, parts) for parts in zip(*(term.parts for term in self.centred), strict=True))
        return self._of([Term(plus, minus, self.centred[0].hinges)], self.center)

    def _pieces_written_out(self) -> tuple[float, float]:
        plus, minus = np.prod([[float(part.n_pieces) for part in term.parts] for term in self.centred], axis=0)
        return plus, minus

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> Self:
        """Return x ↦ f(matrix @ x + vector); of hinges the matrix must be diagonal, with positive numbers."""
        if self.center is None:
            return self._each(lambda term: term.compose(matrix, vector))
        step = (0.0 if vector is None else real(vector, "vector")) - self.origin
        return self._of(term.compose(matrix, step) for term in self.centred)

    def maximum(self, other: Self | float) -> Self:
        """Pointwise maximum: max(f₁ − f₂, g₁ − g₂) = max(f₁ + g₂, g₁ + f₂) − (f₂ + g₂); sums are written out first."""
        if isinstance(other, Real):
            center, [f] = self.center, self.written_out().centred
            zero = MaxAffine.zero(f.plus.n_features)
            g = Term(algebra.shift(zero, number(other)), zero, f.hinges)
        elif isinstance(other, TermSum):
            center = shared_center([self, other])
            [f], [g] = (h.written_out()._around(center) for h in (self, other))
        else:
            raise TypeError(f"Expected a PLDC or a number, got {type(other).__name__}.")
        if f.hinges != g.hinges:
            raise TypeError(f"Functions with different hinges cannot be compared: {REMEDY}.")
        up = algebra.maximum(algebra.add(f.plus, g.minus), algebra.add(g.plus, f.minus))
        return self._of([Term(up, algebra.add(f.minus, g.minus), f.hinges)], center)

    def minimum(self, other: Self | float) -> Self:
        """Pointwise minimum; see :meth:`maximum`."""
        opposite = -number(other) if isinstance(other, Real) else -other if isinstance(other, TermSum) else other
        return -((-self).maximum(opposite))

    __array_ufunc__ = None  # array + f is an error, not an array of functions

    def __abs__(self) -> Self:
        return self.maximum(-self)

    def __neg__(self) -> Self:
        return self._each(lambda term: -term)

    def __add__(self, other: Any) -> Self:
        if isinstance(other, Real):
            first, *others = self.centred
            risen = Term(algebra.shift(first.plus, number(other)), first.minus, first.hinges)
            return self._of([risen, *others], self.center)
        if not isinstance(other, TermSum):
            return NotImplemented
        both = self.total([self, other])
        return both._joined() if self.is_plain and other.is_plain else both

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self + (-number(other) if isinstance(other, Real) else -other)

    def __rsub__(self, other: Any) -> Self:
        return (-self) + other

    def __mul__(self, factor: Any) -> Self:
        if not isinstance(factor, Real):
            return NotImplemented
        size = abs(number(factor))
        if not np.isfinite(size):
            raise ValueError(f"The factor must be a finite number, got {factor}.")
        scaled = self._each(lambda term: term.map_parts(lambda part: algebra.scale(part, size)))
        return scaled if float(factor) >= 0 else -scaled

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        if not isinstance(divisor, Real):
            return NotImplemented
        if divisor == 0:
            raise ValueError("A function cannot be divided by zero.")
        return self * (1.0 / number(divisor))

    def __repr__(self) -> str:
        plus, minus = self.n_pieces
        hinged = sum(term.hinges is not None for term in self.centred)
        terms = f", {len(self.centred)} terms" if len(self.centred) > 1 else ""
        hinges = f", {hinged} with hinges" if hinged and terms else ", with hinges" if hinged else ""
        return f"PLDC({plus} − {minus} pieces in {self.n_features} dimensions{terms}{hinges})"


def same_variables(terms: Iterable[Term]) -> None:
    """Raise unless all terms have the same number of features."""
    sizes = sorted({term.n_features for term in terms})
    if len(sizes) > 1:
        raise ValueError(f"Functions of {' and '.join(map(str, sizes))} variables cannot be combined.")


def split_center(center: Array, spread: Array) -> tuple[Array, Array]:
    """Return a centre as two: where it is near the origin, for the offsets of pieces; where far, for `moved`."""
    far = np.abs(center) / FAR > spread
    return np.where(far, 0.0, center), np.where(far, center, 0.0)


def shared_center(functions: Iterable[TermSum]) -> tuple[float, ...] | None:
    """Return the first centre among those of some functions, which must have the same variables."""
    functions = tuple(functions)
    same_variables(term for f in functions for term in f.centred)
    return next((f.center for f in functions if f.center is not None), None)
