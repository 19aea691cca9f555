"""One kind of compact function fitted from one start: to every fold and with every ridge at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pldc.compact.begin import Begun, begin, lowest
from pldc.compact.coordinates import learned_turns
from pldc.compact.descent import minimise
from pldc.compact.device import DeviceTable
from pldc.compact.objective import PARTS, Form, Objective, Table
from pldc.compact.start import class_planes, quantile_knots, tangent_planes
from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array, IntArray, MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.term_sum import split_center
from pldc.problem.losses import Loss
from pldc.problem.recipe import Rows
from pldc.problem.units import Units

SINGLE_PRECISION_ROWS = 1000  # rows from which sums are in single precision
BLOCK_ROWS = 2048  # rows of a block
# Numbers of φ that are held, or twice those of X; of more, they are made anew for every product.
MOST_NUMBERS_KEPT = 1 << 24
STAGES_FROM_ROWS = 15_000  # rows from which a descent begins on few: on the first of these,
FIRST_STAGE_ROWS, GROWTH = 10_000, 5  # so many, and so many times more in each stage,
SHORTER, FEWEST_STEPS = 3, 5  # with so many times fewer steps, but never fewer than this
CENTRE_ROWS = 4096  # rows that tell the mean of a column, and where a descent begins
FINEST = 1e2  # rise of a ramp, in standard deviations, up to which single precision will do
KNOTS_ROWS = 20_000  # rows whose quantiles are the knots
SMOOTH = 0.02  # width, in units of y, of the parabola that replaces a kink of the loss while descending
ROOT = 0.1  # least root of a monotone slope to begin with: zero would stay zero


@dataclass(frozen=True)
class Candidate:
    """A kind of compact function.

    Attributes
    ----------
    knots : int
        Ramps of each feature; 0 for plain features.
    pieces : int
        K.
    ridges : tuple of float
        ρ that are tried.
    rounds : int
        How often coordinates are learned after the first fit.
    steps : int
        Evaluations of each fit.
    starts : int
        On the first rows of many; the one that is lowest on more rows goes on.
    second : int
        Evaluations on the second stage of many rows; 0: fewer than on the first.
    """

    knots: int
    pieces: int
    ridges: tuple[float, ...]
    rounds: int = 0
    steps: int = 100
    starts: int = 1
    second: int = 0


@dataclass(frozen=True)
class Task:
    """The rows of a fit, standardised, and what is asked of it.

    Attributes
    ----------
    rows : Rows
        In the units of the data.
    units : Units
    loss : Loss
        Of standardised targets.
    shape : {"dc", "convex", "concave"}
    monotone : int array of shape (d,)
    classes : int
        Number of classes; one for a regression.
    device : str or None
        Of torch, for the products with all rows; None: NumPy.
    """

    rows: Rows
    units: Units
    loss: Loss
    shape: str
    monotone: IntArray
    classes: int = 1
    device: str | None = None

    @property
    def outputs(self) -> int:
        """Functions to fit: one for each class, but one alone for two."""
        return self.classes if self.classes > 2 else 1

    @property
    def signs(self) -> tuple[float, ...]:
        """Signs of the parts of all outputs."""
        return PARTS[self.shape] * self.outputs

    @property
    def smooth_loss(self) -> Loss:
        """The loss with its kinks rounded off."""
        return self.loss.smoothed(SMOOTH)

    def take(self, at: IntArray) -> Task:
        """Return the task on some of the rows."""
        return replace(self, rows=self.rows.take(at))


class Columns:
    """φ of the rows of a task: standardised features and ramps, each less its mean; and a one.

    Parameters
    ----------
    task : Task
    hinges : Hinges or None
    """

    def __init__(self, task: Task, hinges: Hinges | None):
        self.X, self.units, self.hinges = task.rows.X, task.units, hinges
        d = self.X.shape[1]
        self.source = np.arange(d) if hinges is None else np.append(np.arange(d), hinges.source)
        self.size = len(self.source) + 1
        self.constant = (self.X[0] == self.X).all(axis=0)
        # A ramp is clip(rise · z − begin, 0, 1) of a standardised feature z.
        self.rise = self.begin = np.zeros((0, 1))
        if hinges is not None:
            scale, center = self.units.scale[hinges.source], self.units.center[hinges.source]
            with np.errstate(over="ignore"):
                self.rise = (scale / hinges.width)[:, None]
                self.begin = ((hinges.start - center) / hinges.width)[:, None]
        self.fine = bool(max(self.rise.max(initial=0.0), np.abs(self.begin).max(initial=0.0)) > FINEST)
        self.center = np.zeros((len(self.source), 1))
        self.center = self.block(slice(0, CENTRE_ROWS), np.float64)[:-1].mean(axis=1, keepdims=True)

    def at(self, X: Array) -> Columns:
        """Return the same columns of other rows."""
        other = copy(self)
        other.X = X
        return other

    def block(self, rows: Any, dtype: Any, out: Array | None = None) -> Array:
        """Columns of some rows and a one, shape (D + 1, rows); into `out`, if it is given."""
        X = self.X[rows]
        d = X.shape[1]
        if out is None:
            out = np.empty((self.size, len(X)), dtype=dtype)
        out[:d] = ((X - self.units.center) / self.units.scale).T
        out[-1] = 1.0
        ramps = out[d:-1]
        if self.hinges is not None and self.fine:  # between knots so close, the distance to them would be lost
            ramps[:] = self.hinges(X)[:, d:].T
        elif self.hinges is not None:
            np.take(out[:d], self.source[d:], axis=0, out=ramps, mode="clip")  # else `take` makes a copy first
            ramps *= self.rise.astype(dtype)
            ramps -= self.begin.astype(dtype)
            np.clip(ramps, 0.0, 1.0, out=ramps)
        out[:-1] -= self.center.astype(dtype)
        return out

    def function(self, pieces: Array, signs: Sequence[float]) -> PLDC:
        """Return the function of pieces (parts, K, D + 1) along the columns, in the units of the data."""
        d = self.X.shape[1]
        units = self.units
        slopes = units.y_scale * pieces[:, :, :-1]
        slopes[:, :, :d][:, :, self.constant] = 0.0  # chance alone: a constant feature tells nothing
        offsets = units.y_scale * pieces[:, :, -1] - slopes @ self.center[:, 0]
        near, away = split_center(units.center, units.scale)
        offsets = offsets - slopes[:, :, :d] @ (near / units.scale)
        slopes[:, :, :d] /= units.scale
        first = int(np.argmax(np.array(signs) > 0))  # the level of y goes to one part
        offsets[first] += signs[first] * units.y_center
        parts = dict(zip(signs, map(MaxAffine, slopes, offsets), strict=True))
        zero = MaxAffine.zero(slopes.shape[2])
        hinges = None if self.hinges is None else self.hinges.scaled(np.ones(d), away)
        return PLDC(parts.get(1.0, zero), parts.get(-1.0, zero), hinges).moved(away).drop_dominated()


@dataclass(frozen=True)
class Fits:
    """Fits of one candidate in one round, from one start.

    Attributes
    ----------
    x : array of shape (groups · ridges, P)
        Group by group.
    objective : Objective
        Of all rows or, where time was out before they were seen, of the first ones.
    columns : Columns
    """

    x: Array
    objective: Objective
    columns: Columns

    def values(self) -> Array:
        """F at all rows, standardised: (groups, ridges, n), or (groups, ridges, classes, n) of scores."""
        objective, n = self.objective, len(self.columns.X)
        if objective.table.n < n:
            objective = replace(objective, table=table_of(self.columns, n))
        f = objective.values(self.x)
        if f.ndim == 3 and f.shape[1] == 1:  # of two classes the first has the score zero
            f = np.concatenate([np.zeros_like(f), f], axis=1)
        return f.reshape(len(self.objective.weight), -1, *f.shape[1:])

    def functions(self, group: int, ridge: int) -> tuple[PLDC, ...]:
        """Return the function, or the score of each class, in the units of the data."""
        at = group * (len(self.x) // len(self.objective.weight)) + ridge
        theta = self.x.reshape(len(self.x), *self.objective.shape)[[at]]
        form, outputs = self.objective.form, self.objective.outputs
        each = np.split(form.at([at]).pieces(theta)[0], outputs)
        found = tuple(self.columns.function(part, form.signs[: len(part)]) for part in each)
        if self.objective.loss.scores and outputs == 1:
            return PLDC.affine(np.zeros(found[0].n_features)), *found
        return found

    def function(self, group: int, ridge: int) -> PLDC:
        """Return the function of a regression."""
        (one,) = self.functions(group, ridge)
        return one


def fit_member(
    task: Task,
    candidate: Candidate,
    groups: Array,
    seed: int | Sequence[int],
    pool: ThreadPoolExecutor | None,
    stop: Callable[[], bool],
    apart: bool = False,
) -> list[Fits]:
    """Fit a candidate from one start; one result a round.

    Parameters
    ----------
    groups : array of shape (g, n)
        Weights of the rows, one line a fold (zero where it leaves a row out).
    seed : int or sequence of int
        Of the start: its centres and knots.
    apart : bool
        Each group begins at centres of its own.
    """
    n = len(task.rows.y)
    hinges = quantile_knots(task.rows.X[:KNOTS_ROWS], candidate.knots, seed) if candidate.knots else None
    if hinges is not None and not any(len(k) for k in hinges.knots):
        hinges = None
    columns = Columns(task, hinges)
    count, ridges = len(groups), np.array(candidate.ridges)
    monotone = None
    if task.monotone.any():
        monotone = task.monotone[columns.source]
    form, out = Form(task.signs, None, monotone), []
    for number in range(candidate.rounds + 1):
        begun: list[Begun] = []
        for size, steps in stages(n, candidate.steps, candidate.second):
            objective = Objective(
                table_of(columns, size, task.device),
                task.units.scale_y(task.rows.y[:size]),
                groups[:, :size] / groups[:, :size].sum(axis=1, keepdims=True),
                np.repeat(np.arange(count), len(ridges)),
                task.smooth_loss,
                np.tile(ridges, count),
                form,
                candidate.pieces,
                pool,
                task.outputs,
            )
            if begun:
                x, memory = lowest(begun, objective)
                begun = [(minimise(objective, x, steps, stop, memory)[0], memory)]
            else:
                own = [*np.atleast_1d(seed).tolist(), number]
                seeds = [own + [k] * (k > 0) for k in range(candidate.starts)]
                begun = begin(objective, lambda s, o: starts(o, task, columns, groups, s, apart), seeds, steps, stop)
            if stop():
                break
        x, _ = lowest(begun, objective)
        out.append(Fits(x, objective, columns))
        if stop() or number == candidate.rounds:
            break
        form = Form(task.signs, learned_turns(objective, x), monotone)
    return out


def stages(n: int, steps: int, second: int = 0) -> list[tuple[int, int]]:
    """Return how many rows to descend on, and how many steps, one stage after the other.

    There are fewer steps from stage to stage, but where `second` says how many there are on the second.
    """
    if n <= STAGES_FROM_ROWS:
        return [(n, steps)]
    sizes = [FIRST_STAGE_ROWS]
    while sizes[-1] * GROWTH < n:
        sizes.append(sizes[-1] * GROWTH)
    count = [max(steps // SHORTER**k, FEWEST_STEPS) for k in range(len(sizes))]
    count[1:2] = [second or each for each in count[1:2]]
    return [*zip(sizes, count, strict=True), (n, FEWEST_STEPS)]


def table_of(columns: Columns, n: int, device: str | None = None) -> Table:
    """Return the first n rows as the products want them."""
    keep = n * columns.size <= max(MOST_NUMBERS_KEPT, 2 * n * columns.X.shape[1])
    dtype = np.float32 if n > SINGLE_PRECISION_ROWS else np.float64
    if device is not None:
        return DeviceTable(columns.block, columns.size, n, dtype, keep, device)
    return Table(columns.block, columns.size, n, dtype, keep, BLOCK_ROWS)


def starts(
    objective: Objective, task: Task, columns: Columns, groups: Array, seed: list[int], apart: bool = False
) -> Array:
    """Return where the descents begin, (B, P): fits of a group in the same coordinates begin at one point."""
    form, group = objective.form, objective.group
    out: list[Array] = []
    for b in range(len(group)):
        if b and group[b] == group[b - 1]:
            if form.turn is None:
                out.append(out[-1])
                continue
        else:
            rows = np.flatnonzero(groups[group[b]] > 0)[:CENTRE_ROWS]
            F, y = columns.block(rows, np.float64)[:-1].T, task.units.scale_y(task.rows.y[rows])
        w = groups[group[b], rows]
        G = F if form.turn is None else F @ form.turn[b]
        w = w / w.sum()
        own = [*seed, int(group[b])] if apart else seed
        if task.loss.scores:
            theta = class_planes(G, y, w, form.signs, task.outputs, objective.pieces, own)
        else:
            theta = tangent_planes(G, y, w, form.signs, objective.pieces, own)
        if form.monotone is not None:
            side = np.array(form.signs)[:, None, None] * form.monotone
            root = np.maximum(np.sqrt(np.maximum(side * theta[..., :-1], 0.0)), ROOT)
            theta[..., :-1] = np.where(form.monotone == 0, theta[..., :-1], root)
        out.append(theta.ravel())
    return np.array(out)
