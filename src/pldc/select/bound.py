"""The generalisation bound of the paper, term by term, and its rate.

With probability at least 1 − δ over n independent rows, for every DC function f with |f| ≤ M, where |y − E[y|x]| ≤ M,

    E loss(f(x), y) ≤ mean loss + 2 Λ D̂(2‖f‖ + 2) + 5 R √((4 + 8 ln 2 · max(1, log₂‖f‖) + 8 ln(2/δ)) / n).

Λ is the Lipschitz constant of the loss on residuals up to 3M, R its largest value there, and D̂ the empirical maximum
discrepancy, which grows in proportion to its seminorm. For the squared loss Λ = 6M and R = 9M²: the paper's theorem.
The others follow by the same proof, which uses nothing else of the loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pldc.function.checks import positive, shown, whole
from pldc.function.pldc import PLDC
from pldc.problem.losses import Loss, make_loss
from pldc.problem.program import LARGEST
from pldc.problem.recipe import Recipe, Rows

MOST_COUNT = 10**15  # rows, or features
ENDS = np.array([-1.0, 1.0])  # of the residuals that the theorem looks at
ASSUMPTIONS = (
    "The rows are independent draws of one distribution.",
    "Both f and the noise are bounded by M; an M taken from the data is an estimate, not a bound.",
    "The seminorm is the joint one, and the discrepancy belongs to the same coordinates and units as f.",
)


@dataclass(frozen=True)
class Bound:
    """The bound on the expected loss, with probability at least 1 − `delta`.

    Attributes
    ----------
    empirical : float
        Mean loss on the training rows.
    complexity : float
        The term of the discrepancy.
    confidence : float
        The term of chance.
    total : float
        Their sum.
    M, seminorm, discrepancy, delta : float
        What went into it; the discrepancy is that of functions of seminorm 1.
    n : int
    assumptions : tuple of str
    """

    empirical: float
    complexity: float
    confidence: float
    M: float
    seminorm: float
    discrepancy: float
    delta: float
    n: int
    assumptions: tuple[str, ...] = ASSUMPTIONS

    @property
    def total(self) -> float:
        """The bound."""
        return self.empirical + self.complexity + self.confidence

    def __str__(self) -> str:
        lines = [
            f"expected loss ≤ {self.total:.4g} with probability ≥ {1 - self.delta:g}",
            f"  mean loss on {self.n} rows      {self.empirical:.4g}",
            f"  discrepancy of the class   {self.complexity:.4g}",
            f"  chance                     {self.confidence:.4g}",
            f"with M = {self.M:.4g}, seminorm {self.seminorm:.4g}, discrepancy {self.discrepancy:.4g}, provided that:",
        ]
        return "\n".join(lines + [f"  {assumption}" for assumption in self.assumptions])


def steepness(loss: Loss, M: float) -> float:
    """Λ: the Lipschitz constant of the loss on residuals between −3M and 3M."""
    if not loss.shifts:
        raise ValueError(f"The theorem is for losses of f − y alone, not for the {loss.name} loss.")
    return float(np.abs(loss.gradient(3.0 * M * ENDS, np.zeros(2))).max())


def srm_lam(loss: Loss, M: float, discrepancy: float) -> float:
    """λ of structural risk minimisation: the bound's price of one unit of seminorm; 24 M D̂ for the squared loss."""
    return 4.0 * steepness(loss, M) * discrepancy


def bound(
    loss: Loss, *, empirical: float, seminorm: float, discrepancy: float, n: int, M: float, delta: float
) -> Bound:
    """Return the bound for a function of the given mean loss and seminorm.

    Parameters
    ----------
    loss : Loss
    empirical : float
        Mean loss on the n rows.
    seminorm : float
        Of the function, or a bound on it.
    discrepancy : float
        D̂ of functions of seminorm 1 on these rows, or a bound on it.
    n : int
    M : float
        Bound on the function and on the noise.
    delta : float
        Probability that the statement fails.
    """
    loss, n = make_loss(loss, classes=False), whole("n", n, 1, most=MOST_COUNT)
    delta, M = positive("delta", delta), positive("M", M)
    if delta >= 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r}.")
    empirical, seminorm = positive("empirical", empirical, zero=True), positive("seminorm", seminorm, zero=True)
    discrepancy = positive("discrepancy", discrepancy, zero=True)
    if M > LARGEST:
        raise ValueError(f"M must be at most {LARGEST:g}, got {M:g}: rescale y.")
    largest = float(loss.at(3.0 * M * ENDS, np.zeros(2)).max())
    steep = steepness(loss, M)
    octaves = max(1.0, float(np.log2(seminorm)) if seminorm > 0 else 1.0)
    chance = np.sqrt((4.0 + 8.0 * np.log(2.0) * octaves + 8.0 * np.log(2.0 / delta)) / n)
    return Bound(
        empirical=empirical,
        complexity=2.0 * steep * discrepancy * (2.0 * seminorm + 2.0),
        confidence=5.0 * largest * float(chance),
        M=M,
        seminorm=seminorm,
        discrepancy=discrepancy,
        delta=delta,
        n=n,
    )


def bound_of_fit(
    function: PLDC, recipe: Recipe, rows: Rows, discrepancy: float, M: float | None, delta: float
) -> Bound:
    """Return the bound for a function fitted to `rows`, in the units of y.

    The theorem is applied in the units of the program. `discrepancy` is the joint one of the standardised features, M
    is in the units of y: the largest deviation of y, or of the fit, from the mean of y if None.
    """
    units = replace(recipe, standardize=True).units(rows)
    fit = function(rows.X)
    away = float(np.abs(fit - units.y_center).max())
    if M is None:
        M = float(max(np.abs(rows.y - units.y_center).max(), away)) or units.y_scale
    if away > M:
        raise ValueError(f"M={M:g} is no bound: the fit itself is {away:g} away from the mean of y.")
    size = units.y_scale if recipe.standardize else 1.0
    found = bound(
        recipe.loss,
        empirical=recipe.mean_loss(fit, rows, size),
        seminorm=function.compose(np.diag(units.scale), units.center).seminorm_bound("joint") / size,
        discrepancy=discrepancy,
        n=len(rows.y),
        M=M / size,
        delta=delta,
    )
    unit = size**recipe.loss.degree
    return replace(
        found,
        empirical=unit * found.empirical,
        complexity=unit * found.complexity,
        confidence=unit * found.confidence,
        M=size * found.M,
        seminorm=size * found.seminorm,
    )


def discrepancy_rate(n: int, d: int, L: float = 1.0, R: float = 1.0) -> float:
    """Bound of the paper on D̂(L) for n points in d dimensions with ‖x‖_∞ ≤ R: 60 L R (d/n)^(2/(d+4)) (1 + …)."""
    n, d = whole("n", n, 1, most=MOST_COUNT), whole("d", d, 1, most=MOST_COUNT)
    if n < d:
        raise ValueError(f"The rate holds for n ≥ d ≥ 1, got n = {shown(n)} and d = {shown(d)}.")
    return float(
        60.0 * positive("L", L) * positive("R", R) * (d / n) ** (2.0 / (d + 4)) * (1.0 + 2.0 * np.log(n / d) / (d + 4))
    )
