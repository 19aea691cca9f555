"""From the columns of a table to the features that functions see, inside an ONNX graph.

A table of numbers is one input "X". If some column holds categories or dates there is an input for each column, (n, 1),
by its name: numbers (NaN where missing), texts (empty where missing), and dates as days since 1970 in double precision
(NaN where missing).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pldc.columns import DatePart, Encoding, Feature, Missing
from pldc.columns.features import MONDAY
from pldc.export.onnx_nodes import Graph
from pldc.function.max_affine import Array
from pldc.model import Model

OUTPUTS = ("prediction", "label", "probabilities", "scores", "slopes", "contributions", "intercept")
UNKNOWN = "\x00"  # a text that is no level


def add_features(graph: Graph, record: Model) -> str:
    """Add the inputs, and return the features, (n, d)."""
    columns = record.columns
    if columns is None:
        x = graph.input("X", len(record.center))
        return x if record.medians is None else _filled(graph, x, record.medians, np.ones(len(record.medians)))
    if all(column.kind == "number" for column in columns.columns):
        x = graph.input("X", len(columns.columns))
        return _numbers(
            graph, graph.node("Gather", x, graph.constant(columns.source, np.int64), axis=1), columns.features
        )
    groups = [[f for f in columns.features if f.column == k] for k in range(len(columns.columns))]
    parts = [_column(graph, columns, k, group) for k, group in enumerate(groups)]
    return graph.node("Concat", *(part for part in parts if part), axis=1)


def _column(graph: Graph, columns: Encoding, place: int, features: Sequence[Feature]) -> str:
    """Add the input of one column, and return its features; "" if it has none."""
    name, kind = columns.columns[place].name, columns.columns[place].kind
    if not name:
        raise ValueError("A column has the name '', and an input of ONNX needs a name: rename it, and fit again.")
    name = f"{name} " if name in OUTPUTS else name
    x = graph.input(name, 1, {"category": np.object_, "date": np.float64}.get(kind))
    if not features:
        return ""
    if kind == "category":
        return _levels(graph, x, name, columns.levels(place), features)
    if kind == "date":
        return graph.node("Concat", *(_date(graph, x, f) for f in features), axis=1)
    return _numbers(graph, x, features)


def _numbers(graph: Graph, cells: str, features: Sequence[Any]) -> str:
    """Numbers, with what stands for missing ones, and indicators of missing ones; cells are (n, features) or (n, 1)."""
    gaps = [isinstance(f, Missing) for f in features]
    instead = np.array([1.0 if gap else f.fill for gap, f in zip(gaps, features, strict=True)])
    return _filled(graph, cells, instead, np.where(gaps, 0.0, 1.0))


def _filled(graph: Graph, cells: str, instead: Array, factor: Array) -> str:
    """Return cells times a factor, and something else instead of missing ones."""
    missing = graph.node("IsNaN", cells)
    scaled = cells if (factor == 1.0).all() else graph.node("Mul", cells, graph.constant(factor))
    return graph.node("Where", missing, graph.constant(instead), scaled)


def _levels(graph: Graph, x: str, name: str, levels: Sequence[str], features: Sequence[Feature]) -> str:
    """Look up the features of levels: text → number of the level → row of a table, also if unknown or missing."""
    if "" in levels:
        raise ValueError(
            f"The empty text is a level of {name!r}; in ONNX it stands for a missing cell: rename the level."
        )
    cells = np.array([*levels, None, UNKNOWN], dtype=object)
    table = np.column_stack([feature.values(cells) for feature in features])
    keys, codes = [*levels, ""], list(range(len(levels) + 1))
    flat = graph.node("Reshape", x, graph.constant([-1], np.int64))
    code = graph.node(
        "LabelEncoder", flat, domain="ai.onnx.ml", keys_strings=keys, values_int64s=codes, default_int64=len(codes)
    )
    return graph.node("Gather", graph.constant(table), code, axis=0)


def _date(graph: Graph, days: str, feature: Any) -> str:
    """A part of a date, (n, 1): the days, or where in its period it is, as sin or cos."""
    missing, part = graph.node("IsNaN", days), days
    if not isinstance(feature, DatePart):
        return graph.node("Cast", missing, to=graph.number_type())
    if feature.wave != "linear":
        shift = MONDAY if feature.period == 7.0 else 0.0
        turns = graph.node("Add", days, graph.constant(shift, np.float64))
        turns = graph.node("Div", turns, graph.constant(feature.period, np.float64))
        phase = graph.node("Sub", turns, graph.node("Floor", turns))
        angle = graph.node("Mul", phase, graph.constant(2.0 * np.pi, np.float64))
        part = graph.node({"sin": "Sin", "cos": "Cos"}[feature.wave], angle)
    filled = graph.node("Where", missing, graph.constant(feature.fill, np.float64), part)
    return graph.node("Cast", filled, to=graph.number_type())
