"""How many folds a small table needs: the convex program with 5 and 10 folds.

    PLDC_DATA=… python -m experiments.folds [--seeds 8] [--jobs 2]

The six small sets of the paper (four fifths train) and a hundred rows of the seven sets of `experiments.defaults`; on
splits of their own. Writes experiments/results/folds.csv, cell by cell, and a table of the error with k folds relative
to that with 5: geometric means, and a 95 % interval over the sets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import t

from experiments.cells import commit, read, run_missing, write_table
from experiments.defaults import SETS
from experiments.paper import SMALL, divided, table

PATH = Path(__file__).parent / "results" / "folds.csv"
COLUMNS = ("dataset", "folds", "seed", "value", "lam", "seconds", "commit")
FOLDS = (5, 10)
ROWS, FIRST_SEED = 100, 500


def cell(dataset: str, folds: int, seed: int, code: str) -> list[dict]:
    """Fit, and return the error on the rows left over, in per cent of the variance."""
    from pldc import DCRegressor

    warnings.simplefilter("ignore")
    everything = table(dataset)
    X, y, X_test, y_test = divided(*everything, FIRST_SEED + seed, 0.8 if dataset in SMALL else 0.75, ROWS)
    start = time.perf_counter()
    model = DCRegressor(n_pieces="rows", cv=folds, n_jobs=1).fit(X, y)
    seconds = time.perf_counter() - start
    value = 100 * np.mean((model.predict(X_test) - y_test) ** 2) / np.var(everything[1])
    return [dict(zip(COLUMNS, (dataset, folds, seed, value, model.lam_, seconds, code), strict=True))]


def report(rows: list[dict]) -> list[list[str]]:
    """Return the error with k folds relative to that with 5, and the time."""
    found = {(r["dataset"], int(r["folds"]), int(r["seed"])): (float(r["value"]), float(r["seconds"])) for r in rows}
    lines = [["folds", "error relative to 5 folds", "95 % interval", "better on", "time relative to 5 folds"]]
    for k in FOLDS[1:]:
        sets = sorted({d for d, folds, _ in found if folds == k})
        logs = np.array([np.mean([np.log(both[0] / both[1]) for both in pairs(found, d, k, 0)]) for d in sets])
        times = np.mean([np.log(both[0] / both[1]) for d in sets for both in pairs(found, d, k, 1)])
        half = t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
        low, high = np.exp([logs.mean() - half, logs.mean() + half])
        line = [str(k), f"{np.exp(logs.mean()):.3f}", f"{low:.3f} to {high:.3f}"]
        lines.append([*line, f"{int((logs < 0).sum())} of {len(logs)} sets", f"{np.exp(times):.1f}"])
    return lines


def pairs(found: dict, dataset: str, k: int, what: int) -> list[tuple[float, float]]:
    """Return the values with k and with 5 folds of every seed that has both."""
    seeds = [s for d, folds, s in found if (d, folds) == (dataset, k) and (dataset, 5, s) in found]
    return [(found[dataset, k, s][what], found[dataset, 5, s][what]) for s in seeds]


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    known = {(r["dataset"], int(r["folds"]), int(r["seed"])) for r in read(PATH)}
    code = commit()
    todo = [(d, k, s, code) for s in range(arguments.seeds) for d in (*SMALL, *SETS) for k in FOLDS]
    run_missing(PATH, COLUMNS, cell, [c for c in todo if c[:3] not in known], arguments.jobs)
    write_table(PATH.with_suffix(".rst"), report(read(PATH)))


if __name__ == "__main__":
    main()
