"""What the paper says of times and sizes, beside the benchmarks of this repository."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from experiments.statistics import CONFIRMED, NOT, NOT_TESTABLE, OPEN, above, unique

BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "results"
FEWEST_ROWS = 200  # from which on the time of a solve tells how it grows
LARGE_ROWS = 500
ROWS, FEATURES = 1000, 100  # up to which the paper explores its method and calls it viable
MANY_FEATURES = 30  # from which on seconds are told
UNENDED = 4  # times what it had is the time of a solve that did not end
SIGNIFICANT = 0.8  # of the time is significantly faster
ARGUED = [
    ["the fit is readable", "the paper names no measure of it", NOT_TESTABLE],
    [
        "2n(2d + 1) + 1 variables and n² constraints",
        "counted in the program: 4nd + 2n + 1 variables, 2n(n − 1) + n constraints",
        "variables confirmed; twice as many constraints",
    ],
    [
        "the gap to the best possible rate is about n^(4/d²) and closes as d grows",
        "of the two exponents: 4/((d + 2)(d + 4)), 0.27 at d = 1, 0.08 at d = 4, 0.02 at d = 10; 4/d² is 4, 0.25, 0.04",
        "that it closes: confirmed, as arithmetic; 4/d² is above it and nears it for large d alone",
    ],
    ["O(n⁵) for the linear and O(d² n⁵) for the quadratic program at most", "worst cases of any solver", NOT_TESTABLE],
]


def read_benchmark(name: str) -> dict:
    """Return what a benchmark wrote; nothing where it did not run."""
    path = BENCHMARKS / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"growth": {}, "cells": []}
    return found | {"cells": [c for c in found["cells"] if "failed" not in c]}


def solves(loss: str) -> list[dict]:
    """Return the solves of the accurate engine under a loss."""
    cells = read_benchmark("engines")["cells"]
    return [c for c in cells if c["kind"] == "solve" and c["engine"] == "exact" and c["loss"] == loss]


def solved(cell: dict) -> bool:
    """Return whether a solve came to its end within its time."""
    return cell.get("status") == "optimal"


def growth_table() -> list[list[str]]:
    """Return how time grows with the rows, as the benchmarks measured it, beside what the paper states."""

    def measured(name: str, key: str) -> str:
        exponent = read_benchmark(name)["growth"].get(key)
        return "" if exponent is None else f"{exponent:.2f}"

    return [
        ["what", "exponent of n in the paper", "measured"],
        [
            "the program, solved to 1e-4 (squared loss, d = 10)",
            "at most 5",
            measured("engines", "accurate engine, seconds to 1e-4"),
        ],
        [
            "one iteration of ADMM, ours",
            "2, shared by n² processors",
            measured("engines", "quick engine, seconds an iteration"),
        ],
        [
            "one iteration of ADMM, the authors' code",
            "2, shared by n² processors",
            measured("engines", "authors, seconds an iteration"),
        ],
        ["one feature, solved to 1e-4", "at most 5", measured("line", "squared, penalized")],
    ]


class Exponents(NamedTuple):
    """Powers of the rows and of the features in a time, with the half-widths of their 95 % intervals."""

    rows: float
    features: float
    rows_half: float
    features_half: float

    def __str__(self) -> str:
        return f"n^({self.rows:.2f} ± {self.rows_half:.2f}) d^({self.features:.2f} ± {self.features_half:.2f})"


def time_exponents(cells: list[dict], fewest: int = FEWEST_ROWS) -> Exponents | None:
    """Return the exponents of n and of d in the time of solves, by least squares of logarithms.

    Solves that did not come to their end count with a multiple of the time they had. Each λ has a level of its own.
    """
    cells = [c if solved(c) else c | {"seconds": UNENDED * c["seconds"]} for c in cells if c["n"] >= fewest]
    kinds = sorted({c.get("lam", 0.0) for c in cells})
    if len({c["n"] for c in cells}) < 2 or len({c["d"] for c in cells}) < 2 or len(cells) <= len(kinds) + 2:
        return None
    one_of = np.array([[c.get("lam", 0.0) == kind for kind in kinds] for c in cells], dtype=float)
    A, y = np.column_stack([np.log([[c["n"], c["d"]] for c in cells]), one_of]), np.log([c["seconds"] for c in cells])
    found = np.linalg.lstsq(A, y, rcond=None)[0]
    free = len(y) - A.shape[1]
    variance = np.sum((y - A @ found) ** 2) / free * np.diag(np.linalg.inv(A.T @ A))
    return Exponents(*found[:2], *(t.ppf(0.975, free) * np.sqrt(variance[:2])))


def faster(what: str, cells: list[dict], most: tuple[float, float]) -> list[str]:
    """Judge whether time grows less than the paper's worst case: by smaller exponents, beyond their intervals."""
    found, end = time_exponents(cells), time_exponents(cells, LARGE_ROWS)
    if found is None:
        return [what, "not measured", OPEN]
    measured = f"{found} from {FEWEST_ROWS} rows on"
    measured += "" if end is None else f", {end} from {LARGE_ROWS} on"
    cut = [c for c in cells if c["n"] >= FEWEST_ROWS and not solved(c)]
    if cut:
        ends = listed(c.get("limit", c["seconds"]) for c in cut)
        measured += f"; {len(cut)} did not end within {ends} s and count as {UNENDED} times that"
    states = {
        above(-exponent, half, -limit)
        for each in (found, end or found)
        for exponent, half, limit in zip(each[:2], each[2:], most, strict=True)
    }
    state = next((state for state in (NOT, OPEN) if state in states), CONFIRMED)
    return [what, measured, f"{state} for our engine"]


