"""All defaults beside the authors' auto-tuned fit on yacht: seconds and test R², one run after the other.

    PLDC_DATA=… python -m benchmarks.tuned_fit --authors PATH

PATH is a checkout of the authors' repository. Three quarters of the rows train (231 × 6), the rest test; split k is the
permutation of numpy's default_rng(k). Theirs gets standardised X and y, as ours makes them for itself. Writes
benchmarks/results/tuned_fit.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
from experiments.data import load

from benchmarks.engines import THREADS, authors_module
from pldc import DCRegressor

RESULTS = Path(__file__).parent / "results" / "tuned_fit.json"


def r2(prediction: np.ndarray, y: np.ndarray) -> float:
    """Share of the variance explained."""
    return 1.0 - float(np.mean((prediction - y) ** 2) / np.var(y))


def theirs(path: str, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and predictions of the authors' code."""
    import torch

    module = authors_module(path)
    center, size = X.mean(axis=0), X.std(axis=0)
    model = module.dc_regression()
    start = time.perf_counter()
    model.fit(torch.tensor((X - center) / size), torch.tensor((y - y.mean()) / y.std()))
    seconds = time.perf_counter() - start
    values = np.asarray(model.predict(torch.tensor((X_test - center) / size))).ravel()
    return seconds, y.mean() + y.std() * values


def ours(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Seconds, predictions and certified gap of ours, start of its processes included."""
    start = time.perf_counter()
    model = DCRegressor(n_jobs=THREADS).fit(X, y)
    return time.perf_counter() - start, model.predict(X_test), model.certificate_.gap


def main() -> None:
    """Run all splits and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--authors", metavar="PATH", required=True)
    parser.add_argument("--splits", type=int, default=2)
    arguments = parser.parse_args()
    data = load("yacht")
    cells = []
    for seed in range(arguments.splits):
        order = np.random.default_rng(seed).permutation(len(data.y))
        train, test = np.split(order, [int(0.75 * len(order))])
        X, y, X_test, y_test = data.X[train], data.y[train], data.X[test], data.y[test]
        seconds, prediction, gap = ours(X, y, X_test)
        their_seconds, their_prediction = theirs(arguments.authors, X, y, X_test)
        cell = {"seed": seed, "rows": len(y), "seconds": seconds, "r2": r2(prediction, y_test), "gap": gap}
        cell |= {"authors_seconds": their_seconds, "authors_r2": r2(their_prediction, y_test)}
        cell["ratio"] = their_seconds / seconds
        print(json.dumps(cell), flush=True)
        cells.append(cell)
    about = {"data": "yacht", "threads": THREADS, "cores": os.cpu_count(), "python": platform.python_version()}
    RESULTS.write_text(json.dumps({"about": about, "cells": cells}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
