"""Checks of parameters and weights: what is allowed, said in the error."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import Array

LONGEST = 80  # characters of a value in a message
HUGE = 1e50  # weights beyond which, and below one over which, they are scaled


def check_weight(sample_weight: ArrayLike | None, n: int) -> Array:
    """Return one weight ≥ 0 a row: a number of rows, unless all are too large or too small to calculate with."""
    if sample_weight is None:
        return np.ones(n)
    refuse_masked("sample_weight", sample_weight)
    given = np.asarray(sample_weight)
    if given.dtype.kind == "c":
        raise ValueError("sample_weight must hold real numbers; it is complex.")
    weight = given.astype(np.float64)
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


def positive(name: str, value: Any, others: str = "") -> float:
    """Return a parameter that must be a positive number; `others` names what else would do."""
    number = np.nan
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):  # a whole number beyond all floats
            number = float(value)
    if not (number > 0 and np.isfinite(number)):
        raise ValueError(f"{name} must be {others}a positive finite number, got {shown(value)}.")
    return number


def whole(name: str, value: Any, least: int, optional: bool = False) -> int:
    """Return a parameter that must be a whole number, `least` or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be {'None or ' * optional}a whole number ≥ {least}, got {shown(value)}.")
    return int(value)


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return a parameter that must be one of the names allowed."""
    if not (isinstance(value, str) and value in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {shown(value)}.")
    return value


def flag(name: str, value: Any) -> bool:
    """Return a parameter that must be true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}.")
    return bool(value)


def refuse_masked(name: str, value: Any) -> None:
    """Refuse an array with a mask: NumPy would read the numbers behind it as if it were not there."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} is a masked array with values that are missing: fill or drop them first.")


def shown(value: Any) -> str:
    """Return what was given, shortened: a message is to be read."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = f"a {type(value).__name__} too long to print"
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
