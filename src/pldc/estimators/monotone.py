"""The parameter `monotone`: signs of columns, turned into those of the features that the function sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pldc.columns import Encoding, Number
from pldc.columns.cells import HELD
from pldc.estimators.checks import shown
from pldc.function.max_affine import IntArray


def signs_of(monotone: Any, names: Any, n_columns: int, columns: Encoding | None) -> IntArray:
    """Return the sign of each feature; that a cell is missing has none."""
    if columns is None:
        return signs_of_columns(monotone, names, n_columns)
    signs = signs_of_columns(monotone, columns.names if names is None else names, n_columns)
    for sign, column in zip(signs, columns.columns, strict=True):
        if sign and column.kind != "number":
            raise ValueError(f"monotone is for columns of numbers; {column.name!r} holds {HELD[column.kind]}.")
    return np.array([signs[f.column] if isinstance(f, Number) else 0 for f in columns.features], dtype=np.intp)


def signs_of_columns(monotone: Any, names: Any, n_columns: int) -> IntArray:
    """Return the sign of each column: −1, 0 or 1."""
    if monotone is None:
        return np.zeros(n_columns, dtype=int)
    named = isinstance(monotone, Mapping)
    try:
        signs = np.asarray(named_signs(monotone, names) if named else monotone)
    except ValueError as error:
        raise (error if named else ValueError(f"monotone must hold −1, 0 or 1, got {shown(monotone)}.")) from None
    if signs.shape != (n_columns,) or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotone must hold −1, 0 or 1 for each of {n_columns} features, got {monotone!r}.")
    return signs


def named_signs(monotone: Mapping[str, int], names: Any) -> list[int]:
    """Return the signs that a dict gives to columns by name."""
    if names is None:
        raise ValueError("monotone is a dict of feature names, but X has no column names: pass a sequence of signs.")
    unknown = set(monotone) - set(names)
    if unknown:
        raise ValueError(f"monotone names unknown features {sorted(unknown, key=str)}; X has {list(names)}.")
    return [monotone.get(name, 0) for name in names]
