"""Few pieces for classes: one function a class under the log loss, one alone for two classes."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from pldc.compact.members import Candidate, Task, fit_member
from pldc.compact.objective import Form, Objective, Table
from pldc.compact.start import class_planes
from pldc.problem.losses import LogLoss
from pldc.problem.recipe import Rows
from pldc.problem.units import Units


def never():
    return False


def table(n=60, m=3, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.5 * rng.normal(size=n)
    return X, np.floor((angle % (2 * np.pi)) / (2 * np.pi) * m)


def task_of(X, y, m):
    rows = Rows(X, y, np.ones(len(y)))
    units = replace(Units.of(*rows), y_center=0.0, y_scale=1.0)
    return Task(rows, units, LogLoss(), "dc", np.zeros(X.shape[1], dtype=int), m)


@pytest.mark.parametrize("m", [2, 4])
def test_the_loss_of_many_fits_is_that_of_each(m):
    rng = np.random.default_rng(0)
    F, y = 3 * rng.normal(size=(5, m, 7)), rng.integers(m, size=7).astype(float)
    value, slope = LogLoss().both(F, y)
    for k in range(5):
        np.testing.assert_allclose(value[k], LogLoss().at(F[k], y))
        np.testing.assert_allclose(slope[k], LogLoss().gradient(F[k], y))


def test_one_score_is_the_difference_of_two():
    rng = np.random.default_rng(1)
    f, y = 5 * rng.normal(size=(3, 1, 9)), rng.integers(2, size=9).astype(float)
    value, slope = LogLoss().both(f, y)
    both, slopes = LogLoss().both(np.concatenate([np.zeros_like(f), f], axis=1), y)
    np.testing.assert_allclose(value, both, atol=1e-12)
    np.testing.assert_allclose(slope[:, 0], slopes[:, 1], atol=1e-12)
    assert np.isfinite(LogLoss().both(np.array([[[1e4, -1e4]]]), np.array([0.0, 1.0]))[0]).all()


@pytest.mark.parametrize("m, turned", [(2, False), (3, False), (4, True)])
def test_gradient_against_differences(m, turned):
    rng = np.random.default_rng(2)
    X, y = table(25, m)
    outputs = m if m > 2 else 1
    columns = np.vstack([X.T, np.ones(25)])
    turn = rng.normal(size=(2, 2, 2)) if turned else None
    objective = Objective(
        Table(lambda rows, dtype: columns[:, rows].astype(dtype), 3, 25, np.float64, True, 10),
        y,
        rng.dirichlet(np.ones(25), size=1),
        np.zeros(2, dtype=int),
        LogLoss(),
        np.array([0.3, 0.01]),
        Form((1.0, -1.0) * outputs, turn),
        2,
        outputs=outputs,
    )
    x = rng.normal(size=(2, 2 * outputs * 2 * 3))
    _, gradient = objective(x)
    for k in rng.choice(x.shape[1], 10, replace=False):
        step = np.zeros_like(x)
        step[:, k] = 1e-6
        change = (objective(x + step)[0] - objective(x - step)[0]) / 2e-6
        np.testing.assert_allclose(gradient[:, k], change, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("m", [2, 3])
def test_one_piece_is_ridge_regression_under_the_log_loss(m):
    X, y = table(60, m)
    task, ridge = task_of(X, y, m), 0.02
    fit = fit_member(task, Candidate(0, 1, (ridge,), 0, 600), task.rows.weight[None], [0], None, never)[0]
    value = fit.objective(fit.x)[0][0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    C, level = cp.Variable((2, m)), cp.Variable(m)
    F = Z @ C + np.ones((60, 1)) @ cp.reshape(level, (1, m), order="C")
    loss = cp.sum(cp.log_sum_exp(F, axis=1) - cp.sum(cp.multiply(np.eye(m)[y.astype(int)], F), axis=1)) / 60
    # A slope c is shared by both parts as ±c / 2, so it costs half its square; of two classes one has the score zero.
    constraints = [C[:, 0] == 0, level[0] == 0] if m == 2 else []
    best = cp.Problem(cp.Minimize(loss + 0.5 * ridge * cp.sum_squares(C)), constraints).solve(solver="CLARABEL")
    assert best - 1e-7 <= value <= best + 1e-5


def test_starts_predict_the_shares_of_the_classes_where_features_tell_nothing():
    y = np.repeat([0.0, 1.0, 2.0], [10, 20, 70])
    planes = class_planes(np.zeros((100, 1)), y, np.full(100, 0.01), (1.0, -1.0) * 3, 3, 4, [0])
    score = planes[::2, :, -1].max(axis=1) - planes[1::2, :, -1].max(axis=1)
    share = np.exp(score) / np.exp(score).sum()
    np.testing.assert_allclose(share, [0.1, 0.2, 0.7], atol=2e-3)
    one = class_planes(np.zeros((100, 1)), (y > 1).astype(float), np.full(100, 0.01), (1.0, -1.0), 1, 4, [0])
    odds = one[0, :, -1].max() - one[1, :, -1].max()
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), 0.7, atol=2e-3)


@pytest.mark.parametrize("m", [2, 3])
def test_functions_say_what_the_values_say(m):
    X, y = table(50, m)
    task = task_of(X, y, m)
    for candidate in (Candidate(0, 3, (0.01, 0.1), 1, 30), Candidate(4, 2, (0.01, 0.1), 0, 30)):
        for fit in fit_member(task, candidate, task.rows.weight[None], [0], None, never):
            functions = fit.functions(0, 1)
            assert len(functions) == m
            values = fit.values()
            assert values.shape == (1, 2, m, 50)
            np.testing.assert_allclose([f(X) for f in functions], values[0, 1], atol=1e-8)
