"""Nearest points among whole numbers, where values tie on purpose, against all rows of a grid; and odd scales."""

import itertools

import numpy as np
import pytest
from tests.function.common import random_functions

from pldc import PLDC
from pldc.function import Hinges, MaxAffine
from pldc.function.counterfactual import nearest_crossing, nearest_lead

GRID = np.array(list(itertools.product(np.arange(-3.0, 4.0), repeat=2)))
BOX = np.tile([-3.0, 3.0], (2, 1))
WHOLE = np.array([True, True])


def whole_valued(rng, scale=1.0):
    """A function whose values at whole numbers are whole: many of them are equal."""
    parts = [
        MaxAffine(rng.integers(-2, 3, (2, 2)) * scale, rng.integers(-3, 4, 2) * scale)
        for _ in range(rng.integers(2, 4))
    ]
    f = PLDC(*parts[:2])
    return f if len(parts) < 3 else PLDC.total([f, PLDC(parts[2], parts[0])])


def one_by_one(f, rows):
    return np.array([f(row[None])[0] for row in rows])


def agrees(found, away, wanted):
    """The answer is the nearest of the wanted rows of the grid, and no row is nearer than it says."""
    if not wanted.any():
        assert found.point is None and found.bound == np.inf
        return
    assert found.point is not None and wanted[(found.point == GRID).all(axis=1)].all()
    assert found.cost == pytest.approx(away[wanted].min(), rel=1e-6)
    assert found.bound <= away[wanted].min()
    assert found.bound >= away[wanted].min() * (1 - 1e-5)


@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("seed", range(12))
def test_of_classes_that_tie_the_first_has_the_row(seed, scale):
    rng = np.random.default_rng(seed)
    scores = [whole_valued(rng, scale) for _ in range(rng.integers(2, 4))]
    cost, x = rng.uniform(0.5, 2.0, 2), np.zeros(2)
    labels = np.argmax([one_by_one(f, GRID) for f in scores], axis=0)
    for label in range(len(scores)):
        agrees(nearest_lead(scores, label, x, cost, BOX, whole=WHOLE), np.abs(GRID) @ cost, labels == label)


@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("seed", range(12))
def test_a_threshold_that_is_reached_exactly_is_reached(seed, scale):
    rng = np.random.default_rng(100 + seed)
    f, cost, x = whole_valued(rng, scale), rng.uniform(0.5, 2.0, 2), np.zeros(2)
    values = one_by_one(f, GRID)
    for threshold in rng.permutation(np.unique(values))[:4]:
        side = np.sign(threshold - f(x[None])[0])
        found = nearest_crossing(f, x, threshold, cost, BOX, whole=WHOLE)
        agrees(found, np.abs(GRID) @ cost, side * (values - threshold) >= 0)


@pytest.mark.parametrize("seed", range(12))
def test_values_of_rows_as_thresholds_are_reached_by_them(seed):
    rng = np.random.default_rng(200 + seed)
    scale = 1.0 if seed % 2 else 1000.0
    f = PLDC(*(MaxAffine(rng.normal(size=(3, 2)) * scale, rng.normal(size=3) * scale) for _ in range(2)))
    cost, x, values = rng.uniform(0.5, 2.0, 2), np.zeros(2), one_by_one(f, GRID)
    for threshold in values[rng.integers(len(GRID), size=4)]:
        side = np.sign(threshold - f(x[None])[0])
        found = nearest_crossing(f, x, threshold, cost, BOX, whole=WHOLE)
        agrees(found, np.abs(GRID) @ cost, side * (values - threshold) >= 0)


