"""Explanations add up, name what they explain, and say when a prediction was cut and how far slopes hold."""

import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.function.common import (
    DIMENSIONS,
    KINDS,
    MODERATE,
    additive,
    assert_close,
    magnitude,
    piece_values,
    pldcs,
    point_sets,
    random_functions,
    random_max_affine,
    random_pldc,
)

from pldc.function import PLDC, Hinges, MaxAffine, explain, explain_classes

# |x₁| + 2 x₂ + 1 − max(0, 3 x₃)
FUNCTION = PLDC(
    MaxAffine([[1.0, 2.0, 0.0], [-1.0, 2.0, 0.0]], [1.0, 1.0]),
    MaxAffine([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]], [0.0, 0.0]),
)
POINT = np.array([[-2.0, 0.5, 4.0]])


class TestSums:
    @settings(deadline=None, max_examples=50)
    @given(st.data())
    def test_prediction_is_intercept_plus_contributions(self, data):
        d = data.draw(DIMENSIONS)
        f, X = data.draw(pldcs(d)), data.draw(point_sets(d))
        reference = data.draw(st.none() | arrays(float, d, elements=MODERATE))
        e = explain(f, X, reference=reference)
        size = magnitude(f, X) + (0 if reference is None else magnitude(f, np.abs(X) + np.abs(reference)))
        assert_close(e.prediction, f(X), 0.0)
        assert_close(e.intercept + e.contributions.sum(axis=1), f(X), size)
        assert not e.clipped.any()
        assert len(e) == len(X)

    def test_by_hand_from_the_origin(self):
        e = explain(FUNCTION, POINT)
        np.testing.assert_allclose(e.prediction, [2.0 + 1.0 + 1.0 - 12.0])
        np.testing.assert_allclose(e.slopes, [[-1.0, 2.0, -3.0]])
        np.testing.assert_allclose(e.contributions, [[2.0, 1.0, -12.0]])
        np.testing.assert_allclose(e.intercept, [1.0])
        np.testing.assert_array_equal(e.pieces, [[1, 1]])

    def test_by_hand_from_a_reference(self):
        e = explain(FUNCTION, POINT, reference=[1.0, 1.0, 1.0])
        np.testing.assert_allclose(e.contributions, [[3.0, -1.0, -9.0]])
        # The affine function that rules at the point, −x₁ + 2x₂ − 3x₃ + 1, taken at the reference.
        np.testing.assert_allclose(e.intercept, [-1.0])
        np.testing.assert_allclose(e.prediction, [-8.0])
        np.testing.assert_allclose(e.slopes, [[-1.0, 2.0, -3.0]])

    def test_pieces_are_the_active_ones(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20, 3))
        e = explain(FUNCTION, X)
        np.testing.assert_array_equal(e.pieces[:, 0], piece_values(FUNCTION.plus, X).argmax(axis=1))
        np.testing.assert_array_equal(e.pieces[:, 1], piece_values(FUNCTION.minus, X).argmax(axis=1))
        assert len(np.unique(e.pieces, axis=0)) == 4

    def test_no_rows(self):
        e = explain(FUNCTION, np.empty((0, 3)))
        assert len(e) == 0
        assert e.contributions.shape == (0, 3)
        assert str(e) == ""


class TestClipping:
    def test_rows_outside_the_limits_are_cut_and_flagged(self):
        f = PLDC.affine([1.0], 0.0)
        X = [[-5.0], [-1.0], [0.0], [2.0], [2.5]]
        e = explain(f, X, limits=(-1.0, 2.0))
        np.testing.assert_array_equal(e.prediction, [-1.0, -1.0, 0.0, 2.0, 2.0])
        np.testing.assert_array_equal(e.clipped, [True, False, False, False, True])
        assert e.clipped.dtype == bool
        # The contributions add up to the uncut value.
        np.testing.assert_array_equal(e.intercept + e.contributions.sum(axis=1), [-5.0, -1.0, 0.0, 2.0, 2.5])

    def test_the_table_says_so(self):
        e = explain(PLDC.affine([1.0], 0.0), [[5.0], [1.0]], limits=(-1.0, 2.0))
        assert e.table(0).splitlines()[-2].endswith("2  (cut to the range of the training targets)")
        assert "cut" not in e.table(1)
        assert e.to_dict(0)["clipped"] is True
        assert e.to_dict(1)["clipped"] is False


