"""Functions around a centre: every question has the answer that the same function has at the origin."""

import json
import pickle

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions, random_hinged, random_pldc

from pldc.function import PLDC, Hinges, explain, from_dict
from pldc.function.class_regions import class_regions
from pldc.function.counterfactual import nearest_crossing
from pldc.function.curve import partial_dependence
from pldc.function.path import path_contributions
from pldc.function.term_sum import split_center

BY = np.array([3.0, -2.0])  # near: the same function at the origin is exact enough to compare with
FAR = np.array([2.0**50, -(2.0**48)])  # steps of 0.25 there: points that are multiples of it are exact


@pytest.fixture(params=KINDS)
def pair(request):
    """A function, and the same around a centre."""
    f = random_functions(np.random.default_rng(3))[request.param]
    return f, f.moved(BY)


def points(seed=0, n=60):
    return np.random.default_rng(seed).normal(size=(n, 2)) * 2.0


def test_far_away_nothing_is_lost(pair):
    """Values, slopes and room at exact points are those at the origin to the last bit."""
    f, _ = pair
    X = np.round(points() * 4) / 4
    g = f.moved(FAR)
    np.testing.assert_array_equal(g(X + FAR), f(X))
    np.testing.assert_array_equal(g.gradient(X + FAR), f.gradient(X))
    np.testing.assert_array_equal(g.room(X + FAR, [1.0, 2.0]), f.room(X, [1.0, 2.0]))
    np.testing.assert_array_equal(g.regions(X + FAR).of_row, f.regions(X).of_row)
    plain = explain(g, X + FAR, FAR, unit=np.ones(2))
    near = explain(f, X, np.zeros(2), unit=np.ones(2))
    np.testing.assert_allclose(plain.intercept + plain.contributions.sum(axis=1), f(X), rtol=1e-13)
    np.testing.assert_allclose(plain.intercept[~near.averaged], near.intercept[~near.averaged], rtol=1e-9)
    at_origin = PLDC.total([g]).terms[0]  # what is asked for at the origin rounds
    assert g.center == tuple(FAR) and at_origin.plus.offsets.max() > 1e14


def test_terms_and_slopes_are_those_of_x(pair):
    f, g = pair
    X = points()
    np.testing.assert_allclose(g(X), f(X - BY))
    np.testing.assert_allclose(sum(term(X) for term in g.terms), g(X), atol=1e-12)
    np.testing.assert_allclose(g.gradient(X), f.gradient(X - BY))
    local = g.local(X)
    np.testing.assert_allclose((local.slope * X).sum(axis=1) + local.intercept, g(X), atol=1e-12)
    assert np.isnan(g([[np.nan, 0.0]])).all() and np.isnan(g.gradient([[np.inf, 0.0]])).all()
    assert g.n_pieces == f.n_pieces and g.n_features == 2 and g.seminorm_bound() == f.seminorm_bound()


def test_arithmetic(pair):
    """A centre on either side, on both, or on none."""
    f, g = pair
    h, X = random_pldc(np.random.default_rng(8), 3, 2, 2), points()
    for one, other in ((g, h), (h, g), (g, h.moved([1.0, 1.0])), (f, h.moved([-1.0, 5.0]))):
        np.testing.assert_allclose((one + other)(X), one(X) + other(X), atol=1e-12)
        np.testing.assert_allclose((one - other)(X), one(X) - other(X), atol=1e-12)
        np.testing.assert_allclose(PLDC.mean([one, other])(X), (one(X) + other(X)) / 2, atol=1e-12)
    np.testing.assert_allclose((3.0 - 2.0 * g)(X), 3.0 - 2.0 * g(X), atol=1e-12)
    assert (g + 1.0).center == g.center == tuple(BY)
    for total in ((g + h), (h + g)):
        assert total.center == tuple(BY)
    if g.is_plain:
        np.testing.assert_allclose(g.maximum(h)(X), np.maximum(g(X), h(X)), atol=1e-12)
        np.testing.assert_allclose(h.minimum(g)(X), np.minimum(g(X), h(X)), atol=1e-12)
        np.testing.assert_allclose(abs(g)(X), np.abs(g(X)), atol=1e-12)
        np.testing.assert_allclose(g.maximum(0.5)(X), np.maximum(g(X), 0.5), atol=1e-12)
        assert (g + g).center == g.center and (g + g).is_plain
    with pytest.raises(ValueError, match="2 and 3 variables"):
        g + PLDC.affine(np.ones(3))


