"""The arithmetic of the study of classes, against brute force and scikit-learn."""

import importlib.util
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import class_methods
from benchmarks.class_methods import METHODS, tuned
from benchmarks.class_scores import (
    BINS,
    binned,
    brier,
    calibration_error,
    chance_error,
    log_loss,
    read_bins,
    spread_over,
    written,
)
from benchmarks.classes import SCORES, by_set, halves, judged, pooled, summary
from sklearn import metrics

RARE = np.array([0] * 20 + [1] + [2] * 14)  # a class in the middle that a fold must lack


@pytest.fixture(scope="module")
def guesses():
    rng = np.random.default_rng(0)
    return rng.dirichlet([0.4, 0.7, 1.0], 500), rng.integers(0, 3, 500)


def test_log_loss_is_that_of_scikit_learn(guesses):
    P, label = guesses
    assert log_loss(P, label) == pytest.approx(metrics.log_loss(label, P), rel=1e-12)


def test_a_class_that_was_not_seen_costs_what_a_zero_costs():
    P = spread_over(np.array([[0.3, 0.5], [0.2, 0.2]]), np.array([4, 9]), np.array([4, 7, 9]))
    np.testing.assert_allclose(P, [[0.375, 0.0, 0.625], [0.5, 0.0, 0.5]])
    assert log_loss(P, np.array([1, 2])) == pytest.approx((-np.log(1e-15) - np.log(0.5)) / 2)
    assert log_loss(P, np.array([0, 2])) == pytest.approx(-(np.log(0.375) + np.log(0.5)) / 2)


def test_brier_score_by_hand():
    assert brier(np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]]), np.array([2, 0])) == pytest.approx((0.38 + 2.0) / 2)


def test_calibration_error_is_the_sum_over_bins(guesses):
    P, label = guesses
    total = 0.0
    for k in range(BINS):
        top = P.max(axis=1)
        here = (top >= k / BINS) & ((top < (k + 1) / BINS) | (k == BINS - 1))
        if here.any():
            total += here.mean() * abs(np.mean(P[here].argmax(axis=1) == label[here]) - top[here].mean())
    assert calibration_error(binned(P, label)) == pytest.approx(total)
    assert total > 0.1  # labels have nothing to do with these probabilities


def test_calibration_error_of_confidence_that_is_right_or_wrong():
    sure, label = np.eye(2)[[0, 0, 0, 1]], np.array([0, 0, 0, 0])
    assert calibration_error(binned(sure, label)) == pytest.approx(0.25)
    assert calibration_error(binned(np.full((4, 2), [0.75, 0.25]), np.array([0, 0, 0, 1]))) == pytest.approx(0.0)


def test_calibration_error_by_chance_is_that_of_draws():
    bins = np.zeros((BINS, 3))
    bins[9], bins[14] = (20, 12.5, 0), (30, 29.4, 0)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(4000):
        bins[9, 2], bins[14, 2] = rng.binomial(20, 12.5 / 20), rng.binomial(30, 29.4 / 30)
        draws.append(calibration_error(bins))
    assert chance_error(bins) == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / np.sqrt(len(draws)))
    assert chance_error(np.array([[4.0, 4.0, 4.0]])) == 0.0  # sure, and always right


def test_bins_are_read_as_they_were_written(guesses):
    bins = binned(*guesses)
    np.testing.assert_allclose(read_bins([written(bins), written(bins)]), 2 * bins, atol=1e-4)
    assert bins[:, 0].sum() == 500


def test_error_is_of_the_labels_and_calibration_of_the_probabilities():
    model = SimpleNamespace(
        classes_=np.array([3, 5]),
        predict=lambda X: np.array([[3], [3]]),  # a column, as some libraries return
        predict_proba=lambda X: np.array([[0.9, 0.1], [0.4, 0.6]]),
    )
    found = judged(model, np.zeros((2, 1)), np.array([3, 5]), np.array([1, 3, 5]))
    assert found["error"] == 0.5
    assert found["ece"] == pytest.approx((0.1 + 0.4) / 2)
    assert found["log_loss"] == pytest.approx(-(np.log(0.9) + np.log(0.6)) / 2)


