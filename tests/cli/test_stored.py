"""Tables that the shell reads block by block: larger than the memory asked for, folders, and what is none."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_shell import run, said
from tests.quick import few_kinds

import pldc
from pldc.cli import commands, stored
from pldc.scale import sources

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from pyarrow import csv, feather, parquet  # noqa: E402

ROWS = 160_000  # with 9 columns 11.5 MB of numbers, more than the least --max-memory


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of two Parquet files, and the same rows as one file of each kind."""
    goal, rng = tmp_path_factory.mktemp("stored"), np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(ROWS, 7)), columns=[f"x{k}" for k in range(7)])
    table["town"] = rng.choice(["Aa", "Bö", None], ROWS)
    table["price"] = np.abs(table.x0) + table.x1 + (table.town == "Bö") + 0.1 * rng.normal(size=ROWS)
    (goal / "parts").mkdir()
    whole = pyarrow.Table.from_pandas(table, preserve_index=False)
    for k in range(2):
        parquet.write_table(whole.slice(k * ROWS // 2, ROWS // 2), goal / "parts" / f"{k}.parquet")
    parquet.write_table(whole, goal / "whole.parquet")
    feather.write_feather(whole, goal / "whole.feather")
    csv.write_csv(whole, goal / "whole.csv")
    parquet.write_table(whole.slice(0, 0), goal / "empty.parquet")
    few = table[:300].assign(kind=np.where(table.price[:300] > 1, "high", "low"))
    few.to_parquet(goal / "few.parquet")
    return goal


@pytest.fixture
def no_memory(monkeypatch):
    """Nothing may be read as a whole."""

    def refuse(path):
        raise AssertionError(f"{path} was read into memory")

    monkeypatch.setattr(commands, "read_table", refuse)


@pytest.mark.usefixtures("no_memory")
def test_a_table_larger_than_the_memory_asked_for(folder, tmp_path, capsys):
    models = {}
    with few_kinds():
        for name in ("parts", "whole.parquet", "whole.feather", "whole.csv"):
            goal = tmp_path / f"{name}.json"
            words = ("fit", folder / name, "--target", "price", "--drop", "x6", "--max-memory", "10MB", "-o", goal)
            told = json.loads(said(capsys, *words, "--json", "--quiet"))
            assert told["rows"] == ROWS and told["columns"] == 7
            models[name] = pldc.load(goal)
    table = sources.opened(folder / "parts").head(500)
    inside = table.select([f"x{k}" for k in range(6)] + ["town"])
    first = models["parts"].predict(inside)
    assert np.corrcoef(first, table["price"].to_numpy())[0, 1] > 0.9
    for model in models.values():
        np.testing.assert_allclose(model.predict(inside), first, rtol=0, atol=1e-6 * np.ptp(first))
    assert models["parts"].model_.target == "price"
    price = sources.opened(folder / "parts").to_table()["price"].to_numpy()
    assert models["parts"].model_.target_range == (price.min(), price.max())  # a sample has not seen both ends


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize("name", ["parts", "whole.parquet", "whole.feather"])
def test_predictions_go_by_in_blocks(folder, tmp_path, capsys, monkeypatch, name):
    goal, asked = tmp_path / "m.json", []
    with few_kinds():
        said(
            capsys,
            "fit",
            folder / "few.parquet",
            "--target",
            "price",
            "--drop",
            "kind",
            "--max-memory",
            "1GB",
            "-o",
            goal,
        )
    model = pldc.load(goal)
    predict = type(model).predict
    monkeypatch.setattr(type(model), "predict", lambda self, X: (asked.append(len(X)), predict(self, X))[1])
    out = tmp_path / "out.csv"
    assert run("predict", goal, folder / name, "--interval", "0.9", "-o", out) == 0
    assert sum(asked) == ROWS and max(asked) <= sources.ROWS and len(asked) > 2
    found, table = pd.read_csv(out), sources.opened(folder / name).to_table().drop(["price"])
    assert list(found.columns) == ["prediction", "low", "high"] and len(found) == ROWS
    np.testing.assert_allclose(found["prediction"], predict(model, table), rtol=1e-12)
    np.testing.assert_allclose(found[["low", "high"]], np.column_stack(model.predict_interval(table, 0.9)), rtol=1e-12)


@pytest.mark.usefixtures("no_memory")
def test_classes(folder, tmp_path, capsys):
    goal = tmp_path / "m.json"
    with few_kinds():
        words = ("fit", folder / "few.parquet", "--target", "kind", "--drop", "price", "--max-memory", "1GB")
        said(capsys, *words, "-o", goal)
    table = sources.opened(folder / "few.parquet").to_table().drop(["price", "kind"])
    lines = said(capsys, "predict", goal, folder / "few.parquet").splitlines()
    assert lines[0] == "prediction,probability of high,probability of low" and len(lines) == 301
    found = [line.split(",")[0] for line in lines[1:]]
    assert found == pldc.load(goal).predict(table).tolist()


def test_tables_that_fit_are_read_whole_and_large_ones_are_not(folder, monkeypatch):
    assert stored.stored(str(folder / "whole.parquet"), asked=False) is None
    assert stored.stored(str(folder / "whole.csv"), asked=False) is None
    monkeypatch.setattr(stored, "MOST_CELLS", 9 * ROWS - 1)
    assert stored.stored(str(folder / "whole.parquet"), asked=False).count_rows() == ROWS
    assert stored.stored(str(folder / "parts"), asked=False).count_rows() == ROWS


def test_what_cannot_be_read_in_blocks(folder, tmp_path, capsys):
    fit = ("--target", "price", "-o", tmp_path / "m.json", "--max-memory")
    (tmp_path / "packed.csv.gz").write_bytes(b"")
    assert "unpacked" in said(capsys, "fit", tmp_path / "packed.csv.gz", *fit, "1GB", code=1)
    assert "unpacked" in said(capsys, "fit", "-", *fit, "1GB", code=1)
    assert "no rows" in said(capsys, "fit", folder / "empty.parquet", *fit, "1GB", code=1)
    words = ("fit", folder / "whole.parquet", "--target", "cost", *fit[2:], "1GB")
    assert "no column 'cost'; it has 'x0'" in said(capsys, *words, code=1)
    assert "max_memory must be" in said(capsys, "fit", folder / "whole.parquet", *fit, "much", code=1)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("no table")
    assert "a.txt is no Parquet file, or is cut off" in said(capsys, "fit", tmp_path / "notes", *fit, "1GB", code=1)
    nowhere = said(capsys, "fit", tmp_path / "nosuch", *fit, "20MB", code=1)
    assert nowhere == f"pldc: There is no file {tmp_path / 'nosuch'}.\n"


def test_what_is_wrong_in_a_folder_is_said_to_its_end(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for k, cells in enumerate(([1.5, 2.5], ["a", "b"])):
        parquet.write_table(pyarrow.table({"c": cells, "y": [1.0, 2.0]}), tmp_path / "parts" / f"{k}.parquet")
    fit = ("fit", "parts", "--target", "y", "-o", tmp_path / "m.json")
    told = said(capsys, *fit, code=1)
    assert "'parts' have cells of different types in column 'c': double in 0.parquet, string in 1.parquet." in told
    (tmp_path / "parts" / "1.parquet").write_bytes((tmp_path / "parts" / "0.parquet").read_bytes()[:-9])
    told = said(capsys, *fit, code=1)
    assert told.endswith(
        "1.parquet is no Parquet file, or is cut off: mend it, or leave it out of the folder, which may hold Parquet "
        "files alone.\n"
    )


def test_the_index_of_pandas_is_no_feature(tmp_path, capsys):
    frame = pd.DataFrame({"x": np.linspace(-1, 1, 300), "y": np.linspace(-1, 1, 300) ** 2})
    frame.set_index(pd.Index(np.arange(300) * 2, name="rank")).to_parquet(tmp_path / "labels.parquet")
    fit = ("fit", tmp_path / "labels.parquet", "--target", "y", "--quiet", "-o", tmp_path / "m.json")
    with few_kinds():
        said(capsys, *fit, "--max-memory", "1GB")
    assert list(pldc.load(tmp_path / "m.json").feature_names_in_) == ["x"]
    assert "no column 'rank'; it has 'x', 'y'" in said(
        capsys, *fit[:3], "rank", *fit[4:], "--max-memory", "1GB", code=1
    )


def test_a_file_of_a_folder_that_lacks_a_column_is_named(folder, tmp_path, capsys):
    (tmp_path / "parts").mkdir()
    few = pd.read_parquet(folder / "few.parquet").drop(columns="kind")
    few.to_parquet(tmp_path / "parts" / "0.parquet")
    fit = ("fit", tmp_path / "parts", "--target", "price", "--quiet", "-o", tmp_path / "m.json")
    with few_kinds():
        said(capsys, *fit)
    few.drop(columns="town").to_parquet(tmp_path / "parts" / "1.parquet")
    for words in (fit, ("predict", tmp_path / "m.json", tmp_path / "parts", "-o", tmp_path / "out.csv")):
        assert "1.parquet lacks the columns ['town']" in said(capsys, *words, code=1)
    assert not (tmp_path / "out.csv").exists()
    with few_kinds():
        said(capsys, *fit, "--drop", "town")


def same_in_blocks(capsys, path, goal, *words):
    """The model of a table in blocks, and the kinds of its columns, which are those of the model in memory."""
    models, predictions = [], []
    for more in ((), ("--max-memory", "1GB")):
        with few_kinds():
            said(capsys, "fit", path, "--target", "y", "--quiet", "-o", goal, *words, *more)
        models.append(pldc.load(goal))
        predictions.append(np.array(said(capsys, "predict", goal, path).splitlines()[1:]))
    if not isinstance(models[0], pldc.DCClassifier):
        predictions = [each.astype(float) for each in predictions]
        spread = 1e-9 * np.ptp(predictions[0])
        np.testing.assert_allclose(predictions[0], predictions[1], rtol=0, atol=spread)
    inside, outside = models
    assert list(inside.feature_names_in_) == list(outside.feature_names_in_)
    kinds = [[column.kind for column in each.model_.columns.columns] for each in models]
    assert kinds[0] == kinds[1]
    return outside, kinds[0]


@pytest.fixture
def plain():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=300), "note": rng.choice(["u", "v"], 300)})
    return table.assign(y=table.x + 2 * (table.note == "u"), k=rng.integers(0, 9, 300))


