"""Runs the cases of a part in processes of their own, and keeps what came out, case by case.

A part is a module with `cases()`, a list whose entries have a readable ``str``, and `check(case)`, which returns how
many checks passed (None: one; a text: one, with that to tell) or raises. ``unittest.SkipTest`` leaves a case out, with
its reason. `LIMIT`, where a module has it, is the time of a case in seconds: who takes longer, or dies, has failed.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple
from unittest import SkipTest

ROOT = Path(__file__).parents[1]
LIMIT = 300.0  # seconds of a case, where its part says nothing else
CONTEXT = multiprocessing.get_context("spawn")


class Row(NamedTuple):
    """What became of a case. `code` tells of which code; `outcome` is passed, failed or skipped."""

    code: str
    case: str
    outcome: str
    checks: int
    seconds: float
    note: str


def code_of(paths: Iterable[str]) -> str:
    """A short name for the contents of files, and of folders of Python files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        whole = ROOT / path
        for file in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def read(path: Path) -> list[Row]:
    """The rows of a file of results; a last one that was cut off is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["note"] is not None]
    return [Row(r["code"], r["case"], r["outcome"], int(r["checks"]), float(r["seconds"]), r["note"]) for r in rows]


def write(path: Path, rows: Iterable[Row], more: bool = False) -> None:
    """Write rows, or append them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if more else "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not more:
            writer.writerow(Row._fields)
        writer.writerows(rows)


def one(module: Any, case: Any, code: str = "") -> Row:
    """Check a case, here and now."""
    began = time.perf_counter()
    outcome, checks, note = "passed", 1, ""
    try:
        found = module.check(case)
        checks, note = (1, found) if isinstance(found, str) else (1 if found is None else int(found), "")
    except SkipTest as reason:
        outcome, checks, note = "skipped", 0, str(reason)
    except Exception as error:
        last = "" if isinstance(error, AssertionError) and str(error) else "".join(traceback.format_exception(error))
        outcome, checks, note = "failed", 0, last[-4000:] or str(error)[:20_000]
    return Row(code, str(case), outcome, checks, round(time.perf_counter() - began, 2), note)


def _serve(name: str, code: str, pipe: Connection) -> None:
    """Check the cases whose places come through the pipe."""
    os.setsid()  # so that all it starts can be ended with it
    module = importlib.import_module(name)
    cases = list(module.cases())
    while (place := pipe.recv()) is not None:
        pipe.send(one(module, cases[place], code))


class _Worker:
    """A process that checks one case after the other; it is replaced when it dies or takes too long."""

    def __init__(self, name: str, code: str) -> None:
        self.pipe, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(name, code, other))
        self.process.start()
        other.close()
        self.place: int | None = None

    def give(self, place: int) -> None:
        self.place, self.began = place, time.monotonic()
        with suppress(OSError):  # one that has died is found out when its answer is awaited
            self.pipe.send(place)

    def end(self) -> None:
        if self.place is None and self.process.is_alive():
            with suppress(OSError):
                self.pipe.send(None)
            self.process.join(10)
        try:
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()
        self.process.join()


def run(name: str, path: Path, code: str, jobs: int, told: Callable[[str], None], again: bool = False) -> list[Row]:
    """Check all cases of a module that have no row of this code yet; return the rows of all cases, in order."""
    module = importlib.import_module(name)
    names = [str(case) for case in module.cases()]
    limit = getattr(module, "LIMIT", LIMIT)
    if hasattr(module, "prepare"):
        told(f"{path.stem}: preparing")
        module.prepare()
    known = {} if again else {row.case: row for row in read(path) if row.code == code and row.case in names}
    write(path, known.values())
    todo = [place for place, case in enumerate(names) if case not in known]
    began, total = time.monotonic(), len(todo)
    workers: list[_Worker] = []
    try:
        while todo or workers:
            while todo and len(workers) < jobs:
                workers.append(_Worker(name, code))
                workers[-1].give(todo.pop(0))
            ready = wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                assert worker.place is not None
                case, late = names[worker.place], time.monotonic() - worker.began
                if worker.pipe in ready:
                    try:
                        row = worker.pipe.recv()
                    except (EOFError, OSError):
                        row = Row(code, case, "failed", 0, round(late, 2), "the process died")
                elif late > limit:
                    row = Row(code, case, "failed", 0, round(late, 2), f"more than {limit:g} seconds")
                else:
                    continue
                known[case] = row
                write(path, [row], more=True)
                done = total - len(todo) - len(workers) + 1
                left = (time.monotonic() - began) / done * (total - done)
                told(f"{path.stem}: {done} of {total}, {left / 60:.1f} min left: {case} {row.outcome} {row.note:.100}")
                if row.note in ("the process died", f"more than {limit:g} seconds") or not todo:
                    worker.place = None if worker.pipe in ready and worker.process.is_alive() else worker.place
                    worker.end()
                    workers.remove(worker)
                else:
                    worker.give(todo.pop(0))
    finally:
        for worker in workers:
            worker.end()
    rows = [known[case] for case in names if case in known]
    write(path, rows)
    return rows


def tell(line: str) -> None:
    """Show how far it is."""
    print(line.replace("\n", " "), file=sys.stderr, flush=True)
