"""Hard data through every setting: which gap is reached, and whether a miss is told.

Run from the repository:  python -m benchmarks.hard_cases
Writes benchmarks/results/hard_cases.json and a table for the documentation.
"""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.report import list_table
from pldc import Absolute, Auto, DCRegressor, Huber, Quantile, Seminorm, Squared

RESULTS = Path(__file__).parent / "results" / "hard_cases.json"
LAMS = (1e-6, 1e-4, 1e-2, 1.0)
ROWS = 40
TOL = 1e-4


def data(kind: str) -> tuple[np.ndarray, np.ndarray, dict]:
    """Return X, y and settings of one kind of hard data."""
    rng = np.random.default_rng(0)
    n, d = (6, 9) if kind == "fewer rows than columns" else (ROWS, 3)
    X = rng.standard_normal((n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n)
    settings = {}
    if kind == "near-duplicates at 1e-7":
        X[n // 2 :] = X[: n // 2] + 1e-7 * rng.standard_normal((n // 2, d))
    elif kind == "collinear columns":
        X = np.column_stack([X, X @ [1.0, 2.0, -1.0]])
    elif kind == "a constant column":
        X[:, 2] = 5.0
    elif kind == "columns from 1e-4 to 1e4, not standardised":
        X = X * [1e-4, 1.0, 1e4]
        settings["standardize"] = False
    elif kind == "repeated rows, different targets":
        X = np.round(X)
    elif kind == "one row 10 000 deviations away":
        X[0] = 1e4
        y[0] = 0.0
    elif kind == "most targets alike":
        y = np.maximum(X[:, 0] - 0.5, 0.0)
    elif kind == "targets over 40 decades":
        y = np.exp(23.0 * X[:, 0])
    elif kind == "weights from 1e-6 to 1":
        settings["weights"] = 10.0 ** rng.uniform(-6, 0, n)
    return X, y, settings


KINDS = (
    "plain",
    "repeated rows, different targets",
    "near-duplicates at 1e-7",
    "collinear columns",
    "a constant column",
    "fewer rows than columns",
    "weights from 1e-6 to 1",
    "most targets alike",
    "targets over 40 decades",
    "one row 10 000 deviations away",
    "columns from 1e-4 to 1e4, not standardised",
)


def main() -> None:
    """Run the grid and write the results."""
    losses, norms = (Squared(), Absolute(), Huber(), Quantile(0.8)), ("componentwise", "joint")
    table = []
    for kind in KINDS:
        X, y, settings = data(kind)
        weights = settings.pop("weights", None)
        gaps, silent, worst = [], 0, ""
        for loss, norm, shape, free, lam in itertools.product(
            losses, norms, ("dc", "convex", "concave"), (False, True), LAMS
        ):
            penalty = Seminorm(norm, free_linear=free)
            model = DCRegressor(loss=loss, penalty=penalty, shape=shape, lam=lam, solver=Auto(tol=TOL), **settings)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model.fit(X, y, sample_weight=weights)
            gap = model.certificate_.gap
            missed = not gap <= 1.01 * TOL
            silent += missed and not any(issubclass(w.category, ConvergenceWarning) for w in told)
            if missed and gap >= max(gaps, default=0.0):
                worst = f"{loss.name}, {norm}, {shape}, {'free' if free else 'penalized'}, lam={lam:g}"
            gaps.append(gap)
        row = {
            "data": kind,
            "fits": len(gaps),
            "missed": int(sum(not gap <= 1.01 * TOL for gap in gaps)),
            "missed_silently": int(silent),
            "largest_gap": float(max(gaps)),
            "where": worst,
        }
        print(json.dumps(row), flush=True)
        table.append(row)
    RESULTS.write_text(json.dumps({"tol": TOL, "rows": table}, indent=1) + "\n", encoding="utf-8")
    head = ["data", "fits", f"gap above {TOL:g}", "of these without a warning", "largest gap", "where"]
    rows = [
        [r["data"], r["fits"], r["missed"], r["missed_silently"], f"{r['largest_gap']:.1e}", r["where"]] for r in table
    ]
    RESULTS.with_suffix(".rst").write_text(list_table(head, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
