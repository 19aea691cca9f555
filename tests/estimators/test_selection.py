"""Choosing λ of the program, through the estimator."""

import logging

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from tests.problems import slanted

from pldc import Auto, CrossValidation, DCRegressor, Huber, Quantile


@pytest.fixture(scope="module")
def fitted():
    X, y = slanted()
    return DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)


def test_defaults_choose_lam_and_leave_scikit_learns_results(fitted):
    results = fitted.cv_results_
    count = len(results["params"])
    assert count >= 10 and results["param_lam"].shape == (count,)
    scores = np.array([results[f"split{k}_test_score"] for k in range(5)])
    assert scores.shape == (5, count) and (scores <= 0).all()
    assert np.allclose(results["mean_test_score"], np.average(scores, axis=0, weights=[8] * 5))
    assert results["rank_test_score"].min() == 1 and (results["mean_fit_time"] > 0).all()
    assert any(np.isclose(fitted.lam_, results["param_lam"]))
    assert results["params"] == [{"lam": lam} for lam in results["param_lam"]]
    assert fitted.cv_score_ in results["mean_test_score"]


def test_the_certificate_is_that_of_the_function_that_predicts(fitted):
    X, y = slanted()
    f, standard = fitted.function_, (X - X.mean(axis=0)) / X.std(axis=0)
    assert f.is_plain and fitted.certificate_.gap <= 1e-4
    assert np.array_equal(fitted.predict(X), np.clip(f(X), y.min(), y.max()))
    again = DCRegressor(lam=fitted.lam_, standardize=False, clip=False).fit(standard, (y - y.mean()) / y.std())
    assert again.certificate_.upper == pytest.approx(fitted.certificate_.upper, rel=2e-4)
    assert np.allclose(y.mean() + y.std() * again.predict(standard), f(X), atol=0.02 * y.std())
    loss = np.mean((f(X) - y) ** 2) / y.var()
    assert loss + fitted.lam_ * fitted.seminorm_ == pytest.approx(fitted.certificate_.upper, rel=1e-6)


@pytest.fixture(scope="module")
def accurate():
    return DCRegressor(n_jobs=1, solver=Auto(tol=1e-8)).fit(*slanted(24))


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y, rng: (X, 7.0 * y - 3.0, lambda p: (p + 3.0) / 7.0, None),
        lambda X, y, rng: (X, -2.0 * y, lambda p: p / -2.0, None),
        lambda X, y, rng: (X * [1e3, 0.01] + 5.0, y, lambda p: p, None),
        lambda X, y, rng: (X[rng], y[rng], lambda p: p, rng),
    ],
    ids=["y", "minus y", "X", "order"],
)
def test_equivariance(accurate, change):
    X, y = slanted(24)
    order = np.random.default_rng(5).permutation(24)
    other_X, other_y, back, at = change(X, y, order)
    plain, other = accurate, clone(accurate).fit(other_X, other_y)
    expected, found = plain.predict(X), back(other.predict(other_X))
    assert other.lam_ == pytest.approx(plain.lam_, rel=1e-6)
    assert np.allclose(found, expected if at is None else expected[at], atol=1e-6 * y.std())


def test_weights_equal_repetition_under_cross_validation():
    X, y = slanted(20)
    twice = np.arange(20) < 6
    settings = {"n_jobs": 1, "solver": Auto(tol=1e-8)}
    heavy = DCRegressor(**settings).fit(X, y, sample_weight=1.0 + twice)
    repeated = DCRegressor(**settings).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert heavy.lam_ == pytest.approx(repeated.lam_, rel=1e-9)
    assert np.allclose(heavy.predict(X), repeated.predict(X), atol=1e-6)


def test_structural_risk_minimisation_smooths_more(fitted):
    X, y = slanted()
    srm = DCRegressor(lam="srm").fit(X, y)
    assert srm.lam_ > 10 * fitted.lam_ and srm.function_.seminorm_bound() < fitted.function_.seminorm_bound()
    absolute = DCRegressor(lam="srm", loss="absolute").fit(X, y)
    assert absolute.lam_ < srm.lam_


def test_lam_of_a_squared_loss_scales_with_y_without_standardisation():
    X, y = slanted(20)
    small, large = (DCRegressor(standardize=False, n_jobs=1, clip=False).fit(X, c * y) for c in (1.0, 100.0))
    assert large.lam_ == pytest.approx(100.0 * small.lam_)
    assert np.allclose(large.predict(X), 100.0 * small.predict(X), atol=1e-1)


