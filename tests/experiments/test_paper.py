import os
import sys

import numpy as np
import pytest
from experiments import paper
from experiments.methods import CLASSIFIERS, REGRESSORS, CodedKNN, paper_program, within_range
from experiments.paper import curve, divided, studies, table

from pldc.select import search

needs_data = pytest.mark.skipif(not os.environ.get("PLDC_DATA"), reason="PLDC_DATA is not set")


def test_splits_are_disjoint_and_complete_and_the_same_for_all():
    X, y = np.arange(50.0)[:, None], np.arange(50.0)
    X_train, y_train, X_test, y_test = divided(X, y, 3, 0.8, None)
    assert len(y_train) == 40 and sorted([*y_train, *y_test]) == y.tolist()
    assert (X_train[:, 0] == y_train).all() and (X_test[:, 0] == y_test).all()
    few = divided(X, y, 3, 0.8, 20)
    assert (few[1] == y_train[:20]).all() and (few[3] == y_test).all()  # fewer rows train, the same test
    assert not (divided(X, y, 4, 0.8, None)[3] == y_test).all()


@needs_data
def test_missing_cells_are_filled_as_the_authors_did():
    X = table("cereal")[0]
    assert (X == -1).sum() == 15 and np.isfinite(X).all()
    assert np.isfinite(table("carsmall")[1]).all() and np.isfinite(table("heart_disease")[0]).all()


@needs_data
def test_the_constant_has_the_error_that_the_norm_says():
    X, y = table("boston")
    (row,) = paper.regression("boston", "constant", 0, None)
    _, y_train, _, y_test = divided(X, y, 0, 0.8, None)
    assert row["value"] == pytest.approx(100 * np.mean((y_test - y_train.mean()) ** 2) / y.var(ddof=1))
    (row,) = paper.wide("boston", "constant", 0, None)
    _, y_train, _, y_test = divided(X, y, 0, 0.75, paper.WIDE_ROWS)
    assert row["value"] == pytest.approx(100 * np.mean((y_test - y_train.mean()) ** 2) / y.var())


def test_a_constant_errs_by_the_variance_of_the_synthetic_function():
    (row,) = paper.synthetic("d=2", "constant", 0, None)
    assert row["value"] == pytest.approx(100, abs=5) and row["metric"] == "nmse"


@needs_data
def test_errors_of_classes_are_counted_in_their_own_names(monkeypatch):
    seen = []

    class Copy:
        def __init__(self, X, y):
            seen.append((X, y))

        def predict(self, X):
            return np.zeros(len(X))

    monkeypatch.setitem(CLASSIFIERS, "copy", Copy)
    (row,) = paper.classes("iris", "copy", 0, None)
    X, _, _, y_test = divided(*table("iris"), 0, 0.5, None)
    assert (seen[0][0] == X).all() and row["value"] == pytest.approx(100 * np.mean(y_test != 0))


def test_what_fails_is_a_row_and_the_rest_goes_on(monkeypatch, capsys):
    monkeypatch.setitem(REGRESSORS, "broken", lambda X, y: 1 / 0)
    (row,) = paper.cell("synthetic", "d=1", "broken", 0, None, "abc")
    assert row["metric"] == "failed" and np.isnan(row["value"]) and "ZeroDivisionError" in capsys.readouterr().out


@needs_data
def test_the_protocol_has_the_runs_that_were_asked_for():
    full, quick = studies(False), studies(True)
    cells = full["regression"].cells("regression")
    count = {(d, m): 0 for _, d, m, _ in cells}
    for _, d, m, _ in cells:
        count[d, m] += 1
    assert all(count[d, "pldc, paper"] == 100 for d in paper.SMALL) and min(count.values()) == 20
    assert len(cells) == len(set(cells)) and full.keys() == quick.keys() == paper.RUN.keys()
    assert set(full["classes"].datasets.values()) == {20, 100} and set(full["wide"].datasets.values()) == {20}


def test_the_curve_is_one_curve_whatever_the_dimension():
    t = np.linspace(-1, 1, 50)
    for d in (1, 2, 20):
        X = curve(t, d)
        assert X.shape == (50, d) and np.linalg.matrix_rank(X, tol=1e-8) == min(d, 2)
        fine = curve(np.linspace(-1, 1, 5000), d)
        assert np.abs(np.diff(fine, axis=0)).max(axis=1).sum() == pytest.approx(2.0, rel=1e-4)
        assert np.allclose(X[:, 0] / X[0, 0], t / t[0])


