"""Evaluation of max-affine functions, their tiles, and what they refuse."""

import copy
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.function.common import (
    DIMENSIONS,
    assert_close,
    central_differences,
    generic_points,
    magnitude,
    max_affines,
    piece_values,
    point_sets,
    random_max_affine,
)

from pldc.function import MaxAffine, max_affine

ABSOLUTE = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
SHAPES = [(1, 1, 1), (7, 1, 3), (40, 5, 2), (25, 30, 7)]


@pytest.mark.parametrize("n, k, d", SHAPES)
def test_values_are_the_maximum_over_the_pieces(n, k, d):
    rng = np.random.default_rng(n)
    f, X = random_max_affine(rng, k, d), rng.standard_normal((n, d))
    assert_close(f(X), piece_values(f, X).max(axis=1), magnitude(f, X), tol=1e-14)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_values_are_the_maximum_over_the_pieces_of_any_function(data):
    d = data.draw(DIMENSIONS)
    f, X = data.draw(max_affines(d)), data.draw(point_sets(d))
    values = piece_values(f, X)
    assert_close(f(X), values.max(axis=1), magnitude(f, X), tol=1e-13)
    # Where several pieces tie up to rounding, any of them will do.
    assert_close(values[np.arange(len(X)), f.active(X)], values.max(axis=1), magnitude(f, X), tol=1e-13)


def test_values_by_hand():
    f = MaxAffine([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], [0.0, 1.0, -0.5])
    X = [[0.0, 0.0], [5.0, 1.0], [-3.0, -2.0]]
    np.testing.assert_array_equal(f(X), [1.0, 5.0, 4.5])
    np.testing.assert_array_equal(f.active(X), [1, 0, 2])
    np.testing.assert_array_equal(f.gradient(X), [[0.0, 2.0], [1.0, 0.0], [-1.0, -1.0]])


def test_the_zero_function():
    f = MaxAffine.zero(3)
    assert (f.n_pieces, f.n_features) == (1, 3)
    np.testing.assert_array_equal(f(np.full((4, 3), 7.0)), np.zeros(4))


@pytest.mark.parametrize("tile", [1, 2, 7, 31, 64, 10**9])
def test_the_size_of_a_tile_changes_nothing(monkeypatch, tile):
    rng = np.random.default_rng(0)
    f, X = random_max_affine(rng, 9, 4), rng.standard_normal((53, 4))
    expected = piece_values(f, X)
    monkeypatch.setattr(max_affine, "TILE", tile)
    assert_close(f(X), expected.max(axis=1), magnitude(f, X), tol=1e-14)
    np.testing.assert_array_equal(f.active(X), expected.argmax(axis=1))
    np.testing.assert_array_equal(f.gradient(X), f.slopes[expected.argmax(axis=1)])


def test_tiles_cover_every_row_once_and_stay_small(monkeypatch):
    rng = np.random.default_rng(0)
    f, X = random_max_affine(rng, 9, 4), rng.standard_normal((53, 4))
    monkeypatch.setattr(max_affine, "TILE", 40)
    tiles = [(rows, tile.shape) for rows, tile in f._tiles(X)]
    assert [row for rows, _ in tiles for row in range(rows.start, rows.stop)] == list(range(53))
    assert max(shape[0] * shape[1] for _, shape in tiles) == 36


