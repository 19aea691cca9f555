"""Cross-validation of λ by itself: the grid, the folds, and the rough fits along it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import slanted

from pldc import PLDC, Auto, DCRegressor
from pldc.problem.program import Solution
from pldc.problem.recipe import Rows
from pldc.select import search
from pldc.select.fold_fits import Fit, best_multiple
from pldc.select.search import Search, beyond, geometric_grid

NOTHING = Solution(np.zeros((2, 1)), np.zeros((2, 1, 1)), np.zeros(1), multipliers=[])
HALVES = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
TABLE = Rows(np.linspace(0, 1, 12)[:, None], np.arange(12.0), np.ones(12))


@pytest.fixture
def constants(monkeypatch):
    """Put constants of the value λ in the place of the fits; the limits that each fold has had are returned."""
    seen = []

    def fake(recipe, rows, left_out, lams, limits, start=None, patient=False):
        seen.append((len(rows.y), limits))
        return [Fit([PLDC.affine([0.0], lam)], np.full(len(left_out), lam), 1.0, 0.0, NOTHING) for lam in lams]

    monkeypatch.setattr(search, "fit_path", fake)
    return seen


@pytest.fixture(scope="module")
def recipe():
    return DCRegressor(lam=0.1).fit(TABLE.X, TABLE.y)._recipe()


@pytest.mark.parametrize("best", [3e-3 / 4, 8.0])
def test_the_grid_grows_at_both_ends(best, constants, recipe):
    def score(prediction, rows):
        return -abs(np.log(prediction[0] / best))

    found = Search(recipe, TABLE, HALVES, score, jobs=1)
    found.run(1.0)
    assert abs(np.log2(found.lam / best)) <= 0.5 and len(found.lams) > 10
    assert (np.diff(found.lams) < 0).all() and found.scores.shape == (2, len(found.lams))
    assert found.mean_score == pytest.approx(found.scores.mean(axis=0).max()) == pytest.approx(score([found.lam], None))
    assert [values.tolist() for values in found.left_out()] == [[found.lam] * 6] * 2
    assert found.cross_fit().functions[1]([[0.3]]) == [found.lam]


def test_the_grid_ends_somewhere():
    assert geometric_grid(1.0) == [2.0**e for e in range(1, -9, -1)]
    assert beyond(1.0, [2.0, 1.0, 0.5], 1) == []
    assert beyond(1.0, [2.0, 1.0], 0) == [16.0, 8.0, 4.0] and beyond(1.0, [16.0, 8.0], 0) == []
    assert beyond(1.0, [1.0, 2.0**-8], 1) == [2.0**-9, 2.0**-10, 2.0**-11]
    assert beyond(1.0, [1.0, 2.0**-11], 1) == [2.0**-12, 2.0**-13] and beyond(1.0, [1.0, 2.0**-13], 1) == []


def test_ties_go_to_the_larger_lam(constants, recipe):
    tied = Search(recipe, TABLE, HALVES, lambda prediction, rows: 0.0, jobs=1)
    tied.run(1.0)
    assert tied.lam == tied.lams[0] == 16.0


def test_every_fold_has_its_own_range(constants, recipe):
    splits = [(np.arange(4), np.arange(4, 12)), (np.arange(4, 12), np.arange(4))]
    for clip, limits in ((True, [(0.0, 3.0), (4.0, 11.0)]), (False, [(-np.inf, np.inf)] * 2)):
        constants.clear()
        found = Search(recipe, TABLE, splits, lambda prediction, rows: 0.0, clip=clip, jobs=1)
        found.run(1.0)
        assert constants[:2] == [(4, limits[0]), (8, limits[1])] and found.cross_fit().limits == limits


def test_folds_weigh_as_much_as_the_rows_they_leave_out(constants, recipe):
    rows = TABLE._replace(weight=np.r_[np.full(6, 3.0), np.ones(6)])
    found = Search(recipe, rows, HALVES, lambda prediction, test: float(test.weight[0]), jobs=1)
    found.run(1.0)
    assert found.mean_score == pytest.approx((6 * 1.0 + 18 * 3.0) / 24)
    assert np.allclose(found.results()["mean_test_score"], found.mean_score)


def test_a_rough_fit_that_has_not_arrived_counts_as_its_best_multiple():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + 0.45 * rng.normal(size=60)
    recipe = DCRegressor(lam=0.1, solver=Auto(tol=0.1)).fit(X, y)._recipe()
    rows = Rows(X, y, np.ones(len(y)))
    problem = recipe.problem(rows, recipe.units(rows), 50.0)
    far = PLDC.affine(np.eye(8)[0])
    values, slopes = far.plus(problem.X), np.tile(np.eye(8)[0], (60, 1))
    solution = Solution(np.array([values, 0 * values]), np.array([slopes, 0 * slopes]), np.zeros(8), None)
    assert not best_multiple(problem, solution).slopes.any()
    near = replace(problem, lam=1e-3)
    assert best_multiple(near, solution) is solution


def test_what_the_folds_promise_is_what_the_accurate_fit_keeps():
    X, y = slanted(100, 5)
    model = DCRegressor(n_pieces="rows", n_jobs=1, solver=Auto(tol=0.001)).fit(X, y)
    promised = 1.0 + model.cv_score_  # the score is minus the error in units of the variance
    assert promised > 0.3 and model.score(X, y) > promised
    new, truth = slanted(1000, 5, seed=1)
    assert model.score(new, truth) > promised - 0.15


def test_groups_stay_together(monkeypatch):
    X, y = slanted(24)
    groups = np.tile(np.arange(6), 4)
    seen = []
    original = Search.__init__

    def spy(self, recipe, rows, splits, *args, **settings):
        seen.append((rows, splits))
        original(self, recipe, rows, splits, *args, **settings)

    monkeypatch.setattr(Search, "__init__", spy)
    DCRegressor(cv=3, n_jobs=1, solver=Auto(tol=1e-2)).fit(X, y, groups=groups)
    rows, splits = seen[0]
    assert np.array_equal(rows.X, X) and len(splits) == 3
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
