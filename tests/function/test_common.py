"""The helpers can fail, and mean what they say."""

import numpy as np
import pytest
from tests.function.common import (
    assert_close,
    assert_same_function,
    central_differences,
    generic_points,
    magnitude,
    piece_values,
)

from pldc.function import PLDC, MaxAffine

ABSOLUTE = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])


def test_assert_close_sees_a_difference_a_shape_and_a_nan():
    with pytest.raises(AssertionError, match="largest error"):
        assert_close([1.0, 2.0], [1.0, 2.0 + 1e-7], 1.0)
    with pytest.raises(AssertionError):
        assert_close([1.0], [1.0, 1.0], 1.0)
    with pytest.raises(AssertionError):
        assert_close([np.nan], [1.0], 1.0)
    assert_close([1.0], [1.0 + 1e-10], 1.0)


def test_assert_same_function_sees_a_difference():
    X = np.array([[-1.0], [2.0]])
    assert_same_function(ABSOLUTE, ABSOLUTE, X)
    with pytest.raises(AssertionError):
        assert_same_function(ABSOLUTE, MaxAffine([[1.0], [-1.0]], [0.0, 1e-6]), X)


def test_slow_evaluations():
    f = MaxAffine([[1.0, 2.0], [-1.0, 0.5]], [3.0, -4.0])
    np.testing.assert_array_equal(piece_values(f, [[1.0, 1.0], [0.0, -2.0]]), [[6.0, -4.5], [-1.0, -5.0]])
    np.testing.assert_array_equal(magnitude(f, [[1.0, -1.0]]), [6.0])
    np.testing.assert_array_equal(magnitude(PLDC(f, f), [[1.0, -1.0]]), [12.0])


def test_generic_points_leave_out_kinks():
    X = np.array([[-1.0], [0.0], [1e-6], [1.0]])
    np.testing.assert_array_equal(generic_points(ABSOLUTE, X), [[-1.0], [1.0]])


def test_central_differences():
    np.testing.assert_allclose(
        central_differences(lambda X: X[:, 0] * X[:, 1], np.array([[2.0, 3.0]])), [[3, 2]], atol=1e-9
    )
