"""The losses of classification against their definitions."""

import numpy as np
import pytest
from scipy.special import logsumexp

from pldc.problem.losses import Hinge, LogLoss, classes, softmax
from pldc.problem.losses.classes import balanced

BOTH = pytest.mark.parametrize("loss", [Hinge(), LogLoss()], ids=["hinge", "log"])


def table(m=4, o=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng, 2.0 * rng.normal(size=(m, o)), rng.integers(0, m, o).astype(float), rng.uniform(0.1, 1.0, o)


def test_values_by_hand():
    F, y = np.array([[1.0, 0.0], [0.5, 0.0], [-3.0, 2.0]]), np.array([0.0, 1.0])
    assert np.allclose(Hinge().at(F, y), [0.5, 1.0 + 3.0])
    assert np.allclose(LogLoss().at(F, y), logsumexp(F, axis=0) - [1.0, 0.0])


@BOTH
def test_prox_is_a_minimum(loss):
    rng, V, y, step = table()
    F = loss.prox(V, y, step)

    def objective(G):
        return step * loss.at(G, y) + 0.5 * ((G - V) ** 2).sum(axis=0)

    assert not np.allclose(F, V)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(200):
            assert (objective(F + size * rng.normal(size=F.shape)) >= objective(F) - 1e-12).all()


@pytest.mark.parametrize("m", [2, 3, 8])
@pytest.mark.parametrize("step", [0.01, 0.1, 1.0, 3.0, 30.0, 1000.0])
@pytest.mark.parametrize("size", [0.1, 1.0, 5.0, 300.0])
def test_prox_satisfies_the_optimality_conditions(m, step, size):
    rng = np.random.default_rng(m)
    V, y = size * rng.normal(size=(m, 400)), rng.integers(0, m, 400).astype(float)
    steps, own = np.full(400, step), np.arange(m)[:, None] == y
    F = LogLoss().prox(V, y, steps)
    rounding = 1e-9 + 1e-12 * size / step
    assert np.allclose((V - F) / step, LogLoss().gradient(F, y), atol=rounding)
    again = LogLoss().prox(V, y, steps, F + rng.normal(size=F.shape))  # from elsewhere
    assert np.allclose((V - again) / step, LogLoss().gradient(again, y), atol=rounding)
    F = Hinge().prox(V, y, steps)
    theta, margin = (V - F) / step, F - F[y.astype(int), np.arange(400)] + 1.0
    assert np.allclose(theta.sum(axis=0), 0.0, atol=1e-9)
    limits = np.where(margin > 1e-9, 1.0, 0.0), np.where(margin < -1e-9, 0.0, 1.0)
    assert (own | ((theta >= limits[0] - 1e-7) & (theta <= limits[1] + 1e-7))).all()


@BOTH
def test_reward_is_a_lower_bound_of_the_loss(loss):
    # ℓ(F) ≥ ⟨ω, F⟩ − ℓ*(ω) for every ω of the domain and every F, with equality at the gradient
    rng, F, y, w = table()
    for _ in range(20):
        omega = loss.nearest(rng.normal(size=F.shape), y, w)
        value, t = loss.reward(omega, y, w, 0.6)
        assert 0 <= t <= 0.6
        for scores in (F, 10.0 * rng.normal(size=F.shape)):
            assert w @ loss.at(scores, y) >= w @ (t * omega * scores).sum(axis=0) + value - 1e-9
    gradient = loss.gradient(F, y)
    tight, _ = loss.reward(gradient, y, w, 1.0)
    assert tight >= w @ loss.at(F, y) - w @ (gradient * F).sum(axis=0) - 1e-9


@BOTH
def test_nearest_is_in_balance(loss):
    rng, _, y, w = table()
    omega = loss.nearest(rng.normal(size=(4, 40)), y, w)
    label = y.astype(int)
    assert np.abs(omega @ w).max() <= 1e-12 * w.sum()
    assert np.allclose(omega.sum(axis=0), 0.0)
    others = np.where(np.arange(4)[:, None] == label, 0.0, omega)
    assert others.min() >= 0 and others.max() <= 1


@BOTH
def test_nearest_is_in_balance_for_odd_hints_too(loss):
    rng = np.random.default_rng(0)
    for k in range(60):
        m, o = int(rng.integers(2, 6)), 30
        y, w = rng.integers(0, m, o).astype(float), 10 ** rng.uniform(-3, 0, o)
        own = np.arange(m)[:, None] == y
        hints = (10 ** rng.uniform(-6, 1) * rng.normal(size=(m, o)), loss.gradient(30.0 * rng.normal(size=(m, o)), y))
        sparse = np.where(rng.uniform(size=(m, o)) < 0.1, 1.0, 0.0)
        for hint in (*hints, sparse):
            omega = loss.nearest(hint, y, w)
            assert np.abs(omega @ w).max() <= 1e-11 * max(np.abs(w * omega).sum(), 1e-3 * w.sum()), (k, m)
            assert np.where(own, 0.0, omega).min() >= 0 and np.where(own, 0.0, omega).max() <= 1 + 1e-12


@BOTH
def test_constants_are_the_best_ones_and_proved(loss):
    rng = np.random.default_rng(0)
    share = np.array([0.5, 0.3, 0.15, 0.05])
    labels = np.arange(4.0)
    b, omega = loss.constants(share)

    def risk(scores):
        return float(share @ loss.at(np.tile(scores, (4, 1)).T, labels))

    for _ in range(2000):
        assert risk(b + 10 ** rng.uniform(-3, 1) * rng.normal(size=4)) >= risk(b) - 1e-9
    assert np.allclose(share @ omega, 0.0, atol=1e-9)  # every class in balance
    value, _ = loss.reward(omega.T, labels, share, 1.0)
    assert value == pytest.approx(risk(b), rel=1e-6)


def test_a_class_that_is_not_there_does_no_harm():
    for loss in (Hinge(), LogLoss()):
        b, omega = loss.constants(np.array([0.6, 0.4, 0.0]))
        assert np.isfinite(b).all() and np.isfinite(omega).all() and b[2] < b.min(initial=np.inf, where=[1, 1, 0])


def test_balanced_leaves_a_circulation_alone():
    theta = np.array([[0.0, 0.5], [0.5, 0.0]])
    assert np.allclose(balanced(theta, np.array([0, 1]), np.ones(2)), theta)
    moved = balanced(np.array([[0.0, 0.5], [0.4, 0.0]]), np.array([0, 1]), np.ones(2))
    assert moved[1, 0] == pytest.approx(moved[0, 1])


def test_softmax_does_not_overflow():
    assert np.allclose(softmax(np.array([[1e4], [0.0]])), [[1.0], [0.0]])


def test_the_prox_of_large_scores_takes_few_steps(monkeypatch):
    """Rounding of large numbers was taken for ascent, and every step halved thirty times."""
    rng = np.random.default_rng(0)
    V, y = 300.0 * rng.normal(size=(3, 100)), rng.integers(0, 3, 100).astype(float)
    steps = np.full(100, 1000.0)
    F = LogLoss().prox(V, y, steps)
    calls = []
    plain = classes.log_sum
    monkeypatch.setattr(classes, "log_sum", lambda G: (calls.append(1), plain(G))[1])
    LogLoss().prox(V, y, steps, F + 0.1 * rng.normal(size=F.shape))
    assert 2 <= len(calls) <= 20
