"""Rare classes: a sample has enough of their rows, which weigh what their share of all rows says."""

import functools
import operator

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier
from pldc.scale import Block, Blocks, drawn
from pldc.scale.held import ENOUGH, Hold, shares_of
from pldc.scale.rare import with_rare

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


@pytest.mark.parametrize("kinds", [1, 3, 40])
def test_a_rare_class_of_repeated_rows_is_there_in_proportion(kinds):
    """Its kinds may have high numbers, all of them: so it is not drawn by numbers."""
    rng = np.random.default_rng(kinds)
    X, label = rng.uniform(-1, 1, (N, 2)), np.full(N, "usual", dtype=object)
    at = rng.choice(N, 400, replace=False)
    label[at] = "rare"
    X[at] = np.linspace(-1, 1, kinds)[rng.integers(0, kinds, 400)][:, None]
    for seed in range(4):
        _, before, part = sample_of(X + seed, label)
        own = part.y == "rare"
        assert own.any() and part.weight[own].sum() == pytest.approx(400 / N * SAMPLE, rel=0.3)
        if (before.y == "rare").any():
            np.testing.assert_array_equal(part.X, before.X)
        else:
            assert len(np.unique(part.X[own], axis=0)) == kinds


def test_rows_that_are_held_have_enough_of_a_rare_class(rows):
    X, label = rows
    usual, rare = np.flatnonzero(label == "usual"), np.flatnonzero(label == "rare")[:60]
    X, label = (np.concatenate([each[usual], each[rare]]) for each in (X, label))
    count = {"usual": len(usual), "rare": 60}
    shares = shares_of(count, 0.1)
    assert shares == {"rare": 1.0}
    block = Block(X, label, np.full(len(label), 3.0))
    found = Hold(lambda b: (b.X, b.y, b.weight), 0.1, True, shares)(block).as_one()
    own = found.y == "rare"
    assert own.sum() == 60 and found.weight[own] == pytest.approx(np.full(60, 0.3))
    assert (found.weight[~own] == 3.0).all() and abs((~own).sum() - 0.1 * len(usual)) < 5 * (0.1 * len(usual)) ** 0.5
    assert shares_of({"a": 10**6, "b": 4000, "c": 400}, 0.125) == {"c": 0.5}


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
    assert list(names) == list(np.unique(label)) and len(part.y) < 2 * SAMPLE
    assert len(names) > 200 and count[1:].max() < 10 * max(1, count[1:].min())


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
    assert (model.predict(X)[rare] == y[rare]).mean() > 0.7  # none would be 0; more would be more than their share
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
