"""The same table from every package, and rules through JSON."""

import copy
import json
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pldc.columns import Column, DatePart, Encoding, Level, Missing, Number, Statistic
from pldc.columns.cells import RawColumn, cells_as

RULES = Encoding(
    (Column("a", "number"), Column("b", "number"), Column("c", "category"), Column("t", "date")),
    (
        Number(0, 1.5),
        Missing(0),
        Number(1, 0.0),
        Level(2, "x"),
        Level(2, "2"),
        Missing(2),
        Statistic(2, (("x", 1.0), ("2", 2.0)), 9.0, 8.0),
        DatePart(3, -5.0),
        DatePart(3, 0.5, "sin", 1.0),
    ),
)
TABLE = {
    "a": [1, None, 3],
    "b": [True, False, None],
    "c": ["x", None, "never"],
    "t": [datetime(2024, 1, 1, 6), None, datetime(1970, 1, 5)],
}
EXPECTED = [
    [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 19723.25, 1.0],
    [1.5, 1.0, 0.0, 0.0, 0.0, 1.0, 8.0, -5.0, 0.5],
    [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 4.0, 0.0],
]


def arrow():
    return pytest.importorskip("pyarrow").table(TABLE)


def categories_of_arrow():
    table = arrow()
    return table.set_column(2, "c", table["c"].dictionary_encode())


@pytest.mark.parametrize(
    "table",
    [
        lambda: TABLE,
        lambda: dict(reversed(TABLE.items())),
        lambda: pd.DataFrame(TABLE),
        lambda: pd.DataFrame(TABLE).convert_dtypes(),
        lambda: pd.DataFrame(TABLE).astype({"c": "category"}),
        lambda: pl.DataFrame(TABLE),
        lambda: pl.DataFrame(TABLE).with_columns(pl.col("c").cast(pl.Categorical)),
        arrow,
        categories_of_arrow,
        lambda: np.array(list(zip(*TABLE.values(), strict=True)), dtype=object),
    ],
)
def test_every_kind_of_table_gives_the_same_numbers(table):
    np.testing.assert_array_equal(RULES.apply(table()), EXPECTED)


@pytest.mark.parametrize("two", [2, 2.0, "2", np.int8(2), np.float32(2.0)])
def test_levels_are_compared_as_text(two):
    row = {name: [cells[0]] for name, cells in TABLE.items()} | {"c": [two]}
    assert RULES.apply(row)[0, 3:5].tolist() == [0.0, 1.0]


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"lacks \['t'\], and has \['u'\]"):
        RULES.apply({("u" if name == "t" else name): cells for name, cells in TABLE.items()})
    with pytest.raises(ValueError, match="2 columns; the model was fitted to 4"):
        RULES.apply(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="'a' must hold numbers or booleans, as in training; it holds 'many'"):
        RULES.apply(TABLE | {"a": [1.0, "many", 2.0]})
    with pytest.raises(ValueError, match="'t' must hold dates, as in training; it holds 17"):
        RULES.apply(TABLE | {"t": [17.0, 18.0, 19.0]})
    with pytest.raises(ValueError, match="equally long"):
        RULES.apply(TABLE | {"a": [1.0]})
    with pytest.raises(ValueError, match="Expected 2D"):
        RULES.apply(np.zeros(4))


def test_rules_come_back_from_json():
    text = json.dumps(RULES.to_dict())
    assert Encoding.from_dict(json.loads(text)) == RULES


def broken(*path, value):
    record = copy.deepcopy(RULES.to_dict())
    at = record
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return record


@pytest.mark.parametrize(
    "record, message",
    [
        ([], "encoding must be a dictionary"),
        ({}, "has no entry 'columns'"),
        (broken("features", value=[]), "features must be a list, and not empty"),
        (broken("columns", 0, "kind", value="picture"), r"columns\[0\].kind must be number, category or date"),
        (broken("columns", 0, "name", value=3), r"columns\[0\].name must be text"),
        (broken("columns", 3, "zone", value=3), r"columns\[3\].zone must be text"),
        (broken("features", 1, "kind", value="code"), r"features\[1\].kind must be one of"),
        (broken("features", 0, "column", value=4), r"features\[0\].column must be the place of one of 4 columns"),
        (broken("features", 0, "column", value=True), r"features\[0\].column must be the place"),
        (broken("features", 0, "column", value=2), "a number is not made from a column of kind category"),
        (broken("features", 1, "column", value=2), "must follow each other"),
        (broken("features", 0, "fill", value=float("nan")), r"features\[0\].fill must be a finite number"),
        (broken("features", 0, "fill", value=10**400), r"features\[0\].fill must be a finite number"),
        (broken("features", 3, "level", value=None), r"features\[3\].level must be text"),
        (broken("features", 6, "table", value=[["x"]]), r"table\[0\] must be a list of a level and a number"),
        (broken("features", 6, "table", value=[["x", 1.0], ["x", 2.0]]), "names a level twice"),
        (broken("features", 6, "table", value=[["x", "1"]]), r"table\[0\] must be a finite number"),
        (broken("features", 8, "wave", value="tan"), "wave must be one of linear, sin, cos"),
        (broken("features", 8, "period", value=0), "period must be positive"),
    ],
)
def test_malformed_records_are_refused_with_the_place_named(record, message):
    with pytest.raises(ValueError, match=message):
        Encoding.from_dict(record)


def test_true_is_another_level_than_one():
    cells = np.array([True, 1, 1.0, "1", "True", False, 0, "a"] * 2, dtype=object)
    texts = cells_as(RawColumn(cells), "odd", "category")
    assert texts.tolist() == ["True", "1", "1", "1", "True", "False", "0", "a"] * 2


def test_features_have_names_of_their_own():
    columns = tuple(Column(name, "number") for name in ("a", "a is missing", "a is missing (2)"))
    rules = Encoding(columns, (Number(0, 0.0), Missing(0), Number(1, 0.0), Missing(1), Number(2, 0.0)))
    assert rules.feature_names == (
        "a",
        "a is missing (3)",
        "a is missing",
        "a is missing is missing",
        "a is missing (2)",
    )
    twins = Encoding((Column("a", "category"), Column("a = b", "category")), (Level(0, "b = c"), Level(1, "c")))
    assert twins.feature_names == ("a = b = c", "a = b = c (2)")


def test_indicators_know_their_opposite():
    columns = (Column("cut", "category"), Column("age", "number"), Column("age is missing", "number"))
    features = (Level(0, "fair"), Missing(0), Number(1, 0.0), Missing(1), Number(2, 0.0))
    found = Encoding(columns, features)
    assert found.feature_names[3] == "age is missing (2)"
    assert found.opposites == {0: "cut ≠ fair", 1: "cut is not missing", 3: "age is not missing (2)"}
