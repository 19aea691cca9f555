"""Fits and predictions on tables that are read block by block: a sample of the rows is fitted, then all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pldc.columns.cells import Table
from pldc.compact.polish import HELD_ROWS
from pldc.estimators.blocks import BEYOND, AllRows
from pldc.estimators.checks import shown
from pldc.estimators.tables import Given, refuse_name, refuse_no_table
from pldc.fit import Settings
from pldc.fit.rest import Rest
from pldc.fit.spine import SHORTEST_FIT
from pldc.function.max_affine import Array
from pldc.scale import drawn
from pldc.scale.alike import Alike
from pldc.scale.files import opened
from pldc.scale.levels import Parts
from pldc.scale.rare import with_rare
from pldc.scale.sample import Sample, refuse_unseen
from pldc.scale.sources import features_of, is_dask, is_source, n_far, names_in, readable, reader_of, shards_of
from pldc.scale.stacking import table_of
from pldc.solve.workers import blas_threads

UNITS = {"": 1, "B": 1}
UNITS |= {f"{prefix}{byte}": 1000**k for k, prefix in enumerate("KMGT", 1) for byte in ("", "B")}
UNITS |= {f"{prefix}IB": 1024**k for k, prefix in enumerate("KMGT", 1)}
MEMORY, MOST_MEMORY = 10**9, 2**63  # bytes, where nothing else is asked for; that anybody has
SHARE, COPIES = 0.4, 8  # of the memory, for the sample: so many copies of it are there at some moment
FEWEST, MOST = 5_000, 50_000  # rows of a sample: however many there are, it is no larger
HELD_COPIES = 3  # of the rows that are held
MANY_EQUAL = 2.0  # rows of a kind, on average, from which statistics of levels are those of all rows
REPEATED = 1.05  # rows of a kind, on average, up to which rows with low numbers are like the others


def settings_left(settings: Settings, spent: float) -> Settings:
    """Return settings with what is left of the time after so many seconds; a little there always is."""
    if settings.max_seconds is None:
        return settings
    least = min(settings.max_seconds, SHORTEST_FIT)
    return replace(settings, max_seconds=max(settings.max_seconds - spent, least))


def streams(model: Any, X: Any) -> bool:
    """Say whether X is to be read block by block: what is no array, or one on disk that is larger than allowed."""
    return is_source(X) or (isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > memory_of(model.max_memory))


def memory_of(given: Any) -> int:
    """Return the parameter `max_memory` in bytes: a number, or one with a unit."""
    wrong = (
        f"max_memory must be None, a number of bytes ≥ 1e7, or a text such as '500MB' or '1GiB'; got {shown(given)}."
    )
    if given is None:
        return MEMORY
    number, unit = given, ""
    if isinstance(given, str):
        digits = given.strip().rstrip("BKMGTIbkmgti ")
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
        X = table_of(X)
        if isinstance(y, str):
            refuse_no_table(X)  # of what cannot be read here a name is not what is wrong
        refuse_name(X, y)
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
    of_classes, X = is_classifier(model), readable(X)
    if model._pieces() == "rows":
        raise ValueError(
            f"{asked_for_program(model)} asks for the program, which needs the table in memory: give arrays, or leave "
            "it at its default."
        )
    threads = model._threads() or blas_threads()
    if isinstance(X, np.ndarray) or is_dask(X):
        source = X
    else:
        source = Alike(X) if callable(X) else opened(X, y if of_classes else None)
    shards = shards_of(source, y, weight, threads)
    memory = SHARE * memory_of(model.max_memory) / 8  # numbers
    most = int(np.clip(memory / (COPIES * (width_of(source, y, weight) + 2)), FEWEST, MOST))
    categories = called_categories(model.categorical_features)
    found = drawn(shards, most, of_classes, n_far(source), categories)
    if not found.n:
        raise ValueError("All weights are zero: there is nothing to fit.")
    if not of_classes:
        model._loss().check(found.span)  # of all rows: a sample may lack the one that is wrong
    part = found.rows
    refuse_unseen(found, part, categories)
    whole = found.n <= len(part.y)
    if of_classes and not whole:
        refuse_weightless(model.class_weight, found.labels)
        part = with_rare(shards, found, part)
    frequent = np.zeros(0, dtype=np.uint64) if found.frequent is None else found.frequent.key
    parts = Parts(found.repeated > MANY_EQUAL, frequent)
    everywhere = AllRows(shards, found.n, part, 8 * memory / 2, lambda: model.classes_ if of_classes else None, parts)
    try:
        given = model._given(part.X, part.y, part.weight, everywhere=None if whole else everywhere)
    except OverflowError:
        raise ValueError(BEYOND) from None
    if whole:
        return given, None, part.X
    read = everywhere.reading(given.rows.y, given.rows.weight)
    rules = everywhere.slim(given.columns)
    rest = Rest(
        shards,
        replace(read, columns=rules, medians=given.medians, apart=everywhere.apart, parts=parts),
        found.n,
        found.span,
        sample=len(part.y),
        held=rows_to_hold(found, int(memory / (HELD_COPIES * (given.rows.X.shape[1] + 2))), most),
        classes=of_classes,
        counts=found.counts,
    )
    return given, rest, part.X


def refuse_weightless(class_weight: Any, labels: Array) -> None:
    """Refuse classes of a table that are given no weight."""
    given = class_weight if isinstance(class_weight, Mapping) else {}
    lost = [label for label in labels.tolist() if label in given and not given[label]]
    if lost:
        raise ValueError(f"Classes {lost!s:.200} weigh nothing by class_weight: drop their rows.")


def rows_to_hold(found: Sample, room: int, sample: int) -> int:
    """Return how many rows to hold for steps on more rows than the sample; 0 where that would save nothing.

    They are those with low numbers, and all that are equal to them: of few kinds of rows they would be some alone.
    """
    most = min(HELD_ROWS, room)
    alike = found.frequent is not None or found.repeated > REPEATED
    return 0 if alike or most < 2 * sample or found.n < 2 * most else most


def asked_for_program(model: Any) -> str:
    """Return the setting that asks for the program, as it was given."""
    if model.n_pieces == "rows":
        return "n_pieces='rows'"
    for name, defaults in model._of_the_program.items():
        given = getattr(model, name)
        if not any(type(given) is type(default) and given == default for default in defaults):
            return f"{name}={shown(given)}"
    return "n_pieces"


def width_of(source: Any, y: Any, weight: Any) -> int:
    """Return the number of features of a source: so the same rows have the same sample, however they are stored."""
    if hasattr(source, "schema"):
        return len(names_in(source, y, weight))
    if isinstance(source, Alike):
        return len(Table.read(source.look().X).columns)
    if hasattr(source, "columns"):
        return len([name for name in source.columns if name not in (y, weight)])
    return int(source.shape[1])


def called_categories(given: Any) -> list[Any]:
    """Return the names and places of columns in the parameter `categorical_features`, which is checked later."""
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        return []
    wanted = np.asarray(given, dtype=object).ravel().tolist()
    mask = all(isinstance(each, bool | np.bool_) for each in wanted)
    return [k for k, each in enumerate(wanted) if each] if mask else wanted


def over_blocks(model: Any, predict: Callable[[Any], Array], X: Any) -> Any:
    """Predict block by block; of a collection of Dask, one of Dask is returned, which computes where the rows are."""
    names = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    X = readable(X)
    if is_dask(X):
        from pldc.scale.dask_shards import predicted

        return predicted(predict, X, names)
    found = [predict(block) for block in features_of(X, names)]
    if not found:
        raise ValueError("There are no rows: the source has no block with any.")
    return np.concatenate(found)


def targets_of(X: Any, y: Any, weight: Any, labels: bool = False) -> tuple[Array, Array | None]:
    """Return the targets, or labels, and weights of a source in memory."""
    if is_dask(X):
        from pldc.scale.dask_shards import beside

        y, weight = beside(X, y, weight)
        return np.asarray(y), None if weight is None else np.asarray(weight)
    read = reader_of(readable(X), y, weight, y if labels else None)
    if isinstance(read, Alike):
        read.look()  # it is asked again, to predict
    blocks = [(block.y, block.weight) for block in read()]
    if not blocks:
        raise ValueError("There are no rows: the source has no block with any.")
    weights = [np.ones(len(t)) if w is None else w for t, w in blocks]
    weighted = any(w is not None for _, w in blocks)
    return np.concatenate([t for t, _ in blocks]), np.concatenate(weights) if weighted else None
