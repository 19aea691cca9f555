"""Models of pldc as steps of pipelines that skl2onnx converts."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: pip install skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")

rng = np.random.default_rng(1)
X = rng.normal(size=(80, 3)) * [1.0, 10.0, 100.0]
Y = np.abs(X[:, 0]) + 0.1 * X[:, 1] - np.abs(0.01 * X[:, 2])


@pytest.fixture(scope="module")
def regression():
    with few_kinds():
        return make_pipeline(StandardScaler(), DCRegressor()).fit(X, Y)


def run(graph, points):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": points}), [output.name for output in session.get_outputs()]


@pytest.mark.parametrize(("kind", "tol"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_a_regression_after_a_scaler(regression, kind, tol):
    graph = skl2onnx.to_onnx(regression, X[:1].astype(kind))
    points = (3.0 * rng.normal(size=(1000, 3)) * X.std(axis=0)).astype(kind)
    [found], names = run(graph, points)
    assert names == ["variable"] and found.shape == (1000, 1) and found.dtype == kind
    assert np.abs(found[:, 0] - regression.predict(points.astype(float))).max() <= tol * 10


def test_integers_as_input():
    whole = rng.integers(-5, 5, size=(60, 2))
    model = DCRegressor(lam=0.05).fit(whole, np.abs(whole).sum(axis=1))
    [found], _ = run(skl2onnx.to_onnx(model, whole[:1]), whole)
    assert np.abs(found[:, 0] - model.predict(whole)).max() < 1e-5


@pytest.mark.parametrize("labels", [["a", "ö", "c"], [3, 7, 11], [False, True, True]], ids=["text", "numbers", "truth"])
def test_classes_after_a_scaler(labels):
    y = np.array(labels)[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
    with few_kinds():
        model = make_pipeline(StandardScaler(), DCClassifier()).fit(X, y)
    (label, probabilities), names = run(skl2onnx.to_onnx(model, X[:1]), X)
    assert names == ["label", "probabilities"]
    assert (label == model.predict(X)).all()
    assert np.abs(probabilities - model.predict_proba(X)).max() < 1e-9


def test_columns_that_go_different_ways():
    steps = ColumnTransformer([("scale", StandardScaler(), [0, 2]), ("squeeze", MinMaxScaler(), [1])])
    model = make_pipeline(steps, DCRegressor(lam=0.05)).fit(X, Y)
    [found], _ = run(skl2onnx.to_onnx(model, X[:1]), X)
    assert np.abs(found[:, 0] - model.predict(X)).max() < 1e-9


def test_an_old_opset_is_refused(regression):
    with pytest.raises(ValueError, match="at least 18"):
        skl2onnx.to_onnx(regression, X[:1], target_opset=15)
