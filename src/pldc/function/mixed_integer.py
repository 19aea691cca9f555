"""Variables and rows of a mixed-integer program that grows lot by lot: one writer for all programs of functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pldc.function.max_affine import Array, IntArray


@dataclass(frozen=True, eq=False)
class Assembled:
    """A program as solvers take it: ``row_lower ≤ A @ v ≤ row_upper``, ``lower ≤ v ≤ upper``, whole where it is 1."""

    A: Any
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array
    integrality: IntArray


class Program:
    """Variables and rows that are added lot by lot."""

    def __init__(self) -> None:
        self.roles: list[str] = []
        self._whole: list[bool] = []
        self._bounds: list[Array] = []
        self._blocks: list[tuple[IntArray, Array]] = []
        self._ends: list[Array] = []

    def variables(self, role: str, lower: Any, upper: Any, whole: bool = False) -> IntArray:
        """Add variables of one role, and return their places."""
        start = len(self.roles)
        self.roles += [role] * len(lower)
        self._whole += [whole] * len(lower)
        self._bounds.append(np.column_stack([lower, upper]))
        return np.arange(start, len(self.roles))

    def rows(self, places: IntArray, matrix: Array, lower: Any, upper: Any) -> None:
        """Add rows lower ≤ matrix @ v[places] ≤ upper; the ends are numbers or arrays."""
        self._blocks.append((places, matrix))
        self._ends.append(np.column_stack([np.full(len(matrix), end, dtype=float) for end in (lower, upper)]))

    def assembled(self) -> Assembled:
        """Return all of it."""
        start, entries = 0, []
        for places, matrix in self._blocks:
            row, column = np.nonzero(matrix)
            entries.append((matrix[row, column], row + start, places[column]))
            start += len(matrix)
        values, row, column = (np.concatenate(each) for each in zip(*entries, strict=True))
        A = csr_array((values, (row, column)), shape=(start, len(self.roles)))
        row_lower, row_upper = np.vstack(self._ends).T.copy()
        lower, upper = np.vstack(self._bounds).T.copy()
        return Assembled(A, row_lower, row_upper, lower, upper, np.array(self._whole, dtype=int))
