"""DCRegressor: what it promises to users."""

import logging
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pldc import PLDC, DCRegressor
from tests.problems import synthetic

X, Y = synthetic(40, 3)
LOSSES = ("squared", "absolute", "huber", "quantile")


def fit(X=X, y=Y, weight=None, **settings):
    return DCRegressor(**({"lam": 0.01} | settings)).fit(X, y, sample_weight=weight)


# ---------------------------------------------------------------- what a fit returns


def test_attributes():
    model = fit(lam=0.02)
    assert isinstance(model.function_, PLDC)
    assert model.lam_ == 0.02 and model.n_features_in_ == 3 and model.n_iter_ > 0
    assert model.certificate_.gap <= 1e-4
    assert model.certificate_.lower <= model.certificate_.upper
    assert model.score(X, Y) > 0.8


@pytest.mark.parametrize("penalty", ["componentwise", "joint"])
@pytest.mark.parametrize("standardize", [True, False])
def test_certificate_is_of_the_stated_objective(penalty, standardize):
    big = 50 + 20 * Y
    model = fit(y=big, penalty=penalty, standardize=standardize, lam=0.05, clip=False)
    t = (big - big.mean()) / big.std() if standardize else big
    s = (model.predict(X) - big.mean()) / big.std() if standardize else model.predict(X)
    assert model.certificate_.upper == pytest.approx(np.mean((s - t) ** 2) + 0.05 * model.seminorm_, rel=1e-8)


def test_standardising_is_the_same_as_standardising_first():
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    t = (Y - Y.mean()) / Y.std()
    a = fit(100 * X - 3, 7 * Y + 1, tol=1e-9, clip=False).predict(100 * X - 3)
    b = fit(Z, t, standardize=False, tol=1e-9, clip=False).predict(Z)
    np.testing.assert_allclose((a - 1) / 7, b * Y.std() + Y.mean(), atol=1e-4)


def test_function_is_in_the_units_of_the_data_and_not_clipped():
    model = fit(3 * X + 10, 1000 * Y)
    far = np.vstack([3 * X + 10, [[1e3, -1e3, 1e3]]])
    np.testing.assert_allclose(np.clip(model.function_(far), *model.clip_range_), model.predict(far))
    assert not model.clip_range_[0] <= model.function_(far)[-1] <= model.clip_range_[1]


def test_clip():
    far = 100 * np.ones((1, 3))
    assert Y.min() <= fit(clip=True).predict(far)[0] <= Y.max()
    assert not Y.min() <= fit(clip=False).predict(far)[0] <= Y.max()


def test_seminorm_bound_is_never_below_the_programs():
    for penalty in ("joint", "componentwise"):
        model = fit(penalty=penalty, standardize=False)
        everywhere = model.function_.seminorm_bound(norm=penalty, active_pairs=True)
        assert model.seminorm_ <= everywhere + 1e-9 <= 2 * model.seminorm_ + 1e-6


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["componentwise", "joint"])
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(loss, penalty):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(Y))
    # repeated places with different targets as well
    places, targets = X.copy(), Y.copy()
    places[1:4] = places[0]
    settings = {"loss": loss, "penalty": penalty, "linear": "free"}
    weighted = fit(places, targets, weight=weight, **settings)
    repeated = fit(np.repeat(places, weight, axis=0), np.repeat(targets, weight), **settings)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)
    assert weighted.certificate_.upper == pytest.approx(repeated.certificate_.upper, rel=1e-9)


def test_weights_matter_and_their_scale_does_not():
    weight = np.linspace(0.1, 5, len(Y))
    plain, weighted = fit().predict(X), fit(weight=weight).predict(X)
    assert np.abs(plain - weighted).max() > 1e-3
    np.testing.assert_allclose(fit(weight=1e-200 * weight).predict(X), weighted, atol=1e-6)


# ---------------------------------------------------------------- explain


