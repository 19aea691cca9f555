"""Real tables straight into the estimators, all else by default."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit
from tests.quick import few_kinds, few_starts

import pldc.fit.spine as spine
from pldc import CrossValidation, DCClassifier, DCRegressor, certify
from pldc.columns import Encoding, Number
from pldc.estimators.folds import folds_for_statistics
from pldc.problem.recipe import Rows

N = 70


def table(n=N, seed=0):
    """Numbers with gaps, a boolean, few levels, many levels and dates; what y is of each is known."""
    rng = np.random.default_rng(seed)
    city, cut = rng.integers(0, 14, n), rng.choice(["fair", "good", "ideal"], n)
    x, gap, flag = rng.normal(size=n), rng.uniform(size=n) < 0.2, rng.uniform(size=n) < 0.5
    hours = rng.integers(0, 24 * 40, n)
    frame = pd.DataFrame(
        {
            "x": np.where(gap, np.nan, x),
            "flag": flag,
            "cut": pd.Categorical(cut),
            "city": np.array([f"city {k}" for k in city], dtype=object),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, unit="h"),
        }
    )
    y = np.where(gap, 3.0, np.abs(x)) + 2.0 * (cut == "good") + np.sin(2.0 * city) + flag + 0.1 * rng.normal(size=n)
    return frame, y


FRAME, Y = table()
NEW, Y_NEW = table(400, seed=1)
GAPS = np.where(
    np.random.default_rng(4).uniform(size=(40, 3)) < 0.2, np.nan, np.random.default_rng(5).normal(size=(40, 3))
)
Y_GAPS = np.nan_to_num(GAPS).sum(axis=1)


@pytest.fixture(scope="module")
def fitted():
    return DCRegressor(n_jobs=1).fit(FRAME, Y)


def test_one_line_fits_a_real_table(fitted):
    assert fitted.score(NEW, Y_NEW) > 0.7  # 70 rows, of 14 cities
    assert fitted.n_features_in_ == 5
    assert fitted.feature_names_in_.tolist() == ["x", "flag", "cut", "city", "when"]
    columns = fitted.model_.columns
    assert [column.kind for column in columns.columns] == ["number", "number", "category", "category", "date"]
    assert fitted.model_.feature_names == columns.feature_names
    assert columns.feature_names[:7] == (
        "x",
        "x is missing",
        "flag",
        "cut = fair",
        "cut = good",
        "cut = ideal",
        "city: mean target",
    )
    assert fitted.function_.n_features == len(columns.features)


def test_order_and_repetition_change_nothing():
    order = np.random.default_rng(5).permutation(N)
    weight = np.random.default_rng(0).integers(0, 3, N)
    many = np.repeat(np.arange(N), weight)
    with few_kinds():
        plain, shuffled, weighted, repeated = (
            DCRegressor(n_jobs=1).fit(FRAME.iloc[at], Y[at], sample_weight=weights).predict(NEW)
            for at, weights in ((np.arange(N), None), (order, None), (np.arange(N), weight), (many, None))
        )
    np.testing.assert_array_equal(shuffled, plain)
    np.testing.assert_array_equal(weighted, repeated)
    assert np.abs(weighted - plain).max() > 1e-3


def test_every_package_gives_the_same_predictions(fitted):
    arrow = pytest.importorskip("pyarrow")
    expected = fitted.predict(NEW)
    for new in (pl.from_pandas(NEW), arrow.Table.from_pandas(NEW), NEW.convert_dtypes()):
        np.testing.assert_array_equal(fitted.predict(new), expected)
    with few_kinds():
        models = [
            DCRegressor(n_jobs=1).fit(t, Y) for t in (FRAME, pl.from_pandas(FRAME), arrow.Table.from_pandas(FRAME))
        ]
    for model in models[1:]:
        assert model.model_.columns == models[0].model_.columns
        np.testing.assert_array_equal(model.predict(NEW), models[0].predict(NEW))


def test_arrays_of_numbers_go_to_the_spine_as_they_are():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    with few_kinds():
        model = DCRegressor(n_jobs=1)
        given = model._given(X, y, None)
        assert given.rows.X is X and given.columns is None and given.folds is None
        for same in (X.tolist(), X.astype(object), pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X)):
            again = DCRegressor()._given(same, y, None)
            np.testing.assert_array_equal(again.rows.X, X)
            assert again.columns is None
        assert model.fit(X, y).model_.columns is None
    filled = X.copy()
    filled[:5, 0] = np.median(X[:, 0])
    gaps = X.copy()
    gaps[:5, 0] = np.nan
    np.testing.assert_array_equal(model.predict(gaps), model.predict(filled))


def test_gaps_are_medians_and_indicators():
    gone = np.isnan(GAPS)
    by_hand = np.column_stack(
        [c for x, g in zip(GAPS.T, gone.T, strict=True) for c in (np.where(g, np.nanmedian(x), x), g)]
    )
    with few_kinds():
        model = DCRegressor(n_jobs=1).fit(GAPS, Y_GAPS)
        same = DCRegressor(n_jobs=1).fit(by_hand, Y_GAPS)
    np.testing.assert_array_equal(model.predict(GAPS), same.predict(by_hand))
    zeros = np.column_stack([c for x in np.nan_to_num(GAPS).T for c in (x, np.zeros(40))])
    np.testing.assert_array_equal(model.predict(np.nan_to_num(GAPS)), same.predict(zeros))


@pytest.mark.parametrize("named", [["c"], [1], [False, True], np.array([1])])
def test_numbers_are_categories_where_that_is_said(named):
    code = np.arange(30) % 3
    frame = pd.DataFrame({"x": np.arange(30.0), "c": code})
    with few_kinds():
        model = DCRegressor(n_jobs=1, categorical_features=named).fit(frame, code == 1.0)
        same = DCRegressor(n_jobs=1).fit(np.column_stack([frame["x"], np.eye(3)[code]]), code == 1.0)
    assert model.model_.columns.feature_names == ("x", "c = 0", "c = 1", "c = 2")
    np.testing.assert_array_equal(model.predict(frame), same.predict(np.column_stack([frame["x"], np.eye(3)[code]])))


@pytest.mark.parametrize(
    "given, message",
    [
        ("all", "must be 'from_dtype', None, or the names"),
        (3, "must be 'from_dtype', None, or the names"),
        ([7], "must be 'from_dtype', None, or the names"),
        (["cut", 1], "must be 'from_dtype', None, or the names"),
        ([True], "a mask of 5 columns, got 1"),
        (["town"], r"names \['town'\]; X has \['x', "),
        (None, "'cut' holds categories: name it"),
        (["cut"], "'city' holds categories: name it"),
    ],
)
def test_wrong_names_of_categories_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        DCRegressor(categorical_features=given).fit(FRAME, Y)


def test_a_category_that_means_nothing_teaches_nothing():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"id": [f"{k}" for k in rng.integers(0, 60, 200)], "x": rng.normal(size=200)})
    y = rng.normal(size=200)
    with few_kinds():
        model = DCRegressor(n_jobs=1).fit(frame, y)
    assert model.score(frame, y) < 0.3  # the means of all rows alone would explain about 0.3
    assert model.cv_score_ < -0.8


def splits_of(model, frame, y, groups=None):
    codes = pd.factorize(frame["city"])[0] + 0.0
    return folds_for_statistics(model, Rows(codes[:, None], y, np.ones(len(y))), groups)


@pytest.mark.parametrize(
    "cv, groups",
    [
        (5, None),
        (4, np.arange(N) % 6),
        (PredefinedSplit(np.arange(N) % 3), None),
        (TimeSeriesSplit(3), None),
        (CrossValidation(3), None),
    ],
)
def test_statistics_of_rows_left_out_are_of_the_rows_that_are_fitted(cv, groups):
    pairs, folds = splits_of(DCRegressor(cv=cv), FRAME, Y, groups)
    owner = np.concatenate([own for _, own in pairs])
    assert sorted(owner) == list(range(N))  # every row once
    source = {row: set(there) for there, own in pairs for row in own}
    for row in range(N):
        assert row not in source[row]
    for train, test in folds:
        assert all(source[row] == set(train) for row in test)
    if groups is not None:
        assert all(not set(groups[there]) & set(groups[own]) for there, own in pairs)


def test_of_many_rows_one_fold_is_left_out_and_equal_rows_stay_together():
    y = np.arange(1500.0)
    frame = pd.DataFrame({"city": [f"{k % 20}" for k in range(1500)]})
    pairs, folds = splits_of(DCRegressor(), frame, y)
    assert len(pairs) == 5 and len(folds) == 1 and np.array_equal(folds[0][1], pairs[0][1])
    twice = pd.concat([frame, frame])
    for there, own in splits_of(DCRegressor(), twice, np.tile(y, 2))[0]:
        assert not set(own % 1500) & set(there % 1500)


def test_rows_of_a_group_have_statistics_of_other_groups():
    frame, groups = FRAME[["x", "city"]], np.asarray(pd.factorize(FRAME["city"])[0])
    given = DCRegressor()._given(frame, Y, None, groups)
    place = given.columns.feature_names.index("city: mean target")
    for train, test in given.folds:
        assert not set(groups[train]) & set(groups[test])
    np.testing.assert_allclose(given.rows.X[:, place], Y.mean())  # a city not seen there; the same in all folds


def test_a_model_keeps_its_rules_through_pickle_and_clone(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(NEW), fitted.predict(NEW))
    assert Encoding.from_dict(fitted.model_.columns.to_dict()) == fitted.model_.columns
    assert not hasattr(clone(fitted), "model_")


def test_signs_are_those_of_columns_of_numbers():
    with few_kinds():
        model = DCRegressor(n_jobs=1, monotone={"x": 1}).fit(FRAME[["x", "cut"]], Y)
        steps = pd.DataFrame({"x": np.linspace(-3, 3, 50), "cut": "good"})
        assert (np.diff(model.predict(steps)) >= -1e-9).all()
        by_place = DCRegressor(n_jobs=1, monotone=[1, 0]).fit(FRAME[["x", "cut"]], Y)
        np.testing.assert_array_equal(by_place.predict(steps), model.predict(steps))
    falling = DCRegressor(monotone={"x": -1})
    columns = falling._given(FRAME, Y, None).columns
    expected = [-1 if isinstance(f, Number) and f.column == 0 else 0 for f in columns.features]
    assert falling._recipe(columns).monotone.tolist() == expected and sum(expected) == -1
    with pytest.raises(ValueError, match="monotone is for columns of numbers; 'cut' holds levels of a category"):
        DCRegressor(monotone={"cut": 1}).fit(FRAME, Y)


def test_few_pieces_are_learned_from_the_rows_of_the_fit(fitted, monkeypatch):
    def refitted(*args):
        raise AssertionError("the folds of the fit were not recognised")

    monkeypatch.setattr(spine, "refitted", refitted)
    with few_starts(points=200, fresh=100):
        simple = fitted.simplify(FRAME, Y, n_pieces=3)
    assert simple.model_.columns == fitted.model_.columns
    assert simple.score(NEW, Y_NEW) > 0.6 and max(simple.function_.n_pieces) <= 3
    assert "slope of cut = good" in simple.region_table(NEW)


def test_explanations_intervals_and_regions_are_in_features(fitted):
    told = fitted.explain(NEW[:5])
    assert told.features == fitted.model_.columns.feature_names
    np.testing.assert_allclose(
        told.intercept + told.contributions.sum(axis=1), fitted.function_(fitted._points(NEW[:5]))
    )
    point = {"city": "city 3", "cut": "good", "flag": True, "x": None, "when": pd.Timestamp("2024-01-03")}
    away = fitted.explain(NEW[:5], reference=point)
    at = fitted.model_.columns.apply({name: [cell] for name, cell in point.items()})[0]
    np.testing.assert_allclose(away.contributions, away.slopes * (fitted._points(NEW[:5]) - at))
    ordered = [point[name] for name in FRAME.columns]
    np.testing.assert_array_equal(fitted.explain(NEW[:5], reference=ordered).contributions, away.contributions)
    low, high = fitted.predict_interval(NEW, 0.9)
    assert 0.8 < np.mean((low <= Y_NEW) & (high >= Y_NEW)) < 0.99


def test_the_program_its_path_its_bound_and_its_certificate():
    frame, y = FRAME[["x", "cut"]][:24], Y[:24]
    model = DCRegressor(lam=0.3, n_jobs=1).fit(frame, y)
    assert model.certificate_.gap < 1e-3
    path = DCRegressor(n_pieces="rows", n_jobs=1).path(frame, y, [0.3, 1.0])
    assert path.certificates[1].upper == pytest.approx(model.certificate_.upper, rel=1e-3)
    compared = certify(model, frame, y, lam=0.3)
    assert compared.lower <= compared.upper and compared.gap < 0.01
    assert model.generalization_bound(frame, y).seminorm > 0
    with_city = DCRegressor(lam=1.0, n_jobs=1).fit(FRAME[["city"]], Y)
    with pytest.raises(ValueError, match="features that do not depend on the targets"):
        with_city.generalization_bound(FRAME[["city"]], Y)


def test_classes_have_shares_and_their_names_do_not_matter():
    labels = np.where(np.quantile(Y, 0.6) < Y, "high", "low")
    with few_kinds():
        model = DCClassifier(n_jobs=1).fit(FRAME, labels)
        renamed = DCClassifier(n_jobs=1).fit(FRAME, np.where(labels == "high", "z", "y"))
    names = model.model_.columns.feature_names
    assert "city: share of high" in names and "city: share of low" not in names  # the rarer one
    truth = np.where(np.quantile(Y, 0.6) < Y_NEW, "high", "low")
    assert model.score(NEW, truth) > 0.75
    assert model.explain(NEW[:2]).features == names
    np.testing.assert_array_equal(model.predict_proba(NEW), renamed.predict_proba(NEW)[:, ::-1])


def test_of_three_classes_each_has_a_share():
    three = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    with few_kinds():
        model = DCClassifier(n_jobs=1).fit(FRAME, three)
        renamed = DCClassifier(n_jobs=1).fit(FRAME, np.array(["b", "c", "a"])[three])
    names = model.model_.columns.feature_names
    assert sorted(name for name in names if "share" in name) == [f"city: share of {k}" for k in range(3)]
    np.testing.assert_allclose(model.predict_proba(NEW), renamed.predict_proba(NEW)[:, [1, 2, 0]], rtol=1e-12)


def test_a_table_without_rows_is_refused(fitted):
    with pytest.raises(ValueError, match="0 sample"):
        DCRegressor().fit(FRAME[:0], Y[:0])
    with pytest.raises(ValueError, match="0 sample"):
        fitted.predict(NEW[:0])


def test_answers_take_rows_of_any_frame_with_dates():
    frame = FRAME[["x", "flag", "when"]].assign(wait=pd.to_timedelta(np.arange(N), "h"))
    model = DCRegressor(lam=0.1, n_jobs=1).fit(frame, Y)
    classes = DCClassifier(lam=0.1, loss="log", n_jobs=1).fit(frame, np.median(Y) < Y)
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        for each, wanted in ((model, (float(np.median(Y)),)), (classes, ())):
            found = each.counterfactual(other[1:2], *wanted)
            assert found.point[0] == each.counterfactual(frame[1:2], *wanted).point[0]
            for rows, method in ((1, "local"), (3, "path"), (3, "shapley")):
                one, same = (each.explain(t[:2], reference=t[:rows], method=method) for t in (other, frame))
                np.testing.assert_array_equal(one.contributions, same.contributions)


def test_frames_that_are_yet_to_be_computed_are_refused_with_the_remedy(fitted):
    lazy = pl.from_pandas(FRAME).lazy()
    for call in (lambda: DCRegressor().fit(lazy, Y), lambda: fitted.predict(lazy), lambda: fitted.explain(NEW, lazy)):
        with pytest.raises(TypeError, match=r"A LazyFrame holds no cells yet: collect\(\) it first"):
            call()


def test_what_a_row_lacks_or_has_too_much_is_said(fitted):
    row = NEW.iloc[0].to_dict()
    with pytest.raises(ValueError, match=r"it lacks \['flag', 'cut', 'city', 'when'\]\."):
        fitted.explain(NEW, reference={"x": 0.0})
    with pytest.raises(ValueError, match=r"it has \['y'\]\."):
        fitted.explain(NEW, reference=row | {"y": 1.0})
