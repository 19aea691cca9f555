import json

import numpy as np
import pytest
from experiments.complexity import faster, of_complexity, of_prediction
from experiments.tables import CLAIMS
from experiments.verdicts import (
    DIMENSIONS,
    against,
    all_or_not,
    claims,
    counted,
    difference,
    no_better_than_a_constant,
    of_the_grid,
    of_the_manifold,
    of_the_rate,
    of_the_surface,
    of_the_synthetic_function,
    of_the_tables,
    of_the_weights,
    often,
    varies_less,
)

KINDS = ("rivals as coded", "rivals tuned")
CODED = ("MLP, as coded", "MARS, as coded", "kNN, as coded")


def runs(value, spread=0.1, count=20):
    return {k: value + spread * (-1) ** k for k in range(count)}


def synthetic(ours, rivals, spread=0.1, sets=DIMENSIONS):
    """Errors of the paper's program and of its rivals that grow from the first number to the second."""
    values = {}
    for k, name in enumerate(sets):
        mine, theirs = (a + (b - a) * k / (len(sets) - 1) for a, b in (ours, rivals))
        values[name, "pldc, paper"] = runs(mine, spread)
        values |= {(name, m): {j: theirs + np.sin(j + k) for j in range(20)} for m in CODED}
    return values


def verdicts_of(values):
    """Verdicts on: lower error (rivals as coded, tuned), the more so, less variance."""
    lines = of_the_synthetic_function(values)
    return [lines[0][2], lines[1][2], lines[4][2], lines[5][2]]


def test_states_are_counted_and_one_no_is_enough():
    states = {"d=1": "yes", "d=2": "no", "d=3": "open"}
    assert counted(states) == "1 yes, 1 open, 1 no (d=2)" and all_or_not(states) == "not confirmed"
    assert counted(states, ["d=1"]) == "1 yes (d=1 no better than a constant), 1 open, 1 no (d=2)"
    assert all_or_not({"d=1": "yes"}) == "confirmed" and all_or_not({"d=1": "yes", "d=2": "open"}) == "open"


def test_yes_needs_all_rivals_and_no_does_not():
    values = {("p", "a"): runs(1.0), ("p", "b"): {k: v + 1 for k, v in runs(1.0, 0.2).items()}}
    assert against(values, "a", ("b",), ("p",)) == {"p": "yes"}
    assert against(values, "a", ("b", "c"), ("p", "q")) == {"p": "open", "q": "open"}
    assert against(values, "b", ("a", "c"), ("p",)) == {"p": "no"}


def test_better_than_all_may_be_no_better_than_a_constant():
    values = {(name, "pldc, paper"): runs(1.0) for name in "pqrs"}
    values["p", "constant"], values["q", "constant"], values["s", "constant"] = runs(1.0, 0.2), runs(2.0), runs(0.5)
    states = {"p": "yes", "q": "yes", "r": "yes", "s": "open"}  # of r no constant was run
    assert no_better_than_a_constant(values, "pldc, paper", states) == ["p"]


def test_a_difference_within_noise_is_open():
    small, large = runs(1.0), {k: v + 0.5 for k, v in runs(1.0).items()}
    assert difference(small, large) == "confirmed" and difference(large, small) == "not confirmed"
    assert difference(small, {k: v + np.cos(3 * k) for k, v in small.items()}) == "open"
    assert difference({0: 1.0}, {0: 2.0}) == "open"  # one run proves nothing,
    assert difference(small, {k: v if k < 3 else np.nan for k, v in large.items()}) == "open"  # nor do failed ones


def test_figure_one_is_about_smoothness_and_error():
    nmse = {("surface", "cv"): runs(2.0), ("surface", "2 D"): runs(90.0)}
    seminorm = {("surface", "cv"): runs(1.0), ("surface", "2 D"): runs(30.0)}  # the wrong way round
    assert [line[2] for line in of_the_surface(nmse, seminorm)] == ["not confirmed", "confirmed"]
    seminorm["surface", "2 D"] = {k: 0.0 if k < 14 else 1e-3 for k in range(20)}
    assert "(14 of 20 are constants)" in of_the_surface(nmse, seminorm)[0][1]


