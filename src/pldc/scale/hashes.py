"""Numbers as if by chance for the rows of a table: by what their cells mean, however they are stored."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from numbers import Real
from types import NoneType
from typing import Any
from zlib import crc32

import numpy as np

from pldc.columns.cells import DAY, NUMERIC, RawColumn, Table, days_of, is_missing, kind_of, text_of
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
        types = set(map(type, values.tolist()))
        if str in types:  # a short way, since texts are many
            return "category"
        if all(map(is_missing, values)):
            return None
        if not column.category and hold_numbers(types, NUMERIC):
            return "number"
    return kind_of(column, name)[0]


def hold_numbers(types: set[type], numeric: tuple[type, ...]) -> bool:
    """Say whether cells of such types are numbers, or are missing."""
    return all(issubclass(each, (*numeric, NoneType)) or each.__name__ == "NAType" for each in types)


def bits_of(column: RawColumn) -> Array:
    """Return the cells of a column as 64 bits each, however they are stored: days in any unit, gaps of any kind."""
    values, kind = column.values, column.values.dtype.kind
    if kind == "M" or (kind == "O" and not column.category and kind_seen(column, "") == "date"):
        values = days_of(values)
    elif kind == "m":
        values = values.astype("timedelta64[us]") / DAY
    elif kind == "O" and not column.category:
        values = as_floats(values)
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    return bits_of_objects(values.tolist(), column.category)


def as_floats(values: Array) -> Array:
    """Return objects as floats if all of them are numbers or missing; else, or if one is too large, as they are."""
    types = set(map(type, values.tolist()))
    if not hold_numbers(types, (Real, Decimal, np.bool_)):
        return values
    if any(each.__name__ == "NAType" for each in types):  # of pandas, which is no float
        gaps = np.array([type(cell).__name__ == "NAType" for cell in values])
        values = values.copy()
        values[gaps] = None
    try:
        return values.astype(np.float64)
    except OverflowError:
        return values


def bits_of_objects(cells: list[Any], category: bool) -> Array:
    """Return cells of any types as 64 bits each; equal ones are looked at once."""
    out = np.empty(len(cells), dtype=np.uint64)
    try:
        if category and bool in set(map(type, cells)):  # True is equal to 1, and another level
            pairs = [*zip(map(type, cells), cells, strict=True)]
            known = {pair: bits_of_cell(pair[1], category) for pair in set(pairs)}
            out[:] = [known[pair] for pair in pairs]
        else:
            seen = {c: bits_of_text(c) if type(c) is str else bits_of_cell(c, category) for c in set(cells)}
            out[:] = np.fromiter(map(seen.__getitem__, cells), dtype=np.uint64, count=len(cells))
    except TypeError:  # not hashable: refused later, or compared as text
        out[:] = [bits_of_cell(cell, category) for cell in cells]
    return out


def bits_of_cell(cell: Any, category: bool) -> int:
    """Return a cell of a column of objects as 64 bits."""
    number, numeric = np.nan, isinstance(cell, (Real, Decimal, np.bool_))
    if isinstance(cell, timedelta):
        number = cell / timedelta(days=1)
    elif not is_missing(cell):
        if category or not numeric:
            return bits_of_text(text_of(cell) if numeric else str(cell))
        try:
            number = float(cell)
        except OverflowError:  # a whole number may be beyond all floats
            number = np.inf if cell > 0 else -np.inf
    return int(np.float64(number + 0.0).view(np.uint64))


def bits_of_text(text: str) -> int:
    """Return a text as 32 bits."""
    return crc32(text.encode("utf-8", "surrogatepass"))
