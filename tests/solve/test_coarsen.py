"""Near-duplicate points: merged for the solve, answered for the original problem."""

import numpy as np
import pytest
from tests.oracle import optimum
from tests.problems import DELTA, LEVEL, build, synthetic

from pldc.problem import certify
from pldc.solve import Exact
from pldc.solve.coarsen import clusters, coarsen, refine


def doubled(distance, n=12, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X, y = synthetic(n, d, seed)
    X = np.vstack([X, X + distance * rng.uniform(-1, 1, X.shape)])
    return X, np.concatenate([y, y + 0.5 * rng.standard_normal(n)])


def test_clusters_keep_their_radius_and_distant_points_apart():
    X, y = doubled(1e-7)
    problem = build(X, y)
    rep = clusters(problem, 1e-6)
    assert len(np.unique(rep)) == 12
    assert np.abs(problem.X - problem.X[rep]).max() <= 1e-6
    assert (rep[rep] == rep).all()
    assert (clusters(problem, 1e-9) == np.arange(24)).all()


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_bounds_carried_over_hold_for_the_original_problem(loss, shape):
    """Even with clusters so wide that merging them changes the problem, the carried bounds bracket its optimum."""
    X, y = doubled(0.2)
    settings = {"loss": loss, "penalty": "joint", "shape": shape, "lam": 0.1}
    problem = build(X, y, **settings)
    rep = clusters(problem, 0.4)
    coarse = coarsen(problem, rep)
    assert len(coarse.X) < len(problem.X)
    answer = Exact(tol=1e-7).solve(coarse)
    best = optimum(X, y, delta=DELTA, level=LEVEL, **settings)
    certificate = certify(problem, refine(problem, rep, coarse, answer))
    assert 0.3 * best < certificate.lower <= best * (1 + 1e-7)
    assert certificate.upper >= best * (1 - 1e-7)


@pytest.mark.parametrize("distance", [1e-5, 1e-6, 1e-7, 1e-8, 1e-10])
@pytest.mark.parametrize("penalty", ["joint", "componentwise"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_near_duplicates_reach_the_default_tolerance(distance, penalty, loss):
    problem = build(*doubled(distance), penalty=penalty, loss=loss, lam=0.01)
    solution = Exact(tol=1e-4).solve(problem)
    assert solution.status == "optimal"
    assert certify(problem, solution).gap <= 1e-4
