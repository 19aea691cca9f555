"""A program but for its data and λ: what stays the same along a path and over folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.problem.losses import Loss
from pldc.problem.penalties import Penalty
from pldc.problem.program import Problem
from pldc.problem.units import Units

Split = tuple[IntArray, IntArray]  # places of rows to fit, and of rows to leave out


class Rows(NamedTuple):
    """Rows of a table: features, targets, weights."""

    X: Array
    y: Array
    weight: Array

    def take(self, at: IntArray) -> Rows:
        """Return the rows at the given places."""
        return Rows(self.X[at], self.y[at], self.weight[at])


def rows_in(weight: Array) -> float:
    """Return how many rows weights stand for: their sum; if they are small, as many equal ones as tell as much."""
    total = float(weight.sum())
    return max(total, total**2 / float(weight @ weight))


@dataclass(frozen=True)
class Recipe:
    """How to turn rows into a program.

    Attributes
    ----------
    loss, penalty, shape, monotone, linear
        As for :class:`~pldc.problem.program.Problem`.
    standardize : bool
        Write the program in standardised X and y (the targets of a regression).
    outputs : int
        Number of classes of a classification, else one.
    """

    loss: Loss
    penalty: Penalty
    shape: str
    monotone: IntArray
    linear: bool
    standardize: bool
    outputs: int = 1

    @property
    def lowest(self) -> float:
        """Value below which no target can lie."""
        return 0.0 if self.loss.nonnegative else -np.inf

    def units(self, rows: Rows) -> Units:
        """Return the coordinates in which the program of these rows is written."""
        self.loss.check(rows.y, self.outputs)
        units = Units.of(*rows) if self.standardize else Units.none(rows.X.shape[1])
        if not self.loss.shifts:
            units = replace(units, y_center=0.0)
        if not self.loss.scales:
            units = replace(units, y_scale=1.0)
        return units

    def problem(self, rows: Rows, units: Units, lam: float) -> Problem:
        """Return the program."""
        return Problem.from_data(
            units.scale_X(rows.X),
            units.scale_y(rows.y),
            weight=rows.weight,
            loss=self.loss,
            penalty=self.penalty,
            lam=lam,
            shape=self.shape,
            monotone=self.monotone,
            linear=self.linear,
            outputs=self.outputs,
        )

    def mean_loss(self, prediction: Array, rows: Rows, unit: float = 1.0) -> float:
        """Weighted mean loss of predictions, scores (m, n) or values (n,), with targets in so many units."""
        return float(rows.weight / rows.weight.sum() @ self.loss.at(prediction / unit, rows.y / unit))
