"""Measured coverage of prediction intervals of the default fit at a nominal 0.9, and how they follow the noise.

    PLDC_DATA=… python -m experiments.coverage [--jobs 2] [--report]

Ten tables, five splits of 300 rows to train and up to 3000 to test; and a simulated table whose noise grows tenfold
along one feature, cut into ten slices of it. Each split is appended to results/coverage.csv as it is done, and a rerun
goes on from there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.data import load
from pldc import DCRegressor

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
COLUMNS = ("dataset", "seed", "slice", "test_rows", "covered", "width", "constant_width", "error_quantile", "noise")
SETS = (
    "abalone",
    "airfoil",
    "boston",
    "concrete",
    "diabetes",
    "energy_heating",
    "kin8nm",
    "power_plant",
    "qsar_fish_toxicity",
    "wine_quality_red",
)
SPLITS, TRAIN, TEST = 5, 300, 3000
SIMULATED = {"simulated 400": 400, "simulated 2000": 2000, "simulated 10000": 10_000}
SLICES, NOMINAL, NORMAL = 10, 0.9, 1.6449  # the last: half the width that holds 0.9 of a normal distribution


def simulate(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, targets, and the standard deviation of their noise: 0.1 to 1 along the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 4))
    noise = 0.1 + 0.9 * (X[:, 0] + 2) / 4
    return X, np.sin(2 * X[:, 1]) + X[:, 2] + noise * rng.standard_normal(n), noise


def table(name: str, seed: int) -> tuple[np.ndarray, ...]:
    """Return rows to train and to test, and the noise of the latter, or zeros."""
    if name in SIMULATED:
        X, y, _ = simulate(SIMULATED[name], seed)
        return X, y, *simulate(20_000, 1000 + seed)
    data = load(name)
    order = np.random.default_rng(seed).permutation(len(data.y))
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    return data.X[train], data.y[train], data.X[test], data.y[test], np.zeros(len(test))


def cell(name: str, seed: int) -> list[dict]:
    """Fit, and count what intervals hold; of a simulated table slice by slice."""
    X, y, fresh, target, noise = table(name, seed)
    model = DCRegressor(n_jobs=1).fit(X, y)
    low, high = model.predict_interval(fresh, NOMINAL)
    constant = 2 * np.quantile(model._folds.errors.y, NOMINAL)
    error, unit = np.abs(target - model.predict(fresh)), y.std()
    slices = np.argsort(np.argsort(fresh[:, 0])) * SLICES // len(fresh) if noise.any() else np.zeros(len(fresh), int)
    rows = []
    for k in np.unique(slices):
        here = slices == k
        numbers = {
            "covered": np.mean((low <= target)[here] & (target <= high)[here]),
            "width": np.mean((high - low)[here]) / unit,
            "constant_width": constant / unit,
            "error_quantile": 2 * np.quantile(error[here], NOMINAL) / unit,
            "noise": 2 * NORMAL * np.mean(noise[here]) / unit,
        }
        about = {"dataset": name, "seed": seed, "slice": k, "test_rows": here.sum()}
        rows.append(about | {key: f"{value:.4f}" for key, value in numbers.items()})
    return rows


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    known = {(r["dataset"], int(r["seed"])) for r in read(RESULTS)}
    todo = [(s, k) for k in range(SPLITS) for s in (*SIMULATED, *SETS) if (s, k) not in known]
    if todo and not arguments.report:
        run_missing(RESULTS, COLUMNS, cell, todo, arguments.jobs)
    report()


def report() -> None:
    """Write coverage and widths as tables for the documentation."""
    rows = read(RESULTS)

    def mean(column: str, **where: str) -> float:
        return float(np.mean([float(r[column]) for r in rows if all(r[k] == v for k, v in where.items())]))

    lines = [["table", "covered", "mean width", "if it were constant"]]
    for name in sorted({r["dataset"] for r in rows} - set(SIMULATED)):
        numbers = [mean(c, dataset=name) for c in ("covered", "width", "constant_width")]
        lines.append([name.replace("_", " "), *(f"{v:.{d}f}" for v, d in zip(numbers, (3, 2, 2), strict=True))])
        print(*lines[-1])
    write_table(RESULTS.with_suffix(".rst"), lines)
    lines = [["slice, from little noise to much", *map(str, range(1, SLICES + 1))]]
    for name, n in SIMULATED.items():
        for words, column in (
            ("width over that of the errors", "error_quantile"),
            ("width over that of the noise", "noise"),
        ):
            ratios = [
                mean("width", dataset=name, slice=str(k)) / mean(column, dataset=name, slice=str(k))
                for k in range(SLICES)
            ]
            lines.append([f"{n} rows, {words}", *(f"{ratio:.2f}" for ratio in ratios)])
            print(*lines[-1])
        lines.append(
            [f"{n} rows, covered", *(f"{mean('covered', dataset=name, slice=str(k)):.2f}" for k in range(SLICES))]
        )
    write_table(RESULTS.parent / "coverage_simulated.rst", lines)


if __name__ == "__main__":
    main()
