"""Classes in an order by content, and back."""

from dataclasses import replace

import numpy as np

from pldc import PLDC
from pldc.fit.class_order import ClassOrder
from pldc.fit.settings import Settings
from pldc.model import Model
from pldc.problem.recipe import Rows
from pldc.select.cross_fit import CrossFit
from pldc.select.folds import ranks_of_classes

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.repeat([0.0, 1.0, 2.0], [2, 7, 3])
ROWS = Rows(X, Y, np.ones(12))
MODEL = Model("compact", tuple(PLDC.affine([k, 1.0]) for k in range(3)), np.zeros(2), np.ones(2))


def test_scores_labels_and_folds_change_together_and_come_back():
    order = ClassOrder.by_content(ROWS, 3)
    assert order.to.tolist() == [2, 0, 1]  # the heaviest first
    model, rows = order.model(MODEL), order.rows(ROWS)
    scores = MODEL.scores(X)
    own = np.arange(12)
    np.testing.assert_array_equal(model.scores(X)[own, rows.y.astype(int)], scores[own, Y.astype(int)])
    folds = CrossFit([MODEL.functions], [scores[:4].T], [(-np.inf, np.inf)], ROWS, [(own[4:], own[:4])])
    ranked = order.folds(folds)
    np.testing.assert_array_equal(ranked.values[0], model.scores(X)[:4].T)
    np.testing.assert_array_equal([f(X) for f in ranked.functions[0]], model.scores(X).T)
    again = order.back.folds(ranked)
    np.testing.assert_array_equal(again.rows.y, Y)
    np.testing.assert_array_equal(again.values[0], folds.values[0])
    np.testing.assert_array_equal(order.back.model(model).scores(X), scores)


def test_a_scorer_is_asked_in_the_numbers_that_it_knows():
    seen = []
    order = ClassOrder.by_content(ROWS, 3)
    settings = order.settings(Settings(recipe=None, score=lambda F, test: seen.append((F, test.y)) or 1.0))
    assert settings.score(order.model(MODEL).scores(X).T, order.rows(ROWS)) == 1.0
    np.testing.assert_array_equal(seen[0][0], MODEL.scores(X).T)
    np.testing.assert_array_equal(seen[0][1], Y)


def test_of_two_classes_the_first_keeps_the_score_zero():
    zero, f = PLDC.affine(np.zeros(2)), abs(PLDC.affine([1.0, 2.0], 3.0))
    swap = ClassOrder(np.array([1, 0]))
    model = swap.model(replace(MODEL, functions=(zero, f)))
    np.testing.assert_array_equal(model.scores(X), np.column_stack([np.zeros(12), -f(X)]))
    both = swap.model(replace(MODEL, functions=(f, zero + 1.0)))
    np.testing.assert_array_equal(both.scores(X), np.column_stack([np.ones(12), f(X)]))


def test_a_regression_stays_as_it_is():
    order = ClassOrder.by_content(ROWS, 1)
    one = replace(MODEL, functions=MODEL.functions[:1])
    assert order.rows(ROWS) is ROWS and order.model(one).functions == one.functions and order.folds(None) is None


def test_classes_without_a_row_come_last():
    ranks = ranks_of_classes(ROWS._replace(y=np.where(Y == 2, 4.0, Y)), 6)
    assert ranks[[1, 4, 0]].tolist() == [0, 1, 2] and sorted(ranks.tolist()) == list(range(6))
