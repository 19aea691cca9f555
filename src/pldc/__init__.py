"""Piecewise-linear regression and classification by differences of convex functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pldc.fit.settings import CrossValidation
from pldc.function import (
    PLDC,
    ClassExplanation,
    Explanation,
    Hinges,
    MaxAffine,
    from_dict,
)
from pldc.function.interpolate import can_interpolate
from pldc.model import ClassSimplification, Model, Simplification
from pldc.problem import Absolute, Certificate, Hinge, Huber, LogLoss, Loss, Poisson, Quantile, Squared
from pldc.problem.penalties import Seminorm
from pldc.solve import Admm, Auto, Exact, Line
from pldc.solve.compare import Comparison, certify
from pldc.solve.interpolation import interpolate

if TYPE_CHECKING:
    from pldc.estimators import DCClassifier, DCRegressor
    from pldc.estimators.files import load

__version__ = "0.2.0"
__all__ = [
    "PLDC",
    "Absolute",
    "Admm",
    "Auto",
    "Certificate",
    "ClassExplanation",
    "ClassSimplification",
    "Comparison",
    "CrossValidation",
    "DCClassifier",
    "DCRegressor",
    "Exact",
    "Explanation",
    "Hinge",
    "Hinges",
    "Huber",
    "Line",
    "LogLoss",
    "Loss",
    "MaxAffine",
    "Model",
    "Poisson",
    "Quantile",
    "Seminorm",
    "Simplification",
    "Squared",
    "can_interpolate",
    "certify",
    "from_dict",
    "interpolate",
    "load",
]
# Names that bring scikit-learn along, and where they are.
ESTIMATORS = {"DCClassifier": "estimators", "DCRegressor": "estimators", "load": "estimators.files"}


def __getattr__(name: str) -> Any:
    """Import an estimator when it is first asked for: the processes of a cross-validation do without scikit-learn."""
    if name in ESTIMATORS:
        return getattr(import_module(f"pldc.{ESTIMATORS[name]}"), name)
    raise AttributeError(f"module 'pldc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *ESTIMATORS])
