"""Bands between two quantiles, 0.1 and 0.9, of the default fit: what they hold of new rows, and their pinball loss.

    PLDC_DATA=… python -m experiments.bands [--jobs 2] [--report]

The ten tables and five splits of :mod:`experiments.coverage`. "Not moved" is the same fit without the constants that
rows left out ask for (decision 41). Each split is appended to results/bands.csv, and a rerun goes on from there.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.coverage import SETS, SPLITS, table
from pldc import DCRegressor, Quantile
from pldc.fit.few_pieces import at_level

RESULTS = Path(__file__).parent / "results" / "bands.csv"
LEVELS = (0.1, 0.9)
COLUMNS = ("dataset", "seed", "moved", "test_rows", "covered", "width", "pinball")


def cell(name: str, seed: int) -> list[dict]:
    """Fit both levels, as they are and not moved, and count what the band holds."""
    X, y, fresh, target, _ = table(name, seed)
    rows = []
    for moved in (True, False):
        with patch("pldc.fit.few_pieces.at_level", at_level if moved else as_found), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = DCRegressor(loss=Quantile(LEVELS), n_jobs=1).fit(X, y).predict(fresh).T
        off = [np.maximum(q * (target - f), (q - 1) * (target - f)) for q, f in zip(LEVELS, (low, high), strict=True)]
        numbers = {
            "covered": np.mean((low <= target) & (target <= high)),
            "width": np.mean(high - low) / y.std(),
            "pinball": np.mean(off) / y.std(),
        }
        about = {"dataset": name, "seed": seed, "moved": moved, "test_rows": len(target)}
        rows.append(about | {key: f"{value:.4f}" for key, value in numbers.items()})
    return rows


def as_found(members: list, folds: object, settings: object) -> tuple[list, object]:
    """Leave functions where they are."""
    return members, folds


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    known = {(r["dataset"], int(r["seed"])) for r in read(RESULTS)}
    todo = [(s, k) for k in range(SPLITS) for s in SETS if (s, k) not in known]
    if todo and not arguments.report:
        run_missing(RESULTS, COLUMNS, cell, todo, arguments.jobs)
    report()


def report() -> None:
    """Write what the bands held, and how good they are, as a table for the documentation."""
    rows = read(RESULTS)

    def mean(column: str, **where: str) -> float:
        return float(np.mean([float(r[column]) for r in rows if all(r[k] == v for k, v in where.items())]))

    lines = [["table", "held", "not moved", "pinball loss", "not moved"]]
    names = sorted({r["dataset"] for r in rows})
    for name in names:
        numbers = [mean(c, dataset=name, moved=m) for c in ("covered", "pinball") for m in ("True", "False")]
        lines.append([name.replace("_", " "), *(f"{v:.{d}f}" for v, d in zip(numbers, (2, 2, 3, 3), strict=True))])
        print(*lines[-1])
    numbers = [mean(c, moved=m) for c in ("covered", "pinball") for m in ("True", "False")]
    lines.append(["mean", *(f"{v:.{d}f}" for v, d in zip(numbers, (2, 2, 3, 3), strict=True))])
    print(*lines[-1])
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
