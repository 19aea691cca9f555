"""PLDC functions: values, what rules locally, and how they show themselves."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.function.common import (
    DIMENSIONS,
    KINDS,
    assert_close,
    central_differences,
    generic_points,
    magnitude,
    piece_values,
    pldcs,
    point_sets,
    random_functions,
    random_max_affine,
    random_pldc,
)

from pldc.function import PLDC, LocalModel, MaxAffine, explain


def test_values_are_plus_minus_minus():
    rng = np.random.default_rng(0)
    f, X = random_pldc(rng, 5, 7, 3), rng.standard_normal((40, 3))
    expected = piece_values(f.plus, X).max(axis=1) - piece_values(f.minus, X).max(axis=1)
    assert_close(f(X), expected, magnitude(f, X), tol=1e-14)


def test_values_by_hand():
    # |x| − max(2x − 2, 0), the example of the docstring: neither convex nor concave.
    f = PLDC(MaxAffine([[1.0], [-1.0]], [0.0, 0.0]), MaxAffine([[2.0], [0.0]], [-2.0, 0.0]))
    np.testing.assert_array_equal(f([[-1.0], [0.0], [1.0], [2.0]]), [1.0, 0.0, 1.0, 0.0])


class TestLocal:
    @settings(deadline=None, max_examples=50)
    @given(st.data())
    def test_the_local_model_has_the_value(self, data):
        d = data.draw(DIMENSIONS)
        f, X = data.draw(pldcs(d)), data.draw(point_sets(d))
        local = f.local(X)
        assert_close((local.slope * X).sum(axis=1) + local.intercept, f(X), magnitude(f, X))

    def test_by_hand(self):
        f = PLDC(MaxAffine([[1.0], [-1.0]], [0.5, 0.0]), MaxAffine([[2.0], [0.0]], [-2.0, 0.25]))
        local = f.local([[-1.0], [1.0], [3.0]])
        assert isinstance(local, LocalModel)
        np.testing.assert_array_equal(local.plus, [1, 0, 0])
        np.testing.assert_array_equal(local.minus, [1, 1, 0])
        np.testing.assert_array_equal(local.slope, [[-1.0], [1.0], [-1.0]])
        np.testing.assert_array_equal(local.intercept, [-0.25, 0.25, 2.5])

    def test_it_rules_around_the_point(self):
        rng = np.random.default_rng(0)
        f = random_pldc(rng, 6, 5, 2)
        X = generic_points(f.minus, generic_points(f.plus, rng.standard_normal((60, 2))))
        assert len(X) > 30
        local = f.local(X)
        nearby = X + rng.uniform(-1e-4, 1e-4, X.shape)
        assert_close((local.slope * nearby).sum(axis=1) + local.intercept, f(nearby), magnitude(f, X), tol=1e-13)

    def test_pieces_are_the_active_ones(self):
        rng = np.random.default_rng(1)
        f, X = random_pldc(rng, 6, 5, 2), rng.standard_normal((30, 2))
        local = f.local(X)
        np.testing.assert_array_equal(local.plus, piece_values(f.plus, X).argmax(axis=1))
        np.testing.assert_array_equal(local.minus, piece_values(f.minus, X).argmax(axis=1))

    def test_no_rows(self):
        local = PLDC.affine([1.0, 2.0]).local(np.empty((0, 2)))
        assert local.slope.shape == (0, 2)
        assert local.intercept.shape == local.plus.shape == local.minus.shape == (0,)

    def test_frozen(self):
        with pytest.raises(FrozenInstanceError):
            PLDC.affine([1.0]).local([[0.0]]).slope = 0.0


@pytest.mark.parametrize("d", [1, 2, 4])
def test_gradient_agrees_with_differences(d):
    rng = np.random.default_rng(d)
    f = random_pldc(rng, 6, 5, d)
    X = generic_points(f.minus, generic_points(f.plus, rng.standard_normal((80, d))))
    assert len(X) > 40
    gradient = f.gradient(X)
    assert gradient.shape == X.shape
    np.testing.assert_allclose(gradient, central_differences(f, X), atol=1e-9)
    np.testing.assert_array_equal(gradient, f.local(X).slope)


class TestAffine:
    def test_values_and_slope(self):
        f = PLDC.affine([2.0, -3.0], 5.0)
        X = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])
        np.testing.assert_array_equal(f(X), [5.0, 4.0, -3.0])
        np.testing.assert_array_equal(f.gradient(X), np.tile([2.0, -3.0], (3, 1)))
        assert f.n_pieces == (1, 1)
        assert f.n_features == 2

    def test_no_intercept(self):
        np.testing.assert_array_equal(PLDC.affine(np.array([2, 3]))([[1.0, 1.0]]), [5.0])

    @pytest.mark.parametrize("slope", [3.0, [[1.0, 2.0]]], ids=["a number", "a row"])
    def test_slope_must_be_a_vector(self, slope):
        with pytest.raises(ValueError, match="slope"):
            PLDC.affine(slope)


def test_repr_and_sizes():
    f = random_pldc(np.random.default_rng(0), 2, 3, 4)
    assert repr(f) == "PLDC(2 − 3 pieces in 4 dimensions)"
    assert f.n_pieces == (2, 3)
    assert f.n_features == 4


def test_frozen():
    f = PLDC.affine([1.0])
    with pytest.raises(FrozenInstanceError):
        f.plus = MaxAffine.zero(1)
    with pytest.raises(FrozenInstanceError):
        f.minus = MaxAffine.zero(1)
    with pytest.raises(ValueError, match="read-only"):
        f.plus.slopes[0, 0] = 2.0


def test_equality_and_hash():
    rng = np.random.default_rng(0)
    plus, minus = random_max_affine(rng, 2, 2), random_max_affine(rng, 3, 2)
    f, g = (
        PLDC(plus, minus),
        PLDC(MaxAffine(plus.slopes, plus.offsets), MaxAffine(minus.slopes, minus.offsets)),
    )
    assert f == g and hash(f) == hash(g)
    assert f != -f
    assert f != f + 1.0
    assert f != plus
    assert pickle.loads(pickle.dumps(f)) == f


def test_parts_must_share_their_variables():
    with pytest.raises(ValueError, match="Functions of 1 and 2 variables cannot be combined"):
        PLDC(MaxAffine.zero(1), MaxAffine.zero(2))


@pytest.mark.parametrize("method", ["__call__", "gradient", "local"])
@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3), (1, 1, 2)])
def test_points_of_the_wrong_shape(method, shape):
    with pytest.raises(ValueError, match=r"Expected points of shape \(rows, 2\), got"):
        getattr(PLDC.affine([1.0, 2.0]), method)(np.zeros(shape))


def test_no_rows_give_no_values():
    f = random_pldc(np.random.default_rng(0), 2, 3, 4)
    assert f(np.empty((0, 4))).shape == (0,)
    assert f.gradient(np.empty((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_slopes_are_unknown_at_rows_that_are_not_finite(kind, value):
    rng = np.random.default_rng(0)
    f, X = random_functions(rng)[kind], rng.normal(size=(4, 2))
    broken = X.copy()
    broken[1, 0] = broken[2, 1] = value
    local, known = f.local(broken), f.local(X)
    assert np.isnan(f.gradient(broken)[1:3]).all() and np.isnan(local.intercept[1:3]).all()
    assert np.isnan(f.room(broken, np.ones(2))[1:3]).all()
    np.testing.assert_array_equal(local.slope[[0, 3]], known.slope[[0, 3]])
    np.testing.assert_array_equal(local.intercept[[0, 3]], known.intercept[[0, 3]])
    np.testing.assert_array_equal(f.room(broken, np.ones(2))[[0, 3]], f.room(X, np.ones(2))[[0, 3]])
    for term in f.terms:
        if term.hinges is None:
            np.testing.assert_array_equal(np.isnan(term.plus.gradient(broken)).all(axis=1), [False, True, True, False])
    with pytest.raises(ValueError, match="finite"):
        f.regions(broken)


def test_an_unknown_value_is_not_cut():
    e = explain(PLDC.affine([1.0]), [[np.nan], [3.0]], limits=(0.0, 2.0))
    assert e.clipped.tolist() == [False, True] and np.isnan(e.prediction[0])
