"""Targets, labels and weights of a block: what cannot be learned from is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.columns.cells import Table, check_labels
from pldc.columns.features import Array
from pldc.scale.hashes import hashes
from pldc.scale.shards import Block

FINITE = "y must be finite; a block of the table holds"


def targets(y: Array) -> Array:
    """Return targets as numbers; others are refused."""
    if y.dtype.kind == "c":
        raise ValueError("y holds complex numbers in a block: Complex data not supported. Give its parts.")
    try:
        numbers = np.asarray(y[:0] if y.dtype.kind in "mM" else y, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{FINITE} a whole number in its target that is beyond all floats.") from None
    except (TypeError, ValueError):
        numbers = y[:0]
    if len(numbers) < len(y):
        strange = next((cell for cell in y.tolist() if not is_number(cell)), y[0])
        raise ValueError(f"y must hold numbers; a block holds {strange!r:.80}. For classes take DCClassifier.")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{FINITE} NaN or infinity in its target.")
    return numbers


def keys_of(block: Block, classes: bool) -> Array:
    """Return the numbers, as if by chance, of the rows of a block; its targets are labels of classes, or numbers."""
    y = np.asarray(block.y)
    return hashes(Table.read(block.X), y if classes else targets(y))


def is_number(cell: Any) -> bool:
    """Say whether a cell can be read as a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def labels_of(y: Array, weight: Array) -> tuple[Array, Array]:
    """Return the labels of a block that have weight, each once, and their rows; missing ones are refused."""
    if y.dtype.kind == "c":
        raise ValueError("y holds complex numbers in a block: Complex data not supported. Give labels.")
    if y.dtype.kind == "f" and (np.isfinite(y) & (y != np.rint(y))).any():
        strange = y[np.isfinite(y) & (y != np.rint(y))][0]
        raise ValueError(f"Unknown label type: continuous. A block holds the target {strange}: take DCRegressor.")
    check_labels(y.astype(object) if y.dtype.kind in "fMm" and np.isnan(y).any() else y)
    return np.unique(y[weight > 0], return_counts=True)


def weights_of(block: Block) -> Array:
    """Return the weights of a block; others than numbers ≥ 0 are refused."""
    if block.weight is None:
        return np.ones(len(block.y))
    given = np.asarray(block.weight)
    if given.dtype.kind == "c":
        raise ValueError("Weights must be real numbers; those of a block are complex.")
    try:
        weight = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"Weights must be numbers ≥ 0; a block holds {given.ravel()[:1].tolist()!s:.80}.") from None
    if weight.shape != (len(block.y),):
        raise ValueError(f"A block has {len(block.y)} targets and weights of shape {weight.shape}: give one a row.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("Weights must be finite numbers ≥ 0; a block has others.")
    return weight
