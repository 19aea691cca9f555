"""Cells of any table, as numbers, texts or days: frames are known by what they can do, not by their package."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from pldc.columns.features import Array

DAY = np.timedelta64(86_400_000_000, "us")
EPOCH = datetime(1970, 1, 1)
NUMERIC = (Real, Decimal, np.bool_, timedelta, np.timedelta64, complex, np.complexfloating)
DATES = (date, np.datetime64)
TEXTS = (str, Real, Decimal, np.bool_, date, np.datetime64, timedelta, np.timedelta64)  # whose text is a level
HELD = {"number": "numbers or booleans", "category": "levels of a category", "date": "dates"}


@dataclass(frozen=True)
class RawColumn:
    """A column as it was given.

    Attributes
    ----------
    values : array of shape (n,)
    category : bool
        Its type says that it holds categories.
    zone : str or None
        Time zone of dates, which are given on its clock.
    """

    values: Array
    category: bool = False
    zone: str | None = None


@dataclass(frozen=True)
class Table:
    """The columns of a table, and their names where it has them."""

    columns: tuple[RawColumn, ...]
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    @classmethod
    def read(cls, table: Any) -> Table:
        """Read a frame of pandas or polars, an Arrow table, a dict of columns, or an array of shape (n, d)."""
        if isinstance(table, Table):
            return table
        if isinstance(table, dict):
            if not all(isinstance(cells, Sized) for cells in table.values()):
                raise TypeError("A dict must hold columns: a sequence of cells for each name.")
            return cls._checked([RawColumn(_objects(cells)) for cells in table.values()], tuple(table))
        if hasattr(table, "iloc"):
            return cls._checked([_of_pandas(table.iloc[:, k]) for k in range(table.shape[1])], tuple(table.columns))
        if hasattr(table, "get_columns"):
            return cls._checked([_of_polars(each) for each in table.get_columns()], tuple(table.columns))
        if hasattr(table, "column_names"):
            return cls._checked([_of_arrow(each) for each in table.columns], tuple(table.column_names))
        array = np.asarray(table)
        if array.dtype.kind in "US" and not isinstance(table, np.ndarray):
            array = np.array(table, dtype=object)  # [[1.5, "a"]] is not all text
        if array.ndim != 2:
            raise ValueError(f"Expected 2D array: X must be a table of shape (n, d), got shape {array.shape}.")
        return cls._checked([RawColumn(array[:, k]) for k in range(array.shape[1])], None)

    @classmethod
    def _checked(cls, columns: list[RawColumn], given: tuple[Any, ...] | None) -> Table:
        names = None if given is None else tuple(map(str, given))
        if names is not None and len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"Columns must have different names; {twice} occur several times: rename them.")
        if not columns:
            raise ValueError("The table has no columns: 0 feature(s) (shape=(n, 0)) while a minimum of 1 is required.")
        if len({len(column.values) for column in columns}) > 1:
            raise ValueError("The columns of the table must be equally long.")
        return cls(tuple(columns), names)

    def refuse_empty(self) -> None:
        """Refuse a table without rows."""
        if not self.n_rows:
            raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(self.columns)})): give a row at least.")

    def in_order(self, names: Sequence[str]) -> Table:
        """Return the columns in the order of the names, which must all be there; without names as they are."""
        if self.names is not None and set(self.names) != set(names):
            lacking = [name for name in names if name not in self.names]
            strange = [name for name in self.names if name not in names]
            told = [f"{verb} {found}" for verb, found in (("lacks", lacking), ("has", strange)) if found]
            raise ValueError(f"The table must have the columns of the training, no others: it {', and '.join(told)}.")
        if len(self.columns) != len(names):
            raise ValueError(f"The table has {len(self.columns)} columns; the model was fitted to {len(names)}.")
        if self.names is None:
            return self
        return Table(tuple(self.columns[self.names.index(name)] for name in names), tuple(names))


def is_frame(table: Any) -> bool:
    """Say whether a table is a frame, whose columns have types of their own."""
    return any(hasattr(table, name) for name in ("iloc", "get_columns", "column_names")) and hasattr(table, "columns")


def _of_pandas(series: Any) -> RawColumn:
    if hasattr(series, "cat"):
        levels = _objects([*(text_of(level, str(series.name)) for level in series.cat.categories), None])
        return RawColumn(levels[np.asarray(series.cat.codes, dtype=np.intp)], category=True)
    if str(series.dtype).startswith("period"):
        series = series.dt.to_timestamp()
    zone = getattr(series.dtype, "tz", None)
    if zone is not None:
        return RawColumn(series.dt.tz_localize(None).to_numpy(), zone=str(zone))
    return RawColumn(series.to_numpy())


def _of_polars(series: Any) -> RawColumn:
    zone = getattr(series.dtype, "time_zone", None)
    if zone is not None:
        series = series.dt.replace_time_zone(None)
    return RawColumn(series.to_numpy(), str(series.dtype).split("(")[0] in ("Categorical", "Enum"), zone)


def _of_arrow(chunks: Any) -> RawColumn:
    category = hasattr(chunks.type, "value_type") and hasattr(chunks.type, "index_type")
    zone = getattr(chunks.type, "tz", None)
    if category:
        levels = [_objects([*chunk.dictionary.to_pylist(), None]) for chunk in chunks.chunks]
        codes = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in chunks.chunks]
        cells = [each[at] for each, at in zip(levels, codes, strict=True)]
        return RawColumn(np.concatenate([_objects([]), *cells]), category=True)
    if zone is not None:
        cells = [None if cell is None else cell.replace(tzinfo=None) for cell in chunks.to_pylist()]
        return RawColumn(_objects(cells), zone=zone)
    return RawColumn(chunks.to_numpy())


def _objects(cells: Any) -> Array:
    """Return cells as a one-dimensional array of objects, or as the array that they are."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1:
        return cells
    out = np.empty(len(cells), dtype=object)
    out[:] = list(cells)
    return out


