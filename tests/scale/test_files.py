"""Files of a folder whose columns are stored in several ways, or that are none; and how often they are opened."""

from datetime import date, datetime

import numpy as np
import pytest

from pldc import DCRegressor
from pldc.scale import files, sources
from pldc.scale.files import opened
from pldc.scale.schemas import common

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

DAY, TIME = date(2020, 1, 2), datetime(2020, 1, 2, 12)
ALIKE = {
    "categories": (pyarrow.array(["a", "b"]).dictionary_encode(), pyarrow.array(["a", "c"]), ["a", "b", "a", "c"]),
    "booleans": (pyarrow.array([True, None]), pyarrow.array([1, 2]), [1, None, 1, 2]),
    "truths": (pyarrow.array([True, False]), pyarrow.array([0.5, 2]), [1.0, 0.0, 0.5, 2.0]),
    "dates": (pyarrow.array([DAY] * 2), pyarrow.array([TIME] * 2), [datetime(2020, 1, 2)] * 2 + [TIME] * 2),
    "units": (
        pyarrow.array([TIME] * 2, pyarrow.timestamp("ms")),
        pyarrow.array([TIME] * 2, pyarrow.timestamp("us")),
        [TIME] * 4,
    ),
    "views": (pyarrow.array(["a", "b"], pyarrow.string_view()), pyarrow.array(["a", "b"]), ["a", "b"] * 2),
    "nothing": (pyarrow.nulls(2), pyarrow.array(["a", "b"]).dictionary_encode(), [None, None, "a", "b"]),
}


def folder(path, *columns):
    path.mkdir()
    for k, cells in enumerate(columns):
        parquet.write_table(pyarrow.table({"c": cells, "y": np.arange(2.0)}), path / f"{k}.parquet")
    return path


@pytest.mark.parametrize("name", ALIKE)
def test_columns_that_are_stored_in_two_ways(tmp_path, name):
    one, other, cells = ALIKE[name]
    assert opened(folder(tmp_path / "there", one, other)).to_table()["c"].to_pylist() == cells
    back = opened(folder(tmp_path / "back", other, one)).to_table()["c"].to_pylist()
    assert back == cells[2:] + cells[:2]


def test_zones_are_those_of_the_first_file_and_no_zone_is_another_clock(tmp_path):
    zones = [pyarrow.array([TIME] * 2, pyarrow.timestamp("us", zone)) for zone in ("Europe/Berlin", "UTC", None)]
    assert opened(folder(tmp_path / "a", *zones[:2])).schema.field("c").type == zones[0].type
    with pytest.raises(ValueError, match="cells of different types"):
        opened(folder(tmp_path / "b", *zones[1:]))


def test_categories_of_all_files_stay_categories(tmp_path):
    cells = pyarrow.array(["a", "b"]).dictionary_encode()
    assert opened(folder(tmp_path / "parts", cells, cells)).schema.field("c").type == cells.type


def test_files_that_differ_are_both_named(tmp_path):
    numbers = pyarrow.array([1.5, 2.5])
    path = folder(tmp_path / "parts", numbers, numbers, pyarrow.array(["a", "b"]))
    message = r"column 'c': double in 0\.parquet, string in 2\.parquet\. Write them alike"
    with pytest.raises(ValueError, match=message):
        DCRegressor().fit(path, "y")


@pytest.mark.parametrize("name", ["a.txt", "z.txt"])
def test_a_file_that_is_no_table_is_named(tmp_path, name):
    path = folder(tmp_path / "parts", pyarrow.array([1.5, 2.5]))
    (path / name).write_text("notes")
    with pytest.raises(
        ValueError, match=rf"cannot be read: {name} is no Parquet file, or is cut off: mend it, or leav"
    ):
        DCRegressor().fit(path, "y")
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="there is no file in it"):
        DCRegressor().fit(tmp_path / "none", "y")
    with pytest.raises(ValueError, match=r"notes\.parquet' cannot be read: it is no Parquet file, or is cut off\."):
        DCRegressor().fit((path / name).rename(tmp_path / "notes.parquet"), "y")


