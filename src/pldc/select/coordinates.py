"""The coordinates of a round of the search: of every fold, learned from its own rows alone, and of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from pldc.function.max_affine import Array
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import AXES, Geometry
from pldc.select.geometry import turn_to, warp_to
from pldc.select.rough import Fit
from pldc.select.smooth import smooth_turn

Learn = Literal["warp", "stretch", "turn", "smooth", "axes"]


class Step(NamedTuple):
    """A round after the first: its recipe, and what is learned for its coordinates.

    "warp": every feature stretched, more here than there; "stretch": every feature by one number; "turn": directions.
    The last two come after a warp, if there was one. "smooth": directions of a kernel smoother; "axes": none.
    """

    recipe: Recipe
    learn: Learn


class Sample(NamedTuple):
    """All rows, those that each fold is fitted to, and the share of the weight that it leaves out."""

    rows: Rows
    train: list[Rows]
    share: Array


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of one round.

    Attributes
    ----------
    folds : list of Geometry
    whole : Geometry
        Those of all rows.
    learned : str
        What they were learned as (:class:`Step`).
    """

    folds: list[Geometry]
    whole: Geometry
    learned: Learn

    @staticmethod
    def axes(folds: int) -> Coordinates:
        """Return those of the features as they are."""
        return Coordinates([AXES] * folds, AXES, "axes")

    def learn(self, step: Step, sample: Sample, fits: list[Fit], jobs: int | None) -> Coordinates | None:
        """Return the coordinates of the next round, given the folds' fits in these; None: there is nothing to learn."""
        if step.learn == "axes":
            return Coordinates.axes(len(self.folds))
        if step.learn == "smooth":
            found = smooth_turns(step.recipe, sample, jobs)
        elif step.learn == "warp":
            found = warps(step.recipe, sample, fits)
        else:
            found = self._turns(step, sample, fits)
        known = [geometry for geometry in found if geometry is not None]
        return Coordinates(known[:-1], known[-1], step.learn) if len(known) == len(found) else None

    def _turns(self, step: Step, sample: Sample, fits: list[Fit]) -> list[Geometry | None]:
        """Learn directions, after the warp if there is one; those of all rows from the folds' gradients together."""
        unit = step.recipe.units(sample.rows)
        scales = [unit.scale / step.recipe.units(train).scale for train in sample.train]
        if self.whole.warp is not None:
            scales = [np.ones(len(unit.scale))] * len(scales)  # warped features have no other unit than their variance
        together = sum(
            share * fit.outer * np.outer(scale, scale)
            for share, fit, scale in zip(sample.share, fits, scales, strict=True)
        )
        folds = zip(self.folds, fits, strict=True)
        sources = [
            *((geometry.warp, fit.points, fit.weight, fit.outer) for geometry, fit in folds),
            (self.whole.warp, unit.scale_X(sample.rows.X), sample.rows.weight, np.asarray(together)),
        ]
        out: list[Geometry | None] = []
        for warp, Z, weight, outer in sources:
            turn = learned_turn(step.recipe, Geometry(warp)(Z), weight, outer, step.learn == "stretch")
            out.append(None if turn is None else Geometry(warp, turn))
        return out


def learned_turn(recipe: Recipe, Z: Array, weight: Array, outer: Array, stretched: bool = False) -> Array | None:
    """Return the turn that the gradients of a fit ask for; where slopes have signs, features are stretched."""
    if Z.shape[1] == 1:  # one feature has one direction
        return None
    return turn_to(outer, Z, weight, diagonal=stretched or bool(np.any(recipe.monotone)))


def smooth_turns(recipe: Recipe, sample: Sample, jobs: int | None) -> list[Geometry | None]:
    """Learn the directions of a smoother of every fold's rows, and of all rows."""
    turns = Parallel(n_jobs=jobs)(delayed(smooth_turn)(recipe, rows) for rows in [*sample.train, sample.rows])
    return [None if turn is None else Geometry(turn=turn) for turn in turns]


def smooth_geometry(recipe: Recipe, rows: Rows) -> Geometry:
    """Return the directions of a smoother of all rows; the axes where slopes have signs or nothing is learned."""
    turn = None if np.any(recipe.monotone) else smooth_turn(recipe, rows)
    return AXES if turn is None else Geometry(turn=turn)


def warps(recipe: Recipe, sample: Sample, fits: list[Fit]) -> list[Geometry | None]:
    """Learn a warp from the slopes of every fold, and one of all rows from those of all folds."""
    unit = recipe.units(sample.rows)
    pooled = []
    for share, fit, train in zip(sample.share, fits, sample.train, strict=True):
        its = recipe.units(train)
        X = its.center + its.scale * fit.points
        pooled.append((unit.scale_X(X), fit.squares * (unit.scale / its.scale) ** 2, share * fit.weight))
    everything = tuple(np.concatenate(parts) for parts in zip(*pooled, strict=True))
    found = [warp_to(*what) for what in [*((f.points, f.squares, f.weight) for f in fits), everything]]
    return [None if warp is None else Geometry(warp=warp) for warp in found]
