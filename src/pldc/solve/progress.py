"""Progress of a solve, through the logging system."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pldc.solve.run import Monitor

logger = logging.getLogger("pldc")


@contextmanager
def shown(verbose: int) -> Iterator[Monitor]:
    """Give a monitor that logs an iteration when its bounds are new, or two seconds after the last line.

    Lines have level DEBUG or, with `verbose`, INFO.

    With `verbose` and no logging set up by the user, the log is shown on standard error meanwhile.
    """
    level = logging.INFO if verbose else logging.DEBUG

    last = {"gap": np.inf, "seconds": -np.inf}

    def log(row: dict[str, float]) -> None:
        if row["gap"] == last["gap"] and row["seconds"] < last["seconds"] + 2.0:
            return
        last.update(row)
        logger.log(
            level,
            "iteration %3d  best objective %.6g  best lower bound %.6g  gap %.1e  %.1f s",
            row["iteration"],
            row["upper"],
            row["lower"],
            row["gap"],
            row["seconds"],
        )

    if not verbose:
        yield log
        return
    before = logger.level
    handler = None if logger.hasHandlers() else logging.StreamHandler()
    if handler is not None:
        logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    try:
        yield log
    finally:
        logger.setLevel(before)
        if handler is not None:
            logger.removeHandler(handler)
