"""(rows, settings) → model, without any estimator."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from tests.problems import slanted
from tests.quick import few_kinds, few_starts

from pldc import Auto, Model
from pldc.fit import Settings, fit, simplify
from pldc.fit.spine import same_rows
from pldc.problem import make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows

N = 30
X, Y = slanted(N)
ROWS = Rows(X, Y, np.ones(N))
GRID = np.random.default_rng(9).normal(size=(50, 2))


def recipe_of(loss="squared", outputs=1, **settings):
    plain = Recipe(make_loss(loss), make_penalty("componentwise"), "dc", np.zeros(2, dtype=int), False, True, outputs)
    return replace(plain, **settings)


PLAIN = Settings(recipe_of(), folds=3, threads=1, jobs=1)
PROGRAM = replace(PLAIN, n_pieces="rows", lam=0.05, solver=Auto(tol=1e-3))
SETTINGS = {
    "compact": PLAIN,
    "simplified": replace(PLAIN, n_pieces=3),
    "program": PROGRAM,
    "program with folds": replace(PROGRAM, lam="cv"),
    "program of the theory": replace(PROGRAM, lam="srm"),
}
KINDS = pytest.mark.parametrize("kind", SETTINGS)


@pytest.fixture(autouse=True, scope="module")
def _quick():
    with few_starts(), few_kinds():
        yield


@pytest.fixture(scope="module")
def fitted():
    return {name: fit(ROWS, settings) for name, settings in SETTINGS.items()}


def assert_same(one, other):
    np.testing.assert_array_equal(one.predict(GRID), other.predict(GRID))
    for field in fields(Model):
        if field.name == "seconds":
            continue
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "functions":
            a, b = ([f.to_dict() for f in functions] for functions in (a, b))
        elif field.name == "errors" and a is not None:
            a, b = ((errors.size, errors.weight) for errors in (a, b))
        elif field.name == "cv_results":  # but for the seconds
            a, b = ({k: v for k, v in results.items() if "time" not in k} for results in (a, b))
        np.testing.assert_equal(a, b, err_msg=field.name)


def test_models_that_differ_are_told_apart(fitted):
    for other in (
        replace(fitted["compact"].model, cv_score=0.0),
        replace(fitted["compact"].model, functions=fitted["simplified"].model.functions),
        replace(fitted["compact"].model, errors=fitted["simplified"].model.errors),
    ):
        with pytest.raises(AssertionError):
            assert_same(fitted["compact"].model, other)


# ---------------------------------------------------------------- a function of rows and settings


@KINDS
def test_the_same_rows_and_settings_give_the_same_model_and_nothing_else_changes(fitted, kind):
    given = Rows(*(part.copy() for part in ROWS))
    before = np.random.get_state()[1].copy()
    again = fit(given, SETTINGS[kind])
    assert_same(again.model, fitted[kind].model)
    assert not again.interrupted
    assert all(np.array_equal(a, b) for a, b in zip(given, ROWS, strict=True))
    assert np.array_equal(np.random.get_state()[1], before)


@KINDS
def test_rows_of_weight_zero_count_for_nothing(fitted, kind):
    more = Rows(np.vstack([X, [[50.0, 50.0]]]), np.append(Y, 1e6), np.append(ROWS.weight, 0.0))
    assert_same(fit(more, SETTINGS[kind]).model, fitted[kind].model)


@KINDS
def test_what_a_model_says_of_itself(fitted, kind):
    model, folds, interrupted = fitted[kind]
    assert model.kind == kind.split()[0] and not interrupted
    assert np.mean((model.predict(X) - Y) ** 2) < (1.1 if "theory" in kind else 0.5) * Y.var()
    np.testing.assert_allclose(model.center, X.mean(axis=0))
    np.testing.assert_allclose(model.spread, X.std(axis=0))
    assert model.limits == model.target_range == (Y.min(), Y.max())
    assert (model.program is not None) == (model.kind == "program")
    assert (model.simplification is not None) == (model.kind == "simplified")
    assert bool(model.chosen) == (model.kind != "program")
    has_folds = kind in ("compact", "simplified", "program with folds")
    assert (folds is not None) == (model.errors is not None) == (model.cv_score is not None) == has_folds
    if has_folds:
        assert sorted(np.concatenate([test for _, test in folds.splits])) == list(range(N)) and len(folds.splits) == 3
        errors = model.errors
        assert len(errors.size) == N and errors.weight.tolist() == [1.0]
        size = np.sort(folds.errors.y)
        if errors.scale is None:
            assert (size <= errors.size * (1 + 1e-12)).all() and (errors.size <= 1.001 * size).all()  # rounded up
        else:  # in units of a scale within its limits
            low, high = errors.limits
            assert (size / high <= errors.size * (1 + 1e-12)).all() and (errors.size <= 1.001 * size / low).all()
        low, high = model.interval(X, 0.9)
        assert 0.8 <= np.mean((low <= Y) & (high >= Y)) <= 1.0


@KINDS
def test_a_model_holds_no_training_row(fitted, kind):
    stored = pickle.dumps(fitted[kind].model)
    assert fitted[kind].model.center[0].tobytes() in stored
    others = [v for v in np.append(X.ravel(), Y) if v not in fitted[kind].model.limits]
    assert not [v for v in others if v.tobytes() in stored or v.byteswap().tobytes() in stored]


def test_the_numbers_of_the_program_are_of_its_objective(fitted):
    for kind in ("program", "program with folds", "program of the theory"):
        solved, f = fitted[kind].model.program, fitted[kind].model.function
        assert solved.certificate.lower <= solved.certificate.upper and solved.certificate.gap <= 1e-3 == solved.tol
        assert solved.certificate.upper == pytest.approx(solved.loss + solved.lam * solved.seminorm)
        assert solved.loss == pytest.approx(np.mean((f(X) - Y) ** 2) / Y.var(), rel=1e-6)
        assert solved.solver == "exact" and solved.status == "optimal"
    assert fitted["program"].model.program.lam == 0.05
    assert fitted["program with folds"].model.program.lam in fitted["program with folds"].model.cv_results["param_lam"]


def test_clip_is_of_the_predictions(fitted):
    for kind in ("compact", "program"):
        free = fit(ROWS, replace(SETTINGS[kind], clip=False)).model
        assert free.limits == (-np.inf, np.inf) and free.target_range == (Y.min(), Y.max())
        assert free.predict(100.0 * GRID).max() > Y.max() >= fitted[kind].model.predict(100.0 * GRID).max()


@pytest.mark.parametrize("n_pieces", ["auto", 3])
def test_fewer_than_four_distinct_rows_are_left_to_the_program(n_pieces):
    three = ROWS.take(np.array([0, 1, 2, 2, 1, 0]))
    model, folds, _ = fit(three, replace(PLAIN, n_pieces=n_pieces))
    assert model.kind == "program" and folds is None and model.errors is None and model.program.lam > 0
    assert fit(ROWS.take(np.array([0, 1, 2, 3])), PLAIN).model.kind == "compact"


def test_a_score_of_ones_own_chooses():
    def score(prediction, rows):  # of values around 1 alone
        return -float(np.abs(prediction - 1.0).mean())

    for kind in ("compact", "program with folds"):
        model = fit(ROWS, replace(SETTINGS[kind], score=score)).model
        best = model.cv_results["mean_test_score"].max()
        assert best <= 0 and model.cv_score >= 1.1 * best  # of a mean, or of a larger λ that is about as good
        assert np.abs(best) > 0.05


def test_classes_have_a_temperature():
    labels = (np.median(Y) < Y).astype(float) + (np.quantile(Y, 0.8) < Y)
    rows = Rows(X, labels, ROWS.weight)
    settings = replace(SETTINGS["program with folds"], recipe=recipe_of("hinge", 3), solver=Auto(tol=1e-2))
    model, folds, _ = fit(rows, settings)
    assert len(model.functions) == 3 and model.temperature > 0
    assert [len(functions) for functions in folds.functions] == [3] * len(folds.splits)
    assert (model.scores(X).argmax(axis=1) == labels).mean() > 0.8
    np.testing.assert_allclose(model.probabilities(GRID).sum(axis=1), 1.0)
    known = fit(rows, replace(settings, lam=0.05)).model
    assert known.program.lam == 0.05 and 0 < known.temperature != 1.0  # the folds are fitted for it
    log = fit(rows, replace(settings, lam=0.05, recipe=recipe_of("log", 3), solver=Auto(tol=0.1))).model
    assert log.temperature == 1.0


def test_few_pieces_of_classes_do_not_know_what_they_are_called():
    label = (np.median(Y) < Y).astype(int) + (np.quantile(Y, 0.8) < Y)
    settings, names = replace(PLAIN, recipe=recipe_of("log", 3)), np.array([2.0, 0.0, 1.0])
    one, other = (fit(Rows(X, y, ROWS.weight), settings).model for y in (label.astype(float), names[label]))
    assert one.kind == "compact" and one.temperature == pytest.approx(other.temperature) and one.temperature > 0
    np.testing.assert_allclose(other.scores(GRID)[:, [2, 0, 1]], one.scores(GRID), atol=1e-9)
    assert (one.scores(X).argmax(axis=1) == label).mean() > 0.8


# ---------------------------------------------------------------- few pieces of a model


def test_few_pieces_at_once_are_those_of_the_fit_and_its_simplification(fitted):
    teacher, folds, _ = fitted["compact"]
    few = simplify(teacher, folds, ROWS, 3, PLAIN)
    assert_same(few.model, fitted["simplified"].model)
    assert max(few.model.function.n_pieces) <= 3 and few.model.function.is_plain
    about = few.model.simplification
    assert few.model.cv_score == about.score and about.score_before == pytest.approx(teacher.cv_score)


def test_the_folds_of_other_rows_are_fitted_anew(fitted):
    teacher, folds, _ = fitted["program"]
    assert folds is None
    few, fitted_folds, _ = simplify(teacher, None, ROWS, 2, PROGRAM)
    assert few.kind == "simplified" and few.program is None and max(few.function.n_pieces) <= 2
    assert (
        len(fitted_folds.splits) == 5 and np.isfinite([few.simplification.score, few.simplification.score_before]).all()
    )
    other, other_folds, _ = simplify(*fitted["compact"][:2], Rows(*(part[:20] for part in ROWS)), 2, PLAIN)
    assert len(other_folds.rows.y) == 20 and len(other_folds.splits) == 5
    assert other.simplification.score_before != few.simplification.score_before


def test_too_few_rows_cannot_be_simplified(fitted):
    teacher, folds, _ = fitted["compact"]
    with pytest.raises(ValueError, match="simplify needs at least 4 distinct rows, got 3"):
        simplify(teacher, folds, ROWS.take(np.array([0, 1, 2, 2])), 3, PLAIN)


def test_same_rows():
    order = np.random.default_rng(0).permutation(N)
    assert same_rows(ROWS, ROWS.take(order))
    assert same_rows(ROWS.take(np.r_[order, 0]), ROWS._replace(weight=1.0 + (np.arange(N) == 0)))
    assert not same_rows(ROWS, ROWS.take(order[1:]))
    assert not same_rows(ROWS, ROWS._replace(weight=1.0 + (np.arange(N) == 0)))
    assert not same_rows(ROWS, ROWS._replace(y=Y + 1e-9))


# ---------------------------------------------------------------- how it ends


def pressed_at(k):
    heard = []

    def press(row):
        heard.append(row)
        if len(heard) == k:
            raise KeyboardInterrupt

    return press


@pytest.mark.parametrize("kind, k", [("compact", 1), ("compact", 3), ("simplified", 1), ("program", 3)])
def test_an_interrupted_solve_returns_the_best_so_far(kind, k):
    model, _, interrupted = fit(ROWS, replace(SETTINGS[kind], solver=Auto(tol=1e-12)), pressed_at(k))
    assert interrupted and model.kind == kind and np.isfinite(model.predict(GRID)).all()
    assert np.mean((model.predict(X) - Y) ** 2) < Y.var()
    if kind == "program":
        assert model.program.status == "interrupted" and model.program.certificate.gap > 1e-12
    if kind == "simplified":
        assert np.isnan(model.simplification.score) and model.errors is None


def test_an_interrupted_solve_after_cross_validation_keeps_its_folds():
    settings = replace(SETTINGS["program with folds"], solver=Auto(tol=1e-12))
    model, folds, interrupted = fit(ROWS, settings, pressed_at(3))
    assert (
        interrupted
        and folds is not None
        and model.errors is not None
        and model.cv_score in model.cv_results["mean_test_score"]
    )


def test_an_interrupt_without_anything_to_return_is_raised(monkeypatch, fitted):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("pldc.select.fold_fits.rough_path", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(ROWS, SETTINGS["program with folds"])
    monkeypatch.setattr("pldc.solve.exact.descend", interrupt)
    with pytest.raises(KeyboardInterrupt):  # fits of the folds that a simplification needs
        simplify(fitted["program"].model, None, ROWS, 2, PROGRAM)


@pytest.mark.parametrize("kind", ["compact", "simplified", "program"])
def test_a_monitor_ends_a_fit_without_an_interrupt(kind):
    model, _, interrupted = fit(ROWS, replace(SETTINGS[kind], solver=Auto(tol=1e-12)), lambda row: True)
    assert not interrupted and np.isfinite(model.predict(GRID)).all()
    if kind == "program":
        assert model.program.status == "stopped" and model.n_iter == 1


def test_without_time_there_is_a_model_still():
    model, folds, interrupted = fit(ROWS, replace(SETTINGS["simplified"], max_seconds=1e-6))
    assert not interrupted and folds is None and model.errors is None and np.isnan(model.simplification.score)
    assert np.isfinite(model.predict(GRID)).all()
