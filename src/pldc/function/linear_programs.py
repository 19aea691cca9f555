"""The one small linear program behind pruning and the exact seminorm."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from pldc.function.max_affine import Array


def deepest_point(A: Array, b: Array) -> tuple[float, Array]:
    """Maximise t over (x, t) subject to A x + b ≥ t and t ≤ 1; return (t, x).

    A x + b ≥ 0 has a solution exactly when t ≥ 0. The cap keeps the program bounded.

    Rows should be of order one: divide slopes and offsets by a common scale first.
    """
    k, d = A.shape
    if k == 0:
        return 1.0, np.zeros(d)
    cost = np.zeros(d + 1)
    cost[-1] = -1.0
    rows = np.column_stack([-A, np.ones(k)])
    bounds = [(None, None)] * d + [(None, 1.0)]
    result = linprog(cost, A_ub=rows, b_ub=b, bounds=bounds, method="highs")
    if result.x is None:
        raise RuntimeError(f"The linear program of {k} rows in {d} variables failed: {result.message}")
    return float(result.x[-1]), result.x[:-1]
