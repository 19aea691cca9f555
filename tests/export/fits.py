"""One fit of every kind, made once, for all exports."""

from functools import cache

import numpy as np
import pandas as pd
from tests.quick import few_kinds, few_starts

from pldc import CrossValidation, DCClassifier, DCRegressor, Exact, Huber, Model, Quantile, Seminorm

rng = np.random.default_rng(7)
X = rng.uniform(-2, 3, (60, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 0.0]
y = np.abs(X[:, 0]) + 0.1 * (X[:, 1] - 100) * (X[:, 0] > 1) + np.sin(20 * X[:, 2]) + 0.1 * rng.standard_normal(60)
NAMES = ["heat", 'width "in" cm', "größe"]
FRAME = pd.DataFrame(X, columns=NAMES)
TWO = np.where(y > np.median(y), "it's high", "low")
THREE = np.digitize(y, np.quantile(y, [0.3, 0.7])) * 10 - 10


def quick(model, table, target):
    with few_kinds(), few_starts():
        return model.fit(table, target)


def simplified(model):
    with few_kinds(), few_starts():
        return model.simplify(FRAME, TWO, n_pieces=2)


MAKERS = {
    "default": lambda: DCRegressor().fit(FRAME, y),
    "program": lambda: DCRegressor(lam=0.01, loss=Huber(1.5), solver=Exact(1e-2)).fit(X, y),
    "program by folds": lambda: DCRegressor(
        n_pieces="rows",
        cv=CrossValidation(3, scoring="r2"),
        penalty=Seminorm("joint", free_linear=True),
        solver="admm",
        clip=False,
    ).fit(X[:30], y[:30]),
    "plain": lambda: quick(DCRegressor(random_state=3), X, y + X[:, 0]),
    "few pieces": lambda: quick(DCRegressor(n_pieces=4), FRAME, y),
    "convex": lambda: quick(DCRegressor(shape="convex", clip=False), X, y),
    "monotone": lambda: quick(DCRegressor(monotone=np.array([1, 0, -1])), X, y),
    "counts": lambda: quick(DCRegressor(loss="poisson"), X, np.round(np.maximum(y, 0))),
    "quantiles": lambda: quick(DCRegressor(loss=Quantile([0.1, 0.5, 0.6])), X, y),
    "two classes": lambda: quick(DCClassifier(class_weight={"it's high": 2, "low": 1.5}), FRAME, TWO),
    "three classes": lambda: quick(DCClassifier(), X, THREE),
    "few pieces a class": lambda: simplified(fitted("two classes")),
    "hinge loss": lambda: DCClassifier(loss="hinge", lam=0.05).fit(X[:25], THREE[:25] > 0),
}
KINDS = list(MAKERS)


@cache
def fitted(kind):
    """Return the fit of a kind; nobody changes it."""
    return MAKERS[kind]()


@cache
def rows(kind, count=800):
    """Rows among the data, far outside of them, and on kinks: knots, and points where two pieces tie."""
    draw, model = np.random.default_rng(1), fitted(kind).model_
    near = model.center + 1.5 * model.spread * draw.standard_normal((count, 3))
    far = model.center + model.spread * draw.standard_normal((250, 3)) * 10.0 ** draw.uniform(1, 5, (250, 1))
    kinks = [X, *(on_kinks(term, near, draw) for f in model.functions for term in f.terms)]
    return np.vstack([near, far, *kinks])


def on_kinks(term, near, draw):
    """Points at knots, and half-way between rows that different pieces rule at, moved to where these tie."""
    if term.hinges is not None:
        out = near[:20].copy()
        for j, knots in enumerate(term.hinges.knots):
            if len(knots):
                out[:, j] = draw.choice(knots, len(out))
        return out
    piece, out = term.plus.active(near), []
    for a, b in zip(range(30), range(30, 60), strict=True):
        k, l = piece[a], piece[b]
        step = near[b] - near[a]
        rate = (term.plus.slopes[l] - term.plus.slopes[k]) @ step
        if k != l and rate > 0:
            gap = (term.plus.slopes[k] - term.plus.slopes[l]) @ near[a] + term.plus.offsets[k] - term.plus.offsets[l]
            out.append(near[a] + step * gap / rate)
    return np.array(out).reshape(-1, 3)


def of_numbers(*functions, **known):
    """A model of functions of columns x0, x1, …, whose centre is zero unless it is given."""
    count = functions[0].n_features
    center = np.array(known.pop("center", np.zeros(count)))
    return Model("program", functions, center, np.ones(count), **known)
