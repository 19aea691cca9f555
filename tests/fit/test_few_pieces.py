"""What comes before and after a search: the order of rows, their folds, units, and what is written down."""

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import slanted

from pldc.fit.few_pieces import beginning, prepared, robust_units, scorer, shuffled
from pldc.fit.settings import Settings
from pldc.problem import Absolute, Quantile, make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows


def rows_of(n=24, weight=None):
    X, y = slanted(n)
    return Rows(X, y, np.ones(n) if weight is None else weight)


def recipe_of(loss="squared"):
    chosen = make_loss(loss) if isinstance(loss, str) else loss
    return Recipe(chosen, make_penalty("componentwise"), "dc", np.zeros(2, dtype=int), False, True)


def as_sets(rows, splits):
    """Folds as what they leave out, whatever the order."""
    return sorted(sorted(zip(map(tuple, rows.X[test]), rows.y[test], strict=True)) for _, test in splits)


def test_rows_and_folds_do_not_depend_on_how_rows_are_given():
    rows = rows_of()
    plain, folds = prepared(rows, 4)
    order = np.random.default_rng(0).permutation(24)
    for given in (rows.take(order), rows.take(np.r_[order, order])):
        other, other_folds = prepared(given, 4)
        assert np.array_equal(other.X, plain.X) and np.array_equal(other.y, plain.y)
        assert all(
            np.array_equal(a, b) for f, g in zip(folds, other_folds, strict=True) for a, b in zip(f, g, strict=True)
        )
    assert not np.array_equal(plain.y, np.sort(plain.y)) and not np.array_equal(plain.X, rows.X)


@pytest.mark.parametrize("n", [5, 24, 1000])
def test_every_row_is_left_out_once(n):
    folds = prepared(rows_of(n), 4)[1]
    assert len(folds) == 4 and sorted(np.concatenate([test for _, test in folds])) == list(range(n))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(n))
    assert prepared(rows_of(3), 5)[1][0][1].shape == (1,)  # of fewer rows than folds, one a fold


def test_of_many_rows_one_fold_is_left_out_and_a_share_of_every_beginning():
    rows, folds = prepared(rows_of(1100), 5)
    ((train, test),) = folds
    assert len(rows.y) == 1100 and len(test) == 220 and sorted([*train, *test]) == list(range(1100))
    for m in (100, 500):
        ((some, left_out),) = beginning(folds, m)
        assert len(left_out) == m // 5 and sorted([*some, *left_out]) == list(range(m))


def test_folds_given_by_places_are_kept_and_equal_rows_of_the_same_folds_merged():
    rows = rows_of(12)
    doubled = rows.take(np.r_[np.arange(12), np.arange(12)])
    half = np.arange(24) % 12 < 6
    folds = [(np.flatnonzero(~half), np.flatnonzero(half)), (np.flatnonzero(half), np.flatnonzero(~half))]
    merged, places = prepared(doubled, folds)
    assert len(merged.y) == 12 and (merged.weight == 2).all()
    one = [(np.arange(6, 12), np.arange(6)), (np.arange(6), np.arange(6, 12))]
    assert as_sets(merged, places) == as_sets(rows, one)


def test_rows_of_weight_zero_are_in_no_fold():
    zero = rows_of(weight=(np.arange(24) >= 4).astype(float))
    for folds in (4, [(np.arange(4, 14), np.arange(14, 24))]):
        rows, splits = prepared(zero, folds)
        assert len(rows.y) == 20 and (rows.weight > 0).all() and max(max(test) for _, test in splits) < 20


def test_a_beginning_has_no_empty_folds():
    folds = [(np.array([0, 1, 2]), np.array([5])), (np.array([3, 5]), np.array([0]))]
    assert beginning(folds, 3) == []
    ((train, test),) = beginning(folds, 4)
    assert train.tolist() == [3] and test.tolist() == [0]


def test_shuffled_rows_and_places_go_together():
    rows = rows_of()
    folds = [(np.arange(6, 24), np.arange(6))]
    other, places = shuffled(rows, folds)
    assert not np.array_equal(other.y, rows.y) and as_sets(other, places) == as_sets(rows, folds)


@pytest.mark.parametrize("loss, moved", [("squared", True), (Absolute(), False), (Quantile(0.8), False)])
def test_outliers_move_no_unit_of_a_loss_that_resists_them(loss, moved):
    rows = rows_of(100)
    wild = rows._replace(y=np.where(np.arange(100) < 5, 1e6, rows.y))
    plain, other = (robust_units(r, recipe_of(loss)) for r in (rows, wild))
    assert (other.y_scale > 10 * plain.y_scale) == moved
    np.testing.assert_allclose(plain.scale, rows.X.std(axis=0))
    if not moved:
        assert plain.y_scale == pytest.approx(rows.y.std(), rel=0.4)
        assert np.median(rows.y) == pytest.approx(plain.y_center, abs=0.1)


def test_most_targets_alike_have_the_unit_of_all():
    rows = rows_of(100)
    alike = rows._replace(y=np.where(np.arange(100) < 90, 1.0, rows.y))
    assert robust_units(alike, recipe_of("absolute")).y_scale == pytest.approx(alike.y.std())


def test_without_a_score_it_is_the_loss_in_units_of_the_targets():
    rows = rows_of()
    at = np.arange(10)
    values = rows.y[at] + np.linspace(-1, 1, 10)
    score = scorer(rows, Settings(recipe_of()))
    assert score(values, at) == pytest.approx(-np.mean((values - rows.y[at]) ** 2) / rows.y.var())
    scaled = scorer(rows._replace(y=100.0 * rows.y), Settings(recipe_of()))
    assert scaled(100.0 * values, at) == pytest.approx(score(values, at))
    own = scorer(rows, replace(Settings(recipe_of()), score=lambda prediction, test: float(len(test.y))))
    assert own(values, at) == 10.0


def test_classes_are_scored_as_if_one_row_more_had_been_seen():
    rng = np.random.default_rng(0)
    label, scores = np.arange(12) % 3, rng.normal(size=(3, 12))
    rows = Rows(rng.normal(size=(12, 2)), label.astype(float), np.r_[np.full(6, 2.0), np.ones(6)])  # eighteen rows
    p = np.exp(scores) / np.exp(scores).sum(axis=0)
    wanted = np.full((3, 12), 1 / 19 / 3)  # of nineteen, one is of all classes alike
    wanted[label, np.arange(12)] += 18 / 19
    settings = Settings(replace(recipe_of("log"), outputs=3))
    expected = np.average((wanted * np.log(p)).sum(axis=0), weights=rows.weight)
    assert scorer(rows, settings)(scores, np.arange(12)) == pytest.approx(expected)
    own = scorer(rows, replace(settings, score=lambda prediction, test: 5.0))
    assert own(scores, np.arange(12)) == 5.0


def test_small_weights_are_as_many_rows():
    rng = np.random.default_rng(0)
    label, scores = np.arange(12) % 3, 5.0 * rng.normal(size=(3, 12))
    settings = Settings(replace(recipe_of("log"), outputs=3))
    plain, small = (
        scorer(Rows(rng.normal(size=(12, 2)), label.astype(float), np.full(12, w)), settings)(scores, np.arange(12))
        for w in (1.0, 1e-6)
    )
    assert small == pytest.approx(plain)
