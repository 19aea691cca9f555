import numpy as np
import pandas as pd
import pytest
from experiments.authors import authors_table
from experiments.cells import text_of
from experiments.complexity import time_exponents
from experiments.growth import rate_table
from experiments.page import MORE, RESULTS, means_table, sets_of, tables, wide_table, zeros_table
from experiments.ranks import critical_difference, lost_table, mean_errors, rank_table, ranks_of
from experiments.statistics import common_seeds, interval, resampled, share_won, shown, slope, values_of, verdict
from experiments.tables import (
    CLAIMS,
    OVERLAP,
    beside,
    beside_reference,
    best_of_all,
    claims_table,
    contest,
    judged,
    references,
)
from scipy.stats import t


def test_the_interval_is_that_of_student():
    mean, half = interval([1.0, 2.0, 3.0, 4.0])
    assert mean == 2.5 and half == pytest.approx(3.1824463 * np.std([1, 2, 3, 4], ddof=1) / 2, rel=1e-6)
    wider = interval([1.0, 2.0, 3.0, 4.0], overlap=0.25)[1]  # four splits of one table, a fifth of it to test
    assert wider == pytest.approx(half * np.sqrt(2), rel=1e-12)
    assert interval([1.0, 2.0, 3.0, 4.0], family=2)[1] == pytest.approx(half * 4.176535 / 3.1824463, rel=1e-5)
    assert interval([2.0, np.nan]) == (2.0, pytest.approx(np.nan, nan_ok=True))


def test_verdicts_are_paired_and_say_when_it_is_open():
    noise = np.random.default_rng(0).standard_normal(20)
    ours = dict(enumerate(10 + 5 * noise))
    worse = {k: v + 1 + 0.1 * (-1) ** k for k, v in ours.items()}  # far less than the spread of either
    alike = {k: v + (-1) ** k for k, v in ours.items()}
    better = {k: v - 1 + 0.1 * (-1) ** k for k, v in ours.items()}
    failed = dict.fromkeys(ours, np.nan)
    assert verdict(ours, {"a": worse}) == "yes"
    assert verdict(ours, {"a": worse, "b": alike}) == "open"
    assert verdict(ours, {"a": worse, "b": alike, "c": better}) == "no"
    assert verdict(ours, {"f": failed, "a": worse}) == "open"  # who failed is not beaten
    once = ours | {3: np.nan}  # who failed once is neither better nor worse
    assert verdict(once, {"a": worse}) == "open" and verdict(ours, {"c": better | {3: np.nan}}) == "open"
    for other in (0.0, 100.0):  # one run proves nothing, either way
        assert verdict({0: 10.0}, {"a": {0: other}}) == "open"


def test_many_splits_decide_about_this_table_and_not_about_others():
    ours = dict(enumerate(np.random.default_rng(0).integers(9, size=20) / 4))
    wavering = {k: v + 1 + (-1) ** k for k, v in ours.items()}  # ahead by 0 or 2
    assert contest(ours, {"a": wavering}, overlap=1.0) == ("yes", "yes / a 75 %")
    assert contest(ours, {"a": wavering}, overlap=0.0) == ("yes", "yes † / a 75 %")
    assert contest(ours, {"a": wavering, "f": dict.fromkeys(ours, np.nan)}, 0.0) == ("open", "open / f 50 %")
    assert contest(ours, {"a": wavering, "b": dict(ours), "c": {k: v + 0.1 for k, v in ours.items()}}, 0.0) == (
        ("open", "open / b 50 %")  # the one that is not beaten
    )
    behind = {k: v - 1 + 0.1 * (-1) ** k for k, v in ours.items()}
    assert contest(ours, {"a": wavering, "b": behind, "c": behind}, 0.0)[1] == "no † / b 0 %, c 0 %"
    assert contest({}, {"a": wavering}, 1.0) == ("", "")


def test_the_share_of_runs_won():
    assert share_won({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 9: 0.0}, {0: 2.0, 1: 0.0, 2: 1.0, 3: np.nan}) == 0.5
    assert share_won({0: 1.0, 1: 1.0}, {0: 9e9, 1: 1.1}) == 1.0 and np.isnan(share_won({0: 1.0}, {}))


