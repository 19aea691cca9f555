"""Time and memory of both engines, beside general solvers and the paper's authors' code.

    python -m benchmarks.engines [--quick] [--authors PATH]     (make bench)

Cells run one after the other, each in a process of its own so that its peak memory is its own. Data: the paper's
synthetic function, y standardised, componentwise penalty. PATH is a checkout of the authors' repository; nothing of it
is copied. Writes benchmarks/results/engines.json, and from it the table and figures of the documentation.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np

from benchmarks.exact_against_clarabel import synthetic
from pldc.problem import Problem, make_loss, make_penalty
from pldc.problem.scaling import normalise
from pldc.solve import AdmmSolver, ExactSolver
from pldc.solve.admm import Admm
from pldc.solve.workers import Workers

RESULTS = Path(__file__).parent / "results" / "engines.json"
GAPS = (1e-2, 1e-3, 1e-4)
LAMS = (0.002, 0.02, 0.2)
THREADS = 2


def build(n: int, d: int, lam: float, loss: str) -> Problem:
    """Return the program on the paper's synthetic data."""
    X, y = synthetic(n, d)
    return Problem.from_data(X, y, loss=make_loss(loss), penalty=make_penalty("componentwise"), lam=lam)


def solve(cell: dict) -> dict:
    """Time one engine to each gap, from the history of one run."""
    problem = build(cell["n"], cell["d"], cell["lam"], cell["loss"])
    engine = {
        "exact": ExactSolver(tol=min(GAPS), threads=THREADS),
        "admm": AdmmSolver(tol=max(GAPS), threads=THREADS),
    }[cell["engine"]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    solution = engine.solve(problem)
    total = time.perf_counter() - start
    reached = {
        f"{gap:g}": next((row["seconds"] for row in solution.history if row["gap"] <= gap), None) for gap in GAPS
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": total,
        "to_gap": reached,
        "status": solution.status,
        "iterations": solution.iterations,
        "gap": solution.history[-1]["gap"] if solution.history else 0.0,
        "peak_megabytes": peak / 1024,
        "megabytes_above_imports": (peak - before) / 1024,
    }


def iterate(cell: dict) -> dict:
    """Time one iteration of the quick engine, and its pass over all pairs beside the machine's limit."""
    n, d = cell["n"], cell["d"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    problem, _ = normalise(build(n, d, 0.02, "squared"))
    with Workers(THREADS) as workers:
        method = Admm(problem, workers, weighted=cell["weighted"], dtype=cell["dtype"])
        for _ in range(cell["warmup"]):
            method.step()
        steps, sweeps = [], []
        for _ in range(10):
            start = time.perf_counter()
            method.step()
            steps.append(time.perf_counter() - start)
        for _ in range(10):
            start = time.perf_counter()
            method.sweep.advance(method.phi, method.g, 1.0)
            sweeps.append(time.perf_counter() - start)
        A = np.random.default_rng(0).standard_normal((1500, 1500)).astype(cell["dtype"])
        multiply = []
        for _ in range(5):
            start = time.perf_counter()
            workers.over_blocks(lambda J: A[J] @ A, len(A))
            multiply.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flops = 2 * n * n * (d + 2) * 2
    limit = 2 * 1500**3 / min(multiply)
    return {
        "seconds": float(np.median(steps)),
        "best_seconds": min(steps),
        "pass_seconds": min(sweeps),
        "pass_gigaflops": flops / min(sweeps) / 1e9,
        "multiply_gigaflops": limit / 1e9,
        "pass_share_of_multiply": flops / min(sweeps) / limit,
        "peak_megabytes": peak / 1024,
        "megabytes_above_imports": (peak - before) / 1024,
        "entries_share": sum(len(e.index) for e in method.sweep.entries) / (2 * n * n),
    }


def peer(cell: dict) -> dict:
    """Time a general solver by row generation."""
    from benchmarks.peers import generate_rows

    problem = build(cell["n"], cell["d"], cell["lam"], cell["loss"])
    return generate_rows(problem, cell["solver"], min(GAPS), cell["limit"])


def authors(cell: dict) -> dict:
    """Time the authors' code: one iteration (the difference of two runs), or their auto-tuned fit."""
    import torch

    torch.set_num_threads(THREADS)
    shim = types.ModuleType("tqdm.notebook")
    shim.tqdm = lambda items, **_: items
    sys.modules["tqdm.notebook"] = shim
    sys.modules.setdefault("tqdm", types.ModuleType("tqdm")).notebook = shim
    sys.path.insert(0, str(Path(cell["path"]) / "Python"))
    module = importlib.import_module("piecewise_linear_estimation")
    X, y = synthetic(cell["n"], cell["d"])

    def fit(**settings: object) -> float:
        model = module.dc_regression()
        start = time.perf_counter()
        model.fit(torch.tensor(X), torch.tensor(y), **settings)
        return time.perf_counter() - start

    if cell["tuned"]:
        return {"seconds": fit()}
    fit(lanbda=1.0, n_iter=1)
    once = min(fit(lanbda=1.0, n_iter=1) for _ in range(3))
    often = min(fit(lanbda=1.0, n_iter=1 + cell["repeats"]) for _ in range(3))
    return {"seconds": (often - once) / cell["repeats"]}


KINDS = {"solve": solve, "iterate": iterate, "peer": peer, "authors": authors}


def cells(quick: bool, path: str | None) -> list[dict]:
    """List what to run."""
    out: list[dict] = []
    sizes = [(n, d) for n in (50, 100, 200) for d in (2, 5, 10, 30)]
    sizes += [] if quick else [(500, d) for d in (2, 5, 8, 10, 30)]
    sizes += [(200, 8)]
    for n, d in sizes:
        for loss in ("squared", "absolute"):
            for lam in LAMS if n <= 200 or d in (8,) else LAMS[1:2]:
                out.append({"kind": "solve", "engine": "exact", "n": n, "d": d, "lam": lam, "loss": loss})
    for n, d in [] if quick else [(1000, 10), (2000, 10)]:
        for loss in ("squared", "absolute") if n == 1000 else ("squared",):
            out.append({"kind": "solve", "engine": "exact", "n": n, "d": d, "lam": 0.02, "loss": loss})
    for n in (100, 200, 500) if quick else (100, 200, 500, 1000):
        out.append({"kind": "solve", "engine": "admm", "n": n, "d": 5, "lam": 0.2, "loss": "squared"})
    for n in (500, 1000, 2000) if quick else (500, 1000, 2000, 3000, 5000):
        for weighted, dtype in ((False, "float64"), (False, "float32"), (True, "float64")):
            if not (weighted and n > 3000):
                base = {"kind": "iterate", "n": n, "d": 10, "weighted": weighted, "dtype": dtype}
                out.append({**base, "warmup": 100 if n <= 3000 else 60})
        if path is not None and n <= 3000:
            base = {"kind": "authors", "n": n, "d": 10, "tuned": False, "path": path}
            out.append({**base, "repeats": 40 if n <= 1000 else 10})
    if path is not None:
        out.append({"kind": "authors", "n": 100, "d": 5, "tuned": True, "path": path})
    for n, solvers, limit in [(200, ("PIQP", "Clarabel", "HiGHS"), 60.0)] + (
        [] if quick else [(500, ("PIQP",), 200.0)]
    ):
        for loss in ("squared", "absolute"):
            for solver in solvers:
                if not (solver == "HiGHS" and loss == "squared"):
                    base = {"kind": "peer", "solver": solver, "n": n, "d": 8, "lam": 0.02, "loss": loss}
                    out.append({**base, "limit": limit})
    return out


def growth(results: list[dict]) -> dict[str, float]:
    """Fit exponents of n by least squares of logarithms."""

    def exponent(chosen: list[dict], value: str) -> float | None:
        if len({r["n"] for r in chosen}) < 2:
            return None
        return float(np.polyfit(np.log([r["n"] for r in chosen]), np.log([r[value] for r in chosen]), 1)[0])

    iterations = [r for r in results if r["kind"] == "iterate" and not r["weighted"] and r["dtype"] == "float64"]
    solves = [r for r in results if r["kind"] == "solve" and r["engine"] == "exact" and r["d"] == 10]
    solves = [r for r in solves if r["loss"] == "squared" and r["lam"] == 0.02 and r["n"] >= 200]
    peers = [r for r in results if r["kind"] == "authors" and not r["tuned"]]
    return {
        "quick engine, seconds an iteration": exponent(iterations, "seconds"),
        "quick engine, seconds a pass": exponent(iterations, "pass_seconds"),
        "accurate engine, seconds to 1e-4": exponent(solves, "seconds"),
        "authors, seconds an iteration": exponent(peers, "seconds"),
    }


def main() -> None:
    """Run every cell and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--authors", metavar="PATH", help="a checkout of the authors' repository")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        cell = json.loads(arguments.cell)
        print("RESULT" + json.dumps(KINDS[cell["kind"]](cell)))
        return
    results = []
    todo = cells(arguments.quick, arguments.authors)
    for k, cell in enumerate(todo):
        command = [sys.executable, "-m", "benchmarks.engines", "--cell", json.dumps(cell)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
        result = json.loads(lines[-1][len("RESULT") :]) if lines else {"failed": done.stderr[-300:]}
        row = {key: value for key, value in cell.items() if key != "path"} | result
        print(f"{k + 1}/{len(todo)}", json.dumps(row), flush=True)
        results.append(row)
        write(results)


def write(results: list[dict]) -> None:
    """Write everything so far: an interrupted run is not lost."""
    about = {
        "data": "the paper's synthetic function, y standardised, componentwise penalty",
        "threads": THREADS,
        "cores": os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    finished = [r for r in results if "failed" not in r]
    RESULTS.parent.mkdir(exist_ok=True)
    text = json.dumps({"about": about, "growth": growth(finished), "cells": results}, indent=1)
    RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
