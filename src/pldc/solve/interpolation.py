"""The PLDC function of the smallest seminorm through given data.

The absolute loss is an exact penalty: below some λ the program

    min  mean |f(x_i) − y_i| + λ · seminorm of f

is solved by a function through all rows, and among these by one of the smallest seminorm. λ is lowered until that is
so. What rounding leaves of the residuals is taken away by the quadratic construction, at next to no seminorm.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import PLDC, MaxAffine
from pldc.function.checks import choice, positive
from pldc.function.interpolate import can_interpolate
from pldc.function.interpolate import interpolate as quadratic
from pldc.function.max_affine import Array
from pldc.problem import Absolute, Problem, Solution, certify, make_penalty
from pldc.problem.scaling import normalise
from pldc.problem.units import Units
from pldc.solve.choose import make_solver

METHODS = ("quadratic", "minimal")
FIRST_LAM, LEAST_LAM = 1e-2, 1e-8
FINEST = 1e-9  # accuracy asked of the solver
ROUNDING_SHARE = 1e-6  # residuals below this share of the spread of y are rounding


@dataclass(frozen=True)
class MinimalInterpolant:
    """A function through the data, and bounds on the smallest seminorm of any such function.

    Attributes
    ----------
    function : PLDC
    lower, upper : float
        No function through the data has a seminorm below `lower`; that of `function`, at the data, is `upper`.
    """

    function: PLDC
    lower: float
    upper: float


def interpolate(
    X: ArrayLike, y: ArrayLike, method: str = "quadratic", penalty: str = "joint", tol: float = 1e-4
) -> PLDC:
    """Return a PLDC function that passes through all rows of (X, y).

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    method : {"quadratic", "minimal"}, default="quadratic"
        "quadratic": the construction of the paper, at once; see :func:`pldc.function.interpolate.interpolate`.
        "minimal": the smallest seminorm, by the convex program; :func:`minimal_interpolant` also returns bounds on it.
    penalty : {"joint", "componentwise"}, default="joint"
        Which seminorm is to be minimal: that of the program, over slopes at the rows. Between rows slopes of the
        function may be larger, at most twice.
    tol : float, default=1e-4
        Relative gap to which it is minimal.

    Raises
    ------
    ValueError
        Where rows with equal x have different y; it names them.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 1.0]
    >>> f = interpolate(X, y, method="minimal")
    >>> bool(abs(f(X) - y).max() < 1e-9), bool(f.seminorm_bound() < interpolate(X, y).seminorm_bound())
    (True, True)
    """
    choice("method", method, METHODS)
    make_penalty(penalty)  # refuses an unknown name
    tol = positive("tol", tol)
    return quadratic(X, y) if method == "quadratic" else minimal_interpolant(X, y, penalty, tol).function


def minimal_interpolant(X: ArrayLike, y: ArrayLike, penalty: str = "joint", tol: float = 1e-4) -> MinimalInterpolant:
    """Return a function of the smallest seminorm through all rows, to a relative gap `tol`, with bounds on it."""
    tol, norm = positive("tol", tol), make_penalty(penalty)
    simple = quadratic(X, y)  # checks the data
    points, first = np.unique(np.asarray(X, dtype=np.float64), axis=0, return_index=True)
    targets = np.asarray(y, dtype=np.float64)[first]
    spread = float(np.ptp(targets))
    if spread == 0:
        return MinimalInterpolant(PLDC.affine(np.zeros(points.shape[1]), float(targets[0])), 0.0, 0.0)
    loss = Absolute()
    best = MinimalInterpolant(simple, 0.0, simple.seminorm_bound("joint" if penalty == "joint" else "componentwise"))
    scaled, scaling = normalise(Problem.from_data(points, targets, loss=loss, penalty=norm, lam=1.0))
    unit = scaling.y_size / scaling.size
    lam, accuracy = FIRST_LAM, tol
    while lam >= LEAST_LAM and accuracy >= FINEST:
        problem = Problem.from_data(scaled.X, scaled.y, loss=loss, penalty=norm, lam=lam)
        certificate = certify(problem, make_solver("auto", problem, tol=accuracy).solve(problem))
        solution = certificate.solution
        residual = problem.y - problem.fit(solution.values, solution.linear)
        if np.abs(residual).max() > ROUNDING_SHARE * np.ptp(problem.y):
            lam /= 10.0
            continue
        values, slopes = _exact(problem, solution, residual)
        upper = unit * norm.value(slopes)
        if upper < best.upper or best.lower == 0.0:
            parts = [MaxAffine(g, phi - (g * problem.X).sum(axis=1)) for phi, g in zip(values, slopes, strict=True)]
            units = Units(scaling.shift, np.full(points.shape[1], scaling.size), scaling.y_shift, scaling.y_size)
            best = replace(best, function=units.restore(PLDC(parts[0], parts[1])), upper=upper)
        best = replace(best, lower=max(best.lower, unit * certificate.lower / lam))
        if best.upper - best.lower <= tol * best.upper:
            return best
        accuracy /= 10.0  # what is left of the residuals costs too much
    warnings.warn(
        f"The smallest seminorm is between {best.lower:.6g} and {best.upper:.6g}: wider than tol={tol:g}. Points that "
        "are close with different y may be the cause.",
        RuntimeWarning,
        stacklevel=2,
    )
    return best


def _exact(problem: Problem, solution: Solution, residual: Array) -> tuple[Array, Array]:
    """Add to both parts a paraboloid, and to the plus part the residual: exact at the points, and still convex."""
    witness = can_interpolate(problem.X, residual)
    assert witness.z is not None and witness.a is not None
    values = solution.values + np.array([witness.z + residual, witness.z])
    return values, solution.slopes + witness.a
