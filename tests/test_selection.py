"""Choosing λ and the geometry, through the estimator."""

import logging
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.model_selection import KFold, ShuffleSplit

from pldc import PLDC, DCRegressor, PLDCSum
from pldc.function import WarpedPLDC
from pldc.problem.program import Solution
from pldc.problem.recipe import Rows
from pldc.problem.units import Units
from pldc.select import rough as rough_fits
from pldc.select import search
from pldc.select.search import Search, geometric_grid

NOTHING = Solution(np.zeros((2, 1)), np.zeros((2, 1, 1)), np.zeros(1), multipliers=[])


def rough(function, rows, prediction, outer):
    """A fit that nobody made."""
    n, d = rows.X.shape
    units = Units.of(*rows)
    return search.Fit(
        functions=[function],
        prediction=prediction,
        outer=outer,
        points=units.scale_X(rows.X),
        squares=np.tile(np.diag(outer), (n, 1)),
        weight=rows.weight,
        seconds=0.0,
        solution=NOTHING,
        slopes=np.zeros((2, n, d)),
        seminorm=1.0,
    )


def table(n=40, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X @ np.arange(1.0, d + 1.0)) + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return DCRegressor(n_jobs=1).fit(X, y)


def test_defaults_choose_lam_and_leave_scikit_learns_results(fitted):
    results = fitted.cv_results_
    count = len(results["params"])
    assert count >= 10 and results["param_lam"].shape == (count,)
    scores = np.array([results[f"split{k}_test_score"] for k in range(5)])
    assert scores.shape == (5, count) and (scores <= 0).all()
    assert np.allclose(results["mean_test_score"], np.average(scores, axis=0, weights=[8] * 5))
    assert results["rank_test_score"].min() == 1 and (results["mean_fit_time"] > 0).all()
    assert any(np.isclose(fitted.lam_, results["param_lam"]))
    assert fitted.certificate_.gap <= 1e-4 and all(r.certificate.gap <= 1e-4 for r in fitted.rounds_)
    assert isinstance(fitted.function_, PLDC | WarpedPLDC | PLDCSum)


def test_learned_geometry_beats_the_axes_along_a_slanted_direction(fitted):
    X, y = table(300, seed=9)
    axes = DCRegressor(n_jobs=1, geometry="axes").fit(*table())
    assert isinstance(axes.function_, PLDC) and axes.rounds_[0].geometry == (None, None)
    assert set(axes.cv_results_["param_round"]) == {0}
    assert fitted.score(X, y) > axes.score(X, y)
    best = DCRegressor(n_jobs=1, combine="best").fit(*table())
    assert isinstance(best.function_, PLDC | WarpedPLDC) and len(best.rounds_) == 1
    plain = DCRegressor(n_jobs=1, geometry="directions").fit(*table())
    assert all(isinstance(r.function, PLDC) for r in plain.rounds_) and plain.score(X, y) > axes.score(X, y)


def test_each_round_solves_the_program_of_its_coordinates(fitted):
    X, y = table()
    last = fitted.rounds_[-1]
    assert last.geometry.warp is not None
    Z = last.geometry((X - X.mean(axis=0)) / X.std(axis=0))
    again = DCRegressor(lam=last.lam, penalty=last.penalty, standardize=False, n_jobs=1).fit(
        Z, (y - y.mean()) / y.std()
    )
    assert again.certificate_.upper == pytest.approx(last.certificate.upper, rel=2e-4)
    assert np.allclose(y.mean() + y.std() * again.function_(Z), last.function(X), atol=0.02 * y.std())


def test_explanations_add_up_for_a_mean_of_rounds():
    X, y = table(seed=3)
    model = DCRegressor(n_jobs=1, combine="average", clip=False).fit(X, y)
    why = model.explain(X)
    assert np.allclose(why.intercept + why.contributions.sum(axis=1), model.predict(X))
    assert np.allclose(model.function_.gradient(X), why.slopes)


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
def test_equivariance(change):
    X, y = table(24)
    order = np.random.default_rng(5).permutation(24)
    other_X, other_y, back, at = change(X, y, order)
    settings = {"n_jobs": 1, "tol": 1e-8, "max_rounds": 1}
    plain, other = DCRegressor(**settings), DCRegressor(**settings)
    expected = plain.fit(X, y).predict(X)
    found = back(other.fit(other_X, other_y).predict(other_X))
    assert other.lam_ == pytest.approx(plain.lam_, rel=1e-6)
    assert np.allclose(found, expected if at is None else expected[at], atol=1e-6 * y.std())


