"""Any function beside the best possible one."""

from dataclasses import asdict

import numpy as np
import pytest
from tests import oracle
from tests.function.common import KINDS, additive, random_pldc
from tests.problems import PENALTIES, synthetic

from pldc import DCRegressor
from pldc.compact.members import Candidate, Task, fit_member
from pldc.function import PLDC, Hinges, MaxAffine
from pldc.problem import Huber, Quantile, make_loss
from pldc.problem.recipe import Rows
from pldc.problem.units import Units
from pldc.solve.compare import certify

TOL = 1e-3


def table(n=16, d=2, seed=0):
    X, y = synthetic(n, d, seed)
    return 10.0 + 3.0 * X, 5.0 - 2.0 * y


def standard(X, y, weight=None):
    """Standardised by a weighted mean and deviation."""
    w = np.ones(len(y)) if weight is None else weight

    def scaled(v):
        centred = v - np.average(v, axis=0, weights=w)
        return centred / np.sqrt(np.average(centred**2, axis=0, weights=w))

    return scaled(X), scaled(y)


def compact(kind, X, y, loss="squared"):
    """A compact fit of a kind."""
    rows = Rows(X, y, np.ones(len(y)))
    task = Task(rows, Units.of(*rows), make_loss(loss), "dc", np.zeros(X.shape[1], dtype=int))

    def fitted(candidate):
        return fit_member(task, candidate, rows.weight[None], [0], None, lambda: False)[0].function(0, 0)

    plain, hinged = Candidate(0, 4, (1e-2,), steps=40), Candidate(4, 3, (1e-2,), steps=40)
    if kind == "sum":
        return PLDC.mean([fitted(plain), fitted(hinged)])
    return fitted(plain if kind == "plain" else hinged)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_no_random_function_is_below_the_bound(loss, penalty):
    X, y = table()
    rng = np.random.default_rng(0)
    Z = np.eye(2) / X.std(axis=0), -X.mean(axis=0) / X.std(axis=0)
    for lam in (0.01, 0.3):
        for _ in range(3):
            f = random_pldc(rng, 3, 2, 2).compose(*Z) * y.std() + y.mean()
            found = certify(f, X, y, lam, loss=loss, penalty=penalty)
            assert 0 < found.lower <= found.upper and 0 <= found.gap < 1
            assert found.gap == pytest.approx((found.upper - found.lower) / found.upper)
            assert found.upper == pytest.approx(found.loss + lam * found.seminorm)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_compact_fit_is_below_the_bound(kind, loss, penalty):
    X, y = table(seed=1)
    f = compact(kind, X, y, loss)
    assert f.is_plain == (kind == "plain")
    found = certify(f, X, y, 0.05, loss=loss, penalty=penalty)
    assert found.lower <= found.upper
    r = (f(X) - y) / y.std()
    assert found.loss == pytest.approx(np.mean(r**2 if loss == "squared" else np.abs(r)))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_bound_is_that_of_an_independent_solver(loss, penalty):
    X, y = table(n=12, seed=2)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, 12)
    best = oracle.optimum(*standard(X, y, weight), loss=loss, penalty=penalty, lam=0.1, weight=weight)
    found = certify(PLDC.affine([0.0, 0.0]), X, y, 0.1, loss=loss, penalty=penalty, sample_weight=weight, tol=TOL)
    assert best * (1 - 1.1 * TOL) <= found.lower <= best * (1 + 1e-7)


def test_the_bound_in_the_units_of_the_data():
    X, y = synthetic(10, 2)
    best = oracle.optimum(X, y, loss="squared", penalty="joint", lam=0.1)
    found = certify(PLDC.affine([0.0, 0.0]), X, y, 0.1, penalty="joint", standardize=False)
    assert best * (1 - 1.1 * TOL) <= found.lower <= best * (1 + 1e-7)
    assert found.seminorm == 0 and found.upper == pytest.approx(np.mean(y**2))


@pytest.mark.parametrize("loss", [Quantile(0.8), Huber(0.5)])
def test_other_losses(loss):
    X, y = table(n=12, seed=3)
    best = oracle.optimum(*standard(X, y), loss=loss.name, penalty="componentwise", lam=0.1, **asdict(loss))
    found = certify(PLDC.affine([0.0, 0.0], y.mean()), X, y, 0.1, loss=loss)
    assert best * (1 - 1.1 * TOL) <= found.lower <= best * (1 + 1e-7) and best <= found.upper


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_solution_of_the_program_is_as_good_as_its_certificate_says(penalty, loss):
    X, y = table(n=25, seed=4)
    model = DCRegressor(lam=0.05, penalty=penalty, loss=loss).fit(X, y)
    found = certify(model.function_, X, y, 0.05, penalty=penalty, loss=loss)
    assert found.upper == pytest.approx(model.certificate_.upper, abs=1e-6)
    assert found.seminorm == pytest.approx(model.seminorm_, abs=1e-5)
    assert found.gap <= 2e-3


