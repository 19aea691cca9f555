"""scikit-learn's own checks, for several settings, with no expected failures. (Of the classifier: in its own file.)"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pldc import DCRegressor, Quantile

SETTINGS = [
    DCRegressor(),
    DCRegressor(n_pieces="rows"),
    DCRegressor(n_pieces=4),
    DCRegressor(cv=2, n_jobs=1, tol=1e-3),  # cross-validation, in less time than with the defaults
    DCRegressor(loss="absolute", penalty="joint", lam=0.01, tol=1e-3),
    DCRegressor(loss="huber", shape="convex", linear="free", lam=0.01, tol=1e-3),
    DCRegressor(loss=Quantile(0.7), shape="concave", lam=0.01, clip=False, standardize=False, tol=1e-3),
    DCRegressor(loss=Quantile(0.95), lam=0.01, tol=1e-3),
]


# The checks fit odd data of their own; a gap that is missed is said by a warning, which they allow.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SETTINGS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
