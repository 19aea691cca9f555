"""A million rows of ten features, all defaults with every choice included, beside HistGradientBoosting in one run.

    python -m benchmarks.million [--sizes 100000,300000,1000000] [--repeats 2]

y = 2 x₀ x₁ + sin 3x₂ + |x₃ + x₄| + x₅ + noise, x uniform on [−2, 2]¹⁰, noise of deviation 0.5. Every fit has a process
of its own; memory is its peak less what it had before the fit, with the table made (Linux only). Best of the repeats.
Writes results/million.json and a table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from experiments.cells import commit, write_table

RESULTS = Path(__file__).parent / "results" / "million.json"
TEST_ROWS = 100_000
NOISE = 0.5


def table(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 10))
    y = 2 * X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + np.abs(X[:, 3] + X[:, 4]) + X[:, 5]
    return X, y + NOISE * rng.standard_normal(n)


def model_of(name: str) -> Any:
    """Return a regressor."""
    if name == "pldc":
        from pldc import DCRegressor

        return DCRegressor()
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=0)


def cell(name: str, n: int) -> dict:
    """Fit once."""
    X, y = table(n, 0)
    model = model_of(name)
    model.fit(X[:200], y[:200])  # imports and first calls
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    X_test, y_test = table(TEST_ROWS, 1)
    error = 100 * float(np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test))
    floor = 100 * NOISE**2 / float(np.var(y_test))
    return {"method": name, "rows": n, "seconds": seconds, "nmse": error, "noise": floor, "megabytes": memory} | {
        "data_megabytes": (X.nbytes + y.nbytes) / 2**20,
        "chosen": [dict(c) for c in getattr(model, "chosen_", [])],
    }


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    cells = []
    for n in map(int, arguments.sizes.split(",")):
        for _ in range(arguments.repeats):
            for name in ("pldc", "HistGradientBoosting"):
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                    cells.append(alone.submit(cell, name, n).result())
                print({k: v for k, v in cells[-1].items() if k != "chosen"}, flush=True)
    about = {"cores": os.cpu_count(), "commit": commit(), "cells": cells}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    lines = [
        [
            "rows",
            "method",
            "seconds",
            "times HistGradientBoosting",
            "error",
            "noise",
            "peak MB beyond the table",
            "table MB",
        ]
    ]
    for n in sorted({c["rows"] for c in cells}):
        best = {
            name: min((c for c in cells if (c["rows"], c["method"]) == (n, name)), key=lambda c: c["seconds"])
            for name in ("pldc", "HistGradientBoosting")
        }
        for name, c in best.items():
            ratio = c["seconds"] / best["HistGradientBoosting"]["seconds"]
            numbers = [f"{c['seconds']:.1f}", f"{ratio:.1f}", f"{c['nmse']:.2f}", f"{c['noise']:.2f}"]
            lines.append([f"{n:,}", name, *numbers, f"{c['megabytes']:.0f}", f"{c['data_megabytes']:.0f}"])
    write_table(RESULTS.with_suffix(".rst"), lines)
    print("\n".join("  ".join(f"{word[:14]:>14}" for word in line) for line in lines))


if __name__ == "__main__":
    main()
