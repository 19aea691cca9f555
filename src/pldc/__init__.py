"""Piecewise-linear regression by differences of convex functions."""

from pldc.estimators import DCRegressor
from pldc.function import PLDC, MaxAffine

__version__ = "0.1.0"
__all__ = ["PLDC", "DCRegressor", "MaxAffine"]
