"""DCClassifier with a piece for every row: the program."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from pldc import Auto, CrossValidation, DCClassifier, Seminorm
from pldc.problem.losses import softmax
from pldc.problem.recipe import Rows
from pldc.select import search
from pldc.select.calibration import calibrate


def rings(n=60, m=3, seed=0):
    """Labels by the distance from the origin: no linear score can tell them apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    order = np.argsort((X**2).sum(axis=1))
    y = np.empty(n, dtype=int)
    y[order] = np.arange(n) * m // n
    return X, y


NAMES = np.array(["inner", "middle", "outer"])


@pytest.fixture(scope="module")
def fitted():
    X, y = rings()
    return DCClassifier(n_pieces="rows", n_jobs=1).fit(X, NAMES[y])


def test_learns_rings(fitted):
    X, y = rings(300, seed=1)
    assert fitted.score(X, NAMES[y]) > 0.85
    assert fitted.certificate_.gap <= 1e-2 and fitted.solver_ == "exact"
    assert fitted.classes_.tolist() == NAMES.tolist() and len(fitted.functions_) == 3
    scores = fitted.decision_function(X)
    assert scores.shape == (300, 3)
    assert (NAMES[scores.argmax(axis=1)] == fitted.predict(X)).all()
    assert -1.0 < fitted.cv_results_["mean_test_score"].max() < 0


def test_probabilities_of_the_hinge_are_calibrated_by_the_folds(fitted):
    X, y = rings(400, seed=2)
    p = fitted.predict_proba(X)
    assert p.shape == (400, 3) and np.allclose(p.sum(axis=1), 1.0) and (p >= 0).all()
    loss = -np.log(p[np.arange(400), y]).mean()
    assert loss < 0.6 * np.log(3)
    raw = np.exp(fitted.decision_function(X))
    raw /= raw.sum(axis=1, keepdims=True)
    assert loss < -np.log(raw[np.arange(400), y]).mean()


def test_probabilities_of_a_known_lam_are_calibrated_too():
    X, y = rings(24)
    hinge = DCClassifier(lam=0.05, n_jobs=1).fit(X, y)
    assert hinge.lam_ == 0.05 and hinge.model_.temperature not in (None, 1.0)
    odds = np.log(hinge.predict_proba(X)[:, 1:] / hinge.predict_proba(X)[:, :1])
    scores = hinge.decision_function(X)
    assert np.allclose(odds, hinge.model_.temperature * (scores[:, 1:] - scores[:, :1]))
    few = DCClassifier(lam=0.05).fit([[0.0], [1.0], [2.0]], [0, 1, 1])  # too few rows to leave any out
    assert few.model_.temperature == 1.0


def test_probabilities_of_the_log_loss_are_the_model():
    X, y = rings(24)
    log = DCClassifier(lam=0.05, loss="log", solver=Auto(tol=0.1)).fit(X, y)
    assert log.solver_ == "admm"
    scores = log.decision_function(X)
    odds = np.log(log.predict_proba(X)[:, 1:] / log.predict_proba(X)[:, :1])
    assert np.allclose(odds, scores[:, 1:] - scores[:, :1])


def test_two_classes_have_one_column():
    X, y = rings(40, 2)
    model = DCClassifier(lam=0.02, cv=2).fit(X, y == 1)
    margin = model.decision_function(X)
    assert margin.shape == (40,) and model.classes_.tolist() == [False, True]
    assert ((margin > 0) == model.predict(X)).all()
    assert np.allclose(margin, model.functions_[1](X) - model.functions_[0](X))


def test_explanations_add_up(fitted):
    X, _ = rings(20, seed=3)
    why = fitted.explain(X, neighbourhood=0.0)
    assert np.allclose(why.intercept + why.contributions.sum(axis=1), why.margin) and (why.margin >= 0).all()
    assert (why.prediction == fitted.predict(X)).all() and (why.runner_up != why.prediction).all()
    ranked = np.sort(fitted.decision_function(X), axis=1)
    assert np.allclose(why.margin, ranked[:, -1] - ranked[:, -2])
    step = 1e-6 * np.ones(2)
    moved = fitted.decision_function(X + step)
    label = {name: k for k, name in enumerate(NAMES)}
    first, second = ([label[name] for name in names] for names in (why.prediction, why.runner_up))
    at = np.arange(20)
    change = (moved[at, first] - moved[at, second] - why.margin) / 1e-6
    assert np.isclose(change, why.slopes.sum(axis=1), atol=1e-4).mean() > 0.9  # but at a kink
    assert "and not" in str(why) and why.to_dict(0)["prediction"] in NAMES and "17 more rows" in str(why)


