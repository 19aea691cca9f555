"""λ from the discrepancy of the rows."""

import numpy as np
import pytest
from tests.problems import slanted

from pldc.problem import make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows
from pldc.select.discrepancy import discrepancy
from pldc.select.lam import rate, scale_of_lam, theory_lam


def rows_of(n=20, unit=1.0):
    X, y = slanted(n)
    return Rows(X, unit * y, np.ones(n))


def recipe_of(loss="squared", penalty="componentwise", standardize=True):
    return Recipe(make_loss(loss), make_penalty(penalty), "dc", np.zeros(2, dtype=int), False, standardize)


def test_rate():
    assert rate(1.0, 3) == 1.0 and rate(0.5, 2) == pytest.approx(0.5 ** (1 / 3))


@pytest.mark.parametrize("penalty", ["componentwise", "joint"])
def test_the_theory_asks_for_24_M_times_the_discrepancy_of_the_standardised_rows(penalty):
    rows = rows_of()
    found = theory_lam(recipe_of(penalty=penalty), rows, 3.0, 0)
    Z = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
    halves = [discrepancy(Z, penalty=penalty, random_state=seed).value for seed in range(20)]  # of other halves
    assert found == pytest.approx(24 * 3.0 / rows.y.std() * np.mean(halves), rel=0.2)


def test_M_is_in_the_units_of_y_and_the_largest_deviation_unless_given():
    rows, recipe = rows_of(), recipe_of()
    largest = np.abs(rows.y - rows.y.mean()).max()
    plain = theory_lam(recipe, rows, None, 0)
    assert theory_lam(recipe, rows, largest, 0) == pytest.approx(plain, rel=1e-12)
    assert theory_lam(recipe, rows, 2.0 * largest, 0) == pytest.approx(2.0 * plain, rel=1e-12)
    assert theory_lam(recipe, rows_of(unit=10.0), 10.0 * largest, 0) == pytest.approx(plain, rel=1e-9)
    as_given = recipe_of(standardize=False)
    assert theory_lam(as_given, rows_of(unit=10.0), None, 0) == pytest.approx(10 * theory_lam(as_given, rows, None, 0))
    heavy = rows._replace(weight=np.where(rows.y > rows.y.mean(), 9.0, 1.0))  # the mean moves, and with it M
    assert theory_lam(recipe, heavy, None, 0) != pytest.approx(plain, rel=1e-3)


def test_a_loss_with_a_bounded_slope_has_no_use_for_M():
    rows, recipe = rows_of(), recipe_of("absolute")
    assert theory_lam(recipe, rows, 1.0, 0) == theory_lam(recipe, rows, 50.0, 0) > 0


def test_other_halves_give_another_weight_of_the_theory():
    rows, recipe = rows_of(), recipe_of()
    assert theory_lam(recipe, rows, 1.0, 0) == theory_lam(recipe, rows, 1.0, 0) != theory_lam(recipe, rows, 1.0, 1)


def test_one_row_has_no_discrepancy():
    one = rows_of().take(np.array([0]))
    assert theory_lam(recipe_of(), one, None, 0) == scale_of_lam(recipe_of(), one) == 1.0


@pytest.mark.parametrize(("loss", "power"), [("squared", 1), ("absolute", 0)])
def test_the_scale_of_a_grid_has_the_units_of_lam(loss, power):
    small, large = rows_of(), rows_of(unit=100.0)
    standard, as_given = recipe_of(loss), recipe_of(loss, standardize=False)
    assert scale_of_lam(standard, large) == pytest.approx(scale_of_lam(standard, small), rel=1e-9)
    assert scale_of_lam(as_given, large) == pytest.approx(100.0**power * scale_of_lam(as_given, small), rel=1e-9)


def test_the_scale_of_a_grid_depends_on_the_rows_and_not_on_how_they_are_given():
    rows, recipe = rows_of(60), recipe_of()
    order = np.random.default_rng(0).permutation(60)
    twice = rows.take(np.r_[order, order])
    assert scale_of_lam(recipe, twice) == pytest.approx(scale_of_lam(recipe, rows), rel=1e-9)
    assert scale_of_lam(recipe, rows_of(600)) < 0.8 * scale_of_lam(recipe, rows)
