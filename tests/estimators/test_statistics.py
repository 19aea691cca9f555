"""Statistics of the target must not tell it, whatever the folds are."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import LeaveOneOut

from pldc import DCRegressor, Quantile
from pldc.compact.start import quantile_knots
from pldc.export import to_sql

RNG = np.random.default_rng(0)
N = 90
FRAME = pd.DataFrame({"level": RNG.integers(0, 15, N).astype(str), "x": RNG.normal(size=N)})
NOISE = RNG.normal(size=N)


@pytest.mark.parametrize("cv", [5, 20, LeaveOneOut()], ids=str)
def test_noise_is_not_predicted_at_rows_left_out(cv):
    model = DCRegressor(cv=cv, max_seconds=3, n_jobs=1).fit(FRAME, NOISE)
    assert 1 + model.cv_score_ < 0.1  # about R²; 0.996 where every fold had statistics of all rows but one


def test_levels_that_differ_by_rounding_are_one_knot():
    days = np.arange(200.0)
    wave = np.cos(2 * np.pi * np.mod(days + 3, 7) / 7)
    assert len(np.unique(wave)) > 4  # cosines of Monday and Sunday differ in the last bit
    (knots,) = quantile_knots(wave[:, None], 10, None).knots
    assert len(knots) == 4 and np.diff(knots).min() > 0.1
    small = 1e-9 * np.arange(5.0)  # levels that are small, and differ
    assert len(quantile_knots(small[:, None], 10, None).knots[0]) == 5


def test_sqlite_is_told_of_a_column_that_is_not_there():
    model = DCRegressor(lam=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 1.0])
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (x0 REAL)")
        base.execute("INSERT INTO t VALUES (0.5)")
        assert base.execute(to_sql(model, "t")).fetchone()[0] == pytest.approx(model.predict([[0.5]])[0])
        base.execute("CREATE TABLE u (wrong REAL)")
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            base.execute(to_sql(model, "u"))


def test_several_levels_of_three_rows_have_no_certificate():
    model = DCRegressor(loss=Quantile([0.1, 0.9])).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    assert model.model_.program is None and not hasattr(model, "certificate_")
