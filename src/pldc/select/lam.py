"""λ from the discrepancy of the rows: the scale of a grid, and the weight that the theory asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.problem.recipe import Recipe, Rows
from pldc.problem.units import Units
from pldc.select.bound import srm_lam
from pldc.select.discrepancy import discrepancy, discrepancy_of
from pldc.select.folds import distinct

ROWS_FOR_A_SCALE = 30  # of the subsample whose discrepancy sets the scale of a grid


def rate(share: float, d: int) -> float:
    """Return the factor that carries a discrepancy, or a λ, from a share of the rows to all of them: n^(−2/(d+4))."""
    return share ** (2.0 / (d + 4))


def scale_of_lam(recipe: Recipe, rows: Rows) -> float:
    """Return the discrepancy of a few rows, carried over to all, in the units that λ has."""
    merged, _ = distinct(rows)
    n, d = merged.X.shape
    if n < 2:
        return 1.0
    Z = recipe.units(rows).scale_X(merged.X)
    found = discrepancy(Z, penalty=recipe.penalty.name, n_splits=1, tol=0.2, max_rows=ROWS_FOR_A_SCALE, random_state=0)
    spread = 1.0 if recipe.standardize else Units.of(*rows).y_scale
    return (found.value or 1.0) * rate(found.n_rows / n, d) * spread ** (recipe.loss.degree - 1)


def theory_lam(recipe: Recipe, rows: Rows, M: float | None, random_state: Any) -> float:
    """λ of structural risk minimisation; M, in the units of y, is the largest deviation from the mean if None."""
    units = recipe.units(rows)
    if len(rows.y) < 2:
        return 1.0
    if M is None:
        M = float(np.abs(rows.y - rows.weight @ rows.y / rows.weight.sum()).max()) or units.y_scale
    found = discrepancy_of(recipe, rows, random_state)
    return srm_lam(recipe.loss, M / units.y_scale, found.value or 1.0)
