"""Pictures of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.checks import shown
from pldc.function.max_affine import Array
from pldc.view.plots import _figure, _grid

PALE = 0.75  # share of white in the ground where the model is sure
PALEST = 0.97  # and where it knows nothing
SAME = 9  # digits to which planes of one region agree


def plot_classes(model: Any, X: ArrayLike, y: ArrayLike, grid: int = 300, ax: Any = None) -> Any:
    """Draw which class wins where, for two features, with the pieces of the scores.

    The ground has the colour of the winning class, the paler the less sure. Thick lines are borders between classes.
    Thin lines are where the score of the winner or of the runner-up bends, or the runner-up is another: between them
    the margin is one linear function. Rows that are not of the class that wins there are crosses.

    Parameters
    ----------
    model : fitted DCClassifier
        Of two columns of numbers; ``model.simplify(X, y)`` has few pieces.
    X : array or DataFrame of shape (n, 2)
        Rows to mark; the picture covers their range and a little more.
    y : array of shape (n,)
        Their classes.
    grid : int
        Points along each axis.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, not registered with pyplot.

    Returns
    -------
    matplotlib axes
        Save it with ``axes.figure.savefig(path)``.
    """
    if not hasattr(model, "functions_") or not hasattr(model, "classes_"):
        raise TypeError(f"Give a fitted DCClassifier, not {type(model).__name__}.")
    if np.ma.is_masked(y):
        raise ValueError("y is a masked array with values that are missing: fill or drop them first.")
    points, label = _of_two_numbers(model, X), np.asarray(y)
    if label.shape != (len(points),):
        raise ValueError(f"y must hold one class for each of {len(points)} rows, got shape {label.shape}.")
    known = model.classes_.tolist()
    if strange := [name for name in dict.fromkeys(label.tolist()) if name not in known]:
        raise ValueError(f"y must hold classes of the model, {shown(known)}; it holds {shown(strange)}.")
    Figure = _figure()
    from matplotlib import colormaps

    if ax is None:
        ax = Figure(figsize=(6.4, 5), layout="constrained").add_subplot()
    if not hasattr(ax, "imshow"):
        raise TypeError(f"ax must be axes of matplotlib, got {type(ax).__name__}.")
    m = len(model.classes_)
    colour = colormaps["tab10" if m <= 10 else "gist_rainbow"]
    shades = np.array([colour(k if m <= 10 else k / (m - 1))[:3] for k in range(m)])
    edge = 0.05 * np.ptp(points, axis=0)
    A, B = _grid(np.vstack([points - edge, points + edge]), grid)
    spots = np.column_stack([A.ravel(), B.ravel()])
    scores = model.model_.scores(spots)
    sure = model.model_.probabilities(spots).max(axis=1)
    first, second = np.argsort(-scores, axis=1, kind="stable")[:, :2].T
    white = PALEST + (PALE - PALEST) * (sure - 1 / m) / (1 - 1 / m)
    ground = white[:, None] + (1 - white[:, None]) * shades[first]
    extent = (A.min(), A.max(), B.min(), B.max())
    ax.imshow(ground.reshape(grid, grid, 3), origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    region = _regions(model, spots, first, second).reshape(grid, grid)
    _borders(ax, A, B, region, color="0.35", linewidth=0.5)
    _borders(ax, A, B, first.reshape(grid, grid), color="black", linewidth=1.8)
    right = model.predict(X) == label
    for k, name in enumerate(model.classes_):
        own = label == name
        for rows, mark in ((own & right, "o"), (own & ~right, "X")):
            style = {"markersize": 4 if mark == "o" else 6, "markeredgecolor": "white", "markeredgewidth": 0.4}
            text = str(name) if mark == "o" else None
            ax.plot(points[rows, 0], points[rows, 1], mark, color=shades[k], linestyle="none", label=text, **style)
    names = getattr(model, "feature_names_in_", ("x0", "x1"))
    count = len(np.unique(region))
    ax.set(xlabel=names[0], ylabel=names[1], title=f"{count} linear regions of the margin in view")
    ax.set(xlim=extent[:2], ylim=extent[2:])
    if m <= 10:
        ax.legend(loc="best", fontsize="small")
    return ax


def _of_two_numbers(model: Any, X: Any) -> Array:
    """Return the rows of X, if they and the features of the model are two columns of numbers."""
    wanted, record = "Two columns of numbers without gaps are needed:", model.model_
    names = record.column_names
    others = [name for k, name in enumerate(names) if record.number_of(k) is None or record.gap_of(k) is not None]
    if len(names) != 2 or others:
        told = f"; of these {shown(others)} hold something else, or have gaps" if others else ""
        raise ValueError(f"{wanted} this model was fitted to {len(names)}, {shown(list(names))}{told}.")
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted} X cannot be read as numbers, {error!s:.80}.") from None
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"{wanted} X has the shape {points.shape}, or cells that are missing or infinite.")
    return points


def _regions(model: Any, spots: Array, first: Array, second: Array) -> Array:
    """Number the regions in which one class leads another by one plane."""
    local = [f.local(spots) for f in model.functions_]
    planes = np.array([np.column_stack([own.slope, own.intercept]) for own in local])
    at = np.arange(len(spots))
    lead = planes[first, at] - planes[second, at]
    lead = np.round(lead / np.maximum(np.abs(lead).max(axis=0), np.finfo(float).tiny), SAME) + 0.0
    return np.asarray(np.unique(np.column_stack([first, second, lead]), axis=0, return_inverse=True)[1].ravel())


def _borders(ax: Any, A: Array, B: Array, number: Array, **style: Any) -> None:
    """Draw lines where neighbouring points of a grid differ."""
    from matplotlib.collections import LineCollection

    x, y = A[0], B[:, 0]
    dx, dy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    up, right = np.nonzero(np.diff(number, axis=1)), np.nonzero(np.diff(number, axis=0))
    across = [((x[j] + dx, y[i] - dy), (x[j] + dx, y[i] + dy)) for i, j in zip(*up, strict=True)]
    along = [((x[j] - dx, y[i] + dy), (x[j] + dx, y[i] + dy)) for i, j in zip(*right, strict=True)]
    ax.add_collection(LineCollection([*across, *along], **style))
