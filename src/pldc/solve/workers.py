"""Threads over blocks of points, with the BLAS held to one thread so that the two do not compete."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

SMALLEST_BLOCK = 64


def blas_threads() -> int:
    """Return the number of threads that the BLAS would use now, if nobody here held it to one."""
    held = _limit.held()
    if held is not None:
        return held
    found = ThreadpoolController().lib_controllers
    return max([1, *(library.num_threads for library in found if library.user_api == "blas")])


class _BlasLimit:
    """Holds the BLAS to one thread while anybody needs it: solves may overlap in time, so they are counted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def acquire(self) -> int:
        """Limit the BLAS; return the number of threads it had before anybody did."""
        with self._lock:
            if self._users == 0:
                controller = ThreadpoolController()
                blas = [lib.num_threads for lib in controller.lib_controllers if lib.user_api == "blas"]
                self._available = max([1, *blas])
                self._context = controller.limit(limits=1, user_api="blas")
                self._context.__enter__()
            self._users += 1
            return self._available

    def held(self) -> int | None:
        """Return the number of threads that the BLAS had before it was limited; None if it is not."""
        with self._lock:
            return self._available if self._users else None

    def release(self) -> None:
        """Restore the BLAS when nobody needs the limit any more."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._context.__exit__(None, None, None)


_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the BLAS to one thread: with more a sum ends in other digits, and a descent may end elsewhere for it."""
    _limit.acquire()
    try:
        yield
    finally:
        _limit.release()


class Workers:
    """A pool of threads for the time of one solve; use it as a context.

    Parameters
    ----------
    threads : int or None
        How many. None takes the number the BLAS would use, so limits set by the user, or by joblib for nested
        parallelism, are respected.

    Notes
    -----
    NumPy and SciPy bring a BLAS each, and the threads of one spin for a while after every call, in the way of the
    other's. One thread each, and blocks of points on our own threads, has no such fight.
    """

    def __init__(self, threads: int | None = None):
        if threads is not None and threads < 1:
            raise ValueError(f"The number of threads must be at least 1, got {threads}.")
        self._asked = threads

    def __enter__(self) -> Workers:
        available = _limit.acquire()
        self.threads = self._asked if self._asked is not None else available
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._pool is not None:
                self._pool.shutdown()
        finally:  # also where Ctrl-C is pressed again meanwhile
            _limit.release()

    @property
    def pool(self) -> ThreadPoolExecutor | None:
        """The threads; None if there is only one."""
        return self._pool

    def over_blocks(self, work: Callable[[slice], Any], n: int) -> list[Any]:
        """Call `work` on slices that cover range(n), in parallel; return the results in order."""
        count = max(1, min(self.threads, n // SMALLEST_BLOCK))
        edges = [n * k // count for k in range(count + 1)]
        blocks = [slice(start, stop) for start, stop in pairwise(edges)]
        return self.each(work, blocks)

    def each(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        """Call `work` on every task, in parallel; return the results in order."""
        if self._pool is None or len(tasks) == 1:
            return [work(task) for task in tasks]
        return list(self._pool.map(work, tasks))
