"""What compact fits minimise: gradients, tiles and threads, and ridge regression as the smallest case."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from pldc.compact import objective as module
from pldc.compact.coordinates import learned_turns
from pldc.compact.descent import minimise
from pldc.compact.objective import PARTS, Form, Objective, Table
from pldc.problem.losses import Absolute, Huber, Quantile, Squared

WHOLE = {"squared": Squared(), "huber": Huber(0.3), "absolute": Absolute(), "quantile": Quantile(0.8)}
LOSSES = {name: loss.smoothed(0.02) for name, loss in WHOLE.items()}


def table_of(F, block=1000, dtype=np.float64, keep=True):
    def make(rows, kind, out=None):
        made = np.vstack([F[rows].T, np.ones(len(F[rows]))]).astype(kind)
        if out is None:
            return made
        out[...] = made
        return out

    return Table(make, F.shape[1] + 1, len(F), dtype, keep, block)


def example(n=24, D=3, K=3, shape="dc", loss="squared", turn=False, monotone=None, folds=2, seed=0, block=1000):
    """Fits of two ridges to every fold, and a point."""
    rng = np.random.default_rng(seed)
    F, y = rng.normal(size=(n, D)), rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, size=(folds, n))
    for k in range(folds):
        weight[k, k :: folds + 1] = 0.0
    weight /= weight.sum(axis=1, keepdims=True)
    group, ridge = np.repeat(np.arange(folds), 2), np.tile([0.01, 0.7], folds)
    turns = rng.normal(size=(len(group), D, D)) if turn else None
    form = Form(PARTS[shape], turns, None if monotone is None else np.array(monotone))
    objective = Objective(table_of(F, block), y, weight, group, LOSSES[loss], ridge, form, K)
    return objective, rng.normal(size=(len(group), int(np.prod(objective.shape)))), F


def literal(objective, x, F):
    """Values (B,) and f (B, n) from the formula at the top of the module, one fit and one row at a time."""
    values, fits = [], []
    for b, theta in enumerate(x.reshape(len(x), *objective.shape)):
        f, size = np.zeros(len(F)), 0.0
        for sign, part in zip(objective.form.signs, theta, strict=True):
            slopes = part[:, :-1].copy()
            if objective.form.monotone is not None:
                for j, m in enumerate(objective.form.monotone):
                    if m:
                        slopes[:, j] = sign * m * slopes[:, j] ** 2
            size += (slopes**2).sum()
            if objective.form.turn is not None:
                slopes = np.array([objective.form.turn[b] @ a for a in slopes])
            f += sign * np.array([max(a @ row + c for a, c in zip(slopes, part[:, -1], strict=True)) for row in F])
        risk = objective.weight[objective.group[b]] @ objective.loss.at(f, objective.y)
        values.append(risk + objective.ridge[b] / objective.pieces * size)
        fits.append(f)
    return np.array(values), np.array(fits)


def check(objective, x, F):
    """Values are those of the formula, and gradients those of central differences."""
    value, gradient = objective(x)
    expected, f = literal(objective, x, F)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(objective.values(x), f, rtol=1e-11, atol=1e-12)
    h = 1e-6
    for p in range(x.shape[1]):
        e = h * np.eye(x.shape[1])[p]
        slope = (objective(x + e)[0] - objective(x - e)[0]) / (2 * h)
        np.testing.assert_allclose(gradient[:, p], slope, rtol=1e-5, atol=1e-6)
    assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_differences(loss, shape):
    check(*example(loss=loss, shape=shape))


@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_gradients_in_turned_coordinates(shape):
    check(*example(shape=shape, turn=True, seed=1))


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_gradients_of_monotone_fits(shape, turn):
    check(*example(shape=shape, monotone=[1, 0, -1], turn=turn, seed=2))


@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_monotone_fits_are_monotone(shape):
    objective, x, F = example(shape=shape, monotone=[1, 0, -1], seed=3)
    before, steps = objective.values(x), {0: 1.0, 2: -1.0}
    for j, sign in steps.items():
        moved = F.copy()
        moved[:, j] += 0.3
        assert (sign * (replace(objective, table=table_of(moved)).values(x) - before) >= -1e-12).all()


def test_rows_of_weight_zero_have_no_part():
    objective, x, _ = example()
    y = objective.y.copy()
    y[objective.weight[0] == 0] = 1e6
    other = replace(objective, y=y)
    mine = objective.group == 0
    for a, b in zip(objective(x), other(x), strict=True):
        np.testing.assert_array_equal(a[mine], b[mine])
        assert (a[~mine] != b[~mine]).any()


def test_a_weight_of_two_is_the_row_twice():
    objective, x, F = example(folds=1)
    counts = np.arange(len(F)) % 3
    twice = np.repeat(np.arange(len(F)), counts)
    weighted = replace(objective, weight=counts[None] / counts.sum())
    repeated = replace(
        objective, table=table_of(F[twice]), y=objective.y[twice], weight=np.full((1, len(twice)), 1 / len(twice))
    )
    for a, b in zip(weighted(x), repeated(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("keep", [True, False])
def test_threads_change_nothing_at_all(monkeypatch, keep):
    monkeypatch.setattr(module.Table, "tile", 100)
    objective, x, F = example(n=90, turn=True, block=16)
    objective = replace(objective, table=table_of(F, 16, keep=keep))
    with ThreadPoolExecutor(2) as pool:
        threads = replace(objective, pool=pool)
        for _ in range(5):
            for a, b in zip(objective(x), threads(x), strict=True):
                np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(objective.values(x), threads.values(x))


@pytest.mark.parametrize("tile, block", [(1, 7), (100, 16), (400, 90), (1 << 18, 89)])
def test_tiles_change_nothing(monkeypatch, tile, block):
    objective, x, F = example(n=90, K=4)
    whole, f = objective(x), objective.values(x)
    monkeypatch.setattr(module.Table, "tile", tile)
    cut = replace(objective, table=table_of(F, block))
    for a, b in zip(whole, cut(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(cut.values(x), f, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
def test_one_piece_is_ridge_regression(shape):
    objective, x, F = example(n=40, D=4, K=1, shape=shape, folds=3)
    best, value = minimise(objective, x, 300)
    f = objective.values(best)
    for b, group in enumerate(objective.group):
        w = objective.weight[group]
        rho = objective.ridge[b] / (2 if shape == "dc" else 1)  # a = −b shares a slope at half of its cost
        Z, r = F - w @ F, objective.y - w @ objective.y
        slope = np.linalg.solve((Z * w[:, None]).T @ Z + rho * np.eye(4), (Z * w[:, None]).T @ r)
        np.testing.assert_allclose(f[b], w @ objective.y + Z @ slope, atol=1e-5)
        assert value[b] == pytest.approx(w @ (Z @ slope - r) ** 2 + rho * slope @ slope, abs=1e-8)


def test_gradients_of_the_function_are_those_of_its_values():
    objective, x, F = example(n=30, turn=True, block=30, seed=4)
    phi, h = objective.table.block(0), 1e-6
    for fit in range(len(x)):
        (got,) = objective.gradients(x, fit, phi)
        for j in range(F.shape[1]):
            up, down = F.copy(), F.copy()
            up[:, j] += h
            down[:, j] -= h
            ends = [replace(objective, table=table_of(side, 30)).values(x)[fit] for side in (up, down)]
            np.testing.assert_allclose(got[:, j], (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-6)


def test_learned_coordinates_favour_the_direction_that_matters():
    objective, _, F = example(n=200, D=3, K=1, folds=1, block=64)
    direction = np.array([2.0, -1.0, 0.0]) / np.sqrt(5)
    theta = np.zeros((2, *objective.shape))
    theta[0, 0, 0, :3] = theta[1, 1, 0, :3] = direction
    turn = learned_turns(objective, theta.reshape(2, -1))
    for T in turn:
        np.testing.assert_allclose(T, T.T, atol=1e-12)
        size = np.linalg.eigvalsh(T)
        assert abs(direction @ T @ direction) == pytest.approx(size[-1]) and size[-1] > 10 * size[0] > 0
        w = objective.weight[0][:, None]
        assert (w * (F @ T) ** 2).sum() == pytest.approx((w * F**2).sum())  # no column weighs more than before
    flat = learned_turns(objective, np.zeros((2, theta[0].size)))
    np.testing.assert_allclose(flat, np.tile(np.eye(3), (2, 1, 1)), atol=1e-6)
