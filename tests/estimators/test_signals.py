"""Ctrl-C as a terminal sends it: a signal to every process of the group, once or twice, while a fit runs."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="groups of processes are POSIX")

CHILD = """
import json, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell would ignore it
import numpy as np
from sklearn.exceptions import NotFittedError
import pldc
from pldc.solve.workers import blas_threads
rng = np.random.default_rng(0)
X = rng.normal(size=(ROWS, 4))
y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=ROWS)
model = pldc.MODEL
before = blas_threads()
print("begin", flush=True)
how = "ended by itself"
try:
    model.fit(X, y > 0.5 if isinstance(model, pldc.DCClassifier) else y)
except KeyboardInterrupt:
    how = "interrupted"
signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one may be on its way
try:
    usable = bool(np.isfinite(model.predict(X)).all())
except NotFittedError:
    usable = False
left = [t.name for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]
print(json.dumps({"how": how, "usable": usable, "threads": left, "blas": blas_threads() == before}), flush=True)
"""


def interrupted(model, rows, moment, again=None):
    """Fit in a group of its own, send it Ctrl-C after `moment` seconds, and once more; return what the child tells."""
    program = CHILD.replace("ROWS", str(rows)).replace("MODEL", model)
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.stdout.readline() == "begin\n"
        for wait in (moment, again):
            if wait is not None:
                time.sleep(wait)
                os.killpg(child.pid, signal.SIGINT)
        told, complaints = child.communicate(timeout=100)
        end = time.monotonic() + 20.0  # what was asked to end may take a moment
        while alive(child.pid) and time.monotonic() < end:
            time.sleep(0.1)
        left = alive(child.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    return json.loads(told.splitlines()[-1]) | {"left": left}, complaints


def alive(group):
    """Processes of a group that run: not those that have ended, and wait for a parent that is gone to hear of it."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state != "Z":
                found.append(stat.parent.name)
    return found


def test_few_pieces_with_threads_leave_a_model():
    told, complaints = interrupted("DCRegressor(n_pieces=4, n_jobs=2)", 3000, 0.5)
    assert told == {"how": "interrupted", "usable": True, "threads": [], "blas": True, "left": []}, complaints


def test_a_second_ctrl_c_ends_it_all_the_same():
    told, complaints = interrupted("DCClassifier(n_jobs=2)", 3000, 0.5, again=0.05)
    assert told["how"] == "interrupted" and told["threads"] == [] and told["blas"] and told["left"] == [], complaints


@pytest.mark.parametrize("again", [None, 0.2])
def test_processes_of_the_folds_end_with_their_parent(again):
    told, complaints = interrupted("DCRegressor(n_pieces='rows', n_jobs=2)", 600, 1.0, again)
    assert told["how"] == "interrupted" and told["blas"] and told["left"] == [], complaints
