"""Functions as plain dictionaries of numbers, for JSON and the like; reading one runs no code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pldc.function.hinges import HingedPLDC, Hinges
from pldc.function.max_affine import MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.total import AnyPLDC, PLDCSum

VERSION = 1


def to_dict(function: AnyPLDC) -> dict[str, Any]:
    """Return the function as a dictionary of strings, numbers and lists.

    Through ``json.dumps`` and ``json.loads`` every number comes back to the last bit.
    """
    return {"pldc": VERSION, **_write(function)}


def from_dict(record: dict[str, Any]) -> AnyPLDC:
    """Return the function of a dictionary made by :func:`to_dict`; a malformed one is refused with the place named."""
    if not isinstance(record, dict):
        raise ValueError(f"Expected a dictionary made by to_dict, got {type(record).__name__}.")
    version = record.get("pldc")
    if isinstance(version, bool) or version != VERSION:
        raise ValueError(f"Expected the entry 'pldc': {VERSION}, the version of the format; got {version!r}.")
    return _read(record, "function")


def _write(function: AnyPLDC) -> dict[str, Any]:
    if isinstance(function, PLDC):
        parts = {"plus": function.plus, "minus": function.minus}
        return {"type": "PLDC"} | {
            name: {"slopes": part.slopes.tolist(), "offsets": part.offsets.tolist()} for name, part in parts.items()
        }
    if isinstance(function, HingedPLDC):
        knots = [k.tolist() for k in function.hinges.knots]
        return {"type": "HingedPLDC", "function": _write(function.function), "knots": knots}
    return {"type": "PLDCSum", "terms": [_write(term) for term in function.terms]}


def _read(record: Any, place: str) -> Any:
    readers: dict[str, Callable[[Any, str], AnyPLDC]] = {
        "PLDC": _read_pldc,
        "HingedPLDC": _read_hinged,
        "PLDCSum": _read_sum,
    }
    kind = _entry(record, "type", place)
    if not isinstance(kind, str) or kind not in readers:
        raise ValueError(f"{place}: 'type' must be one of {sorted(readers)}, got {kind!r}.")
    try:
        return readers[kind](record, place)
    except (TypeError, ValueError) as error:
        text = str(error)
        raise ValueError(text if text.startswith("function") else f"{place}: {text}") from None


def _read_pldc(record: Any, place: str) -> PLDC:
    parts = []
    for name in ("plus", "minus"):
        part, where = _entry(record, name, place), f"{place}.{name}"
        slopes = _numbers(_entry(part, "slopes", where), 2, f"{where}.slopes")
        parts.append(MaxAffine(slopes, _numbers(_entry(part, "offsets", where), 1, f"{where}.offsets")))
    return PLDC(*parts)


def _read_hinged(record: Any, place: str) -> HingedPLDC:
    return HingedPLDC(_read_inner(record, place), Hinges(_read_lists(record, "knots", place)))


def _read_inner(record: Any, place: str) -> PLDC:
    inside = _entry(record, "function", place)
    if _entry(inside, "type", f"{place}.function") != "PLDC":
        raise ValueError(f"{place}.function must be of type 'PLDC'.")
    return _read_pldc(inside, f"{place}.function")


def _read_lists(record: Any, name: str, place: str) -> list[np.ndarray]:
    """Return a list of lists of numbers, some of which may be empty."""
    each = _entry(record, name, place)
    if not isinstance(each, list):
        raise ValueError(f"{place}.{name} must be a list of lists.")
    return [
        np.zeros(0) if values == [] else _numbers(values, 1, f"{place}.{name}[{k}]") for k, values in enumerate(each)
    ]


def _read_sum(record: Any, place: str) -> PLDCSum:
    terms = _entry(record, "terms", place)
    if not isinstance(terms, list):
        raise ValueError(f"{place}.terms must be a list.")
    if any(isinstance(term, dict) and term.get("type") == "PLDCSum" for term in terms):
        raise ValueError(f"{place}.terms: a sum of sums is not a PLDCSum.")
    return PLDCSum(tuple(_read(term, f"{place}.terms[{k}]") for k, term in enumerate(terms)))


def _entry(record: Any, name: str, place: str) -> Any:
    if not isinstance(record, dict):
        raise ValueError(f"{place} must be a dictionary, got {type(record).__name__}.")
    if name not in record:
        raise ValueError(f"{place} has no entry {name!r}.")
    return record[name]


def _numbers(values: Any, ndim: int, place: str) -> np.ndarray:
    """Return nested lists of numbers as an array; strings, ragged lists, NaN and infinity are refused."""
    try:
        array = np.array(values)
    except ValueError:
        array = np.array(None)
    if not isinstance(values, list) or array.ndim != ndim or array.dtype.kind not in "iuf":
        raise ValueError(f"{place} must be a {'list' if ndim == 1 else 'list of equally long lists'} of numbers.")
    if 0 in array.shape:
        raise ValueError(f"{place} is empty.")
    if not np.isfinite(array).all():
        raise ValueError(f"{place} contains NaN or infinity.")
    return array.astype(np.float64)
