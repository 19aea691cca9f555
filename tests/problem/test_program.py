import dataclasses

import numpy as np
import pytest
from tests.problems import build, garbage, random_settings, synthetic

from pldc.problem.program import neighbour_tree
from pldc.problem.scaling import normalise
from pldc.solve import Exact


def test_equal_rows_share_a_point_and_equal_observations_a_weight():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, -0.0], [1.0, 0.0]])
    problem = build(X, [3.0, 1.0, 3.0, 5.0], weight=[1, 2, 3, 4])
    np.testing.assert_array_equal(problem.X, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(problem.node, [0, 1, 1])
    np.testing.assert_array_equal(problem.y, [1, 3, 5])
    np.testing.assert_allclose(problem.weight, [0.2, 0.4, 0.4])


def test_rows_of_weight_zero_are_left_out():
    X, y = synthetic(8, 2)
    weight = np.array([1, 0, 2, 1, 1, 0, 1, 1.0])
    kept = weight > 0
    a, b = build(X, y, weight=weight), build(X[kept], y[kept], weight=weight[kept])
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_allclose(a.weight, b.weight)


def test_function_interpolates_values_of_a_feasible_solution():
    X, y = synthetic(25, 3)
    for shape in ("dc", "convex", "concave"):
        problem = build(X, y, shape=shape, linear=True)
        solution = Exact(tol=1e-5).solve(problem)
        f = problem.function(solution)
        np.testing.assert_allclose(f(problem.X), problem.fit(solution.values, solution.linear), atol=1e-10)
        pieces = {"dc": (25, 25), "convex": (25, 1), "concave": (1, 25)}
        assert f.n_pieces == pieces[shape]


def test_objective_is_loss_plus_penalty_of_the_function():
    X, y = synthetic(20, 2)
    weight = np.random.default_rng(0).uniform(0.5, 2, 20)
    problem = build(X, y, penalty="joint", lam=0.1, weight=weight)
    solution = Exact(tol=1e-6).solve(problem)
    f = problem.function(solution)
    loss = np.average((f(X) - y) ** 2, weights=weight)
    slopes = np.abs(f.plus.slopes).sum(axis=1) + np.abs(f.minus.slopes).sum(axis=1)  # same index: same point
    assert problem.objective(solution) == pytest.approx(loss + 0.1 * slopes.max(), rel=1e-9)


def test_null_fit_minimises_over_constants():
    for X, y, settings in random_settings(16):
        problem = build(X, y, **settings)
        w = settings.get("weight", np.ones(len(y)))
        grid = np.linspace(y.min(), y.max(), 4001)
        brute = min(np.average(problem.loss.at(c, y), weights=w) for c in grid)
        assert problem.null_risk <= brute + 1e-12
        assert problem.null_risk == pytest.approx(brute, abs=1e-3)


def test_spanning_tree_is_minimal():
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import cdist

    problem = build(*synthetic(40, 3))
    order, parent = problem.spanning_tree
    assert sorted(order) == list(range(40))
    position = np.argsort(order)
    assert (position[parent[order[1:]]] < position[order[1:]]).all()
    distance = cdist(problem.X, problem.X, "chebyshev")
    assert distance[order[1:], parent[order[1:]]].sum() == pytest.approx(minimum_spanning_tree(distance).sum())


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
@pytest.mark.parametrize("linear", [False, True])
def test_scaling_keeps_the_objective(loss, linear):
    X, y = synthetic(12, 2)
    problem = build(300 * X + 5, 1e-3 * y - 7, loss=loss, lam=0.3, linear=linear)
    scaled, scaling = normalise(problem)
    assert 0.1 < np.abs(scaled.X).max() < 10 and 0.1 < np.abs(scaled.y).max() < 10
    rough = dataclasses.replace(garbage(scaled, np.random.default_rng(0)))
    linear_term = rough.linear * linear
    rough = dataclasses.replace(rough, linear=linear_term)
    unit = scaling.y_size ** (1 if loss in ("absolute", "quantile") else 2)
    restored = scaling.restore(problem, rough)
    assert problem.objective(restored) == pytest.approx(unit * scaled.objective(rough), rel=1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"lam": 0.0}, "lam must be a positive"),
        ({"lam": np.nan}, "lam must be a positive"),
        ({"shape": "round"}, "shape must be one of"),
        ({"monotone": [2, 0]}, "monotone must hold"),
        ({"monotone": [1]}, "monotone must hold"),
        ({"weight": -np.ones(6)}, "weight must hold"),
        ({"weight": np.zeros(6)}, "All weights are zero"),
        ({"weight": np.ones(5)}, "weight must hold"),
    ],
)
def test_bad_problems_are_refused(change, message):
    X, y = synthetic(6, 2)
    with pytest.raises(ValueError, match=message):
        build(X, y, **change)


def test_bad_data_are_refused():
    X, y = synthetic(6, 2)
    with pytest.raises(ValueError, match="finite"):
        build(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="got shapes"):
        build(X, y[:5])


def test_tree_of_near_neighbours_spans_all_points_even_in_far_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((40, 2)) + 1e3 * k for k in range(3)])
    order, parent = neighbour_tree(X)
    assert sorted(order) == list(range(120)) and parent[order[0]] == order[0]
    place = np.argsort(order)
    assert (place[parent[order[1:]]] < place[order[1:]]).all()  # parents come first
    exact = build(X, rng.standard_normal(120)).spanning_tree
    length = [np.abs(X[o[1:]] - X[p[o[1:]]]).max(axis=1) for o, p in ((order, parent), exact)]
    assert np.sort(length[0])[:-2].sum() < 1.05 * np.sort(length[1])[:-2].sum()  # but for the two joints


def test_the_spread_that_a_robust_loss_sees_is_that_of_most_targets():
    y = np.array([0.0, 1.0, 2.0, 3.0, 100.0])
    X = np.arange(5.0)[:, None]

    def spread(loss, y=y, X=X, weight=None):
        return build(X, y, loss=loss, weight=weight).spread

    assert spread("squared") == pytest.approx(np.std(y))
    assert spread("absolute") == pytest.approx(1.4826 * 1.0)
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    twice = np.repeat(np.arange(5), weights.astype(int))
    assert spread("absolute", weight=weights) == pytest.approx(spread("absolute", y[twice], X[twice]))
    assert spread("absolute", np.array([0.0, 0.0, 0.0, 0.0, 5.0])) == pytest.approx(2.0)  # most at one value
    assert spread("absolute", np.array([0.0, 1.0, 2.0, 3.0, 9.0])) == pytest.approx(np.sqrt(10.0))  # no gross outlier
    assert spread("absolute", np.array([1.1, 1.1, 1.1, 1.1 + 2e-16, 5.0])) == pytest.approx(np.std([0, 0, 0, 0, 3.9]))
    assert spread("absolute", np.array([0.0, 1e-9, 2e-9, 3e-9, 10.0])) == pytest.approx(0.01 * 4.0)  # no less than this
    assert spread("absolute", np.full(5, 3.0)) == 0.0
