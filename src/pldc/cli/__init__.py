"""The shell: fit a table, predict, explain, simplify, score, export and explore, from files and pipes."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the shell; see :func:`pldc.cli.parser.main`. Its imports take a moment, in which Ctrl-C is no error."""
    try:
        from pldc.cli.parser import main as run

        return run(arguments)
    except KeyboardInterrupt:
        print("pldc: interrupted", file=sys.stderr)
        return 130
