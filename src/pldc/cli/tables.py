"""Tables in and out of the shell: CSV and Parquet, files and pipes. Needs pandas."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import Any, TextIO

from pldc.columns.cells import Table, kind_of

MOST_BYTES = 4 << 30  # of a file that is read into memory
COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
LOOK = 1 << 16  # bytes in which a file shows what it is
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
LINE_END = re.compile(r"\r\n?|\n")
DATE = r"\s*\d{4}-\d{2}-\d{2}([ T].*)?\s*$"
DECIMAL_COMMA = r"(-?\d{1,3}(\.\d{3})*(,\d+)?|-?\d+,\d+)([eE][+-]?\d+)?"  # 113,5 and 1.013,5 and 6,4e-05
MOST_CLASSES = 100  # that a target of text has before it is asked whether they are classes
ENOUGH = 20  # rows of which more than half may not be classes of their own
LONGEST = 320  # letters of an error that are shown: with a path, what is wrong, and what to do
NAMED = 3  # rows that a message names


class ShellError(ValueError):
    """What is wrong with a file or an option, in one line."""


def read_table(path: str, texts: Sequence[str] = ()) -> Any:
    """Read a table as a frame: Parquet by its ending, else CSV, packed or not; "-" is standard input.

    The columns in `texts` stay text as it stands in a CSV file: 01005 is not 1005.
    """
    pandas = needs("pandas")
    if path == "-":
        return parsed(sys.stdin.buffer, "standard input", texts)
    file = Path(path)
    if not file.exists():
        raise ShellError(f"There is no file {path}.")
    if file.is_dir():
        raise ShellError(f"{path} is a folder: name a file.")
    if file.stat().st_size > MOST_BYTES:
        raise ShellError(f"{path} has more than {MOST_BYTES >> 30} GiB: write it as Parquet, which is read in blocks.")
    if file.suffix.lower() in (".parquet", ".pq"):
        needs("pyarrow")
        try:
            return checked(pandas.read_parquet(path), path)
        except (ValueError, OSError) as error:
            raise ShellError(f"{path} is no Parquet file: {first_line(error)}") from None
    with PACKED.get(file.suffix.lower(), open)(path, "rb") as stream:
        return parsed(stream, path, texts)


def parsed(stream: Any, name: str, texts: Sequence[str] = ()) -> Any:
    """Parse CSV; say where commas were those of decimals."""
    frame, _, commas = read_csv(stream, name, texts)
    if commas:
        print(f"{name}: numbers with a decimal comma in {listed(commas)}", file=sys.stderr)
    return frame


def read_csv(stream: Any, name: str, texts: Sequence[str] = (), rows: int | None = None) -> tuple[Any, str, list[str]]:
    """Parse CSV with a line of names, separated by commas, semicolons or tabs; ISO dates become dates.

    Where commas part no cells they may be those of decimals: 113,5 is a number then. Return the frame, of so many rows
    at most, what parts its cells, and the columns with decimal commas.
    """
    pandas = needs("pandas")
    try:
        buffered = stream if hasattr(stream, "peek") else BufferedReader(stream, LOOK)
        start = buffered.peek(LOOK)[:LOOK]
        if b"\0" in start:
            raise ShellError(f"{name} is no text, and so no CSV.")
        line = LINE_END.split(start.decode("utf-8-sig", errors="ignore"), 1)[0]
        mark = max(",;\t", key=line.count)
        names = next(csv.reader([line], delimiter=mark), []) if texts else []
        kept = {column: str for column in names if column.strip() in texts}
        frame = pandas.read_csv(buffered, sep=mark, encoding="utf-8-sig", dtype=kept, nrows=rows)
    except pandas.errors.EmptyDataError:
        raise ShellError(f"{name} is empty: the first line must name the columns.") from None
    except UnicodeDecodeError:
        raise ShellError(f"{name} is not text in UTF-8, and so no CSV.") from None
    except ShellError:
        raise
    except (pandas.errors.ParserError, csv.Error, ValueError, OSError, EOFError, lzma.LZMAError) as error:
        raise ShellError(f"{name} is no CSV: {first_line(error)}") from None
    frame.columns = [str(column).strip() for column in frame.columns]
    commas = []
    for column in checked(frame, name).columns[[kind.kind == "O" for kind in frame.dtypes]]:
        cells = frame[column].dropna().astype(str)
        if column in texts or not len(cells):
            continue
        if cells.str.match(DATE).all():
            frame[column] = pandas.to_datetime(frame[column], format="ISO8601", errors="raise")
        elif mark != "," and cells.str.contains(",").any() and cells.str.fullmatch(DECIMAL_COMMA).all():
            points = cells.str.replace(".", "").str.replace(",", ".")
            frame[column] = points.astype(float).reindex(frame.index)
            commas.append(column)
    return frame, mark, commas


def checked(frame: Any, name: str) -> Any:
    """Refuse a frame without rows, or with two columns of one name."""
    if not len(frame):
        raise ShellError(f"{name} has no rows.")
    if not frame.columns.is_unique:
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise ShellError(f"{name} has several columns called {', '.join(map(repr, twice))}: rename them.")
    return frame


def split(table: Any, target: str, name: str, drop: Sequence[str] = (), drop_missing: bool = False) -> tuple[Any, Any]:
    """Return the features and the target of a table; rows without a target are refused, or left out."""
    require(table.columns, target, name, drop)
    features = table.drop(columns=[target, *drop])
    if not features.shape[1]:
        raise ShellError(f"{name} has no column but the target.")
    gone = table[target].isna().to_numpy()
    if not gone.any():
        return features, table[target]
    missing = int(gone.sum())
    count = f"{missing} row{'s' * (missing > 1)}"
    if not drop_missing:
        where = places(gone.nonzero()[0], name, len(table))
        raise ShellError(
            f"The target {target!r} is missing in {count}, {where}: --drop-missing-target leaves them out."
        )
    if gone.all():
        raise ShellError(f"The target {target!r} is missing in all rows.")
    print(f"{name}: {count} without a target left out", file=sys.stderr)
    return features[~gone], table[target][~gone]


def places(rows: Any, name: str, total: int) -> str:
    """Say where some rows are, the first of them: lines of a CSV file, or, where cells span lines, rows from 1 on."""
    file, lines = Path(name), 0
    if name != "-" and file.is_file() and file.suffix.lower() not in COLUMNAR:
        with PACKED.get(file.suffix.lower(), open)(file, "rb") as stream:
            lines = sum(1 for _ in stream)
    word, first = ("line", 2) if lines == total + 1 else ("row", 1)  # a line of names comes first
    named = ", ".join(str(row + first) for row in rows[:NAMED]) + " …" * (len(rows) > NAMED)
    return f"{word}{'s' * (len(rows) > 1)} {named}" + " counted from 1" * (word == "row")


def require(columns: Any, target: str, name: str, drop: Sequence[str]) -> None:
    """Refuse a target, or columns to drop, that are not there."""
    for column in (target, *drop):
        if column not in columns:
            raise ShellError(f"{name} has no column {column!r}; it has {listed(columns)}.")


def categories(X: Any, wanted: Sequence[str], name: str, texts: Sequence[str] | None = None) -> list[str]:
    """Return the columns that are categories: those that were named, and others of text, as without a name.

    Those of text are found in X, unless X is a beginning, of which `texts` are known.
    """
    lacking = [column for column in wanted if column not in X.columns]
    if lacking:
        raise ShellError(f"--categorical names {listed(lacking)}; {name} has the features {listed(X.columns)}.")
    if texts is None:
        raws = zip(X.columns, Table.read(X).columns, strict=True)
        texts = [column for column, raw in raws if kind_of(raw, str(column))[0] == "category"]
    return [str(column) for column in X.columns if column in texts or column in wanted]


def listed(names: Any, most: int = 12) -> str:
    """Name some columns."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def holds_classes(y: Any, asked: bool, name: str) -> bool:
    """Say whether a target holds classes; refuse texts that are rather numbers, for one reason or another."""
    pandas = needs("pandas")
    if asked or y.dtype.kind == "b":
        return True
    if y.dtype.kind in "iuf":
        return False
    if y.dtype.kind in "mM":
        raise ShellError(f"The target {y.name!r} holds dates: a model predicts numbers or classes.")
    text = pandas.to_numeric(y.astype(object), errors="coerce").isna()
    if not text.all() and text.mean() < 0.5:
        row, count = int(text.to_numpy().argmax()), int(text.sum())
        raise ShellError(
            f"The target {y.name!r} holds numbers, but for {count} cell{'s' * (count > 1)}, such as "
            f"{str(y.iloc[row])!r:.40} in {places([row], name, len(y))}: mend them, or say --classes."
        )
    many = y.nunique()
    if many > MOST_CLASSES or (len(y) >= ENOUGH and many > len(y) / 2):
        raise ShellError(
            f"The target {y.name!r} is text of {many} different values, such as {str(y.iloc[0])!r:.40}: make numbers "
            "of it, or say --classes if they are classes."
        )
    return True


