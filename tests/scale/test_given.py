"""What functions give, and give wrongly: iterators, other types, other labels, other cells in a later pass."""

import time
from functools import reduce
from operator import add

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.columns.cells import Table, kind_of
from pldc.scale import Block, Draw

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

N, SIZE = 900, 300


NUMBERS = [
    np.linspace(0, 1, SIZE),
    np.arange(SIZE),
    np.arange(SIZE) % 2 == 0,
    pd.array([*range(SIZE - 1), None], dtype="Int64"),
]
STRANGE = [["x"] * SIZE, pd.date_range("2020-01-01", periods=SIZE), pd.Categorical(["1"] * SIZE)]
KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "arrow": pyarrow.Table.from_pandas}


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", 400)
        patch.setattr("pldc.estimators.sources.MOST", 400)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 3)
        yield


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(-1, 1, (N, 2))
    return X, X[:, 0] + np.abs(X[:, 1])


@pytest.fixture(scope="module")
def made(rows):
    return DCRegressor().fit(*rows)


def blocks(X, *others):
    return [(X[k : k + SIZE], *(each[k : k + SIZE] for each in others)) for k in range(0, len(X), SIZE)]


@pytest.mark.parametrize("few", [True, False])
def test_an_iterator_that_is_given_twice_is_refused(rows, made, few):
    X, y = (each[:SIZE] if few else each for each in rows)
    for ask in (DCRegressor().fit, made.score):
        for once in (iter(blocks(X, y)), (block for block in blocks(X, y))):
            with pytest.raises(TypeError, match=r"same iterator twice.*anew at every call"):
                ask(lambda once=once: once)


def test_no_row_of_an_iterator_in_another_is_lost_in_silence(rows):
    X, y = rows
    once = iter(blocks(X, y))
    with pytest.raises(ValueError, match=r"gave 0 rows; at its first call there were 900"):
        DCRegressor().fit(lambda: (block for block in once))
    few = iter(blocks(X[:400], y[:400]))
    model = DCRegressor().fit(lambda: (block for block in few))  # all are in the sample: nothing is asked again
    np.testing.assert_array_equal(model.predict(X), DCRegressor().fit(lambda: blocks(X[:400], y[:400])).predict(X))


def test_iterators_without_a_function_are_refused(rows, made):
    X, y = rows
    for wrong in (iter(blocks(X, y)), (block for block in blocks(X, y))):
        for ask in (DCRegressor().fit, lambda X: DCClassifier().fit(X, None), made.predict):
            with pytest.raises(TypeError, match="give a function that returns blocks"):
                ask(wrong)
    assert made.predict([(1, 2), (3, 4)]).shape == (2,)  # rows may be tuples


def test_lists_of_blocks_are_read_as_functions_that_return_them(rows):
    X, y = rows
    given = blocks(X, y)
    wanted = DCRegressor().fit(lambda: given)
    for listed in (given, tuple(given)):
        model = DCRegressor().fit(listed)
        np.testing.assert_array_equal(model.predict(listed), wanted.predict(X))
        assert model.score(listed) == wanted.score(X, y)
    np.testing.assert_array_equal(wanted.predict([X[:300], X[300:]]), wanted.predict(X))
    for wrong in ([X, y], (X, y), [[X, y]]):
        with pytest.raises(TypeError, match="A block must be a tuple"):
            DCRegressor().fit(wrong)


