"""What functions give, and give wrongly: iterators, other types, other labels, other cells in a later pass."""

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


def test_blocks_without_a_function_are_refused(rows, made):
    X, y = rows
    for wrong in (iter(blocks(X, y)), (block for block in blocks(X, y)), blocks(X, y), tuple(blocks(X, y))):
        for ask in (DCRegressor().fit, lambda X: DCClassifier().fit(X, None), made.predict):
            with pytest.raises(TypeError, match="give a function that returns blocks"):
                ask(wrong)
    assert made.predict([(1, 2), (3, 4)]).shape == (2,)  # rows may be tuples


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


NUMBERS = [
    np.linspace(0, 1, SIZE),
    np.arange(SIZE),
    np.arange(SIZE) % 2 == 0,
    pd.array([*range(SIZE - 1), None], dtype="Int64"),
]
STRANGE = [["x"] * SIZE, pd.date_range("2020-01-01", periods=SIZE), pd.Categorical(["1"] * SIZE)]
KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "arrow": pyarrow.Table.from_pandas}


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
