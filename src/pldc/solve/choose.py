"""Which solver answers a problem, and whether its memory suffices.

The accurate solver is faster to any gap below about 1e-2 as long as its matrix of order P·n fits; the quick one needs
next to no memory and takes over where a factorisation would take minutes. The numbers are measured: see "Benchmarks" in
the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

from pldc.problem.program import Problem, Solution
from pldc.solve.admm import Admm
from pldc.solve.contract import RoughSolver, Solver
from pldc.solve.exact import Exact
from pldc.solve.line import Line

LARGEST_EXACT = 3000  # points up to which "auto" takes the accurate solver
MOST_SCORES = 1500  # classes × points up to which it does so


@dataclass(frozen=True)
class Auto:
    """Take the solver that suits the problem.

    That is `Line` for one feature, without monotone; else `Exact` up to 3000 distinct rows (1500 classes × rows), if
    its memory suffices and it knows the loss; else `Admm`, whose gap is no smaller than it can reach.

    Parameters
    ----------
    tol : float, default=1e-4
        Certified relative gap to reach.
    max_iter : int, optional
        None: that of the solver.
    """

    name: ClassVar[str] = "auto"
    tol: float = 1e-4
    max_iter: int | None = None

    def choose(self, problem: Problem) -> Solver:
        """Return the solver for the problem."""
        limits = {"tol": self.tol} | ({} if self.max_iter is None else {"max_iter": self.max_iter})
        line, exact = Line(**limits), Exact(**limits)  # type: ignore[arg-type]
        quick = Admm(**limits | {"tol": max(self.tol, Admm.realistic_tol)})  # type: ignore[arg-type]
        if line.refuses(problem) is None:
            return line
        most = LARGEST_EXACT if problem.outputs == 1 else MOST_SCORES // problem.outputs
        able = exact.refuses(problem) is None and len(problem.X) <= most and fits(exact.memory(problem))
        return exact if able else quick


SOLVERS: dict[str, Any] = {kind.name: kind for kind in (Auto, Exact, Admm, Line)}


def solver_setting(solver: Any, tol: float | None = None) -> Any:
    """Return a solver, or `Auto`: one is returned as it is, a name stands for one with its defaults, and with `tol`.

    A solver by name is not asked for a smaller gap than it can reach.
    """
    if isinstance(solver, str) and solver in SOLVERS:
        kind = SOLVERS[solver]
        return kind() if tol is None else kind(tol=max(tol, getattr(kind, "realistic_tol", 0.0)))
    able = hasattr(solver, "tol") and (hasattr(solver, "solve") or hasattr(solver, "choose"))
    if isinstance(solver, type) or not able:
        raise ValueError(
            f"solver must be one of {tuple(SOLVERS)}, or an object such as {Exact()!r}; got {solver!r:.80}."
        )
    if not isinstance(solver.tol, Real) or isinstance(solver.tol, bool) or not 0 < solver.tol < 1e300:  # type: ignore[operator]
        raise ValueError(f"tol must be a positive finite number, got {solver.tol!r:.80}.")
    limit = getattr(solver, "max_iter", None)
    if limit is not None and (not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 1):
        raise ValueError(f"max_iter must be a whole number ≥ 1, got {limit!r:.80}.")
    return solver


def rough_path(
    problem: Problem,
    lams: Sequence[float],
    iterations: Sequence[int],
    start: Solution | None = None,
    threads: int | None = None,
) -> Iterator[Solution]:
    """Give rough solutions along λ by the solver that offers them for such a problem; see :class:`RoughSolver`."""
    offered: list[RoughSolver] = [kind(threads=threads) for kind in SOLVERS.values() if hasattr(kind, "rough_path")]
    able = [s for s in offered if len(problem.X) > s.rough_points and s.refuses(problem) is None]
    return max(able, key=lambda solver: solver.rough_points).rough_path(problem, lams, iterations, start)


def make_solver(solver: Any, problem: Problem, *, tol: float | None = None, threads: int | None = None) -> Solver:
    """Return the solver for the problem; refuse what it cannot answer, or has not the memory for."""
    setting = solver_setting(solver, tol)
    found: Solver = setting.choose(problem) if hasattr(setting, "choose") else setting
    reason = found.refuses(problem)
    if reason is not None:
        raise ValueError(reason)
    needed = found.memory(problem)
    if not fits(needed):
        quick = Admm()
        less = quick.refuses(problem) is None and quick.memory(problem) < needed
        remedy = f"Use solver={quick.name!r}, which needs far less, or fewer rows" if less else "Use fewer rows"
        raise MemoryError(
            f"The {found.name!r} solver needs about {_size(needed)} for {len(problem.X)} distinct rows, and "
            f"{_size(available() or 0.0)} are available. {remedy}."
        )
    if threads is None or not is_dataclass(found):
        return found
    return replace(found, threads=threads)


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def fits(needed: float) -> bool:
    """Say whether so many bytes can be had."""
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