def test_the_papers_program_takes_the_best_of_ten_and_of_equals_the_smallest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1))
    y = 100.0 * X[:, 0]  # the smaller λ, the better: ours would go on below the ten
    model = REGRESSORS["pldc, paper"](X, y)
    lams, scores = model.cv_results_["param_lam"], model.cv_results_["mean_test_score"]
    assert len(lams) == 10 and lams[0] / lams[-1] == pytest.approx(2**9)
    assert model.lam_ == lams[np.flatnonzero(scores == scores.max())[-1]]
    assert (search.LOWER, search.HIGHER) == (5, 3)  # as they were
    chosen = []

    class Chooser:
        share = np.array([0.5, 0.5])

    def fit(X, y):
        scores = np.array([[1.0, 2.0, 2.0, 2.0 - 4e-16], [1.0, 2.0, 2.0, 2.0]])  # equal but for rounding
        chosen.append(search.Search._choose(Chooser(), scores, np.zeros(4, dtype=bool)))

    paper_program(fit)(X, y)
    assert chosen == [3]


def test_predictions_stay_within_the_targets_where_asked():
    class Wild:
        def predict(self, X):
            return np.array([-9.0, 0.5, 9.0])

    assert within_range(lambda X, y: Wild())(None, np.array([0.0, 1.0])).predict(None).tolist() == [0.0, 0.5, 1.0]


def test_the_coded_neighbours_count_errors_whatever_the_classes_are_called():
    X, y = np.arange(20.0)[:, None], np.tile([0, 1, 2], 7)[:20]
    renamed = np.where(y == 1, 1000, y)
    assert CodedKNN(classes=True).fit(X, y).k_ == CodedKNN(classes=True).fit(X, renamed).k_
    assert CodedKNN().fit(X, y).k_ != CodedKNN().fit(X, renamed).k_  # as numbers they are others


@needs_data
@pytest.mark.parametrize("names", [["--datasets", "rokc"], ["--methods", "knn"], ["--seeds", "0"], ["--jobs", "-1"]])
def test_misspelt_names_are_refused(names, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["paper", "--studies", "regression", *names])
    with pytest.raises(SystemExit):
        paper.main()
    assert names[1] in capsys.readouterr().err


def test_without_data_cells_are_refused_and_the_report_is_drawn(monkeypatch, capsys):
    drawn = []
    monkeypatch.delenv("PLDC_DATA", raising=False)
    monkeypatch.setattr("experiments.page.draw", drawn.append)
    monkeypatch.setattr(sys, "argv", ["paper", "--report"])
    paper.main()
    assert drawn == [paper.RESULTS]
    monkeypatch.setattr(sys, "argv", ["paper"])
    with pytest.raises(SystemExit):
        paper.main()
    assert "PLDC_DATA" in capsys.readouterr().err and len(drawn) == 1


def test_zeros_are_counted_in_units_of_the_features_and_lam_is_found_on_its_grid(monkeypatch):
    class Part:
        def __init__(self, slopes):
            self.slopes = np.asarray(slopes)

    class Function:
        plus, minus = Part([[1.0, 0.0, 2e-5]]), Part([[0.0, 0.0, 1e-9]])

        def gradient(self, X):
            return np.tile([1.0, 0.0, 1e-9], (len(X), 1))

    class Model:
        function_, lam_ = Function(), 0.5
        cv_results_ = {"param_lam": 2.0 ** -np.arange(-1, 9)}  # noqa: RUF012

    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.zeros(50)
    monkeypatch.setattr(paper, "table", lambda name: (X / X.std(axis=0), y))
    monkeypatch.setitem(REGRESSORS, "fixed", lambda X, y: Model())
    found = {row["metric"]: row["value"] for row in paper.sparse("rock", "fixed", 0, None)}
    assert found["zeros"] == found["zeros, strict"] == pytest.approx(200 / 3)
    assert found["weights"] == pytest.approx(500 / 6) and found["weights, strict"] == pytest.approx(400 / 6)
    assert found["place"] == 2
    monkeypatch.setattr(paper, "table", lambda name: (X / X.std(axis=0) * [1.0, 1.0, 1e4], y))  # another unit
    assert {r["metric"]: r["value"] for r in paper.sparse("rock", "fixed", 0, None)}["weights"] == pytest.approx(
        400 / 6
    )
