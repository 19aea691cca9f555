"""Quantiles that hold their share of new rows: each is moved by a constant, which rows left out say.

A fit of few pieces follows its training rows: of these a share q lies below f, of new rows less if q is high, and more
if it is low. At rows left out, f + c has a share q of the targets below it where c is the quantile q of y − f.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.problem.recipe import Rows, rows_in
from pldc.select.cross_fit import CrossFit

FEWEST_BEYOND = 3.0  # rows
MEDIAN = 0.5  # the absolute loss: f is in the middle of the targets, to which a fit is drawn from both sides alike


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the middle of all numbers that have a share `level` of the values on either side, ties included."""
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weight[order])
    need, rounding = level * mass[-1], 1e-12 * mass[-1]
    low = values[min(int((mass < need - rounding).sum()), len(values) - 1)]
    high = values[min(int((mass <= need + rounding).sum()), len(values) - 1)]
    return float(0.5 * (low + high))


def missing(off: list[Array], tests: list[Rows], level: float) -> float:
    """Return the constant that fits of folds lack, of which the targets they left out are off by so much.

    Where few rows are to lie beyond the level, it would be what one or two of them say, and is zero.
    """
    weight = np.concatenate([test.weight for test in tests])
    if rows_in(weight) * min(level, 1.0 - level) < FEWEST_BEYOND:
        return 0.0
    return weighted_quantile(np.concatenate(off), weight, level)


def levelled(folds: CrossFit, level: float) -> tuple[float, CrossFit]:
    """Return the constant that a fit lacks, and the fits of the folds with what they lack.

    What a fold's fit lacks the other folds say: the rows that it left out do not move it. Of a single fold they must.
    The values of a fold are those of its function, cut; what is cut away counts until then.
    """
    if level == MEDIAN:
        return 0.0, folds
    tests = [folds.rows.take(test) for _, test in folds.splits]
    raw = [f(test.X) for (f,), test in zip(folds.functions, tests, strict=True)]
    off = [test.y - v for v, test in zip(raw, tests, strict=True)]
    functions: list[tuple[PLDC, ...]] = []
    values = []
    for k, ((f,), value, cut) in enumerate(zip(folds.functions, raw, folds.limits, strict=True)):
        others = [j for j in range(len(tests)) if j != k] or [k]
        lacks = missing([off[j] for j in others], [tests[j] for j in others], level)
        functions.append((f + lacks,))
        values.append(np.clip(value + lacks, *cut))
    return missing(off, tests, level), replace(folds, functions=functions, values=values)
