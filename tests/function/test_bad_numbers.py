"""What is no real number is refused with a sentence, wherever a function takes numbers."""

import numpy as np
import pytest

from pldc import DCClassifier, DCRegressor, Huber, certify, interpolate
from pldc.function import PLDC, MaxAffine, explain

F = abs(PLDC.affine([1.0, 2.0]))
BEYOND = 10**400  # of all floats
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
TAKERS = {
    "MaxAffine": lambda x: MaxAffine([[x]], [0.0]),
    "affine": lambda x: PLDC.affine([x, 0.0]),
    "intercept": lambda x: PLDC.affine([0.0], x),
    "call": lambda x: F([[x, 0.0]]),
    "moved": lambda x: F.moved([x, 0.0]),
    "compose": lambda x: F.compose([[x], [0.0]]),
    "compose vector": lambda x: F.compose(np.eye(2), [x, 0.0]),
    "room": lambda x: F.room(X, [x, 1.0]),
    "bounds": lambda x: F.minimize([(x, 3 * x), (0, 1)]),
    "A_ub": lambda x: F.minimize([(0, 1)] * 2, A_ub=[[x, 1.0]], b_ub=[1.0]),
    "reference": lambda x: explain(F, X, [x, 0.0]),
    "interpolate": lambda x: interpolate([[x], [0.0]], [0.0, 1.0]),
    "certify": lambda x: certify(F, [[x, 0.0], [0.0, 1.0]], [0.0, 1.0], 0.1),
}


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_arrays(take):
    with pytest.raises(ValueError, match="beyond all floats"):
        take(BEYOND)
    with pytest.raises(ValueError, match="complex"):
        take(1j)


@pytest.mark.parametrize(
    "calculate",
    [
        lambda x: F + x,
        lambda x: x - F,
        lambda x: F - x,
        lambda x: F * x,
        lambda x: F / x,
        lambda x: F.maximum(x),
        lambda x: F.minimum(x),
        lambda x: F.lipschitz(x),
    ],
)
def test_numbers(calculate):
    with pytest.raises(ValueError, match="beyond all floats"):
        calculate(BEYOND)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: F("a"), "X must hold numbers: could not convert"),
        (lambda: MaxAffine([[1.0], [1.0, 2.0]], [0.0, 0.0]), "slopes must hold numbers"),
        (lambda: F.prune(tol="a"), "tol must be a finite number ≥ 0, got 'a'"),
        (lambda: F.prune(X, tol=np.ones(2)), "tol must be a finite number ≥ 0, got array"),
        (lambda: explain(F, X, neighbourhood="a"), "neighbourhood must be a finite number"),
        (lambda: explain(F, X, neighbourhood=np.ones(2)), "neighbourhood must be a finite number"),
        (lambda: F.seminorm_bound(np.ones(2)), "norm must be one of"),
        (lambda: F.lipschitz(np.ones(2)), "A number is needed, got ndarray"),
        (lambda: interpolate(X, X[:, 0], method=np.ones(2)), "method must be one of"),
        (lambda: PLDC.from_relu([None]), "Layer 1 must be a pair"),
        (lambda: DCClassifier(loss=np.ones(2)).fit(X, [0, 1, 0]), "loss must be one of"),
        (lambda: DCRegressor(verbose=np.ones(2)).fit(X, [0, 1, 0]), "verbose must be"),
    ],
)
def test_messages_name_what_is_wrong(ask, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ask()


def test_masks_are_not_looked_through():
    for values in (np.ma.masked_array(X, X > 1), np.ma.masked_array(X, True)):
        with pytest.raises(ValueError, match="masked array"):
            F(values)
    np.testing.assert_array_equal(F(np.ma.masked_array(X, False)), F(X))
    with pytest.raises(ValueError, match="slopes is a masked array"):
        MaxAffine(np.ma.masked_array([[1.0]], [[True]]), [0.0])


def test_what_overflows_is_refused_without_a_warning():
    for large in (lambda: F * 1e308, lambda: 1e308 * F + 1e308 * F, lambda: F.compose(1e308 * np.eye(2))):
        with pytest.raises(ValueError, match="finite"):
            large()
    with pytest.raises(ValueError, match="divided by zero"):
        F / 0
    with pytest.raises(ValueError, match="positive finite number"):
        Huber(BEYOND)
    for wrong in (1.5, np.inf, 0, "a"):
        with pytest.raises(ValueError, match="n_jobs must be"):
            F.minimize([(0, 1)] * 2, n_jobs=wrong)
