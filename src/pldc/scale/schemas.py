"""Columns of several files: one type for each that holds the cells of all."""

from __future__ import annotations

import os
from typing import Any

OTHERS = ". Files are read as Parquet, unless their names end in .feather, .arrow or .csv."
UNITS = ("s", "ms", "us", "ns")  # of times, the finest last


def whole_parts(path: str | list[str], dataset: Any) -> list[Any]:
    """Return the files of a dataset, of which each can be read; the columns of a file are looked at once."""
    parts = list(dataset.get_fragments())
    for part in parts:
        try:
            names = part.physical_schema.names  # the part keeps it
        except (OSError, ValueError) as error:
            name = name_in(path, part)
            advice = OTHERS
            if name:
                folder = " of the folder, which may hold Parquet files alone" if isinstance(path, str) else ""
                advice = f": mend it, or leave it out{folder}."
            raise ValueError(f"{path!r:.200} cannot be read: {name or 'it'} {fault(error)}{advice}") from None
        if len(set(names)) < len(names):
            raise ValueError(f"{part.path} has several columns of one name: rename them.")
    if not parts:
        raise ValueError(f"{path!r:.200} cannot be read: there is no file in it.")
    return parts


def name_in(path: str | list[str], part: Any) -> str:
    """Return the name of a file in a folder, or in a list; nothing where the path is that of the file."""
    if not isinstance(path, str):
        return str(part.path)
    return os.path.relpath(part.path, path) if os.path.isdir(path) else ""


def fault(error: Exception) -> str:
    """Say what is wrong with a file that Arrow refuses, without the names that Arrow repeats."""
    text = str(error)
    if "Could not open Parquet input source" in text:
        return "is no Parquet file, or is cut off"
    return f"is of another kind, or damaged ({text.splitlines()[0]:.160})"


def common(path: str | list[str], first: Any, parts: list[Any]) -> Any:
    """Return the columns of all files, in the order of the first, with types that hold the cells of each.

    Parameters
    ----------
    path : str or list of str
    first : Schema
        Of the first file, and of the names of folders.
    parts : list of Fragment
    """
    import pyarrow

    kinds = {field.name: field.type for field in first}
    where: dict[str, str] = {}
    for part in parts:
        for field in part.physical_schema:
            name, before = field.name, kinds.get(field.name, field.type)
            kind = wider(before, field.type)
            if kind is None:
                raise ValueError(
                    f"The files in {path!r:.100} have cells of different types in column {name!r}: {before} in "
                    f"{where.get(name, 'the first')}, {field.type} in {name_in(path, part)}. Write them alike."
                )
            if name not in where or kind != before:
                where[name] = name_in(path, part)
            kinds[name] = kind
    return pyarrow.schema(list(kinds.items()), metadata=first.metadata)


def wider(one: Any, other: Any) -> Any:
    """Return a type that holds the cells of two: numbers, texts or dates; None where Arrow knows none.

    True is 1, a date is its first moment, and what is a category in one file is its text. A clock without a time zone
    and one with a zone are not alike. So that several types can be reduced, there is none for none and another.
    """
    import pyarrow
    from pyarrow import types

    if one is None or other is None:
        return None
    if one == other or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    one, other = decoded(one), decoded(other)
    wide = one if one == other else None
    for a, b in ((one, other), (other, one)):
        if types.is_boolean(a) and (types.is_integer(b) or types.is_floating(b) or types.is_decimal(b)):
            wide = b
        if types.is_date(a) and types.is_timestamp(b):
            wide = b
        if types.is_uint64(a) and types.is_signed_integer(b):
            wide = pyarrow.decimal128(20)  # no whole numbers hold both, and Arrow reads large ones as no floats
    if types.is_timestamp(one) and types.is_timestamp(other) and (one.tz is None) == (other.tz is None):
        wide = pyarrow.timestamp(max(one.unit, other.unit, key=UNITS.index), one.tz)
    try:
        if wide is None:
            fields = [pyarrow.schema([("c", kind)]) for kind in (one, other)]
            wide = pyarrow.unify_schemas(fields, promote_options="permissive").field(0).type
        for kind in (one, other):
            pyarrow.nulls(0, kind).cast(wide)
    except pyarrow.ArrowException:
        return None
    return wide


def decoded(kind: Any) -> Any:
    """Return the type of the cells of a category, and the plain type of texts."""
    import pyarrow
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return pyarrow.string() if types.is_string_view(kind) else kind
