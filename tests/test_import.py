"""What importing the package costs and drags along."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_adds_under_a_second_to_scikit_learn():
    code = (
        "import time, sklearn.base, sklearn.utils.validation, sklearn.exceptions\n"
        "start = time.perf_counter(); import pldc; print(time.perf_counter() - start)"
    )
    assert min(float(run(code)) for _ in range(3)) < 1.0


def test_import_brings_no_optional_package():
    optional = ["matplotlib", "torch", "onnx", "dask", "pandas", "polars", "pyarrow", "cvxpy"]
    code = (  # scikit-learn itself may load pandas: only what comes on top counts
        "import sys, sklearn.base, sklearn.utils.validation; before = set(sys.modules)\n"
        f"import pldc; print([m for m in {optional} if m in set(sys.modules) - before])"
    )
    assert run(code).strip() == "[]"


def test_the_spine_needs_no_scikit_learn():
    loaded = "'sklearn' in sys.modules"
    code = f"import sys, pldc, pldc.fit; print({loaded}, hasattr(pldc, 'DCRegressor'), {loaded})"
    assert run(code).split() == ["False", "True", "True"]


def test_public_names():
    import pldc

    names = [
        "Absolute",
        "Admm",
        "Auto",
        "Certificate",
        "ClassExplanation",
        "ClassSimplification",
        "Comparison",
        "CrossValidation",
        "DCClassifier",
        "DCRegressor",
        "Exact",
        "Explanation",
        "Hinge",
        "Hinges",
        "Huber",
        "Line",
        "LogLoss",
        "Loss",
        "MaxAffine",
        "Model",
        "PLDC",
        "Poisson",
        "Quantile",
        "Seminorm",
        "Simplification",
        "Squared",
        "can_interpolate",
        "certify",
        "from_dict",
        "interpolate",
        "load",
    ]
    assert sorted(pldc.__all__) == names
    assert all(hasattr(pldc, name) for name in pldc.__all__)
