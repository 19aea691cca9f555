"""Importances and interactions, against closed forms and all pairs of rows."""

from itertools import permutations

import numpy as np
import pytest
from tests.function.common import random_functions

from pldc import PLDC
from pldc.function.swaps import Interactions, importances, interactions, sample

ROWS = np.random.default_rng(0).normal(size=(15, 3)) * [1.0, 2.0, 3.0]
OWN = np.arange(3)


def pairs():
    a, b = np.array(list(permutations(range(15), 2))).T
    return ROWS[a], ROWS[b]


def swapped(columns):
    a, b = pairs()
    return np.where(np.isin(OWN, columns), b, a)


def test_a_line_has_slope_times_the_mean_distance_of_two_cells():
    a, b = pairs()
    found = importances(PLDC.affine([1.0, -3.0, 0.0]), ROWS, OWN)
    np.testing.assert_allclose(found, [1.0, 3.0, 0.0] * np.abs(a - b).mean(axis=0))


def test_importances_are_means_over_all_pairs_of_few_rows():
    f = random_functions(np.random.default_rng(1), 3)["sum"]
    expected = [np.abs(f(pairs()[0]) - f(swapped([j]))).mean() for j in range(3)]
    np.testing.assert_allclose(importances(f, ROWS, OWN), expected)
    both = np.abs(f(pairs()[0]) - f(swapped([0, 2]))).mean()
    np.testing.assert_allclose(importances(f, ROWS, np.array([0, 1, 0])), [both, expected[1]])
    doubled = importances(lambda X: np.column_stack([f(X), -f(X)]), ROWS, OWN)
    np.testing.assert_allclose(doubled, 2.0 * np.array(expected))


def test_interactions_are_what_no_sum_of_columns_has():
    f = random_functions(np.random.default_rng(2), 3)["plain"]
    change = f(pairs()[0]) - f(swapped([0])) - f(swapped([2])) + f(swapped([0, 2]))
    found = interactions(f, ROWS, OWN, [0, 2])
    assert found[0, 2] == found[2, 0] == pytest.approx(np.abs(change).mean())
    assert found[0, 0] == 0 and np.isnan(found[1]).all()
    additive = abs(PLDC.affine([1.0, 0.0, 0.0])) + abs(PLDC.affine([0.0, 0.0, 2.0], 1.0))
    together = additive + PLDC.affine([1.0, 0.0, 0.0]).maximum(PLDC.affine([0.0, 1.0, 0.0]))
    assert np.abs(interactions(additive, ROWS, OWN, [0, 1, 2])).max() < 1e-12
    one = Interactions(("a", "b", "c"), interactions(together, ROWS, OWN, [0, 1, 2]))
    assert one.pairs()[0][:2] == ("a", "b") and one.pairs()[0][2] > 0.1 and one.pairs()[1][2] < 1e-12
    assert str(one).splitlines()[1].startswith("a × b") and "e-" not in str(one)


def test_an_interaction_that_is_rounding_is_zero():
    f = PLDC.total([abs(PLDC.affine([1 / 3, 0.0, 0.0])), abs(PLDC.affine([0.0, 0.7, 0.0], 0.1))])
    assert (interactions(f, ROWS, OWN, [0, 1, 2]) == 0).all()
    almost = f + 1e-6 * abs(PLDC.affine([1.0, 1.0, 0.0]))
    assert interactions(almost, ROWS, OWN, [0, 1, 2])[0, 1] > 0


def test_a_sample_has_each_row_as_often_as_it_weighs():
    points = np.arange(1000.0)[:, None]
    light = sample(points, np.ones(1000))
    assert len(light) == 256 and len(np.unique(light)) == 256
    heavy = sample(points, np.where(points[:, 0] == 7, 999.0, 1.0))
    assert (heavy == 7).sum() == pytest.approx(128, abs=1)
    np.testing.assert_array_equal(sample(points[:9], np.ones(9)), points[:9])
    assert sample(np.zeros((500, 4000)), np.ones(500)).shape == (64, 4000)
