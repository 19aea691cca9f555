"""Small parts of fits of few pieces, against their definitions."""

import logging

import numpy as np
import pytest
from tests.compact.test_search import SMALL, rows_of, search_of

from pldc import DCRegressor
from pldc.compact.start import quantile_knots
from pldc.compact.student import between, r_squared


def test_the_share_explained_counts_rows_by_their_weight():
    rng = np.random.default_rng(0)
    target, values, weight = rng.normal(size=20), rng.normal(size=20), rng.integers(1, 5, 20)
    repeated = r_squared(np.repeat(values, weight), np.repeat(target, weight))
    for unit in (1e-6, 1.0, 50.0):
        assert r_squared(values, target, unit * weight) == pytest.approx(repeated)


@pytest.mark.parametrize("count, expected", [(4, [0.0, 1.0, 10.0, 100.0]), (3, [0.0, 1.0, 10.0, 100.0])])
def test_few_levels_are_the_knots(count, expected):
    x = np.repeat([0.0, 1.0, 10.0, 100.0], [5, 1, 2, 9])
    assert quantile_knots(x[:, None], count, None).knots[0].tolist() == expected


def test_quantiles_that_fall_together_are_one_knot():
    x = np.append(np.zeros(100), np.arange(1.0, 7.0))
    assert quantile_knots(x[:, None], 2, None).knots[0].tolist() == [0.0, 6.0]
    assert len(quantile_knots(np.ones((9, 1)), 2, None).knots[0]) == 0


def test_between_two_rows_is_the_segment():
    X = np.array([[0.0, 0.0], [4.0, 2.0]])
    points = between(X, X, 200, np.random.default_rng(0))
    assert len(np.unique(points[:, 0])) > 100 and np.allclose(points[:, 0], 2 * points[:, 1])
    assert (between(X[:1], X[:1], 5, np.random.default_rng(0)) == X[0]).all()


def test_progress_is_not_told_before_two_seconds(caplog):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    with caplog.at_level(logging.DEBUG, logger="pldc"):
        DCRegressor(max_seconds=0.3, verbose=1).fit(X, X[:, 0])
    assert not [record for record in caplog.records if "s left" in record.getMessage()]


def test_of_very_few_rows_one_thread_does_all():
    """The pool is not asked, and might as well be none."""
    found = search_of(rows_of(), pool=object()).run(SMALL)
    assert len(found.functions) == len(search_of(rows_of()).run(SMALL).functions)