class TestNames:
    def test_default_names(self):
        assert explain(FUNCTION, POINT).features == ("x0", "x1", "x2")

    def test_given_names(self):
        names = np.array(["age", "height", "weight"], dtype=object)
        e = explain(FUNCTION, POINT, features=names)
        assert e.features == ("age", "height", "weight")
        assert e.to_dict()["slopes"] == {"age": -1.0, "height": 2.0, "weight": -3.0}
        assert all(type(name) is str for name in explain(FUNCTION, POINT, features=[1, 2, 3]).features)

    @pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c", "d"], []])
    def test_as_many_names_as_features(self, names):
        with pytest.raises(ValueError, match="3"):
            explain(FUNCTION, POINT, features=names)


class TestTable:
    def test_largest_contributions_first(self):
        e = explain(FUNCTION, POINT, features=["age", "height", "weight"])
        lines = [line.split() for line in e.table().splitlines()]
        assert lines == [
            ["feature", "slope", "contribution"],
            ["weight", "-3", "-12"],
            ["age", "-1", "2"],
            ["height", "2", "1"],
            ["intercept", "1"],
            ["prediction", "-8"],
            ["slopes", "hold", "within", "2", "units", "of", "the", "features"],
        ]

    def test_equal_contributions_in_the_order_of_the_features(self):
        e = explain(PLDC.affine([1.0, -1.0, 1.0]), [[2.0, 2.0, 2.0]], features=["c", "a", "b"])
        assert [line.split()[0] for line in e.table().splitlines()[1:4]] == ["c", "a", "b"]

    def test_the_row_asked_for(self):
        e = explain(FUNCTION, [[1.0, 0.0, -1.0], [0.0, 7.0, -1.0]], features=["age", "height", "weight"])
        assert e.table(1).splitlines()[1].split() == ["height", "2", "14"]
        assert e.table(0).splitlines()[1].split() == ["age", "1", "1"]

    @pytest.mark.parametrize("names", [["a", "b", "c"], ["a", "b", "a rather long name of a feature"]])
    def test_columns_are_aligned(self, names):
        lines = explain(FUNCTION, POINT, features=names).table().splitlines()[:-1]
        assert len({len(line) for line in lines}) == 1


class TestStr:
    @pytest.mark.parametrize("rows", [1, 2, 3])
    def test_few_rows_are_all_shown(self, rows):
        e = explain(FUNCTION, np.repeat(POINT, rows, axis=0) * np.arange(1, rows + 1)[:, None])
        assert str(e) == "\n\n".join(f"row {i}\n{e.table(i)}" for i in range(rows))

    def test_many_rows_are_cut_short(self):
        e = explain(FUNCTION, np.repeat(POINT, 40, axis=0))
        text = str(e)
        assert text.startswith("row 0\n")
        assert text.endswith("\n\n… and 37 more rows")
        assert "row 2\n" in text
        assert "row 3" not in text
        assert e.table(2) in text


def test_to_dict_gives_plain_values():
    e = explain(FUNCTION, np.vstack([np.zeros((1, 3)), POINT]), reference=[1.0, 1.0, 1.0])
    result = e.to_dict(1)
    assert result == {
        "prediction": -8.0,
        "intercept": -1.0,
        "clipped": False,
        "room": 2.0,
        "averaged": False,
        "reach": "hold within 2 units of the features",
        "pieces": (1, 1),
        "slopes": {"x0": -1.0, "x1": 2.0, "x2": -3.0},
        "contributions": {"x0": 3.0, "x1": -1.0, "x2": -9.0},
    }
    assert type(result["prediction"]) is float
    assert type(result["clipped"]) is bool and type(result["averaged"]) is bool and type(result["room"]) is float
    assert all(type(k) is int for k in result["pieces"])
    assert all(type(v) is float for v in result["slopes"].values())
    assert e.to_dict() == e.to_dict(0) != result


def test_an_explanation_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        explain(FUNCTION, POINT).prediction = np.zeros(1)


@pytest.mark.parametrize("reference", [[1.0, 2.0], 0.0, np.zeros((1, 3)), np.zeros(4)])
def test_reference_of_the_wrong_shape(reference):
    with pytest.raises(ValueError, match=r"reference must have shape \(3,\), got"):
        explain(FUNCTION, POINT, reference=reference)