def test_verdicts_hold_for_all_sets_and_rivals_at_once():
    ours = dict.fromkeys(range(20), 0.0)
    just = {k: -1.0 + 2.0 * (-1) ** k for k in range(20)}  # worse by 2.18 standard errors
    ahead = {k: 9.0 + 0.1 * (-1) ** k for k in range(20)}
    assert verdict(ours, {"a": just}) == "no" and verdict(ours, {"a": just}, sets=3) == "open"
    assert verdict(ours, {"a": just, "b": ahead, "c": ahead}) == "open"
    behind = {k: -v for k, v in just.items()}  # "yes" needs all rivals, and no correction for these,
    assert verdict(ours, {"a": behind, "b": ahead, "c": ahead}) == "yes"
    assert verdict(ours, {"a": behind, "b": ahead, "c": ahead}, sets=3) == "open"  # but one for the sets


def test_we_are_compared_with_the_reference_within_the_noise_of_both():
    found = {k: 10.0 + (-1) ** k for k in range(18)}  # mean 10; half-widths: 0.51 of ours, 0.72 of the difference
    assert beside_reference(9.4, found) == "10.0 ± 0.5 (9.4): within noise"
    both = "worse if that is of 18 runs, within noise if of 8"  # of the difference to eight: 0.92
    assert beside_reference(9.2, found) == f"10.0 ± 0.5 (9.2): {both}"
    assert beside_reference(9.0, found) == "10.0 ± 0.5 (9): worse"
    assert beside_reference(20.0, found).endswith(": better") and beside_reference(9.0, {0: 10.0}).endswith("open")
    assert beside_reference(10.5, found).endswith(": not worse")
    assert beside_reference(20.0, found | {3: np.nan}).endswith(": open")  # who failed is not compared
    few = {k: 10.0 + (-1) ** k for k in range(9)}
    assert (
        beside_reference(20.0, few).endswith("open")
        and verdict(few, {"a": {k: v + 9 for k, v in few.items()}}) == "open"
    )
    assert references("regression", "forest_fires", {}) == ""
    both = references("regression", "carsmall", {"pldc, paper": found})
    assert both == (
        "pldc, paper 10.0 ± 0.5 (27): better; pldc, absolute, standardised not run (27): open; "
        "pldc, squared, componentwise not run (20): open"
    )


def test_the_authors_figures_stand_beside_ours():
    found = {k: 4.0 + (-1) ** k for k in range(20)}  # half-width 0.48
    values = {("iris", "pldc, paper"): found, ("iris", "kNN, as coded"): found, ("ecoli", "pldc, paper"): found}
    table = {line[0]: line[1:] for line in authors_table("classes", values)}
    assert table["iris"][:3] == ["✓", "their own", "4.0 ± 0.5 (3.9 ± 0.7): within noise"]
    assert table["iris"][-1] == "4.0 ± 0.5 (4 ± 0.8)" and table["iris"][3] == "not run (4.9 ± 1.2)"
    assert table["ecoli"][2].endswith(": better") and table["wine"][2] == "not run (21.3 ± 2.5): open"
    assert table["wine"][1] == "MLP" and set(table) == {"data set", *CLAIMS["classes"]} - {"bpd"}
    first = {line[0]: line[2] for line in authors_table("regression", {})}
    assert first["cereal"] == "MLP, against the table" and first["boston"] == "MARS"
    assert [beside(found, 4.0 - lead, 1.0) for lead in (1.0, 1.2)] == ["within noise", "worse"]  # hypot: 1.11
    assert [beside(found, 4.0 + lead, 1.0) for lead in (1.0, 1.2)] == ["not worse", "better"]
    rivals = {("iris", "MLP, as coded"): found, ("iris", "SVM, as coded"): {k: v + 9 for k, v in found.items()}}
    line = authors_table("classes", rivals)[1]
    assert line[4] == "4.0 ± 0.5 (4.9 ± 1.2)" and line[5] == "13.0 ± 0.5 (8.1 ± 1.5): higher"


def test_the_best_of_all_is_that_on_shared_runs():
    lucky = {0: 1.0, 1: 1.0}  # two easy runs
    often = {k: 1.0 if k < 2 else 9.0 for k in range(20)}
    half = {k: 8.0 for k in range(10)}
    assert best_of_all({"pldc 0.1": often, "a": half, "b": lucky}) == "pldc 0.1 7.4 ± 2.4, 10 runs"
    assert best_of_all({"pldc 0.1": {0: 2.0}, "b": {0: 1.0}}) == "b 1.0, pldc 0.1 2.0, 1 run"


