"""Fits and predictions on tables that are read block by block: a sample of the rows is fitted, then all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pldc.columns import Encoding
from pldc.columns.cells import Table
from pldc.estimators.checks import shown
from pldc.estimators.tables import Given
from pldc.fit.rest import Rest
from pldc.function.max_affine import Array
from pldc.problem.recipe import Rows
from pldc.scale import Block, drawn
from pldc.scale.sources import Alike, features_of, is_dask, is_source, n_far, opened, reader_of, shards_of
from pldc.solve.workers import blas_threads

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MEMORY, MOST_MEMORY = 10**9, 2**63  # bytes, where nothing else is asked for; that anybody has
SHARE, COPIES = 0.4, 8  # of the memory, for the sample: so many copies of it are there at some moment
FEWEST, MOST = 5_000, 1_000_000  # rows of a sample


@dataclass(frozen=True)
class Reading:
    """Turns blocks into rows, by the rules that were learned from the sample.

    Attributes
    ----------
    columns : Encoding or None
    medians : array or None
        Of a table of numbers: what stands where one is missing.
    classes : array or None
    factors : array or None
        Of the weight of each class.
    """

    columns: Encoding | None
    medians: Array | None
    classes: Array | None = None
    factors: Array | None = None

    def __call__(self, block: Block) -> Rows:
        """Read."""
        if self.columns is not None:
            X = self.columns.apply(block.X)
        else:
            X = block.X if isinstance(block.X, np.ndarray) else stacked(Table.read(block.X))
            X = np.asarray(X, dtype=np.float64)
            if np.isnan(X).any():
                X = np.where(np.isnan(X), 0.0 if self.medians is None else self.medians, X)
        if not np.isfinite(X).all():
            raise ValueError("X contains infinity in a block of the table.")
        y = np.asarray(block.y)
        weight = np.ones(len(y)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        if self.classes is None or self.factors is None:
            return Rows(X, y.astype(np.float64), weight)
        codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        return Rows(X, codes.astype(np.float64), weight * self.factors[codes] * (self.classes[codes] == y))


def stacked(table: Table) -> Array:
    """Return columns of numbers as an array."""
    return np.column_stack([np.asarray(column.values, dtype=np.float64) for column in table.columns])


def streams(model: Any, X: Any) -> bool:
    """Say whether X is to be read block by block: what is no array, or one on disk that is larger than allowed."""
    return is_source(X) or (isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > memory_of(model.max_memory))


def memory_of(given: Any) -> int:
    """Return the parameter `max_memory` in bytes: a number, or one with a unit."""
    wrong = f"max_memory must be None, a number of bytes ≥ 1e7, or a text such as '500MB'; got {shown(given)}."
    if given is None:
        return MEMORY
    number, unit = given, ""
    if isinstance(given, str):
        digits = given.strip().rstrip("BKMGTbkmgt ")
        unit = given.strip()[len(digits) :].strip().upper()
        try:
            number = float(digits)
        except ValueError:
            raise ValueError(wrong) from None
    if not isinstance(number, Real) or isinstance(number, bool) or unit not in UNITS:
        raise ValueError(wrong)
    size: Any = number
    size = size * UNITS[unit]  # a whole number may be beyond all floats
    if not 1e7 <= size <= MOST_MEMORY:
        raise ValueError(wrong)
    return int(size)


def given_and_rest(model: Any, X: Any, y: Any, weight: Any, groups: Any) -> tuple[Given, Rest | None, Any]:
    """Return a table as the spine takes it; of one that is read block by block a sample, and where all rows are.

    Last is the table that was read: X, or the sample.
    """
    memory_of(model.max_memory)
    if not streams(model, X):
        return model._given(X, y, weight, groups), None, X
    if groups is not None:
        raise ValueError("groups need the table in memory; a table that is read block by block has none.")
    return sampled(model, X, y, weight)


def sampled(model: Any, X: Any, y: Any, weight: Any) -> tuple[Given, Rest | None, Any]:
    """Draw a sample of a source, in one pass; return it as the spine takes it, where all rows are, and its table.

    Parameters
    ----------
    model : DCEstimator
    X, y, weight
        As for :func:`pldc.scale.sources.shards_of`.
    """
    of_classes = is_classifier(model)
    if model._pieces() == "rows":
        raise ValueError(
            "The program (n_pieces='rows') needs the table in memory: give arrays, or leave n_pieces='auto'."
        )
    threads = model._threads() or blas_threads()
    source = X if isinstance(X, np.ndarray) or is_dask(X) else Alike(X) if callable(X) else opened(X, y)
    shards = shards_of(source, y, weight, threads)
    room = SHARE * memory_of(model.max_memory) / (8 * COPIES * (width_of(source) + 2))
    found = drawn(shards, int(np.clip(room, FEWEST, MOST)), of_classes, n_far(source))
    part = found.rows
    given = model._given(part.X, part.y, part.weight)
    if found.n <= len(part.y):
        return given, None, part.X
    classes = factors = None
    if of_classes:
        classes = model.classes_
        lost = np.setdiff1d(found.labels, classes)
        if len(lost):
            raise ValueError(f"Classes {lost.tolist()!s:.200} have too few rows to be in a sample: merge or drop them.")
        first = np.array([np.flatnonzero(given.rows.y == k)[0] for k in range(len(classes))])
        factors = given.rows.weight[first] / part.weight[first]
    rest = Rest(shards, Reading(given.columns, given.medians, classes, factors), found.n, found.span)
    return given, rest, part.X


def width_of(source: Any) -> int:
    """Return the number of columns of a source."""
    if hasattr(source, "schema"):
        return len(source.schema.names)
    if callable(source):
        for block in source():
            return len(Table.read(block.X).columns)
        raise ValueError("There are no rows: the source has no block.")
    return int(source.shape[1])


def over_blocks(model: Any, predict: Callable[[Any], Array], X: Any) -> Any:
    """Predict block by block; of a collection of Dask, one of Dask is returned, which computes where the rows are."""
    names = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    if is_dask(X):
        from pldc.scale.dask_shards import predicted

        return predicted(predict, X, names)
    return np.concatenate([predict(block) for block in features_of(X, names)])


def targets_of(X: Any, y: Any, weight: Any) -> tuple[Array, Array | None]:
    """Return the targets and weights of a source in memory."""
    if is_dask(X):
        y, weight = (X[each] if isinstance(each, str) else each for each in (y, weight))
        return np.asarray(y), None if weight is None else np.asarray(weight)
    blocks = [(block.y, block.weight) for block in reader_of(X, y, weight)()]
    weights = [w for _, w in blocks if w is not None]
    return np.concatenate([t for t, _ in blocks]), np.concatenate(weights) if weights else None