def test_points_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"Expected points of shape \(rows, 3\), got \(3,\)"):
        explain(FUNCTION, POINT[0])


# ---------------------------------------------------------------- how far slopes hold


def slopes_of_pieces(f, x):
    """For each part of the terms of f: the slopes that all pieces have at x, and which one rules."""
    out = []
    for term in f.terms:
        zero = MaxAffine.zero(term.plus.n_features)
        local = term.local(x[None])
        for part, active in zip(term.parts, (local.plus[0], local.minus[0]), strict=True):
            alone = [MaxAffine(part.slopes[[k]], part.offsets[[k]]) for k in range(part.n_pieces)]
            out.append((np.vstack([PLDC(p, zero, term.hinges).gradient(x[None]) for p in alone]), active))
    return out


def ways_out(f, x, unit):
    """The directions, of length one in features divided by units, that lead straight to a kink."""
    axes = np.eye(len(x))
    ways = [axes, -axes]
    for slopes, active in slopes_of_pieces(f, x):
        rise = np.delete(slopes - slopes[active], active, axis=0) * unit
        ways.append(rise / np.linalg.norm(rise, axis=1, keepdims=True))
    return np.vstack(ways)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_f_is_affine_within_the_room_and_not_beyond(kind, seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 3
    f, X, unit = random_functions(rng, d)[kind], 1.5 * rng.normal(size=(40, d)), rng.uniform(0.3, 3.0, size=d)
    room = f.room(X, unit)
    assert room.shape == (40,) and (room > 0).all() and np.isfinite(room).mean() > 0.5
    for x, far in zip(X, room, strict=True):
        here = f.gradient(x[None])
        ways = ways_out(f, x, unit)
        random = rng.normal(size=(200, d))
        random *= rng.uniform(size=(200, 1)) ** (1 / d) / np.linalg.norm(random, axis=1, keepdims=True)
        for inside in (random, ways):
            step = min(far, 100.0) * (1 - 1e-6) * inside * unit
            np.testing.assert_allclose(f.gradient(x + step), np.broadcast_to(here, step.shape), atol=1e-9)
        if np.isfinite(far):
            beyond = f.gradient(x + far * (1 + 1e-6) * ways * unit)
            assert np.abs(beyond - here).max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_change_nothing(kind, monkeypatch):
    rng = np.random.default_rng(5)
    f, X = random_functions(rng, 3)[kind], rng.normal(size=(100, 3))
    room, slopes = f.room(X, np.ones(3)), explain(f, X, neighbourhood=0.5).slopes
    for name, size in (("term", "TILE"), ("term", "MOST_NUMBERS"), ("explain", "MOST_NUMBERS")):
        monkeypatch.setattr(sys.modules[f"pldc.function.{name}"], size, 20)
    np.testing.assert_allclose(f.room(X, np.ones(3)), room, rtol=1e-12)
    np.testing.assert_allclose(np.concatenate([f.room(x[None], np.ones(3)) for x in X]), room, rtol=1e-12)
    np.testing.assert_allclose(explain(f, X, neighbourhood=0.5).slopes, slopes, rtol=1e-9, atol=1e-12)
    assert f.room(X[:0], np.ones(3)).shape == (0,)


class TestRoom:
    def test_by_hand(self):
        f = abs(PLDC.affine([3.0, 4.0]))
        np.testing.assert_allclose(f.room([[1.0, 1.0], [0.0, 0.0]], [1.0, 1.0]), [1.4, 0.0])
        np.testing.assert_allclose(f.room([[1.0, 1.0]], [4.0, 4.0]), [0.35])
        np.testing.assert_allclose(f.room([[1.0, 1.0]], [0.0, 1.0]), [1.75])  # the first feature stays

    def test_pieces_of_equal_slope_are_no_kink(self):
        twice = MaxAffine([[1.0], [1.0], [1.0 + 1e-15]], [0.0, 0.0, -1e-16])
        assert np.isinf(PLDC(twice, MaxAffine.zero(1)).room([[0.0], [5.0]], [1.0])).all()

    def test_other_units_of_the_targets(self):
        rng = np.random.default_rng(0)
        f, X = random_pldc(rng, 5, 5, 2), rng.normal(size=(30, 2))
        for factor in (1e-200, 1e200):
            np.testing.assert_allclose((factor * f).room(X, np.ones(2)), f.room(X, np.ones(2)), rtol=1e-9)
        np.testing.assert_allclose(f.compose(np.eye(2) / 1e200).room(1e200 * X, [1e200] * 2), f.room(X, np.ones(2)))

    def test_hinges_bend_where_a_curve_does(self):
        f = additive([0.0, 0.0, 1.0, 1.0, 0.0], Hinges([[0.0, 1.0, 2.0], [0.0, 1.0]]))
        np.testing.assert_allclose(f.room([[0.9, 0.0], [1.2, 0.0], [-1.0, 0.0]], [1.0, 1.0]), [0.9, 0.8, 1.0])

    def test_where_f_is_affine_it_is_so_everywhere(self):
        assert np.isinf(PLDC.affine([1.0, 2.0]).room(np.zeros((1, 2)), np.ones(2))).all()

    @pytest.mark.parametrize("unit", [[1.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], 1.0])
    @pytest.mark.parametrize("kind", KINDS)
    def test_refuses_what_is_no_unit(self, unit, kind):
        f = random_functions(np.random.default_rng(0))[kind]
        with pytest.raises(ValueError, match="unit must"):
            f.room(np.zeros((3, 2)), unit)


class TestNeighbourhood:
    def test_on_a_kink_slopes_are_the_mean_of_both_sides(self):
        e = explain(abs(PLDC.affine([1.0])), [[0.0], [0.05], [0.1], [-2.0]])
        np.testing.assert_array_equal(e.averaged, [True, True, False, False])
        np.testing.assert_allclose(e.slopes[:, 0], [0.0, 0.5, 1.0, -1.0], atol=1e-12)
        np.testing.assert_allclose(e.room, [0.0, 0.05, 0.1, 2.0])
        tilted = abs(PLDC.affine([1.0, -2.0, 0.5])) + PLDC.affine([1.0, 1.0, 1.0])
        np.testing.assert_allclose(explain(tilted, np.zeros((1, 3))).slopes, [[1.0, 1.0, 1.0]], atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    def test_explanations_add_up(self, kind):
        rng = np.random.default_rng(1)
        f, X = random_functions(rng, 3)[kind], rng.normal(size=(300, 3))
        unit, middle = rng.uniform(0.5, 2.0, size=3), rng.normal(size=3)
        low, high = np.quantile(f(X), [0.1, 0.9])
        e = explain(f, X, middle, limits=(low, high), unit=unit, neighbourhood=0.2)
        assert e.averaged.mean() > 0.02 and (e.averaged & e.clipped).any()
        np.testing.assert_array_equal(e.averaged, e.room < 0.2)
        np.testing.assert_array_equal(e.clipped, (f(X) < low) | (f(X) > high))
        np.testing.assert_allclose(e.intercept + e.contributions.sum(axis=1), f(X), atol=1e-9)
        np.testing.assert_allclose(e.contributions, e.slopes * (X - middle))
        np.testing.assert_array_equal(e.slopes[~e.averaged], f.gradient(X[~e.averaged]))
        assert np.abs(e.slopes - f.gradient(X))[e.averaged].max() > 1e-3

    def test_slopes_are_those_of_all_points_within_the_room(self):
        rng = np.random.default_rng(2)
        f, X = random_pldc(rng, 8, 8, 4), rng.normal(size=(200, 4))
        e = explain(f, X, neighbourhood=0.1)
        assert 0.1 < e.averaged.mean() < 0.9
        step = rng.normal(size=(200, 50, 4))
        step *= np.minimum(e.room, 50.0)[:, None, None] / np.linalg.norm(step, axis=2, keepdims=True) * (1 - 1e-9)
        around = f.gradient((X[:, None] + step).reshape(-1, 4)).reshape(step.shape)
        far = ~e.averaged
        np.testing.assert_allclose(around[far], np.broadcast_to(e.slopes[far, None], around[far].shape), atol=1e-12)

    def test_means_are_close_to_those_over_the_ball(self):
        rng = np.random.default_rng(3)
        f, X, unit = random_pldc(rng, 8, 8, 3), rng.normal(size=(100, 3)), np.array([0.5, 1.0, 2.0])
        e = explain(f, X, unit=unit, neighbourhood=0.3)
        step = rng.normal(size=(20000, 3))
        step *= 0.3 * rng.uniform(size=(20000, 1)) ** (1 / 3) / np.linalg.norm(step, axis=1, keepdims=True)
        for x, slope, room in zip(X[:10], e.slopes, e.room, strict=False):
            mean = f.gradient(x + step * unit).mean(axis=0)
            assert np.abs(slope - mean).max() < (0.2 if room < 0.3 else 1e-9)
        worst = np.abs(e.slopes - f.gradient(X))[~e.averaged]
        assert (worst == 0).all() and np.array_equal(e.slopes, explain(f, X, unit=unit, neighbourhood=0.3).slopes)

    def test_points_around_are_balanced(self):
        points = sys.modules["pldc.function.explain"].in_ball(3)
        assert points.shape == (64, 3) and (np.linalg.norm(points, axis=1) < 1).all()
        np.testing.assert_array_equal(points[:32], -points[32:])
        assert np.linalg.eigvalsh(points.T @ points / 64).min() > 0.1  # 0.2 over the ball

    def test_none(self):
        rng = np.random.default_rng(4)
        f, X = random_pldc(rng, 20, 20, 2), rng.normal(size=(50, 2))
        e = explain(f, X, neighbourhood=0)
        assert not e.averaged.any() and (e.room < 0.1).any()
        np.testing.assert_array_equal(e.slopes, f.gradient(X))
        assert not explain(abs(PLDC.affine([1.0])), [[0.0]], neighbourhood=0).averaged[0]

    def test_it_is_said(self):
        f = abs(PLDC.affine([1.0]))
        e = explain(f, [[0.0], [0.46], [3.0]], unit=[2.0])
        last = [e.table(k).splitlines()[-1] for k in range(3)]
        assert last[0] == "slopes are means over a neighbourhood of 0.1 standard deviations"
        assert last[1] == "slopes hold within 0.23 standard deviations"
        assert last[0] in str(e) and last[1] in str(e)
        assert [e.to_dict(k)["reach"] for k in range(2)] == [line.removeprefix("slopes ") for line in last[:2]]
        assert e.to_dict(0)["averaged"] is True and e.to_dict(1)["room"] == 0.23
        assert explain(PLDC.affine([1.0]), [[0.0]]).table().endswith("slopes hold everywhere")

    def test_a_feature_without_spread_stays(self):
        f = abs(PLDC.affine([1.0, 0.0])) + abs(PLDC.affine([0.0, 1.0]))
        e = explain(f, [[0.0, 0.0], [0.0, 3.0]], unit=[0.0, 1.0])
        np.testing.assert_array_equal(e.averaged, [True, False])
        np.testing.assert_allclose(e.slopes[:, 1], [0.0, 1.0], atol=1e-12)
        np.testing.assert_allclose(np.abs(e.slopes[:, 0]), 1.0)

    @pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
    def test_refuses_what_is_no_radius(self, wrong):
        with pytest.raises(ValueError, match="neighbourhood must"):
            explain(FUNCTION, POINT, neighbourhood=wrong)

    def test_slopes_of_classes_are_means_next_to_a_kink_too(self):
        f, g = abs(PLDC.affine([1.0])), PLDC(random_max_affine(np.random.default_rng(0), 3, 1), MaxAffine.zero(1))
        points = np.array([[0.01], [-3.0]])
        why = explain_classes([f, g], points, np.array(["a", "b"]), neighbourhood=0.0)
        sign = np.where(why.prediction == "a", 1.0, -1.0)[:, None]
        np.testing.assert_allclose(why.slopes, sign * (f - g).gradient(points))
        assert not why.averaged.any()
        near = explain_classes([f, g], points, np.array(["a", "b"]), neighbourhood=0.1)
        assert near.averaged.tolist() == [True, False] and "means over" in near.table(0)
        np.testing.assert_allclose(near.room, np.minimum(f.room(points, [1.0]), g.room(points, [1.0])))
        mean = explain(f, points, neighbourhood=0.1).slopes - explain(g, points, neighbourhood=0.1).slopes
        np.testing.assert_allclose(near.slopes, sign * mean)
        assert abs(mean[0] - (f - g).gradient(points)[0]) > 0.1
        np.testing.assert_allclose(near.intercept + near.contributions.sum(axis=1), near.margin)
        np.testing.assert_allclose(why.intercept + why.contributions.sum(axis=1), why.margin)
