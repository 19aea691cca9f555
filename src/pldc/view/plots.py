"""Pictures of fitted functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.fit.program import Path
from pldc.function import PLDC
from pldc.function.checks import shown, whole
from pldc.function.max_affine import Array, real

MOST_GRID = 5000  # points along an axis
NEAR = 0.1  # of the best error: how much more the smallest number of pieces may have to be chosen


def plot_surface(
    function: Any,
    X: ArrayLike,
    y: ArrayLike,
    title: str = "",
    names: tuple[str, str] = ("x0", "x1"),
    grid: int = 120,
) -> Any:
    """Draw a function of two variables with its data, and beside it the regions where it is linear.

    Parameters
    ----------
    function : PLDC or fitted DCRegressor
        A function of two variables.
    X : array of shape (n, 2)
    y : array of shape (n,)
    title : str
    names : (str, str)
        Names of the variables.
    grid : int
        Points along each axis.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: save it with ``figure.savefig(path)``.
    """
    Figure = _figure()
    (function, X), y, (first, second) = _of_two(function, X), real(y, "y"), _pair(names)
    A, B = _grid(X, grid)
    Z = function(np.column_stack([A.ravel(), B.ravel()])).reshape(A.shape)
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    surface = figure.add_subplot(1, 2, 1, projection="3d")
    surface.plot_surface(A, B, Z, cmap="viridis", alpha=0.75, linewidth=0, rcount=grid, ccount=grid)
    surface.scatter(X[:, 0], X[:, 1], y, color="black", s=8, depthshade=False)
    surface.set(xlabel=first, ylabel=second, title=title)
    plot_regions(function, X, names, grid, figure.add_subplot(1, 2, 2))
    return figure


def plot_regions(
    function: Any, X: ArrayLike, names: tuple[str, str] = ("x0", "x1"), grid: int = 240, ax: Any = None
) -> Any:
    """Draw the regions where a function of two variables is linear, with its contours.

    Parameters
    ----------
    function : PLDC or fitted DCRegressor
        A function of two variables.
    X : array of shape (n, 2)
        Points to mark; the picture covers their range.
    names : (str, str)
        Names of the variables.
    grid : int
        Points along each axis.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, not registered with pyplot.

    Returns
    -------
    matplotlib axes
    """
    (function, X), (first, second) = _of_two(function, X), _pair(names)
    if ax is None:
        ax = _figure()(figsize=(6, 5), layout="constrained").add_subplot()
    if not hasattr(ax, "pcolormesh"):
        raise TypeError(f"ax must be axes of matplotlib, got {type(ax).__name__}.")
    A, B = _grid(X, grid)
    points = np.column_stack([A.ravel(), B.ravel()])
    local = function.local(points)
    planes = np.column_stack([local.slope, local.intercept])  # pairs of pieces with the same difference are one region
    planes = np.round(planes / np.maximum(np.abs(planes).max(axis=0), np.finfo(float).tiny), 9)
    region = np.unique(planes, axis=0, return_inverse=True)[1].reshape(A.shape)
    shuffled = np.random.default_rng(0).permutation(region.max() + 1)
    ax.pcolormesh(A, B, shuffled[region], cmap="Pastel1", shading="auto", rasterized=True)
    ax.contour(A, B, function(points).reshape(A.shape), levels=12, colors="black", linewidths=0.6)
    ax.plot(X[:, 0], X[:, 1], ".", color="black", markersize=3)
    ax.set(xlabel=first, ylabel=second, title=f"{region.max() + 1} linear regions in view")
    return ax


def _of_two(function: Any, X: ArrayLike) -> tuple[PLDC, Array]:
    """Check that a function, or that of a fitted regressor, and its rows are of two variables."""
    function, points = getattr(function, "function_", function), real(X, "X")
    if not hasattr(function, "n_features"):
        raise TypeError(f"Give a fitted regressor or its function_, not {type(function).__name__}.")
    if function.n_features != 2 or points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"Only functions of two variables are drawn: this one has {function.n_features}, and X the shape "
            f"{points.shape}."
        )
    return function, points


def _pair(names: Any) -> tuple[str, str]:
    """Return the names of two variables."""
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2:
        raise ValueError(f"names must be two, one for each variable; got {shown(names)}.")
    return str(names[0]), str(names[1])


def _grid(X: Array, grid: int) -> list[Array]:
    """Return a grid of so many points along each axis over the range of X."""
    whole("grid", grid, 2, most=MOST_GRID)
    return list(np.meshgrid(*(np.linspace(a, b, grid) for a, b in zip(X.min(axis=0), X.max(axis=0), strict=True))))


def plot_path(path: Path, X: ArrayLike) -> Any:
    """Draw loss, seminorm and number of pieces along λ.

    Parameters
    ----------
    path : Path
        From :meth:`pldc.DCRegressor.path`.
    X : array of shape (n, d)
        Rows at which pieces are counted.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not isinstance(path, Path):
        raise TypeError(f"Give what DCRegressor.path returned, not {type(path).__name__}.")
    figure = _figure()(figsize=(11, 3.4), layout="constrained")
    pieces = path.pieces(real(X, "X"))
    loss, seminorm, count = figure.subplots(1, 3)
    loss.loglog(path.lams, path.losses, marker="o")
    loss.set(xlabel="lam", title="mean loss")
    seminorm.loglog(path.lams, np.maximum(path.seminorms, 1e-12), marker="o")
    seminorm.set(xlabel="lam", title="seminorm")
    count.semilogx(path.lams, pieces[:, 0], marker="o", label="plus")
    count.semilogx(path.lams, pieces[:, 1], marker="s", label="minus")
    count.set(xlabel="lam", title="pieces, to a thousandth of the range")
    count.legend()
    for axis in (loss, seminorm, count):
        axis.grid(alpha=0.3)
    return figure


