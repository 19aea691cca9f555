import json
import os

import numpy as np
import pytest
from experiments import data

needs_data = pytest.mark.skipif(not os.environ.get("PLDC_DATA"), reason="PLDC_DATA is not set")


def test_without_the_variable_the_error_tells_how_to_set_it(monkeypatch):
    monkeypatch.delenv("PLDC_DATA", raising=False)
    with pytest.raises(RuntimeError, match="Set the environment variable PLDC_DATA"):
        data.load("rock")


def test_a_folder_without_an_index_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PLDC_DATA", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no datasets\.json"):
        data.index()


def test_a_changed_file_is_noticed(monkeypatch, tmp_path):
    entry = {"name": "tiny", "file": "tiny.csv", "sha256": "0" * 64}
    (tmp_path / "datasets.json").write_text(json.dumps({"datasets": [entry]}))
    (tmp_path / "tiny.csv").write_text("a,target\n1,2\n")
    monkeypatch.setenv("PLDC_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="checksum"):
        data.load("tiny")
    with pytest.raises(KeyError, match="there are tiny"):
        data.load("huge")


@needs_data
def test_every_data_set_has_the_shape_its_index_says():
    for name, entry in data.index().items():
        loaded = data.load(name)
        assert loaded.X.shape == (entry["n"], entry["d"])
        assert loaded.y.shape == (entry["n"],)
        assert np.isnan(loaded.X).sum() == entry["missing_features"]
        assert list(loaded.features) == entry["features"]
