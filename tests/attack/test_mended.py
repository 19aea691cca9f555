"""Reproductions of mended defects: what is kept is of all of them, and they still come out as they did."""

import json

import pytest
from attack import mended
from attack.harness import ROOT


def test_what_is_kept_is_of_every_case_and_each_has_changed():
    known = json.loads((mended.RESULTS / "mended.json").read_text(encoding="utf-8"))
    assert list(known) == list(mended.CASES)
    assert all(row["before"] != row["today"] and row["before"] != "–" for row in known.values())


@pytest.mark.parametrize("name", ["gradient at a row of NaN", "lam beyond all floats"])
def test_the_outcome_is_that_of_the_code(name):
    known = json.loads((mended.RESULTS / "mended.json").read_text(encoding="utf-8"))
    assert mended.outcome(ROOT, mended.CASES[name]) == known[name]["today"]


def test_what_takes_too_long_or_says_nothing_is_told(monkeypatch):
    monkeypatch.setattr(mended, "MOST_SECONDS", 0.2)
    assert "no answer" in mended.outcome(ROOT, "import time; time.sleep(60)")
    monkeypatch.undo()
    assert mended.outcome(ROOT, "raise SystemExit(3)") == "ended with 3"
