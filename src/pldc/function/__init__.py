"""What was learned: piecewise-linear functions as differences of max-affine functions."""

from pldc.function.explain import Explanation, explain
from pldc.function.max_affine import MaxAffine
from pldc.function.pldc import PLDC, LocalModel
from pldc.function.total import PLDCSum

__all__ = ["PLDC", "Explanation", "LocalModel", "MaxAffine", "PLDCSum", "explain"]