def test_an_affine_function_in_both_parts_costs_nothing():
    X, y = table(n=14, seed=5)
    f = DCRegressor(lam=0.05).fit(X, y).function_
    parts = (MaxAffine(part.slopes + [3.0, -2.0], part.offsets + 1.0) for part in (f.plus, f.minus))
    tilted = PLDC(*parts)
    np.testing.assert_allclose(tilted(X), f(X))
    one, other = (certify(g, X, y, 0.05) for g in (f, tilted))
    assert other.upper == pytest.approx(one.upper, rel=1e-9)


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none():
    X, y = table(n=12)
    f = random_pldc(np.random.default_rng(0), 2, 2, 2)
    counts = np.arange(12) % 3
    twice = np.repeat(np.arange(12), counts)
    one, other = certify(f, X, y, 0.1, sample_weight=counts), certify(f, X[twice], y[twice], 0.1)
    assert one.upper == pytest.approx(other.upper) and one.lower == pytest.approx(other.lower, rel=2 * TOL)


def test_a_perfect_function_has_no_gap():
    X = np.random.default_rng(0).normal(size=(8, 2))
    found = certify(PLDC.affine([0.0, 0.0], 3.0), X, np.full(8, 3.0), 0.1)
    assert found.upper == 0 and found.gap == 0 and found.lower <= 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"X": np.zeros(5)}, "X must have shape"),
        ({"X": np.zeros((4, 2))}, "X must have shape"),
        ({"X": np.zeros((1, 2)), "y": np.zeros(1)}, "n at least 2"),
        ({"y": np.zeros((5, 1))}, "X must have shape"),
        ({"y": np.array([0, 1, 2, 3, np.nan])}, "finite"),
        ({"X": np.full((5, 2), np.inf)}, "finite"),
        ({"lam": 0.0}, "lam must be"),
        ({"lam": -1.0}, "lam must be"),
        ({"lam": np.nan}, "lam must be"),
        ({"lam": np.inf}, "lam must be"),
        ({"lam": "cv"}, "lam must be"),
        ({"sample_weight": np.ones(4)}, "sample_weight"),
        ({"sample_weight": -np.ones(5)}, "sample_weight"),
        ({"sample_weight": np.zeros(5)}, "sample_weight"),
        ({"sample_weight": np.full(5, np.nan)}, "sample_weight"),
        ({"sample_weight": np.full(5, np.inf)}, "sample_weight"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"penalty": "none"}, "penalty must be one of"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"function": PLDC.affine([1.0])}, "Expected points of shape"),
    ],
)
def test_refuses_what_makes_no_sense(change, message):
    X = np.random.default_rng(0).normal(size=(5, 2))
    settings = {"function": PLDC.affine([1.0, 2.0]), "X": X, "y": X[:, 0], "lam": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        certify(**settings)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_no_compact_fit_of_any_table_is_below_the_bound(loss, penalty):
    for seed in range(5):
        X, y = table(n=10, d=1 + seed % 3, seed=10 + seed)
        lower = []
        for kind in KINDS:
            found = certify(compact(kind, X, y, loss), X, y, 0.05, loss=loss, penalty=penalty)
            assert 0 < found.lower <= found.upper
            lower.append(found.lower)
        assert np.ptp(lower) == 0  # the bound knows nothing of the function
        best = oracle.optimum(*standard(X, y), loss=loss, penalty=penalty, lam=0.05)
        assert best * (1 - 1.1 * TOL) <= lower[0] <= best * (1 + 1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_hinged_functions_and_sums_are_measured_in_the_units_of_the_program(penalty):
    X, y = table(n=8)
    slope = np.array([0.7, -0.2])
    size = np.abs(slope * X.std(axis=0) / y.std()).sum()
    straight = additive(slope, Hinges([[], []]))
    assert certify(straight, X, y, 0.1, penalty=penalty).seminorm == pytest.approx(size)
    total = PLDC.total([straight, straight, PLDC.affine(slope)])
    assert certify(total, X, y, 0.1, penalty=penalty).seminorm == pytest.approx(3 * size)
    # A hill: up with slope 1, down with slope −1, flat beyond. To its slope comes the bend of 2 at the top.
    hill = additive([0.0, 0.0, 3.0, -3.0], Hinges([[7.0, 10.0, 13.0], []]))
    found = certify(hill, X, y, 0.1, penalty=penalty)
    assert found.seminorm == pytest.approx(3.0 * X[:, 0].std() / y.std())
