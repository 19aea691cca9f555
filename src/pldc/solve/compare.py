"""How far any function is from the best that any number of pieces could do, at the same λ.

The lower bound of the program holds for every difference of convex functions. A function that was found in another way,
by a compact fit or by hand, has a loss and a seminorm; their sum, beside that bound, says how far from optimal it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import Array, real
from pldc.function.pldc import PLDC
from pldc.problem.certificate import certify as certify_solution
from pldc.problem.losses import Loss, make_loss
from pldc.problem.penalties import Penalty, make_penalty
from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Units
from pldc.solve.choose import make_solver

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Comparison:
    """A function beside the best possible one.

    Attributes
    ----------
    upper : float
        loss + lam · seminorm of the function.
    lower : float
        No difference of convex functions, of however many pieces, has an objective below this.
    gap : float
        (upper − lower) / upper: at most this share could be gained. Zero where `upper` is zero.
    loss, seminorm : float
        The two terms, in the units of the program. The seminorm is that at the rows for one term without hinges;
        for functions of hinged features, and for sums, an upper bound on it everywhere, which may be far too
        high.
    """

    upper: float
    lower: float
    gap: float
    loss: float
    seminorm: float


def certify(
    function: Any,
    X: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    loss: str | Loss = "squared",
    penalty: str = "componentwise",
    standardize: bool = True,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
) -> Comparison:
    """Compare any function with the best difference of convex functions at this `lam`.

    Solves the program of the rows to a certified gap of `tol`: seconds for a few hundred rows, minutes for thousands.

    Parameters
    ----------
    function : PLDC or fitted DCRegressor
        In the units of the data, such as ``model.function_``.
    X : array of shape (n, d)
        For a fitted DCRegressor the table may hold what it was fitted to.
    y : array of shape (n,)
    lam : float
        Weight of the seminorm, as for :class:`pldc.DCRegressor`.
    loss, standardize
        As for :class:`pldc.DCRegressor`.
    penalty : {"componentwise", "joint"}
    sample_weight : array of shape (n,), optional
    tol : float, default=1e-3

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 21)[:, None]
    >>> found = certify(abs(PLDC.affine([1.0])), X, np.abs(X[:, 0]), lam=0.01)
    >>> found.lower <= found.upper
    True
    """
    columns = getattr(getattr(function, "model_", None), "columns", None)
    if columns is not None:  # the rules of a fitted model, for categories, dates and missing cells
        X = columns.apply(X)
    function = getattr(function, "function_", function)
    if not hasattr(function, "seminorm_bound"):
        raise TypeError(f"Give a PLDC or a fitted DCRegressor, not {type(function).__name__}.")
    for name, number in (("lam", lam), ("tol", tol)):
        if not (isinstance(number, Real) and not isinstance(number, bool) and 0 < number < LARGEST):
            raise ValueError(f"{name} must be a positive finite number, got {number!r:.80}.")
    if not isinstance(standardize, bool | np.bool_):
        raise ValueError(f"standardize must be True or False, got {standardize!r:.80}.")
    points, target = real(X, "X"), real(y, "y")
    if points.ndim != 2 or target.shape != (len(points),) or len(points) < 2:
        raise ValueError(f"X must have shape (n, d) and y (n,), n at least 2; got {points.shape} and {target.shape}.")
    if not (np.isfinite(points).all() and np.isfinite(target).all()):
        raise ValueError("X and y must be finite; they contain NaN or infinity.")
    weight = np.ones(len(target)) if sample_weight is None else real(sample_weight, "sample_weight")
    if weight.shape != target.shape or not (weight >= 0).all() or not np.isfinite(weight).all() or not weight.sum() > 0:
        raise ValueError(f"sample_weight must hold {len(target)} finite numbers ≥ 0, not all zero.")
    rows = Rows(points, target, weight).take(np.flatnonzero(weight > 0))
    recipe = Recipe(
        loss=make_loss(loss, classes=False),
        penalty=make_penalty(penalty),
        shape="dc",
        monotone=np.zeros(points.shape[1], dtype=int),
        linear=False,
        standardize=standardize,
    )
    units = recipe.units(rows)
    problem = recipe.problem(rows, units, float(lam))
    risk = recipe.mean_loss(units.scale_y(function(rows.X)), Rows(rows.X, units.scale_y(rows.y), rows.weight))
    seminorm = seminorm_of(function, rows.X, units, recipe.penalty)
    upper = risk + float(lam) * seminorm
    lower = certify_solution(problem, make_solver("auto", problem, tol=tol).solve(problem)).lower
    return Comparison(upper, lower, (upper - lower) / upper if upper > 0 else 0.0, risk, seminorm)


def seminorm_of(function: PLDC, X: Array, units: Units, penalty: Penalty) -> float:
    """Seminorm of a function in standardised units: of one term without hinges at the rows, else a bound.

    An affine function may be added to both parts. Of slopes a and b along a feature ``|a − g| + |b − g|`` is
    ``max(|a − b|, |a + b − 2g|)``: half of the middle of a + b is the best g for the componentwise penalty.
    """
    if not function.is_plain:
        scaled = function.compose(np.diag(units.scale), units.center) / units.y_scale
        return scaled.seminorm_bound("joint" if penalty.name == "joint" else "componentwise")
    [term], local = function.centred, function.local(X)
    pieces = zip(term.parts, (local.plus, local.minus), strict=True)
    a, b = (part.slopes[active] * units.scale / units.y_scale for part, active in pieces)
    both = a + b
    g = (both.max(axis=0) + both.min(axis=0)) / 4
    return min(penalty.value(np.array([a - shift, b - shift])) for shift in (g, np.zeros_like(g)))
