"""Long tables of numbers as text: four characters or so a number, and every number comes back to the last bit.

A packed table is ``{"$packed": text, "rows": k, "runs": [[columns, decimals, bytes], ...]}``. The text is base64. Run
after run, and row by row within a run, it holds whole numbers of so many bytes, in two's complement with the lowest
byte first; a number of the table is one of these over 10^decimals. Where decimals are null, it holds doubles.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from pldc.function.max_affine import Array, IntArray

EXACT = 22  # powers of ten up to this one are floats
WIDTHS = (3, 4)  # bytes of a whole number
DOUBLE = 8
MOST = 10**9  # rows, and columns of a run
AT_ONCE = 1 << 16  # numbers that are read at a time
RUN = 12  # bytes that a run takes to describe, about


def pack(table: Array) -> dict[str, Any]:
    """Return a table (rows, columns) of finite numbers as text.

    Examples
    --------
    >>> pack(np.array([[0.5, 1.25], [-0.5, 3.0]]))
    {'$packed': 'MgAAfQAAzv//LAEA', 'rows': 2, 'runs': [[2, 2, 3]]}
    """
    places, highest, runs, data = least_decimals(table), np.abs(table).max(axis=0), [], []
    begin = 0
    while begin < table.shape[1]:
        end, decimals, width = one_run(highest, places, begin, len(table))
        runs.append([end - begin, decimals, width])
        data.append(as_bytes(table[:, begin:end], decimals, width))
        begin = end
    return {"$packed": base64.b64encode(b"".join(data)).decode("ascii"), "rows": len(table), "runs": runs}


def unpack(record: Any, place: str) -> Array:
    """Return the table of a record made by :func:`pack`; a malformed one is refused, with its place."""
    if not isinstance(record, dict) or set(record) != {"$packed", "rows", "runs"}:
        raise ValueError(f"{place} must have the entries $packed, rows and runs, and no others.")
    text, rows, runs = record["$packed"], record["rows"], record["runs"]
    if type(text) is not str or type(rows) is not int or not 0 < rows <= MOST or type(runs) is not list or not runs:
        raise ValueError(f"{place} must have a text $packed, a number of rows, and a list of runs that is not empty.")
    if not all(map(is_run, runs)):
        raise ValueError(
            f"{place}.runs must be lists of a number of columns, of decimals and of bytes: whole numbers of 3 or 4 "
            f"bytes, with -{EXACT} to {EXACT} decimals, or doubles of {DOUBLE} with null."
        )
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError(f"{place}.$packed is not base64: {error}.") from None
    sizes = [rows * columns * width for columns, _, width in runs]
    if sum(sizes) != len(data):
        raise ValueError(f"{place}.$packed holds {len(data)} bytes; its rows and runs are of {sum(sizes)!s:.30}.")
    out, column, rest = np.empty((rows, sum(columns for columns, *_ in runs))), 0, memoryview(data)
    for columns, decimals, width in runs:
        step = max(1, AT_ONCE // columns)
        for k in range(0, rows, step):  # little by little, so that a small file takes little memory
            some = out[k : k + step, column : column + columns]
            some[...] = from_bytes(rest[: some.size * width], decimals, width).reshape(some.shape)
            rest = rest[some.size * width :]
        column += columns
    if not np.isfinite(out).all():
        raise ValueError(f"{place} contains NaN or infinity.")
    return out


def is_run(given: Any) -> bool:
    """Say whether this describes a run."""
    if type(given) is not list or len(given) != 3 or type(given[0]) is not int or type(given[2]) is not int:
        return False
    columns, decimals, width = given
    if not 0 < columns <= MOST:
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


def one_run(highest: Array, places: IntArray, begin: int, rows: int) -> tuple[int, int | None, int]:
    """Return the end of a run of columns whose numbers need as many bytes, with its decimals and these bytes.

    Parameters
    ----------
    highest : array
        Largest number of each column, in size.
    places : array
        Decimals of each.
    begin, rows : int
    """
    decimals, end, most = int(places[begin]), begin + 1, float(highest[begin])
    width = width_of(most, decimals)
    while end < len(places):
        own, larger = int(places[end]), max(most, float(highest[end]))
        spare = rows * (width - width_of(float(highest[end]), own))
        if width_of(larger, max(decimals, own)) != width or spare > RUN:
            break
        decimals, most, end = max(decimals, own), larger, end + 1
    return end, None if width == DOUBLE else decimals, width


def width_of(largest: float, decimals: int) -> int:
    """Return the bytes that numbers of such a size need."""
    if decimals <= EXACT:
        whole = float(whole_of(largest, decimals))
        for width in WIDTHS:
            if whole < 2 ** (8 * width - 1):
                return width
    return DOUBLE


def whole_of(values: Array | float, decimals: int) -> Array:
    """Return numbers times 10^decimals, rounded to whole ones."""
    with np.errstate(over="ignore"):
        return np.asarray(np.rint(np.multiply(values, 10.0**decimals) if decimals >= 0 else values / 10.0**-decimals))


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


def from_bytes(data: memoryview, decimals: int | None, width: int) -> Array:
    """Return the numbers of a run."""
    if decimals is None:
        return np.frombuffer(data, dtype="<f8")
    filled = np.zeros((len(data) // width, 4), dtype=np.uint8)
    filled[:, 4 - width :] = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)  # the sign is in the last byte
    whole = filled.view("<i4")[:, 0] >> (32 - 8 * width)
    return over_ten(whole.astype(np.float64), decimals)
