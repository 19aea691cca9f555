"""Means of the target in the levels of categories: of all rows, exact in any order, and blind to a row's own target."""

import functools
import operator

import numpy as np
import pytest
from joblib import Parallel, delayed
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor
from pldc.columns.cells import Table, cells_as
from pldc.columns.features import Column
from pldc.columns.levels import LevelSums, codes_of, level_means
from pldc.estimators.blocks import Indicators, Reading
from pldc.scale import Block, Blocks
from pldc.scale.levels import FRESH, PARTS, Apart, CountLevels, Counts, Parts, hash_of, part_of_rows
from pldc.scale.targets import keys_of

pd = pytest.importorskip("pandas")

N, SAMPLE = 6000, 600


@pytest.fixture(scope="module")
def rows():
    """Rows of a column of 150 levels that the target depends on, with gaps, and of one that says nothing."""
    rng = np.random.default_rng(0)
    code, effect = rng.integers(0, 150, N), rng.standard_normal(150)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, N), "code": np.char.add("k", code.astype(str)).astype(object)})
    X.loc[rng.uniform(size=N) < 0.05, "code"] = None
    y = np.where(X["code"].isna(), 0.5, effect[code]) + X["a"].to_numpy() + 0.3 * rng.standard_normal(N)
    return X, y


def cells_of(X):
    return cells_as(Table.read(X).columns[1], "code", "category")


def work(levels=(), room=1000, read=None, which=None, center=(0.2,), scale=(1.3,), unit=1.0):
    column = {1: Column("code", "category")}
    targets = Indicators(read or Reading(), which)
    return CountLevels(column, {1: list(levels)}, targets, np.array(center), np.array(scale), unit, room)


def counted(count, X, y, weight=None, size=700):
    weight = np.ones(len(y)) if weight is None else weight
    cuts = range(0, len(y), size)
    blocks = [Block(X.iloc[k : k + size], y[k : k + size], weight[k : k + size]) for k in cuts]
    return count.sums(functools.reduce(operator.add, map(count, blocks)), None)[1]


@pytest.mark.parametrize("known", [0, 40, 150])
def test_means_are_those_of_all_rows_and_of_the_other_parts(rows, known):
    X, y = rows
    levels = sorted(set(X["code"].dropna()))
    sums = counted(work(levels[:known]), X, y)
    assert sums.levels == levels
    codes, part = codes_of(cells_of(X), levels), part_of_rows(keys_of(Block(X, y), False))
    assert set(part) == set(range(PARTS)) and np.bincount(part).min() > 0.9 * N / PARTS
    wanted = level_means(codes, np.arange(N), y[:, None], np.ones(N), len(levels))
    np.testing.assert_allclose(sums.everywhere, wanted, atol=1e-6)
    for p in range(PARTS):
        there = np.flatnonzero(part != p)
        apart = level_means(codes[there], there, y[:, None], np.ones(len(there)), len(levels), wanted[-1])
        np.testing.assert_allclose(sums.apart[p], apart, atol=1e-6)
    found = Apart.of(sums)(cells_of(X), part)
    np.testing.assert_array_equal(found, sums.apart[part, codes])
    assert Apart.of(sums)(np.array(["new", None], dtype=object), np.array([2, 3])).tolist() == [
        sums.apart[2, -1].tolist(),
        sums.apart[3, -2].tolist(),
    ]


def test_weights_are_numbers_of_rows_or_parts_of_them(rows):
    X, y = rows
    weight = np.random.default_rng(1).integers(0, 4, N) + 0.0
    levels = sorted(set(X["code"][weight > 0].dropna()))
    codes = codes_of(cells_of(X), levels)
    wanted = level_means(codes, np.arange(N), y[:, None], weight, len(levels))
    np.testing.assert_allclose(counted(work(unit=1.5), X, y, weight).everywhere, wanted, atol=1e-6)
    count = work(unit=weight.mean() / 8)
    blocks = Blocks(lambda: [Block(X, y, weight / 8)])
    found = count.sums(blocks.sum(count), int((weight > 0).sum()))[1].everywhere
    alike = level_means(codes, np.arange(N), y[:, None], weight * (weight > 0).sum() / weight.sum(), len(levels))
    np.testing.assert_allclose(found, alike, atol=1e-6)


@pytest.mark.parametrize("room", [1000, 60])
def test_sums_are_the_same_to_the_last_bit_in_any_order(rows, room):
    X, y = rows
    levels = sorted(set(X["code"].dropna()))[::15]
    whole = counted(work(levels, room), X, y, size=N)
    turned = np.random.default_rng(2).permutation(N)
    for size in (17, 1000):
        other = counted(work(levels, room), X.iloc[turned], y[turned], size=size)
        assert other.levels == whole.levels
        for name in ("mass", "first", "second"):
            assert getattr(other, name).tobytes() == getattr(whole, name).tobytes()
    assert whole.mass.sum() == N