def test_any_splitter_scorer_and_groups():
    X, y = slanted(30)
    for cv in (KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0), list(KFold(2).split(X))):
        model = DCRegressor(n_jobs=1, solver=Auto(tol=0.001), cv=CrossValidation(cv, scoring="r2")).fit(X, y)
        splits = list(cv.split(X)) if hasattr(cv, "split") else cv
        assert f"split{len(splits) - 1}_test_score" in model.cv_results_
        assert f"split{len(splits)}_test_score" not in model.cv_results_
        assert 0.5 < model.cv_results_["mean_test_score"].max() <= 1  # R², not a negative loss
    groups = np.repeat(np.arange(6), 5)
    model = DCRegressor(cv=3, n_jobs=1, solver=Auto(tol=0.001)).fit(X, y, groups=groups)
    assert "split2_test_score" in model.cv_results_ and "split3_test_score" not in model.cv_results_
    with pytest.raises(ValueError, match="groups"):
        DCRegressor(cv=3, n_jobs=1).fit(X, y, groups=groups[:4])


def test_one_standard_error_takes_a_larger_lam():
    X, y = slanted(40, seed=2)
    settings = {"n_jobs": 1, "solver": Auto(tol=1e-3)}
    plain, cautious = (
        DCRegressor(**settings).fit(X, y),
        DCRegressor(cv=CrossValidation(one_standard_error=True), **settings).fit(X, y),
    )
    assert cautious.lam_ >= plain.lam_
    results = cautious.cv_results_
    mean = results["mean_test_score"]
    spread = np.std([results[f"split{k}_test_score"][mean.argmax()] for k in range(5)], ddof=1) / np.sqrt(5)
    allowed = results["param_lam"][mean >= mean.max() - spread]
    assert cautious.lam_ == pytest.approx(allowed.max())


def test_subsample_for_many_rows():
    X, y = slanted(80)
    model = DCRegressor(n_jobs=1, solver=Auto(tol=0.01), cv=CrossValidation(max_rows=40)).fit(X, y)
    assert np.isclose(model.lam_ / model.cv_results_["param_lam"], 0.5 ** (2 / 6)).any()
    with pytest.raises(ValueError, match="max_rows must be None or a whole number ≥ 4"):
        DCRegressor(cv=CrossValidation(max_rows=1)).fit(X, y)


def test_few_rows_fall_back_on_the_discrepancy():
    model = DCRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    assert model.lam_ > 0 and not hasattr(model, "cv_results_")
    with pytest.raises(ValueError, match="rows left out"):
        model.predict_interval([[0.5]])


def test_a_constant_column_of_any_size():
    X, y = slanted(23)
    settings = {"cv": 3, "n_jobs": 1, "solver": Auto(tol=0.01)}
    plain = DCRegressor(**settings).fit(X, y).score(X, y)
    for value in (1.1e33, 1.1e100):
        wide = np.column_stack([X, np.full(23, value)])
        assert DCRegressor(**settings).fit(wide, y).score(wide, y) > plain - 0.05


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"lam": "magic"}, "lam must be"),
        ({"cv": 1}, "cv"),
    ],
)
def test_bad_settings(settings, match):
    with pytest.raises(ValueError, match=match):
        DCRegressor(**settings).fit(*slanted(12))