def test_the_synthetic_claims_follow_the_errors():
    assert verdicts_of(synthetic((1, 3), (5, 20))) == ["confirmed", "open", "confirmed", "confirmed"]
    assert verdicts_of(synthetic((1, 30), (5, 20), spread=5.0)) == ["not confirmed", "open", "not confirmed"] + [
        "not confirmed"
    ]
    assert verdicts_of(synthetic((1, 16), (5, 20)))[2] == "open"  # ahead, and no more so
    behind = synthetic((15, 18), (5, 40))  # more and more so, and ahead in the upper half alone
    assert verdicts_of(behind)[:3] == ["not confirmed", "open", "confirmed"]


def test_part_of_the_runs_confirms_nothing():
    few = synthetic((1, 3), (5, 20), sets=DIMENSIONS[:3])
    one = {key: {0: v[0]} for key, v in synthetic((1, 3), (5, 20)).items()}
    alone = {key: v for key, v in synthetic((1, 3), (5, 20)).items() if key[1] == "pldc, paper"}
    for values in (few, one, alone):
        assert set(verdicts_of(values)) == {"open"}


@pytest.mark.parametrize(
    "curve, less, none",
    [(1.0, "confirmed", "confirmed"), (9.0, "not confirmed", "not confirmed"), (1.3, "confirmed", "not confirmed")]
    + [(3.0, "confirmed", "not confirmed"), (5.0, "open", "not confirmed")],
)
def test_adaptivity_compares_the_curve_with_the_cube_and_with_itself(curve, less, none):
    values = {("curve d=2", "discrepancy"): runs(1.0), ("cube d=2", "discrepancy"): runs(1.0)}
    values |= {("curve d=20", "discrepancy"): runs(curve), ("cube d=20", "discrepancy"): runs(5.0)}
    errors = {(name, "pldc, squared, joint"): v for (name, _), v in values.items()}
    lines = of_the_manifold(values, errors)
    assert [line[2] for line in lines] == [less, none, less, "confirmed"]
    del values["cube d=2", "discrepancy"]
    assert of_the_manifold(values, {})[0][2] == "open"


def test_a_discrepancy_beyond_its_bound_is_told():
    values = {(f"{kind} d={d}", "discrepancy"): runs(1e6) for kind in ("curve", "cube") for d in (2, 20)}
    assert of_the_manifold(values, {})[-1][2] == "not confirmed"
    failed = {key: {k: np.nan if k == 3 else 1e-3 * v for k, v in runs(1.0).items()} for key in values}
    assert [line[2] for line in of_the_manifold(failed, {})] == ["open", "open", "open", "confirmed"]
    nothing = {key: {0: np.nan} for key in values}
    assert of_the_manifold(nothing, {})[-1][2] == "open"
    assert of_the_manifold({key: v for key, v in values.items() if key[0].endswith("=2")}, {}) == []


@pytest.mark.parametrize("exponent, expected", [(-1.0, "confirmed"), (-0.25, "not confirmed")])  # the bound: −1/3
def test_the_rate_is_compared_with_the_bound(exponent, expected):
    values = {
        (f"d=2 n={n}", "pldc"): {k: n**exponent * (1 + 0.01 * (-1) ** k) for k in range(10)} for n in (25, 50, 100)
    }
    assert of_the_rate(values)[0][2] == f"{expected} with λ by cross-validation"
    assert of_the_rate({key: {0: v[0]} for key, v in values.items()})[0][2].startswith("open")


def test_the_tables_are_judged_where_the_paper_says_better():
    names = list(CLAIMS["regression"])
    rivals = {(name, m): {k: 3.0 + 0.3 * np.sin(k) for k in range(20)} for m in CODED for name in names}
    ours = {(name, "pldc, paper"): runs(9.0 if name == "boston" else 2.0) for name in names}  # a cross, as it says
    ticks, _, almost, frequent, *_ = of_the_tables({"regression": ours | rivals})
    assert frequent[1].startswith("on 7 of 8 sets")
    assert ticks[1:] == ["6 yes", "confirmed"] and almost[1].startswith("7 yes, 1 no (boston)")
    assert almost[2] == "not testable"
    half = ours | {(name, "pldc, paper"): runs(9.0) for name in names[:4]}  # half is not almost every one
    assert of_the_tables({"regression": half | rivals})[2][2] == "not confirmed"
    ours["rock", "pldc, paper"] = runs(4.0)
    assert of_the_tables({"regression": ours | rivals})[0][1:] == ["5 yes, 1 no (rock)", "not confirmed"]


