"""What the paper says of times and sizes, beside the benchmarks of this repository."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from experiments.statistics import CONFIRMED, NOT, NOT_TESTABLE, OPEN, unique

BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "results"
FEWEST_ROWS = 200  # from which on the time of a solve tells how it grows
LARGE_ROWS = 500
ROWS, FEATURES = 1000, 100  # up to which the paper calls its method viable
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
        "of the two exponents: 4/((d + 2)(d + 4)), 0.27 at d = 1, 0.08 at d = 4, 0.02 at d = 10",
        "confirmed, as arithmetic of the bounds",
    ],
]


def read_benchmark(name: str) -> dict:
    """Return what a benchmark wrote; nothing where it did not run."""
    path = BENCHMARKS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"growth": {}, "cells": []}


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


def time_exponents(loss: str, fewest: int = FEWEST_ROWS) -> tuple[float, float] | None:
    """Return the exponents of n and of d in the time of the accurate engine, by least squares of logarithms.

    Solves that were cut off count with the time they had.
    """
    cells = [c for c in solves(loss) if c["n"] >= fewest]
    if len({c["n"] for c in cells}) < 2 or len({c["d"] for c in cells}) < 2:
        return None
    lams = sorted({c["lam"] for c in cells})
    one_of = np.array([[c["lam"] == lam for lam in lams] for c in cells], dtype=float)
    A = np.column_stack([np.log([[c["n"], c["d"]] for c in cells]), one_of])
    rows, features = np.linalg.lstsq(A, np.log([c["seconds"] for c in cells]), rcond=None)[0][:2]
    return float(rows), float(features)


def of_the_program(what: str, loss: str, most: tuple[float, float]) -> list[str]:
    """Judge whether time grows far less than the paper's worst case: by half of the exponents at most."""
    found, end = time_exponents(loss), time_exponents(loss, LARGE_ROWS)
    if found is None:
        return [what, "not measured", OPEN]
    measured = f"n^{found[0]:.2f} d^{found[1]:.2f} from {FEWEST_ROWS} rows on"
    measured += "" if end is None else f", n^{end[0]:.2f} d^{end[1]:.2f} from {LARGE_ROWS} on"
    cut = [c for c in solves(loss) if c["n"] >= FEWEST_ROWS and not solved(c)]
    if cut:
        measured += f", or more: {len(cut)} were cut off after {max(c['limit'] for c in cut):.0f} s and count as that"
    far = all(
        exponent <= limit / 2 for each in (found, end or found) for exponent, limit in zip(each, most, strict=True)
    )
    return [what, measured, CONFIRMED if far else NOT]


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
    if cut:
        least, limit = min(c["d"] for c in cut), max(c["limit"] for c in cut)
        wide = sum(c["d"] >= least for c in cells)
        measured += f"; from {least} on, {len(cut)} of {wide} solves took over {limit:.0f} s"
    state = CONFIRMED if features >= FEATURES else f"{OPEN}: more features were not tried"
    return [[f"viable for up to {ROWS} rows and {FEATURES} features", measured, state]]


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
        of_the_program(
            "the linear program, of discrepancy and absolute loss, takes O(n⁵) at most, far less in practice",
            "absolute",
            (5.0, np.inf),
        ),
        of_the_program(
            "the quadratic program takes O(d² n⁵) at most, far less in practice (squared loss)", "squared", (5.0, 2.0)
        ),
        *of_the_absolute_loss(),
        *of_the_sizes(),
        *of_an_iteration(),
        *of_prediction(),
    ]