def listed(numbers: Iterable[float]) -> str:
    """Return the numbers without repetition, in order."""
    return " or ".join(unique(f"{number:.0f}" for number in sorted(numbers)))


def of_the_absolute_loss() -> list[list[str]]:
    """Judge whether the linear program of the absolute loss is solved faster than the quadratic one."""
    seconds = [
        {(c["n"], c["d"], c["lam"]): c["seconds"] for c in solves(loss) if solved(c)}
        for loss in ("absolute", "squared")
    ]
    ratios = [seconds[0][key] / seconds[1][key] for key in seconds[0] if key in seconds[1]]
    if not ratios:
        return []
    middle = float(np.median(ratios))
    measured = (
        f"our accurate engine takes {middle:.2f} times as long under it (median of {len(ratios)} pairs of solves)"
    )
    state = f"{CONFIRMED if middle < SIGNIFICANT else NOT} for our engine"
    return [["the absolute loss, a linear program, significantly speeds up computation", measured, state]]


def of_the_sizes() -> list[list[str]]:
    """Judge whether the sizes that the paper names can be solved."""
    cells = [c for loss in ("absolute", "squared") for c in solves(loss) if c["n"] >= ROWS]
    if not cells:
        return []
    features = max((c["d"] for c in cells if solved(c)), default=0)
    cut = [c for c in cells if not solved(c)]
    measured = f"of {ROWS} rows and more certified to 1e-4 up to {features} features"
    for d in sorted({c["d"] for c in cells if c["d"] >= MANY_FEATURES}):
        took = sorted(c["seconds"] for c in cells if c["d"] == d and solved(c))
        here = [c for c in cut if c["d"] == d]
        ends = unique([f"{took[0]:.0f}", f"{took[-1]:.0f}"]) if took else []
        measured += f"; {d} features: " + (f"{' to '.join(ends)} s" if took else "none")
        measured += f", {len(here)} cut off after {listed(c['limit'] for c in here)} s" if here else ""
    wide = [solved(c) for c in cells if c["d"] >= FEATURES]
    state = f"{OPEN}: more features were not tried"
    if wide:
        state = f"{CONFIRMED if all(wide) else OPEN if any(wide) else NOT} for our engine"
    return [[f"viable for the sizes explored, up to {ROWS} rows and {FEATURES} features", measured, state]]


def of_an_iteration() -> list[list[str]]:
    """What an iteration of ADMM takes."""
    grows = read_benchmark("engines")["growth"]
    ours, theirs = (grows.get(f"{who}, seconds an iteration") for who in ("quick engine", "authors"))
    if ours is None or theirs is None:
        return []
    measured = (
        f"on two cores an iteration takes n^{ours:.2f} (ours) and n^{theirs:.2f} (the authors' code); no GPU here"
    )
    return [["O(n² + nd) processors share an iteration of ADMM", measured, NOT_TESTABLE]]


def of_prediction() -> list[list[str]]:
    """Prediction by a search for inner products."""
    cells = read_benchmark("throughput")["cells"]
    kinds = unique(key for c in cells for key in c if key.startswith("k-d tree"))
    speeds = [c[kind]["rows_a_second"] / c["rows_a_second"] for c in cells for kind in kinds if kind in c]
    if not speeds:
        return []
    measured = (
        f"a k-d tree, exact or not, at {100 * min(speeds):.0f} to {100 * max(speeds):.0f} % of the plain product; "
        "no hashing was tried"
    )
    state = CONFIRMED if max(speeds) > 1 else f"{NOT} for such a tree"
    return [["prediction gains by an index for the largest inner product", measured, state]]


def of_complexity() -> list[list[str]]:
    """Growth of time, the sizes that can be solved, and prediction."""
    return [
        faster(
            "the linear program of the discrepancy grows less than O(n⁵) in practice",
            [c for c in read_benchmark("engines")["cells"] if c["kind"] == "discrepancy"],
            (5.0, np.inf),
        ),
        faster(
            "the linear program of the absolute loss grows less than O(n⁵) in practice",
            solves("absolute"),
            (5.0, np.inf),
        ),
        faster(
            "the quadratic program grows less than O(d² n⁵) in practice (squared loss)",
            solves("squared"),
            (5.0, 2.0),
        ),
        *of_the_absolute_loss(),
        *of_the_sizes(),
        *of_an_iteration(),
        *of_prediction(),
    ]
