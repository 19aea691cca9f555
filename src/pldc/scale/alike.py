"""Functions that give blocks: what they give is made alike, or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from pldc.columns.cells import is_frame
from pldc.scale.shards import Block, placed
from pldc.scale.stacking import table_of

ANEW = "return blocks anew at every call, as a function with `yield` does."


class Alike:
    """Asks a function for blocks, whose columns are those of its very first one, and whose rows are always as many.

    Parameters
    ----------
    give : callable
    """

    def __init__(self, give: Callable[[], Iterable[Any]]):
        self.give = give
        self.names: list[str] | None = None
        self.labels: list[Any] = []  # names of pandas, which need not be texts
        self.package = ""
        self.width: tuple[int, ...] = ()
        self.rows = 0
        self.begun: Iterator[Any] | None = None

    def look(self) -> Block:
        """Return the first block, and refuse what can be read only once. The next call goes on with what was begun."""
        given = self.given()
        if isinstance(given, Iterator) and self.given() is given:
            raise TypeError(f"The function gave the same iterator twice, and it can be read only once: {ANEW}")
        blocks = iter(given)
        for first in blocks:
            self.begun = chain([first], blocks)
            return self.block(first, 1)
        raise ValueError("There are no rows: the source has no block.")

    def __call__(self) -> Iterator[Block]:
        """Ask anew."""
        blocks, rows = self.begun or self.given(), 0
        self.begun = None
        for k, given in enumerate(blocks, 1):
            block = self.block(given, k)
            rows += len(block.y)
            yield block
        if self.rows not in (0, rows):
            raise ValueError(f"The function gave {rows} rows; at its first call there were {self.rows}: {ANEW}")
        self.rows = rows

    def given(self) -> Iterable[Any]:
        """Return what the function gives, if there can be blocks in it."""
        blocks = self.give()
        if isinstance(blocks, (str, bytes)) or not hasattr(blocks, "__iter__"):
            raise TypeError("The function must return blocks, each (X, y) or (X, y, weight), anew at every call.")
        return blocks

    def block(self, given: Any, k: int) -> Block:
        """Return block k with the columns of the first."""
        with placed(f"block {k}"):
            return self.made(given, f"block {k}")

    def made(self, given: Any, where: str) -> Block:
        """Return a block from what the function gave."""
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            raise TypeError("A block must be a tuple (X, y) or (X, y, weight).")
        X, y, *weight = given
        X = table_of(X)
        return Block(self.in_order(X), column_of(y), weight[0] if weight else None, where)

    def in_order(self, X: Any) -> Any:
        """Return the columns of a block in the order of those of the first."""
        names = names_of(X)
        width = np.shape(X)[1:] if names is None else (len(names),)
        package = "" if names is None else type(X).__module__.partition(".")[0]
        if not self.width:
            self.names, self.width, self.package = names, width, package
            self.labels = [*X.columns] if hasattr(X, "iloc") else []
        if width != self.width or sorted(names or ()) != sorted(self.names or ()):
            first, later = (f"{each!s:.200}" for each in (self.names or self.width, names or width))
            raise ValueError(f"Blocks must have the same columns: the first has {first}, a later one {later}.")
        if package != self.package:
            raise ValueError(f"Blocks must be of one kind: the first is of {self.package}, a later one of {package}.")
        if names is None or self.names is None:
            return X
        X = by_names(X, self.names)
        if not hasattr(X, "iloc"):
            return X
        return X if [*X.columns] == self.labels else X.set_axis(self.labels, axis=1)  # 1 and "1" are one name


def refuse_lacking(there: Iterable[str], names: Iterable[str], what: str = "The table") -> None:
    """Refuse what lacks some of the columns."""
    there = [*there]
    lacking = [name for name in names if name not in there]
    if lacking:
        raise ValueError(f"{what} lacks the columns {lacking!s:.300}.")


def names_of(X: Any) -> list[str] | None:
    """Return the names of the columns of a block as texts; None of an array."""
    return [*map(str, X.column_names if hasattr(X, "column_names") else X.columns)] if is_frame(X) else None


def by_names(X: Any, names: list[str]) -> Any:
    """Return the columns of a frame in the order of their names, which must be all that there are."""
    there = names_of(X)
    if there is None or there == names:
        return X
    return X.iloc[:, [there.index(name) for name in names]] if hasattr(X, "iloc") else X.select(names)


def column_of(y: Any) -> Any:
    """Return the targets of a block in one dimension."""
    if y is None:
        raise ValueError("A block is (X, None): give its targets, (X, y) or (X, y, weight).")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"The targets of a block have the shape {y.shape}: give one number or label a row, (n,).")
    return y
