"""Arrays and frames of Dask: the same function as in one process, whatever happens to a worker."""

import os
import signal

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.scale import Blocks, Sums, drawn
from pldc.scale.dask_shards import DaskShards
from pldc.scale.shards import Block

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N, D, SIZE = 6000, 3, 1000


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", 1200)
        patch.setattr("pldc.estimators.sources.MOST", 1200)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 6)
        yield


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as found:
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, D))
    return X, np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(N)


@pytest.fixture(scope="module")
def alone(rows):
    X, y = rows
    return DCRegressor(max_memory=1e7).fit(lambda: blocks(X, y), None)


def blocks(X, y):
    return [(X[k : k + SIZE], y[k : k + SIZE]) for k in range(0, N, SIZE)]


def arrays(X, y, size=SIZE):
    return da.from_array(X, chunks=(size, 2)), da.from_array(y, chunks=size // 2)


def apart(one, other, X, y):
    return np.abs(one - other.predict(X)).max() / np.ptp(y)


def test_arrays_give_the_function_of_one_process(client, rows, alone):
    X, y = rows
    model = DCRegressor(max_memory=1e7).fit(*arrays(X, y))
    lazy = model.predict(arrays(X, y)[0])
    assert isinstance(lazy, da.Array) and lazy.shape == (N,)
    assert apart(lazy.compute(), alone, X, y) < 1e-6
    other = DCRegressor(max_memory=1e7).fit(*arrays(X, y, 700))
    assert apart(other.predict(X), alone, X, y) < 1e-6


def test_frames_with_empty_partitions_and_weights(client, rows, alone):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=1.0)
    parts = dd.from_pandas(frame, npartitions=6, sort=True)
    parts = dd.concat([parts[parts.a > 9], parts])
    model = DCRegressor(max_memory=1e7).fit(parts, "y", sample_weight="w")
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    lazy = model.predict(parts)
    assert isinstance(lazy, da.Array)
    assert apart(lazy.compute(), alone, X, y) < 1e-6


def test_classes(client, rows):
    X, y = rows
    label = np.where(y > 0.6, "high", np.where(y > 0.2, "middle", "low"))
    kinds = np.array(["p", "q"])[(X[:, 0] > 0).astype(int)]
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=kinds, label=label)
    parts = dd.from_pandas(frame, npartitions=5, sort=True)
    model = DCClassifier(max_memory=1e7, class_weight="balanced").fit(parts, "label")
    one = DCClassifier(max_memory=1e7, class_weight="balanced").fit(
        lambda: ((frame[k : k + SIZE].drop(columns="label"), label[k : k + SIZE]) for k in range(0, N, SIZE)), None
    )
    assert list(model.classes_) == ["high", "low", "middle"]
    features = frame.drop(columns="label")
    chances = model.predict_proba(parts)
    assert isinstance(chances, da.Array) and chances.shape[1] == 3
    np.testing.assert_allclose(chances.compute(), one.predict_proba(features), atol=1e-6)
    assert (model.predict(parts).compute() == model.predict(features)).all()


def test_partitions_with_other_columns_are_refused(client, rows, alone):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)

    def changed(change):
        def partition(k):
            part = frame[k * SIZE : (k + 1) * SIZE]
            return change(part) if k == 2 else part

        return dd.from_map(partition, range(6), meta=frame[:0])

    def without_b(part):
        return part.drop(columns="b")

    def without_y(part):
        return part.drop(columns="y")

    def renamed(part):
        return part.rename(columns={"b": "z"})

    model = DCRegressor(max_memory=1e7).fit(changed(lambda part: part[["y", "c", "b", "a"]]), "y")
    assert apart(model.predict(frame[["a", "b", "c"]]), alone, X, y) < 1e-6
    for change, name in ((without_b, "b"), (renamed, "b"), (without_y, "y")):
        with pytest.raises(ValueError, match=rf"Partition 2 of the frame lacks the columns \['{name}'\]"):
            DCRegressor(max_memory=1e7).fit(changed(change), "y")
        with pytest.raises(ValueError, match=rf"Partition 2 of the frame lacks the columns \['{name}'\]"):
            model.score(changed(change), "y")
    with pytest.raises(ValueError, match=r"Partition 2 has other columns than the frame, \['z'\]"):
        DCRegressor(max_memory=1e7).fit(changed(lambda part: part.assign(z=1)), "y")
    with pytest.raises(ValueError, match=r"Partition 2 of the frame lacks the columns \['b'\]"):
        model.predict(changed(without_b)).compute()
    with pytest.raises(ValueError, match=r"The table lacks the columns \['a'\]"):
        model.predict(changed(without_y).drop(columns="a"))
    assert len(model.predict(changed(without_y)).compute()) == N


