"""An order of classes by content: fits that use it do not depend on what classes are called."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pldc.fit.settings import Settings
from pldc.function.max_affine import Array, IntArray
from pldc.function.pldc import PLDC
from pldc.model import Model
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import ranks_of_classes


@dataclass(frozen=True)
class ClassOrder:
    """Numbers of classes, changed: what was class k is class ``to[k]``. Of a regression there are none to change.

    Attributes
    ----------
    to : int array of shape (m,), or of shape (0,) for a regression
    """

    to: IntArray

    @classmethod
    def by_content(cls, given: Rows, classes: int) -> ClassOrder:
        """Rank so many classes by the rows that count."""
        if classes == 1:
            return cls(np.zeros(0, dtype=np.intp))
        return cls(ranks_of_classes(given.take(np.flatnonzero(given.weight > 0)), classes))

    @property
    def back(self) -> ClassOrder:
        """The order that undoes this one."""
        return ClassOrder(np.argsort(self.to))

    def rows(self, rows: Rows) -> Rows:
        """Return the rows with new labels."""
        return rows._replace(y=self.to[rows.y.astype(np.intp)].astype(np.float64)) if len(self.to) else rows

    def settings(self, settings: Settings) -> Settings:
        """Return settings whose scorer, which knows the old numbers, takes the new ones."""
        score, back = settings.score, self.back
        if score is None or not len(self.to):
            return settings
        return replace(settings, score=lambda F, test: score(F[self.to], back.rows(test)))

    def model(self, model: Model) -> Model:
        """Return the model with its scores in the new order; of two classes, one zero, the first stays the zero."""
        return replace(model, functions=self._functions(model.functions))

    def folds(self, folds: CrossFit | None) -> CrossFit | None:
        """Return the fits of the folds, with rows and scores in the new order."""
        if folds is None or not len(self.to):
            return folds
        place = self.back.to
        return replace(
            folds,
            functions=[self._functions(each) for each in folds.functions],
            values=[scores[place] for scores in folds.values],
            rows=self.rows(folds.rows),
        )

    def _functions(self, functions: tuple[PLDC, ...]) -> tuple[PLDC, ...]:
        if len(self.to) == 2 and self.to[0] == 1 and is_zero(functions[0]):
            return functions[0], -functions[1]
        return tuple(functions[k] for k in self.back.to) if len(self.to) else functions


def is_zero(f: PLDC) -> bool:
    """Say whether a function of one term is zero for want of slopes and offsets."""
    parts: list[Array] = [a for term in f.centred for p in (term.plus, term.minus) for a in (p.slopes, p.offsets)]
    return not any(a.any() for a in parts)
