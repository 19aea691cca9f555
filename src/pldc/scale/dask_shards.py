"""Partitions of Dask: work goes to where they live, and only what is added up comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.scale.alike import refuse_lacking
from pldc.scale.held import Held
from pldc.scale.shards import Block, placed

HELD_BLOCKS = (
    8  # of the rows that are held, at most: each is a task for every step, and a step takes some 0.1 s of work
)
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
            refuse_names(X, y, weight)
            names = [*X.columns]
            self.blocks = [delayed(of_frame)(part, k, names, y, weight) for k, part in enumerate(X.to_delayed())]
            return
        X = X.rechunk({1: -1})
        parts = [targets(y, X, "y"), [None] * X.numblocks[0] if weight is None else targets(weight, X, "sample_weight")]
        places = [f"partition {k}" for k in range(X.numblocks[0])]
        self.blocks = [delayed(Block)(*each) for each in zip(X.to_delayed()[:, 0], *parts, places, strict=True)]

    def sum(self, work: Callable[[Block], Any]) -> Any:
        """Add up, in the order of the partitions: by eight, then these by eight, on the workers."""
        from dask.base import compute
        from dask.delayed import delayed

        shared = delayed(Sent(work))  # sent to each worker once, and not with each of its blocks
        parts = [delayed(applied)(shared, block) for block in self.blocks]
        while len(parts) > 1:
            parts = [delayed(added)(parts[k : k + GROUP]) for k in range(0, len(parts), GROUP)]
        (total,) = compute(parts[0])  # type: ignore[no-untyped-call]
        if total is None:
            raise ValueError("There are no rows: all partitions are empty.")
        return total

    def hold(self, work: Callable[[Block], Any]) -> DaskShards:
        """Hold the rows that `work` reads on the workers, in a few blocks, which are made again where one is lost."""
        from dask.base import persist
        from dask.delayed import delayed

        shared = delayed(Sent(work))
        parts = [delayed(applied)(shared, block) for block in self.blocks]
        step = -(-len(parts) // HELD_BLOCKS)
        out = object.__new__(DaskShards)
        out.blocks = [delayed(as_one)(parts[k : k + step]) for k in range(0, len(parts), step)]
        out.blocks = list(persist(*out.blocks))  # type: ignore[no-untyped-call]
        return out


@dataclass(frozen=True)
class Sent:
    """Work on its way: Dask looks into tuples and records that it is given, but not into these."""

    work: Callable[[Block], Any]


def rows_in(X: Any) -> int | None:
    """Return the number of rows of an array or frame of Dask; None where only reading an array would tell."""
    if hasattr(X, "columns"):
        return len(X)
    return None if np.isnan(X.shape[0]) else int(X.shape[0])


def targets(y: Any, X: Any, role: str) -> Any:
    """Return the blocks of an array of Dask that belong to those of X."""
    if not hasattr(y, "to_delayed") or getattr(y, "ndim", 0) != 1:
        raise ValueError(f"{role} must be an array of Dask with one dimension, as X is one with two.")
    if not np.isnan(X.shape[0]) and not np.isnan(y.shape[0]):
        if len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows, and {role} has {len(y)}.")
        y = y.rechunk((X.chunks[0],))
    if y.numblocks[0] != X.numblocks[0]:
        raise ValueError(f"X and {role} have blocks of unknown lengths, and not as many: call compute_chunk_sizes().")
    return y.to_delayed().ravel()


def refuse_names(X: Any, y: Any, weight: Any, roles: tuple[str, ...] = ("y", "sample_weight")) -> None:
    """Refuse what names no column of a frame of Dask, in the roles that are given by name."""
    names = list(X.columns)
    for role, name in (("y", y), ("sample_weight", weight)):
        if (
            role in roles
            and not (name is None and role == "sample_weight")
            and (not isinstance(name, str) or name not in names)
        ):
            raise ValueError(f"{role} must name a column of the frame, one of {names}; got {name!r:.80}.")


def beside(X: Any, y: Any, weight: Any) -> tuple[Any, Any]:
    """Return the targets and weights that belong to an array or a frame of Dask; in memory they may be, too."""
    if hasattr(X, "columns"):
        given = [(role, each) for role, each in (("y", y), ("sample_weight", weight)) if np.ndim(each) == 0]
        names = dict(given)
        if names:
            refuse_names(X, names.get("y"), names.get("sample_weight"), tuple(names))
        return tuple(column(X, each) if isinstance(each, str) else each for each in (y, weight))
    if np.ndim(y) != 1:
        raise ValueError(f"y must be an array of Dask, or one in memory, with a target for each row; got {y!r:.80}.")
    return y, weight


def column(X: Any, name: str) -> Any:
    """Return a column of a frame of Dask as an array in memory."""
    from dask.base import compute
    from dask.delayed import delayed

    parts = [delayed(cells)(part, k, name) for k, part in enumerate(X.to_delayed())]
    found = compute(*parts)  # type: ignore[no-untyped-call]
    return np.concatenate([each for each in found if len(each)] or found[:1])


def cells(part: Any, k: int, name: str) -> Any:
    """Return a column of partition k as an array."""
    refuse_lacking(part.columns, [name], f"Partition {k} of the frame")
    return np.asarray(part[name])


def of_frame(part: Any, k: int, names: list[Any], y: str, weight: str | None) -> Block:
    """Take partition k, a frame of pandas, apart; its columns must be those of the frame, in any order."""
    refuse_lacking(part.columns, names, f"Partition {k} of the frame")
    if len(part.columns) != len(names):
        strange = [name for name in part.columns if name not in names]
        raise ValueError(f"Partition {k} has other columns than the frame, {strange or [*part.columns]!s:.300}.")
    features = [name for name in names if name not in (y, weight)]
    own = None if weight is None else np.asarray(part[weight])
    return Block(part[features], np.asarray(part[y]), own, f"partition {k}")


def applied(sent: Sent, block: Block) -> Any:
    """Work on a block; an empty one gives nothing."""
    with placed(block.where):
        return sent.work(block) if len(block.y) else None


def as_one(parts: list[Any]) -> Block:
    """Return rows that were held as one block."""
    return sum((part for part in parts if part is not None), Held()).as_one()


def added(parts: list[Any]) -> Any:
    """Add what there is."""
    total = None
    for part in parts:
        total = part if total is None else total if part is None else total + part
    return total


def predicted(predict: Callable[[Any], Any], X: Any, names: list[str] | None) -> Any:
    """Return an array of Dask of predictions, each made where the rows are, when it is asked for.

    Parameters
    ----------
    predict : callable
        A table of NumPy or pandas to predictions; it can be pickled.
    X : dask.array.Array or dask.dataframe.DataFrame
    names : list of str or None
        Of the columns to predict from.
    """
    import dask.array as da
    from dask.delayed import delayed

    if hasattr(X, "columns"):
        names = names or [*X.columns]
        refuse_lacking(X.columns, names)
        like, parts, sizes = X._meta_nonempty[names], X.to_delayed(), [np.nan] * X.npartitions
    else:
        X, names = X.rechunk({1: -1}), None
        like, parts, sizes = np.zeros((1, X.shape[1])), X.to_delayed()[:, 0], X.chunks[0]
    empty = predict(like)[:0]
    blocks = [delayed(of_rows)(Sent(predict), part, k, names, empty) for k, part in enumerate(parts)]
    shapes = [(size, *empty.shape[1:]) for size in sizes]
    return da.concatenate(  # type: ignore[no-untyped-call]
        [da.from_delayed(b, shape, meta=empty) for b, shape in zip(blocks, shapes, strict=True)],  # type: ignore[no-untyped-call]
        allow_unknown_chunksizes=True,
    )


def of_rows(sent: Sent, part: Any, k: int, names: list[Any] | None, empty: Any) -> Any:
    """Predict partition k from the columns with these names; of an empty one nothing."""
    if names is not None:
        refuse_lacking(part.columns, names, f"Partition {k} of the frame")
        part = part[names]
    return sent.work(part) if len(part) else empty
