"""A program but for its data and λ: what stays the same along a path, over folds and over rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from pldc.function.max_affine import Array, IntArray
from pldc.problem.losses import Loss
from pldc.problem.penalties import Penalty
from pldc.problem.program import Problem
from pldc.problem.units import Units


class Rows(NamedTuple):
    """Rows of a table: features, targets, weights."""

    X: Array
    y: Array
    weight: Array

    def take(self, at: IntArray) -> Rows:
        """Return the rows at the given places."""
        return Rows(self.X[at], self.y[at], self.weight[at])


@dataclass(frozen=True)
class Recipe:
    """How to turn rows into a program.

    Attributes
    ----------
    loss, penalty, shape, monotone, linear
        As for :class:`~pldc.problem.program.Problem`.
    standardize : bool
        Write the program in standardised X and y.
    """

    loss: Loss
    penalty: Penalty
    shape: str
    monotone: IntArray
    linear: bool
    standardize: bool

    def units(self, rows: Rows, turn: Array | None = None) -> Units:
        """Return the coordinates in which the program of these rows is written."""
        plain = Units.of(*rows) if self.standardize else Units.none(rows.X.shape[1])
        return replace(plain, turn=turn)

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
        )

    def mean_loss(self, residual: Array, weight: Array) -> float:
        """Weighted mean loss of residuals prediction − y."""
        return float(weight / weight.sum() @ self.loss.value(residual))
