"""What PostgreSQL does otherwise than SQLite and DuckDB: types, settings, limits."""

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.export.conftest import connected
from tests.export.fits import of_numbers
from tests.export.test_columns import of_levels, wanted_of
from tests.export.test_sql_cells import BY_THREE, NUMBERS, levels_of, of_column
from tests.quick import few_kinds

from pldc import PLDC, DCClassifier, DCRegressor, MaxAffine, Model
from pldc.columns.features import DatePart, Missing, Number
from pldc.export import to_sql

REAL = "DOUBLE PRECISION"


# ---------------------------------------------------------------- levels


@pytest.mark.parametrize("numbers", BY_THREE)
def test_levels_that_are_numbers(numbers, postgresql):
    model = of_levels(levels_of(numbers))
    wanted = wanted_of(model, [*NUMBERS, None])
    assert postgresql.of_cells(model, REAL, [*NUMBERS, None]) == wanted
    assert postgresql.of_cells(model, "NUMERIC", [*map(repr, NUMBERS), None]) == wanted
    texts = [*levels_of(NUMBERS), "1e16", "0.30", None]
    assert postgresql.of_cells(model, "TEXT", texts) == wanted_of(model, texts)
    strange = postgresql.of_cells(model, REAL, [np.nan, np.inf, None])
    assert strange == [wanted[-1], wanted_of(model, ["unknown"])[0], wanted[-1]]


def test_levels_that_are_numbers_of_single_precision(postgresql):
    cells = [float(np.float32(number)) for number in (0.1, 1 / 3, 7.0, 2.5)]
    model = of_levels(levels_of(cells[:3]))
    assert postgresql.of_cells(model, "REAL", [*cells, np.nan, None]) == wanted_of(model, [*cells, None, None])


STRANGE = ["it's", 'a "b"', "back\\slash", "\\' OR 1=1 --", "\\\\", "50%", "%s %(x)s", "$1 $$ $tag$", "größe 漢字 😀"]
STRANGE += [
    " lead",
    "trail ",
    "new\nline",
    "tab\t",
    "",
    "NULL",
    "NaN",
    ":x",
    "{0}",
    "/* */ ;",
    "\\n",
    "E'\\''",
    "ends \\",
]


@pytest.mark.parametrize("standard", ["on", "off"])
def test_texts_of_any_letters(standard, postgresql):
    """With the setting off, a backslash begins an escape in plain quotes."""
    postgresql.base.execute(f"SET standard_conforming_strings = {standard}")
    postgresql.base.execute("SET escape_string_warning = off")
    cells = [*STRANGE, "other", None]
    for k in range(0, len(STRANGE) - 2, 3):
        model = of_levels(STRANGE[k : k + 3])
        assert postgresql.of_cells(model, "TEXT", cells) == wanted_of(model, cells)
    labels = np.array(STRANGE)
    scores = tuple(PLDC.affine([1.0 if k == j else 0.0 for j in range(len(labels))]) for k in range(len(labels)))
    known = Model("program", scores, np.zeros(len(labels)), np.ones(len(labels)), classes=labels)
    postgresql.fill("t", {f"x{k}": REAL for k in range(len(labels))}, np.eye(len(labels)).tolist())
    assert [row[1] for row in postgresql.ask(known, "t")] == STRANGE