def test_both_halves_have_every_class_of_two_rows():
    y = np.array([0] * 40 + [1] * 30 + [2] * 2 + [3] * 5)
    for seed in range(10):
        train, test = halves(np.zeros((len(y), 1)), y, seed)
        assert sorted([*train, *test]) == list(range(len(y)))
        assert set(y[train]) == set(y[test]) == {0, 1, 2, 3}


def made_up_rows():
    errors = {
        "bpd": {"pldc": (0.1, 0.3), "MLP": (0.2, 0.2), "CatBoost": (0.5, 0.5)},
        "iris": {"pldc": (0.4, 0.2), "MLP": (0.1, 0.1), "CatBoost": (0.2, 0.2)},
    }
    return [
        {"dataset": name, "method": method, "seed": str(seed), "seconds": "2", "bins": "14 4 4.0 2; 7 4 2.0 2"}
        | dict.fromkeys(SCORES, str(value))
        for name, methods in errors.items()
        for method, values in methods.items()
        for seed, value in enumerate(values)
    ]


def test_ranks_are_of_the_means_over_halves_and_equals_share_theirs():
    lines = summary(made_up_rows())
    ranks = {line[0]: (float(line[1]), float(line[2])) for line in lines[1:-1]}
    assert ranks == {"MLP": (1.25, 1.25), "pldc": (2.25, 2.25), "CatBoost": (2.5, 2.5)}
    means = {line[0]: float(line[3]) for line in lines[1:-1]}
    assert means["pldc"] == pytest.approx(100 * np.sqrt(0.2 * 0.3), abs=0.01)


def test_a_method_that_did_not_run_everywhere_is_left_out():
    rows = [r for r in made_up_rows() if (r["dataset"], r["method"]) != ("iris", "MLP")]
    assert {line[0] for line in summary(rows)[1:-1]} == {"pldc", "CatBoost"}


def test_table_by_sets_marks_the_least():
    lines = by_set(made_up_rows(), "error", 100.0, 1)
    assert lines[1] == ["bpd", "**20.0**", "**20.0**", "50.0"]
    assert lines[2] == ["iris", "30.0", "**10.0**", "20.0"]


def test_calibration_of_all_halves_together():
    # Two bins, of confidence 1.0 and 0.5; of the first half was right, of the second too.
    assert pooled(made_up_rows(), "pldc") == pytest.approx(0.25)


def test_random_search_takes_the_best_setting(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(class_methods.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(class_methods, "LIMIT", 50)
    tried = []

    class Guess:
        """Says class 1 with one probability."""

        def __init__(self, p=0.5):
            self.p = p

        def fit(self, X, y):
            tried.append(self.p)
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.tile([1 - self.p, self.p], (len(X), 1))

    y = np.array([0] * 10 + [1] * 30)
    model = tuned(Guess, {"p": [0.1, 0.7, 0.95]})(np.zeros((40, 1)), y)
    assert model.p == 0.7
    assert tried.count(0.7) > 5  # folds, and all rows in the end
    monkeypatch.setattr(class_methods, "LIMIT", -1)
    assert tuned(Guess, {"p": [0.1]})(np.zeros((40, 1)), y).p == 0.5  # no time: the defaults


@pytest.mark.parametrize("method", [m for m in METHODS if m != "pldc"])
def test_every_rival_gives_probabilities_where_folds_lack_a_class(method, monkeypatch):
    for name in ("xgboost", "catboost"):
        if name in method.lower() and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.setattr(class_methods, "LIMIT", 0.1)
    X = np.random.default_rng(0).standard_normal((len(RARE), 3)) + 2.0 * RARE[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method](X, RARE)
        found = judged(model, X, RARE, np.arange(3))
    assert list(model.classes_) == [0, 1, 2]
    assert found["error"] < 0.2
    assert found["log_loss"] < 1.0
