"""Fits from one start: units, knots, weights, precision, stages."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from pldc.compact import members
from pldc.compact.begin import lowest
from pldc.compact.coordinates import learned_turns
from pldc.compact.descent import Memory
from pldc.compact.members import Candidate, Columns, Task, fit_member, stages
from pldc.compact.objective import Objective
from pldc.compact.start import quantile_knots, spread_out, straight_line, tangent_planes
from pldc.function import Hinges
from pldc.problem.losses import Absolute, Huber, Squared
from pldc.problem.recipe import Rows
from pldc.problem.units import Units

PLAIN = Candidate(0, 4, (1e-3, 0.1), steps=30)
HINGED = Candidate(5, 3, (1e-3, 0.1), steps=30)


def never():
    return False


def task_of(n=80, d=3, shape="dc", monotone=None, seed=0, loss=None):
    """Rows in units far from one."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    y = 300.0 + 20.0 * (np.abs(Z[:, 0]) + Z[:, -1] + 0.1 * rng.normal(size=n))
    rows = Rows(1000.0 + 50.0 * Z, y, rng.uniform(0.5, 2.0, n))
    signs = np.zeros(d, dtype=int) if monotone is None else np.array(monotone)
    return Task(rows, Units.of(*rows), loss or Squared(), shape, signs)


def folds_of(task, count=2):
    """Weights of so many folds, and of all rows."""
    place = np.arange(len(task.rows.y)) % count
    return np.array([*(np.where(place == k, 0.0, task.rows.weight) for k in range(count)), task.rows.weight])


# ---------------------------------------------------------------- functions in the units of the data


@pytest.mark.parametrize("monotone", [None, [1, 0, -1]])
@pytest.mark.parametrize("shape", ["dc", "convex", "concave"])
@pytest.mark.parametrize("candidate", [PLAIN, HINGED, replace(PLAIN, rounds=1)])
def test_functions_in_the_units_of_the_data_are_those_that_were_fitted(candidate, shape, monotone):
    task = task_of(shape=shape, monotone=monotone)
    candidate = replace(candidate, rounds=0) if monotone else candidate
    rounds = fit_member(task, candidate, folds_of(task), [0], None, never)
    assert len(rounds) == candidate.rounds + 1
    for fit in rounds:
        values = fit.values()
        assert values.shape == (3, 2, 80)
        for group in range(3):
            for ridge in range(2):
                f = fit.function(group, ridge)
                assert len(f.terms) == 1 and f.is_plain == (candidate.knots == 0)
                assert max(f.n_pieces) <= candidate.pieces
                there = task.units.scale_y(f(task.rows.X))
                np.testing.assert_allclose(there, values[group, ridge], atol=1e-9)
        assert len(np.unique(values[:, :, 0])) == 6  # no two are one


@pytest.mark.parametrize("shape, missing", [("convex", "minus"), ("concave", "plus")])
def test_shapes_have_one_part(shape, missing):
    task = task_of(shape=shape)
    f = fit_member(task, PLAIN, folds_of(task), [0], None, never)[0].function(0, 0)
    part = getattr(f, missing)
    assert part.n_pieces == 1 and not part.slopes.any()


@pytest.mark.parametrize("candidate", [PLAIN, HINGED])
def test_monotone_fits_rise_and_fall_as_asked(candidate):
    task = task_of(monotone=[0, -1, 1])
    f = fit_member(task, candidate, folds_of(task), [0], None, never)[0].function(2, 0)
    assert f.is_monotone(1, increasing=False) and f.is_monotone(2)
    f = fit_member(task_of(), candidate, folds_of(task), [0], None, never)[0].function(2, 0)
    assert not f.is_monotone(0)


def test_a_descent_improves_on_where_it_began_and_more_steps_on_fewer():
    task = task_of()
    values = []
    for steps in (0, 10, 80):
        fit = fit_member(task, replace(PLAIN, steps=steps), folds_of(task), [0], None, never)[0]
        values.append(fit.objective(fit.x)[0])
    assert (values[1] < values[0]).all() and (values[2] < values[1]).all()
    assert (values[2][::2] < 0.05).all()  # the smaller ridge: nearly all is explained


