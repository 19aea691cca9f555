"""Medians, levels and statistics against the same rules written out row by row."""

import numpy as np
import pytest

from pldc.columns import levels as rules
from pldc.columns.cells import Table
from pldc.columns.features import DatePart, Level, Missing, Number, Statistic
from pldc.columns.learn import Draft, date_parts, distinct_targets, kinds_of, weighted_median
from pldc.columns.levels import codes_of


def level_means(codes, y, weight, n_levels):
    """Of one target."""
    values, label = distinct_targets([y], len(y))
    return rules.level_means(codes, label, values, weight, n_levels)[:, 0]


def learned(table, y, weight=None, splits=()):
    table = Table.read(table)
    draft = Draft.of(table, kinds_of(table, None, from_types=True), np.ones(len(y)) if weight is None else weight)
    return draft.finish([("mean target", np.asarray(y, dtype=float))], splits)


def shrunk_means(codes, y, n_levels, towards=None):
    """The rule of `level_means`, for rows of weight one, in words of one-way analysis of variance."""
    groups = {level: y[codes == level] for level in np.unique(codes)}
    n, k, overall = len(y), len(groups), y.mean()
    within = sum(((g - g.mean()) ** 2).sum() for g in groups.values()) / (n - k)
    usual = (n - sum(len(g) ** 2 for g in groups.values()) / n) / (k - 1)
    between = (sum(len(g) * (g.mean() - overall) ** 2 for g in groups.values()) / (k - 1) - within) / usual
    middle = overall if towards is None else towards
    out = np.full(n_levels + 2, middle)
    for level, g in groups.items():
        out[level] += len(g) * between / (len(g) * between + within) * (g.mean() - middle)
    return out


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(-2, 15, 200)
    codes[codes == -1] = 3  # only rows of weight zero have a level that is not known
    return codes, 10.0 + np.sin(codes) + 0.5 * rng.normal(size=200), rng.integers(1, 4, 200).astype(float)


def test_level_means_are_those_of_the_analysis_of_variance(rows):
    codes, y, weight = rows
    np.testing.assert_allclose(level_means(codes, y, np.ones(200), 20), shrunk_means(codes, y, 20), rtol=1e-12)
    many = weight.astype(int)
    expected = shrunk_means(np.repeat(codes, many), np.repeat(y, many), 20)
    np.testing.assert_allclose(level_means(codes, y, weight, 20), expected, rtol=1e-12)


def test_level_means_know_no_order_and_a_weight_is_a_number_of_rows(rows):
    codes, y, weight = rows
    order, many = np.random.default_rng(1).permutation(200), weight.astype(int)
    found = level_means(codes, y, weight, 20)
    np.testing.assert_array_equal(level_means(codes[order], y[order], weight[order], 20), found)
    twice = level_means(np.repeat(codes, many), np.repeat(y, many), np.ones(many.sum()), 20)
    np.testing.assert_array_equal(twice, found)
    with_zero = level_means(np.append(codes, 4), np.append(y, 1e9), np.append(weight, 0.0), 20)
    np.testing.assert_array_equal(with_zero, found)


def statistics(codes, y, weight):
    """The table of the only feature of a category."""
    encoding, _ = learned({"city": np.array([f"c{k:02d}" for k in codes], dtype=object)}, y, weight)
    return np.array([value for _, value in encoding.features[0].table])


def test_small_weights_do_not_drown_the_levels(rows):
    codes, y, weight = rows
    plain = statistics(codes, y, np.ones(200))
    assert np.ptp(plain) > 0.5
    np.testing.assert_allclose(statistics(codes, y, np.full(200, 1 / 200)), plain, rtol=1e-12)
    np.testing.assert_allclose(statistics(codes, y, weight * 1e-3), statistics(codes, y, weight / weight.mean()))


def test_half_a_row_twice_is_the_row(rows):
    codes, y, weight = rows
    twice = statistics(np.tile(codes, 2), np.tile(y, 2), np.tile(0.5 * weight, 2))
    np.testing.assert_allclose(twice, statistics(codes, y, weight), rtol=1e-12)
    small = np.where(np.arange(200) < 100, 0.2, 0.9)
    twice = statistics(np.tile(codes, 2), np.tile(y, 2), np.tile(0.5 * small, 2))
    np.testing.assert_allclose(twice, statistics(codes, y, small), rtol=1e-12)


def test_shares_of_many_classes_are_those_of_each_alone(rows):
    codes, _, weight = rows
    label = np.random.default_rng(4).integers(0, 40, 200)
    shares = [(label == k) + 0.0 for k in range(40)]
    values, place = distinct_targets(shares, 200)
    found = rules.level_means(codes, place, values, weight, 20)
    for k in range(40):
        np.testing.assert_allclose(found[:, k], level_means(codes, shares[k], weight, 20), rtol=0, atol=1e-14)


def test_levels_that_differ_by_chance_all_have_the_mean():
    y = np.tile([0.0, 1.0], 20)  # every level has the same mean: what is between them is less than chance
    np.testing.assert_array_equal(level_means(np.repeat(np.arange(20), 2), y, np.ones(40), 20), np.full(22, 0.5))
    alone = level_means(np.arange(40), np.random.default_rng(0).normal(size=40), np.ones(40), 40)
    assert np.ptp(alone) == 0.0  # a row a level says nothing about other rows