@pytest.mark.parametrize("how", ["spaces", "times", "semicolons", "tabs", "commas", "mark", "old", "lines", "gaps"])
def test_csv_in_blocks_is_csv_in_memory(plain, tmp_path, capsys, how):
    form, table = {"index": False}, plain
    if how == "spaces":
        table = table.rename(columns={"x": " x ", "note": "note "})
    elif how == "times":
        hours = [f"{k % 24:02d}:30:00" for k in range(300)]
        table = table.assign(t=hours, day=pd.date_range("2020-01-01", periods=300), yes=table.x > 0)
    elif how == "lines":
        table = table.assign(note=table.note + "\n,")
    elif how == "gaps":
        table = table.mask(table.assign(y=1.0, k=1).map(lambda cell: cell == "v")).assign(none=None)
        table["yes"] = pd.Series(table.x > 0, dtype=object).where(table.x.abs() > 0.1)
    more = {"semicolons": {"sep": ";"}, "tabs": {"sep": "\t"}, "commas": {"sep": ";", "decimal": ","}}
    more |= {"mark": {"encoding": "utf-8-sig"}, "old": {"lineterminator": "\r"}, "gaps": {"na_rep": "None"}}
    table.to_csv(tmp_path / "t.csv", **form, **more.get(how, {}))
    _, kinds = same_in_blocks(capsys, tmp_path / "t.csv", tmp_path / "m.json")
    assert kinds[1] == "category" and (how != "times" or kinds[3:] == ["category", "date", "number"])


