"""Bounds on the DC seminorm against exact arithmetic, brute force and sampled slopes."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.function.common import DIMENSIONS, SMALL_INTEGERS, pldcs, random_pldc

from pldc.function import PLDC, MaxAffine
from pldc.function.seminorm import bound_over_active_pairs, bound_over_all_pairs

NORMS = ("joint", "componentwise")

# max(0, x) − max(0, −x − 1): the two slopes live on different sides of the gap (−1, 0).
GAP = PLDC(MaxAffine([[0.0], [1.0]], [0.0, 0.0]), MaxAffine([[0.0], [-1.0]], [0.0, -1.0]))


def from_pairs(f, pairs, norm):
    """The seminorm that pairs (k, l) of pieces prove, from its definition."""
    sums = np.array([np.abs(f.plus.slopes[k]) + np.abs(f.minus.slopes[l]) for k, l in pairs])
    return sums.sum(axis=1).max() if norm == "joint" else sums.max(axis=0).sum()


def pairs_in_one_dimension(f):
    """Pairs active together somewhere on the line, in rational arithmetic: no tolerance anywhere."""
    parts = [
        [(Fraction(float(s)), Fraction(float(t))) for s, t in zip(p.slopes[:, 0], p.offsets, strict=True)]
        for p in (f.plus, f.minus)
    ]
    kinks = sorted(
        {(t2 - t1) / (s1 - s2) for part in parts for (s1, t1), (s2, t2) in combinations(part, 2) if s1 != s2}
        or {Fraction(0)}
    )
    between = [(a + b) / 2 for a, b in pairwise(kinks)]
    pairs = set()
    for x in [kinks[0] - 1, *kinks, *between, kinks[-1] + 1]:
        values = [[s * x + t for s, t in part] for part in parts]
        active = [[k for k, v in enumerate(part) if v == max(part)] for part in values]
        pairs |= set(product(*active))
    return pairs


def pairs_by_feasibility(f):
    """Pairs active together somewhere, each by its own feasibility program in the numbers as they are."""
    pairs = set()
    for k, l in product(range(f.plus.n_pieces), range(f.minus.n_pieces)):
        A = np.vstack([f.plus.slopes - f.plus.slopes[k], f.minus.slopes - f.minus.slopes[l]])
        b = np.concatenate([f.plus.offsets[k] - f.plus.offsets, f.minus.offsets[l] - f.minus.offsets])
        result = linprog(np.zeros(f.n_features), A_ub=A, b_ub=b, bounds=(None, None), method="highs")
        assert result.status in (0, 2), result.message
        if result.status == 0:
            pairs.add((k, l))
    return pairs


def sampled(f, X, norm):
    """The largest slopes seen at the rows of X: never above the seminorm of this decomposition."""
    rows = np.abs(f.plus.gradient(X)) + np.abs(f.minus.gradient(X))
    return rows.sum(axis=1).max() if norm == "joint" else rows.max(axis=0).sum()


def test_pairs_in_one_dimension_by_hand():
    assert pairs_in_one_dimension(GAP) == {(0, 0), (1, 0), (0, 1)}
    touching = PLDC(GAP.plus, MaxAffine([[0.0], [-1.0]], [0.0, 0.0]))
    assert pairs_in_one_dimension(touching) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert pairs_by_feasibility(GAP) == {(0, 0), (1, 0), (0, 1)}


class TestByHand:
    def test_all_pairs(self):
        f = PLDC(
            MaxAffine([[1.0, -2.0], [-3.0, 0.5]], [0.0, 0.0]),
            MaxAffine([[0.0, 4.0], [2.0, 1.0], [-2.5, 0.0]], [0.0, 0.0, 0.0]),
        )
        assert f.seminorm_bound() == pytest.approx(3.5 + 4.0)
        assert f.seminorm_bound("joint") == pytest.approx(3.5 + 4.0)
        assert f.seminorm_bound("componentwise") == pytest.approx((3.0 + 2.5) + (2.0 + 4.0))

    @pytest.mark.parametrize("norm", NORMS)
    def test_active_pairs_are_fewer(self, norm):
        assert GAP.seminorm_bound(norm) == pytest.approx(2.0)
        assert GAP.seminorm_bound(norm, active_pairs=True) == pytest.approx(1.0)

    def test_the_two_norms_differ(self):
        # max(3x₁, 3x₂, 2x₁ + 2x₂): no slope is larger than 4 in all, yet each coordinate reaches 3.
        f = PLDC(MaxAffine([[3.0, 0.0], [0.0, 3.0], [2.0, 2.0]], np.zeros(3)), MaxAffine.zero(2))
        for active in (False, True):
            assert f.seminorm_bound("joint", active) == pytest.approx(4.0)
            assert f.seminorm_bound("componentwise", active) == pytest.approx(6.0)

    def test_coordinates_may_take_different_pairs(self):
        # Two gaps, one a coordinate, the second in the other direction and closed.
        f = PLDC(
            MaxAffine([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [1.0, 5.0]], [0.0, 0.0, 0.0, 0.0]),
            MaxAffine([[0.0, 0.0], [-1.0, 0.0], [0.0, -5.0], [-1.0, -5.0]], [0.0, -1.0, 1.0, 0.0]),
        )
        assert f.seminorm_bound("componentwise") == pytest.approx(2.0 + 10.0)
        assert f.seminorm_bound("componentwise", active_pairs=True) == pytest.approx(1.0 + 10.0)
        # joint: both gaps of the second coordinate at 0 ≤ x₂ ≤ 1, one slope of the first: 10 + 1.
        assert f.seminorm_bound("joint") == pytest.approx(12.0)
        assert f.seminorm_bound("joint", active_pairs=True) == pytest.approx(11.0)

    @pytest.mark.parametrize("norm", NORMS)
    def test_parts_that_meet_at_one_point_count(self, norm):
        f = PLDC(GAP.plus, MaxAffine([[0.0], [-1.0]], [0.0, 0.0]))
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(2.0)

    @pytest.mark.parametrize("norm", NORMS)
    def test_pieces_that_are_never_active_do_not_count(self, norm):
        # Below GAP's own pieces everywhere, whether their slope is one of GAP's or between two of them.
        plus = MaxAffine([[0.0], [1.0], [1.0], [0.75]], [0.0, 0.0, -5.0, -5.0])
        minus = MaxAffine([[0.0], [-1.0], [0.0], [-0.75]], [0.0, -1.0, -1.0, -5.0])
        f = PLDC(plus, minus)
        assert f.seminorm_bound(norm) == pytest.approx(2.0)
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(1.0)

    @pytest.mark.parametrize("active", [False, True])
    @pytest.mark.parametrize("norm", NORMS)
    def test_affine_and_constant_functions(self, norm, active):
        assert PLDC.affine([1.0, -2.0], 7.0).seminorm_bound(norm, active) == pytest.approx(3.0)
        assert PLDC.affine([0.0, 0.0], 7.0).seminorm_bound(norm, active) == 0.0
        assert (0.0 * random_pldc(np.random.default_rng(0), 3, 3, 2)).seminorm_bound(norm, active) == 0.0


class TestActivePairs:
    @pytest.mark.parametrize("norm", NORMS)
    @settings(deadline=None, max_examples=40)
    @given(f=pldcs(1, SMALL_INTEGERS))
    def test_exact_in_one_dimension(self, norm, f):
        expected = from_pairs(f, pairs_in_one_dimension(f), norm)
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize("seed", range(4))
    def test_random_functions_of_one_variable(self, norm, seed):
        f = random_pldc(np.random.default_rng(seed), 8, 7, 1)
        expected = from_pairs(f, pairs_in_one_dimension(f), norm)
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("d, seed", [(2, 8), (2, 20), (2, 27), (3, 3)])
    def test_against_a_program_for_each_pair(self, d, seed):
        f = random_pldc(np.random.default_rng(seed), 5, 4, d)
        pairs = pairs_by_feasibility(f)
        assert len(pairs) < 20
        for norm in NORMS:
            expected = from_pairs(f, pairs, norm)
            assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize("seed", [8, 20, 27])
    def test_a_dense_grid_attains_it(self, norm, seed):
        axis = np.linspace(-40.0, 40.0, 400)
        grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        f = random_pldc(np.random.default_rng(seed), 5, 4, 2)
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(sampled(f, grid, norm), rel=1e-12)

    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize("size", [1e-150, 1e-8, 1e8, 1e150])
    def test_scale_of_the_function(self, norm, size):
        f = random_pldc(np.random.default_rng(27), 5, 4, 2)
        expected = f.seminorm_bound(norm, active_pairs=True)
        assert expected < f.seminorm_bound(norm) - 0.01
        assert (size * f).seminorm_bound(norm, active_pairs=True) == pytest.approx(size * expected, rel=1e-9)

    @pytest.mark.parametrize("size", [1e-8, 1e8])
    def test_scale_of_the_points(self, size):
        assert GAP.compose([[size]]).seminorm_bound(active_pairs=True) == pytest.approx(size)

    @pytest.mark.parametrize("norm", NORMS)
    @pytest.mark.parametrize("unit", [1e-6, 1e-9, 1e-12, 1e12])
    def test_unit_of_one_feature(self, norm, unit):
        # max(0, x₁) − max(0, −x₁ − 1 + unit·x₂): slopes of both parts meet where x₂ ≥ 1 / unit, and only there.
        f = PLDC(
            MaxAffine([[0.0, 0.0], [1.0, 0.0]], [0.0, 0.0]),
            MaxAffine([[0.0, 0.0], [-1.0, unit]], [0.0, -1.0]),
        )
        X = np.array([[0.5, 3 / unit]])
        assert sampled(f, X, norm) == pytest.approx(2.0 + unit)
        assert f.seminorm_bound(norm, active_pairs=True) == pytest.approx(2.0 + unit)

    @pytest.mark.parametrize("origin", [1e3, 1e6])
    def test_where_the_origin_is(self, origin):
        assert GAP.compose([[1.0]], [-origin]).seminorm_bound(active_pairs=True) == pytest.approx(1.0)


class TestAnyFunction:
    @pytest.mark.parametrize("active", [False, True])
    @pytest.mark.parametrize("norm", NORMS)
    @settings(deadline=None, max_examples=25)
    @given(data=st.data())
    def test_bounds_what_is_seen_anywhere(self, norm, active, data):
        d = data.draw(DIMENSIONS)
        f = data.draw(pldcs(d))
        rng = np.random.default_rng(0)
        X = np.vstack([size * rng.standard_normal((100, d)) for size in (0.1, 1.0, 10.0, 1e3)])
        seen = sampled(f, X, norm)
        assert f.seminorm_bound(norm, active) >= seen * (1 - 1e-12)

    @settings(deadline=None, max_examples=25)
    @given(data=st.data())
    def test_order_of_the_four_bounds(self, data):
        f = data.draw(pldcs(data.draw(DIMENSIONS)))
        room = 1 + 1e-12
        for norm in NORMS:
            assert f.seminorm_bound(norm, active_pairs=True) <= f.seminorm_bound(norm) * room
        for active in (False, True):
            assert f.seminorm_bound("joint", active) <= f.seminorm_bound("componentwise", active) * room

    @settings(deadline=None, max_examples=25)
    @given(data=st.data())
    def test_bounds_differences_of_values(self, data):
        # |f(x) − f(y)| ≤ ‖f‖ · ‖x − y‖∞
        d = data.draw(DIMENSIONS)
        f = data.draw(pldcs(d))
        rng = np.random.default_rng(1)
        X, Y = rng.uniform(-10, 10, (2, 200, d))
        bound = f.seminorm_bound("joint", active_pairs=True)
        assert (np.abs(f(X) - f(Y)) <= bound * np.abs(X - Y).max(axis=1) + 1e-9).all()

    @pytest.mark.parametrize("active", [False, True])
    @pytest.mark.parametrize("norm", NORMS)
    def test_symmetries(self, norm, active):
        f = random_pldc(np.random.default_rng(0), 5, 4, 3)
        bound = f.seminorm_bound(norm, active)
        assert (-f).seminorm_bound(norm, active) == pytest.approx(bound)
        assert (f + 5.0).seminorm_bound(norm, active) == pytest.approx(bound)
        assert (-2.5 * f).seminorm_bound(norm, active) == pytest.approx(2.5 * bound)
        assert f.compose(np.eye(3), [1.0, -2.0, 3.0]).seminorm_bound(norm, active) == pytest.approx(bound)
        flip = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
        assert f.compose(flip).seminorm_bound(norm, active) == pytest.approx(bound)


@pytest.mark.parametrize("bound", [bound_over_all_pairs, bound_over_active_pairs])
@pytest.mark.parametrize("norm", ["l1", "Joint", None])
def test_unknown_norm(bound, norm):
    with pytest.raises(ValueError, match=r"norm must be one of \('joint', 'componentwise'\), got"):
        bound(MaxAffine.zero(1), MaxAffine.zero(1), norm)
