"""Parts go on where they were stopped; processes that die or hang fail, and nothing else does."""

import sys
from unittest import SkipTest

import pytest
from attack import harness
from attack.__main__ import PARTS, main, summary

PART = """
import os, time
from unittest import SkipTest
from pathlib import Path

LIMIT = 3.0
SEEN = Path({seen!r})

def cases():
    return ["two", "text", "fails", "breaks", "left out", "dies", "hangs", "last"]

def check(case):
    with SEEN.open("a") as file:
        file.write(case + "\\n")
    if case == "fails":
        raise AssertionError("as it should")
    if case == "breaks":
        return 1 / 0
    if case == "left out":
        raise SkipTest("no such thing here")
    if case == "dies":
        os.abort()
    if case == "hangs":
        time.sleep(60)
    return {{"two": 2, "text": "a note"}}.get(case)
"""


@pytest.fixture
def part(tmp_path, monkeypatch):
    (tmp_path / "a_part.py").write_text(PART.format(seen=str(tmp_path / "seen")))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    return tmp_path


def test_a_part(part):
    path, told = part / "results.csv", []
    rows = harness.run("a_part", path, "abc", 2, told.append)
    outcome = {row.case: (row.outcome, row.checks) for row in rows}
    assert outcome["two"] == ("passed", 2) and outcome["text"] == ("passed", 1) and outcome["last"] == ("passed", 1)
    assert outcome["left out"] == ("skipped", 0)
    assert {case for case, (how, _) in outcome.items() if how == "failed"} == {"fails", "breaks", "dies", "hangs"}
    notes = {row.case: row.note for row in rows}
    assert notes["fails"] == "as it should" and "ZeroDivisionError" in notes["breaks"] and notes["text"] == "a note"
    assert notes["dies"] == "the process died" and notes["hangs"] == "more than 3 seconds"
    assert harness.read(path) == rows and len(told) == 8

    # Another run of the same code has nothing to do, one that was stopped in the middle of a line what is missing.
    (part / "seen").unlink()
    assert harness.run("a_part", path, "abc", 2, told.append) == rows and not (part / "seen").exists()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + "abc,te")
    harness.run("a_part", path, "abc", 1, told.append)
    assert "two" not in (part / "seen").read_text().split() and "text" in (part / "seen").read_text().split()


def test_other_code_is_run_again(part):
    (part / "b_part.py").write_text("def cases():\n    return [1]\n\ndef check(case):\n    return 7\n")
    path = part / "results.csv"
    harness.write(path, [harness.Row("old", "1", "failed", 0, 1.0, "")])
    assert [row.checks for row in harness.run("b_part", path, "new", 1, lambda line: None)] == [7]
    assert [row.code for row in harness.read(path)] == ["new"]


def test_code_has_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1")
    first = harness.code_of(["src"])
    (tmp_path / "src" / "a.py").write_text("2")
    assert harness.code_of(["src"]) != first
    (tmp_path / "src" / "a.py").write_text("1")
    assert harness.code_of(["src"]) == first


def test_one_case():
    class Module:
        @staticmethod
        def check(case):
            raise SkipTest("why")

    assert harness.one(Module, 3)[1:4] == ("3", "skipped", 0)


def test_the_exit_code_and_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("attack.__main__.RESULTS", tmp_path)
    rows = [harness.Row("c", "x", "passed", 5, 60.0, "killed: so"), harness.Row("c", "y", "failed", 0, 60.0, "why not")]
    monkeypatch.setattr("attack.__main__.run", lambda *words: rows)
    assert main(["fuzz"]) == 1
    out = capsys.readouterr().out
    assert "FAILED fuzz: y\nwhy not" in out
    lines = summary({"fuzz": rows})
    assert next(line for line in lines if line[0] == "fuzz")[2:] == ["2", "5", "1", "0", "2.0"]
    monkeypatch.setattr("attack.__main__.run", lambda *words: rows[:1])
    assert main([]) == 0 and (tmp_path / "summary.rst").read_text().count("* -") == len(PARTS) + 1
    assert (tmp_path / "mutants.rst").read_text().count("* -") == 6
    capsys.readouterr()
    monkeypatch.setattr("attack.__main__.run", lambda *words: [rows[0]._replace(note="explained: so")])
    assert main(["mutation"]) == 1 and "fewer than 90%" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["no such part"])
