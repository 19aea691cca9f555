"""The log loss of rows that belong to a class with a probability."""

import numpy as np
import pytest

from pldc.compact.soft_labels import SoftLabels, membership
from pldc.problem.losses import LogLoss

RNG = np.random.default_rng(0)


def case(m, outputs):
    F, q = 3 * RNG.normal(size=(4, outputs, 6)), RNG.dirichlet(np.ones(m), size=6)
    return F, q


@pytest.mark.parametrize("m, outputs", [(2, 1), (2, 2), (4, 4)])
def test_it_is_the_mean_of_the_log_loss_over_the_labels(m, outputs):
    F, q = case(m, outputs)
    value, slope = SoftLabels().both(F, q)
    plain = [LogLoss().both(F, np.full(6, float(k))) for k in range(m)]
    np.testing.assert_allclose(value, sum(q[:, k] * plain[k][0] for k in range(m)))
    np.testing.assert_allclose(slope, sum(q[:, k] * plain[k][1] for k in range(m)), atol=1e-12)


def test_gradient_against_differences_and_no_overflow():
    F, q = case(3, 3)
    slope = SoftLabels().gradient(F, q)
    for c in range(3):
        step = np.zeros_like(F)
        step[:, c] = 1e-6
        change = (SoftLabels().at(F + step, q) - SoftLabels().at(F - step, q)) / 2e-6
        np.testing.assert_allclose(slope[:, c], change, atol=1e-8)
    assert np.isfinite(SoftLabels().at(1e4 * F, q)).all()


def test_membership_of_labels():
    assert membership(np.array([2.0, 0.0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]
