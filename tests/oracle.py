"""An independent model of the program in CVXPY, written from its statement and sharing no code with the package."""

import cvxpy as cp
import numpy as np


def optimum(X, y, *, loss, penalty, lam, weight=None, shape="dc", monotone=None, linear=False, delta=1.0, level=0.5):
    """Optimal value of the program, by Clarabel."""
    n, d = X.shape
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    w = w / w.sum()
    constraints = []
    phi, slopes = [], []
    signs = {"dc": [1, -1], "convex": [1], "concave": [-1]}[shape]
    for sign in signs:
        value, slope = cp.Variable(n), cp.Variable((n, d))
        for j in range(n):
            constraints.append(value - value[j] >= (X - X[j]) @ slope[j])
        if monotone is not None:
            for k, m in enumerate(monotone):
                if m != 0:
                    constraints.append(sign * m * slope[:, k] >= 0)
        phi.append(value)
        slopes.append(slope)
    fit = sum(sign * value for sign, value in zip(signs, phi, strict=True))
    if linear:
        c = cp.Variable(d)
        fit = fit + X @ c
        if monotone is not None:
            constraints += [m * c[k] >= 0 for k, m in enumerate(monotone) if m != 0]
    r = fit - y
    risk = {
        "squared": lambda: cp.sum(cp.multiply(w, cp.square(r))),
        "absolute": lambda: cp.sum(cp.multiply(w, cp.abs(r))),
        "huber": lambda: cp.sum(cp.multiply(w, cp.huber(r, delta))),
        "quantile": lambda: 2 * cp.sum(cp.multiply(w, level * cp.pos(-r) + (1 - level) * cp.pos(r))),
    }[loss]()
    total = sum(cp.abs(slope) for slope in slopes)
    seminorm = cp.max(cp.sum(total, axis=1)) if penalty == "joint" else cp.sum(cp.max(total, axis=0))
    problem = cp.Problem(cp.Minimize(risk + lam * seminorm), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert problem.status == cp.OPTIMAL, problem.status
    return problem.value
