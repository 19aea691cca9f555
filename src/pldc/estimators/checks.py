"""Checks of parameters and weights: what is allowed, said in the error."""

from __future__ import annotations

from datetime import timedelta
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from pldc.columns.cells import is_date, is_missing
from pldc.function.checks import choice, flag, positive, shown, whole
from pldc.function.device import torch_on
from pldc.function.max_affine import Array, real

HUGE = 1e50  # weights beyond which, and below one over which, they are scaled


def check_weight(sample_weight: ArrayLike | None, n: int) -> Array:
    """Return one weight ≥ 0 a row: a number of rows, unless all are too large or too small to calculate with."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight must hold one weight a row, got {shown(sample_weight)}: give the column itself. A name is "
            "for a path, a dataset or a frame of Dask as X."
        )
    weight = real(sample_weight, "sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), one weight a row; got {weight.shape}.")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite; it contains NaN or infinity.")
    if (weight < 0).any():
        raise ValueError("Negative values in sample_weight: weights must be ≥ 0.")
    if not (weight > 0).any():
        raise ValueError("All values of sample_weight are zero: there is nothing to fit.")
    largest = float(weight.max())
    return weight if 1 / HUGE < largest < HUGE else np.asarray(weight / largest)


def check_targets(y: Any) -> None:
    """Refuse targets of a regression that are no numbers: several columns, dates, lengths of time and text."""
    cells = np.asarray(y)
    if cells.ndim == 2 and cells.shape[1] > 1:
        raise ValueError(
            f"y has {cells.shape[1]} columns; for several targets use MultiOutputRegressor(DCRegressor()) of "
            "sklearn.multioutput."
        )
    if cells.ndim == 0:  # the name of a column, perhaps
        return
    strange = [cell for cell in cells.ravel() if not is_float(cell)] if cells.dtype.kind in "OUST" else []
    missing = sum(is_missing(cell) and not is_date(cell) for cell in strange)
    if missing and missing == len(strange):  # None, which scikit-learn lets pass
        raise ValueError(f"Input y contains NaN, or None: {missing} targets are missing. Drop these rows.")
    if cells.dtype.kind == "m" or any(isinstance(cell, (timedelta, np.timedelta64)) for cell in strange):
        raise ValueError(
            "y holds lengths of time; targets are numbers. Give days, y / pandas.Timedelta(days=1), without rows whose "
            "time is missing."
        )
    if cells.dtype.kind == "M" or any(map(is_date, strange)):
        raise ValueError(
            "y holds dates; targets are numbers. Give the time since one of them, such as "
            "(y - y.min()) / pandas.Timedelta(days=1), without rows whose date is missing."
        )
    texts = [cell for cell in strange if isinstance(cell, str)]
    if texts:
        raise ValueError(f"y holds text, such as {shown(texts[0])}; targets are numbers. Labels are for DCClassifier.")


def is_float(cell: Any) -> bool:
    """Say whether a cell is a number, or text that is read as one; lengths of time are none."""
    if isinstance(cell, np.timedelta64):  # else an int
        return False
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    except OverflowError:
        return True
    return True


def to_score(y: Any, sample_weight: Any) -> tuple[Any, Array | None]:
    """Check targets or labels that predictions are compared with, and weights."""
    if y is None:
        raise ValueError("y is missing: score(X, y) compares predictions with it.")
    refuse_masked("y", y)
    if isinstance(y, str):
        raise ValueError(f"y is the name of a column, {y!r:.80}, and X is in memory: give its cells, X[{y!r:.80}].")
    wanted = "y must have shape (n,), a target for each row of X"
    try:
        shape = np.shape(y)
    except ValueError:
        raise ValueError(f"{wanted}; got lists of unlike lengths.") from None
    if not (len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)):
        raise ValueError(f"{wanted}; got {shape}.")
    return y, None if sample_weight is None else check_weight(sample_weight, len(y))


def torch_device(name: Any, pieces: str | int) -> str | None:
    """Return the parameter `device`, of a fit of so many pieces; one that is not there is refused before any work."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise ValueError(f"device must be None or the name of a device of torch, such as 'cuda'; got {shown(name)}.")
    if pieces == "rows":
        raise ValueError("device is for fits of few pieces; for the program give solver=Admm(device=...).")
    torch_on(name)
    return name


def starts_seed(random_state: Any) -> int:
    """Return a seed: a number as it is, or one drawn from a generator of random numbers."""
    if isinstance(random_state, Integral):
        return whole("random_state", random_state, 0, optional=True)
    return int(check_random_state(random_state).randint(2**31 - 1))


def refuse_masked(name: str, value: Any) -> None:
    """Refuse an array with a mask: NumPy would read the numbers behind it as if it were not there."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} is a masked array with values that are missing: fill or drop them first.")


__all__ = [
    "check_targets",
    "check_weight",
    "choice",
    "flag",
    "positive",
    "refuse_masked",
    "shown",
    "starts_seed",
    "to_score",
    "torch_device",
    "whole",
]
