"""How far a row of fits is: one count over all of them, and the time that is left."""

from __future__ import annotations

import logging
from typing import Any

from pldc.compact.clock import Clock

logger = logging.getLogger("pldc")
EVERY = 2.0  # seconds between lines within a step


class Steps:
    """Tells of each step when it begins, and every two seconds within it, if it is called as the monitor of a fit.

    Seconds left are those that the steps before took, on average, for each that is to come; of the first nobody knows.
    """

    def __init__(self, what: str, count: int, level: int) -> None:
        self.what, self.count, self.level, self.done = what, count, level, -1
        self.clock, self.before, self.told = Clock(), 0.0, 0.0

    def begin(self) -> None:
        """Begin the next one."""
        self.done, self.before = self.done + 1, self.clock.spent()
        self._tell()

    def __call__(self, row: Any) -> None:
        """Go on."""
        if self.clock.spent() > self.told + EVERY:
            self._tell()

    def _tell(self) -> None:
        self.told, left = self.clock.spent(), ""
        if self.done:
            each = self.before / self.done
            left = f", about {max(self.count * each - self.told, 0.0):.0f} s left"
        logger.log(
            self.level, "%s: fold %d of %d, %.0f s so far%s", self.what, self.done + 1, self.count, self.told, left
        )
