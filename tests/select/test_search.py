"""Cross-validation of λ by itself: the grid, the folds, and the choice, on plain rows."""

import itertools
import logging
from dataclasses import replace

import numpy as np
import pytest
from tests.problems import slanted

from pldc import PLDC, Auto
from pldc.problem import make_loss, make_penalty
from pldc.problem.program import Solution
from pldc.problem.recipe import Recipe, Rows
from pldc.select import search
from pldc.select.fold_fits import Fit, best_multiple, fit_path, iterations
from pldc.select.folds import interleaved
from pldc.select.search import Search, beyond, geometric_grid
from pldc.solve.choose import make_solver

NOTHING = Solution(np.zeros((2, 1)), np.zeros((2, 1, 1)), np.zeros(1), multipliers=[])
HALVES = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
TABLE = Rows(np.linspace(0, 1, 12)[:, None], np.arange(12.0), np.ones(12))


def recipe_of(d, loss="squared", outputs=1):
    return Recipe(make_loss(loss), make_penalty("componentwise"), "dc", np.zeros(d, dtype=int), False, True, outputs)


@pytest.fixture
def recipe():
    return recipe_of(1)


@pytest.fixture
def constants(monkeypatch):
    """Put constants of the value λ in the place of the fits; from λ = 2 on they are flat. What they saw is returned."""
    seen = []

    def fake(recipe, rows, left_out, lams, limits, start=None, patient=False, solver_for=None):
        seen.append((len(rows.y), limits, patient))
        return [
            Fit([PLDC.affine([0.0], lam)], np.full(len(left_out), lam), float(lam < 2), 0.0, NOTHING) for lam in lams
        ]

    monkeypatch.setattr(search, "fit_path", fake)
    return seen


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
    assert found.cross_fit().functions[1][0]([[0.3]]) == [found.lam]


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
        assert constants[:2] == [(4, limits[0], False), (8, limits[1], False)] and found.cross_fit().limits == limits


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
    recipe, rows = recipe_of(8), Rows(X, y, np.ones(len(y)))
    problem = recipe.problem(rows, recipe.units(rows), 50.0)
    far = PLDC.affine(np.eye(8)[0])
    values, slopes = far.plus(problem.X), np.tile(np.eye(8)[0], (60, 1))
    solution = Solution(np.array([values, 0 * values]), np.array([slopes, 0 * slopes]), np.zeros(8), None)
    assert not best_multiple(problem, solution).slopes.any()
    near = replace(problem, lam=1e-3)
    assert best_multiple(near, solution) is solution


@pytest.mark.parametrize(
    ("outputs", "cautious", "means", "chosen"),
    [
        (2, False, (-1.0, -0.97, -0.95), 1.0),  # better than the constant, and the largest of those
        (2, False, (-1.0, -1.01, -0.95), 0.5),
        (2, False, (-0.94, -0.97, -0.95), 2.0),  # the constant is best
        (2, True, (-1.0, -0.97, -0.95), 2.0),  # what was asked for
        (1, False, (-1.0, -0.97, -0.95), 2.0),  # a regression may be constant
    ],
)
def test_scores_of_classes_that_are_constant_must_be_the_best(constants, outputs, cautious, means, chosen):
    mean, spread = dict(zip((2.0, 1.0, 0.5), means, strict=True)), {1.0: 0.7, 0.5: 0.8}

    def score(prediction, rows):
        lam = prediction.flat[0]
        return mean.get(lam, -5.0) + spread.get(lam, 0.0) * (1 if rows.y[0] == 0 else -1)

    found = Search(recipe_of(1, outputs=outputs), TABLE, HALVES, score, cautious=cautious, jobs=1)
    found.run(1.0)
    assert found.lam == chosen


@pytest.mark.parametrize("apart, lam", [(0.5, 0.25), (1.5, 0.5)])
def test_caution_is_one_standard_error_of_the_best(constants, recipe, apart, lam):
    def score(prediction, rows):  # best at 1/4; a value twice as large is worse by one
        return -abs(np.log2(prediction[0] / 0.25)) + (apart if rows.y[0] == 0 else -apart)

    plain, cautious = (Search(recipe, TABLE, HALVES, score, cautious=c, jobs=1) for c in (False, True))
    plain.run(1.0)
    cautious.run(1.0)
    assert plain.lam == 0.25 and cautious.lam == lam
    assert (np.std([apart, -apart], ddof=1) / np.sqrt(2) > 1) == (lam > 0.25)


@pytest.mark.parametrize("behind, lam", [(0.24, 0.5), (0.26, 0.25)])
def test_a_quarter_of_a_standard_error_of_the_difference_is_a_tie(constants, recipe, behind, lam):
    """At 1/2 the score is behind that at 1/4 by so much, one more in a fold and one less in the other: error 1."""

    def score(prediction, rows):
        value = prediction[0]
        if value == 0.5:
            return -behind + (1.0 if rows.y[0] == 0 else -1.0)
        return 0.0 if value == 0.25 else -9.0

    found = Search(recipe, TABLE, HALVES, score, jobs=1)
    found.run(1.0)
    assert found.lam == lam


def test_no_score_at_all_is_refused_and_some_are_passed_over(constants, recipe):
    with pytest.raises(ValueError, match="No score of the cross-validation is a number"):
        Search(recipe, TABLE, HALVES, lambda prediction, rows: np.nan, jobs=1).run(1.0)
    some = Search(recipe, TABLE, HALVES, lambda p, rows: np.nan if p[0] > 0.3 else -abs(np.log2(p[0] / 0.125)), jobs=1)
    some.run(1.0)
    assert some.lam == 0.125


