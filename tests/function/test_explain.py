"""Explanations add up, name what they explain, and say when a prediction was cut."""

from dataclasses import FrozenInstanceError

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
    piece_values,
    pldcs,
    point_sets,
)

from pldc.function import PLDC, MaxAffine, explain

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
        assert e.table(0).splitlines()[-1].endswith("2  (cut to the range of the training targets)")
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
        lines = explain(FUNCTION, POINT, features=names).table().splitlines()
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
        "pieces": (1, 1),
        "slopes": {"x0": -1.0, "x1": 2.0, "x2": -3.0},
        "contributions": {"x0": 3.0, "x1": -1.0, "x2": -9.0},
    }
    assert type(result["prediction"]) is float
    assert type(result["clipped"]) is bool
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
