"""The program of the spine: which λ, which rows, and what is read from a solution."""

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import slanted

from pldc import Auto
from pldc.fit import Settings, fit
from pldc.fit.program import choose_lam, folds_of, solve_path
from pldc.problem import make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows
from pldc.select.folds import distinct
from pldc.select.lam import rate, theory_lam
from pldc.solve.choose import make_solver

X, Y = slanted(30)
ROWS = Rows(X, Y, np.ones(30))


def settings_of(loss="squared", d=2, **settings):
    recipe = Recipe(make_loss(loss), make_penalty("componentwise"), "dc", np.zeros(d, dtype=int), False, True)
    return Settings(recipe, **({"n_pieces": "rows", "threads": 1, "jobs": 1, "solver": Auto(tol=1e-3)} | settings))


def solver_for(problem):
    return make_solver(Auto(tol=1e-3), problem)


def silent(row):
    pass


def test_a_number_is_taken_and_the_theory_asked():
    assert choose_lam(ROWS, ROWS, settings_of(lam=0.3), solver_for) == (0.3, None)
    srm = settings_of(lam="srm", seed=3)
    assert choose_lam(ROWS, ROWS, srm, solver_for) == (theory_lam(srm.recipe, ROWS, None, 3), None)


def test_a_share_of_the_rows_is_looked_at_and_lam_carried_over_to_all():
    lam, search = choose_lam(ROWS, ROWS, settings_of(lam="cv", folds=3, max_rows=15), solver_for)
    assert len(search.rows.y) == 15 and len(search.splits) == 3
    assert lam == pytest.approx(rate(0.5, 2) * search.lam)
    whole, all_of_them = choose_lam(ROWS, ROWS, settings_of(lam="cv", folds=3), solver_for)
    assert len(all_of_them.rows.y) == 30 and whole == all_of_them.lam


def test_a_known_lam_of_classes_is_carried_to_a_share_of_the_rows():
    labels = ROWS._replace(y=(np.median(Y) < Y).astype(float))
    plain = settings_of("hinge", lam=0.1, folds=3, max_rows=15)
    lam, search = choose_lam(labels, labels, replace(plain, recipe=replace(plain.recipe, outputs=2)), solver_for)
    assert lam == 0.1 and len(search.rows.y) == 15
    assert rate(0.5, 2) * search.lam == pytest.approx(0.1)


def test_folds_of_ones_own_keep_their_places():
    folds = [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]
    rows, splits, share = folds_of(distinct(ROWS)[0], ROWS, settings_of(folds=folds))
    assert np.array_equal(rows.X, ROWS.X) and share == 1.0
    assert all(
        np.array_equal(a, b)
        for found, fold in zip(splits, folds, strict=True)
        for a, b in zip(found, fold, strict=True)
    )


def test_few_rows_have_no_folds():
    three = ROWS.take(np.array([0, 1, 2, 1]))
    lam, search = choose_lam(three, three, settings_of(lam="cv"), solver_for)
    assert lam > 0 and search is None


def test_what_the_folds_promise_is_what_the_accurate_fit_keeps():
    X, y = slanted(100, 5)
    model = fit(Rows(X, y, np.ones(100)), settings_of(lam="cv", d=5)).model
    promised = 1.0 + model.cv_score  # the score is minus the error in units of the variance
    assert promised > 0.3 and 1.0 - np.mean((model.predict(X) - y) ** 2) / y.var() > promised
    new, truth = slanted(1000, 5, seed=1)
    assert 1.0 - np.mean((model.predict(new) - truth) ** 2) / truth.var() > promised - 0.15


def test_every_iteration_is_logged_and_told():
    logged, told = [], []
    found = fit(ROWS, settings_of(lam=0.05, verbose=0), told.append).model
    assert len(told) == found.n_iter and {"iteration", "gap", "upper", "lower", "seconds"} <= set(told[0])
    solve_path(ROWS, settings_of(), np.array([0.1, 0.05]), logged.append)
    assert len(logged) >= 2


def test_what_cannot_be_solved_is_refused_before_the_folds(monkeypatch):
    def never(*arguments, **settings):
        raise AssertionError("cross-validated")

    monkeypatch.setattr("pldc.fit.program.choose_lam", never)
    labels = replace(settings_of("log", lam="cv", solver="exact"), recipe=replace(settings_of("log").recipe, outputs=2))
    with pytest.raises(ValueError, match="The log loss has no form that solver='exact' can use"):
        fit(ROWS._replace(y=(Y > 1).astype(float)), labels)


def test_a_path_is_one_of_certified_solutions():
    lams = np.array([0.2, 0.05, 0.01])
    path = solve_path(ROWS, settings_of(), lams, silent)
    assert len(path) == 3 and max(c.gap for c in path.certificates) <= 1e-3
    np.testing.assert_allclose([c.upper for c in path.certificates], path.losses + path.lams * path.seminorms)
    for lam, function, certificate in zip(lams, path.functions, path.certificates, strict=True):
        alone = fit(ROWS, settings_of(lam=lam)).model
        assert alone.program.certificate.lower <= certificate.upper
        assert certificate.lower <= alone.program.certificate.upper
        np.testing.assert_allclose(function(X), alone.function(X), atol=0.1)
