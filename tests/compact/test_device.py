"""Products on a torch device: on the processor they are those of NumPy."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.compact.test_members import HINGED, PLAIN, folds_of, never, task_of
from tests.compact.test_objective import LOSSES, example
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor
from pldc.compact import device as module
from pldc.compact.members import Task, fit_member
from pldc.compact.objective import Table
from pldc.problem.losses import LogLoss
from pldc.problem.recipe import Rows
from pldc.problem.units import Units


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(params=[40, 1000])
def small_blocks(request, monkeypatch):
    """Blocks that divide the rows, and one that holds them all."""
    monkeypatch.setattr(module, "DEVICE_ROWS", request.param)


def on_device(objective, keep=True):
    table = objective.table
    return replace(objective, table=module.DeviceTable(table.make, table.size, table.n, table.dtype, keep, "cpu"))


@pytest.mark.usefixtures("torch", "small_blocks")
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_values_and_gradients_are_those_of_numpy(loss, keep):
    for settings in ({}, {"shape": "concave"}, {"turn": True}, {"monotone": [1, 0, -1]}):
        objective, x, _ = example(loss=loss, **settings)
        there = on_device(objective, keep)
        for ours, theirs in zip(there(x), objective(x), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(there.values(x), objective.values(x), rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("torch", "small_blocks")
def test_single_precision_stays_single():
    objective, x, _ = example()
    table = objective.table
    single = replace(objective, table=Table(table.make, table.size, table.n, np.float32, True, 1000))
    found, wanted = on_device(single), objective(x)
    assert found.values(x).dtype == np.float32
    error = [np.abs(a - b).max() for a, b in zip(found(x), wanted, strict=True)]
    assert 1e-12 < max(error) < 1e-4


def classes_task(count):
    rows = task_of().rows
    label = np.digitize(rows.y, np.quantile(rows.y, np.arange(1, count) / count)).astype(float)
    units = Units.of(rows.X, np.zeros_like(label), rows.weight)
    return Task(Rows(rows.X, label, rows.weight), units, LogLoss(), "dc", np.zeros(3, dtype=int), count)


TASKS = {
    "squared": task_of,
    "many rows": lambda: task_of(n=400),
    "median": lambda: task_of(loss=LOSSES["absolute"]),
    "two classes": lambda: classes_task(2),
    "three classes": lambda: classes_task(3),
}


@pytest.mark.usefixtures("torch", "small_blocks")
@pytest.mark.parametrize("candidate", [replace(PLAIN, rounds=1), HINGED], ids=["plain", "hinged"])
@pytest.mark.parametrize("kind", TASKS)
def test_a_descent_ends_where_that_of_numpy_does(kind, candidate):
    """In double precision, to 1e-6 of the range of y; that of scores is their own."""
    task = TASKS[kind]()
    here, there = (
        fit_member(each, candidate, folds_of(task), [0], None, never) for each in (task, replace(task, device="cpu"))
    )
    for ours, theirs in zip(there, here, strict=True):
        assert isinstance(ours.objective.table, module.DeviceTable) and type(theirs.objective.table) is Table
        values = theirs.values()
        assert np.ptp(values) > 1
        np.testing.assert_allclose(ours.values(), values, rtol=0, atol=1e-6 * np.ptp(values))


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("n_pieces", ["auto", 3])
@pytest.mark.parametrize("kind", [DCRegressor, DCClassifier])
def test_estimators(kind, n_pieces, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.abs(X[:, 0]) - X[:, 1] + 0.3 * rng.normal(size=300)
    target = y if kind is DCRegressor else np.digitize(y, [-0.5, 1.0])
    made = []
    build = module.DeviceTable.__init__
    monkeypatch.setattr(module.DeviceTable, "__init__", lambda self, *a: (made.append(a[-1]), build(self, *a))[1])
    with few_kinds(), few_starts():
        here, there = (kind(n_pieces=n_pieces, device=name).fit(X, target) for name in (None, "cpu"))
    assert made and set(made) == {"cpu"}
    if kind is DCRegressor:
        error = np.sqrt(np.mean((here.predict(X) - there.predict(X)) ** 2))
        assert error < 0.02 * np.std(y)  # many descents: their last digits part, and choices with them
    else:
        assert np.mean(here.predict(X) == there.predict(X)) > 0.97


def test_a_missing_torch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pldc\[gpu\]"):
        DCRegressor(device="cuda").fit(np.eye(5), np.arange(5.0))


def test_devices_that_are_none():
    X, y = np.eye(5), np.arange(5.0)
    with pytest.raises(ValueError, match="device must be None or the name of a device of torch"):
        DCRegressor(device=3).fit(X, y)
    with pytest.raises(ValueError, match=r"solver=Admm\(device=\.\.\.\)"):
        DCClassifier(device="cpu", n_pieces="rows").fit(X, y > 2)


@pytest.mark.usefixtures("torch")
def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="device='nonsense' cannot be used"):
        DCRegressor(device="nonsense").fit(np.eye(5), np.arange(5.0))
