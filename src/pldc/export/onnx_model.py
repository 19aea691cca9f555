"""A fitted model as an ONNX graph, for onnxruntime and everything else that reads ONNX.

A part of a term is one product and a maximum over its pieces: Gemm → ReduceMax. Terms are added up, and a regression is
cut to its limits by Clip. Rows are shifted to the mean of the training rows first, and the mean piece is subtracted
from both parts of a term, where it cancels: numbers stay small. Sums are in double precision, also between inputs and
outputs that are single: both parts of a term grow with the distance from the data, and cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.export.learned import in_single, precision, record_of
from pldc.export.onnx_columns import add_features
from pldc.export.onnx_nodes import Graph
from pldc.function import PLDC, Hinges
from pldc.function.checks import choice, flag
from pldc.function.max_affine import Array
from pldc.function.term import Term
from pldc.model import Model

DTYPES = {"double": np.float64, "single": np.float32}


def to_onnx(model: Any, dtype: str = "double", style: str = "max", explain: bool = False) -> Any:
    """Return an ONNX model that predicts what a fitted model predicts.

    Parameters
    ----------
    model : DCRegressor, DCClassifier, Model or PLDC
        Fitted. A function stands for itself: nothing cuts its values to a range.
    dtype : {"double", "single"}, default="double"
        Of inputs and outputs; "float64", and "float" or "float32", are the same. What lies between is in double
        precision.
    style : {"max", "relu"}, default="max"
        "relu": a network of Gemm and Relu alone, which tools of optimisation read in double precision; of a regression
        or a function. Its input are the features that functions see: it knows no columns, and no missing cells.
    explain : bool, default=False
        Add the outputs "slopes", "contributions" and "intercept", those of ``model.explain(X, neighbourhood=0)``. Of
        classes they are those of every score, with an axis of classes after that of rows.

    Returns
    -------
    onnx.ModelProto
        Of opset 18; ``onnx.save`` writes it to a file. The input is "X", (n, d). A model with columns of categories or
        dates has an input for each column, (n, 1), by its name: numbers, texts (empty where missing), and dates as days
        since 1970. The output of a regression is "prediction", (n, 1), or a column for each of several quantiles; those
        of classes are "label", (n,), and "probabilities", (n, classes), or "scores" of a model without probabilities.
    """
    record = record_of(model)
    dtype, style, explain = precision(dtype), choice("style", style, ("max", "relu")), flag("explain", explain)
    if style == "relu" and (explain or len(record.functions) > 1):
        raise ValueError(
            "style='relu' has one output, of one function, and no explanation. Of classes export the difference of two "
            "functions_, of quantiles one of them."
        )
    if explain and record.levels is not None:
        raise ValueError("Several quantiles have no explanation: export functions_ one by one.")
    if dtype == "single":
        in_single(record)
    graph = Graph(np.float64, DTYPES[dtype])
    if style == "relu":
        _network(graph, record)
    else:
        _predictor(graph, record, explain)
    names = record.feature_names
    return graph.model(record.version, {} if names is None else {"feature_names": "\n".join(names)})


def _network(graph: Graph, record: Model) -> None:
    """Add layers of Gemm and Relu; limits take a layer each: max(v, lo) = lo + relu(v − lo), and so with min."""
    x, layers = graph.input("X", record.function.n_features), record.function.to_relu(compact=True)
    for end, sign in zip(record.cut, (1.0, -1.0), strict=True):
        if np.isfinite(end):
            weight, bias = layers.pop()
            layers += [(sign * weight, sign * (bias - end)), (np.array([[sign]]), np.array([end]))]
    *hidden, last = layers
    for layer in hidden:
        x = graph.node("Relu", graph.gemm(x, *layer))
    name = None if graph.casts else "prediction"  # the output itself, so that no node but Gemm and Relu is needed
    graph.output(graph.gemm(x, *last, name=name), "prediction", [1])


def _predictor(graph: Graph, record: Model, explain: bool) -> None:
    """Add what a model predicts: one number, several quantiles, or classes."""
    count, d = len(record.functions), len(record.center)
    rows = Rows(graph, add_features(graph, record), record.center)
    each = [rows.value(function) for function in record.functions]
    values = each[0] if count == 1 else graph.node("Concat", *each, axis=1)
    if record.classes is None:
        graph.output(graph.clip(_increasing(graph, values, count), *record.cut), "prediction", [count])
    else:
        _add_classes(graph, values, record)
    if explain:
        one, last = graph.constant([1], np.int64), graph.constant([2], np.int64)
        slopes = [graph.node("Unsqueeze", rows.slopes(function), one) for function in record.functions]
        stacked = graph.node("Concat", *slopes, axis=1)
        parts = graph.node("Mul", stacked, graph.node("Unsqueeze", rows.centred, one))
        graph.output(graph.node("Sub", values, graph.node("ReduceSum", parts, last, keepdims=0)), "intercept", [count])
        for tensor, name in ((stacked, "slopes"), (parts, "contributions")):
            if record.classes is None:
                graph.output(graph.node("Squeeze", tensor, one), name, [d])
            else:
                graph.output(tensor, name, [count, d])


def _increasing(graph: Graph, values: str, count: int) -> str:
    """Sort the quantiles of every row."""
    if count == 1:
        return values
    return graph.node("TopK", values, graph.constant([count], np.int64), axis=1, largest=0, sorted=1, unused=1)


def _add_classes(graph: Graph, scores: str, record: Model) -> None:
    """Add the label of the highest score, and probabilities or scores."""
    labels = np.asarray(record.classes)
    kind = {"i": np.int64, "u": np.int64, "f": graph.outside, "b": np.bool_}.get(labels.dtype.kind, np.object_)
    texts = labels.astype(str).astype(object) if kind is np.object_ else labels
    first = graph.node("ArgMax", scores, axis=1, keepdims=0)
    graph.output(graph.node("Gather", graph.constant(texts, kind), first, axis=0), "label", [], kind)
    if record.temperature is None:
        graph.output(scores, "scores", [len(labels)])
    else:
        scaled = graph.node("Mul", scores, graph.constant(record.temperature))
        graph.output(graph.node("Softmax", scaled, axis=1), "probabilities", [len(labels)])


class Rows:
    """The rows of a graph's input, shifted to `center`, and functions of them."""

    def __init__(self, graph: Graph, x: str, center: Array) -> None:
        self.graph, self.center = graph, center
        self.centred = graph.node("Sub", x, graph.constant(center)) if center.any() else x
        self._ramps: dict[Hinges, tuple[str, str]] = {}
        self._pieces: dict[Term, tuple[str, str]] = {}

    def terms(self, function: PLDC) -> tuple[Term, ...]:
        """Return the terms as functions of the shifted rows."""
        return function.moved(-self.center).terms

    def value(self, function: PLDC) -> str:
        """Add the values of a function, (n, 1)."""
        graph, highest = self.graph, []
        for term in self.terms(function):
            plus, minus = (graph.along("ReduceMax", part) for part in self.pieces(term))
            highest.append(graph.node("Sub", plus, minus))
        return graph.total(highest)

    def slopes(self, function: PLDC) -> str:
        """Add the slopes of a function, (n, d)."""
        return self.graph.total([self._slopes(term) for term in self.terms(function)])

    def pieces(self, term: Term) -> tuple[str, str]:
        """Return the values of all pieces of both parts, (n, pieces) each."""
        if term not in self._pieces:
            graph, x = self.graph, self.centred
            if term.hinges is not None:
                x = graph.node("Concat", x, self.ramps(term.hinges)[1], axis=1)
            tables = [np.column_stack([part.slopes, part.offsets]) for part in term.parts]
            middle = np.vstack(tables).mean(axis=0)
            plus, minus = (table - middle for table in tables)
            self._pieces[term] = graph.gemm(x, plus[:, :-1], plus[:, -1]), graph.gemm(x, minus[:, :-1], minus[:, -1])
        return self._pieces[term]

    def ramps(self, hinges: Hinges) -> tuple[str, str]:
        """Return how far each row is along each ramp, (n, ramps): without limits, and cut to 0 and 1."""
        if hinges not in self._ramps:
            graph, start = self.graph, hinges.start
            x = graph.node("Gather", self.centred, graph.constant(hinges.source, np.int64), axis=1)
            along = graph.node("Div", graph.node("Sub", x, graph.constant(start)), graph.constant(hinges.width))
            self._ramps[hinges] = along, graph.clip(along, 0.0, 1.0)
        return self._ramps[hinges]

    def _slopes(self, term: Term) -> str:
        """Add the difference of the slopes of the highest pieces; a ramp counts, for its feature, where it rises."""
        graph, d = self.graph, term.n_features
        highest = [graph.node("ArgMax", part, axis=1, keepdims=0) for part in self.pieces(term)]

        def difference(columns: slice) -> str:
            tables = (graph.constant(part.slopes[:, columns]) for part in term.parts)
            return graph.node(
                "Sub", *(graph.node("Gather", table, k, axis=0) for table, k in zip(tables, highest, strict=True))
            )

        slopes = difference(slice(d))
        if term.hinges is None:
            return slopes
        along, _ = self.ramps(term.hinges)
        begun = graph.node("GreaterOrEqual", along, graph.constant(0.0))
        rising = graph.node("And", begun, graph.node("Less", along, graph.constant(1.0)))
        rising = graph.node("Cast", rising, to=graph.number_type())
        fold = np.eye(d)[term.hinges.source] / term.hinges.width[:, None]
        steep = graph.node("Mul", difference(slice(d, None)), rising)
        return graph.node("Add", slopes, graph.node("MatMul", steep, graph.constant(fold)))
