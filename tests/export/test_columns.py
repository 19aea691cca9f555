"""Exports of models that were fitted to categories, dates and gaps."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.export.test_code import needs_gcc, needs_node, run_js
from tests.export.test_model_file import same
from tests.quick import few_kinds

from pldc import PLDC, DCClassifier, DCRegressor, Model, load
from pldc.columns.encoding import Encoding
from pldc.columns.features import Column, Level, Statistic
from pldc.export import to_c, to_js, to_numpy, to_sql, to_torch
from pldc.export.model_file import SCHEMA

COLUMNS = ["size", "it's a colour", "code", "town", "day"]


def table(n, seed):
    """Numbers with gaps, few levels, levels that are whole numbers, many levels, and dates."""
    rng = np.random.default_rng(seed)
    towns = [f"town {k}" for k in range(40)]
    days = np.datetime64("2021-03-01T00:00") + rng.integers(0, 60 * 24 * 500, n).astype("timedelta64[m]")
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(0, 10, n)),
            "it's a colour": rng.choice(np.array(["red", "it's blue", "größe", None], dtype=object), n),
            "code": pd.Categorical(rng.choice([1, 2, 30], n)),
            "town": rng.choice(np.array(towns, dtype=object), n),
            "day": days.astype("datetime64[us]"),
        }
    )
    frame.loc[rng.random(n) < 0.05, "day"] = pd.NaT
    return frame


def strange(n):
    """New rows, some with levels that training did not see."""
    frame = table(n, 5)
    frame.loc[frame.index % 7 == 0, "town"] = "elsewhere"
    frame.loc[frame.index % 11 == 0, "it's a colour"] = "violet"
    frame.loc[frame.index % 5 == 0, "size"] *= 1000
    return frame


@pytest.fixture(scope="module")
def fits():
    frame = table(250, 0)
    y = frame["size"].fillna(20) + 3 * (frame["it's a colour"] == "red") + frame["town"].str[-1].astype(int)
    y = y + frame["day"].dt.month.fillna(0) + (frame["code"] == 30)
    with few_kinds():
        regression = DCRegressor(clip=False).fit(frame, y)
        classes = DCClassifier().fit(frame, np.where(y > y.median(), "high", "low"))
    kinds = {feature.kind for feature in regression.model_.columns.features}
    assert kinds == {"number", "missing", "level", "statistic", "date"}
    return {"regression": regression, "classes": classes}


@pytest.fixture(scope="module", params=["regression", "classes"])
def model(request, fits):
    return fits[request.param]


ROWS = strange(1000)


def check(model, found):
    """Compare predictions, or the scores of classes."""
    wanted = model.predict(ROWS) if model.model_.classes is None else model.model_.scores(model._points(ROWS))
    error = np.abs(np.reshape(np.asarray(found, dtype=float), wanted.shape) - wanted)
    assert (error / np.maximum(1.0, np.abs(wanted))).max() <= 1e-9
    assert np.unique(wanted.round(6)).size > 500


def cells(frame):
    """Rows as JSON has them: None where missing, dates in days since 1970."""
    days = (frame["day"] - pd.Timestamp(0)) / pd.Timedelta(1, "D")
    plain = frame.assign(day=days).astype(object)
    return plain.where(plain.notna(), None).values.tolist()


def test_model_file(model, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    model.save_model(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert same(model.model_, again.model_) and same(model.predict(ROWS), again.predict(ROWS))
    assert again.n_features_in_ == 5 and list(again.feature_names_in_) == COLUMNS
    jsonschema.validate(json.loads((tmp_path / "m.json").read_text()), json.loads(SCHEMA.read_text()))


def test_numpy(model):
    space = {}
    exec(to_numpy(model), space)
    check(model, space["predict" if model.model_.classes is None else "scores"](ROWS.to_numpy(dtype=object)))


@needs_node
def test_node(model, tmp_path):
    first, scores, _ = zip(*run_js(to_js(model), cells(ROWS), tmp_path), strict=True)
    check(model, first if model.model_.classes is None else scores)


def test_sqlite(model):
    base = sqlite3.connect(":memory:")
    frame = ROWS.assign(day=ROWS["day"].dt.strftime("%Y-%m-%d %H:%M:%S"), code=ROWS["code"].astype(int))
    frame.to_sql("t", base, index_label="id")
    check(model, numbers(model, base.execute(to_sql(model, "t", keep=["id"]) + " ORDER BY id").fetchall()))


def test_duckdb(model):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    base, frame = duckdb.connect(":memory:"), ROWS.assign(code=ROWS["code"].astype(float), id=np.arange(len(ROWS)))
    base.register("t", frame)
    query = to_sql(model, "t", "duckdb", keep=["id"]) + " ORDER BY id"
    check(model, numbers(model, base.execute(query).fetchall()))


TYPES_OF_COLUMNS = ["DOUBLE PRECISION", "TEXT", "INTEGER", "TEXT", "TIMESTAMP"]


def test_postgresql(model, postgresql):
    frame = ROWS.assign(day=ROWS["day"].dt.strftime("%Y-%m-%d %H:%M:%S"), code=ROWS["code"].astype(int)).astype(object)
    cells = frame.where(frame.notna(), None).values.tolist()
    postgresql.fill("t", dict(zip(COLUMNS, TYPES_OF_COLUMNS, strict=True)), cells)
    found = postgresql.ask(model, "t")
    check(model, numbers(model, found))
    if model.model_.classes is not None:
        assert [row[1] for row in found] == model.predict(ROWS).tolist()
        wanted = model.predict_proba(ROWS)
        np.testing.assert_allclose(np.array([row[4:] for row in found]), wanted, rtol=1e-9, atol=1e-12)


def numbers(model, fetched):
    """The prediction, or the scores after the label."""
    return [row[1] if model.model_.classes is None else row[2:4] for row in fetched]


MAIN = """
#include <stdio.h>
#include "model.h"
static const pldc_cell rows[][5] = {
%s
};
int main(void) {
  double out[2];
  for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    pldc_values(rows[k], out);
    printf("%%.17g %%.17g\\n", out[0], %s);
  }
  return 0;
}
"""


def literal(cell):
    if cell is None:
        return "{NAN, NULL}"
    return f"{{0, {json.dumps(cell, ensure_ascii=False)}}}" if isinstance(cell, str) else f"{{{float(cell)!r}, NULL}}"


@needs_gcc
def test_c(model, tmp_path):
    rows = [[size, colour, str(code), *rest] for size, colour, code, *rest in cells(ROWS)]
    text = ",\n".join("{" + ", ".join(map(literal, row)) + "}" for row in rows)
    (tmp_path / "model.h").write_text(to_c(model))
    one = model.model_.classes is None
    (tmp_path / "main.c").write_text(MAIN % (text, "0.0" if one else "out[1]"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([shutil.which("gcc"), *flags, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    out = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array([line.split() for line in out.splitlines()], dtype=float)
    check(model, found[:, 0] if one else found)


@needs_gcc
def test_c_can_do_without_doubles(model, tmp_path):
    (tmp_path / "model.h").write_text(to_c(model, "float"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wdouble-promotion", "-Werror", "-DPLDC_SUM=float", "-fsyntax-only"]
    subprocess.run([shutil.which("gcc"), *flags, "-x", "c", "model.h"], cwd=tmp_path, check=True)


def test_torch_takes_features(model):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with torch.no_grad():
        check(model, to_torch(model)(torch.tensor(model.model_.columns.apply(ROWS))).numpy())


def test_gaps_in_numbers_are_filled_with_medians(tmp_path):
    X = np.random.default_rng(0).uniform(size=(40, 2))
    with few_kinds():
        model = DCRegressor().fit(X, np.abs(X[:, 0] - 0.5) + X[:, 1])
    rows = X.copy()
    rows[::3, 0], rows[::5, 1] = np.nan, np.nan
    wanted, space, base = model.predict(rows), {}, sqlite3.connect(":memory:")
    exec(to_numpy(model), space)
    np.testing.assert_allclose(space["predict"](rows), wanted, rtol=1e-9)
    pd.DataFrame(rows, columns=["x0", "x1"]).to_sql("t", base, index_label="id")
    found = [row[1] for row in base.execute(to_sql(model, "t", keep=["id"]) + " ORDER BY id")]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_dates_with_a_zone_are_refused():
    frame = table(60, 1)[["size", "day"]].dropna()
    frame["day"] = frame["day"].dt.tz_localize("Europe/Berlin", nonexistent="shift_forward", ambiguous="NaT")
    with few_kinds():
        model = DCRegressor().fit(frame, frame["size"])
    for export in (to_numpy, to_js, lambda given: to_sql(given, "t")):
        with pytest.raises(ValueError, match="Dates of column 'day' are in the time zone Europe/Berlin"):
            export(model)


LEVELS = [["1", "2", "red"], ["1.0", "1", "True"], ["1.5", "0.25", "-3"], ["True", "False", "nope"], ["True", "0", "1"]]
CELLS = ["1", "1.0", "1.00", "0", "True", "true", "False", "red", "nope"]
CELLS += [1, 1.0, 2, 0, -3.0, 1.5, 0.25, True, False, None]


def of_levels(levels):
    """A function of which of the levels a cell is, and a statistic of them: a number that says all of it."""
    table = tuple(zip(levels, [8.0, 16.0, 32.0], strict=True))
    features = (*(Level(0, level) for level in levels), Statistic(0, table, 64.0, 128.0))
    encoding = Encoding((Column("c", "category"),), features)
    function = PLDC.affine(np.array([1.0, 2.0, 4.0, 1.0]))
    return Model("program", (function,), np.array([0.0, 0.5, 0.0, 8.0]), np.ones(4), columns=encoding)


def wanted_of(model, cells):
    table = np.empty((1, 1), dtype=object)
    out = []
    for cell in cells:
        table[0, 0] = cell
        out.append(float(model.predict(model.columns.apply(table))[0]))
    return out


@pytest.mark.parametrize("levels", LEVELS)
def test_cells_are_read_as_predict_reads_them(levels, tmp_path):
    model, space = of_levels(levels), {}
    wanted = wanted_of(model, CELLS)
    assert len(set(wanted)) == 5  # three levels, an unknown and a missing one
    exec(to_numpy(model), space)
    table = np.empty((len(CELLS), 1), dtype=object)
    table[:, 0] = CELLS
    assert space["predict"](table).tolist() == wanted
    if shutil.which("node"):
        assert [row[0] for row in run_js(to_js(model), [[cell] for cell in CELLS], tmp_path)] == wanted


@pytest.mark.parametrize("levels", LEVELS)
def test_texts_and_numbers_in_sqlite(levels):
    """Booleans are 1 and 0 there: they are the levels True and False unless 1 or 0 is a level."""
    model, base = of_levels(levels), sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (id INTEGER, c)")
    base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(CELLS)))
    seen = [int(c) if isinstance(c, bool) else c for c in CELLS]
    if {"True", "False"} & set(levels) and not {"0", "1"} & set(levels):
        seen = [bool(c) if isinstance(c, (int, float)) and c in (0, 1) else c for c in seen]
    found = [row[1] for row in base.execute(to_sql(model, "t", keep=["id"]) + " ORDER BY id")]
    assert found == wanted_of(model, seen)


TYPES = {
    "VARCHAR": ["1", "1.0", "True", "true", "red", None],
    "DOUBLE PRECISION": [1.0, 2.0, 1.5, 0.25, -3.0, None],
    "BOOLEAN": [True, False, None],
    "INTEGER": [1, 2, 0, -3, None],
    "DECIMAL(9, 2)": [1.0, 1.5, 0.25, -3.0, None],
}


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_columns_of_any_type_in_databases(dialect, request):
    if dialect == "duckdb":
        base = pytest.importorskip("duckdb", reason="DuckDB is not installed").connect(":memory:")
    else:
        base = request.getfixturevalue("postgresql").base
    for number, (kind, cells) in enumerate(TYPES.items()):
        base.execute(f"CREATE TEMPORARY TABLE t{number} (id INTEGER, c {kind})")
        for k, cell in enumerate(cells):
            place = "%s, %s" if dialect == "postgresql" else "?, ?"
            base.execute(f"INSERT INTO t{number} VALUES ({place})", (k, cell))
        for levels in LEVELS:
            model = of_levels(levels)
            query = to_sql(model, f"t{number}", dialect, keep=["id"]) + " ORDER BY id"
            assert [row[1] for row in base.execute(query).fetchall()] == wanted_of(model, cells), (kind, levels)
    if dialect == "duckdb":
        base.close()
