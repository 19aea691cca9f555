"""Passes from one start: over many blocks they end where they end over all rows as one table in memory."""

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCRegressor
from pldc.compact.polish import Total, polished
from pldc.function import PLDC
from pldc.problem.recipe import Rows

N, SAMPLE = 12_000, 1500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, 3))
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(N)
    return Rows(X, y, rng.integers(1, 4, N) / 2)


def functions_of(fits):
    return PLDC.mean([fit.functions(0, 0)[0] for fit in fits])


@pytest.mark.parametrize("size", [311, 5000])
def test_passes_from_one_start_are_those_in_memory(rows, monkeypatch, size):
    starts = []

    def seen(fits, total, stop, told):
        starts.append(fits)
        polished(fits, total, stop, told)

    monkeypatch.setattr("pldc.estimators.sources.FEWEST", SAMPLE)
    monkeypatch.setattr("pldc.estimators.sources.MOST", SAMPLE)
    monkeypatch.setattr("pldc.compact.search.polished", seen)
    with few_kinds():
        model = DCRegressor().fit([tuple(each[k : k + size] for each in rows) for k in range(0, N, size)])
    assert model.passes_ == (N, SAMPLE, 16, 0)
    ended = []
    memory = Total(N, lambda evaluation: evaluation(rows))
    polished(starts[0], memory, lambda: False, lambda done, of, fits: ended.append(functions_of(fits)))
    begun, alone = ended[0], ended[-1]
    scale = np.ptp(rows.y)
    assert np.abs(alone(rows.X) - model.function_(rows.X)).max() < 1e-6 * scale
    assert np.abs(begun(rows.X) - alone(rows.X)).max() > 1e-4 * scale  # the passes moved it
