import numpy as np
import pytest
from pldc.select.intervals import CrossFit

from pldc.function import PLDC


def test_equals_the_definition():
    rng = np.random.default_rng(0)
    functions = [PLDC.affine([1.0], 0.0), PLDC.affine([2.0], 1.0)]
    residuals = [rng.uniform(size=6), rng.uniform(size=5)]
    fit = CrossFit(functions, residuals, [np.ones(6), np.ones(5)], [(-np.inf, np.inf)] * 2)
    X = rng.normal(size=(4, 1))
    low, high = fit.interval(X, 0.8)
    k = int(np.ceil(0.8 * 12))
    for i, x in enumerate(X):
        values = [f(x[None])[0] for f in functions]
        ups = sorted(v + r for v, rs in zip(values, residuals, strict=True) for r in rs)
        downs = sorted(r - v for v, rs in zip(values, residuals, strict=True) for r in rs)
        assert high[i] == pytest.approx(ups[k - 1])
        assert low[i] == pytest.approx(-downs[k - 1])


def test_weight_two_equals_the_row_twice_up_to_the_extra_row():
    functions = [PLDC.affine([0.0])]
    r = np.arange(1.0, 41.0)
    heavy = CrossFit(functions, [r], [np.where(r > 20, 2.0, 1.0)], [(-np.inf, np.inf)])
    twice = CrossFit(functions, [np.append(r, r[r > 20])], [np.ones(60)], [(-np.inf, np.inf)])
    X = np.zeros((1, 1))
    assert abs(heavy.interval(X, 0.7)[1][0] - twice.interval(X, 0.7)[1][0]) <= 1.0


def test_predictions_are_cut_to_what_each_fold_has_seen():
    fit = CrossFit([PLDC.affine([1.0])], [np.zeros(50)], [np.ones(50)], [(-1.0, 1.0)])
    low, high = fit.interval(np.array([[5.0], [-5.0]]), 0.9)
    assert low.tolist() == high.tolist() == [1.0, -1.0]
