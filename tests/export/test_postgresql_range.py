"""Numbers so large or small that PostgreSQL calls their products errors: no row is to end a query for all others."""

import numpy as np
import pytest
from tests.export.fits import fitted, of_numbers, rows

from pldc import PLDC, MaxAffine, Model
from pldc.columns.encoding import Encoding
from pldc.columns.features import Column, Level, Number, Statistic
from pldc.export.sql_range import least
from pldc.function import Hinges, Term

REAL = "DOUBLE PRECISION"
LARGE = [1e150, 1e280, 1e299, 1e307, 1.7e308, 1.7976931348623157e308]
TINY = [5e-324, 1e-310, 2.2250738585072014e-308, 1e-290, 1e-200, 1e-100]


@pytest.mark.parametrize("scale", [1e-250, 1e-20, 1.0, 1e20, 1e250])
def test_cells_beyond_all_reason_do_not_end_the_query(scale, postgresql):
    """A product that is too large or too small is an error there, and no row would have a prediction."""
    plus = MaxAffine(np.array([[1.0, 0.0], [-1.0, 1e-30]]) / scale, [0.0, 1.0])
    f = PLDC(plus, MaxAffine(np.array([[0.0, 2.0]]) / scale, [0.0]))
    cells = [0.0, *LARGE, *TINY, scale, 2.5 * scale, 1e30 * scale]
    cells += [-cell for cell in cells]
    points = np.array([(a, b) for a in cells for b in (0.0, a, -a, scale)])
    postgresql.fill("t", {"x0": REAL, "x1": REAL}, points.tolist())
    found = np.array([row[1] for row in postgresql.ask(of_numbers(f), "t")], dtype=float)
    near = np.abs(points).max(axis=1) <= 1e30 * scale
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = f(points)
    assert near.sum() > 30 and np.isnan(found).sum() >= 8
    assert (np.isfinite(found) | ~near).all()
    there = np.isfinite(found)
    np.testing.assert_allclose(found[there], wanted[there], rtol=1e-9, atol=1e-200)


@pytest.mark.parametrize("kind", ["default", "program", "quantiles", "three classes", "hinge loss"])
def test_strange_cells_take_no_prediction_from_other_rows(kind, postgresql):
    near = rows(kind)[:40].copy()
    strange = np.array([*LARGE, *TINY, np.inf])
    both = np.vstack([near, np.column_stack([np.concatenate([strange, -strange]), np.resize(near[:, 1:], (26, 2))])])
    names = [*getattr(fitted(kind), "feature_names_in_", ["x0", "x1", "x2"])]
    postgresql.fill("t", dict.fromkeys(names, REAL), both.tolist())
    found = [row[1:] for row in postgresql.ask(fitted(kind), "t")]
    postgresql.base.execute("DELETE FROM t WHERE id >= 40")
    assert [row[1:] for row in postgresql.ask(fitted(kind), "t")] == found[:40]
    assert found[52][0] is None and None not in found[0]


def answers(postgresql, model, points):
    """Return what follows the number of each row."""
    postgresql.base.execute("DROP TABLE IF EXISTS t")
    postgresql.fill("t", {f"x{k}": REAL for k in range(len(points[0]))}, points)
    return [row[1:] for row in postgresql.ask(model, "t")]


def of_slopes(plus, minus=0.0):
    plus = np.array(plus)
    return PLDC(MaxAffine(plus, np.zeros(len(plus))), MaxAffine(np.full((1, plus.shape[1]), minus), [0.0]))


@pytest.mark.parametrize("gentle", [1e-25, 1e-60, 1e-310, 5e-324])
def test_slopes_much_gentler_than_others(gentle, postgresql):
    """Where the product with the gentle slope would be zero, it is one, and the other is what it is."""
    f = of_slopes([[1.0], [gentle]])
    cells = np.array([0.0, *TINY, 1e-279, 0.25, 1.0, 1e299])
    points = np.concatenate([cells, -cells])[:, None]
    found = [row[0] for row in answers(postgresql, of_numbers(f), points.tolist())]
    np.testing.assert_allclose(found, f(points), rtol=1e-15, atol=1e-290)


