import numpy as np
import pytest
from experiments.mars import Mars, best_knot, columns


def rss(B, y):
    return float(np.sum((y - B @ np.linalg.lstsq(B, y, rcond=None)[0]) ** 2))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_knot_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    there = np.column_stack([np.ones(60), np.maximum(X[:, 1] - 0.3, 0)])
    Q = np.linalg.qr(there)[0]
    residual = y - Q @ (Q.T @ y)
    parent = there[:, seed % 2]
    gain, knot = best_knot(parent, X[:, 0], Q, residual, 3)

    def fall(t):
        pair = parent[:, None] * np.maximum(np.column_stack([X[:, 0] - t, t - X[:, 0]]), 0)
        return rss(there, y) - rss(np.column_stack([there, pair]), y)

    assert gain == pytest.approx(fall(knot), rel=1e-8)
    allowed = np.sort(X[parent > 0, 0])[9:-9]  # away from the ends, where knots are not tried
    assert gain >= max(fall(t) for t in allowed) * 0.8  # not every value is a knot, but neighbours of it are
    assert knot in X[parent > 0, 0]


def test_additive_and_product_truths_are_found():
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (200, 4)), rng.uniform(-1, 1, (500, 4))

    def additive(Z):
        return np.abs(Z[:, 0]) + 2 * np.maximum(Z[:, 1], 0)

    def product(Z):
        return Z[:, 0] * Z[:, 1]

    def error(f, **settings):
        model = Mars(**settings).fit(X, f(X) + 0.01 * rng.standard_normal(200))
        return np.mean((model.predict(new) - f(new)) ** 2) / np.var(f(new)), model

    small, model = error(additive)
    assert small < 0.01 and {0, 1} <= {factor.feature for term in model.terms_ for factor in term}
    assert error(product, max_degree=2)[0] < 0.05 < 0.5 < error(product, max_degree=1)[0]


@pytest.mark.parametrize("seed", range(4))
def test_pruning_is_backward_elimination_by_the_score(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2))
    y = np.maximum(X[:, 0], 0) + 0.3 * rng.standard_normal(60)
    model = Mars(max_degree=2, penalty=3.0)
    model.fit(X, y)
    Z = (X - model.center_) / model.scale_
    terms = model._grow(Z, y, 21)
    B = columns(terms, Z)

    def score(kept):
        effective = len(kept) + 3.0 * (len(kept) - 1) / 2
        return rss(B[:, kept], y) / (1 - effective / 60) ** 2 if effective < 60 else np.inf

    kept = list(range(len(terms)))
    best = kept
    while len(kept) > 1:
        if score(kept) < score(best):
            best = kept
        kept = min(([k for k in kept if k != out] for out in kept[1:]), key=lambda rest: rss(B[:, rest], y))
    best = kept if score(kept) < score(best) else best
    assert {*model.terms_} == {terms[k] for k in best} and len(best) < len(terms)
    assert model.predict(X) == pytest.approx(B[:, best] @ np.linalg.lstsq(B[:, best], y, rcond=None)[0])


def test_few_rows_leave_a_constant_or_have_knots_nearer_to_the_ends():
    x = np.linspace(-1, 1, 12)[:, None]
    y = np.abs(x[:, 0])
    assert np.ptp(Mars(linear=False).fit(x, y).predict(x)) == 0  # away from the ends there is no row
    assert np.mean((Mars().fit(x, y).predict(x) - y) ** 2) < 0.1 * y.var()


def test_a_constant_target_and_few_rows_are_no_error():
    X = np.arange(6.0)[:, None]
    assert Mars().fit(X, np.full(6, 2.0)).predict(X) == pytest.approx(2.0)
    assert np.isfinite(Mars(max_degree=2).fit(X, X[:, 0] ** 2).predict(X)).all()