def test_types_of_text(postgresql):
    """A CHAR(n) leaves a database with its blanks, which training saw; a collation may take two texts for one."""
    model = of_levels(["red", "blue ", "1"])
    cells = ["red", "blue", "1", "RED", None]
    for kind in ("TEXT", "VARCHAR(9)", 'TEXT COLLATE "C"', "TEXT COLLATE pg_temp.any_case"):
        postgresql.base.execute(
            "CREATE COLLATION IF NOT EXISTS pg_temp.any_case "
            "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        assert postgresql.of_cells(model, kind, cells) == wanted_of(model, cells)
    padded = [None if cell is None else f"{cell:5}" for cell in cells]
    assert postgresql.of_cells(model, "CHAR(5)", cells) == wanted_of(model, padded)
    postgresql.base.execute("CREATE TYPE pg_temp.colour AS ENUM ('red', 'blue ', '1', 'x')")
    cells = ["red", "blue ", "1", "x", None]
    assert postgresql.of_cells(model, "pg_temp.colour", cells) == wanted_of(model, cells)


def test_types_that_are_domains(postgresql):
    postgresql.base.execute("CREATE DOMAIN pg_temp.flag AS BOOLEAN")
    postgresql.base.execute("CREATE DOMAIN pg_temp.rate AS DOUBLE PRECISION")
    model, cells = of_levels(["True", "False", "x"]), [True, False, None]
    assert postgresql.of_cells(model, "pg_temp.flag", cells) == wanted_of(model, cells)
    model, cells = of_levels(["0.1", "0.3", "1e-05"]), [0.1, 0.1 + 0.2, 0.3, 1e-5, None]
    assert postgresql.of_cells(model, "pg_temp.rate", cells) == wanted_of(model, cells)


def test_numbers_are_floating_point_numbers(postgresql):
    """Constants are decimals there: sums of nothing else would be, too."""
    model = of_levels(["a", "b", "c"])
    assert {type(value) for value in postgresql.of_cells(model, "TEXT", ["a", "x", None])} == {float}
    scores = (PLDC.affine([0.0]), PLDC.affine([1.0]))
    known = Model("program", scores, np.zeros(1), np.ones(1), classes=np.array([0.5, 1e22]), temperature=1.0)
    postgresql.fill("t", {"x0": REAL}, [(2.0,), (-2.0,)])
    found = postgresql.ask(known, "t")
    assert [row[1] for row in found] == [1e22, 0.5]
    assert {type(value) for row in found for value in row[1:]} == {float}
    np.testing.assert_allclose([row[4:] for row in found], known.probabilities([[2.0], [-2.0]]), rtol=1e-12)


# ---------------------------------------------------------------- numbers


def test_booleans_that_are_numbers(postgresql):
    """The database has no cast from BOOLEAN to DOUBLE PRECISION."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sold": rng.random(80) < 0.4, "size": rng.uniform(0, 9, 80)})
    y = np.abs(table["size"] - 4) * (1 + table["sold"])
    gaps = table.assign(sold=table["sold"].astype(object).where(rng.random(80) < 0.8, None))
    with few_kinds():
        models = [(DCRegressor().fit(seen, y), seen) for seen in (table, gaps)]
    for model, seen in models:
        wanted = model.predict(seen)
        for kind in ("BOOLEAN", "INTEGER", REAL, "REAL", "NUMERIC"):
            cells = seen["sold"].tolist()
            if kind != "BOOLEAN":
                cells = [None if cell is None else int(cell) for cell in cells]
            postgresql.base.execute("DROP TABLE IF EXISTS t")
            postgresql.fill("t", {"sold": kind, "size": REAL}, zip(cells, table["size"].tolist(), strict=True))
            np.testing.assert_allclose([row[1] for row in postgresql.ask(model, "t")], wanted, rtol=1e-9)


def test_booleans_where_training_saw_numbers(postgresql):
    """They must be cast in a view: the statement reads numbers as they are, and not by their text."""
    postgresql.fill("t", {"x0": "BOOLEAN", "x1": REAL}, [(True, 2.0), (False, 3.0), (None, 4.0)])
    postgresql.base.execute("CREATE TEMPORARY VIEW v AS SELECT id, CAST(x0 AS INTEGER) AS x0, x1 FROM t")
    model = of_numbers(PLDC.affine([10.0, 1.0]))
    assert [row[1] for row in postgresql.ask(model, "v")] == [12.0, 3.0, None]
    assert [row[1] for row in postgresql.ask(replace(model, booleans=(0,)), "t")] == [12.0, 3.0, None]
    with pytest.raises(Exception, match="cannot cast type boolean to double precision"):
        postgresql.ask(model, "t")


@pytest.mark.parametrize("digits", [1, 0])
def test_numbers_are_read_to_the_last_bit(digits, postgresql):
    """Far from the origin a text of 15 digits has no digits left."""
    postgresql.base.execute(f"SET extra_float_digits = {digits}")
    cells = [1e12 + 0.123456, 1e12 + 1 / 3, 1e12, None]
    for fill in (np.nan, 0.0, 0.5, 1.0, 1e12):
        model = replace(of_column("number", (Number(0, fill),)), center=np.array([1e12]))
        model = replace(model, functions=(PLDC.affine([1.0], -1e12),), limits=(-np.inf, np.inf))
        *found, missing = postgresql.of_cells(model, REAL, cells)
        assert found == [cell - 1e12 for cell in cells[:3]]
        assert missing == (None if np.isnan(fill) else fill - 1e12)


@pytest.mark.parametrize("kind", ["DOUBLE PRECISION", "REAL", "NUMERIC", "TEXT"])
@pytest.mark.parametrize("booleans", [(), (0,)])
@pytest.mark.parametrize("fill", [0.5, 50.0])
def test_numbers_of_any_type(kind, booleans, fill, postgresql):
    """Those of a column that held booleans in training are read another way."""
    model = replace(of_column("number", (Number(0, fill), Missing(0))), booleans=booleans)
    cells = [1.0, 0.0, 0.25, -3.0, 123456.75, np.nan, None]
    assert postgresql.of_cells(model, kind, cells) == [1.0, 0.0, 0.25, -3.0, 123456.75, fill + 1.0, fill + 1.0]
    third = float(np.float32(1 / 3)) if kind == "REAL" else 1 / 3
    assert postgresql.of_cells(model, kind, [1 / 3, np.inf, -np.inf]) == [third, None, None]


def test_cells_without_a_number(postgresql):
    model = of_numbers(PLDC.affine([1.0, 2.0]))
    postgresql.fill("t", {"x0": REAL, "x1": "INTEGER"}, [(1.0, 2), (None, 2), (np.nan, 2), (1.0, None)])
    assert [row[1] for row in postgresql.ask(model, "t")] == [5.0, None, None, None]


# ---------------------------------------------------------------- dates

MOMENTS = ["2022-01-01", "2022-01-01 00:01:01.5", "1066-10-14 09:00", "2262-05-01 01:02:03.456789", "0001-01-01", None]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATE", "TEXT", "TIMESTAMPTZ", "TIMESTAMP(0)"])
def test_dates_and_time_stamps(kind, postgresql):
    """Time stamps with a zone are read on the clock of the session."""
    model = of_column(
        "date", (DatePart(0, 0.5), DatePart(0, 0.25, "sin", 7.0), DatePart(0, 0.1, "cos", 1.0), Missing(0))
    )
    postgresql.base.execute("SET TIME ZONE 'Asia/Kolkata'")
    unit = {"DATE": "D", "TIMESTAMP(0)": "s"}.get(kind, "us")
    cells = MOMENTS if kind != "TIMESTAMP(0)" else [cell and cell.split(".")[0] for cell in MOMENTS]
    days = np.array(["NaT" if cell is None else cell for cell in cells], dtype="datetime64[us]").astype(f"M8[{unit}]")
    wanted = model.predict(model.columns.apply({"c": days.astype("M8[us]")}))
    np.testing.assert_allclose(postgresql.of_cells(model, kind, cells), wanted, rtol=1e-9)


def test_dates_of_other_zones_and_without_end(postgresql):
    model = of_column("date", (DatePart(0, 0.5), DatePart(0, 0.25, "sin", 7.0)))
    postgresql.base.execute("SET TIME ZONE 'Asia/Kolkata'")
    [there] = postgresql.of_cells(model, "TIMESTAMPTZ", ["2022-01-01 00:00+00"])
    [here] = postgresql.of_cells(model, "TIMESTAMP", ["2022-01-01 05:30"])
    assert there == here
    assert postgresql.of_cells(model, "TIMESTAMP", ["infinity", "-infinity", None]) == [None, None, 0.75]


# ---------------------------------------------------------------- names and limits


@pytest.mark.parametrize("table", ["cells", "Cells", "s0", "S1", "best", "step0", "STEPcells", "step_0", "source_row"])
def test_tables_called_as_a_step_of_the_statement_might_be(table, postgresql):
    postgresql.fill(table, {"x0": REAL}, [(1.0,), (3.0,)])
    assert [row[1] for row in postgresql.ask(abs(PLDC.affine([1.0], -2.5)), table)] == [1.5, 0.5]


def test_names_of_columns(postgresql):
    names = ["a", "A", "50% {0}", 'it\'s "x"', "back\\slash", "größe", "$1", "select", "ö" * 31 + "x", "y" * 80]
    model = Model("program", (PLDC.affine(np.ones(10)),), np.zeros(10), np.ones(10), feature_names=tuple(names))
    postgresql.fill("t", dict.fromkeys(names, REAL), [[2.0**k for k in range(10)]])
    assert postgresql.ask(model, "t") == [(0, 1023.0)]


def test_a_view_and_a_table_of_a_schema(postgresql):
    model, cells = of_levels(["True", "0.1", "x"]), [True, False, None]
    wanted = wanted_of(model, cells)
    assert postgresql.of_cells(model, "BOOLEAN", cells) == wanted
    statement = to_sql(model, ("pg_temp", "cells"), "postgresql", ["id", "ctid"])
    postgresql.base.execute(f"CREATE TEMPORARY VIEW answers AS {statement}")
    assert [row[0] for row in postgresql.base.execute("SELECT prediction FROM answers ORDER BY id")] == wanted


@pytest.fixture(scope="module")
def large():
    """Default fits of 400 rows of eight columns, of a regression and of classes; and rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.1 * rng.standard_normal(400)
    models = DCRegressor().fit(X, y), DCClassifier().fit(X, np.digitize(y, [0.0, 1.0]))
    return *models, rng.standard_normal((1000, 8))


def test_default_fits_are_quick_and_need_little_of_the_stack(large, postgresql):
    regression, classes, X = large
    postgresql.base.execute("SET max_stack_depth = '500kB'")
    postgresql.base.execute("SET statement_timeout = '20s'")
    postgresql.fill("t", {f"x{k}": REAL for k in range(8)}, X.tolist())
    found = [row[1] for row in postgresql.ask(regression, "t")]
    np.testing.assert_allclose(found, regression.predict(X), rtol=1e-9, atol=1e-9)
    found = postgresql.ask(classes, "t")
    assert [row[1] for row in found] == classes.predict(X).tolist()
    np.testing.assert_allclose([row[5:] for row in found], classes.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("pieces", "features"), [(2, 1100), (3000, 2), (250, 40)])
def test_many_features_or_pieces(pieces, features, postgresql):
    """Rows of a table have 8 kB: so many doubles have no room there, single floats have."""
    rng = np.random.default_rng(0)
    parts = [MaxAffine(rng.standard_normal((k, features)), rng.standard_normal(k)) for k in (pieces, 1)]
    f, X = PLDC(*parts), rng.standard_normal((3, features)).astype(np.float32).astype(float)
    postgresql.fill("t", {f"x{k}": "REAL" for k in range(features)}, X.tolist())
    np.testing.assert_allclose([row[1] for row in postgresql.ask(f, "t")], f(X), rtol=1e-9)


# ---------------------------------------------------------------- the server of the tests


def test_a_database_that_is_named_needs_psycopg(monkeypatch):
    """A skipped test would look like one that passed."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(pytest.fail.Exception, match="psycopg is not installed"):
        connected()


@pytest.mark.parametrize("whole", [False, True])
def test_the_folder_of_the_server_may_have_blanks_and_be_relative(whole, postgresql):
    script = Path(__file__).parents[2] / ".ci/postgresql"
    place = Path(tempfile.mkdtemp(dir="/tmp", prefix="pldc sql "))  # paths of sockets must be short
    place.chmod(0o755)
    folder = place / "in here"
    folder.mkdir()
    try:
        given = str(folder) if whole else folder.name
        started = subprocess.run([script, "start", given], cwd=place, capture_output=True, text=True)
        if started.returncode == 3:
            pytest.skip("PostgreSQL is on another machine")
        assert started.returncode == 0, started.stderr
        own = type(postgresql.base).connect(host=str(folder), port=5432, user="pldc", dbname="postgres")
        assert own.execute("SELECT 1").fetchall() == [(1,)]
        own.close()
    finally:
        subprocess.run([script, "stop", given], cwd=place, check=True)
        assert not folder.exists()
        place.rmdir()
