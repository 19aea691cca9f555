"""Numbers as if by chance for the rows of a table: by what their cells mean, however they are stored."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np

from pldc.columns.cells import DAY, RawColumn, Table, days_of, is_missing, kind_of, text_of
from pldc.columns.features import Array

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits as if by chance
HIGHEST = 2**64 - 1


def hashes(table: Table, y: Array) -> Array:
    """Return a number for each row that looks as if by chance; equal rows have the same."""
    key = np.zeros(table.n_rows, dtype=np.uint64)
    for column in (*table.columns, RawColumn(y)):
        key = (key ^ bits_of(column)) * MIX
        key ^= key >> np.uint64(29)
    return key


def kind_seen(column: RawColumn, name: str) -> str | None:
    """Return what a column of a block holds; None where all its cells are missing, which may be so of any kind."""
    values, kind = column.values, column.values.dtype.kind
    if kind in "fMm":
        return None if np.isnan(values[:1]).all() and np.isnan(values).all() else kind_of(column, name)[0]
    if kind == "O":
        if str in set(map(type, values)):  # a short way, since texts are many
            return "category"
        if all(map(is_missing, values)):
            return None
    return kind_of(column, name)[0]


def bits_of(column: RawColumn) -> Array:
    """Return the cells of a column as 64 bits each, however they are stored: days in any unit, gaps of any kind."""
    values, kind = column.values, column.values.dtype.kind
    if kind == "M" or (kind == "O" and not column.category and kind_seen(column, "") == "date"):
        values = days_of(values)
    elif kind == "m":
        values = values.astype("timedelta64[us]") / DAY
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    known: dict[Any, int] = {}
    out = np.empty(len(values), dtype=np.uint64)
    for k, cell in enumerate(values.tolist()):
        if cell not in known:
            known[cell] = bits_of_cell(cell, column.category)
        out[k] = known[cell]
    return out


def bits_of_cell(cell: Any, category: bool) -> int:
    """Return a cell of a column of objects as 64 bits."""
    number, numeric = np.nan, isinstance(cell, (Real, Decimal, np.bool_))
    if isinstance(cell, timedelta):
        number = cell / timedelta(days=1)
    elif not is_missing(cell):
        if category or not numeric:
            text = text_of(cell) if numeric else str(cell)
            return crc32(text.encode("utf-8", "surrogatepass"))
        number = float(cell) if abs(cell) < HIGHEST else np.inf  # a whole number may be beyond all floats
    return int(np.float64(number).view(np.uint64))
