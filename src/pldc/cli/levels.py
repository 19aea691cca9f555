"""Cells of a CSV file as the levels that a model knows: text where it is one, else that of the number."""

from __future__ import annotations

import re
import sys
from typing import Any

from pldc.columns.cells import text_of

WHOLE = re.compile(r"[+-]?\d{1,300}")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
BOOLEANS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def category_columns(model: Any) -> dict[str, tuple[str, ...]]:
    """Return the columns of a model that are categories, with their levels; of a model without names none."""
    rules = model.model_.columns
    if rules is None or not hasattr(model, "feature_names_in_"):
        return {}
    return {each.name: rules.levels(k) for k, each in enumerate(rules.columns) if each.kind == "category"}


def as_levels(table: Any, columns: dict[str, tuple[str, ...]], name: str) -> Any:
    """Return a table of which these columns, read as text, hold the levels of a model; say where most are unknown."""
    for column, levels in columns.items():
        if column not in table:
            continue
        known = set(levels)
        padded = any(canonical(level) != level for level in known)  # 01005: training did not read numbers
        cells = table[column]
        told = {cell: cell if cell in known or padded else canonical(cell) for cell in cells.dropna().unique()}
        table[column] = cells.map(told)
        filled = table[column].dropna()
        strange = ~filled.isin(known)
        if strange.mean() > 0.5:
            print(
                f"{name}: {strange.sum()} of {len(filled)} cells in {column!r} are levels that training has not seen, "
                f"such as {filled[strange].iloc[0]!r:.40}",
                file=sys.stderr,
            )
    return table


def canonical(cell: str) -> str:
    """Return the text of a number, or of a truth value, as training writes its level; other text as it is."""
    text = cell.strip()
    if WHOLE.fullmatch(text):
        return text_of(int(text))
    return text_of(float(text)) if NUMBER.fullmatch(text) else BOOLEANS.get(text, cell)