def test_a_larger_ridge_means_smaller_slopes():
    task = task_of()
    fit = fit_member(task, Candidate(0, 4, (1e-3, 10.0), steps=80), folds_of(task), [0], None, never)[0]
    steep, flat = (np.abs(fit.function(2, k).gradient(task.rows.X)).mean() for k in range(2))
    assert flat < 0.3 * steep


def test_kinks_of_losses_are_rounded_off_and_smooth_ones_are_left():
    task = task_of(loss=Absolute())
    assert task.smooth_loss.softness > 0 and (task.smooth_loss.down, task.smooth_loss.up) == (1.0, 1.0)
    r = np.linspace(-3, 3, 601)
    assert np.abs(task.smooth_loss.at(r, 0.0) - np.abs(r)).max() <= members.SMOOTH / 2 + 1e-12
    assert task_of(loss=Huber(1.0)).smooth_loss == Huber(1.0)


def test_ends_at_once_when_told_to():
    task = task_of()
    rounds = fit_member(task, replace(PLAIN, rounds=2), folds_of(task), [0], None, lambda: True)
    assert len(rounds) == 1 and np.isfinite(rounds[0].values()).all()


def test_another_seed_is_another_start():
    task = task_of()
    one, same, other = (fit_member(task, HINGED, folds_of(task), [s], None, never)[0] for s in (0, 0, 1))
    np.testing.assert_array_equal(one.x, same.x)
    assert (one.x != other.x).any()
    assert (one.columns.hinges.start != other.columns.hinges.start).any()


# ---------------------------------------------------------------- weights, precision, stages


def objective_of(task, columns, dtype, pieces=3, keep=True):
    table = members.Table(columns.block, columns.size, len(task.rows.y), dtype, keep, 512)
    form = members.Form(task.signs)
    return Objective(
        table,
        task.units.scale_y(task.rows.y),
        task.rows.weight[None] / task.rows.weight.sum(),
        np.zeros(2, dtype=int),
        task.smooth_loss,
        np.array([0.01, 0.5]),
        form,
        pieces,
    )


