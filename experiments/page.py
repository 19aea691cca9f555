"""Tables and figures of the paper's experiments, from their result files alone.

    python -m experiments.page [FOLDER]

Means with 95 % intervals of Student's t over the seeds; comparisons are paired, seed by seed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, studentized_range, t

from experiments.cells import read, write_table

RESULTS = Path(__file__).parent / "results"
# The column "Did DC do better?" of the paper's two tables.
CLAIMS = {
    "regression": dict.fromkeys(("rock", "acetylene", "moore", "reaction", "cereal", "forest_fires"), True)
    | {"carsmall": False, "boston": False},
    "classes": dict.fromkeys(("bpd", "iris", "balance_scale", "ecoli", "ionosphere"), True)
    | {"wine": False, "heart_disease": False},
}
# A study by the same protocol: for pldc as named, normalised error × 100 and error in per cent.
REFERENCE = {
    "regression": {
        "acetylene": (3.3, "pldc, paper"),
        "moore": (19.0, "pldc, paper"),
        "reaction": (45.0, "pldc, paper"),
        "rock": (45.0, "pldc, paper"),
        "carsmall": (27.0, "pldc, paper"),
        "boston": (17.0, "pldc, squared, joint"),
    },
    "classes": {
        name: (value, "pldc")
        for name, value in (
            ("bpd", 19.9),
            ("iris", 3.8),
            ("balance_scale", 7.3),
            ("ecoli", 12.5),
            ("ionosphere", 8.9),
            ("wine", 3.7),
            ("heart_disease", 45.6),
        )
    },
}
RIVALS_CODED = {
    "regression": ("MLP, as coded", "MARS, as coded", "kNN, as coded"),
    "classes": ("MLP, as coded", "SVM, as coded", "kNN, as coded"),
}
RIVALS_FAIR = {"regression": ("MLP", "MARS", "kNN"), "classes": ("MLP", "RBF SVM", "kNN")}
Values = dict[tuple[str, str], dict[int, float]]


def values_of(rows: list[dict], metric: str) -> Values:
    """Return the value of every seed by (data set, method); what failed is not a number."""
    out: Values = {}
    for row in rows:
        if row["metric"] in (metric, "failed"):
            out.setdefault((row["dataset"], row["method"]), {})[int(row["seed"])] = float(row["value"])
    return out


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval; the latter is not a number for one value."""
    v = np.array(list(values))
    v = v[np.isfinite(v)]
    if len(v) < 2:
        return (float(v[0]) if len(v) else np.nan), np.nan
    return float(v.mean()), float(t.ppf(0.975, len(v) - 1) * v.std(ddof=1) / np.sqrt(len(v)))


def shown(values: Iterable[float] | None, digits: int = 1) -> str:
    """Return "mean ± half-width", or the mean alone."""
    values = list(values or [])
    if not values:
        return ""
    mean, half = interval(values)
    if np.isnan(mean):
        return "failed"
    return f"{mean:.{digits}f}" if np.isnan(half) else f"{mean:.{digits}f} ± {half:.{digits}f}"


def unique(items: Iterable[str]) -> list[str]:
    """Return the items without repetition, in their order."""
    return list(dict.fromkeys(items))


def means_table(values: Values, digits: int = 1) -> list[list[str]]:
    """Return one line a method, one column a data set."""
    sets, methods = unique(s for s, _ in values), unique(m for _, m in values)
    lines = [["method", *sets]]
    for m in methods:
        found = [values.get((s, m)) for s in sets]
        lines.append([m, *(shown(None if f is None else f.values(), digits) for f in found)])
    seeds = [max((len(v) for (a, _), v in values.items() if a == s), default=0) for s in sets]
    return [*lines, ["runs", *map(str, seeds)]]


def verdict(ours: dict[int, float], rivals: dict[str, dict[int, float]]) -> tuple[str, str]:
    """Judge "better than all": by paired differences to each rival, yes, no, or open; and name the best rival."""
    if not ours or not rivals:
        return "", ""
    best = min(rivals, key=lambda m: interval(rivals[m].values())[0])
    state = "yes"
    for values in rivals.values():
        common = [s for s in ours if s in values]
        mean, half = interval(values[s] - ours[s] for s in common)
        if mean < 0 and (np.isnan(half) or mean + half < 0):
            return "no", best
        if not mean - half > 0:
            state = "open"
    return state, best


def claims_table(study: str, values: Values) -> list[list[str]]:
    """Return each ✓ and ✗ of the paper's table, against its rivals as coded and tuned fairly."""
    lines = [
        ["data set", "paper", "as in the paper", "reference", "beats rivals as coded", "beats the same, tuned"]
        + ["all defaults", "beats the same, tuned", "best of all here"]
    ]
    for name, claim in CLAIMS[study].items():
        here = {m: v for (s, m), v in values.items() if s == name}
        if not here:
            continue
        reference, own = REFERENCE[study].get(name, (np.nan, "pldc, paper"))
        paper, default = here.get("pldc, paper", {}), here.get("pldc", {})
        groups = [{m: here[m] for m in group[study] if m in here} for group in (RIVALS_CODED, RIVALS_FAIR)]
        said = [" / ".join(filter(None, verdict(paper, group))) for group in groups]
        top = min(here, key=lambda m: np.nan_to_num(interval(here[m].values())[0], nan=np.inf))
        said_default = " / ".join(filter(None, verdict(default, groups[1])))
        ref = "" if np.isnan(reference) else f"{reference:g} (here {shown(here.get(own, {}).values())})"
        lines.append(
            [name, "✓" if claim else "✗", shown(paper.values()), ref, *said]
            + [shown(default.values()), said_default, f"{top} {shown(here[top].values())}"]
        )
    return lines


