"""One figure of a fitted model: what matters, together with what, how predictions follow it, and the pieces."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

import numpy as np

from pldc.function.curve import LevelMeans
from pldc.function.max_affine import Array
from pldc.function.numbers import number, shortened
from pldc.function.regions import FEW_PIECES
from pldc.view.plots import _figure

MOST_BARS, MOST_CURVES, MOST_REGIONS, MOST_LEVELS = 10, 4, 8, 12
LONGEST_NAME, LONGEST_LEVEL, LONGEST_RULE = 22, 12, 90


def plot_model(model: Any, X: Any) -> Any:
    """Draw a fitted model: importances, interactions, the main curves and, of few pieces, the regions.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier
        Curves are of up to four columns, not of dates; of categories and booleans they are bars, from the mean
        prediction to that of each level. Of a classifier, and of several
        quantiles, curves and regions are not drawn: ask ``model.curve`` and ``model.region_table`` of the classifier.
    X : array or DataFrame of shape (n, d)
        Rows that curves are means over, and that regions are counted at; the model keeps none of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: save it with ``figure.savefig(path)``. Regions are drawn of one function of at most
        64 pieces in each part: ``plot_model(model.simplify(X, y), X)``.
    """
    if not hasattr(model, "interactions"):
        raise TypeError(f"Give a fitted DCRegressor or DCClassifier, not {type(model).__name__}.")
    Figure, points = _figure(), model._points(X)
    f = getattr(model, "function_", None)
    curves = [] if f is None else _main_curves(model, X)
    regions = model.region_table(X).regions if f is not None and f.is_plain and max(f.n_pieces) <= FEW_PIECES else None
    heights = [2.6, *([2.4] if curves else []), *([0.6 + 0.32 * min(len(regions), MOST_REGIONS)] if regions else [])]
    figure = Figure(figsize=(11, sum(heights) + 0.5), layout="constrained")
    rows = iter(np.ravel(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)))
    figure.suptitle(str(model).splitlines()[0])
    left, right = next(rows).subplots(1, 2)
    _bars(left, "how far predictions move by each column", *_importances(model))
    pairs = model.interactions(X).pairs()[:MOST_BARS]
    _bars(right, "and by two columns together", [f"{a} × {b}" for a, b, _ in pairs], [s for *_, s in pairs])
    if curves:
        _draw_curves(next(rows), curves, points, model)
    if regions is not None:
        _draw_regions(next(rows).subplots(), regions, model.model_.feature_names)
    return figure


def _importances(model: Any) -> tuple[list[str], Array]:
    size = model.feature_importances_
    order = np.argsort(-size, kind="stable")[:MOST_BARS]
    return [model.model_.column_names[j] for j in order], size[order]


def _main_curves(model: Any, X: Any) -> list[Any]:
    """Curves of the most important columns, but for dates."""
    size, columns = model.feature_importances_, model.model_.columns
    dates = [columns is not None and columns.columns[j].kind == "date" for j in range(len(size))]
    order = [int(j) for j in np.argsort(-size, kind="stable") if size[j] > 0 and not dates[j]]
    return [model.curve(j, X) for j in order[:MOST_CURVES]]


def _bars(axis: Any, title: str, names: list[str], sizes: Any) -> None:
    """Draw bars from left to right, the largest on top."""
    axis.barh(range(len(names)), sizes, color="C0")
    axis.set_yticks(range(len(names)), labels=[shortened(n, 2 * LONGEST_NAME) for n in names], fontsize=8)
    axis.invert_yaxis()
    axis.set_title(title, fontsize=10)
    axis.grid(axis="x", alpha=0.3)


def _draw_curves(figure: Any, curves: list[Any], points: Array, model: Any) -> None:
    """Draw curves side by side on one scale, with marks where the rows are."""
    names = model.model_.column_names
    axes = np.ravel(figure.subplots(1, len(curves), sharey=True, squeeze=False))
    for axis, curve in zip(axes, curves, strict=True):
        axis.set_xlabel(shortened(curve.feature, LONGEST_NAME))
        axis.grid(alpha=0.3)
        if isinstance(curve, LevelMeans):
            _draw_levels(axis, curve, float(np.mean(model.model_.predict(points))))
            continue
        axis.plot(curve.x, curve.y, color="C0")
        where = np.quantile(points[:, model.model_.number_of(names.index(curve.feature))], _TENTHS)
        axis.plot(where, np.full(len(where), 0.02), "|", color="0.3", transform=axis.get_xaxis_transform())
    axes[0].set_ylabel("mean prediction")
    axes[0].set_title("partial dependence; marks: tenths of the rows", fontsize=10, loc="left")


def _draw_levels(axis: Any, means: LevelMeans, middle: float) -> None:
    """Draw the mean of each level as a bar that begins at the mean prediction; of many the highest and the lowest."""
    order = np.argsort(-means.y, kind="stable")
    if len(order) > MOST_LEVELS:
        order = np.append(order[: MOST_LEVELS // 2], order[-MOST_LEVELS // 2 :])
    names = ["(missing)" if means.levels[k] is None else str(means.levels[k]) for k in order]
    axis.bar(range(len(order)), means.y[order] - middle, bottom=middle, color="C0")
    axis.set_xticks(
        range(len(order)), labels=[shortened(name, LONGEST_LEVEL) for name in names], rotation=45, fontsize=8
    )


def _draw_regions(axis: Any, regions: Any, names: Any) -> None:
    """Draw the share of the rows in each region, and write beside it where it is."""
    count = min(len(regions), MOST_REGIONS)
    share = regions.count / regions.count.sum()
    axis.barh(range(count), share[:count], color="C2")
    names = regions._names(names)
    for k in range(count):
        where = regions.rules[k].text(names, regions.opposites) if k < len(regions.rules) else ""
        axis.text(share[k], k, f"  {shorten(where, LONGEST_RULE, placeholder='…')}", va="center", fontsize=8)
    axis.set_yticks(range(count), labels=[number(v, 3) for v in regions.value[:count]], fontsize=8)
    axis.set_xlim(0, 2.6 * float(share.max()))
    axis.set_xticks([tick for tick in axis.get_xticks() if 0 <= tick <= min(1.0, axis.get_xlim()[1])])
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.invert_yaxis()
    more = f"; {len(regions) - count} more" if len(regions) > count else ""
    axis.set_title(
        f"{len(regions)} linear regions: share of the rows, value at the typical row, and where{more}", fontsize=10
    )


_TENTHS = np.linspace(0.0, 1.0, 11)
