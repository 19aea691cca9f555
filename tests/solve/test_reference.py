"""The paper's Algorithm 1: its limit is the optimum of the program, certified and found by the exact engine."""

import numpy as np
import pytest
from tests.problems import synthetic

from pldc.problem import certify
from pldc.solve import Exact
from pldc.solve.reference import algorithm_1, reference_solution


@pytest.mark.parametrize(
    "n, d, lam, seed", [(12, 1, 0.5, 0), (15, 2, 0.5, 1), (20, 2, 2.0, 2), (12, 3, 0.1, 3), (15, 3, 5.0, 4)]
)
def test_limit_agrees_with_the_exact_engine(n, d, lam, seed):
    X, y = synthetic(n, d, seed)
    problem, limit = reference_solution(X, y, lam, T=6000, rho=0.1)
    exact = certify(problem, Exact(tol=1e-7).solve(problem))
    raw = n * problem.objective(limit)  # the paper's own objective at its own iterate, unrepaired
    assert raw / n == pytest.approx(exact.upper, rel=1e-3)
    np.testing.assert_allclose(
        problem.fit(limit.values, limit.linear),
        problem.fit(exact.solution.values, exact.solution.linear),
        atol=0.02,
    )


def test_its_own_multipliers_certify_it():
    X, y = synthetic(15, 2)
    problem, limit = reference_solution(X, y, 0.5, T=6000, rho=0.1)
    assert certify(problem, limit).gap < 1e-3
    early = reference_solution(X, y, 0.5, T=20, rho=0.1)[1]
    assert certify(problem, early).gap > 1e-2


def test_updates_by_hand_for_one_iteration():
    """From the zero start: A_i = 2 Σ_j y_j, B = 0, so ŷ = 2y/(2 + nρ) + ρ Σy/(2 + nρ), z = (−y + Σy/n)/(2 + nρ)."""
    X, y = synthetic(6, 2)
    y = y + 0.3
    state = algorithm_1(X, y, lam=1.0, T=1, rho=0.5)
    np.testing.assert_allclose(state["y_hat"], (2 * y + 0.5 * y.sum()) / (2 + 3.0))
    np.testing.assert_allclose(state["z"], (-y + y.mean()) / (2 + 3.0))
    np.testing.assert_allclose(state["L"], -1.0 / 0.5 / 6)
    assert (state["alpha"] >= -1e-15).all() and (state["s"] >= 0).all()
    assert state["alpha"].max() > 0.1 and state["s"].max() > 0.1


def test_repeated_rows_are_refused():
    with pytest.raises(ValueError, match="distinct"):
        reference_solution(np.zeros((3, 1)), np.arange(3.0), 1.0, T=1)
