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
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.problems import synthetic

from pldc import PLDC, Auto, DCClassifier, DCRegressor, Seminorm

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
    a = fit(100 * X - 3, 7 * Y + 1, solver=Auto(tol=1e-9), clip=False).predict(100 * X - 3)
    b = fit(Z, t, standardize=False, solver=Auto(tol=1e-9), clip=False).predict(Z)
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
    settings = {"loss": loss, "penalty": Seminorm(penalty, free_linear=True)}
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
    why = model.explain(frame[:5], neighbourhood=0)
    assert why.features == ("width", "height", "depth")
    np.testing.assert_allclose(why.prediction, model.predict(frame[:5]))
    inside = ~why.clipped
    np.testing.assert_allclose((why.intercept + why.contributions.sum(axis=1))[inside], why.prediction[inside])
    np.testing.assert_allclose(why.contributions, why.slopes * (X[:5] - X.mean(axis=0)))
    plus, minus = why.pieces.T
    np.testing.assert_allclose(why.slopes, model.function_.plus.slopes[plus] - model.function_.minus.slopes[minus])
    zero = model.explain(frame[:5], reference=np.zeros(3), neighbourhood=0)
    np.testing.assert_allclose(zero.contributions, zero.slopes * X[:5])
    assert "height" in str(why)


@pytest.mark.parametrize("model", [DCRegressor(lam=0.1), DCClassifier(lam=0.1)])
def test_a_reference_with_names_goes_by_them(model):
    frame = pd.DataFrame(X, columns=["width", "height", "depth"])
    model = clone(model).fit(frame, X[:, 0] > 0)
    middle = frame.median()
    expected = model.explain(frame[:5], reference=middle.to_numpy()).contributions
    for reference in (middle, middle[::-1], dict(middle[::-1]), pd.Series(middle.to_numpy())):
        np.testing.assert_array_equal(model.explain(frame[:5], reference=reference).contributions, expected)
    for wrong in (middle[:2], {"width": 1.0}, middle.rename({"width": "breadth"})):
        with pytest.raises(ValueError, match="reference must name each feature of X"):
            model.explain(frame[:5], reference=wrong)
    filled = [0.0, middle["height"], 0.0]  # as `predict` fills a gap
    given = [model.explain(frame[:5], reference=r).contributions for r in ([0.0, np.nan, 0.0], filled)]
    np.testing.assert_array_equal(*given)
    with pytest.raises(ValueError, match="finite"):
        model.explain(frame[:5], reference=[0.0, np.inf, 0.0])
    nameless = clone(model).fit(X, X[:, 0] > 0)
    backwards = pd.Series(middle.to_numpy())[::-1]  # labels 2, 1, 0
    np.testing.assert_array_equal(nameless.explain(X[:5], reference=backwards).contributions, expected)
    with pytest.raises(ValueError, match="reference must name each feature"):
        nameless.explain(X[:5], reference=dict(middle))


def test_slopes_are_derivatives():
    model = fit(clip=False)
    why, h = model.explain(X, neighbourhood=0), 1e-7
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
    f = fit(shape=shape, penalty=Seminorm(free_linear=True)).function_
    rng = np.random.default_rng(0)
    a, b = 3 * rng.standard_normal((2, 200, 3))
    assert (sign * (0.5 * f(a) + 0.5 * f(b) - f(0.5 * (a + b))) >= -1e-9).all()


# ---------------------------------------------------------------- progress and honesty


def test_a_missed_tolerance_is_a_warning_with_the_gap_and_the_remedy():
    with pytest.warns(ConvergenceWarning, match=r"certified relative gap is .* not tol=1e-09.*raise max_iter"):
        model = fit(solver=Auto(tol=1e-9, max_iter=3))
    assert model.certificate_.gap > 1e-9
    with pytest.warns(ConvergenceWarning, match="rounding stopped the solver"):
        fit(solver=Auto(tol=1e-14))
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


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_give_the_same_model(n_jobs):
    many, target = synthetic(150, 2)  # more than one block of points
    one, other = (fit(many, target, n_jobs=jobs, solver=Auto(tol=1e-2)).predict(X[:, :2]) for jobs in (1, n_jobs))
    np.testing.assert_allclose(other, one, atol=1e-6)


def test_an_interrupted_fit_leaves_no_half_fitted_model(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.fit.program.certify", interrupt)
    model = DCRegressor(lam=0.01)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "function_")


def test_several_targets_are_left_to_scikit_learn():
    both = np.column_stack([Y, X[:, 1] ** 2])
    for settings in ({"lam": 0.1}, {}):
        with pytest.raises(ValueError, match=r"y has 2 columns; .* MultiOutputRegressor\(DCRegressor\(\)\)"):
            DCRegressor(**settings).fit(X, both)
    model = MultiOutputRegressor(DCRegressor(lam=0.1)).fit(X, both)
    for k in range(2):
        np.testing.assert_array_equal(model.predict(X)[:, k], fit(y=both[:, k], lam=0.1).predict(X))
    with pytest.raises(ValueError, match="y has 3 columns"):
        DCRegressor(lam=0.1).path(X, X, [0.1])
    with pytest.raises(ValueError, match="y has 3 columns"):
        fit().simplify(X, X)
    with pytest.warns(DataConversionWarning, match="column-vector"):  # one column is one target
        np.testing.assert_array_equal(fit(y=Y[:, None]).predict(X), fit().predict(X))


def test_region_table_names_features_and_counts_rows():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (60, 2)), columns=["left", "right"])
    y = np.abs(X["left"].to_numpy())
    model = DCRegressor(lam=1e-3).fit(X, y)
    table = model.region_table(X, tol=1e-2)
    assert table["rows"].sum() == 60 and {"slope of left", "slope of right"} <= set(table)
    assert len(table["rows"]) < len(model.region_table(X, tol=0.0)["rows"])
    assert table["slope of left"].min() < -0.8 and table["slope of left"].max() > 0.8
