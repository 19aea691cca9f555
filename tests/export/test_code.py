"""Models as code: every format predicts as the model does, for every kind of fit."""

import dataclasses
import importlib.util
import json
import shutil
import sqlite3
import subprocess
from functools import cache

import numpy as np
import pytest
from tests.export.fits import KINDS, fitted, rows

from pldc import PLDC, DCClassifier, DCRegressor, MaxAffine
from pldc.export import to_c, to_js, to_milp, to_numpy, to_onnx, to_sql, to_torch

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on this machine")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")


def rows_of(kind, single=False):
    return rows(kind).astype(np.float32).astype(np.float64) if single else rows(kind)


@cache
def expected(kind, single=False):
    """Predictions, or scores and probabilities; of rows in single precision where `single`."""
    model, X = fitted(kind).model_, rows_of(kind, single)
    if model.classes is None:
        return {"prediction": model.predict(X)}
    out = {"score": model.scores(X)}
    if model.temperature is not None:
        out["probability"] = model.probabilities(X)
    return out


def check(kind, found, single=False):
    """Compare with what the model says: to 1e-9, relative to the prediction, or to 1 where it is smaller.

    Between rows and answers in single precision to 1e-5, by the same measure and as far outside.
    """
    tol = 1e-5 if single else 1e-9
    for name, wanted in expected(kind, single).items():
        assert np.shape(found[name]) == wanted.shape
        error = np.abs(np.asarray(found[name], dtype=np.float64) - wanted) / np.maximum(1.0, np.abs(wanted))
        assert error.max() <= tol, name
    if "label" in found:
        scores = expected(kind, single)["score"]
        ranked = np.sort(scores, axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > tol * np.maximum(1.0, np.abs(ranked[:, -1]))
        labels = fitted(kind).classes_[scores.argmax(axis=1)]
        assert clear.mean() > 0.9 and (np.asarray(found["label"])[clear] == labels[clear]).all()


def test_the_check_can_fail():
    wanted = expected("plain")["prediction"]
    check("plain", {"prediction": wanted})
    with pytest.raises(AssertionError):
        check("plain", {"prediction": np.where(np.arange(len(wanted)) == 7, wanted + 1e-8, wanted)})
    wanted = expected("plain", single=True)["prediction"]
    with pytest.raises(AssertionError):
        check("plain", {"prediction": np.where(np.arange(len(wanted)) == 7, wanted * (1 + 2e-5), wanted)}, single=True)
    assert len(rows("plain")) >= 1000


@pytest.mark.parametrize("kind", KINDS)
def test_rows_lie_among_the_data_far_outside_and_on_kinks(kind):
    X, model = rows(kind), fitted(kind).model_
    away = np.abs((X - model.center) / model.spread).max(axis=1)
    assert len(X) >= 1000 and (away < 2).sum() > 300 and (away > 100).sum() > 50
    room = np.min([f.room(X, model.spread) for f in model.functions], axis=0)
    assert (room < 1e-9).sum() >= 5


# ---------------------------------------------------------------- NumPy


@pytest.mark.parametrize("kind", KINDS)
def test_numpy(kind):
    space = {}
    exec(to_numpy(fitted(kind)), space)
    X = rows(kind)
    found = {"prediction": space["predict"](X)}
    if "scores" in space:
        found = {"label": found["prediction"], "score": space["scores"](X)}
    if "probabilities" in space:
        found["probability"] = space["probabilities"](X)
    check(kind, found)


def test_source_names_no_package_but_numpy():
    source = to_numpy(fitted("default"))
    assert [line for line in source.splitlines() if "import" in line.split("#")[0]] == ["import numpy as np"]


# ---------------------------------------------------------------- SQL


def answers(kind, fetched):
    """Columns of a result, by what they are."""
    fetched = np.array(fetched, dtype=object)
    keys, rest = fetched[:, 0].astype(int), fetched[:, 1:]
    assert (keys == np.arange(len(rows(kind)))).all()
    model = fitted(kind).model_
    if model.classes is None:
        return {"prediction": rest[:, 0] if model.levels is None else rest}
    count = len(model.classes)
    found = {"label": rest[:, 0], "score": rest[:, 1 : count + 1]}
    return found | ({"probability": rest[:, count + 1 :]} if model.temperature is not None else {})


def names_of(kind):
    return [*getattr(fitted(kind), "feature_names_in_", ["x0", "x1", "x2"])]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def filled(base, kind, real):
    """Make a table of the rows, with a key."""
    columns = ", ".join(f"{quoted(name)} {real}" for name in names_of(kind))
    base.execute(f'CREATE TABLE "the rows" (id INTEGER, {columns})')
    cells = [(k, *row) for k, row in enumerate(rows(kind).tolist())]
    base.executemany('INSERT INTO "the rows" VALUES (?, ?, ?, ?)', cells)


@pytest.mark.parametrize("kind", KINDS)
def test_sqlite(kind):
    base = sqlite3.connect(":memory:")
    filled(base, kind, "REAL")
    cursor = base.execute(to_sql(fitted(kind), "the rows", keep=["id"]) + " ORDER BY id")
    names = [column[0] for column in cursor.description]
    assert names[:2] == ["id", "prediction_0" if kind == "quantiles" else "prediction"]
    check(kind, answers(kind, cursor.fetchall()))


@pytest.mark.parametrize("kind", KINDS)
def test_duckdb(kind):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    import pandas as pd

    base = duckdb.connect(":memory:")
    frame = pd.DataFrame(rows(kind), columns=names_of(kind))
    frame.insert(0, "id", np.arange(len(frame)))
    base.register("the rows", frame)
    query = to_sql(fitted(kind), "the rows", "duckdb", ["id"]) + " ORDER BY id"
    check(kind, answers(kind, base.execute(query).fetchall()))


@pytest.mark.parametrize("kind", KINDS)
def test_postgresql(kind, postgresql):
    postgresql.fill("the rows", dict.fromkeys(names_of(kind), "DOUBLE PRECISION"), rows(kind).tolist())
    found = answers(kind, postgresql.ask(fitted(kind), "the rows"))
    check(kind, found)
    assert all(type(value) is float for name in found.keys() - {"label"} for value in np.ravel(found[name]))


def test_rows_without_a_number_get_no_prediction():
    names, model = names_of("plain"), fitted("plain").model_
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE t ({', '.join(names)})")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 2, 3), (1, None, 3)])
    found = [row[0] for row in base.execute(to_sql(model, "t"))]
    wanted = model.predict(np.array([[1.0, 2.0, 3.0], [1.0, model.medians[1], 3.0]])).tolist()
    assert found == pytest.approx(wanted)
    known = dataclasses.replace(model, medians=None)
    assert [row[0] for row in base.execute(to_sql(known, "t"))] == [pytest.approx(wanted[0]), None]


@pytest.mark.parametrize(("pieces", "features"), [(2, 1100), (250, 2)])
def test_more_features_or_pieces_than_an_expression_may_have(pieces, features):
    rng = np.random.default_rng(0)
    parts = [MaxAffine(rng.standard_normal((k, features)), rng.standard_normal(k)) for k in (pieces, 1)]
    f, X = PLDC(*parts), rng.standard_normal((3, features))
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE t ({', '.join(f'x{k}' for k in range(features))})")
    base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * features)})", X.tolist())
    found = [row[0] for row in base.execute(to_sql(f, "t"))]
    np.testing.assert_allclose(found, f(X), rtol=1e-9)


