"""How the maximum discrepancy follows the dimension of the data and not that of the space around it.

    python -m experiments.manifold

One hundred points on a curve in d dimensions, beside as many that fill the cube. Writes results/manifold.csv.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from experiments.paper import curve
from pldc.select.bound import discrepancy_rate
from pldc.select.discrepancy import discrepancy

RESULTS = Path(__file__).parent / "results" / "manifold.csv"
N = 100


def main() -> None:
    """Measure and write."""
    rows = []
    for d in (1, 2, 5, 10):
        rng = np.random.default_rng(0)
        t = rng.uniform(-1, 1, N)
        line, cube = curve(t, d), rng.uniform(-1, 1, (N, d))
        on_curve, in_cube = (discrepancy(X, penalty="joint", n_splits=2, tol=0.02) for X in (line, cube))
        rows.append([d, *(f"{v:.3f}" for v in (on_curve.value, in_cube.value)), f"{discrepancy_rate(N, d):.1f}"])
        print(rows[-1], flush=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["features", "on a curve", "in the cube", "bound of the paper"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
