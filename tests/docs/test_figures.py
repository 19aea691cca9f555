"""Figures quoted in "Which method when" stand in the tables that the benchmarks wrote."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = [
    *(
        f"benchmarks/results/{name}.rst"
        for name in ("compact_small", "compact_middle", "million", "columns", "classes")
    ),
    "experiments/results/defaults.rst",
]


def figures(text):
    """Return the numbers with decimals in a text."""
    return set(re.findall(r"(?<![\w.])\d[\d,]*\.\d+(?![\w.]*\w)", text))


def unknown(text):
    """Return the figures of a text that no table has."""
    return figures(text) - set().union(*(figures((ROOT / name).read_text(encoding="utf-8")) for name in TABLES))


def test_quotes_are_those_of_the_tables():
    text = (ROOT / "docs" / "which.rst").read_text(encoding="utf-8")
    prose = text[: text.index(".. code-block::")]
    assert len(figures(prose)) > 30
    left = unknown(prose.replace("version 0.1", ""))
    assert not left, f"the tables of {TABLES} have other figures now: change {sorted(left)} in docs/which.rst"


def test_a_wrong_quote_is_seen():
    assert unknown("an error of 4.45, before 4.46, and 10 tables") == {"4.46"}
    assert figures("1.5 seconds, 8.27, 12.") == {"1.5", "8.27"}
