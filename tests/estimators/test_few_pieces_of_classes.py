"""DCClassifier of few pieces: simplify, region_table, explain; and how far the default goes."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from tests.quick import few_kinds, few_starts

from pldc import ClassSimplification, CrossValidation, DCClassifier
from pldc.select.calibration import calibrate

IRIS, LABEL = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(150)
TRAIN, TEST = ORDER[:75], ORDER[75:]
X, Y = IRIS[TRAIN], LABEL[TRAIN]


@pytest.fixture(scope="module")
def model():
    return DCClassifier(n_jobs=1).fit(X, Y)


@pytest.fixture(scope="module")
def simple(model):
    return model.simplify(X, Y, n_pieces=2)


def test_few_pieces_predict_like_the_model(model, simple):
    assert isinstance(simple, DCClassifier) and simple.n_pieces == 2 and simple.model_.kind == "simplified"
    assert all(f.is_plain and max(f.n_pieces) <= 2 for f in simple.functions_)
    P, Q = simple.predict_proba(IRIS[TEST]), model.predict_proba(IRIS[TEST])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.mean(P.argmax(axis=1) == Q.argmax(axis=1)) > 0.95
    assert log_loss(LABEL[TEST], P) < 0.2 and np.abs(P - Q).mean() < 0.05


def test_what_is_said_of_a_simplification_is_of_rows_left_out(model, simple):
    about, old, new = simple.simplification_, model._folds, simple._folds
    assert isinstance(about, ClassSimplification) and simple.fidelity_ == about.fidelity
    rows = old.rows
    same, wrong, was_wrong, loss, was = [], [], [], [], []
    for k, (_, test) in enumerate(old.splits):
        label = rows.y[test].astype(int)
        after, before = (np.array([f(rows.X[test]) for f in folds.functions[k]]) for folds in (new, old))
        same += list(after.argmax(axis=0) == before.argmax(axis=0))
        wrong += list(after.argmax(axis=0) != label)
        was_wrong += list(before.argmax(axis=0) != label)
        for F, warm, losses in ((after, simple.model_.temperature, loss), (before, model.model_.temperature, was)):
            losses += list(logsumexp(warm * F, axis=0) - warm * F[label, np.arange(len(test))])
    assert len(same) == 75
    assert about.fidelity == pytest.approx(np.mean(same)) and about.fidelity > 0.9
    assert (about.error, about.error_before) == pytest.approx((np.mean(wrong), np.mean(was_wrong)))
    assert (about.score, about.score_before) == pytest.approx((-np.mean(loss), -np.mean(was)))
    assert simple.cv_score_ == about.score and f"{about.error:.1%}" in str(about)


def test_probabilities_are_calibrated_by_students_of_the_folds(simple):
    folds = simple._folds
    at = np.concatenate([test for _, test in folds.splits])
    parts = zip(folds.functions, folds.splits, strict=True)
    F = np.concatenate([[f(folds.rows.X[test]) for f in functions] for functions, (_, test) in parts], axis=1)
    warm = simple.model_.temperature
    assert warm == pytest.approx(calibrate(F, folds.rows.take(at), 10.0)[0], rel=0.1) and warm != 1.0
    shares = np.bincount(folds.rows.y.astype(int), weights=folds.rows.weight) / folds.rows.weight.sum()
    chance = np.exp(warm * F - np.logaddexp.reduce(warm * F, axis=0)).mean(axis=1)
    np.testing.assert_allclose(chance, shares, rtol=0.1)
    odds = np.log(simple.predict_proba(IRIS)[:, 1:] / simple.predict_proba(IRIS)[:, :1])
    scores = simple.decision_function(IRIS)
    np.testing.assert_allclose(odds, warm * (scores[:, 1:] - scores[:, :1]), atol=1e-6)


def test_a_number_of_pieces_is_the_fit_and_its_simplification():
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        both = DCClassifier(n_jobs=1, cv=3).fit(X, Y).simplify(X, Y, n_pieces=3)
        at_once = DCClassifier(n_jobs=1, cv=3, n_pieces=3).fit(X, Y)
    np.testing.assert_array_equal(at_once.predict_proba(IRIS), both.predict_proba(IRIS))
    assert at_once.simplification_ == both.simplification_ and at_once.cv_score_ == both.cv_score_


def test_names_and_order_change_nothing():
    names, mixed = np.array(["z", "b", "q"]), np.random.default_rng(1).permutation(75)
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        plain = DCClassifier(n_jobs=1, cv=3, n_pieces=2).fit(X, Y)
        other = DCClassifier(n_jobs=1, cv=3, n_pieces=2).fit(X[mixed], names[Y[mixed]])
    np.testing.assert_allclose(other.predict_proba(IRIS), plain.predict_proba(IRIS)[:, [1, 2, 0]], atol=1e-6)
    assert other.fidelity_ == pytest.approx(plain.fidelity_)


@pytest.mark.parametrize("flip", [False, True])
def test_of_two_classes_one_function_is_left(flip):
    y = (LABEL[TRAIN] > 1) != flip
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        few = DCClassifier(n_jobs=1, cv=3, n_pieces=2).fit(X, y)
    zero, f = few.functions_
    assert not zero(IRIS).any() and max(f.n_pieces) <= 2
    np.testing.assert_allclose(few.decision_function(IRIS), f(IRIS))
    assert few.score(IRIS[TEST], (LABEL[TEST] > 1) != flip) > 0.9


def test_rows_that_the_folds_have_not_seen_are_cross_validated_anew(model):
    """So is a model that was stored; and a class may be missing in a fold."""
    again = pickle.loads(pickle.dumps(model))
    rare = np.append(np.flatnonzero(Y != 2), np.flatnonzero(Y == 2)[:2])
    with few_kinds(), few_starts(points=300, fresh=200, starts=2):
        few = again.simplify(X[rare], Y[rare], n_pieces=2)
    assert np.isfinite([few.fidelity_, few.simplification_.score, few.simplification_.score_before]).all()
    assert len(few._folds.rows.y) == len(np.unique(X[rare], axis=0))
    assert few.score(X[rare], Y[rare]) > 0.9


def test_the_program_can_be_simplified():
    program = DCClassifier(lam=0.02, n_jobs=1, cv=3).fit(X[:40], Y[:40])
    with few_starts(points=300, fresh=200, starts=2):
        few = program.simplify(X[:40], Y[:40], n_pieces=2)
    assert few.fidelity_ > 0.8 and few.score(X[:40], Y[:40]) > 0.9 and not hasattr(few, "certificate_")


def test_simplify_wants_the_classes_of_the_fit(model):
    with pytest.raises(ValueError, match=r"same classes as the fit, \[.*0.*1.*2.*\]"):
        model.simplify(X[Y < 2], Y[Y < 2])
    with pytest.raises(ValueError, match="n_pieces must be a whole number ≥ 1"):
        model.simplify(X, Y, n_pieces=0)


def test_too_little_time_leaves_a_model_that_says_so():
    few = DCClassifier(n_pieces=2, max_seconds=0.05, n_jobs=1).fit(X, Y)
    assert np.isnan(few.simplification_.score) and "want of time" in str(few.simplification_)
    P = few.predict_proba(IRIS)
    assert P.shape == (150, 3) and few.model_.temperature == 1.0 and np.isfinite(P).all()


def test_the_table_of_regions_says_who_wins(simple):
    table = simple.region_table(X)
    assert sum(table["rows"]) == 75 and table["share"].sum() == pytest.approx(1.0)
    won = {name: sum(r for r, c in zip(table["rows"], table["class"], strict=True) if c == name) for name in range(3)}
    assert won == {name: int((simple.predict(X) == name).sum()) for name in range(3)}
    ranked = np.sort(simple.decision_function(X), axis=1)
    assert table["rows"] @ table["mean margin"] == pytest.approx((ranked[:, -1] - ranked[:, -2]).sum())
    assert {"slope of x0", "lowest x3", "runner-up"} <= set(table)
    with pytest.raises(ValueError, match="tol must be a number ≥ 0"):
        simple.region_table(X, tol=-1)


def test_the_default_has_a_table_too_and_its_explanations_add_up(model):
    assert sum(model.region_table(X)["rows"]) == 75
    why = model.explain(IRIS[TEST])
    np.testing.assert_allclose(why.intercept + why.contributions.sum(axis=1), why.margin, atol=1e-8)
    assert (why.prediction == model.predict(IRIS[TEST])).all() and why.averaged.any()
    lines = why.table(0).splitlines()[2:-3]
    sizes = [abs(float(line.split()[-1])) for line in lines]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == 4


# ------------------------------------------------------------------ how far the default goes


def test_ten_rows():
    x = np.linspace(-1, 1, 10)[:, None]
    p = DCClassifier(n_jobs=1).fit(x, x[:, 0] > 0).predict_proba(x)
    assert np.isfinite(p).all() and p[0, 0] > 0.5 > p[-1, 0]


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    center = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(-1, 2)
    y = np.repeat(np.arange(100), 2)
    x = center[y] + 0.1 * rng.normal(size=(200, 2))
    model = DCClassifier(n_jobs=1).fit(x, y)
    P = model.predict_proba(center)
    assert P.shape == (100, 100) and np.allclose(P.sum(axis=1), 1.0)
    assert model.score(center, np.arange(100)) > 0.5


@pytest.mark.usefixtures("quick_fits")
def test_class_weights_move_the_border():
    x = np.random.default_rng(0).normal(size=(40, 1))
    y = (x[:, 0] + 0.8 * np.random.default_rng(1).normal(size=40) > 0.5).astype(int)
    shares = [
        DCClassifier(n_jobs=1, class_weight=weight).fit(x, y).predict(x).mean()
        for weight in (None, "balanced", {0: 1.0, 1: 30.0})
    ]
    assert shares[0] <= shares[1] <= shares[2] and shares[0] < shares[2] > 0.5


@pytest.mark.usefixtures("quick_fits")
def test_a_class_that_is_missing_in_a_fold_is_learned_still():
    one = np.append(np.flatnonzero(Y != 2), np.flatnonzero(Y == 2)[0])
    model = DCClassifier(n_jobs=1, cv=CrossValidation(3)).fit(X[one], Y[one])
    P = model.predict_proba(IRIS)
    assert P.shape == (150, 3) and np.isfinite(P).all() and model.score(X[one[:-1]], Y[one[:-1]]) > 0.95
