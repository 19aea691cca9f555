"""The linear program behind pruning and the seminorm, on systems solved by hand."""

import numpy as np
import pytest

from pldc.function.linear_programs import deepest_point


@pytest.mark.parametrize(
    "A, b, depth",
    [
        ([[1.0], [-1.0]], [-1.0, 0.0], -0.5),  # x ≥ 1 and x ≤ 0: half a unit short
        ([[1.0], [-1.0]], [0.0, 0.0], 0.0),  # only x = 0
        ([[1.0], [-1.0]], [0.0, 0.5], 0.25),  # 0 ≤ x ≤ 1/2
        ([[1.0], [-1.0]], [0.0, 8.0], 1.0),  # 0 ≤ x ≤ 8: capped
        ([[1.0, 0.0]], [-5.0], 1.0),  # a half plane: capped
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0.0, 0.0, 1.2], 0.4),  # a triangle
        ([[0.0, 0.0], [1.0, 0.0]], [-0.3, 0.0], -0.3),  # a row that no point can help
    ],
)
def test_depth_by_hand(A, b, depth):
    A, b = np.array(A), np.array(b)
    t, x = deepest_point(A, b)
    assert t == pytest.approx(depth, abs=1e-9)
    assert x.shape == (A.shape[1],)
    assert (A @ x + b >= t - 1e-9).all()


def test_no_rows_are_satisfied_everywhere():
    t, x = deepest_point(np.empty((0, 3)), np.empty(0))
    assert t == 1.0
    np.testing.assert_array_equal(x, np.zeros(3))


def test_the_depth_is_the_one_of_the_returned_point():
    """Computed from the rows, not believed from the solver, whose tolerance of 1e-7 is larger than what callers ask."""
    A = np.array([[5.0875541926e-02, 2.1150213435e-02], [-6.0141244445e-01, -5.7182733379e-01], [-4.88458e-11, 0.0]])
    b = np.array([-9.9086437885e-01, -5.4584439391e-01, 8.2473664e-10])
    t, x = deepest_point(A, b)
    assert t <= (A @ x + b).min() + 1e-13 * (1 + np.abs(x).max())