def peak_of(action):
    """Most bytes allocated at once while `action` runs."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_peak_of_sees_numpy():
    assert peak_of(lambda: np.ones(10**6)) >= 8 * 10**6


@pytest.mark.parametrize("method", ["__call__", "active", "gradient"])
def test_memory_does_not_grow_with_rows_times_pieces(method):
    rows, pieces, d = 200_000, 300, 2
    rng = np.random.default_rng(0)
    f, X = random_max_affine(rng, pieces, d), rng.standard_normal((rows, d))
    result_bytes = rows * 8 * (1 if method != "gradient" else 1 + d)
    assert peak_of(lambda: getattr(f, method)(X)) < result_bytes + 4 * 2**20 < rows * pieces * 8 / 40


def test_the_first_of_equal_pieces_is_active():
    f = MaxAffine([[0.0], [1.0], [1.0], [0.0]], [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(f.active([[0.0], [2.0], [-2.0]]), [0, 1, 0])


@pytest.mark.parametrize("n, k, d", SHAPES)
def test_active_and_gradient_agree_with_brute_force(n, k, d):
    rng = np.random.default_rng(n + 1)
    f, X = random_max_affine(rng, k, d), rng.standard_normal((n, d))
    expected = piece_values(f, X).argmax(axis=1)
    active = f.active(X)
    assert active.dtype == np.intp
    np.testing.assert_array_equal(active, expected)
    np.testing.assert_array_equal(f.gradient(X), f.slopes[expected])


@pytest.mark.parametrize("d", [1, 2, 5])
def test_gradient_agrees_with_differences(d):
    rng = np.random.default_rng(d)
    f = random_max_affine(rng, 8, d)
    X = generic_points(f, rng.standard_normal((60, d)))
    assert len(X) > 40
    np.testing.assert_allclose(f.gradient(X), central_differences(f, X), atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_gradient_is_a_subgradient(data):
    d = data.draw(DIMENSIONS)
    f, X, Y = data.draw(max_affines(d)), data.draw(point_sets(d)), data.draw(point_sets(d))
    below = f(X) + (f.gradient(X) * (Y - X)).sum(axis=1)
    assert (f(Y) >= below - 1e-12 * (magnitude(f, X) + magnitude(f, Y))).all()


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1].copy()[::-1],
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
    ],
    ids=["list", "Fortran order", "strided rows", "strided columns", "reversed", "float32", "int"],
)
def test_any_layout_of_the_points(monkeypatch, convert):
    monkeypatch.setattr(max_affine, "TILE", 12)
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (17, 3)).astype(float)
    f = random_max_affine(rng, 5, 3)
    assert_close(f(convert(X)), piece_values(f, X).max(axis=1), magnitude(f, X), tol=1e-14)
    np.testing.assert_array_equal(f.active(convert(X)), piece_values(f, X).argmax(axis=1))


def test_points_are_not_changed():
    X = np.arange(6.0).reshape(3, 2)
    before = X.copy()
    f = MaxAffine([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])
    f(X), f.active(X), f.gradient(X)
    np.testing.assert_array_equal(X, before)


def test_no_rows_give_no_values():
    f = random_max_affine(np.random.default_rng(0), 3, 2)
    X = np.empty((0, 2))
    assert f(X).shape == (0,)
    assert f.active(X).shape == (0,)
    assert f.gradient(X).shape == (0, 2)


class TestImmutable:
    def test_arrays_are_read_only(self):
        f = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
        with pytest.raises(ValueError, match="read-only"):
            f.slopes[0, 0] = 2.0
        with pytest.raises(ValueError, match="read-only"):
            f.offsets[0] = 2.0

    def test_attributes_cannot_be_replaced(self):
        with pytest.raises(FrozenInstanceError):
            MaxAffine.zero(1).slopes = np.ones((1, 1))

    def test_arguments_are_copied(self):
        slopes, offsets = np.array([[1.0], [-1.0]]), np.zeros(2)
        f = MaxAffine(slopes, offsets)
        slopes[:] = offsets[:] = 100.0
        np.testing.assert_array_equal(f([[3.0]]), [3.0])
        assert slopes.flags.writeable and offsets.flags.writeable

    def test_results_may_be_written_to(self):
        f = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
        for result in (f([[1.0]]), f.active([[1.0]]), f.gradient([[1.0]])):
            result[:] = 5
        np.testing.assert_array_equal(f.slopes, [[1.0], [-1.0]])

    @pytest.mark.parametrize("remake", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
    def test_a_copy_is_as_immutable_as_the_original(self, remake):
        f = remake(ABSOLUTE)
        assert f == ABSOLUTE and hash(f) == hash(ABSOLUTE)
        assert not f.slopes.flags.writeable
        assert not f.offsets.flags.writeable


class TestRefuses:
    @pytest.mark.parametrize(
        "slopes, offsets, message",
        [
            ([1.0, 2.0], [0.0, 0.0], r"slopes must have 2 dimension\(s\), got an array of shape \(2,\)"),
            ([[[1.0]]], [0.0], r"slopes must have 2 dimension\(s\), got an array of shape \(1, 1, 1\)"),
            ([[1.0]], 0.0, r"offsets must have 1 dimension\(s\), got an array of shape \(\)"),
            ([[1.0]], [[0.0]], r"offsets must have 1 dimension\(s\), got an array of shape \(1, 1\)"),
            ([[np.nan]], [0.0], "slopes must be finite"),
            ([[np.inf]], [0.0], "slopes must be finite"),
            ([[1.0]], [-np.inf], "offsets must be finite"),
            ([[1.0]], [np.nan], "offsets must be finite"),
            ([[1.0], [2.0]], [0.0], "2 slopes but 1 offsets"),
            ([[1.0]], [0.0, 1.0, 2.0], "1 slopes but 3 offsets"),
            (np.empty((0, 2)), [], "at least one piece"),
        ],
    )
    def test_bad_pieces(self, slopes, offsets, message):
        with pytest.raises(ValueError, match=message):
            MaxAffine(slopes, offsets)

    @pytest.mark.parametrize("method", ["__call__", "active", "gradient"])
    @pytest.mark.parametrize("shape", [(2,), (), (4, 1), (4, 3), (1, 4, 2)])
    def test_points_of_the_wrong_shape(self, method, shape):
        f = random_max_affine(np.random.default_rng(0), 3, 2)
        with pytest.raises(ValueError, match=r"Expected points of shape \(rows, 2\), got") as error:
            getattr(f, method)(np.zeros(shape))
        assert str(shape) in str(error.value)
        assert "x[None, :]" in str(error.value)


class TestEquality:
    def test_equal_pieces_in_equal_order(self):
        f, g = (MaxAffine([[1.0], [-1.0]], [0.0, 0.5]) for _ in range(2))
        assert f == g and hash(f) == hash(g)
        assert len({f, g}) == 1

    @pytest.mark.parametrize(
        "other",
        [
            MaxAffine([[1.0], [-1.0]], [0.0, 0.25]),
            MaxAffine([[1.0], [-2.0]], [0.0, 0.5]),
            MaxAffine([[-1.0], [1.0]], [0.5, 0.0]),
            MaxAffine([[1.0]], [0.0]),
            MaxAffine([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.5]),
        ],
    )
    def test_anything_else_differs(self, other):
        f = MaxAffine([[1.0], [-1.0]], [0.0, 0.5])
        assert f != other
        assert hash(f) != hash(other)

    def test_other_types_differ(self):
        f = MaxAffine([[1.0]], [0.0])
        assert f != 1.0
        assert (f == "f") is False
        assert f.__eq__(f.slopes) is NotImplemented

    @pytest.mark.parametrize("slope, offset", [(-0.0, 1.0), (0.0, -0.0)])
    def test_equal_functions_have_equal_hashes_though_zero_has_two_signs(self, slope, offset):
        f, g = MaxAffine([[slope]], [offset]), MaxAffine([[abs(slope)]], [abs(offset)])
        assert f == g
        assert hash(f) == hash(g)


def test_repr_and_sizes():
    f = MaxAffine(np.zeros((4, 2)), np.zeros(4))
    assert repr(f) == "MaxAffine(4 pieces in 2 dimensions)"
    assert (f.n_pieces, f.n_features) == (4, 2)


def test_many_rows_on_threads_give_the_same_values(monkeypatch):
    rng = np.random.default_rng(0)
    f, X = MaxAffine(rng.standard_normal((30, 3)), rng.standard_normal(30)), rng.standard_normal((5001, 3))
    alone = f(X)
    monkeypatch.setattr("pldc.function.max_affine.THREADED_NUMBERS", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    np.testing.assert_allclose(f(X), alone, rtol=1e-14)
    np.testing.assert_allclose(f(X), (X @ f.slopes.T + f.offsets).max(axis=1), rtol=1e-13)
    assert f(X[:0]).shape == (0,) and f(X[:2]).shape == (2,)
