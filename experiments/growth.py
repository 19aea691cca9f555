"""How excess risk falls, and time grows, with the number of rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from experiments.statistics import Values, slope, unique
from pldc.estimators.base import SEVERAL_SOLVES

BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "results"
FEWEST_ROWS = 200  # from which on the time of a solve tells how it grows


def exponents(values: Values) -> list[tuple[int, str, float, float, np.ndarray]]:
    """Return d, method, exponent of the excess risk, its half-width and the numbers of rows."""
    out = []
    methods = unique(m for _, m in values)
    for d in unique(s.split()[0] for s, _ in values):
        number = int(d[2:])
        for m in methods:
            found = {
                int(s.split("n=")[1]): v
                for (s, b), v in values.items()
                if b == m and s.split()[0] == d and np.isfinite(list(v.values())).any()
            }
            if m == "pldc":  # with more rows the defaults learn no geometry: another method
                found = {n: v for n, v in found.items() if n <= SEVERAL_SOLVES}
            sizes = np.array(sorted(found))
            if len(sizes) > 1:
                out.append((number, m, *slope(sizes, [found[n] for n in sizes]), sizes))
    return out


def rate_table(values: Values) -> list[list[str]]:
    """Return exponents of the excess risk beside those of the paper's bound and of the lower bound."""
    lines = [["d", "method", "exponent measured", "paper's bound −2/(d+4)", "lower bound −2/(d+2)", "rows"]]
    for d, m, center, half, sizes in exponents(values):
        text = f"{center:.2f}" if np.isnan(half) else f"{center:.2f} ± {half:.2f}"
        lines.append([str(d), m, text, *(f"{-2 / (d + k):.2f}" for k in (4, 2)), f"{sizes[0]} to {sizes[-1]}"])
    return lines


def growth(name: str, key: str) -> float | None:
    """Return the exponent of n that a benchmark measured; None where it did not run."""
    path = BENCHMARKS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["growth"].get(key) if path.exists() else None


def growth_table() -> list[list[str]]:
    """Return how time grows with the rows, as the benchmarks measured it, beside what the paper states."""

    def measured(name: str, key: str) -> str:
        exponent = growth(name, key)
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


def time_exponents(loss: str) -> tuple[float, float] | None:
    """Return the exponents of n and of d in the time of the accurate engine, by least squares of logarithms."""
    path = BENCHMARKS / "engines.json"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else []
    solves = [c for c in cells if c["kind"] == "solve" and c["engine"] == "exact" and c["loss"] == loss]
    solves = [c for c in solves if c["n"] >= FEWEST_ROWS and c.get("status") == "optimal"]
    if len({c["n"] for c in solves}) < 2 or len({c["d"] for c in solves}) < 2:
        return None
    lams = sorted({c["lam"] for c in solves})
    one_of = np.array([[c["lam"] == lam for lam in lams] for c in solves], dtype=float)
    A = np.column_stack([np.log([[c["n"], c["d"]] for c in solves]), one_of])
    rows, features = np.linalg.lstsq(A, np.log([c["seconds"] for c in solves]), rcond=None)[0][:2]
    return float(rows), float(features)
