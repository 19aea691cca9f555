"""Cells of blocks: kinds that blocks store in other ways, numbers beyond what is expected, and what is none."""

from decimal import Decimal
from functools import reduce
from operator import add

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.columns.cells import RawColumn, Table, cells_as, check_labels, kind_of
from pldc.estimators.blocks import Reading
from pldc.scale import Block, Draw
from pldc.scale.files import opened
from pldc.scale.hashes import bits_of, bits_of_cell, kind_seen
from pldc.scale.schemas import wider

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

N, SIZE = 900, 300
PACKAGES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
}


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", 400)
        patch.setattr("pldc.estimators.sources.MOST", 400)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 2)
        yield


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(-1, 1, (N, 2))
    return X, X[:, 0] + np.abs(X[:, 1])


def blocks(X, *others):
    return [(X[k : k + SIZE], *(each[k : k + SIZE] for each in others)) for k in range(0, len(X), SIZE)]


def sampled(*frames, categories=()):
    """A column of the sample of some blocks, and what it was found to hold over all of them."""
    draw = Draw(N, categories=categories)
    found = reduce(add, (draw(Block(frame, np.full(len(frame), k))) for k, frame in enumerate(frames)))
    return Table.read(found.rows.X).columns[0], found.kinds


UNLIKE = {
    "whole numbers": (pd.Categorical([1, 2] * 9), pd.Categorical([3, 2] * 9), {"1", "2", "3"}),
    "fractions": (pd.Categorical([1.5, 2] * 9), pd.Categorical([3, 2] * 9), {"1.5", "2", "3"}),
    "texts": (pd.Categorical(["a", None] * 9), pd.Categorical(["b", "a"] * 9), {"a", "b", None}),
    "text and numbers": (pd.Categorical(["a", "1"] * 9), pd.Categorical([1, 2] * 9), {"a", "1", "2"}),
    "plain text": (pd.Categorical(["a", "b"] * 9), ["a", "c"] * 9, {"a", "b", "c"}),
}


@pytest.mark.parametrize("name", UNLIKE)
@pytest.mark.parametrize("package", PACKAGES)
def test_categories_that_are_not_alike_stay_categories(package, name):
    one, other, levels = UNLIKE[name]
    if package == "polars" and name not in ("texts", "plain text"):
        pytest.skip("categories of polars are texts")
    frames = [PACKAGES[package](pd.DataFrame({"c": cells})) for cells in (one, other)]
    for order in (frames, frames[::-1]):
        column, kinds = sampled(*order)
        assert kind_of(column, "c")[0] == kinds["c"] == "category"
        assert set(cells_as(column, "c", "category")) == levels


@pytest.mark.parametrize("package", PACKAGES)
def test_a_column_named_a_category_may_hold_numbers_and_text(package, rows):
    frames = [PACKAGES[package](pd.DataFrame({"c": cells * 100})) for cells in ([1, 2, 3], ["1", "x", "2"], [4, 1, 2])]
    model = DCRegressor(categorical_features=["c"])
    model.fit(lambda: [*zip(frames, np.split(rows[1], 3), strict=True)])
    assert model.model_.columns.levels(0) == ("1", "2", "3", "4", "x")


@pytest.mark.parametrize("package", PACKAGES)
def test_whole_numbers_with_and_without_a_sign(package):
    large = np.array([1, 2**63 + 2**20], dtype=np.uint64)
    column, kinds = sampled(*(PACKAGES[package](pd.DataFrame({"c": cells})) for cells in (large, [-1, 5], [0, 1])))
    assert kinds == {"c": "number"}
    assert sorted(column.values.astype(float)) == [-1.0, 0.0, 1.0, 1.0, 5.0, 2.0**63 + 2**20]


def test_folders_of_whole_numbers_with_and_without_a_sign(tmp_path):
    for k, cells in enumerate(
        (pyarrow.array([2**63 + 5, 2**60 + 1], pyarrow.uint64()), pyarrow.array([-1, 2**60 + 1]))
    ):
        parquet.write_table(pyarrow.table({"c": cells, "y": [1.0, 2.0]}), tmp_path / f"{k}.parquet")
    assert opened(tmp_path).to_table()["c"].to_pylist() == [2**63 + 5, 2**60 + 1, -1, 2**60 + 1]


def test_no_type_and_any_other_have_none():
    kinds = [pyarrow.timestamp("s", "UTC"), pyarrow.timestamp("s"), pyarrow.timestamp("s")]
    assert reduce(wider, kinds) is None is reduce(wider, kinds[::-1])


