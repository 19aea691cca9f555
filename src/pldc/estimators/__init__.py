"""scikit-learn estimators: thin wrappers around problem, solver and function."""

from pldc.estimators.classifier import DCClassifier
from pldc.estimators.regressor import DCRegressor

__all__ = ["DCClassifier", "DCRegressor"]