def test_columns_of_a_file_are_looked_at_once(tmp_path, monkeypatch):
    path = folder(tmp_path / "parts", *[pyarrow.array([1.5, 2.5])] * 3)
    seen = []

    def spoilt(path, first, parts):
        found = common(path, first, parts)
        for part in parts:
            seen.append(part.path)
            (tmp_path / "parts" / part.path.rsplit("/")[-1]).unlink()  # whoever looks again finds nothing
        return found

    monkeypatch.setattr(files, "common", spoilt)
    files.refuse_gaps(sources.opened(path), ["c", "y"])
    assert len(seen) == 3


def test_a_parquet_file_that_is_cut_is_not_told_to_be_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": np.random.default_rng(0).normal(size=9000), "y": np.arange(9000.0)}), path)
    dataset = opened(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="cannot be read to its end") as caught:
        list(files.batches(dataset, ["a"], 1000))
    assert "write Parquet" not in str(caught.value) and "changed since" in str(caught.value)


def test_files_of_arrow_and_two_columns_of_one_name(tmp_path):
    feather.write_feather(pyarrow.table({"a": [1.0, 2.0], "y": [1, 2]}), tmp_path / "t.feather")
    assert opened(tmp_path / "t.feather").count_rows() == 2
    twice = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 2, names=["a", "a"])
    parquet.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has several columns of one name"):
        opened(tmp_path / "t.parquet")


def test_lists_of_files_are_one_table(tmp_path):
    path = folder(tmp_path / "t", np.arange(2.0), np.arange(2, 4.0))
    paths = [path / "1.parquet", str(path / "0.parquet")]
    assert opened(paths).to_table()["c"].to_pylist() == [2, 3, 0, 1]
    model = DCRegressor(n_pieces=1).fit(paths, "y")
    in_order = pyarrow.table({"c": [2.0, 3.0, 0.0, 1.0]})
    np.testing.assert_array_equal(model.predict(paths), model.predict(in_order))
    assert model.score(paths, "y") == model.score(path, "y")
    (tmp_path / "t.csv").write_text("c,y\n1,2\n")
    for wrong, message in (
        ([paths[0], tmp_path / "t.csv"], r"must hold one kind; these end in '.csv', '.parquet'"),
        ([path], "is a folder: give it alone"),
        ([paths[0], "none.parquet"], "X is 'none.parquet', and there is no such file"),
    ):
        with pytest.raises(ValueError, match=message):
            DCRegressor().fit(wrong, "y")


def test_what_may_be_read_is_said_of_other_files(tmp_path):
    for name, text, message in (
        ("semicolons.csv", "c;y\n1;2\n", "y must name .* commas between cells"),
        ("latin.csv", "c,y\na,1\n\xe9,2\n", r"columns \['c'\] are no text. CSV files must .* UTF-8"),
        ("t.csv.gz", "c,y\n1,2\n", "Files are read as Parquet, unless their names end in"),
    ):
        (tmp_path / name).write_text(text, encoding="latin1")
        with pytest.raises(ValueError, match=message):
            DCRegressor().fit(tmp_path / name, "y")
    with pytest.raises(ValueError, match="leave it out of the folder, which may hold Parquet files alone"):
        opened(tmp_path)


def test_the_file_of_a_wrong_cell_or_a_damaged_page_is_named(tmp_path):
    path = folder(tmp_path / "t", *(np.random.default_rng(k).normal(size=2) for k in range(3)))
    parquet.write_table(pyarrow.table({"c": [1.0, 2.0], "y": [np.nan, 1.0]}), path / "1.parquet")
    with pytest.raises(ValueError, match=r"y must be finite.* \(in .*1.parquet\)"):
        DCRegressor().fit(path, "y")
    parquet.write_table(pyarrow.table({"c": [1.0, 2.0], "y": [0.0, 1.0]}), path / "1.parquet")
    start = parquet.ParquetFile(path / "1.parquet").metadata.row_group(0).column(0).data_page_offset
    held = bytearray((path / "1.parquet").read_bytes())
    held[start : start + 30] = b"\xff" * 30
    (path / "1.parquet").write_bytes(held)
    with pytest.raises(ValueError, match=r"cannot be read to its end, in .*1.parquet: "):
        DCRegressor().fit(path, "y")