def running_numbers(X: Any) -> list[str]:
    """Return the columns that number the rows, in any order: whole, all different, 1 to n or 0 to n − 1."""
    n, found = len(X), []
    for column in X.columns[[kind.kind in "iu" for kind in X.dtypes]]:
        cells = X[column]
        if n >= ENOUGH and cells.min() in (0, 1) and cells.max() - cells.min() == n - 1 and cells.is_unique:
            found.append(str(column))
    return found


@contextmanager
def drafted(path: str) -> Iterator[Path]:
    """Name a file to write; it takes the place of `path` when it is complete."""
    goal = checked_goal(path)
    draft = goal.with_name(f".{goal.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(goal)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Open a file to write, or standard output; a file appears when it is complete."""
    if path is None or path == "-":
        yield sys.stdout
        return
    with drafted(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        yield file


@contextmanager
def rows_out(path: str | None) -> Iterator[Callable[[Any], None]]:
    """Open a table to write, and return what adds a frame to it: Parquet by its ending, else CSV."""
    ending = Path(path).suffix.lower() if path is not None else ""
    if ending in COLUMNAR[2:]:
        raise ShellError(f"{path} must end in .csv, .parquet or .pq: other tables are not written.")
    if path is not None and ending in COLUMNAR:
        with drafted(path) as draft:
            yield from _parquet(draft)
        return
    with output(path) as file:
        began: list[bool] = []

        def add(frame: Any) -> None:
            frame.to_csv(file, index=False, header=not began)
            began.append(True)

        yield add


def _parquet(path: Path) -> Iterator[Callable[[Any], None]]:
    arrow, parquet = needs("pyarrow"), needs("pyarrow.parquet")
    writers: list[Any] = []

    def add(frame: Any) -> None:
        table = arrow.Table.from_pandas(frame, preserve_index=False)
        if not writers:
            writers.append(parquet.ParquetWriter(path, table.schema))
        writers[0].write_table(table.cast(writers[0].schema))

    try:
        yield add
    finally:
        for writer in writers:
            writer.close()


def checked_goal(path: str, *endings: str) -> Path:
    """Return the path of a file that can be written, before any work."""
    goal = Path(path)
    if endings and not goal.name.endswith(endings):
        raise ShellError(f"{path} must end in {' or '.join(endings)}.")
    if not goal.parent.is_dir():
        raise ShellError(f"There is no folder {goal.parent}: make it first.")
    if goal.is_dir() or not os.access(goal.parent, os.W_OK):
        raise ShellError(f"{path} cannot be written.")
    return goal


def needs(package: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return import_module(package)
    except ImportError:
        raise ShellError(f"This command needs {package}: pip install 'pldc[shell]'.") from None


def first_line(error: BaseException) -> str:
    """Return the beginning of what an error says."""
    lines = str(error).splitlines() or [type(error).__name__]
    return f"{lines[0]:.{LONGEST}}"
