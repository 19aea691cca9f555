"""Piecewise-linear regression by differences of convex functions."""

from typing import TYPE_CHECKING, Any

from pldc.function import PLDC, Explanation, MaxAffine, PLDCSum
from pldc.problem import Certificate

if TYPE_CHECKING:
    from pldc.estimators import DCRegressor

__version__ = "0.1.0"
__all__ = ["PLDC", "Certificate", "DCRegressor", "Explanation", "MaxAffine", "PLDCSum"]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is first asked for: the processes of a cross-validation do without scikit-learn."""
    if name == "DCRegressor":
        from pldc.estimators import DCRegressor

        return DCRegressor
    raise AttributeError(f"module 'pldc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "DCRegressor"])
