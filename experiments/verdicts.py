"""The paper's claims, one by one: what was measured, and whether that confirms them.

Computed from the result files alone, but for what can only be counted or argued; `experiments.page` writes the tables.
"confirmed" and "not confirmed" are differences beyond a 95 % interval, of all comparisons of a claim at once where one
suffices (Bonferroni); "open" is neither, or there are too few runs. Exponents of time are judged one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from experiments.complexity import ARGUED, of_complexity
from experiments.growth import exponents
from experiments.statistics import (
    CONFIRMED,
    ENOUGH,
    NOT,
    NOT_TESTABLE,
    OPEN,
    Values,
    above,
    common_seeds,
    interval,
    mean_of,
    resampled,
    shown,
    verdict,
)
from experiments.tables import CLAIMS, DEFAULTS, PAPER, RIVALS_CODED, RIVALS_FAIR, no_better
from pldc.select.bound import discrepancy_rate

HEAD = ["what the paper says", "what was measured", "verdict"]
KINDS = (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR))
DIMENSIONS = tuple(f"d={d}" for d in range(1, 11))  # of the paper's figure
UPPER = DIMENSIONS[5:]
MARGIN = 0.1  # growth by a tenth is none
FLAT = 1e-6  # seminorm of a constant, where targets vary by several units
LAST = 9  # place of the smallest of the ten values of λ
RARELY = 10  # per cent


def against(values: Values, ours: str, rivals: tuple[str, ...], sets: tuple[str, ...]) -> dict[str, str]:
    """Judge our method against the rivals on every set: yes, no or open; "yes" needs them all."""
    return {
        name: verdict(values.get((name, ours), {}), {m: values.get((name, m), {}) for m in rivals}, len(sets)) or "open"
        for name in sets
    }


def counted(states: dict[str, str], flat: Sequence[str] = ()) -> str:
    """Tell how often each state occurs, where it is "no", and where a "yes" is `flat`."""
    count = Counter(states.values())
    where = {
        "yes": [f"{name} no better than a constant" for name in flat],
        "no": [name for name, state in states.items() if state == "no"],
    }
    parts = ((f"{count[k]} {k}", ", ".join(where.get(k, []))) for k in ("yes", "open", "no") if count[k])
    return ", ".join(f"{part} ({names})" if names else part for part, names in parts)


def no_better_than_a_constant(values: Values, ours: str, states: dict[str, str]) -> list[str]:
    """Return where "yes", better than all rivals, is not better than a constant, if that ran."""
    won = [name for name, state in states.items() if state == "yes"]
    return [name for name in won if no_better(values[name, ours], values.get((name, "constant")))]


def all_or_not(states: dict[str, str]) -> str:
    """Confirmed where every state is "yes", not where one is "no"."""
    if "no" in states.values():
        return NOT
    return CONFIRMED if set(states.values()) == {"yes"} else OPEN


def difference(smaller: dict[int, float], larger: dict[int, float]) -> str:
    """Judge by paired runs whether the first is smaller."""
    differences = [larger[s] - smaller[s] for s in smaller if s in larger]
    return above(*interval(differences)) if np.isfinite(differences).sum() >= ENOUGH else OPEN


def of_the_surface(nmse: Values, seminorm: Values) -> list[list[str]]:
    """Figure 1."""
    two, cv = (seminorm.get(("surface", m), {}) for m in ("2 D", "cv"))
    errors = [nmse.get(("surface", m), {}) for m in ("cv", "2 D")]
    flat = sum(value < FLAT for value in two.values())
    return [
        [
            "λ = 2 D̂ smooths more than λ by cross-validation (figure 1)",
            f"seminorm {shown(two.values(), 2)} ({flat} of {len(two)} are constants) against {shown(cv.values(), 2)}",
            difference(two, cv),
        ],
        [
            "the λ of the theory smooths too much (figure 1)",
            f"2 D̂, which is smaller, does: error {shown(errors[1].values())} against {shown(errors[0].values())}",
            difference(*errors),
        ],
    ]


def of_the_synthetic_function(values: Values) -> list[list[str]]:
    """The paper's figure of errors against the number of features."""
    lines = []
    for ours, name in ((PAPER, "the paper's program"), (DEFAULTS, DEFAULTS)):
        for kind, rivals in KINDS:
            states = against(values, ours, rivals["regression"], DIMENSIONS)
            what = f"synthetic: lower error than MLP, MARS and kNN for every d ({name}, rivals {kind})"
            flat = no_better_than_a_constant(values, ours, states)
            lines.append([what, counted(states, flat), all_or_not(states)])
    varied = [varies_less("synthetic", kind, values, rivals["regression"], DIMENSIONS) for kind, rivals in KINDS]
    return [*lines, the_more_so(values), *varied]


