"""What the Python source says to frames, periods, lengths of time that are missing, and cells of another kind."""

import numpy as np
import pandas as pd
import pytest
from tests.quick import few_kinds

from pldc import DCRegressor
from pldc.export import to_numpy


def source_of(frame, y):
    """Return a fit, and the functions of its source."""
    space = {}
    with few_kinds():
        model = DCRegressor(n_pieces=2).fit(frame, y)
    exec(to_numpy(model), space)
    return model, space["predict"]


@pytest.mark.parametrize("step", ["M", "D", "h", "Q-DEC", "W"])
def test_periods_are_their_first_moment(step):
    frame = pd.DataFrame({"a": np.arange(60.0) % 7, "t": pd.period_range("2000-01", periods=60, freq=step)})
    frame.loc[3, "t"] = pd.NaT
    model, predict = source_of(frame, np.abs(np.arange(60.0) - 20))
    for rows in (frame, frame.to_numpy(object)):
        np.testing.assert_allclose(predict(rows), model.predict(frame), rtol=1e-9)


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_arrays_of_dates_alone(unit):
    cells = np.array(["2020-01-01", "2021-06-30", "NaT", "2022-02-02"] * 10, dtype=f"datetime64[{unit}]")
    frame = pd.DataFrame({"t": cells, "u": cells[::-1]})
    model, predict = source_of(frame, np.arange(40.0) % 4)
    for rows in (frame, np.column_stack([cells, cells[::-1]])):
        np.testing.assert_allclose(predict(rows), model.predict(frame), rtol=1e-9)


@pytest.mark.parametrize("other", [np.arange(40.0), np.array(["u", "v"] * 20, dtype=object)])
def test_cells_that_are_missing(other):
    frame = pd.DataFrame({"a": np.arange(40.0), "b": other})
    model, predict = source_of(frame, np.abs(np.arange(40.0) - 20))
    empty = frame.iloc[:5].astype({"a": float}).assign(a=np.nan)
    rows = frame.iloc[:5].to_numpy(object).copy()
    rows[:, 0] = [None, np.nan, pd.NA, pd.NaT, np.timedelta64("NaT")]
    np.testing.assert_allclose(predict(rows), model.predict(empty), rtol=1e-9)


@pytest.mark.parametrize("other", [np.arange(40.0), np.array(["u", "v"] * 20, dtype=object)])
def test_text_among_numbers_names_the_column(other):
    frame = pd.DataFrame({"it's a": np.arange(40.0), "b": other})
    _, predict = source_of(frame, np.abs(np.arange(40.0) - 20))
    rows = frame.to_numpy(object).copy()
    rows[7, 0] = "12 m"
    with pytest.raises(ValueError, match="""Column "it's a" takes numbers, not '12 m'"""):
        predict(rows)


@pytest.mark.parametrize("cell", ["soon", 18993, 18993.0, [1]])
def test_what_is_no_date_names_the_column(cell):
    frame = pd.DataFrame({"a": np.arange(40.0), "t": pd.date_range("2020-01-01", periods=40)})
    _, predict = source_of(frame, np.abs(np.arange(40.0) - 20))
    rows = frame.to_numpy(object).copy()
    rows[7, 1] = cell
    with pytest.raises(ValueError, match="Column 't' takes dates, not "):
        predict(rows)


@pytest.mark.parametrize("other", [np.arange(40.0), np.array(["u", "v"] * 20, dtype=object)])
def test_frames_have_the_columns_of_the_training(other):
    frame = pd.DataFrame({"a": np.arange(40.0), "b": other})
    model, predict = source_of(frame, np.abs(np.arange(40.0) - 20))
    np.testing.assert_allclose(predict(frame), model.predict(frame), rtol=1e-9)
    for wrong in (frame[["b", "a"]], frame.rename(columns={"b": "c"})):
        with pytest.raises(ValueError, match=r"The columns must be \['a', 'b'\], in this order, not \["):
            predict(wrong)
    rows = frame[["a"]].assign(b=np.arange(40.0)).to_numpy()
    _, predict = source_of(rows, np.abs(np.arange(40.0) - 20))  # without names: columns are x0 and x1
    assert predict(pd.DataFrame(rows, columns=["p", "q"])).shape == (40,)


def test_dates_with_a_zone_texts_and_other_frames_are_refused():
    frame = pd.DataFrame({"a": np.arange(60.0) % 7, "t": pd.date_range("2000-01", periods=60)})
    _, predict = source_of(frame, np.abs(np.arange(60.0) - 20))
    zone = frame.assign(t=frame.t.dt.tz_localize("Europe/Berlin"))
    for cell in (zone.t[0], zone.t[0].to_pydatetime(), "5", "12", "now", "", "2020-01-01"):
        with pytest.raises(ValueError, match="Column 't' takes dates, not"):
            predict(np.array([[0.0, cell]], dtype=object))
    with pytest.raises(ValueError, match="they have no time zone"):
        predict(zone)
    polars = pytest.importorskip("polars")
    for other in (polars.from_pandas(frame), polars.from_pandas(frame).to_arrow()):
        with pytest.raises(TypeError, match=r"give X.to_pandas\(\)"):
            predict(other)
