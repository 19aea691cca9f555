import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor
from pldc.view import plot_classes

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 2))
Y = np.array(["left", "right"])[(np.abs(X[:, 0]) + 0.2 * X[:, 1] > 0.5).astype(int)]


@pytest.fixture(scope="module")
def model():
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        return DCClassifier(n_pieces=2, cv=3, n_jobs=1).fit(X, Y)


def test_borders_are_drawn_where_the_class_changes(model):
    ax = plot_classes(model, X, Y, grid=40)
    assert [label.get_text() for label in ax.get_legend().get_texts()] == ["left", "right"]
    thin, thick = (c for c in ax.collections if isinstance(c, LineCollection))
    assert thin.get_linewidth()[0] < thick.get_linewidth()[0] and len(thin.get_segments()) >= len(thick.get_segments())
    x, y = (np.linspace(*ends, 40) for ends in (ax.get_xlim(), ax.get_ylim()))
    half = (x[1] - x[0]) / 2
    upright = [s for s in thick.get_segments() if s[0][0] == s[1][0]]
    assert upright
    for (at, low), (_, high) in upright:
        a, b = model.predict([[at - half, (low + high) / 2], [at + half, (low + high) / 2]])
        assert a != b
    classes = model.predict(np.column_stack([a.ravel() for a in np.meshgrid(x, y)])).reshape(40, 40)
    assert len(upright) == (classes[:, 1:] != classes[:, :-1]).sum()


def test_rows_that_are_wrong_are_crosses(model):
    marks = {mark: 0 for mark in "oX"}
    for line in plot_classes(model, X, Y, grid=20).lines:
        marks[line.get_marker()] += len(line.get_xdata())
    wrong = int((model.predict(X) != Y).sum())
    assert marks == {"o": 60 - wrong, "X": wrong}
    flipped = np.where(Y == "left", "right", "left")
    assert (
        sum(len(a.get_xdata()) for a in plot_classes(model, X, flipped, grid=20).lines if a.get_marker() == "X")
        == 60 - wrong
    )


def test_it_draws_into_axes_that_are_given_and_refuses_the_rest(model):
    ax = Figure().add_subplot()
    assert plot_classes(model, X, Y, grid=20, ax=ax) is ax
    with pytest.raises(TypeError, match="fitted DCClassifier, not DCRegressor"):
        plot_classes(DCRegressor(), X, Y)
    with pytest.raises(ValueError, match="Two columns of numbers .* X has the shape"):
        plot_classes(model, X[:, :1], Y)
    with pytest.raises(ValueError, match=r"classes of the model, \['left', 'right'\]; it holds \['up'\]"):
        plot_classes(model, X, np.where(Y == "left", "up", Y))
    with pytest.raises(ValueError, match="one class for each of 60 rows"):
        plot_classes(model, X, Y[:5])


@pytest.mark.parametrize("more", [{}, {"a": X[:, 0], "b": X[:, 1]}])
def test_columns_that_are_no_numbers_are_named(more):
    frame = pd.DataFrame({"x": X[:, 0], "word": np.tile(["u", "v"], 30), **more})
    model = DCClassifier(lam=0.1, loss="log", n_jobs=1).fit(frame, Y)
    with pytest.raises(ValueError, match=r"Two columns of numbers .* needed: .* of these \['word'\] hold something"):
        plot_classes(model, frame, Y)