def test_a_weight_of_two_is_the_row_twice():
    task = task_of(n=40)
    counts = np.arange(40) % 3 + 1
    weighted = replace(task, rows=task.rows._replace(weight=counts.astype(float)))
    twice = task.rows._replace(weight=np.ones(40)).take(np.repeat(np.arange(40), counts))
    repeated = replace(task, rows=twice)
    one, other = (Units.of(*t.rows) for t in (weighted, repeated))
    for name in ("center", "scale", "y_center", "y_scale"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
    hinges = quantile_knots(task.rows.X, 4, 0)
    columns = [Columns(t, hinges) for t in (weighted, repeated)]
    columns[1].center = columns[0].center  # where zero is, does not matter
    both = [objective_of(t, c, np.float64) for t, c in zip((weighted, repeated), columns, strict=True)]
    x = np.random.default_rng(0).normal(size=(2, int(np.prod(both[0].shape))))
    for a, b in zip(both[0](x), both[1](x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("knots", [0, 6])
def test_single_precision_is_close_to_double(knots):
    task = task_of(n=1200)
    hinges = quantile_knots(task.rows.X, knots, 0) if knots else None
    columns = Columns(task, hinges)
    single, double = (objective_of(task, columns, kind) for kind in (np.float32, np.float64))
    x = np.random.default_rng(0).normal(size=(2, int(np.prod(single.shape))))
    for a, b in zip(single(x), double(x), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)
    np.testing.assert_allclose(single.values(x), double.values(x), atol=1e-3)
    assert single.values(x).dtype == np.float32 and (single.values(x) != double.values(x)).any()


@pytest.mark.parametrize("candidate", [PLAIN, HINGED])
def test_fits_of_many_rows_are_in_single_precision_and_as_good(monkeypatch, candidate):
    task = task_of(n=1001)
    groups = task.rows.weight[None]
    fit = fit_member(task, candidate, groups, [0], None, never)[0]
    assert fit.values().dtype == np.float32
    np.testing.assert_allclose(task.units.scale_y(fit.function(0, 0)(task.rows.X)), fit.values()[0, 0], atol=1e-3)
    monkeypatch.setattr(members, "SINGLE_PRECISION_ROWS", 2000)
    exact = fit_member(task, candidate, groups, [0], None, never)[0]
    assert exact.values().dtype == np.float64
    np.testing.assert_allclose(fit.objective(fit.x)[0], exact.objective(exact.x)[0], rtol=0.1)


def test_close_knots_are_told_apart_in_single_precision():
    task = task_of(n=1200)
    at = int(np.argmax(task.rows.X[:, 0]))
    middle = task.rows.X[at, 0]
    hinges = Hinges([[0.0, middle - 1e-4, middle + 1e-4, 2000.0], [], []])
    columns = Columns(task, hinges)
    assert columns.fine
    there = columns.block(slice(at, at + 1), np.float32)[:-1] + columns.center
    assert there[4, 0] == pytest.approx(0.5, abs=1e-3)


def test_columns_are_centred_and_those_of_the_hinges():
    task = task_of()
    hinges = quantile_knots(task.rows.X, 5, 0)
    columns = Columns(task, hinges)
    block = columns.block(slice(0, 80), np.float64)
    np.testing.assert_allclose(block[:-1].mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_array_equal(block[-1], 1.0)
    mapped = hinges(task.rows.X)
    mapped[:, :3] = task.units.scale_X(task.rows.X)
    np.testing.assert_allclose(block[:-1].T, mapped - mapped.mean(axis=0), atol=1e-9)


def test_stages_of_many_rows_end_with_all_of_them():
    assert stages(15_000, 90) == [(15_000, 90)]
    assert stages(60_000, 90) == [(10_000, 90), (50_000, 30), (60_000, 5)]
    assert stages(60_000, 90, 120) == [(10_000, 90), (50_000, 120), (60_000, 5)]
    assert stages(20_000, 90, 120) == [(10_000, 90), (20_000, 5)]
    assert stages(1_000_000, 30, 45) == [(10_000, 30), (50_000, 45), (250_000, 5), (1_000_000, 5)]
    assert stages(1_000_000, 30) == [(10_000, 30), (50_000, 10), (250_000, 5), (1_000_000, 5)]


def test_a_descent_in_stages_uses_all_rows(monkeypatch):
    for name, value in {
        "STAGES_FROM_ROWS": 100,
        "FIRST_STAGE_ROWS": 60,
        "GROWTH": 3,
        "SINGLE_PRECISION_ROWS": 10_000,
    }.items():
        monkeypatch.setattr(members, name, value)
    task = task_of(n=400)
    whole = fit_member(task, PLAIN, task.rows.weight[None], [0], None, never)[0]
    assert whole.values().shape == (1, 2, 400)
    error = task.units.scale_y(task.rows.y) - whole.values()[0, 0]
    assert np.mean(error**2) < 0.1
    corrupt = replace(task, rows=task.rows._replace(y=np.where(np.arange(400) < 200, task.rows.y, 0.0)))
    assert (fit_member(corrupt, PLAIN, task.rows.weight[None], [0], None, never)[0].x != whole.x).any()


def test_columns_that_are_not_held_give_the_same_fit(monkeypatch):
    task = task_of()
    held = fit_member(task, HINGED, folds_of(task), [0], None, never)[0]
    monkeypatch.setattr(members, "MOST_NUMBERS_KEPT", 1)
    made = fit_member(task, HINGED, folds_of(task), [0], None, never)[0]
    assert held.objective.table.kept is not None and made.objective.table.kept is None
    np.testing.assert_array_equal(held.x, made.x)


# ---------------------------------------------------------------- knots and starts


def test_features_of_two_levels_or_one_have_no_knots():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(2, size=60), np.full(60, 3.0), rng.integers(4, size=60)])
    knots = quantile_knots(X, 8, 0).knots
    assert [len(k) for k in knots] == [9, 0, 0, 4]
    np.testing.assert_array_equal(knots[3], [0, 1, 2, 3])  # few levels are the knots
    assert knots[0][0] == X[:, 0].min() and knots[0][-1] == X[:, 0].max()


def test_knots_are_quantiles():
    X = np.linspace(0, 1, 1001)[:, None] ** 2
    np.testing.assert_allclose(quantile_knots(X, 4, None).knots[0], np.linspace(0, 1, 5) ** 2, atol=1e-12)
    moved = quantile_knots(X, 4, 3).knots[0]
    assert (np.abs(np.sqrt(moved) - np.linspace(0, 1, 5)) <= 0.125 + 1e-9).all()
    assert (moved[1:-1] != np.linspace(0, 1, 5)[1:-1] ** 2).all()


def test_a_feature_with_most_rows_at_one_value_has_fewer_knots():
    X = np.append(np.zeros(900), np.linspace(0.1, 1, 100))[:, None]
    knots = quantile_knots(X, 10, None).knots[0]
    assert 2 <= len(knots) < 11 and (np.diff(knots) > 0).all()


def test_hinges_without_any_knot_are_plain_features():
    rng = np.random.default_rng(0)
    rows = Rows(rng.integers(2, size=(40, 2)).astype(float), rng.normal(size=40), np.ones(40))
    task = Task(rows, Units.of(*rows), Squared(), "dc", np.zeros(2, dtype=int))
    f = fit_member(task, HINGED, rows.weight[None], [0], None, never)[0].function(0, 0)
    assert f.is_plain and f.n_features == 2


@pytest.mark.parametrize("n, d", [(30, 2), (6, 9)])
def test_the_straight_line_is_weighted_ridge_regression(n, d):
    rng = np.random.default_rng(0)
    F, y, w = rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(size=n)
    w /= w.sum()
    slope, level = straight_line(F, y, w, ridge=0.3)

    def cost(a, c):
        return w @ (F @ a + c - y) ** 2 + 0.3 * a @ a

    best = cost(slope, level)
    for move in 1e-3 * np.vstack([np.eye(d + 1), -np.eye(d + 1)]):
        assert cost(slope + move[:d], level + move[d]) > best


def test_starts_bend_a_line_and_see_no_row_of_weight_zero():
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    w = np.where(np.arange(50) < 40, 1 / 40, 0.0)
    begin = tangent_planes(F, y, w, (1.0, -1.0), 5, 0)
    assert begin.shape == (2, 5, 3)
    F[40:], y[40:] = 1e6, 1e6
    np.testing.assert_array_equal(tangent_planes(F, y, w, (1.0, -1.0), 5, 0), begin)


def test_centres_are_far_from_each_other():
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.normal(size=(50, 2)) * 0.01 + c for c in ([0, 0], [10, 0], [0, 10])])
    for seed in range(10):
        centres = spread_out(Z, 3, np.random.default_rng(seed))
        assert len(np.unique(centres.round(-1), axis=0)) == 3
    assert spread_out(np.zeros((4, 2)), 3, rng).shape == (3, 2)  # all rows at one point


