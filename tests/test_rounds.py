"""The rounds of a learned geometry: what each solves, how they are chosen, combined and solved at once."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_regression

from pldc import PLDC, DCRegressor, PLDCSum
from pldc.function import WarpedPLDC
from pldc.problem.program import Solution
from pldc.problem.recipe import Rows
from pldc.problem.units import AXES, Geometry, Units
from pldc.select import rough as rough_fits
from pldc.select import search
from pldc.select.coordinates import Coordinates, Step, learned_turn
from pldc.select.search import Search
from tests.problems import rough, slanted


@pytest.fixture(scope="module")
def fitted():
    X, y = slanted()
    return DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)


def test_learned_geometry_beats_the_axes_along_a_slanted_direction(fitted):
    X, y = slanted(300, seed=9)
    axes = DCRegressor(n_jobs=1, geometry="axes").fit(*slanted())
    assert isinstance(axes.function_, PLDC) and axes.rounds_[0].geometry == (None, None)
    assert set(axes.cv_results_["param_round"]) == {0}
    assert fitted.score(X, y) > axes.score(X, y)
    best = DCRegressor(n_jobs=1, combine="best").fit(*slanted())
    assert isinstance(best.function_, PLDC | WarpedPLDC) and len(best.rounds_) == 1
    plain = DCRegressor(n_jobs=1, geometry="directions").fit(*slanted())
    assert all(isinstance(r.function, PLDC) for r in plain.rounds_) and plain.score(X, y) > axes.score(X, y)


def test_each_round_solves_the_program_of_its_coordinates(fitted):
    X, y = slanted()
    one = next(r for r in fitted.rounds_ if r.geometry.warp is not None)
    Z = one.geometry((X - X.mean(axis=0)) / X.std(axis=0))
    again = DCRegressor(lam=one.lam, penalty=one.penalty, standardize=False, n_jobs=1).fit(Z, (y - y.mean()) / y.std())
    assert again.certificate_.upper == pytest.approx(one.certificate.upper, rel=2e-4)
    assert np.allclose(y.mean() + y.std() * again.function_(Z), one.function(X), atol=0.02 * y.std())


def test_the_round_that_predicts_best_comes_first(monkeypatch):
    scores = {(0,): -3.0, (1,): np.nan, (2,): -2.0, (0, 2): -1.0, (0, 1): np.nan, (1, 2): np.nan}
    found = Search.__new__(Search)
    found.rounds = [None] * 3
    monkeypatch.setattr(found, "mean_score", lambda chosen: scores[tuple(sorted(chosen))], raising=False)
    assert found.best_rounds(2) == (2, 0) and found.best_rounds(1) == (2,)


def test_the_attributes_are_those_of_the_first_round():
    X, y = slanted(40)
    model = DCRegressor(n_jobs=1, geometry="axes").fit(X, y)
    first = model.rounds_[0]
    model._remember(
        [first, replace(first, lam=2 * first.lam, certificate=None, seminorm=-1.0)], Rows(X, y, np.ones(40))
    )
    assert model.lam_ == first.lam and model.certificate_ is first.certificate and model.seminorm_ == first.seminorm


def test_one_feature_has_no_directions_to_learn():
    x = np.linspace(-1, 1, 20)
    model = DCRegressor(n_jobs=1, geometry="directions", linear="penalized").fit(x[:, None], np.abs(x))
    assert set(model.cv_results_["param_round"]) == {0}


def test_explanations_add_up_for_a_mean_of_rounds():
    X, y = slanted(seed=3)
    model = DCRegressor(n_jobs=1, combine="average", clip=False).fit(X, y)
    why = model.explain(X, neighbourhood=0)
    assert np.allclose(why.intercept + why.contributions.sum(axis=1), model.predict(X))
    assert np.allclose(model.function_.gradient(X), why.slopes)


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


def test_monotone_geometry_keeps_signs():
    X, y = slanted(40, seed=4)
    model = DCRegressor(monotone=[1, 0], geometry="learned", n_jobs=1, clip=False, tol=1e-3).fit(X, y)
    assert (model.function_.gradient(np.random.default_rng(0).normal(size=(200, 2)))[:, 0] >= -1e-9).all()
    for r in model.rounds_:
        turn = r.geometry.turn
        assert turn is None or np.count_nonzero(turn - np.diag(np.diag(turn))) == 0


def test_a_convex_fit_stays_convex_in_a_learned_geometry():
    X, y = slanted(40, seed=4)
    model = DCRegressor(shape="convex", geometry="learned", n_jobs=1, clip=False, tol=1e-3).fit(X, y)
    assert all(r.geometry.warp is None for r in model.rounds_)
    A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
    middle, ends = model.predict((A + B) / 2), (model.predict(A) + model.predict(B)) / 2
    assert (middle <= ends + 1e-9).all()


def test_a_warp_gives_a_steep_corner_its_own_scale():
    (X, y), (new, truth) = steep(80), steep(500, seed=1)
    scores = [
        DCRegressor(geometry=g, max_rounds=1, combine="best", n_jobs=1, tol=1e-3).fit(X, y).score(new, truth)
        for g in ("axes", "learned")
    ]
    assert 1 - scores[1] < 0.9 * (1 - scores[0])


def test_geometry_at_a_given_lam():
    X, y = slanted(40)
    model = DCRegressor(lam=0.02, geometry="learned", max_rounds=2).fit(X, y)
    assert model.lam_ == 0.02 and len(model.rounds_) == 1 and model.rounds_[0].geometry.turn.shape == (2, 2)


def test_a_round_cut_short_does_not_spoil_a_finished_one(monkeypatch):
    X, y = slanted()
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1))
    assert len(DCRegressor(n_pieces="rows", n_jobs=1, max_rounds=1).fit(X, y).rounds_) == 2
    seen = []

    def stop(row):
        seen.append(row["iteration"])
        return seen.count(0) == 2

    cut = DCRegressor(n_pieces="rows", n_jobs=1, max_rounds=1).fit(X, y, monitor=stop)
    assert len(cut.rounds_) == 1 and cut.rounds_[0].certificate.gap <= 1e-4
    assert not any(isinstance(f, PLDCSum) for f in cut._cross_fit.functions)  # intervals are those of the round kept


def test_learned_geometry_follows_the_units_without_standardisation():
    X, y = slanted(40)
    settings = {"geometry": "learned", "standardize": False, "max_rounds": 1}
    small = DCRegressor(lam=0.02, **settings).fit(X, y)
    large = DCRegressor(lam=20.0, **settings).fit(1e3 * X, y)
    assert np.allclose(small.predict(X), large.predict(1e3 * X), atol=1e-2)


def test_every_fold_has_its_own_coordinates_and_range(monkeypatch):
    X, y = slanted(20)
    rows = Rows(X, y, np.ones(20))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    seen = []

    def fake(recipe, rows, left_out, turn, lams, limits, start=None, patient=False):
        seen.append((len(rows.y), turn, limits))
        outer = np.diag([1.0, 1.0 + rows.y.sum() ** 2])  # tells the rows apart
        zero = PLDC.affine(np.zeros(2))
        return [rough(zero, rows, np.zeros(len(left_out)), outer) for _ in lams]

    monkeypatch.setattr(search, "fit_path", fake)
    splits = [(np.arange(8), np.arange(8, 20)), (np.arange(8, 20), np.arange(8))]
    Search(recipe, rows, splits, lambda prediction, test: 0.0, jobs=1).run(1.0, [Step(recipe, "turn")])
    last = seen[-2:]  # the folds of the second round
    for (train, _), (count, geometry, limits) in zip(splits, last, strict=True):
        mine = rows.take(train)
        outer = np.diag([1.0, 1.0 + mine.y.sum() ** 2])
        assert count == len(train) and limits == (mine.y.min(), mine.y.max())
        Z = recipe.units(mine).scale_X(mine.X)
        assert np.allclose(geometry.turn, learned_turn(recipe, Z, mine.weight, outer))
    assert not np.allclose(last[0][1].turn, last[1][1].turn)


def test_every_fold_has_its_own_warp():
    X, y = steep(24)
    rows = Rows(X, y, np.ones(24))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    splits = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    found = Search(recipe, rows, splits, lambda prediction, test: 0.0, jobs=1)
    zero = PLDC.affine(np.zeros(2))
    fits = [rough(zero, train, np.zeros(12), np.diag([4.0, 1.0])) for train in found.train]
    assert found._move(Step(recipe, "warp"), fits)
    for train, geometry in zip(found.train, found.coordinates.folds, strict=True):
        first, second = geometry.warp.stretches
        assert np.allclose(first / second[0], np.sqrt((1.6 + 0.01) / (0.4 + 0.01)))  # √ of 4 and 1 over their mean
        Z = Units.of(*train).scale_X(train.X)
        assert all(np.isin(np.round(k, 9), np.round(z, 9)).all() for k, z in zip(geometry.warp.knots, Z.T, strict=True))
    whole = Units.of(*rows).scale_X(X)
    knots = found.coordinates.whole.warp.knots[1]
    assert len(knots) == len(np.unique(X[:, 1]))  # one a level, whatever rounding did
    assert np.allclose(knots, np.unique(whole[:, 1]))


def test_lam_of_a_later_round_keeps_its_share_of_the_objective():
    X, y = slanted(20)
    rows = Rows(X, y, np.ones(20))
    recipe = DCRegressor(lam=0.1).fit(X, y)._recipe()
    found = Search(recipe, rows, [(np.arange(20), np.arange(20))], lambda prediction, test: 0.0, jobs=1)
    fit = rough(PLDC.affine(np.zeros(2)), rows, np.zeros(20), np.eye(2))._replace(
        slopes=np.ones((2, 20, 2)), seminorm=4.0
    )
    found.rounds = [search.Round(0.3, None, None, None, [], [], AXES, "axes", recipe)]
    halving = Geometry(turn=np.diag([2.0, 2.0]))  # half the slopes, half the seminorm
    found.coordinates = Coordinates([halving], AXES, "turn")
    lams = found._lams(Step(recipe, "turn"), [fit], (4, 2))
    assert np.allclose(lams, 0.6 * 2.0 ** np.arange(4, -3, -1))


def test_a_round_with_a_free_linear_term_is_tried_unless_told_otherwise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    truth = X @ [3.0, -2.0, 1.0, 0.5]
    y = truth + 0.5 * rng.standard_normal(50)
    tried, penalized, free = (DCRegressor(linear=linear, tol=1e-3).fit(X, y) for linear in (None, "penalized", "free"))
    assert any(r.linear for r in tried.rounds_)
    assert not any(r.linear for r in penalized.rounds_) and all(r.linear for r in free.rounds_)
    assert tried.cv_results_["param_round"].max() == penalized.cv_results_["param_round"].max() + 1
    free = tried.cv_results_["param_linear"]
    assert set(tried.cv_results_["param_round"][free]) == {tried.cv_results_["param_round"].max()}
    assert set(tried.cv_results_["param_learned"][free]) == {"axes"} and not penalized.cv_results_["param_linear"].any()
    error = [float(np.mean((model.predict(X) - truth) ** 2)) for model in (tried, penalized)]
    assert error[0] < error[1]
    along = DCRegressor(geometry="axes", tol=1e-3).fit(X, y)
    assert not along.rounds_[0].linear and along.cv_results_["param_round"].max() == 0


def test_rounds_solved_by_other_processes_are_the_same():
    X, y = slanted(50)
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

    X, y = slanted(50)
    monkeypatch.setattr("pldc.select.rounds.Parallel", one_done)
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1, 2))
    model = DCRegressor(n_jobs=2, tol=1e-3)
    with pytest.raises(KeyboardInterrupt, match="the model is usable with 2 of 3 rounds"):
        model.fit(X, y)
    assert len(model.rounds_) == 2 and all(r.certificate.gap <= 1.01e-3 for r in model.rounds_)
    assert np.isfinite(model.predict(X)).all()
    monkeypatch.undo()
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1))
    assert model.cv_score_ == pytest.approx(DCRegressor(n_jobs=2, tol=1e-3).fit(X, y).cv_score_, rel=1e-9)


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_rounds_are_solved_under_any_backend(backend, monkeypatch):
    monkeypatch.setattr(Search, "best_rounds", lambda self, most: (0, 1))
    X, y = slanted(30)
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
