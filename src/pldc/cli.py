"""The command line: ``pldc demo``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pldc.estimators import DCRegressor
from pldc.function import explain
from pldc.function.max_affine import Array


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="pldc", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("demo", help="fit two small data sets, print what was found, draw one")
    show.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the figure")
    options = parser.parse_args(arguments)
    return demo(options.output)


def demo(output: Path) -> int:
    """Fit scikit-learn's diabetes data and a noisy surface; print a table and an explanation; write a figure.

    Needs no optional package but matplotlib, and does without it.
    """
    began = time.perf_counter()
    diabetes = load_diabetes(scaled=False)
    surface_X, surface_y = noisy_surface(200)
    problems = [("diabetes", diabetes.data, diabetes.target), ("surface", surface_X, surface_y)]
    rows = []
    models = {}
    for name, X, y in problems:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
        print(f"\n{name}: {len(X_train)} rows × {X_train.shape[1]} features, all defaults …", flush=True)
        start = time.perf_counter()
        model = DCRegressor(verbose=1).fit(X_train, y_train)
        seconds = time.perf_counter() - start
        plus, minus = model.function_.prune(X_train, tol=1e-3).n_pieces
        models[name] = model, X_train, y_train, X_test
        rivals = [LinearRegression(), make_pipeline(StandardScaler(), KNeighborsRegressor(n_neighbors=10))]
        scores = [m.fit(X_train, y_train).score(X_test, y_test) for m in rivals]
        rows.append((name, model.score(X_test, y_test), *scores, f"{plus} − {minus}", model.certificate_.gap, seconds))

    print("\nR² on held-out rows")
    print(f"{'data':<10}{'DC':>8}{'linear':>8}{'10-NN':>8}{'pieces':>12}{'gap':>10}{'seconds':>9}")
    for name, ours, linear, neighbours, pieces, gap, seconds in rows:
        print(f"{name:<10}{ours:>8.3f}{linear:>8.3f}{neighbours:>8.3f}{pieces:>12}{gap:>10.1e}{seconds:>9.1f}")
    print("pieces: plus part − minus part, enough to keep the fit at the training rows to a thousandth of its range")
    print("gap: certified, relative; seconds: search and fit")

    model, _, _, X_test = models["diabetes"]
    print("\nwhy the first held-out row of diabetes has its prediction: contributions from the mean row, largest first")
    print(explain(model.function_, X_test[:1], model.reference_, diabetes.feature_names, model.clip_range_).table())

    path = draw(*models["surface"][:3], output)
    print(f"\nfigure: {path}" if path else "\nno figure: pip install 'pldc[plot]'")
    print(f"{time.perf_counter() - began:.0f} s in all")
    return 0


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

        readable = model.function_.prune(X, tol=1e-3)
        figure = plot_surface(readable, X, y, title="{} − {} pieces".format(*readable.n_pieces))
    except ImportError:
        return None
    output.mkdir(parents=True, exist_ok=True)
    path = output / "surface.png"
    figure.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
