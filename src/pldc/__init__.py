"""Piecewise-linear regression by differences of convex functions."""

from pldc.estimators import DCRegressor
from pldc.function import PLDC, Explanation, MaxAffine
from pldc.problem import Certificate

__version__ = "0.1.0"
__all__ = ["PLDC", "Certificate", "DCRegressor", "Explanation", "MaxAffine"]
