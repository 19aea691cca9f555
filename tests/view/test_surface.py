import pytest
from matplotlib.figure import Figure
from tests.problems import synthetic

from pldc import PLDC, Auto, DCRegressor
from pldc.view import plot_path, plot_regions, plot_surface


def test_plot_surface():
    X, y = synthetic(30, 2)
    model = DCRegressor(lam=0.01, solver=Auto(tol=0.01)).fit(X, y)
    figure = plot_surface(model.function_, X, y, title="a surface", names=("u", "v"), grid=20)
    assert isinstance(figure, Figure) and len(figure.axes) == 2
    assert figure.axes[0].get_title() == "a surface" and figure.axes[1].get_xlabel() == "u"
    with pytest.raises(ValueError, match="two variables"):
        plot_surface(PLDC.affine([1.0, 2.0, 3.0]), X, y)


def test_plot_regions():
    X = [[-1.0, -1.0], [1.0, 1.0], [0.5, -0.5]]
    ax = plot_regions(abs(PLDC.affine([1.0, 0.5])), X, names=("u", "v"), grid=40)
    assert ax.get_title() == "2 linear regions in view" and ax.get_xlabel() == "u"
    with pytest.raises(ValueError, match="two variables"):
        plot_regions(PLDC.affine([1.0]), X)
    model = DCRegressor(lam=0.1).fit(X, [1.0, 2.0, 3.0])
    assert plot_regions(model, X, grid=10).get_title() == plot_regions(model.function_, X, grid=10).get_title()
    with pytest.raises(TypeError, match="fitted regressor"):
        plot_regions(DCRegressor(), X)


def test_plot_path_draws_three_panels():
    X, y = synthetic(20, 2)
    path = DCRegressor(solver=Auto(tol=0.01)).path(X, y, [1.0, 0.1])
    figure = plot_path(path, X)
    assert isinstance(figure, Figure) and len(figure.axes) == 3
    assert len(figure.axes[0].lines[0].get_xdata()) == 2
