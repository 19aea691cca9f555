"""Time of the solver for one feature over the number of rows, with the certificate it ends with.

Run from the repository:  python -m benchmarks.line
Data: a sine with a kink and noise on random x. Writes benchmarks/results/line.json and its table.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from pldc.problem import Problem, certify, make_loss, make_penalty
from pldc.solve import Line

RESULTS = Path(__file__).parent / "results" / "line.json"
SIZES = (1_000, 10_000, 31_623, 100_000, 316_228, 1_000_000)
CASES = (("squared", False), ("squared", True), ("absolute", True))
LAM, TOL = 1e-3, 1e-4


def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, n)
    y = np.sin(12 * x) + np.abs(x - 0.6) + 0.5 * rng.standard_normal(n)
    return x[:, None], (y - y.mean()) / y.std()


def run(n: int, loss: str, linear: bool) -> dict:
    """Time one solve; the certificate is checked once more outside."""
    X, y = sample(n)
    start = time.perf_counter()
    problem = Problem.from_data(X, y, loss=make_loss(loss), penalty=make_penalty("joint"), lam=LAM, linear=linear)
    built = time.perf_counter()
    solution = Line(tol=TOL).solve(problem)
    seconds = time.perf_counter() - built
    certificate = certify(problem, solution)
    pieces = next(f.drop_dominated().n_pieces for f in problem.functions(solution))
    return {
        "n": n,
        "loss": loss,
        "linear": "free" if linear else "penalized",
        "seconds_to_build": built - start,
        "seconds": seconds,
        "gap": certificate.gap,
        "iterations": solution.iterations,
        "pieces": sum(pieces),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Run every case in a process of its own, and write the results."""
    if len(sys.argv) > 1:
        n, loss, linear = json.loads(sys.argv[1])
        print("RESULT" + json.dumps(run(n, loss, linear)))
        return
    cells = []
    for loss, linear in CASES:
        for n in SIZES:
            command = [sys.executable, "-m", "benchmarks.line", json.dumps([n, loss, linear])]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            cells.append(json.loads(out[out.index("RESULT") + len("RESULT") :]))
            print(json.dumps(cells[-1]), flush=True)
    growth = {}
    for loss, linear in CASES:
        name = "free" if linear else "penalized"
        chosen = [c for c in cells if c["loss"] == loss and c["linear"] == name and c["n"] >= 10_000]
        total = [c["seconds"] + c["seconds_to_build"] for c in chosen]
        growth[f"{loss}, {name}"] = float(np.polyfit(np.log([c["n"] for c in chosen]), np.log(total), 1)[0])
    about = {
        "what": "seconds to a certified gap of 1e-4, lambda 1e-3; growth: exponent of n from 10^4 to 10^6",
        "cores": os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
        "numpy": np.__version__,
    }
    RESULTS.write_text(
        json.dumps({"about": about, "growth": growth, "cells": cells}, indent=1) + "\n", encoding="utf-8"
    )
    RESULTS.with_suffix(".rst").write_text(table(cells, growth), encoding="utf-8")


def table(cells: list[dict], growth: dict[str, float]) -> str:
    """Return the results as a table for the documentation."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    head = ["n", *(f"{loss}, {'free' if linear else 'penalized'} linear term" for loss, linear in CASES)]
    rows = [head]
    for n in SIZES:
        row = [f"{n:,}"]
        for loss, linear in CASES:
            name = "free" if linear else "penalized"
            c = next(c for c in cells if (c["n"], c["loss"], c["linear"]) == (n, loss, name))
            row.append(
                f"{c['seconds_to_build'] + c['seconds']:.2f} s, gap {c['gap']:.1e}, {c['peak_megabytes']:.0f} MB"
            )
        rows.append(row)
    rows.append(["exponent from 10⁴", *(f"{value:.2f}" for value in growth.values())])
    for row in rows:
        lines += [f"   {'*' if k == 0 else ' '} - {value}" for k, value in enumerate(row)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
