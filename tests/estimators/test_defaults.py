"""What a fit with all defaults, one of few pieces, promises to users."""

import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold, ShuffleSplit
from tests.problems import corner, slanted
from tests.quick import quick

from pldc import Auto, CrossValidation, DCClassifier, DCRegressor, Exact, Quantile, Seminorm

X, Y = slanted()
GRID = np.random.default_rng(99).normal(scale=1.5, size=(200, 2))


@pytest.fixture(scope="module")
def fitted():
    return DCRegressor().fit(X, Y)


def test_the_default_finds_the_function(fitted):
    truth = np.abs(GRID @ [1.0, 2.0])
    inside = (np.abs(GRID) < 1.5).all(axis=1)
    assert np.sqrt(np.mean((fitted.predict(GRID) - truth)[inside] ** 2)) < 0.2
    assert fitted.chosen_ and len(fitted.function_.terms) == sum(kind["starts"] for kind in fitted.chosen_)
    results = fitted.cv_results_
    assert len(results["params"]) == len(results["mean_test_score"]) == len(results["rank_test_score"])
    best = np.argmin(results["rank_test_score"])
    assert results["mean_test_score"][best] == results["mean_test_score"].max() <= fitted.cv_score_ + 0.01 < 0.01


def test_it_is_no_program_unless_a_setting_of_the_program_is_changed(fitted):
    for name in ("certificate_", "lam_", "seminorm_", "solver_"):
        assert not hasattr(fitted, name)
    assert fitted.model_.kind == "compact" and fitted.model_.program is None
    with quick():
        other = DCRegressor(loss="absolute", clip=False, random_state=1).fit(X, Y)
    assert other.model_.kind == "compact" and not hasattr(other, "certificate_")


@pytest.mark.parametrize(
    "settings",
    [
        {"lam": 0.1},
        {"lam": 0.1, "n_pieces": "rows"},
        {"solver": Auto(tol=1e-3)},
        {"solver": Exact()},
        {"solver": "exact"},
        {"penalty": "joint"},
        {"penalty": Seminorm(free_linear=True)},
        {"standardize": False},
        {"n_pieces": "rows"},
    ],
)
def test_settings_of_the_program_ask_for_it(settings):
    model = DCRegressor(cv=2, n_jobs=1, **settings).fit(X[:12], Y[:12])
    asked = settings["solver"].tol if not isinstance(settings.get("solver", "auto"), str) else 1e-4
    assert model.certificate_.gap <= 1.01 * asked and not hasattr(model, "chosen_")
    assert model.model_.kind == "program" and model.model_.program.tol == asked


def test_order_layout_threads_and_repetition_change_nothing(fitted):
    order = np.random.default_rng(5).permutation(len(Y))
    shuffled = DCRegressor(n_jobs=1).fit(np.asfortranarray(X[order]), Y[order])
    doubled = DCRegressor(n_jobs=2).fit(np.tile(X, (2, 1)), np.tile(Y, 2))
    for other in (shuffled, doubled):
        np.testing.assert_array_equal(other.predict(GRID), fitted.predict(GRID))
    assert shuffled.cv_score_ == fitted.cv_score_
    np.testing.assert_array_equal(fitted.predict(np.asfortranarray(GRID)), fitted.predict(GRID))


# ---------------------------------------------------------------- settings


@pytest.mark.usefixtures("quick_fits")
@pytest.mark.parametrize("cv", [KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0), 3])
def test_any_splitter_and_scorer(cv):
    model = DCRegressor(cv=CrossValidation(cv, scoring="r2")).fit(X, Y)
    assert 0.5 < model.cv_score_ <= 1 and 0.5 < model.cv_results_["mean_test_score"].max() <= 1  # no negative loss
    low, high = model.predict_interval(X)
    assert (low <= high).all()


@pytest.mark.usefixtures("quick_fits")
def test_a_scorer_of_ones_own_predicts_only():
    model = DCRegressor(cv=CrossValidation(scoring=lambda m, X, y: -np.abs(m.predict(X) - y).mean())).fit(X, Y)
    assert -0.5 < model.cv_score_ < 0


def test_predictions_stay_within_the_targets_unless_told_otherwise(fitted):
    far = 100.0 * np.eye(2)
    assert fitted.predict(far).max() <= Y.max()
    assert np.abs(fitted.function_(far)).max() > Y.max()


