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
    assert small < 0.01 and {factor.feature for term in model.terms_ for factor in term} <= {0, 1, 2, 3}
    assert error(product, max_degree=2)[0] < 0.05 < 0.5 < error(product, max_degree=1)[0]


def test_pruning_keeps_the_subset_with_the_least_score():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 2))
    y = np.maximum(X[:, 0], 0) + 0.3 * rng.standard_normal(80)
    few, many = (Mars(penalty=p).fit(X, y) for p in (8.0, 0.0))
    assert len(few.terms_) < len(many.terms_)
    assert rss(columns(many.terms_, (X - many.center_) / many.scale_), y) == pytest.approx(
        np.sum((y - many.predict(X)) ** 2), rel=1e-8
    )


def test_a_constant_target_and_few_rows_are_no_error():
    X = np.arange(6.0)[:, None]
    assert Mars().fit(X, np.full(6, 2.0)).predict(X) == pytest.approx(2.0)
    assert np.isfinite(Mars(max_degree=2).fit(X, X[:, 0] ** 2).predict(X)).all()
