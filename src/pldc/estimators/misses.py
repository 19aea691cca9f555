"""What a fit has missed, in words: a gap that was asked for, quantiles that do not hold their shares."""

from __future__ import annotations

import numpy as np

from pldc.model import Model
from pldc.problem.recipe import Rows
from pldc.solve.choose import SOLVERS
from pldc.solve.run import STATUS

MIDDLE = 0.5
OFF_LEVEL = 0.05  # share of the training rows by which a quantile may be off, and chance, without a warning

UNLIMITED = (
    "max_seconds is for fits of few pieces, and this is one of the program, which took no notice of it: give "
    "solver=Auto(max_iter=...), or fewer rows, or leave n_pieces='auto' without a setting of the program."
)


def missed_gap(model: Model, exact_is_free: bool) -> str:
    """Say which gap was missed, and why; nothing if none was. `exact_is_free`: another solver could be taken."""
    solved = model.program
    if solved is None or solved.certificate.gap <= 1.01 * solved.tol:  # recomputed: rounding is forgiven
        return ""
    reason = STATUS[solved.status]
    realistic = getattr(SOLVERS.get(solved.solver), "realistic_tol", 0.0)
    if solved.tol < realistic:
        reason += f" ({realistic:g} is realistic for solver={solved.solver!r})"
    if realistic > 0 and exact_is_free and solved.status in ("max_iter", "stalled"):
        reason += "; solver='exact' is accurate, where it can be had"
    if solved.status == "optimal":  # in the solver's own numbers, but not in those of the data
        reason = "rounding in the units of X and y; shift and scale them to numbers of order one"
    return f"The certified relative gap is {solved.certificate.gap:.2g}, not tol={solved.tol:.2g}: {reason}."


def missed_levels(model: Model, rows: Rows) -> str:
    """Say which of several quantiles lie too near the middle of the training rows, or too far out beside another one.

    A descent that was ended early has not moved apart functions that begin at the same place. Too far from the middle
    alone is no miss: of the rows that a fit has followed a band of two levels holds more than of new ones.
    """
    if model.levels is None:
        return ""
    share, off, y = rows.weight / rows.weight.sum(), [], rows.y
    values = model.predict(rows.X).T
    below = np.array([share @ (y < f) for f in values])
    up_to = np.array([share @ (y <= f) for f in values])
    together = up_to[1:] - below[:-1] < 0.5 * np.diff(model.levels)
    beside = np.append(together, False) | np.insert(together, 0, False)
    for k, level in enumerate(model.levels):
        allowed = OFF_LEVEL + 2.0 * float(np.sqrt(level * (1.0 - level) * (share @ share)))
        high, low = below[k] - level > allowed, level - up_to[k] > allowed
        if (high and (level <= MIDDLE or beside[k])) or (low and (level >= MIDDLE or beside[k])):
            off.append(f"{level:g} ({below[k] if high else up_to[k]:.0%} of the training rows are below)")
    return f"Quantiles that are off: {', '.join(off)}. Fit with more time, max_seconds." if off else ""
