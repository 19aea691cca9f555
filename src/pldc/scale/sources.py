"""Where blocks come from: files of Arrow and Parquet, arrays on disk, functions that read them, Dask's collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from pldc.columns.cells import is_frame
from pldc.scale.alike import Alike, by_names, names_of, refuse_lacking
from pldc.scale.files import CSV, batches, columns_of, is_dataset, opened, refuse_gaps
from pldc.scale.shards import Block, Blocks, Shards
from pldc.scale.stacking import table_of

ROWS = 1 << 16  # of a block, at most
BYTES = 32 << 20  # of a block's numbers, at most


def is_source(X: Any) -> bool:
    """Say whether rows are to be read block by block: from paths, a dataset, Dask, blocks or a function."""
    if of_dask(X):
        return is_dask(X)
    return is_path(X) or is_dataset(X) or callable(X) or is_paths(X) or is_blocks(X)


def of_dask(X: Any) -> bool:
    """Say whether X is anything of Dask, a bag or a delayed value, too: that one has all attributes."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def is_dask(X: Any) -> bool:
    """Say whether X is an array of Dask with two dimensions, or a frame."""
    dimensions = getattr(X, "ndim", None) if of_dask(X) else None
    return isinstance(dimensions, int) and dimensions == 2


def is_path(X: Any) -> bool:
    """Say whether X is a path."""
    return isinstance(X, (str, os.PathLike))


def is_paths(X: Any) -> bool:
    """Say whether X is a list of paths."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(map(is_path, X))


def is_blocks(X: Any) -> bool:
    """Say whether X is a list of blocks, which are tables or tuples of a table and targets."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else None
    if isinstance(first, tuple) and len(first) in (2, 3) and isinstance(first[0], list):
        return all(isinstance(row, list | tuple) for row in first[0])
    if isinstance(first, tuple | list) and len(first) in (2, 3):
        first = first[0]
    return is_frame(first) or (isinstance(first, np.ndarray) and first.ndim == 2)


def readable(X: Any) -> Any:
    """Return a source that can be read again and again: of a list of blocks a function that gives them."""
    return (lambda: X) if is_blocks(X) else X


def n_far(X: Any) -> int | None:
    """Return the number of rows of a collection of Dask, if it is known; None of what is read here."""
    if not is_dask(X):
        return None
    from pldc.scale.dask_shards import rows_in

    return rows_in(X)


def shards_of(X: Any, y: Any, weight: Any, threads: int) -> Shards:
    """Return the blocks of a source, with their targets.

    Parameters
    ----------
    X : path, dataset of Arrow, array on disk, array or frame of Dask, or callable
    y : str, array or None
        Name of the target's column; of arrays, another; None where blocks bring their own.
    weight : str, array or None
        Likewise.
    threads : int
    """
    if is_dask(X):
        from pldc.scale.dask_shards import DaskShards

        return DaskShards(X, y, weight)
    return Blocks(reader_of(X, y, weight), threads)


def reader_of(X: Any, y: Any, weight: Any, whole: Any = None) -> Callable[[], Iterator[Block]]:
    """Return what reads the blocks of a source, from the first one at every call; `whole` is for :func:`opened`."""
    if isinstance(X, np.ndarray):
        return partial(of_array, X, y, weight)
    if callable(X):
        if y is not None or weight is not None:
            raise ValueError(
                "A list of blocks, or a function, gives their targets, too: blocks are (X, y) or (X, y, w)."
            )
        return X if isinstance(X, Alike) else Alike(X)
    dataset = opened(X, whole)
    refuse_gaps(dataset, [*names_in(dataset, y, weight), *others(y, weight)])
    return partial(of_dataset, dataset, y, weight)


def names_in(dataset: Any, y: Any, weight: Any) -> list[str]:
    """Return the columns of a dataset that are features; check the names of the others."""
    names = columns_of(dataset)
    for role, name in (("y", y), ("sample_weight", weight)):
        if name is None and role == "sample_weight":
            continue
        if not isinstance(name, str) or name not in names:
            hint = f" {CSV}." if len(names) == 1 and getattr(dataset.format, "default_extname", "") == "csv" else ""
            raise ValueError(f"{role} must name a column of the table, one of {names}; got {name!r:.80}.{hint}")
    return [name for name in names if name not in (y, weight)]


def others(y: str, weight: str | None) -> list[str]:
    """Name the columns that are no features."""
    return [y] if weight is None or weight == y else [y, weight]


def of_dataset(dataset: Any, y: Any, weight: Any) -> Iterator[Block]:
    """Read a dataset of Arrow; no more than one file and a few batches are in memory."""
    features = names_in(dataset, y, weight)
    rows = max(1024, min(ROWS, BYTES // (8 * len(dataset.schema.names))))
    for table, where in batches(dataset, [*features, *others(y, weight)], rows):
        own = None if weight is None else numbers(table[weight])
        yield Block(table.select(features), numbers(table[y]), own, where)


def numbers(column: Any) -> np.ndarray:
    """Return a column of Arrow as an array."""
    return np.asarray(column.to_numpy())


def of_array(X: np.ndarray, y: Any, weight: Any) -> Iterator[Block]:
    """Read rows of an array that may be on disk."""
    if X.ndim != 2 or np.shape(y) != (len(X),) or (weight is not None and np.shape(weight) != (len(X),)):
        weights = "" if weight is None else f", and weights of shape {np.shape(weight)}"
        raise ValueError(
            f"X must be of shape (n, d), y and weights of shape (n,); got X of shape {X.shape}, y of shape "
            f"{np.shape(y)}{weights}."
        )
    step = max(1024, min(ROWS, BYTES // (8 * X.shape[1])))
    for start in range(0, len(X), step):
        at = slice(start, start + step)
        own = None if weight is None else np.array(weight[at])
        yield Block(np.array(X[at]), np.array(y[at]), own, f"rows {start} to {min(start + step, len(X)) - 1}")


def features_of(X: Any, names: list[str] | None) -> Iterator[Any]:
    """Read the features alone of a source, block by block: to predict."""
    if isinstance(X, np.ndarray):
        for start in range(0, len(X), ROWS):
            yield np.array(X[start : start + ROWS])
    elif callable(X):
        yield from features_given(X, names)
    else:
        dataset = opened(X)
        names = columns_of(dataset) if names is None else names
        refuse_lacking(dataset.schema.names, names)
        refuse_gaps(dataset, names)
        yield from (table for table, _ in batches(dataset, names, ROWS))


def features_given(X: Callable[[], Any], names: list[str] | None) -> Iterator[Any]:
    """Read the features that a function gives: in the order of the names, or of the first block; rows there must be."""
    for given in X():
        block = table_of(given[0] if isinstance(given, tuple) else given)
        there = names_of(block)
        names = there if names is None else names
        if there is not None and names is not None and sorted(there) == sorted(names):
            block = by_names(block, names)
        if not (hasattr(block, "__len__") and len(block) == 0):
            yield block