def test_a_convex_fit_is_convex_and_about_as_good_as_the_program():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    # Of few planes. To a smooth truth with little noise the program comes closer, by more than this.
    y = np.max(X @ np.array([[1.0, 0.0, -1.0], [0.0, -1.0, 0.5]]), axis=1) + 0.3 * rng.normal(size=60)
    model = DCRegressor(shape="convex").fit(X, y)
    program = DCRegressor(shape="convex", n_pieces="rows", n_jobs=1).fit(X, y)
    loss, reference = (np.mean((m.predict(X) - y) ** 2) for m in (model, program))
    assert loss <= 1.3 * reference
    a, b = 3.0 * rng.normal(size=(2, 500, 2))
    t = rng.random((500, 1))
    f = model.function_
    assert (f(t * a + (1 - t) * b) <= t[:, 0] * f(a) + (1 - t[:, 0]) * f(b) + 1e-9).all()
    concave = DCRegressor(shape="concave").fit(X, -y).function_
    assert (concave(t * a + (1 - t) * b) >= t[:, 0] * concave(a) + (1 - t[:, 0]) * concave(b) - 1e-9).all()


def test_a_monotone_fit_of_a_dose_response():
    at = np.linspace(-5, 5, 400)[:, None]
    truth = 100 / (1 + np.exp(-2 * at[:, 0]))
    errors = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-5, 5, size=(120, 1))
        y = 100 / (1 + np.exp(-2 * X[:, 0])) + 5 * rng.normal(size=120)
        model, free = (DCRegressor(monotone=m).fit(X, y) for m in ([1], None))
        isotonic = IsotonicRegression(out_of_bounds="clip").fit(X[:, 0], y)
        fits = model.predict(at), free.predict(at), isotonic.predict(at[:, 0])
        errors.append([np.sqrt(np.mean((f - truth) ** 2)) for f in fits])
        assert (np.diff(fits[0]) >= -1e-9).all()
        assert model.function_.is_monotone(0)
        assert {kind["features"] for kind in model.cv_results_["params"]} == {"hinged"}
    mine, without, steps = np.mean(errors, axis=0)
    assert mine <= steps and mine <= 1.1 * without


def test_a_quantile_has_its_share_of_targets_below():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(150, 1))
    y = X[:, 0] ** 2 + (0.2 + 0.1 * X[:, 0]) * rng.normal(size=150)
    for level in (0.9, 0.2):
        below = np.mean(y <= DCRegressor(loss=Quantile(level)).fit(X, y).predict(X))
        assert abs(below - level) < 0.06


def test_the_absolute_loss_forgives_gross_outliers():
    X, y = corner(n=80, seed=4)
    truth = np.abs(X[:, 0]) + 0.5 * X[:, 1]
    wild = y.copy()
    wild[::16] += 1e4
    robust, squared = (DCRegressor(loss=loss, clip=False).fit(X, wild).predict(X) for loss in ("absolute", "squared"))
    good = np.setdiff1d(np.arange(80), np.arange(0, 80, 16))
    error, other = (np.sqrt(np.mean((f - truth)[good] ** 2)) for f in (robust, squared))
    assert error < 0.3 and error < 0.2 * other


@pytest.mark.usefixtures("quick_fits")
@pytest.mark.parametrize("n", range(1, 9))
def test_few_rows(n):
    model = DCRegressor().fit(X[:n], Y[:n])
    assert Y[:n].min() <= model.predict(X).min() and model.predict(X).max() <= Y[:n].max()


@pytest.mark.parametrize("value", ["x", 0, 1.5, True, -1, None])
def test_refuses_other_numbers_of_pieces(value):
    with pytest.raises(ValueError, match="n_pieces must be"):
        DCRegressor(n_pieces=value).fit(X, Y)


@pytest.mark.parametrize("value", [0, -1, "1", np.nan, np.inf, True])
def test_refuses_other_limits_on_time(value):
    with pytest.raises(ValueError, match="max_seconds must be None or a positive finite number"):
        DCRegressor(max_seconds=value).fit(X, Y)


# ---------------------------------------------------------------- how it ends


def test_a_limit_on_time_is_kept():
    X, y = corner(n=3000)
    began = time.perf_counter()
    model = DCRegressor(max_seconds=0.3).fit(X, y)
    assert time.perf_counter() - began < 2.5
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("n", [20_000, 60_000])
@pytest.mark.parametrize("seconds", [0.02, 0.3])
def test_a_limit_on_time_ends_a_fit_of_many_rows_between_its_stages(n, seconds):
    X, y = corner(n)
    began = time.perf_counter()
    assert DCRegressor(max_seconds=seconds).fit(X, y).score(X, y) > 0.2
    assert time.perf_counter() - began < 5.0
    labels = (y > np.median(y)).astype(int)
    assert DCClassifier(max_seconds=seconds).fit(X, labels).score(X, labels) > 0.7


