"""One thing is asked of any store of rows: to add up what a function returns for each of its blocks.

So a learning loop that only needs sums runs on arrays, on files larger than memory and on clusters, and nothing as long
as the table ever travels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol

from pldc.columns.features import Array


class Block(NamedTuple):
    """Some rows of a table, as they are stored.

    Attributes
    ----------
    X : array of shape (n, d), DataFrame or Arrow table
    y : array of shape (n,)
    weight : array of shape (n,), or None for ones
    """

    X: Any
    y: Array
    weight: Array | None = None


class Sums(tuple[Array, ...]):
    """Arrays that are added one by one."""

    def __add__(self, other: Any) -> Sums:
        return Sums(a + b for a, b in zip(self, other, strict=True))


class Shards(Protocol):
    """Rows in blocks, wherever they are."""

    def sum(self, work: Callable[[Block], Any]) -> Any:
        """Add up ``work(block)`` over all blocks, in their order. `work` and what it returns can be pickled."""
        ...


class Blocks:
    """Blocks that are read one after the other, as often as asked: the next is read while threads work on some.

    Parameters
    ----------
    read : callable
        Without arguments to blocks, the same every time.
    threads : int
        At most one block more than there are threads is in memory.
    """

    def __init__(self, read: Callable[[], Iterable[Block]], threads: int = 1):
        self.read, self.threads = read, threads

    def sum(self, work: Callable[[Block], Any]) -> Any:
        """Add up, in the order of the blocks."""
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[Any]] = deque()
            total: list[Any] = []

            def take() -> None:
                total[:] = [reduce(add, [*total, waiting.popleft().result()])]

            try:
                for block in self.read():
                    if not len(block.y):
                        continue
                    waiting.append(pool.submit(work, block))
                    del block
                    if len(waiting) > self.threads:
                        take()
                while waiting:
                    take()
            finally:  # where one failed, or Ctrl-C was pressed, the others need not begin
                for future in waiting:
                    future.cancel()
        if not total:
            raise ValueError("There are no rows: the source has no block with any.")
        return total[0]
