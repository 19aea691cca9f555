"""A function inside an optimisation model: linear rows and a few binaries, for any mixed-integer solver.

To keep y ≤ max_i p_i(x) − max_l q_l(x), one piece i of the first maximum must be chosen, by a binary z_i; the other
maximum takes rows alone. (With parts exchanged the same holds for y ≥ f(x), and y = f(x) is both.) Two ways to write
the choice:

- The box is split up among the pieces: x = Σ_i x_i with x_i in z_i times the box, and y ≤ Σ_i y_i with
  y_i ≤ p_i(x_i) − q_l(x_i), constants times z_i. Without hinges no relaxation of f is tighter.
- For many pieces that is long. Then y + s ≤ p_i(x) + Σ_l M_il z_l with s ≥ q_l(x), where M_il is the largest value of
  p_l − p_i over the box: a piece is a sum of curves, one a feature, so it is a sum of largest values of curves.

Hinges bend curves at knots: the intervals between them are filled one after the other, with a binary for every knot
inside the box.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.export.learned import described
from pldc.export.milp_rows import Milp
from pldc.function import PLDC
from pldc.function.checks import shown
from pldc.function.max_affine import Array, IntArray, MaxAffine
from pldc.function.mixed_integer import Program
from pldc.function.optimize import polytope
from pldc.function.term import Term

RELATIONS = ("=", ">=", "<=")
MOST_ENTRIES = 20_000  # of the rows that split a box up: beyond, constants M are shorter


def to_milp(function: PLDC, bounds: Iterable[Any], relation: str = "=") -> Milp:
    """Write y = f(x), or an inequality, for x in a box, as linear rows and binaries.

    Parameters
    ----------
    function : PLDC
        Of any kind, such as ``model.function_``. Its values are not cut to a range, as those of ``predict`` are.
    bounds : sequence of d pairs (low, high)
        The box. The smaller it is, the sooner a solver is done. An end may be None where no binary is needed.
    relation : {"=", ">=", "<="}, default="="
        ">=", y ≥ f(x): enough to minimise f, or to keep it below a limit, without binaries for the plus parts. "<=",
        y ≤ f(x): enough to maximise f, or to keep it above a limit, without binaries for the minus parts.

    Returns
    -------
    Milp
        For SciPy as it is; :mod:`pldc.export` adds it to models of HiGHS, Pyomo, CVXPY and Gurobi.

    Examples
    --------
    >>> from scipy.optimize import milp
    >>> f = abs(PLDC.affine([1.0], -1.0)) - 2.0 * abs(PLDC.affine([1.0]))
    >>> form = to_milp(f, bounds=[(-1, 3)], relation=">=")
    >>> form.n_binaries, round(milp(**form.for_scipy()).fun, 6)
    (2, -4.0)
    """
    if hasattr(function, "_record") and not isinstance(function, type):
        function._record()  # one that is not fitted says so
    if not isinstance(function, PLDC):
        raise TypeError(f"to_milp takes a PLDC, such as model.function_, got {described(function)}")
    if not isinstance(relation, str) or relation not in RELATIONS:
        raise ValueError(f"relation must be one of {RELATIONS}, got {shown(relation)}.")
    box, program = polytope(function.n_features, bounds).bounds, Program()
    x = program.variables("input", *box.T)
    program.rows(x, np.eye(len(x)), *box.T)
    terms = function.centred
    if function.center is not None:
        x, box = _less(program, x, box, np.array(function.center))
    axes = [_axis(program, j, x[j], box[j], terms) for j in range(len(x))]
    tables = [[_table(axes, term, part) for part in term.parts] for term in terms]
    tables, middle, size = _of_order_one(axes, tables)
    value = program.variables("value", np.full(len(tables), -np.inf), np.full(len(tables), np.inf))
    for at, (plus, minus) in zip(value, tables, strict=True):
        if relation in ("=", "<="):
            _below(program, axes, at, 1.0, plus, minus)
        if relation in ("=", ">="):
            _below(program, axes, at, -1.0, minus, plus)
    y = program.variables("output", [-np.inf], [np.inf])
    program.rows(np.append(value, y), np.append(np.ones(len(value)), -1.0 / size)[None], -middle / size, -middle / size)
    cost = np.zeros(len(program.roles))
    cost[y] = -1.0 if relation == "<=" else 1.0
    return Milp(**vars(program.assembled()), c=cost, roles=tuple(program.roles))


def _less(program: Program, x: IntArray, box: Array, center: Array) -> tuple[IntArray, Array]:
    """Add variables for inputs less a centre that is far away, where all rows are written; return places and ends."""
    far, near = np.flatnonzero(center), x.copy()
    box = box - center[:, None]
    near[far] = program.variables("centred", *box[far].T)
    eye = np.eye(len(far))
    program.rows(np.append(x[far], near[far]), np.hstack([eye, -eye]), center[far], center[far])
    return near, box


@dataclass(frozen=True, eq=False)
class _Axis:
    """A feature within its bounds: the points where curves may bend, and the variables x and its fills."""

    points: Array
    places: IntArray

    @property
    def at(self) -> Array:
        """Values of the variables at the points: x, and ones for the fills below it; (points, variables)."""
        return np.column_stack([self.points, np.tri(len(self.points), len(self.places) - 1, -1)])


def _axis(program: Program, feature: int, x: int, ends: Array, terms: Sequence[Term]) -> _Axis:
    """Return an axis. If some term has knots there, x = low + Σ width · fill: one fill waits until that before is full.

    Between two fills stands a binary, fill ≥ passed ≥ next fill, so that one of both is full or empty.
    """
    knots = np.unique(np.concatenate([np.zeros(0), *(t.hinges.knots[feature] for t in terms if t.hinges is not None)]))
    points = np.unique([*ends, *knots[(knots > ends[0]) & (knots < ends[1])]])
    if len(knots) == 0:
        return _Axis(points, np.array([x]))
    if not np.isfinite(ends).all():
        raise ValueError(f"Feature {feature} has knots, so its bounds must be finite: got ({ends[0]}, {ends[1]}).")
    count = len(points) - 1
    fill = program.variables("fill", np.zeros(count), np.ones(count))
    program.rows(np.append(fill, x), np.append(np.diff(points), -1.0)[None], -ends[0], -ends[0])
    if count > 1:
        passed = program.variables("passed", np.zeros(count - 1), np.ones(count - 1), whole=True)
        eye, step = np.eye(count), np.eye(count - 1)
        program.rows(np.append(fill, passed), np.hstack([eye[:-1], -step]), 0.0, np.inf)
        program.rows(np.append(fill, passed), np.hstack([-eye[1:], step]), 0.0, np.inf)
    return _Axis(points, np.append(x, fill))


def _table(axes: Sequence[_Axis], term: Term, part: MaxAffine) -> Array:
    """Return the pieces of a part as affine functions of the variables of all axes: a row each, the constant last."""
    d = len(axes)
    first = np.cumsum([0, *(len(axis.places) for axis in axes)])
    columns = np.zeros((part.n_features, first[-1] + 1))
    columns[np.arange(d), first[:-1]] = 1.0
    if term.hinges is not None:
        for j, axis in enumerate(axes):
            points = np.zeros((len(axis.points), d))
            points[:, j] = axis.points
            ramps = d + np.flatnonzero(term.hinges.source == j)
            heights = term.hinges(points)[:, ramps].T
            columns[ramps, first[j] + 1 : first[j + 1]] = np.diff(heights, axis=1)[:, : len(axis.places) - 1]
            columns[ramps, -1] = heights[:, 0]
    table = part.slopes @ columns
    table[:, -1] += part.offsets
    return table


def _largest(axes: Sequence[_Axis], table: Array) -> Array:
    """Return the largest value over the box of affine functions (…, variables and a constant): a sum over the axes."""
    ends = np.cumsum([len(axis.places) for axis in axes])
    blocks = np.split(table[..., :-1], ends[:-1], axis=-1)
    highest = [(block @ axis.at.T).max(axis=-1) for block, axis in zip(blocks, axes, strict=True)]
    return np.asarray(np.sum(highest, axis=0) + table[..., -1])


def _of_order_one(axes: Sequence[_Axis], terms: list[list[Array]]) -> tuple[list[list[Array]], float, float]:
    """Shift and scale all parts to numbers of order one, which solvers want; return shift and scale, too."""
    if not _bounded(axes):
        return terms, 0.0, 1.0
    ranges = [[(-_largest(axes, -table).max(), _largest(axes, table).max()) for table in term] for term in terms]
    low, high = np.moveaxis(np.array(ranges), -1, 0)
    middles, size = (low + high) / 2, float((high - low).max()) or 1.0
    for term, own in zip(terms, middles, strict=True):
        for table, middle in zip(term, own, strict=True):
            table[:, -1] -= middle
            table /= size
    return terms, float((middles[:, 0] - middles[:, 1]).sum()), size


def _bounded(axes: Sequence[_Axis]) -> bool:
    return all(np.isfinite(axis.points).all() for axis in axes)


def _below(program: Program, axes: Sequence[_Axis], value: int, sign: float, top: Array, bottom: Array) -> None:
    """Add sign · value ≤ highest piece of top − highest piece of bottom; both are tables of pieces."""
    x, lead = np.concatenate([axis.places for axis in axes]), np.zeros((1, 1))
    if _bounded(axes):
        (bottom, _), (top, lead) = _without_the_lower(axes, bottom), _without_the_lower(axes, top)
    if len(top) == 1:
        rows = top - bottom
        program.rows(
            np.append(x, value), np.column_stack([rows[:, :-1], np.full(len(rows), -sign)]), -rows[:, -1], np.inf
        )
        return
    if not _bounded(axes):
        open_ = [j for j, axis in enumerate(axes) if not np.isfinite(axis.points).all()]
        raise ValueError(f"This function needs binaries, and these need finite bounds; features {open_} have none.")
    z = program.variables("choice", np.zeros(len(top)), np.ones(len(top)), whole=True)
    program.rows(z, np.ones((1, len(z))), 1.0, 1.0)
    if top.size * len(bottom) <= MOST_ENTRIES:
        _split_box(program, axes, value, sign, top, bottom, z)
        return
    ones = np.ones((len(top), 1))
    s = program.variables("epigraph", [-np.inf], [np.inf])
    program.rows(np.append(x, s), np.column_stack([bottom[:, :-1], -np.ones(len(bottom))]), -np.inf, -bottom[:, -1])
    places = np.concatenate([x, z, s, [value]])
    program.rows(places, np.hstack([top[:, :-1], lead, -ones, -sign * ones]), -top[:, -1], np.inf)


def _split_box(
    program: Program, axes: Sequence[_Axis], value: int, sign: float, top: Array, bottom: Array, z: IntArray
) -> None:
    """Give every piece of top a share of x, from the lower end of the box in units of its widths, and of the value."""
    x = np.concatenate([axis.places for axis in axes])
    low, high = (np.concatenate([axis.at[end] for axis in axes]) for end in (0, -1))
    width, eye, k = np.diag(high - low), np.eye(len(x)), len(top)
    shares = program.variables("share of x", np.zeros(k * len(x)), np.full(k * len(x), np.inf)).reshape(k, len(x))
    values = program.variables("share of y", np.full(k, -np.inf), np.full(k, np.inf))
    program.rows(np.append(shares, x), np.hstack([*[width] * k, -eye]), -low, -low)
    program.rows(np.append(values, value), np.append(np.ones(k), -sign)[None], 0.0, np.inf)
    for i in range(k):
        program.rows(np.append(shares[i], z[i]), np.column_stack([eye, -np.ones(len(x))]), -np.inf, 0.0)
        rows = top[i] - bottom
        at_low, across = rows[:, :-1] @ low + rows[:, -1], rows[:, :-1] @ width
        places = np.append(shares[i], [z[i], values[i]])
        program.rows(places, np.column_stack([across, at_low, -np.ones(len(rows))]), 0.0, np.inf)


def _without_the_lower(axes: Sequence[_Axis], table: Array) -> tuple[Array, Array]:
    """Drop pieces that lie below another one all over the box; return how far each, l, rises above each, i, as well."""
    lead = _largest(axes, table[None] - table[:, None])
    keep = np.ones(len(table), dtype=bool)
    for l in range(len(table)):
        keep[l] = False
        keep[l] = not (lead[keep, l] <= 0).any()
    return table[keep], lead[np.ix_(keep, keep)]
