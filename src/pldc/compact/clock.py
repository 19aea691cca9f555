"""How long a fit may take."""

from __future__ import annotations

import time


class Clock:
    """How long a fit may take, and whether it was interrupted."""

    def __init__(self, seconds: float | None = None):
        self.began, self.seconds = time.perf_counter(), seconds
        self.cancelled = self.stopped = False  # `stopped`: by a monitor

    def part(self, share: float, ended: bool = False) -> Clock:
        """Return a clock that began with this one and has a share of its time, or none that is left."""
        clock = Clock(None if self.seconds is None else share * self.seconds)
        clock.began, clock.cancelled = self.began, ended
        return clock

    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    def over(self, share: float = 1.0) -> bool:
        """Say whether this share of the time is spent."""
        return self.cancelled or (self.seconds is not None and self.spent() > share * self.seconds)
