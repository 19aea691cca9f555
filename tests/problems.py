"""Small problems for the tests: the paper's synthetic data, and a grid of settings."""

import itertools

import numpy as np

from pldc.problem import Huber, Problem, Quantile, Solution, make_loss, make_penalty

LOSSES = ("squared", "absolute", "huber", "quantile")
PENALTIES = ("joint", "componentwise")
SHAPES = ("dc", "convex", "concave")
DELTA, LEVEL = 0.7, 0.8


def synthetic(n, d, seed=0, noise=0.25):
    """The paper's synthetic regression, target standardised."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    s = X.sum(axis=1) / np.sqrt(d)
    y = np.sin(np.pi * s) + s**2 + noise * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def slanted(n=40, d=2, seed=0):
    """A corner along a direction that is no axis."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X @ np.arange(1.0, d + 1.0)) + 0.1 * rng.normal(size=n)


def corner(n=36, d=2, noise=0.1, seed=0):
    """A corner along the first feature, and a slope along the last."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X[:, 0]) + 0.5 * X[:, -1] + noise * rng.normal(size=n)


def build(X, y, *, loss="squared", penalty="componentwise", lam=0.05, **settings):
    """A Problem from names."""
    chosen = {"huber": Huber(DELTA), "quantile": Quantile(LEVEL)}.get(loss) or make_loss(loss)
    return Problem.from_data(X, y, loss=chosen, penalty=make_penalty(penalty), lam=lam, **settings)


def random_settings(count, seed=0):
    """`count` random problems that go through every loss × penalty × shape; (X, y, settings) each."""
    rng = np.random.default_rng(seed)
    grid = itertools.cycle(itertools.product(LOSSES, PENALTIES, SHAPES))
    for k in range(count):
        loss, penalty, shape = next(grid)
        n, d = int(rng.integers(4, 17)), int(rng.integers(1, 5))
        if k % 8 == 0:
            n = 30
        X = rng.standard_normal((n, d))
        if k % 3 == 0:
            X = np.round(X)  # ties and repeated rows
        y = rng.standard_normal(n) + X[:, 0] ** 2
        settings = {
            "loss": loss,
            "penalty": penalty,
            "shape": shape,
            "lam": float(10 ** rng.uniform(-3, 0.5)),
        }
        settings["linear"] = bool(rng.integers(2))
        if k % 2:
            settings["weight"] = rng.uniform(0.1, 2.0, n)
        if k % 5 < 2:
            settings["monotone"] = rng.integers(-1, 2, d)
        yield X, y, settings


def garbage(problem, rng, size=1.0):
    """An iterate that has nothing to do with the problem."""
    P, (n, d) = len(problem.signs), problem.X.shape
    return Solution(
        values=size * rng.standard_normal((P, n)),
        slopes=size * rng.standard_normal((P, n, d)),
        linear=rng.standard_normal(d),
        multipliers=rng.standard_normal((P, n, n)) / n**2,
    )
