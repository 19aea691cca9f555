"""Partitions of Dask: work goes to where they live, and only what is added up comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pldc.scale.shards import Block

GROUP = 8  # results that are added in one task


class DaskShards:
    """An array of Dask with targets, or a frame with a column of them.

    A worker that dies costs the work of its partitions, which Dask does again elsewhere.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d) or dask.dataframe.DataFrame
    y : dask.array.Array or str
        Targets, or the name of their column.
    weight : dask.array.Array, str or None
    """

    def __init__(self, X: Any, y: Any, weight: Any = None):
        from dask.delayed import delayed

        if hasattr(X, "partitions") and hasattr(X, "columns"):
            names = list(X.columns)
            for role, name in (("y", y), ("sample_weight", weight)):
                if not (name is None and role == "sample_weight") and (not isinstance(name, str) or name not in names):
                    raise ValueError(f"{role} must name a column of the frame, one of {names}; got {name!r:.80}.")
            self.blocks = [delayed(of_frame)(part, y, weight) for part in X.to_delayed()]
            return
        X = X.rechunk({1: -1})
        others = [a if a is None or not hasattr(a, "rechunk") else a.rechunk((X.chunks[0],)) for a in (y, weight)]
        if others[0] is None or not hasattr(others[0], "to_delayed"):
            raise ValueError("y must be an array of Dask, as X is.")
        parts = [a.to_delayed().ravel() if a is not None else [None] * len(X.chunks[0]) for a in others]
        self.blocks = [delayed(Block)(*each) for each in zip(X.to_delayed()[:, 0], *parts, strict=True)]

    def sum(self, work: Callable[[Block], Any]) -> Any:
        """Add up, in the order of the partitions: by eight, then these by eight, on the workers."""
        from dask.base import compute
        from dask.delayed import delayed

        parts = [delayed(applied)(work, block) for block in self.blocks]
        while len(parts) > 1:
            parts = [delayed(added)(parts[k : k + GROUP]) for k in range(0, len(parts), GROUP)]
        (total,) = compute(parts[0])  # type: ignore[no-untyped-call]
        if total is None:
            raise ValueError("There are no rows: all partitions are empty.")
        return total


def of_frame(part: Any, y: str, weight: str | None) -> Block:
    """Take a partition, a frame of pandas, apart."""
    own = None if weight is None else np.asarray(part[weight])
    return Block(part.drop(columns=[name for name in (y, weight) if name is not None]), np.asarray(part[y]), own)


def applied(work: Callable[[Block], Any], block: Block) -> Any:
    """Work on a block; an empty one gives nothing."""
    return work(block) if len(block.y) else None


def added(parts: list[Any]) -> Any:
    """Add what there is."""
    total = None
    for part in parts:
        total = part if total is None else total if part is None else total + part
    return total