def test_codes_of_csv_stay_text_and_labels_whole_in_blocks(plain, tmp_path, capsys):
    plain.assign(k="0" + plain.k.astype(str)).to_csv(tmp_path / "t.csv", index=False)
    model, kinds = same_in_blocks(capsys, tmp_path / "t.csv", tmp_path / "m.json", "--categorical", "k")
    assert kinds == ["number", "category", "category"] and set(model.model_.columns.levels(2)) <= {
        f"0{k}" for k in range(9)
    }
    plain.assign(y=(plain.y > 0).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    model, _ = same_in_blocks(capsys, tmp_path / "t.csv", tmp_path / "m.json", "--classes")
    assert model.classes_.tolist() == [0, 1] and model.classes_.dtype.kind == "i"


def test_whole_numbers_that_others_follow(plain, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stored, "TYPED", 100)
    cells = [str(k) for k in range(299)]
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--quiet", "-o", tmp_path / "m.json", "--max-memory", "1GB")
    plain.assign(z=[*cells, "1.5"]).to_csv(tmp_path / "t.csv", index=False)
    same_in_blocks(capsys, tmp_path / "t.csv", tmp_path / "m.json")
    plain.assign(z=[*cells, "many"]).to_csv(tmp_path / "t.csv", index=False)
    assert "invalid value 'many'" in said(capsys, *fit, code=1)
    for names in ('"x\n1",y', "\nx,y"):
        (tmp_path / "t.csv").write_text(names + "\n1,2\n2,3\n")
        assert "must name its columns in the first line" in said(capsys, *fit, code=1)


def test_text_that_begins_late_is_a_category(plain, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stored, "HEAD", 100)
    plain["note"] = plain["note"].where(plain.index >= 100).astype(object)
    plain.to_parquet(tmp_path / "t.parquet")
    _, kinds = same_in_blocks(capsys, tmp_path / "t.parquet", tmp_path / "m.json", "--categorical", "k")
    assert kinds == ["number", "category", "category"]
    plain["note"] = plain["note"].astype("category")
    plain.to_parquet(tmp_path / "t.parquet")
    assert same_in_blocks(capsys, tmp_path / "t.parquet", tmp_path / "m.json", "--categorical", "k")[1] == kinds


def test_rows_without_a_target_are_left_out_block_by_block(folder, tmp_path, capsys):
    table = pd.read_parquet(folder / "few.parquet")
    for target, gap in (("price", np.nan), ("kind", None)):
        gaps = table.assign(**{target: table[target].where(np.arange(300) % 10 > 0, gap)})
        (tmp_path / target).mkdir()
        for k in range(2):
            gaps[k::2].to_parquet(tmp_path / target / f"{k}.parquet")
        words = ("fit", tmp_path / target, "--target", target, "--max-memory", "1GB", "-o", tmp_path / "m.json")
        assert "--drop-missing-target leaves them out" in said(capsys, *words, code=1)
        with few_kinds():
            assert run(*words, "--drop-missing-target") == 0
            _, err = capsys.readouterr()
            assert f"{target}: 30 rows without a target left out\n" in err
            kept = gaps.dropna(subset=[target])
            wanted = (pldc.DCClassifier if target == "kind" else pldc.DCRegressor)()
            wanted.fit(kept.drop(columns=target), kept[target])
        found = pldc.load(tmp_path / "m.json")
        assert np.array_equal(
            found.predict(kept[found.feature_names_in_]), wanted.predict(kept[found.feature_names_in_])
        )
    none = table.assign(price=np.nan)
    none.to_parquet(tmp_path / "none.parquet")
    words = ("fit", tmp_path / "none.parquet", "--target", "price", "--max-memory", "1GB", "-o", tmp_path / "m.json")
    assert "missing in all rows" in said(capsys, *words, "--drop-missing-target", code=1)


def test_predictions_are_written_as_the_ending_says(folder, tmp_path, capsys):
    with few_kinds():
        said(capsys, "fit", folder / "few.parquet", "--target", "price", "--drop", "kind", "-o", tmp_path / "m.json")
    words = ("predict", tmp_path / "m.json", folder / "few.parquet", "--interval", "0.9", "-o")
    for name in ("out.csv", "out.parquet", "out.pq"):
        said(capsys, *words, tmp_path / name)
    texts = pd.read_csv(tmp_path / "out.csv")
    for name in ("out.parquet", "out.pq"):
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / name), texts, rtol=1e-12)
    assert "must end in .csv, .parquet or .pq" in said(capsys, *words, tmp_path / "out.feather", code=1)
    (tmp_path / "other.parquet").write_bytes(b"PAR1")
    words = ("predict", tmp_path / "m.json", tmp_path / "other.parquet", "-o", tmp_path / "out.parquet")
    said(capsys, *words, code=1)
    assert len(pd.read_parquet(tmp_path / "out.parquet")) == 300  # an older file stays
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".parquet", ".parquet", ".pq"]