@pytest.mark.parametrize("patient", [False, True])
def test_patience_is_handed_to_the_fits(constants, recipe, patient):
    Search(recipe, TABLE, HALVES, lambda prediction, rows: 0.0, patient=patient, jobs=1).run(1.0)
    assert constants and all(seen[-1] is patient for seen in constants)
    assert iterations(75, 3, patient=True) == [80] * 3 > iterations(75, 3)


# ---------------------------------------------------------------- of real fits


@pytest.fixture(scope="module")
def real():
    X, y = slanted(30)
    rows = Rows(X, y, np.linspace(0.5, 2.0, 30))

    def score(prediction, test):
        return -float(np.average((prediction - test.y) ** 2, weights=test.weight))

    found = Search(recipe_of(2), rows, interleaved(30, 3), score, jobs=1)
    found.run(0.2)
    return found, score


def test_scores_are_of_the_rows_left_out(real):
    found, score = real
    at = found.lams.index(found.lam)
    folds = found.cross_fit()
    assert folds.rows is found.rows and folds.splits is found.splits
    for k, (train, test) in enumerate(found.splits):
        left_out, seen = found.rows.take(test), found.rows.y[train]
        values = np.clip(folds.functions[k][0](left_out.X), seen.min(), seen.max())
        np.testing.assert_allclose(folds.values[k], values)
        assert found.scores[k, at] == pytest.approx(score(values, left_out))
        assert folds.limits[k] == (seen.min(), seen.max())
    results = found.results()
    assert found.mean_score == results["mean_test_score"][at] < 0
    assert results["mean_test_score"].max() - 0.05 < found.mean_score and results["rank_test_score"].min() == 1
    assert (results["mean_fit_time"] > 0).all()


def test_folds_do_not_see_the_rows_they_leave_out(real):
    found, _ = real
    y = found.rows.y.copy()
    y[found.splits[0][1]] += 1e3
    values = []
    for rows in (found.rows, found.rows._replace(y=y)):
        count = itertools.count()  # the seventh λ of ten is the best, whatever the targets
        seventh = Search(found.recipe, rows, found.splits, lambda p, rows: -abs(next(count) % 10 - 6), jobs=1)  # noqa: B023
        seventh.run(0.2)
        assert seventh.lam == geometric_grid(0.2)[6]
        values.append(seventh.left_out())
    np.testing.assert_array_equal(values[0][0], values[1][0])
    assert np.ptp(values[0][0]) > 0.5 and np.abs(values[0][1] - values[1][1]).max() > 1


def test_a_path_that_goes_on_ends_where_one_that_began_there_does(real):
    """The grid grows from the last solution of the path before: nothing is fitted twice."""
    found, _ = real
    rows, test = found.train[0], found.test[0].X
    whole = fit_path(found.recipe, rows, test, [0.1, 0.05, 0.025], (-np.inf, np.inf), patient=True)
    first = fit_path(found.recipe, rows, test, [0.1], (-np.inf, np.inf), patient=True)
    start = search.shrunk(first[-1].solution, 0.5)
    rest = fit_path(found.recipe, rows, test, [0.05, 0.025], (-np.inf, np.inf), start, True)
    assert [fit.solution is None for fit in whole] == [True, True, False]
    np.testing.assert_allclose(rest[-1].prediction, whole[-1].prediction, atol=0.1 * rows.y.std())
    with pytest.raises(ValueError, match="Only the last fit"):
        search.shrunk(whole[0].solution, 0.5)


def test_equal_searches_are_equal(real):
    found, score = real
    again = Search(found.recipe, found.rows, found.splits, score, jobs=1)
    again.run(0.2)
    assert again.lam == found.lam and np.array_equal(again.scores, found.scores)


def test_folds_at_one_lam_alone_are_those_of_the_search_there(real):
    found, score = real
    one = Search(found.recipe, found.rows, found.splits, score, jobs=1)
    one.run_at(found.lam, lambda problem: make_solver(Auto(tol=1e-3), problem))
    assert one.lam == found.lam and one.lams == [found.lam] and one.scores.shape == (3, 1)
    assert one.mean_score == pytest.approx(found.mean_score, abs=0.05)  # as rough as each other, not the same
    for k, (values, test) in enumerate(zip(one.left_out(), one.test, strict=True)):
        assert one.scores[k, 0] == score(values, test)
        np.testing.assert_allclose(values, found.left_out()[k], atol=0.5 * found.rows.y.std())
    assert one.results()["param_lam"].tolist() == [found.lam]


def test_at_a_small_lam_rough_fits_are_solved(real):
    """They may be anything there; those of a larger one are near enough."""
    found, score = real
    asked = []

    def solver_for(problem):
        asked.append(problem.lam)
        return make_solver(Auto(tol=1e-3), problem)

    one = Search(found.recipe, found.rows, found.splits, score, jobs=1)
    one.run_at(1e-7, solver_for)
    assert asked == [1e-7] * 3
    for rows, fold in zip(one.train, one.cross_fit().functions, strict=True):
        assert np.abs(fold[0](rows.X) - rows.y).max() < 1e-3 * np.ptp(rows.y)  # it interpolates
    one.run_at(found.lam, solver_for)
    assert len(asked) < 6


def test_progress_is_logged(real, caplog):
    found, score = real
    quiet, loud = (
        Search(found.recipe, TABLE._replace(X=np.tile(TABLE.X, 2)), HALVES, score, jobs=1, level=level)
        for level in (logging.DEBUG, logging.INFO)
    )
    with caplog.at_level(logging.INFO, logger="pldc"):
        quiet.run(0.2)
        assert not caplog.records
        loud.run(0.2)
    told = caplog.messages[-1]  # on a busy machine there may be one that tells how long it takes
    assert told.startswith(f"cross-validation: best lam {loud.lam:.4g} of {len(loud.lams)} values, mean score ")
