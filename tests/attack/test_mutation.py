"""Mutants are what they should be, and a test that sees one ends it."""

import ast
import csv
from collections import Counter

import pytest
from attack import mutation
from attack.harness import Row
from attack.mutants import mutants, mutated

SOURCE = '''"""A module."""

LIMIT = 5


def middle(a: float, b: float = 2.0) -> float:
    """Text."""
    if a < b and not b == 0:
        raise ValueError(f"a must be at least {b + 1}")
    total = -a + max(a, b)
    total += 1
    return total / 2 if a > 1e-9 else 0.0
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "room.py"
    path.write_text(SOURCE)
    return path


def test_what_is_changed_and_what_is_not(file):
    found = mutants(file, file.parent)
    changes = {m.change for m in found}
    assert {"a < b → a <= b", "-a → a", "max → min", "total / 2 → total * 2", "b == 0 → b != 0", "2 → 3"} <= changes
    assert {"total += 1 → pass", "a > 1e-09 → a >= 1e-09", "-a + max(a, b) → -a - max(a, b)", "0.0 → 1.0"} <= changes
    assert not any("5" in change or "b + 1" in change.split("→")[-1] or "2e-09" in change for change in changes)
    assert len({str(m) for m in found}) == len(found)


def test_each_changes_the_code_at_one_place(file):
    plain = ast.unparse(ast.parse(SOURCE))
    for mutant in mutants(file, file.parent):
        changed = mutated(SOURCE, mutant)
        lines = [pair for pair in zip(plain.splitlines(), changed.splitlines(), strict=False) if pair[0] != pair[1]]
        assert lines, mutant
        compile(changed, "room.py", "exec")


def test_the_sample_is_the_same_every_time():
    first = [str(m) for m in mutation.cases()]
    mutation.all_mutants.cache_clear()
    assert [str(m) for m in mutation.cases()] == first and len(set(first)) == 240


def test_every_room_has_its_share_of_the_sample():
    count = Counter(map(mutation.room_of, mutation.cases()))
    assert count == dict.fromkeys(("problem", "select", "compact", "export"), 60)
    assert not {m.file for m in mutation.cases()} & mutation.LEFT_OUT
    with mutation.SAMPLED.open(newline="", encoding="utf-8") as file:
        assert Counter(row["file"].split("/")[0] for row in csv.DictReader(file)) == count


@pytest.mark.parametrize(("explained", "enough"), [(2, True), (3, False)])
def test_nine_of_ten_must_be_killed(explained, enough):
    notes = ["explained: a reason"] * explained + ["killed: a test failed"] * (20 - explained)
    rows = [Row("c", f"export/c.py:{k}", "passed", 1, 1.0, note) for k, note in enumerate(notes)]
    lines, found = mutation.shares(rows)
    assert found is enough
    counts = ["20", str(20 - explained), str(explained), "0", f"{5 * (20 - explained)}.0%"]
    assert ["export", *counts] in lines and lines[-1] == ["all", *counts]
    assert ["problem", "0", "0", "0", "0", "0.0%"] in lines
    survived = [*rows[:2], Row("c", "export/c.py:9", "failed", 0, 1.0, "survived 3 tests")]
    assert mutation.shares(survived)[0][-1] == ["all", "3", "0", "2", "1", "0.0%"]


def test_a_mutant_is_killed_by_a_test_that_sees_it_and_not_by_another(tmp_path, file, monkeypatch):
    """In a tree of its own: no test of the package is run."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "pldc").mkdir(parents=True)
    source = tmp_path / "src" / "pldc" / "room.py"
    source.write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['src/pldc']\n")
    (tmp_path / "tests" / "test_room.py").write_text(
        "import room\n\ndef test_a():\n    assert room.middle(3.0, 2.0) == 0.5\n\ndef test_b():\n    assert room\n"
    )
    monkeypatch.setattr(mutation, "copied", lambda: tmp_path)
    [mutant] = [m for m in mutants(source, tmp_path / "src" / "pldc") if m.change == "total / 2 → total * 2"]
    assert mutation.outcome(tmp_path, ["tests/test_room.py::test_a"]) == ""
    assert mutation.ended(mutant, ["tests/test_room.py::test_a"]) == "a test failed"
    assert mutation.ended(mutant, ["tests/test_room.py::test_b"]) == ""
    assert source.read_text() == SOURCE
    monkeypatch.setattr(mutation, "tests_of", lambda mutant: [])
    with pytest.raises(AssertionError, match="survived 0 tests"):
        mutation.check(mutant)
    monkeypatch.setitem(mutation.EXPLAINED, mutant.key, "it is a test")
    assert mutation.check(mutant) == "explained: it is a test"
