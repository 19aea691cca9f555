"""scikit-learn's own checks, for several settings, with no expected failures."""

from contextlib import nullcontext

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.quick import few_kinds, few_starts

from pldc import Auto, DCClassifier, DCRegressor, Quantile, Seminorm

SETTINGS = [
    DCRegressor(),
    DCRegressor(n_pieces="rows"),
    DCRegressor(n_pieces=4),
    DCRegressor(loss="huber", shape="convex", lam=0.01, solver=Auto(tol=0.001), penalty=Seminorm(free_linear=True)),
    DCRegressor(loss=Quantile(0.95), shape="concave", lam=0.01, clip=False, standardize=False, solver=Auto(tol=0.001)),
    DCClassifier(),
    DCClassifier(loss="log", lam=0.05, penalty="joint", n_jobs=1, solver=Auto(tol=0.05, max_iter=150)),
    DCClassifier(cv=2, n_jobs=1, solver=Auto(tol=0.05)),
]


# The checks fit odd data of their own; a gap that is missed is said by a warning, which they allow.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SETTINGS)
def test_scikit_learn_checks(estimator, check):
    # Few pieces are learned from what DCRegressor() finds, which is checked as it is.
    learned = estimator.get_params()["n_pieces"] == 4
    with few_starts(points=200, fresh=100), few_kinds() if learned else nullcontext():
        check(estimator)
