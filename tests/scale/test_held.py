"""Rows that are held for steps between the sample and all rows: the same ones in any store, and a function no worse."""

import functools
import operator

import numpy as np
import pytest
from joblib import Parallel, delayed
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor, Quantile
from pldc.columns.cells import Table
from pldc.compact.polish import HELD_STEPS, PASSES
from pldc.estimators.sources import rows_to_hold
from pldc.problem.recipe import Rows
from pldc.scale import Block, Blocks, Draw, Hold, held
from pldc.scale.hashes import hashes
from pldc.scale.held import ROWS, Held

N, D, SAMPLE, SOME = 12_000, 3, 1500, 4000


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", SAMPLE)
        patch.setattr("pldc.estimators.sources.MOST", SAMPLE)
        patch.setattr("pldc.estimators.sources.HELD_ROWS", SOME)
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, D))
    return X, np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(N)


def blocks_of(X, y, size=2500):
    return [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


@pytest.fixture(scope="module")
def streamed(rows):
    return DCRegressor().fit(blocks_of(*rows))


def as_given(block):
    return Rows(block.X, block.y, np.ones(len(block.y)) if block.weight is None else block.weight)


@pytest.mark.parametrize("size", [1, 700, N])
def test_the_rows_are_the_same_whatever_the_blocks(rows, size):
    X, y = (each[:3000] for each in rows)
    turned = np.random.default_rng(1).permutation(len(y))
    store = Blocks(lambda: [Block(*b) for b in blocks_of(X[turned], y[turned], size)], threads=2)
    found = held(store, Hold(as_given, 0.3))
    X_held, y_held = (np.concatenate([getattr(b, name) for b in found.read()]) for name in ("X", "y"))
    places = {tuple(row): k for k, row in enumerate(X.tolist())}
    at = np.array([places[tuple(row)] for row in X_held.tolist()])
    assert len(set(at)) == len(at) and abs(len(at) - 900) < 4 * 630**0.5
    np.testing.assert_array_equal(y[at], y_held)
    key = hashes(Table.read(X), y)
    assert key[at].max() < np.delete(key, at).min()
    assert found.threads == 2


def test_rows_of_weight_zero_are_not_held(rows):
    X, y = rows
    weight = np.where(X[:, 0] > 0, 0.0, 2.0)
    found = Hold(as_given, 0.999)(Block(X, y, weight)).as_one()
    assert (found.X[:, 0] <= 0).all() and (found.weight == 2.0).all() and len(found.y) > 0.99 * (weight > 0).sum()
    assert not len(Hold(as_given, 0.5)(Block(X, y, 0 * weight)))


def test_small_blocks_become_larger_ones():
    blocks = Held([Block(np.full((n, 1), float(k)), np.zeros(n), np.ones(n)) for k, n in enumerate([7, 6000] * 9)])
    found = blocks.joined()
    assert 3 <= len(found) <= 5 and min(len(each.y) for each in found[:-1]) > ROWS / 2
    np.testing.assert_array_equal(np.concatenate([b.X for b in found]), np.concatenate([b.X for b in blocks]))
    assert Held().joined() == []


def test_a_fit_tells_of_the_rows_it_held(streamed):
    assert streamed.passes_ == (N, SAMPLE, PASSES + 1, SOME)
    wanted = f"to a sample of {SAMPLE} of {N} rows, to some {SOME} of them, then in {PASSES + 1} passes over all"
    assert wanted in streamed.summary()


class Processes:
    """A store in processes of joblib, which knows nothing of rows that are held."""

    def __init__(self, blocks):
        self.blocks = blocks

    def sum(self, work):
        return functools.reduce(operator.add, Parallel(2)(delayed(work)(block) for block in self.blocks))


def test_any_store_gives_the_same_function(rows, streamed, monkeypatch):
    X, y = rows
    others = [DCRegressor().fit(blocks_of(X, y, 1700))]
    monkeypatch.setattr("pldc.estimators.sources.shards_of", lambda X, *_: Processes([Block(b.X, b.y) for b in X()]))
    others.append(DCRegressor().fit(blocks_of(X, y)))
    for other in others:
        assert other.passes_.held == SOME
        assert np.abs(other.predict(X) - streamed.predict(X)).max() < 1e-6 * np.ptp(y)


def test_a_fit_learns_from_the_rows_it_holds(rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr("pldc.fit.rest.held", lambda shards, work: shards)  # rows that differ from those asked for
    monkeypatch.setattr("pldc.fit.rest.as_read", lambda block: Rows(block.X, -block.y, np.ones(len(block.y))))
    monkeypatch.setattr("pldc.compact.polish.PASSES", -1)
    wrong = DCRegressor(clip=False).fit(blocks_of(X, y))
    assert np.corrcoef(wrong.predict(X), y)[0, 1] < 0  # so it is these rows that the steps see


def test_steps_on_rows_that_are_held_are_worth_more_than_none(rows, streamed, monkeypatch):
    X, y = rows
    monkeypatch.setattr("pldc.compact.polish.MORE_PASSES", PASSES)
    monkeypatch.setattr("pldc.estimators.sources.HELD_ROWS", 0)
    alone = DCRegressor().fit(blocks_of(X, y))
    assert alone.passes_ == (N, SAMPLE, PASSES + 1, 0)
    assert np.mean((streamed.predict(X) - y) ** 2) < np.mean((alone.predict(X) - y) ** 2)


def test_classes_hold_rows_too(rows):
    X, y = rows
    label = np.where(y > 0.6, "high", np.where(y > 0.2, "middle", "low"))
    model = DCClassifier(class_weight="balanced").fit(blocks_of(X, label))
    other = DCClassifier(class_weight="balanced").fit(blocks_of(X, label, 900))
    assert model.passes_.held == SOME
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)
    assert model.score(X, label) > 0.7


def sample_of(X, y, most=SAMPLE):
    return functools.reduce(operator.add, [Draw(most)(Block(*b)) for b in blocks_of(X, y)])


def test_how_many_rows_are_held(rows):
    X, y = rows
    found = sample_of(X, y)
    assert rows_to_hold(found, 10**9, SAMPLE) == SOME
    assert rows_to_hold(found, 3500, SAMPLE) == 3500  # as many as there is memory for,
    assert rows_to_hold(found, 2900, SAMPLE) == 0  # but none where these are hardly more than the sample
    assert rows_to_hold(sample_of(X[:7999], y[:7999]), 10**9, SAMPLE) == 0  # or hardly fewer than all rows
    assert rows_to_hold(sample_of(np.repeat(X[:6000], 2, axis=0), np.repeat(y[:6000], 2)), 10**9, SAMPLE) == 0
    some = sample_of(np.concatenate([X[:11_700], X[:300]]), np.concatenate([y[:11_700], y[:300]]))
    assert 1.0 < some.repeated < 1.05 and rows_to_hold(some, 10**9, SAMPLE) == SOME


def test_rows_that_are_lost_while_they_are_held_leave_a_model(rows):
    X, y = rows
    calls = []

    def give():
        calls.append(None)
        if len(calls) == 2:  # the first is the sample
            yield from blocks_of(X, y)[:2]
            raise OSError("the disk is gone")
        yield from blocks_of(X, y)

    model = DCRegressor()
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(give)
    assert len(calls) == 2 and model.score(X, y) > 0.7 and model.passes_ == (N, SAMPLE, 0, 0)


def test_several_quantiles_hold_rows_once(rows):
    X, y = rows
    calls = []

    def give():
        calls.append(None)
        yield from blocks_of(X, y)

    model = DCRegressor(loss=Quantile([0.2, 0.8])).fit(give)
    assert model.passes_ == (N, SAMPLE, 2 * (PASSES + 1), SOME)
    assert len(calls) == 1 + 1 + 2 * (PASSES + 1)
    below = (y[:, None] < model.predict(X)).mean(axis=0)
    np.testing.assert_allclose(below, [0.2, 0.8], atol=0.05)


def test_the_steps_are_counted(rows):
    told = []
    DCRegressor().fit(blocks_of(*rows), monitor=lambda about: told.append((about["iteration"], about["of"])))
    last = [each for each in told if each[1] == HELD_STEPS + 1 + PASSES + 1]
    assert [done for done, _ in last] == [*range(1, HELD_STEPS + PASSES + 3)]
