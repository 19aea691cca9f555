"""Random functions, and slow evaluations written from the definition, for the tests of `pldc.function`."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pldc.function import PLDC, Hinges, MaxAffine

MODERATE = st.floats(-10, 10, allow_subnormal=False)
SMALL_INTEGERS = st.integers(-3, 3).map(float)
DIMENSIONS = st.integers(1, 3)


@st.composite
def max_affines(draw, d, numbers=MODERATE, most=4):
    """A max-affine function of d variables with 1 to `most` pieces."""
    k = draw(st.integers(1, most))
    return MaxAffine(draw(arrays(float, (k, d), elements=numbers)), draw(arrays(float, k, elements=numbers)))


@st.composite
def pldcs(draw, d, numbers=MODERATE, most=4):
    """A difference of two such functions."""
    return PLDC(draw(max_affines(d, numbers, most)), draw(max_affines(d, numbers, most)))


def point_sets(d):
    """Six points in d dimensions."""
    return arrays(float, (6, d), elements=MODERATE)


def random_max_affine(rng, k, d):
    return MaxAffine(rng.standard_normal((k, d)), rng.standard_normal(k))


def random_pldc(rng, k, l, d):
    return PLDC(random_max_affine(rng, k, d), random_max_affine(rng, l, d))


def random_hinged(rng, k, l, hinges):
    return PLDC(random_max_affine(rng, k, hinges.n_columns), random_max_affine(rng, l, hinges.n_columns), hinges)


def additive(slope, hinges):
    """A sum of curves: an affine function of the columns of the hinges."""
    flat = PLDC.affine(slope)
    return PLDC(flat.plus, flat.minus, hinges)


def random_functions(rng, d=2):
    """One function of each kind."""
    plain = random_pldc(rng, 6, 6, d)
    hinged = random_hinged(rng, 3, 4, Hinges([np.sort(rng.normal(size=3 + j)) for j in range(d)]))
    return {"plain": plain, "hinged": hinged, "sum": PLDC.total([plain, hinged, random_pldc(rng, 4, 4, d)])}


KINDS = ("plain", "hinged", "sum")


def piece_values(f, X):
    """The value of every piece at every row, one inner product at a time, shape (rows, pieces)."""
    return np.array([[sum(s * x) + t for s, t in zip(f.slopes, f.offsets, strict=True)] for x in np.asarray(X, float)])


def generic_points(f, X, margin=1e-2):
    """The rows of X at which the highest piece of a max-affine f leads by more than `margin`."""
    if f.n_pieces == 1:
        return X
    top = np.sort(piece_values(f, X), axis=1)
    return X[top[:, -1] - top[:, -2] > margin]


def central_differences(f, X, h=1e-4):
    """Gradient by central differences, exact up to rounding where f is affine within h."""
    steps = h * np.eye(X.shape[1])
    return np.column_stack([(f(X + e) - f(X - e)) / (2 * h) for e in steps])


def magnitude(f, X):
    """How large the numbers are that are added up in f(x), row by row: the yardstick of rounding."""
    parts = (f.plus, f.minus) if isinstance(f, PLDC) else (f,)
    X = np.abs(np.asarray(X, float))
    return sum((X @ np.abs(part.slopes).T + np.abs(part.offsets)).max(axis=1) for part in parts)


def assert_close(actual, expected, size, tol=1e-9):
    """Equal to `tol` relative to `size`, row by row; shapes must agree, nothing is broadcast."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    error = np.abs(actual - expected)
    assert (error <= tol * size).all(), f"largest error {error.max():.3g} at sizes {np.max(size):.3g}"


def assert_same_function(f, g, X, tol=1e-9):
    """f and g have the same values at X, relative to the magnitude of f."""
    assert_close(g(X), f(X), magnitude(f, X), tol)
