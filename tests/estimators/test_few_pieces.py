"""Fits of few pieces: the default of DCRegressor, and what simplify makes of a model."""

import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from pldc import DCRegressor, Quantile
from pldc.compact import student
from pldc.compact.members import Candidate
from pldc.compact.plan import Plan
from pldc.select import simplify as simplify_module


def corner(n=36, d=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X[:, 0]) + 0.5 * X[:, -1] + noise * rng.normal(size=n)


@pytest.fixture(scope="module")
def table():
    return corner()


@pytest.fixture(scope="module")
def plain(table):
    return DCRegressor().fit(*table)


@pytest.fixture(scope="module")
def grid():
    return np.random.default_rng(99).normal(scale=1.5, size=(200, 2))


# ---------------------------------------------------------------- the default


def test_the_default_finds_the_function(plain, grid):
    truth = np.abs(grid[:, 0]) + 0.5 * grid[:, 1]
    inside = (np.abs(grid) < 1.5).all(axis=1)
    assert np.sqrt(np.mean((plain.predict(grid) - truth)[inside] ** 2)) < 0.2
    assert len(plain.function_.terms) == sum(kind["starts"] for kind in plain.chosen_)
    assert plain.chosen_ and plain.cv_score_ == pytest.approx(plain.cv_score_)
    assert len(plain.cv_results_["params"]) == len(plain.cv_results_["mean_test_score"])
    best = np.argmin(plain.cv_results_["rank_test_score"])
    assert plain.cv_results_["mean_test_score"][best] == plain.cv_results_["mean_test_score"].max()


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none(table, grid):
    X, y = table
    counts = np.arange(len(y)) % 3
    twice = np.repeat(np.arange(len(y)), counts)
    weighted = DCRegressor().fit(X, y, sample_weight=counts)
    repeated = DCRegressor().fit(X[twice], y[twice])
    np.testing.assert_array_equal(weighted.predict(grid), repeated.predict(grid))


def test_the_order_and_layout_of_rows_do_not_matter(table, plain, grid):
    X, y = table
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = DCRegressor().fit(np.asfortranarray(X[order]), y[order])
    np.testing.assert_array_equal(shuffled.predict(grid), plain.predict(grid))
    np.testing.assert_array_equal(plain.predict(np.asfortranarray(grid)), plain.predict(grid))


def test_a_seed_is_a_result_and_another_another(table, plain, grid):
    X, y = table
    zero = DCRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(zero.predict(grid), plain.predict(grid))
    one, again = (DCRegressor(random_state=1).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(grid), again.predict(grid))
    assert (one.predict(grid) != plain.predict(grid)).any()


def test_threads_change_nothing(table, grid):
    one, two = (DCRegressor(n_jobs=k).fit(*table) for k in (1, 2))
    np.testing.assert_array_equal(one.predict(grid), two.predict(grid))
    assert one.cv_score_ == two.cv_score_


def test_clones_and_pickles_predict_the_same(plain, table, grid):
    assert clone(plain).get_params() == plain.get_params()
    copy = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(copy.predict(grid), plain.predict(grid))
    for a, b in zip(copy.predict_interval(grid), plain.predict_interval(grid), strict=True):
        np.testing.assert_array_equal(a, b)


def test_predictions_stay_within_the_targets_unless_told_otherwise(plain, table):
    far = 100.0 * np.eye(2)
    assert plain.predict(far).max() <= table[1].max()
    assert np.abs(plain.function_(far)).max() > table[1].max()


def test_settings_of_the_program_ask_for_the_program(table):
    X, y = (part[:12] for part in table)
    for settings in ({"lam": 0.1}, {"lam": 0.1, "tol": 1e-3}, {"n_pieces": "rows", "lam": 0.1}):
        model = DCRegressor(**settings).fit(X, y)
        assert model.certificate_.gap <= 1.01 * model.tol and not hasattr(model, "chosen_")
    assert not hasattr(DCRegressor().fit(X, y), "certificate_")


