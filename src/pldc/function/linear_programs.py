"""The one small linear program behind pruning and the exact seminorm."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from pldc.function.max_affine import Array

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def deepest_point(A: Array, b: Array) -> tuple[float, Array] | None:
    """Maximise t over (x, t) subject to A x + b ≥ t and t ≤ 1; return (t, x).

    A x + b ≥ 0 has a solution exactly when t ≥ 0. The cap keeps the program bounded; b should be of order one. Columns
    of A may have any scale. The t returned is computed from the rows at x, not taken from the solver. None if the
    solver fails with every setting tried, so that the caller can choose the safe side.
    """
    k, d = A.shape
    if k == 0:
        return 1.0, np.zeros(d)
    largest = np.abs(A).max(axis=0)
    A = A / np.where(largest > 0, largest, 1.0)
    cost = np.zeros(d + 1)
    cost[-1] = -1.0
    rows = np.column_stack([-A, np.ones(k)])
    bounds = [(None, None)] * d + [(None, 1.0)]
    for method, accuracy in (("highs", TIGHT), ("highs", {}), ("highs-ipm", {})):
        result = linprog(cost, A_ub=rows, b_ub=b, bounds=bounds, method=method, options=accuracy)
        if result.x is not None:
            x = result.x[:-1]
            return min(1.0, float((A @ x + b).min())), x / np.where(largest > 0, largest, 1.0)
    return None
