"""Every kind of fit that the other formats are tested with, in onnxruntime."""

from dataclasses import replace

import numpy as np
import pytest
from tests.export.fits import KINDS, fitted, rows
from tests.export.test_code import check

from pldc.export import to_onnx

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'pldc[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")


def answers(record, X, dtype):
    session = onnxruntime.InferenceSession(
        to_onnx(record, dtype).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


@pytest.mark.parametrize("dtype", ["double", "single"])
@pytest.mark.parametrize("kind", KINDS)
def test_onnx(kind, dtype):
    record, X = fitted(kind).model_, rows(kind).astype(np.float32 if dtype == "single" else np.float64)
    found = answers(record, X, dtype)
    if record.classes is None:
        values = found["prediction"]
        assert values.dtype == X.dtype
        check(kind, {"prediction": values if record.levels else values[:, 0]}, single=dtype == "single")
        return
    if record.temperature is not None:
        found |= answers(replace(record, temperature=None), X, dtype)  # scores stand in for probabilities
    assert ("probabilities" in found) == (record.temperature is not None)
    named = {"label": found["label"], "score": found["scores"], "probability": found.get("probabilities")}
    check(kind, named, single=dtype == "single")
