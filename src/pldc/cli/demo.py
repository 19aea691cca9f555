"""The demo: two small tables, what was found in them, a picture, and a page to try a model on."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pldc.estimators import DCRegressor
from pldc.estimators.explorer import range_of, told
from pldc.export.model_file import write_whole
from pldc.export.page import page
from pldc.function import explain
from pldc.function.max_affine import Array, IntArray

FOLDS = 3


class Problem(NamedTuple):
    """A data set of the demo, and the number of pieces that its model is simplified to.

    `cost` has the seconds, roughly, of a fit and of a simplification: shares of the time that is left.
    """

    name: str
    X: Array
    y: Array
    features: list[str]
    n_pieces: int
    cost: tuple[float, float]


class Fitted(NamedTuple):
    """The scores of a data set, fold by fold for every method, and the model of the fold with the middle score."""

    scores: Array
    fold: int
    model: DCRegressor
    train: IntArray
    test: IntArray
    seconds: float


class Progress:
    """One line on standard error with the time left: rewritten on a terminal, else a line for each stage.

    Parameters
    ----------
    total : float
        Of the costs of all steps.
    """

    def __init__(self, total: float):
        self._total, self._done = total, 0.0
        self._began, self._stage, self._terminal = time.perf_counter(), "", sys.stderr.isatty()

    def show(self, stage: str, detail: str = "") -> None:
        """Say what is done next."""
        spent, left = time.perf_counter() - self._began, ""
        if self._done:
            left = f", about {spent * (self._total / self._done - 1):.0f} s left"
        if self._terminal:
            print(f"\r{stage}{detail}{left} …".ljust(79), end="", file=sys.stderr, flush=True)
        elif stage != self._stage:
            print(f"{stage}{left} …", file=sys.stderr, flush=True)
        self._stage = stage

    def add(self, cost: float) -> None:
        """Count a step that is done."""
        self._done += cost

    def end(self) -> None:
        """Wipe the line out."""
        if self._terminal:
            print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)


def demo(output: Path) -> int:
    """Fit scikit-learn's diabetes data and a noisy surface; print tables and an explanation; write a figure and a page.

    Needs no optional package but matplotlib, and does without it.
    """
    began = time.perf_counter()
    first, second = both = problems()
    progress = Progress(sum(FOLDS * p.cost[0] + p.cost[1] for p in both))
    fits = [cross_validated(p, progress) for p in both]
    diabetes, surface = (simplified(p, fit, progress) for p, fit in zip(both, fits, strict=True))
    progress.end()

    print(f"R² at rows left out, mean of {FOLDS} shuffled folds, the same for all; DC with all defaults")
    print(f"{'data':<10}{'rows':>6}{'features':>10}{'DC':>8}{'linear':>8}{'10-NN':>8}{'seconds a fit':>15}")
    for p, fit in zip(both, fits, strict=True):
        ours, linear, neighbours = fit.scores.mean(axis=0)
        n, d = p.X.shape
        print(f"{p.name:<10}{n:>6}{d:>10}{ours:>8.3f}{linear:>8.3f}{neighbours:>8.3f}{fit.seconds:>15.1f}")

    train, test = fits[0].train, fits[0].test
    plus, minus = diabetes.function_.n_pieces
    about = diabetes.simplification_
    print(f"\n{first.name}, simplified: one function of {plus} − {minus} pieces, ", end="")
    print(f"learned from the fit without fold {fits[0].fold + 1}")
    print(f"cross-validated R² {1 + about.score:.3f}, {1 + about.score_before:.3f} before; ", end="")
    print(f"fidelity (R² to the model before) {about.fidelity:.3f}")
    print("its linear regions, the fullest first, with the slope of each feature:")
    print(diabetes.function_.regions(first.X[train]).to_text(first.features, most=8))

    print("\nwhy a row that was left out has its prediction: slope × distance from the mean row, largest first")
    why = explain(
        diabetes.function_,
        first.X[test[:1]],
        reference=diabetes.reference_,
        features=first.features,
        limits=diabetes.clip_range_,
        unit=diabetes.spread_,
    )
    print(why.table())

    train = fits[1].train
    X, y = second.X[train], second.y[train]
    plus, minus = surface.function_.n_pieces
    about = surface.simplification_
    print(f"\n{second.name}, simplified to {plus} − {minus} pieces: ", end="")
    print(f"cross-validated R² {1 + about.score:.3f}, {1 + about.score_before:.3f} before")
    output.mkdir(parents=True, exist_ok=True)
    path = draw(surface, X, y, output)
    print(f"figure: {path}" if path else "no figure: pip install 'pldc[plot]'")
    print(f"try the diabetes model in a browser: {write_page(first, fits[0], diabetes, output)}")
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    return 0


def problems() -> tuple[Problem, Problem]:
    """Return the two data sets."""
    data = load_diabetes(scaled=False)
    return (
        Problem("diabetes", data.data, data.target, list(data.feature_names), 3, (2.5, 5.0)),
        Problem("surface", *noisy_surface(120), ["x0", "x1"], 8, (1.0, 5.0)),
    )


def cross_validated(problem: Problem, progress: Progress) -> Fitted:
    """Score all methods on the same folds; keep the model whose score is in the middle."""
    scores, models, seconds = [], [], []
    splits = list(KFold(FOLDS, shuffle=True, random_state=0).split(problem.X))
    for k, (train, test) in enumerate(splits):
        progress.show(f"{problem.name}: {FOLDS} fits", f", {k} done")
        X, y = problem.X[train], problem.y[train]
        start = time.perf_counter()
        models.append(DCRegressor().fit(X, y))
        seconds.append(time.perf_counter() - start)
        near = KNeighborsRegressor(n_neighbors=min(10, len(train)))
        rivals = [LinearRegression(), make_pipeline(StandardScaler(), near)]
        methods = [models[-1], *(m.fit(X, y) for m in rivals)]
        scores.append([m.score(problem.X[test], problem.y[test]) for m in methods])
        progress.add(problem.cost[0])
    middle = int(np.argsort([ours for ours, *_ in scores])[FOLDS // 2])
    train, test = splits[middle]
    return Fitted(np.array(scores), middle, models[middle], train, test, float(np.mean(seconds)))


def simplified(problem: Problem, fit: Fitted, progress: Progress) -> DCRegressor:
    """Simplify the model that was kept."""
    progress.show(f"{problem.name}: one function of at most {problem.n_pieces} − {problem.n_pieces} pieces")
    few: DCRegressor = fit.model.simplify(problem.X[fit.train], problem.y[fit.train], n_pieces=problem.n_pieces)
    progress.add(problem.cost[1])
    return few


def noisy_surface(n: int) -> tuple[Array, Array]:
    """Return the paper's synthetic function in two dimensions with its noise, at n uniform points."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (n, 2))
    s = X.sum(axis=1) / np.sqrt(2)
    return X, np.sin(np.pi * s) + s**2 + 0.25 * rng.standard_normal(n)


def draw(model: DCRegressor, X: Array, y: Array, output: Path) -> Path | None:
    """Write the surface figure; None without matplotlib."""
    try:
        from pldc.view import plot_surface

        figure = plot_surface(model, X, y, title="{} − {} pieces".format(*model.function_.n_pieces))
    except ImportError:
        return None
    path = output / "surface.png"
    figure.savefig(path, dpi=120)
    return path


def write_page(problem: Problem, fit: Fitted, few: DCRegressor, output: Path) -> Path:
    """Write the page of a model and of its few pieces."""
    names = tuple(problem.features)  # the table is an array: the demo needs no pandas
    models = [(told(each), replace(each.model_, feature_names=names)) for each in (few, fit.model)]
    ranges = [range_of(column) for column in problem.X[fit.train].T]
    path = output / "explorer.html"
    write_whole(
        path, page(models, ranges, title=f"The {problem.name} data of scikit-learn", target="progression").encode()
    )
    return path
