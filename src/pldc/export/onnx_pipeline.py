"""A fitted model as a step of a scikit-learn pipeline that skl2onnx converts.

skl2onnx asks an estimator it does not know for functions that set the types of its outputs and add its nodes. The names
of outputs are those it gives by itself: "variable" of a regression, "label" and "probabilities" of classes.
"""

from __future__ import annotations

from typing import Any

from pldc.export.onnx_model import to_onnx
from pldc.export.onnx_nodes import OPSET


def set_types(operator: Any) -> None:
    """Set the types and shapes of the outputs of an operator of skl2onnx."""
    from skl2onnx.common import data_types

    kinds = {1: "Float", 7: "Int64", 8: "String", 9: "Boolean", 11: "Double"}  # ONNX's numbers of its types
    rows = operator.inputs[0].get_first_dimension()
    for output, made in zip(operator.outputs, _graph_of(operator).output, strict=True):
        kind, shape = made.type.tensor_type.elem_type, made.type.tensor_type.shape.dim
        output.set_type(getattr(data_types, f"{kinds[kind]}TensorType")([rows, *(s.dim_value for s in shape[1:])]))


def add_nodes(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of an operator to a container of skl2onnx."""
    from onnx import helper, numpy_helper

    if container.target_opset < OPSET:
        raise ValueError(f"target_opset is {container.target_opset}: a model of pldc needs at least {OPSET}.")
    graph = _graph_of(operator)
    rows = scope.get_unique_variable_name("pldc_rows")
    container.add_node("Cast", [operator.inputs[0].full_name], [rows], to=graph.input[0].type.tensor_type.elem_type)
    names = {"": "", graph.input[0].name: rows}
    names |= {made.name: output.full_name for made, output in zip(graph.output, operator.outputs, strict=True)}
    for constant in graph.initializer:
        names[constant.name] = scope.get_unique_variable_name(constant.name)
        values = numpy_helper.to_array(constant).ravel().tolist()
        container.add_initializer(names[constant.name], constant.data_type, list(constant.dims), values)
    for node in graph.node:
        for made in node.output:
            if made not in names:
                names[made] = scope.get_unique_variable_name(made)
        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        name = scope.get_unique_operator_name(node.name)
        read, made_here = [names[each] for each in node.input], [names[each] for each in node.output]
        container.add_node(node.op_type, read, made_here, op_version=OPSET, name=name, **attributes)


def _graph_of(operator: Any) -> Any:
    """Return the graph of the operator's model, in the precision of its input."""
    from skl2onnx.common.data_types import DoubleTensorType

    wide = isinstance(operator.inputs[0].type, DoubleTensorType)
    graph = to_onnx(operator.raw_operator, dtype="double" if wide else "single").graph
    if [given.name for given in graph.input] != ["X"]:
        raise ValueError("A model with columns of categories or dates is no step of skl2onnx: use pldc.export.to_onnx.")
    return graph