def the_more_so(values: Values) -> list[str]:
    """Whether the lead over the best rival as coded grows with d: it must be a lead, then, in the upper half."""
    coded = RIVALS_CODED["regression"]
    seeds = common_seeds(values.get((name, m)) for name in DIMENSIONS for m in (PAPER, *coded))

    def leads(chosen: Sequence[int]) -> np.ndarray:
        ours = [mean_of(values[name, PAPER], chosen) for name in DIMENSIONS]
        best = [min(mean_of(values[name, m], chosen) for m in coded) for name in DIMENSIONS]
        return np.array(best) - ours

    trend, half = resampled(lambda s: float(np.polyfit(range(len(DIMENSIONS)), leads(s), 1)[0]), seeds)
    states = {d: s for d, s in against(values, PAPER, coded, DIMENSIONS).items() if d in UPPER}
    upper, flat = all_or_not(states), no_better_than_a_constant(values, PAPER, states)
    growing = above(trend, half)
    state = NOT if NOT in (growing, upper) else CONFIRMED if growing == upper == CONFIRMED else OPEN
    text = ""
    if seeds:
        at = dict(zip(DIMENSIONS, leads(seeds), strict=True))
        text = "lead over the best rival " + ", ".join(f"{at[d]:.1f} at {d}" for d in DIMENSIONS[::3])
        text += f"; {trend:+.1f} ± {half:.1f} a dimension; "
        text += f"better than all at {UPPER[0]} to {UPPER[-1][2:]}: {counted(states, flat)}"
    return ["synthetic: the more so in higher dimensions (the paper's program, rivals as coded)", text, state]


def log_deviation(found: dict[int, float], seeds: Sequence[int]) -> float:
    """Logarithm of the standard deviation over the seeds."""
    values = np.array([found[s] for s in seeds])
    off = values - values.mean()
    return 0.5 * math.log(max(off @ off / len(off), 1e-24))


def varies_less(name: str, kind: str, values: Values, rivals: tuple[str, ...], sets: tuple[str, ...]) -> list[str]:
    """Whether the errors of the paper's program have a smaller deviation over the runs than those of each rival."""
    states = {}
    for s in sets:
        ours, found = values.get((s, PAPER)), {"yes": set(), "no": set()}
        for m in rivals:
            theirs = values.get((s, m))

            def ratio(seeds: Sequence[int], own: dict = ours or {}, other: dict = theirs or {}) -> float:
                return float(log_deviation(other, seeds) - log_deviation(own, seeds))

            seeds = common_seeds((ours, theirs))
            found["yes"].add(above(*resampled(ratio, seeds, len(sets))))  # families as in `verdict`
            found["no"].add(above(*resampled(ratio, seeds, len(sets) * len(rivals))))
        states[s] = "no" if NOT in found["no"] else "yes" if found["yes"] == {CONFIRMED} else "open"
    return [
        f"{name}: errors that vary less over the runs (standard deviation) than those of the rivals {kind}",
        counted(states),
        all_or_not(states),
    ]


def often(where: str, states: dict[str, str]) -> list[str]:
    """Whether it often beats all rivals: not if it does so nowhere; how often is often is not said."""
    wins = Counter(states.values())["yes"]
    possible = len(states) - Counter(states.values())["no"]
    text = f'on {wins} of {len(states)} sets beyond noise, on {possible} at most; "often" names no number'
    return [f"often better than all rivals ({where})", text, NOT_TESTABLE if possible else NOT]


def of_the_tables(found: dict[str, Values]) -> list[list[str]]:
    """What the paper sums up of its two tables."""
    lines = []
    for study, table in (("regression", "table 1"), ("classes", "table 2")):
        judged = {k: against(found.get(study, {}), PAPER, rivals[study], tuple(CLAIMS[study])) for k, rivals in KINDS}
        for kind, everywhere in judged.items():
            states = {name: state for name, state in everywhere.items() if CLAIMS[study][name]}
            what = f"better than all rivals wherever it says ✓ ({table}, rivals {kind})"
            flat = no_better_than_a_constant(found.get(study, {}), PAPER, states)
            lines.append([what, counted(states, flat), all_or_not(states)])
        for kind, states in judged.items():
            what = f"competitive with all rivals on almost every set ({table}, rivals {kind})"
            half = 2 * Counter(states.values())["no"] >= len(states)  # no reading of "almost every" leaves out half
            lines.append([what, f'{counted(states)}; "almost" names no number', NOT if half else NOT_TESTABLE])
            lines.append(often(f"{table}, rivals {kind}", states))
        for kind, rivals in KINDS:
            lines.append(varies_less(table, kind, found.get(study, {}), rivals[study], tuple(CLAIMS[study])))
    return lines


