"""Sums over blocks, samples of them, and the sources they come from."""

import functools
import operator

import numpy as np
import pytest
from joblib import Parallel, delayed
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor, Quantile
from pldc.estimators.sources import memory_of
from pldc.scale import Block, Blocks, Draw, Sums
from pldc.scale.files import opened

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N, D = 12_000, 3
SAMPLE = 1500  # rows, so that some are left for the passes


class Processes:
    """A store in processes of joblib: all that a learning loop asks of one."""

    def __init__(self, blocks, jobs=2):
        self.blocks, self.jobs = blocks, jobs

    def sum(self, work):
        """Add up."""
        return functools.reduce(operator.add, Parallel(self.jobs)(delayed(work)(block) for block in self.blocks))


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", SAMPLE)
        patch.setattr("pldc.estimators.sources.MOST", SAMPLE)
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, D))
    mean = np.abs(X[:, 0]) + X[:, 1] * X[:, 2]
    return X, mean, mean + 0.2 * rng.standard_normal(N)


def blocks_of(X, y, size=2500):
    return [(X[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


@pytest.fixture(scope="module")
def streamed(rows):
    X, _, y = rows
    return DCRegressor(max_memory=1e7).fit(lambda: blocks_of(X, y), None)


@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    X, _, y = rows
    path = tmp_path_factory.mktemp("scale") / "table.parquet"
    table = pyarrow.table({f"x{k}": X[:, k] for k in range(D)} | {"y": y, "w": np.ones(N)})
    parquet.write_table(table, path, row_group_size=3000)
    return path


def test_sums_are_those_of_all_rows(rows):
    X, _, y = rows
    expected = X.sum(axis=0), (y**2).sum()
    store = Blocks(lambda: [Block(*b) for b in blocks_of(X, y)], threads=3)
    found = store.sum(lambda block: Sums((block.X.sum(axis=0), (block.y**2).sum())))
    np.testing.assert_allclose(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1])


def test_a_sample_depends_on_neither_order_nor_blocks(rows):
    X, _, y = rows
    turned = np.random.default_rng(1).permutation(N)
    samples = []
    for at, size in ((np.arange(N), 2500), (turned, 700), (turned[::-1], N)):
        blocks = [Block(*b) for b in blocks_of(X[at], y[at], size)]
        found = functools.reduce(operator.add, map(Draw(1000), blocks))
        assert found.n == N and tuple(found.span) == (y.min(), y.max())
        samples.append(found.rows)
    for other in samples[1:]:
        np.testing.assert_array_equal(samples[0].X, other.X)
        np.testing.assert_array_equal(samples[0].y, other.y)
    assert len(samples[0].y) == 1000
    # as rows drawn by chance: mean and spread of a thousand of them
    assert abs(samples[0].X.mean()) < 4 / np.sqrt(3 * 3000)
    assert samples[0].X.std() == pytest.approx(1 / np.sqrt(3), rel=0.05)


def test_rows_of_weight_zero_are_in_no_sample(rows):
    X, _, y = rows
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 2.0)
    found = Draw(N)(Block(X, y, weight))
    assert found.n == (weight > 0).sum() == len(found.rows.y)
    assert set(found.rows.y) == set(y[weight > 0])


def test_a_fit_of_blocks_predicts_within_the_range_of_all_targets(rows, streamed):
    X, mean, _ = rows
    assert streamed.score(X, mean) > 0.9
    assert streamed.clip_range_ == (rows[2].min(), rows[2].max())


def test_blocks_of_any_size_in_any_store_give_the_same_function(rows, streamed, file, tmp_path):
    X, _, y = rows
    fits = [DCRegressor(max_memory=1e7).fit(lambda: blocks_of(X, y, 1700), None)]
    fits.append(DCRegressor(max_memory=1e7).fit(str(file), "y", sample_weight="w"))
    scale = np.ptp(y)
    for other in fits:
        error = np.abs(other.model_.predict(X) - streamed.predict(X)).max() / scale
        assert error < 1e-6


def test_passes_in_processes_are_those_in_threads(rows, streamed, monkeypatch):
    X, _, y = rows
    stores = []

    def processes(X, y, weight, threads):
        stores.append(Processes([Block(*b) for b in X()]))
        return stores[-1]

    monkeypatch.setattr("pldc.estimators.sources.shards_of", processes)
    other = DCRegressor(max_memory=1e7).fit(lambda: blocks_of(X, y), None)
    assert stores
    assert np.abs(other.predict(X) - streamed.predict(X)).max() < 1e-6 * np.ptp(y)


def test_passes_lower_the_error_of_all_rows(rows, streamed, monkeypatch):
    """Against the same search that stops before them."""
    X, _, y = rows
    monkeypatch.setattr("pldc.compact.search.polished", lambda *a: None)
    few = DCRegressor(max_memory=1e7).fit(lambda: blocks_of(X, y), None)
    assert np.mean((streamed.predict(X) - y) ** 2) < np.mean((few.predict(X) - y) ** 2)


def test_classes_are_streamed_with_their_weights(rows):
    X, mean, _ = rows
    label = np.where(mean > 0.5, "high", np.where(mean > 0.1, "middle", "low"))
    model = DCClassifier(max_memory=1e7, class_weight="balanced")
    model.fit(lambda: ((x, t) for x, t in blocks_of(X, label)), None)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert model.score(X, label) > 0.8
    np.testing.assert_allclose(model.predict_proba(lambda: (x for x, _ in blocks_of(X, label))), model.predict_proba(X))


def test_a_column_of_categories_and_gaps(rows, tmp_path):
    X, _, y = rows
    kind = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.3, 0.3])]
    gaps = np.where(np.arange(N) % 50 == 0, np.nan, X[:, 1])
    table = pyarrow.table({"kind": kind, "gaps": pyarrow.array(gaps, from_pandas=True), "y": 5.0 * (kind == "b") + y})
    parquet.write_table(table, tmp_path / "t.parquet")
    model = DCRegressor(max_memory=1e7).fit(tmp_path / "t.parquet", "y")
    assert list(model.feature_names_in_) == ["kind", "gaps"]
    target = table["y"].to_numpy()
    found = model.predict(tmp_path / "t.parquet")
    np.testing.assert_allclose(found, model.predict(table.drop(["y"])))
    assert 1 - np.mean((found - target) ** 2) / np.var(target) > 0.9


