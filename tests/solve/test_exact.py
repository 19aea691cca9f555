"""The accurate engine against CVXPY, against closed forms, and against itself under symmetries."""

import numpy as np
import pytest
from tests.oracle import optimum
from tests.problems import DELTA, LEVEL, LOSSES, PENALTIES, SHAPES, build, random_settings, synthetic

from pldc.problem import certify
from pldc.solve import Admm, Exact, exact
from pldc.solve.admm import AdmmIteration
from pldc.solve.interior_point import InteriorPoint
from pldc.solve.run import STATUS

CASES = list(random_settings(96, seed=11))  # four of each kind; `make attack` has 500 more


def solve(problem, tol=1e-6):
    solution = Exact(tol=tol).solve(problem)
    return solution, certify(problem, solution)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_objective_equals_the_independent_model(case):
    X, y, settings = CASES[case]
    best = optimum(X, y, delta=DELTA, level=LEVEL, **settings)
    problem = build(X, y, **settings)
    solution, certificate = solve(problem)
    assert solution.status == "optimal"
    assert certificate.gap <= 1e-6
    floor = 1e-9 * problem.null_risk  # an optimum of zero, with a free linear term and few rows
    assert certificate.upper == pytest.approx(best, rel=1e-6, abs=floor)
    assert certificate.lower <= best + 1e-7 * best + floor
    assert certificate.upper >= best - 1e-7 * best - floor
    # A few iterations of the quick engine: far from the optimum, on both sides of it.
    certificate = certify(problem, Admm(tol=1e-6, max_iter=40).solve(problem))
    assert certificate.lower <= best + 1e-7 * best + floor
    assert certificate.upper >= best - 1e-7 * best - floor


@pytest.mark.parametrize("loss, penalty, shape", [("squared", "joint", "dc"), ("absolute", "componentwise", "dc")])
def test_forty_rows_in_four_dimensions(loss, penalty, shape):
    X, y = synthetic(40, 4)
    best = optimum(X, y, loss=loss, penalty=penalty, lam=0.03, shape=shape)
    _, certificate = solve(build(X, y, loss=loss, penalty=penalty, shape=shape, lam=0.03))
    assert certificate.upper == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lam", [1e-7, 1e-4, 1e-2, 1.0, 1e3, 1e12])
def test_every_scale_of_lam(loss, lam):
    problem = build(*synthetic(30, 2), loss=loss, lam=lam)
    solution, certificate = solve(problem)
    assert solution.status == "optimal" and certificate.gap <= 1e-6
    if lam >= 1e3:
        assert certificate.upper == pytest.approx(problem.null_risk, rel=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_large_lam_with_a_free_linear_term_is_linear_regression(penalty):
    X, y = synthetic(30, 3)
    solution, _ = solve(build(X, y, penalty=penalty, lam=1e3, linear=True), tol=1e-9)
    design = np.column_stack([np.ones(30), X])
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    f = build(X, y, penalty=penalty, linear=True).function(solution)
    np.testing.assert_allclose(f(X), fitted, atol=1e-6)


TARGETS = {
    "two halves": lambda x: np.where(x > np.median(x), 1.0, -1.0),
    "mostly zero": lambda x: np.maximum(x - 0.5, 0.0),
    "mostly zero, outliers": lambda x: np.maximum(x - 0.5, 0.0) + 1e4 * (np.arange(len(x)) < 2),
    "mostly one value": lambda x: np.where(x > 0.6, 0.1, 0.7),
    "over many decades": lambda x: np.exp(40.0 * (x - 1.0)),
}


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
def test_robust_losses_of_targets_that_are_mostly_alike(loss, targets):
    """The typical size of y, where an engine begins, must not collapse to that of its rounding."""
    X = np.random.default_rng(1).uniform(-1, 1, (24, 2))
    y = TARGETS[targets](X[:, 0])
    y = y / np.std(y)
    for order, sign in ((np.arange(24), 1.0), (np.arange(24)[::-1], -1.0)):
        settings = {"loss": loss, "penalty": "joint", "lam": 0.02}
        solution, certificate = solve(build(X[order], sign * y[order], **settings), tol=1e-4)
        best = optimum(X[order], sign * y[order], delta=DELTA, level=LEVEL, **settings)
        assert solution.status == "optimal"
        assert certificate.upper == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_one_row_far_from_all_others(loss, far):
    """Rounding may stop the last steps, but not the first."""
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14, 2))
        X[-1] = far
        y = np.sin(2 * X[:, 0])
        X, y = (X - X.mean(axis=0)) / X.std(axis=0), y / y.std()
        gaps.append(solve(build(X, y, loss=loss, penalty="joint", lam=10.0 ** rng.uniform(-3, 0)), tol=1e-4)[1].gap)
    assert max(gaps) <= 1e-2 and np.mean(np.array(gaps) <= 1e-4) > 0.5


