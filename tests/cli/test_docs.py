"""The commands of the page on the shell run as they stand."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes
from tests.quick import few_kinds, few_starts

from pldc.cli import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "count"), [("shell", 7), ("explorer", 2)])
def test_commands_run(page, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X[["bmi", "s5"]].assign(price=y)[:100].to_csv("table.csv", index=False)
    text = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    commands = [shlex.split(line, comments=True) for line in re.findall(r"^   \$ pldc (.*)$", text, re.M)]
    assert len(commands) == count
    with few_kinds(), few_starts():
        assert [main(words) for words in commands] == [0] * count
    assert (tmp_path / "page.html").exists()
