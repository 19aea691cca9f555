"""Rows grouped by the affine function that rules there."""

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions

from pldc import PLDC


@pytest.mark.parametrize("kind", KINDS)
def test_each_region_is_one_affine_function(kind):
    f = random_functions(np.random.default_rng(0))[kind]
    X = np.random.default_rng(1).standard_normal((500, 2))
    found = f.regions(X)
    assert found.count.sum() == 500 and (np.diff(found.count) <= 0).all()
    np.testing.assert_array_equal(np.bincount(found.of_row, minlength=len(found)), found.count)
    values = (found.slope[found.of_row] * X).sum(axis=1) + found.intercept[found.of_row]
    np.testing.assert_allclose(values, f(X), atol=1e-9)
    for k in (0, len(found) - 1):
        rows = X[found.of_row == k]
        np.testing.assert_array_equal(found.low[k], rows.min(axis=0))
        np.testing.assert_array_equal(found.high[k], rows.max(axis=0))
    assert len(found) > 5


def test_tables():
    pd = pytest.importorskip("pandas")
    f = abs(PLDC.affine([1.0, 0.0]))
    found = f.regions([[-2.0, 0.0], [-1.0, 5.0], [3.0, 1.0]])
    frame = pd.DataFrame(found.columns(["a", "b"]))
    assert frame["slope of a"].tolist() == [-1.0, 1.0] and frame["rows"].tolist() == [2, 1]
    assert frame["where"].tolist() == ["a ≤ 0", "a > 0"] and all(frame["decided by"].str.startswith("a"))
    assert frame["value"].tolist() == [2.0, 3.0] and frame["typical b"].tolist() == [0.0, 1.0]
    assert frame["precision"].tolist() == frame["recall"].tolist() == [1.0, 1.0]
    assert "region" in str(found) and "x1" in str(found)
    assert "… and 1 more region with 1 row" in found.to_text(most=1)
    with pytest.raises(ValueError, match="feature names"):
        found.to_text(["a"])
    with pytest.raises(ValueError, match="at least one row"):
        f.regions(np.zeros((0, 2)))


def test_the_typical_row_is_the_one_closest_to_the_median_and_has_its_value():
    f = random_functions(np.random.default_rng(0))["plain"]
    X = np.random.default_rng(1).standard_normal((400, 2)) * [1.0, 50.0]
    found = f.regions(X)
    np.testing.assert_allclose(found.value, f(found.typical), atol=1e-9)
    for k in range(3):
        rows = X[found.of_row == k]
        away = np.linalg.norm((rows - np.median(rows, axis=0)) / X.std(axis=0), axis=1)
        own = (rows == found.typical[k]).all(axis=1)
        assert own.any() and away[own][0] == pytest.approx(away.min())


def test_rules_tell_the_fullest_regions():
    f = random_functions(np.random.default_rng(0))["plain"]
    X = np.random.default_rng(1).standard_normal((500, 2))
    found = f.regions(X)
    assert 3 <= len(found.rules) <= 12 and len(found.rules) == len(found.decided_by)
    for k, rule in enumerate(found.rules):
        holds, inside = rule.holds(X), found.of_row == k
        assert rule.precision == pytest.approx((holds & inside).sum() / holds.sum())
        assert rule.recall == pytest.approx((holds & inside).sum() / inside.sum())
    columns = found.columns()
    assert columns["where"][len(found) - 1] == "" or len(found.rules) == len(found)


def test_text_fits_the_screen_and_shows_no_rounding():
    rng = np.random.default_rng(2)
    names = [f"a rather long name of feature {k}" for k in range(30)]
    slope = np.where(np.arange(30) == 3, -4.9e-17, rng.normal(size=30))
    f = abs(PLDC.affine(slope)) + abs(PLDC.affine(np.roll(slope, 5), 0.3))
    text = f.regions(rng.normal(size=(200, 30))).to_text(names)
    assert max(map(len, text.splitlines())) <= 79 and "e-1" not in text
    assert "… and 10 more features" in text
    narrow = f.regions(rng.normal(size=(200, 30))).to_text(names, width=50)
    assert max(map(len, narrow.splitlines())) <= 50 and "more regions" in narrow
    two = PLDC.affine([1.0, -4.9e-17]).regions([[1.0, 2.0], [0.0, 1.0]])
    assert two.columns(["a", "b"])["slope of b"].tolist() == [0.0] and "e-17" not in str(two)


def test_rows_beyond_all_squares_and_words_that_are_no_columns():
    f = PLDC.affine([1.0, 0.0])
    found = f.regions([[1e200, -1e200], [1e-200, 0.0], [0.0, 0.0]])
    assert found.count.tolist() == [3] and np.isfinite(found.typical).all()
    for strange in ("rows", {"a": 2}, {"a": [1, 2, 3]}):
        with pytest.raises(TypeError, match="also must be"):
            found.to_text(also=strange)
    assert "kind" in found.to_text(also={"kind": ["one"]})
