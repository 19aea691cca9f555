"""Twenty and more odd columns, beside one plain column: a clear answer or a clear error."""

from datetime import UTC, datetime, time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor, load
from pldc.export import to_numpy

N = 36
X = np.linspace(-1.0, 1.0, N)
EVEN = np.arange(N) % 2 == 0
Y = X + 2.0 * EVEN  # what the odd column often tells
LETTERS = np.where(EVEN, "yes", "no").astype(object)


@pytest.fixture(autouse=True)
def quick():
    with few_kinds():
        yield


def fit(odd, y=Y, **settings):
    """Fit the plain column and an odd one."""
    return DCRegressor(n_jobs=1, **settings).fit(frame(odd), y)


def frame(odd):
    plain = X[: len(odd)]
    return pd.DataFrame({"x": plain, "odd": odd})


def features(model):
    return None if model.model_.columns is None else model.model_.columns.feature_names[1:]


def learns(model, odd):
    """The odd column tells even rows from others."""
    found = model.predict(frame(odd))
    assert np.isfinite(found).all()
    assert found[EVEN].mean() - found[~EVEN].mean() > 1.5
    return found


def test_all_missing():
    for cells in (np.full(N, np.nan), [None] * N):
        model = fit(cells)
        assert features(model) == ("odd", "odd is missing")
        assert np.isfinite(model.predict(frame(cells))).all()
        assert np.isfinite(model.predict(frame(np.ones(N)))).all()


def test_one_level():
    model = fit(["only"] * N)
    assert features(model) == ("odd = only",)
    assert np.isfinite(model.predict(frame(["another"] * N))).all()


def test_ten_thousand_levels():
    rng = np.random.default_rng(0)
    x, level = rng.normal(size=20_000), rng.integers(0, 10_000, 20_000)
    table = pd.DataFrame({"x": x, "odd": [f"level {k}" for k in level]})
    y = x + 2.0 * (level % 2)
    model = DCRegressor(n_jobs=1, max_seconds=2.0).fit(table, y)
    assert features(model) == ("odd: mean target",)
    new = pd.DataFrame({"x": [0.0, 0.0], "odd": [f"level {level[0]}", "level unheard of"]})
    assert model.model_.columns.apply(new)[1, 1] == pytest.approx(y.mean())
    assert np.isfinite(model.predict(new)).all()


def test_mixed_types():
    mixed = LETTERS.copy()
    mixed[~EVEN] = 3
    mixed[1::4] = 3.0
    model = fit(mixed)
    assert features(model) == ("odd = 3", "odd = yes")
    found = learns(model, mixed)
    np.testing.assert_array_equal(model.predict(frame(np.where(EVEN, "yes", "3").astype(object))), found)