def test_a_yes_that_a_constant_shares_is_marked():
    ours = {k: np.sin(k) for k in range(20)}
    rival = {k: v + 1 + 0.1 * (-1) ** k for k, v in ours.items()}
    constant = {k: v + 0.1 * (-1) ** k for k, v in ours.items()}
    assert contest(ours, {"a": rival}, 0.0, 1, constant)[1] == "yes † (no better than a constant) / a 100 %"
    assert contest(ours, {"a": rival}, 0.0, 1, rival)[1] == "yes † / a 100 %"


def test_equal_errors_have_equal_ranks_whatever_the_rounding():
    assert ranks_of(np.array([[0.1 + 0.2, 0.3, 0.4]])).tolist() == [[1.5, 1.5, 3.0]]


def test_ranks_and_the_critical_difference():
    values = {
        (s, m): {0: v} for s, row in (("p", (1, 2, 3)), ("q", (2, 1, 3))) for m, v in zip("abc", row, strict=True)
    }
    methods, errors, runs = mean_errors(values)
    assert methods == ["a", "b", "c"] and ranks_of(errors).mean(axis=0).tolist() == [1.5, 1.5, 3.0] and runs == "1 run"
    # Demšar (2006), table 5: q = 2.728 for five methods at 5 %
    assert critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), rel=1e-3)
    lines = rank_table(values)
    assert lines[1][1] == "1.50" and lines[3][0] == "c" and lines[3][4] == "0"
    assert [line[3] for line in lines[1:4]] == ["1.41", "1.41", "3.00"]  # geometric means


def test_intervals_of_ranks_are_of_95_per_cent_and_far_ranks_are_told_apart():
    rng = np.random.default_rng(0)
    sets = [f"s{k}" for k in range(40)]
    values = {(s, "pldc 0.1"): {0: 1.0 + 0.5 * rng.random()} for s in sets}
    values |= {(s, "near"): {0: 1.0 + 0.5 * rng.random()} for s in sets} | {(s, "far"): {0: 9.0} for s in sets}
    lines = {line[0]: line for line in rank_table(values)}
    ranks = ranks_of(mean_errors(values)[1])[:, 0]
    low, high = map(float, lines["pldc 0.1"][2].split(" to "))
    half = 1.96 * ranks.std() / np.sqrt(len(sets))
    assert (low, high) == pytest.approx((ranks.mean() - half, ranks.mean() + half), abs=0.03)
    assert lines["40 sets, 1 run"][2] == "told apart from pldc 0.1: far"


def test_who_did_not_run_everywhere_is_named_under_the_ranks():
    values = {(s, m): {0: float(k)} for s in "pq" for k, m in enumerate("abc")}
    del values["q", "c"]
    assert rank_table(values)[-1][2] == "not run everywhere, left out: c"


def test_every_set_is_ranked_by_the_runs_that_all_methods_have_of_it():
    values = {
        ("p", "a"): {0: 1.0, 1: 9.0},
        ("p", "b"): {0: 2.0},
        ("q", "a"): {4: 1.0, 5: 3.0},
        ("q", "b"): {4: 2.0, 5: 4.0},
    }
    methods, errors, runs = mean_errors(values)
    assert methods == ["a", "b"] and errors.tolist() == [[1.0, 2.0], [2.0, 3.0]] and runs == "1 to 2 runs"
    assert mean_errors({("p", "a"): {0: 1.0}, ("p", "b"): {1: 1.0}})[0] == []


def test_lost_ranks_come_worst_first():
    values = {("p", "pldc 0.1"): {0: 1.0}, ("p", "b"): {0: 2.0}, ("q", "pldc 0.1"): {0: 3.0}, ("q", "b"): {0: 1.5}}
    assert lost_table(values)[1:] == [["q", "2", "3.00", "1.50", "b"]]  # and none where we are first
    assert len(lost_table({("p", "b"): {0: 2.0}})) == 1


def test_methods_that_did_not_run_everywhere_have_no_rank():
    values = {("p", "a"): {0: 1.0}, ("q", "a"): {0: 1.0}, ("p", "b"): {0: 2.0}}
    assert mean_errors(values)[0] == ["a"]


