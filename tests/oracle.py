"""An independent model of the program in CVXPY, written from its statement and sharing no code with the package."""

import warnings

import cvxpy as cp
import numpy as np
from scipy.special import xlogy


def optimum(
    X,
    y,
    *,
    loss,
    penalty,
    lam,
    weight=None,
    shape="dc",
    monotone=None,
    linear=False,
    delta=1.0,
    level=0.5,
    floor=None,
):
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
    if floor is not None and loss == "poisson":
        # Below the floor a parabola goes on from the deviance with its slope: each f is split in the cheapest way.
        low = cp.Variable(n)
        constraints += [low <= 0, fit - low >= floor]
        parabola = w @ cp.multiply((floor - y) / floor, low) + cp.sum(cp.multiply(w / (2 * floor), cp.square(low)))
        fit = fit - low
    else:
        parabola = 0.0
    r = fit - y
    risk = (
        parabola
        + {
            "squared": lambda: cp.sum(cp.multiply(w, cp.square(r))),
            "absolute": lambda: cp.sum(cp.multiply(w, cp.abs(r))),
            "huber": lambda: cp.sum(cp.multiply(w, cp.huber(r, delta))),
            "hinge": lambda: cp.sum(cp.multiply(w, cp.pos(1 - cp.multiply(y, fit)))),
            "poisson": lambda: w @ (fit - y) - cp.sum(cp.multiply(w * y, cp.log(fit))) + w @ xlogy(y, y),
            "quantile": lambda: 2 * cp.sum(cp.multiply(w, level * cp.pos(-r) + (1 - level) * cp.pos(r))),
        }[loss]()
    )
    total = sum(cp.abs(slope) for slope in slopes)
    seminorm = cp.max(cp.sum(total, axis=1)) if penalty == "joint" else cp.sum(cp.max(total, axis=0))
    problem = cp.Problem(cp.Minimize(risk + lam * seminorm), constraints)
    return solved(problem, {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}, loss != "poisson")


def solved(problem, tight, exact):
    """The value of a program: to many digits, or, with a logarithm in it, to six or so."""
    with warnings.catch_warnings():
        if not exact:
            warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver=cp.CLARABEL, **(tight if exact else {}))
    assert problem.status in (cp.OPTIMAL, *[cp.OPTIMAL_INACCURATE] * (not exact)), problem.status
    return problem.value


def class_optimum(X, y, m, *, loss, penalty, lam, weight=None):
    """Optimal value of the program of m classes with labels y = 0 … m − 1, by Clarabel."""
    n, d = X.shape
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    w = w / w.sum()
    constraints, scores, seminorms = [], [], []
    for _ in range(m):
        parts = [(cp.Variable(n), cp.Variable((n, d))) for _ in range(2)]
        for value, slope in parts:
            constraints += [value - value[j] >= (X - X[j]) @ slope[j] for j in range(n)]
        total = sum(cp.abs(slope) for _, slope in parts)
        seminorms.append(cp.max(cp.sum(total, axis=1)) if penalty == "joint" else cp.sum(cp.max(total, axis=0)))
        scores.append(parts[0][0] - parts[1][0])
    terms = []
    for i in range(n):
        own = scores[y[i]][i]
        if loss == "hinge":
            terms += [w[i] * cp.pos(scores[c][i] - own + 1) for c in range(m) if c != y[i]]
        else:
            terms.append(w[i] * (cp.log_sum_exp(cp.hstack([score[i] for score in scores])) - own))
    problem = cp.Problem(cp.Minimize(sum(terms) + lam * sum(seminorms)), constraints)
    return solved(problem, {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}, loss == "hinge")
