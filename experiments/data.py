"""The collection of data sets in the folder named by the environment variable PLDC_DATA.

The folder holds one CSV (or .csv.gz) a data set and an index `datasets.json` with a SHA-256 checksum for each: all
columns numeric, the last one the target, missing cells empty.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class DataSet:
    """One data set: X of shape (n, d), y of shape (n,), names of the columns of X, and its entry in the index."""

    name: str
    X: np.ndarray
    y: np.ndarray
    features: tuple[str, ...]
    about: dict[str, Any] = field(repr=False)


def folder() -> Path:
    """Return the folder of the collection."""
    value = os.environ.get("PLDC_DATA")
    if not value:
        raise RuntimeError(
            "The data sets are not part of the repository. Set the environment variable PLDC_DATA to the folder that "
            "holds datasets.json and the CSV files, for example: export PLDC_DATA=/path/to/data"
        )
    path = Path(value)
    if not (path / "datasets.json").is_file():
        raise RuntimeError(f"PLDC_DATA is {value!r}, but there is no datasets.json in that folder.")
    return path


def index() -> dict[str, dict[str, Any]]:
    """Return the entry of every data set by name."""
    entries = json.loads((folder() / "datasets.json").read_text(encoding="utf-8"))["datasets"]
    return {entry["name"]: entry for entry in entries}


def load(name: str) -> DataSet:
    """Load one data set, after checking its checksum."""
    entries = index()
    if name not in entries:
        raise KeyError(f"Unknown data set {name!r}; there are {', '.join(sorted(entries))}.")
    about = entries[name]
    path = folder() / about["file"]
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != about["sha256"]:
        raise ValueError(
            f"{path.name} has checksum {found[:12]}…, the index says {about['sha256'][:12]}…: it was changed."
        )
    table = pd.read_csv(BytesIO(content), compression="gzip" if path.suffix == ".gz" else None)
    features = tuple(table.columns[:-1])
    return DataSet(name, table[list(features)].to_numpy(float), table.iloc[:, -1].to_numpy(), features, about)
