"""Shapley values, against the mean over all orders of the columns."""

from itertools import permutations

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions

from pldc.function.contributions import contributions
from pldc.function.shapley import shapley_values


def over_all_orders(f, x, references, source):
    columns = range(int(source.max()) + 1)
    out = np.zeros(len(columns))
    orders = list(permutations(columns))
    for order in orders:
        now = references.copy()
        value = f(now).mean()
        for column in order:
            now[:, source == column] = x[source == column]
            out[column] += f(now).mean() - value
            value = f(now).mean()
    return out / len(orders)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_values_are_means_over_all_orders(kind, seed):
    rng = np.random.default_rng(seed)
    f = random_functions(rng, d := 1 + seed % 4)[kind]
    x, references = rng.normal(size=d), rng.normal(size=(3, d))
    source = np.arange(d) if seed % 2 else np.minimum(np.arange(d), 2)
    (found,) = shapley_values(f, x[None], references, source)
    np.testing.assert_allclose(found, over_all_orders(f, x, references, source), atol=1e-10)
    assert found.sum() == pytest.approx(f([x])[0] - f(references).mean(), abs=1e-10)


def test_more_than_twelve_columns_are_refused():
    f = random_functions(np.random.default_rng(0), 13)["plain"]
    with pytest.raises(ValueError, match="up to 12 columns .* this model has 13: use method='path'"):
        contributions(f, np.zeros((1, 13)), np.zeros((1, 13)), "shapley")
    grouped = shapley_values(f, np.ones((1, 13)), np.zeros((1, 13)), np.minimum(np.arange(13), 11))
    assert grouped.sum() == pytest.approx(f(np.ones((1, 13)))[0] - f(np.zeros((1, 13)))[0], abs=1e-9)
