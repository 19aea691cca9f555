"""All defaults beside Gaussian process, XGBoost and xRFM on seven data sets: normalised test error × 100.

    PLDC_DATA=… python -m experiments.defaults [--jobs 2] [--splits 5]

Split k of a set is the permutation of numpy's default_rng(k): the first 400 rows (or three quarters, if fewer) train,
the rest test. Rows with missing values are left out. Each cell is appended to experiments/results/defaults.csv as it is
done, and a rerun goes on from there; delete the file to begin anew. Rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.data import load
from experiments.methods import REGRESSORS
from experiments.tables import DEFAULTS

RESULTS = Path(__file__).parent / "results" / "defaults.csv"
SETS = ("airfoil", "boston", "concrete", "diabetes", "energy_heating", "qsar_fish_toxicity", "yacht")
COLUMNS = ("dataset", "method", "seed", "n_train", "nmse", "seconds", "lam", "gap")
MOST = 400


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows."""
    data = load(name)
    whole = np.isfinite(data.X).all(axis=1) & np.isfinite(data.y)
    X, y = data.X[whole], data.y[whole]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [min(MOST, int(0.75 * len(y)))])
    return X[train], y[train], X[test], y[test]


METHODS = ("pldc", "Gaussian process", "XGBoost", "xRFM")
OLDER = (DEFAULTS,)  # shown where the file has it


def cell(name: str, method: str, seed: int) -> list[dict]:
    """Fit one method to one split."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = split(name, seed)
    start = time.perf_counter()
    model = REGRESSORS[method](X, y)
    seconds = time.perf_counter() - start
    error = 100.0 * float(np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test))
    row = {"dataset": name, "method": method, "seed": seed, "n_train": len(y), "nmse": error, "seconds": seconds}
    row |= {
        "lam": getattr(model, "lam_", ""),
        "gap": model.certificate_.gap if hasattr(model, "certificate_") else "",
    }
    return [row]


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    known = {(r["dataset"], r["method"], int(r["seed"])) for r in read(RESULTS)}
    todo = [(s, m, k) for k in range(arguments.splits) for m in METHODS for s in SETS if (s, m, k) not in known]
    run_missing(RESULTS, COLUMNS, cell, todo, arguments.jobs)
    report()


def report() -> None:
    """Print mean errors and their geometric mean over the sets; write them as a table for the documentation."""
    rows = read(RESULTS)
    table = [["method", *SETS, "geometric mean", "seconds"]]
    print(f"{'method':<18}" + "".join(f"{s[:12]:>14}" for s in SETS) + f"{'geo-mean':>10}{'seconds':>9}")
    for method in (*OLDER, *METHODS):
        mine = [r for r in rows if r["method"] == method]
        means = [np.mean([float(r["nmse"]) for r in mine if r["dataset"] == s]) for s in SETS] if mine else []
        if mine and np.isfinite(means).all():
            seconds = np.mean([float(r["seconds"]) for r in mine])
            overall = np.exp(np.mean(np.log(means)))
            print(f"{method:<18}" + "".join(f"{v:>14.2f}" for v in means) + f"{overall:>10.2f}{seconds:>9.1f}")
            table.append([method, *(f"{v:.2f}" for v in means), f"{overall:.2f}", f"{seconds:.0f}"])
    write_table(RESULTS.with_suffix(".rst"), table)


if __name__ == "__main__":
    main()
