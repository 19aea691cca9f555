"""Statistics of the target must not tell it, whatever the folds are."""

import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneOut
from tests.quick import few_kinds, few_starts

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


def test_importance_is_that_of_cells_as_new_rows_have_them():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 30, 240)
    frame = pd.DataFrame({"x": rng.normal(size=240), "code": [f"c{k}" for k in code]})
    y = frame["x"].to_numpy() + 0.6 * rng.normal(size=30)[code] + rng.normal(size=240)
    with few_starts(), few_kinds():
        model = DCRegressor(n_jobs=1).fit(frame, y)
    moved = [
        np.abs(model.predict(frame) - model.predict(frame.assign(code=frame["code"].to_numpy()[order]))).mean()
        for order in (rng.permutation(240) for _ in range(40))
    ]
    assert model.feature_importances_[1] == pytest.approx(np.mean(moved), rel=0.1)  # 1.4 times as much by other folds


def test_a_column_that_changes_no_prediction_does_not_matter():
    level = np.repeat(np.arange(15), 8)
    frame = pd.DataFrame({"id": [f"u{k}" for k in level], "x": np.random.default_rng(3).normal(size=120)})
    with few_starts(), few_kinds():
        model = DCRegressor(n_jobs=1).fit(frame, frame["x"] + np.tile(np.tile([-1.0, 1.0], 4), 15))
    assert (model.predict(frame) == model.predict(frame.assign(id="u1"))).all()
    assert model.feature_importances_[0] == 0.0 < model.feature_importances_[1]


def test_importance_does_not_see_rows_without_weight():
    rng = np.random.default_rng(0)
    code, weight = rng.integers(0, 20, 160), np.arange(160) % 2
    frame = pd.DataFrame({"x": rng.normal(size=160) * (1 + 9 * (weight == 0)), "code": [f"c{k}" for k in code]})
    y = frame["x"].to_numpy() + rng.normal(size=20)[code]
    with few_starts(), few_kinds():
        model = DCRegressor(n_jobs=1).fit(frame, y, sample_weight=weight)
        fewer = DCRegressor(n_jobs=1).fit(frame[weight > 0], y[weight > 0])
    np.testing.assert_allclose(model.feature_importances_, fewer.feature_importances_, rtol=1e-9)


def test_texts_are_counted_among_rows_of_some_weight():
    frame = pd.DataFrame({"key": [f"k{k}" for k in range(60)], "x": np.arange(60.0)})
    with few_starts(), few_kinds(), pytest.warns(UserWarning, match="'key' is text, with 30 different levels in 30"):
        DCRegressor(n_jobs=1).fit(frame, np.arange(60.0), sample_weight=np.arange(60) % 2)


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


GROUPS = np.arange(N) // 6
SHARED = np.random.default_rng(1).normal(size=N // 6)[GROUPS]  # noise that the rows of a group share
LEVELS = pd.DataFrame({"level": (GROUPS % 14).astype(str), "x": RNG.normal(size=N)})  # nearly the group


@pytest.fixture(scope="module")
def grouped():
    with few_starts(), few_kinds():
        model = DCRegressor(n_jobs=1).fit(LEVELS, SHARED, groups=GROUPS)
        return model, model.simplify(LEVELS, SHARED, n_pieces=2)


def leaves_groups_whole(model):
    """Say whether no fold of a model has rows of one group on both sides: its targets are those of its group."""
    folds = model._folds
    return all(not set(folds.rows.y[train]) & set(folds.rows.y[test]) for train, test in folds.splits)


def test_groups_outlive_a_simplification(grouped):
    model, few = grouped
    assert leaves_groups_whole(model) and leaves_groups_whole(few)
    np.testing.assert_array_equal(few._folds.rows.X, model._folds.rows.X)  # the folds of the fit, not new ones
    assert few.simplification_.score_before < -0.7  # about R² − 1: noise is not predicted


def test_groups_of_other_rows_must_be_given(grouped):
    model, _ = grouped
    other = np.random.default_rng(2).permutation(N)
    with pytest.raises(ValueError, match="fitted with groups, and these are not its rows in their order: give groups"):
        model.simplify(LEVELS.iloc[other], SHARED[other], n_pieces=2)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded._grouped is None  # no training rows
    with few_starts(), few_kinds():
        few = loaded.simplify(LEVELS.iloc[other], SHARED[other], n_pieces=2, groups=GROUPS[other])
    assert leaves_groups_whole(few) and few.simplification_.score_before < -0.7


def test_splitters_of_groups_can_be_simplified_and_have_paths():
    model = DCRegressor(cv=GroupKFold(3), n_jobs=1)
    with few_starts(), few_kinds():
        few = model.fit(LEVELS, SHARED, groups=GROUPS).simplify(LEVELS, SHARED, n_pieces=2)
    assert leaves_groups_whole(few) and len(few._folds.splits) == 3
    assert len(model.path(LEVELS[:30], SHARED[:30], [0.5], groups=GROUPS[:30]).lams) == 1
