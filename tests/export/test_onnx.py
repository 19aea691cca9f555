"""ONNX graphs in onnxruntime against `predict`: among the data, far outside, on kinks and on knots."""

import sys

import numpy as np
import pytest
from tests.quick import few_kinds, few_starts

from pldc import PLDC, DCClassifier, DCRegressor, MaxAffine, Model
from pldc.export import to_onnx

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'pldc[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")

DTYPES = {"double": (np.float64, 1e-9), "single": (np.float32, 1e-5)}
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)) * [1.0, 20.0, 0.3] + [0.0, 500.0, -2.0]
Z = (X - X.mean(axis=0)) / X.std(axis=0)
Y = np.abs(Z[:, 0]) - np.abs(Z[:, 1] + Z[:, 2]) + Z[:, 2] + 0.1 * rng.normal(size=120)
COUNTS = rng.poisson(np.exp(np.clip(0.5 * Y, -2, 2)))
THREE = np.array(["low", "middle", "höchste"], dtype=object)[(Y > -0.5).astype(int) + (Y > 0.5)]

REGRESSIONS = {
    "default": (DCRegressor(), Y),  # the true default: a mean of functions, most of them with hinges
    "not clipped": (DCRegressor(clip=False), Y),
    "program": (DCRegressor(lam=0.02, clip=False), Y),
    "pieces": (DCRegressor(n_pieces=4, clip=False), Y),
    "convex": (DCRegressor(shape="convex", clip=False), Y),
    "monotone": (DCRegressor(monotone=[0, -1, 1], clip=False), Y),
    "hinged pieces": (DCRegressor(monotone=[0, -1, 1], n_pieces=3), Y),
    "counts": (DCRegressor(loss="poisson"), COUNTS),
}
CLASSES = {
    "default": (DCClassifier(), np.where(Y > 0, 7, 3)),  # the true default
    "three": (DCClassifier(), THREE),
    "program": (DCClassifier(n_pieces="rows", lam=0.05), THREE),
    "truth": (DCClassifier(), Y > 0),
    "numbers": (DCClassifier(), np.where(Y > 0, 2.0, -1.0)),
}
FITTED = {}


def fitted(kinds, name):
    """Fit once; what is not called default with less search."""
    if (key := (kinds is CLASSES, name)) not in FITTED:
        model, y = kinds[name]
        few = slice(60 if kinds is CLASSES and name != "three" else None)
        if name == "default":
            FITTED[key] = model.fit(X, y)
        else:
            with few_kinds(), few_starts():
                FITTED[key] = model.fit(X[few], y[few])
    return FITTED[key]


def kinks(f, count=150):
    """Points between rows where another piece takes over, found by halving."""
    a, b = X[rng.integers(len(X), size=count)], X[rng.integers(len(X), size=count)]

    def pieces(points):
        local = f.local(points)
        return np.column_stack([local.plus, local.minus])

    here = pieces(a)
    for _ in range(60):
        middle = (a + b) / 2
        same = (pieces(middle) == here).all(axis=1, keepdims=True)
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return a


def points_of(model, functions):
    """More than a thousand points: rows, around them, far outside, kinks and knots."""
    center, spread = model.reference_, X.std(axis=0)
    far = [center + size * spread * rng.normal(size=(200, 3)) for size in (3, 30, 1000)]
    near = X[rng.integers(len(X), size=300)] + 0.2 * spread * rng.normal(size=(300, 3))
    at = [X, near, *far, *(kinks(f) for f in functions[-1:])]
    for hinges in {t.hinges for f in functions for t in f.terms if t.hinges is not None}:
        for j, knots in enumerate(hinges.knots):
            on = np.repeat(X[:5], len(knots), axis=0)
            on[:, j] = np.tile(knots, 5)
            at.append(on)
    out = np.vstack(at)
    assert len(out) >= 1000
    return out


def run(graph, points):
    names = [output.name for output in graph.graph.output]
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {"X": points}), strict=True))


def assert_close(found, expected, size, tol):
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    assert (np.abs(found - expected) <= tol * size).all(), np.max(np.abs(found - expected) / size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REGRESSIONS)
def test_regression(name, dtype):
    model, (kind, tol) = fitted(REGRESSIONS, name), DTYPES[dtype]
    points = points_of(model, [model.function_]).astype(kind)
    graph = to_onnx(model, dtype=dtype, explain=True)
    found, wide = run(graph, points), points.astype(float)
    expected = model.predict(wide)
    size = np.abs(expected) + Y.std()
    assert found["prediction"].dtype == kind
    assert_close(found["prediction"][:, 0], expected, size, tol)

    told, raw = model.explain(wide, neighbourhood=0), model.function_(wide)
    total = found["intercept"][:, 0] + found["contributions"].sum(axis=1)
    assert_close(total, raw, np.abs(raw) + size + np.abs(found["contributions"]).sum(axis=1), tol)
    clear = told.room > (1e-9 if dtype == "double" else 1e-2)  # off the kinks slopes are those of one piece
    assert clear.sum() > 100
    assert_close(found["slopes"][clear], told.slopes[clear], np.abs(told.slopes).max(axis=0), tol)
    expected = told.contributions[clear]
    assert_close(found["contributions"][clear], expected, np.abs(expected) + size[clear, None], tol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["default", "program", "pieces", "hinged pieces", "counts"])
