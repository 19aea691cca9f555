"""Rows a second of prediction, beside scikit-learn's boosting and network and the matrix product; a global minimum.

Run from the repository:  python -m benchmarks.throughput
A PLDC of K pieces in each part needs two products of rows × 10 by 10 × K, and a maximum over K: its arithmetic is
counted as 2 · 10 · K multiply-adds a row. The limit is both products without the maximum, in the tiles that are fastest
for them.
Writes benchmarks/results/throughput.json and its table.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor

from pldc import PLDC, MaxAffine
from pldc.function.max_affine import TILE

RESULTS = Path(__file__).parent / "results" / "throughput.json"
D, ROWS = 10, 200_000
PIECES = (100, 500, 2000)
REPEATS = 5
TILES = (TILE, 2 * TILE, 4 * TILE)  # for the products alone: the fastest counts
INDEXED, INDEX_ROWS = (500, 2000, 20_000, 100_000), 300


def best(work: Callable[[], Any]) -> float:
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def index(part: MaxAffine) -> cKDTree:
    """Return a k-d tree whose nearest neighbour of (x, 1, 0) is the active piece at x.

    Pieces (a, α) are lifted by a coordinate to one length, after which the largest inner product is the nearest point.
    """
    lifted = np.column_stack([part.slopes, part.offsets])
    length = (lifted**2).sum(axis=1)
    return cKDTree(np.column_stack([lifted, np.sqrt(length.max() - length)]))


def products(X: np.ndarray, A: np.ndarray, tile: int) -> None:
    """Both matrix products of an evaluation, tile by tile."""
    step = max(1, tile // len(A))
    buffer, transposed = np.empty((step, len(A))), np.ascontiguousarray(A.T)
    for _ in range(2):
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            np.matmul(rows, transposed, out=buffer[: len(rows)])


def main() -> None:
    """Measure and write the results."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, D))
    y = np.sin(X[:2000].sum(axis=1)) + X[:2000, 0] ** 2
    cells = []
    for K in PIECES:
        A = rng.standard_normal((K, D))
        f = PLDC(MaxAffine(A, rng.standard_normal(K)), MaxAffine(rng.standard_normal((K, D)), rng.standard_normal(K)))
        ours, limit = best(lambda f=f: f(X)), min(best(lambda A=A, t=t: products(X, A, t)) for t in TILES)
        cells.append(
            {
                "model": f"PLDC, {K} + {K} pieces",
                "rows_a_second": ROWS / ours,
                "gigaflops": 4 * D * K * ROWS / ours / 1e9,
                "gigaflops_of_the_products": 4 * D * K * ROWS / limit / 1e9,
                "share": limit / ours,
            }
        )
    for K in INDEXED:
        part = MaxAffine(rng.standard_normal((K, D)), rng.standard_normal(K))
        tree, rows = index(part), X[:INDEX_ROWS]
        queries = np.column_stack([rows, np.ones(len(rows)), np.zeros(len(rows))])
        product = best(lambda part=part, rows=rows: part(rows))
        cell = {"model": f"one part of {K} pieces", "rows_a_second": INDEX_ROWS / product}
        for slack in (0.0, 1.0):
            search = best(lambda tree=tree, q=queries, slack=slack: tree.query(q, eps=slack, workers=os.cpu_count()))
            found = tree.query(queries, eps=slack)[1]
            lost = part(rows) - ((rows * part.slopes[found]).sum(axis=1) + part.offsets[found])
            cell[f"k-d tree, slack {slack:g}"] = {
                "rows_a_second": INDEX_ROWS / search,
                "largest_error": float(lost.max()),
            }
        cells.append(cell)
    peers = {
        "HistGradientBoosting, 100 trees": HistGradientBoostingRegressor(random_state=0),
        "MLP, one layer of 100": MLPRegressor(random_state=0, max_iter=30),
        "MLP, two layers of 256": MLPRegressor(hidden_layer_sizes=(256, 256), random_state=0, max_iter=30),
    }
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the networks need not converge to be timed
        for name, model in peers.items():
            model.fit(X[:2000], y)
            cells.append({"model": name, "rows_a_second": ROWS / best(lambda model=model: model.predict(X))})
    K = 200
    f = PLDC(*(MaxAffine(rng.standard_normal((K, D)), rng.standard_normal(K)) for _ in range(2)))
    found = f.minimize([(-1, 1)] * D)
    minimum = {
        "what": f"global minimum of {K} + {K} pieces over a box in {D} dimensions",
        "seconds": best(lambda: f.minimize([(-1, 1)] * D)),
        "programs": found.n_programs,
    }
    print(json.dumps(minimum))
    about = {
        "what": f"{ROWS} rows of {D} features, best of {REPEATS}",
        "cores": os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
        "numpy": np.__version__,
    }
    RESULTS.write_text(
        json.dumps({"about": about, "minimum": minimum, "cells": cells}, indent=1) + "\n", encoding="utf-8"
    )
    lines = [".. list-table::", "   :header-rows: 1", ""]
    rows = [["model", "rows a second", "share of the products' speed"]]
    for c in cells:
        print(json.dumps(c))
        if "k-d tree, slack 0" in c:
            continue
        rows.append([c["model"], f"{c['rows_a_second']:,.0f}", f"{c['share']:.0%}" if "share" in c else ""])
    for row in rows:
        lines += [f"   {'*' if k == 0 else ' '} - {value}" for k, value in enumerate(row)]
    RESULTS.with_suffix(".rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
