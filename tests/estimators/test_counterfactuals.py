"""Counterfactuals and curves of real tables: in the columns that were given, booleans, categories and gaps included."""

import pickle
import re
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor, load

N = 80
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "dose": RNG.normal(size=N),
        "garden": RNG.random(N) < 0.5,
        "cut": RNG.choice(["fair", "good", "ideal"], N),
        "age": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 700, N), "D"),
        "wait": pd.to_timedelta(RNG.integers(1, 50, N), "h"),
    }
)
Y = 2.0 * FRAME["garden"] + np.abs(FRAME["dose"]) + 1.5 * (FRAME["cut"] == "ideal") + FRAME["age"].fillna(1.0)
Y += FRAME["wait"] / pd.Timedelta("1D")
ROW = int(np.flatnonzero(~FRAME["garden"] & FRAME["age"].notna())[0])


@pytest.fixture(scope="module")
def model():
    with few_kinds():
        return DCRegressor(n_jobs=1, clip=False).fit(FRAME, Y)


@pytest.fixture(scope="module")
def classes():
    with few_kinds():
        return DCClassifier(n_jobs=1).fit(FRAME, np.select([Y < 2.5, Y < 4.0], ["low", "middle"], "high"))


@pytest.mark.parametrize("form", ["frame", "series", "dict"])
def test_the_point_is_a_row_of_the_table(model, form):
    one = FRAME.iloc[[ROW]]
    x = {"frame": one, "series": FRAME.iloc[ROW], "dict": FRAME.iloc[ROW].to_dict()}[form]
    found = model.counterfactual(x, model.predict(one)[0] + 1.9, fixed=["dose", "age", "wait", "cut", "when"])
    assert found.features == tuple(FRAME.columns) and found.point[1] is True and found.changes == {"garden": 1}
    assert found.to_dict()["point"]["cut"] == FRAME["cut"].iloc[ROW]
    changed = pd.DataFrame([found.to_dict()["point"]])
    assert model.predict(changed)[0] == pytest.approx(found.reached, abs=1e-9)
    assert str(found).splitlines()[1].split() == ["garden", "False", "True"]


def test_booleans_change_whole_beside_numbers(model):
    for threshold in (1.5, 3.0, 4.0, 5.0):
        found = model.counterfactual(FRAME.iloc[[ROW]], threshold)
        assert found.point[1] in (True, False)
        changed = pd.DataFrame([found.to_dict()["point"]])
        assert model.predict(changed)[0] == pytest.approx(found.reached, abs=1e-6)
        assert (found.prediction - threshold) * (found.reached - threshold) <= 0
    held = model.counterfactual(FRAME.iloc[[ROW]], 4.0, bounds={"garden": (0, 0)})
    assert held.point[1] is False


def test_lengths_of_time_stay_what_they_are(model):
    others = [name for name in FRAME if name != "wait"]
    value = model.predict(FRAME.iloc[[ROW]])[0]
    curve = model.curve("wait", FRAME.iloc[[ROW]], between=(0.0, 2.0))
    target = curve.y[[0, -1]][np.abs(curve.y[[0, -1]] - value).argmax()]
    found = model.counterfactual(FRAME.iloc[[ROW]], 0.5 * (value + target), fixed=others)
    assert isinstance(found.point[5], timedelta) and isinstance(found.changes["wait"], timedelta)


def test_a_missing_cell_stays_and_has_no_bounds(model):
    gap = int(np.flatnonzero(FRAME["age"].isna())[0])
    found = model.counterfactual(FRAME.iloc[gap], float(np.median(Y)))
    assert np.isnan(found.point[3]) and "age" not in found.changes
    with pytest.raises(ValueError, match="cell 'age' of x is missing, and stays so: give no bounds"):
        model.counterfactual(FRAME.iloc[gap], 0.0, bounds={"age": (-1.0, 1.0)})


@pytest.mark.parametrize(
    "pair", [(-np.inf, 1.0), (0.0, 1.0, 2.0), 3.0, ("low", "high"), (np.nan, None), (None, 10**400)]
)
def test_bounds_that_are_none_are_refused(model, pair):
    with pytest.raises(ValueError, match=r"bounds of 'dose' must be two finite numbers \(low, high\), None"):
        model.counterfactual(FRAME.iloc[ROW], 4.0, bounds={"dose": pair})


