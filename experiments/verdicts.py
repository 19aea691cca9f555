"""The paper's claims, one by one: what was measured, and whether that confirms them.

Computed from the result files alone; `experiments.page` writes the tables. "confirmed" and "not confirmed" are
differences beyond a 95 % interval of paired runs; "open" is neither.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import numpy as np

from experiments.page import (
    BENCHMARKS,
    CONFIRMED,
    NOT,
    OPEN,
    OVERLAP,
    RIVALS_CODED,
    RIVALS_FAIR,
    Values,
    interval,
    rate_table,
    shown,
    unique,
    verdict,
)

HEAD = ["what the paper says", "what was measured", "verdict"]
UNTESTABLE = [
    [
        "the fit is readable, and the penalty makes local models sparse",
        "the paper names no measure of either",
        "not testable",
    ],
    [
        "O(n² + nd) processors share an iteration of ADMM",
        "two cores and no GPU here; the growth of time on two cores is below",
        "not testable",
    ],
]


def against(values: Values, ours: str, rivals: tuple[str, ...], overlap: float = 0.0) -> dict[str, str]:
    """Judge our method against the rivals on every set that has both: yes, no or open."""
    out = {}
    for name in unique(s for s, _ in values):
        others = {m: values[name, m] for m in rivals if (name, m) in values}
        if (name, ours) in values and others:
            out[name] = verdict(values[name, ours], others, overlap).split(" /")[0]
    return out


def counted(states: dict[str, str]) -> str:
    """Tell how often each state occurs, and where it is not "yes"."""
    count = Counter(states.values())
    text = ", ".join(f"{count[k]} {k}" for k in ("yes", "open", "no") if count[k])
    others = [name for name, state in states.items() if state == "no"]
    return text + (f" ({', '.join(others)})" if others else "")


def all_or_not(states: dict[str, str]) -> str:
    """Confirmed where every state is "yes", not where one is "no"."""
    if not states:
        return ""
    if "no" in states.values():
        return NOT
    return CONFIRMED if set(states.values()) == {"yes"} else OPEN


def difference(smaller: dict[int, float], larger: dict[int, float]) -> str:
    """Judge by paired runs whether the first is smaller."""
    mean, half = interval(larger[s] - smaller[s] for s in smaller if s in larger)
    if np.isnan(half):
        return OPEN
    return CONFIRMED if mean > half else NOT if mean < -half else OPEN


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
    for ours, name in (("pldc, paper", "the paper's program"), ("pldc", "all defaults")):
        for kind, rivals in (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR)):
            states = against(values, ours, rivals["regression"])
            what = f"synthetic: lower error than MLP, MARS and kNN for every d ({name}, rivals {kind})"
            lines.append([what, counted(states), all_or_not(states)])
    sets = unique(s for s, _ in values)
    ends = (sets[0], "d=10" if "d=10" in sets else sets[-1])
    lead = [best_rival(values, s) - interval(values.get((s, "pldc, paper"), {}).values())[0] for s in ends]
    lines.append(
        [
            "synthetic: the more so in higher dimensions (the paper's program, rivals as coded)",
            f"lead over the best rival {lead[0]:.1f} at {ends[0]}, {lead[1]:.1f} at {ends[1]}",
            CONFIRMED if lead[1] > max(lead[0], 0.0) else NOT,
        ]
    )
    states = {s: "yes" if steadiest(values, s) else "no" for s in sets}
    lines.append(
        ["synthetic: its errors vary less than those of the rivals as coded", counted(states), all_or_not(states)]
    )
    return lines


def best_rival(values: Values, name: str) -> float:
    """Return the least mean error of the rivals as coded."""
    return min(interval(values.get((name, m), {}).values())[0] for m in RIVALS_CODED["regression"])


def steadiest(values: Values, name: str) -> bool:
    """Whether the paper's program has the least deviation over the runs, among the rivals as coded."""

    def deviation(method: str) -> float:
        return float(np.nanstd(list(values.get((name, method), {0: np.nan}).values())))

    return deviation("pldc, paper") < min(deviation(m) for m in RIVALS_CODED["regression"])


def of_the_manifold(discrepancies: Values) -> list[list[str]]:
    """Adaptivity: the discrepancy on a curve does not grow with the dimension around it, as that of the cube does."""
    numbers = sorted({int(s.split("=")[1]) for s, _ in discrepancies})
    low, high = 2 if 2 in numbers else numbers[0], numbers[-1]
    growth, text = {}, []
    for kind in ("curve", "cube"):
        small, large = (discrepancies.get((f"{kind} d={d}", "discrepancy"), {}) for d in (low, high))
        growth[kind] = interval(large.values())[0] / interval(small.values())[0]
        text.append(f"× {growth[kind]:.2f} ({'on the curve' if kind == 'curve' else 'in the cube'})")
    return [
        [
            "the discrepancy follows the dimension of the data, not that of the space around it",
            f"from {low} to {high} features: {', '.join(text)}",
            CONFIRMED if growth["curve"] < growth["cube"] else NOT,
        ]
    ]


def of_the_rate(values: Values) -> list[list[str]]:
    """Excess risk falls at least as fast as the bound."""
    lines = []
    for d, method, exponent, bound, lower, _ in rate_table(values)[1:]:
        center, *half = (float(part) for part in exponent.split(" ± "))
        state = OPEN if not half else CONFIRMED if center + half[0] < float(bound) else OPEN
        if half and center - half[0] > float(bound):
            state = NOT
        what = f"excess risk falls at least like n^({bound}), d = {d} ({method})"
        lines.append([what, f"n^({exponent}); worst case of any method n^({lower})", state])
    return lines


def of_the_tables(found: dict[str, Values]) -> list[list[str]]:
    """What the paper sums up of its two tables."""
    lines = []
    for study, name in (("regression", "table 1"), ("classes", "table 2")):
        for kind, rivals in (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR)):
            states = against(found.get(study, {}), "pldc, paper", rivals[study], OVERLAP[study])
            if states:
                worse = "no" in states.values()
                what = f"comparable on some sets and better on others ({name}, rivals {kind}): better than all of them?"
                verdict_ = NOT if worse else CONFIRMED if "yes" in states.values() else OPEN
                lines.append([what, counted(states), verdict_])
    return lines


def of_complexity() -> list[list[str]]:
    """Growth of time, and prediction by a search for inner products."""
    growth = {
        name: json.loads((BENCHMARKS / f"{name}.json").read_text(encoding="utf-8"))["growth"]
        for name in ("engines", "line")
    }
    program = growth["engines"]["accurate engine, seconds to 1e-4"]
    step = growth["engines"]["quick engine, seconds an iteration"]
    cells = json.loads((BENCHMARKS / "throughput.json").read_text(encoding="utf-8"))["cells"]
    speeds = [c["k-d tree, slack 0"]["rows_a_second"] / c["rows_a_second"] for c in cells if "k-d tree, slack 0" in c]
    return [
        [
            "the program takes O(d² n⁵) at most, far less in practice",
            f"n^{program:.2f}",
            CONFIRMED if program < 5 else NOT,
        ],
        [
            "one iteration of ADMM is of the order n²",
            f"n^{step:.2f} over the sizes measured",
            CONFIRMED if step <= 2 else NOT,
        ],
        [
            "prediction gains by an index for the largest inner product",
            f"a k-d tree at {100 * min(speeds):.0f} to {100 * max(speeds):.0f} % of the speed of the plain product",
            CONFIRMED if max(speeds) > 1 else NOT,
        ],
    ]


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