def of_the_manifold(discrepancies: Values, errors: Values) -> list[list[str]]:
    """Adaptivity: growth with the dimension around the data, on a curve and in the cube."""
    numbers = sorted({int(s.split("=")[1]) for s, _ in discrepancies})
    high = numbers[-1]
    if len(numbers) < 2:
        return []
    low = next((d for d in numbers if 1 < d < high), numbers[0])
    lines = []
    for what, values, method in (
        ("the discrepancy", discrepancies, "discrepancy"),
        ("the error (squared loss, joint, along the axes)", errors, "pldc, squared, joint"),
    ):
        cells = {
            (kind, d): values.get((f"{kind} d={d}", method)) or {} for kind in ("curve", "cube") for d in (low, high)
        }
        seeds = common_seeds(cells.values())

        def grown(chosen: Sequence[int], kind: str, cells: dict = cells) -> float:
            return float(np.log(mean_of(cells[kind, high], chosen) / mean_of(cells[kind, low], chosen)))

        curve, cube, gap = (
            resampled(statistic, seeds)
            for statistic in (
                lambda s: grown(s, "curve"),
                lambda s: grown(s, "cube"),
                lambda s: grown(s, "cube") - grown(s, "curve"),
            )
        )
        text = f"from {low} to {high} features × {np.exp(curve[0]):.2f} on a curve, × {np.exp(cube[0]):.2f} in the cube"
        lines.append([f"{what} grows less with the space around a curve than in the cube", text, above(*gap)])
        if method == "discrepancy":
            ends = np.exp([curve[0] - curve[1], curve[0] + curve[1]])
            text = f"× {np.exp(curve[0]):.2f} ({ends[0]:.2f} to {ends[1]:.2f}); up to × {1 + MARGIN:.1f} counts as none"
            state = above(-curve[0], curve[1], -np.log1p(MARGIN))
            lines.append([f"{what} on a curve does not grow with the space around it", text, state])
    shares = [
        value / discrepancy_rate(100, int(s.split("=")[1]))
        for (s, _), found in discrepancies.items()
        for value in found.values()
        if np.isfinite(value)
    ]
    share = max(shares, default=np.nan)
    lines.append(
        [
            "the discrepancy is below its bound",
            f"at most {100 * share:.2g} % of it, 100 rows, {numbers[0]} to {high} features",
            CONFIRMED if share <= 1 else NOT if share > 1 else OPEN,
        ]
    )
    return lines


def of_the_rate(values: Values) -> list[list[str]]:
    """Excess risk falls at least as fast as the bound."""
    lines = []
    for d, method, center, half, _ in exponents(values):
        bound, lower = -2 / (d + 4), -2 / (d + 2)
        what = f"excess risk falls at least like n^({bound:.2f}), d = {d} ({method})"
        width = ", too few runs" if np.isnan(half) else f" ± {half:.2f}"
        measured = f"n^({center:.2f}{width}); no method does better than n^({lower:.2f}) on all functions"
        lines.append([what, measured, f"{above(bound - center, half)} with λ by cross-validation"])
    return lines


def of_the_weights(weights: Values) -> list[list[str]]:
    """How many weights are zero; the paper names no share that would be sparse."""
    shares = ", ".join(f"{name} {shown(found.values(), 0)} %" for (name, _), found in weights.items())
    what = "the penalty makes the weights of the pieces sparse"
    return [[what, f"zeros among them: {shares}", f"{NOT_TESTABLE}: no share is named"]]


def of_the_grid(places: Values) -> list[list[str]]:
    """Whether the discrepancy bounds the λ that is needed: of its ten values the largest is hardly ever chosen."""
    found = [value for values in places.values() for value in values.values() if np.isfinite(value)]
    if not found:
        return []
    top, bottom = (np.array([value == end for value in found], dtype=float) for end in (0, LAST))
    mean, half = interval(100 * top)
    text = f"the largest value is chosen in {mean:.0f} ± {half:.0f} % of {len(found)} fits, the smallest in "
    text += f"{100 * bottom.mean():.0f} %; up to {RARELY} % counts as hardly ever"
    state = above(-mean, half, -RARELY) if len(found) >= ENOUGH else OPEN
    return [["tuning is minimal: the discrepancy is a rough upper bound of the λ needed", text, state]]


def claims(found: dict[str, Values], more: dict[str, Values]) -> list[list[str]]:
    """Return all claims for which there are results: those of the studies, and of `more` metrics of these."""
    makers: list[tuple[bool, Callable[[], list[list[str]]]]] = [
        ("surface" in found, lambda: of_the_surface(found["surface"], more["seminorm"])),
        ("synthetic" in found, lambda: of_the_synthetic_function(found["synthetic"])),
        (True, lambda: of_the_tables(found)),
        (bool(more.get("discrepancy")), lambda: of_the_manifold(more["discrepancy"], found.get("manifold", {}))),
        ("rate" in found, lambda: of_the_rate(found["rate"])),
        (bool(more.get("weights")), lambda: of_the_weights(more["weights"])),
        (bool(more.get("place")), lambda: of_the_grid(more["place"])),
        (True, of_complexity),
        (True, lambda: ARGUED),
    ]
    return [HEAD, *(line for known, make in makers if known for line in make())]
