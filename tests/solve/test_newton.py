"""The eliminated Newton system against the plain one."""

import numpy as np
import pytest
from tests.problems import build, synthetic

from pldc.solve.newton import Newton, Variables
from pldc.solve.pairs import AllPairs
from pldc.solve.workers import Workers


def system(n=12, d=3, spread=1.0, threads=1, monotone=None, **settings):
    X, y = synthetic(n, d)
    problem = build(X, y, monotone=monotone, **settings)
    rng = np.random.default_rng(1)
    P = len(problem.signs)
    q = problem.penalty.rows(np.zeros((P, n, d))).shape[1]

    def weights(*shape):
        return 10 ** (spread * rng.uniform(-1, 1, shape))

    theta = weights(P, n, n)
    theta[:, np.arange(n), np.arange(n)] = 0.0
    p_plus, p_minus = weights(P, n, d), weights(P, n, d)
    p_plus = np.where(problem.slope_sign >= 0, p_plus, 0.0)
    p_minus = np.where(problem.slope_sign <= 0, p_minus, 0.0)
    with Workers(threads) as workers:
        newton = Newton(
            problem,
            AllPairs(problem.X, len(problem.signs)),
            workers,
            theta,
            weights(n, q),
            p_plus,
            p_minus,
            weights(n),
            np.abs(problem.monotone) * weights(d),
        )
    x = Variables(
        rng.standard_normal((P, n)),
        np.where(p_plus > 0, rng.standard_normal((P, n, d)), 0.0),
        np.where(p_minus > 0, rng.standard_normal((P, n, d)), 0.0),
        rng.standard_normal(q),
        rng.standard_normal(d) * problem.linear,
    )
    return newton, x


SETTINGS = [
    {"penalty": "joint"},
    {"penalty": "componentwise"},
    {"penalty": "joint", "linear": True},
    {"penalty": "componentwise", "linear": True, "monotone": [1, 0, -1]},
    {"penalty": "joint", "shape": "convex"},
    {"penalty": "componentwise", "shape": "concave", "linear": True},
    {"penalty": "componentwise", "d": 1},
    {"penalty": "joint", "d": 1},
    {"penalty": "componentwise", "n": 4, "d": 9},
    {"penalty": "componentwise", "n": 200, "d": 2, "threads": 2},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_solve_inverts_apply(settings):
    newton, x = system(**settings)
    b = newton.apply(x)
    back = newton.apply(newton.once(b))
    assert b.plus(-1.0, back).largest() <= 1e-9 * b.largest()


@pytest.mark.parametrize("settings", SETTINGS[:6], ids=str)
def test_solve_survives_weights_over_many_orders(settings):
    newton, x = system(spread=7.0, **settings)
    b = newton.apply(x)
    back = newton.apply(newton.solve(b))
    assert b.plus(-1.0, back).largest() <= 1e-9 * b.largest()


def test_apply_is_the_hessian_of_the_quadratic():
    """Against the definition: half the sum of weight × row², differentiated numerically."""
    newton, x = system(n=5, d=2, penalty="componentwise", linear=True)
    problem, pairs = newton.problem, newton.pairs

    def energy(v):
        rows = pairs(v.phi, v.gp - v.gm)
        norm = v.L - problem.penalty.rows(v.gp + v.gm)
        fit = problem.fit(v.phi, v.c)
        return 0.5 * (
            (newton.theta * rows**2).sum()
            + (newton.gamma * norm**2).sum()
            + (newton.psi * fit**2).sum()
            + (v.gp**2 / newton.p_plus).sum()
            + (v.gm**2 / newton.p_minus).sum()
            + (newton.c_weight * v.c**2).sum()
        )

    image = newton.apply(x)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = Variables(*(rng.standard_normal(block.shape) for block in x.blocks()))
        slope = (energy(x.plus(1e-4, step)) - energy(x.plus(-1e-4, step))) / 2e-4
        assert image.dot(step) == pytest.approx(slope, rel=1e-7)


def test_pairs_adjoint_is_the_transpose():
    X, _ = synthetic(7, 3)
    pairs, rng = AllPairs(X, 2), np.random.default_rng(0)
    phi, g, Z = rng.standard_normal((2, 7)), rng.standard_normal((2, 7, 3)), rng.standard_normal((2, 7, 7))
    a, b = pairs.adjoint(Z)
    assert np.vdot(Z, pairs(phi, g)) == pytest.approx(np.vdot(a, phi) + np.vdot(b, g))
    i, j = 2, 5
    assert pairs(phi, g)[1, j, i] == pytest.approx(phi[1, i] - phi[1, j] - g[1, j] @ (X[i] - X[j]))
