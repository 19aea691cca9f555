import numpy as np
import pytest

from pldc.function import PLDC, HingedPLDC, Hinges, MaxAffine, PLDCSum, explain


def random_function(rng, d=2):
    parts = (MaxAffine(rng.normal(size=(3, d)), rng.normal(size=3)) for _ in range(2))
    return PLDC(*parts)


def test_equals_the_written_out_sum():
    rng = np.random.default_rng(0)
    terms = tuple(random_function(rng) for _ in range(3))
    total, X = PLDCSum(terms), rng.normal(size=(50, 2))
    plain = total.expand()
    assert np.allclose(total(X), plain(X)) and np.allclose(total(X), sum(t(X) for t in terms))
    assert np.allclose(total.gradient(X), plain.gradient(X))
    local = total.local(X)
    assert np.allclose((local.slope * X).sum(axis=1) + local.intercept, total(X))
    assert local.plus.shape == (50, 3)
    assert total.n_pieces == (9, 9) and total.n_features == 2
    assert np.allclose(total.prune(X)(X), total(X)) and np.allclose(total.drop_dominated()(X), total(X))
    assert total.seminorm_bound() >= plain.seminorm_bound() - 1e-12
    B, b = rng.normal(size=(2, 2)), rng.normal(size=2)
    assert np.allclose(total.compose(B, b)(X), total(X @ B.T + b))
    assert repr(total) == f"PLDCSum({' + '.join(['PLDC(3 − 3 pieces in 2 dimensions)'] * 3)})"


def test_mean_and_explanation():
    rng = np.random.default_rng(1)
    f, g, X = random_function(rng), random_function(rng), rng.normal(size=(5, 2))
    mean = PLDCSum.mean([f, g])
    assert np.allclose(mean(X), (f(X) + g(X)) / 2)
    assert PLDCSum.mean([f]) is f
    why = explain(mean, X)
    assert np.allclose(why.intercept + why.contributions.sum(axis=1), mean(X))
    assert why.pieces.shape == (5, 4)


def test_refuses_what_makes_no_sense():
    with pytest.raises(TypeError, match="at least one"):
        PLDCSum(())
    with pytest.raises(ValueError, match="different numbers"):
        PLDCSum((PLDC.affine([1.0]), PLDC.affine([1.0, 2.0])))
    rng = np.random.default_rng(2)
    part = MaxAffine(rng.normal(size=(50, 2)), rng.normal(size=50))
    with pytest.raises(ValueError, match="prune"):
        PLDCSum((PLDC(part, part),) * 4).expand()


def test_bounds_and_monotony_of_sums_that_cannot_be_written_out():
    rng = np.random.default_rng(3)
    hinges = Hinges([[-1.0, 0.0, 1.0]] * 2)
    f, g, bent = random_function(rng), random_function(rng), HingedPLDC(random_function(rng, 6), hinges)
    box, X = [(-1.0, 1.0)] * 2, rng.uniform(-1, 1, (3000, 2))
    total = PLDCSum((f, bent))
    low, high = total.bounds_on(box)
    assert low <= total(X).min() and high >= total(X).max() and high - low < 4 * np.ptp(total(X))
    assert (low, high) == pytest.approx(np.add(f.bounds_on(box), bent.bounds_on(box)))
    exact = PLDCSum((f, g)).bounds_on(box)  # this one can be
    assert exact == pytest.approx((f + g).bounds_on(box)) and exact[0] >= f.bounds_on(box)[0] + g.bounds_on(box)[0]
    up, down = PLDC.affine([1.0, 0.0]), PLDC.affine([-2.0, 0.0])
    rising, falling = (HingedPLDC(PLDC.affine([0.0, 0.0, s, s, 0.0, 0.0]), hinges) for s in (1.0, -2.0))
    assert PLDCSum((up, rising)).is_monotone(0, box)
    assert not PLDCSum((up, down)).is_monotone(0, box) and PLDCSum((up, down)).is_monotone(0, box, increasing=False)
    with pytest.raises(TypeError, match="simplify"):  # nobody knows
        PLDCSum((up, falling)).is_monotone(0, box)
