"""Values as plain JSON and back. The annotations of a record are its schema; nothing in a file can name code to run.

Where an annotation says what a value is, it is written as it stands: a number, a list, a dictionary of fields. Where it
says ``Any``, or JSON has no word for it, a dictionary with a key that begins with "$" says what it is:

    {"$float": "inf"}                                     a number that JSON does not know: nan, inf, -inf
    {"$tuple": [...]}                                     a tuple
    {"$dict": [[key, value], ...]}                        a dictionary whose keys are not all text
    {"$rows": [[value, ...], ...], "keys": [key, ...]}    a list of dictionaries that have the same keys
    {"$array": [...], "dtype": "int64", "shape": [3]}     an array, its numbers in one row
    {"$object": "Huber", "delta": 1.35}                   a setting with a name that the reader knows
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from reprlib import repr as shortened
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from pldc.function.serialise import short

NUMBERS = {"float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"}
TEXT = re.compile(r"<U([0-9]{1,6})")
LONGEST_WHOLE = 2**63
Objects = Mapping[str, type]


class Unwritable(ValueError):
    """A value that is neither numbers nor text."""


def write(value: Any, hint: Any, objects: Objects | None = None) -> Any:
    """Return a value as what JSON knows; `objects` are the settings that may be written, by name."""
    if value is None:
        return None
    hint, origin = _known(hint, lambda each: type(value) is each)
    if hasattr(hint, "to_dict"):
        return value.to_dict()
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return {field.name: write(getattr(value, field.name), hints[field.name], objects) for field in fields(hint)}
    if origin in (list, tuple) and get_origin(get_args(hint)[0]) is not dict:
        return [write(each, get_args(hint)[0], objects) for each in value]
    if origin is dict:
        return {key: write(each, get_args(hint)[1], objects) for key, each in value.items()}
    if origin is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and np.isfinite(value).all():
        return short(value)
    return _write_any(value, objects or {})


def _write_any(value: Any, objects: Objects) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if isinstance(value, np.generic):
        return _write_any(value.item(), objects)
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is list:
        if len(value) > 1 and all(map(_plain_dict, value)) and len({tuple(each) for each in value}) == 1 and value[0]:
            rows = [[_write_any(each, objects) for each in row.values()] for row in value]
            return {"$rows": rows, "keys": list(value[0])}
        return [_write_any(each, objects) for each in value]
    if kind is tuple:
        return {"$tuple": _write_any(list(value), objects)}
    if kind is dict:
        if _plain_dict(value):
            return {key: _write_any(each, objects) for key, each in value.items()}
        return {"$dict": _write_any([list(pair) for pair in value.items()], objects)}
    if kind is np.ndarray:
        name = value.dtype.str if value.dtype.kind == "U" else value.dtype.name
        if name in NUMBERS or name == "object" or TEXT.fullmatch(name):
            return {"$array": _write_any(value.ravel().tolist(), objects), "dtype": name, "shape": list(value.shape)}
    if objects.get(kind.__name__) is kind and is_dataclass(kind):
        return {"$object": kind.__name__} | {f.name: _write_any(getattr(value, f.name), objects) for f in fields(kind)}
    raise Unwritable(f"{shortened(value)} is neither numbers nor text, and cannot be written to a file.")


def _plain_dict(value: Any) -> bool:
    return type(value) is dict and all(type(key) is str and not key.startswith("$") for key in value)


def read(data: Any, hint: Any, place: str, objects: Objects | None = None) -> Any:
    """Return the value that was written; what does not suit the annotation is refused, with the place."""
    optional = NoneType in get_args(hint)
    if data is None and (optional or hint is Any):
        return None
    hint, origin = _known(hint, lambda each: type(data) is dict and {f.name for f in fields(each)} == set(data))
    if hasattr(hint, "from_dict"):
        try:
            return hint.from_dict(data)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    if is_dataclass(hint):
        return _read_record(data, hint, place, objects)
    if origin in (list, tuple):
        kinds = get_args(hint)
        data = _read_any(data, place, objects or {}) if type(data) is dict else data  # rows of a list of dictionaries
        if type(data) is not list or (origin is tuple and kinds[-1] is not Ellipsis and len(data) != len(kinds)):
            wanted = "" if origin is list or kinds[-1] is Ellipsis else f" of {len(kinds)}"
            raise ValueError(f"{place} must be a list{wanted}, got {shortened(data)}.")
        return origin(read(each, kinds[0], f"{place}[{k}]", objects) for k, each in enumerate(data))
    if origin is dict:
        if type(data) is not dict:
            raise ValueError(f"{place} must be a dictionary, got {shortened(data)}.")
        return {key: read(each, get_args(hint)[1], f"{place}.{key:.40}", objects) for key, each in data.items()}
    if origin is np.ndarray and type(data) is list:
        return _array(data, "float64", [len(data)], place)
    value = _read_any(data, place, objects or {})
    wanted = origin or hint
    if wanted is float and type(value) is int:
        value = _number(value, place)
    if wanted is not Any and type(value) is not wanted:
        raise ValueError(f"{place} must be of type {wanted.__name__}, got {shortened(data)}.")
    return value


def _known(hint: Any, suits: Callable[[Any], bool]) -> tuple[Any, Any]:
    """Return an annotation without its None, and what it is an example of; of several records the one that suits."""
    if get_origin(hint) in (Union, UnionType):
        options = [each for each in get_args(hint) if each is not NoneType]
        hint = options[0] if len(options) == 1 else next(filter(suits, options), options[0])
    origin = np.ndarray if hint is np.ndarray else get_origin(hint)
    alias = getattr(origin, "__value__", None)  # since NumPy 2.5 NDArray is a name for an array, and no array itself
    return hint, origin if alias is None else get_origin(alias) or alias


def _read_record(data: Any, kind: Any, place: str, objects: Objects | None) -> Any:
    if type(data) is not dict:
        raise ValueError(f"{place} must be a dictionary, got {shortened(data)}.")
    known, hints = {field.name: field for field in fields(kind)}, get_type_hints(kind)
    if unknown := sorted(set(data) - set(known)):
        raise ValueError(f"{place} has an entry {shortened(unknown[0])}, which this version of pldc does not know.")
    for name, field in known.items():
        if name not in data and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{place} has no entry {name!r}.")
    return kind(**{name: read(each, hints[name], f"{place}.{name}", objects) for name, each in data.items()})


def _read_any(data: Any, place: str, objects: Objects) -> Any:
    if type(data) is list:
        return [_read_any(each, f"{place}[{k}]", objects) for k, each in enumerate(data)]
    if type(data) is int and abs(data) >= LONGEST_WHOLE:
        raise ValueError(f"{place} is a whole number of more than 64 bits.")
    if type(data) is not dict:
        return data
    tags = [key for key in data if key.startswith("$")]
    if not tags:
        return {key: _read_any(each, f"{place}.{key:.40}", objects) for key, each in data.items()}
    read_tag = TAGS.get(tags[0])
    if len(tags) > 1 or read_tag is None:
        raise ValueError(f"{place} has an unknown mark {shortened(tags[-1])}; known are {', '.join(TAGS)}.")
    return read_tag(data, place, objects)


def _float(data: Any, place: str, _: Objects) -> float:
    if len(data) > 1 or data["$float"] not in ("nan", "inf", "-inf"):
        raise ValueError(f"{place}: $float must be nan, inf or -inf, got {shortened(data)}.")
    return float(data["$float"])


def _tuple(data: Any, place: str, objects: Objects) -> tuple[Any, ...]:
    if len(data) > 1 or type(data["$tuple"]) is not list:
        raise ValueError(f"{place}: $tuple must be a list, got {shortened(data)}.")
    return tuple(_read_any(data["$tuple"], place, objects))


def _dict(data: Any, place: str, objects: Objects) -> dict[Any, Any]:
    pairs = _read_any(data["$dict"], place, objects)
    plain = type(pairs) is list and all(type(pair) is list and len(pair) == 2 for pair in pairs)
    if len(data) > 1 or not plain or not all(type(key) in (str, int, float, bool, NoneType) for key, _ in pairs):
        raise ValueError(f"{place}: $dict must be a list of pairs of a plain key and a value.")
    return dict(pairs)


def _rows(data: Any, place: str, objects: Objects) -> list[dict[str, Any]]:
    rows, keys = data["$rows"], data.get("keys")
    sound = set(data) == {"$rows", "keys"} and type(rows) is type(keys) is list and keys
    if not sound or len({key for key in keys if type(key) is str and not key.startswith("$")}) < len(keys):
        raise ValueError(f"{place}: $rows has a list of rows and one of keys, which are different texts.")
    if not all(type(row) is list and len(row) == len(keys) for row in rows):
        raise ValueError(f"{place}: each of $rows must be a list of {len(keys)} values.")
    return [dict(zip(keys, _read_any(row, place, objects), strict=True)) for row in rows]


def _marked_array(data: Any, place: str, objects: Objects) -> np.ndarray:
    if set(data) != {"$array", "dtype", "shape"}:
        raise ValueError(f"{place}: an array has $array, dtype and shape, and nothing else.")
    return _array(_read_any(data["$array"], place, objects), data["dtype"], data["shape"], place)


def _object(data: Any, place: str, objects: Objects) -> Any:
    name = data["$object"]
    if type(name) is not str or name not in objects:
        raise ValueError(f"{place}: $object must be one of {', '.join(objects)}; got {shortened(name)}.")
    settings = {key: _read_any(each, f"{place}.{key:.40}", objects) for key, each in data.items() if key != "$object"}
    try:
        return objects[name](**settings)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{place}: {name} refuses its settings: {error!s:.200}") from None


TAGS = {"$float": _float, "$tuple": _tuple, "$dict": _dict, "$rows": _rows, "$array": _marked_array, "$object": _object}


def _array(values: Any, dtype: Any, shape: Any, place: str) -> np.ndarray:
    """Return an array. Types and sizes are checked first: of one long text NumPy would make gigabytes."""
    if type(values) is not list or type(shape) is not list or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"{place} must be a list of values, with a shape of whole numbers.")
    if math.prod(shape) != len(values):
        raise ValueError(f"{place} has {len(values)} values, which do not fill its shape {shortened(shape)}.")
    text = TEXT.fullmatch(dtype) if type(dtype) is str else None
    if text is not None:
        longest = max((len(each) for each in values if type(each) is str), default=0)
        sound = {str} >= set(map(type, values)) and longest <= int(text[1]) <= 10 * longest + 64
        sound = sound and longest * len(values) <= 10 * sum(map(len, values)) + 1000
    elif dtype == "object":
        sound = set(map(type, values)) <= {str, int, float, bool}
    else:
        allowed = {bool} if dtype == "bool" else {int, float} if str(dtype).startswith("float") else {int}
        sound = type(dtype) is str and dtype in NUMBERS and set(map(type, values)) <= allowed
    if not sound:
        raise ValueError(f"{place}: its values are not of a type {shortened(dtype)}, or that is not allowed here.")
    try:
        return np.array(values, dtype=dtype).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{place}: {error!s:.200}") from None


def _number(value: int, place: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{place} is a whole number beyond all floats.") from None
