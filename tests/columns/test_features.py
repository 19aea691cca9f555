"""Each rule against the same rule written out for one cell."""

import math
from datetime import datetime, timedelta

import numpy as np
import pytest

from pldc.columns import Column, DatePart, Encoding, Level, Missing, Number, Statistic

DATES = [datetime(2024, 2, 29, 6, 30), datetime(1969, 12, 29), datetime(1970, 1, 1, 18), datetime(2031, 7, 6, 23, 59)]
DAYS = np.array([(d - datetime(1970, 1, 1)) / timedelta(days=1) for d in DATES])


def levels(*cells):
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def test_numbers_and_what_is_missing():
    cells = np.array([1.0, np.nan, -3.0])
    assert Number(0, 7.5).values(cells).tolist() == [1.0, 7.5, -3.0]
    assert Missing(0).values(cells).tolist() == [0.0, 1.0, 0.0]
    assert Missing(0).values(levels("a", None)).tolist() == [0.0, 1.0]


def test_a_level_is_itself_alone():
    assert Level(0, "a").values(levels("a", "b", None, "A", "")).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_a_statistic_is_looked_up():
    rule = Statistic(0, (("a", 1.5), ("b", -2.0)), default=0.25, missing=9.0)
    assert rule.values(levels("b", "a", "never seen", None)).tolist() == [-2.0, 1.5, 0.25, 9.0]


def test_the_linear_part_of_a_date_is_days():
    assert DatePart(0, 0.0).values(DAYS).tolist() == DAYS.tolist()
    assert DatePart(0, -1.0).values(np.array([np.nan])).tolist() == [-1.0]


@pytest.mark.parametrize("wave, of", [("sin", math.sin), ("cos", math.cos)])
def test_cycles_are_those_of_the_calendar(wave, of):
    day = [of(2 * math.pi * (d.hour * 60 + d.minute) / 1440) for d in DATES]
    np.testing.assert_allclose(DatePart(0, 0.0, wave, 1.0).values(DAYS), day, atol=1e-9)
    week = [of(2 * math.pi * (d.weekday() + (d.hour * 60 + d.minute) / 1440) / 7) for d in DATES]
    np.testing.assert_allclose(DatePart(0, 0.0, wave, 7.0).values(DAYS), week, atol=1e-9)
    year = [of(2 * math.pi * (d.timetuple().tm_yday - 1) / 365.2425) for d in DATES]
    np.testing.assert_allclose(DatePart(0, 0.0, wave, 365.2425).values(DAYS), year, atol=0.035)  # two days


def test_names_and_sources():
    encoding = Encoding(
        (Column("age", "number"), Column("city", "category"), Column("when", "date")),
        (Number(0, 1.0), Missing(0), Level(1, "Rome"), DatePart(2, 0.0), DatePart(2, 0.0, "cos", 1.0)),
    )
    assert encoding.names == ("age", "city", "when")
    assert encoding.feature_names == (
        "age",
        "age is missing",
        "city = Rome",
        "when: days",
        "when: time of day (cos)",
    )
    assert encoding.source.tolist() == [0, 0, 1, 2, 2]
    assert encoding.levels(1) == ("Rome",) and encoding.levels(0) == ()
