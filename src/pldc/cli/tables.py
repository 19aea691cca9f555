"""Tables in and out of the shell: CSV and Parquet, files and pipes. Needs pandas."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

MOST_BYTES = 4 << 30  # of a file that is read into memory
LOOK = 1 << 16  # bytes in which a binary file shows itself
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")


class ShellError(ValueError):
    """What is wrong with a file or an option, in one line."""


def read_table(path: str) -> Any:
    """Read a table as a frame: Parquet by its ending, else CSV; "-" is standard input."""
    pandas = needs("pandas")
    if path == "-":
        return parsed(pandas, sys.stdin, "standard input")
    file = Path(path)
    if not file.exists():
        raise ShellError(f"There is no file {path}.")
    if file.is_dir():
        raise ShellError(f"{path} is a folder: name a file.")
    if file.stat().st_size > MOST_BYTES:
        raise ShellError(f"{path} has more than {MOST_BYTES >> 30} GiB: take a part of its rows.")
    if file.suffix in (".parquet", ".pq"):
        needs("pyarrow")
        try:
            return pandas.read_parquet(path)
        except (ValueError, OSError) as error:
            raise ShellError(f"{path} is no Parquet file: {str(error).splitlines()[0]:.120}") from None
    with file.open("rb") as start:
        if b"\0" in start.read(LOOK) and file.suffix not in PACKED:
            raise ShellError(f"{path} is no text, and so no CSV.")
    return parsed(pandas, path, path)


def parsed(pandas: Any, source: Any, name: str) -> Any:
    """Parse CSV with a line of names, separated by commas, semicolons or tabs; ISO dates become dates."""
    try:
        frame = pandas.read_csv(source, sep=None, engine="python") if source is sys.stdin else quick(pandas, source)
    except pandas.errors.EmptyDataError:
        raise ShellError(f"{name} is empty: the first line must name the columns.") from None
    except UnicodeDecodeError:
        raise ShellError(f"{name} is not text in UTF-8, and so no CSV.") from None
    except (pandas.errors.ParserError, ValueError, OSError, EOFError) as error:
        raise ShellError(f"{name} is no CSV: {str(error).splitlines()[0]:.120}") from None
    if not len(frame):
        raise ShellError(f"{name} has no rows.")
    frame.columns = [str(column).strip() for column in frame.columns]
    for column in frame.columns[[kind.kind in "OT" or str(kind) in ("str", "string") for kind in frame.dtypes]]:
        cells = frame[column].dropna().astype(str)
        if len(cells) and cells.str.match(r"\s*\d{4}-\d{2}-\d{2}([ T].*)?\s*$").all():
            frame[column] = pandas.to_datetime(frame[column], format="ISO8601")
    return frame


def quick(pandas: Any, path: str) -> Any:
    """Read a file by pandas' fast parser, with the separator that its first line shows; packed files have commas."""
    if Path(path).suffix in PACKED:
        return pandas.read_csv(path)
    with Path(path).open(encoding="utf-8-sig") as text:
        head = text.readline(LOOK)
    return pandas.read_csv(path, sep=max(",;\t", key=head.count), encoding="utf-8-sig")


def split(table: Any, target: str, name: str, drop: Sequence[str] = ()) -> tuple[Any, Any]:
    """Return the features and the target of a table."""
    for column in (target, *drop):
        if column not in table.columns:
            raise ShellError(f"{name} has no column {column!r}; it has {', '.join(map(repr, table.columns))}.")
    features = table.drop(columns=[target, *drop])
    if not features.shape[1]:
        raise ShellError(f"{name} has no column but the target.")
    gone = table[target].isna()
    if gone.any():
        raise ShellError(f"The target {target!r} is missing in {int(gone.sum())} rows: drop them first.")
    return features, table[target]


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Open a file to write, or standard output; a file appears when it is complete."""
    if path is None or path == "-":
        yield sys.stdout
        return
    goal = checked_goal(path)
    draft = goal.with_name(f".{goal.name}.{os.getpid()}")
    try:
        with draft.open("w", newline="", encoding="utf-8") as file:
            yield file
        draft.replace(goal)
    finally:
        draft.unlink(missing_ok=True)


def checked_goal(path: str) -> Path:
    """Return the path of a file that can be written, before any work."""
    goal = Path(path)
    if not goal.parent.is_dir():
        raise ShellError(f"There is no folder {goal.parent}: make it first.")
    if not os.access(goal.parent, os.W_OK):
        raise ShellError(f"The folder {goal.parent} cannot be written to.")
    return goal


def needs(package: str) -> Any:
    """Import an optional package, or say how to get it."""
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        raise ShellError(f"This command needs {package}: pip install 'pldc[shell]'.") from None
