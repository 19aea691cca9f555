"""scikit-learn's own checks, for several settings, with no expected failures."""

from contextlib import nullcontext

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_sample_weight_equivalence_on_dense_data,
    estimator_checks_generator,
    parametrize_with_checks,
)
from tests.quick import few_kinds, few_starts

from pldc import Auto, DCClassifier, DCRegressor, Quantile, Seminorm

SETTINGS = [
    DCRegressor(),
    DCRegressor(n_pieces="rows", lam=0.05, n_jobs=1),
    DCRegressor(loss="huber", shape="convex", lam=0.01, solver=Auto(tol=0.001), penalty=Seminorm(free_linear=True)),
    DCRegressor(loss=Quantile(0.95), shape="concave", lam=0.01, clip=False, standardize=False, solver=Auto(tol=0.001)),
    DCClassifier(),
]
# These read tables as those above do, and fit in other ways: checks of numbers look at them.
OTHER_FITS = [
    DCRegressor(n_pieces=4, cv=2),
    DCClassifier(loss="log", lam=0.05, penalty="joint", n_jobs=1, solver=Auto(tol=0.05, max_iter=150)),
    DCClassifier(lam=0.05, cv=2, n_jobs=1, solver=Auto(tol=0.05)),
]


# Checks of numbers see fits as they come: how much is learned, and what may not matter to it. The others look at
# shapes, types, attributes and kinds of error, the same fit again and again: there fewer kinds are tried.
OF_NUMBERS = (
    "check_regressors_train",
    "check_classifiers_train",
    "check_classifiers_classes",
    "check_class_weight_classifiers",
    "check_sample_weight_equivalence_on_dense_data",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
)


# The checks fit odd data of their own; a gap that is missed is said by a warning, which they allow.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SETTINGS)
def test_scikit_learn_checks(estimator, check):
    # Of the variants of a check, read-only or in single precision, the first sees the fit as it comes.
    plain = check.func.__name__ in OF_NUMBERS and not set(check.keywords) - {"name"}
    with few_starts(points=100, fresh=50, starts=1), nullcontext() if plain else few_kinds():
        check(estimator)


def checks_of_numbers():
    pairs = [(m, c) for m in OTHER_FITS for _, c in estimator_checks_generator(m) if c.func.__name__ in OF_NUMBERS]
    return [pytest.param(m, c, id=f"{k} {c.func.__name__}") for k, (m, c) in enumerate(pairs)]


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), checks_of_numbers())
def test_checks_of_numbers_on_other_fits(estimator, check):
    with few_starts(points=100, fresh=50, starts=1), few_kinds():
        check(clone(estimator))


@pytest.mark.parametrize(
    "model", [DCRegressor(n_pieces="rows", cv=3, n_jobs=1), DCClassifier(cv=2, n_jobs=1, solver=Auto(tol=0.05))]
)
@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_methods_sample_order_invariance]
)
def test_checks_of_folds_that_choose(model, check):
    check(type(model).__name__, model)


def test_checks_of_numbers_are_known_by_name():
    models = (DCRegressor(), DCClassifier())
    known = {check.func.__name__ for model in models for _, check in estimator_checks_generator(model)}
    assert known.issuperset(OF_NUMBERS)