def test_a_worker_that_is_killed_is_survived(cluster, client, rows, alone):
    X, y = rows
    killed = []

    def kill(about):
        if not about["comparing"] and about["of"] == 7 and not killed:
            (first, *_) = cluster.workers.values()
            killed.append(first.pid)
            os.kill(first.pid, signal.SIGKILL)

    model = DCRegressor(max_memory=1e7).fit(*arrays(X, y), monitor=kill)
    assert killed
    assert apart(model.predict(X), alone, X, y) < 1e-6


def test_rows_are_held_by_the_workers_whatever_happens_to_one(cluster, client, rows, monkeypatch):
    X, y = rows
    monkeypatch.setattr("pldc.estimators.sources.HELD_ROWS", 2500)
    one = DCRegressor(max_memory=1e7).fit(lambda: blocks(X, y), None)
    killed, held = [], []
    hold = DaskShards.hold

    def seen(shards, work):
        held.append(hold(shards, work))
        return held[-1]

    def kill(about):
        if about["of"] == 25 and about["iteration"] == 3:
            (first, *_) = cluster.workers.values()
            killed.append(first.pid)
            os.kill(first.pid, signal.SIGKILL)

    monkeypatch.setattr(DaskShards, "hold", seen)
    model = DCRegressor(max_memory=1e7).fit(*arrays(X, y, 150), monitor=kill)
    assert killed and model.passes_ == one.passes_ == (N, 1200, 4, 2500)
    assert apart(model.predict(X), one, X, y) < 1e-6
    (store,) = held
    assert len(store.blocks) <= 8 < N / 150
    found = store.sum(lambda block: Sums((np.array([len(block.y)]), block.X.sum(axis=0))))
    assert abs(found[0][0] - 2500) < 150


def test_few_rows_travel_for_a_sample(rows):
    """What a block gives, where the number of rows is known, is about its share of the sample, which is the same."""
    X, y = rows
    moved = []

    class Counting(Blocks):
        def sum(self, work):
            def counted(block):
                found = work(block)
                moved.append(len(found.rows.y))
                return found

            return super().sum(counted)

    store = Counting(lambda: [Block(*b) for b in blocks(X, y)])
    near = drawn(store, 300, False, None).rows
    assert sum(moved) == N // SIZE * 300
    moved.clear()
    far = drawn(store, 300, False, N).rows
    assert 300 <= sum(moved) < 700
    np.testing.assert_array_equal(near.X, far.X)
    equal = Counting(lambda: [Block(np.ones((SIZE, D)), np.ones(SIZE))] * 6)
    assert len(drawn(equal, 300, False, N).rows.y) == 300


def test_what_does_not_fit_is_said(client, rows):
    X, y = rows
    lazy, target = arrays(X, y)
    few = DCRegressor(max_memory=1e7)
    with pytest.raises(ValueError, match="array of Dask"):
        few.fit(lazy, y)
    with pytest.raises(ValueError, match="6000 rows, and y has 5999"):
        few.fit(lazy, target[1:])
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=2)
    with pytest.raises(ValueError, match="must name a column"):
        few.fit(frame, "z")
    with pytest.raises(ValueError, match="no rows"):
        few.fit(frame[frame.a > 9], "b")


def test_a_cluster_that_is_gone_leaves_what_was_learned(rows):
    X, y = rows
    seen = []
    with (
        dask.config.set(scheduler=None),  # a client that is closed in the middle leaves its own
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):

        def close(about):
            if not about["comparing"] and about["of"] == 7:
                seen.append(about["iteration"])
                if len(seen) == 2:
                    client.close()

        model = DCRegressor(max_memory=1e7)
        with pytest.raises(Exception, match=r"(?i)clos|cancel|client"):
            model.fit(*arrays(X, y), monitor=close)
    assert seen == [1, 2]
    assert model.score(X, y) > 0.7