def test_a_convex_fit_is_convex_and_about_as_good_as_the_program():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    # Of few planes. To a smooth truth with little noise the program comes closer, by more than this.
    y = np.max(X @ np.array([[1.0, 0.0, -1.0], [0.0, -1.0, 0.5]]), axis=1) + 0.3 * rng.normal(size=60)
    model = DCRegressor(shape="convex").fit(X, y)
    program = DCRegressor(shape="convex", n_pieces="rows").fit(X, y)
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
    for seed in range(3):
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


def test_a_limit_on_time_is_kept():
    X, y = corner(n=3000)
    began = time.perf_counter()
    model = DCRegressor(max_seconds=0.3).fit(X, y)
    assert time.perf_counter() - began < 2.5
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("settings", [{}, {"n_jobs": 1}, {"n_pieces": 3}])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_an_interrupt_leaves_a_fitted_model(table, settings, k):
    X, y = table
    heard = []

    def press(row):
        heard.append(row)
        if len(heard) == k:
            raise KeyboardInterrupt

    model = DCRegressor(**settings)
    with pytest.raises(KeyboardInterrupt, match="best function found so far"):
        model.fit(X, y, monitor=press)
    assert len(heard) == k
    assert np.isfinite(model.predict(X)).all() and model.score(X, y) > 0.0
    if "n_pieces" in settings:
        assert max(model.function_.n_pieces) <= 3 and np.isnan(model.simplification_.score)  # no more time is spent


def test_a_monitor_can_end_a_fit(table):
    heard = []

    def enough(row):
        heard.append(row)
        return True

    model = DCRegressor().fit(*table, monitor=enough)
    assert len(heard) <= 2 and np.isfinite(model.predict(table[0])).all()
    with pytest.raises(TypeError, match="monitor must be callable"):
        DCRegressor().fit(*table, monitor=3)


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


