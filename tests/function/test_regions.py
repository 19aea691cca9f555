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
    assert "region" in str(found) and "x1" in str(found)
    assert "… and 1 more regions with 1 rows" in found.to_text(most=1)
    with pytest.raises(ValueError, match="feature names"):
        found.to_text(["a"])
    with pytest.raises(ValueError, match="at least one row"):
        f.regions(np.zeros((0, 2)))
