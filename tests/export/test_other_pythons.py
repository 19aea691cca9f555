"""Model files of another Python: ``files/python_3.*.json`` holds a model and what it predicted there.

Made by ``python -m tests.export.test_other_pythons`` under Python 3.13 (NumPy 2.5) and 3.11 (NumPy of the pins).
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import pldc

FILES = Path(__file__).parent / "files"
PANDAS = pytest.importorskip("pandas")


def frame():
    """Return a table with a category, gaps and a boolean, the same everywhere."""
    k = np.arange(60)
    size = np.where(k % 7 == 0, np.nan, np.sin(k * 1.7))
    return PANDAS.DataFrame({"size": size, "kind": np.array(["a", "b", "c"])[k % 3], "new": k % 2 == 0, "age": k / 10})


def targets():
    k = np.arange(60)
    return np.abs(np.sin(k * 1.7)) + (k % 3) + k / 20


def main():
    """Fit, save and predict."""
    table = frame()
    for name, model, y in (
        ("regression", pldc.DCRegressor(n_pieces=2), targets()),
        ("classes", pldc.DCClassifier(n_pieces=2), np.array(["low", "high"])[(targets() > 2.5).astype(int)]),
    ):
        place = FILES / f"python_{sys.version_info[0]}.{sys.version_info[1]}_{name}.json"
        model.fit(table, y).save_model(place)
        answers = model.predict_proba(table) if name == "classes" else np.column_stack(model.predict_interval(table))
        place.with_suffix(".answers").write_text(json.dumps(answers.tolist()), encoding="utf-8")


@pytest.mark.parametrize("version", ["3.11", "3.13"])
@pytest.mark.parametrize("name", ["regression", "classes"])
def test_files_of_other_pythons_say_the_same(version, name):
    place = FILES / f"python_{version}_{name}.json"
    model = pldc.load(place)
    found = model.predict_proba(frame()) if name == "classes" else np.column_stack(model.predict_interval(frame()))
    wanted = np.array(json.loads(place.with_suffix(".answers").read_text(encoding="utf-8")))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert np.ptp(wanted, axis=0).min() > 0.1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
