"""What every loss must satisfy, by name and with other numbers: against differences, brute force and other problems."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from sklearn.base import clone

import pldc
from pldc import DCRegressor
from pldc.problem import Huber, Loss, Problem, Quantile, Squared, make_loss, make_penalty
from pldc.problem.losses import LOSSES, Boxed
from pldc.problem.scaling import normalise

EVERY = [*(kind() for kind in LOSSES.values()), Huber(0.3), Quantile(0.8), Quantile(0.1), Boxed(0.3, 0.5, 2.0)]
VALUES = [loss for loss in EVERY if not loss.scores]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=repr)
value_loss = pytest.mark.parametrize("loss", VALUES, ids=repr)


def targets(loss, n=30, seed=0):
    """Targets that the loss is for."""
    rng = np.random.default_rng(seed)
    if loss.scores:
        return np.append(np.arange(3.0), rng.integers(0, 3, n - 3))
    return np.append(np.arange(3.0), rng.gamma(2.0, size=n - 3)) if loss.nonnegative else rng.normal(size=n)


def fits(loss, y, seed=1):
    """Values or scores, some of them far off."""
    rng = np.random.default_rng(seed)
    size = 10 ** rng.uniform(-2, 1, len(y))
    return y + size * rng.normal(size=len(y)) if not loss.scores else size * rng.normal(size=(3, len(y)))


def problem_of(loss, n=30, **settings):
    rng = np.random.default_rng(2)
    X, y = np.round(rng.normal(size=(n, 2))), targets(loss, n)
    settings = {"penalty": make_penalty("joint"), "lam": 0.05, "weight": rng.uniform(0.5, 2.0, n)} | settings
    return Problem.from_data(X, y, loss=loss, outputs=3 if loss.scores else 1, **settings)


@every_loss
def test_gradients_are_those_of_differences(loss):
    y = targets(loss, 200)
    f, h = fits(loss, y), 1e-7
    value, gradient = loss.both(f, y)
    rounding = 8 * np.finfo(float).eps * np.abs(f).max()  # the log loss sums in another order
    np.testing.assert_allclose(value, loss.at(f, y), rtol=1e-14, atol=rounding)
    np.testing.assert_array_equal(gradient, loss.gradient(f, y))
    wrong = 0
    for c in range(len(np.atleast_2d(f))):
        move = h if f.ndim == 1 else h * (np.arange(3) == c)[:, None]
        slope = (loss.at(f + move, y) - loss.at(f - move, y)) / (2 * h)
        wrong += (~np.isclose(gradient if f.ndim == 1 else gradient[c], slope, rtol=1e-5, atol=1e-5)).sum()
    assert wrong == 0 and np.abs(gradient).max() > 0.1


@every_loss
def test_losses_are_convex_and_never_negative(loss):
    y = targets(loss, 200)
    a, b = fits(loss, y, 3), fits(loss, y, 4)
    assert loss.at(a, y).min() >= 0
    middle = loss.at(0.5 * (a + b), y)
    assert (middle <= 0.5 * (loss.at(a, y) + loss.at(b, y)) + 1e-12).all() and (middle < loss.at(a, y)).any()


@every_loss
def test_fenchel_young(loss):
    """ℓ(f) + ℓ*(ω) ≥ ⟨ω, f⟩ for all f and ω, with equality at the gradient."""
    y = targets(loss, 100)
    f, other = fits(loss, y), fits(loss, y, 5)
    omega = loss.gradient(f, y)

    def product(g):
        return (omega * g).reshape(-1, len(y)).sum(axis=0)

    scale = 1.0 + np.abs(product(f))
    assert np.abs(loss.at(f, y) + loss.conjugate(omega, y) - product(f)).max() <= 1e-9 * scale.max()
    assert (loss.at(other, y) + loss.conjugate(omega, y) >= product(other) - 1e-9 * scale).all()


@value_loss
def test_the_conjugate_is_the_supremum_over_a_grid(loss):
    around = np.linspace(-40, 80, 1_200_001)
    for y in targets(loss, 5):
        grid = y + around
        omega = loss.gradient(np.array([y - 1.3, y - 0.2, y + 0.1, y + 2.0]), np.full(4, y))
        brute = [(w * grid - loss.at(grid, y)).max() for w in 0.9 * omega]
        np.testing.assert_allclose(loss.conjugate(0.9 * omega, np.full(4, y)), brute, rtol=1e-6, atol=1e-6)


@value_loss
def test_outside_of_the_room_the_conjugate_is_infinite(loss):
    y = targets(loss, 3)
    for sign in (-1.0, 1.0):
        room = loss.room(np.array([sign, 0.0, 0.5 * sign]))
        if np.isfinite(room):
            assert (loss.conjugate(np.full(3, 0.999 * room * sign), y) < np.inf).all()
            assert (loss.conjugate(np.full(3, 1.001 * room * sign), y) == np.inf).all()


@every_loss
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_moreau(loss, size):
    """v − prox is step times a gradient at the prox (a subgradient: ℓ + ℓ* = ⟨ω, f⟩ there)."""
    y = targets(loss, 60)
    v, step = fits(loss, y), size * np.random.default_rng(0).uniform(0.5, 2.0, 60)
    f = loss.prox(v, y, step)
    omega = (v - f) / step
    # Into the domain of the conjugate, from which rounding may have moved it.
    t = min(1.0, *(loss.room(omega[..., [k]], y[[k]]) for k in range(60))) if not loss.gives_probabilities else 1.0
    gap = loss.at(f, y) + loss.conjugate(t * omega, y) - (omega * f).reshape(-1, 60).sum(axis=0)
    assert t >= 1 - 1e-9 and np.abs(gap).max() <= 1e-6 * (1 + np.abs(omega * f).max())
    again = loss.prox(v, y, step, f + 0.1 * np.random.default_rng(1).normal(size=f.shape))
    np.testing.assert_allclose(again, f, rtol=1e-7, atol=1e-7)


@value_loss
def test_a_fit_has_the_derivative_that_it_is_made_for(loss):
    y = targets(loss, 40)
    f = fits(loss, y)
    omega = 0.9 * loss.gradient(f, y)
    best = loss.fit_at(omega, y)
    for move in (-1e-3, 1e-3):
        rise = loss.at(best + move, y) - omega * (best + move) - loss.at(best, y) + omega * best
        assert (rise >= -1e-9).all()


@value_loss
def test_least_squares_weights_point_along_the_gradient(loss):
    y = targets(loss, 60) + 0.5
    f = fits(loss, y)
    weight = loss.irls_weight(f, y)
    assert (weight > 0).all()
    np.testing.assert_allclose(weight * (f - y), loss.gradient(f, y), rtol=1e-9, atol=1e-9)


@every_loss
def test_the_best_constant_is_best_and_proved(loss):
    problem = problem_of(loss)
    constant, share = loss.constant(problem)
    risk = problem.risk(np.multiply.outer(constant, np.ones(len(problem.X))))
    rng = np.random.default_rng(0)
    for _ in range(300):
        other = constant + 10 ** rng.uniform(-3, 1) * rng.normal(size=np.shape(constant))
        assert problem.risk(np.multiply.outer(other, np.ones(len(problem.X)))) >= risk - 1e-9
    assert np.abs(share.sum(axis=-1)).max() <= 1e-9
    earned, t = loss.reward(share / problem.weight, problem.y, problem.weight, 1.0)
    assert t == pytest.approx(1.0) and earned == pytest.approx(risk, rel=1e-6)


@every_loss
def test_reward_is_the_best_along_the_ray(loss):
    y, w = targets(loss), np.full(30, 1 / 30)
    omega = loss.gradient(fits(loss, y), y)
    omega = omega - omega.mean(axis=-1, keepdims=True) if not loss.scores else loss.nearest(omega, y, w)
    omega = omega * min(1.0, loss.room(omega, y))
    for most in (0.2, 0.7, 1.0):
        value, t = loss.reward(omega, y, w, most)
        brute = max(-float(w @ loss.conjugate(s * omega, y)) for s in np.linspace(0, most, 2001))
        assert 0 <= t <= most and value >= brute - 1e-7 and value >= 0
        assert value == pytest.approx(-float(w @ loss.conjugate(t * omega, y)), abs=1e-9)


@value_loss
def test_split_shares_out_the_whole_in_the_best_way(loss):
    problem = problem_of(loss)
    assert len(problem.y) > len(problem.X)
    f = np.random.default_rng(0).uniform(0.2, 2.0, len(problem.X))
    omega = problem.at_nodes(problem.weight * loss.gradient(f[problem.node], problem.y))
    share = loss.split(problem, omega)
    np.testing.assert_allclose(problem.at_nodes(share), omega, atol=1e-15)
    room = min(1.0, loss.room(share / problem.weight))
    assert room >= 1 - 2e-12  # but for rounding, shares are in the domain
    earned = -problem.weight @ loss.conjugate(room * share / problem.weight, problem.y)
    # By duality: the sum of the conjugates is that of the summed losses, ω f − Σ w ℓ(f) at its best f.
    assert earned == pytest.approx(problem.risk(f) - omega @ f, abs=1e-9)


@every_loss
def test_scaled_numbers_are_the_same_problem(loss):
    problem = problem_of(loss, penalty=make_penalty("componentwise"))
    problem = replace(problem, y=problem.y if loss.scores else 7.0 * problem.y)
    scaled, scaling = normalise(problem)
    assert scaling.y_shift == 0.0 or loss.shifts
    assert scaling.y_size == 1.0 or loss.scales
    f = fits(loss, problem.y)[..., : len(problem.X)]
    moved = (f - scaling.y_shift) / scaling.y_size
    assert problem.risk(f) == pytest.approx(scaling.y_size**loss.degree * scaled.risk(moved), rel=1e-10)


@every_loss
def test_a_smoothed_loss_is_close_and_its_gradient_does_not_jump(loss):
    if loss.scores:
        return
    y = targets(loss, 50)
    smooth = loss.smoothed(0.02)
    f = np.maximum(y + np.linspace(-3, 3, 50), 0.05 if loss.nonnegative else -np.inf)
    assert np.abs(smooth.at(f, y) - loss.at(f, y)).max() <= 0.05 * (1 + loss.at(f, y).max())
    at = np.full(50, y[3])
    for f in (at, at + 0.02, at - 0.02):
        assert np.abs(smooth.gradient(f + 1e-9, at) - smooth.gradient(f - 1e-9, at)).max() <= 1e-4


@every_loss
def test_the_best_multiple_is_no_worse_than_the_fit(loss):
    problem = problem_of(loss)
    f = fits(loss, problem.y)
    (t, b), size = loss.multiple(problem, f, 0.1), 0.1

    def cost(fit, factor):
        return float(problem.weight @ loss.at(fit, problem.y)) + factor * size

    moved = t * f + (b[:, None] if loss.scores else b)
    assert t >= 0 and cost(moved, t) < cost(f, 1.0)
    one = np.ones(len(problem.y))
    best = cost(np.multiply.outer(problem.null_fit, one), 0.0)
    off = np.multiply.outer(problem.null_fit + (np.arange(3.0) if loss.scores else 1.0), one)
    t, b = loss.multiple(problem, off, 0.0)
    moved = t * off + (b[:, None] if loss.scores else b)
    assert cost(moved, 0.0) <= best + 0.2 * (cost(off, 0.0) - best)


@every_loss
def test_objects_are_what_one_types(loss):
    typed = {name: getattr(pldc.problem.losses, name) for name in ("Boxed", *(k.__name__ for k in LOSSES.values()))}
    assert eval(repr(loss), typed) == loss and make_loss(loss) is loss
    for same in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
        assert same == loss and hash(same) == hash(loss)
    for field in fields(loss):
        with pytest.raises(FrozenInstanceError):
            setattr(loss, field.name, 2.0)


def test_names_stand_for_default_numbers():
    assert make_loss("huber") == Huber(1.35) and make_loss("quantile") == Quantile(0.5) != Quantile(0.4)
    assert {make_loss(name).name for name in LOSSES} == set(LOSSES)
    assert all(getattr(pldc, kind.__name__) is kind for kind in LOSSES.values())


@pytest.mark.parametrize("bad", ["square", None, 1.0, Huber, ("squared",)])
def test_what_is_no_loss_is_refused_with_what_is(bad):
    with pytest.raises(
        ValueError, match=r"loss must be one of .*squared.*, or an object such as .*Huber\(delta=1.35\)"
    ):
        make_loss(bad)


def test_a_loss_of_the_other_kind_is_refused():
    for bad, classes in (("hinge", False), ("squared", True), (Squared(), True), (make_loss("log"), False)):
        with pytest.raises(ValueError, match="loss must be one of"):
            make_loss(bad, classes=classes)
    with pytest.raises(ValueError, match="Several outputs"):
        Squared().check(np.zeros(3), 2)


def test_estimators_clone_and_print_them():
    model = DCRegressor(loss=Quantile(0.9))
    assert clone(model).loss == Quantile(0.9) and "Quantile(level=0.9)" in repr(model)
    assert issubclass(Quantile, Loss)
