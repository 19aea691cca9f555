from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from tests.problems import synthetic
from tests.quick import few_kinds, few_starts

from pldc import PLDC, DCRegressor, Hinges, MaxAffine, Simplification
from pldc.view import plot_regions, plot_simplification, plot_surface


def made_up(errors, before=0.19, fidelities=None):
    """Models of few pieces with these errors, by number of pieces."""
    fidelities = fidelities or {k: 1.0 - 0.1 / k for k in errors}
    return [
        SimpleNamespace(n_pieces=k, simplification_=Simplification((k, k), fidelities[k], -error, -before))
        for k, error in errors.items()
    ]


def drawn(axis):
    """The lines of a panel by their labels."""
    return {line.get_label(): np.asarray(line.get_xydata(), dtype=float) for line in axis.lines}


def marked(figure):
    """The number that is marked in both panels."""
    found = []
    for axis in figure.axes:
        ((label, point),) = [(k, v) for k, v in drawn(axis).items() if k.startswith("chosen")]
        assert label == f"chosen: {point[0, 0]:.0f}"
        found.append(int(point[0, 0]))
    assert found[0] == found[1]
    return found[0]


def test_panels_show_errors_fidelities_and_the_larger_model():
    errors, fidelities = {4: 0.2, 1: 0.5, 2: 0.3}, {4: 0.99, 1: 0.7, 2: 0.9}
    figure = plot_simplification(made_up(errors, before=0.19, fidelities=fidelities))
    assert isinstance(figure, Figure) and figure.get_size_inches().tolist() == [9, 4]
    left, right = (drawn(axis) for axis in figure.axes)
    np.testing.assert_allclose(left["few pieces"], [[1, 0.5], [2, 0.3], [4, 0.2]])  # the fewest first
    np.testing.assert_allclose(right["few pieces"], [[1, 0.7], [2, 0.9], [4, 0.99]])
    np.testing.assert_allclose(left["larger model"][:, 1], 0.19)
    assert "larger model" not in right
    assert all(axis.get_xlabel() and axis.get_ylabel() for axis in figure.axes)
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["1", "2", "4"]


@pytest.mark.parametrize(
    "errors, number",
    [
        ({1: 0.5, 2: 0.219, 4: 0.2, 8: 0.21}, 2),  # 9.5 % above the best
        ({1: 0.5, 2: 0.221, 4: 0.2, 8: 0.21}, 4),  # 10.5 % above it
        ({1: 0.2, 2: 0.2, 4: 0.2}, 1),
        ({8: 0.3, 2: 0.4, 16: 0.1}, 16),
        ({1: -0.8, 2: -0.95, 4: -1.0}, 2),  # scores of a scorer, such as R²
    ],
)
def test_the_smallest_number_within_a_tenth_of_the_best_is_marked(errors, number):
    assert marked(plot_simplification(made_up(errors))) == number


def test_another_choice_can_be_marked():
    models = made_up({1: 0.5, 2: 0.2, 4: 0.2})
    figure = plot_simplification(models, chosen=4)
    assert marked(figure) == 4
    np.testing.assert_allclose(drawn(figure.axes[0])["chosen: 4"], [[4, 0.2]])
    with pytest.raises(ValueError, match=r"one of the numbers that were tried, \[1, 2, 4\]"):
        plot_simplification(models, chosen=3)


def test_a_fitted_model_is_simplified_to_each_number(monkeypatch):
    X, y = synthetic(30, 2)
    asked = []

    def simplify(self, X, y, n_pieces):
        asked.append((len(X), len(y), n_pieces))
        return made_up({n_pieces: 1.0 / n_pieces})[0]

    monkeypatch.setattr(DCRegressor, "simplify", simplify)
    figure = plot_simplification(DCRegressor(), X, y, n_pieces=(4, 1, 4))
    assert asked == [(30, 30, 1), (30, 30, 4)] and marked(figure) == 4


def test_simplified_models_of_a_real_fit():
    X, y = synthetic(30, 1)
    with few_starts(starts=2), few_kinds():
        simple = DCRegressor().fit(X, y).simplify(X, y, n_pieces=2)
    given = Figure()
    assert plot_simplification([simple], figure=given) is given
    np.testing.assert_allclose(drawn(given.axes[0])["few pieces"], [[2, -simple.cv_score_]])
    np.testing.assert_allclose(drawn(given.axes[1])["few pieces"], [[2, simple.fidelity_]])


def test_what_cannot_be_drawn_is_refused():
    X, y = synthetic(30, 2)
    with pytest.raises(NotFittedError):
        plot_simplification(DCRegressor(), X, y)
    with pytest.raises(ValueError, match="Give X and y"):
        plot_simplification(DCRegressor())
    with pytest.raises(ValueError, match="Give X and y"):
        plot_simplification(DCRegressor(), X)
    with pytest.raises(ValueError, match="n_pieces is empty"):
        plot_simplification(DCRegressor(), X, y, n_pieces=())
    with pytest.raises(TypeError, match="not PLDC"):
        plot_simplification(PLDC.affine([1.0]), X, y)
    with pytest.raises(ValueError, match="empty"):
        plot_simplification([])
    with pytest.raises(TypeError, match="was not simplified"):
        plot_simplification([DCRegressor()])
    with pytest.raises(ValueError, match="4 pieces was ended early"):
        plot_simplification(made_up({1: 0.5, 4: np.nan}))
    with pytest.raises(ValueError, match="different ones"):
        plot_simplification(made_up({1: 0.5}, before=0.1) + made_up({2: 0.4}, before=0.2))


def test_functions_of_hinged_features_are_drawn():
    plus, minus = MaxAffine([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]], [0.0, 0.0]), MaxAffine([[0.0, 1.0, 0.0]], [0.0])
    function = PLDC(plus, minus, Hinges([[-0.5, 0.5], []]))  # of three columns: x0, x1 and one ramp of x0
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    ax = plot_regions(function, X, grid=40)
    assert int(ax.get_title().split()[0]) > 2  # bends of the ramp besides the two pieces
    figure = plot_surface(function, X, function(X), title="hinged", grid=20)
    assert len(figure.axes) == 2 and figure.axes[0].get_title() == "hinged"
