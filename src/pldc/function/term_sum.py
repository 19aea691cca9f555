"""A sum of terms: what it is made of, and arithmetic, every operation of which is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import algebra
from pldc.function.max_affine import MaxAffine
from pldc.function.term import Term

MOST_PIECES = 100_000  # of a part, when a sum is written out
REMEDY = "model.simplify(X, y) gives a function without hinges (unless monotone is set), as does n_pieces='rows'"


class TermSum:
    """The terms and the arithmetic of :class:`pldc.PLDC`, without what can be asked of its values."""

    terms: tuple[Term, ...]

    @classmethod
    def total(cls, functions: Iterable[Self]) -> Self:
        """Return the sum of functions, with the terms of all of them: their pieces add up, and do not multiply."""
        functions = tuple(functions)
        if not functions or not all(isinstance(f, TermSum) for f in functions):
            raise TypeError("A sum needs at least one function, and each must be a PLDC.")
        return cls._of(term for f in functions for term in f.terms)

    @classmethod
    def mean(cls, functions: Iterable[Self]) -> Self:
        """Return the mean of functions, with the terms of all of them; see :meth:`total`."""
        functions = tuple(functions)
        return cls.total(f / len(functions) for f in functions)

    @classmethod
    def _of(cls, terms: Iterable[Term]) -> Self:
        function = cls.__new__(cls)
        object.__setattr__(function, "terms", tuple(terms))
        sizes = sorted({term.n_features for term in function.terms})
        if len(sizes) > 1:
            raise ValueError(f"Functions of {' and '.join(map(str, sizes))} variables cannot be combined.")
        return function

    def _each(self, change: Callable[[Term], Term]) -> Self:
        return self._of(map(change, self.terms))

    @property
    def plus(self) -> MaxAffine:
        """The convex part of a function of one term that is added."""
        return self._only_term("plus").plus

    @property
    def minus(self) -> MaxAffine:
        """The convex part of a function of one term that is subtracted."""
        return self._only_term("minus").minus

    def _only_term(self, part: str) -> Term:
        if len(self.terms) > 1:
            raise AttributeError(f"Each of the {len(self.terms)} terms has a {part} of its own: ask f.terms[0].{part}.")
        return self.terms[0]

    @property
    def n_features(self) -> int:
        """Dimension of the domain."""
        return self.terms[0].n_features

    @property
    def n_pieces(self) -> tuple[int, int]:
        """Number of pieces of the plus and of the minus parts, added up over all terms."""
        return sum(t.plus.n_pieces for t in self.terms), sum(t.minus.n_pieces for t in self.terms)

    @property
    def is_plain(self) -> bool:
        """Whether f is one term without hinges: `plus` − `minus`, both convex in the features themselves."""
        return len(self.terms) == 1 and self.terms[0].hinges is None

    def written_out(self) -> Self:
        """Return the same function as a single term: the pieces of the terms multiply, so prune first.

        Refused where some terms have hinges that others have not, or for more than 100 000 pieces in a part.
        """
        hinges = self.terms[0].hinges
        if any(term.hinges != hinges for term in self.terms):
            raise TypeError(f"Terms with different hinges cannot be written out as one: {REMEDY}.")
        plus, minus = self._pieces_written_out()
        if len(self.terms) > 1 and max(plus, minus) > MOST_PIECES:
            raise ValueError(
                f"Written out, the sum would have {plus:.3g} − {minus:.3g} pieces, more than {MOST_PIECES}: "
                "drop pieces first with prune(X, tol=...)."
            )
        return self._joined()

    def _can_be_plain(self) -> bool:
        without = all(term.hinges is None for term in self.terms)
        return self.is_plain or (without and max(self._pieces_written_out()) <= MOST_PIECES)

    def _plain(self, question: str) -> Term:
        """Return the sum as one term without hinges, which some questions need."""
        if any(term.hinges is not None for term in self.terms):
            raise TypeError(f"{question} cannot be found with hinges: {REMEDY}.")
        return self.written_out().terms[0]

    def _joined(self) -> Self:
        plus, minus = (reduce(algebra.add, parts) for parts in zip(*(term.parts for term in self.terms), strict=True))
        return self._of([Term(plus, minus, self.terms[0].hinges)])

    def _pieces_written_out(self) -> tuple[float, float]:
        plus, minus = np.prod([[float(part.n_pieces) for part in term.parts] for term in self.terms], axis=0)
        return plus, minus

    def compose(self, matrix: ArrayLike, vector: ArrayLike | None = None) -> Self:
        """Return x ↦ f(matrix @ x + vector); of hinges the matrix must be diagonal, with positive numbers."""
        return self._each(lambda term: term.compose(matrix, vector))

    def maximum(self, other: Self | float) -> Self:
        """Pointwise maximum: max(f₁ − f₂, g₁ − g₂) = max(f₁ + g₂, g₁ + f₂) − (f₂ + g₂); sums are written out first."""
        [f] = self.written_out().terms
        if isinstance(other, Real):
            zero = MaxAffine.zero(f.plus.n_features)
            g = Term(algebra.shift(zero, float(other)), zero, f.hinges)
        elif isinstance(other, TermSum):
            [g] = other.written_out().terms
        else:
            raise TypeError(f"Expected a PLDC or a number, got {type(other).__name__}.")
        if f.hinges != g.hinges:
            raise TypeError(f"Functions with different hinges cannot be compared: {REMEDY}.")
        up = algebra.maximum(algebra.add(f.plus, g.minus), algebra.add(g.plus, f.minus))
        return self._of([Term(up, algebra.add(f.minus, g.minus), f.hinges)])

    def minimum(self, other: Self | float) -> Self:
        """Pointwise minimum; see :meth:`maximum`."""
        return -((-self).maximum(-other if isinstance(other, Real | TermSum) else other))

    __array_ufunc__ = None  # array + f is an error, not an array of functions

    def __abs__(self) -> Self:
        return self.maximum(-self)

    def __neg__(self) -> Self:
        return self._each(lambda term: -term)

    def __add__(self, other: Any) -> Self:
        if isinstance(other, Real):
            first, *others = self.terms
            return self._of([Term(algebra.shift(first.plus, float(other)), first.minus, first.hinges), *others])
        if not isinstance(other, TermSum):
            return NotImplemented
        both = self._of([*self.terms, *other.terms])
        return both._joined() if self.is_plain and other.is_plain else both

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self + (-float(other) if isinstance(other, Real) else -other)

    def __rsub__(self, other: Any) -> Self:
        return (-self) + other

    def __mul__(self, factor: Any) -> Self:
        if not isinstance(factor, Real):
            return NotImplemented
        size = abs(float(factor))
        if not np.isfinite(size):
            raise ValueError(f"The factor must be a finite number, got {factor}.")
        scaled = self._each(lambda term: term.map_parts(lambda part: algebra.scale(part, size)))
        return scaled if float(factor) >= 0 else -scaled

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        return self * (1.0 / float(divisor)) if isinstance(divisor, Real) else NotImplemented

    def __repr__(self) -> str:
        plus, minus = self.n_pieces
        hinged = sum(term.hinges is not None for term in self.terms)
        terms = f", {len(self.terms)} terms" if len(self.terms) > 1 else ""
        hinges = f", {hinged} with hinges" if hinged and terms else ", with hinges" if hinged else ""
        return f"PLDC({plus} − {minus} pieces in {self.n_features} dimensions{terms}{hinges})"
