"""Exact minima, ranges, slopes and signs, against mixed-integer programs and direct search."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.function.common import random_pldc

from pldc import PLDC, MaxAffine


def by_milp(f, low, high, A=None, b=None):
    """Minimum over a box by one mixed-integer program: a binary for every piece of the minus part."""
    (k, d), l = f.plus.slopes.shape, f.minus.n_pieces
    corners = np.where(f.minus.slopes > 0, high, low)
    largest = (f.minus.slopes * corners).sum(axis=1) + f.minus.offsets
    smallest = (f.minus.slopes * np.where(f.minus.slopes > 0, low, high)).sum(axis=1) + f.minus.offsets
    M = largest.max() - smallest.min() + 1.0
    # variables x, t, u, z: t ≥ plus pieces; u ≤ piece_j + M (1 − z_j); Σ z = 1; min t − u
    rows = [
        LinearConstraint(np.hstack([f.plus.slopes, -np.ones((k, 1)), np.zeros((k, 1 + l))]), -np.inf, -f.plus.offsets),
        LinearConstraint(
            np.hstack([-f.minus.slopes, np.zeros((l, 1)), np.ones((l, 1)), M * np.eye(l)]), -np.inf, f.minus.offsets + M
        ),
        LinearConstraint(np.concatenate([np.zeros(d + 2), np.ones(l)])[None], 1, 1),
    ]
    if A is not None:
        rows.append(LinearConstraint(np.hstack([A, np.zeros((len(A), 2 + l))]), -np.inf, b))
    cost = np.concatenate([np.zeros(d), [1.0, -1.0], np.zeros(l)])
    bounds = Bounds(np.concatenate([low, [-np.inf] * 2, np.zeros(l)]), np.concatenate([high, [np.inf] * 2, np.ones(l)]))
    kinds = np.concatenate([np.zeros(d + 2), np.ones(l)])
    found = milp(cost, constraints=rows, bounds=bounds, integrality=kinds, options={"mip_rel_gap": 1e-9})
    return found.fun if found.success else None


@pytest.mark.parametrize("seed", range(60))
def test_global_minimum_equals_that_of_a_mixed_integer_program(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 6
    f = random_pldc(rng, int(rng.integers(1, 12)), int(rng.integers(1, 12)), d)
    low, high = -1 - rng.random(d), 1 + rng.random(d)
    A = b = None
    if seed % 2:
        A, b = rng.standard_normal((2, d)), rng.random(2)
    found = f.minimize(list(zip(low, high, strict=True)), A_ub=A, b_ub=b, n_jobs=1 + seed % 2)
    assert found.status == "optimal"
    assert found.fun == pytest.approx(by_milp(f, low, high, A, b), abs=1e-6)
    assert f(found.x[None])[0] == pytest.approx(found.fun, abs=1e-12)
    local = f.local(found.x[None])
    assert found.pieces == (local.plus[0], local.minus[0])
    assert (found.x >= low - 1e-9).all() and (found.x <= high + 1e-9).all()
    if A is not None:
        assert (A @ found.x <= b + 1e-9).all()


def test_two_hundred_pieces_in_ten_dimensions_take_few_programs():
    rng = np.random.default_rng(0)
    f, box = random_pldc(rng, 200, 200, 10), [(-1, 1)] * 10
    found = f.minimize(box)
    assert found.n_programs < 100
    every = min(
        PLDC(f.plus, MaxAffine(f.minus.slopes[[j]], f.minus.offsets[[j]])).minimize(box).fun for j in range(200)
    )
    assert found.fun == pytest.approx(every, abs=1e-9)


def test_maximum_is_the_minimum_of_the_opposite():
    rng = np.random.default_rng(5)
    f = random_pldc(rng, 6, 7, 3)
    box = [(-1, 1)] * 3
    top = f.maximize(box)
    assert top.fun == pytest.approx(-(-f).minimize(box).fun)
    low, high = f.bounds_on(box)
    values = f(rng.uniform(-1, 1, size=(20_000, 3)))
    assert low <= values.min() and values.max() <= high
    assert high - values.max() < 0.3 and values.min() - low < 0.3
    local = f.local(top.x[None])
    assert top.pieces == (local.plus[0], local.minus[0])


def test_unbounded_infeasible_and_equalities():
    f = abs(PLDC.affine([1.0, 1.0]))
    assert f.minimize().fun == pytest.approx(0.0)
    up = f.maximize(bounds=[(0, None), (0, 1)])
    assert up.status == "unbounded" and up.fun == np.inf and up.x is None
    nothing = f.minimize(bounds=[(0, 1)] * 2, A_ub=[[1.0, 1.0]], b_ub=[-1.0])
    assert nothing.status == "infeasible" and nothing.x is None
    line = f.minimize(bounds=[(-5, 5)] * 2, A_eq=[[1.0, 1.0]], b_eq=[2.0])
    assert line.fun == pytest.approx(2.0)
    # Infeasible is said even where the objective would be unbounded.
    assert (-f).minimize(A_ub=[[1.0, 0.0], [-1.0, 0.0]], b_ub=[0.0, -1.0]).status == "infeasible"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": [(0, 1)] * 3}, "2 pairs"),
        ({"bounds": [(0, 1)]}, "2 pairs"),
        ({"bounds": [(0, 1, 2)] * 2}, "2 pairs"),
        ({"A_ub": [[np.nan, 1.0]], "b_ub": [1.0]}, "NaN"),
        ({"bounds": [(1, 0)] * 2}, "low ≤ high"),
        ({"A_ub": [[1.0, 1.0]]}, "together"),
        ({"A_eq": [[1.0]], "b_eq": [1.0]}, "shape"),
    ],
)
def test_malformed_polytopes_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PLDC.affine([1.0, 2.0]).minimize(**settings)


def test_a_convex_function_takes_one_program():
    rng = np.random.default_rng(0)
    g = MaxAffine(rng.standard_normal((20, 2)), rng.standard_normal(20))
    found = g.minimum_over([(-2, 2)] * 2)
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 201)] * 2), axis=-1).reshape(-1, 2)
    assert found.n_programs == 1
    assert found.fun <= g(grid).min() <= found.fun + 0.1


def slopes_on_a_grid(f, low, high, d):
    rng = np.random.default_rng(9)
    return f.gradient(rng.uniform(low, high, size=(40_000, d)))


@pytest.mark.parametrize("seed", range(8))
def test_lipschitz_and_monotone_agree_with_dense_sampling(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 2
    f, box = random_pldc(rng, 4, 4, d), [(-1.0, 1.0)] * d
    slopes = slopes_on_a_grid(f, -1, 1, d)
    for order, dual in ((1, np.inf), (2, 2), (np.inf, 1)):
        seen = np.linalg.norm(slopes, ord=dual, axis=1).max()
        assert f.lipschitz(order, box) == pytest.approx(seen, rel=1e-9)
        assert f.lipschitz(order) >= seen * (1 - 1e-12)
    for feature in range(d):
        assert f.is_monotone(feature, box) == (slopes[:, feature] >= 0).all()
        assert f.is_monotone(feature, box, increasing=False) == (slopes[:, feature] <= 0).all()
    assert (f + 100.0 * PLDC.affine(np.ones(d))).is_monotone(0)
    for feature in (7, -1, "d", 1.0):
        with pytest.raises(ValueError, match="feature must be its number"):
            f.is_monotone(feature)
    with pytest.raises(ValueError, match="order"):
        f.lipschitz(3)


def test_slopes_that_rule_on_no_open_set_do_not_count():
    # The piece 10 x − 100 of the plus part touches the maximum only far outside the box.
    f = PLDC(MaxAffine([[1.0], [10.0], [-1.0]], [0.0, -100.0, 0.0]), MaxAffine.zero(1))
    assert f.lipschitz(box=[(-1, 1)]) == pytest.approx(1.0)
    assert f.lipschitz() == pytest.approx(10.0)
    assert f.is_monotone(0, [(0, 20)]) and not f.is_monotone(0, [(-1, 20)])


def test_sums_are_written_out():
    rng = np.random.default_rng(4)
    terms = (random_pldc(rng, 3, 3, 2), random_pldc(rng, 2, 4, 2))
    total, box = PLDC.total(terms), [(-1, 1)] * 2
    assert total.minimize(box).fun == pytest.approx((terms[0] + terms[1]).minimize(box).fun)
    assert total.maximize(box).fun == pytest.approx((terms[0] + terms[1]).maximize(box).fun)
    assert total.bounds_on(box) == pytest.approx((terms[0] + terms[1]).bounds_on(box))
    assert total.lipschitz(box=box) == pytest.approx((terms[0] + terms[1]).lipschitz(box=box))
    assert total.is_monotone(0, box) == (terms[0] + terms[1]).is_monotone(0, box)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e9])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_answers_do_not_depend_on_units(size, unit):
    rng = np.random.default_rng(8)
    f, box = random_pldc(rng, 6, 6, 2), np.array([[-2.0, 1.0], [-1.0, 3.0]])
    A, b = np.array([[1.0, 2.0]]), np.array([1.5])
    g = size * f.compose(np.eye(2) / unit)
    for one, other in (
        (f.minimize(box, A, b), g.minimize(unit * box, A, unit * b)),
        (f.maximize(box, A_eq=A, b_eq=b), g.maximize(unit * box, A_eq=A / unit, b_eq=b)),
    ):
        assert other.fun == pytest.approx(size * one.fun, rel=1e-7)
    assert g.lipschitz(box=unit * box) == pytest.approx(size / unit * f.lipschitz(box=box))
    assert g.lipschitz() == pytest.approx(size / unit * f.lipschitz())
    assert g.is_monotone(0, unit * box) == f.is_monotone(0, box)


def test_fixed_features_are_no_obstacle():
    f = PLDC(MaxAffine([[1.0, 0.0], [10.0, 0.0], [-1.0, 3.0]], [0.0, -100.0, 0.0]), MaxAffine.zero(2))
    fixed = [(-1, 1), (0.0, 0.0)]
    assert f.lipschitz(box=fixed) == pytest.approx(1.0)
    assert not f.is_monotone(0, fixed) and f.is_monotone(0, [(0.5, 1), (0.0, 0.0)]) and f.is_monotone(1, fixed)
    assert f.lipschitz(box=[(1, 1), (2, 2)]) == 0.0
    assert f.minimize(fixed).fun == pytest.approx(0.0)


def test_small_regions_far_from_the_origin_count():
    h = PLDC(MaxAffine([[0.0], [5.0]], [0.0, 0.0]), MaxAffine([[0.0], [4.0]], [0.0, -4.0]))  # slopes 0, 5, 1
    far = h.compose([[1.0]], [-1.7e9])
    for box in (None, [(0, 3.4e9)], [(1.7e9 - 5, 1.7e9 + 5)]):
        assert far.lipschitz(box=box) == pytest.approx(5.0)
        assert far.is_monotone(0, box)
        assert not (-far + 2.0 * PLDC.affine([1.0])).is_monotone(0, box)


def test_threads_and_bounds_are_checked():
    f = PLDC.affine([1.0])
    assert f.minimize([(0, 1)], n_jobs=-1).fun == 0.0
    with pytest.raises(ValueError, match="n_jobs"):
        f.minimize([(0, 1)], n_jobs=0)
    with pytest.raises(ValueError, match="1 pairs"):
        f.minimize((0, 1))
