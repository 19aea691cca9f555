"""The errors in the plotting scripts of the paper's authors, beside those measured here.

`authors_figures.csv` holds the means, and the half-widths of the bars around them, that `barplotts.m` and
`barplots_classify.m` of the authors' repository (commit 05b164a) draw: by all appearance the paper's two figures of
real data, which print no numbers. Rock, forest fires and bpd are not among them.
"""

from __future__ import annotations

from pathlib import Path

from experiments.cells import read
from experiments.statistics import Values, shown
from experiments.tables import CLAIMS, PAPER, RIVALS_CODED, apart, beside

FIGURES = Path(__file__).with_name("authors_figures.csv")


def figures(study: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the authors' mean errors and half-widths by data set and method."""
    out: dict[str, dict[str, tuple[float, float]]] = {}
    for row in read(FIGURES):
        if row["study"] == study:
            out.setdefault(row["dataset"], {})[row["method"]] = float(row["value"]), float(row["half"])
    return out


def authors_table(study: str, values: Values) -> list[list[str]]:
    """Return one line a data set: whether the paper's ✓ or ✗ is what its figures say, and ours beside each of them."""
    rivals = RIVALS_CODED[study]
    lines = [["data set", "paper", "best by the authors' figures", "ours (theirs)", *(f"{m} (theirs)" for m in rivals)]]
    for name, theirs in figures(study).items():
        claim = CLAIMS[study][name]
        best = min(theirs, key=theirs.__getitem__)
        first = "their own" if best == PAPER else best.removesuffix(", as coded")
        cells = []
        for m in (PAPER, *rivals):
            found = values.get((name, m), {})
            word = beside(found, *theirs[m]) if m == PAPER else {1: "higher", -1: "lower"}.get(apart(found, *theirs[m]))
            text = f"{shown(found.values()) or 'not run'} ({theirs[m][0]:g} ± {theirs[m][1]:.1f})"
            cells.append(f"{text}: {word}" if word else text)
        lines.append(
            [name, "✓" if claim else "✗", first if (best == PAPER) == claim else f"{first}, against the table", *cells]
        )
    return lines
