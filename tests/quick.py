"""Less of the same work, for tests that look at something else."""

import importlib
from contextlib import contextmanager
from dataclasses import replace

import pytest

from pldc.compact import student
from pldc.compact.plan import plan_for, plan_for_classes


@contextmanager
def few_starts(points=1100, fresh=500, starts=3, in_a_fold=1):
    """Students of few pieces learn from fewer points and starts."""
    module = importlib.import_module("pldc.fit.students")  # not the function of that name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(student, "LESSON_POINTS", points)
        patch.setattr(student, "CLASS_POINTS", points)
        patch.setattr(student, "FRESH_POINTS", fresh)
        patch.setattr(module, "STARTS", starts)
        patch.setattr(module, "CLASS_STARTS", starts)
        patch.setattr(module, "STARTS_IN_A_FOLD", in_a_fold)
        yield


@contextmanager
def few_kinds():
    """Compact functions are chosen from fewer kinds, smaller ones, which descend in fewer steps from one start."""

    def less(plan):
        small = [
            replace(c, knots=min(c.knots, 4), pieces=4, ridges=c.ridges[1:3], rounds=min(c.rounds, 1), steps=25)
            for c in plan.candidates
        ]
        return replace(plan, candidates=list(dict.fromkeys(small)), members=1, kept=2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.fit.few_pieces.plan_for", lambda n, d, **wanted: less(plan_for(n, d, **wanted)))
        patch.setattr("pldc.fit.few_pieces.plan_for_classes", lambda n, d, m: less(plan_for_classes(n, d, m)))
        yield


@contextmanager
def quick():
    """Both."""
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        yield
