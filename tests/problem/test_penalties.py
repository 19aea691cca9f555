import numpy as np
import pytest

from pldc.problem.penalties import EachOutput, make_penalty

every_penalty = pytest.mark.parametrize(
    "penalty", [make_penalty("joint"), make_penalty("componentwise")], ids=lambda p: p.name
)
SHAPES = [(2, 7, 3), (1, 5, 4), (2, 1, 1), (2, 30, 1), (1, 3, 6)]


def test_values_by_hand():
    slopes = np.array([[[1.0, -2.0], [0.0, 3.0]], [[0.5, 0.0], [-1.0, 1.0]]])  # (P, n, d)
    assert make_penalty("joint").value(slopes) == 5.0  # point 1: 0 + 3 + 1 + 1
    assert make_penalty("componentwise").value(slopes) == 1.5 + 4.0


@every_penalty
@pytest.mark.parametrize("shape", SHAPES)
def test_dual_norm_bounds_and_is_attained(penalty, shape):
    rng = np.random.default_rng(0)
    for _ in range(20):
        g, h = rng.standard_normal(shape), rng.standard_normal(shape)
        assert np.vdot(g, h) <= penalty.value(g) * penalty.dual(np.abs(h)) + 1e-12
    # The dual norm is attained: put the whole allowance where h is largest.
    h = rng.standard_normal(shape)
    size = np.abs(h)
    best = np.zeros(shape)
    if penalty.name == "joint":
        for j in range(shape[1]):
            p, k = np.unravel_index(size[:, j].argmax(), size[:, j].shape)
            best[p, j, k] = np.sign(h[p, j, k])
    else:
        k = size.max(axis=0).sum(axis=0).argmax()
        p = size[:, :, k].argmax(axis=0)
        j = np.arange(shape[1])
        best[p, j, k] = np.sign(h[p, j, k])
    assert penalty.value(best) == pytest.approx(1.0)
    assert np.vdot(best, h) == pytest.approx(penalty.dual(size))


@every_penalty
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [1e-3, 0.3, 3.0, 1e3])
def test_prox_is_optimal(penalty, shape, step):
    # g = prox(v) if and only if v − g is a subgradient: dual(v − g) ≤ step and ⟨v − g, g⟩ = step · penalty(g).
    v = np.random.default_rng(1).standard_normal(shape)
    g = penalty.prox(v, step)
    assert penalty.dual(np.abs(v - g)) <= step * (1 + 1e-10)
    assert np.vdot(v - g, g) == pytest.approx(step * penalty.value(g), abs=1e-12, rel=1e-9)


@every_penalty
def test_prox_of_a_large_step_is_zero_and_of_zero_is_zero(penalty):
    v = np.random.default_rng(2).standard_normal((2, 4, 3))
    assert not penalty.prox(v, 1e6).any()
    assert not penalty.prox(np.zeros((2, 4, 3)), 1.0).any()


def test_unknown_name():
    with pytest.raises(ValueError, match=r"penalty must be one of .*'joint'.*, got 'l2'"):
        make_penalty("l2")


@every_penalty
def test_several_outputs_are_each_by_themselves(penalty):
    v = np.random.default_rng(0).normal(size=(6, 9, 4))  # three outputs of two parts
    together, parts = EachOutput(penalty, 3), np.split(v, 3)
    assert np.allclose(together.prox(v, 0.7), np.concatenate([penalty.prox(part, 0.7) for part in parts]))
    near = together.bounds(together.prox(v, 0.6))
    assert np.allclose(together.prox(v, 0.7, near), together.prox(v, 0.7))
    assert together.value(v) == pytest.approx(sum(penalty.value(part) for part in parts))
    assert np.array_equal(together.ungroup(together.groups(v), v.shape), v)


@pytest.mark.parametrize("name", ["componentwise", "joint"])
def test_a_huge_step_from_a_bound_that_is_far_too_large_overflows_nowhere(name):
    v = np.ones((2, 3, 2))
    penalty = make_penalty(name)
    near = np.full(len(penalty.bounds(v)), 1e3)  # no slope is cut there: the excess is the whole step
    assert not penalty.prox(v, 1e12, near).any()
