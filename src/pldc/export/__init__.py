"""Take a fitted model anywhere: files, code and models for other tools. One format a file, imported when called."""

from importlib import import_module
from typing import Any

# What is offered, and the file that has it.
FORMATS = {
    "GurobiPredictor": "solvers",
    "Milp": "milp_rows",
    "add_to_cvxpy": "solvers",
    "add_to_gurobi": "solvers",
    "add_to_highs": "solvers",
    "add_to_pyomo": "solvers",
    "gurobi_predictor": "solvers",
    "to_c": "c",
    "to_js": "javascript",
    "to_milp": "milp",
    "to_numpy": "numpy_source",
    "to_onnx": "onnx_model",
    "to_sql": "sql",
    "to_torch": "torch_module",
}

__all__ = list(FORMATS)


def __getattr__(name: str) -> Any:
    """Import a format when it is first asked for."""
    if name in FORMATS:
        return getattr(import_module(f"pldc.export.{FORMATS[name]}"), name)
    raise AttributeError(f"module 'pldc.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *FORMATS])
