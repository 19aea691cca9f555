"""On how many rows kinds of candidates are compared, in tables of more than 50,000: error, time and the kind chosen.

    python -m benchmarks.kinds [--sizes 100000,300000,1000000] [--seeds 2]

Four functions of ten features, uniform on [−1, 1]¹⁰: that of benchmarks.million, a smooth one, a rough one of many
kinks, and an additive one. Both fits of a table follow each other in one process; time is that of the processor. What
is there already is not run again (`--again`). Writes results/kinds.json and a table.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from experiments.cells import commit, write_table

from benchmarks.starts import error_of, fitted

RESULTS = Path(__file__).parent / "results" / "kinds.json"
COMPARED = (10_000, 50_000)
TEST_ROWS = 50_000
FIRST_SEED = 41


def mixed(X: np.ndarray) -> np.ndarray:
    """The function of benchmarks.million."""
    X = 2 * X
    return 2 * X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + np.abs(X[:, 3] + X[:, 4]) + X[:, 5]


def smooth(X: np.ndarray) -> np.ndarray:
    """A function of directions, without a kink."""
    return np.exp(-(X[:, :4] ** 2).sum(axis=1)) * 4 + np.sin(X @ np.linspace(-1, 1, 10)) + X[:, 0] * X[:, 5]


def rough(X: np.ndarray) -> np.ndarray:
    """A function of kinks along features and across them."""
    along = np.abs(((X[:, :3] * 3) % 2) - 1).sum(axis=1)
    return along + np.maximum(X[:, 3] + X[:, 4], X[:, 5] - X[:, 6]) + np.minimum(X[:, 7], 0) * 2


def additive(X: np.ndarray) -> np.ndarray:
    """A sum of curves."""
    return np.sin(4 * X[:, 0]) + np.exp(X[:, 1]) + X[:, 2] ** 2 + np.cos(6 * X[:, 3]) + X[:, 4]


FUNCTIONS = {f.__name__: f for f in (mixed, smooth, rough, additive)}


def table(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows, with noise of a fifth of the deviation."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 10))
    y = FUNCTIONS[name](X)
    return X, y + 0.2 * y.std() * rng.standard_normal(n)


def measured(name: str, n: int, seed: int, compared: int) -> dict[str, object]:
    """Fit, with kinds compared on so many rows."""
    model, seconds = fitted(*table(name, n, seed), sample=compared)
    kinds = sorted({"hinged" if entry["knots"] else "plain" for entry in model.chosen_})
    return {"error": error_of(model, *table(name, TEST_ROWS, 1)), "processor_seconds": seconds, "kinds": kinds}


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text("utf-8"))["cells"] if RESULTS.exists() and not given.again else {}
    for n in map(int, given.sizes.split(",")):
        for name in FUNCTIONS:
            for seed in range(FIRST_SEED, FIRST_SEED + given.seeds):
                cell = f"{name}/{n}/{seed}"
                if cell not in known:
                    both = {str(compared): measured(name, n, seed, compared) for compared in COMPARED}
                    known[cell] = {**both, "commit": commit()}
                    print(cell, known[cell], flush=True)
                    RESULTS.write_text(json.dumps({"cells": known}, indent=1) + "\n", encoding="utf-8")
    lines = [["rows", "function", "rows compared", "error, mean", "highest", "processor seconds, mean", "kinds"]]
    for n, name in sorted({(int(cell.split("/")[1]), cell.split("/")[0]) for cell in known}):
        cells = [value for cell, value in known.items() if cell.startswith(f"{name}/{n}/")]
        for compared in map(str, COMPARED):
            error = [cell[compared]["error"] for cell in cells]
            mean, highest = f"{np.mean(error):.3f}", f"{max(error):.3f}"
            seconds = np.mean([cell[compared]["processor_seconds"] for cell in cells])
            kinds = ", ".join(" and ".join(cell[compared]["kinds"]) for cell in cells)
            lines.append([f"{n:,}", name, f"{int(compared):,}", mean, highest, f"{seconds:.1f}", kinds])
    write_table(RESULTS.with_suffix(".rst"), lines)
    print("\n".join("  ".join(f"{word[:16]:>16}" for word in line) for line in lines))


if __name__ == "__main__":
    main()
