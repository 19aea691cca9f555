"""The words of the shell, and what becomes of errors, closed pipes and Ctrl-C."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

import pldc
from pldc.cli import commands
from pldc.cli.completion import completion
from pldc.cli.demo import demo
from pldc.cli.tables import ShellError

WRONG, INTERRUPTED = 1, 130
FORMATS = ("onnx", "sql", "c", "js", "numpy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the shell; return its exit code: 0, 1 for an error, 2 for words that are off, 130 after Ctrl-C."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    warnings.showwarning = lambda message, *_, **__: print(f"pldc: {message}", file=sys.stderr)
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
    except (ShellError, ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        print(f"pldc: {lines[0]}", file=sys.stderr)
        return WRONG


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="pldc", description="Piecewise-linear models of tables, by differences of convex functions."
    )
    parser.add_argument("--version", action="version", version=f"pldc {pldc.__version__}")
    found = parser.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, run: object, text: str, *, quiet: bool = True) -> argparse.ArgumentParser:
        added = found.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        added.set_defaults(run=run)
        if quiet:
            added.add_argument("--quiet", action="store_true", help="no progress on standard error")
        return added

    one = command("fit", commands.fit, "fit a model to a table")
    table(one, target=True)
    one.add_argument("-o", "--output", required=True, metavar="MODEL.json", help="where to save the model")
    settings(one)
    one.add_argument("--json", action="store_true", help="say what was found as JSON")

    one = command("predict", commands.predict, "predict the rows of a table")
    saved(one)
    one.add_argument("data", help="CSV or Parquet; - for standard input")
    one.add_argument("-o", "--output", help="CSV file; standard output if not given")
    one.add_argument("--interval", type=float, metavar="COVERAGE", help="add the ends of intervals, such as 0.9")

    one = command("explain", commands.explain, "say why rows have their predictions")
    saved(one)
    one.add_argument("data", help="CSV or Parquet; - for standard input")
    one.add_argument("--rows", type=int, default=1, metavar="N", help="how many, from the first on (default 1)")
    one.add_argument("--json", action="store_true", help="as JSON")

    one = command("simplify", commands.simplify, "learn one function of few pieces from a model and its table")
    saved(one)
    table(one, target=True)
    one.add_argument("--pieces", type=int, default=8, help="of each part, at most (default 8)")
    one.add_argument("-o", "--output", required=True, metavar="MODEL.json", help="where to save it")
    one.add_argument("--json", action="store_true", help="say what it cost as JSON")

    one = command("score", commands.score, "cross-validate beside linear regression and gradient boosting")
    table(one, target=True)
    settings(one)
    one.add_argument("--folds", type=int, default=5, help="(default 5)")
    one.add_argument("--json", action="store_true", help="as JSON")

    one = command("export", commands.export, "write a model in another language")
    saved(one)
    one.add_argument("--to", required=True, choices=FORMATS, help="the language")
    one.add_argument("-o", "--output", help="file; standard output if not given (not for onnx)")
    one.add_argument("--table", default="data", help="of SQL: the table to read (default data)")
    one.add_argument("--dialect", default="sqlite", help="of SQL: sqlite, postgresql or duckdb (default sqlite)")

    one = command("explore", commands.explore, "write a page on which the model can be tried, to open in a browser")
    saved(one)
    one.add_argument("data", nargs="?", help="its table: ranges of the sliders come from there")
    one.add_argument("--target", help="column to predict; with it simpler models are offered, too")
    one.add_argument("--drop", action="append", default=[], metavar="COLUMN", help="a column not to look at")
    one.add_argument("--rows", action="store_true", help="put the rows of the table into the page")
    one.add_argument("-o", "--output", required=True, metavar="PAGE.html")

    one = command("demo", lambda options: demo(options.output), "fit two small tables and show the result", quiet=False)
    one.add_argument("--output", type=commands.Path, default=commands.Path("demo-output"), help="folder of the figure")

    one = command("completion", lambda _: completion(parser), "print a script that completes words in bash or zsh", quiet=False)
    return parser


def saved(parser: argparse.ArgumentParser) -> None:
    """Add a model file."""
    parser.add_argument("model", help="a file written by `pldc fit` or save_model")


def table(parser: argparse.ArgumentParser, target: bool) -> None:
    """Add a table and its target."""
    parser.add_argument("data", help="CSV or Parquet; - for standard input")
    parser.add_argument("--target", required=target, help="column to predict")
    parser.add_argument("--drop", action="append", default=[], metavar="COLUMN", help="a column not to look at")


def settings(parser: argparse.ArgumentParser) -> None:
    """Add what a fit can be told."""
    parser.add_argument("--classes", action="store_true", help="the target holds classes (text always does)")
    parser.add_argument("--pieces", default="auto", help="auto, rows, or a number: one function of so many pieces")
    parser.add_argument("--loss", help="squared, absolute, huber, quantile or poisson; of classes log or hinge")
    parser.add_argument("--max-seconds", type=float, help="limit on the time of a fit")
    parser.add_argument("--seed", type=int, help="of the starts")
