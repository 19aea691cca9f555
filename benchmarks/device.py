"""The products of a fit on torch's processor beside those of NumPy: 10⁵ rows of ten features.

    python -m benchmarks.device [--rows 100000] [--device cpu]

The table is that of benchmarks.million. One thread each, in turns, best of three; processor seconds, so that other work
on the machine counts little. Writes results/device.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from experiments.cells import commit

from benchmarks.million import TEST_ROWS, table

RESULTS = Path(__file__).parent / "results" / "device.json"
REPEATS = 3


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    import torch

    from pldc import DCRegressor

    torch.set_num_threads(1)
    (X, y), (X_test, y_test) = table(given.rows, 0), table(TEST_ROWS, 1)
    found: dict[str, dict[str, float]] = {}
    for _ in range(REPEATS):
        for name, device in (("NumPy", None), (f"torch, {given.device}", given.device)):
            start, began = time.perf_counter(), time.process_time()
            model = DCRegressor(device=device, n_jobs=1).fit(X, y)
            cell = {"processor_seconds": time.process_time() - began, "seconds": time.perf_counter() - start}
            cell["error"] = 100 * float(np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test))
            found[name] = min(found.get(name, cell), cell, key=lambda c: c["processor_seconds"])
            print(name, cell, flush=True)
    about = {"rows": given.rows, "torch": torch.__version__, "commit": commit(), "cells": found}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
