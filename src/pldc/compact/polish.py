"""Fits of a sample, taken to the minimum over all rows: every pass over them moves every fit on by a step.

Steps are cheap on the sample, which is in memory, and dear on all rows, which are read from wherever they are. So most
are made on the sample; some on more rows, that are held where they are; and a few on all. Each descent goes on with the
curvature that it met before.

Fits differ in columns, pieces, ridge and coordinates. A pass reads each block once and evaluates them all on it: many
cost no more reading than one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pldc.compact.descent import Descent, Memory, minimise
from pldc.compact.members import BLOCK_ROWS, Columns, Fits
from pldc.compact.objective import Form, Objective, Table
from pldc.function.max_affine import Array
from pldc.problem.losses import Loss
from pldc.problem.recipe import Rows

HELD_ROWS = 125_000  # that are held for steps between those on the sample and those on all rows, if all are twice these
HELD_STEPS = 20  # on the rows that are held, after the first evaluation
PASSES, MORE_PASSES = 3, 15  # over all rows, likewise; the more where none are held
WARM_STEPS = (40, 200)  # over the sample before them: least and most,
ROWS_OF_A_STEP = 250  # one for so many rows; more on few rows would follow their noise


@dataclass(frozen=True)
class Member:
    """A fit but for its rows and parameters: small, and can be sent to where rows are.

    Attributes
    ----------
    columns : Columns
        Without rows.
    form : Form
    loss : Loss
        Of standardised targets.
    ridge : float
    pieces, outputs : int
    """

    columns: Columns
    form: Form
    loss: Loss
    ridge: float
    pieces: int
    outputs: int

    @classmethod
    def of(cls, fits: Fits, at: int) -> Member:
        """Return one of several fits."""
        one, columns = fits.objective, fits.columns.at(fits.columns.X[:0])
        return cls(columns, one.form.at([at]), one.loss, float(one.ridge[at]), one.pieces, one.outputs)

    def sums(self, rows: Rows, x: Array) -> tuple[Array, Array]:
        """Weighted sum of the loss over rows, and its gradient (P,), at parameters (P,)."""
        value, gradient = self._objective(rows)(x[None])
        return value, gradient[0]

    def _objective(self, rows: Rows) -> Objective:
        columns = self.columns.at(rows.X)
        # In single precision the cuts between blocks would show: descents part where rounding differs.
        table = Table(columns.block, columns.size, len(rows.y), np.float64, False, BLOCK_ROWS)
        y, none = columns.units.scale_y(rows.y), np.zeros(1)
        group = np.zeros(1, dtype=np.intp)
        form, weight = self.form, rows.weight[None]
        return Objective(table, y, weight, group, self.loss, none, form, self.pieces, None, self.outputs)

    def with_ridge(self, value: Array, gradient: Array, x: Array) -> tuple[Array, Array]:
        """Add the penalty to a mean loss and its gradient."""
        theta = x.reshape(1, len(self.form.signs), self.pieces, -1)
        ridge = np.array([self.ridge / self.pieces])
        flat = np.zeros(theta.shape)
        value = value + ridge * (self.form.slopes(theta) ** 2).sum()
        return value, gradient + self.form.back(theta, flat, ridge).ravel()

    def fits(self, x: Array, like: Fits) -> Fits:
        """Return the fit at new parameters."""
        objective = replace(
            like.objective,
            form=self.form,
            group=np.zeros(1, dtype=np.intp),
            weight=like.objective.weight[-1:],
            ridge=np.array([self.ridge]),
        )
        return Fits(x[None], objective, like.columns)


@dataclass(frozen=True)
class Evaluation:
    """Evaluates members on rows: weight, and for each the sums of loss and gradient."""

    members: tuple[Member, ...]
    points: tuple[Array, ...]

    def __call__(self, rows: Rows) -> tuple[Array, ...]:
        """Return what is to be added up."""
        out = [np.array([rows.weight.sum()])]
        for member, x in zip(self.members, self.points, strict=True):
            out += member.sums(rows, x)
        return tuple(out)


class RowsLost(Exception):
    """The rows cannot be read any more."""


Add = Callable[[Evaluation], tuple[Array, ...]]


@dataclass(frozen=True)
class Total:
    """Adds up an evaluation over all rows, wherever they are.

    Attributes
    ----------
    rows : int
        How many there are.
    add : callable
        Adds up; raises `RowsLost` where it cannot.
    hold : callable, optional
        Holds some of the rows where they are, and returns what adds up over these; None if none are to be held.
    """

    rows: int
    add: Add
    hold: Callable[[], Add | None] = lambda: None


def warm(fit: Fits, stop: Callable[[], bool]) -> Descent:
    """Return a descent over more rows: it begins where one over the sample ends, with the curvature met there."""
    memory, steps = Memory(*fit.x.shape), len(fit.objective.y) // ROWS_OF_A_STEP
    x, _ = minimise(fit.objective, fit.x, min(max(steps, WARM_STEPS[0]), WARM_STEPS[1]), stop, memory)
    return Descent(x, memory)


def polished(
    fits: list[Fits],
    total: Total,
    stop: Callable[[], bool],
    told: Callable[[int, int, list[Fits]], None],
) -> None:
    """Descend over all rows from fits of a sample of them, whose last group is that of all its rows.

    Where rows are lost, the fits as they are, are kept.

    Parameters
    ----------
    fits : list of Fits
        With one ridge each.
    total : Total
    stop : callable
        Asked before every step.
    told : callable
        Number of steps done and wanted, and the fits as they are.
    """
    members = tuple(Member.of(each, len(each.x) - 1) for each in fits)
    descents = [warm(member.fits(each.x[-1], each), stop) for member, each in zip(members, fits, strict=True)]

    def tell(done: int, wanted: int) -> None:
        told(done, wanted, [m.fits(d.x[0], f) for m, d, f in zip(members, descents, fits, strict=True)])

    if stop():
        return
    with suppress(RowsLost):
        held = total.hold()
        few = 0 if held is None else HELD_STEPS + 1
        wanted = few + 1 + (MORE_PASSES if held is None else PASSES)
        for done in range(wanted):
            if stop():
                break
            if done == few and few:
                descents = [Descent(d.x, d.memory) for d in descents]  # values over other rows do not compare
            one_step(members, descents, total.add if held is None or done >= few else held)
            tell(done + 1, wanted)


def one_step(members: tuple[Member, ...], descents: list[Descent], add: Add) -> None:
    """Evaluate the points that the descents ask for, and move them on."""
    mass, *sums = add(Evaluation(members, tuple(d.there[0] for d in descents)))
    for k, (member, descent) in enumerate(zip(members, descents, strict=True)):
        value, gradient = member.with_ridge(sums[2 * k] / mass, sums[2 * k + 1] / mass, descent.there[0])
        descent.tell(value, gradient[None])