def test_rows_of_one_group_stay_together(table):
    X, y = table
    groups = np.arange(len(y)) // 2
    pairs = np.repeat(X[::2], 2, axis=0)
    pairs[1::2, 0] += 1e-6
    noise = np.repeat(np.random.default_rng(0).normal(size=len(y) // 2), 2)
    alone, together = (DCRegressor().fit(pairs, noise, groups=g) for g in (None, groups))
    assert together.cv_score_ < 1.5 * alone.cv_score_  # noise that is seen twice can be learned by heart
    with pytest.raises(ValueError, match="groups must hold one label"):
        DCRegressor().fit(X, y, groups=groups[:-1])


@pytest.mark.parametrize("value", ["x", 0, 1.5, True, -1, None])
def test_refuses_other_numbers_of_pieces(table, value):
    with pytest.raises(ValueError, match="n_pieces must be"):
        DCRegressor(n_pieces=value).fit(*table)


@pytest.mark.parametrize("value", [0, -1, "1", np.nan, np.inf, True])
def test_refuses_other_limits_on_time(table, value):
    with pytest.raises(ValueError, match="max_seconds must be None or a positive finite number"):
        DCRegressor(max_seconds=value).fit(*table)


def test_single_precision_given_is_the_same_numbers_in_double(table, grid):
    X, y = (part.astype(np.float32) for part in table)
    single, double = (DCRegressor().fit(X.astype(kind), y.astype(kind)) for kind in (np.float32, np.float64))
    np.testing.assert_array_equal(single.predict(grid), double.predict(grid))
    assert single.predict(grid.astype(np.float32)).dtype == np.float64


def test_of_many_rows_neither_weights_nor_order_nor_threads_matter_either(monkeypatch, grid):
    plan = Plan([Candidate(4, 3, (1e-2, 0.1), 0, 8), Candidate(0, 4, (1e-2,), 1, 8)], 10**6, 1, 2, 2)
    monkeypatch.setattr("pldc.select.few_pieces.plan_for", lambda *size, **kinds: plan)
    X, y = corner(n=1100)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, size=1100)
    many = rng.permutation(np.repeat(np.arange(1100), counts))
    models = [
        DCRegressor(n_jobs=1).fit(X, y, sample_weight=counts),
        DCRegressor(n_jobs=2).fit(np.asfortranarray(X[many]), y[many]),
    ]
    assert len(models[0]._rows.y) < 1100
    np.testing.assert_array_equal(models[0].predict(grid), models[1].predict(grid))
    assert models[0].cv_score_ == models[1].cv_score_


# ---------------------------------------------------------------- few pieces


@pytest.fixture(autouse=True, scope="module")
def _quick_students():
    """Fewer points and starts than by default: the same work, in less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(student, "POINTS", 1100)
        patch.setattr(student, "FRESH", 500)
        patch.setattr(simplify_module, "STARTS", 3)
        patch.setattr(simplify_module, "IN_A_FOLD", 1)
        yield


@pytest.fixture(scope="module")
def simple(plain, table):
    return plain.simplify(*table, 4)


def test_simplify_gives_one_function_of_few_pieces(simple, plain, table):
    assert simple.function_.is_plain and max(simple.function_.n_pieces) <= 4
    assert simple is not plain and simple.n_pieces == 4 and plain.n_pieces == "auto"
    assert 0 < simple.fidelity_ <= 1 and simple.fidelity_ == simple.simplification_.fidelity
    assert simple.simplification_.n_pieces == simple.function_.n_pieces
    assert simple.score(*table) > 0.9


def test_simplify_says_what_it_costs(simple, plain, table):
    about = simple.simplification_
    assert about.score_before == pytest.approx(plain.cv_score_, rel=1e-6)
    assert simple.cv_score_ == about.score < 0
    assert about.score > -0.3
    text = str(about)
    assert "4 − 4 pieces" in text or " − ".join(map(str, about.n_pieces)) in text
    assert f"{about.score:.4g}" in text and f"{about.score_before:.4g}" in text and f"{about.fidelity:.3f}" in text


def test_what_is_said_of_a_simplification_is_of_rows_left_out(simple, plain):
    rows, about = plain._rows, simple.simplification_
    assert (rows.weight == 1).all()
    errors, likeness, before = [], [], []
    for few, many, (train, test) in zip(
        simple._cross_fit.functions, plain._cross_fit.functions, plain._cross_fit.splits, strict=True
    ):
        new, old = (np.clip(f(rows.X[test]), rows.y[train].min(), rows.y[train].max()) for f in (few, many))
        errors += list((new - rows.y[test]) ** 2)
        before += list((old - rows.y[test]) ** 2)
        likeness += [1 - np.mean((new - old) ** 2) / old.var()] * len(test)
    assert about.score == pytest.approx(-np.mean(errors) / rows.y.var())
    assert about.score_before == pytest.approx(-np.mean(before) / rows.y.var()) != about.score
    assert about.fidelity == pytest.approx(np.mean(likeness))


def test_a_number_of_pieces_is_the_fit_and_its_simplification(simple, table, grid):
    model = DCRegressor(n_pieces=4).fit(*table)
    np.testing.assert_array_equal(model.predict(grid), simple.predict(grid))
    assert model.fidelity_ == simple.fidelity_ and model.cv_score_ == pytest.approx(simple.cv_score_)
    for a, b in zip(model.predict_interval(grid), simple.predict_interval(grid), strict=True):
        np.testing.assert_allclose(a, b)


def test_a_simplification_has_the_folds_of_its_model(table, grid):
    model = DCRegressor(cv=3).fit(*table)
    few, at_once = model.simplify(*table, 3), DCRegressor(cv=3, n_pieces=3).fit(*table)
    np.testing.assert_array_equal(few.predict(grid), at_once.predict(grid))
    assert few.simplification_.score_before == pytest.approx(model.cv_score_, rel=1e-6)
    assert few.simplification_ == at_once.simplification_


def test_the_order_of_rows_does_not_matter_to_a_simplification(plain, simple, table, grid):
    X, y = table
    np.testing.assert_array_equal(plain.simplify(X[::-1], y[::-1], 4).predict(grid), simple.predict(grid))


def test_what_few_pieces_can_do(simple, table):
    X, _ = table
    explained = simple.explain(X)
    np.testing.assert_allclose(explained.prediction, simple.predict(X))
    regions = simple.region_table(X)
    assert sum(regions["rows"]) == len(X) and len(regions["rows"]) <= 16
    box = [(-2.0, 2.0)] * 2
    found = simple.function_.minimize(bounds=box)
    some = np.random.default_rng(0).uniform(-2, 2, size=(2000, 2))
    assert simple.function_(found.x[None])[0] == pytest.approx(found.fun)
    assert simple.function_(some).min() - 0.3 <= found.fun <= simple.function_(some).min() + 1e-9
    h = some
    for k, (W, b) in enumerate(layers := simple.function_.to_relu()):
        h = h @ np.asarray(W).T + b
        h = np.maximum(h, 0.0) if k < len(layers) - 1 else h
    np.testing.assert_allclose(h.ravel(), simple.function_(some), atol=1e-9)


def test_few_pieces_have_intervals(simple, table):
    low, high = simple.predict_interval(table[0], 0.9)
    assert 0.8 <= np.mean((low <= table[1]) & (table[1] <= high)) <= 1.0
    assert (low < high).all()


def test_slopes_of_few_pieces_hold_around_most_rows(plain, table):
    X, y = table
    f = plain.simplify(X, y, 8).function_
    assert max(f.n_pieces) <= 8 and f.prune().n_pieces == f.n_pieces
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(10):
        u = rng.normal(size=X.shape)
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        kept.append((f.gradient(X) == f.gradient(X + 0.01 * X.std(axis=0) * u)).all(axis=1))
    assert np.mean(kept) >= 0.9


def test_a_solution_of_the_program_can_be_simplified():
    X, y = corner(n=20, seed=7)
    program = DCRegressor(lam=0.05).fit(X, y)
    few = program.simplify(X, y, 4)
    assert few.function_.is_plain and max(few.function_.n_pieces) <= 4
    assert 0 < few.fidelity_ <= 1 and np.isfinite([few.simplification_.score, few.simplification_.score_before]).all()
    assert np.corrcoef(few.predict(X), program.predict(X))[0, 1] > 0.95
    assert program.certificate_.gap <= 1.01e-4  # as it was


def test_names_of_features_are_kept(table):
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X, columns=["dose", "age"])
    model = DCRegressor(monotone={"age": 1}).fit(frame, y)
    few = model.simplify(frame, y, 3)
    assert list(few.feature_names_in_) == ["dose", "age"]
    assert few.function_.is_monotone(1)
    with pytest.raises(ValueError, match="same order"):
        model.simplify(frame[["age", "dose"]], y, 3)
    assert any("dose" in name for name in few.region_table(frame))
    assert "age" in str(few.explain(frame[:2]))


def test_simplify_refuses_what_makes_no_sense(plain, table):
    X, y = table
    for count in (0, -1, 1.5, True, "4"):
        with pytest.raises(ValueError, match="n_pieces must be a whole number ≥ 1"):
            plain.simplify(X, y, count)
    with pytest.raises(ValueError, match="at least 4 distinct rows"):
        plain.simplify(X[[0, 0, 1, 1, 2]], y[[0, 0, 1, 1, 2]], 2)
    with pytest.raises(ValueError, match="4 features, but DCRegressor is expecting 2"):
        plain.simplify(np.column_stack([X, X]), y, 2)
    with pytest.raises(ValueError, match="one target"):
        DCRegressor(lam=0.1).fit(X[:6], np.column_stack([y, y])[:6]).simplify(X, y)
    with pytest.raises(NotFittedError):
        DCRegressor().simplify(X, y)


def test_a_fit_of_all_rows_can_be_simplified():
    X, y = corner(n=16, seed=8)
    model = DCRegressor(n_pieces="rows", n_jobs=1).fit(X, y)
    few = model.simplify(X, y, 3)
    assert few.function_.is_plain and max(few.function_.n_pieces) <= 3
    assert 0 < few.fidelity_ <= 1
    assert few.simplification_.score_before == pytest.approx(model.cv_score_, rel=1e-3)  # its own folds are used
