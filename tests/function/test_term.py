"""Functions of one term with hinges: values, slopes, bounds, monotony."""

from itertools import pairwise

import numpy as np
import pytest
from tests.function.common import additive, central_differences, random_hinged, random_pldc

from pldc.function import PLDC, Hinges, MaxAffine, Term


def random_function(rng, d=3, pieces=3, knots=4):
    return random_hinged(rng, pieces, pieces, Hinges([np.sort(rng.normal(size=knots)) for _ in range(d)]))


def curve(*slopes):
    """The curve over knots 0, 1, …, straight at both ends, with these slopes between knots."""
    return additive([0.0, *slopes], Hinges([np.arange(len(slopes) + 1.0)]))


def test_no_knots_at_all_is_the_function_itself():
    rng = np.random.default_rng(0)
    inner, X = random_pldc(rng, 4, 4, 2), rng.normal(size=(50, 2))
    f = PLDC(inner.plus, inner.minus, Hinges([[], []]))
    np.testing.assert_allclose(f(X), inner(X))
    np.testing.assert_allclose(f.gradient(X), inner.gradient(X))
    np.testing.assert_allclose(f.room(X, [1.0, 2.0]), inner.room(X, [1.0, 2.0]))
    assert f.seminorm_bound() >= inner.seminorm_bound() - 1e-12


def test_refuses_another_number_of_columns():
    with pytest.raises(ValueError, match="2 features and the hinges 3 columns"):
        additive([1.0, 2.0], Hinges([[0.0, 1.0, 2.0]]))


def test_refuses_points_of_another_shape():
    with pytest.raises(ValueError, match="Expected points of shape"):
        random_function(np.random.default_rng(0))(np.zeros((2, 4)))


# ---------------------------------------------------------------- values and slopes


def test_values_are_those_of_the_ramps():
    rng = np.random.default_rng(1)
    f, X = random_function(rng), 2.0 * rng.normal(size=(60, 3))
    for x, value in zip(X, f(X), strict=True):
        ramps = [
            np.clip((x[j] - a) / (b - a), 0, 1)
            for j, knots in enumerate(f.terms[0].hinges.knots)
            for a, b in pairwise(knots)
        ]
        z = np.concatenate([x, ramps])
        plus, minus = ((part.slopes @ z + part.offsets).max() for part in (f.plus, f.minus))
        assert value == pytest.approx(plus - minus, abs=1e-9)


def test_one_piece_is_a_curve():
    f = curve(1.0, -2.0)
    x = np.array([[-5.0], [0.5], [1.0], [1.5], [2.0], [7.0]])
    np.testing.assert_allclose(f(x), [0.0, 0.5, 1.0, 0.0, -1.0, -1.0])
    np.testing.assert_allclose(f.gradient(x)[:, 0], [0.0, 1.0, -2.0, -2.0, 0.0, 0.0])  # at a knot, to its right
    assert f(np.array([[1e308], [-1e308]])) == pytest.approx([-1.0, 0.0])


@pytest.mark.parametrize("knots", [[[-1.0, 0.0, 2.0], [], [0.0, 1.0]], [[-2.0, 0.5], [-1.0, 1.0], [-0.5, 0.0, 0.5]]])
def test_slopes_are_derivatives_and_local_models_add_up(knots):
    rng = np.random.default_rng(2)
    hinges = Hinges(knots)
    f, X = random_hinged(rng, 4, 3, hinges), 1.5 * rng.normal(size=(300, 3))
    away = f.room(X, np.ones(3)) > 1e-3
    assert away.mean() > 0.9
    np.testing.assert_allclose(f.gradient(X)[away], central_differences(f, X[away]), atol=1e-8)
    local = f.local(X)
    np.testing.assert_allclose((local.slope * X).sum(axis=1) + local.intercept, f(X), atol=1e-9)
    step = 1e-9 * rng.normal(size=X.shape)
    near = (local.slope * (X + step)).sum(axis=1) + local.intercept
    np.testing.assert_allclose(near[away], f(X + step)[away], atol=1e-12)


