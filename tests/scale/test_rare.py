"""Rare classes: a sample has enough of their rows, which weigh what their share of all rows says."""

import functools
import operator

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier
from pldc.scale import Block, Blocks, drawn
from pldc.scale.rare import ENOUGH, FEWEST, with_rare

N, SAMPLE = 40_000, 2000


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", SAMPLE)
        patch.setattr("pldc.estimators.sources.MOST", SAMPLE)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 6)
        yield


@pytest.fixture(scope="module")
def rows():
    """Rows of which one in 100 or so is of a class of its own, and three of another."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, 2))
    label = np.where((X[:, 0] > 0.85) & (X[:, 1] > 0.7), "rare", "usual").astype(object)
    label[[5, 77, 30_000]] = "three"
    return X, label


def blocks_of(X, y, size=3000, weight=None):
    given = (X, y) if weight is None else (X, y, weight)
    return [tuple(each[k : k + size] for each in given) for k in range(0, len(y), size)]


def store(*given):
    return Blocks(lambda: [Block(*each) for each in blocks_of(*given)], 2)


def sample_of(*given):
    shards = store(*given)
    found = drawn(shards, SAMPLE, True, None)
    return found, found.rows, with_rare(shards, found, found.rows)


def test_there_are_enough_rows_of_every_class_and_they_weigh_their_share(rows):
    X, label = rows
    found, before, part = sample_of(X, label)
    n = {name: int((label == name).sum()) for name in ("rare", "usual", "three")}
    assert found.counts == n and n["three"] == 3
    here = {name: int((part.y == name).sum()) for name in n}
    assert (before.y == "rare").sum() < 80 and ENOUGH <= here["rare"] < 3 * ENOUGH and here["three"] == 3
    for name in ("rare", "three"):
        wanted = n[name] / N * SAMPLE
        assert part.weight[part.y == name].sum() == pytest.approx(wanted)
    usual = part.y == "usual"
    np.testing.assert_array_equal(part.X[usual], before.X[before.y == "usual"])
    assert (part.weight[usual] == 1.0).all() and (np.diff(part.key.astype(float)) >= 0).all()
    of_all = {tuple(row) for row in X[label == "rare"]}
    assert {tuple(row) for row in part.X[part.y == "rare"]} <= of_all


def test_it_depends_on_neither_order_nor_blocks_and_weights_are_kept(rows):
    X, label = rows
    weight = np.random.default_rng(1).integers(0, 3, N) + 0.0
    turned = np.random.default_rng(2).permutation(N)
    one = sample_of(X, label, 3000, weight)[2]
    other = sample_of(X[turned], label[turned], 777, weight[turned])[2]
    for name in ("key", "X", "y", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    rare = (label == "rare") & (weight > 0)
    share = rare.sum() / (weight > 0).sum() * SAMPLE
    mean = one.weight[one.y == "rare"].sum() / share
    assert mean == pytest.approx(weight[rare].mean(), rel=0.1)


def test_repeated_rows_of_a_rare_class_weigh_as_often_as_they_occur(rows):
    X, label = (each.copy() for each in rows)
    at = np.flatnonzero(label == "rare")
    X[at[: len(at) // 2]] = 0.95
    _, _, part = sample_of(X, label)
    own = part.y == "rare"
    equal = own & (part.X == 0.95).all(axis=1)
    assert equal.sum() <= 1  # a kind of rows is there once, or not at all
    if equal.any():
        assert part.weight[equal][0] > 10 * np.median(part.weight[own & ~equal])


def test_a_table_without_rare_classes_is_not_read_once_more(rows):
    X, _ = rows
    label = np.where(X[:, 0] > 0.4, "a", "b")
    calls = []

    def give():
        calls.append(None)
        yield from (Block(*each) for each in blocks_of(X, label))

    shards = Blocks(give)
    found = drawn(shards, SAMPLE, True, None)
    part = found.rows
    assert with_rare(shards, found, part) is part and len(calls) == 1


def test_very_many_rare_classes_share_the_sample():
    label = np.where(np.arange(N) % 4, -1, np.arange(N) % 900)
    X = np.arange(N)[:, None] / N
    _, _, part = sample_of(X, label)
    names, count = np.unique(part.y, return_counts=True)
    assert len(names) == len(np.unique(label)) and len(part.y) < 3 * SAMPLE
    assert count[1:].min() >= min(FEWEST, np.unique(label, return_counts=True)[1][1:].min()) - 3


@pytest.mark.parametrize("kind", ["text", "numbers", "floats", "booleans"])
def test_rare_classes_are_found(rows, kind):
    X, label = rows
    labels = {
        "text": label,
        "numbers": np.where(label == "rare", 7, 2),
        "floats": np.where(label == "rare", 7.0, -2.0),
        "booleans": label == "rare",
    }
    y = labels[kind]
    model = DCClassifier().fit(blocks_of(X, y))
    assert len(model.classes_) == len(np.unique(y)) and model.passes_.rows == N
    rare = y == y[np.flatnonzero(label == "rare")[0]]
    assert (model.predict(X)[rare] == y[rare]).mean() > 0.8
    assert (model.predict(X)[~rare] == y[~rare]).mean() > 0.99
    column = list(model.classes_).index(y[rare][0])
    chance = model.predict_proba(X)[:, column]
    assert chance.mean() == pytest.approx(rare.mean(), rel=0.2)  # probabilities are those of all rows


def test_a_class_that_is_given_no_weight_is_refused(rows):
    X, label = rows
    with pytest.raises(ValueError, match=r"Classes \['three'\] weigh nothing by class_weight"):
        DCClassifier(class_weight={"three": 0.0}).fit(blocks_of(X, label))


def test_sums_of_samples_count_labels(rows):
    from pldc.scale import Draw

    X, label = rows
    found = functools.reduce(operator.add, [Draw(50, classes=True)(Block(*b)) for b in blocks_of(X, label, 900)])
    assert sum(found.counts.values()) == N and set(found.labels) == set(found.counts)
