"""The paper's claims, one by one: what was measured, and whether that confirms them.

Computed from the result files alone; `experiments.page` writes the tables. "confirmed" and "not confirmed" are
differences beyond a 95 % interval, of all comparisons of a claim at once (Bonferroni); "open" is neither, or not all
runs that the claim needs are there. Exponents of time have no interval: they are compared as they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import numpy as np

from experiments.page import (
    BENCHMARKS,
    CLAIMS,
    CONFIRMED,
    NOT,
    OPEN,
    RIVALS_CODED,
    RIVALS_FAIR,
    Values,
    exponents,
    growth,
    interval,
    shown,
    unique,
    verdict,
)

HEAD = ["what the paper says", "what was measured", "verdict"]
PAPER = "pldc, paper"
DIMENSIONS = tuple(f"d={d}" for d in range(1, 11))  # of the paper's figure
UNTESTABLE = [
    [
        "the fit is readable, and the penalty makes local models sparse",
        "the paper names no measure of either",
        "not testable",
    ],
    [
        "O(n² + nd) processors share an iteration of ADMM",
        "two cores and no GPU here",
        "not testable",
    ],
]


def against(values: Values, ours: str, rivals: tuple[str, ...], sets: tuple[str, ...]) -> dict[str, str]:
    """Judge our method against the rivals on every set: yes, no or open; "yes" needs them all."""
    out = {}
    for name in sets:
        others = {m: values[name, m] for m in rivals if (name, m) in values}
        state = verdict(values.get((name, ours), {}), others, len(sets) * len(rivals))
        out[name] = "open" if not state or (state == "yes" and len(others) < len(rivals)) else state
    return out


def counted(states: dict[str, str]) -> str:
    """Tell how often each state occurs, and where it is "no"."""
    count = Counter(states.values())
    text = ", ".join(f"{count[k]} {k}" for k in ("yes", "open", "no") if count[k])
    others = [name for name, state in states.items() if state == "no"]
    return text + (f" ({', '.join(others)})" if others else "")


def all_or_not(states: dict[str, str]) -> str:
    """Confirmed where every state is "yes", not where one is "no"."""
    if "no" in states.values():
        return NOT
    return CONFIRMED if set(states.values()) == {"yes"} else OPEN


def above_zero(mean: float, half: float) -> str:
    """Judge whether a number is positive."""
    return CONFIRMED if mean > half else NOT if mean < -half else OPEN  # what is not a number is open


def difference(smaller: dict[int, float], larger: dict[int, float]) -> str:
    """Judge by paired runs whether the first is smaller."""
    return above_zero(*interval(larger[s] - smaller[s] for s in smaller if s in larger))


def resampled(statistic: Callable[[np.random.Generator], float], draws: int = 400) -> tuple[float, float]:
    """Return mean and half-width of the 95 % interval of a statistic of resampled runs."""
    rng = np.random.default_rng(0)
    v = np.array([statistic(rng) for _ in range(draws)])
    return float(v.mean()), float(1.96 * v.std())


def drawn(rng: np.random.Generator, found: dict[int, float] | None) -> np.ndarray:
    """Resample the runs; fewer than two tell nothing."""
    v = np.array([x for x in (found or {}).values() if np.isfinite(x)])
    return rng.choice(v, len(v)) if len(v) > 1 else np.full(1, np.nan)


def of_the_surface(nmse: Values, seminorm: Values) -> list[list[str]]:
    """Figure 1."""
    two, cv = (seminorm.get(("surface", m), {}) for m in ("2 D", "cv"))
    errors = [nmse.get(("surface", m), {}) for m in ("cv", "2 D")]
    return [
        [
            "λ = 2 D̂ smooths more than λ by cross-validation (figure 1)",
            f"seminorm {shown(two.values(), 2)} against {shown(cv.values(), 2)}",
            difference(two, cv),
        ],
        [
            "λ by cross-validation fits better (figure 1)",
            f"error {shown(errors[0].values())} against {shown(errors[1].values())}",
            difference(*errors),
        ],
    ]


def of_the_synthetic_function(values: Values) -> list[list[str]]:
    """The paper's figure of errors against the number of features."""
    lines = []
    for ours, name in ((PAPER, "the paper's program"), ("pldc", "all defaults")):
        for kind, rivals in (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR)):
            states = against(values, ours, rivals["regression"], DIMENSIONS)
            what = f"synthetic: lower error than MLP, MARS and kNN for every d ({name}, rivals {kind})"
            lines.append([what, counted(states), all_or_not(states)])
    coded, (low, high) = RIVALS_CODED["regression"], (DIMENSIONS[0], DIMENSIONS[-1])

    def lead(rng: np.random.Generator, name: str) -> float:
        best = np.min([drawn(rng, values.get((name, m))).mean() for m in coded])
        return float(best - drawn(rng, values.get((name, PAPER))).mean())

    (at_low, _), (at_high, half), growing = (
        resampled(statistic)
        for statistic in (
            lambda rng: lead(rng, low),
            lambda rng: lead(rng, high),
            lambda rng: lead(rng, high) - lead(rng, low),
        )
    )
    ahead = above_zero(at_high, half)
    lines.append(
        [
            "synthetic: the more so in higher dimensions (the paper's program, rivals as coded)",
            f"ahead of the best rival by {at_low:.1f} at {low}, by {at_high:.1f} at {high}",
            above_zero(*growing) if ahead == CONFIRMED else ahead,
        ]
    )
    states = {}
    for name in DIMENSIONS:
        ratios = [
            resampled(
                lambda rng, n=name, m=m: float(
                    np.log(drawn(rng, values.get((n, m))).std()) - np.log(drawn(rng, values.get((n, PAPER))).std())
                )
            )
            for m in coded
        ]
        found = {above_zero(*ratio) for ratio in ratios}
        states[name] = "no" if NOT in found else "yes" if found == {CONFIRMED} else "open"
    lines.append(
        ["synthetic: its errors vary less than those of the rivals as coded", counted(states), all_or_not(states)]
    )
    return lines


