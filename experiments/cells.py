"""What the studies share: cells run in parallel, each appended to a CSV as it is done; tables for the documentation."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from joblib import Parallel, delayed


def run_missing(path: Path, columns: Sequence[str], cell: Callable, todo: list[tuple], jobs: int) -> None:
    """Run cells, append their rows to the CSV at `path` and tell how far it is.

    `cell` returns a list of rows, written at once: whoever stops the run loses only the cells under way, and a rerun
    goes on from there. One that raises ImportError is left out: a rival is not installed.
    """
    path.parent.mkdir(exist_ok=True)
    mend(path, columns)
    began = time.perf_counter()
    missing = set()
    with path.open("a", newline="", encoding="utf-8") as file:
        tasks = (delayed(attempt)(cell, c) for c in todo)
        for done, (rows, absent) in enumerate(Parallel(jobs, return_as="generator_unordered")(tasks), start=1):
            text = io.StringIO()
            csv.DictWriter(text, columns, lineterminator="\n").writerows(rows)
            file.write(text.getvalue())
            file.flush()
            if absent:
                missing.add(absent)
            left = (time.perf_counter() - began) / done * (len(todo) - done)
            what = ", ".join(str(rows[0][c]) for c in columns[:4]) if rows else f"left out: {absent}"
            print(f"{path.stem}: {done} of {len(todo)}, {left / 60:.1f} min left: {what}", file=sys.stderr, flush=True)
    if missing:
        print(f"{path.stem}: not installed, left out: {', '.join(sorted(missing))}", file=sys.stderr)


def mend(path: Path, columns: Sequence[str]) -> None:
    """Begin the file with its header, or cut off a line that was being written when a run was killed.

    The rows of a cell are one short write, so a kill leaves all of them or none, but for a full disk.
    """
    if not path.exists():
        path.write_text(",".join(columns) + "\n", encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if text.splitlines()[:1] != [",".join(columns)]:
        raise ValueError(f"{path.name} holds other columns than {', '.join(columns)}: move it away to begin anew.")
    if not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")


def attempt(cell: Callable, arguments: tuple) -> tuple[list[dict], str]:
    """Run a cell; no row, and the name of what is missing, where a rival is not installed."""
    try:
        return cell(*arguments), ""
    except ImportError as error:
        return [], error.name or str(error)


def commit() -> str:
    """Return the commit of the code that runs, with a + where it was changed since; nothing outside a repository."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True).stdout.strip()

    head = git("rev-parse", "--short", "HEAD")
    return head and head + ("+" if git("status", "--porcelain", "--", "..", ":!results") else "")


def read(path: Path) -> list[dict]:
    """Return all rows of the results, none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def text_of(lines: list[list[str]]) -> str:
    """Return a table for the documentation, its first line the header."""
    out = [".. list-table::", "   :header-rows: 1", ""]
    for line in lines:
        out += [f"   {'*' if k == 0 else ' '} - {value}" for k, value in enumerate(line)]
    return "\n".join(out) + "\n"


def write_table(path: Path, lines: list[list[str]]) -> None:
    """Write a table for the documentation."""
    path.write_text(text_of(lines), encoding="utf-8")
