"""Rows that occur several times: a sample has each kind as often as all rows have, however they are cut."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.scale import Block, Blocks, Draw, drawn, repeats
from pldc.scale.repeats import Often, enough

MOST = 500


def blocks(X, y, size, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return [Block(X[k : k + size], y[k : k + size], weight[k : k + size]) for k in range(0, len(y), size)]


def sample(X, y, size=1000, weight=None, n=None, most=MOST):
    return drawn(Blocks(lambda: blocks(X, y, size, weight)), most, False, n)


def kinds_of(part):
    """Each kind of row, and how often it occurs."""
    return np.unique(np.column_stack([part.X, part.y]), axis=0, return_counts=True)


def share(X, level):
    return (level == X).mean()


def skewed(n, rng):
    """Few kinds of rows make half of the table, and the others occur once or a few times."""
    x = np.where(rng.uniform(size=n) < 0.5, rng.geometric(0.3, n), rng.integers(100, 100 + n, n))
    return x[:, None].astype(float), (x % 7).astype(float)


@pytest.fixture
def few_frequent(monkeypatch):
    monkeypatch.setattr(repeats, "MOST_FREQUENT", 1024)


def test_few_kinds_of_rows_have_the_shares_that_they_have_among_all():
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(40_000, 2)) < 0.3).astype(float)
    y = X[:, 0] + (rng.uniform(size=40_000) < 0.01)
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    found, drawn_counts = kinds_of(sample(X, y).rows)
    np.testing.assert_allclose(drawn_counts, [c for c in counts * MOST / 40_000 if c > 1], atol=1)
    assert len(rows) - 1 <= len(found) <= len(rows)  # the rarest kinds are less than a row


@pytest.mark.usefixtures("few_frequent")
@pytest.mark.parametrize("seed", range(3))
def test_frequent_rows_among_many_that_are_not(seed):
    X, y = skewed(40_000, np.random.default_rng(seed))
    found = sample(X, y)
    assert not found.whole and len(found.rows.y) == MOST
    for level in range(1, 6):
        assert share(found.rows.X, level) == pytest.approx(share(X, level), abs=2 / MOST)
    assert np.mean(found.rows.X > 99) == pytest.approx(0.5, abs=0.03)
    assert len(np.unique(found.rows.X[found.rows.X > 99])) > 0.15 * MOST


@pytest.mark.usefixtures("few_frequent")
@pytest.mark.parametrize("of", ["binary", "skewed", "twice"])
def test_a_sample_of_repeated_rows_depends_on_neither_order_nor_blocks(of):
    rng = np.random.default_rng(0)
    n = 20_000
    X, y = skewed(n, rng) if of == "skewed" else (rng.uniform(size=(n, 2)), rng.normal(size=n))
    if of == "binary":
        X, y = np.round(X), np.round(y)
    elif of == "twice":
        X, y = np.concatenate([X, X]), np.concatenate([y, y])
    weight = rng.uniform(0.5, 2, len(y))
    first = sample(X, y, weight=weight).rows
    for size, n in ((77, None), (len(y), None), (3000, len(y))):
        at = rng.permutation(len(y))
        other = sample(X[at], y[at], size, weight[at], n).rows
        np.testing.assert_array_equal(other.X, first.X)
        np.testing.assert_array_equal(other.y, first.y)
        np.testing.assert_allclose(other.weight, first.weight, rtol=1e-12)
    tree = [Draw(MOST)(block) for block in blocks(X, y, 900, weight)]  # as Dask adds, by eight
    tree = [reduce(add, tree[k : k + 8]) for k in range(0, len(tree), 8)]
    one, two = reduce(add, tree), reduce(add, map(Draw(MOST), blocks(X, y, 900, weight)))
    np.testing.assert_array_equal(one.rows.X, two.rows.X)
    assert np.array_equal(one.whole, two.whole) and one.n == two.n == len(y)


def test_rows_that_occur_once_are_those_with_the_lowest_numbers():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(5000, 2)), rng.normal(size=5000), rng.uniform(size=5000)
    every = Draw(5000)(Block(X, y, weight)).rows
    for n in (None, 5000):
        few = sample(X, y, 700, weight, n).rows
        for name in ("key", "X", "y", "weight"):
            np.testing.assert_array_equal(getattr(few, name), getattr(every, name)[:MOST])


def test_none_or_all_kinds_may_be_frequent():
    X, y = np.arange(40.0)[:, None] % 8, np.zeros(40)
    part = Draw(3)(Block(X, y)).parts[0]
    none = part.take(np.arange(0))
    for frequent in (None, none):
        np.testing.assert_array_equal(repeats.in_proportion(part, frequent, 40, 3).X, part.X)
    count = repeats.Count(np.unique(Draw(40)(Block(X, y)).rows.key))
    every = count(Block(X[:20], y[:20])) + count(Block(X[20:], y[20:]))
    assert every.count.tolist() == every.weight.tolist() == [5] * 8
    assert len(set(repeats.in_proportion(part, every, 40, 8).X[:, 0])) == 8


def test_few_enough_rows_stay_as_they_are():
    X, y = np.zeros((300, 1)), np.arange(300) % 2.0
    weight = np.random.default_rng(0).uniform(size=300)
    part = sample(X, y, 70, weight).rows
    np.testing.assert_array_equal(part.weight, np.concatenate([weight[y == v] for v in part.y[[0, -1]]]))


@pytest.mark.parametrize("size", [30, 65, 1000])
def test_no_kind_that_is_frequent_is_passed_over_and_single_rows_need_no_second_pass(size, monkeypatch):
    monkeypatch.setattr(repeats, "MOST_FREQUENT", 64)
    rng = np.random.default_rng(0)
    n = 6400
    key = np.concatenate([np.repeat(np.arange(20), 2 * n // 64), rng.integers(1000, 2**62, n - 20 * 2 * n // 64)])
    rng.shuffle(key)
    found = reduce(add, (Often.of(key[k : k + size].astype(np.uint64)) for k in range(0, n, size)))
    assert found.short <= n / 64 and len(found.key) <= 4 * 64
    assert set(range(20)) <= set(found.above(n).tolist())
    for rows in (30, 64, 65, 100, 640, 6400):
        single = np.arange(rows, dtype=np.uint64)
        found = reduce(add, (Often.of(single[k : k + size]) for k in range(0, rows, size)))
        assert not len(found.above(rows)) and enough(rows) >= 2


@pytest.mark.parametrize("seed", range(2))
def test_fits_of_repeated_rows_are_as_good_as_in_memory(seed, monkeypatch):
    monkeypatch.setattr("pldc.estimators.sources.FEWEST", 1500)
    monkeypatch.setattr("pldc.estimators.sources.MOST", 1500)
    monkeypatch.setattr("pldc.compact.polish.MORE_PASSES", 2)
    rng = np.random.default_rng(seed)
    n = 20_000
    X = rng.integers(0, 10, (n, 3)).astype(float)
    y = np.abs(X[:, 0] - 5) + np.round(X[:, 1] * X[:, 2] / 10)
    X2 = (rng.uniform(size=(n, 2)) < 0.5).astype(float)
    label = (rng.uniform(size=n) < 0.1 + 0.7 * X2[:, 0]).astype(int)
    with few_kinds():
        assert DCRegressor(random_state=0).fit(lambda: blocks_of(X, y)).score(X, y) > 0.8
        model = DCClassifier(random_state=0).fit(lambda: blocks_of(X2, label))
    np.testing.assert_allclose(model.predict_proba([[0, 0], [1, 1]])[:, 1], [0.1, 0.8], atol=0.05)


def blocks_of(X, y):
    return [(X[k : k + 3000], y[k : k + 3000]) for k in range(0, len(y), 3000)]
