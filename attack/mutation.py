"""Mutation testing: whether some test sees a small change of the code.

A case is a mutant of a room of `ROOMS`, drawn at random. The tests that run its line, those of the mirrored folder, are
run on a copy of the tree with that change, the quickest first, until one fails. A mutant that survives has failed,
unless `explained.py` says why no test could see it.
"""

from __future__ import annotations

import compileall
import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from attack.explained import EXPLAINED
from attack.harness import Row, code_of
from attack.mutants import Mutant, mutants, mutated

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pldc"
CACHE = ROOT / ".attack"
# Rooms, and tests of each: the folder of its name; what only an interior point calls is tested with it.
ROOMS = {
    "problem": ("tests/problem", "tests/solve/test_classes.py"),
    "select": ("tests/select",),
    "compact": ("tests/compact",),
    "export": ("tests/export",),
}
LEFT_OUT = {
    "compact/plan.py",  # tables of what is tried: near numbers do as well
    "export/torch_layers.py",  # PyTorch is too large for this alone
    "export/torch_module.py",
}
EACH = 60  # mutants of a room
ENOUGH = 0.9  # of all must be killed; explained ones are not
SAMPLED = Path(__file__).with_name("sample.csv")
MOST_SECONDS = 12.0  # of one core, for the tests of one mutant, as measured before
LIMIT = 600.0
AWHILE = 240.0  # seconds after which a mutant counts as one that never ends
PRELOADED = ["numpy", "scipy.optimize", "scipy.spatial", "scipy.sparse.csgraph", "sklearn.model_selection", "pytest"]
PRELOADED += ["cvxpy", "joblib", "threadpoolctl", "pandas"]


def rooms() -> list[str]:
    """The rooms that are there."""
    return [room for room in ROOMS if (SOURCE / room).is_dir()]


@cache
def all_mutants() -> list[Mutant]:
    """Every mutant of the rooms."""
    files = [path for room in rooms() for path in sorted((SOURCE / room).rglob("*.py"))]
    return [m for path in files if str(path.relative_to(SOURCE)) not in LEFT_OUT for m in mutants(path, SOURCE)]


def room_of(mutant: Mutant) -> str:
    """The room of a mutant."""
    return mutant.file.split("/")[0]


def cases() -> list[Mutant]:
    """As many mutants of each room: those of `SAMPLED` that the code still has, and others by chance for the rest.

    It was drawn at random once, and stays as long as the code does: a mutant that was explained is not drawn away.
    """
    with SAMPLED.open(newline="", encoding="utf-8") as file:
        kept = {tuple(row) for row in csv.reader(file)}
    chosen = []
    for room in rooms():
        by_key = {m.key: m for m in all_mutants() if room_of(m) == room}  # of equal ones, on equal lines, the last
        rank = sorted(by_key, key=lambda key: (key not in kept, hashlib.sha256(repr(key).encode()).digest()))
        chosen += [by_key[key] for key in rank[:EACH]]
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.place, mutant.kind))


def shares(rows: list[Row]) -> tuple[list[list[str]], bool]:
    """A table of how the mutants of each room ended, and whether enough were killed in all."""
    lines = [["room", "mutants", "killed", "explained", "survived", "share killed"]]
    for room in [*rooms(), "all"]:
        mine = [row for row in rows if room in ("all", row.case.split("/")[0])]
        killed, explained = (sum(row.note.startswith(how) for row in mine) for how in ("killed", "explained"))
        counts = (len(mine), killed, explained, len(mine) - killed - explained)
        lines.append([room, *map(str, counts), f"{killed / max(len(mine), 1):.1%}"])
    return lines, killed >= ENOUGH * len(mine)


def prepare() -> None:
    """Measure which tests run which lines, where that is not known of this code yet."""
    copied()  # once, before the threads ask for it
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each in a process of its own
        list(pool.map(measured, rooms()))


@cache
def measured(room: str) -> dict[str, Any]:
    """Which tests of a room run which lines, and how long they take, in a copy: there all must pass, too."""
    path = CACHE / f"{room}-{code_of([f'src/pldc/{room}', *ROOMS[room]])}.json"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "attack.line_tests", str(path), *ROOMS[room]]
        places = os.pathsep.join(map(str, (copied() / "src", copied(), ROOT)))
        environment = os.environ | {"PYTHONPATH": places}
        subprocess.run(words, cwd=copied(), env=environment, check=True, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert not found["failed"], f"these fail without any change: {found['failed']}"
    return found


def tests_of(mutant: Mutant) -> list[str]:
    """Tests that run the line of a mutant, the quickest first; of a line that is run by an import, all of the room."""
    known = measured(room_of(mutant))
    seconds: dict[str, float] = known["seconds"]
    chosen: list[str] = []
    spent = 0.0
    on_line = known["lines"].get(mutant.file, {}).get(str(mutant.line), [])
    for test in sorted(on_line or seconds, key=seconds.__getitem__):
        spent += seconds[test]
        if chosen and spent > MOST_SECONDS:
            break
        chosen.append(test)
    return chosen


@cache
def copied() -> Path:
    """A copy of the tree for this process, with bytecode, so that only what is changed is compiled again."""
    for name in PRELOADED:  # before the fork, so that no mutant has to
        __import__(name)
    folder = tempfile.TemporaryDirectory(prefix="attack-")
    kept.append(folder)
    copy = Path(folder.name)
    for name in ("src", "tests", "experiments", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    compileall.compile_dir(copy / "src", quiet=2)
    return copy


kept: list[Any] = []


def check(mutant: Mutant) -> str:
    """Say how a mutant ended; raise where it survived, and nobody has explained why."""
    tests = tests_of(mutant)
    how = ended(mutant, tests) if tests else ""
    if how:
        return f"killed: {how}"
    reason = EXPLAINED.get(mutant.key)
    told = f"survived {len(tests)} tests: {mutant.file}:{mutant.line}\n    {mutant.text}\n    {mutant.change}"
    assert reason is not None, told
    return f"explained: {reason}"


def ended(mutant: Mutant, tests: list[str]) -> str:
    """How the tests saw a mutant; nothing where they did not."""
    file = copied() / "src" / "pldc" / mutant.file
    source = file.read_text(encoding="utf-8")
    for old in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        old.unlink()
    file.write_text(mutated(source, mutant), encoding="utf-8")
    try:
        return outcome(copied(), tests)
    finally:
        file.write_text(source, encoding="utf-8")


def outcome(tree: Path, tests: list[str]) -> str:
    """Run tests in a child of this process, on the package of a tree."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _in_child(tree, tests)
        finally:
            os._exit(code)  # nothing of this process is ended twice
    began = time.monotonic()
    while time.monotonic() - began < AWHILE:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            assert code in (0, 1, 2) or code < 0, f"pytest ended with {code}"  # 2: the tests could not be imported
            return "" if code == 0 else "a test failed" if code == 1 else f"ended with {code}"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "never ended"


def _in_child(tree: Path, tests: list[str]) -> int:
    os.setsid()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = f"{tree / 'src'}{os.pathsep}{tree}"
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(tree / "src"), str(tree)]
    import pytest

    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