@pytest.mark.parametrize("kind", ["ties", "none"])
@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_beside_a_free_one(seed, kind):
    """Of each whole number all of many ways along the free feature."""
    rng = np.random.default_rng(300 + seed)
    scores = [whole_valued(rng) if kind == "ties" else random_functions(rng)["plain"] for _ in range(3)]
    cost, x = rng.uniform(0.5, 2.0, 2), np.zeros(2)
    ways = np.array(list(itertools.product(np.arange(-3.0, 4.0), np.arange(-3000, 3001) / 1000)))
    labels, away = np.argmax([f(ways) for f in scores], axis=0), np.abs(ways) @ cost
    for label in range(3):
        found = nearest_lead(scores, label, x, cost, BOX, whole=np.array([True, False]))
        least = away[labels == label].min(initial=np.inf)
        assert found.bound <= least
        if found.point is not None:
            assert np.argmax([f(found.point[None])[0] for f in scores]) == label and found.point[0] % 1 == 0
            assert found.bound <= found.cost
        if kind == "none":  # nothing hangs by a single point
            assert found.cost <= least + 1e-6 and (found.cost >= least - 1.01e-3 * cost[1] or np.isinf(least))
            assert found.bound == pytest.approx(found.cost, rel=1e-5)


@pytest.mark.parametrize("exponent", [-6, -5, 0, 6])
@pytest.mark.parametrize("seed", range(5))
def test_scores_of_any_size_lead_at_the_point(seed, exponent):
    rng = np.random.default_rng(400 + seed)
    scores = [
        PLDC(*(MaxAffine(rng.normal(size=(4, 3)), rng.normal(size=4)) for _ in range(2))) * 10.0**exponent
        for _ in range(3)
    ]
    x, cost, box = rng.normal(size=3), 10.0 ** rng.uniform(-2, 2, 3), np.tile([-4.0, 4.0], (3, 1))
    some = [f * 10.0**-exponent for f in scores]
    for label in range(3):
        found, same = (nearest_lead(each, label, x, cost, box) for each in (scores, some))
        assert (found.point is None) == (same.point is None)
        if found.point is not None:
            assert np.argmax([f(found.point[None])[0] for f in scores]) == label
            assert found.cost == pytest.approx(same.cost, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", [3, 22, 31])
def test_over_wide_ranges_no_whole_number_is_nearer_than_the_bound(seed):
    rng = np.random.default_rng(seed)
    size, centre = 1e5, 1e3
    hinges = Hinges([np.sort(rng.normal(size=5)) * size + centre])
    shape = (3, hinges.n_columns)
    f = PLDC(*(MaxAffine(rng.normal(size=shape) / size, rng.normal(size=3)) for _ in range(2)), hinges)
    x, box = np.array([centre]), np.array([[centre - 4 * size, centre + 4 * size]])
    ways = np.arange(box[0, 0], box[0, 1] + 1)
    values = f(ways[:, None])
    for threshold in np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9]):
        side = np.sign(threshold - f(x[None])[0])
        near = np.sort(np.abs(ways - x)[side * (values - threshold) >= -1e-9])[:9]  # up to rounding
        nearest = (
            next(a for a in near if (side * (one_by_one(f, np.array([x - a, x + a])) - threshold) >= 0).any()) / size
        )
        found = nearest_crossing(f, x, threshold, np.array([1 / size]), box, whole=np.array([True]))
        assert found.cost == pytest.approx(nearest, rel=1e-9) and found.bound <= nearest


def test_the_solver_writes_nothing_to_the_screen(capfd):
    """It does where it repairs a point: of these programs it once did each time."""
    for seed in (11, 12, 13, 14):
        rng = np.random.default_rng(seed)
        parts = [MaxAffine(rng.normal(size=(4, 3)), rng.normal(size=4)) for _ in range(4)]
        f = PLDC.total([PLDC(*parts[:2]), PLDC(*parts[2:])])
        to = float(f(np.zeros((1, 3)))[0]) + 2.0
        box, whole = np.tile([-3.0, 3.0], (3, 1)), np.array([True, True, False])
        assert nearest_crossing(f, np.zeros(3), to, np.ones(3), box, whole=whole).point is not None
    assert capfd.readouterr().out == ""
