"""Numbers of the pages: means with intervals over the runs, paired comparisons, resampled runs.

Intervals are of 95 %, by Student's t over the seeds; comparisons are paired, seed by seed. Where the seeds split one
table again and again, that answers whether a method is better on this table, which is what the paper claims. Whether it
is on other rows of the same kind is another question, for the runs share rows: the variance of a mean of J runs is then
taken as (1/J + test/train) times that of one (Nadeau and Bengio 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.stats import t

Values = dict[tuple[str, str], dict[int, float]]
CONFIRMED, NOT, OPEN, NOT_TESTABLE = "confirmed", "not confirmed", "open", "not testable"
ENOUGH = 10  # runs; fewer prove nothing,
SEVERAL = 5  # and still fewer have no interval worth printing


def values_of(rows: list[dict], metric: str) -> Values:
    """Return the value of every seed by (data set, method); what failed is not a number."""
    out: Values = {}
    for row in rows:
        if row["metric"] in (metric, "failed"):
            out.setdefault((row["dataset"], row["method"]), {})[int(row["seed"])] = float(row["value"])
    return out


def unique(items: Iterable[str]) -> list[str]:
    """Return the items without repetition, in their order."""
    return list(dict.fromkeys(items))


def interval(values: Iterable[float], overlap: float = 0.0, family: int = 1) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval; the latter is not a number for one value.

    Of a `family` of so many intervals all hold at once with 95 % (Bonferroni).
    """
    v = np.array(list(values))
    v = v[np.isfinite(v)]
    if len(v) < 2:
        return (float(v[0]) if len(v) else np.nan), np.nan
    quantile = t.ppf(1 - 0.025 / family, len(v) - 1)
    return float(v.mean()), float(quantile * v.std(ddof=1) * np.sqrt(1 / len(v) + overlap))


def shown(values: Iterable[float] | None, digits: int = 1) -> str:
    """Return "mean ± half-width", of a few values the mean alone, and how many runs failed."""
    values = list(values or [])
    failed = int(np.sum(~np.isfinite(values)))
    if failed == len(values):
        return "failed" if values else ""
    mean, half = interval(values)
    text = f"{mean:.{digits}f}" if len(values) - failed < SEVERAL else f"{mean:.{digits}f} ± {half:.{digits}f}"
    return text + (f" ({failed} of {len(values)} failed)" if failed else "")


def smallest(values: dict[str, dict[int, float]]) -> str:
    """Name the method with the least mean; what failed everywhere is none."""
    return min(values, key=lambda m: np.nan_to_num(interval(values[m].values())[0], nan=np.inf))


def against_each(
    ours: dict[int, float], rivals: dict[str, dict[int, float]], sets: int = 1, overlap: float = 0.0
) -> dict[str, str]:
    """Judge "better" by paired differences to each rival: yes, no, or open.

    Who failed in a run that both have is neither better nor worse than the other, and too few runs prove nothing. Of
    `sets` that are judged side by side all verdicts hold at once. One rival suffices for "no" to "better than all", so
    that it is corrected for their number too; "yes" needs all of them.
    """
    states = {}
    for name, values in rivals.items():
        differences = [values[s] - ours[s] for s in ours if s in values]
        known = len(differences) >= ENOUGH and bool(np.isfinite(differences).all())
        worse = known and np.add(*interval(differences, overlap, sets * len(rivals))) < 0
        better = known and np.subtract(*interval(differences, overlap, sets)) > 0
        states[name] = "no" if worse else "yes" if better else "open"
    return states


def verdict(ours: dict[int, float], rivals: dict[str, dict[int, float]], sets: int = 1, overlap: float = 0.0) -> str:
    """Judge "better than all": no where it is worse than one rival, yes where it is better than each, or open."""
    if not ours or not rivals:
        return ""
    states = against_each(ours, rivals, sets, overlap).values()
    return next((state for state in ("no", "open") if state in states), "yes")


def share_won(ours: dict[int, float], rival: dict[int, float]) -> float:
    """Return the share of the runs of both in which ours has the smaller value; equal and failed ones count half."""
    signs = np.sign([rival[s] - ours[s] for s in ours if s in rival])
    return float(np.mean(0.5 + np.nan_to_num(signs) / 2)) if len(signs) else np.nan


def above(mean: float, half: float, limit: float = 0.0) -> str:
    """Judge whether a number is above a limit, beyond its half-width."""
    return CONFIRMED if mean - half > limit else NOT if mean + half < limit else OPEN  # what is no number is open


def common_seeds(values: Iterable[dict[int, float] | None]) -> list[int]:
    """Return the seeds that all have; none if one of them is missing."""
    seeds = [set(found or ()) for found in values]
    return sorted(set.intersection(*seeds)) if seeds else []


def resampled(
    statistic: Callable[[Sequence[int]], float], seeds: list[int], family: int = 1, draws: int = 400
) -> tuple[float, float]:
    """Return a statistic of all seeds and the half-width of its 95 % interval over resampled ones.

    What has the same seed is drawn together. Too few seeds have no interval.
    """
    if len(seeds) < ENOUGH:
        return (statistic(seeds) if seeds else np.nan), np.nan
    rng = np.random.default_rng(0)
    v = [statistic(rng.choice(seeds, len(seeds)).tolist()) for _ in range(draws)]
    return statistic(seeds), float(t.ppf(1 - 0.025 / family, len(seeds) - 1) * np.std(v))


def mean_of(found: dict[int, float], seeds: Sequence[int]) -> float:
    """Mean over the seeds, with repetition."""
    return float(np.mean([found[s] for s in seeds]))


def slope(sizes: np.ndarray, values: list[dict[int, float]]) -> tuple[float, float]:
    """Return the exponent of the mean against the size, and its 95 % half-width by resampling the runs of each size."""
    x = np.log(sizes)
    rng = np.random.default_rng(0)
    samples = [np.array([v for v in seeds.values() if np.isfinite(v)]) for seeds in values]

    def one(means: list[float]) -> float:
        return float(np.polyfit(x, np.log(means), 1)[0])

    center = one([s.mean() for s in samples])
    least = min(len(s) for s in samples)
    if least < ENOUGH:
        return center, np.nan
    draws = [one([rng.choice(s, len(s)).mean() for s in samples]) for _ in range(500)]
    return center, float(t.ppf(0.975, least - 1) * np.std(draws))
