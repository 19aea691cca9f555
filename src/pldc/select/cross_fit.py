"""The fits of the folds, and how far each was off where it had not looked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Rows, Split


@dataclass(frozen=True)
class CrossFit:
    """The fits of all folds, and their values at the rows they did not see.

    Attributes
    ----------
    functions : list of tuples of PLDC
        For each fold, its function, or the score of each class.
    values : list of arrays
        For each fold, its predictions (n,) at the rows left out, or its scores (m, n).
    limits : list of (float, float)
        For each fold, the range that its predictions are cut to.
    rows : Rows
        All rows,
    splits : list of (train, test)
        and the places of those that each fold was fitted to and left out.
    """

    functions: list[tuple[PLDC, ...]]
    values: list[Array]
    limits: list[tuple[float, float]]
    rows: Rows
    splits: list[Split]

    @property
    def left_out(self) -> Rows:
        """The rows left out, fold after fold."""
        return self.rows.take(np.concatenate([test for _, test in self.splits]))

    @property
    def errors(self) -> Rows:
        """The rows left out of a regression, with |y − f(x)| in the place of y."""
        tests = self.left_out
        return tests._replace(y=np.abs(tests.y - np.concatenate(self.values)))

    def mean(self, number: Callable[[Array, Rows, int], float]) -> float:
        """Return the mean over the folds, by weight, of a number made from values, the rows left out and the fold."""
        tests = [self.rows.take(test) for _, test in self.splits]
        share = np.array([t.weight.sum() for t in tests])
        each = [number(v, t, k) for k, (v, t) in enumerate(zip(self.values, tests, strict=True))]
        return float(share / share.sum() @ each)

    def shifted(self, by: Array) -> CrossFit:
        """Return the fits with a number added to the scores of each class."""
        functions = [tuple(f + float(b) for f, b in zip(each, by, strict=True)) for each in self.functions]
        return replace(self, functions=functions, values=[v + by[:, None] for v in self.values])
