"""Mutated records: what a reader gets is either refused in a sentence, or a function that can be used.

A case is a batch of `BATCH` records of one reader. Each is a valid one, changed in one to four places.
"""

from __future__ import annotations

import copy
import warnings
from functools import cache
from typing import Any

import numpy as np

from attack.fuzz import ACCIDENTS, LONGEST_MESSAGE
from attack.limits import GIB, TooLong, memory, seconds
from attack.makers import JUNK
from attack.readers import READERS, Reader

BATCH = 250
BATCHES = 40  # of each reader
LIMIT = 600
LONGEST = 10.0  # seconds of a record
WORDS = ("pldc", "terms", "plus", "minus", "slopes", "offsets", "knots", "type", "function", "model", "kind", "x")
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 3, 10**400, 2**63, 0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf")),
    *("", "a", "1.0", "x" * 10_000, "PLDC", [], {}, [[]], [1.0], [[1.0, 2.0]], {"slopes": [[1.0]], "offsets": [0.0]}),
)


def cases() -> list[str]:
    """Names of the batches."""
    return [f"{reader.name} {k}" for reader in READERS for k in range(BATCHES)]


def check(case: str) -> int:
    """Read the records of a batch; return how many."""
    name, number = case.rsplit(" ", 1)
    reader = next(reader for reader in READERS if reader.name == name)
    faults = [fault for k in range(BATCH) if (fault := attempt(reader, np.random.default_rng([13, int(number), k])))]
    assert not faults, f"{len(faults)} of {BATCH} records:\n" + "\n".join(faults)
    return BATCH


@cache
def valid(reader: Reader) -> list[Any]:
    """The records to begin with."""
    return reader.valid()


def attempt(reader: Reader, rng: np.random.Generator) -> str:
    """Read a mutated record; what is wrong with that, if anything."""
    options = valid(reader)
    record = copy.deepcopy(options[int(rng.integers(len(options)))])
    for _ in range(int(rng.integers(1, 5))):
        record = mutated(record, rng)
    return fault_of(reader.read, record, rng)


def fault_of(read: Any, record: Any, rng: np.random.Generator) -> str:
    """What is wrong with what a reader does, if anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with memory(GIB), seconds(LONGEST):
                f = read(record)
                if hasattr(f, "n_features"):
                    with np.errstate(over="ignore", invalid="ignore"):  # finite numbers may be as large as there are
                        f(rng.normal(size=(3, f.n_features)))
        except (ValueError, TypeError) as error:
            if len(str(error)) > LONGEST_MESSAGE:
                return f"a message of {len(str(error))} characters: {error!s:.200}"
            return f"{error!s:.200}" if any(words in str(error) for words in ACCIDENTS) else ""
        except (Exception, TooLong) as error:
            return f"{type(error).__name__}: {error!s:.200} for {record!r:.300}"
    return ""


def places(record: Any) -> list[tuple[Any, Any]]:
    """Every container and key, or number, in a record."""
    found, waiting = [], [record]
    while waiting:
        here = waiting.pop()
        keys = list(here) if isinstance(here, dict) else list(range(len(here))) if isinstance(here, list) else []
        found += [(here, key) for key in keys]
        waiting += [here[key] for key in keys]
    return found


def copied(record: Any) -> Any:
    """A copy of lists and dictionaries, with whatever they hold."""
    if isinstance(record, dict):
        return {key: copied(value) for key, value in record.items()}
    return [copied(value) for value in record] if isinstance(record, list) else record


def mutated(record: Any, rng: np.random.Generator) -> Any:
    """Change a record at one place; it may be lost as a whole."""
    known = places(record)
    if not known or rng.random() < 0.01:
        return VALUES[int(rng.integers(len(VALUES)))]
    here, key = known[int(rng.integers(min(len(known), 12) if rng.random() < 0.5 else len(known)))]
    kind = rng.random()
    if kind < 0.4:
        here[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    elif kind < 0.5:
        here[key] = JUNK[int(rng.integers(len(JUNK)))]()
    elif kind < 0.65:
        del here[key]
    elif kind < 0.75 and isinstance(here, dict):
        here[WORDS[int(rng.integers(len(WORDS)))]] = here.pop(key)
    elif kind < 0.85:
        there, other = known[int(rng.integers(len(known)))]  # whole copies: nothing comes to hold itself
        here[key], there[other] = copied(there[other]), copied(here[key])
    elif kind < 0.9:
        for _ in range(int(rng.choice([1, 3, 100]))):
            here[key] = [here[key]]
    elif isinstance(here, list):
        here *= int(rng.choice([0, 2, 100 // max(len(here), 1) + 1]))
    return record