def kind_of(column: RawColumn, name: str) -> tuple[str, str | None]:
    """Return what a column holds: numbers, categories or dates, the latter with their time zone."""
    if column.category:
        return "category", None
    kind = column.values.dtype.kind
    if kind == "O":
        cells = [cell for cell in column.values if not is_missing(cell)]
        if cells and all(map(is_date, cells)):
            return "date", column.zone or _zone_of(cells, name)
        return ("number" if all(isinstance(cell, NUMERIC) for cell in cells) else "category"), None
    return {"M": "date", "U": "category", "T": "category", "S": "category"}.get(kind, "number"), column.zone


def holds_booleans(column: RawColumn) -> bool:
    """Say whether a column holds nothing but True, False and missing cells."""
    if column.values.dtype.kind != "O" or column.category:
        return column.values.dtype.kind == "b"
    cells = [cell for cell in column.values if not is_missing(cell)]
    return bool(cells) and all(isinstance(cell, (bool, np.bool_)) for cell in cells)


def cells_as(column: RawColumn, name: str, kind: str, zone: str | None = None) -> Array:
    """Return the cells of a column, read as a kind: floats, texts or days, see :mod:`pldc.columns.features`."""
    if kind == "category":
        return _texts(column, name)
    found, clock = kind_of(column, name)
    if found != kind and not _all_missing(column.values):
        suits = is_date if kind == "date" else lambda cell: isinstance(cell, NUMERIC)
        strange = next(cell for cell in column.values if not (is_missing(cell) or suits(cell)))
        raise ValueError(f"Column {name!r} must hold {HELD[kind]}, as in training; it holds {plain_repr(strange)}.")
    if kind == "number":
        return _numbers(column.values, name)
    if clock != zone and not _all_missing(column.values):
        raise ValueError(
            f"The dates of column {name!r} are in the time zone {clock}; in training it was {zone}: convert them."
        )
    return days_of(column.values)


def is_date(cell: Any) -> bool:
    """Say whether a cell is a date; a period of pandas is its first moment."""
    return isinstance(cell, DATES) or hasattr(cell, "to_timestamp")


def refuse_objects(column: RawColumn, name: str) -> None:
    """Refuse cells that are neither text, numbers nor dates in a column that nobody called a category."""
    if column.values.dtype.kind != "O" or column.category:
        return
    for cell in column.values:
        if isinstance(cell, bytes):
            text_of(cell, name)
        if not (isinstance(cell, TEXTS) or is_missing(cell)):
            raise TypeError(
                f"Column {name!r} holds {plain_repr(cell)}, of type {type(cell).__name__}: the argument must be a "
                "string, a number, a boolean or a date. Convert such cells, or name the column in "
                "categorical_features: they are compared as text then."
            )


def plain_repr(cell: Any) -> str:
    """Return what stands in a cell, in 80 characters."""
    return f"{cell.item() if isinstance(cell, np.number) else cell!r:.80}"


