"""DCRegressor: bad and extreme input, one by one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.problems import synthetic

from pldc import Admm, Auto, CrossValidation, DCRegressor, Exact, Quantile, Seminorm

X, Y = synthetic(40, 3)
LOSSES = ("squared", "absolute", "huber", "quantile")
BOTH = pytest.mark.parametrize("lam", [0.01, "cv"])  # the program, and the default: few pieces


def fit(X=X, y=Y, weight=None, **settings):
    return DCRegressor(**({"lam": 0.01} | settings)).fit(X, y, sample_weight=weight)


@BOTH
def test_empty(lam):
    with pytest.raises(ValueError, match="0 sample"):
        fit(np.empty((0, 3)), np.empty(0), lam=lam)
    with pytest.raises(ValueError, match="0 feature"):
        fit(np.empty((5, 0)), np.arange(5.0), lam=lam)


def test_one_row_is_a_constant():
    model = fit([[1.0, 2.0]], [3.0])
    np.testing.assert_allclose(model.predict([[9.0, -9.0]]), [3.0])
    assert model.certificate_.gap == 0.0


def test_two_rows():
    model = fit([[0.0], [1.0]], [0.0, 1.0], lam=1e-6)
    assert 0.0 < model.predict([[0.5]])[0] < 1.0
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [0.0, 1.0], atol=1e-4)


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(value, lam):
    bad = X.copy()
    bad[3, 1] = value
    if not np.isnan(value):  # a missing number is no error
        with pytest.raises(ValueError, match="infinity"):
            fit(bad, lam=lam)
        with pytest.raises(ValueError, match="infinity"):
            fit(lam=0.01).predict(bad)
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit(y=np.where(np.arange(40) == 3, value, Y), lam=lam)
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit(weight=np.where(np.arange(40) == 3, value, 1.0), lam=lam)


@BOTH
def test_strings(lam):
    model = fit([["a", "b"], ["c", "d"], ["e", "f"]], [1, 2, 3], lam=lam)  # categories
    assert model.n_features_in_ == 2 and model.function_.n_features == 6
    with pytest.raises(ValueError):
        fit([[1.0], [2.0], [3.0]], ["low", "mid", "high"], lam=lam)


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_target(loss):
    model = fit(y=np.full(40, 7.25), loss=loss)
    np.testing.assert_array_equal(model.predict(X), np.full(40, 7.25))
    assert model.certificate_.gap == 0.0
    np.testing.assert_array_equal(fit(y=np.full(40, 7.25), loss=loss, lam="cv").predict(X), np.full(40, 7.25))


@pytest.mark.parametrize("free", [True, False])
def test_constant_and_duplicated_columns_change_nothing_that_matters(free):
    penalty = Seminorm(free_linear=free)
    base = fit(penalty=penalty, solver=Auto(tol=1e-7))
    with_constant = fit(np.column_stack([X, np.full(40, 5.0)]), penalty=penalty, solver=Auto(tol=1e-7))
    assert with_constant.certificate_.upper == pytest.approx(base.certificate_.upper, rel=1e-6)
    copied = fit(np.column_stack([X, X[:, 0]]), penalty=penalty, solver=Auto(tol=1e-6))
    assert copied.certificate_.gap <= 1e-6
    assert copied.certificate_.upper == pytest.approx(base.certificate_.upper, rel=1e-4)


def test_duplicate_rows_with_different_targets_meet_in_the_middle():
    model = fit(np.repeat([[0.0], [1.0], [5.0]], 2, axis=0), [0, 2, 4, 6, 5, 5], lam=1e-7, solver=Auto(tol=1e-8))
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [1.0, 5.0], atol=1e-3)


@pytest.mark.parametrize("x_scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("y_scale", [1e-150, 1.0, 1e150])
def test_extreme_scales(x_scale, y_scale):
    plain = fit().predict(X)
    scaled = fit(x_scale * X, y_scale * Y).predict(x_scale * X)
    np.testing.assert_allclose(scaled / y_scale, plain, atol=1e-6)


@pytest.mark.parametrize("x_scale, y_scale", [(1e-150, 1e150), (1e150, 1e-150)])
def test_extreme_scales_without_standardising(x_scale, y_scale):
    plain = fit(standardize=False, lam=0.02).predict(X)
    scaled = fit(x_scale * X, y_scale * Y, standardize=False, lam=0.02 * x_scale * y_scale).predict(x_scale * X)
    np.testing.assert_allclose(scaled / y_scale, plain, atol=1e-6)


def test_numbers_too_large_to_square():
    with pytest.raises(ValueError, match="below 1e\\+152 in size"):
        fit(y=1e160 * Y, standardize=False)
    fit(y=1e160 * Y)


def test_the_gap_is_within_tol_or_there_is_a_warning():
    """Offsets, dependent columns, signs: whatever the solver said, the certificate that the user gets decides."""
    rng = np.random.default_rng(0)
    Z, free = np.column_stack([X, X[:, 0] - X[:, 1]]), Seminorm(free_linear=True)
    nasty = [
        (Z, {"penalty": free, "monotone": [0, 1, 1, 0]}),
        (X + 1e10, {"standardize": False, "solver": Auto(tol=1e-8)}),
        (np.column_stack([X, X[:, 0] + 1e-13 * rng.standard_normal(40)]), {"penalty": free}),
        (X * [1e-4, 1.0, 1e4], {"standardize": False, "loss": "quantile"}),
        (X, {"loss": Quantile(0.9), "penalty": free, "lam": 1e8}),
        (X, {"loss": "absolute", "lam": 1e-9}),
    ]
    for data, settings in nasty:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = fit(data, **settings)
        tol = settings.get("solver", Auto()).tol
        assert model.certificate_.gap <= 1.01 * tol or any(w.category is ConvergenceWarning for w in caught)


@BOTH
def test_weights_that_make_no_sense(lam):
    with pytest.raises(ValueError, match="Negative values"):
        fit(weight=-np.ones(40), lam=lam)
    with pytest.raises(ValueError, match="All values of sample_weight are zero"):
        fit(weight=np.zeros(40), lam=lam)
    with pytest.raises(ValueError, match="one weight a row"):
        fit(weight=np.ones(39), lam=lam)


@BOTH
@pytest.mark.parametrize(
    "settings, message",
    [
        ({"lam": 0}, "lam must be 'cv', 'srm' or a positive finite number"),
        ({"lam": -1.0}, "lam must be 'cv', 'srm' or a positive finite number"),
        ({"lam": np.inf}, "lam must be 'cv', 'srm' or a positive finite number"),
        ({"lam": None}, "lam must be 'cv', 'srm' or a positive finite number"),
        ({"cv": 1}, "cv must be a whole number ≥ 2"),
        ({"cv": True}, "cv must be a whole number ≥ 2"),
        ({"cv": 2.5}, "cv must be a whole number ≥ 2"),
        ({"cv": CrossValidation(1)}, "cv must be a whole number ≥ 2"),
        ({"cv": 10**400}, "cv must be at most 1000000 folds"),
        ({"verbose": "yes"}, "verbose must be a whole number ≥ 0"),
        ({"cv": CrossValidation(max_rows=2)}, "max_rows must be None or a whole number ≥ 4"),
        ({"cv": CrossValidation(max_rows=9.5)}, "max_rows must be None or a whole number ≥ 4"),
        ({"cv": CrossValidation(one_standard_error=1)}, "one_standard_error must be True or False"),
        ({"cv": CrossValidation(scoring="best")}, "scoring must be .* got 'best'"),
        ({"lam": "auto"}, "lam must be 'cv', 'srm' or a positive number"),
        ({"solver": Auto(tol=0)}, "tol must be a positive"),
        ({"solver": Exact(max_iter=0)}, "max_iter must be a whole number ≥ 1"),
        ({"solver": Admm(max_iter=1.5)}, "max_iter must be a whole number ≥ 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"loss": "l2"}, "loss must be one of"),
        ({"penalty": "ridge"}, "penalty must be one of"),
        ({"shape": "round"}, "shape must be one of"),
        ({"penalty": Seminorm(free_linear="yes")}, "free_linear must be True or False"),
        ({"penalty": Seminorm(free_linear=None)}, "free_linear must be True or False"),
        ({"penalty": Seminorm("ridge")}, "penalty must be one of"),
        ({"standardize": "yes"}, "standardize must be True or False"),
        ({"clip": None}, "clip must be True or False"),
        ({"penalty": None}, "penalty must be one of"),
        ({"shape": ["dc"]}, "shape must be one of"),
        ({"solver": Auto(max_iter=True)}, "max_iter must be a whole number ≥ 1"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"loss": Quantile}, "loss must be one of"),
        ({"solver": "gurobi"}, r"solver must be one of .* or an object such as Exact\(tol=0.0001"),
        ({"solver": Exact}, "solver must be one of"),
        ({"monotone": [1, 0]}, "monotone must hold"),
        ({"monotone": [1, 0, 3]}, "monotone must hold"),
        ({"n_pieces": 0}, "n_pieces must be a whole number ≥ 1"),
        ({"n_pieces": True}, "n_pieces must be 'auto', 'rows' or a whole number"),
        ({"n_pieces": "few"}, "n_pieces must be 'auto', 'rows' or a whole number"),
        ({"max_seconds": 0}, "max_seconds must be None or a positive"),
    ],
)
def test_unknown_names_and_impossible_values(settings, message, lam):
    with pytest.raises(ValueError, match=message):
        fit(**({"lam": lam} | settings))


@BOTH
def test_wrong_shapes(lam):
    model = fit(lam=lam)
    with pytest.raises(ValueError, match="X has 2 features, but DCRegressor is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(y=Y[:5], lam=lam)


@pytest.mark.parametrize("columns", [["a", "c"], ["a"]], ids=["categories", "numbers"])
@pytest.mark.parametrize(
    "wrong, kind, match",
    [
        (None, ValueError, "X must be a table of shape .*; got None"),
        ({"a": [1.0], "c": ["x"]}, TypeError, r"got a dictionary: make it a frame, pandas.DataFrame\(X\)"),
        ({"a": 1.0, "c": "x"}, TypeError, r"or pandas.DataFrame\(\[X\]\) of a row"),
        ("row", ValueError, r"got a Series. Expected 2D: one row is frame.iloc\[\[0\]\]"),
        ([1.0, 2.0], ValueError, "Expected 2D array"),
        (3, ValueError, "Expected 2D array"),
    ],
    ids=str,
)
def test_what_is_no_table_is_refused(columns, wrong, kind, match):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(6.0), "c": list("xyxyxy")})[columns]
    model = DCRegressor(lam=0.1).fit(frame, np.arange(6.0))
    wrong = frame.iloc[0] if wrong == "row" else wrong
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        with pytest.raises(kind, match=match):
            model.predict(wrong)
    if not isinstance(wrong, (int, list)):
        with pytest.raises(kind, match=match):
            DCRegressor(lam=0.1).fit(wrong, np.arange(6.0))


DATES = pd.date_range("2024-01-01", periods=40)
GAP = pd.Series(DATES).where(np.arange(40) != 3)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (DATES, "y holds dates; targets are numbers. Give the time since"),
        (GAP, "y holds dates"),
        (GAP.astype(object), "y holds dates"),
        (DATES.tz_localize("UTC"), "y holds dates"),
        (DATES.to_period("D"), "y holds dates"),
        (list(DATES.to_pydatetime()), "y holds dates"),
        ([3.0, pd.NaT] * 20, "y holds dates"),
        (DATES - DATES[0], "y holds lengths of time; targets are numbers. Give days"),
        ((GAP - GAP[0]).astype(object), "y holds lengths of time"),
        (list((DATES - DATES[0]).to_numpy()), "y holds lengths of time"),
        (["small", "large"] * 20, "y holds text, such as 'small'.*DCClassifier"),
        (pd.Series(["small", "large"] * 20, dtype="category"), "y holds text.*DCClassifier"),
        (np.array([1.0, "large"] * 20, dtype=object), "y holds text, such as 'large'"),
    ],
)
def test_targets_that_are_no_numbers_are_refused_with_the_remedy(y, said):
    for model in (DCRegressor(max_seconds=1), fit()):
        with pytest.raises(ValueError, match=said):
            model.fit(X, y)
    with pytest.raises(ValueError, match=said):
        fit().score(X, y)


def test_a_name_is_no_weight():
    with pytest.raises(ValueError, match="sample_weight must hold one weight a row, got 'w': give the column itself"):
        fit(weight="w")


@BOTH
def test_targets_that_are_none(lam):
    with pytest.raises(ValueError, match="2 targets are missing"):
        fit(y=np.where(np.arange(40) % 20 == 3, None, Y), lam=lam)
