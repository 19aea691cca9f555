"""Which class wins where."""

import numpy as np
import pytest
from tests.function.common import random_pldc

from pldc import PLDC, Hinges, MaxAffine
from pldc.function import class_regions

NAMES = np.array(["a", "b", "c"])


def scores():
    rng = np.random.default_rng(0)
    hinges = Hinges([np.array([-1.0, 0.0, 1.5]), np.array([-0.5, 0.5])])
    bent = PLDC(MaxAffine(rng.normal(size=(2, 5)), rng.normal(size=2)), MaxAffine.zero(5), hinges)
    return [random_pldc(rng, 3, 2, 2), random_pldc(rng, 1, 1, 2), bent]


def test_every_row_is_in_a_region_whose_plane_is_its_margin():
    X = 2 * np.random.default_rng(1).normal(size=(200, 2))
    functions = scores()
    found = class_regions(functions, X, NAMES)
    values = np.array([f(X) for f in functions])
    ranked = np.sort(values, axis=0)
    margin, k = ranked[-1] - ranked[-2], found.regions.of_row
    assert (found.winner[k] == NAMES[values.argmax(axis=0)]).all()
    plane = (found.regions.slope[k] * X).sum(axis=1) + found.regions.intercept[k]
    np.testing.assert_allclose(plane, margin, atol=1e-9)
    second = values.copy()
    second[values.argmax(axis=0), np.arange(200)] = -np.inf
    assert (found.runner_up[k] == NAMES[second.argmax(axis=0)]).all()
    for region in range(len(found)):
        rows = k == region
        assert found.margin[region] == pytest.approx(margin[rows].mean())
        assert found.narrowest[region] == pytest.approx(margin[rows].min())
        assert found.regions.count[region] == rows.sum()
    assert len(set(found.winner)) == 3 and (np.diff(found.regions.count) <= 0).all()


def test_a_border_by_hand():
    """Scores |x| and 1: the second wins inside, by 1 − |x|, and each side is a plane of its own."""
    functions = [abs(PLDC.affine([1.0])), PLDC.affine([0.0], 1.0)]
    found = class_regions(functions, [[-3.0], [-2.0], [-4.0], [0.5], [0.25], [2.0]], np.array(["out", "in"]))
    table = found.columns(["x"])
    assert table["class"].tolist() == ["out", "in", "out"] and table["runner-up"].tolist() == ["in", "out", "in"]
    assert table["rows"].tolist() == [3, 2, 1]
    np.testing.assert_allclose(table["share"], [0.5, 1 / 3, 1 / 6])
    np.testing.assert_allclose(table["mean margin"], [2.0, 0.625, 1.0])
    np.testing.assert_allclose(table["smallest margin"], [1.0, 0.5, 1.0])
    np.testing.assert_allclose(table["slope of x"], [-1.0, -1.0, 1.0])
    np.testing.assert_allclose(table["typical margin"], [2.0, 1.0 - table["typical x"][1], 1.0])
    assert "value" not in table and table["where"][0].startswith("x")
    told = [line.split()[0] for line in found.to_text(["x"]).splitlines()]
    assert "margin" in told and "value" not in told
    assert table["lowest x"].tolist() == [-4.0, 0.25, 2.0] and table["highest x"].tolist() == [-2.0, 0.5, 2.0]


def test_long_names_stay_apart_and_the_text_says_what_a_margin_is():
    long = np.array([f"a class with a very long name, number {k}" for k in "abc"])
    X = 2 * np.random.default_rng(1).normal(size=(200, 2))
    told = class_regions(scores(), X, long).to_text(width=300)
    assert "…" in told and all(f", number {k}" in told for k in "abc")
    assert "margin: the score of the class less that of the runner-up" in told and "simplify" not in told


def test_a_table_of_about_one_region_a_row_asks_for_fewer():
    rng = np.random.default_rng(0)
    many = [random_pldc(rng, 60, 60, 2) for _ in range(3)]
    found = class_regions(many, rng.normal(size=(40, 2)), NAMES)
    assert len(found) > 20 and "model.simplify(X, y) first gives fewer" in found.to_text().replace("\n ", "")
