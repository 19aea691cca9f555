"""Model files: what a fit has learned, as versioned JSON. Reading one runs no code and believes nothing unchecked.

A file is one dictionary: ``pldc_model``, the version of the format; ``sha256``, a checksum of what follows;
``estimator`` and ``parameters``, to fit it again; and ``model``, the record. ``model.schema.json`` describes it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import zlib
from contextlib import suppress
from errno import ENOENT
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np

from pldc.export.plain import read, write
from pldc.function.packing import pack
from pldc.model import Model

VERSION = 2  # since when long tables of slopes are packed; files of version 1 hold the same, as lists
VERSIONS = (1, VERSION)
SUFFIXES = (".json", ".json.gz")
SCHEMA = Path(__file__).with_name("model.schema.json")
GZIP = b"\x1f\x8b"
FREE = 1 << 20  # bytes that a text may unpack to, and what is read may take, however small the file is
MOST_UNPACKED = 20  # times the packed size; numbers pack to a third or, packed tables, two thirds
MOST_LISTED = 500  # slopes of a part that are listed as numbers: more than these nobody reads
FEWEST_CHARACTERS = 5  # of a number in a list, if there are so many: of fewer, reading takes more than MOST_READ
MOST_READ = 8  # times the text, that lists and numbers read from it may take
KINDS = ("compact", "simplified", "program")
CHOSEN = {"features", "knots", "pieces", "ridge", "coordinates_learned", "starts"}  # said of each kind that was kept


def write_file(path: str | os.PathLike[str], record: dict[str, Any]) -> None:
    """Write a record with its checksum, whole or not at all; `.gz` packs it."""
    target = Path(path)
    if not target.name.endswith(SUFFIXES):
        raise ValueError(f"A model file ends in {' or '.join(SUFFIXES)}, got {target.name!r:.80}.")
    sealed = {"pldc_model": VERSION, "sha256": checksum(record)} | record
    data = json.dumps(sealed, separators=(",", ":"), allow_nan=False).encode()
    if target.name.endswith(".gz"):
        data = zipped(data)
    write_whole(target, data)


def zipped(data: bytes) -> bytes:
    """Pack a text by gzip; one that would be out of proportion, as of zeros alone, is packed less."""
    for level in (9, 1):
        out = gzip.compress(data, level, mtime=0)
        if len(data) <= MOST_UNPACKED * len(out) + FREE:
            return out
    return gzip.compress(data, 0, mtime=0)


def write_whole(target: Path, data: bytes) -> None:
    """Write a file whole or not at all: an older one is replaced once the new one is on the disk."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        if error.errno is None:
            raise
        reason = f"there is no folder {str(target.parent)!r}" if error.errno == ENOENT else error.strerror
        raise OSError(error.errno, reason, str(target)) from None  # the name that was asked for, not that of the draft
    finally:
        with suppress(FileNotFoundError, NotADirectoryError):
            draft.unlink()


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the record of a file, if version and checksum are right."""
    data, place = Path(path).read_bytes(), shortened(str(path))
    try:
        text = (unpacked(data) if data.startswith(GZIP) else data).decode()
        del data
        if _memory(text) > MOST_READ * len(text) + FREE:
            raise ValueError("it consists of brackets and commas more than of numbers")
        record = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError(f"{place} is not a model file: its lists are nested too deeply.") from None
    except (ValueError, zlib.error) as error:
        raise ValueError(f"{place} is not a model file: {error!s:.200}.") from None
    if type(record) is not dict or "pldc_model" not in record:
        raise ValueError(f"{place} is not a model file: it has no entry 'pldc_model'. save_model writes one.")
    version, seal = record.pop("pldc_model"), record.pop("sha256", None)
    if type(version) is not int or version not in VERSIONS:
        raise ValueError(
            f"{place} is of version {shortened(version)} of the format; this pldc reads versions 1 and {VERSION}. "
            "Load it with the pldc that wrote it, or a newer one."
        )
    if seal != checksum(record):
        raise ValueError(f"{place} was damaged or changed: its checksum is wrong. Save the model again.")
    return record


def unpacked(data: bytes) -> bytes:
    """Return what a gzip file holds, if it is one file, whole, and not out of proportion."""
    stream = zlib.decompressobj(wbits=31)
    text = stream.decompress(data, MOST_UNPACKED * len(data) + FREE)
    if stream.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {MOST_UNPACKED} times its size")
    if not stream.eof or stream.unused_data:
        raise ValueError("it is cut off, or goes on after its end")
    return text


def checksum(record: dict[str, Any]) -> str:
    """SHA-256 of a record: of its JSON text without spaces, keys in order, other characters than ASCII escaped."""
    try:
        text = json.dumps(record, separators=(",", ":"), sort_keys=True, allow_nan=False)
    except RecursionError:
        raise ValueError("The file is nested too deeply.") from None
    return hashlib.sha256(text.encode()).hexdigest()


def _memory(text: str) -> int:
    """Bytes that Python would take for the lists, dictionaries, texts and numbers of a JSON text, about."""
    count = text.count
    lists = 96 if '"$rows"' not in text else 300  # a row becomes a dictionary
    return lists * count("[") + 200 * count("{") + 33 * count(",") + 35 * count('"')


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def write_model(model: Model) -> dict[str, Any]:
    """Return the record of a fit as what JSON knows, with long tables of slopes packed."""
    record: dict[str, Any] = write(model, Model)
    written = [*zip(model.functions, record["functions"], strict=True)]
    if model.errors is not None and model.errors.scale is not None:
        written.append((model.errors.scale, record["errors"]["scale"]))
    for function, one in written:
        for term, entry in zip(function.centred, one["terms"], strict=True):
            for part, name in zip(term.parts, ("plus", "minus"), strict=True):
                size = part.slopes.size
                if size > MOST_LISTED:
                    packed, listed = pack(part.slopes), len(json.dumps(entry[name]["slopes"], separators=(",", ":")))
                    if not FEWEST_CHARACTERS * size < listed < len(packed["$packed"]):
                        entry[name]["slopes"] = packed
    return record


def read_model(data: Any) -> Model:
    """Return the record of a fit, if its parts belong together."""
    model: Model = read(data, Model, "model")
    for wrong, reason in _faults(model):
        if wrong:
            raise ValueError(f"model: {reason}.")
    return model


def _faults(model: Model) -> list[tuple[bool, str]]:
    """Return what must not be, and what is to be said of it."""
    known = [a for a in (model.center, model.spread, model.medians, model.importances) if a is not None]
    if not all(map(_numbers, known)):
        return [(True, "center, spread, medians and importances must be lists of numbers")]
    return [*_of_its_parts(model), *_of_its_answers(model), *_of_its_errors(model)]


def _of_its_parts(model: Model) -> list[tuple[bool, str]]:
    width = {f.n_features for f in model.functions} | {model.center.size, model.spread.size}
    if model.columns is not None:
        width.add(len(model.columns.features))
    if model.medians is not None:
        width.add(model.medians.size)
    if model.errors is not None and model.errors.scale is not None:
        width.add(model.errors.scale.n_features)
    if model.feature_names is not None:
        width.add(len(model.feature_names))
    columns = len(model.center) if model.columns is None else len(model.columns.columns)
    names = [model.feature_names or (), () if model.columns is None else model.columns.names]
    return [
        (model.kind not in KINDS, f"kind must be one of {', '.join(KINDS)}, got {shortened(model.kind)}"),
        (not model.functions, "it has no functions"),
        (len(width) > 1, f"its parts are of {' and '.join(map(str, sorted(width)))} features"),
        (not (model.spread > 0).all(), "spread must be positive numbers"),
        (any(len(set(each)) < len(each) for each in names), "features and columns must have different names"),
        (
            model.importances is None or model.importances.size != columns,
            f"importances must be {columns} numbers, one for each column",
        ),
        (
            not all(set(each) >= CHOSEN for each in model.chosen),
            f"each of chosen must have the entries {', '.join(sorted(CHOSEN))}",
        ),
    ]


def _of_its_answers(model: Model) -> list[tuple[bool, str]]:
    ranges, labels, levels = np.array([model.limits, model.target_range]), model.classes, model.levels
    steps = np.diff([0.0, *(levels or [0.5]), 1.0])
    return [
        (not (ranges[:, 0] <= ranges[:, 1]).all(), "limits and target_range must be pairs (low, high)"),
        (np.isnan(model.lowest), "lowest must be a number"),
        (labels is not None and levels is not None, "it has classes, or levels of quantiles, but not both"),
        (
            labels is None and len(model.functions) != (1 if levels is None else len(levels)),
            "a regression has one function, or one for each level",
        ),
        (not (steps > 0).all(), "levels must lie between 0 and 1, and increase"),
        (
            labels is not None
            and (labels.ndim != 1 or not len(labels) == len(set(labels.tolist())) == len(model.functions)),
            "there must be a function for each class",
        ),
        (
            model.temperature is not None and not 0 < model.temperature < np.inf,
            "temperature must be a positive number",
        ),
    ]


def _of_its_errors(model: Model) -> list[tuple[bool, str]]:
    if model.errors is None:
        return []
    size, weight, (low, high) = model.errors.size, model.errors.weight, model.errors.limits
    numbers = _numbers(size) and _numbers(weight) and len(size) > 0 and len(weight) in (1, len(size))
    return [
        (
            not (numbers and (size >= 0).all() and (weight >= 0).all() and weight.any()),
            "errors need sizes and weights, and both ≥ 0, weights not all 0",
        ),
        (bool(numbers and (np.diff(size) < 0).any()), "the sizes of errors must increase"),
        (not 0 <= low <= high, "limits of errors must be a pair (low, high), from 0 on"),
    ]


def _numbers(array: np.ndarray) -> bool:
    return array.ndim == 1 and array.dtype == np.float64 and bool(np.isfinite(array).all())
