"""What reads data of others: a function from a record, a model from a file. A new one is an entry in `READERS`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pldc


class Reader(NamedTuple):
    """Something that reads records.

    Attributes
    ----------
    name : str
    valid : callable
        Returns records that it takes.
    read : callable
        Takes a record, right or wrong: returns a function of points, or raises.
    parse : callable
        Does the same with bytes, which may be no JSON at all.
    """

    name: str
    valid: Callable[[], list[Any]]
    read: Callable[[Any], Callable]
    parse: Callable[[bytes], Any]


def functions() -> list[Any]:
    """Records of functions: one term, hinges, a sum, and the older format."""
    from tests.function.common import random_functions

    made = [f.to_dict() for d in (1, 2) for f in random_functions(np.random.default_rng(d), d).values()]
    [first, *_] = made
    return [*made, {"pldc": 1, "type": "PLDC", **first["terms"][0]}]


def read_function(record: Any) -> Callable:
    """Read a record, write it again, and read that: the same function."""
    f = pldc.from_dict(record)
    assert pldc.from_dict(json.loads(json.dumps(f.to_dict()))) == f, "does not come back as it was"
    return f


def parse_function(text: bytes) -> Any:
    """Read a record in JSON; text that is none is not this reader's."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read_function(record)


@cache
def scratch() -> Path:
    """A folder for files of this process."""
    folder = tempfile.TemporaryDirectory(prefix="attack-")
    scratch_folders.append(folder)  # deleted with the process
    return Path(folder.name)


scratch_folders: list[Any] = []


def models() -> list[Any]:
    """Records of model files, without their seal."""
    from attack.makers import classifiers, regressors

    found = []
    for model in [*regressors(2)[:5], *classifiers(1)[:2]]:
        path = scratch() / "valid.json"
        model.save_model(path)
        found.append(json.loads(path.read_bytes()))
    return found


def read_model(record: Any) -> Callable:
    """Write a record to a file with a checksum that is right, and load it."""
    from pldc.export import model_file

    if type(record) is dict and "sha256" in record:
        try:
            rest = {name: value for name, value in record.items() if name not in ("pldc_model", "sha256")}
            record = record | {"sha256": model_file.checksum(rest)}
        except (TypeError, ValueError):  # no JSON: the file will say so
            pass
    try:
        text = json.dumps(record).encode()
    except RecursionError:  # as deep, though not the same
        text = b"[" * 100_000
    except (TypeError, ValueError):
        text = repr(record).encode()
    return parse_model(text)


def parse_model(text: bytes) -> Any:
    """Load a file of these bytes."""
    path = scratch() / "model.json"
    path.write_bytes(text)
    loaded: Any = pldc.load(path)  # type: ignore[attr-defined]
    return loaded.predict


READERS = [Reader("from_dict", functions, read_function, parse_function)]
if "load" in pldc.__all__:
    READERS.append(Reader("load", models, read_model, parse_model))
