"""What was learned: piecewise-linear functions as differences of max-affine functions."""

from pldc.function.explain import ClassExplanation, Explanation, explain, explain_classes
from pldc.function.hinges import HingedPLDC, Hinges
from pldc.function.max_affine import MaxAffine
from pldc.function.pldc import PLDC, LocalModel
from pldc.function.record import from_dict, to_dict
from pldc.function.total import AnyPLDC, PLDCSum

__all__ = [
    "PLDC",
    "AnyPLDC",
    "ClassExplanation",
    "Explanation",
    "HingedPLDC",
    "Hinges",
    "LocalModel",
    "MaxAffine",
    "PLDCSum",
    "explain",
    "explain_classes",
    "from_dict",
    "to_dict",
]
