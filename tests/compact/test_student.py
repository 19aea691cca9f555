"""Few pieces learned from a larger model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.function.common import random_pldc

from pldc.compact import student
from pldc.compact.members import Task
from pldc.compact.student import agreement, between, learn, r_squared
from pldc.function import PLDC
from pldc.problem.losses import Absolute, LogLoss, Squared, softmax
from pldc.problem.recipe import Rows
from pldc.problem.units import Units


@pytest.fixture(autouse=True)
def _fewer_points(monkeypatch):
    monkeypatch.setattr(student, "LESSON_POINTS", 700)
    monkeypatch.setattr(student, "CLASS_POINTS", 700)
    monkeypatch.setattr(student, "FRESH_POINTS", 400)


def lesson(teacher, n=150, d=2, noise=0.0, seed=0, shape="dc", monotone=None, loss=None):
    rng = np.random.default_rng(seed)
    X = 5.0 + 2.0 * rng.normal(size=(n, d))
    rows = Rows(X, teacher(X) + noise * rng.normal(size=n), np.ones(n))
    signs = np.zeros(d, dtype=int) if monotone is None else np.array(monotone)
    return Task(rows, Units.of(*rows), loss or Squared(), shape, signs)


def three_pieces(seed, d=2):
    return random_pldc(np.random.default_rng(seed), 3, 3, d).compose(0.5 * np.eye(d), -2.5 * np.ones(d))


@pytest.mark.parametrize("seed", range(3))
def test_learns_what_a_teacher_of_as_many_pieces_knows(seed):
    teacher = three_pieces(seed)
    task = lesson(teacher)
    found = learn(task, teacher, 3, starts=4)
    assert found.function.is_plain and max(found.function.n_pieces) <= 3
    fresh = 5.0 + 2.0 * np.random.default_rng(9).normal(size=(500, 2))
    assert r_squared(found.function(fresh), teacher(fresh)) > 0.99
    assert 0.99 < found.fidelity <= 1.0


def test_learns_from_the_teacher_more_than_from_noisy_rows():
    teacher = three_pieces(1)
    task = lesson(teacher, noise=1.0 * np.std(lesson(teacher).rows.y))
    found = learn(task, teacher, 3, starts=3)
    assert found.fidelity > 0.95
    assert r_squared(found.function(task.rows.X), teacher(task.rows.X)) > 0.95


@pytest.mark.parametrize("count", [1, 2, 5])
def test_has_no_more_pieces_than_asked_for(count):
    teacher = three_pieces(2)
    found = learn(lesson(teacher), teacher, count, starts=1)
    assert max(found.function.n_pieces) <= count


def test_more_pieces_are_closer_to_the_teacher():
    teacher = random_pldc(np.random.default_rng(3), 12, 12, 2).compose(0.5 * np.eye(2), -2.5 * np.ones(2))
    few, many = (learn(lesson(teacher), teacher, count, starts=2).fidelity for count in (1, 6))
    assert few < many - 0.01


def test_the_fidelity_of_a_perfect_student_is_one():
    teacher = PLDC.affine([1.0, -2.0], 3.0)
    found = learn(lesson(teacher), teacher, 1, starts=1)
    assert found.fidelity == pytest.approx(1.0, abs=1e-6)
    values = np.random.default_rng(0).normal(size=50)
    assert r_squared(values, values) == 1.0
    assert r_squared(np.full(50, values.mean()), values) == pytest.approx(0.0)
    assert r_squared(values, np.zeros(50)) == 0.0 and r_squared(np.zeros(50), np.zeros(50)) == 1.0
    weight = np.append(np.ones(49), 0.0)
    wrong = np.append(values[:49], 1e6)
    assert r_squared(wrong, values, weight) == 1.0 and r_squared(wrong, values) < 0


def test_limits_cut_what_is_compared():
    teacher = three_pieces(0)
    task = lesson(teacher)
    low, high = np.quantile(task.rows.y, [0.2, 0.8])

    def cut(X):
        return np.clip(teacher(X), low, high)

    whole = learn(task, teacher, 3, starts=2).function
    found = learn(task, cut, 3, starts=2, limits=(low, high))
    free = learn(task, cut, 3, starts=2)
    assert found.fidelity > free.fidelity - 1e-3 > 0.8
    assert r_squared(np.clip(whole(task.rows.X), low, high), cut(task.rows.X)) > 0.99


def test_targets_of_other_losses_have_no_part():
    teacher = three_pieces(0)
    task = lesson(teacher, noise=0.5, loss=Absolute())
    other = Task(task.rows._replace(y=-task.rows.y), task.units, task.loss, "dc", task.monotone)
    a, b = (learn(t, teacher, 3, starts=1).function(task.rows.X) for t in (task, other))
    np.testing.assert_array_equal(a, b)
    plain = lesson(teacher, noise=0.5)
    other = Task(plain.rows._replace(y=-plain.rows.y), plain.units, plain.loss, "dc", plain.monotone)
    a, b = (learn(t, teacher, 3, starts=1).function(task.rows.X) for t in (plain, other))
    assert np.abs(a - b).max() > 1e-3


def test_convex_students_are_convex_and_monotone_ones_are_monotone():
    teacher = three_pieces(0)
    convex = learn(lesson(teacher, shape="convex"), teacher, 4, starts=1).function
    assert convex.is_plain and not convex.minus.slopes.any()
    rising = PLDC.affine([1.0, 0.0]).maximum(0.0) + PLDC.affine([0.0, 1.0])
    found = learn(lesson(rising, monotone=[1, 0]), rising, 3, starts=1)
    assert found.function.terms[0].hinges is not None and found.function.is_monotone(0)
    assert found.fidelity > 0.95


def test_threads_and_seeds():
    teacher = three_pieces(2)
    task = lesson(teacher)
    alone, again, other = (learn(task, teacher, 3, starts=2, seed=s) for s in (0, 0, 1))
    with ThreadPoolExecutor(2) as pool:
        together = learn(task, teacher, 3, starts=2, pool=pool)
    X = task.rows.X
    np.testing.assert_array_equal(alone.function(X), again.function(X))
    np.testing.assert_array_equal(alone.function(X), together.function(X))
    assert (alone.function(X) != other.function(X)).any()


def test_without_time_one_short_attempt_is_made():
    teacher = three_pieces(1)
    task = lesson(teacher)
    found = learn(task, teacher, 3, stop=lambda: True)
    assert found.fidelity > 0.8 and max(found.function.n_pieces) <= 3


def test_points_lie_between_near_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), 100.0 + rng.normal(size=(30, 2))])
    points = between(X, X, 500, rng)
    assert points.shape == (500, 2)
    assert ((points < 10).all(axis=1) | (points > 90).all(axis=1)).all()
    assert len(np.unique(points, axis=0)) == 500
    assert (between(X[:1], X[:1], 5, rng) == X[0]).all()
    two = between(X[:2], X[:2], 50, rng)
    np.testing.assert_allclose(
        np.linalg.norm(two - X[0], axis=1) + np.linalg.norm(two - X[1], axis=1), np.linalg.norm(X[0] - X[1])
    )


def test_rows_have_their_share_beside_the_teacher():
    teacher = PLDC.affine([1.0, 0.0])
    task = lesson(lambda X: teacher(X) + 4.0)
    shift = learn(task, teacher, 1, starts=1).function(task.rows.X) - teacher(task.rows.X)
    # Rows weigh 15 %, and their targets count half beside the teacher: 0.15 · 0.5 · 4.
    np.testing.assert_allclose(shift.mean(), 0.3, atol=0.05)


def test_fidelity_is_of_values_cut_to_the_limits(monkeypatch):
    monkeypatch.setattr(student, "FRESH_POINTS", 4000)

    def teacher(X):
        return np.clip(5.0 * (X[:, 0] - 5.0), -1.0, 1.0)

    task = lesson(teacher)
    found = learn(task, teacher, 1, starts=1, limits=(-1.0, 1.0))
    fresh = between(task.units.scale_X(task.rows.X), task.rows.X, 4000, np.random.default_rng(9))
    as_it_is, cut = (r_squared(np.clip(found.function(fresh), -end, end), teacher(fresh)) for end in (np.inf, 1.0))
    assert found.fidelity == pytest.approx(cut, abs=0.02) and as_it_is < cut - 0.04


@pytest.mark.parametrize("m", [2, 3])
def test_learns_the_probabilities_of_a_teacher_of_as_many_pieces(m):
    scores = [PLDC.affine(np.zeros(2)) if k == 0 and m == 2 else three_pieces(k) for k in range(m)]

    def teacher(X):
        return softmax(np.array([f(X) for f in scores])).T

    X = 5.0 + 2.0 * np.random.default_rng(0).normal(size=(150, 2))
    rows = Rows(X, teacher(X).argmax(axis=1) + 0.0, np.ones(150))
    units = replace(Units.of(*rows), y_center=0.0, y_scale=1.0)
    found = learn(Task(rows, units, LogLoss(), "dc", np.zeros(2, dtype=int), m), teacher, 3, starts=3)
    assert len(found.functions) == m and max(max(f.n_pieces) for f in found.functions) <= 3
    fresh = 5.0 + 2.0 * np.random.default_rng(9).normal(size=(500, 2))
    said, wanted = np.array([f(fresh) for f in found.functions]), teacher(fresh)
    assert agreement(said, wanted.argmax(axis=1)) > 0.93 and found.fidelity > 0.93
    assert np.abs(softmax(said).T - wanted).mean() < 0.08


def test_agreement_is_the_weight_of_the_rows_where_the_highest_score_is_right():
    scores = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]])
    assert agreement(scores, np.array([0, 0, 1])) == pytest.approx(2 / 3)
    assert agreement(scores, np.array([0, 0, 1]), np.array([1.0, 6.0, 1.0])) == 0.25