def test_weights():
    X, y = rings(30)
    weight = np.ones(30)
    weight[[3, 5]] = 2.0, 0.0
    rows = np.r_[np.delete(np.arange(30), 5), 3]
    accurate = DCClassifier(lam=0.02, cv=2, solver=Auto(tol=1e-05))
    a = clone(accurate).fit(X, y, sample_weight=weight)
    b = clone(accurate).fit(X[rows], y[rows])
    assert np.allclose(a.decision_function(X), b.decision_function(X), atol=1e-6)
    plain, heavy = (DCClassifier(lam=0.3, cv=2, class_weight=w).fit(X, y) for w in (None, {0: 20.0, 1: 1.0, 2: 1.0}))
    assert (heavy.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()


def test_a_border_that_the_folds_hardly_see_is_fitted():
    def rows(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 2))
        return X, (X.sum(axis=1) + 0.7 * rng.standard_normal(n) > 1).astype(int)

    model = DCClassifier(n_pieces="rows", n_jobs=1).fit(*rows(40, 7))
    scores = model.cv_results_["mean_test_score"]
    assert scores.max() - scores[0] < 0.02  # constants are nearly as good
    assert model.score(*rows(2000, 99)) > 0.8  # 0.73 are of the first class


def test_a_scorer_groups_and_names():
    pandas = pytest.importorskip("pandas")
    X, y = rings(40)
    table = pandas.DataFrame(X, columns=["a", "b"])
    groups = np.repeat(np.arange(10), 4)
    model = DCClassifier(n_pieces="rows", n_jobs=1, cv=CrossValidation(3, scoring="accuracy")).fit(
        table, NAMES[y], groups=groups
    )
    best = model.cv_results_["mean_test_score"].max()
    assert 0.5 < best <= 1.0
    assert model.feature_names_in_.tolist() == ["a", "b"] and model.explain(table).features == ("a", "b")


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"loss": "squared"}, "loss must be one of"),
        ({"lam": "srm"}, "lam must be 'cv' or a positive number"),
        ({"lam": -1.0}, "lam must be"),
        ({"loss": "log", "solver": "exact"}, "log loss"),
        ({"penalty": None}, "penalty must be one of"),
        ({"penalty": Seminorm("joint", free_linear=1)}, "free_linear must be True or False"),
        ({"n_pieces": 0}, "n_pieces must be a whole number ≥ 1"),
        ({"n_pieces": "few"}, "n_pieces must be 'auto', 'rows' or a whole number ≥ 1"),
        ({"max_seconds": 0}, "max_seconds must be None or a positive"),
        ({"cv": CrossValidation(max_rows=3)}, "max_rows must be None or a whole number ≥ 4"),
        ({"solver": Auto(tol=-1.0)}, "tol must be a positive"),
    ],
)
def test_bad_settings(settings, match):
    with pytest.raises(ValueError, match=match):
        DCClassifier(**settings).fit(*rings(12))


def test_bad_targets():
    X, y = rings(12)
    with pytest.raises(ValueError, match="one class"):
        DCClassifier().fit(X, np.zeros(12))
    with pytest.raises(ValueError, match="one class"):
        DCClassifier(lam=0.1).fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        DCClassifier().fit(X, np.linspace(0, 1, 12))


def test_iris():
    X, y = load_iris(return_X_y=True)
    even = np.arange(0, 150, 2)
    odd = even + 1
    model = DCClassifier(n_pieces="rows", cv=3, n_jobs=1).fit(X[even], y[even])
    assert model.score(X[odd], y[odd]) > 0.9


def test_a_class_that_most_folds_miss_does_not_spoil_the_rest():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-2, 0.3, (20, 1)), rng.normal(2, 0.3, (20, 1)), [[9.0]]]
    y = np.r_[np.zeros(20), np.ones(20), 2]
    model = DCClassifier(n_pieces="rows", cv=3, n_jobs=1).fit(X, y)
    p = model.predict_proba([[-2.0], [2.0]])
    assert p[0, 0] > 0.8 and p[1, 1] > 0.8


def test_rows_of_weight_zero_bring_no_class():
    X, y = rings(20, 2)
    more = np.r_[X, [[5.0, 5.0]]]
    model = DCClassifier(lam=0.02, cv=2).fit(more, np.r_[y, 7], sample_weight=np.r_[np.ones(20), 0.0])
    assert model.classes_.tolist() == [0, 1] and model.decision_function(X).shape == (20,)
    assert np.array_equal(model.decision_function(X), DCClassifier(lam=0.02, cv=2).fit(X, y).decision_function(X))


