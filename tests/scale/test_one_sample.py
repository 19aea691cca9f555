"""The same rows have the same sample, however they are stored: in files or blocks, with dates and gaps of any kind."""

from datetime import date, datetime

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCRegressor
from pldc.estimators.sources import width_of
from pldc.scale import Block, Draw
from pldc.scale.alike import Alike
from pldc.scale.files import opened

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
dd = pytest.importorskip("dask.dataframe")

N = 600


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, (N, 2)), columns=["a", "b"])
    return table.assign(y=table["a"] + rng.normal(size=N), w=1.0)


def test_the_width_is_that_of_the_features(frame, tmp_path):
    frame.set_index(pd.Index(np.arange(N) * 2)).to_parquet(tmp_path / "t.parquet")
    blocks = Alike(lambda: iter([(frame[["a", "b"]], frame["y"])]))
    sources = [(opened(tmp_path / "t.parquet"), "y", "w"), (blocks, None, None), (np.zeros((5, 2)), None, None)]
    sources.append((dd.from_pandas(frame, npartitions=2), "y", "w"))
    assert [width_of(*each) for each in sources] == [2, 2, 2, 2]


def test_files_frames_of_dask_and_blocks_are_one_function(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("pldc.estimators.sources.FEWEST", 10)
    monkeypatch.setattr("pldc.estimators.sources.SHARE", 0.4 * 8 * 8 * 1000 / 1e7)  # 1000 cells, not of 10 MB
    monkeypatch.setattr("pldc.compact.polish.MORE_PASSES", 2)
    X, y = frame[["a", "b"]], frame["y"].to_numpy()
    frame.set_index(pd.Index(np.arange(N) * 2)).to_parquet(tmp_path / "t.parquet")
    with few_kinds():
        blocks = DCRegressor(max_memory=1e7).fit(lambda: [(X[:100], y[:100]), (X[100:], y[100:])])
        for source in (tmp_path / "t.parquet", dd.from_pandas(frame, npartitions=2)):
            other = DCRegressor(max_memory=1e7).fit(source, "y", sample_weight="w")
            assert np.abs(other.predict(X) - blocks.predict(X)).max() < 1e-6 * np.ptp(y)


def keys(X):
    """What rows are drawn by."""
    return Draw(N)(Block(X, np.zeros(4))).parts[0].key


DAYS = [date(2020, 1, 1), None, date(1950, 6, 1), date(2024, 2, 29)]
TIMES = [None if day is None else datetime(day.year, day.month, day.day) for day in DAYS]
STORED = {
    "dates": [
        pd.DataFrame({"d": np.array(TIMES, dtype="datetime64[ns]")}),
        pd.DataFrame({"d": np.array(TIMES, dtype="datetime64[s]")}),
        pd.DataFrame({"d": pd.Series(DAYS, dtype=object)}),
        pd.DataFrame({"d": pd.to_datetime(pd.Series(TIMES)).dt.tz_localize("Europe/Berlin")}),
        pl.DataFrame({"d": DAYS}),
        pl.DataFrame({"d": TIMES}),
        pyarrow.table({"d": pyarrow.array(DAYS, pyarrow.date32())}),
        pyarrow.table({"d": pyarrow.array(TIMES, pyarrow.timestamp("us"))}),
        pyarrow.table({"d": pyarrow.array(TIMES, pyarrow.timestamp("ms")).cast(pyarrow.timestamp("ms", "UTC"))}),
    ],
    "numbers": [
        pd.DataFrame({"d": [1.0, np.nan, 0.0, 3.0]}),
        pd.DataFrame({"d": pd.array([1, None, 0, 3], dtype="Int64")}),
        pl.DataFrame({"d": [1, None, 0, 3]}),
        pyarrow.table({"d": pyarrow.array([1, None, 0, 3])}),
        np.array([[1.0], [-np.nan], [-0.0], [3.0]]),
    ],
    "texts": [
        pd.DataFrame({"d": ["a", None, "b", "a"]}, dtype=object),
        pd.DataFrame({"d": ["a", np.nan, "b", "a"]}, dtype=object),
        pd.DataFrame({"d": ["a", None, "b", "a"]}, dtype="category"),
        pyarrow.table({"d": pyarrow.array(["a", None, "b", "a"]).dictionary_encode()}),
        pl.DataFrame({"d": ["a", None, "b", "a"]}),
    ],
    "spans": [
        pd.DataFrame({"d": np.array([1, 5, 10**7, 3], dtype="timedelta64[s]")}),
        pyarrow.table({"d": pyarrow.array([1, 5, 10**7, 3], pyarrow.duration("s")).cast(pyarrow.duration("ns"))}),
    ],
}


@pytest.mark.parametrize("kind", STORED)
def test_rows_are_drawn_by_what_cells_mean(kind):
    first, *others = STORED[kind]
    for other in others:
        np.testing.assert_array_equal(keys(other), keys(first))


def test_labels_are_drawn_alike_in_any_blocks():
    X, label = np.arange(40.0)[:, None], np.repeat(["a", "b"], 20)
    whole = Draw(10, classes=True)(Block(X, label)).rows
    apart = Draw(10, classes=True)(Block(X[:20], label[:20])) + Draw(10, classes=True)(Block(X[20:], label[20:]))
    np.testing.assert_array_equal(apart.rows.X, whole.X)


def test_a_column_named_a_category_may_be_numbers_in_one_block_and_text_in_another():
    one, other = pd.DataFrame({"c": [1, 2]}), pd.DataFrame({"c": ["1", "x"]})
    for named in (["c"], [0]):
        draw = Draw(10, categories=named)
        assert (draw(Block(one, np.zeros(2))) + draw(Block(other, np.zeros(2)))).n == 4
