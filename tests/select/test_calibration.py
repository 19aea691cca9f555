"""The temperature that makes probabilities of scores."""

import numpy as np
import pytest

from pldc.problem.recipe import Rows
from pldc.select import calibration


def calibrate(*given):
    """The temperature alone."""
    temperature, levels = calibration.calibrate(*given)
    assert not levels.any()
    return temperature


@pytest.mark.parametrize("n", [6, 60])
def test_rows_left_out_that_are_all_right_do_not_make_it_certain(n):
    y = np.arange(n) % 2
    scores = np.where(y == np.array([[0], [1]]), 0.5, -0.5)  # every margin is one
    p = 1 / (1 + np.exp(-calibrate(scores, Rows(np.arange(n)[:, None], y, np.ones(n)))))
    assert p == pytest.approx((n + 0.5) / (n + 1), abs=1e-4)  # one row more, half of it of the other class


def test_the_temperature_is_the_best_for_smoothed_labels():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [12, 5, 3])
    scores = rng.normal(size=(3, 20))
    scores[y, np.arange(20)] += 1.0
    rows = Rows(rng.normal(size=(20, 2)), y, np.ones(20))

    def loss(temperature):
        total = 0.0
        for i, label in enumerate(y):
            p = np.exp(temperature * scores[:, i]) / np.exp(temperature * scores[:, i]).sum()
            total -= sum(np.log(p[c]) * (20 + 1 / 3 if c == label else 1 / 3) / 21 for c in range(3))
        return total

    found = calibrate(scores, rows)
    assert loss(found) <= min(loss(t) for t in np.geomspace(0.05, 20, 400))
    twice = np.r_[np.arange(20), 2, 2, 7]  # a row three times is a row of weight three
    weight = np.ones(20)
    weight[[2, 7]] = 3.0, 2.0
    again = calibrate(scores[:, twice], Rows(rows.X[twice], y[twice], np.ones(23)))
    assert calibrate(scores, rows._replace(weight=weight)) == pytest.approx(again, rel=1e-6)
    assert again != pytest.approx(found, rel=1e-3)


def test_small_weights_count_as_the_distinct_rows_that_tell_as_much():
    """n is the number of rows, however they are weighed: 40 of weight 0.01 are 40; unequal ones are fewer."""
    y = np.arange(40) % 2
    scores = np.where(y == np.array([[0], [1]]), 0.5, -0.5)  # every margin is one: p tells n
    X = np.arange(40)[:, None]

    def rows_told(weight, at=slice(None)):
        p = 1 / (1 + np.exp(-calibrate(scores[:, at], Rows(X[at], y[at], weight))))
        return (p - 0.5) / (1 - p)  # p is (n + 1/2) / (n + 1)

    uneven = np.where(np.arange(40) < 20, 0.03, 0.01)
    assert rows_told(np.full(40, 0.01)) == pytest.approx(40, rel=0.01)
    assert rows_told(uneven) == pytest.approx(0.8**2 / (20 * 0.03**2 + 20 * 0.01**2), rel=0.01)
    assert rows_told(np.full(40, 2.0)) == pytest.approx(80, rel=0.01)  # a weight of 2 is the row twice
    assert rows_told(np.full(80, 0.01), np.tile(np.arange(40), 2)) == pytest.approx(40, rel=0.01)  # not twice as many


@pytest.mark.parametrize("prior", [0.0, 10.0, 1e6])
def test_a_prior_pulls_towards_one_as_so_many_rows_would(prior):
    y = np.arange(40) % 2
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 40)) + 3.0 * (y == np.array([[0], [1]]))
    rows = Rows(rng.normal(size=(40, 1)), y, np.ones(40))

    def loss(temperature):
        p = np.exp(temperature * scores) / np.exp(temperature * scores).sum(axis=0)
        right, wrong = np.log(p[y, np.arange(40)]), np.log(p[1 - y, np.arange(40)])
        return -(40.5 * right + 0.5 * wrong).sum() / 41 + prior * np.log(temperature) ** 2

    found = calibrate(scores, rows, prior)
    assert loss(found) <= min(loss(t) for t in np.geomspace(0.05, 20, 400)) + 1e-9
    assert abs(np.log(found)) < abs(np.log(calibrate(scores, rows))) if prior else found > 1.3
    assert prior < 1e6 or found == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("m", [2, 3])
def test_a_temperature_leaves_rare_classes_rare(m):
    """The mean probability of each class lies between its share and what it was; and the order of rows stays."""
    rng = np.random.default_rng(m)
    chance = np.array([0.99, 0.01] if m == 2 else [0.69, 0.01, 0.3])
    y = rng.choice(m, size=4000, p=chance)
    scores = np.log(chance)[:, None] + 2.0 * rng.normal(size=(m, 4000))
    rows = Rows(rng.normal(size=(4000, 1)), y, rng.uniform(0.5, 1.5, 4000))
    share = rows.weight / rows.weight.sum()
    shares = np.bincount(y, weights=share, minlength=m)
    temperature, levels = calibration.calibrate(scores, rows, 10.0, shares)

    def mean(F):
        return np.exp(F - np.logaddexp.reduce(F, axis=0)) @ share

    assert temperature < 0.7 and levels[0] == 0.0
    wanted = np.sqrt(mean(scores) * shares)
    np.testing.assert_allclose(mean(temperature * (scores + levels[:, None])), wanted / wanted.sum(), rtol=1e-5)
    rare = shares.argmin()
    assert mean(temperature * scores)[rare] > 2 * mean(scores)[rare]  # what it would be


def test_probabilities_of_a_rare_class_are_near_its_share():
    from pldc import DCClassifier

    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    score = -6.5 + 1.2 * X[:, 0] + 0.8 * np.abs(X[:, 1]) + 0.7 * X[:, 2] * X[:, 3]
    y = (rng.uniform(size=3000) < 1 / (1 + np.exp(-score))).astype(int)
    model = DCClassifier().fit(X, y)
    assert 10 < y.sum() < 60
    assert 0.5 < model.predict_proba(X)[:, 1].mean() / y.mean() < 1.7
    few = model.simplify(X, y, n_pieces=2)
    assert 0.5 < few.predict_proba(X)[:, 1].mean() / y.mean() < 1.7
    margin = model.decision_function(X) * model.model_.temperature
    np.testing.assert_allclose(1 / (1 + np.exp(-margin)), model.predict_proba(X)[:, 1], atol=1e-12)
