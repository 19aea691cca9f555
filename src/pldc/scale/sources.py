"""Where blocks come from: files of Arrow and Parquet, arrays on disk, functions that read them, Dask's collections."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from pldc.columns.cells import is_frame
from pldc.scale.shards import Block, Blocks, Shards

ROWS = 1 << 16  # of a block, at most
BYTES = 32 << 20  # of a block's numbers, at most
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a column with the labels of rows


def is_source(X: Any) -> bool:
    """Say whether rows are to be read block by block: from a path, a dataset, Dask, or a function that gives blocks."""
    return isinstance(X, (str, os.PathLike)) or is_dataset(X) or is_dask(X) or callable(X)


def is_dataset(X: Any) -> bool:
    """Say whether X is a dataset of Arrow."""
    return hasattr(X, "to_batches") and hasattr(X, "schema") and hasattr(X, "scanner")


def is_dask(X: Any) -> bool:
    """Say whether X is an array or a frame of Dask."""
    return hasattr(X, "__dask_graph__")


def n_far(X: Any) -> int | None:
    """Return the number of rows of a collection of Dask, if it is known; None of what is read here."""
    if not is_dask(X):
        return None
    from pldc.scale.dask_shards import rows_in

    return rows_in(X)


def shards_of(X: Any, y: Any, weight: Any, threads: int) -> Shards:
    """Return the blocks of a source, with their targets.

    Parameters
    ----------
    X : path, dataset of Arrow, array on disk, array or frame of Dask, or callable
    y : str, array or None
        Name of the target's column; of arrays, another; None where blocks bring their own.
    weight : str, array or None
        Likewise.
    threads : int
    """
    if is_dask(X):
        from pldc.scale.dask_shards import DaskShards

        return DaskShards(X, y, weight)
    return Blocks(reader_of(X, y, weight), threads)


def reader_of(X: Any, y: Any, weight: Any) -> Callable[[], Iterator[Block]]:
    """Return what reads the blocks of a source, from the first one at every call."""
    if isinstance(X, np.ndarray):
        return partial(of_array, X, y, weight)
    if callable(X):
        if y is not None or weight is not None:
            raise ValueError("A function that gives blocks gives their targets, too: blocks are (X, y) or (X, y, w).")
        return X if isinstance(X, Alike) else Alike(X)
    dataset = opened(X, y)
    refuse_gaps(dataset, [*names_in(dataset, y, weight), *others(y, weight)])
    return partial(of_dataset, dataset, y, weight)


def opened(X: Any, whole: Any = None) -> Any:
    """Return a dataset of Arrow, with the columns of all its files, and types that hold the cells of each.

    Whole numbers of CSV files may be followed by others, but not in the column `whole`.
    """
    if is_dataset(X):
        return X
    try:
        import pyarrow
        from pyarrow import csv, dataset
    except ImportError as error:
        raise ImportError("Reading files needs pyarrow: pip install 'pldc[scale]'") from error
    path = os.fspath(X)
    if not os.path.exists(path):
        raise ValueError(f"X is {path!r:.200}, and there is no such file or folder: give a table, or where one is.")
    commas = dataset.CsvFileFormat(convert_options=csv.ConvertOptions(strings_can_be_null=True))  # empty is missing
    kinds = {".feather": "feather", ".arrow": "feather", ".csv": commas}
    kind = kinds.get(os.path.splitext(path)[1], "parquet")
    read = partial(dataset.dataset, path, format=kind, partitioning="hive" if os.path.isdir(path) else None)
    try:
        first = read()
        schemas = [first.schema, *(part.physical_schema for part in first.get_fragments())]
        schema = pyarrow.unify_schemas(schemas, promote_options="permissive")
        if kind is commas:
            numbers = [f.name for f in schema if pyarrow.types.is_integer(f.type) and f.name != whole]
            schema = pyarrow.schema([f.with_type(pyarrow.float64()) if f.name in numbers else f for f in schema])
        return read(schema=schema)
    except pyarrow.ArrowTypeError as error:
        raise ValueError(f"The files in {path!r} have cells of different types: {error!s:.300}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path!r} cannot be read: {error!s:.300}") from None


def columns_of(dataset: Any) -> list[str]:
    """Return the columns of a dataset, without those in which pandas keeps the labels of rows."""
    index = (dataset.schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in dataset.schema.names if name not in index and not INDEX.fullmatch(name)]


def refuse_gaps(dataset: Any, names: list[str]) -> None:
    """Refuse a dataset of which a file lacks a column, whose cells Arrow would call missing."""
    from pyarrow.dataset import get_partition_keys

    try:
        parts = list(dataset.get_fragments())
    except ValueError:  # of a filtered dataset Arrow does not tell
        return
    for part in parts:
        there = {*part.physical_schema.names, *get_partition_keys(part.partition_expression)}
        lacking = [name for name in names if name not in there]
        if lacking:
            raise ValueError(
                f"{getattr(part, 'path', 'A part of the table')} lacks the columns {lacking!s:.200}, which other files "
                "have: write them, or leave the file out."
            )


def names_in(dataset: Any, y: Any, weight: Any) -> list[str]:
    """Return the columns of a dataset that are features; check the names of the others."""
    names = columns_of(dataset)
    for role, name in (("y", y), ("sample_weight", weight)):
        if name is None and role == "sample_weight":
            continue
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"{role} must name a column of the table, one of {names}; got {name!r:.80}.")
    return [name for name in names if name not in (y, weight)]


def others(y: str, weight: str | None) -> list[str]:
    """Name the columns that are no features."""
    return [y] if weight is None or weight == y else [y, weight]


def of_dataset(dataset: Any, y: Any, weight: Any) -> Iterator[Block]:
    """Read a dataset of Arrow; no more than one file and a few batches are in memory."""
    features = names_in(dataset, y, weight)
    rows = max(1024, min(ROWS, BYTES // (8 * len(dataset.schema.names))))
    for table in batches(dataset, [*features, *others(y, weight)], rows):
        own = None if weight is None else numbers(table[weight])
        yield Block(table.select(features), numbers(table[y]), own)


def batches(dataset: Any, columns: list[str], rows: int) -> Iterator[Any]:
    """Read tables of at most so many rows, few ahead; of Parquet without a copy of its bytes."""
    import pyarrow
    from pyarrow import dataset as kinds

    quiet = {}
    if isinstance(getattr(dataset, "format", None), kinds.ParquetFileFormat):
        quiet["fragment_scan_options"] = kinds.ParquetFragmentScanOptions(pre_buffer=False)
    try:
        for batch in dataset.to_batches(
            columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1, **quiet
        ):
            if batch.num_rows:
                yield pyarrow.Table.from_batches([batch])
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        raise ValueError(
            f"The table cannot be read to its end: {error!s:.300} (if a column has other cells later than at first, "
            "write Parquet, or give a dataset of pyarrow with a schema)"
        ) from None


def numbers(column: Any) -> np.ndarray:
    """Return a column of Arrow as an array."""
    return np.asarray(column.to_numpy())


def of_array(X: np.ndarray, y: Any, weight: Any) -> Iterator[Block]:
    """Read rows of an array that may be on disk."""
    if X.ndim != 2 or np.shape(y) != (len(X),) or (weight is not None and np.shape(weight) != (len(X),)):
        raise ValueError(f"X must be of shape (n, d), y and weights of shape (n,); got {X.shape} and {np.shape(y)}.")
    step = max(1024, min(ROWS, BYTES // (8 * X.shape[1])))
    for start in range(0, len(X), step):
        at = slice(start, start + step)
        yield Block(np.array(X[at]), np.array(y[at]), None if weight is None else np.array(weight[at]))


class Alike:
    """Asks a function for blocks, whose columns are those of its very first one, and whose rows are always as many.

    Parameters
    ----------
    give : callable
    """

    def __init__(self, give: Callable[[], Iterable[Any]]):
        self.give = give
        self.names: list[str] | None = None
        self.width: tuple[int, ...] = ()
        self.rows = 0

    def __call__(self) -> Iterator[Block]:
        """Ask anew."""
        blocks, rows = self.give(), 0
        if isinstance(blocks, (str, bytes)) or not hasattr(blocks, "__iter__"):
            raise TypeError("The function must return blocks, each (X, y) or (X, y, weight), anew at every call.")
        for given in blocks:
            if not isinstance(given, tuple) or len(given) not in (2, 3):
                raise TypeError("A block must be a tuple (X, y) or (X, y, weight).")
            block = Block(*given)
            rows += len(block.y)
            yield block._replace(X=self.in_order(block.X))
        if self.rows not in (0, rows):
            raise ValueError(f"The function gave {rows} rows; at its first call there were {self.rows}: give all anew.")
        self.rows = rows

    def in_order(self, X: Any) -> Any:
        """Return the columns of a block in the order of those of the first."""
        names = [*map(str, X.column_names if hasattr(X, "column_names") else X.columns)] if is_frame(X) else None
        width = np.shape(X)[1:] if names is None else (len(names),)
        if not self.width:
            self.names, self.width = names, width
        if (names, width) == (self.names, self.width):
            return X
        if names is None or self.names is None or set(names) != set(self.names):
            first, later = (f"{each!s:.200}" for each in (self.names or self.width, names or width))
            raise ValueError(f"Blocks must have the same columns: the first has {first}, a later one {later}.")
        return X.select(self.names) if hasattr(X, "select") else X[self.names]


def features_of(X: Any, names: list[str] | None) -> Iterator[Any]:
    """Read the features alone of a source, block by block: to predict."""
    if isinstance(X, np.ndarray):
        for start in range(0, len(X), ROWS):
            yield np.array(X[start : start + ROWS])
    elif callable(X):
        for block in X():
            yield block[0] if isinstance(block, tuple) else block
    else:
        dataset = opened(X)
        names = columns_of(dataset) if names is None else names
        lacking = [name for name in names if name not in dataset.schema.names]
        if lacking:
            raise ValueError(f"The table lacks the columns {lacking!s:.300}.")
        refuse_gaps(dataset, names)
        yield from batches(dataset, names, ROWS)