def test_a_column_of_which_the_sample_has_nothing_is_named(rows):
    X, y = rows
    frames = (pd.DataFrame({"a": X[:, 0], "c": np.where(np.arange(N) == k, "x", None)}) for k in range(N))
    frame = next(each for each in frames if not (Draw(400)(Block(each, y)).rows.X["c"] == "x").any())
    with pytest.raises(ValueError, match=r"Column 'c' holds levels of a category, but nothing of that in the sample"):
        DCRegressor().fit(lambda: blocks(frame, y))


def test_numbers_of_objects_keep_sign_and_size():
    large = [-(10.0**30), 10.0**30, 10.0**31, -np.inf, np.inf]
    plain = bits_of(RawColumn(np.array(large)))
    np.testing.assert_array_equal(bits_of(RawColumn(np.array([*large, None], dtype=object)))[:-1], plain)
    assert [bits_of_cell(cell, False) for cell in large] == plain.tolist()
    whole = bits_of(RawColumn(np.array([10**400, -(10**400), 0.5], dtype=object)))
    np.testing.assert_array_equal(whole[:2], plain[[4, 3]])


@pytest.mark.parametrize(
    "cells",
    [
        [1.5, None, 3, True, np.float32(0.1), np.int8(3), Decimal("2.5"), float("nan"), pd.NA, -0.0],
        ["a", None, "ü", "a", 1.5, True, 1, float("nan")],
        ["a", "b", None, "a"],
        [[1], "a", None],
    ],
)
@pytest.mark.parametrize("category", [False, True])
def test_columns_of_objects_are_read_as_cell_by_cell(cells, category):
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    column = RawColumn(values, category=category)
    assert bits_of(column).tolist() == [bits_of_cell(cell, category) for cell in cells]
    assert kind_seen(column, "c") == kind_of(column, "c")[0]


def test_an_arrow_dictionary_in_several_chunks():
    chunks = [pyarrow.array(["a", None, "b"]), pyarrow.array(["c", "a"])]
    table = pyarrow.table({"c": pyarrow.chunked_array([each.dictionary_encode() for each in chunks])})
    small = table.cast(pyarrow.schema([("c", pyarrow.dictionary(pyarrow.uint8(), pyarrow.string()))]))
    for each in (table, small):
        assert Table.read(each).columns[0].values.tolist() == ["a", None, "b", "c", "a"]
        assert Table.read(each[:0]).columns[0].values.tolist() == []