def test_batches_of_arrow_are_tables_and_blocks(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=pd.Categorical(np.where(X[:, 0] > 0.3, "u", "v")))
    tables = pyarrow.Table.from_pandas(frame)
    model = DCRegressor().fit(frame[:SIZE], y[:SIZE])
    whole = pyarrow.RecordBatch.from_pandas(frame[:SIZE])
    np.testing.assert_array_equal(DCRegressor().fit(whole, y[:SIZE]).predict(whole), model.predict(frame[:SIZE]))
    parts = list(zip(tables.to_batches(max_chunksize=SIZE), np.split(y, N // SIZE), strict=True))
    model = DCRegressor().fit(parts)
    np.testing.assert_array_equal(model.predict(parts), DCRegressor().fit(blocks(frame, y)).predict(frame))


def test_other_readers_are_told_what_is_taken(rows, made, tmp_path):
    from pyarrow import dataset, parquet

    path = tmp_path / "t.parquet"
    pd.DataFrame(rows[0], columns=["a", "b"]).to_parquet(path)
    readers = [dataset.dataset(path).scanner(), parquet.ParquetFile(path)]
    da, bag, delayed = (pytest.importorskip(f"dask.{name}") for name in ("array", "bag", "delayed"))
    readers += [da.ones(5), bag.from_sequence([1, 2]), delayed.delayed(1)]
    for reader in readers:
        for ask in (lambda X: DCRegressor().fit(X, rows[1]), made.predict, made.explain):
            with pytest.raises(TypeError, match=rf"be read block by block: .* got a {type(reader).__name__}"):
                ask(reader)


def test_what_needs_the_table_in_memory_says_so(rows, made, tmp_path):
    X, y = rows
    da = pytest.importorskip("dask.array")
    for far in (da.from_array(X, chunks=300), blocks(X, y)):
        asks = [
            made.explain,
            lambda X: made.curve(0, X),
            lambda X: made.simplify(X, y),
            lambda X: made.explorer(tmp_path / "page.html", X=X, y=y),
            lambda X: made.counterfactual(X, 1.0),
        ]
        for ask in asks:
            with pytest.raises(ValueError, match="only fit, predict, predict_interval and score read it"):
                ask(far)


def test_the_setting_that_asks_for_the_program_is_named(rows):
    for name, value in {"lam": 0.1, "penalty": "joint", "n_pieces": "rows"}.items():
        with pytest.raises(ValueError, match=f"{name}={value!r} asks for the program, which needs the table in memory"):
            DCRegressor(**{name: value}).fit(blocks(*rows))


def test_no_rows_are_no_weights_of_zero(rows):
    X, y = rows
    for weight in ((), (y[:0],)):
        with pytest.raises(ValueError, match="no rows"):
            DCRegressor().fit([(X[:0], y[:0], *weight)])


def test_short_weights_of_an_array_on_disk(tmp_path):
    X = np.memmap(tmp_path / "x", "f8", "w+", shape=(700_000, 2))
    with pytest.raises(ValueError, match=r"y of shape \(700000,\), and weights of shape \(3,\)"):
        DCRegressor(max_memory=1e7).fit(X, np.ones(len(X)), np.ones(3))


@pytest.mark.parametrize("kind", KINDS)
def test_targets_by_name_need_a_table_that_is_read_in_blocks(rows, made, kind):
    table = KINDS[kind](pd.DataFrame(rows[0], columns=["a", "y"]))
    for ask in (DCRegressor().fit, DCClassifier().fit, made.score):
        with pytest.raises(ValueError, match="y is the name of a column, 'y', and X is in memory"):
            ask(table, "y")


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (lambda y, w: (y * np.nan, w), "y must be finite"),
        (lambda y, w: (y, w * np.nan), "Weights must be finite"),
        (lambda y, w: (y, -w), "Weights must be finite"),
    ],
)
def test_cells_that_are_missing_in_a_later_pass_end_the_fit(rows, spoilt, message):
    X, y = rows
    calls = []

    def give():
        calls.append(1)
        for k, (part, *others) in enumerate(blocks(X, y, np.ones(N))):
            yield part, *(spoilt(*others) if k == 1 and len(calls) > 3 else others)

    model = DCRegressor()
    with pytest.raises(ValueError, match=message):
        model.fit(give)
    assert model.score(X, y) > 0.5  # what was learned is kept


def test_labels_that_are_new_in_a_later_pass_end_the_fit(rows):
    X, y = rows
    calls = []

    def give():
        calls.append(1)
        label = np.where(y > 0.5, "high", "low") if len(calls) < 4 else np.where(y > 0.5, "higher", "low")
        yield from blocks(X, label)

    with pytest.raises(ValueError, match="label 'higher', which no row had at first"):
        DCClassifier().fit(give)


@pytest.mark.parametrize("second", [["a", "b"], np.array(["a", "b"], dtype=object)])
def test_labels_of_several_types_over_blocks(second):
    X = np.arange(2.0)[:, None]
    with pytest.raises(ValueError, match=r"labels of several types, \['int', 'str'\]: make all of them text"):
        DCClassifier().fit(lambda: [(X, np.array([0, 1])), (X, np.asarray(second))])


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_changes_its_type_is_named(rows, kind):
    def give(cells):
        for k, (X, y) in enumerate(blocks(*rows)):
            yield KINDS[kind](pd.DataFrame({"a": X[:, 0], "c": cells[k % len(cells)]})), y

    def draw(cells):
        return reduce(add, (Draw(400)(Block(*each)) for each in give(cells))).rows

    for strange in STRANGE:
        for cells in ([NUMBERS[0], strange], [strange, NUMBERS[0]]):
            with pytest.raises(ValueError, match=r"Column 'c' holds .* in one block and .* in another"):
                DCRegressor().fit(lambda cells=cells: give(cells))
    for number in NUMBERS[1:]:
        for cells in ([NUMBERS[0], number], [number, NUMBERS[0]]):
            assert kind_of(Table.read(draw(cells).X).columns[1], "c")[0] == "number"
    assert draw([["x", "y"] * (SIZE // 2), [None] * SIZE]).X.shape == (400, 2)


def test_names_that_are_numbers_in_another_order(rows):
    X, y = rows
    frame = pd.DataFrame(X)

    def give(later):
        yield from ((part if k == 0 else later(part), t) for k, (part, t) in enumerate(blocks(frame, y)))

    plain = DCRegressor().fit(lambda: blocks(X, y)).predict(X)
    for later in (lambda part: part[[1, 0]], lambda part: part[[1, 0]].rename(columns=str)):
        np.testing.assert_array_equal(DCRegressor().fit(lambda later=later: give(later)).predict(X), plain)


def test_blocks_of_several_packages_are_refused(rows):
    frames = [(k(pd.DataFrame(X, columns=["a", "b"])), y) for k, (X, y) in zip(KINDS.values(), blocks(*rows), strict=1)]
    with pytest.raises(ValueError, match="of one kind: the first is of pandas, a later one of polars"):
        DCRegressor().fit(lambda: frames)


def test_weights_of_some_blocks_alone(rows):
    X, y = rows
    weight = np.where(np.arange(N) < SIZE, 3.0, 1.0)
    some = [(*b, w[: len(b[1])]) if k == 0 else b for k, (b, w) in enumerate(zip(blocks(X, y), [weight] * 3, strict=1))]
    model = DCRegressor().fit(lambda: some)
    assert model.score(lambda: some) == pytest.approx(model.score(X, y, weight), abs=1e-12)
    with pytest.raises(ValueError, match="All weights are zero"):
        DCRegressor().fit(lambda: blocks(X, y, 0 * weight))
    with pytest.raises(ValueError, match="300 targets and weights of shape"):
        DCRegressor().fit(lambda: [(X[:300], y[:300], weight[:2])])


def test_targets_that_a_loss_is_not_for_need_not_be_in_the_sample(rows):
    X, y = rows
    y = np.where(np.arange(N) == 2, -1e-3, np.abs(y))
    with pytest.raises(ValueError, match="the smallest y is -0.001"):
        DCRegressor(loss="poisson").fit(lambda: blocks(X, y))


def test_no_blocks_have_no_predictions(made):
    with pytest.raises(ValueError, match="There are no rows"):
        made.predict(list)


@pytest.mark.parametrize("kind", ["function", "arrays", "dask"])
@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [(3, np.nan, "y must be finite"), (4, -1.0, "Weights must be finite"), (1, np.inf, "infinity .*in column '?b|x1")],
)
def test_the_block_of_a_wrong_cell_is_named(rows, kind, column, cell, message):
    table = np.column_stack([rows[0], rows[0][:, 0], rows[1], np.ones(N)])
    table[[310, 400, 500, 599], column] = cell
    frame = pd.DataFrame(table, columns=list("abcyw"))
    given, where = (blocks(frame[["a", "b", "c"]], frame["y"], frame["w"]),), "block 2"
    if kind == "arrays":
        given = (blocks(table[:, :3], table[:, 3], table[:, 4]),)
    if kind == "dask":
        given = (pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3), "y", "w")
        where = "partition 1"
    with pytest.raises(ValueError, match=rf"({message}).*\(in {where}\)"):
        DCRegressor().fit(*given)


def test_passes_are_counted_and_told(rows):
    X, y = rows
    model = DCRegressor().fit(blocks(X, y))
    assert model.passes_ == (N, 400, 4, 0)
    assert "to a sample of 400 of 900 rows, then in 4 passes over all" in model.summary()
    model.fit(blocks(X, y), monitor=lambda about: not about["comparing"] and about["iteration"] == 1)
    assert model.passes_.made <= 1
    assert "pass over all" in repr(model)
    assert not hasattr(model.fit(X, y), "passes_") and "sample of" not in model.summary()


def test_the_time_of_the_sample_counts(rows):
    def give():
        time.sleep(1.0)
        yield from blocks(*rows)

    model = DCRegressor(max_seconds=1.5).fit(give)
    assert model.model_.seconds > 1.0
    assert model.passes_.made <= 1  # half a second was left, and each waits for a whole one