def of_the_manifold(discrepancies: Values) -> list[list[str]]:
    """Adaptivity: the discrepancy on a curve grows less with the dimension around it than that in the cube."""
    numbers = sorted({int(s.split("=")[1]) for s, _ in discrepancies})
    low, high = 2, numbers[-1]

    def grown(rng: np.random.Generator, kind: str) -> float:
        large, small = (drawn(rng, discrepancies.get((f"{kind} d={d}", "discrepancy"))).mean() for d in (high, low))
        return float(np.log(large / small))

    curve, cube, gap = (
        resampled(statistic)
        for statistic in (
            lambda rng: grown(rng, "curve"),
            lambda rng: grown(rng, "cube"),
            lambda rng: grown(rng, "cube") - grown(rng, "curve"),
        )
    )
    return [
        [
            "the discrepancy follows the dimension of the data, and not that of the space around it",
            f"from {low} to {high} features × {np.exp(curve[0]):.2f} on a curve, × {np.exp(cube[0]):.2f} in the cube",
            above_zero(*gap),
        ]
    ]


def of_the_rate(values: Values) -> list[list[str]]:
    """Excess risk falls at least as fast as the bound."""
    lines = []
    for d, method, center, half, _ in exponents(values):
        bound, lower = -2 / (d + 4), -2 / (d + 2)
        what = f"excess risk falls at least like n^({bound:.2f}), d = {d} ({method})"
        measured = f"n^({center:.2f} ± {half:.2f}); worst case of any method n^({lower:.2f})"
        lines.append([what, measured, above_zero(bound - center, half)])
    return lines


def of_the_tables(found: dict[str, Values]) -> list[list[str]]:
    """What the paper sums up of its two tables."""
    lines = []
    for study, name in (("regression", "table 1"), ("classes", "table 2")):
        for kind, rivals in (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR)):
            states = against(found.get(study, {}), PAPER, rivals[study], tuple(CLAIMS[study]))
            what = f"better than all rivals on some sets, worse than one on none ({name}, rivals {kind})"
            state = NOT if "no" in states.values() else CONFIRMED if "yes" in states.values() else OPEN
            lines.append([what, counted(states), state])
    return lines


def of_complexity() -> list[list[str]]:
    """Growth of time, and prediction by a search for inner products."""
    lines = []
    for what, key, most in (
        ("the program takes O(d² n⁵) at most, far less in practice", "accurate engine, seconds to 1e-4", 5.0),
        ("an iteration of ADMM is of the order n² (ours)", "quick engine, seconds an iteration", 2.0),
        ("an iteration of ADMM is of the order n² (the authors' code)", "authors, seconds an iteration", 2.0),
    ):
        exponent = growth("engines", key)
        measured = "not measured" if exponent is None else f"n^{exponent:.2f} over the sizes measured"
        lines.append([what, measured, OPEN if exponent is None else CONFIRMED if exponent <= most else NOT])
    path = BENCHMARKS / "throughput.json"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else []
    kinds = unique(key for c in cells for key in c if key.startswith("k-d tree"))
    speeds = [c[kind]["rows_a_second"] / c["rows_a_second"] for c in cells for kind in kinds if kind in c]
    if speeds:
        measured = (
            f"a k-d tree, exact or not, at {100 * min(speeds):.0f} to {100 * max(speeds):.0f} % of the plain product"
        )
        state = CONFIRMED if max(speeds) > 1 else NOT
        lines.append(["prediction gains by an index for the largest inner product", measured, state])
    return lines


def claims(found: dict[str, Values], seminorm: Values, discrepancies: Values) -> list[list[str]]:
    """Return all claims for which there are results."""
    makers: list[tuple[bool, Callable[[], list[list[str]]]]] = [
        ("surface" in found, lambda: of_the_surface(found["surface"], seminorm)),
        ("synthetic" in found, lambda: of_the_synthetic_function(found["synthetic"])),
        (True, lambda: of_the_tables(found)),
        (bool(discrepancies), lambda: of_the_manifold(discrepancies)),
        ("rate" in found, lambda: of_the_rate(found["rate"])),
        (True, of_complexity),
        (True, lambda: UNTESTABLE),
    ]
    return [HEAD, *(line for known, make in makers if known for line in make())]
