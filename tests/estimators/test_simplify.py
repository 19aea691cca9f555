"""One function of few pieces, learned from a fit: simplify, and a number as n_pieces."""

import logging
import pickle
import re
from itertools import groupby

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.problems import corner
from tests.quick import few_kinds, few_starts

from pldc import DCRegressor


@pytest.fixture(scope="module")
def table():
    return corner()


@pytest.fixture(scope="module")
def plain(table):
    return DCRegressor().fit(*table)


@pytest.fixture(scope="module")
def grid():
    return np.random.default_rng(99).normal(scale=1.5, size=(200, 2))


@pytest.fixture(autouse=True, scope="module")
def _quick_students():
    with few_starts():
        yield


@pytest.fixture(scope="module")
def simple(plain, table):
    return plain.simplify(*table, 4)


def test_simplify_gives_one_function_of_few_pieces(simple, plain, table):
    assert simple.function_.is_plain and max(simple.function_.n_pieces) <= 4
    assert simple is not plain and simple.n_pieces == 4 and plain.n_pieces == "auto"
    assert 0 < simple.fidelity_ <= 1 and simple.fidelity_ == simple.simplification_.fidelity
    assert simple.simplification_.n_pieces == simple.function_.n_pieces
    assert simple.score(*table) > 0.9


def test_simplify_says_what_it_costs(simple, plain, table):
    about = simple.simplification_
    assert about.score_before == pytest.approx(plain.cv_score_, rel=1e-6)
    assert simple.cv_score_ == about.score < 0
    assert about.score > -0.3
    text = str(about)
    assert "4 − 4 pieces" in text or " − ".join(map(str, about.n_pieces)) in text
    assert f"{about.score:.4g}" in text and f"{about.score_before:.4g}" in text and f"{about.fidelity:.3f}" in text


def test_what_is_said_of_a_simplification_is_of_rows_left_out(simple, plain):
    folds, about = plain._folds, simple.simplification_
    rows = folds.rows
    assert (rows.weight == 1).all()
    errors, likeness, before = [], [], []
    for (few,), (many,), (train, test) in zip(simple._folds.functions, folds.functions, folds.splits, strict=True):
        new, old = (np.clip(f(rows.X[test]), rows.y[train].min(), rows.y[train].max()) for f in (few, many))
        errors += list((new - rows.y[test]) ** 2)
        before += list((old - rows.y[test]) ** 2)
        likeness += [1 - np.mean((new - old) ** 2) / old.var()] * len(test)
    assert about.score == pytest.approx(-np.mean(errors) / rows.y.var())
    assert about.score_before == pytest.approx(-np.mean(before) / rows.y.var()) != about.score
    assert about.fidelity == pytest.approx(np.mean(likeness))


def test_a_number_of_pieces_is_the_fit_and_its_simplification(simple, table, grid):
    model = DCRegressor(n_pieces=4).fit(*table)
    np.testing.assert_array_equal(model.predict(grid), simple.predict(grid))
    assert model.fidelity_ == simple.fidelity_ and model.cv_score_ == pytest.approx(simple.cv_score_)
    for a, b in zip(model.predict_interval(grid), simple.predict_interval(grid), strict=True):
        np.testing.assert_allclose(a, b)


def test_a_simplification_has_the_folds_of_its_model(table, grid):
    with few_kinds():
        model = DCRegressor(cv=3).fit(*table)
        few, at_once = model.simplify(*table, 3), DCRegressor(cv=3, n_pieces=3).fit(*table)
    np.testing.assert_array_equal(few.predict(grid), at_once.predict(grid))
    assert few.simplification_.score_before == pytest.approx(model.cv_score_, rel=1e-6)
    assert few.simplification_ == at_once.simplification_


def test_the_order_of_rows_does_not_matter_to_a_simplification(plain, simple, table, grid):
    X, y = table
    np.testing.assert_array_equal(plain.simplify(X[::-1], y[::-1], 4).predict(grid), simple.predict(grid))


def test_what_few_pieces_can_do(simple, table):
    X, _ = table
    explained = simple.explain(X)
    np.testing.assert_allclose(explained.prediction, simple.predict(X))
    regions = simple.region_table(X)
    assert sum(regions["rows"]) == len(X) and len(regions["rows"]) <= 16
    box = [(-2.0, 2.0)] * 2
    found = simple.function_.minimize(bounds=box)
    some = np.random.default_rng(0).uniform(-2, 2, size=(2000, 2))
    assert simple.function_(found.x[None])[0] == pytest.approx(found.fun)
    assert simple.function_(some).min() - 0.3 <= found.fun <= simple.function_(some).min() + 1e-9
    h = some
    for k, (W, b) in enumerate(layers := simple.function_.to_relu()):
        h = h @ np.asarray(W).T + b
        h = np.maximum(h, 0.0) if k < len(layers) - 1 else h
    np.testing.assert_allclose(h.ravel(), simple.function_(some), atol=1e-9)


def test_few_pieces_have_intervals(simple, table):
    low, high = simple.predict_interval(table[0], 0.9)
    assert 0.8 <= np.mean((low <= table[1]) & (table[1] <= high)) <= 1.0
    assert (low < high).all()