def test_beyond_the_room_levels_of_the_sample_and_those_with_low_hashes_are_kept(rows):
    X, y = rows
    every = sorted(set(X["code"].dropna()))
    known = every[::15]
    others = sorted(set(every) - set(known), key=hash_of)
    sums = counted(work(known, 60), X, y)
    assert set(sums.levels) == {*known, *others[:60]}
    dropped = X["code"].isin(others[60:]).to_numpy()
    assert sums.mass[-1].sum() == dropped.sum() > 0
    all_of_them = counted(work(known), X, y)
    at = [all_of_them.levels.index(level) for level in sums.levels]
    np.testing.assert_array_equal(sums.mass[:-2], all_of_them.mass[at])
    np.testing.assert_allclose(sums.everywhere[-1], all_of_them.everywhere[-1], atol=1e-9)  # the mean of all rows


def test_counts_stay_small_while_they_are_added():
    empty = (np.zeros(0, dtype=np.intp), np.zeros((0, PARTS, 3)))
    pieces = [Counts(50, (empty,), (([f"n{k}"], np.ones((1, PARTS, 3))),)) for k in range(2000)]
    total = pieces[0]
    for each in pieces[1:]:
        total = total + each
        assert sum(len(names) for names, _ in total.named) <= 50 + FRESH and len(total.named) <= 65
    assert total.merged().merged().named[0][0] == total.merged().named[0][0]
    assert sum(sums.sum() for _, sums in total.merged().known + total.merged().named) == 2000 * PARTS * 3


# ---------------------------------------------------------------- fits


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", SAMPLE)
        patch.setattr("pldc.estimators.sources.MOST", SAMPLE)
        patch.setattr("pldc.compact.polish.MORE_PASSES", 6)
        yield