def test_interrupted_search_leaves_no_half_of_a_model(monkeypatch):
    X, y = slanted(20)
    model = DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)

    def interrupt(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.select.fold_fits.rough_path", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "function_") and not hasattr(model, "cv_results_")


def test_progress_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pldc"):
        DCRegressor(verbose=1, n_jobs=1, solver=Auto(tol=0.01)).fit(*slanted(16))
    (told,) = [r.message for r in caplog.records if r.message.startswith("cross-validation: best lam ")]
    assert " of 13 values, mean score -0.0" in told  # it has grown


def test_two_processes_and_a_local_dask_cluster_agree_with_one():
    distributed = pytest.importorskip("distributed")

    X, y = slanted(20)
    settings = {"cv": 2, "solver": Auto(tol=1e-3)}
    alone = DCRegressor(n_jobs=1, **settings).fit(X, y)
    two = DCRegressor(n_jobs=2, **settings).fit(X, y)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        spread = DCRegressor(**settings).fit(X, y)
    for other in (two, spread):
        assert other.lam_ == alone.lam_
        assert np.allclose(other.predict(X), alone.predict(X), atol=1e-8)


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_folds_are_fitted_under_any_backend(backend):
    X, y = slanted(20)
    settings = {"cv": 2, "solver": Auto(tol=0.01)}
    alone = DCRegressor(n_jobs=1, **settings).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        others = DCRegressor(**settings).fit(X, y), DCRegressor(n_jobs=2, **settings).fit(X, y)
    for other in others:
        assert other.lam_ == alone.lam_ and other.cv_score_ == pytest.approx(alone.cv_score_, rel=1e-9)
        np.testing.assert_allclose(other.predict(X), alone.predict(X), atol=1e-6)


def test_weights_with_a_splitter():
    X, y = slanted(24, 3)
    fold = np.arange(24) % 3
    settings = {"n_pieces": "rows", "n_jobs": 1}
    twice = DCRegressor(cv=PredefinedSplit(np.tile(fold, 2)), **settings).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    double = DCRegressor(cv=PredefinedSplit(fold), **settings).fit(X, y, sample_weight=np.full(24, 2.0))
    assert twice.cv_score_ == pytest.approx(double.cv_score_, rel=1e-6)
    assert np.allclose(twice.predict(X), double.predict(X), atol=1e-6)


def test_folds_count_the_rows_as_given_and_weight_zero_counts_for_none():
    X, y = slanted(24, seed=8)
    weight = np.r_[np.zeros(6), np.ones(18)]
    folds = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    without = [(np.arange(6), np.arange(6, 18)), (np.arange(6, 18), np.arange(6))]
    settings = {"n_jobs": 1, "solver": Auto(tol=1e-3)}
    zero = DCRegressor(cv=folds, **settings).fit(X, y, sample_weight=weight)
    absent = DCRegressor(cv=without, **settings).fit(X[6:], y[6:])
    assert np.allclose(zero.cv_results_["split0_test_score"], absent.cv_results_["split0_test_score"])
    groups = np.repeat(np.arange(4), 6)
    zero = DCRegressor(cv=3, **settings).fit(X, y, sample_weight=weight, groups=groups)
    assert zero.lam_ > 0


def test_huber_loss_is_scored_in_the_units_of_the_program():
    X, y = slanted(20)
    settings = {"loss": Huber(0.3), "cv": 3, "n_jobs": 1, "solver": Auto(tol=1e-3)}
    lams = [DCRegressor(**settings).fit(X, c * y).lam_ for c in (1e-3, 1.0, 1e3)]
    assert np.allclose(lams, lams[1], rtol=1e-6)


def test_scores_that_are_no_numbers_and_folds_that_are_none():
    X, y = slanted(12)
    with pytest.raises(ValueError, match="is a number"):
        DCRegressor(n_jobs=1, cv=CrossValidation(scoring=lambda model, X, y: np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="yields no fold"):
        DCRegressor(cv=[], n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="one group"):
        DCRegressor(n_jobs=1).fit(X, y, groups=np.zeros(12))


def test_a_scorer_without_weights_sees_repeated_rows():
    X, y = slanted(16)
    X, y = np.vstack([X, X[:2]]), np.append(y, y[:2])
    model = DCRegressor(
        n_jobs=1, solver=Auto(tol=0.01), cv=CrossValidation(scoring=lambda m, X, y: -np.abs(m.predict(X) - y).mean())
    )
    assert model.fit(X, y).lam_ > 0


def test_random_state_draws_other_halves():
    X, y = slanted(30)
    lams = [DCRegressor(lam="srm", random_state=seed).fit(X, y).lam_ for seed in (None, 0, 1)]
    assert lams[0] == lams[1] != lams[2]


@pytest.mark.parametrize("settings", [{"loss": "absolute"}, {"loss": Quantile(0.4)}])
def test_gross_outliers_do_not_hide_the_rest_from_a_robust_loss(settings):
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (80, 2)), rng.uniform(-1, 1, (200, 2))
    y = np.abs(X[:, 0]) - np.abs(X[:, 1]) + 0.1 * rng.standard_normal(80)
    y[-5:] = 1000.0
    model = DCRegressor(n_pieces="rows", cv=3, n_jobs=1, **settings).fit(X, y)
    assert model.score(new, np.abs(new[:, 0]) - np.abs(new[:, 1])) > 0.9


@pytest.fixture(scope="module")
def as_given():
    """Fit the rows as they are, once for every loss."""
    known = {}

    def fit(loss, X, y):
        if loss not in known:
            known[loss] = DCRegressor(standardize=False, cv=3, n_jobs=1, loss=loss).fit(X, y)
        return known[loss]

    return fit


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize(("unit", "y_unit"), [(1e100, 1.0), (1e-100, 1.0), (1e-9, 1e9), (1.0, 1e120), (1.0, 1e-120)])
def test_without_standardising_any_units_give_the_same_fit(as_given, unit, y_unit, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=30)
    plain = as_given(loss, X, y)
    other = clone(plain).fit(unit * X, y_unit * y)
    assert plain.score(X, y) > 0.8
    assert np.allclose(other.predict(unit * X) / y_unit, plain.predict(X), atol=1e-3)
    assert np.isfinite(other.cv_results_["std_test_score"]).all()