def test_slopes_of_few_pieces_hold_around_most_rows(plain, table):
    X, y = table
    f = plain.simplify(X, y, 8).function_
    assert max(f.n_pieces) <= 8 and f.prune().n_pieces == f.n_pieces
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(10):
        u = rng.normal(size=X.shape)
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        kept.append((f.gradient(X) == f.gradient(X + 0.01 * X.std(axis=0) * u)).all(axis=1))
    assert np.mean(kept) >= 0.9


def test_a_solution_of_the_program_can_be_simplified():
    X, y = corner(n=20, seed=7)
    program = DCRegressor(lam=0.05).fit(X, y)
    few = program.simplify(X, y, 4)
    assert few.function_.is_plain and max(few.function_.n_pieces) <= 4
    assert 0 < few.fidelity_ <= 1 and np.isfinite([few.simplification_.score, few.simplification_.score_before]).all()
    assert np.corrcoef(few.predict(X), program.predict(X))[0, 1] > 0.95
    assert program.certificate_.gap <= 1.01e-4  # as it was


def test_names_of_features_are_kept(table):
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X, columns=["dose", "age"])
    model = DCRegressor(monotone={"age": 1}).fit(frame, y)
    few = model.simplify(frame, y, 3)
    assert list(few.feature_names_in_) == ["dose", "age"]
    assert few.function_.is_monotone(1)
    with pytest.raises(ValueError, match="same order"):
        model.simplify(frame[["age", "dose"]], y, 3)
    assert any("dose" in name for name in few.region_table(frame))
    assert "age" in str(few.explain(frame[:2]))


def test_simplify_refuses_what_makes_no_sense(plain, table):
    X, y = table
    for count in (0, -1, 1.5, True, "4"):
        with pytest.raises(ValueError, match="n_pieces must be a whole number ≥ 1"):
            plain.simplify(X, y, count)
    with pytest.raises(ValueError, match="at least 4 distinct rows"):
        plain.simplify(X[[0, 0, 1, 1, 2]], y[[0, 0, 1, 1, 2]], 2)
    with pytest.raises(ValueError, match="4 features, but DCRegressor is expecting 2"):
        plain.simplify(np.column_stack([X, X]), y, 2)
    with pytest.raises(NotFittedError):
        DCRegressor().simplify(X, y)


def test_a_fit_of_all_rows_can_be_simplified():
    X, y = corner(n=16, seed=8)
    model = DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)
    few = model.simplify(X, y, 3)
    assert few.function_.is_plain and max(few.function_.n_pieces) <= 3
    assert 0 < few.fidelity_ <= 1
    assert few.simplification_.score_before == pytest.approx(model.cv_score_, rel=1e-3)  # its own folds are used


def test_a_pickled_model_is_simplified_by_fitting_its_folds_again(table, grid):
    with few_kinds():
        model = DCRegressor().fit(*table)
        again = pickle.loads(pickle.dumps(model))
        assert model._folds is not None and again._folds is None
        few, as_before = again.simplify(*table, 4), model.simplify(*table, 4)
    np.testing.assert_array_equal(few.predict(grid), as_before.predict(grid))  # the same teacher and rows
    assert as_before.simplification_.score_before == pytest.approx(model.cv_score_, rel=1e-6)
    said = few.simplification_
    assert said.score_before == pytest.approx(model.cv_score_, abs=0.1)  # other fits, of fewer rows
    assert 0.5 < said.fidelity <= 1 and -0.3 < said.score < 0
    low, high = few.predict_interval(table[0], 0.9)
    assert (low < high).all()


def test_progress_has_one_count_over_all_folds(table, caplog, monkeypatch):
    X, y = table[0][:60], table[1][:60]
    monkeypatch.setattr("pldc.fit.steps.EVERY", 0.0)
    with few_kinds():
        model = pickle.loads(pickle.dumps(DCRegressor(cv=3, verbose=1).fit(X, y)))
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="pldc"):
            model.simplify(X, y, 2)
    said = [record.getMessage() for record in caplog.records]
    words = r"(fitting folds of these rows|learning few pieces): fold (\d) of 5, \d+ s so far(, about \d+ s left)?"
    found = [re.fullmatch(words, each) for each in said]
    assert all(found), said
    assert [k for k, _ in groupby((m[1][0], int(m[2])) for m in found)] == [(w, k) for w in "fl" for k in range(1, 6)]
    assert all((m[3] is None) == (m[2] == "1") for m in found)  # of the first nobody knows
    assert sum(m[1][0] == "f" for m in found) > 5  # and within a fold, too


def test_other_rows_are_cross_validated_anew(table):
    X, y = corner(n=40, seed=11)
    with few_kinds():
        model = DCRegressor(cv=3).fit(*table)
        few = model.simplify(X, y, 3)
    folds = few._folds
    assert len(folds.rows.y) == 40 and len(folds.splits) == 5
    assert sorted(np.concatenate([test for _, test in folds.splits])) == list(range(40))
    assert few.simplification_.score_before != pytest.approx(model.cv_score_, rel=1e-6)
    assert few.score(X, y) > 0.7
