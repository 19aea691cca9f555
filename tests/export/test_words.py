"""What exports say to things that are no model, and the words for precision."""

import functools

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.quick import few_kinds, few_starts

from pldc import PLDC, DCClassifier, DCRegressor
from pldc.export import to_c, to_js, to_milp, to_numpy, to_onnx, to_sql, to_torch

EXPORTS = {
    "c": to_c,
    "js": to_js,
    "numpy": to_numpy,
    "sql": functools.partial(to_sql, table="t"),
    "milp": functools.partial(to_milp, bounds=[(0, 1)] * 2),
    "onnx": to_onnx,
    "torch": to_torch,
}


def refusal(name, given):
    if name in ("onnx", "torch"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    with pytest.raises(TypeError) as caught:
        EXPORTS[name](given)
    return str(caught.value)


@pytest.fixture(scope="module")
def wrapped():
    X = np.random.default_rng(0).uniform(size=(40, 2))
    with few_kinds(), few_starts():
        search = GridSearchCV(DCRegressor(n_pieces=2), {"clip": [True]}, cv=2).fit(X, X[:, 0])
        return search, make_pipeline(StandardScaler(), DCRegressor(n_pieces=2)).fit(X, X[:, 0])


@pytest.mark.parametrize("name", EXPORTS)
def test_a_class_is_no_object(name):
    for kind in (DCRegressor, DCClassifier):
        assert refusal(name, kind).endswith(f"got the class {kind.__name__}: make an object of it, and fit that.")


@pytest.mark.parametrize("name", EXPORTS)
def test_models_inside_of_others(name, wrapped):
    search, pipeline = wrapped
    assert refusal(name, search).endswith("got a GridSearchCV: give its best_estimator_.")
    assert "got a Pipeline: give its last step, pipeline[-1], and the rows that" in refusal(name, pipeline)


@pytest.mark.parametrize("export", [to_c, to_onnx, to_torch])
def test_words_for_precision(export):
    for package in ("onnx", "torch"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    f = abs(PLDC.affine([1.0, -2.0]))

    def made(dtype):
        out = export(f, dtype)
        return out.single if export is to_torch else out

    assert made("float") == made("single") == made("float32") != made("double") == made("float64")
    for strange in ("half", "Double", None, 3, np.float32):
        with pytest.raises(ValueError, match=r"dtype must be one of \('double', 'float64', 'float', 'single', 'flo"):
            export(f, strange)


def test_arrays_for_a_torch_module():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(TypeError, match=r"x must be a tensor of rows, got ndarray: torch\.as_tensor makes one"):
        to_torch(PLDC.affine([1.0]))(np.ones((2, 1)))