def test_regions_group_equal_slopes():
    rng = np.random.default_rng(3)
    f, X = random_function(rng, d=1), rng.normal(size=(400, 1))
    regions = f.regions(X)
    assert regions.count.sum() == 400 and 1 < len(regions) < 60
    np.testing.assert_allclose(regions.slope[regions.of_row], f.gradient(X))
    values = regions.slope[regions.of_row, 0] * X[:, 0]
    np.testing.assert_allclose(values + regions.intercept[regions.of_row], f(X), atol=1e-9)


def test_pruning_keeps_values_at_the_rows():
    rng = np.random.default_rng(4)
    f, X = random_function(rng, pieces=12), rng.normal(size=(60, 3))
    pruned = f.prune(X)
    np.testing.assert_allclose(pruned(X), f(X), atol=1e-9)
    assert sum(pruned.n_pieces) < sum(f.n_pieces)
    np.testing.assert_allclose(f.drop_dominated()(X), f(X), atol=1e-12)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("seed", range(5))
def test_values_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    f = random_function(rng, d=2)
    ends = np.sort(2.0 * rng.normal(size=(2, 2)), axis=1)
    values = f(rng.uniform(ends[:, 0], ends[:, 1], size=(5000, 2)))
    low, high = f.bounds_on(ends)
    assert low <= values.min() and values.max() <= high
    with pytest.raises(ValueError, match="finite"):
        f.bounds_on([(0, 1), (0, None)])


def test_bounds_of_a_single_curve_that_rises_are_exact():
    assert curve(1.0, 2.0).bounds_on([(0.5, 1.5)]) == pytest.approx((0.5, 2.0))


@pytest.mark.parametrize("seed", range(8))
def test_the_seminorm_bound_is_that_of_an_explicit_difference_of_convex_functions(seed):
    rng = np.random.default_rng(seed)
    f = random_function(rng, d=1, knots=5)
    knots, bound = f.terms[0].hinges.knots[0], f.seminorm_bound()
    grid = np.linspace(-5.0, 5.0, 20001)[:, None]
    middle = (grid[1:] + grid[:-1]) / 2
    columns = f.terms[0].hinges(middle)
    rising = np.column_stack([np.ones(len(middle)), f.terms[0].hinges.rising(middle)])
    total = sum(np.abs((rising * p.slopes[p.active(columns)]).sum(axis=1)) for p in (f.plus, f.minus))
    assert total.max() <= bound * (1 + 1e-12)

    # Bends of the pieces by differences of their values, not by the slopes that the class keeps.
    pieces = np.vstack([p.slopes for p in (f.plus, f.minus)])
    h = 1e-3 * np.diff(knots).min()
    second = (f.terms[0].hinges((knots + h)[:, None]) - 2 * f.terms[0].hinges(knots[:, None])) @ pieces.T
    second += f.terms[0].hinges((knots - h)[:, None]) @ pieces.T
    bends = np.maximum(-second / h, 0.0).max(axis=1)

    def parts(x):
        added = (bends * np.maximum(x - knots, 0.0)).sum(axis=1) - 0.5 * bends.sum() * x[:, 0]
        Z = f.terms[0].hinges(x)
        return np.array([f.plus(Z) + added, f.minus(Z) + added])

    a, b = rng.uniform(-5, 5, size=(2, 5000, 1))
    assert (parts((a + b) / 2) <= (parts(a) + parts(b)) / 2 + 1e-9).all()
    assert np.allclose(np.subtract(*parts(a)), f(a))
    slopes = np.diff(parts(grid), axis=1) / np.diff(grid[:, 0])
    assert np.abs(slopes).sum(axis=0).max() <= bound * (1 + 1e-9)
    with pytest.raises(ValueError, match="norm"):
        f.seminorm_bound("nonsense")


# ---------------------------------------------------------------- monotony


def test_monotone_everywhere_or_not():
    up, hill = curve(1.0, 0.0, 2.0), curve(1.0, -1.0)
    assert up.is_monotone(0) and not up.is_monotone(0, increasing=False)
    assert (-up).is_monotone(0, increasing=False)
    assert not hill.is_monotone(0) and not hill.is_monotone(0, increasing=False)
    for wrong in (1, -1, 0.5, "x"):
        with pytest.raises(ValueError, match="feature"):
            up.is_monotone(wrong)