def test_the_slope_of_a_power_law():
    sizes = np.array([10, 20, 40])
    values = [{k: n**-0.5 * (1 + 0.01 * (-1) ** k) for k in range(10)} for n in sizes]
    center, half = slope(sizes, values)
    assert center == pytest.approx(-0.5, abs=1e-9)
    deviation = 0.01 / np.sqrt(10) * np.sqrt(2) / np.log(4)  # of the slope, by the first and the last mean alone
    assert half == pytest.approx(t.ppf(0.975, 9) * deviation, rel=0.15)


def rows_of(errors, name="moore"):
    return [
        {"dataset": name, "method": method, "seed": seed, "metric": "nmse", "value": value + 0.2 * seed}
        for seed in range(10)
        for method, value in errors.items()
    ]


def test_claims_compare_the_paper_with_both_kinds_of_rivals():
    errors = {"pldc, paper": 3.0, "pldc 0.1": 2.0, "kNN": 1.0} | dict.fromkeys(("MLP", "MARS"), 5.0)
    errors |= dict.fromkeys(("MLP, as coded", "MARS, as coded"), 10.0) | {"kNN, as coded": 9.0}
    line = claims_table("regression", values_of(rows_of(errors), "nmse"))[1]
    assert line[:2] == ["moore", "✓"] and line[3] == "yes † / kNN, as coded 100 %: confirmed"
    assert line[4] == "no † / kNN 0 %: not confirmed" and line[6] == "no † / kNN 0 %"
    assert line[7].startswith("kNN 1.9") and line[7].endswith("10 runs")
    assert line[8].startswith("pldc, paper 3.9") and line[8].endswith("(19): better")
    del errors["MARS, as coded"]  # a rival that did not run is not beaten
    assert claims_table("regression", values_of(rows_of(errors), "nmse"))[1][3] == "open / MARS, as coded not run: open"


def test_a_cross_is_confirmed_by_a_rival_that_is_better():
    assert judged(False, "no") == "confirmed" and judged(False, "yes") == "not confirmed"
    assert judged(True, "open") == judged(False, "open") == "open" and judged(True, "") == ""


def test_what_the_paper_claims_and_how_it_splits():
    crosses = {name for claim in CLAIMS.values() for name, better in claim.items() if not better}
    assert crosses == {"carsmall", "boston", "wine", "heart_disease"}
    assert {study: 1 / (1 + overlap) for study, overlap in OVERLAP.items()} == {"regression": 0.8, "classes": 0.5}


def test_what_failed_is_shown_and_ranked_last():
    rows = [{"dataset": "p", "method": "a", "seed": 0, "metric": "failed", "value": "nan"}]
    assert np.isnan(values_of(rows, "nmse")["p", "a"][0])
    assert shown([np.nan, np.nan]) == "failed" and shown([]) == "" and shown(None) == ""
    assert shown([1.0, 3.0, np.nan]).endswith("(1 of 3 failed)")
    lines = rank_table({("p", "a"): {0: 1.0, 1: np.nan}, ("p", "b"): {0: 2.0, 1: 2.0}})
    assert [line[0] for line in lines[1:3]] == ["b", "a"] and lines[2][3] == "inf"


def test_exponents_are_those_of_the_sizes_whatever_the_order_of_the_file():
    values = {(f"d=2 n={n}", "pldc"): {0: 1.0 / n, 1: 1.0 / n, 2: np.nan} for n in (100, 25, 50)}
    line = rate_table(values)[1]
    assert line[2] == "-1.00" and line[3:] == ["-0.33", "-0.50", "25 to 100"]
    assert np.isnan(slope(np.array([1, 2]), [{0: 1.0}, {0: 0.5}])[1])  # one seed has no interval


def test_few_seeds_have_no_interval_and_equal_seeds_stay_together():
    seeds = list(range(20))
    a, b = ({k: 5.0 * np.sin(k) + shift for k in seeds} for shift in (0.0, 1.0))
    center, half = resampled(lambda s: np.mean([b[k] - a[k] for k in s]), seeds)
    assert center == pytest.approx(1.0) and half < 1e-12  # drawn apart, the half-width would be two
    single = resampled(lambda s: np.mean([a[k] for k in s]), seeds)[1]
    assert single == pytest.approx(t.ppf(0.975, 19) * np.std(list(a.values())) / np.sqrt(20), rel=0.15)
    several = resampled(lambda s: np.mean([a[k] for k in s]), seeds, family=10)[1]
    assert several / single == pytest.approx(t.ppf(1 - 0.0025, 19) / t.ppf(0.975, 19))
    assert np.isnan(resampled(lambda s: 1.0, seeds[:5])[1]) and np.isnan(resampled(lambda s: 1.0, [])[0])
    assert common_seeds([a, {3: 1.0, 99: 1.0}]) == [3] and common_seeds([a, None]) == []


