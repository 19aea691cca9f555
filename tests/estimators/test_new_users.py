"""What a new user of answers, tables and intervals met."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor, Quantile

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
def test_names_that_are_no_text_are_pointed_out(names, kind):
    odd = NUMBERS.copy()
    odd.columns = names
    with pytest.warns(UserWarning, match="names of the columns are no text, .*by their places alone"):
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
    wide = np.tile(NUMBERS, 40)
    long = DCRegressor(n_pieces=1).fit(wide, Y).explain(wide[:1])
    assert len(str(long).splitlines()) > 100 and len(repr(long).splitlines()) == 61
    assert repr(long).endswith("more lines; print shows all")
