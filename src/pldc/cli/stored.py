"""Tables that the shell reads block by block: which they are, and CSV with the types that it has in memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pldc.cli.tables import COLUMNAR, ShellError, first_line, needs, read_csv, require
from pldc.scale.files import columns_of, opened

MOST_CELLS = 125_000_000  # of a table in columns that is read into memory: a gigabyte of numbers
HEAD = 1000  # rows that tell what a target is
TYPED = 20_000  # rows of a CSV file that tell what its columns are


def stored(path: str, asked: bool, texts: Sequence[str] = (), whole: Sequence[str] = ()) -> Any:
    """Return a dataset of Arrow where a table is to be read block by block, and None where it goes into memory.

    So are folders, large tables, and those of which it is asked: Parquet, Arrow, and CSV. For `texts` and `whole` see
    :func:`opened_csv`.
    """
    file = Path(path)
    if path != "-" and not file.exists():
        raise ShellError(f"There is no file {path}.")
    if path == "-" or (file.suffix.lower() not in (*COLUMNAR, ".csv") and not file.is_dir()):
        if asked:
            raise ShellError(f"{path} goes into memory: --max-memory needs Parquet, Arrow or an unpacked .csv.")
        return None
    if file.suffix.lower() == ".csv" and not (asked or file.is_dir()):
        return None
    needs("pyarrow")
    try:
        dataset = opened_csv(path, texts, whole) if file.suffix.lower() == ".csv" and file.is_file() else opened(path)
        rows, names = dataset.count_rows(), dataset.schema.names
    except ShellError:
        raise
    except (ValueError, OSError) as error:
        cell = str(error).find("In CSV column")
        if cell >= 0:  # a later cell is not what the first ones are
            raise ShellError(f"{first_line(ValueError(str(error)[cell:]))}, in {path}") from None
        if file.suffix.lower() == ".csv":
            raise ShellError(f"{path} is no CSV file: {first_line(error)}") from None
        raise ShellError(first_line(error)) from None
    if not (asked or file.is_dir() or rows * len(names) > MOST_CELLS or file.suffix.lower() in (".feather", ".arrow")):
        return None
    if not rows:
        raise ShellError(f"{path} has no rows.")
    if len(set(names)) < len(names):
        raise ShellError(f"{path} has several columns of one name: rename them.")
    return dataset


def opened_csv(path: str, texts: Sequence[str], whole: Sequence[str]) -> Any:
    """Return a dataset of a CSV file whose columns are what they are in memory, as far as the first rows tell.

    Columns in `texts` stay text. Numbers are floats, since whole ones may be followed by others; not so those in
    `whole`, which are labels.
    """
    from pyarrow import csv, dataset

    with open(path, "rb") as stream:
        blank = stream.peek(1)[:1] in (b"\r", b"\n")
        head, mark, commas = read_csv(stream, path, texts, TYPED)
    if blank or any("\n" in name or "\r" in name for name in head.columns):
        raise ShellError(f"{path} must name its columns in the first line: mend it, or write Parquet.")
    kinds = {name: type_of(head[name], name, path, name in whole) for name in head.columns}
    defaults = csv.ConvertOptions()
    form = dataset.CsvFileFormat(
        csv.ParseOptions(delimiter=mark, newlines_in_values=True),
        read_options=csv.ReadOptions(column_names=list(head.columns), skip_rows=1),
        convert_options=csv.ConvertOptions(
            column_types=kinds,
            strings_can_be_null=True,
            null_values=[*defaults.null_values, "None", "<NA>"],
            true_values=["True", "TRUE", "true"],
            false_values=["False", "FALSE", "false"],
            decimal_point="," if commas else ".",
        ),
    )
    return dataset.dataset(path, format=form)


def type_of(cells: Any, name: str, path: str, whole: bool) -> Any:
    """Return the type of Arrow for a column as it was read into memory; numbers where all cells are missing."""
    import pyarrow
    from pandas.api.types import infer_dtype

    if cells.dtype.kind == "M":
        zone = getattr(cells.dtype, "tz", None)
        if zone is not None and str(zone) != "UTC":
            raise ShellError(f"{path} has dates of the time zone {zone} in {name!r}: write Parquet.")
        return pyarrow.timestamp("us", None if zone is None else "UTC")
    if cells.dtype.kind in "iuf":
        return pyarrow.int64() if whole and cells.dtype.kind in "iu" else pyarrow.float64()
    return pyarrow.bool_() if infer_dtype(cells, skipna=True) == "boolean" else pyarrow.string()


def without(
    dataset: Any, target: str, name: str, drop: Sequence[str] = (), drop_missing: bool = False
) -> tuple[Any, Any]:
    """Return a dataset without columns, and rows that have no target, that are to be left out; and its first rows."""
    names = columns_of(dataset)
    require(names, target, name, drop)
    fields = [dataset.schema.field(column) for column in names if column not in drop]
    if len(fields) < 2:
        raise ShellError(f"{name} has no column but the target.")
    kept = dataset.replace_schema(needs("pyarrow").schema(fields))
    if drop_missing:
        there = ~needs("pyarrow.compute").field(target).is_null(nan_is_null=True)
        missing = kept.count_rows() - kept.count_rows(filter=there)
        if missing:
            if missing == kept.count_rows():
                raise ShellError(f"The target {target!r} is missing in all rows.")
            kept = kept.filter(there)
            print(f"{name}: {missing} row{'s' * (missing > 1)} without a target left out", file=sys.stderr)
    return kept, kept.head(HEAD).to_pandas()


def text_columns(dataset: Any) -> list[str]:
    """Return the columns that are categories by their type, whatever the first rows hold."""
    from pyarrow import types

    def is_text(kind: Any) -> bool:
        views = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        return bool(views or types.is_dictionary(kind))

    return [field.name for field in dataset.schema if is_text(field.type)]