def is_missing(cell: Any) -> bool:
    """Say whether a cell is None, NaN, NaT or NA."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return False


def check_labels(y: Any) -> None:
    """Refuse labels of which some are missing, that are neither text, numbers nor booleans, or that are mixed."""
    labels = np.asarray(y)
    if labels.dtype.kind in "US" and isinstance(y, list | tuple):  # NumPy would make text of gaps and numbers
        labels = np.asarray(y, dtype=object)
    if labels.dtype.kind not in "OfmM" or labels.ndim != 1:
        return
    if labels.dtype.kind in "mM":
        _refuse_label(labels[0] if len(labels) else labels.dtype)
    missing = int(np.isnan(labels).sum()) if labels.dtype.kind == "f" else sum(map(is_missing, labels))
    if missing:
        raise ValueError(f"y contains NaN, or None: {missing} of {len(labels)} labels are missing. Drop these rows.")
    if labels.dtype.kind == "f":
        return
    for label in labels:
        if not isinstance(label, (str, bytes, Real, np.bool_)):
            _refuse_label(label)
    try:
        sorted(set(labels.tolist()))
        mixed = len({isinstance(label, (bool, np.bool_)) for label in labels}) > 1
    except TypeError:
        mixed = True
    if mixed:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"y holds labels of several types, {kinds}: make all of them text.")


def _refuse_label(label: Any) -> None:
    raise ValueError(
        f"y holds {str(label)!r:.80}, of type {type(label).__name__}: labels are text, whole numbers or booleans. Make "
        "text of them, y.astype(str)."
    )


def _all_missing(values: Array) -> bool:
    return all(is_missing(cell) for cell in values)


def _numbers(values: Array, name: str) -> Array:
    if values.dtype.kind == "c":
        raise ValueError(f"Column {name!r} holds complex numbers: Complex data not supported. Give its parts.")
    if values.dtype.kind == "m":
        out = values / DAY
    elif values.dtype.kind == "O":
        out = np.array([_number(cell, name) for cell in values], dtype=np.float64)
    else:
        out = values.astype(np.float64)
    if np.isinf(out).any():
        raise ValueError(f"Column {name!r} contains infinity or a value too large for dtype('float64').")
    return np.asarray(out, dtype=np.float64)


def _number(cell: Any, name: str) -> float:
    if is_missing(cell):
        return np.nan
    if isinstance(cell, (timedelta, np.timedelta64)):
        return float(np.timedelta64(cell, "us") / DAY)
    try:
        return float(cell)
    except OverflowError:
        return np.inf
    except TypeError:
        raise ValueError(f"Column {name!r} holds {cell!r:.80}: Complex data not supported. Give its parts.") from None


def _texts(column: RawColumn, name: str) -> Array:
    """Return the levels as texts: 1, 1.0 and "1" are one level; None where missing."""
    known: dict[Any, str | None] = {}
    out = np.empty(len(column.values), dtype=object)
    for k, cell in enumerate(column.values.tolist() if column.values.dtype.kind in "biufUT" else column.values):
        key = type(cell), cell  # True is equal to 1, and another level
        try:
            if key not in known:
                known[key] = None if is_missing(cell) else text_of(cell, name)
            out[k] = known[key]
        except TypeError:  # not hashable
            out[k] = None if is_missing(cell) else text_of(cell, name)
    return out


def text_of(cell: Any, name: str = "") -> str:
    """Return the level that a cell is."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, (bool, np.bool_)):
        return str(bool(cell))
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, (Real, Decimal)):
        number = float(cell)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(cell, bytes):
        raise TypeError(f"Column {name!r} holds bytes, {cell!r:.80}: decode them to text.")
    return str(cell.astype("datetime64[us]").item() if isinstance(cell, np.datetime64) else cell)  # as of a Timestamp


def _zone_of(cells: list[Any], name: str) -> str | None:
    """Return the time zone of dates given one by one; they must share it."""
    zones = {None if (zone := getattr(cell, "tzinfo", None)) is None else str(zone) for cell in cells}
    if len(zones) > 1:
        raise ValueError(f"The dates of column {name!r} are in several time zones, {sorted(map(str, zones))}.")
    return zones.pop()


def days_of(values: Array) -> Array:
    """Return dates as days since 1970 on their own clock, NaN where missing."""
    if values.dtype.kind == "O":
        values = np.array([_naive(cell) for cell in values], dtype="datetime64[us]")
    days = (values.astype("datetime64[us]") - np.datetime64(EPOCH, "us")) / DAY
    return np.asarray(days, dtype=np.float64)


def _naive(cell: Any) -> Any:
    if is_missing(cell):
        return np.datetime64("NaT")
    if hasattr(cell, "to_timestamp"):
        cell = cell.to_timestamp()
    return cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell
