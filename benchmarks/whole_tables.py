"""A fit of the convex program, all else by default, to all rows of a table: seconds, certified gap and peak memory.

    PLDC_DATA=… python -m benchmarks.whole_tables

Memory is that of the process and of those that cross-validate for it, each at its peak, added up (Linux only). Every
table has a process of its own. Writes benchmarks/results/whole_tables.json and a table.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from experiments.cells import write_table
from experiments.data import load
from joblib.externals.loky import get_reusable_executor

from benchmarks.engines import THREADS
from pldc import DCClassifier, DCRegressor

RESULTS = Path(__file__).parent / "results" / "whole_tables.json"
SETS = {
    "concrete": partial(DCRegressor, n_pieces="rows"),
    "iris": partial(DCClassifier, n_pieces="rows"),
    "balance_scale": partial(DCClassifier, n_pieces="rows"),
    "ecoli": partial(DCClassifier, n_pieces="rows"),
}


def peak_megabytes() -> float:
    """Return the peak memory of this process and its children, added up."""
    total = 0.0
    for file in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in file.read_text(encoding="utf-8").splitlines())
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
        if "VmHWM" in fields and str(os.getpid()) in (fields["Pid"].strip(), fields["PPid"].strip()):
            total += float(fields["VmHWM"].split()[0]) / 1024
    return total


def cell(name: str) -> dict:
    """Fit one table."""
    data = load(name)
    start = time.perf_counter()
    model = SETS[name](n_jobs=THREADS).fit(np.nan_to_num(data.X), data.y)
    seconds = time.perf_counter() - start
    memory = peak_megabytes()
    get_reusable_executor().shutdown()  # this process ends with those that it started
    size = {"rows": len(data.y), "features": data.X.shape[1], "classes": len(getattr(model, "classes_", ()))}
    return {"data": name, **size, "seconds": seconds, "gap": model.certificate_.gap, "peak_megabytes": memory}


def main() -> None:
    """Run and write."""
    cells = []
    for name in SETS:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            cells.append(pool.submit(cell, name).result())
        print(json.dumps(cells[-1]), flush=True)
    about = {"threads": THREADS, "cores": os.cpu_count(), "python": platform.python_version()}
    RESULTS.write_text(json.dumps({"about": about, "cells": cells}, indent=1) + "\n", encoding="utf-8")
    lines = [["data", "rows × features", "classes", "seconds", "certified gap", "peak MB"]]
    for c in cells:
        size = [f"{c['rows']} × {c['features']}", str(c["classes"] or "")]
        lines.append([c["data"], *size, f"{c['seconds']:.0f}", f"{c['gap']:.0e}", f"{c['peak_megabytes']:.0f}"])
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
