"""What a fitted program answers: intervals, bounds, paths."""

import numpy as np
import pytest
from tests.problems import slanted

from pldc import Auto, DCRegressor


@pytest.fixture(scope="module")
def fitted():
    X, y = slanted()
    return DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)


def test_intervals_cover():
    X, y = slanted(400, seed=7)
    shares = []
    for seed in (6, 8, 9, 10):  # of sixty rows one sample may be off by a tenth
        model = DCRegressor(n_pieces="rows", n_jobs=1, solver=Auto(tol=0.001)).fit(*slanted(60, seed=seed))
        low, high = model.predict_interval(X, 0.8)
        assert (low <= high).all()
        shares.append(((low <= y) & (y <= high)).mean())
    assert 0.75 <= np.mean(shares) <= 0.9
    wide = model.predict_interval(X, 0.95)
    assert (wide[0] <= low).all() and (wide[1] >= high).all()
    with pytest.raises(ValueError, match="coverage"):
        model.predict_interval(X, 1.0)


def test_generalization_bound_has_its_terms(fitted):
    X, y = slanted()
    found = fitted.generalization_bound(X, y, 0.1)
    assert found.empirical == pytest.approx(np.mean((fitted.function_(X) - y) ** 2), rel=1e-6)
    assert found.total > found.empirical and found.n == 40
    scaled = DCRegressor(n_pieces="rows", n_jobs=1).fit(X, 10.0 * y).generalization_bound(X, 10.0 * y, 0.1)
    assert scaled.total == pytest.approx(100.0 * found.total, rel=1e-2)
    assert fitted.generalization_bound(X, y, 0.1, M=100.0).total > found.total
    weight = 1.0 + (np.arange(40) < 10)
    weighted = fitted.generalization_bound(X, y, 0.1, sample_weight=weight)
    assert weighted.empirical == pytest.approx(np.average((fitted.function_(X) - y) ** 2, weights=weight), rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1"),
        ({"delta": "0.1"}, "delta must lie strictly between 0 and 1"),
        ({"M": -1.0}, "M must be a positive finite number"),
        ({"sample_weight": np.r_[1.0, np.zeros(39)]}, "at least two rows"),
        ({"X": np.zeros((40, 3))}, "3 features, but DCRegressor is expecting 2"),
    ],
)
def test_generalization_bound_refuses_what_makes_no_sense(fitted, arguments, match):
    X, y = slanted()
    with pytest.raises(ValueError, match=match):
        fitted.generalization_bound(**({"X": X, "y": y} | arguments))


def test_generalization_bound_leaves_the_model_alone(fitted):
    X, y = slanted()
    before = fitted.predict(X)
    fitted.generalization_bound(X[:10], y[:10])
    assert np.array_equal(fitted.predict(X), before) and fitted.clip_range_ == (y.min(), y.max())


def test_path_is_a_path_of_certified_fits():
    X, y = slanted(40)
    lams = [0.001, 1.0, 0.03]
    path = DCRegressor().path(X, y, lams)
    assert path.lams.tolist() == sorted(lams, reverse=True) and len(path) == 3
    assert (np.diff(path.losses) <= 1e-6).all() and (np.diff(path.seminorms) >= -1e-6).all()
    for lam, certificate, function in zip(path.lams, path.certificates, path.functions, strict=True):
        alone = DCRegressor(lam=lam).fit(X, y)
        assert certificate.gap <= 1e-4
        assert certificate.upper == pytest.approx(alone.certificate_.upper, rel=2e-4)
        assert np.allclose(function(X), alone.function_(X), atol=0.02)
    objective = path.losses + path.lams * path.seminorms
    assert np.allclose(objective, [c.upper for c in path.certificates])
    assert path.pieces(X).shape == (3, 2)
    with pytest.raises(ValueError, match="lams"):
        DCRegressor().path(X, y, [0.1, -1.0])


def test_ctrl_c_on_a_path_is_not_swallowed(monkeypatch):
    def interrupt(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.solve.exact.descend", interrupt)
    with pytest.raises(KeyboardInterrupt):
        DCRegressor().path(*slanted(20), [0.1, 0.01])


def test_the_weight_of_the_theory_and_the_bound_do_not_depend_on_the_order_of_rows():
    X, y = slanted(24)
    X[1], y[1] = X[0], y[0]  # equal rows too
    order = np.random.default_rng(0).permutation(len(y))
    one, other = (DCRegressor(lam="srm").fit(X[at], y[at]) for at in (np.arange(len(y)), order))
    assert other.lam_ == pytest.approx(one.lam_, rel=1e-9)
    plain, shuffled = one.generalization_bound(X, y), other.generalization_bound(X[order], y[order])
    assert shuffled.total == pytest.approx(plain.total, rel=1e-6)