def test_infinite():
    for cells in (np.where(EVEN, np.inf, 0.0), pd.Series([np.inf, None] * (N // 2), dtype=object)):
        with pytest.raises(ValueError, match="infinity"):
            fit(cells)
    with pytest.raises(ValueError, match="infinity"):
        fit(np.ones(N)).predict(frame(np.full(N, -np.inf)))


def test_huge_integers():
    cells = [2**70 if even else 2**69 for even in EVEN]
    model = fit(pd.Series(cells, dtype=object))
    learns(model, cells)
    with pytest.raises(ValueError, match="'odd' contains infinity or a value too large"):
        model.predict(frame(pd.Series([10**400] * N, dtype=object)))


def test_duplicate_names():
    table = pd.DataFrame(np.column_stack([X, X]), columns=["a", "a"])
    with pytest.raises(ValueError, match=r"(?i)different names|unique column names"):
        DCRegressor().fit(table, Y)


def test_nullable_types():
    gap = np.arange(N) % 9 == 0
    base = pd.DataFrame({"i": np.arange(N), "f": X, "s": LETTERS, "b": EVEN})
    table = base.astype({"i": "Int64", "f": "Float64", "s": "string", "b": "boolean"})
    table[gap] = pd.NA
    model = DCRegressor(n_jobs=1).fit(table, Y)
    names = model.model_.columns.feature_names
    assert names == ("i", "i is missing", "f", "f is missing", "s = no", "s = yes", "s is missing", "b", "b is missing")
    plain = base.astype({"i": float, "b": object}).mask(np.repeat(gap[:, None], 4, axis=1))
    np.testing.assert_array_equal(model.predict(plain), model.predict(table))


def test_time_zones():
    hours = pd.Timestamp("2024-03-01", tz="Europe/Berlin") + pd.to_timedelta(np.arange(N) * 12, unit="h")
    model = fit(hours, y=X + 2.0 * EVEN)
    assert model.model_.columns.columns[1].zone == "Europe/Berlin"
    found = model.predict(frame(hours))
    assert found[EVEN].mean() - found[~EVEN].mean() > 1.0  # by the time of day on the clocks of Berlin
    for other in (hours.tz_convert("UTC"), hours.tz_localize(None)):
        with pytest.raises(ValueError, match="in the time zone .*; in training it was Europe/Berlin: convert them"):
            model.predict(frame(other))
    in_polars = pl.DataFrame({"x": X, "odd": pl.Series(hours.tz_localize(None)).dt.replace_time_zone("Europe/Berlin")})
    np.testing.assert_array_equal(model.predict(in_polars), found)
    with pytest.raises(ValueError, match="several time zones"):
        fit(pd.Series([datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)] * (N // 2), dtype=object))


def test_empty_strings_are_a_level():
    cells = np.where(EVEN, "", "no").astype(object)
    model = fit(cells)
    assert features(model) == ("odd = ", "odd = no")
    learns(model, cells)


def test_na_of_pandas_among_objects():
    cells = pd.Series(np.where(EVEN, "yes", pd.NA).tolist(), dtype=object)
    model = fit(cells)
    assert features(model) == ("odd = yes", "odd is missing")
    found = learns(model, cells)
    np.testing.assert_array_equal(model.predict(frame(np.where(EVEN, "yes", None).tolist())), found)


def test_decimals_are_numbers():
    cells = [Decimal("2.5") if even else Decimal("NaN") for even in EVEN]
    model = fit(cells)
    assert features(model) == ("odd", "odd is missing")
    found = learns(model, cells)
    np.testing.assert_array_equal(model.predict(frame(np.where(EVEN, 2.5, np.nan))), found)


def test_text_that_is_no_category_is_pointed_out():
    days = [f"2024-0{k % 9 + 1}-10" for k in range(N)]
    with pytest.warns(UserWarning, match=r"'odd' holds dates as text.*to_datetime.*name it in categorical_f") as w:
        model = fit(days)
    assert len(w) == 1 and w[0].filename == __file__
    keys = [f"key {k}" for k in range(N)]
    with pytest.warns(UserWarning, match="'odd' is text, with 36 different levels in 36 rows: .* Drop a key"):
        fit(keys)
    with pytest.warns(UserWarning, match="with 24 different levels in 24 rows"):
        fit(np.where(np.arange(N) < 24, keys, None))
    for fine, given in (
        (pd.Categorical(keys), {}),
        (keys, {"categorical_features": [1]}),
        (days, {"categorical_features": ["odd"]}),
        ([f"town {k % 30}" for k in range(N)], {}),
        (keys[:19] + [None] * (N - 19), {}),
    ):
        fit(fine, **given)  # a warning would be an error
    assert model.predict(frame(days)).shape == (N,)


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="'odd' holds bytes, b'yes': decode them to text"):
        fit([b"yes", b"no"] * (N // 2))


def test_lengths_of_time_are_days():
    cells = pd.to_timedelta(np.where(EVEN, 48, 12), unit="h")
    model = fit(cells)
    assert features(model) == ("odd",)
    learns(model, cells)
    assert model.model_.columns.apply(frame(cells))[:2, 1].tolist() == [2.0, 0.5]
    assert model.model_.columns.apply(pl.DataFrame({"x": X, "odd": pl.Series(cells)}))[:2, 1].tolist() == [2.0, 0.5]


@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns")  # scikit-learn says so
def test_sparse_columns_are_dense_and_sparse_matrices_refused():
    cells = pd.arrays.SparseArray(EVEN.astype(float))
    learns(fit(cells), cells)
    with pytest.raises(TypeError, match=r"(?i)sparse"):
        DCRegressor().fit(scipy.sparse.csr_array(np.column_stack([X, EVEN])), Y)


def test_complex_numbers_are_refused():
    for cells in (np.full(N, 1j), pd.Series([1j] * N, dtype=object)):
        with pytest.raises(ValueError, match="Complex data not supported"):
            fit(cells)


def test_booleans_with_gaps():
    cells = [True if even else None for even in EVEN]
    model = fit(cells)
    assert features(model) == ("odd", "odd is missing")
    learns(model, cells)


def test_levels_never_seen_are_zero_everywhere():
    model = fit(LETTERS)
    assert features(model) == ("odd = no", "odd = yes")
    new = frame(["perhaps", None])
    np.testing.assert_array_equal(model.model_.columns.apply(new)[:, 1:], np.zeros((2, 2)))
    assert np.isfinite(model.predict(new)).all()


def test_columns_in_another_order_are_refused():
    with pytest.raises(ValueError, match="order"):
        fit(LETTERS).predict(frame(LETTERS)[["odd", "x"]])


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"(?s)seen at fit time.*odd"):
        fit(LETTERS).predict(frame(LETTERS)[["x"]])


def test_objects_that_are_neither_are_named():
    for cells in ([{"a": 1}] * N, [[1, 2]] * N, [time(12)] * N):
        with pytest.raises(TypeError, match="'odd' holds .*: the argument must be a string, a number, a boolean or"):
            fit(cells)


@pytest.mark.parametrize("cells", [np.array([{}] * N), np.array([b"a", "b"] * (N // 2), dtype=object)])
def test_at_new_rows_objects_are_levels_never_seen_but_bytes_are_refused(cells):
    model = fit(LETTERS)
    if isinstance(cells[0], bytes):
        with pytest.raises(TypeError, match="holds bytes"):
            model.predict(frame(cells))
    else:
        np.testing.assert_array_equal(model.predict(frame(cells)), model.predict(frame(["perhaps"] * N)))


@pytest.mark.parametrize("form", ["cut", "named", "many"])
def test_bins_are_levels_by_their_text(form, tmp_path):
    cells = pd.cut(pd.Series(np.where(EVEN, X + 5, X - 5)), 24 if form == "many" else 2)
    given = {"categorical_features": ["odd"]} if form == "named" else {}
    cells = cells.astype(object) if form == "named" else cells
    model = fit(cells, **given)
    found = learns(model, cells)
    texts = list(map(str, sorted(cells.unique())))
    assert list(model.model_.columns.levels(1)) == sorted(texts)
    np.testing.assert_array_equal(model.predict(frame(cells.astype(str))), found)
    model.save_model(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict(frame(cells)), found)
    space = {}
    exec(to_numpy(model), space)
    np.testing.assert_allclose(space["predict"](frame(cells.astype(str)).to_numpy()), found, atol=1e-9)


def test_objects_are_named_with_the_remedy_unless_they_are_called_categories():
    cells = pd.cut(pd.Series(X), 2).astype(object)
    with pytest.raises(
        TypeError, match=r"'odd' holds Interval\(.*, of type Interval: .* in categorical_features: they"
    ):
        fit(cells)


def test_periods_are_dates_from_their_first_moment():
    cells = pd.Series(pd.period_range("2020-01", periods=N, freq="M"))
    cells[EVEN] = (cells + 600)[EVEN]
    model = fit(cells)
    assert features(model)[0] == "odd: days"
    found = learns(model, cells)
    for same in (cells.dt.to_timestamp(), cells.astype(object)):
        np.testing.assert_array_equal(model.predict(frame(same)), found)
    cells[3] = pd.NaT
    assert features(fit(cells))[-1] == "odd is missing"


def test_what_a_column_must_hold_is_said_in_plain_words():
    with pytest.raises(ValueError, match="must hold numbers or booleans, as in training; it holds 'yes'"):
        fit(np.where(X > 0.9, None, EVEN)).predict(frame(LETTERS))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), "D")
    with pytest.raises(ValueError, match=r"must hold dates, as in training; it holds 0\.5\."):
        fit(days).predict(frame(np.full(N, 0.5)))


def test_dates_beyond_the_calendar_and_gaps_in_dates():
    when = np.datetime64("2024-01-01") + np.arange(N).astype("timedelta64[D]")
    when[:3] = np.datetime64("NaT")
    model = fit(when)
    assert features(model)[0] == "odd: days" and features(model)[-1] == "odd is missing"
    far = np.full(N, np.datetime64("9999-12-31", "us"))
    assert np.isfinite(model.predict(frame(far))).all()
    assert np.isfinite(model.predict(frame(np.full(N, np.datetime64("NaT", "us"))))).all()


def test_categories_of_numbers_and_levels_that_no_row_has():
    cells = pd.Categorical(np.where(EVEN, 1.0, 2.0), categories=[1.0, 2.0, 3.0])
    model = fit(cells)
    assert features(model) == ("odd = 1", "odd = 2")
    found = learns(model, cells)
    np.testing.assert_array_equal(model.predict(frame(pd.Series(np.where(EVEN, "1", "2")))), found)


def test_a_column_with_the_name_of_an_indicator_is_another_feature():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    frame = pd.DataFrame(
        {"a": np.where(b > 1, np.nan, a), "a is missing": b, "c = x": a, "c": np.where(a > 0, "x", "y")}
    )
    model = DCRegressor(lam=0.05).fit(frame, np.where(b > 1, 3.0, a) + b)
    names = model.model_.feature_names
    assert len(set(names)) == len(names) == 6 and {"a is missing", "a is missing (2)", "c = x (2)"} <= set(names)
    assert model.curve("a is missing", frame)(0.3) == pytest.approx(
        model.predict(frame.assign(**{"a is missing": 0.3})).mean()
    )
    assert "a is missing (2)" in str(model.explain(frame[:1])) and len(pd.DataFrame(model.region_table(frame)))
    assert model.counterfactual(frame.iloc[0], float(np.median(model.predict(frame)))).features == tuple(frame.columns)


FLAGS = np.arange(40) % 3 == 0
IDS = 2**60 + np.arange(40) % 4
DAYS = np.array(["2020-01-01", "2020-01-02", "2020-02-01"], dtype="datetime64[us]")[np.arange(40) % 3]


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (FLAGS, ("False", "True")),
        (IDS, tuple(str(2**60 + k) for k in range(4))),
        (np.arange(40) % 2 + 0.5, ("0.5", "1.5")),
    ],
    ids=["booleans", "large numbers", "fractions"],
)
def test_numbers_that_are_named_categories_have_the_levels_of_predict(cells, levels):
    """They were read through floats in training, and as they are afterwards."""
    table = pd.DataFrame({"a": np.sin(np.arange(40.0)), "k": cells})
    y = table.a + 3 * (cells == cells[0])
    for frame, named in ((table, "k"), (table.to_numpy(object), 1)):
        model = DCRegressor(n_pieces=2, categorical_features=[named]).fit(frame, y)
        assert model.model_.columns.levels(1) == levels and model.score(frame, y) > 0.9
    classes = DCClassifier(n_pieces=2, categorical_features=["k"]).fit(table, cells == cells[0])
    assert classes.score(table, cells == cells[0]) == 1.0


def test_categories_that_are_dates_are_found_in_columns_of_dates():
    table = pd.DataFrame({"a": np.sin(np.arange(40.0)), "day": pd.Categorical(DAYS)})
    y = table.a + 3 * (DAYS[0] == DAYS)
    model = DCRegressor(n_pieces=2).fit(table, y)
    np.testing.assert_array_equal(model.predict(table.assign(day=DAYS)), model.predict(table))
