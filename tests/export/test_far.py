"""Rows far from the origin: exports lose no more than the model, whose functions are seen from a centre."""

import sqlite3

import numpy as np
import pytest
from scipy.optimize import milp
from tests.export.fits import X, quick, y
from tests.export.test_code import needs_gcc, needs_node, run_c, run_js
from tests.function.common import KINDS, random_functions

from pldc import DCRegressor
from pldc.export import to_js, to_milp, to_numpy, to_onnx, to_sql, to_torch


@pytest.fixture(scope="module", params=[1e8, 1e12])
def far(request):
    """A model of rows so far away, rows among them, and its predictions."""
    by = request.param * np.array([1.0, -1.0, 0.3])
    model = quick(DCRegressor(clip=False), X + by, y)
    assert model.function_.center is not None
    rows = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (300, 3)) + by
    return model, rows, model.predict(rows)


def check(far, found):
    wanted = far[2]
    assert np.ptp(wanted) > 1
    np.testing.assert_allclose(np.asarray(found, dtype=float).reshape(len(wanted)), wanted, rtol=1e-9, atol=1e-9)


def test_numpy(far):
    space = {}
    exec(to_numpy(far[0]), space)
    check(far, space["predict"](far[1]))


def test_a_function_alone(far):
    space = {}
    exec(to_numpy(far[0].function_), space)
    check(far, space["predict"](far[1]))


def test_sqlite(far):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (id INTEGER, x0 REAL, x1 REAL, x2 REAL)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(k, *row) for k, row in enumerate(far[1].tolist())])
    check(far, [row[1] for row in base.execute(to_sql(far[0], "t", keep=["id"]) + " ORDER BY id")])


def test_duckdb(far):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    pandas = pytest.importorskip("pandas")
    base = duckdb.connect(":memory:")
    base.register("t", pandas.DataFrame(far[1], columns=["x0", "x1", "x2"]).assign(id=np.arange(len(far[1]))))
    query = to_sql(far[0], "t", "duckdb", keep=["id"]) + " ORDER BY id"
    check(far, [row[1] for row in base.execute(query).fetchall()])


def test_postgresql(far, postgresql):
    postgresql.fill("t", dict.fromkeys(["x0", "x1", "x2"], "DOUBLE PRECISION"), far[1].tolist())
    check(far, [row[1] for row in postgresql.ask(far[0], "t")])


@needs_gcc
def test_c(far, tmp_path):
    check(far, run_c(far[0].model_, far[1], "double", tmp_path)["prediction"])


@needs_node
def test_node(far, tmp_path):
    check(far, [row[0] for row in run_js(to_js(far[0]), far[1].tolist(), tmp_path)])


def test_torch(far):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with torch.no_grad():
        check(far, to_torch(far[0])(torch.tensor(far[1])).numpy())


def test_onnx(far):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(to_onnx(far[0]).SerializeToString(), providers=["CPUExecutionProvider"])
    check(far, session.run(None, {"X": far[1]})[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2.0**27, 2.0**40])
def test_mixed_integer_programs(kind, size):
    """Of the same function at the origin and far away: the same optimum, at the same place."""
    f, by = random_functions(np.random.default_rng(3), 2)[kind], np.array([size, -size / 4])
    box = np.array([[-1.5, 1.25], [-0.5, 2.0]])
    form, near = to_milp(f.moved(by), box + by[:, None]), to_milp(f, box)
    assert form.roles.count("centred") == 2 and form.n_binaries == near.n_binaries
    found, wanted = (milp(**each.for_scipy(), options={"mip_rel_gap": 1e-9}) for each in (form, near))
    assert found.fun == pytest.approx(wanted.fun, abs=1e-5)
    x = found.x[form.inputs]
    assert (x >= box[:, 0] + by - 1e-3).all() and (x <= box[:, 1] + by + 1e-3).all()
    # no nearer than the numbers themselves: at 2^40 they are 2^-12 apart
    assert f.moved(by)(x[None])[0] == pytest.approx(found.fun, abs=1e-5 + 40 * np.spacing(size))


@pytest.mark.parametrize("middle", [900.0, 3e6])
def test_single_precision_subtracts_the_centre_that_pieces_are_of(middle):
    """A mean that single precision cannot say: 0.1 is not one of its numbers, let alone beside 3e6."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = quick(DCRegressor(clip=False), X / X.std(axis=0) + middle + 0.1, y)
    assert (model.reference_.astype(np.float32) != model.reference_).all()
    rows = (X / X.std(axis=0) + middle + 0.1).astype(np.float32)
    wanted = model.predict(rows.astype(float))
    with torch.no_grad():
        found = [to_torch(model, "float")(torch.tensor(rows)).numpy()]
    session = runtime.InferenceSession(to_onnx(model, "single").SerializeToString())
    found.append(session.run(None, {"X": rows})[0][:, 0])
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("offset", "spread", "size"), [(1e9, 1.0, 1e3), (1e6, 1.0, 1e6), (1e3, 1e-8, 1.0)])
def test_networks_take_the_centre_away_before_ramps_begin(offset, spread, size):
    """A knot added to a centre that is large beside the spread has few digits left."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    Z = np.random.default_rng(0).standard_normal((200, 1))
    rows = offset + spread * Z
    model = quick(DCRegressor(), rows, size * np.sin(3 * Z[:, 0]))
    assert model.function_.terms[0].hinges is not None and model.function_.center is not None
    session = runtime.InferenceSession(to_onnx(model, style="relu").SerializeToString())
    found, wanted = session.run(None, {"X": rows})[0][:, 0], model.predict(rows)
    assert (np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).max() <= 1e-9
    layers, x = model.function_.to_relu(), rows
    for weight, bias in layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0.0)
    np.testing.assert_allclose((x @ layers[-1][0].T + layers[-1][1])[:, 0], model.function_(rows), rtol=1e-9, atol=1e-9)