def test_explanation_adds_up():
    frame = pd.DataFrame(X, columns=["width", "height", "depth"])
    model = fit(frame)
    why = model.explain(frame[:5])
    assert why.features == ("width", "height", "depth")
    np.testing.assert_allclose(why.prediction, model.predict(frame[:5]))
    inside = ~why.clipped
    np.testing.assert_allclose((why.intercept + why.contributions.sum(axis=1))[inside], why.prediction[inside])
    np.testing.assert_allclose(why.contributions, why.slopes * (X[:5] - X.mean(axis=0)))
    plus, minus = why.pieces.T
    np.testing.assert_allclose(why.slopes, model.function_.plus.slopes[plus] - model.function_.minus.slopes[minus])
    zero = model.explain(frame[:5], reference=np.zeros(3))
    np.testing.assert_allclose(zero.contributions, zero.slopes * X[:5])
    assert "height" in str(why)


def test_slopes_are_derivatives():
    model = fit(clip=False)
    why, h = model.explain(X), 1e-7
    for k in range(3):
        step = h * np.eye(3)[k]
        right, left = (
            (model.predict(X + step) - model.predict(X)) / h,
            (model.predict(X) - model.predict(X - step)) / h,
        )
        smooth = np.abs(right - left) < 1e-4
        assert smooth.mean() > 0.3
        np.testing.assert_allclose(why.slopes[smooth, k], right[smooth], atol=1e-4)


# ---------------------------------------------------------------- frames, clones, pickles, pipelines


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(frame):
    names = ["a", "b", "c"]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = fit(table)
    assert list(model.feature_names_in_) == names
    np.testing.assert_allclose(model.predict(table), fit().predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(dict(zip("xyz", X.T, strict=True))))


def test_series_and_lists():
    np.testing.assert_allclose(fit(X.tolist(), pd.Series(Y)).predict(X.tolist()), fit().predict(X))


def test_integers_and_float32():
    whole = np.arange(20)[:, None]
    assert fit(whole, whole[:, 0] ** 2, lam=1e-4).score(whole, whole[:, 0] ** 2) > 0.99
    np.testing.assert_allclose(fit(X.astype(np.float32)).predict(X), fit().predict(X), atol=1e-2)


def test_clone_pickle_and_search():
    model = fit(lam=0.1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert len(pickle.dumps(model)) < 100_000  # the certificate does not drag n × n arrays along
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DCRegressor()), {"dcregressor__lam": [0.01, 100.0]}, cv=3
    ).fit(X, Y)
    assert search.best_params_ == {"dcregressor__lam": 0.01}


def test_refit_forgets():
    model = DCRegressor(lam=0.01).fit(X, Y)
    model.fit(X[:, :2], Y)
    assert model.n_features_in_ == 2 and model.function_.n_features == 2


# ---------------------------------------------------------------- shapes and monotonicity


def test_monotone_by_name_and_by_position():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    grid = np.tile(X.mean(axis=0), (50, 1))
    grid[:, 1] = np.linspace(-3, 3, 50)
    for model in (fit(monotone=[0, 1, 0]), fit(frame, monotone={"b": 1})):
        steps = np.diff(model.function_(grid))
        assert (steps >= -1e-9).all() and steps.max() > 1e-3
    with pytest.raises(ValueError, match=r"unknown features \['z'\]"):
        fit(frame, monotone={"z": 1})
    with pytest.raises(ValueError, match="no column names"):
        fit(monotone={"a": 1})


@pytest.mark.parametrize("shape, sign", [("convex", 1), ("concave", -1)])
def test_shapes(shape, sign):
    f = fit(shape=shape, linear="free").function_
    rng = np.random.default_rng(0)
    a, b = 3 * rng.standard_normal((2, 200, 3))
    assert (sign * (0.5 * f(a) + 0.5 * f(b) - f(0.5 * (a + b))) >= -1e-9).all()


# ---------------------------------------------------------------- bad input, one by one


def test_empty():
    with pytest.raises(ValueError, match="0 sample"):
        fit(np.empty((0, 3)), np.empty(0))
    with pytest.raises(ValueError, match="0 feature"):
        fit(np.empty((5, 0)), np.arange(5.0))


def test_one_row_is_a_constant():
    model = fit([[1.0, 2.0]], [3.0])
    np.testing.assert_allclose(model.predict([[9.0, -9.0]]), [3.0])
    assert model.certificate_.gap == 0.0