def test_the_quick_engine_is_tried_where_the_interior_point_stops(monkeypatch):
    problem = build(*synthetic(20, 2))
    monkeypatch.setattr(InteriorPoint, "step", lambda _: False)
    solution, certificate = solve(problem)
    assert solution.status == "stalled" and certificate.gap <= 1e-2
    monkeypatch.setattr(exact, "MORE_ITERATIONS", 0)
    assert solve(problem)[1].gap > 0.1


def test_the_quick_engine_in_its_place_listens_too(monkeypatch):
    problem = build(*synthetic(20, 2))
    monkeypatch.setattr(InteriorPoint, "step", lambda _: False)
    limited = Exact(tol=1e-6, max_iter=3).solve(problem)
    assert limited.status == "max_iter" and limited.iterations == 3
    stopped = Exact(tol=1e-6).solve(problem, monitor=lambda row: row["iteration"] == 2)
    assert stopped.status == "stopped" and stopped.iterations == 3


@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_is_proved_at_once(loss):
    """Also where y meets the constant, at a kink of the loss."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20 + seed, 2)), rng.normal(size=20 + seed).round(seed % 3)
        problem = build(X, y, loss=loss, lam=10.0, weight=rng.integers(1, 4, len(y)).astype(float))
        solution, certificate = solve(problem)
        assert solution.iterations == 0 and certificate.gap <= 1e-12


def test_where_both_engines_fail_the_bounds_stay(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(InteriorPoint, "step", lambda _: False)
    for name in ("step", "__init__"):
        monkeypatch.setattr(AdmmIteration, name, fail)
        solution, certificate = solve(build(*synthetic(20, 2)))
        assert solution.status == "stalled" and 0 < certificate.lower < certificate.upper < np.inf


def test_two_points_by_hand():
    # x = ±1, y = ±1, fit ±s. The bound holds at each point alone, so the rise 2s ≤ 2 (a_right − b_left) may use a = L
    # at the right point and b = −L at the left one: L = s / 2. min (s − 1)² + λ s / 2 gives s = 1 − λ / 4.
    problem = build(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lam=0.4)
    solution, certificate = solve(problem, tol=1e-9)
    np.testing.assert_allclose(problem.fit(solution.values, solution.linear), [-0.9, 0.9], atol=1e-4)
    assert certificate.upper == pytest.approx(0.1**2 + 0.4 * 0.45, rel=1e-8)
    # A convex fit has no second part to share with: L = s, s = 1 − λ / 2.
    problem = build(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lam=0.4, shape="convex")
    solution, certificate = solve(problem, tol=1e-9)
    np.testing.assert_allclose(problem.fit(solution.values, solution.linear), [-0.8, 0.8], atol=1e-4)
    assert certificate.upper == pytest.approx(0.2**2 + 0.4 * 0.8, rel=1e-8)


def test_convex_fit_of_convex_data_with_tiny_lam_interpolates():
    X = np.linspace(-1, 1, 15)[:, None]
    problem = build(X, X[:, 0] ** 2, shape="convex", lam=1e-8)
    solution, _ = solve(problem)
    np.testing.assert_allclose(problem.fit(solution.values, solution.linear), X[:, 0] ** 2, atol=1e-5)


# For the squared loss the fitted values are unique, so symmetries can be checked on them; a certified gap ε of the
# objective v bounds their weighted squared distance to the optimum by ε v (strong convexity): 1e-10 gives about 1e-5.
def fitted(X, y, **settings):
    problem = build(X, y, **settings)
    solution, _ = solve(problem, tol=1e-10)
    return problem.function(solution)(X)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("linear", [False, True])
def test_symmetries(penalty, linear):
    X, y = synthetic(25, 3)
    base = fitted(X, y, penalty=penalty, linear=linear)
    same = {"penalty": penalty, "linear": linear}
    np.testing.assert_allclose(fitted(X + [5, -2, 1], y, **same), base, atol=3e-5)
    np.testing.assert_allclose(fitted(X[:, ::-1], y, **same), base, atol=3e-5)
    np.testing.assert_allclose(fitted(X * [1, -1, 1], y, **same), base, atol=3e-5)
    np.testing.assert_allclose(fitted(X, -y, **same), -base, atol=3e-5)
    np.testing.assert_allclose(fitted(X, 3 * y, lam=3 * 0.05, **same), 3 * base, atol=1e-4)
    shuffled = np.random.default_rng(0).permutation(25)
    np.testing.assert_allclose(fitted(X[shuffled], y[shuffled], **same), base[shuffled], atol=3e-5)


def test_convex_and_concave_mirror_each_other():
    X, y = synthetic(25, 2)
    np.testing.assert_allclose(fitted(X, y, shape="convex"), -fitted(X, -y, shape="concave"), atol=3e-5)


def test_monotone_functions_are_monotone_everywhere():
    X, y = synthetic(40, 2)
    for shape in SHAPES:
        problem = build(X, y, shape=shape, monotone=[1, -1], linear=True, lam=0.01)
        solution, _ = solve(problem, tol=1e-5)
        slopes = problem.function(solution).gradient(3 * np.random.default_rng(0).standard_normal((500, 2)))
        assert (slopes[:, 0] >= -1e-9).all() and (slopes[:, 1] <= 1e-9).all()
        assert np.abs(slopes).max() > 0.1  # and not merely constant


def test_quantile_splits_the_data():
    X, y = synthetic(60, 1, noise=1.0)
    problem = build(X, y, loss="quantile", lam=0.2)  # level 0.8
    solution, _ = solve(problem)
    share = np.mean(y <= problem.function(solution)(X) + 1e-9)
    assert 0.75 <= share <= 0.9


def test_threads_do_not_change_the_answer():
    problem = build(*synthetic(130, 2))  # two blocks of points
    one, two = (Exact(tol=1e-5, threads=k).solve(problem) for k in (1, 2))
    assert problem.objective(one) == pytest.approx(problem.objective(two), rel=1e-9)


def test_a_solve_that_is_cut_short_says_so_and_keeps_valid_bounds():
    problem = build(*synthetic(30, 2))
    _, best = solve(problem, tol=1e-8)
    solution = Exact(tol=1e-12, max_iter=4).solve(problem)
    assert solution.status == "max_iter" and solution.iterations == 4
    certificate = certify(problem, solution)
    assert certificate.gap > 1e-3
    assert certificate.lower <= best.lower and certificate.upper >= best.upper


def test_an_impossible_tolerance_stalls_and_says_so():
    solution = Exact(tol=1e-300, max_iter=500).solve(build(*synthetic(10, 2)))
    assert solution.status == "stalled"
    assert set(STATUS) == {"optimal", "stalled", "max_iter", "stopped", "interrupted"}


def test_monitor_sees_every_iteration_and_bounds_only_improve():
    rows = []
    solution = Exact(tol=1e-6).solve(build(*synthetic(30, 2)), monitor=rows.append)
    assert rows == solution.history and len(rows) == solution.iterations
    assert (np.diff([row["upper"] for row in rows]) <= 0).all()
    assert (np.diff([row["lower"] for row in rows]) >= 0).all()
    assert rows[-1]["gap"] <= 1e-6


@pytest.mark.parametrize("x_scale, y_scale", [(1e-150, 1e150), (1e150, 1e-150), (1e150, 1e150), (1e-150, 1e-150)])
def test_extreme_units_are_the_same_problem(x_scale, y_scale):
    X, y = synthetic(15, 2)
    plain = build(X, y, loss="absolute", lam=0.05)
    scaled = build(x_scale * X, y_scale * y, loss="absolute", lam=0.05 * x_scale)
    a, b = solve(plain, 1e-6)[1], solve(scaled, 1e-6)[1]
    assert b.upper / y_scale == pytest.approx(a.upper, rel=2e-6)
    assert b.gap <= 1e-6


def test_near_duplicates_are_honest():
    """Rows 1e-7 apart defeat the interior point in double precision; the status and the gap must say so."""
    rng = np.random.default_rng(0)
    X, y = synthetic(20, 3)
    X = np.vstack([X, X + 1e-7 * rng.standard_normal(X.shape)])
    y = np.concatenate([y, y + 0.5 * rng.standard_normal(20)])
    problem = build(X, y)
    solution, certificate = solve(problem)
    assert (solution.status == "optimal") == (certificate.gap <= 1e-6)
    merged = optimum(np.round(X, 5), y, loss="squared", penalty="componentwise", lam=0.05)
    assert certificate.lower <= merged * (1 + 1e-4) and certificate.upper >= merged * (1 - 1e-4)
