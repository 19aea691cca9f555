"""Several starts on the first rows of a large table, beside one: error and time, on fresh tables.

    python -m benchmarks.starts [--sizes 100000,300000,1000000] [--seeds 5]

The table is that of benchmarks.million; a million rows are fitted once. Both fits of a table follow each other in one
process; time is that of the processor. What is there already is not run again (`--again`). Writes
results/starts.json and a table.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from experiments.cells import commit, write_table

from benchmarks.million import TEST_ROWS, table

RESULTS = Path(__file__).parent / "results" / "starts.json"
FIRST_SEED = 21  # those before it were looked at while the rule was made


def fitted(X: np.ndarray, y: np.ndarray, **changes: Any) -> tuple[Any, float]:
    """Fit with the plan, or with changes to it; return the model and processor seconds."""
    from pldc import DCRegressor
    from pldc.fit import few_pieces

    plan_for = few_pieces.plan_for

    def changed(*given: Any, **more: Any) -> Any:
        return replace(plan_for(*given, **more), **changes)

    few_pieces.plan_for = changed
    try:
        start = time.process_time()
        model = DCRegressor().fit(X, y)
        return model, time.process_time() - start
    finally:
        few_pieces.plan_for = plan_for


def error_of(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the mean squared error, in hundredths of the variance."""
    return 100 * float(np.mean((model.predict(X) - y) ** 2) / np.var(y))


def measured(X: np.ndarray, y: np.ndarray, **changes: Any) -> dict[str, float]:
    """Return error and processor seconds of a fit."""
    model, seconds = fitted(X, y, **changes)
    return {"error": error_of(model, *table(TEST_ROWS, 1)), "processor_seconds": seconds}


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text("utf-8"))["cells"] if RESULTS.exists() and not given.again else {}
    for n in map(int, given.sizes.split(",")):
        for seed in range(FIRST_SEED, FIRST_SEED + (given.seeds if n < 1_000_000 else 1)):
            if f"{n}/{seed}" not in known:
                X, y = table(n, seed)
                cell = {"one": measured(X, y, starts=1), "several": measured(X, y), "commit": commit()}
                known[f"{n}/{seed}"] = cell
                print(n, seed, cell, flush=True)
                RESULTS.write_text(json.dumps({"cells": known}, indent=1) + "\n", encoding="utf-8")
    lines = [["rows", "tables", "starts", "error, mean", "lowest", "highest", "processor seconds, mean"]]
    for n in sorted({int(name.split("/")[0]) for name in known}):
        cells = [cell for name, cell in known.items() if name.startswith(f"{n}/")]
        for which in ("one", "several"):
            error = [cell[which]["error"] for cell in cells]
            seconds = np.mean([cell[which]["processor_seconds"] for cell in cells])
            numbers = [f"{v:.2f}" for v in (np.mean(error), min(error), max(error))]
            lines.append([f"{n:,}", str(len(cells)), which, *numbers, f"{seconds:.1f}"])
    write_table(RESULTS.with_suffix(".rst"), lines)
    print("\n".join("  ".join(f"{word[:14]:>14}" for word in line) for line in lines))


if __name__ == "__main__":
    main()
