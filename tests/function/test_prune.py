"""Pruning: values stay, every piece that is needed stays, every other piece goes."""

import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.function.common import (
    DIMENSIONS,
    KINDS,
    SMALL_INTEGERS,
    assert_same_function,
    max_affines,
    piece_values,
    point_sets,
    random_functions,
    random_max_affine,
    random_pldc,
)

from pldc.function import PLDC, MaxAffine, max_affine, prune
from pldc.function.linear_programs import deepest_point
from pldc.function.prune import drop_dominated, prune_exact, prune_on

# max(−3x − 1, −x, 0.02, x, 3x − 1): the middle piece rises by 0.02 above the others, whose offsets are of order one.
SHALLOW = MaxAffine([[-3.0], [-1.0], [0.0], [1.0], [3.0]], [-1.0, 0.0, 0.02, 0.0, -1.0])


def anywhere(d, rng=None, count=200):
    """Points near the origin, and ever farther out."""
    rng = rng or np.random.default_rng(0)
    return np.vstack([size * rng.standard_normal((count, d)) for size in (1e-3, 1.0, 30.0, 1e4, 1e8)])


def pieces(f):
    """The pieces as a set of (slope, offset)."""
    return {(*map(float, s), float(t)) for s, t in zip(f.slopes, f.offsets, strict=True)}


def needed_pieces(f, tol=1e-7):
    """The pieces that rise above all others somewhere, by duality: no LP shared with the package.

    Piece j never rises above the others exactly when some convex combination of them has its slope and is at
    least as high: max Σ λᵢ tᵢ subject to Σ λᵢ sᵢ = s_j, Σ λᵢ = 1, λ ≥ 0.
    """
    rows = sorted(pieces(f))
    S, t = np.array([row[:-1] for row in rows]), np.array([row[-1] for row in rows])
    kept = set()
    for j in range(len(rows)):
        others = np.arange(len(rows)) != j
        if not others.any():
            return {rows[j]}
        result = linprog(
            -t[others],
            A_eq=np.vstack([S[others].T, np.ones(others.sum())]),
            b_eq=np.append(S[j], 1.0),
            method="highs",
        )
        assert result.status in (0, 2), result.message
        if result.status == 2 or -result.fun < t[j] - tol:
            kept.add(rows[j])
    return kept


def tangents(points, curvature=1.0):
    """Tangent planes of curvature·‖x‖² at distinct points: each is the only highest one at its own point."""
    return MaxAffine(2 * curvature * points, -curvature * (points**2).sum(axis=1))


