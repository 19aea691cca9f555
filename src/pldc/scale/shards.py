"""One thing is asked of any store of rows: to add up what a function returns for each of its blocks.

So a learning loop that only needs sums runs on arrays, on files larger than memory and on clusters, and nothing as long
as the table ever travels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
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
    where : str
        What to call it in an error: its file, or its number.
    """

    X: Any
    y: Array
    weight: Array | None = None
    where: str = ""


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Say where a block is in the errors of what is done with it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if not where or type(error) not in (ValueError, TypeError):
            raise
        raise type(error)(f"{error} (in {where})") from error


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
            waiting: deque[tuple[str, Future[Any]]] = deque()
            total: list[Any] = []

            def take() -> None:
                where, future = waiting.popleft()
                with placed(where):
                    total[:] = [reduce(add, [*total, future.result()])]

            try:
                for block in self.read():
                    if not len(block.y):
                        continue
                    waiting.append((block.where, pool.submit(work, block)))
                    del block
                    if len(waiting) > self.threads:
                        take()
                while waiting:
                    take()
            finally:  # where one failed, or Ctrl-C was pressed, the others need not begin
                for _, future in waiting:
                    future.cancel()
        if not total:
            raise ValueError("There are no rows: the source has no block with any.")
        return total[0]