def test_time_grows_by_the_exponents_of_the_cells():
    rng = np.random.default_rng(0)
    cells = [
        {"lam": lam, "n": n, "d": d, "seconds": lam * n**1.5 * d**0.5, "status": "optimal"}
        for n in (200, 400, 800)
        for d in (2, 8)
        for lam in (0.1, 1.0)
    ]
    slow = cells[0] | {"n": 50, "seconds": 1e6}  # too few rows to tell
    assert time_exponents([*cells, slow]) == pytest.approx((1.5, 0.5, 0.0, 0.0), abs=1e-9)
    assert time_exponents([slow]) is None and time_exponents(cells[:2]) is None
    cut = [c | {"status": "stopped", "seconds": c["seconds"] / 4} if c["n"] == 800 else c for c in cells]
    assert time_exponents(cut)[0] == pytest.approx(1.5)  # what did not end counts as four times that
    noisy = [c | {"seconds": c["seconds"] * np.exp(rng.normal())} for c in cells]
    table = pd.DataFrame(noisy)
    A = np.column_stack([np.log(table.n), np.log(table.d), table.lam == 0.1, table.lam == 1.0]).astype(float)
    found = np.linalg.lstsq(A, np.log(table.seconds), rcond=None)
    error = np.sqrt(found[1] / 8 * np.linalg.inv(A.T @ A)[0, 0])
    assert time_exponents(noisy)[2] == pytest.approx(t.ppf(0.975, 8) * error.item())
    assert str(time_exponents(cells)) == "n^(1.50 ± 0.00) d^(0.50 ± 0.00)"


def test_our_lines_come_first_and_wide_errors_go_set_by_set():
    values = {
        ("p", "ridge"): {0: 3.0},
        ("p", "pldc, paper"): {0: 2.0, 1: 4.0},
        ("p", "pldc"): {0: 1.0},
        ("q", "pldc"): {0: 5.0},
        ("q", "pldc 0.1"): {0: 6.0},
    }
    assert [line[0] for line in means_table(values)] == ["method", "pldc", "pldc 0.1", "pldc, paper", "ridge"]
    assert wide_table(values) == [
        ["data set", "pldc", "pldc 0.1", "pldc, paper", "ridge"],
        ["p", "1.00", "", "3.00", "3.00"],
        ["q", "5.00", "6.00", "", ""],
    ]


def test_the_rate_of_version_0_1_ends_where_its_defaults_changed():
    values = {(f"d=1 n={n}", m): {0: 1.0 / n} for n in (100, 400, 800) for m in ("pldc 0.1", "pldc")}
    assert [line[-1] for line in rate_table(values)[1:]] == ["100 to 400", "100 to 800"]


def test_the_committed_tables_are_those_of_the_committed_results():
    for name, lines in tables(RESULTS).items():
        assert (RESULTS / f"paper_{name}.rst").read_text(encoding="utf-8") == text_of(lines), name


def test_data_sets_named_by_numbers_are_in_their_order_and_others_as_they_came():
    def sets(*names):
        return sets_of({(name, "pldc"): {0: 1.0} for name in names})

    assert sets("d=2 n=25", "d=1 n=100", "d=1 n=25", "d=10 n=25") == ["d=1 n=25", "d=1 n=100", "d=2 n=25", "d=10 n=25"]
    assert sets("curve d=10", "cube d=2", "curve d=2") == ["cube d=2", "curve d=2", "curve d=10"]
    assert sets("rock", "boston", "iris") == ["rock", "boston", "iris"]


def test_zeros_stand_set_by_set():
    metrics = {m: {("moore", "pldc, paper"): {0: 40.0 + k, 1: 42.0 + k}} for k, m in enumerate(MORE["sparse"])}
    lines = zeros_table(metrics)
    assert lines[0] == ["per cent", "up to", "moore", "runs"]
    assert [line[1:] for line in lines[1:]] == [
        ["0.0001", "41", "2"],
        ["1e-06", "42", "2"],
        ["0.0001", "43", "2"],
        ["1e-06", "44", "2"],
    ]
