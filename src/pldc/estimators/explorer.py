"""The page of a fitted model: what its fields offer, which rows it shows, and simpler models beside it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from pldc.columns.cells import RawColumn, Table, cells_as
from pldc.estimators.checks import shown, whole
from pldc.estimators.summary import summary
from pldc.export.learned import learned
from pldc.export.model_file import write_whole
from pldc.export.page import ColumnRange, TrainingRows, page
from pldc.function.max_affine import Array
from pldc.model import Model


def write_page(
    estimator: Any,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    rows: int,
    simpler: Sequence[Any],
    title: str | None,
    target: str | None,
) -> None:
    """Write the page; see :meth:`pldc.DCRegressor.explorer`."""
    goal = Path(path)
    if not goal.name.endswith((".html", ".htm")):
        raise ValueError(f"A page ends in .html, got {goal.name!r:.80}.")
    if not goal.parent.is_dir():
        raise ValueError(f"There is no folder {shown(str(goal.parent))}: make it first.")
    whole("rows", rows, 0)
    if not (target is None or isinstance(target, str)):
        raise TypeError(f"target must be the name of what is predicted, got {shown(target)}.")
    if X is None and (y is not None or rows):
        raise ValueError("y and rows speak of a table: give X, too.")
    model: Model = estimator.model_
    cells = None if X is None else columns_of(estimator, X)
    kept = None if cells is None or not rows else first_rows(cells, y, rows)
    score, matters = summary(estimator).splitlines()[1::3]
    models = [*smaller(estimator, X, y, simpler), (told(estimator), model)]
    named = getattr(y, "name", None)
    target = target or (named if isinstance(named, str) else None) or model.target
    some = ", ".join(model.column_names[:3]) + " …" * (len(model.column_names) > 3)
    text = page(
        models,
        ranges=None if cells is None else [range_of(each) for each in cells],
        rows=kept,
        title=title or f"{target or 'A prediction'} from {some}",
        about=[score, matters],
        target=target,
    )
    write_whole(goal, text.encode())


def smaller(estimator: Any, X: Any, y: Any, wanted: Sequence[Any]) -> list[tuple[str, Model]]:
    """Return the simpler models, the simplest first: numbers of pieces to simplify to, or models made before."""
    if isinstance(wanted, (str, bytes)) or not hasattr(wanted, "__len__"):
        raise TypeError(f"simpler must be a sequence of numbers of pieces, or of models, got {shown(wanted)}.")
    found = []
    for each in wanted:
        if isinstance(each, Integral):
            if y is None or estimator.model_.levels is not None or estimator.model_.kind == "simplified":
                continue  # nothing to learn from, or few pieces already
            each = estimator.simplify(X, y, n_pieces=each)
        if getattr(each, "simplification_", None) is None:
            raise TypeError(f"simpler must hold numbers of pieces, or models that simplify gave, got {shown(each)}.")
        if each.model_.columns != estimator.model_.columns or len(each.reference_) != len(estimator.reference_):
            raise ValueError("A simpler model must be of the same columns.")
        found.append((told(each), each.model_))
    return sorted(found, key=lambda pair: max(f.n_pieces for f in pair[1].functions))


def told(estimator: Any) -> str:
    """Say how many pieces a model has, and how well it predicts."""
    kind, score = summary(estimator).splitlines()[:2]
    return kind.split(": ", 1)[1] + "; " + score.split(": ", 1)[1]


def columns_of(estimator: Any, X: Any) -> list[Array]:
    """Return the cells of each column: numbers, texts of levels (None where missing), or days."""
    estimator._points(X)  # refuses what cannot be predicted
    model: Model = estimator.model_
    table = Table.read(X)
    zones = [None] * len(table.columns) if model.columns is None else [c.zone for c in model.columns.columns]
    kinds = learned(model).columns
    return [
        cells_as(as_numbers(column) if kind == "number" else column, name, kind, zone)
        for column, (name, kind), zone in zip(table.columns, kinds, zones, strict=True)
    ]


def as_numbers(column: RawColumn) -> RawColumn:
    """Return a column whose numbers may be written as text, as scikit-learn takes them."""
    return RawColumn(column.values.astype(np.float64)) if column.values.dtype.kind in "US" else column


def range_of(cells: Array) -> ColumnRange:
    """Return what a field offers for the cells of a column."""
    if cells.dtype == object:
        count = Counter(cell for cell in sorted(cells, key=str) if cell is not None)
        return ColumnRange(None, None, max(count, key=count.__getitem__, default=None))
    known = cells[~np.isnan(cells)]
    if not len(known):
        return ColumnRange(0.0, 1.0, None)
    round_ones = bool((known == np.round(known)).all())
    return ColumnRange(float(known.min()), float(known.max()), float(np.median(known)), float(known.std()), round_ones)


def first_rows(cells: list[Array], y: Any, count: int) -> TrainingRows:
    """Return the first rows of a table as JSON knows them."""
    columns = [[None if cell != cell else cell for cell in column[:count].tolist()] for column in cells]
    targets = None if y is None else np.asarray(y)[:count].tolist()
    return TrainingRows([list(row) for row in zip(*columns, strict=True)], targets)