def test_two_rows():
    model = fit([[0.0], [1.0]], [0.0, 1.0], lam=1e-6)
    assert 0.0 < model.predict([[0.5]])[0] < 1.0
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [0.0, 1.0], atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(value):
    bad = X.copy()
    bad[3, 1] = value
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit(bad)
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit(y=np.where(np.arange(40) == 3, value, Y))
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit(weight=np.where(np.arange(40) == 3, value, 1.0))
    with pytest.raises(ValueError, match="NaN|infinity"):
        fit().predict(bad)


def test_strings():
    with pytest.raises(ValueError, match="could not convert string to float"):
        fit([["a", "b"], ["c", "d"], ["e", "f"]], [1, 2, 3])
    with pytest.raises(ValueError):
        fit([[1.0], [2.0], [3.0]], ["low", "mid", "high"])


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_target(loss):
    model = fit(y=np.full(40, 7.25), loss=loss)
    np.testing.assert_array_equal(model.predict(X), np.full(40, 7.25))
    assert model.certificate_.gap == 0.0


@pytest.mark.parametrize("linear", ["free", "penalized"])
def test_constant_and_duplicated_columns_change_nothing_that_matters(linear):
    base = fit(linear=linear, tol=1e-7)
    with_constant = fit(np.column_stack([X, np.full(40, 5.0)]), linear=linear, tol=1e-7)
    assert with_constant.certificate_.upper == pytest.approx(base.certificate_.upper, rel=1e-6)
    copied = fit(np.column_stack([X, X[:, 0]]), linear=linear, tol=1e-6)
    assert copied.certificate_.gap <= 1e-6
    assert copied.certificate_.upper == pytest.approx(base.certificate_.upper, rel=1e-4)


def test_duplicate_rows_with_different_targets_meet_in_the_middle():
    model = fit(np.repeat([[0.0], [1.0], [5.0]], 2, axis=0), [0, 2, 4, 6, 5, 5], lam=1e-7, tol=1e-8)
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
    Z = np.column_stack([X, X[:, 0] - X[:, 1]])
    nasty = [
        (Z, {"linear": "free", "monotone": [0, 1, 1, 0]}),
        (X + 1e10, {"standardize": False, "tol": 1e-8}),
        (np.column_stack([X, X[:, 0] + 1e-13 * rng.standard_normal(40)]), {"linear": "free"}),
        (X * [1e-4, 1.0, 1e4], {"standardize": False, "loss": "quantile"}),
        (X, {"loss": "quantile", "quantile": 0.9, "linear": "free", "lam": 1e8}),
        (X, {"loss": "absolute", "lam": 1e-9}),
    ]
    for data, settings in nasty:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = fit(data, **settings)
        assert model.certificate_.gap <= 1.01 * model.tol or any(w.category is ConvergenceWarning for w in caught)


def test_weights_that_make_no_sense():
    with pytest.raises(ValueError, match="Negative values"):
        fit(weight=-np.ones(40))
    with pytest.raises(ValueError, match="All values of sample_weight are zero"):
        fit(weight=np.zeros(40))
    with pytest.raises(ValueError, match="one weight a row"):
        fit(weight=np.ones(39))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"lam": 0}, "lam must be a positive finite number"),
        ({"lam": -1.0}, "lam must be a positive finite number"),
        ({"lam": np.inf}, "lam must be a positive finite number"),
        ({"lam": "auto"}, "lam must be 'cv', 'srm' or a positive number"),
        ({"tol": 0}, "tol must be a positive"),
        ({"max_iter": 0}, "max_iter must be None or a whole number"),
        ({"max_iter": 1.5}, "max_iter must be None or a whole number"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"loss": "l2"}, "loss must be one of"),
        ({"penalty": "ridge"}, "penalty must be one of"),
        ({"shape": "round"}, "shape must be one of"),
        ({"linear": True}, "linear must be one of"),
        ({"shape": ["dc"]}, "shape must be one of"),
        ({"max_iter": True}, "max_iter must be None or a whole number"),
        ({"quantile": "a"}, "quantile must be a positive"),
        ({"huber_delta": None}, "huber_delta must be a positive"),
        ({"solver": "gurobi"}, "solver must be one of"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile must lie"),
        ({"loss": "huber", "huber_delta": 0.0}, "huber_delta must be"),
        ({"monotone": [1, 0]}, "monotone must hold"),
        ({"monotone": [1, 0, 3]}, "monotone must hold"),
    ],
)
def test_unknown_names_and_impossible_values(settings, message):
    with pytest.raises(ValueError, match=message):
        fit(**settings)