def test_statistics_of_training_rows_come_from_other_folds():
    rng = np.random.default_rng(2)
    names = np.array([f"level {k}" for k in rng.integers(0, 14, 120)], dtype=object)
    names[:6] = None
    y = rng.normal(size=120) + np.array([0.0 if name is None else int(name[6:]) for name in names])
    fold = rng.integers(0, 4, 120)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    encoding, numbers = learned({"city": names}, y, splits=splits)
    (rule,) = encoding.features
    levels = sorted(set(names) - {None})
    codes = codes_of(names, levels)
    for i in range(120):
        others = fold != fold[i]
        expected = shrunk_means(codes[others], y[others], len(levels), towards=y.mean())[codes[i]]
        assert numbers[i, 0] == pytest.approx(expected, rel=1e-12)
    everywhere = shrunk_means(codes, y, len(levels))
    assert isinstance(rule, Statistic)
    np.testing.assert_allclose([value for _, value in rule.table], everywhere[:-2], rtol=1e-12)
    np.testing.assert_allclose([rule.missing, rule.default], everywhere[-2:], rtol=1e-12)
    changed = y.copy()
    changed[fold == 2] = changed[fold == 2][::-1] + 0.0  # the mean of all stays: their own numbers know nothing of it
    found = learned({"city": names}, changed, splits=splits)[1]
    np.testing.assert_allclose(found[fold == 2], numbers[fold == 2], rtol=1e-12)
    assert np.abs(found - numbers)[fold != 2].max() > 0.1


def test_numbers_do_not_tell_the_fold_of_a_row():
    """Levels that say nothing have one number: the means of the other folds would tell whose own targets are high."""
    level, fold = np.repeat(np.arange(20), 10), np.tile(np.arange(5), 40)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    y = fold + np.tile(np.repeat([-1.0, 1.0], 5), 20)  # every level has the same targets, and the folds differ
    encoding, numbers = learned({"id": np.array([f"u{k}" for k in level], dtype=object)}, y, splits=splits)
    assert {value for _, value in encoding.features[0].table} == {2.0}
    np.testing.assert_array_equal(numbers, np.full((200, 1), 2.0))


def test_levels_that_say_nothing_of_all_rows_say_nothing_of_some():
    """Where new rows have one number, training rows have no other: slopes along them would be of chance."""
    level, fold = np.arange(120) % 24, np.arange(120) // 24
    y = level * np.where(fold <= 1, 3.0, -2.0)  # every level has the mean 0, and in parts of the folds has not
    splits = [
        (np.flatnonzero(fold > 1), np.flatnonzero(fold <= 1)),
        (np.flatnonzero(fold <= 1), np.flatnonzero(fold > 1)),
    ]
    apart = [rules.level_means(level[there], there, y[:, None], np.ones(len(there)), 24) for there, _ in splits]
    assert max(np.ptp(means) for means in apart) > 0.1
    _, numbers = learned({"id": np.array([f"u{k}" for k in level], dtype=object)}, y, splits=splits)
    assert np.ptp(numbers) == 0.0


def test_a_dozen_levels_have_features_of_their_own_and_one_more_has_statistics():
    dozen, more = [f"{k:02d}" for k in range(12)] * 3, [f"{k:02d}" for k in range(13)] * 3
    encoding, numbers = learned({"c": dozen}, np.arange(36.0))
    assert [type(f) for f in encoding.features] == [Level] * 12
    np.testing.assert_array_equal(numbers, np.tile(np.eye(12), (3, 1)))
    encoding, _ = learned({"c": more}, np.arange(39.0))
    assert [type(f) for f in encoding.features] == [Statistic]


def test_an_indicator_is_there_where_a_cell_of_some_weight_is_missing():
    table = {"a": [1.0, None, 3.0, 8.0], "b": [1.0, 2.0, 3.0, 4.0], "c": ["x", None, "y", "x"]}
    encoding, _ = learned(table, np.arange(4.0))
    assert encoding.features == (Number(0, 3.0), Missing(0), Number(1, 2.5), Level(2, "x"), Level(2, "y"), Missing(2))
    encoding, _ = learned(table, np.arange(4.0), weight=np.array([1.0, 0.0, 1.0, 2.0]))
    assert encoding.features == (Number(0, 5.5), Number(1, 3.5), Level(2, "x"), Level(2, "y"))


def test_weighted_medians_are_those_of_repeated_rows():
    rng = np.random.default_rng(3)
    for n in range(1, 30):
        values, weight = rng.integers(0, 9, n) / 2.0, rng.integers(1, 4, n)
        assert weighted_median(values, weight.astype(float)) == np.median(np.repeat(values, weight))
    assert weighted_median(np.array([np.nan, 4.0]), np.ones(2)) == 4.0
    assert weighted_median(np.array([np.nan]), np.ones(1)) == 0.0


@pytest.mark.parametrize(
    "days, periods",
    [
        (np.arange(5.0), []),
        (np.arange(40.0), [7.0]),
        (np.arange(0.0, 40.0, 0.25), [1.0, 7.0]),
        (np.arange(0.0, 800.0, 7.0), [365.2425]),
        (np.arange(0.0, 800.0, 0.5), [1.0, 7.0, 365.2425]),
        (np.full(3, 2.5), []),
        (np.array([np.nan, np.nan]), []),
    ],
)
def test_a_cycle_of_dates_is_there_where_they_go_round_it(days, periods):
    parts = date_parts(0, days, np.ones(len(days)))
    assert parts[0] == DatePart(0, weighted_median(days, np.ones(len(days))))
    assert sorted({part.period for part in parts[1:]}) == periods


def test_text_is_refused_where_no_column_is_a_category():
    with pytest.raises(ValueError, match="'c' holds categories: name it in categorical_features"):
        kinds_of(Table.read({"c": ["a", "b"]}), None, from_types=False)
