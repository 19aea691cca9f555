"""Features bent at knots."""

import pickle

import numpy as np
import pytest

from pldc.function import Hinges


def test_ramps_rise_across_their_interval():
    hinges = Hinges([[0.0, 1.0, 3.0], [], [-1.0, 1.0]])
    assert hinges.n_features == 3 and hinges.n_columns == 6
    X = np.array([[-2.0, 7.0, 0.0], [0.25, -1.0, 5.0], [2.0, 0.0, -0.5], [9.0, 0.0, -9.0]])
    ramps = [[0.0, 0.0, 0.5], [0.25, 0.0, 1.0], [1.0, 0.5, 0.25], [1.0, 1.0, 0.0]]
    np.testing.assert_allclose(hinges(X), np.hstack([X, ramps]))
    np.testing.assert_array_equal(hinges.source, [0, 0, 2])
    np.testing.assert_array_equal(hinges.cells(X), [[0, 0, 1], [1, 0, 2], [2, 0, 1], [3, 0, 0]])


@pytest.mark.parametrize(
    "knots", [[], [[0.0]], [[0.0, 0.0]], [[1.0, 0.0]], [[0.0, np.nan]], [[0.0, 1.0], [2.0]], [0.0]]
)
def test_refuses_what_are_no_knots(knots):
    with pytest.raises(ValueError, match="knots"):
        Hinges(knots)


def test_equal_knots_are_equal_hinges():
    hinges = Hinges([[0.0, 1.0, 3.0], []])
    for same in (Hinges([np.array([-0.0, 1.0, 3.0]), []]), pickle.loads(pickle.dumps(hinges))):
        assert same == hinges and hash(same) == hash(hinges)
    for other in (Hinges([[0.0, 1.0, 3.0]]), Hinges([[], [0.0, 1.0, 3.0]]), Hinges([[0.0, 1.0, 3.5], []]), 3):
        assert other != hinges
    assert not pickle.loads(pickle.dumps(hinges)).knots[0].flags.writeable
    assert repr(hinges) == "Hinges(2 ramps of 2 features)"
