"""What is tried on a table of so many rows and features.

Measured on the data sets of the experiments (docs, "Few pieces"): hinged features beat plain ones nearly everywhere but
on smooth tables and on few noisy rows; more rows want more knots and pieces; means of several starts, and of two or
three kinds, gain more than any single choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pldc.compact.members import Candidate

MOST_COLUMNS = 400  # of hinged features; of many features, each has fewer knots
FEWEST_KNOTS = 4
FEW_ROWS = 1000  # rows up to which all folds are fitted, and small enough that a thread fits a whole start
SOME_ROWS = 4000
MANY_ROWS = 50_000
VERY_MANY_ROWS = 200_000
COMPARED = 50_000  # rows of a large table on which kinds are compared: on 10,000 they may be level that are not on all
STARTS = 4  # on the first rows of so many; of fewer, where these are a larger share of the time, half
SECOND = 120  # steps on 50,000 of very many rows, where they cost little and bring the most
FINE = ((10, 48), (32, 64), (64, 64))  # knots and pieces of hinged functions, where there are rows enough


MANY_CLASSES = 16  # from which on scores are small, and few are tried
TENTHS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)  # ridges for classes


@dataclass(frozen=True)
class Plan:
    """What to try, by the size of the table.

    Attributes
    ----------
    candidates : list of Candidate
    sample : int
        Rows on which candidates are compared, at most.
    choosers : int
        Starts of each candidate for the comparison.
    members : int
        Starts of each candidate that is kept.
    kept : int
        Candidates kept, at most.
    patience : int
        How many times the steps of the comparison the final fits take.
    starts : int
        Of each of the final fits, on its first rows.
    second : int
        Steps of the final fits on the second stage of a descent on many rows; 0: fewer than on the first.
    """

    candidates: list[Candidate]
    sample: int
    choosers: int
    members: int
    kept: int
    patience: int = 1
    starts: int = 1
    second: int = 0


def plan_for_classes(n: int, d: int, classes: int) -> Plan:
    """Return what to try for classes: additive scores, scores of few hinged pieces, and plain ones."""
    low, middle, high = TENTHS[:8], TENTHS[:9], TENTHS
    few: tuple[float, ...]
    if classes > MANY_CLASSES:
        few = (1e-3, 1e-2, 0.1)
        plan = Plan([Candidate(8, 1, few, 0, 60), Candidate(0, 3, few, 0, 60)], 5000, 1, 1, 2)
    elif n <= FEW_ROWS:
        plan = Plan([Candidate(8, 1, low, 1), Candidate(8, 3, middle), Candidate(0, 8, high, 1, 80)], n, 1, 4, 3)
    elif n <= SOME_ROWS:
        kinds = [Candidate(12, 1, low[:-1], 1), Candidate(12, 6, middle[:-1]), Candidate(0, 16, low[:-1], 1)]
        plan = Plan(kinds, n, 1, 4, 3)
    elif n <= MANY_ROWS:
        few = (1e-5, 1e-4, 1e-3, 1e-2)
        kinds = [Candidate(16, 1, few, 1), Candidate(16, 12, few[1:]), Candidate(0, 24, few, 1)]
        plan = Plan(kinds, 5000, 1, 2, 2)
    else:
        few = (1e-4, 1e-3, 1e-2)
        plan = Plan([Candidate(16, 4, few, 0, 80), Candidate(0, 24, few, 1)], 10_000, 1, 1, 1)
        plan = replace(plan, starts=STARTS // 2 if n <= VERY_MANY_ROWS else STARTS)
    return replace(plan, candidates=list(dict.fromkeys(fitting(candidate, d) for candidate in plan.candidates)))


def plan_for(n: int, d: int, plain: bool = False, hinged: bool = False) -> Plan:
    """Return what to try on n rows of d features; `plain` or `hinged`: candidates of that kind alone."""
    rough: tuple[float, ...]
    smooth: tuple[float, ...]
    if n <= FEW_ROWS:
        rough, smooth = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0), (1e-3, 1e-2, 0.1, 1.0, 3.0, 10.0)
        plan = Plan([Candidate(10, 8, rough), Candidate(16, 20, rough), Candidate(0, 16, smooth, 2, 80)], n, 1, 4, 3)
    elif n <= SOME_ROWS:
        rough, smooth = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0), (1e-4, 1e-3, 1e-2, 0.1, 1.0)
        plan = Plan([Candidate(10, 16, rough), Candidate(24, 32, rough), Candidate(0, 32, smooth, 2)], n, 1, 4, 3)
    elif n <= MANY_ROWS:
        fine, smooth = (1e-3, 1e-2, 3e-2, 0.1), (1e-5, 1e-4, 1e-3, 1e-2)
        kinds = [Candidate(0, 64, smooth, 2, 150), *(Candidate(k, p, fine, 0, 120) for k, p in FINE)]
        plan = Plan(kinds, 8000, 1, 4, 3, 2) if n <= MANY_ROWS // 4 else Plan(kinds, 8000, 1, 2, 2)
    else:
        kinds = [Candidate(0, 40, (1e-4, 1e-3), 1, 100), Candidate(12, 24, (1e-3, 1e-2), 0, 60)]
        few = n <= VERY_MANY_ROWS  # so that another member is affordable
        plan = Plan(kinds, COMPARED, 1, 2 if few else 1, 1, starts=STARTS // 2 if few else STARTS, second=SECOND)
    kinds = list(dict.fromkeys(fitting(candidate, d) for candidate in plan.candidates))
    return replace(plan, candidates=[c for c in kinds if allowed(c, plain, hinged)])


def fitting(candidate: Candidate, d: int) -> Candidate:
    """Return the candidate with as many knots as so many features allow."""
    return replace(candidate, knots=min(candidate.knots, max(MOST_COLUMNS // d - 1, FEWEST_KNOTS)))


def allowed(candidate: Candidate, plain: bool, hinged: bool) -> bool:
    """Say whether a candidate is of the wanted kind."""
    return not (plain and candidate.knots) and not (hinged and not candidate.knots)
