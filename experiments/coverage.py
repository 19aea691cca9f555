"""Measured coverage of prediction intervals of the default fit: 300 rows train, the rest test, nominal 0.9.

    PLDC_DATA=… python -m experiments.coverage

Writes experiments/results/coverage.csv.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from experiments.data import load
from pldc import DCRegressor

RESULTS = Path(__file__).parent / "results" / "coverage.csv"
SETS = ("airfoil", "boston", "concrete", "diabetes", "energy_heating", "qsar_fish_toxicity")


def cell(name: str, seed: int) -> list:
    """Fit and count."""
    data = load(name)
    order = np.random.default_rng(seed).permutation(len(data.y))
    train, test = order[:300], order[300:]
    model = DCRegressor(n_jobs=1).fit(data.X[train], data.y[train])
    low, high = model.predict_interval(data.X[test], 0.9)
    inside = (low <= data.y[test]) & (data.y[test] <= high)
    width = float(np.mean(high - low) / data.y[train].std())
    return [name, seed, len(test), f"{inside.mean():.3f}", f"{width:.2f}"]


def main() -> None:
    """Run all cells and write."""
    rows = Parallel(n_jobs=2)(delayed(cell)(name, seed) for seed in range(2) for name in SETS)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data set", "split", "test rows", "covered", "mean width in standard deviations of y"])
        writer.writerows(sorted(rows))
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
