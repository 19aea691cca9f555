import numpy as np
import pytest

from pldc.problem import Huber, Quantile, make_loss
from pldc.select.bound import bound, discrepancy_rate, srm_lam, steepness


def test_squared_loss_is_the_theorem():
    M, D, L, n, delta, mean = 1.7, 0.2, 5.0, 400, 0.05, 0.3
    found = bound(make_loss("squared"), empirical=mean, seminorm=L, discrepancy=D, n=n, M=M, delta=delta)
    chance = 45 * M**2 * np.sqrt((4 + 8 * np.log(2) * np.log2(L) + 8 * np.log(2 / delta)) / n)
    assert found.complexity == pytest.approx(12 * M * D * (2 * L + 2))
    assert found.confidence == pytest.approx(chance)
    assert found.total == pytest.approx(mean + found.complexity + chance)
    assert "provided that" in str(found) and str(n) in str(found)


def test_structural_risk_weight():
    assert srm_lam(make_loss("squared"), 2.0, 0.1) == pytest.approx(24 * 2.0 * 0.1)
    assert srm_lam(make_loss("absolute"), 2.0, 0.1) == pytest.approx(4 * 0.1)
    assert steepness(Huber(0.5), 2.0) == pytest.approx(1.0)
    assert steepness(Quantile(0.9), 2.0) == pytest.approx(1.8)


def test_rate_falls_with_n_and_rises_with_d():
    assert discrepancy_rate(1000, 2) < discrepancy_rate(100, 2) < discrepancy_rate(100, 5)
    assert discrepancy_rate(100, 2, L=3.0, R=2.0) == pytest.approx(6.0 * discrepancy_rate(100, 2))
    assert discrepancy_rate(4, 4) == pytest.approx(60.0)
    with pytest.raises(ValueError, match="n ≥ d"):
        discrepancy_rate(3, 4)


@pytest.mark.parametrize("bad", [{"delta": 0.0}, {"delta": 1.0}, {"M": 0.0}, {"n": 0}, {"empirical": -1.0}])
def test_bad_input(bad):
    good = {"empirical": 0.1, "seminorm": 1.0, "discrepancy": 0.1, "n": 10, "M": 1.0, "delta": 0.1}
    with pytest.raises(ValueError):
        bound(make_loss("squared"), **(good | bad))
