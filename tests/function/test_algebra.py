"""Arithmetic: the value of the result is the result of the values."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.function.common import (
    DIMENSIONS,
    MODERATE,
    assert_close,
    magnitude,
    max_affines,
    pldcs,
    point_sets,
    random_max_affine,
    random_pldc,
)

from pldc.function import PLDC, MaxAffine, algebra

quick = settings(deadline=None, max_examples=40)


@st.composite
def pairs(draw, functions):
    """Two functions of the same variables, and points."""
    d = draw(DIMENSIONS)
    return draw(functions(d)), draw(functions(d)), draw(point_sets(d))


@st.composite
def singles(draw, functions):
    """A function and points."""
    d = draw(DIMENSIONS)
    return draw(functions(d)), draw(point_sets(d))


class TestPLDC:
    @quick
    @given(pairs(pldcs))
    def test_sum_and_difference(self, drawn):
        f, g, X = drawn
        size = magnitude(f, X) + magnitude(g, X)
        assert_close((f + g)(X), f(X) + g(X), size)
        assert_close((f - g)(X), f(X) - g(X), size)

    @quick
    @given(pairs(pldcs))
    def test_maximum_and_minimum(self, drawn):
        f, g, X = drawn
        size = magnitude(f, X) + magnitude(g, X)
        assert_close(f.maximum(g)(X), np.maximum(f(X), g(X)), size)
        assert_close(f.minimum(g)(X), np.minimum(f(X), g(X)), size)

    @quick
    @given(singles(pldcs))
    def test_negation(self, drawn):
        f, X = drawn
        np.testing.assert_array_equal((-f)(X), -f(X))
        twice = -f
        assert -twice == f

    @quick
    @given(singles(pldcs), st.one_of(MODERATE, st.sampled_from([0.0, -0.0, 1.0, -1.0, -2.5, 1e-8, -1e8])))
    def test_multiples(self, drawn, c):
        f, X = drawn
        size = abs(c) * magnitude(f, X)
        assert_close((c * f)(X), c * f(X), size)
        assert_close((f * c)(X), c * f(X), size)

    @quick
    @given(singles(pldcs), MODERATE)
    def test_numbers(self, drawn, c):
        f, X = drawn
        size = magnitude(f, X) + abs(c)
        assert_close((f + c)(X), f(X) + c, size)
        assert_close((c + f)(X), f(X) + c, size)
        assert_close((f - c)(X), f(X) - c, size)
        assert_close((c - f)(X), c - f(X), size)

    @quick
    @given(st.data())
    def test_composition(self, data):
        d, inner = data.draw(DIMENSIONS), data.draw(DIMENSIONS)
        f, X = data.draw(pldcs(d)), data.draw(point_sets(inner))
        M = data.draw(arrays(float, (d, inner), elements=MODERATE))
        v = data.draw(arrays(float, d, elements=MODERATE))
        # Rounding follows |M| |x| + |v|, which may be larger than |M x + v|.
        reach = np.abs(X) @ np.abs(M).T + np.abs(v)
        assert_close(f.compose(M, v)(X), f(X @ M.T + v), magnitude(f, reach))
        assert_close(f.compose(M)(X), f(X @ M.T), magnitude(f, reach))
        assert f.compose(M, v).n_features == inner
        assert f.compose(M, v).n_pieces == f.n_pieces

    @quick
    @given(singles(pldcs))
    def test_a_function_minus_itself_is_zero(self, drawn):
        f, X = drawn
        assert_close((f - f)(X), np.zeros(len(X)), magnitude(f, X))

    def test_parts_stay_convex_and_pieces_are_counted(self):
        rng = np.random.default_rng(0)
        f, g = random_pldc(rng, 2, 3, 2), random_pldc(rng, 4, 5, 2)
        assert (f + g).n_pieces == (8, 15)
        assert (f - g).n_pieces == (10, 12)
        assert (-f).n_pieces == (3, 2)
        assert (2.0 * f).n_pieces == (2, 3)
        assert (-2.0 * f).n_pieces == (3, 2)
        assert f.maximum(g).n_pieces == (2 * 5 + 4 * 3, 15)
        assert f.minimum(g).n_pieces == (2 * 4, 3 * 4 + 5 * 2)

    def test_operands_are_left_alone(self):
        rng = np.random.default_rng(0)
        f, g = random_pldc(rng, 2, 3, 2), random_pldc(rng, 4, 5, 2)
        before = [a.copy() for h in (f, g) for part in (h.plus, h.minus) for a in (part.slopes, part.offsets)]
        f + g, f - g, -f, 3 * f, f + 1, f.maximum(g), f.minimum(g), f.compose(np.eye(2), np.ones(2))
        after = [a for h in (f, g) for part in (h.plus, h.minus) for a in (part.slopes, part.offsets)]
        for a, b in zip(before, after, strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize(
        "number",
        [3, True, Fraction(5, 2), np.float32(2.5), np.float64(2.5), np.int8(3), np.int64(3)],
        ids=lambda v: type(v).__name__,
    )
    def test_every_kind_of_real_number(self, number):
        f = random_pldc(np.random.default_rng(0), 2, 3, 1)
        X = np.array([[-1.0], [0.5]])
        y = f(X)
        value = float(number)
        for result, expected in [
            (f + number, y + value),
            (number + f, y + value),
            (f - number, y - value),
            (number - f, value - y),
            (f * number, y * value),
            (number * f, y * value),
        ]:
            assert isinstance(result, PLDC)
            np.testing.assert_allclose(result(X), expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize(
        "number",
        [np.uint8(3), np.uint64(3), np.int8(-128)],
        ids=["uint8", "uint64", "int8 that has no negative"],
    )
    @pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
    def test_subtracting_an_integer_that_numpy_cannot_negate(self, number):
        f = PLDC.affine([1.0])
        np.testing.assert_array_equal((f - number)([[2.0]]), [2.0 - float(number)])
        np.testing.assert_array_equal((number - f)([[2.0]]), [float(number) - 2.0])

    @pytest.mark.parametrize("other", ["3", None, [1.0], 1j])
    def test_what_is_no_number_is_refused(self, other):
        f = PLDC.affine([1.0])
        for operation in (
            lambda: f + other,
            lambda: other + f,
            lambda: f - other,
            lambda: other - f,
            lambda: f * other,
            lambda: other * f,
        ):
            with pytest.raises(TypeError):
                operation()

    def test_functions_are_not_multiplied(self):
        f = PLDC.affine([1.0])
        with pytest.raises(TypeError):
            f * f

    def test_division_absolute_value_and_numbers_in_maxima(self):
        rng = np.random.default_rng(0)
        f, X = random_pldc(rng, 2, 3, 2), rng.standard_normal((50, 2))
        np.testing.assert_allclose((f / 4)(X), f(X) / 4)
        np.testing.assert_allclose((f / -0.5)(X), f(X) / -0.5)
        np.testing.assert_allclose(abs(f)(X), np.abs(f(X)), atol=1e-12)
        np.testing.assert_allclose(f.maximum(0.25)(X), np.maximum(f(X), 0.25), atol=1e-12)
        np.testing.assert_allclose(f.minimum(np.float32(0.25))(X), np.minimum(f(X), 0.25), atol=1e-12)
        for bad in ("3", None, [1.0]):
            with pytest.raises(TypeError, match="Expected a PLDC or a number"):
                f.maximum(bad)

    def test_an_array_of_functions_is_not_made_by_accident(self):
        with pytest.raises(TypeError):
            np.ones(3) + PLDC.affine([1.0])

    @pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
    def test_numbers_must_be_finite(self, number):
        f = PLDC.affine([1.0])
        with pytest.raises(ValueError, match="factor must be a finite number, got"):
            number * f
        with pytest.raises(ValueError, match="offsets must be finite"):
            f + number

    @pytest.mark.parametrize(
        "operation",
        [
            lambda f, g: f + g,
            lambda f, g: f - g,
            lambda f, g: f.maximum(g),
            lambda f, g: f.minimum(g),
            lambda f, g: PLDC(f.plus, g.minus),
        ],
        ids=["sum", "difference", "maximum", "minimum", "parts"],
    )
    def test_functions_of_different_variables_do_not_mix(self, operation):
        # One variable against three would broadcast silently.
        with pytest.raises(ValueError, match="Functions of [13] and [13] variables cannot be combined"):
            operation(PLDC.affine([1.0]), PLDC.affine([1.0, 2.0, 3.0]))

    def test_compose_refuses_wrong_shapes(self):
        f = PLDC.affine([1.0, 2.0])
        with pytest.raises(ValueError, match=r"matrix must have 2 rows .* got shape \(3, 2\)"):
            f.compose(np.ones((3, 2)))
        with pytest.raises(ValueError, match=r"matrix must have 2 rows .* got shape \(2,\)"):
            f.compose(np.ones(2))
        with pytest.raises(ValueError, match=r"vector must have shape \(2,\), got \(1,\)"):
            f.compose(np.eye(2), [1.0])
        with pytest.raises(ValueError, match=r"vector must have shape \(2,\), got \(\)"):
            f.compose(np.eye(2), 1.0)


class TestMaxAffine:
    @quick
    @given(pairs(max_affines))
    def test_add_and_maximum(self, drawn):
        f, g, X = drawn
        size = magnitude(f, X) + magnitude(g, X)
        assert_close(algebra.add(f, g)(X), f(X) + g(X), size)
        assert_close(algebra.maximum(f, g)(X), np.maximum(f(X), g(X)), size)
        assert algebra.add(f, g).n_pieces == f.n_pieces * g.n_pieces
        assert algebra.maximum(f, g).n_pieces == f.n_pieces + g.n_pieces

    @quick
    @given(singles(max_affines), st.floats(0, 1e6, allow_subnormal=False))
    def test_scale(self, drawn, c):
        f, X = drawn
        assert_close(algebra.scale(f, c)(X), c * f(X), c * magnitude(f, X))

    @quick
    @given(singles(max_affines), MODERATE)
    def test_shift(self, drawn, c):
        f, X = drawn
        assert_close(algebra.shift(f, c)(X), f(X) + c, magnitude(f, X) + abs(c))

    @quick
    @given(st.data())
    def test_tilt(self, data):
        d = data.draw(DIMENSIONS)
        f, X = data.draw(max_affines(d)), data.draw(point_sets(d))
        slope = data.draw(arrays(float, d, elements=MODERATE))
        size = magnitude(f, X) + np.abs(X) @ np.abs(slope)
        assert_close(algebra.tilt(f, slope)(X), f(X) + X @ slope, size)
        assert_close(algebra.tilt(f, slope.tolist())(X), f(X) + X @ slope, size)

    @quick
    @given(st.data())
    def test_compose(self, data):
        d, inner = data.draw(DIMENSIONS), data.draw(DIMENSIONS)
        f, X = data.draw(max_affines(d)), data.draw(point_sets(inner))
        M = data.draw(arrays(float, (d, inner), elements=MODERATE))
        v = data.draw(arrays(float, d, elements=MODERATE))
        reach = np.abs(X) @ np.abs(M).T + np.abs(v)
        assert_close(algebra.compose(f, M, v)(X), f(X @ M.T + v), magnitude(f, reach))

    def test_by_hand(self):
        f = MaxAffine([[1.0], [-1.0]], [0.0, 2.0])
        g = MaxAffine([[3.0]], [1.0])
        assert algebra.add(f, g) == MaxAffine([[4.0], [2.0]], [1.0, 3.0])
        assert algebra.maximum(f, g) == MaxAffine([[1.0], [-1.0], [3.0]], [0.0, 2.0, 1.0])
        assert algebra.scale(f, 2.0) == MaxAffine([[2.0], [-2.0]], [0.0, 4.0])
        assert algebra.shift(f, -1.0) == MaxAffine([[1.0], [-1.0]], [-1.0, 1.0])
        assert algebra.tilt(f, [5.0]) == MaxAffine([[6.0], [4.0]], [0.0, 2.0])
        assert algebra.compose(f, [[2.0, 3.0]], [7.0]) == MaxAffine([[2.0, 3.0], [-2.0, -3.0]], [7.0, -5.0])

    @pytest.mark.parametrize("factor", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
    def test_scale_refuses_what_is_not_convex(self, factor):
        with pytest.raises(ValueError, match="stays convex only under a factor ≥ 0, got"):
            algebra.scale(MaxAffine.zero(1), factor)

    @pytest.mark.parametrize("operation", [algebra.add, algebra.maximum])
    def test_different_variables(self, operation):
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match="Functions of 1 and 3 variables cannot be combined"):
            operation(random_max_affine(rng, 2, 1), random_max_affine(rng, 2, 3))

    @pytest.mark.parametrize(
        "slope",
        [np.ones(1), np.ones(2), np.float64(1.0), np.arange(6.0).reshape(2, 3)],
        ids=["one number for three variables", "two", "a number", "one slope a piece"],
    )
    def test_tilt_refuses_what_is_not_one_slope(self, slope):
        f = random_max_affine(np.random.default_rng(0), 2, 3)
        with pytest.raises(ValueError, match=r"\(3,\)"):
            algebra.tilt(f, slope)
