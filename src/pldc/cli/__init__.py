"""The shell: fit a table, predict, explain, simplify, score, export and explore, from files and pipes."""

from pldc.cli.parser import main

__all__ = ["main"]
