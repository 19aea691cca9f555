"""Threads over blocks of points, with the BLAS held to one thread so that the two do not compete."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

SMALLEST_BLOCK = 64


class Workers:
    """A pool of threads for the time of one solve; use it as a context.

    Parameters
    ----------
    threads : int or None
        How many. None takes the number the BLAS would use, so limits set by the user, or by joblib for nested
        parallelism, are respected.

    Notes
    -----
    NumPy and SciPy bring a BLAS each, and the threads of one spin for a while after every call: on two cores they
    slowed each other by a factor of three. One thread each, and blocks of points on our own threads, has no such fight.
    """

    def __init__(self, threads: int | None = None):
        if threads is not None and threads < 1:
            raise ValueError(f"The number of threads must be at least 1, got {threads}.")
        self._controller = ThreadpoolController()
        blas = [lib.num_threads for lib in self._controller.lib_controllers if lib.user_api == "blas"]
        self.threads = threads if threads is not None else max([1, *blas])

    def __enter__(self) -> Workers:
        self._limit = self._controller.limit(limits=1, user_api="blas")
        self._limit.__enter__()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self._limit.__exit__(kind, error, trace)

    def over_blocks(self, work: Callable[[slice], Any], n: int) -> list[Any]:
        """Call `work` on slices that cover range(n), in parallel; return the results in order."""
        count = max(1, min(self.threads, n // SMALLEST_BLOCK))
        edges = [n * k // count for k in range(count + 1)]
        blocks = [slice(start, stop) for start, stop in pairwise(edges)]
        if self._pool is None or count == 1:
            return [work(block) for block in blocks]
        return list(self._pool.map(work, blocks))
