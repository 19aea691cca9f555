"""Where errors are large: the scale that intervals follow."""

from dataclasses import replace

import numpy as np
import pytest

from pldc import PLDC, DCRegressor
from pldc.compact.clock import Clock
from pldc.fit import noise
from pldc.fit.noise import errors_of, left_out_again
from pldc.fit.settings import Settings
from pldc.problem.losses import Squared
from pldc.problem.penalties import Joint
from pldc.problem.recipe import Recipe, Rows
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import group_folds

N = 600
SETTINGS = Settings(Recipe(Squared(), Joint(), "dc", np.zeros(2, dtype=int), False, True), threads=1)


def of_zero(X, y, weight=None):
    """Return fits of two folds that are zero everywhere: their errors are |y|."""
    n = len(y)
    rows = Rows(X, y, np.ones(n) if weight is None else weight)
    splits = [(np.arange(n // 2, n), np.arange(n // 2)), (np.arange(n // 2), np.arange(n // 2, n))]
    zero = PLDC.affine(np.zeros(2))
    values = [np.zeros(len(test)) for _, test in splits]
    return CrossFit([zero, zero], values, [(-np.inf, np.inf)] * 2, rows, splits)


def table(noise_at, seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, noise_at(X) * rng.standard_normal(n)


def growing(X):
    return 0.2 + 2.0 * np.maximum(X[:, 0], 0.0)


def found(X, y, weight=None, clock=None):
    errors, interrupted = errors_of(of_zero(X, y, weight), SETTINGS, clock or Clock())
    assert not interrupted
    return errors


def test_widths_follow_a_noise_that_grows():
    errors = found(*table(growing))
    X, y = table(growing, 1, 4000)
    width = errors.width(X, 0.9)
    assert 0.88 <= np.mean(np.abs(y) <= width) <= 0.92
    for low in np.linspace(-1, 0.75, 8):  # in slices of the feature that the noise depends on
        here = (low <= X[:, 0]) & (X[:, 0] < low + 0.25)
        assert 0.75 < np.mean(width[here]) / np.mean(1.645 * growing(X[here])) < 1.3


def test_widths_are_alike_where_the_noise_is():
    errors = found(*table(lambda X: 0.7))
    width = errors.width(table(growing, 1)[0], 0.9)
    assert np.std(width) < 0.05 * np.mean(width) and np.mean(width) == pytest.approx(1.645 * 0.7, rel=0.1)


def test_quantiles_are_of_errors_that_the_scale_did_not_see():
    # A scale that saw the errors themselves would leave too narrow a band: many ramps for few errors.
    covered = []
    for seed in range(12):
        errors = found(*table(growing, seed, 60))
        X, y = table(growing, 100 + seed, 1000)
        covered.append(np.mean(np.abs(y) <= errors.width(X, 0.9)))
    assert np.mean(covered) > 0.88


def grouped(seed, groups):
    """Return ten rows a group, which lie close together and have one noise: another group's tells nothing of it."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(groups), 10)
    X = rng.uniform(-1, 1, (groups, 2))[label] + 1e-3 * rng.standard_normal((10 * groups, 2))
    return X, np.exp(rng.standard_normal(groups))[label] * rng.standard_normal(10 * groups), label


def test_errors_of_a_group_are_left_out_together():
    # A scale that has seen other errors of a group knows its noise, as it cannot know that of a new group.
    covered, spread = {"groups": [], "rows": []}, {"groups": [], "rows": []}
    for seed in range(8):
        X, y, label = grouped(seed, 60)
        rows = Rows(X, y, np.ones(len(y)))
        splits = group_folds(rows, label, 5)
        zero = PLDC.affine(np.zeros(2))
        values = [np.zeros(len(test)) for _, test in splits]
        folds = CrossFit([(zero,)] * 5, values, [(-np.inf, np.inf)] * 5, rows, splits)
        new, size, _ = grouped(100 + seed, 400)
        for kind, given in (("groups", splits), ("rows", 5)):
            width = errors_of(folds, replace(SETTINGS, folds=given), Clock())[0].width(new, 0.9)
            covered[kind].append(np.mean(np.abs(size) <= width))
            spread[kind].append(np.std(width) / np.mean(width))
    assert np.mean(covered["groups"]) > max(0.88, np.mean(covered["rows"]) + 0.01)
    assert np.mean(spread["groups"]) < 0.2 < np.mean(spread["rows"])


@pytest.mark.parametrize("count", [2, 7])
def test_folds_of_errors_part_what_the_folds_part(count):
    rng = np.random.default_rng(0)
    X, y = table(growing, n=120)
    tests = [np.sort(rng.choice(120, 12, replace=False)) for _ in range(count)]  # some rows are left out twice
    zero = PLDC.affine(np.zeros(2))
    splits = [(np.setdiff1d(np.arange(120), test), test) for test in tests]
    folds = CrossFit([(zero,)] * count, [y[t] for t in tests], [(-np.inf, np.inf)] * count, Rows(X, y, y), splits)
    place = np.concatenate(tests)
    pairs = left_out_again(folds)
    assert len(pairs) == min(count, noise.ERROR_FOLDS)
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(12 * count))
    for train, test in pairs:
        assert len(train) and not set(place[train]) & set(place[test])
        assert len(test) % 12 == 0  # whole folds
    assert left_out_again(replace(folds, splits=splits[:1], values=folds.values[:1])) == []


def test_weights_equal_repetition_and_order_means_nothing():
    X, y = table(growing, 2, 120)
    count = np.random.default_rng(0).integers(1, 4, 120)
    heavy = found(X, y, count.astype(float))
    order = np.random.default_rng(1).permutation(count.sum())
    repeated = found(np.repeat(X, count, axis=0)[order], np.repeat(y, count)[order])
    np.testing.assert_allclose(heavy.width(X, 0.9), repeated.width(X, 0.9), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_the_errors(scale):
    X, y = table(growing, 2, 120)
    np.testing.assert_allclose(found(X, scale * y).width(X, 0.9), scale * found(X, y).width(X, 0.9), rtol=1e-6)


def test_few_errors_no_time_and_no_errors_have_no_scale(monkeypatch):
    X, y = table(growing)
    assert found(X, y).scale is not None
    few = found(X[: noise.FEWEST_ERRORS - 1], y[: noise.FEWEST_ERRORS - 1])
    assert few.scale is None and len(few.size) == noise.FEWEST_ERRORS - 1
    assert found(X, 0.0 * y).scale is None
    late = Clock()
    late.cancelled = True
    assert found(X, y, clock=late).scale is None
    assert errors_of(None, SETTINGS, Clock()) == (None, False)

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(noise.Search, "run", pressed)
    errors, interrupted = errors_of(of_zero(X, y), SETTINGS, Clock())
    assert interrupted and errors.scale is None and len(errors.size) == N


def test_of_many_errors_some_are_enough(monkeypatch):
    X, y = table(growing, 3)
    monkeypatch.setattr(noise, "MOST_ERRORS", 200)
    errors = found(X, y)
    assert len(errors.size) == 200 and 0.8 < errors.quantile(0.9) / found(X[:200], y[:200]).quantile(0.9) < 1.25


def test_the_default_fit_follows_the_noise():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = np.abs(X[:, 1]) + growing(X) * rng.standard_normal(400)
    model = DCRegressor(n_jobs=1).fit(X, y)
    low, high = model.predict_interval([[-0.5, 0.0], [0.9, 0.0]])
    quiet, loud = high - low
    assert 3 < loud / quiet < 15  # true: 10
    constant = replace(model.model_, errors=replace(model.model_.errors, scale=None))
    assert np.ptp(np.subtract(*constant.interval(X, 0.9))) < 1e-12  # it is the scale that does it
