"""The fits of the folds, and how far each was off where it had not looked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Rows, Split


@dataclass(frozen=True)
class CrossFit:
    """The fits of all folds, and their values at the rows they did not see.

    Attributes
    ----------
    functions : list of PLDC
        One a fold.
    values : list of arrays
        For each fold, its predictions at the rows left out.
    limits : list of (float, float)
        For each fold, the range that its predictions are cut to.
    rows : Rows
        All rows,
    splits : list of (train, test)
        and the places of those that each fold was fitted to and left out.
    """

    functions: list[PLDC]
    values: list[Array]
    limits: list[tuple[float, float]]
    rows: Rows
    splits: list[Split]

    @property
    def errors(self) -> Rows:
        """The rows left out, with |y − f(x)| in the place of y."""
        tests = self.rows.take(np.concatenate([test for _, test in self.splits]))
        return tests._replace(y=np.abs(tests.y - np.concatenate(self.values)))