def test_more_columns_than_databases_allow():
    with pytest.raises(ValueError, match="more than 1500"):
        to_sql(PLDC.affine(np.ones(1600)), "t")


def test_names_are_quoted():
    statement = to_sql(fitted("default"), ("my schema", 'a"b'), keep=["id; DROP TABLE t"])
    assert '"my schema"."a""b"' in statement and '"id; DROP TABLE t"' in statement and '"width ""in"" cm"' in statement


# ---------------------------------------------------------------- C

MAIN = """
#include <stdio.h>
#include "model.h"
int main(void) {
  double given[3];
  while (scanf("%lf %lf %lf", given, given + 1, given + 2) == 3) {
    TYPE row[3] = {(TYPE)given[0], (TYPE)given[1], (TYPE)given[2]};
BODY
    printf("\\n");
  }
  return 0;
}
"""
REGRESSION = '    printf("%.17g", (double)pldc_predict(row));'
LEVELS = """    TYPE out[9];
    pldc_predict(row, out);
    for (int k = 0; k < COUNT; k++) printf("%.17g ", (double)out[k]);"""
SCORES = """    TYPE out[9];
    pldc_scores(row, out);
    printf("%d", pldc_predict(row));
    (void)pldc_label(row);
    for (int k = 0; k < COUNT; k++) printf(" %.17g", (double)out[k]);"""