def mean_ranks(values: Values) -> tuple[list[str], np.ndarray, int]:
    """Return the methods that ran everywhere, their ranks (sets, methods), and the common number of seeds."""
    sets, methods = unique(s for s, _ in values), unique(m for _, m in values)
    methods = [m for m in methods if all((s, m) in values for s in sets)]
    common = set.intersection(*(set(values[s, m]) for s in sets for m in methods)) if methods else set()
    if not common:
        return [], np.empty((0, 0)), 0
    table = np.array([[np.mean([values[s, m][k] for k in common]) for m in methods] for s in sets])
    return methods, np.array([rankdata(np.nan_to_num(row, nan=np.inf)) for row in table]), len(common)


def critical_difference(methods: int, sets: int) -> float:
    """Difference of mean ranks beyond which two methods differ, by Nemenyi's test at 5 %."""
    q = studentized_range.ppf(0.95, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def rank_table(values: Values, draws: int = 2000) -> list[list[str]]:
    """Return mean ranks with intervals by resampling the sets, and geometric means."""
    methods, ranks, seeds = mean_ranks(values)
    if not methods:
        return [["method", "mean rank"]]
    rng = np.random.default_rng(0)
    again = ranks[rng.integers(0, len(ranks), (draws, len(ranks)))].mean(axis=1)
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    sets = unique(s for s, _ in values)
    lines = [["method", "mean rank", "95 % interval", "geometric mean", "first of all on"]]
    for k in np.argsort(ranks.mean(axis=0)):
        means = [interval(values[s, methods[k]].values())[0] for s in sets]
        geometric = np.exp(np.mean(np.log(np.maximum(means, 1e-3))))
        first = int((ranks[:, k] == ranks.min(axis=1)).sum())
        lines.append(
            [methods[k], f"{ranks[:, k].mean():.2f}", f"{low[k]:.2f} to {high[k]:.2f}", f"{geometric:.2f}", str(first)]
        )
    gap = critical_difference(len(methods), len(sets))
    return [*lines, [f"{len(sets)} sets, {seeds} runs", f"critical difference {gap:.2f}", "", "", ""]]


def slope(sizes: np.ndarray, values: list[dict[int, float]]) -> tuple[float, float]:
    """Return the exponent of the mean against the size, and its 95 % half-width by resampling seeds."""
    x = np.log(sizes)
    rng = np.random.default_rng(0)
    samples = [np.array(list(v.values())) for v in values]

    def one(means: list[float]) -> float:
        return float(np.polyfit(x, np.log(means), 1)[0])

    center = one([s.mean() for s in samples])
    draws = [one([rng.choice(s, len(s)).mean() for s in samples]) for _ in range(500)]
    return center, float(1.96 * np.std(draws))


def rate_table(values: Values) -> list[list[str]]:
    """Return exponents of the excess risk beside those of the paper's bound and of the lower bound."""
    lines = [["d", "method", "exponent measured", "paper's bound −2/(d+4)", "lower bound −2/(d+2)", "rows"]]
    methods = unique(m for _, m in values)
    for d in unique(s.split()[0] for s, _ in values):
        number = int(d[2:])
        for m in methods:
            names = [s for s in unique(s for s, _ in values) if s.split()[0] == d and (s, m) in values]
            sizes = np.array([int(s.split("n=")[1]) for s in names])
            if len(sizes) > 1:
                center, half = slope(sizes, [values[s, m] for s in names])
                bounds = [f"{-2 / (number + k):.2f}" for k in (4, 2)]
                lines.append([str(number), m, f"{center:.2f} ± {half:.2f}", *bounds, f"{sizes[0]} to {sizes[-1]}"])
    return lines


def draw(folder: Path) -> None:
    """Write all tables and figures that the result files of `folder` allow."""
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    found = {}
    for name, metric in (
        ("synthetic", "nmse"),
        ("regression", "nmse"),
        ("classes", "error"),
        ("surface", "nmse"),
        ("manifold", "nmse"),
        ("rate", "excess"),
        ("wide", "nmse"),
    ):
        rows = read(folder / f"paper_{name}.csv")
        if not rows:
            continue
        values = found[name] = values_of(rows, metric)
        write_table(folder / f"paper_{name}.rst", means_table(values, 4 if name == "rate" else 1))
        if name in CLAIMS:
            write_table(folder / f"paper_{name}_claims.rst", claims_table(name, values))
        if name in ("wide", "synthetic"):
            write_table(folder / f"paper_{name}_ranks.rst", rank_table(values))
        if name == "surface":
            write_table(folder / "paper_surface_seminorm.rst", means_table(values_of(rows, "seminorm"), 2))
        if name == "manifold":
            write_table(folder / "paper_manifold_discrepancy.rst", means_table(values_of(rows, "discrepancy"), 3))
        if name == "rate":
            write_table(folder / "paper_rate_exponents.rst", rate_table(values))
    from experiments import figures as pictures

    pictures.draw(found, figures)
    print(f"tables and figures: {folder}")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