def test_monotone_within_a_box():
    hill = curve(1.0, -1.0)
    assert hill.is_monotone(0, [(0.0, 1.0)]) and hill.is_monotone(0, [(None, 1.0)])  # up to the top, and no further
    assert hill.is_monotone(0, [(1.0, None)], increasing=False)
    assert not hill.is_monotone(0, [(0.5, 1.01)]) and not hill.is_monotone(0, [(0.5, 1.01)], increasing=False)
    assert hill.is_monotone(0, [(1.5, 1.5)])  # a point
    assert hill.is_monotone(0, [(5.0, 6.0)]) and hill.is_monotone(0, [(5.0, 6.0)], increasing=False)


def test_monotone_by_the_pieces_that_rule():
    # max(0, x) − max(−1, ramp of another feature): rises in the first, falls in the second.
    hinges = Hinges([[], [0.0, 1.0]])
    f = PLDC(MaxAffine([[0, 0, 0], [1, 0, 0]], [0, 0]), MaxAffine([[0, 0, 0], [0, 0, 1]], [-1, 0]), hinges)
    assert f.is_monotone(0) and not f.is_monotone(1) and f.is_monotone(1, increasing=False)
    falling_end = additive([-1.0, 5.0], Hinges([[0.0, 1.0]]))  # only beyond the knots
    assert not falling_end.is_monotone(0) and falling_end.is_monotone(0, [(0.0, 1.0)])
    # x + |x| − |x| rises, but a plus piece is less steep than a minus piece.
    same = MaxAffine([[1.0], [-1.0]], [0.0, 0.0])
    hidden = PLDC(MaxAffine([[2.0], [0.0]], [0.0, 0.0]), same, Hinges([[]]))
    with pytest.raises(TypeError, match="decided"):
        hidden.is_monotone(0)


# ---------------------------------------------------------------- units, and what is refused


def test_in_other_units():
    rng = np.random.default_rng(6)
    f, X = random_function(rng), rng.normal(size=(50, 3))
    scale, shift = rng.uniform(0.5, 2.0, size=3), rng.normal(size=3)
    moved = f.compose(np.diag(scale), shift)
    np.testing.assert_allclose(moved(X), f(X * scale + shift), atol=1e-9)
    np.testing.assert_allclose(moved.gradient(X), scale * f.gradient(X * scale + shift), atol=1e-8)
    np.testing.assert_allclose(moved.room(X, 1 / scale), f.room(X * scale + shift, np.ones(3)), atol=1e-9)
    np.testing.assert_allclose(f.compose(np.diag(scale))(X), f(X * scale), atol=1e-9)
    for wrong in (np.ones((3, 3)), -np.eye(3), np.eye(2)):
        with pytest.raises(TypeError, match="mixed"):
            f.compose(wrong)


@pytest.mark.parametrize("question", ["minimize", "maximize", "lipschitz"])
def test_refuses_what_it_cannot_say(question):
    with pytest.raises(TypeError, match=r"hinges: model\.simplify"):
        getattr(curve(1.0, 2.0), question)()


def test_refuses_parts_that_are_none():
    zero = MaxAffine.zero(1)
    for wrong, message in (
        ((1, 2), "plus must be a MaxAffine function, got int"),
        ((zero, None), "minus must be a MaxAffine function, got NoneType"),
        ((zero, zero, [[0.0, 1.0]]), "hinges must be Hinges or None, got list"),
    ):
        for make in (PLDC, Term):
            with pytest.raises(TypeError, match=message):
                make(*wrong)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(8)
    f, X = random_function(rng), rng.normal(size=(50, 3))
    values, local = f(X), f.local(X)
    monkeypatch.setattr("pldc.function.term.BLOCK_ROWS", 7)
    np.testing.assert_allclose(f(X), values, rtol=1e-12)
    for name, array in vars(f.local(X)).items():
        np.testing.assert_allclose(array, getattr(local, name), rtol=1e-9, atol=1e-12)