@pytest.mark.parametrize("size", [1e-322, 1e-310, 1e-200, 1e-30, 1.0, 1e30])
def test_ramps_of_any_width(size, postgresql):
    """A ramp is a quotient first, and a product then."""
    hinges = Hinges([[0.0, 2.0 / max(size, 1e-300), 3.0 / max(size, 1e-300)], []])
    slopes = np.array([[0.0, 1.0, 2.0, -1.0], [1e-40, 1e-300, size, size / 7]])
    f = PLDC._of((Term(MaxAffine(slopes, [0.0, 0.5]), MaxAffine(np.zeros((1, 4)), [0.0]), hinges),))
    cells = [0.0, *TINY, 1e-20, 1.0, 1e20, 1e200, 1e299]
    points = np.array([(a, b) for a in [*cells, *(-c for c in cells), 1.6e308] for b in (0.0, 1e-200)])
    found = [row[0] for row in answers(postgresql, of_numbers(f), points.tolist())]
    np.testing.assert_allclose(found, f(points), rtol=1e-13, atol=1e-285)


@pytest.mark.parametrize("center", [1e307, -1e307, 1.7e308, -1.79e308, 1e292])
@pytest.mark.parametrize("slope", [0.0, 1e-12, 1.0])
def test_centres_beyond_all_reason(center, slope, postgresql):
    """A cell less the centre may be beyond all numbers."""
    model = of_numbers(PLDC.affine([slope]), center=[center])
    cells = [-1.79e308, 1.79e308, np.inf, -np.inf, None, center, 0.0]
    found = [row[0] for row in answers(postgresql, model, [[cell] for cell in cells])]
    assert found[0 if center > 0 else 1] is None or abs(center) < 1e307
    assert found[2:5] == [None, None, None]
    assert found[5] == pytest.approx(slope * center, rel=1e-12)


@pytest.mark.parametrize("temperature", [0.0, 1e-320, 1e-9, 1.0, 1e9, 1e300])
def test_temperatures_beyond_all_reason(temperature, postgresql):
    scores = PLDC.affine([5.0]), PLDC.affine([-5.0])
    model = of_numbers(*scores, classes=np.array([0, 1]), temperature=temperature)
    points = [[9.9e298], [-9.9e298], [1e-320], [0.0], [2e-9]]
    found = np.array([row[3:] for row in answers(postgresql, model, points)])
    lead = [float(temperature * min(10 * abs(x), 1e300 if temperature < 1 else 1e3)) for [x] in points]
    wanted = 1.0 / (1.0 + np.exp(-np.minimum(lead, 700.0)))
    np.testing.assert_allclose(found.max(axis=1), wanted, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert found[0, 0] >= found[0, 1] and found[1, 0] <= found[1, 1]


def test_cells_whose_products_are_numbers_have_a_prediction(postgresql):
    model = of_numbers(PLDC.affine([1.0, 0.0, 1e-20]))
    points = [[2.0, 1e301, 0.0], [1e-281, 0.0, 0.0], [5e-324, -1.7e308, 0.0], [0.0, 0.0, 1e306], [1e301, 0.0, 0.0]]
    assert [row[0] for row in answers(postgresql, model, points)] == [2.0, 1e-281, 5e-324, 1e286, None]


@pytest.mark.parametrize("slope", [5e-324, 1e-310])
def test_slopes_of_levels_that_are_too_gentle(slope, postgresql):
    features = Level(0, "a"), Statistic(0, (("a", 1e-20), ("b", 0.25)), 0.1, 0.0), Number(1, 0.5)
    encoding = Encoding((Column("c", "category"), Column("x", "number")), features)
    f = PLDC.affine([slope, slope, 1.0])
    model = Model("program", (f,), np.array([0.25, 0.0, 0.0]), np.ones(3), columns=encoding)
    postgresql.fill("t", {"c": "TEXT", "x": REAL}, [("a", 1.0), ("b", 2.0), (None, None), ("other", 3.0)])
    assert [row[1] for row in postgresql.ask(model, "t")] == [1.0, 2.0, 0.5, 3.0]


def test_the_least_number_whose_product_is_one():
    for slope in [5e-324, 1e-310, 3e-300, 1e-60, 0.1, 0.999, *(10.0 ** np.arange(-320.0, 0.0))]:
        assert least(slope) * slope > 0 and least(slope) * slope < 1e-320
    assert least(1.0) == least(7.0) == 0.0