def test_class_weights_are_checked_and_balanced_by_weight():
    X, y = rings(30)
    for wrong in ({0: -1.0, 1: 1.0, 2: 1.0}, {0: np.nan, 1: 1.0, 2: 1.0}):
        with pytest.raises(ValueError, match="class_weight"):
            DCClassifier(lam=0.1, class_weight=wrong).fit(X, y)
    weight = np.where(y == 0, 3.0, 1.0)
    balanced = DCClassifier(lam=0.02, cv=2, class_weight="balanced", solver=Auto(tol=0.0001))
    a, b = balanced.fit(X, y, weight).decision_function(X), balanced.fit(X, y).decision_function(X)
    assert np.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_table_of_few_distinct_rows_is_learned(noise):
    """Folds that leave out all rows of a cell would know nothing of it: the fit was a constant."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 1)).astype(float)
    y = np.where(rng.random(400) < noise, 1 - X[:, 0], X[:, 0])
    model = DCClassifier(n_pieces="rows", n_jobs=1).fit(X, y)
    assert model.predict([[0.0], [1.0]]).tolist() == [0.0, 1.0]
    right = np.mean(y == X[:, 0])
    assert model.predict_proba([[1.0]])[0, 1] == pytest.approx(right, abs=0.02)
    cells, counts = np.unique(np.column_stack([X[:, 0], y]), axis=0, return_counts=True)
    weighted = DCClassifier(n_pieces="rows", n_jobs=1).fit(cells[:, :1], cells[:, 1], sample_weight=counts)
    assert weighted.lam_ == pytest.approx(model.lam_)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_scores_that_are_all_but_gone_count_as_gone(scoring):
    """At a large λ rough scores are tiny, in the right order still; the accurate ones are constant."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], (y[::3] == 0).astype(int)
    model = DCClassifier(n_pieces="rows", n_jobs=1, cv=CrossValidation(scoring=scoring)).fit(X, y)
    assert model.score(X, y) == 1.0 and model.cv_score_ == 1.0
    constant = model.cv_results_["mean_test_score"][0]
    assert constant == pytest.approx({"accuracy": 2 / 3, "roc_auc": 0.5}[scoring], abs=0.02)


@pytest.mark.parametrize("scoring, patient", [(None, False), ("accuracy", True)])
def test_a_scorer_of_classes_waits_for_the_fits(scoring, patient, monkeypatch):
    """Rough fits at a large λ may have the right classes in the right order long before they are solutions."""
    seen, plain = [], search.fit_path

    def watched(*arguments):
        seen.append(arguments[6])
        return plain(*arguments)

    monkeypatch.setattr(search, "fit_path", watched)
    X, y = rings(24)
    DCClassifier(n_pieces="rows", n_jobs=1, cv=CrossValidation(2, scoring=scoring)).fit(X, y)
    assert seen and all(value is patient for value in seen)


def test_probabilities_at_a_small_lam_are_those_of_the_returned_scores():
    """Rough fits of the folds have nothing to do with them: the loss would be 0.3 larger than it need be."""
    rng = np.random.default_rng(0)

    def draw(n):
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n) > 0.8).astype(int)

    model = DCClassifier(n_pieces="rows", lam=1e-6, n_jobs=1).fit(*draw(60))
    X, y = draw(2000)
    scores = np.array([f(X) for f in model.model_.functions])
    best = softmax(calibrate(scores, Rows(X, y.astype(float), np.ones(2000)))[0] * scores)[y, np.arange(2000)]
    own = model.predict_proba(X)[np.arange(2000), y]
    assert -np.log(own).mean() < 0.1 - np.log(best).mean()


def test_a_pickle_is_the_model_without_its_rows(fitted):
    stored = pickle.dumps(fitted)
    again = pickle.loads(stored)
    X, _ = rings()
    new, _ = rings(50, seed=4)
    for answer in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(again, answer)(new), getattr(fitted, answer)(new))
    assert again.certificate_ == fitted.certificate_ and again.model_.temperature == fitted.model_.temperature
    scores = fitted.model_.scores(new)
    np.testing.assert_array_equal(fitted.model_.classes[scores.argmax(axis=1)], fitted.predict(new))
    assert fitted.reference_[0].tobytes() in stored
    assert not [value for value in X.ravel() if value.tobytes() in stored or value.byteswap().tobytes() in stored]