def test_whose_errors_vary_less():
    sets = ("p", "q")
    values = {("p", "pldc, paper"): runs(2.0), ("q", "pldc, paper"): runs(2.0)}
    values |= {(name, m): runs(2.0, 5.0) for name in sets for m in CODED}
    assert varies_less("x", "as coded", values, CODED, sets)[1:] == ["2 yes", "confirmed"]
    values["q", "MLP, as coded"] = runs(2.0, 1e-3)
    assert varies_less("x", "as coded", values, CODED, sets)[1:] == ["1 yes, 1 no (q)", "not confirmed"]
    values["q", "MLP, as coded"] = runs(2.0, count=5)  # too few
    assert varies_less("x", "as coded", values, CODED, sets)[1:] == ["1 yes, 1 open", "open"]


def cells_of(loss="squared", rows=1.5, features=0.5, noise=0.0, factor=1.0, most=np.inf):
    """Solves whose time grows by these exponents; those of more rows times features than `most` are cut off."""
    rng = np.random.default_rng(0)
    return [
        {"kind": "solve", "engine": "exact", "loss": loss, "lam": lam, "n": n, "d": d, "limit": 60.0}
        | {"status": "optimal" if n * d < most else "stopped"}
        | {"seconds": factor * n**rows * d**features * np.exp(noise * rng.normal())}
        for n in (200, 500, 1000)
        for d in (2, 50)
        for lam in (0.1, 1.0)
    ]


@pytest.mark.parametrize(
    ("rows", "features", "noise", "expected"),
    [
        (4.9, 1.9, 1e-3, "confirmed"),
        (5.1, 1.9, 1e-3, "not confirmed"),
        (4.9, 2.1, 1e-3, "not confirmed"),
        (4.9, 1.9, 2.0, "open"),
    ],
)
def test_faster_is_by_smaller_exponents(rows, features, noise, expected):
    cells = cells_of(rows=rows, features=features, noise=noise)
    assert faster("x", cells, (5.0, 2.0))[2] == f"{expected} for our engine"
    if features > 2:
        assert faster("x", cells, (5.0, np.inf))[2] == "confirmed for our engine"


def test_the_largest_sizes_count_too():
    cells = cells_of(noise=1e-3)
    late = [c | {"seconds": c["seconds"] * 30} if c["n"] == 1000 else c for c in cells]  # from 500 rows on n^6.4
    assert faster("x", late, (6.0, np.inf))[2] == "not confirmed for our engine"
    assert faster("x", [], (5.0, 2.0))[1:] == ["not measured", "open"]


