"""Partial dependence with exact kinks, against the mean of the function at the same points."""

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions

from pldc import PLDC
from pldc.function.curve import partial_dependence

NO_LIMITS = (-np.inf, np.inf)


def at(f, feature, points, x, limits=NO_LIMITS):
    moved = np.tile(points, (len(x), 1))
    moved[:, feature] = np.repeat(x, len(points))
    return np.clip(f(moved), *limits).reshape(len(x), -1).mean(axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_curves_are_means_everywhere(kind, seed):
    rng = np.random.default_rng(seed)
    f = random_functions(rng, d := 1 + seed % 3)[kind]
    points, feature = rng.normal(size=(12, d)), seed % d
    limits = [NO_LIMITS, (-0.5, 1.0), (0.0, np.inf)][seed % 3]
    found = partial_dependence(f, feature, points, -3.0, 3.0, limits)
    x = np.concatenate([[-3.0, 3.0], found.x, rng.uniform(-3, 3, 100)])
    np.testing.assert_allclose(found(x), at(f, feature, points, x, limits), rtol=0, atol=1e-10)
    assert found.x[0] == -3.0 and found.x[-1] == 3.0 and (np.diff(found.x) > 0).all()
    assert np.isnan(found([-3.1, 3.1])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_inside_is_a_kink(kind):
    f = random_functions(np.random.default_rng(11), 2)[kind]
    points = np.random.default_rng(12).normal(size=(10, 2))
    found = partial_dependence(f, 0, points, -2.0, 2.0)
    bends = np.abs(np.diff(found.slopes))
    assert len(found) > 10 and bends.min() > 1e-9 * np.abs(found.slopes).max()


def test_simple_curves():
    points = np.array([[0.0, 1.0], [0.0, 3.0]])
    line = partial_dependence(PLDC.affine([2.0, 1.0], 1.0), 0, points, -1.0, 4.0)
    assert line.x.tolist() == [-1.0, 4.0] and line.y.tolist() == [1.0, 11.0] and line.slopes.tolist() == [2.0]
    hat = partial_dependence(abs(PLDC.affine([1.0, 0.0])), 0, points, -1.0, 4.0, name="dose")
    assert hat.x.tolist() == [-1.0, 0.0, 4.0] and hat.y.tolist() == [1.0, 0.0, 4.0]
    assert repr(hat) == "Curve(dose: 3 points, mean of 2 rows)"
    flat = partial_dependence(abs(PLDC.affine([1.0, 0.0])), 1, points, 1.0, 3.0)
    assert len(flat) == 2 and flat.y.tolist() == [0.0, 0.0]
    point = partial_dependence(abs(PLDC.affine([1.0, 0.0])), 0, points, 2.0, 2.0)
    assert point.x.tolist() == [2.0] and point.y.tolist() == [2.0]
