"""What modules and sources do with rows of another shape, and with numbers that single precision cannot say."""

import numpy as np
import pandas as pd
import pytest
from tests.export.test_columns import of_levels
from tests.quick import few_kinds

from pldc import PLDC, DCRegressor
from pldc.export import to_c, to_numpy, to_onnx, to_torch

SHAPES = [(5, 1), (5, 2), (5, 4), (3,), (), (1, 5, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_rows(shape):
    f, space = abs(PLDC.affine([1.0, 2.0, 3.0])), {}
    exec(to_numpy(f), space)
    with pytest.raises(ValueError, match=r"X must be an array of rows, of shape \(n, 3\); it has shape"):
        space["predict"](np.ones(shape))
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(ValueError, match=r"x must be a tensor of rows, of shape \(n, 3\); it has shape"):
        to_torch(f)(torch.ones(shape))


def test_rows_that_are_none_and_more_columns_than_the_model_has():
    space = {}
    exec(to_numpy(of_levels(["1", "2", "red"])), space)
    assert space["predict"](np.empty((0, 1), dtype=object)).shape == (0,)
    with pytest.raises(ValueError, match=r"of shape \(n, 1\); it has shape \(2, 2\)"):
        space["predict"](np.array([["red", 1], ["1", 2]], dtype=object))


@pytest.mark.parametrize(("export", "dtype"), [(to_c, "float"), (to_onnx, "single"), (to_torch, "float")])
def test_numbers_beyond_single_precision(export, dtype):
    """All say so alike; predictions of such a model were infinite in two of them."""
    for module in ("torch", "onnx"):
        pytest.importorskip(module)
    with pytest.raises(ValueError, match=r"-1e\+150 is beyond all numbers of single precision: take dtype='double'"):
        export(PLDC.affine([1.0, -1e150]), dtype)
    export(PLDC.affine([1.0, 1e30]), dtype)


def test_lengths_of_time_are_numbers_of_days():
    days = pd.to_timedelta(np.arange(1.0, 41.0), unit="D")
    for kind, other in (("plain", np.arange(40.0)), ("mixed", np.array(["a", "b"] * 20, dtype=object))):
        frame = pd.DataFrame({"wait": days, "other": other})
        with few_kinds():
            model = DCRegressor().fit(frame, np.abs(np.arange(40.0) - 20.0))
        space, cells = {}, frame.to_numpy(dtype=object)
        exec(to_numpy(model), space)
        with pytest.raises(TypeError, match="Lengths of time must be numbers of days here"):
            space["predict"](cells)
        cells[:, 0] = np.arange(1.0, 41.0)
        np.testing.assert_allclose(space["predict"](cells), model.predict(frame), rtol=1e-9, err_msg=kind)
    with pytest.raises(TypeError, match="Lengths of time"):
        space["predict"](np.zeros((2, 2), dtype="timedelta64[s]"))
