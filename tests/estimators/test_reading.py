"""Reading fitted models: the true defaults, and one of few pieces."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.pipeline import make_pipeline
from tests.quick import few_kinds, few_starts

from pldc import CrossValidation, DCClassifier, DCRegressor, Quantile

NAMES = ["dose", "age", "noise"]


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 1.0]
    return X, 3.0 * np.abs(X[:, 0]) + 0.1 * X[:, 1] + 0.05 * rng.normal(size=n)


X, Y = table()
LABELS = np.where(np.median(Y) < Y, "high", "low")


@pytest.fixture(scope="module")
def frame():
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module")
def default(frame):
    return DCRegressor().fit(frame, Y)


@pytest.fixture(scope="module")
def few(default, frame):
    with few_starts(), few_kinds():
        return default.simplify(frame, Y, n_pieces=2)


@pytest.fixture(scope="module")
def classes(frame):
    return DCClassifier().fit(frame, LABELS)


def test_importances_are_mean_slope_times_spread(default, classes):
    dose, age, noise = default.feature_importances_
    a, b = X[:, None], X[None]
    distance = np.abs(a - b).mean(axis=(0, 1)) * 60 / 59
    assert dose == pytest.approx(3.0 * np.abs(np.abs(a) - np.abs(b)).mean(axis=(0, 1))[0] * 60 / 59, rel=0.15)
    assert age == pytest.approx(0.1 * distance[1], rel=0.15) and noise < 0.1 * age
    assert classes.feature_importances_.argmax() == 0 and (classes.feature_importances_ <= 1).all()
    with pytest.raises(AttributeError):
        _ = DCRegressor().feature_importances_


def test_importances_do_not_see_the_order_of_rows_and_a_weight_of_two_is_the_row_twice():
    order = np.random.default_rng(1).permutation(60)
    with few_kinds():
        plain = DCRegressor().fit(X, Y)
        shuffled = DCRegressor().fit(X[order], Y[order])
        weighted = DCRegressor().fit(X, Y, sample_weight=1.0 + (np.arange(60) < 9))
        twice = DCRegressor().fit(np.vstack([X, X[:9]]), np.append(Y, Y[:9]))
    np.testing.assert_allclose(shuffled.feature_importances_, plain.feature_importances_, rtol=1e-9)
    np.testing.assert_allclose(weighted.feature_importances_, twice.feature_importances_, rtol=1e-9)
    program = DCRegressor(lam=0.1).fit(X[:20], Y[:20]), DCRegressor(lam=0.1).fit(X[:20][::-1], Y[:20][::-1])
    np.testing.assert_allclose(program[0].feature_importances_, program[1].feature_importances_, rtol=1e-2)


def test_curves_are_partial_dependence(default, few, frame):
    for model in (default, few):
        for j, name in enumerate(NAMES[:2]):
            curve = model.curve(name, frame)
            found = partial_dependence(model, frame, [j], method="brute", grid_resolution=30, percentiles=(0, 1))
            np.testing.assert_allclose(curve(found["grid_values"][0]), found["average"][0], atol=1e-9)
            assert curve.feature == name and curve.rows == 60
    one = few.curve("dose", frame[:1], between=(-2.0, 2.0))
    moved = frame[:1].assign(dose=1.3)
    assert one(1.3) == pytest.approx(few.predict(moved)[0]) and len(one) < 12
    with pytest.raises(ValueError, match="no column 'bmi'"):
        few.curve("bmi", frame)
    with pytest.raises(ValueError, match="between must be two finite numbers"):
        few.curve(0, frame, between=(1.0, 1.0))


@pytest.mark.parametrize("method", ["path", "shapley"])
def test_contributions_add_up(default, frame, method):
    by_mean = default.explain(frame[:4], method=method)
    total = by_mean.baseline + by_mean.contributions.sum(axis=1)
    np.testing.assert_allclose(total, default.function_(X[:4]), atol=1e-9)
    assert by_mean.baseline[0] == pytest.approx(default.function_(X.mean(axis=0)[None])[0])
    rows = default.explain(frame[:4], frame[10:20], method=method)
    assert rows.baseline[0] == pytest.approx(default.function_(X[10:20]).mean()) and rows.n_references == 10
    assert rows.features == tuple(NAMES)
    named = default.explain(frame[:1], dict(zip(NAMES, X[5], strict=True)), method=method)
    np.testing.assert_allclose(named.baseline, default.function_(X[5:6]))


def test_contributions_of_classes_add_up(classes, frame):
    found = classes.explain(frame[:6], frame[:20], method="path")
    np.testing.assert_array_equal(found.labels[:, 0], classes.predict(frame[:6]))
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.prediction, atol=1e-9)
    np.testing.assert_allclose(found.prediction, np.abs(classes.decision_function(frame[:6])), atol=1e-9)


def test_a_curve_of_one_row_spans_the_training_rows(few, classes, frame):
    one = few.curve("dose", frame[:1])
    assert one.x[0] == pytest.approx(X[:, 0].mean() - 2.5 * X[:, 0].std())
    assert one.x[-1] == pytest.approx(X[:, 0].mean() + 2.5 * X[:, 0].std())
    assert one(X[0, 0]) == pytest.approx(few.predict(frame[:1])[0])
    assert classes.curve("dose", frame[:1]).x[-1] == one.x[-1]
    assert few.curve("dose", frame[:1].assign(dose=9.0)).x[-1] == 9.0
    assert few.curve("dose", frame).x[-1] == X[:, 0].max() and np.isnan(few.curve("dose", frame)(99.0))


def test_slopes_have_one_reference(default, classes, frame):
    for model in (default, classes):
        with pytest.raises(ValueError, match=r"one reference, got a table of 5 rows: .* method='path' or 'shapley'"):
            model.explain(frame, frame[:5])
        one = model.explain(frame, frame[1:2])
        np.testing.assert_array_equal(one.contributions, model.explain(frame, X[1]).contributions)
        np.testing.assert_array_equal(one.contributions[1], 0.0)


def test_slopes_are_shown_in_features_of_any_units():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2)) * [1e6, 1e-6]
    with few_kinds(), few_starts():
        model = DCRegressor(n_pieces=1, n_jobs=1).fit(table, table @ [1e-6, 1e6])
    for text in (model.explain(table[:1]).table(), model.explain(table[:1], table[0]).table()):
        cells = [line.split()[1] for line in text.splitlines()[1:3]]
        assert sorted(float(cell) for cell in cells) == pytest.approx([1e-6, 1e6], rel=1e-2)
    lines = [line for line in model.region_table(table).to_text().splitlines() if line.startswith("slope of")]
    assert sorted(float(line.split()[-1]) for line in lines) == pytest.approx([1e-6, 1e6], rel=1e-2)


def test_methods_and_references_that_make_no_sense_are_refused(default, classes, frame):
    for model in (default, classes):
        with pytest.raises(ValueError, match="method must be one of"):
            model.explain(frame, method="lime")
        with pytest.raises(ValueError, match="reference must have 3 numbers"):
            model.explain(frame, [1.0], method="path")
    with pytest.raises(NotFittedError):
        DCRegressor().counterfactual(X[0], 1.0)


def test_interactions_are_of_what_the_model_joins(default, classes, frame):
    found = default.interactions(frame)
    assert found.features == tuple(NAMES) and found.strength.shape == (3, 3)
    assert found.strength.max() < 0.3 * default.feature_importances_.max()  # the data are additive
    pair = classes.interactions(frame, ["dose", 1])
    assert np.isfinite(pair.strength[0, 1]) and np.isnan(pair.strength[2, 0])


def test_counterfactuals_cross(default, few, frame):
    for model in (default, few):
        for threshold in (1.0, 4.0):
            found = model.counterfactual(frame.iloc[0], threshold)
            before, after = model.predict(frame[:1])[0], model.predict(frame[:1].assign(**found.to_dict()["point"]))[0]
            assert found.prediction == pytest.approx(before) and found.reached == pytest.approx(after)
            assert (before - threshold) * (after - threshold) <= 0
            assert found.cost == pytest.approx(np.abs((found.point - X[0]) / model.spread_).sum(), rel=1e-6)
    held = few.counterfactual(frame[:1], 4.0, fixed=["noise", "dose"], bounds={"age": (None, 200.0)}, cost={"age": 2})
    assert set(held.changes) == {"age"} and held.cost == pytest.approx(2 * held.changes["age"] / few.spread_[1])


@pytest.mark.parametrize(
    "arguments, match",
    [
        ({"threshold": 1e9}, "threshold must be a number that predictions can reach"),
        ({"threshold": "4"}, "threshold must be a number"),
        ({"x": X[:2]}, "of one row, got a table of 2"),
        ({"x": [1.0]}, "x must have 3 numbers"),
        ({"cost": {"dose": 0.0}}, "cost of 'dose' must be a positive finite number"),
        ({"bounds": {"dose": (50.0, 60.0)}}, "bounds of 'dose' are .* x must lie within"),
        ({"fixed": ["bmi"]}, "no column 'bmi'"),
        ({"fixed": NAMES}, "No row within the bounds with a prediction of 4 exists; widen the bounds"),
    ],
)
def test_counterfactuals_that_make_no_sense_are_refused(few, frame, arguments, match):
    given = {"x": frame.iloc[0], "threshold": 4.0} | arguments
    if isinstance(given["x"], np.ndarray):
        given["x"] = frame[:2]
    with pytest.raises(ValueError, match=match):
        few.counterfactual(**given)


def test_region_table_says_where(few, frame):
    found = few.region_table(frame)
    assert "intercept" not in found and found["rows"].sum() == 60
    typical = np.column_stack([found[f"typical {name}"] for name in NAMES])
    np.testing.assert_allclose(found["value"], few.function_(typical), atol=1e-9)
    assert "dose" in found["where"][0] and "dose" in found["decided by"][0] and found["precision"][0] > 0.8


def test_five_lines(default, few, classes, frame):
    program = DCRegressor(lam=0.1).fit(X[:20], Y[:20])
    for model, words in (
        (default, ["a mean of", "R² about", "certificate: none", "ridge", "matters: dose"]),
        (few, ["few pieces, 2 − 2 pieces in 3 features", "fidelity", "certificate: none", "learned from", " s"]),
        (
            classes,
            ["2 classes", "counting one row more", "certificate: none", "ridge", "matters: dose"],
        ),
        (
            program,
            ["the convex program, ", "no rows were left out", "certificate: gap", "lam 0.1, solver", "fitted in"],
        ),
    ):
        lines = str(model).splitlines()
        assert len(lines) == 5 and model.summary() == str(model)
        assert all(word in line for word, line in zip(words, lines, strict=True)), str(model)
        assert repr(model) == str(model) != repr(clone(model)) and repr(clone(model)).startswith(
            type(model).__name__ + "("
        )
        assert repr(make_pipeline(model)).endswith(f"{repr(clone(model)).splitlines()[-1]})])")
        assert model.model_.seconds > 0
        html = model._repr_html_()
        assert html.endswith("</pre>") and "matters: " in html.rsplit("<pre>", 1)[1]
        assert model._repr_mimebundle_()["text/html"].rsplit("<pre>", 1)[1] == html.rsplit("<pre>", 1)[1]
    fresh = DCRegressor()
    assert str(fresh) == repr(fresh) == "DCRegressor()" and "matters" not in fresh._repr_html_()
    with pytest.raises(NotFittedError):
        fresh.summary()


def test_the_scorer_is_named_and_a_part_that_is_zero_is_not_counted(frame):
    odd = frame.rename(columns={"dose": "dose\n(mg)"})
    with few_kinds(), few_starts():
        named = DCRegressor(shape="convex", cv=CrossValidation(3, scoring="r2")).fit(odd, Y)
        own = DCRegressor(shape="concave", cv=CrossValidation(3, scoring=lambda *_: 0.25)).fit(odd, Y)
        simple = named.simplify(odd, Y, n_pieces=2)
    assert "  score: r2 0." in str(named) and "  score: of the scorer 0.25 at rows left out" in str(own)
    for model in (named, own):
        first = str(model).splitlines()[0]
        assert "−" not in first and f" {max(model.function_.n_pieces)} pieces" in first
        assert len(str(model).splitlines()) == 5 and "dose\\n(mg) " in str(model)
    for shown in (simple.region_table(odd), simple.explain(odd[:1]), named.interactions(odd), named.curve(0, odd)):
        assert "dose\n" not in str(shown)
    assert "slope of dose\\n(mg)" in str(simple.region_table(odd)) and ": dose\\n(mg) " in str(simple.region_table(odd))


def test_answers_outlive_a_pickle(default, frame):
    again = pickle.loads(pickle.dumps(default))
    np.testing.assert_array_equal(again.feature_importances_, default.feature_importances_)
    assert str(again) == str(default)


def test_several_levels_have_importances_and_five_lines(frame):
    with few_kinds():
        model = DCRegressor(loss=Quantile([0.1, 0.9])).fit(frame, Y)
    dose, age, noise = model.feature_importances_
    assert dose > age > noise and model.interactions(frame).strength.shape == (3, 3)
    assert "for 2 levels" in str(model) and len(str(model).splitlines()) == 5
    with pytest.raises(ValueError, match="several quantiles"):
        model.curve("dose", frame)
