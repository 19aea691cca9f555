"""Rules: thresholds that tell rows apart, against all thresholds by brute force."""

import re

import numpy as np
import pytest

from pldc.function.numbers import simplest_between
from pldc.function.rules import Condition, Rule, f1, find_rule, separation

X = np.random.default_rng(0).normal(size=(300, 3))
NAMES = ["a", "b", "c"]


def best_single(points, inside):
    """The largest F₁ of one threshold."""
    scores = [0.0]
    for column in points.T:
        for value in np.unique(column):
            for holds in (column <= value, column > value):
                scores.append(2.0 * (holds & inside).sum() / (holds.sum() + inside.sum()))
    return max(scores)


@pytest.mark.parametrize("seed", range(8))
def test_one_threshold_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    inside = X @ rng.normal(size=3) > 0.5
    (first,) = [find_rule_of_one(X, inside)]
    assert f1(first) == pytest.approx(best_single(X, inside))


def find_rule_of_one(points, inside):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.function.rules.MOST_CONDITIONS", 1)
        return find_rule(points, inside)


@pytest.mark.parametrize(
    "inside, text",
    [
        (X[:, 0] > 0.2, "a > "),
        ((X[:, 0] > 0.0) & (X[:, 2] <= 0.5), "a > .* and c ≤ "),
        ((X[:, 1] > -0.6) & (X[:, 1] <= 0.6), "< b ≤"),
        ((X[:, 0] > 0.0) & (X[:, 1] > 0.0) & (X[:, 2] > 0.0), "a > .* and b > .* and c > "),
    ],
)
def test_boxes_are_found_exactly(inside, text):
    rule = find_rule(X, inside)
    assert rule.precision == rule.recall == 1.0
    np.testing.assert_array_equal(rule.holds(X), inside)
    assert re.search(text, rule.text(NAMES))


def test_what_is_true_or_not_needs_no_threshold():
    flags = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]) + 0.0
    names, opposites = ["cut = a", "x"], {0: "cut ≠ a"}
    for inside, text in ((flags[:, 0] > 0, "cut = a"), (flags[:, 0] == 0, "cut ≠ a"), (flags[:, 1] == 0, "x ≤ 0")):
        assert find_rule(flags, inside).text(names, opposites) == text
    assert find_rule(flags, flags[:, 0] == 0).text(names) == "cut = a ≤ 0"


def test_no_threshold_lies_between_numbers_that_differ_by_rounding():
    rng = np.random.default_rng(3)
    values = rng.choice([-0.5, 0.0, 0.5, 1.0], 400)
    inside = (values > 0.25) ^ (rng.random(400) < 0.05)
    twins = values + 1e-13 * rng.normal(size=400)
    inside |= np.abs(twins - 0.5 - 1e-13) < 2e-14  # a cut within the twins would be the best
    assert find_rule(twins[:, None], twins > 0.5).text(["sin"]) in ("sin > 0.3", "sin > 0.2", "sin > 0.8", "sin > 0.7")
    found = find_rule(twins[:, None], inside).conditions[0].value
    assert np.abs(values - found).min() > 0.1
    wide = np.append(rng.random(300), [1e12, -1e12])  # far rows do not hide the others
    assert find_rule(wide[:, None], wide > 0.7).recall == 1.0


def test_precision_and_recall_are_counted():
    inside = X.sum(axis=1) > 1.0
    rule = find_rule(X, inside)
    holds = rule.holds(X)
    assert rule.precision == pytest.approx((holds & inside).sum() / holds.sum())
    assert rule.recall == pytest.approx((holds & inside).sum() / inside.sum())
    assert 0.6 < f1(rule) < 1.0 and 1 <= len(rule.conditions) <= 4
    assert f1(rule) >= best_single(X, inside)


def test_all_rows_need_no_rule_and_many_rows_are_sampled():
    assert find_rule(X, np.ones(300, dtype=bool)) == Rule((), 1.0, 1.0)
    assert Rule((), 1.0, 1.0).text(NAMES) == "everywhere"
    many = np.random.default_rng(1).normal(size=(20_000, 2))
    rule = find_rule(many, many[:, 0] > 0.5)
    assert rule.recall > 0.99 and rule.precision > 0.99 and len(rule.conditions) == 1
    assert Condition(1, True, 2.5).text(NAMES) == "b > 2.5"


def test_separation_is_that_of_the_best_interval():
    inside = np.abs(X[:, 1]) < 0.5
    found = separation(X, inside)
    cuts = np.concatenate([[-np.inf], np.sort(X[:, 0])])
    best = 0.0
    for low in cuts[::4]:
        for high in cuts[::4]:
            holds = (X[:, 0] > low) & (X[:, 0] <= high)
            best = max(best, holds[inside].mean() - holds[~inside].mean())
    assert found[1] == pytest.approx(1.0) and best <= found[0] <= best + 0.1
    assert (separation(X, np.ones(300, dtype=bool)) == 0).all()


def test_thresholds_are_short_and_lie_between():
    rng = np.random.default_rng(2)
    for scale in (1e-8, 1.0, 1e12):
        for low, step in zip(rng.normal(size=200) * scale, rng.exponential(size=200) * scale * 1e-3, strict=True):
            value = simplest_between(low, low + step)
            assert low <= value < low + step
    assert simplest_between(22.61, 29.2) == 26.0 and simplest_between(3.0, 3.0) == 3.0


@pytest.mark.parametrize("wrong", [np.zeros(3), ["cut ≠ a"], {0: 3}, None])
def test_opposites_are_words_by_places(wrong):
    rule = Rule((Condition(0, False, 0.0),), 1.0, 1.0)
    with pytest.raises(TypeError, match="opposites must be a dictionary from places of features to words"):
        rule.text(["cut = a"], wrong)
