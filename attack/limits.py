"""A limit on time and memory for a stretch of work, within the process that does it."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GIB = 2**30


class TooLong(BaseException):
    """More seconds of work than allowed. Not an Exception: nothing that is attacked may swallow it."""


def in_use() -> int:
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextmanager
def seconds(limit: float) -> Iterator[None]:
    """Raise `TooLong` after so many seconds of this process on a core, however busy the machine is.

    In threads other than the main one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLong(f"more than {limit:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def memory(more: float) -> Iterator[None]:
    """Let this process have so many bytes more than now; beyond that there is a MemoryError."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use() + int(more), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
