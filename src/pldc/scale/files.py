"""Files of Parquet, Arrow and CSV, and folders of them: opened once, and read in batches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from pldc.scale.schemas import common, whole_parts

CSV = "CSV files must have a line of names, commas between cells, the encoding UTF-8, and not be packed"
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a column with the labels of rows


def is_dataset(X: Any) -> bool:
    """Say whether X is a dataset of Arrow."""
    return hasattr(X, "to_batches") and hasattr(X, "schema") and hasattr(X, "scanner")


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
    path = os.fspath(X) if isinstance(X, str | os.PathLike) else files_of(X)
    for each in [path] if isinstance(path, str) else path:
        if not os.path.exists(each):
            raise ValueError(f"X is {each!r:.200}, and there is no such file or folder: give a table, or where one is.")
    commas = dataset.CsvFileFormat(convert_options=csv.ConvertOptions(strings_can_be_null=True))  # empty is missing
    kinds = {".feather": "feather", ".arrow": "feather", ".csv": commas}
    kind = kinds.get(ending(path if isinstance(path, str) else path[0]), "parquet")
    folder = isinstance(path, str) and os.path.isdir(path)
    read = partial(dataset.dataset, path, format=kind, partitioning="hive" if folder else None)
    try:
        first = read()
    except (OSError, ValueError) as error:
        whole_parts(path, read(schema=pyarrow.schema([])))  # says which file it is
        hint = f" ({CSV})" if kind is commas else ""
        raise ValueError(f"{path!r:.200} cannot be read: {error!s:.300}{hint}") from None
    parts = whole_parts(path, first)
    schema = common(path, first.schema, parts)
    if kind is commas:
        strange = [f.name for f in schema if pyarrow.types.is_binary(f.type)]
        if strange:
            raise ValueError(f"{path!r:.200} cannot be read: columns {strange!s:.200} are no text. {CSV}.")
        numbers = [f.name for f in schema if pyarrow.types.is_integer(f.type) and f.name != whole]
        schema = pyarrow.schema([f.with_type(pyarrow.float64()) if f.name in numbers else f for f in schema])
    return dataset.FileSystemDataset(parts, schema, first.format, first.filesystem)  # files are not opened again


def files_of(paths: Any) -> list[str]:
    """Return a list of paths, which must be of files of one kind."""
    found = [os.fspath(path) for path in paths]
    kinds = sorted({ending(path) for path in found})
    if len(kinds) > 1:
        raise ValueError(f"A list of files must hold one kind; these end in {', '.join(map(repr, kinds))!s:.200}.")
    for path in found:
        if os.path.isdir(path):
            raise ValueError(f"A list may hold files, and {path!r:.200} is a folder: give it alone, or list its files.")
    return found


def ending(path: str) -> str:
    """Return how the name of a file ends."""
    return os.path.splitext(path)[1].lower()


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


def batches(dataset: Any, columns: list[str], rows: int) -> Iterator[tuple[Any, str]]:
    """Read tables of at most so many rows, few ahead, with where each is; of Parquet without a copy of its bytes."""
    import pyarrow
    from pyarrow import dataset as kinds

    quiet, last = {}, None
    if isinstance(getattr(dataset, "format", None), kinds.ParquetFileFormat):
        quiet["fragment_scan_options"] = kinds.ParquetFragmentScanOptions(pre_buffer=False)
    try:
        scanner = dataset.scanner(columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1, **quiet)
        for batch, last in scanner.scan_batches():
            if batch.num_rows:
                yield pyarrow.Table.from_batches([batch]), getattr(last, "path", "")
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        hint = "was it changed since it was opened?"
        if isinstance(getattr(dataset, "format", None), kinds.CsvFileFormat):
            hint = (
                "if a column has other cells later than at first, write Parquet, or give a dataset of pyarrow with a "
                "schema"
            )
        where = broken(dataset, columns, last)
        raise ValueError(f"The table cannot be read to its end{where}: {error!s:.300} ({hint})") from None


def broken(dataset: Any, columns: list[str], last: Any) -> str:
    """Name the first file, from the last one of which something was read on, that cannot be read; if there is one."""
    import pyarrow

    try:
        parts = [] if isinstance(dataset, pyarrow.dataset.InMemoryDataset) else [*dataset.get_fragments()]
    except ValueError:  # of a filtered dataset Arrow does not tell them
        return ""
    paths = [getattr(part, "path", "") for part in parts]
    for part in parts[paths.index(last.path) if getattr(last, "path", "") in paths else 0 :]:
        there = [name for name in columns if name in part.physical_schema.names]
        try:
            for _ in part.to_batches(columns=there, schema=dataset.schema):
                pass
        except (pyarrow.ArrowException, UnicodeDecodeError, OSError):
            return f", in {part.path}" if getattr(part, "path", "") else ""
    return ""
