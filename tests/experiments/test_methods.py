import numpy as np
import pytest
from experiments.methods import CLASSIFIERS, REGRESSORS

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 2))
y = 3.0 + X[:, 0]
SLOW = ("pldc", "EBM", "HistGradientBoosting", "random forest", "XGBoost", "xRFM")


def quick(methods):
    return [m for m in methods if not m.startswith(SLOW)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", quick(REGRESSORS))
def test_rivals_learn_a_line(name):
    error = np.mean((REGRESSORS[name](X, y).predict(X) - y) ** 2) / np.var(y)
    if name == "constant":
        assert error == pytest.approx(1.0)
    else:
        assert error < (1.0 if name == "kNN, as coded" else 0.5)  # the smallest target of K neighbours: a weak rival


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", quick(CLASSIFIERS))
def test_rivals_learn_a_half_plane(name):
    labels = (X[:, 0] > 0).astype(int)
    wrong = np.mean(CLASSIFIERS[name](X, labels).predict(X) != labels)
    assert wrong == min(labels.mean(), 1 - labels.mean()) if name == "constant" else wrong < 0.2
