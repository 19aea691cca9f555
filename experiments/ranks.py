"""Mean ranks over data sets, Nemenyi's critical difference, and where our ranks are lost."""

from __future__ import annotations

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from experiments.statistics import Values, common_seeds, unique
from experiments.tables import DEFAULTS


def mean_errors(values: Values) -> tuple[list[str], np.ndarray, str]:
    """Return methods that ran everywhere, their errors (sets, methods) and how many runs these are means of.

    The runs of a set are those that all methods have of it. A method that failed once on a set has failed there: its
    error is infinite.
    """
    sets, methods = unique(s for s, _ in values), unique(m for _, m in values)
    methods = [m for m in methods if all((s, m) in values for s in sets)]
    seeds = [common_seeds(values[s, m] for m in methods) for s in sets]
    if not methods or not all(seeds):
        return [], np.empty((0, 0)), "no runs"
    table = np.array(
        [[np.mean([values[s, m][k] for k in own]) for m in methods] for s, own in zip(sets, seeds, strict=True)]
    )
    least, most = min(map(len, seeds)), max(map(len, seeds))
    runs = f"{least} run{'s' if least > 1 else ''}" if least == most else f"{least} to {most} runs"
    return methods, np.nan_to_num(table, nan=np.inf), runs


def ranks_of(errors: np.ndarray) -> np.ndarray:
    """Rank the methods on each set; errors that differ by rounding alone are equal."""
    return np.array([rankdata([float(f"{error:.9g}") for error in row]) for row in errors])


def critical_difference(methods: int, sets: int) -> float:
    """Difference of mean ranks beyond which two methods differ, by Nemenyi's test at 5 %."""
    q = studentized_range.ppf(0.95, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def rank_table(values: Values, draws: int = 2000, ours: str = DEFAULTS) -> list[list[str]]:
    """Return mean ranks with intervals by resampling the sets, geometric means, and tests of all methods at once."""
    methods, errors, runs = mean_errors(values)
    if not methods:
        return [["method", "mean rank"]]
    ranks = ranks_of(errors)
    rng = np.random.default_rng(0)
    again = ranks[rng.integers(0, len(ranks), (draws, len(ranks)))].mean(axis=1)
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    lines = [["method", "mean rank", "95 % interval", "geometric mean", "first of all on"]]
    for k in np.argsort(ranks.mean(axis=0)):
        geometric = np.exp(np.mean(np.log(np.maximum(errors[:, k], 1e-3))))
        first = int((ranks[:, k] == ranks.min(axis=1)).sum())
        lines.append(
            [methods[k], f"{ranks[:, k].mean():.2f}", f"{low[k]:.2f} to {high[k]:.2f}", f"{geometric:.2f}", str(first)]
        )
    gap = critical_difference(len(methods), len(errors))
    tests = f"critical difference {gap:.2f}"
    mean = dict(zip(methods, ranks.mean(axis=0), strict=True))
    apart = [m for m in methods if ours in mean and abs(mean[m] - mean[ours]) > gap]
    told = [f"told apart from {ours}: {', '.join(apart) or 'none'}"] if ours in mean else []
    absent = [m for m in unique(m for _, m in values) if m not in methods]
    told += [f"not run everywhere, left out: {', '.join(absent)}"] if absent else []
    if len(methods) > 2:
        tests += f", Friedman p = {friedmanchisquare(*ranks.T).pvalue:.1g}"
    return [*lines, [f"{len(errors)} sets, {runs}", tests, "; ".join(told), "", ""]]


def lost_table(values: Values, ours: str = DEFAULTS) -> list[list[str]]:
    """Return our rank where it is not the first, the worst rank first, with our error beside the least."""
    methods, errors, _ = mean_errors(values)
    lines = [["data set", f"rank of {ours}", f"error of {ours}", "least error", "whose"]]
    if ours not in methods:
        return lines
    own, ranks = methods.index(ours), ranks_of(errors)
    sets = unique(s for s, _ in values)
    for k in np.argsort(-ranks[:, own], kind="stable"):
        if ranks[k, own] == ranks[k].min():
            continue
        best = int(errors[k].argmin())
        lines.append([sets[k], f"{ranks[k, own]:g}", f"{errors[k, own]:.2f}", f"{errors[k, best]:.2f}", methods[best]])
    return lines