# ---------------------------------------------------------------- rounds, and starts of monotone fits


def test_each_round_is_in_the_coordinates_that_the_one_before_taught():
    task = task_of()
    first, second = fit_member(task, replace(PLAIN, rounds=1), folds_of(task), [0], None, never)
    assert first.objective.form.turn is None
    np.testing.assert_array_equal(second.objective.form.turn, learned_turns(first.objective, first.x))


def test_coordinates_are_the_root_of_the_mean_square_of_gradients_at_the_rows_of_the_fold():
    task = task_of()
    fit = fit_member(task, PLAIN, folds_of(task), [0], None, never)[0]
    objective = fit.objective
    for b, turn in enumerate(learned_turns(objective, fit.x)):
        (g,) = objective.gradients(fit.x, b, objective.table.block(0))
        outer = (g * objective.weight[objective.group[b]][:, None]).T @ g
        square = turn @ turn
        gap = square / np.trace(square) - outer / np.trace(outer)
        assert np.abs(gap).max() < 2e-3  # a little is added, so that no direction is lost


def test_signs_of_some_features_leave_the_start_of_the_others_alone():
    free, signed = (task_of(monotone=m) for m in (None, [1, 0, -1]))
    points = []
    for task in (free, signed):
        fit = fit_member(task, replace(PLAIN, steps=0), folds_of(task), [0], None, never)[0]
        points.append(fit.x.reshape(-1, *fit.objective.shape))
    np.testing.assert_array_equal(points[0][..., [1, 3]], points[1][..., [1, 3]])  # the last is the offset
    assert (points[1][..., [0, 2]] > 0).all()


