"""Figures of the paper's experiments, drawn from the values in their result files.

Figure 1 alone shows functions, which no table holds: it fits them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.ranks import critical_difference, mean_errors, ranks_of
from experiments.statistics import Values, interval, unique
from experiments.tables import DEFAULTS

SHOWN = (
    DEFAULTS,
    "pldc, paper",
    "MLP, as coded",
    "MARS, as coded",
    "kNN, as coded",
    "MLP",
    "Gaussian process",
    "XGBoost",
)

HIGHEST = 200  # error that is drawn; some are beyond


def draw(found: dict[str, Values], folder: Path) -> None:
    """Write one figure a study."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "pldc"  # the same figure is the same file
    for name, values in found.items():
        if name in PAINT:
            figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
            PAINT[name](ax, values)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
    if "surface" in found:
        figure = surface(plt)
        figure.savefig(folder / "surface.png", dpi=100)  # thousands of patches: small only as pixels
        plt.close(figure)


def lines(ax: Any, values: Values, place: Any, xlabel: str) -> None:
    """Draw means with intervals of each shown method against a number in the name of the data set."""
    for m in [m for m in SHOWN if any(b == m for _, b in values)]:
        points = sorted((place(s), *interval(v.values())) for (s, b), v in values.items() if b == m)
        x, mean, half = map(np.array, zip(*points, strict=True))
        ax.errorbar(x, mean, np.nan_to_num(half), marker="o", ms=3, capsize=2, lw=1, label=m)
    ax.set(xlabel=xlabel)
    ax.legend(fontsize=7)


def synthetic(ax: Any, values: Values) -> None:
    """Figure of the synthetic study."""
    lines(ax, values, lambda s: int(s[2:]), "features")
    ax.set(ylabel=f"error / variance × 100, up to {HIGHEST}", ylim=(0, HIGHEST))


def bars(ax: Any, values: Values, ylabel: str) -> None:
    """Draw bars with intervals, one group a data set."""
    sets = unique(s for s, _ in values)
    methods = [m for m in (*SHOWN, "SVM, as coded", "RBF SVM") if any(b == m for _, b in values)]
    width = 0.8 / max(len(methods), 1)
    for k, m in enumerate(methods):
        mean, half = np.array([interval(values.get((s, m), {}).values()) for s in sets]).T
        ax.bar(np.arange(len(sets)) + k * width, mean, width, yerr=np.nan_to_num(half), label=m, error_kw={"lw": 0.6})
    ax.set_xticks(np.arange(len(sets)) + 0.4, sets, rotation=30, fontsize=7)
    ax.set(ylabel=ylabel)
    if methods:
        ax.legend(fontsize=6, ncols=2)


def regression(ax: Any, values: Values) -> None:
    """Figure of the eight real sets."""
    bars(ax, values, f"error / variance × 100, up to {HIGHEST}")
    ax.set(ylim=(0, HIGHEST))


def classes(ax: Any, values: Values) -> None:
    """Figure of the seven sets of classes."""
    bars(ax, values, "error, per cent")


def rate(ax: Any, values: Values) -> None:
    """Excess risk against rows, on logarithmic axes."""
    for d in unique(s.split()[0] for s, _ in values):
        for m, style in ((DEFAULTS, "-"), ("pldc, squared, joint", "--")):
            points = sorted(
                (int(s.split("n=")[1]), *interval(v.values()))
                for (s, b), v in values.items()
                if b == m and s.split()[0] == d
            )
            if points:
                x, mean, half = map(np.array, zip(*points, strict=True))
                ax.errorbar(x, mean, np.nan_to_num(half), ls=style, marker="o", ms=3, label=f"{m}, {d}")
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="excess risk")
    ax.legend(fontsize=7)


def wide(ax: Any, values: Values) -> None:
    """Critical-difference plot: mean ranks on a line, and the difference beyond which two methods differ."""
    methods, errors, _ = mean_errors(values)
    if not methods:
        return
    ranks = ranks_of(errors)
    mean = ranks.mean(axis=0)
    order = np.argsort(mean)
    for height, k in enumerate(order):
        ax.plot([mean[k], mean[k]], [0, -height - 1], color="grey", lw=0.7)
        ax.text(mean[k] + 0.05, -height - 1, f"{methods[k]} {mean[k]:.2f}", va="center", fontsize=8)
        ax.plot(mean[k], 0, "o", ms=4, color="C3" if methods[k] == DEFAULTS else "black")
    gap = critical_difference(len(methods), len(ranks))
    ax.plot([mean[order[0]], mean[order[0]] + gap], [1, 1], lw=3, color="C0")
    ax.text(mean[order[0]], 1.4, f"critical difference {gap:.2f}, {len(ranks)} sets", fontsize=8)
    ax.set(xlabel="mean rank", ylim=(-len(methods) - 1, 3), yticks=[])


def surface(plt: Any) -> Any:
    """Draw figure 1: the surface with the rows, and the fits at λ = 2 D̂ and by cross-validation."""
    from experiments.paper import fit_surface
    from experiments.paper import surface as truth

    X = np.random.default_rng(0).uniform(size=(100, 2))
    axis = np.linspace(0, 1, 61)
    first, second = np.meshgrid(axis, axis)
    mesh = np.column_stack([first.ravel(), second.ravel()])
    panels = {
        "function and rows": truth(mesh),
        "λ = 2 D̂": fit_surface(X, "2 D").predict(mesh),
        "λ by cross-validation": fit_surface(X, "cv").predict(mesh),
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), subplot_kw={"projection": "3d"})
    figure.subplots_adjust(left=0.01, right=0.97, top=0.92, bottom=0.06, wspace=0.08)
    for ax, (title, z) in zip(axes, panels.items(), strict=True):
        ax.plot_surface(first, second, z.reshape(first.shape), cmap="viridis", alpha=0.85, rstride=3, cstride=3)
        ax.scatter(*X.T, truth(X), color="black", s=4)
        ax.set(title=title)
    return figure


PAINT = {"synthetic": synthetic, "regression": regression, "classes": classes, "rate": rate, "wide": wide}
