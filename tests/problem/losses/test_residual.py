"""The family of losses of residuals: textbook formulas, and members that meet."""

import numpy as np
import pytest

from pldc.problem.losses import Absolute, Boxed, Huber, Quantile, Squared

R = np.linspace(-3, 3, 121)
Y = np.linspace(5, -5, 121)


@pytest.mark.parametrize(
    "loss, formula",
    [
        (Squared(), lambda r: r**2),
        (Absolute(), np.abs),
        (Huber(0.7), lambda r: np.where(np.abs(r) <= 0.7, r**2, 1.4 * np.abs(r) - 0.49)),
        (Quantile(0.8), lambda r: 2 * np.where(r < 0, 0.8 * -r, 0.2 * r)),
    ],
)
def test_value_is_the_textbook_formula(loss, formula):
    np.testing.assert_allclose(loss.at(Y + R, Y), formula(R), atol=1e-14)


def test_members_of_the_family_meet():
    np.testing.assert_allclose(Quantile(0.5).at(R, Y), Absolute().at(R, Y))
    np.testing.assert_allclose(Huber(100.0).at(R, Y), Squared().at(R, Y))
    np.testing.assert_allclose(Boxed(0.5, 1.4, 1.4).at(R, Y), Huber(0.7).at(R, Y))


@pytest.mark.parametrize("bad", [0.0, 1.0, -1, 2, np.nan, "a", None])
def test_levels_that_are_none(bad):
    with pytest.raises(ValueError, match="level of Quantile must lie strictly between 0 and 1"):
        Quantile(bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, "a", None])
def test_deltas_that_are_none(bad):
    with pytest.raises(ValueError, match="delta of Huber must be a positive finite number"):
        Huber(bad)


@pytest.mark.parametrize("bad", [(0.0, np.inf, np.inf), (0.5, np.inf, 1.0), (0.0, 1.0, np.inf)])
def test_slopes_are_bounded_on_both_sides_or_on_none(bad):
    with pytest.raises(ValueError, match="bounded in slope"):
        Boxed(*bad)


def test_a_low_or_high_quantile_is_off_centre():
    assert [Quantile(q).off_centre for q in (0.1, 0.25, 0.5, 0.75, 0.9)] == [True, False, False, False, True]
    assert not (Squared().off_centre or Absolute().off_centre or Huber().off_centre)