LARGE = np.array([10**400, *range(299)], dtype=object)
LISTS = np.empty(SIZE, dtype=object)
LISTS[:] = [[1]] * SIZE
WRONG = {
    "no targets": (lambda X, y: (X, None), r"\(X, None\): give its targets"),
    "targets in two columns": (lambda X, y: (X, X), r"targets of a block have the shape \(300, 2\)"),
    "complex targets": (lambda X, y: (X, y + 1j), "y holds complex numbers"),
    "complex weights": (lambda X, y: (X, y, y + 1j), "Weights must be real numbers"),
    "weights of text": (lambda X, y: (X, y, np.full(SIZE, "a")), r"Weights must be numbers ≥ 0; a block holds \['a'\]"),
    "a large target": (lambda X, y: (X, LARGE), "y must be finite.*beyond all floats"),
    "a large cell": (lambda X, y: (np.column_stack([LARGE, y]), y), "whole number .* beyond all floats"),
    "complex cells": (lambda X, y: (X + 1j, y), "(?i)complex"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_in_a_block_is_said(rows, name, later):
    change, message = WRONG[name]
    calls = []

    def give():
        calls.append(1)
        for k, block in enumerate(blocks(*rows)):
            yield change(*block) if k == 1 and len(calls) > 2 * later else block

    with pytest.raises(ValueError, match=message):
        DCRegressor().fit(give)


def test_lists_in_cells_are_refused_or_text(rows):
    X, y = rows
    frame = pd.DataFrame({"a": [*LISTS] * 3, "b": X[:, 0]})
    with pytest.raises(TypeError, match=r"Column 'a' holds \[1\], of type list"):
        DCRegressor().fit(lambda: blocks(frame, y))
    assert DCRegressor(categorical_features=["a"]).fit(lambda: blocks(frame, y)).predict(frame).shape == (N,)


def test_targets_in_one_column_are_taken(rows):
    X, y = rows
    np.testing.assert_array_equal(
        DCRegressor().fit(lambda: blocks(X, y[:, None])).predict(X), DCRegressor().fit(lambda: blocks(X, y)).predict(X)
    )


def test_labels_that_are_missing_are_counted_by_rows(rows):
    X, y = rows
    label = np.where(np.arange(N) % 100 == 3, np.nan, (y > 0.5) + 0.0)
    with pytest.raises(ValueError, match="3 of 300 labels are missing"):
        DCClassifier().fit(lambda: blocks(X, label))
    with pytest.raises(ValueError, match="complex"):
        DCClassifier().fit(lambda: blocks(X, (y > 0.5) + 1j))


def test_scores_of_dask_want_the_name_of_a_column(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    parts = dd.from_pandas(frame, npartitions=2)
    model = DCRegressor().fit(parts, "y")
    expected = model.score(frame[["a", "b"]], y)
    for target in ("y", y, parts["y"]):
        assert model.score(parts, target) == pytest.approx(expected, abs=1e-14)
    for words in ((), ("q",), ("y", "q")):
        with pytest.raises(ValueError, match=r"must name a column of the frame, one of \['a', 'b', 'y'\]"):
            model.score(parts, *words)
    for target in (None, "y"):
        with pytest.raises(ValueError, match="y must be an array of Dask, or one in memory"):
            DCRegressor().fit(X, y).score(da.from_array(X, chunks=300), target)


def test_frames_whose_names_are_numbers_may_have_gaps_and_objects(rows):
    X, y = rows
    frame = pd.DataFrame(X.astype(object)).mask(X > 0.99, None)
    assert DCRegressor().fit(lambda: blocks(frame, y)).score(frame, y) > 0.5


def test_labels_are_looked_at_one_by_one_only_where_one_is_strange(rows, monkeypatch):
    X, y = rows
    label = np.where(y > 0.5, "high", "low").astype(object)
    read = Reading(None, None, np.array(["high", "low"], dtype=object), np.ones(2))
    asked = []
    monkeypatch.setattr("pldc.estimators.blocks.check_labels", lambda y: (asked.append(len(y)), check_labels(y)))
    assert read(Block(X, label)).y.tolist() == (y <= 0.5).astype(int).tolist() and not asked
    for wrong, message in ((None, "1 of 900 labels are missing"), (np.nan, "1 of 900"), ("new", "label 'new'")):
        spoilt = label.copy()
        spoilt[5] = wrong
        with pytest.raises(ValueError, match=message):
            read(Block(X, spoilt))
    assert len(read(Block(X, spoilt, (np.arange(N) != 5) * 1.0)).y) == N  # it weighs nothing


GAPS = np.array([None, "q"] * (SIZE // 2), dtype=object)
X1 = np.random.default_rng(1).normal(size=SIZE)
Y1 = np.abs(X1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.String, pl.Null),
        (pl.Categorical, pl.String),
        (pl.Enum(["q", "r"]), pl.String),
        (pl.Categorical, pl.Enum(["q", "r"])),
    ],
    ids=str,
)
def test_texts_with_gaps_in_blocks_of_polars_of_unlike_types(one, other):
    blocks = []
    for kind in (one, other):
        cells = [None] * SIZE if kind == pl.Null else GAPS.tolist()
        blocks.append((pl.DataFrame({"a": X1, "c": pl.Series(cells, dtype=kind)}), Y1))
    with few_kinds():
        model = DCRegressor().fit(blocks)
    assert model.model_.columns.levels(1) == ("q",)


def test_texts_in_rows_of_no_weight_are_not_asked_for():
    frame = pd.DataFrame({"a": X1, "note": np.where(np.arange(SIZE) < 5, "x", None)})
    weight = (np.arange(SIZE) >= 5) + 0.0
    with few_kinds():
        model = DCRegressor().fit([(frame, Y1, weight)])
    assert model.score(frame[5:], Y1[5:]) > 0.9


def test_a_filtered_folder_that_is_damaged_says_what_is_wrong(tmp_path):
    from pyarrow import dataset

    for k in range(2):
        parquet.write_table(pyarrow.table({"a": X1, "y": Y1}), tmp_path / f"{k}.parquet")
    data = bytearray((tmp_path / "1.parquet").read_bytes())
    data[4:400] = b"\xff" * 396
    (tmp_path / "1.parquet").write_bytes(data)
    table = dataset.dataset(tmp_path).filter(dataset.field("y") > -100)
    with few_kinds(), pytest.raises(ValueError, match="(?s)cannot be read to its end: .*was it changed"):
        DCRegressor().fit(table, "y")


def test_scores_tell_large_whole_labels_apart(tmp_path):
    labels = np.where(X1 > 0, 2**53 + 1, 2**53)
    for name, sign in (("a", 1), ("b", -1)):
        pd.DataFrame({"a": sign * X1, "y": labels}).to_csv(tmp_path / f"{name}.csv", index=False)
    with few_kinds():
        model = DCClassifier().fit(str(tmp_path / "a.csv"), "y")
    assert model.score(str(tmp_path / "a.csv"), "y") > 0.9 > 0.1 > model.score(str(tmp_path / "b.csv"), "y")


def test_scores_of_frames_of_dask_whose_names_are_numbers():
    X = np.column_stack([X1, X1[::-1]])
    with few_kinds():
        model = DCRegressor().fit(X, Y1)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    assert model.score(frame, Y1) == pytest.approx(model.score(X, Y1))