def test_what_is_cut_to_the_threshold_has_reached_it():
    X = np.linspace(-1, 1, 30)[:, None]
    model = DCRegressor(lam=0.01).fit(X, np.clip(X[:, 0], -0.8, 0.8))
    high = model.clip_range_[1]
    assert model.function_([[3.0]])[0] > high and model.predict([[3.0]])[0] == high
    found = model.counterfactual([3.0], high, bounds={0: (-1.0, 4.0)})
    assert found.cost == 0 and found.changes == {} and found.reached == high


def test_booleans_are_known_from_files_and_simplifications(model, tmp_path):
    assert model.model_.booleans == (1,)
    model.save_model(tmp_path / "model.json")
    assert load(tmp_path / "model.json").model_.booleans == (1,)
    flags = FRAME[["garden"]].assign(other=FRAME["dose"] > 0, dose=FRAME["dose"])
    with few_starts(), few_kinds():
        few = DCRegressor(n_jobs=1).fit(flags, Y).simplify(flags, Y, n_pieces=2)
    assert few.model_.columns is None and few.model_.booleans == (0, 1)
    found = few.counterfactual(flags.iloc[[ROW]], 3.0)
    assert {type(cell) for cell in found.point[:2]} == {bool} and found.reached == pytest.approx(3.0, abs=2.0)
    assert DCRegressor(lam=0.1).fit(flags.to_numpy(dtype=bool), Y).model_.booleans == (0, 1, 2)


def small_classes(m, **settings):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(24 if settings else 90, 2)).round(2)
    y = np.array(["a", "b", "c"])[(np.abs(X[:, 0]) > 0.8) + 0 + ((m > 2) & (X[:, 1] > 0.5))]
    return X, DCClassifier(n_jobs=1, **settings).fit(X, y)


def grid_around(x, spread, cost, count=500_000):
    """Rows at less than a distance."""
    rng = np.random.default_rng(0)
    way = rng.dirichlet(np.ones(len(x)), count) * rng.choice([-1.0, 1.0], (count, len(x)))
    return x + way * np.sqrt(rng.random((count, 1))) * cost * spread


@pytest.mark.parametrize(
    ("m", "settings"),
    [(2, {}), (3, {}), (2, {"lam": 0.05}), (3, {"lam": 0.05, "loss": "log"})],
    ids=["two", "three", "rows", "rows of three"],
)
def test_the_nearest_row_of_a_class(m, settings):
    with few_kinds():
        X, model = small_classes(m, **settings)
    for x in X[:3]:
        label = model.predict([x])[0]
        costs = []
        for other in model.classes_:
            found = model.counterfactual(x, other)
            assert model.predict([found.point.astype(float)])[0] == found.reached == found.threshold == other
            assert found.prediction == label and found.bound <= found.cost * (1 + 1e-6)
            assert found.cost == pytest.approx((np.abs(found.point - x) / model.spread_).sum(), abs=1e-6)
            if other == label:
                assert found.cost == 0 and found.changes == {}
                continue
            costs.append(found.cost)
            assert not (model.predict(grid_around(x, model.spread_, 0.999 * found.cost, 20_000)) == other).any()
        nearest = model.counterfactual(x)
        assert nearest.reached != label and nearest.cost == pytest.approx(min(costs), rel=1e-5)
    assert str(nearest).splitlines()[-2].split() == ["prediction", label, nearest.reached]
    with pytest.raises(ValueError, match=r"label must be one of the classes, \['a', 'b'.*; got 'z'"):
        model.counterfactual(X[0], "z")
    with pytest.raises(ValueError, match="No row within the bounds of (another class|the class '.') exists"):
        model.counterfactual(X[0], fixed=[0, 1])


def test_classes_of_a_real_table(classes):
    x = FRAME.iloc[[ROW]]
    for label in classes.classes_:
        found = classes.counterfactual(x, label, fixed=["wait"], cost={"dose": 2.0}, bounds={"age": (-2, 3)})
        changed = pd.DataFrame([found.to_dict()["point"]])
        assert classes.predict(changed)[0] == label == found.reached and found.point[1] in (True, False)
        assert "wait" not in found.changes and -2 <= found.point[3] <= 3


