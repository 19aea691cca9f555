"""An ONNX graph that grows node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pldc.function.max_affine import Array

OPSET, ML_OPSET, IR_VERSION = 18, 2, 8  # the first in which the axes of a maximum are an input; younger readers know it


class Graph:
    """Nodes and constants of a graph that grows. A tensor is known by its name.

    Parameters
    ----------
    dtype : numpy dtype
        Of all numbers that are not said to be of another.
    outside : numpy dtype, optional
        Of inputs and outputs; the default is `dtype`.
    """

    def __init__(self, dtype: Any, outside: Any = None) -> None:
        try:
            import onnx
        except ImportError as error:
            raise ImportError("An ONNX graph needs the package onnx: pip install 'pldc[onnx]'.") from error
        self.onnx, self.dtype, self.outside = onnx, dtype, outside or dtype
        self.domains: dict[str, int] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    @property
    def casts(self) -> bool:
        """Whether numbers outside are of another kind than those between."""
        return self.outside is not self.dtype

    def input(self, name: str, columns: int, dtype: Any = None) -> str:
        """Add an input of rows and columns; numbers are returned as those of the graph."""
        self.inputs.append(self._described(name, [columns], dtype or self.outside))
        return self.node("Cast", name, to=self.number_type()) if self.casts and not dtype else name

    def output(self, tensor: str, name: str, shape: Sequence[int], dtype: Any = None) -> None:
        """Make a tensor of rows an output of that name; a tensor may have it already."""
        if dtype is None and self.casts:
            self.node("Cast", tensor, name=name, to=self.number_type(self.outside))
        elif tensor != name:
            self.node("Identity", tensor, name=name)
        self.outputs.append(self._described(name, shape, dtype or self.outside))

    def number_type(self, dtype: Any = None) -> int:
        """Return ONNX's number for a kind of numbers."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.dtype)))

    def _described(self, name: str, shape: Sequence[int], dtype: Any) -> Any:
        return self.onnx.helper.make_tensor_value_info(name, self.number_type(dtype), ["n", *shape])

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Add numbers, or text as an array of objects."""
        name = f"pldc/constant_{len(self.constants)}"
        array = np.ascontiguousarray(values, dtype or self.dtype).reshape(np.shape(values))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, operation: str, *inputs: str, name: str | None = None, unused: int = 0, **attributes: Any) -> str:
        """Add a node, and return the name of its first output; `unused` are others that it has."""
        name = name or f"pldc/{operation}_{len(self.nodes)}"
        outputs = [name, *(f"{name}/{k}" for k in range(unused))]
        self.nodes.append(self.onnx.helper.make_node(operation, list(inputs), outputs, name=name, **attributes))
        if "domain" in attributes:
            self.domains[attributes["domain"]] = ML_OPSET
        return name

    def gemm(self, rows: str, weight: Array, bias: Array, name: str | None = None) -> str:
        """Add weight @ row + bias for all rows; every attribute is written out, as some readers know no defaults."""
        constants = self.constant(weight), self.constant(bias)
        return self.node("Gemm", rows, *constants, name=name, alpha=1.0, beta=1.0, transA=0, transB=1)

    def along(self, operation: str, tensor: str, axis: int = 1) -> str:
        """Reduce a tensor along an axis, which stays."""
        return self.node(operation, tensor, self.constant([axis], np.int64), keepdims=1)

    def total(self, tensors: Sequence[str]) -> str:
        """Add up tensors, one by one: the node for many has no double precision everywhere."""
        first, *others = tensors
        for other in others:
            first = self.node("Add", first, other)
        return first

    def clip(self, tensor: str, low: float, high: float) -> str:
        """Cut to a range; an end that is not finite is none."""
        ends = [self.constant(end) if np.isfinite(end) else "" for end in (low, high)]
        return self.node("Clip", tensor, *ends) if any(ends) else tensor

    def model(self, version: str, notes: Mapping[str, str]) -> Any:
        """Return all of it, checked, with notes in its metadata."""
        helper = self.onnx.helper
        made = helper.make_model(
            helper.make_graph(self.nodes, "pldc", self.inputs, self.outputs, self.constants),
            opset_imports=[helper.make_opsetid(*each) for each in {"": OPSET, **self.domains}.items()],
            ir_version=IR_VERSION,
            producer_name="pldc",
            producer_version=version,
        )
        helper.set_model_props(made, dict(notes))
        self.onnx.checker.check_model(made)
        return made
