"""Extreme numbers: the few cases of every day. ``make attack`` runs all of them."""

import json
import os
import subprocess
import sys

import pytest
from tests.attack import numbers
from tests.attack.numbers import KINDS, Case, cases, check, few
from tests.quick import few_kinds, few_starts


@pytest.mark.parametrize("case", list(few()), ids=str)
def test_answers_are_finite_and_add_up(case):
    with few_kinds(), few_starts(points=200, fresh=100, starts=1):
        check(case)


def test_cases_reach_the_ends():
    found = list(cases())
    assert {case.kind for case in found} == set(KINDS) and len(set(found)) == len(found)
    assert max(case.x_scale for case in found) == 1e300 and min(case.y_scale for case in found) == 1e-150
    assert max(case.x_offset for case in found) == max(case.y_offset for case in found) == 1e15


def test_the_check_can_fail(monkeypatch):
    class Wrong(KINDS["rows"].__class__):
        def predict(self, X):
            return super().predict(X) + 1.0

    monkeypatch.setitem(KINDS, "wrong", Wrong(n_pieces="rows", lam=0.02))
    with pytest.raises(AssertionError, match="explained prediction differs"):
        check(Case("wrong"))


def test_other_processes_are_compared(monkeypatch):
    check(Case("rows", elsewhere=True))
    monkeypatch.setattr(numbers, "FIT", "import sys, os; print(*['0x1', os.environ['OMP_NUM_THREADS']] * 24)")
    with pytest.raises(AssertionError, match="processes differ"):
        check(Case("rows", elsewhere=True))


FITS = """
import json
from tests.attack.numbers import Case, KINDS, table
from tests.quick import few_kinds, few_starts
out = {}
with few_kinds(), few_starts(points=200, fresh=100, starts=1):
    for kind in ("default", "rows", "classes"):
        X, y, _ = table(Case(kind))
        model = KINDS[kind].__sklearn_clone__().fit(X, y)
        values = model.predict_proba(X) if kind == "classes" else model.predict(X)
        out[kind] = [float(value).hex() for value in values.ravel()]
print(json.dumps(out))
"""


def test_processes_and_threads_of_the_blas_do_not_matter():
    """To the last bit."""
    told = []
    for threads, seed in (("1", "1"), ("2", "2")):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": seed}
        ran = subprocess.run([sys.executable, "-c", FITS], env=environment, capture_output=True, text=True, check=True)
        told.append(json.loads(ran.stdout))
    assert told[0] == told[1]
