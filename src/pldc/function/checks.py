"""Checks of single arguments: what was given, what is allowed, said in the error."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import numpy as np

LONGEST = 80  # characters of a value in a message


def positive(name: str, value: Any, others: str = "", zero: bool = False) -> float:
    """Return a parameter that must be a positive number, or zero where that is allowed; `others` would do as well."""
    number = np.nan
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):  # a whole number beyond all floats
            number = float(value)
    if not ((number > 0 or (zero and number == 0)) and np.isfinite(number)):
        kind = "a finite number ≥ 0" if zero else "a positive finite number"
        raise ValueError(f"{name} must be {others}{kind}, got {shown(value)}.")
    return number


def whole(name: str, value: Any, least: int, optional: bool = False, most: float = np.inf) -> int:
    """Return a parameter that must be a whole number, `least` or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        limit = f"≥ {least}" if most == np.inf else f"from {least} to {most:g}"
        raise ValueError(f"{name} must be {'None or ' * optional}a whole number {limit}, got {shown(value)}.")
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


def shown(value: Any) -> str:
    """Return what was given, shortened: a message is to be read."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # a whole number of thousands of digits
        text = f"a {type(value).__name__} too long to print"
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
