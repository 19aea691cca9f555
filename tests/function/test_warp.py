import numpy as np
import pytest

from pldc.function import PLDC, MaxAffine, PLDCSum, Warp, WarpedPLDC, explain


def random_warp(rng, d):
    knots = [np.sort(rng.normal(size=5)) for _ in range(d)]
    return Warp(knots, [np.cumsum(rng.uniform(0.1, 2.0, size=5)) for _ in range(d)])


def random_function(rng, d):
    parts = (MaxAffine(rng.normal(size=(4, d)), rng.normal(size=4)) for _ in range(2))
    return WarpedPLDC(PLDC(*parts), random_warp(rng, d))


def test_a_warp_interpolates_between_knots_and_goes_on_straight():
    rng = np.random.default_rng(0)
    warp = random_warp(rng, 2)
    x = rng.uniform(*warp.knots[1][[0, -1]], size=50)
    inside = np.column_stack([np.full(50, warp.knots[0][2]), x])
    expected = np.column_stack([np.full(50, warp.images[0][2]), np.interp(x, warp.knots[1], warp.images[1])])
    assert np.allclose(warp(inside), expected)
    first, last = warp.stretches[0][[0, -1]]
    left, right = warp.knots[0][[0, -1]]
    far = warp([[left - 3.0, 0.0], [right + 2.0, 0.0]])[:, 0]
    assert np.allclose(far, [warp.images[0][0] - 3.0 * first, warp.images[0][-1] + 2.0 * last])
    X = rng.normal(size=(100, 2))
    assert np.allclose(warp.stretch(X), (warp(X + 1e-7) - warp(X - 1e-7)) / 2e-7, atol=1e-6)


def test_in_other_units():
    rng = np.random.default_rng(1)
    f, X = random_function(rng, 3), rng.normal(size=(40, 3))
    center, scale = rng.normal(size=3), rng.uniform(0.5, 2.0, size=3)
    assert np.allclose(f.warp.after(center, scale)(center + scale * X), f.warp(X))
    assert np.allclose(f.compose(np.diag(scale), center)(X), f(X * scale + center))
    with pytest.raises(TypeError, match="mixed"):
        f.compose(np.ones((3, 3)))


def test_knots_that_rounding_joins_are_one():
    warp = Warp([[0.0, 1.0, 1.5], [0.0, 1.0]], [[0.0, 1.0, 3.0], [0.0, 1.0]])
    far = warp.after(np.array([1e16, 1e300]), np.array([1.2, 1.0]))
    assert len(far.knots[0]) < 3 and len(far.knots[1]) == 2
    assert np.allclose(far([[1e16, 1e300]]), [[0.0, 0.0]])


def test_local_models_are_those_of_the_features_themselves():
    rng = np.random.default_rng(2)
    f, X = random_function(rng, 3), rng.normal(size=(60, 3))
    local = f.local(X)
    assert np.allclose((local.slope * X).sum(axis=1) + local.intercept, f(X))
    steps = 1e-7 * np.eye(3)
    numeric = np.column_stack([(f(X + e) - f(X - e)) / 2e-7 for e in steps])
    assert np.allclose(f.gradient(X), numeric, atol=1e-5)
    why = explain(f, X)
    assert np.allclose(why.intercept + why.contributions.sum(axis=1), f(X))
    pruned = f.prune(X)
    assert np.allclose(pruned(X), f(X)) and sum(pruned.n_pieces) <= sum(f.n_pieces)
    assert np.allclose(f.drop_dominated()(X), f(X)) and np.allclose((f / 2)(X), f(X) / 2)
    assert np.allclose((-(2 * f) + 1.0)(X), 1.0 - 2 * f(X))
    with pytest.raises(ValueError, match="norm"):
        f.seminorm_bound("nonsense")


def test_the_seminorm_bound_is_that_of_an_explicit_difference_of_convex_functions():
    rng = np.random.default_rng(3)
    for seed in range(5):
        f = random_function(np.random.default_rng(seed), 2)
        sizes = [np.abs(p.slopes).max(axis=0) for p in (f.function.plus, f.function.minus)]

        def bent(x, knots, stretches):  # slopes from −v/2 to v/2, v the variation of w'
            jumps = np.abs(np.diff(stretches))
            return (jumps * np.maximum(x[:, None] - knots[1:-1], 0.0)).sum(axis=1) - 0.5 * jumps.sum() * x

        def parts(X, f=f, sizes=sizes, bent=bent):
            columns = [bent(*c) for c in zip(X.T, f.warp.knots, f.warp.stretches, strict=True)]
            added = np.column_stack(columns) @ np.maximum(*sizes)
            Z = f.warp(X)
            return np.array([f.function.plus(Z) + added, f.function.minus(Z) + added])

        A, B = 3.0 * rng.normal(size=(2, 3000, 2))
        assert (parts((A + B) / 2) <= (parts(A) + parts(B)) / 2 + 1e-9).all()
        X = 3.0 * rng.normal(size=(3000, 2))
        slopes = np.array([(parts(X + e) - parts(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)])  # (feature, part, row)
        assert np.abs(slopes).sum(axis=(0, 1)).max() <= f.seminorm_bound() * (1 + 1e-6)


def test_in_a_sum():
    rng = np.random.default_rng(4)
    f, g, X = random_function(rng, 2), PLDC.affine([1.0, 2.0]), rng.normal(size=(20, 2))
    mean = PLDCSum.mean([f, g])
    assert np.allclose(mean(X), (f(X) + g(X)) / 2) and PLDCSum.mean([f]) is f
    assert np.allclose(mean.compose(2 * np.eye(2))(X), mean(2 * X))
    with pytest.raises(TypeError, match="warped"):
        mean.expand()


@pytest.mark.parametrize(
    ("knots", "images"),
    [([], []), ([[0.0]], [[0.0]]), ([[0.0, 1.0]], [[1.0, 0.0]]), ([[0.0, 0.0]], [[0.0, 1.0]]), ([[0.0, 1.0]], [[0.0]])],
)
def test_refuses_what_is_no_warp(knots, images):
    with pytest.raises(ValueError, match="warp|increasing"):
        Warp(knots, images)


def test_refuses_another_number_of_features():
    with pytest.raises(ValueError, match="features"):
        WarpedPLDC(PLDC.affine([1.0, 2.0]), Warp([[0.0, 1.0]], [[0.0, 1.0]]))
