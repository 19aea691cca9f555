"""DCRegressor: choosing, watching and stopping the solver."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.problems import synthetic

from pldc import Admm, Auto, DCClassifier, DCRegressor, Exact

SOLVERS = pytest.mark.parametrize("solver", [Exact(tol=1e-12), Admm(tol=1e-12)], ids=lambda solver: solver.name)


@SOLVERS
def test_a_monitor_stops_the_fit(solver):
    X, y = synthetic(60, 2)
    seen = []
    model = DCRegressor(lam=0.01, solver=solver)
    with pytest.warns(ConvergenceWarning, match="the monitor stopped the fit"):
        model.fit(X, y, monitor=lambda row: seen.append(row["gap"]) or len(seen) == 9)
    assert len(seen) == model.n_iter_ == 9 and model.solver_ == solver.name
    assert model.score(X, y) > 0.1
    with pytest.raises(TypeError, match="monitor must be callable"):
        model.fit(X, y, monitor=5)


def test_a_gap_missed_by_the_quick_engine_names_the_accurate_one(monkeypatch):
    X, y = synthetic(60, 2)
    with pytest.warns(ConvergenceWarning) as asked:
        DCRegressor(lam=0.01, solver=Admm(max_iter=5)).fit(X, y)
    assert "solver='exact' is accurate" not in str(asked[0].message)
    monkeypatch.setattr("pldc.solve.choose.LARGEST_EXACT", 10)
    monkeypatch.setattr("pldc.solve.choose.MOST_SCORES", 10)
    with pytest.warns(ConvergenceWarning, match="solver='exact' is accurate"):
        DCRegressor(lam=0.01, solver=Auto(max_iter=5)).fit(X, y)
    for loss, named in (("hinge", True), ("log", False)):  # the log loss has no such engine
        with pytest.warns(ConvergenceWarning) as warned:
            DCClassifier(lam=0.01, loss=loss, solver=Auto(max_iter=3)).fit(X, y > 0)
        assert ("solver='exact' is accurate" in str(warned[0].message)) == named
    with pytest.warns(ConvergenceWarning) as warned:
        DCRegressor(lam=0.01).fit(X, y, monitor=lambda row: row["iteration"] == 3)
    assert "solver='exact' is accurate" not in str(warned[0].message)


@SOLVERS
def test_ctrl_c_keeps_what_was_found_and_is_not_swallowed(solver):
    X, y = synthetic(60, 2)

    def press(row):
        if row["iteration"] == 12:
            raise KeyboardInterrupt

    model = DCRegressor(lam=0.01, solver=solver)
    with pytest.warns(ConvergenceWarning, match="interrupted"), pytest.raises(KeyboardInterrupt, match="certified gap"):
        model.fit(X, y, monitor=press)
    assert model.certificate_.gap < 0.9 and model.score(X, y) > 0.1


def test_ctrl_c_after_cross_validation_leaves_a_model_with_its_folds():
    X, y = synthetic(40, 2)

    def press(row):
        if row["iteration"] == 5:
            raise KeyboardInterrupt

    model = DCRegressor(n_pieces="rows", n_jobs=1, solver=Auto(tol=1e-12))
    with pytest.warns(ConvergenceWarning, match="interrupted"), pytest.raises(KeyboardInterrupt, match="usable"):
        model.fit(X, y, monitor=press)
    low, high = model.predict_interval(X)
    assert (low < high).all() and model.cv_score_ in model.cv_results_["mean_test_score"] and model.score(X, y) > 0.1


def test_a_fit_that_fails_leaves_no_half_of_an_older_one():
    X, y = synthetic(20, 2)
    model = DCRegressor(lam=0.1).fit(X, y)
    with pytest.raises(ValueError, match="lam must be"):
        model.set_params(lam=-1).fit(np.column_stack([X, X]), y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    "model, method",
    [(DCRegressor(), m) for m in ("predict", "explain", "predict_interval", "region_table")]
    + [(DCClassifier(), m) for m in ("predict", "explain", "decision_function", "predict_proba")],
)
def test_a_model_that_is_not_fitted_says_so(model, method):
    with pytest.raises(NotFittedError):
        getattr(model, method)([[0.0]])


def test_solvers_agree():
    X, y = synthetic(60, 2)
    exact = DCRegressor(lam=0.1, solver="exact").fit(X, y)
    quick = DCRegressor(lam=0.1, solver=Admm(tol=0.01)).fit(X, y)
    assert quick.certificate_.lower <= exact.certificate_.upper and quick.certificate_.upper >= exact.certificate_.lower
    assert exact.solver_ == DCRegressor(lam=0.1).fit(X, y).solver_
    assert np.abs(exact.predict(X) - quick.predict(X)).mean() < 0.1
