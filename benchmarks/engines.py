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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact_against_clarabel import model as model_of_the_program
from benchmarks.exact_against_clarabel import synthetic
from pldc.problem import Problem, certify, make_loss, make_penalty
from pldc.problem.scaling import normalise
from pldc.select.discrepancy import discrepancy
from pldc.solve import Admm, Exact
from pldc.solve.admm import AdmmIteration
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
        "exact": Exact(tol=min(GAPS), threads=THREADS),
        "admm": Admm(tol=max(GAPS), threads=THREADS),
    }[cell["engine"]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    solution = engine.solve(problem, monitor=lambda row: row["seconds"] > cell["limit"])
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
        method = AdmmIteration(problem, workers, weighted=cell["weighted"], dtype=cell["dtype"])
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


def halves(cell: dict) -> dict:
    """Time the discrepancy of one random division into halves, joint seminorm, to one per cent."""
    X, _ = synthetic(cell["n"], cell["d"])
    start = time.perf_counter()
    found = discrepancy(X, n_splits=1, method="exact", max_rows=None, tol=1e-2, threads=THREADS)
    seconds = time.perf_counter() - start
    met = found.upper - found.lower <= 1e-2 * found.upper
    return {"seconds": seconds, "value": found.value, "status": "optimal" if met else "stalled"}


def peer(cell: dict) -> dict:
    """Time a general solver by row generation."""
    from benchmarks.peers import generate_rows

    problem = build(cell["n"], cell["d"], cell["lam"], cell["loss"])
    return generate_rows(problem, cell["solver"], min(GAPS), cell["limit"])


def authors_module(path: str) -> Any:
    """Import the authors' code from a checkout, without the progress bars of its notebooks."""
    import torch

    torch.set_num_threads(THREADS)
    shim = types.ModuleType("tqdm.notebook")
    shim.tqdm = lambda items, **_: items
    sys.modules["tqdm.notebook"] = shim
    sys.modules.setdefault("tqdm", types.ModuleType("tqdm")).notebook = shim
    sys.path.insert(0, str(Path(path) / "Python"))
    return importlib.import_module("piecewise_linear_estimation")


def authors(cell: dict) -> dict:
    """Time the authors' code: one iteration (the difference of two runs), their auto-tuned fit, or its objective."""
    import torch

    module = authors_module(cell["path"])
    X, y = synthetic(cell["n"], cell["d"])

    def fit(**settings: object) -> tuple[float, Any]:
        model = module.dc_regression()
        start = time.perf_counter()
        model.fit(torch.tensor(X), torch.tensor(y), **settings)
        return time.perf_counter() - start, model

    if cell["task"] == "tuned":
        return {"seconds": fit()[0]}
    if cell["task"] == "objective":
        return on_their_objective(cell, X, y, fit)
    fit(lanbda=1.0, n_iter=1)
    once = min(fit(lanbda=1.0, n_iter=1)[0] for _ in range(3))
    often = min(fit(lanbda=1.0, n_iter=1 + cell["repeats"])[0] for _ in range(3))
    return {"seconds": (often - once) / cell["repeats"]}


def on_their_objective(cell: dict, X: np.ndarray, y: np.ndarray, fit: Callable[..., tuple[float, Any]]) -> dict:
    """Say how far the authors' code ends above the optimum of the objective that it descends, and what ours takes.

    Theirs is Σ (f − y)² + λ Σ_k (max |a_k| + max |b_k|), a and b the slopes of the two parts; its optimum is found by
    CVXPY with Clarabel. Ours has one maximum, of |a_k| + |b_k|: the same λ, its own certified gap of 1e-4.
    """
    import cvxpy as cp

    n, lam = cell["n"], 0.02
    fit(lanbda=1.0, n_iter=1)
    seconds, model = fit(lanbda=lam * n, n_iter=cell["iterations"])
    slopes = [np.asarray(a.numpy()) for a in (model.a_1, model.a_2)]
    pieces = [np.asarray(v.numpy()) for v in (model.y_hat_1, model.y_hat_2)]
    parts = [(v + (X - X.mean(axis=0)) @ a.T).max(axis=1) for v, a in zip(pieces, slopes, strict=True)]
    loss = float(((y.mean() + parts[0] - parts[1] - y) ** 2).sum())
    theirs = loss + lam * n * sum(float(np.abs(a).max(axis=0).sum()) for a in slopes)
    peer = model_of_the_program(X, y, lambda a, b: cp.sum(cp.max(cp.abs(a), axis=0) + cp.max(cp.abs(b), axis=0)))
    peer.solve(solver=cp.CLARABEL)
    problem = build(n, cell["d"], lam, "squared")
    Exact(threads=THREADS, max_iter=2).solve(problem)
    start = time.perf_counter()
    solution = Exact(tol=min(GAPS), threads=THREADS).solve(problem)
    return {
        "seconds": seconds,
        "objective": theirs,
        "optimum": n * float(peer.value),
        "excess": theirs / (n * float(peer.value)) - 1.0,
        "our_seconds": time.perf_counter() - start,
        "our_gap": certify(problem, solution).gap,
    }


KINDS = {"solve": solve, "iterate": iterate, "discrepancy": halves, "peer": peer, "authors": authors}


def cells(quick: bool, path: str | None) -> list[dict]:
    """List what to run."""
    out: list[dict] = []
    grid = [("exact", n, d) for n in ((50, 100, 200) if quick else (50, 100, 200, 500, 1000)) for d in (2, 5, 10, 30)]
    grid += [] if quick else [("admm", n, d) for n in (5000,) for d in (2, 5, 10, 30)]
    grid += [("exact", 200, 8)] if quick else [("exact", 200, 8), ("exact", 500, 8)]
    for engine, n, d in grid:
        for loss in ("squared", "absolute"):
            for lam in LAMS:
                cell = {"kind": "solve", "engine": engine, "n": n, "d": d, "lam": lam, "loss": loss}
                out.append({**cell, "limit": 60.0 if n <= 1000 else 25.0})
    if not quick:
        cell = {"kind": "solve", "engine": "exact", "n": 2000, "d": 10, "lam": 0.02, "loss": "squared"}
        out.append({**cell, "limit": 200.0})
        cell |= {"n": 1000, "d": 100}
        out += [{**cell, "loss": loss, "limit": 600.0} for loss in ("squared", "absolute")]
    for n in (50, 100, 200) if quick else (100, 200, 400):
        out += [{"kind": "discrepancy", "n": n, "d": d} for d in (2, 5, 10)]
    for n in (100, 200, 500) if quick else (100, 200, 500, 1000):
        cell = {"kind": "solve", "engine": "admm", "n": n, "d": 5, "lam": 0.2, "loss": "squared"}
        out.append({**cell, "limit": 60.0})
    for n in (500, 1000, 2000) if quick else (500, 1000, 2000, 3000, 5000):
        for weighted, dtype in ((False, "float64"), (False, "float32"), (True, "float64")):
            if not (weighted and n > 3000):
                base = {"kind": "iterate", "n": n, "d": 10, "weighted": weighted, "dtype": dtype}
                out.append({**base, "warmup": 100 if n <= 3000 else 60})
        if path is not None and n <= 3000:
            base = {"kind": "authors", "task": "iteration", "n": n, "d": 10, "path": path}
            out.append({**base, "repeats": 40 if n <= 1000 else 10})
    if path is not None:
        out.append({"kind": "authors", "task": "tuned", "n": 100, "d": 5, "path": path})
        base = {"kind": "authors", "task": "objective", "n": 50, "d": 5, "path": path}
        out += [{**base, "iterations": iterations} for iterations in (50, 500, 5000)]
    for n, solvers, limit in [(200, ("PIQP", "Clarabel", "HiGHS"), 60.0)] + (
        [] if quick else [(500, ("PIQP",), 100.0)]
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
    peers = [r for r in results if r["kind"] == "authors" and r["task"] == "iteration"]
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
    parser.add_argument("--resume", action="store_true", help="keep the results of cells that have been run")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        cell = json.loads(arguments.cell)
        print("RESULT" + json.dumps(KINDS[cell["kind"]](cell)))
        return
    results = []
    todo = cells(arguments.quick, arguments.authors)
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"] if arguments.resume else []
    for k, cell in enumerate(todo):
        named = {key: value for key, value in cell.items() if key != "path"}
        known = next((row for row in stored if "failed" not in row and named.items() <= row.items()), None)
        if known is not None:
            stored.remove(known)
            results.append(known)
            continue
        command = [sys.executable, "-m", "benchmarks.engines", "--cell", json.dumps(cell)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
        result = json.loads(lines[-1][len("RESULT") :]) if lines else {"failed": done.stderr[-300:]}
        row = named | result
        print(f"{k + 1}/{len(todo)}", json.dumps(row), flush=True)
        results.append(row)
        write(results + stored)
    write(results + [row for row in stored if "failed" not in row])  # what was not asked for now is kept


def write(results: list[dict]) -> None:
    """Write everything so far: an interrupted run is not lost."""
    about = {
        "data": "the paper's synthetic function, y standardised, componentwise penalty (discrepancy: joint)",
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
