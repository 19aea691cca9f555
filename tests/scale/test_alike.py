"""Blocks and files that are not alike: other columns, orders, types and rows; and questions to them beside a fit."""

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.scale.files import opened

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")
dd = pytest.importorskip("dask.dataframe")

N, SIZE = 4000, 1000


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", 1200)
        patch.setattr("pldc.estimators.sources.MOST", 1200)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 4)
        yield


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, 2))
    y = 3 * X[:, 0] - np.abs(X[:, 1]) + 0.1 * rng.standard_normal(N)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


@pytest.fixture(scope="module")
def alone(frame):
    return DCRegressor(random_state=0).fit(lambda: parts(frame))


def parts(frame, change=lambda part, k: part, columns=("a", "b")):
    return [
        (change(frame[[*columns]].iloc[k : k + SIZE], k // SIZE), frame["y"].to_numpy()[k : k + SIZE])
        for k in range(0, len(frame), SIZE)
    ]


KINDS = {
    "pandas": lambda part, k: part[["b", "a"]] if k else part,
    "polars": lambda part, k: pl.from_pandas(part[["b", "a"]] if k else part),
    "arrow": lambda part, k: pyarrow.Table.from_pandas(part[["b", "a"]] if k else part, preserve_index=False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_blocks_are_told_by_their_names(frame, alone, kind):
    model = DCRegressor(random_state=0).fit(lambda: parts(frame, KINDS[kind]))
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.predict(frame[["a", "b"]]), alone.predict(frame[["a", "b"]]))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_blocks_are_told_by_their_names_to_predict(frame, alone, kind):
    def turned():
        return parts(frame, lambda part, k: KINDS[kind](part, 1 - k))  # the first block, too

    X = frame[["a", "b"]]
    np.testing.assert_array_equal(alone.predict(turned), alone.predict(X))
    assert alone.score(turned) == pytest.approx(alone.score(X, frame["y"]), abs=1e-14)
    np.testing.assert_array_equal(alone.predict_interval(turned, 0.8), alone.predict_interval(X, 0.8))
    with pytest.raises(ValueError, match="feature names should match"):
        alone.predict(lambda: [X.rename(columns={"a": "c"})])


def test_blocks_without_rows_are_passed_over(frame, alone):
    def give():
        return [(X[:0], y[:0]) for X, y in parts(frame)[:1]] + [*parts(frame), (frame[["b", "a"]][:0], [])]

    X = frame[["a", "b"]]
    np.testing.assert_array_equal(DCRegressor(random_state=0).fit(give).predict(give), alone.predict(X))
    assert alone.score(give) == pytest.approx(alone.score(X, frame["y"]), abs=1e-14)
    for ask in (alone.predict, alone.score, DCRegressor().fit):
        with pytest.raises(ValueError, match="There are no rows"):
            ask(lambda: give()[:1])


@pytest.mark.parametrize(
    "change",
    [
        lambda part, k: part[["a"]] if k == 2 else part,
        lambda part, k: part.rename(columns={"b": "c"}) if k == 2 else part,
        lambda part, k: part.to_numpy() if k == 2 else part,
        lambda part, k: part if k == 2 else part.to_numpy(),
    ],
)
def test_blocks_of_other_columns_are_refused(frame, change):
    with pytest.raises(ValueError, match="Blocks must have the same columns"):
        DCRegressor().fit(lambda: parts(frame, change))


def test_rows_that_a_later_call_leaves_out_are_noticed(frame):
    calls = []

    def give():
        calls.append(1)
        return parts(frame)[: 4 if len(calls) < 4 else 3]

    model = DCRegressor(random_state=0)
    with pytest.raises(ValueError, match="gave 3000 rows; at its first call there were 4000"):
        model.fit(give)
    assert model.predict(frame[["a", "b"]]).shape == (N,)


def test_columns_that_name_folders(frame, tmp_path):
    table = frame.assign(site=np.repeat(["north", "south"], N // 2))
    table["y"] += np.where(table["site"] == "north", 10.0, 0.0)  # nothing else tells
    table.to_parquet(tmp_path / "parts", partition_cols=["site"])
    model = DCRegressor(random_state=0).fit(tmp_path / "parts", "y")
    assert list(model.feature_names_in_) == ["a", "b", "site"]
    assert model.model_.columns.levels(2) == ("north", "south")
    blocks = parts(table, columns=["a", "b", "site"])
    np.testing.assert_array_equal(
        model.predict(tmp_path / "parts"), DCRegressor(random_state=0).fit(lambda: blocks).predict(lambda: blocks)
    )
    assert model.score(tmp_path / "parts", "y") > 0.95


def test_rows_that_arrow_filters(frame, alone, tmp_path):
    frame.assign(b=np.where(frame.index < 3000, frame["b"], 1e9)).to_parquet(tmp_path / "t.parquet")
    filtered = dataset.dataset(tmp_path / "t.parquet").filter(dataset.field("b") < 2)
    model = DCRegressor(random_state=0).fit(filtered, "y")
    rows = lambda: parts(frame[:3000])  # noqa: E731
    np.testing.assert_array_equal(model.predict(filtered), DCRegressor(random_state=0).fit(rows).predict(rows))
    assert model.score(filtered, "y") == model.score(rows) > 0.95


def test_whole_numbers_of_csv_may_be_followed_by_others(frame, tmp_path, monkeypatch):
    cells = np.arange(N) % 7 + np.where(np.arange(N) < N // 2, 0.0, 0.5)
    texts = [str(int(cell)) if cell == int(cell) else str(cell) for cell in cells]
    label = np.arange(N) % 2
    pd.DataFrame({"a": texts, "label": label, "y": frame["y"]}).to_csv(tmp_path / "t.csv", index=False)
    found = opened(tmp_path / "t.csv", "label")
    np.testing.assert_array_equal(found.to_table()["a"].to_numpy(), cells)
    assert found.schema.field("label").type == pyarrow.int64()  # a class stays what it is
    model = DCClassifier(random_state=0, n_pieces=2).fit(tmp_path / "t.csv", "label")
    assert model.classes_.tolist() == [0, 1] and model.classes_.dtype.kind == "i"


def test_whole_targets_of_csv_may_be_followed_by_others(frame, tmp_path):
    y = np.concatenate([np.zeros(200_000), frame["y"]])  # Arrow tells the type by the first megabyte
    texts = [str(int(cell)) if cell == int(cell) else str(cell) for cell in y]
    pd.DataFrame({"a": np.concatenate([np.zeros(200_000), frame["y"]]), "y": texts}).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert DCRegressor(random_state=0).fit(tmp_path / "t.csv", "y").score(tmp_path / "t.csv", "y") > 0.9


def test_cells_that_cannot_be_read_are_said_by_fit_and_predict(frame, alone, tmp_path):
    path = tmp_path / "t.csv"
    pd.concat([frame] * 15).to_csv(path, index=False)  # more than a block, by which Arrow tells the types
    with path.open("a") as file:
        file.write("?,1,1\n")
    for ask in (lambda: DCRegressor().fit(path, "y"), lambda: alone.predict(path)):
        with pytest.raises(ValueError, match="cannot be read to its end.*write Parquet"):
            ask()
    (tmp_path / "parts").mkdir()
    frame.to_parquet(tmp_path / "parts" / "0.parquet")
    (tmp_path / "parts" / "1.parquet").write_bytes(b"")
    for ask in (lambda: DCRegressor().fit(tmp_path / "parts", "y"), lambda: alone.predict(tmp_path / "parts")):
        with pytest.raises(ValueError, match=r"cannot be read.*1\.parquet"):
            ask()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["red", "green"], "y must hold numbers; a block holds 'red'. For classes take DCClassifier"),
        (np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "y must hold numbers; a block holds"),
        ([1.0, np.nan], "y must be finite"),
    ],
)
def test_targets_that_are_no_numbers(y, message):
    with pytest.raises(ValueError, match=message):
        DCRegressor().fit(lambda: [(np.zeros((2, 1)), np.asarray(y))])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", None], "1 of 3 labels are missing"),
        (pd.array(["a", "b", pd.NA]), "1 of 3 labels are missing"),
        (np.array(["a", 1, 2.5], dtype=object), r"labels of several types, \['float', 'int', 'str'\]"),
    ],
)
def test_labels_that_are_missing_or_of_several_types(labels, message):
    X = np.arange(3.0)[:, None]
    with pytest.raises(ValueError, match=message):
        DCClassifier().fit(X, labels)
    with pytest.raises(ValueError, match=message):
        DCClassifier().fit(lambda: [(X, np.asarray(labels, dtype=object))])


def test_intervals_and_scores_of_tables_that_are_read(frame, alone, tmp_path):
    path, X = tmp_path / "t.parquet", frame[["a", "b"]]
    weight = np.arange(N) % 3 + 0.0
    frame.assign(w=weight).to_parquet(path)
    low, high = alone.predict_interval(X, 0.8)
    for source in (path, lambda: parts(frame), dd.from_pandas(frame, npartitions=3)):
        found = alone.predict_interval(source, 0.8)
        # A product may be rounded otherwise where a row stands at another place of its block.
        np.testing.assert_allclose(np.asarray(found[0]), low, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(np.asarray(found[1]), high, rtol=1e-12, atol=1e-14)
    assert alone.score(path, "y", "w") == pytest.approx(alone.score(X, frame["y"], weight), abs=1e-14)
    assert alone.score(lambda: parts(frame)) == pytest.approx(alone.score(X, frame["y"]), abs=1e-14)
    assert alone.score(dd.from_pandas(frame, npartitions=3), "y") == pytest.approx(
        alone.score(X, frame["y"]), abs=1e-14
    )
    classes = DCClassifier(random_state=0, n_pieces=2).fit(X, frame["y"] > 0)
    frame.assign(y=frame["y"] > 0).to_parquet(path)
    assert classes.score(path, "y") == classes.score(X, frame["y"] > 0)


def test_other_questions_want_the_table_in_memory(frame, alone, tmp_path):
    for ask in (
        alone.explain,
        alone.region_table,
        lambda X: alone.simplify(X, "y"),
        lambda X: alone.path(X, "y", [1.0]),
    ):
        with pytest.raises(ValueError, match="only fit, predict, predict_interval and score read it"):
            ask(tmp_path / "t.parquet")