def test_whole_numbers_stay_whole():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"rooms": rng.integers(1, 9, 80), "area": rng.normal(100, 20, 80), "sea": rng.random(80) < 0.5}
    )
    price = 30.0 * table["rooms"] + table["area"] + 15.0 * table["sea"]
    with few_kinds():
        model = DCRegressor(n_jobs=1, clip=False).fit(table, price)
    x, goal = table.iloc[[0]], float(np.median(price)) + 7.0
    ask = {"fixed": ["area"], "bounds": {"rooms": (0, 20)}}
    free, found = (model.counterfactual(x, goal, whole=names, **ask) for names in ([], ["rooms"]))
    assert free.point[0] % 1 and found.point[0] % 1 == 0 and found.cost >= free.cost
    rooms, sea = map(np.ravel, np.meshgrid(np.arange(21), [False, True]))  # by brute force
    every = pd.DataFrame({"rooms": rooms, "area": x["area"].iloc[0], "sea": sea})
    beyond = (model.predict(every) >= goal) != (found.prediction >= goal)
    unit = model.model_.spread[[0, 2]]
    away = np.abs(rooms - x["rooms"].iloc[0]) / unit[0] + np.abs(sea * 1.0 - x["sea"].iloc[0]) / unit[1]
    assert found.cost == pytest.approx(away[beyond].min(), rel=1e-6)
    with pytest.raises(ValueError, match="whole names the column 'area', but the cell of x is "):
        model.counterfactual(x, goal, whole=["area"])


def test_a_row_of_two_classes_that_tie_is_of_the_first():
    X = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]])
    model = DCClassifier(random_state=0, n_jobs=1).fit(X, [0, 0, 0, 1, 1, 1])
    for x, label in ((-2.0, 1), (2.0, 0)):
        for asked in (label, None):
            found = model.counterfactual([x], asked, whole=[0], bounds={0: (-3, 3)})
            assert found.reached == found.threshold == label == model.predict([found.point])[0]
            ways = np.arange(-3.0, 4.0)
            away = np.abs(ways - x)[[model.predict([[way]])[0] == label for way in ways]].min()
            assert abs(found.point[0] - x) == away


def test_a_goal_that_is_the_prediction_of_a_row_is_reached_by_it():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"rooms": rng.integers(1, 9, 80).astype(float), "sea": rng.random(80) < 0.5})
    with few_kinds(), few_starts():
        model = DCRegressor(random_state=0, n_jobs=1, clip=False).fit(table, 30 * table["rooms"] + 15 * table["sea"])
    x = pd.DataFrame({"rooms": [3.0], "sea": [False]})
    every = [pd.DataFrame({"rooms": [float(r)], "sea": [s]}) for r in range(1, 9) for s in (False, True)]
    values, unit = np.array([model.predict(row)[0] for row in every]), model.model_.spread
    away = np.array([abs(row["rooms"][0] - 3.0) / unit[0] + row["sea"][0] / unit[1] for row in every])
    for goal in values[values > model.predict(x)[0]]:
        found = model.counterfactual(x, goal, whole=["rooms"], bounds={"rooms": (1, 8)})
        assert found.reached >= goal and found.cost == pytest.approx(away[values >= goal].min())
        assert found.bound <= away[values >= goal].min()


def test_what_cannot_move_is_named(model):
    gap = int(np.flatnonzero(FRAME["age"].isna())[0])
    with pytest.raises(ValueError) as error:
        model.counterfactual(FRAME.iloc[gap], np.float64(50.0), fixed=["dose", "wait", "garden"])
    told = "These stay as they are: categories ('cut'), missing cells ('age'), dates ('when')."
    assert str(error.value).startswith("No row within the bounds with a prediction of 50 exists; widen the bounds")
    assert str(error.value).endswith(told)
    low = DCRegressor(lam=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"got 1313\.5\.$"):
        low.counterfactual([0.5], np.float64(1313.5))


