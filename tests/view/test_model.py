"""The figure of a whole model."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor
from pldc.view import plot_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.abs(X[:, 0]) + X[:, 1]


@pytest.fixture(scope="module")
def models():
    with few_starts(), few_kinds():
        model = DCRegressor().fit(X, Y)
        return model, model.simplify(X, Y, n_pieces=2), DCClassifier().fit(X, Y > 0.5)


def axes_of(figure):
    return [axis for part in figure.subfigs for axis in part.axes]


def test_a_regressor_shows_importances_interactions_and_curves(models):
    model = models[0]
    figure = plot_model(model, X)
    assert isinstance(figure, Figure)
    left, right, *others = axes_of(figure)
    curves = [axis for axis in others if axis.get_xlabel() in ("x0", "x1", "x2")]  # regions come last, if there are few
    widths = [bar.get_width() for bar in left.patches]
    np.testing.assert_allclose(widths, np.sort(model.feature_importances_)[::-1])
    assert len(right.patches) == 3 and len(curves) == 3
    for axis in curves:
        expected = model.curve(int(axis.get_xlabel()[1]), X)
        np.testing.assert_allclose(axis.lines[0].get_xydata(), np.column_stack([expected.x, expected.y]))


def test_few_pieces_show_their_regions(models, tmp_path):
    few = models[1]
    figure = plot_model(few, X)
    *_, regions = axes_of(figure)
    share = few.region_table(X)["share"]
    np.testing.assert_allclose([bar.get_width() for bar in regions.patches], share[:8])
    assert any("x0" in text.get_text() for text in regions.texts)
    figure.savefig(tmp_path / "model.png")
    assert (tmp_path / "model.png").stat().st_size > 10_000


def test_a_classifier_shows_what_matters(models):
    assert len(axes_of(plot_model(models[2], X))) == 2
    with pytest.raises(TypeError, match="Give a fitted DCRegressor or DCClassifier, not int"):
        plot_model(3, X)


def test_curves_are_of_columns_with_gaps_and_of_categories_too():
    pd = pytest.importorskip("pandas")
    gaps = np.where(np.arange(60) % 7 == 0, np.nan, np.tile(X[:, 1], 2))
    frame = pd.DataFrame({"x": np.tile(X[:, 0], 2), "gaps": gaps, "city": [f"c{k % 15}" for k in range(60)]})
    with few_kinds():
        model = DCRegressor().fit(frame, np.tile(Y, 2))
    _, _, *curves = axes_of(plot_model(model, frame))
    assert {axis.get_xlabel() for axis in curves} >= {"x", "gaps"}
    assert "city" in {axis.get_xlabel() for axis in curves}


def test_long_names_of_columns_stay_apart():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"a measurement whose name is far too long for a figure, {k}" for k in "abc"])
    with few_kinds():
        figure = plot_model(DCRegressor().fit(frame, Y), frame)
    left, _, *others = axes_of(figure)
    for names in ([t.get_text() for t in left.get_yticklabels()], [a.get_xlabel() for a in others if a.get_xlabel()]):
        assert len(set(names)) == len(names) > 1 and all("…" in name for name in names)