def test_an_array_on_disk_that_is_larger_than_allowed(rows, streamed, tmp_path):
    X, _, y = rows
    X.tofile(tmp_path / "x.bin")
    disk = np.memmap(tmp_path / "x.bin", dtype=np.float64, mode="r", shape=X.shape)
    assert DCRegressor().fit(disk[:200], y[:200]).model_.target_range == (y[:200].min(), y[:200].max())
    wide = np.lib.format.open_memmap(tmp_path / "w.npy", mode="w+", dtype=np.float64, shape=(N, 120))
    wide[:] = 0.0
    wide[:, :D] = X
    model = DCRegressor(max_memory=1e7, max_seconds=3).fit(wide, y)
    assert model.score(np.asarray(wide), y) > 0.3


def test_few_enough_rows_are_fitted_as_in_memory(rows):
    X, _, y = (a[:300] for a in rows)
    one = DCRegressor(max_seconds=60).fit(X, y)
    two = DCRegressor(max_seconds=60).fit(lambda: blocks_of(X, y, 100), None)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("size", "bytes_"),
    [
        ("500MB", 5 * 10**8),
        ("1.5 GB", 15 * 10**8),
        ("500M", 5 * 10**8),
        ("1GiB", 2**30),
        ("1G", 10**9),
        (2e7, 2 * 10**7),
        (None, 10**9),
    ],
)
def test_memory_is_a_number_or_a_text(size, bytes_):
    assert memory_of(size) == bytes_