@pytest.mark.parametrize("settings", [{}, {"n_jobs": 1}, {"n_pieces": 3}])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_an_interrupt_leaves_a_fitted_model(settings, k):
    heard = []

    def press(row):
        heard.append(row)
        if len(heard) == k:
            raise KeyboardInterrupt

    X, y = corner()
    model = DCRegressor(**settings)
    with pytest.raises(KeyboardInterrupt, match="the model is usable") as told:
        model.fit(X, y, monitor=press)
    said = (
        "it holds the best function so far" if model.chosen_ else "nothing was fitted yet: it predicts a straight line"
    )
    assert said in str(told.value) and (k == 5) == bool(model.chosen_)
    assert len(heard) == k
    assert np.isfinite(model.predict(X)).all() and model.score(X, y) > 0.0
    if "n_pieces" in settings:
        assert max(model.function_.n_pieces) <= 3 and np.isnan(model.simplification_.score)  # no more time is spent


def test_a_monitor_can_end_a_fit():
    heard = []

    def enough(row):
        heard.append(row)
        return True

    model = DCRegressor().fit(X, Y, monitor=enough)
    assert len(heard) <= 2 and np.isfinite(model.predict(X)).all()
    with pytest.raises(TypeError, match="monitor must be callable"):
        DCRegressor().fit(X, Y, monitor=3)


# ---------------------------------------------------------------- answers


def test_intervals_cover():
    new_X, new_y = slanted(400, seed=7)
    model = DCRegressor().fit(*slanted(60, seed=6))
    low, high = model.predict_interval(new_X, 0.8)
    assert (low <= high).all() and 0.7 <= ((low <= new_y) & (new_y <= high)).mean() <= 0.97
    wide = model.predict_interval(new_X, 0.95)
    assert (wide[0] <= low).all() and (wide[1] >= high).all()


def test_intervals_cover_fresh_rows():
    X, y = corner(n=300, noise=0.3, seed=5)
    model = DCRegressor().fit(X, y)
    fresh, target = corner(n=600, noise=0.3, seed=6)
    low, high = model.predict_interval(fresh, 0.9)
    covered = np.mean((low <= target) & (target <= high))
    assert 0.8 <= covered <= 0.98
    narrow = model.predict_interval(fresh, 0.5)
    assert (narrow[0] >= low).all() and (narrow[1] <= high).all()
    assert np.median(high - low) < 2.5  # of a noise of ± 0.5 at this coverage


def test_explanations_add_up_and_regions_count_rows(fitted):
    why = fitted.explain(X)
    inside = ~why.clipped
    assert np.array_equal(why.prediction, fitted.predict(X))
    assert np.allclose((why.intercept + why.contributions.sum(axis=1))[inside], why.prediction[inside])
    assert np.allclose(fitted.explain(X, neighbourhood=0).slopes, fitted.function_.gradient(X))
    assert fitted.region_table(X)["rows"].sum() == len(Y)


@pytest.mark.usefixtures("quick_fits")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(frame):
    table = frame({"left": X[:, 0], "right": X[:, 1]})
    model = DCRegressor().fit(table, Y)
    assert np.array_equal(model.predict(table), DCRegressor().fit(X, Y).predict(X))
    assert model.explain(table[:3]).features == model.model_.feature_names == ("left", "right")
    assert {"slope of left", "slope of right"} <= set(model.region_table(table))


# ---------------------------------------------------------------- clones and pickles


def test_clones_have_the_settings_and_nothing_else(fitted):
    copy = clone(DCRegressor(n_pieces=3, cv=CrossValidation(3, scoring="r2"), loss=Quantile(0.9)))
    assert copy.get_params()["cv"] == CrossValidation(3, scoring="r2") and copy.loss == Quantile(0.9)
    assert clone(fitted).get_params() == fitted.get_params() and not hasattr(clone(fitted), "model_")


@pytest.fixture(scope="module")
def many():
    X, y = slanted(200, 8)
    X[17, 3], y[23] = 1.2345678901234567, 9.876543210987654  # numbers that nothing else has
    with quick():
        return X, y, DCRegressor().fit(X, y)


def test_a_pickle_is_the_model(many):
    X, _, model = many
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X, 0.7), model.predict_interval(X, 0.7))
    public = {name for name in vars(model) if not name.startswith("_")}
    assert public == {name for name in vars(again) if not name.startswith("_")}
    for name in ("cv_score_", "chosen_", "clip_range_", "n_iter_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    for name in ("reference_", "spread_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_equal(again.cv_results_, model.cv_results_)
    assert again.get_params() == model.get_params()


def test_a_pickle_is_small_and_holds_no_training_row(many):
    X, y, model = many
    stored = pickle.dumps(model)
    assert len(stored) < 200_000
    known = {model.reference_[0].tobytes(), np.float64(model.cv_score_).byteswap().tobytes()}
    assert all(number in stored for number in known)  # numbers are stored as they are in memory, or the other way round
    ends = {
        float(end) for end in (*model.clip_range_, *X.min(axis=0), *X.max(axis=0))
    }  # ranges, of knots too, are no rows
    numbers = [value for value in np.append(X.ravel(), y) if value not in ends]
    assert len(numbers) > 1770
    assert not [v for v in numbers if v.tobytes() in stored or v.byteswap().tobytes() in stored]
