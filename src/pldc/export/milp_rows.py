"""A function as a mixed-integer program, when it is finished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint
from scipy.sparse import csr_array

from pldc.function.max_affine import Array, IntArray, real
from pldc.function.mixed_integer import Assembled


@dataclass(frozen=True, eq=False)
class Milp(Assembled):
    """Rows and variables that tie an output y to inputs x by y = f(x), y ≥ f(x) or y ≤ f(x), for x in a box.

    A point v satisfies ``row_lower ≤ A @ v ≤ row_upper`` and ``lower ≤ v ≤ upper``, with whole numbers where
    `integrality` is 1. The box is among the rows as well: inputs may be variables of a larger model.

    Attributes
    ----------
    A : sparse array of shape (rows, variables)
    row_lower, row_upper : arrays of shape (rows,)
    lower, upper : arrays of shape (variables,)
    integrality : int array of shape (variables,)
    c : array of shape (variables,)
        The cost whose minimum is the least y; of y ≤ f(x), the opposite of the largest.
    roles : tuple of str
        What each variable is. "input", "output"; "centred": an input less a centre that is far from the origin;
        "value": that of a term, shifted and scaled; "choice": the binary of a piece; "share of x", "share of y": what a
        piece has of both; "epigraph": at least the part that is subtracted; "fill": which share of an interval between
        knots lies below x; "passed": the binary of a knot.
    """

    c: Array
    roles: tuple[str, ...]

    @property
    def inputs(self) -> IntArray:
        """Places of the inputs."""
        return np.flatnonzero(np.array(self.roles) == "input")

    @property
    def others(self) -> IntArray:
        """Places of all variables that are not inputs; the output is the last of them."""
        return np.flatnonzero(np.array(self.roles) != "input")

    @property
    def output(self) -> int:
        """Place of the output."""
        return self.roles.index("output")

    @property
    def n_binaries(self) -> int:
        """Number of binary variables."""
        return int(self.integrality.sum())

    def for_scipy(self) -> dict[str, Any]:
        """Return the arguments of :func:`scipy.optimize.milp`; add constraints of your own to the list of them."""
        return {
            "c": self.c,
            "constraints": [LinearConstraint(self.A, self.row_lower, self.row_upper)],
            "bounds": Bounds(self.lower, self.upper),
            "integrality": self.integrality,
        }

    def on_inputs(self, matrix: Any) -> csr_array:
        """Return rows on the inputs, (m, d), as rows on all variables: what constraints of your own are made of."""
        rows = np.atleast_2d(real(matrix, "matrix"))
        if rows.ndim != 2 or rows.shape[1] != len(self.inputs):
            raise ValueError(
                f"The rows must have {len(self.inputs)} columns, one for each input; got {rows.shape[1:]}."
            )
        wide = np.zeros((len(rows), len(self.roles)))
        wide[:, self.inputs] = rows
        return csr_array(wide)
