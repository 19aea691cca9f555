"""The paper's classification sets by its protocol: error in per cent beside tuned rivals, and what makes it.

    PLDC_DATA=… python -m experiments.classes [--jobs 2] [--repeats 10] [--sets …] [--methods …]

Repeat k of a set is the permutation of numpy's default_rng(k): the first half trains, the second tests. Settings are
chosen by 5-fold cross-validation on the training half, on standardised features for all methods. Missing cells are
zero, as in the authors' code. Each cell is appended to experiments/results/classes.csv as it is done, and a rerun goes
on from there; delete the file to begin anew. Rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.methods import CLASSIFIERS
from experiments.paper import divided, table

RESULTS = Path(__file__).parent / "results" / "classes.csv"
SETS = ("iris", "wine", "bpd", "balance_scale", "ecoli", "heart_disease", "ionosphere")
# Per cent, of a study by the same protocol: hinge, joint seminorm, standardised features.
REFERENCE = dict(zip(SETS, (3.8, 3.7, 19.9, 7.3, 12.5, 45.6, 8.9), strict=True))
RIVALS = ("kNN", "RBF SVM", "MLP", "XGBoost")
METHODS = ("pldc", "pldc, componentwise", "pldc, directions", "pldc, log loss", *RIVALS)
COLUMNS = ("dataset", "method", "seed", "n_train", "error", "seconds", "lam", "gap")


def cell(name: str, method: str, seed: int) -> list[dict]:
    """Fit one method to one half, and count its errors on the other."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = divided(*table(name), seed, 0.5, None)
    y, labels = np.unique(y, return_inverse=True)[1], np.unique(y)  # classes that the half has, numbered
    start = time.perf_counter()
    model = CLASSIFIERS[method](X, y)
    seconds = time.perf_counter() - start
    error = 100.0 * float(np.mean(labels[model.predict(X_test)] != y_test))
    row = {"dataset": name, "method": method, "seed": seed, "n_train": len(y), "error": error, "seconds": seconds}
    row |= {
        "lam": getattr(model, "lam_", ""),
        "gap": model.certificate_.gap if hasattr(model, "certificate_") else "",
    }
    return [row]


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    arguments = parser.parse_args()
    known = {(r["dataset"], r["method"], int(r["seed"])) for r in read(RESULTS)}
    todo = [(s, m, k) for k in range(arguments.repeats) for m in arguments.methods for s in arguments.sets]
    run_missing(RESULTS, COLUMNS, cell, [c for c in todo if c not in known], arguments.jobs)
    report()


def report() -> None:
    """Print mean errors with their standard errors, and mean ranks over sets; write them for the documentation."""
    rows = read(RESULTS)
    found = {(r["dataset"], r["method"], int(r["seed"])): float(r["error"]) for r in rows}
    methods = [m for m in METHODS if all(any(key[:2] == (s, m) for key in found) for s in SETS)]
    errors = {
        (s, m): np.array([v for (a, b, _), v in found.items() if (a, b) == (s, m)]) for s in SETS for m in methods
    }
    means = np.array([[errors[s, m].mean() for s in SETS] for m in methods])
    rivals = [k for k, m in enumerate(methods) if m == "pldc" or not m.startswith("pldc")]
    rank = np.full(len(methods), np.nan)
    if rivals:
        seeds = [{k for a, b, k in found if (a, b) == (s, methods[r])} for s in SETS for r in rivals]
        common = set.intersection(*seeds)  # ranks compare the same repeats
        table = np.array([[np.mean([found[s, methods[r], k] for k in common]) for s in SETS] for r in rivals])
        rank[rivals] = (1 + (table[:, None] > table).sum(1) + 0.5 * ((table[:, None] == table).sum(1) - 1)).mean(axis=1)
    header = ["method", *SETS, "mean rank", "repeats", "seconds"]
    lines = [header, ["reference", *(f"{REFERENCE[s]:.1f}" for s in SETS), "", "", ""]]
    for k, m in enumerate(methods):
        spread = [errors[s, m].std(ddof=1) / np.sqrt(len(errors[s, m])) if len(errors[s, m]) > 1 else 0 for s in SETS]
        seconds = np.mean([float(r["seconds"]) for r in rows if r["method"] == m])
        cells = [f"{mean:.1f} ± {e:.1f}" for mean, e in zip(means[k], spread, strict=True)]
        repeats = min(len(errors[s, m]) for s in SETS)
        lines.append([m, *cells, "" if np.isnan(rank[k]) else f"{rank[k]:.2f}", str(repeats), f"{seconds:.1f}"])
    for line in lines:
        print(f"{line[0]:<20}" + "".join(f"{v:>15}" for v in line[1:]))
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