def steep(n=40, d=2, seed=0):
    """A corner so steep that a warp predicts better than the axes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, d))
    X[:, 1:] = np.round(X[:, 1:], 1)  # levels, too
    return X, 5 * np.exp(8 * (X[:, 0] - 1)) + np.sin(3 * X[:, -1]) + 0.02 * rng.normal(size=n)


@pytest.mark.parametrize("change", ["scaled", "mirrored", "order", "twice"])
def test_equivariance_of_a_warped_round(change, monkeypatch):
    monkeypatch.setattr(Search, "best_rounds", lambda self, most=1: (1,))
    (X, y), new = steep(30), steep(200, seed=1)[0]
    settings = {"n_jobs": 1, "tol": 1e-7, "max_rounds": 1}
    plain = DCRegressor(**settings).fit(X, y)
    assert plain.rounds_[0].geometry.warp is not None
    expected = plain.predict(new)
    order = np.random.default_rng(5).permutation(30)
    if change == "twice":
        found = DCRegressor(**settings).fit(np.vstack([X, X]), np.append(y, y)).predict(new)
    elif change == "order":
        found = DCRegressor(**settings).fit(X[order], y[order]).predict(new)
    else:
        scale, shift = ([3.0, 0.1], [1000.1, -7.3]) if change == "scaled" else ([-1.0, -1.0], [0.0, 0.0])
        found = DCRegressor(**settings).fit(X * scale + shift, y).predict(new * scale + shift)
    assert np.allclose(found, expected, atol=1e-4 * y.std())


def test_weights_equal_repetition_under_cross_validation():
    X, y = table(20)
    twice = np.arange(20) < 6
    settings = {"n_jobs": 1, "max_rounds": 1, "tol": 1e-8}
    heavy = DCRegressor(**settings).fit(X, y, sample_weight=1.0 + twice)
    repeated = DCRegressor(**settings).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert heavy.lam_ == pytest.approx(repeated.lam_, rel=1e-9)
    assert np.allclose(heavy.predict(X), repeated.predict(X), atol=1e-6)


def test_structural_risk_minimisation_smooths_more(fitted):
    X, y = table()
    srm = DCRegressor(lam="srm").fit(X, y)
    assert srm.lam_ > 10 * fitted.lam_ and srm.function_.seminorm_bound() < fitted.function_.seminorm_bound()
    assert DCRegressor(lam="srm", M=2.0 * np.abs(y - y.mean()).max()).fit(X, y).lam_ == pytest.approx(2.0 * srm.lam_)
    absolute = DCRegressor(lam="srm", loss="absolute").fit(X, y)
    assert absolute.lam_ < srm.lam_


def test_lam_of_a_squared_loss_scales_with_y_without_standardisation():
    X, y = table(30)
    small, large = (
        DCRegressor(standardize=False, n_jobs=1, geometry="axes", clip=False).fit(X, c * y) for c in (1.0, 100.0)
    )
    assert large.lam_ == pytest.approx(100.0 * small.lam_)
    assert np.allclose(large.predict(X), 100.0 * small.predict(X), atol=1e-1)


def test_any_splitter_scorer_and_groups():
    X, y = table(30)
    for cv in (KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0), list(KFold(2).split(X))):
        model = DCRegressor(cv=cv, max_rounds=0, n_jobs=1, scoring="r2", tol=1e-3).fit(X, y)
        splits = list(cv.split(X)) if hasattr(cv, "split") else cv
        assert f"split{len(splits) - 1}_test_score" in model.cv_results_
        assert f"split{len(splits)}_test_score" not in model.cv_results_
        assert 0.5 < model.cv_results_["mean_test_score"].max() <= 1  # R², not a negative loss
    groups = np.repeat(np.arange(6), 5)
    model = DCRegressor(cv=3, max_rounds=0, n_jobs=1, tol=1e-3).fit(X, y, groups=groups)
    assert "split2_test_score" in model.cv_results_ and "split3_test_score" not in model.cv_results_
    with pytest.raises(ValueError, match="groups"):
        DCRegressor(cv=3, n_jobs=1).fit(X, y, groups=groups[:4])


def test_one_standard_error_takes_a_larger_lam():
    X, y = table(40, seed=2)
    settings = {"n_jobs": 1, "geometry": "axes", "tol": 1e-3}
    plain, cautious = DCRegressor(**settings).fit(X, y), DCRegressor(one_standard_error=True, **settings).fit(X, y)
    assert cautious.lam_ >= plain.lam_
    results = cautious.cv_results_
    mean = results["mean_test_score"]
    spread = np.std([results[f"split{k}_test_score"][mean.argmax()] for k in range(5)], ddof=1) / np.sqrt(5)
    allowed = results["param_lam"][mean >= mean.max() - spread]
    assert cautious.lam_ == pytest.approx(allowed.max())


def test_subsample_for_many_rows():
    X, y = table(80)
    model = DCRegressor(max_cv_rows=40, max_rounds=0, n_jobs=1, tol=1e-2).fit(X, y)
    assert np.isclose(model.lam_ / model.cv_results_["param_lam"], 0.5 ** (2 / 6)).any()
    with pytest.raises(ValueError, match="max_cv_rows"):
        DCRegressor(max_cv_rows=1).fit(X, y)


def test_few_rows_fall_back_on_the_discrepancy():
    model = DCRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    assert model.lam_ > 0 and not hasattr(model, "cv_results_")
    with pytest.raises(ValueError, match="cross-validation"):
        model.predict_interval([[0.5]])


def test_monotone_geometry_keeps_signs():
    X, y = table(40, seed=4)
    model = DCRegressor(monotone=[1, 0], geometry="learned", n_jobs=1, clip=False, tol=1e-3).fit(X, y)
    assert (model.function_.gradient(np.random.default_rng(0).normal(size=(200, 2)))[:, 0] >= -1e-9).all()
    for r in model.rounds_:
        turn = r.geometry.turn
        assert turn is None or np.count_nonzero(turn - np.diag(np.diag(turn))) == 0


def test_a_convex_fit_stays_convex_in_a_learned_geometry():
    X, y = table(40, seed=4)
    model = DCRegressor(shape="convex", geometry="learned", n_jobs=1, clip=False, tol=1e-3).fit(X, y)
    assert all(r.geometry.warp is None for r in model.rounds_)
    A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
    middle, ends = model.predict((A + B) / 2), (model.predict(A) + model.predict(B)) / 2
    assert (middle <= ends + 1e-9).all()


def test_a_constant_column_of_any_size():
    X, y = table(23)
    plain = DCRegressor(max_rounds=1, n_jobs=1, tol=1e-3).fit(X, y).score(X, y)
    for value in (1.1e33, 1.1e100):
        wide = np.column_stack([X, np.full(23, value)])
        assert DCRegressor(max_rounds=1, n_jobs=1, tol=1e-3).fit(wide, y).score(wide, y) > plain - 0.05


def test_a_warp_gives_a_steep_corner_its_own_scale():
    (X, y), (new, truth) = steep(80), steep(500, seed=1)
    scores = [
        DCRegressor(geometry=g, max_rounds=1, combine="best", n_jobs=1, tol=1e-3).fit(X, y).score(new, truth)
        for g in ("axes", "learned")
    ]
    assert 1 - scores[1] < 0.9 * (1 - scores[0])


def test_geometry_at_a_given_lam():
    X, y = table(40)
    model = DCRegressor(lam=0.02, geometry="learned", max_rounds=2).fit(X, y)
    assert model.lam_ == 0.02 and len(model.rounds_) == 1 and model.rounds_[0].geometry.turn.shape == (2, 2)


def test_intervals_cover():
    X, y = table(60, seed=6)
    new_X, new_y = table(400, seed=7)
    model = DCRegressor(n_jobs=1, tol=1e-3).fit(X, y)
    low, high = model.predict_interval(new_X, 0.8)
    assert (low <= high).all()
    assert 0.7 <= ((low <= new_y) & (new_y <= high)).mean() <= 0.97
    wide = model.predict_interval(new_X, 0.95)
    assert (wide[0] <= low).all() and (wide[1] >= high).all()
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(new_X, 1.0)


def test_generalization_bound_has_its_terms(fitted):
    X, y = table()
    found = fitted.generalization_bound(0.1)
    assert found.empirical == pytest.approx(np.mean((fitted.function_(X) - y) ** 2), rel=1e-6)
    assert found.total > found.empirical and found.n == 40
    scaled = DCRegressor(n_jobs=1).fit(X, 10.0 * y).generalization_bound(0.1)
    assert scaled.total == pytest.approx(100.0 * found.total, rel=1e-2)
    assert fitted.generalization_bound(0.1, M=100.0).total > found.total


def test_path_is_a_path_of_certified_fits():
    X, y = table(40)
    lams = [0.001, 1.0, 0.03]
    path = DCRegressor().path(X, y, lams)
    assert path.lams.tolist() == sorted(lams, reverse=True) and len(path) == 3
    assert (np.diff(path.losses) <= 1e-6).all() and (np.diff(path.seminorms) >= -1e-6).all()
    for lam, certificate, function in zip(path.lams, path.certificates, path.functions, strict=True):
        alone = DCRegressor(lam=lam).fit(X, y)
        assert certificate.gap <= 1e-4
        assert certificate.upper == pytest.approx(alone.certificate_.upper, rel=2e-4)
        assert np.allclose(function(X), alone.function_(X), atol=0.02)
    objective = path.losses + path.lams * path.seminorms
    assert np.allclose(objective, [c.upper for c in path.certificates])
    assert path.pieces(X).shape == (3, 2)
    with pytest.raises(ValueError, match="lams"):
        DCRegressor().path(X, y, [0.1, -1.0])


def test_grid_grows_at_both_ends(monkeypatch):
    rows = Rows(np.linspace(0, 1, 12)[:, None], np.zeros(12), np.ones(12))

    def fake(recipe, rows, left_out, turn, lams, limits, start=None):
        constants = [PLDC.affine([0.0], lam) for lam in lams]
        return [rough(f, rows, f(left_out), np.zeros((1, 1))) for f in constants]

    monkeypatch.setattr(search, "fit_path", fake)
    splits = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    for best in (3e-3 / 4, 8.0):

        def score(prediction, rows, best=best):
            return -abs(np.log(prediction[0] / best))

        found = Search(None, rows, splits, score, jobs=1).run(1.0)
        assert abs(np.log2(found[0].lam / best)) <= 0.5 and len(found[0].lams) > 10
        assert (np.diff(found[0].lams) < 0).all()
    tied = Search(None, rows, splits, lambda prediction, rows: 0.0, jobs=1).run(1.0)
    assert tied[0].lam == tied[0].lams[0]  # ties go to the larger one
    assert geometric_grid(1.0) == [2.0**e for e in range(1, -9, -1)]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"lam": "magic"}, "lam must be"),
        ({"geometry": "round"}, "geometry"),
        ({"combine": "sum"}, "combine"),
        ({"max_rounds": -1}, "max_rounds"),
        ({"cv": 1}, "cv"),
        ({"lam": "srm", "M": -1.0}, "M must be"),
    ],
)
def test_bad_settings(settings, match):
    with pytest.raises(ValueError, match=match):
        DCRegressor(**settings).fit(*table(12))


def test_interrupted_search_leaves_no_half_of_a_model(monkeypatch):
    X, y = table(20)
    model = DCRegressor(n_jobs=1).fit(X, y)

    def interrupt(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.select.rough.coarse_path", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "function_") and not hasattr(model, "cv_results_")


def test_progress_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pldc"):
        DCRegressor(verbose=1, n_jobs=1, max_rounds=1, tol=1e-2).fit(*table(16))
    assert any("cross-validation, round 1" in r.message for r in caplog.records)


def test_two_processes_and_a_local_dask_cluster_agree_with_one():
    distributed = pytest.importorskip("distributed")

    X, y = table(24)
    settings = {"max_rounds": 1, "tol": 1e-3}
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


def test_folds_count_the_rows_as_given_and_weight_zero_counts_for_none():
    X, y = table(24, seed=8)
    weight = np.r_[np.zeros(6), np.ones(18)]
    folds = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    without = [(np.arange(6), np.arange(6, 18)), (np.arange(6, 18), np.arange(6))]
    settings = {"geometry": "axes", "n_jobs": 1, "tol": 1e-3}
    zero = DCRegressor(cv=folds, **settings).fit(X, y, sample_weight=weight)
    absent = DCRegressor(cv=without, **settings).fit(X[6:], y[6:])
    assert np.allclose(zero.cv_results_["split0_test_score"], absent.cv_results_["split0_test_score"])
    groups = np.repeat(np.arange(4), 6)
    zero = DCRegressor(cv=3, **settings).fit(X, y, sample_weight=weight, groups=groups)
    assert zero.lam_ > 0


def test_groups_stay_together(monkeypatch):
    X, y = table(24)
    groups = np.tile(np.arange(6), 4)
    seen = []
    original = Search.__init__

    def spy(self, recipe, rows, splits, *args, **settings):
        seen.append((rows, splits))
        original(self, recipe, rows, splits, *args, **settings)

    monkeypatch.setattr(Search, "__init__", spy)
    DCRegressor(cv=3, max_rounds=0, n_jobs=1, tol=1e-2).fit(X, y, groups=groups)
    rows, splits = seen[0]
    assert np.array_equal(rows.X, X) and len(splits) == 3
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_huber_loss_is_scored_in_the_units_of_the_program():
    X, y = table(30)
    settings = {"loss": "huber", "huber_delta": 0.3, "geometry": "axes", "n_jobs": 1, "tol": 1e-3}
    lams = [DCRegressor(**settings).fit(X, c * y).lam_ for c in (1e-3, 1.0, 1e3)]
    assert np.allclose(lams, lams[1], rtol=1e-6)


def test_a_round_cut_short_does_not_spoil_a_finished_one(monkeypatch):
    X, y = table()
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1))
    assert len(DCRegressor(n_jobs=1, max_rounds=1).fit(X, y).rounds_) == 2
    seen = []

    def stop(row):
        seen.append(row["iteration"])
        return seen.count(0) == 2

    cut = DCRegressor(n_jobs=1, max_rounds=1).fit(X, y, monitor=stop)
    assert len(cut.rounds_) == 1 and cut.rounds_[0].certificate.gap <= 1e-4


def test_scores_that_are_no_numbers_and_folds_that_are_none():
    X, y = table(12)
    with pytest.raises(ValueError, match="is a number"):
        DCRegressor(scoring=lambda model, X, y: np.nan, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="yields no fold"):
        DCRegressor(cv=[], n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="one group"):
        DCRegressor(n_jobs=1).fit(X, y, groups=np.zeros(12))


def test_a_scorer_without_weights_sees_repeated_rows():
    X, y = table(16)
    X, y = np.vstack([X, X[:2]]), np.append(y, y[:2])
    model = DCRegressor(scoring=lambda m, X, y: -np.abs(m.predict(X) - y).mean(), max_rounds=0, n_jobs=1, tol=1e-2)
    assert model.fit(X, y).lam_ > 0


def test_learned_geometry_follows_the_units_without_standardisation():
    X, y = table(40)
    settings = {"geometry": "learned", "standardize": False, "max_rounds": 1}
    small = DCRegressor(lam=0.02, **settings).fit(X, y)
    large = DCRegressor(lam=20.0, **settings).fit(1e3 * X, y)
    assert np.allclose(small.predict(X), large.predict(1e3 * X), atol=1e-2)


def test_ctrl_c_on_a_path_is_not_swallowed(monkeypatch):
    def interrupt(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.solve.exact.descend", interrupt)
    with pytest.raises(KeyboardInterrupt):
        DCRegressor().path(*table(20), [0.1, 0.01])


def test_every_fold_has_its_own_coordinates_and_range(monkeypatch):
    X, y = table(20)
    rows = Rows(X, y, np.ones(20))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    seen = []

    def fake(recipe, rows, left_out, turn, lams, limits, start=None):
        seen.append((len(rows.y), turn, limits))
        outer = np.diag([1.0, 1.0 + rows.y.sum() ** 2])  # tells the rows apart
        zero = PLDC.affine(np.zeros(2))
        return [rough(zero, rows, np.zeros(len(left_out)), outer) for _ in lams]

    monkeypatch.setattr(search, "fit_path", fake)
    splits = [(np.arange(8), np.arange(8, 20)), (np.arange(8, 20), np.arange(8))]
    Search(recipe, rows, splits, lambda prediction, test: 0.0, jobs=1).run(1.0, [search.Step(recipe, "turn")])
    last = seen[-2:]  # the folds of the second round
    for (train, _), (count, geometry, limits) in zip(splits, last, strict=True):
        mine = rows.take(train)
        outer = np.diag([1.0, 1.0 + mine.y.sum() ** 2])
        assert count == len(train) and limits == (mine.y.min(), mine.y.max())
        Z = recipe.units(mine).scale_X(mine.X)
        assert np.allclose(geometry.turn, search.learned_turn(recipe, Z, mine.weight, outer))
    assert not np.allclose(last[0][1].turn, last[1][1].turn)


def test_every_fold_has_its_own_warp():
    X, y = steep(24)
    rows = Rows(X, y, np.ones(24))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    splits = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    found = Search(recipe, rows, splits, lambda prediction, test: 0.0, jobs=1)
    zero = PLDC.affine(np.zeros(2))
    fits = [rough(zero, train, np.zeros(12), np.diag([4.0, 1.0])) for train in found.train]
    assert found._learn(search.Step(recipe, "warp"), fits)
    for train, geometry in zip(found.train, found.geometries, strict=True):
        first, second = geometry.warp.stretches
        assert np.allclose(first / second[0], np.sqrt((1.6 + 0.01) / (0.4 + 0.01)))  # √ of 4 and 1 over their mean
        Z = Units.of(*train).scale_X(train.X)
        assert all(np.isin(np.round(k, 9), np.round(z, 9)).all() for k, z in zip(geometry.warp.knots, Z.T, strict=True))
    whole = Units.of(*rows).scale_X(X)
    assert len(found.geometry.warp.knots[1]) == len(np.unique(X[:, 1]))  # one knot a level, whatever rounding did
    assert np.allclose(found.geometry.warp.knots[1], np.unique(whole[:, 1]))


def test_lam_of_a_later_round_keeps_its_share_of_the_objective():
    X, y = table(20)
    rows = Rows(X, y, np.ones(20))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    found = Search(recipe, rows, [(np.arange(20), np.arange(20))], lambda prediction, test: 0.0, jobs=1)
    fit = rough(PLDC.affine(np.zeros(2)), rows, np.zeros(20), np.eye(2))._replace(
        slopes=np.ones((2, 20, 2)), seminorm=4.0
    )
    found.rounds = [search.Round(0.3, None, None, None, [], [], search.AXES, recipe)]
    found.geometries = [search.Geometry(turn=np.diag([2.0, 2.0]))]  # half the slopes, half the seminorm
    lams = found._lams(search.Step(recipe, "turn"), [fit], (4, 2))
    assert np.allclose(lams, 0.6 * 2.0 ** np.arange(4, -3, -1))


def test_random_state_draws_other_halves():
    X, y = table(30)
    lams = [DCRegressor(lam="srm", random_state=seed).fit(X, y).lam_ for seed in (None, 0, 1)]
    assert lams[0] == lams[1] != lams[2]


def test_the_weight_of_the_theory_and_the_bound_do_not_depend_on_the_order_of_rows():
    X, y = table(60)
    X[1], y[1] = X[0], y[0]  # equal rows too
    order = np.random.default_rng(0).permutation(len(y))
    one, other = (DCRegressor(lam="srm").fit(X[at], y[at]) for at in (np.arange(len(y)), order))
    assert other.lam_ == pytest.approx(one.lam_, rel=1e-9)
    assert other.generalization_bound().total == pytest.approx(one.generalization_bound().total, rel=1e-6)


def test_a_round_with_a_free_linear_term_is_tried_unless_told_otherwise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    truth = X @ [3.0, -2.0, 1.0, 0.5]
    y = truth + 0.5 * rng.standard_normal(50)
    tried, penalized, free = (DCRegressor(linear=linear, tol=1e-3).fit(X, y) for linear in (None, "penalized", "free"))
    assert any(r.linear for r in tried.rounds_)
    assert not any(r.linear for r in penalized.rounds_) and all(r.linear for r in free.rounds_)
    assert tried.cv_results_["param_round"].max() == penalized.cv_results_["param_round"].max() + 1
    error = [float(np.mean((model.predict(X) - truth) ** 2)) for model in (tried, penalized)]
    assert error[0] < error[1]
    along = DCRegressor(geometry="axes", tol=1e-3).fit(X, y)
    assert not along.rounds_[0].linear and along.cv_results_["param_round"].max() == 0


def test_rounds_solved_by_other_processes_are_the_same():
    X, y = table(50)
    alone, together = (DCRegressor(n_jobs=n_jobs, tol=1e-3).fit(X, y) for n_jobs in (1, 2))
    assert len(alone.rounds_) == len(together.rounds_) > 1
    np.testing.assert_allclose(together.predict(X), alone.predict(X), atol=1e-6)
    assert [r.certificate.gap for r in together.rounds_] == pytest.approx([r.certificate.gap for r in alone.rounds_])


def test_an_interrupt_while_other_processes_solve_keeps_what_is_done(monkeypatch):
    def one_done(**settings):
        def wait(tasks):
            function, arguments, names = next(iter(tasks))
            yield function(*arguments, **names)
            raise KeyboardInterrupt

        return wait

    X, y = table(50)
    monkeypatch.setattr("pldc.select.rounds.Parallel", one_done)
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1, 2))
    model = DCRegressor(n_jobs=2, tol=1e-3)
    with pytest.raises(KeyboardInterrupt, match="the model is usable"):
        model.fit(X, y)
    assert len(model.rounds_) == 2 and all(r.certificate.gap <= 1.01e-3 for r in model.rounds_)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_rounds_are_solved_under_any_backend(backend, monkeypatch):
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1))
    X, y = table(30)
    settings = {"tol": 1e-2, "max_rounds": 1}
    expected = DCRegressor(n_jobs=1, **settings).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        found = DCRegressor(**settings).fit(X, y)
        fewer = DCRegressor(n_jobs=2, **settings).fit(X, y)
    assert len(expected.rounds_) == 2
    for model in (found, fewer):
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-6)


def test_what_the_folds_promise_is_what_the_accurate_fit_keeps():
    X, y = make_regression(100, 10, n_informative=1, noise=20, random_state=42)
    model = DCRegressor(tol=1e-3, max_rounds=2).fit(X, y)
    promised = 1.0 + model.cv_results_["mean_test_score"].max()  # the score is minus the error in units of the variance
    assert promised > 0.3 and model.score(X, y) > promised


def test_a_rough_fit_that_has_not_arrived_counts_as_its_best_multiple():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + 0.45 * rng.normal(size=60)
    recipe = DCRegressor(lam=0.1, tol=0.1).fit(X, y)._recipe()
    rows = Rows(X, y, np.ones(len(y)))
    problem = recipe.problem(rows, recipe.units(rows), 50.0)
    far = PLDC.affine(np.eye(8)[0])
    values, slopes = far.plus(problem.X), np.tile(np.eye(8)[0], (60, 1))
    solution = Solution(np.array([values, 0 * values]), np.array([slopes, 0 * slopes]), np.zeros(8), None)
    assert not rough_fits.worth(problem, solution).slopes.any()
    near = replace(problem, lam=1e-3)
    assert rough_fits.worth(near, solution) is solution
