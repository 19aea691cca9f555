"""The paper's claims, one by one: what was measured, and whether that confirms them.

Computed from the result files alone, but for what can only be counted or argued; `experiments.page` writes the tables.
"confirmed" and "not confirmed" are differences beyond a 95 % interval, of all comparisons of a claim at once where one
suffices (Bonferroni); "open" is neither, or there are too few runs. Exponents of time have no interval: they are
compared as they are.
"""

from __future__ import annotations

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
from experiments.tables import CLAIMS, PAPER, RIVALS_CODED, RIVALS_FAIR, no_better
from pldc.select.bound import discrepancy_rate

HEAD = ["what the paper says", "what was measured", "verdict"]
DIMENSIONS = tuple(f"d={d}" for d in range(1, 11))  # of the paper's figure
UPPER = DIMENSIONS[5:]
MARGIN = 0.1  # growth by a tenth is none
FLAT = 1e-6  # seminorm of a constant, where targets vary by several units


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
            "the λ of the theory, which is larger, smooths too much: so does 2 D̂ beside cross-validation (figure 1)",
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
            flat = no_better_than_a_constant(values, ours, states)
            lines.append([what, counted(states, flat), all_or_not(states)])
    return [*lines, the_more_so(values), varies_less("synthetic", values, RIVALS_CODED["regression"], DIMENSIONS)]


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
    return float(np.log(max(np.std([found[s] for s in seeds]), 1e-12)))


def varies_less(name: str, values: Values, rivals: tuple[str, ...], sets: tuple[str, ...]) -> list[str]:
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
        f"{name}: errors that vary less over the runs (standard deviation) than those of the rivals as coded",
        counted(states),
        all_or_not(states),
    ]


def of_the_tables(found: dict[str, Values]) -> list[list[str]]:
    """What the paper sums up of its two tables."""
    lines = []
    for study, table in (("regression", "table 1"), ("classes", "table 2")):
        kinds = (("as coded", RIVALS_CODED), ("tuned", RIVALS_FAIR))
        judged = {k: against(found.get(study, {}), PAPER, rivals[study], tuple(CLAIMS[study])) for k, rivals in kinds}
        for kind, everywhere in judged.items():
            states = {name: state for name, state in everywhere.items() if CLAIMS[study][name]}
            what = f"better than all rivals wherever it says ✓ ({table}, rivals {kind})"
            flat = no_better_than_a_constant(found.get(study, {}), PAPER, states)
            lines.append([what, counted(states, flat), all_or_not(states)])
        for kind, states in judged.items():
            what = f"competitive with all rivals on almost every set ({table}, rivals {kind})"
            half = 2 * Counter(states.values())["no"] >= len(states)  # no reading of "almost every" leaves out half
            lines.append([what, f'{counted(states)}; "almost" names no number', NOT if half else NOT_TESTABLE])
        lines.append(varies_less(table, found.get(study, {}), RIVALS_CODED[study], tuple(CLAIMS[study])))
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
        what = f"excess risk falls at least like n^({bound:.2f}), d = {d} ({method}, λ by cross-validation)"
        width = ", too few runs" if np.isnan(half) else f" ± {half:.2f}"
        measured = f"n^({center:.2f}{width}); worst case of any method n^({lower:.2f})"
        lines.append([what, measured, above(bound - center, half)])
    return lines


def of_the_slopes(values: Values) -> list[list[str]]:
    """Whether local models are sparse: more than half of the slopes at new rows are zero."""
    names = [name for name, method in values if method == PAPER]
    shares = {name: interval(values[name, PAPER].values(), family=len(names)) for name in names}
    enough = all(len(v) >= ENOUGH for v in values.values())
    states = {name: above(*share, 50.0) if enough else OPEN for name, share in shares.items()}
    text = ", ".join(f"{name} {shown(values[name, PAPER].values(), 0)} %" for name in shares)
    state = NOT if NOT in states.values() else CONFIRMED if set(states.values()) == {CONFIRMED} else OPEN
    return [
        ["the penalty makes local models sparse", f"slopes at new rows that are zero: {text}; over half counts", state]
    ]


def claims(found: dict[str, Values], seminorm: Values, discrepancies: Values) -> list[list[str]]:
    """Return all claims for which there are results."""
    makers: list[tuple[bool, Callable[[], list[list[str]]]]] = [
        ("surface" in found, lambda: of_the_surface(found["surface"], seminorm)),
        ("synthetic" in found, lambda: of_the_synthetic_function(found["synthetic"])),
        (True, lambda: of_the_tables(found)),
        (bool(discrepancies), lambda: of_the_manifold(discrepancies, found.get("manifold", {}))),
        ("rate" in found, lambda: of_the_rate(found["rate"])),
        ("sparse" in found, lambda: of_the_slopes(found["sparse"])),
        (True, of_complexity),
        (True, lambda: ARGUED),
    ]
    return [HEAD, *(line for known, make in makers if known for line in make())]
