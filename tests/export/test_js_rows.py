"""Rows that a JavaScript module takes and refuses; of a model of numbers, levels, dates and gaps."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.export.test_code import needs_node
from tests.export.test_columns import of_levels
from tests.quick import few_kinds

from pldc import PLDC, DCRegressor, Model
from pldc.export import to_js

pytestmark = needs_node
SCRIPT = """
import * as model from "./model.mjs";
const out = (row) => { try { return model.predict(row()) } catch (e) { return `${e.name}: ${e.message}` } };
console.log(JSON.stringify([%s].map(out)));
"""


def run(model, rows, folder):
    (folder / "model.mjs").write_text(to_js(model))
    (folder / "main.mjs").write_text(SCRIPT % ", ".join(f"() => ({row})" for row in rows))
    out = subprocess.run(["node", "main.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return json.loads(out)


@pytest.fixture(scope="module")
def numbers():
    X = np.random.default_rng(0).uniform(size=(60, 3))
    with few_kinds():
        return DCRegressor().fit(X, np.abs(X[:, 0] - 0.5) + X[:, 1] - X[:, 2])


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    days = np.datetime64("2021-03-01") + rng.integers(0, 500, 80)
    frame = pd.DataFrame({"size": rng.uniform(0, 10, 80), "kind": rng.choice(["a", "b", "2"], 80), "day": days})
    frame.loc[frame.index % 9 == 0, "size"] = np.nan
    y = frame["size"].fillna(20) + 3 * (frame["kind"] == "a") + frame["day"].dt.month
    with few_kinds():
        return DCRegressor(clip=False).fit(frame, y)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("new Float64Array([1, 2])", "A row has 3 cells, not 2"),
        ("[1, 2]", "A row has 3 cells, not 2"),
        ("new DataView(new ArrayBuffer(8))", "A row has 3 cells"),
        ("new Map([['x0', 1], ['x1', 2], ['x2', 0]])", 'lacks the key "x0"'),
        ("{}", 'lacks the key "x0"'),
        ("{ x0: 1, x1: 2, x3: 0 }", 'lacks the key "x2"'),
        ("'abc'", "this is none"),
        ("5", "this is none"),
        ("null", "this is none: null"),
        ("undefined", "this is none"),
        ("[new Date(), 2, 0]", 'Column "x0" takes a number'),
        ("[[5], 2, 0]", 'Column "x0" takes a number'),
        ("[[], 2, 0]", 'Column "x0" takes a number'),
        ("['0x10', 2, 0]", 'Column "x0" takes a number'),
        ("['', 2, 0]", 'Column "x0" takes a number, or its text, not ""'),
        ("[1, Infinity, 0]", 'Column "x1" takes a number'),
        ("[1, Object.create(null), 0]", "an object"),
    ],
)
def test_rows_that_are_none(numbers, row, words, tmp_path):
    [found] = run(numbers, [row], tmp_path)
    assert isinstance(found, str) and found.startswith("TypeError: ") and words in found


def test_rows_of_numbers(numbers, tmp_path):
    rows = ["new Float64Array([1, 2, 0])", "[' 1.0 ', '2e0', '.0']", "[1n, 2, false]", "[true, '+2.', -0]"]
    rows += ["{ x0: 1, x1: 2, x2: 0, more: 'a' }", "[undefined, 2, NaN]", "{ x0: null, x1: 2, x2: undefined }"]
    wanted = numbers.predict(np.array([[1.0, 2.0, 0.0]] * 5 + [[np.nan, 2.0, np.nan]] * 2))
    np.testing.assert_allclose(run(numbers, rows, tmp_path), wanted, rtol=1e-9)


def test_rows_of_all_kinds(mixed, tmp_path):
    rows = ["[1.5, 'a', 18993]", "[1.5, 'a', new Date('2022-01-01T00:00:00Z')]", "['1.5', 2, 18993]"]
    rows += ["[null, true, undefined]", "{ size: NaN, kind: null, day: null }"]
    day = np.datetime64("2022-01-01")
    cells = [[1.5, "a", day], [1.5, "a", day], [1.5, 2, day], [None, True, None], [None, None, None]]
    table = pd.DataFrame(cells, columns=["size", "kind", "day"]).astype({"size": float, "day": "datetime64[us]"})
    np.testing.assert_allclose(run(mixed, rows, tmp_path), mixed.predict(table), rtol=1e-9)


@pytest.mark.parametrize("cell", ["''", "true", "'5'", "'19000'", "[19000]", "new Date(NaN)", "Infinity", "19000n"])
def test_cells_that_are_no_dates(mixed, cell, tmp_path):
    [found] = run(mixed, [f"[1, 'a', {cell}]"], tmp_path)
    assert "TypeError" in found and 'Column "day" takes a Date, or a number of days since 1970, not ' in found


@pytest.mark.parametrize("cell", ["{}", "['a']", "new Date()", "() => 1", "new String('a')"])
def test_cells_that_are_no_levels(mixed, cell, tmp_path):
    [found] = run(mixed, [f"[1, {cell}, 19000]"], tmp_path)
    assert "TypeError" in found and 'Column "kind" takes a text, a number or a boolean, not ' in found


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("[1, 2n, 19000]", 'Column "kind" takes a text, a number or a boolean, not 2 (bigint)'),
        ("[new Number(1), 'a', 19000]", 'Column "size" takes a number, or its text, not 1 (object)'),
        ("[1, 'a', true]", "not true (boolean)"),
        ("[1, Symbol('s'), 19000]", "not Symbol(s) (symbol)"),
        ("null", "this is none: null"),
    ],
)
def test_messages_tell_the_type(mixed, row, words, tmp_path):
    [found] = run(mixed, [row], tmp_path)
    assert found.startswith("TypeError: ") and found.endswith(words)


def test_a_number_that_nothing_stands_in_for(tmp_path):
    [found] = run(PLDC.affine([1.0, 2.0]), ["[1, null]"], tmp_path)
    assert found.startswith("TypeError: The model needs all numbers; one is missing")


def test_levels_that_are_spelt_like_no_number(tmp_path):
    model = of_levels(["nan", "inf", "a"])
    assert isinstance(model, Model)
    cells = np.array([["nan"], ["inf"], ["b"]], dtype=object)
    found = run(model, ["['nan']", "['inf']", "['b']"], tmp_path)
    assert found == model.predict(model.columns.apply(cells)).tolist()
