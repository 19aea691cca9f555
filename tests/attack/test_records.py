"""Mutated records and coverage-guided inputs of ``make attack``, a few; and that they see what they look for."""

import copy

import numpy as np
import pytest
from attack import coverage_guided, records
from attack.harness import one
from attack.readers import READERS


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_mutated_records_are_refused_or_can_be_used(reader):
    for k in range(2):
        assert records.check(f"{reader.name} {k}") == records.BATCH


def test_most_mutations_change_something():
    rng, [first, *_] = np.random.default_rng(0), records.valid(READERS[0])
    changed = [repr(records.mutated(copy.deepcopy(first), rng)) != repr(first) for _ in range(100)]
    assert sum(changed) > 80


def test_a_reader_that_fails_is_seen():
    rng = np.random.default_rng(0)
    assert "KeyError" in records.fault_of(lambda record: record["no such"], {}, rng)
    assert "characters" in records.fault_of(lambda record: float("x" * 5000), {}, rng)
    assert "RuntimeWarning" in records.fault_of(lambda record: np.float64(1.0) / 0.0, {}, rng)
    assert records.fault_of(lambda record: int("no number"), {}, rng) == ""


def test_without_atheris_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(coverage_guided.importlib.util, "find_spec", lambda name: None)
    row = one(coverage_guided, "from_dict")
    assert row.outcome == "skipped" and "pldc[attack]" in row.note
