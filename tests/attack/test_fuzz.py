"""The fuzzer of ``make attack``, for 2000 calls; and that it can see what it looks for."""

import io
from collections import Counter
from contextlib import redirect_stdout

import numpy as np
import pytest
from attack import fuzz
from attack.limits import TooLong, memory, seconds
from attack.targets import Target, public, targets

import pldc
from pldc import DCRegressor

CALLS, WORKERS = 2000, 4


def outcome_of(call, **named):
    return fuzz.judged(Target("test", call), [], named)[1]


@pytest.mark.parametrize("part", range(WORKERS))
def test_calls_end_in_a_result_or_in_a_sentence(part):
    found = [
        outcome
        for number in range(part * CALLS // fuzz.BATCH // WORKERS, (part + 1) * CALLS // fuzz.BATCH // WORKERS)
        for outcome in fuzz.batch(number)
    ]
    assert [f"{each.target}: {each.fault}" for each in found if each.fault] == []
    ended = Counter(each.ended for each in found)
    assert ended["returned"] > 0.5 * len(found) and ended["ValueError"] > 0.05 * len(found)


def test_everything_public_is_called():
    names = {target.name for target in targets()}
    assert {f"pldc.{name}" for name in pldc.__all__} <= set(public())
    assert {
        "pldc.PLDC.prune",
        "pldc.DCRegressor.fit",
        "pldc.certify",
        "pldc.view.plot_path",
        "pldc.PLDC.__add__",
    } <= names
    assert all(
        any(each.startswith(f"pldc.{name}") for each in names) for name in pldc.__all__ if name not in ("Loss", "Model")
    )


def test_wrong_kinds_of_error_are_seen():
    def fail(error):
        raise error

    for error in (
        AttributeError("x"),
        IndexError("x"),
        OverflowError("x"),
        KeyError("x"),
        MemoryError(),
        ImportError("x"),
    ):
        assert type(error).__name__ in outcome_of(lambda error=error: fail(error))
    assert outcome_of(lambda: fail(ValueError("lam must be positive"))) == ""
    assert outcome_of(lambda: fail(ImportError("pip install 'pldc[plot]'"))) == ""
    assert "characters" in outcome_of(lambda: fail(ValueError("x" * 5000)))
    assert "truth value" in outcome_of(lambda: bool(np.zeros(2)))


def count_on():
    """Never end, in Python, where signals are heard."""
    while True:
        pass


def test_warnings_time_and_memory_are_seen():
    assert "encountered" in outcome_of(lambda: np.array([1.0]) / 0.0)
    assert "ComplexWarning" in outcome_of(lambda: np.array([1j]).astype(float))
    with pytest.raises(TooLong), seconds(0.05):
        count_on()
    with pytest.raises(MemoryError), memory(2**26):
        np.ones(2**27)


def test_half_a_fit_is_seen(monkeypatch):
    model, scene = DCRegressor(lam=0.1), fuzz.Scene(np.random.default_rng(0))
    assert "not fitted" in fuzz.fault_of_state(model, True, scene)
    model.fit(scene.X, scene.y)
    assert fuzz.fault_of_state(model, True, scene) == ""
    assert "fitted by a fit that raised" in fuzz.fault_of_state(model, False, scene)


def test_changed_arguments_are_seen():
    def spoil(X):
        X[...] = 0

    with redirect_stdout(io.StringIO()):
        found = [fuzz.attempt(Target("spoil", spoil), np.random.default_rng(k)) for k in range(20)]
    assert any("changed an argument" in each.fault for each in found)
