"""Counts: the loss against scikit-learn, the program against an independent model, fits against other losses."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from tests.oracle import optimum
from tests.problems import build, garbage

from pldc import Admm, Auto, DCRegressor
from pldc.problem import Problem, certify, make_penalty
from pldc.problem.losses import Poisson
from pldc.solve.choose import make_solver

SMALLEST_MEAN = 1e-2  # the deviance is infinite for a mean of zero


def counts(mean, n, seed, d=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, rng.poisson(mean(X)).astype(float)


def deviance(model, X, y):
    return mean_poisson_deviance(y, np.maximum(model.predict(X), SMALLEST_MEAN))


def test_above_the_floor_it_is_half_the_deviance():
    rng = np.random.default_rng(0)
    y, f = rng.poisson(2.0, 100).astype(float), rng.uniform(0.01, 5.0, 100)
    assert 2 * Poisson().at(f, y).mean() == pytest.approx(mean_poisson_deviance(y, f), rel=1e-12)
    assert (Poisson().at(y, y)[y > 0] == 0).all()


def test_below_the_floor_it_is_a_parabola_around_the_count():
    loss, f = Poisson(0.5), np.linspace(-3.0, 0.49, 50)
    for y in (0.0, 0.2, 2.0):
        target = np.full(50, y)
        np.testing.assert_allclose(loss.gradient(f, target), (f - y) / 0.5)
        bend = loss.at(f + 1e-3, target) - 2 * loss.at(f, target) + loss.at(f - 1e-3, target)
        np.testing.assert_allclose(bend[1:-1], 1e-6 / 0.5, rtol=1e-4)


@pytest.mark.parametrize("floor", [1e-6, 0.1, 10.0])
def test_the_best_constant_is_the_mean_whatever_the_floor(floor):
    y = np.random.default_rng(0).poisson(0.3, 200).astype(float)
    problem = Problem.from_data(
        np.arange(200.0)[:, None], y, loss=Poisson(floor), penalty=make_penalty("joint"), lam=1.0
    )
    assert problem.null_fit == pytest.approx(y.mean(), rel=1e-9)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, "a", None])
def test_floors_that_are_none(bad):
    with pytest.raises(ValueError, match="floor of Poisson must be a positive finite number"):
        Poisson(bad)


@pytest.mark.parametrize(
    "case",
    [
        {"penalty": "joint", "lam": 0.1},
        {"penalty": "componentwise", "lam": 0.02},
        {"penalty": "joint", "lam": 0.05, "shape": "convex"},
        {"penalty": "componentwise", "lam": 0.05, "linear": True},
        {"penalty": "joint", "lam": 0.05, "monotone": [1, 0]},
        {"penalty": "joint", "lam": 5.0},
    ],
    ids=str,
)
def test_the_program_is_solved_and_bracketed(case):
    X, y = counts(lambda X: 0.5 + 4 * X[:, 0] ** 2, 18, 0)
    X[4], X[5] = X[6], X[6]  # several counts at a point
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    best = optimum(X, y, loss="poisson", weight=weight, **case)
    problem = build(X, y, loss="poisson", weight=weight, **case)
    solution = Admm(tol=5e-3).solve(problem)
    found = certify(problem, solution)
    assert solution.status == "optimal" and found.gap <= 5.05e-3
    assert found.lower <= best * (1 + 1e-5) and found.upper >= best * (1 - 1e-5)
    rng = np.random.default_rng(2)
    for size in (1e-3, 1.0, 100.0):
        rough = certify(problem, garbage(problem, rng, size))
        assert rough.lower <= best * (1 + 1e-5) and rough.upper >= best * (1 - 1e-5)


def test_a_warm_start_is_a_start():
    X, y = counts(lambda X: 0.5 + 4 * X[:, 0] ** 2, 25, 0)
    problem = build(X, y, loss="poisson", lam=0.03)
    first = Admm(tol=1e-2).solve(problem)
    again = Admm(tol=1e-2).solve(problem, first)
    assert again.status == "optimal" and again.iterations < first.iterations


def test_interior_points_refuse_it_before_any_work():
    X, y = counts(lambda X: 1 + X[:, 0], 20, 0, d=1)
    problem = build(X, y, loss="poisson")
    for name in ("exact", "line"):
        with pytest.raises(ValueError, match="poisson.*solver='admm'"):
            make_solver(name, problem, tol=1e-2)
    assert isinstance(make_solver("auto", problem, tol=1e-2), Admm)
    with pytest.raises(ValueError, match="poisson.*solver='admm'"):
        DCRegressor(loss="poisson", lam=0.1, solver="exact").fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"lam": 0.1, "solver": Auto(tol=1e-2)}, {"n_pieces": 3}])
def test_negative_targets_are_refused(settings):
    X, y = counts(lambda X: 1 + X[:, 0], 20, 0)
    y[3] = -1.0
    with pytest.raises(ValueError, match="poisson loss is for y ≥ 0; the smallest y is -1"):
        DCRegressor(loss="poisson", **settings).fit(X, y)


def test_the_theorem_is_for_other_losses():
    X, y = counts(lambda X: 1 + X[:, 0], 30, 0)
    with pytest.raises(ValueError, match="f − y alone, not for the poisson loss"):
        DCRegressor(loss="poisson", lam="srm", solver=Auto(tol=1e-2)).fit(X, y)
    with pytest.raises(ValueError, match="f − y alone, not for the poisson loss"):
        DCRegressor(loss="poisson", lam=0.1, solver=Auto(tol=1e-2)).fit(X, y).generalization_bound(X, y)


def steep(X):
    """Means from a third to four hundred."""
    return np.exp(7 * X[:, 0] - 1)


def test_counts_of_all_sizes_are_fitted_better_than_by_least_squares():
    """Excess over the deviance of the true mean; of single tables either loss may have the smaller one."""
    excess = {"squared": 0.0, "poisson": 0.0}
    for seed in range(4):
        X, y = counts(steep, 100, seed)
        new, target = counts(steep, 4000, 100 + seed)
        for loss in excess:
            excess[loss] += deviance(DCRegressor(loss=loss).fit(X, y), new, target)
            excess[loss] -= mean_poisson_deviance(target, steep(new))
    assert 0 < excess["poisson"] < 0.9 * excess["squared"]


@pytest.mark.parametrize("settings", [{}, {"lam": "cv", "n_pieces": "rows", "solver": Auto(tol=5e-2)}])
def test_straight_counts_are_fitted_as_well_as_by_a_generalised_linear_model(settings):
    def mean(X):
        return 2 + 3 * X[:, 0] + 2 * X[:, 1]

    X, y = counts(mean, 300, 0)
    new, target = counts(mean, 4000, 100)
    model = DCRegressor(loss="poisson", **settings).fit(X, y)
    linear = PoissonRegressor(alpha=1e-4, max_iter=1000).fit(X, y)
    constant = mean_poisson_deviance(target, np.full(len(target), y.mean()))
    gained = constant - deviance(linear, new, target)
    assert constant - deviance(model, new, target) > 0.9 * gained > 0.1


@pytest.mark.usefixtures("quick_fits")
@pytest.mark.parametrize("settings", [{}, {"lam": 0.05, "solver": Auto(tol=1e-2)}])
def test_other_units_of_y_give_the_same_fit(settings):
    X, y = counts(lambda X: 0.5 + 4 * X[:, 0] ** 2, 60, 0)
    one, other = (DCRegressor(loss="poisson", **settings).fit(X, unit * y).predict(X) for unit in (1.0, 8.0))
    # Functions are kept in the decimals that matter, which differ from unit to unit by a millionth of the spread.
    np.testing.assert_allclose(other, 8.0 * one, rtol=0, atol=1e-6 * np.ptp(other))
