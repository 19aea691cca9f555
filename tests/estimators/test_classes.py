"""DCClassifier as it comes: few pieces under the log loss."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from tests.quick import quick

from pldc import CrossValidation, DCClassifier, Hinge, LogLoss

IRIS, LABEL = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(150)
TRAIN, TEST = ORDER[:75], ORDER[75:]


@pytest.fixture(scope="module")
def fitted():
    return DCClassifier(n_jobs=1).fit(IRIS[TRAIN], LABEL[TRAIN])


def test_it_predicts_and_its_probabilities_are_good(fitted):
    assert fitted.score(IRIS[TEST], LABEL[TEST]) > 0.9
    P = fitted.predict_proba(IRIS[TEST])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert log_loss(LABEL[TEST], P) < 0.25
    assert np.array_equal(fitted.classes_[P.argmax(axis=1)], fitted.predict(IRIS[TEST]))


def test_logarithms_of_probabilities_are_finite_where_these_are_zero(fitted):
    logs, P = fitted.predict_log_proba(IRIS), fitted.predict_proba(IRIS)
    np.testing.assert_allclose(logs, np.log(P), rtol=1e-9)
    far = np.vstack([IRIS[:1], IRIS[:1]]) * [[1e6], [-1e6]]
    assert (fitted.predict_proba(far) == 0).any() and np.isfinite(fitted.predict_log_proba(far)).all()


def test_it_is_no_program_unless_a_setting_asks_for_one(fitted):
    assert fitted.model_.kind == "compact" and fitted.chosen_ and not hasattr(fitted, "certificate_")
    X, y = IRIS[TRAIN][:20], LABEL[TRAIN][:20]
    for settings in ({"n_pieces": "rows"}, {"loss": "hinge"}, {"loss": Hinge()}, {"lam": 0.1}, {"standardize": False}):
        model = DCClassifier(n_jobs=1, cv=2, **settings).fit(X, y)
        assert model.certificate_.gap <= 0.011 and not hasattr(model, "chosen_")
        assert model.predict_proba(X).shape == (20, 3)
    assert DCClassifier(loss=LogLoss(), n_jobs=1).fit(X, y).model_.kind == "compact"


def test_names_and_order_of_classes_and_rows_change_nothing(fitted):
    names = np.array(["z", "b", "q"])
    order = np.random.default_rng(1).permutation(75)
    other = DCClassifier(n_jobs=1).fit(IRIS[TRAIN][order], names[LABEL[TRAIN]][order])
    assert list(other.classes_) == ["b", "q", "z"]
    expected = fitted.predict_proba(IRIS[TEST])[:, [1, 2, 0]]
    np.testing.assert_allclose(other.predict_proba(IRIS[TEST]), expected, atol=1e-9)


@pytest.mark.usefixtures("quick_fits")
def test_a_weight_of_two_is_the_row_twice():
    weight = np.random.default_rng(2).integers(0, 3, 75)
    a = DCClassifier(n_jobs=1).fit(IRIS[TRAIN], LABEL[TRAIN], sample_weight=weight)
    b = DCClassifier(n_jobs=1).fit(np.repeat(IRIS[TRAIN], weight, axis=0), np.repeat(LABEL[TRAIN], weight))
    np.testing.assert_allclose(a.predict_proba(IRIS[TEST]), b.predict_proba(IRIS[TEST]), atol=1e-9)


@pytest.mark.usefixtures("quick_fits")
def test_two_classes_are_told_by_one_function():
    y = LABEL > 1
    model = DCClassifier(n_jobs=1).fit(IRIS[TRAIN], y[TRAIN])
    zero, score = model.functions_
    assert not zero(IRIS).any()
    np.testing.assert_allclose(model.decision_function(IRIS), score(IRIS))
    p = model.predict_proba(IRIS)[:, 1]
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-model.model_.temperature * score(IRIS))))
    swapped = DCClassifier(n_jobs=1).fit(IRIS[TRAIN], ~y[TRAIN])
    np.testing.assert_allclose(swapped.predict_proba(IRIS)[:, 0], p, atol=1e-9)


@pytest.mark.usefixtures("quick_fits")
def test_scorers_know_the_classes_by_name():
    y = np.array(["ill", "well"])[(LABEL[TRAIN] > 0).astype(int)]
    seen = []

    def recall_of_ill(model, X, y):
        seen.append(set(np.unique(y)))
        return float(np.mean(model.predict(X)[y == "ill"] == "ill"))

    model = DCClassifier(n_jobs=1, cv=CrossValidation(3, scoring=recall_of_ill)).fit(IRIS[TRAIN], y)
    assert seen[0] == {"ill", "well"} and model.cv_score_ == 1.0


@pytest.mark.usefixtures("quick_fits")
def test_a_class_that_a_fold_has_not_seen():
    X = np.vstack([IRIS[:30], IRIS[60:90], IRIS[120:122]])
    y = np.repeat([0, 1, 2], [30, 30, 2])
    folds = StratifiedKFold(2).split(X[:60], y[:60])  # the rare class is in the training rows of none
    model = DCClassifier(n_jobs=1, cv=list(folds)).fit(X, y)
    P = model.predict_proba(X)
    assert np.isfinite(P).all() and model.score(X[:60], y[:60]) > 0.9
    assert set(DCClassifier(n_jobs=1).fit(X, y).predict(X)) == {0, 1, 2}


def test_time_limit_and_ctrl_c_leave_a_model(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = DCClassifier(max_seconds=0.2, n_jobs=1).fit(X, y)
    assert model.predict_proba(X[:5]).shape == (5, 2)

    def interrupt(row):
        raise KeyboardInterrupt

    late = DCClassifier(n_jobs=1)
    with pytest.raises(KeyboardInterrupt, match="nothing was fitted yet: it predicts the shares of the classes"):
        late.fit(IRIS[TRAIN], LABEL[TRAIN], monitor=interrupt)
    assert np.ptp(late.predict_proba(IRIS[TEST]), axis=0).max() == 0 and "before an interruption ended" in str(late)


def test_pickles_hold_no_rows_and_predict_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(IRIS), fitted.predict_proba(IRIS))
    X = IRIS[TRAIN].copy()
    X[:, 0] += np.pi * 1e-3 * np.arange(75)
    with quick():
        model = DCClassifier(n_jobs=1).fit(X, LABEL[TRAIN])
    assert X[40, 0].tobytes() not in pickle.dumps(model)


def test_the_hinge_has_no_few_pieces():
    with pytest.raises(ValueError, match="loss='hinge' is of the program: give n_pieces='rows'"):
        DCClassifier(loss="hinge", n_pieces=2).fit(np.arange(12.0)[:, None], np.arange(12) // 6)


@pytest.mark.parametrize("dtype, plain", [("boolean", np.bool_), ("bool[pyarrow]", np.bool_), ("Int64", np.int64)])
def test_nullable_labels_keep_their_type(dtype, plain):
    X, y = IRIS[TRAIN[:30], 2:3], pd.Series(LABEL[TRAIN[:30]])
    y = y > 0 if plain is np.bool_ else y
    nullable = y.astype(dtype)
    model = DCClassifier(lam=0.1, loss="log", n_jobs=1).fit(X, nullable)
    assert model.classes_.dtype == plain and model.predict(X).dtype == plain
    assert model.score(X, nullable) == model.score(X, y) > 0.9
    nullable[3] = pd.NA
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, nullable)
