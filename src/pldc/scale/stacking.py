"""Rows of blocks below each other: arrays, frames of pandas or polars, and Arrow tables."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from pldc.columns.cells import Table, cells_as
from pldc.columns.features import Array
from pldc.scale.schemas import wider


def table_of(X: Any) -> Any:
    """Return a batch of Arrow as a table; other tables as they are."""
    if type(X).__module__.partition(".")[0] != "pyarrow" or type(X).__name__ != "RecordBatch":
        return X
    import pyarrow

    return pyarrow.Table.from_batches([X])


def rows_of(X: Any, at: Array) -> Any:
    """Return some rows of an array, a frame of pandas or polars, or an Arrow table."""
    if hasattr(X, "iloc"):
        return X.iloc[at]
    if hasattr(X, "get_columns"):
        return X[at]
    return X.take(at) if hasattr(X, "column_names") else np.asarray(X)[at]


def stacked(parts: list[Any]) -> Any:
    """Put rows of the same kind below each other; categories that are not alike become the texts of their levels."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if hasattr(parts[0], "iloc"):
        return of_pandas(parts)
    if hasattr(parts[0], "column_names"):
        return of_arrow(parts)
    return of_polars(parts) if hasattr(parts[0], "get_columns") else np.concatenate(parts)


def of_pandas(parts: list[Any]) -> Any:
    """Stack frames of pandas."""
    import pandas

    unlike = []
    for k in range(parts[0].shape[1]):
        types = [part.dtypes.iloc[k] for part in parts]
        if isinstance(types[0], pandas.CategoricalDtype) and all(each == types[0] for each in types):
            continue
        if any(isinstance(each, pandas.CategoricalDtype) for each in types):
            unlike.append(k)
    parts = [part.copy(deep=False) for part in parts]
    for part in parts:
        for k in unlike:
            part.isetitem(k, pandas.Series(levels(part.iloc[:, [k]]), index=part.index, dtype=object))
    whole = pandas.concat(parts, ignore_index=True)
    for k in unlike:
        whole.isetitem(k, whole.iloc[:, k].astype("category"))
    return whole


def of_polars(parts: list[Any]) -> Any:
    """Stack frames of polars."""
    import polars

    for name in parts[0].columns:
        types = [part.schema[name] for part in parts]
        if polars.UInt64 in types and any(each.is_signed_integer() for each in types):
            parts = [part.with_columns(polars.col(name).cast(polars.Float64)) for part in parts]
        texts = any(each in (polars.Categorical, polars.Enum, polars.String) for each in types)
        if texts and any(each != types[0] for each in types):
            parts = [
                part.with_columns(polars.Series(name, levels(part.select(name)).tolist(), dtype=polars.String))
                for part in parts
            ]
    return polars.concat(parts, how="vertical_relaxed")


def of_arrow(parts: list[Any]) -> Any:
    """Stack Arrow tables."""
    import pyarrow
    from pyarrow import types

    fields = []
    for name in parts[0].column_names:
        stored = [part.schema.field(name).type for part in parts]
        coded = [each for each in stored if types.is_dictionary(each) and not types.is_string(each.value_type)]
        kind = reduce(wider, stored)
        if kind is None and all(map(types.is_temporal, stored)):
            raise ValueError(f"Column {name!r} has several types in the blocks of the table: give it one in all.")
        if kind is None or (coded and any(each != stored[0] for each in stored)):
            kind = pyarrow.string()
            parts = [
                part.set_column(k, name, pyarrow.array(levels(part.select([name])), kind))
                for part in parts
                for k in [part.column_names.index(name)]
            ]
        fields.append((name, kind))
    schema = pyarrow.schema(fields)
    return pyarrow.concat_tables([part.cast(schema, safe=False) for part in parts]).combine_chunks()


def levels(column: Any) -> Array:
    """Return the cells of a table of one column as the texts of levels."""
    table = Table.read(column)
    return cells_as(table.columns[0], (table.names or ("",))[0], "category")
