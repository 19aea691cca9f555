"""Quantiles are moved to where rows left out want them."""

import numpy as np
import pytest

from pldc import PLDC
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit
from pldc.select.levels import levelled, weighted_quantile

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("level", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 2, 9, 20, 40])
def test_a_weighted_quantile_is_that_of_repeated_values(n, level):
    values = RNG.integers(0, 6, n) * 1.0
    times = RNG.integers(1, 4, n)
    long = np.repeat(values, times)
    known = np.quantile(long, level, method="averaged_inverted_cdf")
    assert weighted_quantile(values, times * 0.25, level) == pytest.approx(known, abs=1e-15)
    assert weighted_quantile(-values, times * 1.0, 1 - level) == pytest.approx(-known, abs=1e-15)


def cross_fit(y, splits, limits=(-np.inf, np.inf)):
    rows = Rows(RNG.normal(size=(len(y), 1)), y, RNG.uniform(0.5, 2, len(y)))
    functions = [(PLDC.affine([1.0 + k]),) for k in range(len(splits))]
    values = [f(rows.X[test]) for (f,), (_, test) in zip(functions, splits, strict=True)]
    return CrossFit(functions, values, [limits] * len(splits), rows, splits)


def splits_of(n, folds):
    return [
        (np.flatnonzero(np.arange(n) % folds != k), np.flatnonzero(np.arange(n) % folds == k)) for k in range(folds)
    ]


@pytest.mark.parametrize("level", [0.1, 0.8])
def test_a_fold_is_moved_by_what_the_others_lack(level):
    folds = cross_fit(RNG.normal(size=60), splits_of(60, 3))
    lacks, moved = levelled(folds, level)
    off = np.concatenate([folds.rows.y[test] - v for v, (_, test) in zip(folds.values, folds.splits, strict=True)])
    weight = np.concatenate([folds.rows.weight[test] for _, test in folds.splits])
    # by brute force: the constant of the smallest pinball loss
    loss = [weight @ np.maximum(level * (off - c), (level - 1) * (off - c)) for c in off]
    assert weight @ np.maximum(level * (off - lacks), (level - 1) * (off - lacks)) == pytest.approx(min(loss))
    for k, (_, test) in enumerate(folds.splits):
        others = np.concatenate([np.full(20, j) for j in range(3)]) != k
        by = weighted_quantile(off[others], weight[others], level)
        np.testing.assert_allclose(moved.values[k], folds.values[k] + by)
        np.testing.assert_allclose(moved.functions[k][0](folds.rows.X[test]), moved.values[k])


def test_of_a_single_fold_its_own_rows_must_do():
    folds = cross_fit(RNG.normal(size=50), splits_of(50, 5)[:1])
    lacks, moved = levelled(folds, 0.9)
    np.testing.assert_allclose(moved.values[0], folds.values[0] + lacks)


def test_what_is_cut_away_counts_until_then():
    """Of targets at a limit, cut values lie at it, too: what they lack says nothing of the function."""
    folds = cross_fit(np.maximum(RNG.normal(size=200), 0.0), splits_of(200, 4), limits=(0.0, np.inf))
    lacks, moved = levelled(folds, 0.9)
    raw = [f(folds.rows.X[test]) for (f,), (_, test) in zip(folds.functions, folds.splits, strict=True)]
    off = np.concatenate([folds.rows.y[test] - v for v, (_, test) in zip(raw, folds.splits, strict=True)])
    weight = np.concatenate([folds.rows.weight[test] for _, test in folds.splits])
    assert lacks == weighted_quantile(off, weight, 0.9)
    for (f,), v, (_, test) in zip(moved.functions, moved.values, folds.splits, strict=True):
        np.testing.assert_allclose(v, np.maximum(f(folds.rows.X[test]), 0.0))


@pytest.mark.parametrize("n, level, moves", [(40, 0.9, True), (28, 0.9, False), (200, 0.99, False), (28, 0.2, True)])
def test_few_rows_beyond_a_level_do_not_move_it(n, level, moves):
    y = RNG.normal(size=n)
    y[3] = 1e3  # an outlier may be the quantile of 0.99
    folds = cross_fit(y, splits_of(n, 4))
    folds.rows.weight[:] = 1.0
    lacks, moved = levelled(folds, level)
    assert (lacks != 0.0) == moves and lacks < 100.0
    if not moves:
        np.testing.assert_allclose(np.concatenate(moved.values), np.concatenate(folds.values))


def test_values_stay_within_the_range_that_the_fold_has_seen():
    folds = cross_fit(RNG.normal(size=60) + 5, splits_of(60, 3), limits=(-1.0, 2.0))
    assert max(v.max() for v in levelled(folds, 0.9)[1].values) == 2.0


def test_the_median_stays_where_it_is():
    folds = cross_fit(RNG.normal(size=60) + 5, splits_of(60, 3))
    assert levelled(folds, 0.5) == (0.0, folds)
