"""Rows far from the origin, of any size: what is claimed is what predict does."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from tests.problems import corner
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor, certify

Z, Y = corner(30)
Z = np.round(Z * 64) / 64  # numbers that stay the same around 1e14
OFFSETS = (0.0, 1e8, 1e12, 1e14)


def loss_of(name, residual):
    return float(np.mean(np.abs(residual) if name == "absolute" else residual**2))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_certificate_is_of_the_function_that_predict_evaluates(loss, standardize):
    uppers = []
    for offset in OFFSETS:
        X = Z + [offset, -offset]
        model = DCRegressor(n_pieces="rows", lam=0.02, loss=loss, standardize=standardize, clip=False).fit(X, Y)
        found, unit = model.certificate_, Y.std() if standardize else 1.0
        objective = loss_of(loss, (model.predict(X) - Y) / unit) + model.lam_ * model.seminorm_
        assert found.upper == pytest.approx(objective, rel=1e-12) and 0 <= found.gap <= 1.01e-4
        assert model.model_.program.loss == pytest.approx(loss_of(loss, (model.predict(X) - Y) / unit), rel=1e-12)
        uppers.append(found.upper)
    np.testing.assert_allclose(uppers, uppers[0], rtol=3e-4)  # the same program, to tol; units of X round at 1e14


def test_targets_far_from_zero():
    y = 1e12 + np.round(Y * 1024) / 1024
    model = DCRegressor(n_pieces="rows", lam=0.02, clip=False)
    with pytest.warns(ConvergenceWarning, match="rounding in the units of X and y"):  # steps of 1e-4 are left of y
        model.fit(Z, y)
    objective = loss_of("squared", (model.predict(Z) - y) / (y - 1e12).std()) + model.lam_ * model.seminorm_
    assert model.certificate_.upper == pytest.approx(objective, rel=1e-9)
    assert model.certificate_.lower <= model.certificate_.upper


def test_classes():
    X, y = Z + 1e12, Y > 0.8
    model = DCClassifier(n_pieces="rows", lam=0.02, loss="log", standardize=True).fit(X, y)
    scores = np.column_stack([f(X) for f in model.model_.functions])
    loss = np.mean(np.logaddexp.reduce(scores, axis=1) - scores[np.arange(30), y.astype(int)])
    assert model.certificate_.upper == pytest.approx(loss + model.lam_ * model.seminorm_, rel=1e-12)


@pytest.mark.parametrize("settings", [{}, {"shape": "convex"}, {"monotone": [0, 1]}], ids=repr)
def test_few_pieces_predict_as_well_as_at_the_origin(settings):
    with few_kinds():
        for offset in (1e8, 1e14):
            X = Z + [offset, -offset]
            model = DCRegressor(**settings).fit(X, Y)
            why = model.explain(X)
            assert model.function_.center is not None and r2_score(Y, model.predict(X)) > 0.8
            missed = np.where(why.clipped, 0.0, why.intercept + why.contributions.sum(axis=1) - why.prediction)
            assert np.abs(missed).max() < 1e-12


def test_any_function_is_compared_where_it_is():
    X = Z + 1e12
    model = DCRegressor(n_pieces="rows", lam=0.02).fit(X, Y)
    found = certify(model, X, Y, 0.02)
    assert found.upper == pytest.approx(model.certificate_.upper, rel=1e-3) and found.lower <= found.upper


def test_near_the_origin_nothing_is_centred():
    model = DCRegressor(n_pieces="rows", lam=0.02).fit(Z + 100.0, Y)
    assert model.function_.center is None and model.function_.to_dict()["pldc"] == 2


def test_a_spread_that_has_no_digits_is_none():
    model = DCRegressor(lam=0.02).fit(Z * [1e-310, 1.0], Y)
    np.testing.assert_array_equal(model.explain(Z * [1e-310, 1.0]).slopes[:, 0], 0.0)
    with few_kinds():
        assert np.isfinite(DCRegressor().fit(Z * [1e-310, 1.0], Y).predict(Z)).all()
        assert np.isfinite(DCClassifier().fit(Z * [1e-310, 1.0], Y > 0.8).predict_proba(Z)).all()


def test_slopes_beyond_all_floats_are_refused():
    for settings in ({}, {"lam": 0.02}, {"lam": 0.02, "standardize": False}):
        with pytest.raises(ValueError, match="Slopes would be beyond all floats.*Rescale"):
            DCRegressor(**settings).fit(Z * 1e-200, Y * 1e110)


@pytest.mark.parametrize("kind", [DCRegressor(), DCRegressor(lam=0.1), DCClassifier(), DCClassifier(lam=0.1)], ids=repr)
@pytest.mark.parametrize("scale", [1e-308, 1e-310, 1e-320])
def test_a_table_that_has_no_digits_is_refused(kind, scale):
    with few_kinds(), pytest.raises(ValueError, match="no digits. Rescale"):
        clone(kind).fit(Z * scale, Y > 0.8)


@pytest.mark.parametrize("kind", [DCRegressor(), DCClassifier()], ids=repr)
def test_knots_of_numbers_whose_squares_are_beyond_all_floats(kind):
    with few_kinds():
        near, far = (clone(kind).fit(Z * scale, Y > 0.8) for scale in (1.0, 2.0**900))
    assert near.chosen_ == far.chosen_
    assert near.cv_results_["params"] == far.cv_results_["params"]
    assert "hinged" in {kind["features"] for kind in far.cv_results_["params"]}
    assert near.cv_score_ == pytest.approx(far.cv_score_)
