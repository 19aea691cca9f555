"""Rules of columns as plain dictionaries, for JSON and the like; reading one runs no code.

A record is ``{"columns": [...], "features": [...]}``: a column has "name", "kind" and "zone", a feature "kind",
"column" and the fields of its kind.
"""

from __future__ import annotations

from dataclasses import fields
from reprlib import repr as shortened
from typing import Any

import numpy as np

from pldc.columns.features import WAVES, Column, DatePart, Feature, Level, Missing, Number, Statistic

KINDS: dict[str, type[Feature]] = {each.kind: each for each in (Number, Missing, Level, Statistic, DatePart)}
SUITS = {"number": {"number"}, "level": {"category"}, "statistic": {"category"}, "date": {"date"}}  # kinds of columns


def to_dict(columns: tuple[Column, ...], features: tuple[Feature, ...]) -> dict[str, Any]:
    """Return columns and features as a dictionary of strings, numbers and lists."""
    return {
        "columns": [{"name": c.name, "kind": c.kind, "zone": c.zone} for c in columns],
        "features": [_write(feature) for feature in features],
    }


def _write(feature: Feature) -> dict[str, Any]:
    record = {field.name: getattr(feature, field.name) for field in fields(feature)}
    if "table" in record:
        record["table"] = [list(pair) for pair in record["table"]]
    return {"kind": feature.kind} | record


def from_dict(record: Any) -> tuple[tuple[Column, ...], tuple[Feature, ...]]:
    """Return the columns and features of a dictionary made by :func:`to_dict`."""
    columns = tuple(_column(each, f"columns[{k}]") for k, each in enumerate(_list(record, "columns", "encoding")))
    features = tuple(
        _feature(each, columns, f"features[{k}]") for k, each in enumerate(_list(record, "features", "encoding"))
    )
    places = [feature.column for feature in features]
    if places != sorted(places):
        raise ValueError("encoding.features: those of one column must follow each other, in the order of the columns.")
    return columns, features


def _column(record: Any, place: str) -> Column:
    name, kind = _text(record, "name", place), _text(record, "kind", place)
    if kind not in ("number", "category", "date"):
        raise ValueError(f"{place}.kind must be number, category or date, got {shortened(kind)}.")
    zone = None if _entry(record, "zone", place) is None else _text(record, "zone", place)
    return Column(name, kind, zone)


def _feature(record: Any, columns: tuple[Column, ...], place: str) -> Feature:
    kind, column = _text(record, "kind", place), _entry(record, "column", place)
    if kind not in KINDS:
        raise ValueError(f"{place}.kind must be one of {', '.join(KINDS)}, got {shortened(kind)}.")
    if type(column) is not int or not 0 <= column < len(columns):
        raise ValueError(f"{place}.column must be the place of one of {len(columns)} columns, got {shortened(column)}.")
    if columns[column].kind not in SUITS.get(kind, {columns[column].kind}):
        raise ValueError(f"{place}: a {kind} is not made from a column of kind {columns[column].kind}.")
    values = {field.name: READ[field.name](record, field.name, place) for field in fields(KINDS[kind])[1:]}
    return KINDS[kind](column, **values)


def _entry(record: Any, name: str, place: str) -> Any:
    if not isinstance(record, dict):
        raise ValueError(f"{place} must be a dictionary, got {type(record).__name__}.")
    if name not in record:
        raise ValueError(f"{place} has no entry {name!r}.")
    return record[name]


def _list(record: Any, name: str, place: str) -> list[Any]:
    found = _entry(record, name, place)
    if type(found) is not list or not found:
        raise ValueError(f"{place}.{name} must be a list, and not empty.")
    return found


def _text(record: Any, name: str, place: str) -> str:
    found = _entry(record, name, place)
    if type(found) is not str:
        raise ValueError(f"{place}.{name} must be text, got {shortened(found)}.")
    return found


def _number(record: Any, name: str, place: str) -> float:
    return _finite(_entry(record, name, place), f"{place}.{name}")


def _finite(value: Any, place: str) -> float:
    try:
        number = float(value) if type(value) in (int, float) else np.nan
    except OverflowError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"{place} must be a finite number, got {shortened(value)}.")
    return number


def _wave(record: Any, name: str, place: str) -> str:
    found = _text(record, name, place)
    if found not in WAVES:
        raise ValueError(f"{place}.{name} must be one of {', '.join(WAVES)}, got {shortened(found)}.")
    return found


def _period(record: Any, name: str, place: str) -> float:
    found = _number(record, name, place)
    if found <= 0:
        raise ValueError(f"{place}.{name} must be positive, got {found}.")
    return found


def _table(record: Any, name: str, place: str) -> tuple[tuple[str, float], ...]:
    pairs = _list(record, name, place)
    for k, pair in enumerate(pairs):
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
            raise ValueError(f"{place}.{name}[{k}] must be a list of a level and a number.")
    if len({level for level, _ in pairs}) < len(pairs):
        raise ValueError(f"{place}.{name} names a level twice.")
    return tuple((level, _finite(value, f"{place}.{name}[{k}]")) for k, (level, value) in enumerate(pairs))


READ: dict[str, Any] = {
    "fill": _number,
    "level": _text,
    "table": _table,
    "default": _number,
    "missing": _number,
    "about": _text,
    "wave": _wave,
    "period": _period,
}
