"""L-BFGS for many problems at once: minima, independence of the problems, and the direction."""

import numpy as np
import pytest

from pldc.compact.descent import MEMORY, Memory, minimise

SCALES = np.array([1e-3, 1.0, 30.0, 1e4])


def quadratics(scales=SCALES, size=6, seed=0):
    """Strictly convex quadratics of several scales: the function, their minima, and values there."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(len(scales), size, size))
    A = scales[:, None, None] * (B @ B.swapaxes(1, 2) + np.eye(size))
    best, level = rng.normal(size=(len(scales), size)), rng.normal(size=len(scales))

    def function(x):
        g = (A @ (x - best)[:, :, None])[:, :, 0]
        return level + 0.5 * ((x - best) * g).sum(axis=1), g

    return function, best, level


def rosenbrock(x):
    """Curved valleys, one in each line of x."""
    a, b = x[:, :-1], x[:, 1:]
    g = np.zeros_like(x)
    g[:, :-1] = -2 * (1 - a) - 400 * a * (b - a**2)
    g[:, 1:] += 200 * (b - a**2)
    return ((1 - a) ** 2 + 100 * (b - a**2) ** 2).sum(axis=1), g


def two_loops(g, pairs):
    """−H g by the recursion of Nocedal (1980), from the newest pairs backwards and forwards again."""
    q, alphas = g.copy(), []
    for s, y in reversed(pairs):
        alpha = (s @ q) / (s @ y)
        q -= alpha * y
        alphas.append(alpha)
    s, y = pairs[-1]
    r = (s @ y) / (y @ y) * q
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        r += s * (alpha - (y @ r) / (s @ y))
    return -r


@pytest.mark.parametrize("seed", range(4))
def test_finds_the_minima_of_quadratics_of_all_scales(seed):
    function, best, level = quadratics(seed=seed)
    x, f = minimise(function, np.zeros_like(best), 200)
    np.testing.assert_allclose(x, best, atol=1e-6)
    np.testing.assert_allclose(f, level, atol=1e-6)
    np.testing.assert_array_equal(f, function(x)[0])


def test_finds_the_end_of_a_curved_valley():
    x, f = minimise(rosenbrock, np.array([[-1.2, 1.0], [3.0, -3.0], [0.0, 0.0]]), 200)
    np.testing.assert_allclose(x, 1.0, atol=1e-5)
    assert (f < 1e-10).all()


def test_few_evaluations_are_enough():
    function, best, _ = quadratics(np.ones(3), size=4)
    x, _ = minimise(function, np.zeros_like(best), 40)
    np.testing.assert_allclose(x, best, atol=1e-6)  # steepest descent would be far away


@pytest.mark.parametrize("steps", [1, 7, 25])
def test_problems_do_not_see_each_other(steps):
    function, best, _ = quadratics(seed=5)
    begin = np.random.default_rng(6).normal(size=best.shape)
    together, values = minimise(function, begin, steps)
    for b in range(len(best)):

        def alone(x, b=b):
            f, g = function(np.where(np.arange(len(best))[:, None] == b, x, 0.0))
            return f[[b]], g[[b]]

        x, f = minimise(alone, begin[[b]], steps)
        np.testing.assert_allclose(x[0], together[b], atol=1e-10)
        np.testing.assert_allclose(f[0], values[b], atol=1e-10)


def test_a_problem_that_is_solved_or_fails_leaves_the_others_alone():
    function, best, _ = quadratics(np.ones(3), seed=7)

    def broken(x):  # the first is at its minimum, the second is no number but where it begins
        f, g = function(x)
        f[1] = 0.0 if (x[1] == 5.0).all() else np.nan
        g[1] = 1.0
        return f, g

    begin = np.vstack([best[0], np.full(6, 5.0), np.zeros(6)])
    x, f = minimise(broken, begin, 60)
    np.testing.assert_array_equal(x[:2], begin[:2])
    np.testing.assert_allclose(x[2], best[2], atol=1e-6)
    assert f[1] == 0.0


def test_a_problem_that_gives_up_its_memory_costs_no_other_its_own():
    function, best, _ = quadratics(np.ones(2), size=10, seed=8)

    def wall(x):  # the first can go nowhere, and gives up again and again
        f, g = function(x)
        f[0] = 0.0 if (x[0] == 0.0).all() else np.inf
        g[0] = 1.0
        return f, g

    for steps in (12, 14, 18, 26):
        with_wall, without = (minimise(h, np.zeros_like(best), steps)[0] for h in (wall, function))
        np.testing.assert_array_equal(with_wall[0], 0.0)
        np.testing.assert_allclose(with_wall[1], without[1], atol=1e-10)


def test_values_never_increase():
    begin = np.array([[-1.2, 1.0, 2.0], [4.0, -4.0, 4.0]])
    values = np.array([minimise(rosenbrock, begin, steps)[1] for steps in range(60)])
    np.testing.assert_array_equal(values[0], rosenbrock(begin)[0])
    assert (np.diff(values, axis=0) <= 0).all()
    assert (values[-1] < 0.01 * values[0]).all()


def test_ends_when_told_to():
    function, best, _ = quadratics()
    calls, asked = [], []

    def counted(x):
        calls.append(x.copy())
        return function(x)

    def stop():
        asked.append(len(calls))
        return len(calls) >= 4

    x, f = minimise(counted, np.zeros_like(best), 100, stop)
    assert len(calls) == 4 and asked == [1, 2, 3, 4]
    np.testing.assert_array_equal(f, function(x)[0])
    calls.clear()
    x, _ = minimise(counted, np.ones_like(best), 100, lambda: True)
    assert len(calls) == 1
    np.testing.assert_array_equal(x, 1.0)


def test_the_point_of_the_beginning_is_not_changed():
    function, best, _ = quadratics()
    begin = np.zeros_like(best)
    minimise(function, begin, 10)
    np.testing.assert_array_equal(begin, 0.0)


def test_the_direction_is_that_of_two_loops():
    function, best, _ = quadratics(np.array([0.1, 1.0, 50.0]), size=12)
    rng = np.random.default_rng(1)
    memory = Memory(*best.shape)
    pairs = [[] for _ in best]
    x = rng.normal(size=best.shape)
    g = function(x)[1]
    products = memory.products(g)
    for k in range(MEMORY + 5):  # the ring is full, and goes round
        moved = np.flatnonzero(rng.random(3) < 0.7) if k else np.arange(3)
        there = x.copy()
        there[moved] += rng.normal(size=(len(moved), 12))
        new = function(there)[1]
        s, y = there[moved] - x[moved], new[moved] - g[moved]
        products = memory.add(moved, s, y, new, products)
        for b, step, change in zip(moved, s, y, strict=True):
            pairs[b] = [*pairs[b], (step, change)][-MEMORY:]
        x, g = there, new
        for got, gradient, known in zip(memory.direction(g, *products), g, pairs, strict=True):
            np.testing.assert_allclose(got, two_loops(gradient, known), rtol=1e-7, atol=1e-9 * np.abs(got).max())
    assert all(len(known) == MEMORY for known in pairs)


def test_pairs_without_curvature_are_not_remembered():
    memory = Memory(1, 3)
    g = np.array([[1.0, 2.0, 3.0]])
    short = memory.direction(g, *memory.products(g))
    memory.add(np.array([0]), np.array([[1.0, 0.0, 0.0]]), np.array([[-1.0, 0.0, 0.0]]), g, memory.products(g))
    assert memory.scale[0] == 0
    np.testing.assert_array_equal(memory.direction(g, *memory.products(g)), short)
    assert np.linalg.norm(short) == pytest.approx(0.1)
    assert (short * g).sum() == pytest.approx(-0.1 * np.linalg.norm(g))


def test_what_is_forgotten_has_no_part_in_the_direction():
    rng = np.random.default_rng(0)
    memory, g = Memory(2, 4), rng.normal(size=(2, 4))
    fresh = memory.direction(g, *memory.products(g))
    s = rng.normal(size=(2, 4))
    products = memory.add(np.arange(2), s, 3.0 * s, g, memory.products(g))
    kept = memory.direction(g, *products)
    memory.forget(np.array([1]))
    after = memory.direction(g, *memory.products(g))
    np.testing.assert_allclose(after, [kept[0], fresh[1]])
    assert not np.allclose(kept[1], fresh[1])


def test_a_memory_goes_on():
    function, best, level = quadratics(np.ones(2), size=8)
    memory = Memory(*best.shape)
    x, _ = minimise(function, np.zeros_like(best), 12, memory=memory)
    _, kept = minimise(function, x, 6, memory=memory)
    _, anew = minimise(function, x, 6)
    assert (kept - level < 0.5 * (anew - level)).all()


def test_a_memory_that_leads_nowhere_is_given_up():
    def beside_a_wall(x):
        return np.where(x[:, 1] > 0, np.inf, x[:, 0] ** 2), np.column_stack([2 * x[:, 0], 0 * x[:, 1]])

    memory, g = Memory(1, 2), np.array([[6.0, 0.0]])
    s, y = np.array([[1.0, -1.0]]), np.array([[1.0, 0.0]])
    memory.add(np.array([0]), s, y, g, memory.products(g - y))  # down the slope, it says, is through the wall
    x, f = minimise(beside_a_wall, np.array([[3.0, 0.0]]), 60, memory=memory)
    assert f[0] < 1e-8 and x[0, 1] <= 0
