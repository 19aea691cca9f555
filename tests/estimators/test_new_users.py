"""What a new user of answers, tables and intervals met."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.function.common import random_pldc
from tests.quick import few_kinds, few_starts

from pldc import PLDC, DCClassifier, DCRegressor, Quantile
from pldc.function import LevelMeans
from pldc.function.numbers import Printed
from pldc.view import plot_model

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=["size", "age", "rooms"]).assign(
    river=RNG.random(60) < 0.4, heating=RNG.choice(["gas", "oil"], 60)
)
Y = X["size"] * X["age"] + X["rooms"] + 2.0 * X["river"] + (X["heating"] == "oil")
NUMBERS = X[["size", "age", "rooms"]]


@pytest.fixture(scope="module")
def full():
    with few_starts(), few_kinds():
        return DCRegressor().fit(X, Y)


@pytest.fixture(scope="module")
def few(full):
    with few_starts(), few_kinds():
        return full.simplify(X, Y, n_pieces=2)


@pytest.fixture(scope="module")
def plain():
    with few_starts(), few_kinds():
        return DCRegressor(n_pieces=2).fit(NUMBERS, Y)


def test_intervals_of_one_quantile_are_refused():
    with few_starts(), few_kinds():
        model = DCRegressor(loss=Quantile(0.9)).fit(NUMBERS, Y)
        middle = DCRegressor(loss=Quantile(0.5)).fit(NUMBERS, Y)
    with pytest.raises(ValueError, match=r"predicts the quantile 0.9, .*: fit two levels, loss=Quantile\(\[0.05, 0.95"):
        model.predict_interval(NUMBERS)
    low, high = middle.predict_interval(NUMBERS)
    assert (low < high).all()


def test_the_summary_says_where_intervals_are_as_wide_everywhere(full):
    short = NUMBERS[:30]
    with few_starts(), few_kinds():
        model = DCRegressor().fit(short, Y[:30])
    low, high = model.predict_interval(short)
    assert np.ptp(high - low) < 1e-9 and "intervals as wide everywhere" in str(model)
    assert full.model_.errors.scale is not None and "as wide everywhere" not in str(full)


@pytest.mark.parametrize("names", [[1, 2, 0], [1, 2, 3], [30, 10, 20], [("a", 1), ("a", 2), ("b", 1)]])
@pytest.mark.parametrize("kind", [DCRegressor, DCClassifier])
def test_names_that_are_no_text_are_pointed_out_where_a_setting_has_places(names, kind):
    odd = NUMBERS.copy()
    odd.columns = names
    with pytest.warns(UserWarning, match="names of the columns are no text, .*by their places alone"):
        kind(n_pieces=1, categorical_features=[0]).fit(odd, Y if kind is DCRegressor else Y > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is said where no setting names a place
        kind(n_pieces=1).fit(odd, Y if kind is DCRegressor else Y > 1)


def test_names_that_are_places_are_fine():
    odd = NUMBERS.copy()
    odd.columns = range(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DCRegressor(n_pieces=1).fit(odd, Y)


@pytest.mark.parametrize("rows", [X[:1], X.iloc[[0, 0, 0]]])
def test_interactions_need_two_different_rows(full, rows):
    with pytest.raises(ValueError, match="two different ones at least, got"):
        full.interactions(rows)


def test_notebooks_show_what_print_shows(full, few):
    classes = DCClassifier(n_pieces=1).fit(NUMBERS, Y > 1)
    table = few.region_table(X)
    answers = [
        full.explain(X[:2]),
        full.explain(X[:2], method="path"),
        full.interactions(X),
        table,
        table.regions,
        few.counterfactual(X.iloc[0], threshold=float(few.predict(X[:1])[0]) + 0.1),
        classes.explain(NUMBERS[:1]),
        classes.region_table(NUMBERS),
    ]
    for answer in answers:
        assert repr(answer) == str(answer)
    assert isinstance(table, dict) and dict(table).keys() == table.keys()


def test_of_long_tables_notebooks_show_the_beginning():
    long = Long()
    assert len(str(long).splitlines()) == 200 and len(repr(long).splitlines()) == 61
    assert repr(long).endswith("140 more lines; print shows all")


class Long(Printed):
    def __str__(self):
        return "\n".join(map(str, range(200)))


def test_rules_of_booleans_say_true_and_false(few):
    told = few.region_table(X)
    river = X.columns.get_loc("river")
    assert few.model_.opposites[few.model_.number_of(river)] == "river is False"
    table = (
        DCRegressor(n_pieces=2)
        .fit(X[["river", "rooms"]], 3.0 * X["river"] * X["rooms"].abs())
        .region_table(X[["river", "rooms"]])
    )
    rules = " ".join([*told["where"], *table["where"]])
    assert "river is False" in rules and "river ≤" not in rules and "river >" not in rules
    assert "river is True" in rules


@pytest.mark.parametrize("gaps", [False, True])
def test_a_curve_of_booleans_has_a_mean_for_each(gaps):
    rows = X[["size", "river"]].astype({"river": object if gaps else bool})
    if gaps:
        rows.loc[:8, "river"] = None
    model = DCRegressor(n_pieces=2).fit(rows, Y)
    curve = model.curve("river", rows)
    assert isinstance(curve, LevelMeans) and curve.levels == ((False, True, None) if gaps else (False, True))
    for level in curve.levels:
        all_of_it = rows.assign(river=np.full(60, level, dtype=object if gaps else bool))
        assert curve(level) == pytest.approx(model.predict(all_of_it).mean())
    assert "True" in str(curve)
    with pytest.raises(ValueError, match="between is for columns of numbers; 'river' holds booleans"):
        model.curve("river", rows, between=(0, 1))


def test_names_that_are_too_long_are_cut_in_the_middle():
    names = [f"sold: day of the long week ({wave})" for wave in ("sin", "cos")]
    rows = pd.DataFrame(RNG.normal(size=(60, 2)), columns=names)
    text = str(DCRegressor(n_pieces=2).fit(rows, rows.sum(axis=1).abs()).region_table(rows))
    assert "slope of sold: day of… week (sin) " in text and "slope of sold: day of… week (cos) " in text


def test_the_figure_of_a_model_has_bars_of_levels_and_shares_of_at_most_all(few):
    rows = X[["size", "heating", "river"]]
    figure = plot_model(three := DCRegressor(n_pieces=2).fit(rows, Y), rows)
    axes = {axis.get_xlabel(): axis for part in figure.subfigs for axis in part.axes}
    for name in ("heating", "river"):
        ends = [bar.get_y() + bar.get_height() for bar in axes[name].patches]
        np.testing.assert_allclose(ends, np.sort(three.curve(name, rows).y)[::-1])
    regions = plot_model(few, X).subfigs[-1].axes[0]
    assert max(regions.get_xticks()) <= 1 and len(regions.get_xticks()) > 1


def test_a_model_of_a_region_a_row_says_simplify_first(few):
    said, rows = "about one region a row", RNG.normal(size=(60, 3))
    regions = PLDC.total([random_pldc(np.random.default_rng(k), 20, 20, 3) for k in range(6)]).regions(rows)
    assert len(regions) > 30 and said in str(regions).splitlines()[-1] and "simplify" in str(regions)
    assert said not in str(few.region_table(X))


def test_what_is_no_number_names_its_column(plain):
    for cell, said in (("x", "Column 'age' must hold numbers .*'x'"), (np.inf, "Column 'age' contains infinity")):
        bad = NUMBERS.astype(object if cell == "x" else float)
        bad.loc[3, "age"] = cell
        with pytest.raises(ValueError, match=said):
            plain.predict(bad)
    with pytest.raises(ValueError, match="Column 'age' contains infinity"):
        DCRegressor(n_pieces=1).fit(bad, Y)
    with pytest.raises(ValueError, match="Column 'x1' contains infinity"):
        DCRegressor(n_pieces=1).fit(bad.to_numpy(), Y)


def test_one_name_is_as_good_as_a_list_of_it(few):
    x, to = X.iloc[0], float(few.predict(X[:1])[0]) + 0.1
    one, listed = (few.counterfactual(x, to, fixed=each) for each in ("age", ["age"]))
    assert one.cost == listed.cost and one.changes == listed.changes
    with pytest.raises(ValueError, match=r"There is no column 'ago'"):
        few.counterfactual(x, to, whole="ago")


def test_bounds_the_wrong_way_round(few):
    with pytest.raises(ValueError, match=r"bounds of 'age' are \(9, 8\): the lower end is above the upper"):
        few.counterfactual(X.iloc[0], 3.0, bounds={"age": (9, 8)})


@pytest.mark.parametrize("kind", [DCRegressor, DCClassifier])
def test_a_curve_needs_rows(kind):
    model = kind(n_pieces=1).fit(NUMBERS, Y if kind is DCRegressor else Y > 1)
    with pytest.raises(TypeError, match=rf"{kind.__name__}.curve\(feature, X\) needs rows"):
        model.curve("age")
