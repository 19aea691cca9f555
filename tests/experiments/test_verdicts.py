import numpy as np
import pytest
from experiments.verdicts import (
    all_or_not,
    claims,
    counted,
    difference,
    of_the_manifold,
    of_the_rate,
    of_the_surface,
    of_the_synthetic_function,
    of_the_tables,
)

CODED = ("MLP, as coded", "MARS, as coded", "kNN, as coded")


def runs(value, spread=0.1):
    return {k: value + spread * (-1) ** k for k in range(10)}


def synthetic(ours, rivals, spread=0.1):
    values = {}
    for d, (mine, theirs) in enumerate(zip(ours, rivals, strict=True), start=1):
        values[f"d={d}", "pldc, paper"] = runs(mine, spread)
        values |= {(f"d={d}", m): {k: theirs + np.sin(k + d) for k in range(10)} for m in CODED}
    return values


def test_states_are_counted_and_one_no_is_enough():
    states = {"d=1": "yes", "d=2": "no", "d=3": "open"}
    assert counted(states) == "1 yes, 1 open, 1 no (d=2)" and all_or_not(states) == "not confirmed"
    assert all_or_not({"d=1": "yes"}) == "confirmed" and all_or_not({"d=1": "yes", "d=2": "open"}) == "open"


def test_a_difference_within_noise_is_open():
    small, large = runs(1.0), {k: v + 0.5 for k, v in runs(1.0).items()}
    assert difference(small, large) == "confirmed" and difference(large, small) == "not confirmed"
    assert difference(small, {k: v + np.cos(3 * k) for k, v in small.items()}) == "open"
    assert difference({0: 1.0}, {0: 2.0}) == "open"  # one run proves nothing


def test_figure_one_is_about_smoothness_and_error():
    nmse = {("surface", "cv"): runs(2.0), ("surface", "2 D"): runs(90.0)}
    seminorm = {("surface", "cv"): runs(1.0), ("surface", "2 D"): runs(30.0)}  # the wrong way round
    assert [line[2] for line in of_the_surface(nmse, seminorm)] == ["not confirmed", "confirmed"]


def test_the_synthetic_claims_follow_the_errors():
    good = {line[0]: line[2] for line in of_the_synthetic_function(synthetic((1, 2, 3), (5, 8, 20)))}
    bad = {line[0]: line[2] for line in of_the_synthetic_function(synthetic((1, 9, 30), (5, 8, 20), spread=9.0))}
    for what in ("(the paper's program, rivals as coded)", "the more so", "vary less"):
        (key,) = [name for name in good if what in name and ("the more so" in name) == (what == "the more so")]
        assert good[key] == "confirmed" and bad[key] == "not confirmed"


@pytest.mark.parametrize("curve, expected", [(1.0, "confirmed"), (9.0, "not confirmed")])
def test_adaptivity_compares_the_curve_with_the_cube(curve, expected):
    values = {("curve d=2", "discrepancy"): runs(1.0), ("cube d=2", "discrepancy"): runs(1.0)}
    values |= {("curve d=20", "discrepancy"): runs(curve), ("cube d=20", "discrepancy"): runs(5.0)}
    assert of_the_manifold(values)[0][2] == expected


@pytest.mark.parametrize("exponent, expected", [(-1.0, "confirmed"), (-0.1, "not confirmed")])
def test_the_rate_is_compared_with_the_bound(exponent, expected):
    values = {
        (f"d=2 n={n}", "pldc"): {k: n**exponent * (1 + 0.01 * (-1) ** k) for k in range(6)} for n in (25, 50, 100)
    }
    assert of_the_rate(values)[0][2] == expected


def test_comparable_means_worse_nowhere():
    rivals = {("moore", m): runs(3.0) for m in CODED}
    better = of_the_tables({"regression": {("moore", "pldc, paper"): runs(2.0)} | rivals})[0]
    worse = of_the_tables({"regression": {("moore", "pldc, paper"): runs(4.0)} | rivals})[0]
    assert better[2] == "confirmed" and worse[2] == "not confirmed" and worse[1] == "1 no (moore)"


def test_claims_without_results_are_left_out():
    said = [line[0] for line in claims({}, {}, {})]
    assert not any("synthetic" in name or "figure 1" in name for name in said) and any("O(d² n⁵)" in n for n in said)
