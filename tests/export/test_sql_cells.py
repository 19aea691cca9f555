"""Cells as databases hold them: levels that are numbers, texts among numbers, dates, names."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from tests.export.test_columns import of_levels, wanted_of

from pldc import PLDC, DCRegressor, Model
from pldc.columns.encoding import Encoding
from pldc.columns.features import Column, DatePart, Missing, Number
from pldc.export import to_sql

NUMBERS = [1 / 3, 0.1 + 0.2, 0.3, 1e-5, 1e-4, 1e16, 1e22, -0.0, 0.1, 1e-320, 123456.789, 5e300, 2.5]
BY_THREE = [NUMBERS[k : k + 3] for k in range(0, 12, 3)]


def in_sqlite(model, kind, cells):
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE t (id INTEGER, c {kind})")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(cells)))
    return [row[1] for row in base.execute(to_sql(model, "t", keep=["id"]) + " ORDER BY id")]


def in_duckdb(model, kind, cells):
    base = pytest.importorskip("duckdb", reason="DuckDB is not installed").connect(":memory:")
    base.execute(f"CREATE TABLE t (id INTEGER, c {kind})")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(cells)))
    return [row[1] for row in base.execute(to_sql(model, "t", "duckdb", keep=["id"]) + " ORDER BY id").fetchall()]


def levels_of(numbers):
    return [str(int(number)) if number.is_integer() else repr(number) for number in numbers]


@pytest.mark.parametrize("numbers", BY_THREE)
def test_levels_that_are_numbers(numbers):
    """Databases write numbers in other digits than Python does: 0.1 + 0.2 is not the level 0.3."""
    model = of_levels(levels_of(numbers))
    wanted = wanted_of(model, [*NUMBERS, None])
    assert len(set(wanted)) == 5  # three levels, unknown ones and a missing one
    assert in_sqlite(model, "REAL", [*NUMBERS, None]) == wanted
    assert in_sqlite(model, "", [*NUMBERS, None]) == wanted
    assert in_duckdb(model, "DOUBLE", [*NUMBERS, None]) == wanted
    texts = [*levels_of(NUMBERS), "1e16", "0.30", None]
    assert in_sqlite(model, "TEXT", texts) == in_duckdb(model, "VARCHAR", texts) == wanted_of(model, texts)


def test_levels_that_are_numbers_of_single_precision():
    cells = [float(np.float32(number)) for number in (0.1, 1 / 3, 7.0, 2.5)]
    model = of_levels(levels_of(cells[:3]))
    assert in_duckdb(model, "FLOAT", [*cells, None]) == wanted_of(model, [*cells, None])


def test_a_column_of_numbers_that_is_called_a_category():
    table = pd.DataFrame({"rate": [1e-5, 1e-4, 1 / 3] * 20, "z": np.arange(60.0)})
    y = table["rate"].map({1e-5: 0.0, 1e-4: 10.0, 1 / 3: 20.0})
    model = DCRegressor(n_pieces="rows", lam=0.01, categorical_features=["rate"]).fit(table, y)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (rate REAL, z REAL)")
    base.executemany("INSERT INTO t VALUES (?, ?)", table.head(3).values.tolist())
    found = [row[0] for row in base.execute(to_sql(model, "t"))]
    np.testing.assert_allclose(found, model.predict(table.head(3)), atol=1e-9)


def of_column(kind, features):
    """A function that adds up the features of a column."""
    center = np.zeros(len(features))
    encoding = Encoding((Column("c", kind),), features)
    return Model("program", (PLDC.affine(center + 1.0),), center, center + 1.0, columns=encoding, limits=(-1e9, 1e9))


def test_text_among_numbers_in_sqlite():
    """A CSV that is imported has blank text for missing cells; text that is no number is no 0."""
    model = of_column("number", (Number(0, 50.0), Missing(0)))
    given = {
        **{"": 51.0, "  \t": 51.0, None: 51.0, " 2.5 ": 2.5, "1e2": 100.0, "9007199254740993": 1e9, 7: 7.0, 1.5: 1.5},
        **{"true": 1.0, "False": 0.0, "TRUE": 1.0, "abc": None, "nan": None, "12 m": None, "0x10": None, "inf": None},
        **{b"5": None, float("inf"): None, "1e999": None},
    }
    assert in_sqlite(model, "", list(given)) == list(given.values())
    assert in_sqlite(model, "REAL", list(given)) == list(given.values())


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_infinite_numbers_have_no_prediction(dialect):
    model = of_column("number", (Number(0, 50.0),))
    ask = in_sqlite if dialect == "sqlite" else in_duckdb
    assert ask(model, "DOUBLE", [np.inf, -np.inf, None, 3.0]) == [None, None, 50.0, 3.0]
    assert ask(
        Model("program", model.functions, model.center, model.spread, feature_names=("c",)),
        "DOUBLE",
        [np.inf, None, 3.0],
    ) == [None, None, 3.0]


def test_dates_in_sqlite():
    """Days since 1970 as in C and JavaScript; what is no date of the format has no prediction."""
    model = of_column("date", (DatePart(0, 0.5), DatePart(0, 0.25, "sin", 7.0), Missing(0)))
    day = np.datetime64("2022-01-01")
    [plain, late] = model.predict(model.columns.apply({"c": np.array([day, day + np.timedelta64(61500, "ms")])}))
    given = {
        **{"2022-01-01": plain, "2022-01-01 00:00": plain, "2022-01-01T00:00:00": plain, 18993: plain},
        **{"2022-01-01 00:01:01.500": late, "": 1.75, None: 1.75, "01/01/2022": None, "18993": None, "now": None},
        **{"2022-13-01": None, "2022-01-01 00:00:00+05:00": None, "12:00": None, float("inf"): None},
    }
    found = in_sqlite(model, "", list(given))
    for each, wanted, cell in zip(found, given.values(), given, strict=True):
        assert each == (wanted if wanted is None else pytest.approx(wanted, rel=1e-12)), cell


def test_dates_in_sqlite_that_are_none_or_have_many_digits():
    """Days that no month has, 24:00 and clocks of other places; DataFrame.to_sql writes microseconds."""
    model = of_column("date", (DatePart(0, 0.5), DatePart(0, 0.25, "sin", 1.0), Missing(0)))
    none = ["2021-02-30", "2021-02-29", "2021-02-03 24:00", "2021-02-03 23:59:60", "2021-02-03 5:06", "2021-02-03 "[:9]]
    none += ["2021-02-03 05:06Z", "2021-02-03 05:06:07 Z", "2021-02-03 05:06:07+05:00 ", "2021-02-03 05:06+05:00\t"]
    none += ["2021-02-03+05:00", "2021-02-03T", "2021-02-03 05:06:07.", "2021-02-03 05:06:07.1e3", "2459216.5", "2021"]
    assert in_sqlite(model, "", none) == [None] * len(none)
    moments = [f"2020-03-18{mark}02:01:19.237088{end}" for mark in " T" for end in ("", " ", "\n")]
    moments += ["2024-02-29 23:59:59.999999", "1969-12-31 23:59:59.9", "1066-10-14", " 2020-03-18 02:01 "]
    cells = np.array([moment.strip() for moment in moments], dtype="datetime64[us]")
    wanted = model.predict(model.columns.apply({"c": cells}))
    np.testing.assert_allclose(in_sqlite(model, "", moments), wanted, rtol=1e-9)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("table", ["cells", "Cells", "s0", "S1", "best", "step0", "STEPcells", "step_0"])
def test_tables_called_as_a_step_of_the_statement_might_be(table, dialect):
    if dialect == "sqlite":
        base = sqlite3.connect(":memory:")
    else:
        base = pytest.importorskip("duckdb", reason="DuckDB is not installed").connect(":memory:")
    base.execute(f'CREATE TABLE "{table}" AS SELECT 1.0 AS x0 UNION SELECT 3.0')
    found = base.execute(to_sql(abs(PLDC.affine([1.0], -2.5)), table, dialect)).fetchall()
    assert sorted(found) == [(0.5,), (1.5,)]


def test_names_that_no_table_can_have():
    center = np.zeros(2)

    def of(*names):
        return Model("program", (PLDC.affine(center + 1.0),), center, center + 1.0, feature_names=names)

    with pytest.raises(ValueError, match="table must be a name"):
        to_sql(of("a", "b"), "")
    with pytest.raises(ValueError, match="A column has the name '', which duckdb does not allow"):
        to_sql(of("a", ""), "t", "duckdb")
    for dialect in ("sqlite", "duckdb"):
        with pytest.raises(ValueError, match=f"The model has the columns .'a', 'A'., which are one in {dialect}"):
            to_sql(of("a", "A"), "t", dialect)
    with pytest.raises(ValueError, match="keep names the columns .'id', 'id'."):
        to_sql(of("a", "b"), "t", keep=["id", "id"])
    long = "ö" * 32
    with pytest.raises(ValueError, match="which are one in postgresql: give them other names"):
        to_sql(of(f"{long}a", f"{long}b"), "t", "postgresql", keep=["id"])
    assert long in to_sql(of(f"{long}a", f"{long}b"), "t") and long in to_sql(of(long, "a" + long), "t", "postgresql")
    assert '"A"' in to_sql(of("a", "A"), "t", "postgresql") and '"Ä"' in to_sql(of("ä", "Ä"), "t")
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE t AS SELECT 1.0 AS "", 2.0 AS a')
    assert base.execute(to_sql(of("", "a"), "t")).fetchall() == [(3.0,)]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "duckdb"])
def test_a_zero_character_ends_a_statement(dialect):
    with pytest.raises(ValueError, match="The label or level .a.x00b. cannot stand in a statement"):
        to_sql(of_levels(["a\0b", "c", "d"]), "t", dialect)


def test_cells_that_are_used_more_than_once_are_kept():
    """Numbers alone are read where they are used, and a database may go through the table once."""
    numbers = to_sql(of_column("number", (Number(0, 50.0),)), "t")
    dates = to_sql(of_column("date", (DatePart(0, 0.5), Missing(0))), "t")
    assert re.match(r"WITH \w+ AS \(SELECT ", numbers) and re.match(r"WITH \w+ AS MATERIALIZED \(SELECT ", dates)
