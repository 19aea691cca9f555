"""Tables and figures of the paper's experiments, from their result files (figure 1 fits its surfaces again).

python -m experiments.page [FOLDER]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from experiments.authors import authors_table
from experiments.cells import read, write_table
from experiments.complexity import growth_table
from experiments.growth import rate_table
from experiments.methods import CLASSIFIERS, REGRESSORS
from experiments.paper import ZEROS
from experiments.ranks import lost_table, rank_table
from experiments.statistics import Values, shown, unique, values_of
from experiments.tables import CLAIMS, DEFAULTS, PAPER, claims_table
from experiments.verdicts import claims
from pldc.select.bound import discrepancy_rate

RESULTS = Path(__file__).parent / "results"
METRICS = {
    "synthetic": "nmse",
    "regression": "nmse",
    "classes": "error",
    "surface": "nmse",
    "manifold": "nmse",
    "rate": "excess",
    "sparse": "zeros",
    "wide": "nmse",
}
MORE = {  # further metrics
    "surface": ("seminorm",),
    "manifold": ("discrepancy",),
    "sparse": ("zeros", "zeros, strict", "weights", "weights, strict", "place"),
}
ORDER = {method: k for k, method in enumerate(unique(["pldc", DEFAULTS, *REGRESSORS, *CLASSIFIERS]))}
ABOVE_2000 = ("abalone", "power_plant", "kin8nm")  # of the wide study, sets of more rows


def ordered(methods: Iterable[str]) -> list[str]:
    """Return the methods without repetition, ours first, the others as `experiments.methods` has them."""
    return sorted(unique(methods), key=lambda m: (not m.startswith("pldc"), ORDER.get(m, len(ORDER))))


def sets_of(values: Values) -> list[str]:
    """Return the data sets as they came; those named by numbers ("d=2 n=25") by these."""
    return sorted(
        unique(s for s, _ in values),
        key=lambda s: (s.partition("=")[0], *map(int, re.findall(r"=(\d+)", s))) if "=" in s else ("",),
    )


def means_table(values: Values, digits: int = 1) -> list[list[str]]:
    """Return one line a method, ours first, one column a data set, and how many runs there are of each."""
    sets, methods = sets_of(values), ordered(m for _, m in values)
    lines = [["method", *sets, "runs"]]
    for m in methods:
        found = [values.get((s, m)) for s in sets]
        counts = sorted({len(f) for f in found if f})
        runs = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        lines.append([m, *(shown(f and f.values(), digits) for f in found), runs])
    return lines


def wide_table(values: Values) -> list[list[str]]:
    """Return mean errors, one line a data set, one column a method."""
    sets, methods = sets_of(values), ordered(m for _, m in values)
    errors = [
        [f"{np.mean(list(values[s, m].values())):.2f}" if (s, m) in values else "" for m in methods] for s in sets
    ]
    return [["data set", *methods], *([s, *line] for s, line in zip(sets, errors, strict=True))]


def discrepancy_table(values: Values) -> list[list[str]]:
    """Return the discrepancy of 100 rows on a curve and in the cube, by dimension, beside the paper's bound."""
    lines = [["features", "on a curve", "in the cube", "bound of the paper"]]
    for d in sorted({s.split("=")[1] for s, m in values if m == "discrepancy"}, key=int):
        found = [values.get((f"{kind} d={d}", "discrepancy"), {}) for kind in ("curve", "cube")]
        lines.append([d, *(shown(v.values(), 3) for v in found), f"{discrepancy_rate(100, int(d)):.1f}"])
    return lines


def zeros_table(metrics: dict[str, Values]) -> list[list[str]]:
    """Return the share of zeros, per cent, one column a data set."""
    sets = sets_of(metrics["zeros"])
    lines = [["per cent", "up to", *sets, "runs"]]
    for metric, what in (("zeros", "slopes of f at new rows"), ("weights", "weights of the pieces of both parts")):
        for kind, limit in ZEROS.items():
            found = [metrics[metric + kind].get((s, PAPER), {}) for s in sets]
            lines.append([what, f"{limit:g}", *(shown(v.values(), 0) for v in found), str(min(map(len, found)))])
    return lines


def tables(folder: Path) -> dict[str, list[list[str]]]:
    """Return all tables that the result files of `folder` allow, by name."""
    out: dict[str, list[list[str]]] = {}
    found, more, sources = {}, {}, [["study", "rows", "commits"]]
    for name, metric in METRICS.items():
        rows = read(folder / f"paper_{name}.csv")
        if not rows:
            continue
        sources.append([name, str(len(rows)), ", ".join(unique(row["commit"] or "older" for row in rows))])
        values = found[name] = values_of(rows, metric)
        fair = {key: v for key, v in values.items() if "," not in key[1]}  # our defaults and tuned rivals
        out[name] = wide_table(values) if name == "wide" else means_table(values, 4 if name == "rate" else 1)
        for metric in MORE.get(name, ()):
            more[metric] = values_of(rows, metric)
        if name in CLAIMS:
            out[f"{name}_claims"] = claims_table(name, values)
            out[f"{name}_authors"] = authors_table(name, values)
        if name == "classes":
            out["classes_ranks"] = rank_table(fair)
        if name == "wide":
            out["wide_ranks"] = rank_table(fair)
            out["wide_ranks_2000"] = rank_table({key: v for key, v in fair.items() if key[0] not in ABOVE_2000})
            out["wide_lost"] = lost_table(fair)
        if name == "surface":
            out["surface_seminorm"] = means_table(more["seminorm"], 2)
        if name == "manifold":
            more["discrepancy"] = {key: v for key, v in more["discrepancy"].items() if key[1] == "discrepancy"}
            out["manifold_discrepancy"] = discrepancy_table(more["discrepancy"])
        if name == "sparse":
            out["sparse"] = zeros_table(more)
        if name == "rate":
            out["rate_exponents"] = rate_table(values)
    out["sources"], out["growth"] = sources, growth_table()
    out["claims"] = claims(found, more)
    return out


def draw(folder: Path) -> None:
    """Write all tables and figures."""
    from experiments.figures import draw as draw_figures

    for name, lines in tables(folder).items():
        write_table(folder / f"paper_{name}.rst", lines)
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    rows = {name: values_of(read(folder / f"paper_{name}.csv"), metric) for name, metric in METRICS.items()}
    draw_figures({name: values for name, values in rows.items() if values}, figures)
    print(f"tables and figures: {folder}")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
