"""How long classes take, all defaults with every choice included, beside HistGradientBoosting in one run.

    python -m benchmarks.classes_time [--sizes 300x2,300x8,3000x5,20000x5,100000x5,1000000x5] [--repeats 1]

Twenty features; the logarithms of the odds of each class are a linear function, a wave and a parabola along directions
of their own, so that the best possible error is known. Every fit has a process of its own, and one thread: seconds of
the clock, and of several threads that wait for each other, depend on what else the machine does; processor seconds of
one thread hardly do. The best of the repeats by processor seconds is shown. Memory is the peak less what there was
before the fit, with the table made (Linux only). Writes results/classes_time.json, size by size, and a table; sizes
that are not asked for stay as they were.
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

RESULTS = Path(__file__).parent / "results" / "classes_time.json"
FEATURES = 20
TEST_ROWS = 20_000
METHODS = ("pldc", "HistGradientBoosting")
SHARPNESS = 1.5  # of the odds


def table(n: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n rows, their classes, and the true probabilities."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    X = rng.normal(size=(n, FEATURES))
    slope = 1.5 * fixed.normal(size=(classes, FEATURES)) / np.sqrt(FEATURES)
    along = fixed.normal(size=(classes, FEATURES, 2)) / np.sqrt(FEATURES)
    odds = X @ slope.T
    for k in range(classes):
        odds[:, k] += 2 * np.sin(X @ along[k, :, 0]) + (X @ along[k, :, 1]) ** 2
    share = np.exp(SHARPNESS * (odds - odds.mean(axis=0)))
    share /= share.sum(axis=1, keepdims=True)
    return X, (share.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), share


def model_of(name: str, threads: int) -> Any:
    """Return a classifier."""
    if name == "pldc":
        from pldc import DCClassifier

        return DCClassifier(n_jobs=threads)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def cell(name: str, n: int, classes: int, threads: int) -> dict:
    """Fit once."""
    X, y, _ = table(n, classes, 0)
    model = model_of(name, threads)
    model_of(name, threads).fit(X[:60, :2], y[:60] % 2)  # imports and first calls
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(X, y)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    X_test, y_test, share = table(TEST_ROWS, classes, 1)
    P = model.predict_proba(X_test)
    own = P[np.arange(TEST_ROWS), np.searchsorted(model.classes_, y_test)]
    return {
        "method": name,
        "rows": n,
        "classes": classes,
        "threads": threads,
        "commit": commit(),
        "seconds": clock,
        "processor_seconds": processor,
        "error": float(np.mean(model.classes_[P.argmax(axis=1)] != y_test)),
        "log_loss": float(-np.log(np.maximum(own, 1e-15)).mean()),
        "best_error": float(np.mean(share.argmax(axis=1) != y_test)),
        "megabytes": memory,
        "data_megabytes": (X.nbytes + y.nbytes) / 2**20,
        "chosen": [dict(c) for c in getattr(model, "chosen_", [])],
    }


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="300x2,300x8,3000x5,20000x5,100000x5,1000000x5")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)  # of the processes to come
    cells: list[dict] = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"] if RESULTS.exists() else []
    for size in arguments.sizes.split(","):
        n, classes = map(int, size.split("x"))
        cells = [c for c in cells if (c["rows"], c["classes"]) != (n, classes)]
        for _ in range(arguments.repeats):
            for name in METHODS:
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                    cells.append(alone.submit(cell, name, n, classes, arguments.threads).result())
                print({k: v for k, v in cells[-1].items() if k != "chosen"}, flush=True)
        write(cells)


def write(cells: list[dict]) -> None:
    """Write what is known."""
    cells = sorted(cells, key=lambda c: (c["rows"], c["classes"]))
    about = {"cores": os.cpu_count(), "cells": cells}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    lines = [["rows × classes", "method", "processor seconds", "times HistGradientBoosting", "seconds"]]
    lines[0] += ["error", "best possible", "log loss", "peak MB beyond the table", "table MB"]
    for n, classes in dict.fromkeys((c["rows"], c["classes"]) for c in cells):
        here = [c for c in cells if (c["rows"], c["classes"]) == (n, classes)]
        best = {m: min((c for c in here if c["method"] == m), key=lambda c: c["processor_seconds"]) for m in METHODS}
        for name, c in best.items():
            ratio = c["processor_seconds"] / best["HistGradientBoosting"]["processor_seconds"]
            lines.append([f"{n:,} × {classes}", name, f"{c['processor_seconds']:.1f}", f"{ratio:.1f}"])
            lines[-1] += [f"{c['seconds']:.1f}", f"{c['error']:.3f}", f"{c['best_error']:.3f}", f"{c['log_loss']:.3f}"]
            lines[-1] += [f"{c['megabytes']:.0f}", f"{c['data_megabytes']:.0f}"]
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
