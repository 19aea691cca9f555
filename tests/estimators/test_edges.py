"""Edges of fits: constant targets, groups, folds that are not asked for, monitors, kinds of error."""

import time

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from pldc import Auto, DCClassifier, DCRegressor, Poisson
from pldc.problem.losses import make_loss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=24)
GROUPS = np.repeat(np.arange(6), 4)
pytestmark = pytest.mark.usefixtures("quick_module")


@pytest.mark.parametrize("loss", ["poisson", "absolute", "huber", "quantile", "squared"])
@pytest.mark.parametrize("y", [np.zeros(24), np.full(24, 2.0), np.eye(24)[3]], ids=["zero", "two", "one of them"])
def test_targets_that_are_constant_in_a_fold(loss, y):
    model = DCRegressor(loss=loss, n_pieces="rows", cv=3, n_jobs=1, solver=Auto(tol=1e-3)).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_no_counts_at_all_are_proved_at_once():
    found = DCRegressor(loss="poisson", lam=0.1).fit(X, np.zeros(24)).certificate_
    assert found.gap == 0.0 and found.lower == pytest.approx(0.5 * Poisson().floor)
    assert make_loss("poisson").reward(np.zeros(3), np.zeros(3), np.ones(3), np.inf)[1] == 0.0


def test_a_negative_count_of_weight_zero_is_the_row_left_out():
    y = np.abs(Y).round()
    weight = np.arange(24) > 0
    wrong = np.where(weight, y, -1.0)
    a = DCRegressor(loss="poisson", n_jobs=1).fit(X, wrong, sample_weight=weight.astype(float))
    assert np.allclose(a.predict(X), DCRegressor(loss="poisson", n_jobs=1).fit(X[1:], y[1:]).predict(X))
    with pytest.raises(ValueError, match="smallest y is -1"):
        DCRegressor(loss="poisson").fit(X, wrong)


def test_counts_are_never_below_zero():
    model = DCRegressor(loss="poisson", clip=False, n_jobs=1).fit(X, RNG.poisson(1.0, 24).astype(float))
    assert model.predict(10 * X).min() >= 0 and model.predict_interval(X)[0].min() >= 0


def test_names_of_groups_change_nothing():
    plain = DCRegressor(n_jobs=1, cv=3).fit(X, Y, groups=GROUPS).predict(X)
    named = np.array([f"g{7 * k % 6}" for k in GROUPS])
    assert np.array_equal(DCRegressor(n_jobs=1, cv=3).fit(X, Y, groups=named).predict(X), plain)


@pytest.mark.parametrize("n_pieces", ["auto", "rows"])
def test_groups_count_weights_as_rows(n_pieces):
    def fit(at, weight=None):
        return DCRegressor(n_jobs=1, cv=3, n_pieces=n_pieces).fit(X[at], Y[at], weight, groups=GROUPS[at]).predict(X)

    weight = np.where(np.arange(24) == 3, 3.0, 1.0)
    assert np.allclose(fit(np.arange(24), weight), fit(np.repeat(np.arange(24), weight.astype(int))), atol=1e-6)
    absent = (np.arange(24) >= 4).astype(float)
    assert np.allclose(fit(np.arange(24), absent), fit(np.arange(4, 24)), atol=1e-6)


def test_paths_and_simplification_do_not_ask_for_folds_again():
    model = DCRegressor(cv=GroupKFold(3), lam=0.1).fit(X, Y, groups=GROUPS)
    assert len(model.path(X, Y, [0.1])) == 1
    assert max(model.simplify(X, Y, 2).function_.n_pieces) <= 2
    once = DCRegressor(cv=iter(list(GroupKFold(2).split(X, Y, GROUPS))), n_jobs=1).fit(X, Y)
    assert max(once.simplify(X, Y, 2).function_.n_pieces) <= 2


def test_a_monitor_ends_a_fit_of_a_number_of_pieces_too():
    start = time.perf_counter()
    model = DCRegressor(n_pieces=3, n_jobs=1).fit(X, Y, monitor=lambda row: True)
    assert time.perf_counter() - start < 2.0 and np.isnan(model.simplification_.score)
    assert not hasattr(model, "cv_score_")  # that of the larger model would not be its own


def test_classes_of_no_weight_do_not_count_as_classes():
    labels = np.where(Y > 0, "a", "b")
    more = np.vstack([X, X[:4]]), np.append(labels, ["c"] * 4)
    weight = np.append(np.ones(24), np.zeros(4))
    a = DCClassifier(class_weight="balanced", lam=0.1).fit(*more, sample_weight=weight)
    b = DCClassifier(class_weight="balanced", lam=0.1).fit(X, labels)
    assert np.allclose(a.predict_proba(X), b.predict_proba(X))


def test_three_rows_keep_the_loss_that_was_asked_for():
    model = DCClassifier(loss="log").fit([[0.0], [1.0], [2.0]], list("abb"))
    assert np.allclose(model.predict_proba([[0.0]]), [[1 / 3, 2 / 3]], atol=1e-3)


def test_classes_alike_but_for_signs_have_an_order():
    half = np.abs(RNG.normal(size=(10, 2)))
    both, label = np.vstack([half, -half]), np.repeat([0, 1], 10)
    a = DCClassifier(n_jobs=1).fit(both, label).predict_proba(both)
    b = DCClassifier(n_jobs=1).fit(both, 1 - label).predict_proba(both)
    assert np.allclose(a, b[:, ::-1], atol=1e-9)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"cv": [1, 2, 3]}, "pairs of places"),
        ({"cv": [([[0, 1]], [[2, 3]])]}, "cv must name places"),
        ({"cv": [([0, 1], [99])]}, "cv must name places"),
        ({"monotone": [1, [2]]}, "monotone must hold"),
        ({"n_pieces": 10**30}, "at most 10000"),
        ({"random_state": -1}, "random_state must be"),
        ({"solver": np.array(["exact", "admm"])}, "solver must be one of"),
        ({"lam": 10**400}, "lam must be"),
        ({"standardize": "no"}, "standardize must be True or False"),
        ({"clip": 1}, "clip must be True or False"),
        ({"n_jobs": 1.5}, "n_jobs must be"),
        ({"n_jobs": np.inf}, "n_jobs must be"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        DCRegressor(**settings).fit(X, Y)


def test_other_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="groups must hold labels"):
        DCRegressor().fit(X, Y, groups=np.array([None, "a"] * 12, dtype=object))
    with pytest.raises(ValueError, match="tol must be a number"):
        DCRegressor(lam=0.1).fit(X, Y).region_table(X, tol="a")
    with pytest.raises(ValueError, match="it is complex"):
        DCRegressor().fit(X, Y, sample_weight=np.ones(24) + 0j)
    with pytest.raises(ValueError, match="masked"):
        DCRegressor().fit(np.ma.masked_array(X, X > 1), Y)
    with pytest.raises(ValueError, match="class_weight must be a dict"):
        DCClassifier(class_weight=[1, 2]).fit(X, Y > 0)
    with pytest.raises(AttributeError, match="n_pieces='rows'"):
        DCRegressor(n_jobs=1, max_seconds=0.1).fit(X, Y).certificate_  # noqa: B018


def test_a_default_by_numpys_types_is_the_default():
    assert DCRegressor(standardize=np.True_, n_jobs=1, max_seconds=0.1).fit(X, Y).model_.kind == "compact"
