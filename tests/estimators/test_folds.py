"""Splitters and scorers of scikit-learn, as the spine sees them."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold
from tests.problems import slanted

from pldc import CrossValidation, DCClassifier, DCRegressor
from pldc.estimators.folds import cross_validation, folds_of, scorer_of
from pldc.problem.recipe import Rows

X, Y = slanted(24)
ROWS = Rows(X, Y, np.ones(24))


def folds(cv, rows=ROWS, groups=None, model=None):
    return folds_of(model or DCRegressor(), cross_validation(cv), rows, groups)


def test_a_number_stays_a_number_unless_there_are_groups():
    assert folds(4) == folds(CrossValidation(4)) == folds(np.int64(4)) == 4
    groups = np.tile(np.arange(6), 4)
    splits = folds(3, groups=groups)
    assert len(splits) == 3 and sorted(np.concatenate([test for _, test in splits])) == list(range(24))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    assert len(folds(9, groups=groups)) == 6  # no more folds than groups


def test_any_splitter_and_iterable_give_places():
    expected = [(train.tolist(), test.tolist()) for train, test in KFold(3).split(X)]
    masks = [(np.isin(np.arange(24), train), np.isin(np.arange(24), test)) for train, test in expected]
    backwards = [([t - 24 for t in train], test) for train, test in expected]
    for cv in (KFold(3), list(KFold(3).split(X)), KFold(3).split(X), expected, masks, backwards):
        assert [(train.tolist(), test.tolist()) for train, test in folds(cv)] == expected
    groups = np.arange(24) // 4
    for train, test in folds(GroupKFold(3), groups=groups):
        assert not set(groups[train]) & set(groups[test])


def test_rows_of_weight_zero_are_in_no_fold():
    rows = ROWS._replace(weight=(np.arange(24) >= 6).astype(float))
    splits = folds(KFold(4), rows)
    assert len(splits) == 3  # the first fold would leave nothing out
    assert min(min(part) for fold in splits for part in fold) == 6


@pytest.mark.parametrize(
    "cv, groups, message",
    [
        (1, None, "cv must be a whole number ≥ 2"),
        (3, np.zeros(24), "All rows are of one group"),
        (3, np.zeros(23), "groups must hold one label for each of 24 rows"),
        ([], None, "yields no fold"),
        ([(np.arange(24), np.arange(0))], None, "yields no fold"),
        ([([0, 1], [24])], None, "cv must name places of 24 rows, 0 to 23"),
        ("three", None, "cv must be a number, a splitter, or pairs of places .* got the text .three."),
    ],
)
def test_what_is_no_fold_is_refused(cv, groups, message):
    with pytest.raises(ValueError, match=message):
        folds(cv, groups=groups)


def test_no_scorer_is_the_loss():
    assert scorer_of(DCRegressor(), None, None) is None


def test_a_scorer_sees_predictions_targets_and_weights():
    prediction = Y + np.linspace(-1, 1, 24)
    score = scorer_of(DCRegressor(), "neg_mean_squared_error", None)
    assert score(prediction, ROWS) == pytest.approx(-np.mean((prediction - Y) ** 2))
    weight = np.arange(24.0) ** 2
    weighted = ROWS._replace(weight=weight)
    assert score(prediction, weighted) == pytest.approx(-np.average((prediction - Y) ** 2, weights=weight))
    plain = scorer_of(DCRegressor(), lambda model, X, y: float(len(X) + model.predict(X)[0] - y[0]), None)
    assert plain(prediction, weighted) == pytest.approx(24 + prediction[0] - Y[0])  # one that knows no weights


def test_a_scorer_of_classes_sees_labels_and_scores():
    names = np.array(["no", "perhaps", "yes"])
    rows = Rows(X[:4], np.array([0.0, 1.0, 2.0, 1.0]), np.ones(4))
    scores = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.5, 0.0], [0.0, 0.0, 0.2, 0.0]])
    assert scorer_of(DCClassifier(), "accuracy", names)(scores, rows) == 0.5
    log_loss = scorer_of(DCClassifier(), "neg_log_loss", names)(scores, rows)
    p = np.exp(scores) / np.exp(scores).sum(axis=0)
    assert log_loss == pytest.approx(np.mean(np.log(p[[0, 1, 2, 1], np.arange(4)])))
    two = scorer_of(DCClassifier(), "roc_auc", names[:2])
    assert two(scores[:2], rows._replace(y=np.array([0.0, 1.0, 1.0, 0.0]))) == 1.0
