"""Small parts of the choice of smoothing, against their definitions."""

import numpy as np
import pytest
from tests.problems import synthetic

from pldc.problem import make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows
from pldc.select import discrepancy as room
from pldc.select import folds
from pldc.select.bound import bound, discrepancy_rate
from pldc.select.discrepancy import discrepancy
from pldc.select.fold_fits import FEWEST_ITERATIONS, iterations
from pldc.select.folds import interleaved, merged_in_folds, mixed, ranks_of_classes
from pldc.select.lam import scale_of_lam
from pldc.select.search import size_of


def table(n=60, seed=0, weights=True):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(n, 2))), np.round(rng.normal(size=n))
    return Rows(X, y, rng.integers(1, 4, n).astype(float) if weights else np.ones(n))


def by_content(rows):
    """A dictionary from row to weight, added up over equal rows."""
    out = {}
    for x, y, weight in zip(rows.X, rows.y, rows.weight, strict=True):
        out[(*x, y)] = out.get((*x, y), 0.0) + weight
    return out


class TestMixed:
    """Of many rows the order is that of a hash; nothing else differs."""

    @pytest.fixture(autouse=True)
    def few_are_many(self, monkeypatch):
        monkeypatch.setattr(folds, "HASH_ROWS", 5)

    @pytest.mark.parametrize("weights", [True, False])
    def test_equal_rows_are_merged(self, weights):
        rows = table(weights=weights)
        merged = mixed(rows)
        assert by_content(merged) == by_content(rows) and len(merged.y) == len(by_content(rows)) < 60

    def test_rows_that_all_differ_stay(self):
        rng = np.random.default_rng(0)
        rows = Rows(rng.normal(size=(20, 2)), rng.normal(size=20), np.ones(20))
        assert by_content(mixed(rows)) == by_content(rows)

    def test_rows_that_are_all_equal_are_one(self):
        rows = Rows(np.ones((8, 2)), np.ones(8), np.full(8, 0.5))
        assert by_content(mixed(rows)) == {(1.0, 1.0, 1.0): 4.0}

    def test_the_given_order_does_not_matter(self):
        rows = table()
        first, other = mixed(rows), mixed(rows.take(np.random.default_rng(1).permutation(60)))
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_rows_with_one_hash_are_told_apart(self, monkeypatch):
        monkeypatch.setattr(folds, "MIX", np.uint64(0))  # every key is zero
        rows = Rows(np.array([[0.0, 1.0]] * 8 + [[0.0, 2.0]] * 4), np.zeros(12), np.ones(12))
        assert by_content(mixed(rows)) == by_content(rows)


def test_zero_has_no_sign_in_an_order():
    rows = Rows(np.array([[-0.0], [0.0], [1.0]]), np.array([1.0, 1.0, -0.0]), np.ones(3))
    merged, _ = folds.distinct(rows)
    assert len(merged.y) == 2 and not np.signbit(merged.X).any() and not np.signbit(merged.y[merged.y == 0]).any()


def test_rows_without_weight_are_in_no_fold():
    rows = table(20)._replace(weight=np.repeat([0.0, 0.5], 10))
    merged, splits = merged_in_folds(rows, [(np.arange(0, 20, 2), np.arange(1, 20, 2))])
    assert by_content(merged) == by_content(rows.take(np.arange(10, 20)))
    [(train, _)] = splits
    assert by_content(merged.take(np.unique(train))).keys() == by_content(rows.take(np.arange(10, 20, 2))).keys()


def test_deals_are_as_many_as_are_needed(monkeypatch):
    drawn = []

    class Counting(np.random.RandomState):
        def permutation(self, x):
            drawn.append(x)
            return super().permutation(x)

    monkeypatch.setattr(np.random, "RandomState", Counting)
    interleaved(23, 5)
    assert drawn == [5] * 5


def test_classes_are_ranked_by_weight_whatever_its_unit():
    rng = np.random.default_rng(0)
    y, X = np.repeat([0.0, 1.0, 2.0], [3, 9, 5]), rng.normal(size=(17, 2))
    for unit in (1e-9, 1.0, 1e9):
        np.testing.assert_array_equal(ranks_of_classes(Rows(X, y, np.full(17, unit)), 3), [2, 0, 1])


def test_the_bound_of_a_small_seminorm_counts_one_octave():
    numbers = {"empirical": 0.1, "discrepancy": 0.2, "n": 100, "M": 1.0, "delta": 0.1}
    none, small, two = (bound(make_loss("squared"), seminorm=size, **numbers) for size in (0.0, 1.0, 2.0))
    assert none.confidence == pytest.approx(two.confidence) and small.confidence == pytest.approx(two.confidence)
    assert small.confidence == pytest.approx(45 * np.sqrt((4 + 8 * np.log(2) + 8 * np.log(20)) / 100))


def test_the_rate_is_that_of_the_paper():
    rate = 60 * (2 / 500) ** (2 / 6) * (1 + 2 * np.log(250) / 6)
    assert discrepancy_rate(500, 2) == pytest.approx(rate)


def test_a_subsample_has_no_row_twice():
    X, _ = synthetic(12, 2)
    rng = np.random.RandomState(3)
    chosen = rng.choice(12, 10, replace=False)
    expected = discrepancy(X[chosen], n_splits=2, random_state=rng)
    found = discrepancy(X, n_splits=2, max_rows=10, random_state=np.random.RandomState(3))
    assert found.lower == pytest.approx(expected.lower, rel=1e-9) and found.n_rows == 10


@pytest.mark.parametrize("method, by_program", [("auto", True), ("lp", True), ("exact", False)])
def test_which_method_is_taken(method, by_program, monkeypatch):
    calls = []
    monkeypatch.setattr(room, "linear_program", lambda *words: calls.append(1) or 1.0)
    discrepancy(synthetic(10, 2)[0], n_splits=1, method=method)
    assert bool(calls) == by_program


def test_the_scale_of_two_rows_is_their_discrepancy():
    recipe = Recipe(make_loss("squared"), make_penalty("joint"), "dc", np.zeros(1, dtype=int), False, True)
    rows = Rows(np.array([[0.0], [3.0]]), np.array([0.0, 1.0]), np.ones(2))
    assert scale_of_lam(recipe, rows) == pytest.approx(discrepancy([[-1.0], [1.0]], n_splits=1).value, rel=0.2)
    assert scale_of_lam(recipe, rows) != 1.0
    assert scale_of_lam(recipe, rows.take(np.array([0, 0]))) == 1.0


def test_half_of_a_path_is_fitted_well():
    found = iterations(10**6, 6)
    assert found[0] == FEWEST_ITERATIONS and found[1] == found[2] < found[3] and len(set(found[3:])) == 1


def test_the_size_of_scores_is_a_power_of_two():
    for scores in (np.array([0.3, -0.7]), np.array([5.0, np.nan, -2.0]), np.array([1e-200]), np.array([1e300])):
        size, largest = size_of(scores), np.nanmax(np.abs(scores))
        assert np.log2(size) == round(np.log2(size)) and size / 2 <= largest <= size
