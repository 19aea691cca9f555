from functools import cache

import numpy as np
import pytest
from experiments.methods import CLASSIFIERS, REGRESSORS

rng = np.random.default_rng(0)
X, NEW = rng.standard_normal((40, 2)), rng.standard_normal((200, 2))
y = 3.0 + X[:, 0]

SLOW = ("pldc", "EBM", "HistGradientBoosting", "random forest", "XGBoost", "xRFM")


def quick(methods):
    return [m for m in methods if not m.startswith(SLOW)]


@cache
def of_a_line(name):
    return REGRESSORS[name](X, y)


@pytest.mark.parametrize("name", [m for m in REGRESSORS if m.startswith("pldc")])
def test_ours_learn_a_line(name):
    model = REGRESSORS[name](X[:24], y[:24])
    assert np.mean((model.predict(NEW) - 3.0 - NEW[:, 0]) ** 2) < 0.1
    assert hasattr(model, "certificate_") == (name != "pldc")  # all but the default are the program


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [m for m in CLASSIFIERS if m.startswith("pldc")])
def test_ours_learn_a_half_plane(name):
    model = CLASSIFIERS[name](X[:24], (X[:24, 0] > 0).astype(int))
    assert np.mean(model.predict(NEW) != (NEW[:, 0] > 0)) < 0.25
    assert hasattr(model, "certificate_") == (name != "pldc")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", quick(REGRESSORS))
def test_rivals_learn_a_line(name):
    truth = 3.0 + NEW[:, 0]
    error = np.mean((of_a_line(name).predict(NEW) - truth) ** 2) / np.mean((truth - y.mean()) ** 2)
    if name == "constant":
        assert error == pytest.approx(1.0)
    else:
        assert error < (1.0 if name == "kNN, as coded" else 0.5)  # the smallest target of K neighbours: a weak rival


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["MLP", "MARS", "SVR", "Gaussian process", "xRFM", "ridge"])
def test_tuned_rivals_stay_within_the_range_of_the_targets(name):
    if name == "xRFM":
        pytest.importorskip("xrfm")
    far = of_a_line(name).predict(np.array([[-50.0, 0.0], [50.0, 0.0]]))
    assert far.min() >= y.min() and far.max() <= y.max()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", quick(CLASSIFIERS))
def test_rivals_learn_a_half_plane(name):
    labels = (X[:, 0] > 0).astype(int)
    truth = (NEW[:, 0] > 0).astype(int)
    wrong = np.mean(CLASSIFIERS[name](X, labels).predict(NEW) != truth)
    assert wrong == np.mean(truth != (labels.mean() > 0.5)) if name == "constant" else wrong < 0.25