def blocks_of(X, y, size=1000):
    return [(X.iloc[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]


def rare(levels=2500, n=N, seed=0):
    """Return rows with many levels of few rows each, which the target depends on, and fresh ones."""
    rng, effect = np.random.default_rng(seed), np.random.default_rng(9).standard_normal(levels)

    def draw():
        code = rng.integers(0, levels, n)
        X = pd.DataFrame({"a": rng.uniform(-1, 1, n), "code": np.char.add("k", code.astype(str)).astype(object)})
        return X, effect[code] + X["a"].to_numpy() + 0.2 * rng.standard_normal(n)

    return draw(), draw()


def test_levels_that_the_sample_lacks_are_learned_and_the_fit_is_as_good_as_in_memory():
    (X, y), (fresh, truth) = rare()
    model = DCRegressor().fit(blocks_of(X, y))
    assert model.passes_[:2] == (N, SAMPLE)
    levels = set(model.model_.columns.levels(1))
    assert levels == set(X["code"]) and len(levels) > 2 * SAMPLE
    inside = DCRegressor().fit(X, y).score(fresh, truth)
    assert model.score(fresh, truth) > inside - 0.03 and inside > 0.4


def test_a_row_does_not_see_its_own_target(monkeypatch):
    """A column of noise with a few rows a level: who sees the own target follows it."""
    (X, _), (fresh, _) = rare(levels=N // 6)
    noise = np.random.default_rng(5).standard_normal(N)
    model = DCRegressor().fit(blocks_of(X, noise))
    assert np.std(model.predict(X)) < 0.2 and np.std(model.predict(fresh)) < 0.2
    seeing = property(lambda sums: np.repeat(level_means_of(sums)[None], PARTS, axis=0))
    monkeypatch.setattr(LevelSums, "apart", seeing)
    monkeypatch.setattr(LevelSums, "everywhere", property(level_means_of))
    model = DCRegressor().fit(blocks_of(X, noise))
    assert np.std(model.predict(X)) > 0.3  # what it would look like


def level_means_of(sums):
    """Means of levels as they are, drawn nowhere."""
    mass = sums.mass.sum(axis=1)[:, None]
    return sums.center + sums.scale * np.divide(sums.first.sum(axis=1), mass, out=np.zeros_like(mass), where=mass > 0)


def test_blocks_of_any_size_in_any_store_give_the_same_function(monkeypatch):
    (X, y), (fresh, _) = rare(400)
    fits = [DCRegressor().fit(blocks_of(X, y, size)) for size in (1000, 333)]
    order = np.random.default_rng(3).permutation(N)
    fits.append(DCRegressor().fit(blocks_of(X.iloc[order], y[order])))

    class Processes:
        def __init__(self, blocks):
            self.blocks = blocks

        def sum(self, work):
            return functools.reduce(operator.add, Parallel(2)(delayed(work)(block) for block in self.blocks))

    monkeypatch.setattr("pldc.estimators.sources.shards_of", lambda X, *_: Processes([Block(b.X, b.y) for b in X()]))
    fits.append(DCRegressor().fit(blocks_of(X, y)))
    for other in fits[1:]:
        assert other.model_.columns == fits[0].model_.columns
        assert np.abs(other.predict(fresh) - fits[0].predict(fresh)).max() < 1e-6 * np.ptp(y)


def test_dask_gives_the_same_function():
    dd = pytest.importorskip("dask.dataframe")
    (X, y), (fresh, _) = rare(400)
    one = DCRegressor().fit(blocks_of(X, y))
    other = DCRegressor().fit(dd.from_pandas(X.assign(y=y), npartitions=5), "y")
    assert other.model_.columns == one.model_.columns
    assert np.abs(other.predict(fresh) - one.predict(fresh)).max() < 1e-6 * np.ptp(y)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("levels", [60, 600])
def test_rows_measured_again_and_again_do_not_tell_their_targets(blocks, levels):
    """One column of categories, and classes: of equal rows in one part, the others lack just their class."""
    rng, n = np.random.default_rng(0), 9000
    chance = rng.uniform(0.1, 0.9, levels)
    code = rng.integers(0, levels, n)
    X = pd.DataFrame({"code": np.char.add("k", code.astype(str)).astype(object)})
    y = (rng.uniform(size=n) < chance[code]).astype(int)
    model = DCClassifier().fit(blocks_of(X, y) if blocks else X, None if blocks else y)
    told = np.corrcoef(model.predict_proba(X)[:, 1], chance[code])[0, 1]
    assert told > (0.95 if levels == 60 else 0.7)
    numbers = DCRegressor().fit(blocks_of(X, y + 0.0) if blocks else X, None if blocks else y + 0.0)
    assert np.corrcoef(numbers.predict(X), chance[code])[0, 1] > (0.95 if levels == 60 else 0.7)


def test_frequent_rows_see_the_statistics_of_all_rows():
    key = np.arange(10, dtype=np.uint64)
    some = Parts(False, np.array([3, 7], dtype=np.uint64))
    assert some(key).tolist() == [0, 1, 2, PARTS, 4, 0, 1, PARTS, 3, 4]
    assert Parts(True, key[:0])(key).tolist() == [PARTS] * 10


def test_small_targets_have_statistics():
    (X, y), (fresh, truth) = rare(100)
    for size in (1e-200, 1e150):
        assert DCRegressor().fit(blocks_of(X, y * size)).score(fresh, truth * size) > 0.7


@pytest.mark.parametrize("m", [2, 3])
def test_shares_of_classes_are_those_of_all_rows(m):
    (X, y), (fresh, truth) = rare(300)
    cuts = np.quantile(y, np.arange(1, m) / m)
    names = np.array(["low", "middle", "high"], dtype=object)
    label, wanted = names[np.digitize(y, cuts)], names[np.digitize(truth, cuts)]
    model = DCClassifier(class_weight={"low": 2.0}).fit(blocks_of(X, label))
    features = [f for f in model.model_.columns.features if f.kind == "statistic"]
    assert len(features) == (1 if m == 2 else 3)
    codes, weight = codes_of(cells_of(X), model.model_.columns.levels(1)), 1.0 + (label == "low")
    for feature in features:
        about = (label == feature.about.removeprefix("share of ")) + 0.0
        means = level_means(codes, np.arange(N), about[:, None], weight, len(feature.table))[:, 0]
        np.testing.assert_allclose([share for _, share in feature.table], means[:-2], atol=1e-5)
    inside = DCClassifier(class_weight={"low": 2.0}).fit(X, label).score(fresh, wanted)
    assert model.score(fresh, wanted) > inside - 0.03 and inside > 0.5


def test_a_table_without_many_levels_is_not_read_once_more():
    X = pd.DataFrame({"a": np.arange(N) / N, "kind": np.array(["p", "q"])[np.arange(N) % 2]})
    calls = []

    def give():
        calls.append(None)
        yield from blocks_of(X, np.sin(5 * X["a"].to_numpy()))

    model = DCRegressor().fit(give)
    few = len(calls)
    assert few == 1 + model.passes_.made + (model.passes_.held > 0)
    calls.clear()
    X["kind"] = np.char.add("k", (np.arange(N) % 40).astype(str)).astype(object)
    assert DCRegressor().fit(give).passes_.made == few - 1 and len(calls) == few + 1


def test_no_warning_of_keys_for_levels_that_only_the_other_rows_have(recwarn):
    (X, y), _ = rare(1100)
    DCRegressor().fit(blocks_of(X, y))
    assert not [each for each in recwarn if "different levels" in str(each.message)]
    with pytest.warns(UserWarning, match=f"with {SAMPLE} different levels in {SAMPLE} rows"):
        DCRegressor().fit(blocks_of(X.assign(code=np.char.add("k", np.arange(N).astype(str)).astype(object)), y))