def test_networks_of_gemm_and_relu_alone(name, dtype):
    model, (kind, tol) = fitted(REGRESSIONS, name), DTYPES[dtype]
    points = points_of(model, [model.function_]).astype(kind)
    graph = to_onnx(model, dtype=dtype, style="relu")
    nodes = [node.op_type for node in graph.graph.node]
    if dtype == "single":  # rows and answers alone are
        assert (nodes.pop(0), nodes.pop()) == ("Cast", "Cast")
    assert set(nodes) == {"Gemm", "Relu"}
    for node in graph.graph.node:
        if node.op_type == "Gemm":
            assert {a.name for a in node.attribute} == {"alpha", "beta", "transA", "transB"}
    expected = model.predict(points.astype(float))
    assert_close(run(graph, points)["prediction"][:, 0], expected, np.abs(expected) + Y.std(), tol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, dtype):
    model, (kind, tol) = fitted(CLASSES, name), DTYPES[dtype]
    points = points_of(model, model.functions_).astype(kind)
    wide = points.astype(float)
    found, scores = run(to_onnx(model, dtype=dtype, explain=True), points), model.model_.scores(wide)
    size = np.abs(scores).max(axis=1) + 1.0
    best = np.sort(scores, axis=1)
    clear = best[:, -1] - best[:, -2] > 10 * tol * size
    assert clear.mean() > 0.8
    assert (found["label"][clear] == model.predict(wide)[clear]).all()
    assert (np.abs(found["probabilities"] - model.predict_proba(wide)) <= 10 * tol * size[:, None]).all()
    near = np.abs(wide - X.mean(axis=0)) < 4 * X.std(axis=0)
    near = near.all(axis=1)
    assert_close(found["probabilities"][near], model.predict_proba(wide)[near], 1.0, tol)
    total = found["intercept"] + found["contributions"].sum(axis=2)
    assert_close(total, scores, size[:, None] + np.abs(found["contributions"]).sum(axis=2), tol)
    slopes = np.stack([f.gradient(wide) for f in model.functions_], axis=1)
    rooms = np.min([f.room(wide, X.std(axis=0)) for f in model.functions_], axis=0)
    off = rooms > (1e-9 if dtype == "double" else 1e-2)
    assert_close(found["slopes"][off], slopes[off], np.abs(slopes).max(axis=(0, 1)) + 1e-9, tol)


def test_scores_stand_in_for_probabilities_that_are_not_there():
    from dataclasses import replace

    model = fitted(CLASSES, "program").model_
    found = run(to_onnx(replace(model, temperature=None)), X)
    assert set(found) == {"label", "scores"}
    assert_close(found["scores"], model.scores(X), 1.0, 1e-9)


def test_a_function_stands_for_itself():
    f = abs(PLDC.affine([1.0, -2.0])) - 3.0 * abs(PLDC.affine([0.5, 1.0], 1.0))
    points = 100.0 * rng.normal(size=(1000, 2))
    for style in ("max", "relu"):
        assert_close(run(to_onnx(f, style=style), points)["prediction"][:, 0], f(points), 1.0, 1e-9)
    assert [node.op_type for node in to_onnx(f).graph.node] == [
        *("Gemm", "Gemm", "ReduceMax", "ReduceMax", "Sub", "Identity")
    ]


@pytest.mark.parametrize("limits", [(0.0, np.inf), (-np.inf, 0.0), (-1.0, 1.0), (-np.inf, np.inf)])
@pytest.mark.parametrize("style", ["max", "relu"])
def test_limits_of_one_side(limits, style):
    model = Model("program", (PLDC.affine([1.0, -2.0]),), np.zeros(2), np.ones(2), limits=limits)
    points = 100.0 * rng.normal(size=(100, 2))
    wanted = np.clip(points @ [1.0, -2.0], *limits)
    assert_close(run(to_onnx(model, style=style), points)["prediction"][:, 0], wanted, 1.0, 1e-9)


def test_rows_far_from_the_origin():
    far = X + 1e11
    points = far[::2] + rng.normal(size=(60, 3))
    model = DCRegressor(lam=0.05, clip=False).fit(far, Y)
    assert_close(run(to_onnx(model), points)["prediction"][:, 0], model.predict(points), 1.0, 1e-9)
    f = abs(PLDC.affine([1.0, -2.0])).moved([1e12, -1e12])
    points = rng.normal(size=(100, 2)) + [1e12, -1e12]
    assert_close(run(to_onnx(f), points)["prediction"][:, 0], f(points), 1.0, 1e-9)


def test_the_comparison_can_fail():
    model = fitted(REGRESSIONS, "pieces")
    f, points = model.function_, points_of(model, [model.function_])
    slopes = f.plus.slopes.copy()
    slopes[0, 0] *= 1 + 1e-7
    other = PLDC(MaxAffine(slopes, f.plus.offsets), f.minus)
    with pytest.raises(AssertionError):
        assert_close(run(to_onnx(other), points)["prediction"][:, 0], f(points), np.abs(f(points)) + Y.std(), 1e-9)


def test_names_of_features_are_in_the_metadata():
    pandas = pytest.importorskip("pandas")
    model = DCRegressor(lam=0.1).fit(pandas.DataFrame(X, columns=["a", "b b", "ç"]), Y)
    [note] = to_onnx(model).metadata_props
    assert (note.key, note.value.split("\n")) == ("feature_names", ["a", "b b", "ç"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"dtype": "half"}, "dtype must be one of"), ({"style": "tree"}, "style must be one of")],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        to_onnx(fitted(REGRESSIONS, "pieces"), **settings)


def test_what_cannot_be_exported_is_refused():
    with pytest.raises(TypeError, match="Expected a fitted DCRegressor or DCClassifier, a Model or a PLDC, got 3"):
        to_onnx(3)
    with pytest.raises(ValueError, match="style='relu'"):
        to_onnx(fitted(CLASSES, "truth"), style="relu")
    with pytest.raises(ValueError, match="no explanation"):
        to_onnx(fitted(REGRESSIONS, "pieces"), style="relu", explain=True)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pldc\[onnx\]"):
        to_onnx(PLDC.affine([1.0]))
