"""Sizes of model files and of code, of the default and of few pieces.

Run from the repository:  python -m benchmarks.exports
400 random rows of tables of 8 features; needs PLDC_DATA. Writes benchmarks/results/exports.json and its table.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from experiments.data import load

from benchmarks.report import list_table
from pldc import DCRegressor
from pldc.export import to_c, to_js, to_numpy, to_sql

RESULTS = Path(__file__).parent / "results" / "exports.json"
TABLES = ("concrete", "energy_heating", "kin8nm")
ROWS = 400


def measure(name: str) -> list[dict]:
    """Fit both models of a table; bytes of each format."""
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
    X, y = data.X[rows], data.y[rows]
    model = DCRegressor().fit(X, y)
    return [
        {"table": name, "model": kind, **sizes(each)}
        for kind, each in (("default", model), ("4 − 4 pieces", model.simplify(X, y, n_pieces=4)))
    ]


def sizes(model: DCRegressor) -> dict:
    """Bytes of files and code."""
    out = {
        "c": len(to_c(model)),
        "js": len(to_js(model)),
        "numpy": len(to_numpy(model)),
        "sql": len(to_sql(model, "t")),
    }
    with TemporaryDirectory() as folder:
        for suffix in (".json", ".json.gz"):
            model.save_model(Path(folder, f"m{suffix}"))
            out[suffix] = Path(folder, f"m{suffix}").stat().st_size
    return out


def main() -> None:
    """Measure, and write the results."""
    cells = [cell for name in TABLES for cell in measure(name)]
    RESULTS.write_text(json.dumps({"rows": ROWS, "cells": cells}, indent=1) + "\n", encoding="utf-8")
    head = ["table", "model", ".json", ".json.gz", "C", "JavaScript", "SQL"]
    body = [
        [c["table"], c["model"], *(f"{c[key] / 1000:.3g} kB" for key in (".json", ".json.gz", "c", "js", "sql"))]
        for c in cells
    ]
    RESULTS.with_suffix(".rst").write_text(list_table(head, body), encoding="utf-8")


if __name__ == "__main__":
    main()