def plot_simplification(
    model: Any,
    X: Any = None,
    y: Any = None,
    n_pieces: Sequence[int] = (1, 2, 4, 8, 16),
    chosen: int | None = None,
    figure: Any = None,
) -> Any:
    """Draw what few pieces cost: cross-validated error and fidelity against the number of pieces.

    Parameters
    ----------
    model : fitted DCRegressor, or sequence of simplified ones
        A fitted model is simplified to each of `n_pieces`, which takes seconds each. Models that
        :meth:`pldc.DCRegressor.simplify` returned are drawn as they are.
    X : array or DataFrame of shape (n, d), optional
        The rows of the fit. Not needed for simplified models.
    y : array of shape (n,), optional
    n_pieces : sequence of int, default=(1, 2, 4, 8, 16)
        Numbers of pieces to try, of each part. Not used for simplified models.
    chosen : int, optional
        The number to mark. None: the smallest whose error is within 10 % of the best of those tried.
    figure : matplotlib figure, optional
        Where to draw; by default a figure of its own, not registered with pyplot.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig(path)``. The error is the cross-validated score with its sign changed; the
        horizontal line is that of the larger model. Fidelity is the R² to that model at rows that were left out.
    """
    Figure = _figure()
    models = _simplified(model, X, y, n_pieces)
    numbers = np.array([int(m.n_pieces) for m in models])
    error = np.array([-m.simplification_.score for m in models])
    fidelity = np.array([m.simplification_.fidelity for m in models])
    if not np.isfinite(error).all():
        short = numbers[~np.isfinite(error)][0]
        raise ValueError(f"The model of {short} pieces was ended early and has no score: simplify without max_seconds.")
    before = -models[0].simplification_.score_before
    if not np.allclose([-m.simplification_.score_before for m in models], before, rtol=1e-6, atol=0.0):
        raise ValueError("The models were simplified from different ones: draw those of each in a figure of its own.")
    if chosen is None:
        chosen = int(numbers[error <= error.min() + NEAR * abs(error.min())].min())
    elif chosen not in numbers:
        raise ValueError(f"chosen must be one of the numbers that were tried, {numbers.tolist()}; got {shown(chosen)}.")
    place = int(np.flatnonzero(numbers == chosen)[0])

    figure = Figure(figsize=(9, 4), layout="constrained") if figure is None else figure
    left, right = figure.subplots(1, 2)
    left.axhline(before, color="0.4", linestyle="--", label="larger model")
    for axis, values in ((left, error), (right, fidelity)):
        axis.plot(numbers, values, marker="o", color="C0", label="few pieces")
        axis.plot(
            numbers[place],
            values[place],
            linestyle="none",
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor="C3",
            markeredgewidth=2,
            label=f"chosen: {chosen}",
        )
        axis.set_xscale("log", base=2)
        axis.set_xticks(numbers, labels=[str(k) for k in numbers])
        axis.minorticks_off()
        axis.set_xlabel("pieces of each part, at most")
        axis.grid(alpha=0.3)
        axis.legend()
    left.set(ylabel="cross-validated error (−score)", title="Error at rows left out")
    right.set(ylabel="fidelity to the larger model", title="Agreement with the larger model")
    return figure


def _simplified(model: Any, X: Any, y: Any, n_pieces: Sequence[int]) -> list[Any]:
    """Return models of few pieces, the fewest first: those given, or made from the one given."""
    if isinstance(model, Sequence):
        if not model:
            raise ValueError("The list of models is empty: give at least one that simplify returned.")
        for each in model:
            if not hasattr(each, "simplification_"):
                raise TypeError(
                    f"A {type(each).__name__} in the list was not simplified: call its simplify(X, y) first."
                )
        return sorted(model, key=lambda m: int(m.n_pieces))
    if not hasattr(model, "simplify"):
        raise TypeError(f"Give a fitted DCRegressor or a list of simplified ones, not {type(model).__name__}.")
    if X is None or y is None:
        raise ValueError("Give X and y, the rows of the fit, or a list of models that simplify returned.")
    numbers = sorted(set(n_pieces))
    if not numbers:
        raise ValueError("n_pieces is empty: give at least one number of pieces.")
    return [model.simplify(X, y, n_pieces=k) for k in numbers]


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'pldc[plot]'.") from error
    return Figure
