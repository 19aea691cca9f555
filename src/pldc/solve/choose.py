"""Which engine answers a problem, and whether its memory suffices.

The accurate engine is faster to any gap below about 1e-2 as long as its matrix of order P·n fits; the quick engine
needs next to no memory and takes over where a factorisation would take minutes. The numbers are measured: see
"Benchmarks" in the documentation.
"""

from __future__ import annotations

from pathlib import Path

from pldc.problem.program import Problem
from pldc.solve import AdmmSolver, ExactSolver, LineSolver, Solver
from pldc.solve.admm import WEIGHTED
from pldc.solve.exact import ALL_PAIRS
from pldc.solve.line import fits_a_line

SOLVERS = ("auto", "exact", "admm", "line")
LARGEST_EXACT = 3000  # points up to which "auto" takes the accurate engine
MOST_SCORES = 1500  # classes × points up to which it does so
SLOTS = 120  # rows that the fullest point holds in a part: 40 to 60 in most solves, more where points cluster


def make_solver(
    name,
    problem: Problem,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    threads: int | None = None,
    device: str | None = None,
) -> Solver:
    """Return the solver called `name` for the problem; refuse it where its memory would not suffice."""
    if isinstance(name, Setting):
        name, tol, max_iter, device = name.name, name.tol, name.max_iter, name.device
    if name not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {name!r}.")
    if device is not None and name == "exact":
        raise ValueError("device is for solver='admm' (or 'auto'): the exact solver runs on the processor.")
    n = len(problem.X)
    if name == "exact" and not problem.loss.boxed:
        loss = problem.loss.name
        raise ValueError(f"The {loss} loss has no form that solver='exact' can use: take solver='admm' or 'auto'.")
    if name == "line" or (name == "auto" and device is None and fits_a_line(problem)):
        return LineSolver(tol=tol, max_iter=500 if max_iter is None else max_iter)
    if name == "auto":
        most = LARGEST_EXACT if problem.outputs == 1 else MOST_SCORES // problem.outputs
        name = "exact" if problem.loss.boxed and n <= most and _fits(memory("exact", problem)) else "admm"
    if not _fits(memory(name, problem)):
        remedy = "Use fewer rows" if name == "admm" else "Use solver='admm', which needs far less, or fewer rows"
        raise MemoryError(
            f"The {name!r} solver needs about {_size(memory(name, problem))} for {n} distinct rows, and "
            f"{_size(available() or 0.0)} are available. {remedy}."
        )
    if name == "exact":
        return ExactSolver(tol=tol, max_iter=200 if max_iter is None else max_iter, threads=threads)
    return AdmmSolver(tol=tol, max_iter=2000 if max_iter is None else max_iter, threads=threads, device=device)


def memory(name: str, problem: Problem) -> float:
    """Estimate the bytes that an engine will need at its peak."""
    m, (n, d) = problem.outputs, problem.X.shape
    P = len(problem.signs) // m
    q = d if problem.penalty.name == "componentwise" else 1
    if name == "admm":
        dense = 8 * n * n if n <= WEIGHTED else n * n / 4  # the latter: sparse multipliers, many at the start
        return 8.0 * (dense + 4 * n * d * d)
    scores = 0.0 if m == 1 else 3.0 * (m * n) ** 2
    if n <= ALL_PAIRS:
        return 8.0 * (m * n * P * d * (P * n + q) * 3 + scores)
    C = P * SLOTS + q
    return 8.0 * (m * (5 * (P * n + q) ** 2 + 2 * P * n * n / 8 + n * (C * C + 4 * P * d * C)) + scores)


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _fits(needed: float) -> bool:
    limit = available()
    return limit is None or needed <= limit


def available() -> float | None:
    """Bytes of memory that can be had now; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(float(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
    try:  # a container's limit is lower than the machine's
        cap = float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = float(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free
    return min(free, cap - used)


from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    tol: float = 1e-4
    max_iter: int | None = None
    device: str | None = None
    name = "auto"


class Auto(Setting):
    pass


class Exact(Setting):
    name = "exact"


class Admm(Setting):
    name = "admm"


class Line(Setting):
    name = "line"


def solver_setting(solver, tol):
    if isinstance(solver, Setting):
        return solver
    kinds = {"auto": Auto, "exact": Exact, "admm": Admm, "line": Line}
    if not (isinstance(solver, str) and solver in kinds):
        raise ValueError(
            f"solver must be one of {tuple(kinds)}, or an object such as Exact(tol=0.0001); got {solver!r}."
        )
    return kinds[solver](tol)
