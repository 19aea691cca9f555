"""The whole attack: ``make attack``, or ``python -m attack [PART ...] [--again] [--jobs 2]``.

Parts that were finished on the same code are not run again, and one that was stopped goes on where it was. Ends with a
table of counts, also written to results/summary.rst (parts that are not asked for: as they were last), and one of the
mutants of each room, results/mutants.rst; the exit code is 1 where anything failed, or too few mutants were killed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import NamedTuple

from attack.harness import ROOT, Row, code_of, read, run, tell
from attack.mutation import ENOUGH, shares

RESULTS = Path(__file__).parent / "results"


class Part(NamedTuple):
    """A part of the attack.

    Attributes
    ----------
    name : str
    module : str
        With `cases()` and `check(case)`; see :mod:`attack.harness`.
    shows : str
        What it shows, for the table.
    reads : tuple of str
        Files and folders whose change asks for a new run.
    """

    name: str
    module: str
    shows: str
    reads: tuple[str, ...]


READERS = ("attack/records.py", "attack/readers.py", "attack/makers.py", "attack/limits.py")
MUTATED = tuple(f"{top}/{room}" for room in ("problem", "select", "compact", "export") for top in ("src/pldc", "tests"))
MUTATION = ("attack/mutation.py", "attack/mutants.py", "attack/sample.csv", *MUTATED)
PARTS = (
    Part("faults", "attack.faults", "faults of the machine", ("src", "attack/faults.py")),
    Part("numbers", "tests.attack.numbers", "scales, offsets, float32, other processes", ("src", "tests/attack")),
    Part("fuzz", "attack.fuzz", "calls of everything public", ("src", "attack/fuzz.py", "attack/targets.py", *READERS)),
    Part("records", "attack.records", "mutated records and files", ("src", *READERS)),
    Part(
        "atheris", "attack.coverage_guided", "inputs guided by coverage", ("src", "attack/coverage_guided.py", *READERS)
    ),
    Part(
        "certificates",
        "attack.certificates",
        "programs against CVXPY",
        ("src", "attack/certificates.py", "tests/oracle.py"),
    ),
    Part("mutation", "attack.mutation", "mutants of the code", MUTATION),
)


def summary(rows: dict[str, list[Row]]) -> list[list[str]]:
    """A line for each part: cases, checks, failures, and what was left out."""
    lines = [["part", "what", "cases", "checks", "failed", "left out", "minutes of one core"]]
    for part in PARTS:
        mine = rows.get(part.name)
        if mine is None:
            lines.append([part.name, part.shows, "–", "–", "–", "–", "–"])
            continue
        count = [f"{sum(row.outcome == outcome for row in mine):,}" for outcome in ("failed", "skipped")]
        checks, minutes = sum(row.checks for row in mine), sum(row.seconds for row in mine) / 60
        lines.append([part.name, part.shows, f"{len(mine):,}", f"{checks:,}", *count, f"{minutes:.1f}"])
    return lines


def write_table(path: Path, lines: list[list[str]]) -> None:
    """Write a table for the documentation."""
    text = ".. list-table::\n   :header-rows: 1\n\n"
    for line in lines:
        text += "".join(f"   {'* -' if k == 0 else '  -'} {cell}\n" for k, cell in enumerate(line))
    path.write_text(text, encoding="utf-8")


def show(lines: list[list[str]]) -> None:
    """Print a table."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


def main(words: list[str] | None = None) -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(p.name for p in PARTS)}; all if none is named")
    parser.add_argument("--again", action="store_true", help="run what was finished, too")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(words)
    for library in ("OMP", "OPENBLAS", "MKL"):  # a thread for each process; inherited by all that is started
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    if unknown := set(given.parts) - {part.name for part in PARTS}:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    rows: dict[str, list[Row]] = {}
    for part in PARTS:
        if given.parts and part.name not in given.parts:
            continue
        if importlib.util.find_spec(part.module) is None:
            tell(f"{part.name}: there is no {part.module}")
            continue
        code = code_of(path for path in part.reads if (ROOT / path).exists())
        rows[part.name] = run(part.module, RESULTS / f"{part.name}.csv", code, given.jobs, tell, given.again)
    before = {part.name: read(RESULTS / f"{part.name}.csv") for part in PARTS if part.name not in rows}
    lines = summary({name: known for name, known in before.items() if known} | rows)
    write_table(RESULTS / "summary.rst", lines)
    show(lines)
    enough = True
    if "mutation" in rows:
        lines, enough = shares(rows["mutation"])
        write_table(RESULTS / "mutants.rst", lines)
        print()
        show(lines)
    failed = [(name, row) for name, mine in rows.items() for row in mine if row.outcome == "failed"]
    for name, row in failed:
        print(f"\nFAILED {name}: {row.case}\n{row.note}")
    if not enough:
        print(f"\nFAILED mutation: fewer than {ENOUGH:.0%} of the mutants were killed")
    return 1 if failed or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
