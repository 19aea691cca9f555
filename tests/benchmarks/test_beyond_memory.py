"""The benchmark of large tables runs, keeps what is done, and writes its tables."""

import json

import pytest

pytest.importorskip("pyarrow")
beyond_memory = pytest.importorskip("benchmarks.beyond_memory")


def test_a_tiny_run(tmp_path, monkeypatch, capsys):
    path = tmp_path / "small.json"
    done = {"rows": 100, "seconds": 2.0, "megabytes": 300.0, "error": 3.0, "noise": 2.5, "load": 0.5}
    path.write_text(json.dumps({"cells": {"in memory: 180": done}}))
    monkeypatch.setattr(beyond_memory, "PIECE", 300)
    beyond_memory.main(["--rows", "900", "--no-flights", "--results", str(path)])
    cells = json.loads(path.read_text())["cells"]
    assert cells["in memory: 180"] == done  # it was there
    (new,) = (cell for name, cell in cells.items() if name.startswith("Parquet"))
    assert new["rows"] == 900 and 50 < new["megabytes"] < 2000
    assert new["noise"] < new["error"] < 60
    assert "900" in path.with_suffix(".rst").read_text() and "20000.00" in path.with_suffix(".rst").read_text()