def test_moved_and_composed(pair):
    f, g = pair
    X = points()
    assert g.moved(-BY) == f and g.moved(-BY).center is None
    np.testing.assert_allclose(g.moved([1.0, 1.0])(X), f(X - BY - 1.0), atol=1e-12)
    stretch, step = np.diag([2.0, 0.5]), np.array([1.0, -1.0])
    np.testing.assert_allclose(g.compose(stretch, step)(X), g(X @ stretch + step), atol=1e-12)
    np.testing.assert_allclose(g.compose(stretch)(X), g(X @ stretch), atol=1e-12)
    for wrong, message in (([1.0], "2 numbers"), ([np.nan, 0.0], "finite"), ([[1.0, 2.0]], "dimension")):
        with pytest.raises(ValueError, match=message):
            f.moved(wrong)


def test_pruned(pair):
    f, g = pair
    X = points()
    few = g.prune(X + BY, tol=1e-2)
    assert few.n_pieces == f.prune(X, tol=1e-2).n_pieces and few.center == g.center
    np.testing.assert_allclose(g.drop_dominated()(X), g(X), atol=1e-12)
    np.testing.assert_allclose(g.prune()(X), g(X), atol=1e-9)


def test_optima_and_slopes_over_polytopes():
    f = random_pldc(np.random.default_rng(3), 5, 4, 2)
    g, box, over = f.moved(BY), [(-1, 2), (0, 3)], {"A_ub": [[1.0, 1.0]], "b_ub": [2.0]}
    there = [(low + c, high + c) for (low, high), c in zip(box, BY, strict=True)]
    low, high = f.minimize(box, **over), f.maximize(box)
    found = g.minimize(there, A_ub=over["A_ub"], b_ub=[2.0 + BY.sum()])
    assert found.fun == pytest.approx(low.fun) and found.pieces == low.pieces
    np.testing.assert_allclose(found.x, low.x + BY, atol=1e-9)
    assert g(found.x[None])[0] == found.fun
    assert g.maximize(there).fun == pytest.approx(high.fun)
    assert g.minimize(there, A_eq=[[1.0, 0.0]], b_eq=[4.0]).fun == pytest.approx(
        f.minimize(box, A_eq=[[1.0, 0.0]], b_eq=[1.0]).fun
    )
    assert g.minimize([(0, 0), (5, 6)], A_eq=[[1.0, 0.0]], b_eq=[4.0]).status == "infeasible"
    assert g.lipschitz(box=there) == pytest.approx(f.lipschitz(box=box))
    assert g.lipschitz() == pytest.approx(f.lipschitz())
    for feature in (0, 1):
        assert g.is_monotone(feature, there) == f.is_monotone(feature, box)
    assert g.bounds_on(there) == pytest.approx(f.bounds_on(box))


def test_hinges_over_boxes():
    rng = np.random.default_rng(4)
    f = random_hinged(rng, 3, 2, Hinges([np.sort(rng.normal(size=4)), []]))
    g = f.moved(BY)
    assert g.bounds_on([(2, 4), (-3, -1)]) == pytest.approx(f.bounds_on([(-1, 1), (-1, 1)]))
    ramp = PLDC(PLDC.affine([0.0, 1.0]).plus, PLDC.affine([0.0, 0.0]).minus, Hinges([[0.0, 1.0]]))
    for box in (None, [(9.0, 12.0)], [(10.0, 10.5)]):
        assert ramp.moved([10.0]).is_monotone(0, box)
    falling = (-ramp).moved([10.0])
    assert not falling.is_monotone(0, [(9.0, 12.0)]) and falling.is_monotone(0, [(12.0, 13.0)])