SHARES = """
    pldc_probabilities(row, out);
    for (int k = 0; k < COUNT; k++) printf(" %.17g", (double)out[k]);"""


def run_c(model, X, dtype, folder, *flags):
    """Compile the header with a program around it, and run it on rows."""
    count = len(model.functions)
    body = REGRESSION if model.levels is None else LEVELS
    if model.classes is not None:
        body = SCORES + SHARES * (model.temperature is not None)
    text = MAIN.replace("BODY", body).replace("TYPE", dtype).replace("COUNT", str(count))
    (folder / "model.h").write_text(to_c(model, dtype))
    (folder / "main.c").write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", *flags]
    subprocess.run(["gcc", *flags, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    given = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    out = subprocess.run([folder / "main"], input=given, capture_output=True, text=True, check=True).stdout
    table = np.array([line.split() for line in out.splitlines()], dtype=np.float64)
    if model.classes is None:
        return {"prediction": table[:, 0] if model.levels is None else table}
    found = {"label": model.classes[table[:, 0].astype(int)], "score": table[:, 1 : count + 1]}
    return found | ({"probability": table[:, count + 1 :]} if model.temperature is not None else {})


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_c(kind, tmp_path):
    check(kind, run_c(fitted(kind).model_, rows(kind), "double", tmp_path))


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_c_in_single_precision(kind, tmp_path):
    check(kind, run_c(fitted(kind).model_, rows_of(kind, True), "float", tmp_path), single=True)


@needs_gcc
@pytest.mark.parametrize("kind", ["default", "quantiles", "three classes"])
def test_c_without_doubles(kind, tmp_path):
    """Sums in single precision are there for who asks for them; near the data they agree to 1e-5 as well."""
    model, X = fitted(kind).model_, rows_of(kind, True)
    found = run_c(model, X, "float", tmp_path, "-DPLDC_SUM=float")
    name = "prediction" if model.classes is None else "score"
    wanted, found = expected(kind, True)[name], found[name]
    error = (np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).reshape(len(X), -1).max(axis=1)
    near = np.abs((X - model.center) / model.spread).max(axis=1) < 10
    assert near.sum() > 700 and 0 < error[near].max() <= 1e-5


# ---------------------------------------------------------------- JavaScript

SCRIPT = """
import * as model from "./model.mjs";
import { readFileSync } from "node:fs";
const rows = JSON.parse(readFileSync("rows.json"));
const out = rows.map((row) => [model.predict(row), model.scores?.(row), model.probabilities?.(row)]);
console.log(JSON.stringify(out));
"""


def run_js(source, table, folder):
    (folder / "model.mjs").write_text(source)
    (folder / "main.mjs").write_text(SCRIPT)
    (folder / "rows.json").write_text(json.dumps(table))
    out = subprocess.run(["node", "main.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return json.loads(out)


@needs_node
@pytest.mark.parametrize("kind", KINDS)
def test_node(kind, tmp_path):
    X, names = rows(kind).tolist(), names_of(kind)
    X[::2] = [dict(zip(names, row, strict=True)) for row in X[::2]]  # by name as well as by place
    first, scores, shares = zip(*run_js(to_js(fitted(kind)), X, tmp_path), strict=True)
    found = {"prediction": first} if scores[0] is None else {"label": first, "score": scores, "probability": shares}
    check(kind, found)


@needs_node
@pytest.mark.parametrize(
    "row", ["[1, 2]", "[1, 2, 3, 4, 5, 6, 7]", "[1, 'two', 3]", "[1, ' ', 3]", "[1, Infinity, 3]", "{}"]
)
def test_rows_that_are_none_are_a_type_error(row, tmp_path):
    (tmp_path / "model.mjs").write_text(to_js(PLDC.affine([1.0, 2.0, 3.0])))
    script = "import * as model from './model.mjs';\n"
    script += f"try {{ console.log(model.predict({row})) }} catch (e) {{ console.log(e.name) }}"
    (tmp_path / "main.mjs").write_text(script)
    out = subprocess.run(["node", "main.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert out == "TypeError\n"


# ---------------------------------------------------------------- PyTorch


@pytest.mark.parametrize("kind", KINDS)
def test_torch(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    check(kind, torch_answers(torch, kind, "double")[0])


def torch_answers(torch, kind, dtype):
    """Return the answers of a module at all rows, and the module."""
    module = to_torch(fitted(kind), dtype)
    x = torch.tensor(rows(kind), dtype=torch.float64 if dtype == "double" else torch.float32)
    with torch.no_grad():
        if module.classes is None:
            found = {"prediction": module(x).numpy()}
        else:
            found = {"label": np.array(module.classes)[module.predict(x).numpy()], "score": module(x).numpy()}
        if module.temperature is not None:
            found["probability"] = module.probabilities(x).numpy()
    return found, module


@pytest.mark.parametrize("kind", KINDS)
def test_torch_in_single_precision(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    found, module = torch_answers(torch, kind, "float")
    assert all(each.dtype == np.float32 for name, each in found.items() if name != "label")
    check(kind, found, single=True)
    with torch.no_grad():
        again = module.float()(torch.tensor(rows_of(kind, True)[:100], dtype=torch.float32))
    assert again.dtype is torch.float32 and {each.dtype for each in module.parameters()} == {torch.float32}
    wanted = next(iter(expected(kind, True).values()))[:100]
    np.testing.assert_allclose(again.numpy(), wanted, rtol=1e-4, atol=1e-4)


def test_a_torch_module_can_be_trained_and_stored(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    module = to_torch(fitted("plain"))
    x = torch.tensor(rows("plain")[:200])
    goal = module(x).detach() + torch.sin(x[:, 0])
    before = ((module(x) - goal) ** 2).mean().item()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(30):
        optimizer.zero_grad()
        loss = ((module(x) - goal) ** 2).mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.9 * before
    torch.save(module.state_dict(), tmp_path / "m.pt")
    again = to_torch(fitted("plain"))
    again.load_state_dict(torch.load(tmp_path / "m.pt"))
    assert torch.equal(again(x), module(x))


# ---------------------------------------------------------------- what all formats share


@pytest.mark.parametrize("export", [to_numpy, to_js, to_c, lambda model: to_sql(model, "t"), to_torch])
def test_other_objects_are_refused(export):
    if export is to_torch:
        pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(TypeError, match="Expected a fitted DCRegressor or DCClassifier, a Model or a PLDC, got 3"):
        export(3)


def test_models_that_are_not_fitted():
    from sklearn.exceptions import NotFittedError

    exports = [to_numpy, to_js, to_c, to_onnx, lambda model: to_sql(model, "t"), lambda model: to_milp(model, [(0, 1)])]
    if importlib.util.find_spec("torch") is not None:
        exports.append(to_torch)
    for export in exports:
        for model in (DCRegressor(), DCClassifier()):
            with pytest.raises(NotFittedError):
                export(model)


@pytest.mark.parametrize("export", [to_numpy, to_js, to_c, lambda model: to_sql(model, "t")])
def test_an_estimator_its_record_and_its_function_are_alike(export):
    model = fitted("convex")  # without limits
    assert export(model) == export(model.model_)
    assert isinstance(model.function_, PLDC) and len(export(model.function_)) > 100


def test_settings_are_checked():
    f = PLDC.affine([1.0])
    with pytest.raises(ValueError, match="dialect must be one of sqlite, postgresql, duckdb, got 'oracle'"):
        to_sql(f, "t", "oracle")
    for strange in (None, 3, [], ["a", 1], np.array(["a", "b"])):
        with pytest.raises(TypeError, match="table must be a name"):
            to_sql(f, strange)
    with pytest.raises(TypeError, match="keep must be a sequence"):
        to_sql(f, "t", keep="id")
    with pytest.raises(ValueError, match="keep names \\['prediction'\\]"):
        to_sql(f, "t", keep=["prediction"])
    with pytest.raises(ValueError, match="dtype must be"):
        to_c(f, "half")
    with pytest.raises(ValueError, match="name must be one that C allows"):
        to_c(f, name="a b")
    with pytest.raises(ValueError, match="single precision"):
        to_c(PLDC.affine([1e300]), "float")