@contextmanager
def within(seconds):
    """Fail, instead of waiting for ever, if the body takes longer."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        pytest.skip("needs a timer signal")

    def stop(*_):
        pytest.fail(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_within_stops_an_endless_loop():
    def forever():
        while True:
            pass

    with pytest.raises(pytest.fail.Exception, match="still running"), within(0.05):
        forever()


def test_needed_pieces_by_hand():
    f = MaxAffine([[-1.0], [0.0], [1.0], [0.5], [1.0]], [0.0, 0.5, 0.0, -1.0, -2.0])
    assert needed_pieces(f) == {(-1.0, 0.0), (0.0, 0.5), (1.0, 0.0)}


class TestExact:
    @pytest.mark.parametrize("k, d, seed", [(12, 1, 0), (12, 2, 1), (15, 2, 2), (14, 3, 3), (6, 4, 4)])
    def test_random_functions(self, k, d, seed):
        f = random_max_affine(np.random.default_rng(seed), k, d)
        g = prune_exact(f)
        assert pieces(g) == needed_pieces(f)
        assert_same_function(f, g, anywhere(d))

    def test_random_functions_do_have_something_to_drop(self):
        f = random_max_affine(np.random.default_rng(0), 12, 1)
        assert 1 < prune_exact(f).n_pieces < 12

    @settings(deadline=None, max_examples=40)
    @given(st.data())
    def test_small_integers_with_all_their_ties(self, data):
        d = data.draw(st.integers(1, 2))
        f = data.draw(max_affines(d, SMALL_INTEGERS, most=6))
        g = prune_exact(f)
        assert pieces(g) == needed_pieces(f)
        assert_same_function(f, g, anywhere(d, count=20))

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_tangents_of_a_paraboloid_are_all_needed(self, d):
        f = tangents(np.random.default_rng(d).uniform(-1, 1, (20, d)))
        assert prune_exact(f) == f

    @pytest.mark.parametrize("spacing", [1e-1, 1e-2, 1e-3, 1e-4])
    def test_pieces_that_rise_by_little_but_more_than_tol(self, spacing):
        # Between two steep pieces, tangents at neighbouring points; each rises by spacing² above its neighbours.
        near = tangents(spacing * np.arange(8.0)[:, None])
        f = MaxAffine(np.vstack([near.slopes, [[-3.0], [3.0]]]), np.append(near.offsets, [-2.0, -2.0]))
        assert prune_exact(f) == f
        assert prune_exact(f, tol=0.0) == f

    @pytest.mark.parametrize("tol, kept", [(0.0, 5), (1e-9, 5), (1e-3, 5), (0.1, 4)])
    def test_tol_is_the_rise_that_counts(self, tol, kept):
        assert prune_exact(SHALLOW, tol).n_pieces == kept

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_convex_combinations_below_go(self, d):
        rng = np.random.default_rng(d)
        core = tangents(rng.uniform(-1, 1, (8, d)))
        weights = rng.dirichlet(np.ones(8), size=12)
        f = MaxAffine(
            np.vstack([weights @ core.slopes, core.slopes]),
            np.concatenate([weights @ core.offsets - rng.uniform(0.01, 1, 12), core.offsets]),
        )
        assert prune_exact(f) == core

    def test_convex_combinations_that_touch_go(self):
        rng = np.random.default_rng(0)
        core = tangents(rng.uniform(-1, 1, (6, 2)))
        weights = rng.dirichlet(np.ones(6), size=5)
        f = MaxAffine(
            np.vstack([weights @ core.slopes, core.slopes]),
            np.concatenate([weights @ core.offsets, core.offsets]),
        )
        assert prune_exact(f) == core

    def test_the_cost_follows_the_pieces_that_stay(self, monkeypatch):
        # Clarkson: a piece is compared with pieces known to be needed, so no program has more rows than those.
        rng = np.random.default_rng(0)
        core = tangents(rng.uniform(-1, 1, (8, 2)))
        weights = rng.dirichlet(np.ones(8), size=100)
        f = MaxAffine(
            np.vstack([weights @ core.slopes, core.slopes]),
            np.concatenate([weights @ core.offsets - 0.01, core.offsets]),
        )
        rows = []

        def counted(A, b):
            rows.append(len(A))
            return deepest_point(A, b)

        monkeypatch.setattr(prune, "deepest_point", counted)
        assert prune_exact(f) == core
        assert max(rows) <= 8
        assert len(rows) <= 100 + 3 * 8

    def test_duplicates_go(self):
        core = tangents(np.random.default_rng(0).uniform(-1, 1, (5, 2)))
        f = MaxAffine(np.tile(core.slopes, (3, 1)), np.tile(core.offsets, 3))
        assert prune_exact(f) == core

    def test_order_of_the_pieces_is_kept_and_does_not_matter(self):
        rng = np.random.default_rng(0)
        f = random_max_affine(rng, 10, 2)
        expected = pieces(prune_exact(f))
        for _ in range(4):
            order = rng.permutation(10)
            g = prune_exact(MaxAffine(f.slopes[order], f.offsets[order]))
            assert pieces(g) == expected
            place = [int(np.flatnonzero((f.slopes[order] == s).all(axis=1))[0]) for s in g.slopes]
            assert place == sorted(place)

    def test_pruning_twice_changes_nothing_more(self):
        f = prune_exact(random_max_affine(np.random.default_rng(5), 12, 2))
        assert prune_exact(f) == f

    @pytest.mark.parametrize("size", [1e-8, 1e8, 1e-150, 1e150])
    def test_scale_of_the_function(self, size):
        f = random_max_affine(np.random.default_rng(0), 10, 2)
        g = prune_exact(MaxAffine(size * f.slopes, size * f.offsets))
        h = prune_exact(f)
        assert 1 < h.n_pieces < 10
        assert g == MaxAffine(size * h.slopes, size * h.offsets)

    @pytest.mark.parametrize("size", [1e-8, 1e8])
    def test_scale_of_the_points(self, size):
        f = random_max_affine(np.random.default_rng(0), 10, 2)
        h = prune_exact(f)
        assert prune_exact(MaxAffine(size * f.slopes, f.offsets)) == MaxAffine(size * h.slopes, h.offsets)

    @pytest.mark.parametrize("unit", [1e-6, 1e-9, 1e-12, 1e12])
    def test_unit_of_one_feature(self, unit):
        # The second feature is counted in other units (bytes beside ratios): the same pieces are needed.
        f = random_max_affine(np.random.default_rng(0), 10, 2)
        h = prune_exact(f)
        units = np.array([1.0, unit])
        assert prune_exact(MaxAffine(f.slopes * units, f.offsets)) == MaxAffine(h.slopes * units, h.offsets)

    def test_a_feature_in_large_units_keeps_its_pieces(self):
        f = MaxAffine([[-1.0, 0.0], [1.0, 0.0], [0.0, 1e-12], [0.0, -1e-12]], [0.0, 0.0, 0.5, 0.5])
        g = prune_exact(f)
        X = np.array([[0.0, 0.0], [0.0, 3e12], [0.0, -3e12], [4.0, 0.0]])
        np.testing.assert_allclose(g(X), [0.5, 3.5, 3.5, 4.0])
        assert g == f

    @pytest.mark.parametrize("origin", [1e3, 1e6, 1.7e9])
    def test_where_the_origin_is(self, origin):
        # Seconds since 1970 as a feature: the tangents, at 0, 1, …, 9 from `origin`, each rise by one.
        here = np.arange(10.0)[:, None]
        f = PLDC(tangents(here), MaxAffine.zero(1)).compose([[1.0]], [-origin])
        g = f.prune()
        np.testing.assert_allclose(g(origin + here), here.ravel() ** 2, atol=1e-4)
        assert g.n_pieces == (10, 1)

    @pytest.mark.parametrize("low", [-1e3, -1e6, -1e9, -1e12])
    def test_a_piece_far_below_does_not_hide_the_others(self, low):
        # The last piece is never active where numbers are of order one; it must not set the scale that tol refers to.
        f = MaxAffine([[-1.0], [0.0], [1.0], [0.5]], [0.0, 0.5, 0.0, low])
        g = prune_exact(f)
        np.testing.assert_array_equal(g([[0.0], [0.25], [2.0]]), [0.5, 0.5, 2.0])
        assert g == MaxAffine([[-1.0], [0.0], [1.0]], [0.0, 0.5, 0.0])

    def test_pieces_far_below_do_not_hide_the_others_far_from_the_origin_either(self):
        # Tangents of x² at 0, 0.1, …, 0.9 from 10⁶, and between their slopes two pieces that are highest nowhere.
        here, origin = 0.1 * np.arange(10.0)[:, None], 1e6
        core = tangents(here)
        f = MaxAffine(np.vstack([core.slopes, [[0.3], [1.1]]]), np.append(core.offsets, [-1e8, -1e9]))
        f = MaxAffine(f.slopes, f.offsets - f.slopes[:, 0] * origin)
        g = prune_exact(f)
        np.testing.assert_allclose(g(origin + here), here.ravel() ** 2, atol=1e-8)
        np.testing.assert_array_equal(g.slopes, core.slopes)

    @pytest.mark.parametrize("height", [0.0, -3.0, 1e4])
    def test_height_of_the_function(self, height):
        f = random_max_affine(np.random.default_rng(0), 10, 2)
        kept = {slope for *slope, _ in map(tuple, pieces(prune_exact(f))) for slope in [tuple(slope)]}
        g = prune_exact(MaxAffine(f.slopes, f.offsets + height))
        assert {tuple(s) for s in g.slopes.tolist()} == kept

    def test_a_single_piece(self):
        f = MaxAffine([[1.0, 2.0]], [3.0])
        assert prune_exact(f) == f

    def test_all_pieces_equal(self):
        assert prune_exact(MaxAffine(np.full((5, 2), 0.1), np.full(5, 0.7))) == MaxAffine([[0.1, 0.1]], [0.7])

    def test_all_slopes_equal(self):
        f = MaxAffine(np.full((4, 2), 0.1), [1.0, 3.0, 2.0, -5.0])
        assert prune_exact(f) == MaxAffine([[0.1, 0.1]], [3.0])

    def test_two_pieces_with_different_slopes_are_both_needed(self):
        f = MaxAffine([[1.0], [1.0 + 1e-6]], [1e6, -1e6])
        assert prune_exact(f) == f

    @pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 1, 0]])
    @pytest.mark.parametrize("point, height", [(0.0, 0.0), (0.5, 0.25), (1 / 3, 0.1), (-7.3, 1e3)])
    def test_three_lines_through_one_point(self, order, point, height):
        # max(−x, 0, x), moved: the middle piece is highest nowhere but at the point, with the others.
        slopes = np.array([-1.0, 0.0, 1.0])[order]
        g = prune_exact(MaxAffine(slopes[:, None], height - slopes * point))
        assert sorted(g.slopes.ravel()) == [-1.0, 1.0]

    def test_three_lines_through_one_point_up_to_rounding(self):
        # 0.1 + 0.2 is above 0.3 by one rounding, which is far less than tol × the scale of the offsets.
        f = MaxAffine([[-1.0], [0.0], [1.0]], [0.3, 0.1 + 0.2, 0.3])
        assert sorted(prune_exact(f).slopes.ravel()) == [-1.0, 1.0]

    def test_many_planes_through_one_point(self):
        # Of slopes on a line or inside a polygon only the corners are needed.
        corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
        inside = np.array([[0.0, 0.0], [0.5, 0.5], [0.25, 0.0], [-0.5, 0.5]])
        f = MaxAffine(np.vstack([inside, corners]), np.zeros(8))
        assert prune_exact(f) == MaxAffine(corners, np.zeros(4))

    def test_slopes_that_span_a_line_only(self):
        f = MaxAffine(np.outer([-1.0, 0.0, 1.0, 0.5], [1.0, 2.0, -1.0]), [0.0, 1.0, 0.0, 0.1])
        g = prune_exact(f)
        assert pieces(g) == needed_pieces(f)
        assert g.n_pieces == 3

    @pytest.mark.parametrize(
        "k, d, noise, seed",
        [(6, 1, 3e-9, 33), (6, 2, 1e-9, 40), (6, 2, 3e-9, 41), (15, 3, 1e-9, 6), (20, 2, 3e-9, 23)],
    )
    def test_pieces_that_are_nearly_equal(self, k, d, noise, seed):
        # What an iterative solver leaves behind: every piece twice, apart by about `tol`.
        rng = np.random.default_rng(seed)
        S, t = rng.normal(size=(k, d)), rng.normal(size=k)
        S = np.vstack([S, S + noise * rng.normal(size=S.shape)])
        t = np.concatenate([t, t + noise * rng.normal(size=k)])
        f = MaxAffine(S, t)
        assert_same_function(f, prune_exact(f), anywhere(d), tol=10 * noise)

    @pytest.mark.parametrize("tol", [-1e-9, np.nan, 1.0, np.inf])
    def test_tol_must_not_be_negative_nor_drop_all(self, tol):
        f = MaxAffine([[1.0], [-1.0], [0.0]], [0.0, 0.0, 1.0])
        with pytest.raises(ValueError, match="tol must be .*≥ 0, got"):
            prune_exact(f, tol)
        with pytest.raises(ValueError, match="tol must be .*≥ 0, got"):
            PLDC(f, f).prune(tol=tol)

    @pytest.mark.parametrize("seed", range(5))
    def test_some_pieces_always_stay(self, seed):
        f = random_max_affine(np.random.default_rng(seed), 12, 2)
        assert prune_exact(f, 0.999).n_pieces >= 1


class TestOnPoints:
    @settings(deadline=None, max_examples=40)
    @given(st.data())
    def test_values_on_the_points_stay_and_only_active_pieces_do(self, data):
        d = data.draw(DIMENSIONS)
        f, X = data.draw(max_affines(d)), data.draw(point_sets(d))
        g = prune_on(f, X)
        assert_same_function(f, g, X, tol=1e-13)
        assert pieces(g) == {(*f.slopes[k], f.offsets[k]) for k in set(f.active(X).tolist())}
        assert g.n_pieces == len(set(f.active(X).tolist()))

    def test_by_hand(self):
        f = MaxAffine([[2.0], [-1.0], [0.0], [1.0]], [-3.0, 0.0, 0.5, 0.0])
        assert prune_on(f, [[-4.0], [2.0], [-9.0]]) == MaxAffine([[-1.0], [1.0]], [0.0, 0.0])

    def test_within_a_tolerance_by_hand(self):
        # At 0, 1, 2, 3 the tangents of x² at these points: 0, 2x − 1, 4x − 4, 6x − 9, each lower by one next door.
        f = tangents(np.arange(4.0)[:, None])
        X = np.arange(4.0)[:, None]
        assert prune_on(f, X, tol=0.99) == f
        assert prune_on(f, X, tol=1.0).n_pieces == 2
        # 0 is lower by 4 at 2 and by 9 at 3; 2x − 1 by 1, 0, 1, 4.
        assert prune_on(f, X, tol=4.0) == MaxAffine([[2.0]], [-1.0])

    @pytest.mark.parametrize("tile", [1, 40, 10**6])
    @pytest.mark.parametrize("tol", [1e-3, 0.1, 1.0])
    def test_within_a_tolerance(self, monkeypatch, tile, tol):
        rng = np.random.default_rng(0)
        f, X = tangents(rng.standard_normal((40, 2))), rng.standard_normal((60, 2))
        monkeypatch.setattr(max_affine, "TILE", tile)
        g = prune_on(f, X, tol)
        assert pieces(g) <= pieces(f)
        lost = f(X) - g(X)
        assert (lost >= -1e-12).all()
        assert (lost <= tol + 1e-12).all()
        if tol >= 0.1:
            assert g.n_pieces < prune_on(f, X).n_pieces


class TestDropDominated:
    def test_by_hand(self):
        f = MaxAffine(
            [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]],
            [0.0, 5.0, 2.0, 1.0, 4.0, -9.0],
        )
        assert drop_dominated(f) == MaxAffine([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [5.0, 2.0, -9.0])

    def test_the_first_of_equal_pieces_stays_in_its_place(self):
        f = MaxAffine([[3.0], [1.0], [3.0], [2.0], [1.0]], [0.0, 0.0, 0.0, 0.0, 0.0])
        assert drop_dominated(f) == MaxAffine([[3.0], [1.0], [2.0]], [0.0, 0.0, 0.0])

    def test_the_two_zeros_are_one_slope(self):
        f = MaxAffine([[0.0, 1.0], [-0.0, 1.0]], [0.0, 1.0])
        assert drop_dominated(f) == MaxAffine([[0.0, 1.0]], [1.0])

    def test_nothing_to_drop(self):
        f = random_max_affine(np.random.default_rng(0), 9, 2)
        assert drop_dominated(f) == f

    @settings(deadline=None, max_examples=40)
    @given(st.data())
    def test_values_stay_and_slopes_become_distinct(self, data):
        d = data.draw(DIMENSIONS)
        f = data.draw(max_affines(d, SMALL_INTEGERS, most=8))
        g = drop_dominated(f)
        np.testing.assert_allclose(g(anywhere(d, count=20)), f(anywhere(d, count=20)), rtol=1e-12, atol=1e-12)
        assert {tuple(s) for s in g.slopes.tolist()} == {tuple(s) for s in f.slopes.tolist()}
        assert g.n_pieces == len({tuple(s) for s in f.slopes.tolist()})


class TestPLDC:
    def test_prune_everywhere_works_on_both_parts(self):
        f = random_pldc(np.random.default_rng(1), 9, 11, 2)
        g = f.prune()
        assert pieces(g.plus) == needed_pieces(f.plus)
        assert pieces(g.minus) == needed_pieces(f.minus)
        assert_same_function(f, g, anywhere(2))

    def test_a_sum_needs_fewer_pieces_than_it_has(self):
        # |x₁| + |x₂| + |x₁ + x₂| has 8 combinations of signs, two of which contradict themselves.
        lines = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        absolutes = [PLDC(MaxAffine([a, -a], [0.0, 0.0]), MaxAffine.zero(2)) for a in lines]
        f = absolutes[0] + absolutes[1] + absolutes[2]
        assert f.n_pieces == (8, 1)
        g = f.prune()
        assert g.n_pieces == (6, 1)
        X = anywhere(2)
        np.testing.assert_allclose(g(X), np.abs(X @ lines.T).sum(axis=1), rtol=1e-9)

    def test_tol_reaches_both_parts(self):
        f = PLDC(SHALLOW, SHALLOW)
        assert f.prune(tol=0.1).n_pieces == (4, 4)
        assert f.prune(tol=1e-3).n_pieces == (5, 5)

    def test_prune_on_points(self):
        rng = np.random.default_rng(2)
        f, X = random_pldc(rng, 12, 15, 2), rng.standard_normal((8, 2))
        g = f.prune(X)
        assert_same_function(f, g, X, tol=1e-14)
        for part, pruned in ((f.plus, g.plus), (f.minus, g.minus)):
            active = np.unique(piece_values(part, X).argmax(axis=1))
            assert pruned == MaxAffine(part.slopes[active], part.offsets[active])
        assert g.n_pieces < f.n_pieces

    def test_prune_on_no_points_is_refused(self):
        with pytest.raises(ValueError, match="needs at least one row"):
            PLDC.affine([1.0, 2.0]).prune(np.empty((0, 2)))

    def test_prune_on_points_of_the_wrong_shape_is_refused(self):
        with pytest.raises(ValueError, match=r"Expected points of shape \(rows, 2\)"):
            PLDC.affine([1.0, 2.0]).prune(np.zeros((3, 1)))

    @pytest.mark.parametrize("tol", [1e-3, 0.05])
    def test_prune_on_points_within_a_tolerance(self, tol):
        rng = np.random.default_rng(3)
        size = 1e4
        f = PLDC(tangents(rng.standard_normal((40, 2)), size), tangents(rng.standard_normal((30, 2)), 0.5 * size))
        X = rng.standard_normal((80, 2))
        g = f.prune(X, tol=tol)
        allowed = tol * np.ptp(f(X))
        for part, pruned in ((f.plus, g.plus), (f.minus, g.minus)):
            assert np.abs(part(X) - pruned(X)).max() <= allowed * (1 + 1e-9)
        assert np.abs(f(X) - g(X)).max() <= allowed * (1 + 1e-9)
        if tol == 0.05:
            assert sum(g.n_pieces) < 0.7 * sum(f.prune(X).n_pieces)

    @pytest.mark.parametrize("tol", [-1e-9, np.nan])
    def test_prune_on_points_refuses_a_negative_tol(self, tol):
        with pytest.raises(ValueError, match="tol must be .*≥ 0, got"):
            PLDC.affine([1.0]).prune([[0.0]], tol=tol)

    @pytest.mark.parametrize(
        "X, tol", [([[0.0], [np.nan]], 1e-3), ([[0.0]], np.inf)], ids=["a row that is NaN", "tol without limit"]
    )
    def test_prune_on_points_ends(self, X, tol):
        f = PLDC(MaxAffine([[1.0], [-1.0]], [0.0, 0.0]), MaxAffine.zero(1))
        with within(1.0), pytest.raises(ValueError, match="finite|NaN"):
            f.prune(X, tol=tol)

    def test_drop_dominated_works_on_both_parts(self):
        plus = MaxAffine([[1.0], [1.0], [0.0]], [0.0, 1.0, 0.0])
        minus = MaxAffine([[2.0], [2.0]], [0.0, -1.0])
        f = PLDC(plus, minus).drop_dominated()
        assert f == PLDC(MaxAffine([[1.0], [0.0]], [1.0, 0.0]), MaxAffine([[2.0]], [0.0]))

    @pytest.mark.parametrize("tol", [0.0, 1e-3])
    @pytest.mark.parametrize("kind", KINDS)
    def test_prune_ends_where_values_overflow(self, kind, tol):
        f = 1e300 * random_functions(np.random.default_rng(0))[kind]
        with within(1.0), pytest.raises(ValueError, match="overflow"):
            f.prune([[1e10, -1e10], [0.0, 1e9]], tol=tol)
