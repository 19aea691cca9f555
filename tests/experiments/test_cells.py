import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.cells import mend, read, run_missing

COLUMNS = ("name", "value")


def square(k):
    if k == 3:
        raise ImportError("no such rival", name="rival")
    return [{"name": f"cell {k}", "value": k * k}, {"name": f"cell {k} again", "value": -k}]


def test_rows_are_appended_and_what_is_not_installed_is_left_out(tmp_path, capsys):
    path = tmp_path / "results" / "study.csv"
    run_missing(path, COLUMNS, square, [(1,), (3,)], 1)
    run_missing(path, COLUMNS, square, [(2,)], 1)
    assert [(row["name"], int(row["value"])) for row in read(path)] == [
        ("cell 1", 1),
        ("cell 1 again", -1),
        ("cell 2", 4),
        ("cell 2 again", -2),
    ]
    told = capsys.readouterr().err
    assert "study: 1 of 2" in told and "min left" in told and "left out: rival" in told


def test_a_line_cut_short_is_dropped(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text("name,value\ncell 1,1\ncell 2,", encoding="utf-8")
    mend(path, COLUMNS)
    assert path.read_text(encoding="utf-8") == "name,value\ncell 1,1\n"
    mend(path, COLUMNS)
    assert len(read(path)) == 1


def test_a_file_of_another_study_is_refused(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text("other,columns\n", encoding="utf-8")
    with pytest.raises(ValueError, match="move it away"):
        mend(path, COLUMNS)


SLOW = """
import sys, time
from pathlib import Path
from experiments.cells import read, run_missing
path = Path(sys.argv[1])
def cell(k):
    time.sleep(0.05)
    return [{"name": k, "value": time.time_ns()}]
known = {int(r["name"]) for r in read(path)}
run_missing(path, ("name", "value"), cell, [(k,) for k in range(20) if k not in known], 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_killed_run_goes_on_without_repeating_cells(tmp_path):
    path = tmp_path / "study.csv"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.Popen([sys.executable, "-c", SLOW, str(path)], env=environment, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while time.monotonic() < end and not (path.exists() and len(read(path)) >= 3):
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = read(path)
    assert 3 <= len(before) < 20
    subprocess.run([sys.executable, "-c", SLOW, str(path)], env=environment, check=True, capture_output=True)
    after = read(path)
    assert after[: len(before)] == before
    assert sorted(int(row["name"]) for row in after) == list(range(20))
    with path.open(newline="", encoding="utf-8") as file:
        assert all(len(row) == 2 for row in csv.reader(file))
