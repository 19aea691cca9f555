"""Functions as plain dictionaries of numbers, for JSON and the like; reading one runs no code.

A record is ``{"pldc": 2, "terms": [...]}``, a term ``{"plus": part, "minus": part}`` and a part
``{"slopes": list of lists, "offsets": list}``. A term with hinges has "knots", too: a list for each feature. A record
``{"pldc": 3, "center": list, "terms": [...]}`` is of a function whose terms are of x less the centre. Slopes may be
packed, as :mod:`pldc.function.packing` says.
"""

from __future__ import annotations

from reprlib import repr as shortened
from typing import Any

import numpy as np

from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array, MaxAffine
from pldc.function.packing import unpack
from pldc.function.term import Term

PLAIN, CENTRED = 2, 3  # versions: what needs no centre can be read by all who can read version 2
Center = tuple[float, ...] | None


def to_dict(terms: tuple[Term, ...], center: Center = None) -> dict[str, Any]:
    """Return terms, and the centre they are seen from, as a dictionary of strings, numbers and lists.

    Through ``json.dumps`` and ``json.loads`` every number comes back to the last bit.
    """
    head = {"pldc": PLAIN} if center is None else {"pldc": CENTRED, "center": list(center)}
    return head | {"terms": [_write(term) for term in terms]}


def from_dict(record: dict[str, Any]) -> tuple[list[Term], Center]:
    """Return the terms and the centre of a dictionary made by :func:`to_dict`; a malformed one is refused by place."""
    if not isinstance(record, dict):
        raise ValueError(f"Expected a dictionary made by to_dict, got {type(record).__name__}.")
    version = record.get("pldc")
    if type(version) is not int or version not in (1, PLAIN, CENTRED):
        raise ValueError(
            f"Expected the entry 'pldc': {PLAIN}, the version of the format; got {shortened(version):.80}."
        )
    terms = _of_version_1(record, "function") if version == 1 else _entry(record, "terms", "function")
    if type(terms) is not list or not terms:
        raise ValueError("function.terms must be a list of at least one term.")
    found = [_read(term, f"function.terms[{k}]") for k, term in enumerate(terms)]
    if version != CENTRED:
        return found, None
    center = _numbers(_entry(record, "center", "function"), "function.center")
    if len(center) != found[0].n_features:
        raise ValueError(f"function.center must hold {found[0].n_features} numbers, one a feature; got {len(center)}.")
    return found, tuple(center.tolist()) if center.any() else None


def _of_version_1(record: Any, place: str) -> Any:
    """Return the terms of a record of version 1, in which functions had types, as they are now."""
    kind = _entry(record, "type", place)
    if type(kind) is not str or kind not in ("PLDC", "HingedPLDC", "PLDCSum", "WarpedPLDC"):
        raise ValueError(f"{place}: 'type' must be PLDC, HingedPLDC or PLDCSum, got {shortened(kind):.80}.")
    if kind == "WarpedPLDC":
        raise ValueError(f"{place} is a function of warped features, which are no longer supported: fit it again.")
    if kind == "PLDCSum":
        terms = _entry(record, "terms", place)
        if type(terms) is not list:
            return terms
        if any(isinstance(term, dict) and term.get("type") == "PLDCSum" for term in terms):
            raise ValueError(f"{place}.terms: a sum of sums is not a PLDCSum.")
        return [each for k, term in enumerate(terms) for each in _of_version_1(term, f"{place}.terms[{k}]")]
    inner = record if kind == "PLDC" else _entry(record, "function", place)
    parts = {name: _entry(inner, name, place) for name in ("plus", "minus")}
    return [parts if kind == "PLDC" else parts | {"knots": _entry(record, "knots", place)}]


def _write(term: Term) -> dict[str, Any]:
    parts = {
        name: {"slopes": [short(row) for row in part.slopes], "offsets": short(part.offsets)}
        for name, part in zip(("plus", "minus"), term.parts, strict=True)
    }
    return parts if term.hinges is None else parts | {"knots": [short(k) for k in term.hinges.knots]}


def short(values: Array) -> list[Any]:
    """Return floats as a list, 2 instead of 2.0; a zero with a sign keeps it, as it would be lost.

    Examples
    --------
    >>> short(np.array([2.0, -0.0, 0.5]))
    [2, -0.0, 0.5]
    """
    return [int(x) if x.is_integer() and str(x) != "-0.0" else x for x in values.tolist()]


def _read(record: Any, place: str) -> Term:
    parts = []
    for name in ("plus", "minus"):
        part, where = _entry(record, name, place), f"{place}.{name}"
        slopes = _slopes(_entry(part, "slopes", where), f"{where}.slopes")
        offsets = _numbers(_entry(part, "offsets", where), f"{where}.offsets")
        if len(slopes) != len(offsets):
            raise ValueError(f"{where} needs as many slopes as offsets; got {len(slopes)} and {len(offsets)}.")
        parts.append(MaxAffine(slopes, offsets))
    knots = record.get("knots")
    if knots is not None and type(knots) is not list:
        raise ValueError(f"{place}.knots must be a list of lists.")
    bent = None if knots is None else [_numbers(each, f"{place}.knots[{k}]") for k, each in enumerate(knots)]
    try:
        return Term(parts[0], parts[1], None if bent is None else Hinges(bent))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _slopes(values: Any, place: str) -> Array:
    if isinstance(values, dict):
        return unpack(values, place)
    if type(values) is not list or not values:
        raise ValueError(f"{place} must be a list of lists, and not empty.")
    for k, row in enumerate(values):
        _check(row, f"{place}[{k}]")
    if len({len(row) for row in values}) > 1 or not values[0]:
        raise ValueError(f"{place} must be lists of numbers that are equally long, and not empty.")
    return _array(values, place)


def _entry(record: Any, name: str, place: str) -> Any:
    if not isinstance(record, dict):
        raise ValueError(f"{place} must be a dictionary, got {type(record).__name__}.")
    if name not in record:
        raise ValueError(f"{place} has no entry {name!r}.")
    return record[name]


def _numbers(values: Any, place: str) -> Array:
    _check(values, place)
    return _array(values, place)


def _check(values: Any, place: str) -> None:
    """Refuse what is not a list of numbers, before NumPy sees it: it would run the code of other objects."""
    if type(values) is not list or not set(map(type, values)) <= {int, float}:
        raise ValueError(f"{place} must be a list of numbers.")


def _array(values: Any, place: str) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:  # a whole number beyond all floats
        array = np.array([np.inf])
    if not np.isfinite(array).all():
        raise ValueError(f"{place} contains NaN or infinity.")
    return array