def test_gaps_in_rows_and_references_are_filled_as_for_predictions(model):
    X = RNG.normal(size=(30, 2))
    plain = DCRegressor(lam=0.05).fit(X, X[:, 0] + np.abs(X[:, 1]))
    medians = np.median(X, axis=0)
    for method in ("local", "path", "shapley"):
        with_gap = plain.explain(X[:3], [np.nan, 0.5], method=method).contributions
        np.testing.assert_array_equal(with_gap, plain.explain(X[:3], [medians[0], 0.5], method=method).contributions)
    found = plain.counterfactual({0: 0.3, 1: np.nan}, 2.0)
    assert np.isnan(found.point[1]) and set(found.changes) == {"x0"}
    assert found.prediction == plain.predict([[0.3, np.nan]])[0]
    row = FRAME.iloc[ROW].to_dict() | {"age": None, "cut": None, "dose": np.nan}
    assert np.isfinite(model.explain(FRAME[:2], row, method="path").contributions).all()


def test_curves_of_categories_are_means_of_predictions(model):
    found = model.curve("cut", FRAME)
    assert found.levels == ("fair", "good", "ideal") and found.rows == N and len(found) == 3
    for level in found.levels:
        assert found(level) == pytest.approx(model.predict(FRAME.assign(cut=level)).mean())
    assert str(found).splitlines()[1].startswith("ideal") and "3 levels, mean of 80 rows" in repr(found)
    with pytest.raises(ValueError, match="'cut' has no level 'poor'"):
        found("poor")
    with pytest.raises(ValueError, match="between is for columns of numbers; 'cut' holds categories"):
        model.curve("cut", FRAME, between=(0, 1))
    with pytest.raises(ValueError, match="'when' holds dates, along whose cycles .* compare predictions"):
        model.curve("when", FRAME)


def test_curves_of_many_levels_and_of_missing_ones():
    table = pd.DataFrame({"city": [f"c{k % 20}" for k in range(N)], "cut": ["a", None, "b", "a"] * (N // 4)})
    with few_kinds():
        model = DCRegressor(n_jobs=1).fit(table, Y)
    city, cut = model.curve("city", table), model.curve("cut", table)
    assert len(city) == 20 and city("c3") == pytest.approx(model.predict(table.assign(city="c3")).mean())
    assert cut.levels == ("a", "b", None) and "(missing)" in str(cut)
    assert cut(None) == pytest.approx(model.predict(table.assign(cut=None)).mean())


def test_curves_of_classes_are_log_odds(classes):
    def log_odds(table, label):
        p = np.log(classes.predict_proba(table))
        at = list(classes.classes_).index(label)
        return (p[:, at] - np.delete(p, at, axis=1).mean(axis=1)).mean()

    curve = classes.curve("dose", FRAME, "high", between=(-1.0, 1.0))
    for x in (-1.0, -0.3, 0.55, 1.0):
        assert curve(x) == pytest.approx(log_odds(FRAME.assign(dose=x), "high"), abs=1e-9)
    assert classes.curve("cut", FRAME, "low")("good") == pytest.approx(log_odds(FRAME.assign(cut="good"), "low"))
    with pytest.raises(ValueError, match="label must be one of the classes, .*'low'.*; got None"):
        classes.curve("dose", FRAME)


def test_of_two_classes_the_curve_is_that_of_the_second():
    X = RNG.normal(size=(60, 2))
    model = DCClassifier(lam=0.05, loss="log").fit(X, np.abs(X[:, 0]) > 0.7)
    p = model.predict_proba(np.column_stack([np.full(60, 0.4), X[:, 1]]))
    assert model.curve(0, X)(0.4) == pytest.approx(np.log(p[:, 1] / p[:, 0]).mean())


def test_region_tables_read_in_text_and_frames(classes, tmp_path):
    with few_starts(), few_kinds():
        few = DCRegressor(n_jobs=1).fit(FRAME, Y).simplify(FRAME, Y, n_pieces=2)
    for table, words in ((few.region_table(FRAME), "value"), (classes.region_table(FRAME, tol=0.1), "runner-up")):
        text = str(table)
        assert text == table.to_text() and text.startswith("region ") and words in text
        where = " and ".join(table["where"])
        assert "slope of cut = ideal" in text and not re.search("(fair|good|ideal|missing) [≤>]", where)
        assert re.search("cut [≠=] |is (not )?missing", where)
        assert max(map(len, text.splitlines())) <= 79 and "{" not in text
        frame = pd.DataFrame(table)
        assert frame["rows"].sum() == N and len(table.regions) == len(frame)
        again = pickle.loads(pickle.dumps(table))
        assert str(again) == text and again.keys() == table.keys()