@pytest.mark.parametrize("compact", [False, True])
def test_networks_take_the_centre_away_first(pair, compact):
    """Exactly, far away, too: relu(x − c) − relu(c − x); knots must be numbers there, as those of rows are."""
    terms = pair[0].terms
    bent = [t for t in terms if t.hinges is not None]
    lattice = Hinges([np.arange(len(k)) - 1.25 for k in bent[0].hinges.knots]) if bent else None
    f = PLDC.total([PLDC(t.plus, t.minus, None if t.hinges is None else lattice) for t in terms])
    X = np.round(points() * 4) / 4
    h = X + FAR
    layers = f.moved(FAR).to_relu(compact)
    for weight, bias in layers[:-1]:
        h = np.maximum(h @ weight.T + bias, 0.0)
    np.testing.assert_allclose((h @ layers[-1][0].T + layers[-1][1])[:, 0], f(X), atol=1e-11)


def test_records_and_copies(pair):
    f, g = pair
    record = json.loads(json.dumps(g.to_dict()))
    assert (record["pldc"], record["center"]) == (3, BY.tolist()) and f.to_dict()["pldc"] == 2
    assert from_dict(record) == g == pickle.loads(pickle.dumps(g)) and hash(from_dict(record)) == hash(g)
    assert g != f and from_dict(f.to_dict()) == f
    assert from_dict(record | {"center": [0, 0]}) == f
    for center, message in (
        ([1.0], "2 numbers"),
        ([1.0, "a"], "list of numbers"),
        (None, "list of numbers"),
        ([1.0, float("nan")], "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            from_dict(record | {"center": center})
    with pytest.raises(ValueError, match="no entry 'center'"):
        from_dict({"pldc": 3, "terms": record["terms"]})


def test_only_what_is_far_needs_a_centre():
    near, away = split_center(np.array([5.0, 1e6, -1e6]), np.array([1.0, 1.0, 1e5]))
    np.testing.assert_array_equal([near, away], [[5.0, 0.0, -1e6], [0.0, 1e6, 0.0]])


TERA = np.array([1e12, -1e12])


def near_and_far(kind, seed):
    """A function, the same one far from the origin, and rows that are exact at both places."""
    rng = np.random.default_rng(seed)
    f = random_functions(rng, 2)[kind]
    return f, f.moved(TERA), np.round(rng.normal(size=(12, 2)) * 64) / 64


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_paths_curves_and_regions_far_away_are_those_at_the_origin(kind, seed):
    f, far, rows = near_and_far(kind, seed)
    found = path_contributions(far, rows[:6] + TERA, rows[6:] + TERA)
    np.testing.assert_allclose(found, path_contributions(f, rows[:6], rows[6:]), rtol=0, atol=1e-12)
    curve, at_home = (
        partial_dependence(g, 0, rows + o, -3.0 + o[0], 3.0 + o[0]) for g, o in ((far, TERA), (f, 0 * TERA))
    )
    x = np.linspace(-3, 3, 49)
    np.testing.assert_allclose(curve(x + TERA[0]), at_home(x), rtol=0, atol=1e-2)  # kinks round to steps of 1e-4
    assert (np.diff(curve.x) > 0).all() and np.isfinite(curve.slopes).all() and abs(len(curve) - len(at_home)) < 3
    here, there = f.regions(rows), far.regions(rows + TERA)
    np.testing.assert_array_equal(there.of_row, here.of_row)
    np.testing.assert_allclose(there.value, f(there.typical - TERA), rtol=0, atol=1e-12)
    both = [class_regions([g, -g], rows + o, np.array(["a", "b"])) for g, o in ((f, 0 * TERA), (far, TERA))]
    np.testing.assert_array_equal(both[1].regions.of_row, both[0].regions.of_row)
    margin = 2 * np.abs(f(both[1].regions.typical - TERA))
    np.testing.assert_allclose(both[1].regions.value, margin, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_counterfactuals_far_away_are_those_at_the_origin(kind, seed):
    f, far, rows = near_and_far(kind, seed)
    box, cost = np.tile([-3.0, 3.0], (2, 1)), np.ones(2)
    threshold = float(np.quantile(f(np.random.default_rng(seed).uniform(-3, 3, (500, 2))), 0.2 + 0.2 * seed))
    near = nearest_crossing(f, rows[0], threshold, cost, box)
    found = nearest_crossing(far, rows[0] + TERA, threshold, cost, box + TERA[:, None])
    assert found.cost == pytest.approx(near.cost, abs=2e-3)  # numbers are 1.2e-4 apart there
    side = np.sign(threshold - f(rows[:1])[0])
    assert side * (far(found.point[None])[0] - threshold) >= 0