@pytest.mark.parametrize("size", ["much", "500 apples", -1, 0, True, np.nan, np.inf, "1kB", [1], 10**400])
def test_memory_that_is_none(size):
    with pytest.raises(ValueError, match="max_memory must be"):
        DCRegressor(max_memory=size).fit([[0.0], [1.0]], [0.0, 1.0])


def test_what_cannot_be_read_is_said(rows, file, tmp_path):
    X, _, y = rows
    few = DCRegressor(max_memory=1e7)
    with pytest.raises(ValueError, match="no such file"):
        few.fit(tmp_path / "nothing.parquet", "y")
    with pytest.raises(ValueError, match="must name a column"):
        few.fit(file, "z")
    whole = file.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        few.fit(tmp_path / "cut.parquet", "y")
    with pytest.raises(ValueError, match="finite"):
        few.fit(lambda: [*blocks_of(X, y), (X[:5], np.full(5, np.nan))], None)
    with pytest.raises(ValueError, match="infinity"):
        few.fit(lambda: [*blocks_of(X, y), (np.full((5, D), np.inf), y[:5])], None)
    with pytest.raises(TypeError, match="tuple"):
        few.fit(lambda: [X], None)
    with pytest.raises(ValueError, match="no rows"):
        few.fit(lambda: [], None)
    with pytest.raises(ValueError, match="in memory"):
        DCRegressor(n_pieces="rows").fit(file, "y")
    with pytest.raises(ValueError, match="groups"):
        few.fit(file, "y", groups=np.zeros(N))
    assert not hasattr(few, "model_")


@pytest.mark.parametrize("name", ["__index_level_0__", "place"])
def test_the_index_of_pandas_is_no_feature(rows, tmp_path, name):
    pandas = pytest.importorskip("pandas")
    X, _, y = rows
    frame = pandas.DataFrame(X[:2000], columns=["x0", "x1", "x2"]).assign(y=y[:2000])
    frame.index = pandas.Index(np.argsort(np.argsort(frame["y"].to_numpy())), name=None if name[0] == "_" else name)
    path = tmp_path / "labels.parquet"
    frame.to_parquet(path)
    assert name in parquet.read_schema(path).names
    model = DCRegressor(random_state=0).fit(path, "y")
    assert list(model.feature_names_in_) == ["x0", "x1", "x2"]
    np.testing.assert_allclose(model.predict(path), model.predict(frame.drop(columns="y")), rtol=1e-12)
    parquet.write_table(pyarrow.Table.from_pandas(frame.drop(columns="y")), tmp_path / "new.parquet")
    arrays = DCRegressor(random_state=0).fit(X[:2000], y[:2000])  # without names: the columns that there are
    with pytest.warns(UserWarning, match="without feature names"):
        assert arrays.predict(tmp_path / "new.parquet").shape == (2000,)