def test_times_and_sizes_are_judged_by_the_solves(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.complexity.BENCHMARKS", tmp_path)
    assert [line[2] for line in of_complexity()] == ["open", "open", "open"]  # nothing ran
    cells = [*cells_of("absolute", factor=2.0, most=30_000), *cells_of("squared", most=30_000)]
    halves = [c | {"kind": "discrepancy", "status": "optimal"} for c in cells_of(rows=2.0)]
    (tmp_path / "engines.json").write_text(json.dumps({"cells": [*cells, *halves], "growth": {}}))
    discrepancy, linear, quadratic, speed, sizes = of_complexity()
    assert discrepancy[1].startswith("n^(2.00 ± 0.00) d^(0.50") and "cut off" not in discrepancy[1]
    assert linear[1].startswith("n^(1.") and linear[1].endswith("; 2 did not end within 60 s and count as 4 times that")
    assert discrepancy[2] == "confirmed for our engine"
    assert linear[2] == quadratic[2] == "confirmed for our engine"
    assert "2.00 times as long" in speed[1] and speed[2] == "not confirmed for our engine"
    assert sizes[1].endswith("up to 2 features; 50 features: none, 4 cut off after 60 s")
    assert sizes[2].startswith("open")
    cut = cells[0] | {"n": 1000, "d": 100, "status": "stopped", "limit": 600.0}
    done = cut | {"status": "optimal", "seconds": 300.0, "loss": "squared"}
    small = [cell for cell in cells if cell["n"] < 500]
    killed = {key: cut[key] for key in ("kind", "engine", "loss", "lam", "n", "d")} | {"failed": "Killed"}
    for more, expected in (
        ([*cells, done], "confirmed for our engine"),
        ([*cells, cut, done], "open for our engine"),
        ([*cells, cut, killed], "not confirmed for our engine"),
        (small, None),
    ):
        (tmp_path / "engines.json").write_text(json.dumps({"cells": more, "growth": {}}))
        said = {line[0]: line for line in of_complexity()}
        told = said.get("viable for the sizes explored, up to 1000 rows and 100 features", ["", "", None])
        assert told[2] == expected
        if expected == "open for our engine":
            assert told[1].endswith("100 features: 300 s, 1 cut off after 600 s")


@pytest.mark.parametrize("tree, expected", [(30.0, "confirmed"), (3.0, "not confirmed for such a tree")])
def test_an_index_gains_where_it_is_faster(tmp_path, monkeypatch, tree, expected):
    monkeypatch.setattr("experiments.complexity.BENCHMARKS", tmp_path)
    cells = [{"rows_a_second": 10.0, "k-d tree": {"rows_a_second": tree}}]
    (tmp_path / "throughput.json").write_text(json.dumps({"cells": cells}))
    assert of_prediction()[0][2] == expected


def test_the_share_of_zero_weights_is_told_and_not_judged():
    line = of_the_weights({("rock", "pldc, paper"): runs(80.0), ("moore", "pldc, paper"): runs(40.0)})[0]
    assert line[1] == "zeros among them: rock 80 ± 0 %, moore 40 ± 0 %" and line[2].startswith("not testable")


@pytest.mark.parametrize("top, expected", [(1, "confirmed"), (10, "open"), (40, "not confirmed")])
def test_the_discrepancy_bounds_lam_where_its_largest_value_is_hardly_ever_chosen(top, expected):
    places = {k: 0 if k < top else 9 if k < top + 20 else 5 for k in range(100)}
    line = of_the_grid({("rock", "pldc, paper"): places})[0]
    assert line[2] == expected and f"{top} ± " in line[1] and "% of 100 fits, the smallest in 20 %" in line[1]
    assert of_the_grid({("rock", "pldc, paper"): {0: 5}})[0][2] == "open"
    assert of_the_grid({("rock", "pldc, paper"): {0: np.nan}}) == []


def test_spread_is_compared_with_each_kind_of_rivals():
    names = list(CLAIMS["regression"])
    values = {(name, "pldc, paper"): runs(2.0) for name in names}
    values |= {(name, m): runs(2.0, 5.0) for name in names for m in CODED}
    values |= {(name, m): runs(2.0, 1e-3) for name in names for m in ("MLP", "MARS", "kNN")}
    lines = of_the_tables({"regression": values}) + of_the_synthetic_function(
        {(f"d={d}", m): v for (name, m), v in values.items() if name == "rock" for d in range(1, 11)}
    )
    said = {line[0]: line[2] for line in lines if "vary less" in line[0]}
    for where in ("table 1", "synthetic"):
        coded, tuned = (next(v for k, v in said.items() if k.startswith(where) and kind in k) for kind in KINDS)
        assert (coded, tuned) == ("confirmed", "not confirmed")


def test_how_often_is_often_is_not_said_but_never_is_not_often():
    line = often("x", {"p": "yes", "q": "open", "r": "no"})
    assert line[1].startswith("on 1 of 3 sets beyond noise, on 2 at most") and line[2] == "not testable"
    assert often("x", {"p": "no", "q": "no"})[2] == "not confirmed"


def test_claims_without_results_are_left_out():
    said = [line[0] for line in claims({}, {})]
    assert not any("synthetic" in name or "figure 1" in name for name in said) and any("O(d² n⁵)" in n for n in said)
