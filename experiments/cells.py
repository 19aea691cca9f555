"""What the studies share: cells run in parallel, each appended to a CSV as it is done; tables for the documentation."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from joblib import Parallel, delayed


def run_missing(path: Path, columns: Sequence[str], cell: Callable, todo: list[tuple], jobs: int) -> None:
    """Run cells, append their rows to the CSV at `path` and print them.

    `cell` returns a list of rows. One that raises ImportError is left out: a rival is not installed.
    """
    path.parent.mkdir(exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        if new:
            writer.writeheader()
        for rows in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(attempt)(cell, c) for c in todo):
            writer.writerows(rows)
            file.flush()
            for row in rows:
                print(row, flush=True)


def attempt(cell: Callable, arguments: tuple) -> list[dict]:
    """Run a cell; nothing where the rival is not installed."""
    try:
        return cell(*arguments)
    except ImportError:
        return []


def read(path: Path) -> list[dict]:
    """Return all rows of the results, none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, lines: list[list[str]]) -> None:
    """Write a table for the documentation, its first line the header."""
    out = [".. list-table::", "   :header-rows: 1", ""]
    for line in lines:
        out += [f"   {'*' if k == 0 else ' '} - {value}" for k, value in enumerate(line)]
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