# ---------------------------------------------------------------- several starts


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_start_that_is_lowest_on_more_rows_goes_on(monkeypatch, threads, staged):
    """Of each fold and ridge its own, with what it knows of the curvature; of few rows, on all of them."""
    task = task_of(n=80)
    if staged:
        monkeypatch.setattr(members, "stages", lambda n, steps, second: [(30, steps), (60, 10), (n, 5)])
    heard = []

    def spy(begun, objective):
        found = lowest(begun, objective)
        heard.append(deepcopy((begun, objective.table.n, found)))
        return found

    monkeypatch.setattr(members, "lowest", spy)
    with ThreadPoolExecutor(threads) as pool:
        fit = fit_member(task, replace(PLAIN, starts=3), folds_of(task), [0], pool, never)[0]
    begun, rows, (x, memory) = heard[0]
    assert len(begun) == 3 and rows == (60 if staged else 80)
    task_rows = task.take(np.arange(rows))
    value = np.array([replace_rows(fit, task_rows, folds_of(task)[:, :rows])(start)[0] for start, _ in begun])
    best = value.argmin(axis=0)
    assert len(set(best)) > 1 and np.ptp(value, axis=0).min() > 1e-6  # not all of one start, and no ties
    for b, k in enumerate(best):
        np.testing.assert_array_equal(x[b], begun[k][0][b])
        for name in ("S", "Y", "SY", "YY", "newest", "scale"):
            np.testing.assert_array_equal(getattr(memory, name)[b], getattr(begun[k][1], name)[b])
    assert [len(other) for other, _, _ in heard[1:]] == ([1, 1] if staged else [])
    assert (fit.objective(fit.x)[0] <= fit.objective(x)[0]).all()


def replace_rows(fit, task, weight):
    """The objective of a fit on other rows."""
    table = members.table_of(fit.columns.at(task.rows.X), len(task.rows.y))
    y = task.units.scale_y(task.rows.y)
    return replace(fit.objective, table=table, y=y, weight=weight / weight.sum(axis=1, keepdims=True), pool=None)


def test_the_first_of_several_starts_is_that_of_one():
    """And threads change nothing."""
    task = task_of()
    one, three = (replace(PLAIN, starts=k, steps=0) for k in (1, 3))
    alone = fit_member(task, one, folds_of(task), [0], None, never)[0]
    found = fit_member(task, three, folds_of(task), [0], None, never)[0]
    with ThreadPoolExecutor(2) as pool:
        again = fit_member(task, three, folds_of(task), [0], pool, never)[0]
    np.testing.assert_array_equal(found.x, again.x)
    assert (found.objective(found.x)[0] <= alone.objective(alone.x)[0]).all()


def test_a_start_that_came_to_no_number_is_not_taken():
    task = task_of()
    objective = fit_member(task, PLAIN, folds_of(task), [0], None, never)[0].objective
    x = np.zeros((len(objective.group), int(np.prod(objective.shape))))
    memories = [Memory(*x.shape) for _ in range(2)]
    with np.errstate(invalid="ignore"):
        found, _ = lowest([(np.full_like(x, np.nan), memories[0]), (x, memories[1])], objective)
    np.testing.assert_array_equal(found, x)


def test_stopped_while_it_starts():
    task, asked = task_of(), []

    def stop():
        asked.append(1)
        return len(asked) > 5

    fits = fit_member(task, replace(PLAIN, starts=3), folds_of(task), [0], None, stop)
    assert len(fits) == 1 and np.isfinite(fits[0].objective(fits[0].x)[0]).all()


@pytest.mark.parametrize("calls", [0, 3, 1000])
def test_a_descent_that_is_ended_early_has_values_at_all_rows(monkeypatch, calls):
    """It has seen the first rows alone, or some more, or all."""
    monkeypatch.setattr(members, "STAGES_FROM_ROWS", 100)
    monkeypatch.setattr(members, "FIRST_STAGE_ROWS", 50)
    task, asked = task_of(n=400), []

    def stop():
        asked.append(None)
        return len(asked) > calls

    (fit,) = fit_member(task, PLAIN, folds_of(task), [0], None, stop)
    assert fit.objective.table.n == (50 if calls < 1000 else 400)
    values = fit.values()
    assert values.shape == (3, 2, 400)
    for group in range(3):
        found = fit.function(group, 1)(task.rows.X)
        np.testing.assert_allclose(task.units.y_center + task.units.y_scale * values[group, 1], found, rtol=1e-5)
