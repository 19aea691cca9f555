"""Damaged and hostile model files: each must be refused with a ValueError, or load.

``python -m tests.export.mutations 10000`` runs as many as are asked for, and prints what became of them.
"""

import copy
import gzip
import json
import random
import sys
import tracemalloc
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from pldc import load
from pldc.export import model_file
from pldc.export.model_file import checksum

MOST_MEMORY, BESIDE = 10, 1 << 17  # times the file, beside so many bytes that even an empty file takes
WEIRD = [
    None, True, False, 0, -1, 1e308, -1e-320, 2**63, 10**400, "", "inf", "a" * 5000, "__import__('os').abort()", [], {},
    [[]], [None], {"$float": "inf"}, {"$float": []}, {"$tuple": 3}, {"$dict": [[[], 1]]}, {"$object": "Exact", "a": []},
    {"$array": [1], "dtype": "float64", "shape": [1]}, {"$array": ["a"], "dtype": "<U99999", "shape": [1]},
    {"$array": [1], "dtype": "object", "shape": []}, {"$array": [], "dtype": "float64", "shape": [0, 10**9]},
    {"$array": [{"$object": "Squared"}], "dtype": "object", "shape": [1]}, {"$object": "DCRegressor"}, ["$tuple"],
    {"$packed": "AAAA" * 3000, "rows": 1, "runs": [[3000, 0, 3]]}, {"$packed": "", "rows": 10**9, "runs": [[1, 0, 3]]},
    {"$packed": "AAAA", "rows": 1, "runs": [[1, None, 3]]}, [2, -22, 4], [1, None, 8], 3,
]  # fmt: skip


def flipped(data, draw):
    """Change, drop, double or insert some bytes, or cut the end off; now and then add nothing but space."""
    if draw.random() < 0.05:
        return data.replace(b",", b" ,\n", draw.randrange(100))
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 2, 5, 50])):
        at = draw.randrange(len(out))
        kind = draw.randrange(5)
        if kind == 0:
            out[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del out[at : at + draw.choice([1, 2, 10, 1000])]
        elif kind == 2:
            out[at:at] = bytes(draw.choices(b'0123456789.,-e[]{}":nulltrueNaN', k=draw.choice([1, 3, 20])))
        elif kind == 3:
            out[at:at] = out[at : at + draw.choice([1, 30, 3000])]
        else:
            out = out[:at] or out
        if not out:
            break
    return bytes(out)


def places(record, at=()):
    """All paths into a record, but of long lists only some."""
    yield at
    if isinstance(record, dict):
        for key, value in record.items():
            yield from places(value, (*at, key))
    elif isinstance(record, list):
        for k in {0, 1, len(record) - 1} & set(range(len(record))):
            yield from places(record[k], (*at, k))


def rewritten(data, draw):
    """Replace, drop or add entries, and set the checksum right: what somebody would do on purpose."""
    record = json.loads(data)
    version, _ = record.pop("pldc_model"), record.pop("sha256")
    for _ in range(draw.choice([1, 1, 2, 4])):
        path = draw.choice(list(places(record))[1:])
        inner = record
        for key in path[:-1]:
            inner = inner[key]
        kind = draw.randrange(4)
        if kind == 0:
            del inner[path[-1]]
        elif kind == 1 and isinstance(inner, dict):
            inner[draw.choice(["$float", "x", "__class__", "kind", "$object"])] = copy.deepcopy(draw.choice(WEIRD))
        elif kind == 1:
            inner.append(copy.deepcopy(draw.choice(WEIRD)))
        else:
            inner[path[-1]] = copy.deepcopy(draw.choice(WEIRD))
        if len(list(places(record))) < 2:
            break
    try:
        seal = checksum(record)
    except (ValueError, OverflowError):
        seal = "0" * 64
    return json.dumps({"pldc_model": version, "sha256": seal} | record).encode()


def attack(files, count, same, seed=0):
    """Load `count` mutations of model files; return what became of them, and the largest share of memory.

    Parameters
    ----------
    files : list of path
    count : int
    same : callable
        Whether two models are equal.
    """
    draw, outcomes, largest = random.Random(seed), Counter(), 0.0
    known = [(Path(file).read_bytes(), load(file)) for file in files]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.json"
        for k in range(count):
            data, model = known[k % len(known)]
            packed = data.startswith(b"\x1f\x8b")
            on_purpose = draw.random() < 0.4 and not packed
            if packed and draw.random() < 0.5:
                mutated = gzip.compress(flipped(gzip.decompress(data), draw), 1)
            else:
                mutated = (rewritten if on_purpose else flipped)(data, draw)
            path.write_bytes(mutated)
            outcome, memory = one(path)
            if not isinstance(outcome, str) and not on_purpose:
                assert same(outcome.model_, model.model_), f"mutation {k} of seed {seed} loads as another model"
            outcomes[outcome if isinstance(outcome, str) else "loaded, rewritten" if on_purpose else "equal"] += 1
            text = len(gzip.decompress(mutated)) if packed and not isinstance(outcome, str) else len(mutated)
            largest = max(largest, (memory - BESIDE) / max(text, 1))
    return outcomes, largest


def one(path):
    """Load a file: the model, or "refused"; and the memory that it took, in bytes. Other errors are not caught."""
    tracemalloc.start()
    try:
        outcome = load(path)
    except ValueError as error:
        outcome = "refused" if 20 < len(str(error)) < 1000 else f"refused unclearly: {error!s:.100}"
    finally:
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return outcome, memory


def main(count):
    """Attack files of four fits, one of them with packed tables."""
    from tests.export.fits import fitted
    from tests.export.test_model_file import same

    with TemporaryDirectory() as folder:
        files = []
        kinds = [("plain", ".json"), ("three classes", ".json"), ("program", ".json.gz"), ("default", ".json")]
        for kind, suffix in kinds:
            files.append(Path(folder) / f"{kind}{suffix}")
            with patch.object(model_file, "MOST_LISTED", 100 if kind == "default" else model_file.MOST_LISTED):
                fitted(kind).save_model(files[-1])
        return attack(files, count, same)


if __name__ == "__main__":
    print(main(int(sys.argv[1])))  # noqa: T201