def test_wrong_shapes():
    model = fit()
    with pytest.raises(ValueError, match="X has 2 features, but DCRegressor is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(y=Y[:5])


# ---------------------------------------------------------------- progress and honesty


def test_a_missed_tolerance_is_a_warning_with_the_gap_and_the_remedy():
    with pytest.warns(ConvergenceWarning, match=r"certified relative gap is .* not tol=1e-09.*raise max_iter"):
        model = fit(max_iter=3, tol=1e-9)
    assert model.certificate_.gap > 1e-9
    with pytest.warns(ConvergenceWarning, match="rounding stopped the solver"):
        fit(tol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit()


def test_silence_is_silent_even_for_those_who_log(caplog, capsys):
    with caplog.at_level(logging.INFO):
        fit()
    assert not caplog.records
    assert capsys.readouterr() == ("", "")
    with caplog.at_level(logging.DEBUG, logger="pldc"):
        model = fit()
    assert 3 <= len(caplog.records) <= model.n_iter_


VERBOSE = """
import logging, sys
import numpy as np
from pldc import DCRegressor
if "--configured" in sys.argv:
    logging.basicConfig(level=logging.WARNING)
x = np.linspace(0, 1, 20)[:, None]
model = DCRegressor(lam=0.01, solver="exact", verbose=1).fit(x, x[:, 0] ** 2)
logger = logging.getLogger("pldc")
assert logger.level == logging.NOTSET and not logger.handlers
print(model.n_iter_)
"""


@pytest.mark.parametrize("arguments", [[], ["--configured"]])
def test_verbose_shows_what_is_new_and_cleans_up(arguments):
    run = subprocess.run([sys.executable, "-c", VERBOSE, *arguments], capture_output=True, text=True, check=True)
    lines = [line for line in run.stderr.splitlines() if "lower bound" in line]
    assert 3 <= len(lines) <= int(run.stdout) and len(set(lines)) == len(lines)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_give_the_same_model(n_jobs):
    many, target = synthetic(150, 2)  # more than one block of points
    one = fit(many, target, n_jobs=1, tol=1e-2)
    np.testing.assert_allclose(
        fit(many, target, n_jobs=n_jobs, tol=1e-2).predict(X[:, :2]), one.predict(X[:, :2]), atol=1e-6
    )


def test_an_interrupted_fit_leaves_no_half_fitted_model(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.select.rounds.certify", interrupt)
    model = DCRegressor(lam=0.01)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "function_")


def test_several_targets_are_fitted_each_by_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    Y = np.column_stack([np.abs(X[:, 0]), X[:, 1] ** 2, X @ [1.0, -1.0]])
    model = DCRegressor(lam=0.01).fit(X, Y)
    alone = [DCRegressor(lam=0.01).fit(X, column) for column in Y.T]
    assert model.predict(X).shape == (25, 3) and len(model.outputs_) == 3
    assert np.array_equal(model.predict(X), np.column_stack([one.predict(X) for one in alone]))
    assert model.score(X, Y) > 0.9 and not hasattr(model, "function_")
    assert len(model.explain(X[:2])) == 3
    assert not hasattr(model.fit(X, Y[:, 0]), "outputs_")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(Y > 1, np.nan, Y))
    folds = DCRegressor(geometry="axes", n_jobs=1).fit(X, Y[:, :2])
    low, high = folds.predict_interval(X)
    assert low.shape == high.shape == (25, 2) and (low <= high).all()


def test_region_table_names_features_and_counts_rows():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (60, 2)), columns=["left", "right"])
    y = np.abs(X["left"].to_numpy())
    model = DCRegressor(lam=1e-3, geometry="axes").fit(X, y)
    table = model.region_table(X)
    assert table["rows"].sum() == 60 and {"slope of left", "slope of right"} <= set(table)
    assert len(table["rows"]) < len(model.region_table(X, tol=0.0)["rows"])
    assert table["slope of left"].min() < -0.8 and table["slope of left"].max() > 0.8
    both = DCRegressor(lam=1e-3, geometry="axes").fit(X, np.column_stack([y, -y])).region_table(X)
    assert [each["rows"].sum() for each in both] == [60, 60]
