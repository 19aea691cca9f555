"""Fewer digits and fewer numbers: the same function, to what was asked for."""

import numpy as np
import pytest
from tests.function.common import random_hinged, random_pldc

from pldc.function import PLDC, Hinges
from pldc.function.digits import decimals, gathered, in_decimals, significant

KNOTS = Hinges([np.linspace(-1, 1, 9), [0.0, 0.5]])


def test_decimals_are_the_nearest_multiples_and_short():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(200) * 10.0 ** rng.integers(-3, 6, 200)
    for unit, step in ((1e-3, 1e-3), (7.5e-3, 1e-3), (0.1, 0.1), (30.0, 10.0)):
        found = decimals(values, unit)
        assert np.abs(found - values).max() <= 0.5 * step * (1 + 1e-9)
        assert found.tolist() == [float(f"{round(v / step) * step:.6f}") for v in values.tolist()]
    assert decimals(values, np.abs(values) * 1e-300).tolist() == values.tolist()  # no such numbers
    assert decimals(values, 0.0).tolist() == values.tolist()


def test_significant_digits():
    values = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.linspace(-10, 15, 200)
    assert significant(values, 6).tolist() == [float(f"{v:.5e}") for v in values.tolist()]
    assert significant(np.array([0.0]), 6).tolist() == [0.0]
    up = significant(np.abs(values), 4, up=True)
    assert (up >= np.abs(values)).all() and (up <= 1.001 * np.abs(values)).all()
    assert significant(up, 4, up=True).tolist() == up.tolist()


@pytest.mark.parametrize("hinges", [None, KNOTS])
@pytest.mark.parametrize("by", [[0.0, 0.0], [1e9, -3e7]])
def test_values_hardly_change_and_the_text_halves(hinges, by):
    rng = np.random.default_rng(1)
    f = random_pldc(rng, 6, 5, 2) if hinges is None else random_hinged(rng, 6, 5, hinges)
    f = f.moved(by)
    X = rng.standard_normal((500, 2)) + by
    g = in_decimals(f, np.array(by), np.ones(2), 1e-6)
    change = np.abs(g(X) - f(X)).max()
    assert 0 < change <= 4e-6
    assert len(str(g.to_dict()["terms"])) < 0.7 * len(str(f.to_dict()["terms"])) and g.center == f.center
    assert g.n_pieces == f.n_pieces


def test_slopes_lose_nothing_at_a_centre_that_is_not_the_origin():
    f = PLDC.affine([np.pi], -100 * np.pi)
    g = in_decimals(f, np.array([100.0]), np.ones(1), 1e-2)
    assert g.plus.slopes.tolist() == [[3.142]]
    assert abs(g([[100.0]])[0]) <= 1e-3 and abs(g([[101.0]])[0] - np.pi) <= 2e-3


def test_single_pieces_are_gathered():
    rng = np.random.default_rng(2)
    terms = [random_hinged(rng, 1, 1, KNOTS), random_hinged(rng, 1, 1, KNOTS), random_hinged(rng, 3, 1, KNOTS)]
    terms += [random_pldc(rng, 1, 1, 2), random_pldc(rng, 2, 2, 2), random_pldc(rng, 1, 1, 2)]
    f, X = PLDC.total(terms).moved([2.0, 3.0]), rng.standard_normal((300, 2))
    g = gathered(f)
    np.testing.assert_allclose(g(X), f(X), atol=1e-12)
    assert len(g.centred) == 4 and g.n_pieces == (1 + 3 + 1 + 2, 1 + 1 + 1 + 2) and g.center == f.center
    assert sum(not term.minus.slopes.any() for term in g.centred) == 3
