"""Long tables of numbers as text: four characters or so a number, and every number comes back to the last bit.

A packed table is ``{"$packed": text, "rows": k, "runs": [[columns, decimals, bytes], ...]}``. The text is base64. Run
after run, and row by row within a run, it holds whole numbers of so many bytes, in two's complement with the lowest
byte first; a number of the table is one of these over 10^decimals. Where decimals are null, it holds doubles.
"""

from __future__ import annotations

import base64
from reprlib import repr as shortened
from typing import Any

import numpy as np

from pldc.function.max_affine import Array, IntArray

EXACT = 22  # powers of ten up to this one are floats
WIDTHS = (2, 3, 4)  # bytes of a whole number
DOUBLE = 8
RUN = 12  # bytes that a run takes to describe, about


def pack(table: Array) -> dict[str, Any]:
    """Return a table (rows, columns) of finite numbers as text.

    Examples
    --------
    >>> pack(np.array([[0.5, 1.25], [-0.5, 3.0]]))
    {'$packed': 'MgB9AM7/LAE=', 'rows': 2, 'runs': [[2, 2, 2]]}
    """
    places, runs, data = least_decimals(table), [], []
    begin = 0
    while begin < table.shape[1]:
        end, decimals, width = one_run(table, places, begin)
        runs.append([end - begin, decimals, width])
        data.append(as_bytes(table[:, begin:end], decimals, width))
        begin = end
    return {"$packed": base64.b64encode(b"".join(data)).decode("ascii"), "rows": len(table), "runs": runs}


def unpack(record: Any, place: str) -> Array:
    """Return the table of a record made by :func:`pack`; a malformed one is refused, with its place."""
    if not isinstance(record, dict) or set(record) != {"$packed", "rows", "runs"}:
        raise ValueError(f"{place} must have the entries $packed, rows and runs, and no others.")
    text, rows, runs = record["$packed"], record["rows"], record["runs"]
    if type(text) is not str or type(rows) is not int or rows < 1 or type(runs) is not list or not runs:
        raise ValueError(f"{place} must have a text $packed, a number of rows, and a list of runs that is not empty.")
    if not all(map(is_run, runs)):
        raise ValueError(
            f"{place}.runs must be lists of a number of columns, of decimals and of bytes: whole numbers of 2, 3 or 4 "
            f"bytes, with -{EXACT} to {EXACT} decimals, or doubles of {DOUBLE} with null; got {shortened(runs)}."
        )
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError(f"{place}.$packed is not base64: {error}.") from None
    sizes = [rows * columns * width for columns, _, width in runs]
    if sum(sizes) != len(data):
        raise ValueError(f"{place}.$packed holds {len(data)} bytes; its rows and runs are of {sum(sizes)!s:.30}.")
    out, begin, column = np.empty((rows, sum(columns for columns, *_ in runs))), 0, 0
    for (columns, decimals, width), size in zip(runs, sizes, strict=True):
        found = from_bytes(data[begin : begin + size], decimals, width)
        out[:, column : column + columns] = found.reshape(rows, columns)
        begin, column = begin + size, column + columns
    if not np.isfinite(out).all():
        raise ValueError(f"{place} contains NaN or infinity.")
    return out


def is_run(given: Any) -> bool:
    """Say whether this describes a run."""
    if type(given) is not list or len(given) != 3 or type(given[0]) is not int or type(given[2]) is not int:
        return False
    columns, decimals, width = given
    if columns < 1:
        return False
    if decimals is None:
        return width == DOUBLE
    return type(decimals) is int and abs(decimals) <= EXACT and width in WIDTHS


def least_decimals(table: Array) -> IntArray:
    """Return how many decimals the numbers of each column have; more than `EXACT` where these are too many."""
    out = np.full(table.shape[1], EXACT + 1)
    signed = (np.signbit(table) & (table == 0)).any(axis=0)  # no whole number is −0
    for decimals in range(EXACT, -EXACT - 1, -1):
        same = (over_ten(whole_of(table, decimals), decimals) == table).all(axis=0)
        out[same & ~signed] = decimals
    return out


def one_run(table: Array, places: IntArray, begin: int) -> tuple[int, int | None, int]:
    """Return the end of a run of columns whose numbers need as many bytes, with its decimals and these bytes."""
    decimals, end = int(places[begin]), begin + 1
    width = width_of(table[:, begin], decimals)
    while end < len(places):
        own, finer = int(places[end]), max(decimals, int(places[end]))
        spare = len(table) * (width - width_of(table[:, [end]], own))
        if width_of(table[:, begin : end + 1], finer) != width or spare > RUN:
            break
        decimals, end = finer, end + 1
    return end, None if width == DOUBLE else decimals, width


def width_of(columns: Array, decimals: int) -> int:
    """Return the bytes that the numbers of some columns need."""
    if decimals <= EXACT:
        largest = float(np.abs(whole_of(columns, decimals)).max())
        for width in WIDTHS:
            if largest < 2 ** (8 * width - 1):
                return width
    return DOUBLE


def whole_of(values: Array, decimals: int) -> Array:
    """Return numbers times 10^decimals, rounded to whole ones."""
    with np.errstate(over="ignore"):
        return np.rint(values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals)


def over_ten(whole: Array, decimals: int) -> Array:
    """Return whole numbers over 10^decimals; powers up to 10^22 are exact, so that this is rounded once."""
    with np.errstate(over="ignore"):
        return whole / 10.0**decimals if decimals >= 0 else whole * 10.0**-decimals


def as_bytes(table: Array, decimals: int | None, width: int) -> bytes:
    """Return the numbers of a run, row by row."""
    if decimals is None:
        return np.ascontiguousarray(table, dtype="<f8").tobytes()
    whole = whole_of(table, decimals).astype("<i8")
    return whole.reshape(-1, 1).view(np.uint8)[:, :width].tobytes()


def from_bytes(data: bytes, decimals: int | None, width: int) -> Array:
    """Return the numbers of a run."""
    if decimals is None:
        return np.frombuffer(data, dtype="<f8")
    filled = np.zeros((len(data) // width, 4), dtype=np.uint8)
    filled[:, 4 - width :] = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)  # the sign is in the last byte
    whole = filled.view("<i4")[:, 0] >> (32 - 8 * width)
    return over_ten(whole.astype(np.float64), decimals)