def test_a_file_that_lacks_a_column_is_named(rows, tmp_path):
    from pyarrow import dataset

    X, _, y = rows
    table = pyarrow.table({f"x{k}": X[:, k] for k in range(D)} | {"y": y})
    (tmp_path / "parts").mkdir()
    parquet.write_table(table, tmp_path / "parts" / "0.parquet")
    model = DCRegressor(random_state=0).fit(tmp_path / "parts", "y")
    parquet.write_table(table.drop(["x1"]), tmp_path / "parts" / "1.parquet")
    for ask in (lambda: DCRegressor().fit(tmp_path / "parts", "y"), lambda: model.predict(tmp_path / "parts")):
        with pytest.raises(ValueError, match=r"1\.parquet lacks the columns \['x1'\]"):
            ask()
    year = table.append_column("year", pyarrow.array(np.repeat([1, 2], N // 2)))
    dataset.write_dataset(year, tmp_path / "years", format="parquet", partitioning=["year"], partitioning_flavor="hive")
    years = dataset.dataset(tmp_path / "years", partitioning="hive")  # the names of folders are no gaps
    assert "year" in DCRegressor(random_state=0).fit(years, "y").feature_names_in_


def test_the_first_file_of_a_folder_is_not_the_measure_of_the_others(rows, tmp_path):
    X, _, y = rows
    table = pyarrow.table({f"x{k}": X[:, k] for k in range(D)} | {"y": y})
    whole = table.set_column(0, "x0", pyarrow.array(np.arange(N)))
    none = table.set_column(0, "x0", pyarrow.nulls(N))
    text = table.set_column(0, "x0", pyarrow.array(["a"] * N))
    for name, first, second in (("lacks", table.drop(["x1"]), table), ("text", table, text), ("mixed", whole, table)):
        (tmp_path / name).mkdir()
        parquet.write_table(first, tmp_path / name / "0.parquet")
        parquet.write_table(second, tmp_path / name / "1.parquet")
    with pytest.raises(ValueError, match=r"0\.parquet lacks the columns \['x1'\]"):
        DCRegressor().fit(tmp_path / "lacks", "y")
    with pytest.raises(ValueError, match="cells of different types.*x0"):
        DCRegressor().fit(tmp_path / "text", "y")
    parquet.write_table(none, tmp_path / "mixed" / "0a.parquet")
    cells = opened(tmp_path / "mixed").to_table()["x0"].to_numpy()  # whole numbers, gaps, then parts of one
    np.testing.assert_array_equal(cells, np.concatenate([np.arange(N), np.full(N, np.nan), X[:, 0]]))


def test_a_store_that_dies_leaves_what_was_learned(rows):
    X, _, y = rows
    asked = []

    def give():
        asked.append(1)
        for k, block in enumerate(blocks_of(X, y)):
            if len(asked) > 4 and k == 2:
                raise OSError("the disk is gone")
            yield block

    model = DCRegressor(max_memory=1e7)
    with pytest.raises(OSError, match="gone"):
        model.fit(give, None)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("harm", ["cut", "other columns", "gone"])
def test_a_file_that_is_harmed_between_passes_leaves_what_was_learned(rows, file, tmp_path, harm):
    X, _, y = rows
    path = tmp_path / "table.parquet"
    path.write_bytes(file.read_bytes())
    done = []

    def spoil(about):
        if not about["comparing"] and about["of"] == 16 and not done:  # after the first pass of all
            done.append(1)
            if harm == "cut":
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            elif harm == "gone":
                path.unlink()
            else:
                parquet.write_table(pyarrow.table({"x0": X[:, 0], "y": y}), path)

    model = DCRegressor(max_memory=1e7)
    with pytest.raises((ValueError, OSError)):
        model.fit(path, "y", sample_weight="w", monitor=spoil)
    assert done
    assert model.model_.predict(X).shape == (N,)
    assert 1 - np.mean((model.model_.predict(X) - y) ** 2) / np.var(y) > 0.5


def test_a_block_of_gaps_is_filled_with_medians(rows):
    X, _, y = rows
    holes = (np.full((50, D), np.nan), y[:50])
    model = DCRegressor(max_memory=1e7).fit(lambda: [*blocks_of(X, y), holes], None)
    assert model.score(X, y) > 0.5


def test_quantiles_of_blocks_stay_as_they_are_fitted(rows, monkeypatch):
    """Folds of a sample lack more than functions that have seen all rows, and so do their students."""
    X, _, y = rows
    moved = []
    monkeypatch.setattr("pldc.fit.few_pieces.levelled", lambda folds, level: moved.append(level) or (0.0, folds))
    for pieces in ("auto", 2):
        DCRegressor(loss=Quantile(0.9), n_pieces=pieces, max_memory=1e7).fit(lambda: blocks_of(X, y), None)
    assert not moved
    DCRegressor(loss=Quantile(0.9), n_pieces=2).fit(X[:100], y[:100])
    assert moved == [0.9, 0.9]
