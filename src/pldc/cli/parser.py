"""The words of the shell, and what becomes of errors, closed pipes and Ctrl-C."""

from __future__ import annotations

import argparse
import csv
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pldc
from pldc.cli import commands
from pldc.cli.completion import completion
from pldc.cli.demo import demo
from pldc.cli.tables import first_line

WRONG, INTERRUPTED = 1, 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk, or a share of one, says that is full
FORMATS = ("onnx", "sql", "c", "js", "numpy")
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what files and options can lead to


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the shell; return its exit code: 0, 1 for an error, 2 for words that are off, 130 after Ctrl-C."""
    speak_unicode()
    options = make_parser().parse_args(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = tell
        try:
            code: int = options.run(options)
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt as stop:
            print(f"pldc: {str(stop) or 'interrupted'}", file=sys.stderr)
            return INTERRUPTED
        except EXPECTED as error:
            print(f"pldc: {first_line(named(error, options))}", file=sys.stderr)
            return WRONG


def named(error: Exception, options: argparse.Namespace) -> Exception:
    """Return an error; of a disk that is full, which file that was."""
    if not isinstance(error, OSError) or error.errno not in FULL or error.filename is not None:
        return error
    goal = getattr(options, "output", None)
    return OSError(f"{'standard output' if goal in (None, '-') else goal} cannot be written: {error.strerror}.")


def speak_unicode() -> None:
    """Write UTF-8 into files and pipes, whatever the machine's own code; a terminal shows "?" for what it lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")


def tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning in one line."""
    print(f"pldc: {str(message).splitlines()[0]}", file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="pldc", description="Piecewise-linear models of tables, by differences of convex functions."
    )
    parser.add_argument("--version", action="version", version=f"pldc {pldc.__version__}")
    found = parser.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = found.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        added.set_defaults(run=run)
        return added

    one = command("fit", commands.fit, "fit a model to a table")
    table(one)
    target(one, required=True)
    one.add_argument("-o", "--output", required=True, metavar="MODEL.json", help="where to save the model")
    settings(one)
    one.add_argument("--max-memory", metavar="SIZE", help="such as 500MB: read in blocks, fit a sample first")
    common(one, json=True)

    one = command("predict", commands.predict, "predict the rows of a table")
    saved(one)
    table(one)
    one.add_argument("-o", "--output", metavar="FILE.csv", help="standard output if not given")
    one.add_argument("--interval", type=float, metavar="COVERAGE", help="add the ends of intervals, such as 0.9")

    one = command("explain", commands.explain, "say what each column adds to the predictions of rows")
    saved(one)
    table(one)
    one.add_argument("--rows", type=count, default=1, metavar="N", help="how many, from the first on (default 1)")
    common(one, json=True, quiet=False)

    one = command("simplify", commands.simplify, "learn one function of few pieces from a model and its table")
    saved(one)
    table(one)
    target(one, required=True)
    one.add_argument("--pieces", type=count, default=8, metavar="K", help="of each part, at most (default 8)")
    one.add_argument("-o", "--output", required=True, metavar="MODEL.json", help="where to save it")
    common(one, json=True)

    one = command("score", commands.score, "cross-validate beside linear regression and gradient boosting")
    table(one)
    target(one, required=True)
    settings(one)
    one.add_argument("--folds", type=count, default=5, metavar="K", help="(default 5)")
    common(one, json=True)

    one = command("export", commands.export, "write a model in another language")
    saved(one)
    one.add_argument("--to", required=True, choices=FORMATS, help="the language")
    one.add_argument("-o", "--output", metavar="FILE", help="standard output if not given (not for onnx)")
    one.add_argument("--table", default="data", help="of SQL: the table to read (default data)")
    one.add_argument("--dialect", default="sqlite", help="of SQL: sqlite, postgresql or duckdb (default sqlite)")

    one = command("explore", commands.explore, "write a page on which the model can be tried, to open in a browser")
    saved(one)
    one.add_argument("data", nargs="?", help="its table: ranges of the sliders come from there")
    target(one, required=False)
    one.add_argument(
        "--pieces",
        type=counts,
        default=(4, 8, 16),
        metavar="K,K,…",
        help="with --target: simpler models to offer (default 4,8,16); 0 for none",
    )
    one.add_argument("--rows", type=int, default=0, metavar="N", help="put the first N rows of the table into the page")
    one.add_argument("--title", help="of the page")
    one.add_argument("-o", "--output", required=True, metavar="PAGE.html", help="where to write it")
    common(one)

    one = command("demo", lambda options: demo(options.output), "fit two small tables and show the result")
    one.add_argument("--output", type=Path, default=Path("demo-output"), help="folder of the figure and the page")

    command("completion", lambda _: completion(parser), "print a script that completes words in bash or zsh")
    return parser


def saved(parser: argparse.ArgumentParser) -> None:
    """Add a model file."""
    parser.add_argument("model", help="a file written by `pldc fit` or save_model")


def table(parser: argparse.ArgumentParser) -> None:
    """Add a table."""
    parser.add_argument(
        "data",
        help="CSV (also .gz, .bz2, .xz) or Parquet; - for CSV from standard input; fit, predict: also Arrow, folders",
    )


def target(parser: argparse.ArgumentParser, required: bool) -> None:
    """Add the target of a table, and what is not looked at."""
    parser.add_argument("--target", required=required, metavar="COLUMN", help="column to predict")
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="a column not to look at; may be repeated"
    )
    parser.add_argument("--drop-missing-target", action="store_true", help="leave out rows without a target")


def settings(parser: argparse.ArgumentParser) -> None:
    """Add what a fit can be told."""
    parser.add_argument("--classes", action="store_true", help="the target holds classes (text always does)")
    parser.add_argument("--pieces", type=pieces, default="auto", help="auto, rows, or a number (default auto)")
    parser.add_argument("--loss", help="squared, absolute, huber, quantile or poisson; of classes log or hinge")
    parser.add_argument(
        "--categorical",
        type=names,
        action="extend",
        default=[],
        metavar="COLUMN,…",
        help="columns of numbers that are categories, such as codes: kept as text, 01005 is not 1005",
    )
    parser.add_argument("--max-seconds", type=float, metavar="S", help="limit on the time of a fit")
    parser.add_argument("--seed", type=int, help="of the starts")


def common(parser: argparse.ArgumentParser, json: bool = False, quiet: bool = True) -> None:
    """Add how to speak."""
    if json:
        parser.add_argument("--json", action="store_true", help="say what was found as JSON")
    if quiet:
        parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def count(text: str) -> int:
    """Read a whole number ≥ 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number ≥ 1, got {text!r:.40}")
    return int(text)


def counts(text: str) -> tuple[int, ...]:
    """Read whole numbers between commas; 0 for none."""
    return () if text == "0" else tuple(map(count, text.split(",")))


def names(text: str) -> list[str]:
    """Read names between commas; quotes keep a comma in a name, as in CSV."""
    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"must be names between commas, got {text!r:.40}: {error}") from None


def pieces(text: str) -> int | str:
    """Read a number of pieces, or a word."""
    return text if text in ("auto", "rows") else count(text)
