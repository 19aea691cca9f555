"""The search for compact functions: what is kept, what folds see, and how it ends."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from pldc.compact import search as module
from pldc.compact.clock import Clock
from pldc.compact.members import Candidate, Task, fit_member
from pldc.compact.plan import MOST_COLUMNS, Plan, plan_for, plan_for_classes
from pldc.compact.search import NEW_SEED, Entry, Search, within
from pldc.problem.losses import Squared
from pldc.problem.recipe import Rows
from pldc.problem.units import Units

N = 60
SMALL = Plan([Candidate(4, 3, (1e-2, 1.0), steps=25), Candidate(0, 4, (1e-2, 1.0), 1, 25)], N, 1, 2, 2)


def rows_of(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return Rows(X, np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n), rng.uniform(0.5, 2.0, n))


def thirds(n):
    place = np.arange(n) % 3
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(3)]


def search_of(rows, *, clip=False, clock=None, pool=None, units=None, seed=0, shape="dc", **settings):
    task = Task(rows, units or Units.of(*rows), Squared(), shape, np.zeros(2, dtype=int))

    def score(values, at):
        return -float(np.average((values - rows.y[at]) ** 2, weights=rows.weight[at]))

    return Search(task, thirds, score, clip, clock or Clock(), pool, seed, **settings)


def entries(count):
    return [Entry(Candidate(0, k + 1, (1.0,)), 0, 1.0) for k in range(count)]


# ---------------------------------------------------------------- the choice


@pytest.mark.parametrize("seed", range(10))
def test_the_mean_that_is_kept_is_no_worse_than_the_best_entry(seed):
    rows, rng = rows_of(seed=seed), np.random.default_rng(seed)
    search, splits = search_of(rows), thirds(N)
    values = {e: [rows.y[t] + rng.normal(size=len(t)) * rng.uniform(0.5, 2) for _, t in splits] for e in entries(6)}
    scores = {e: search._score(v, splits) for e, v in values.items()}

    def mean_score(some):
        return search._score([np.mean([values[e][k] for e in some], axis=0) for k in range(3)], splits)

    chosen = search._greedy(values, scores, splits, 4)
    assert chosen[0] == max(scores, key=scores.get) and len(set(chosen)) == len(chosen) <= 4
    steps = [mean_score(chosen[: k + 1]) for k in range(len(chosen))]
    assert steps == sorted(steps) and steps[0] == pytest.approx(max(scores.values()))
    if len(chosen) < 4:  # nothing else would have helped
        others = [e for e in values if e not in chosen]
        assert max(mean_score([*chosen, e]) for e in others) <= steps[-1] + 1e-12
    assert search._greedy(values, scores, splits, 1) == chosen[:1]


def test_entries_that_only_hurt_are_not_kept():
    rows, splits = rows_of(), thirds(N)
    search = search_of(rows)
    good, bad = entries(2)
    values = {good: [rows.y[t] + 0.01 for _, t in splits], bad: [rows.y[t] + 5.0 for _, t in splits]}
    scores = {e: search._score(v, splits) for e, v in values.items()}
    assert search._greedy(values, scores, splits, 2) == [good]


def test_entries_without_a_score_are_passed_over_and_none_at_all_is_refused():
    rows, splits = rows_of(), thirds(N)
    search = search_of(rows)
    good, bad = entries(2)
    values = {e: [rows.y[t] for _, t in splits] for e in (good, bad)}
    assert search._greedy(values, {good: -1.0, bad: np.nan}, splits, 1) == [good]
    with pytest.raises(ValueError, match="No score of the cross-validation is a number"):
        search._greedy(values, {good: np.nan, bad: -np.inf}, splits, 1)


def test_scores_weigh_folds_by_their_rows():
    rows = rows_of()
    search = search_of(rows)
    values = [np.zeros(20), np.ones(20), np.full(20, 2.0)]
    total = sum(rows.weight[t] @ (v - rows.y[t]) ** 2 for v, (_, t) in zip(values, thirds(N), strict=True))
    assert search._score(values, thirds(N)) == pytest.approx(-total / rows.weight.sum())


@pytest.mark.parametrize("folds", [3, 1])
def test_everything_is_compared_and_the_result_is_the_mean_of_new_starts(folds):
    search = search_of(rows_of())
    search.splits = lambda n: thirds(n)[:folds]
    found = search.run(SMALL)
    assert len(found.scores) == 2 + 2 * 2  # ridges, and rounds
    assert [s for _, s in found.scores] == sorted((s for _, s in found.scores), reverse=True)
    assert 1 <= len(found.entries) <= 2 and len(found.functions) == SMALL.members * len(found.entries)
    assert len(found.fold_functions) == folds and all(len(f) == len(found.functions) for f in found.fold_functions)
    best = found.scores[0][0]
    assert found.entries[0] == best and found.score > -0.3


def test_what_is_said_of_the_folds_is_true():
    rows = rows_of()
    search = search_of(rows)
    found = search.run(SMALL)
    for functions, values, (_, test) in zip(found.fold_functions, found.left_out, found.splits, strict=True):
        np.testing.assert_allclose(np.mean([f(rows.X[test]) for (f,) in functions], axis=0), values, atol=1e-9)
    assert found.score == pytest.approx(search._score(found.left_out, thirds(N)))


def test_scores_are_of_values_cut_to_what_a_fold_has_seen():
    rows, splits = rows_of(), thirds(N)
    rows.y[0] = 50.0  # left out by the first fold
    cut, free = (search_of(rows, clip=clip) for clip in (True, False))
    for far, end in ((1e3, np.max), (-1e3, np.min)):
        beyond = [np.full(len(test), far) for _, test in splits]
        seen = [np.full(len(test), end(rows.y[train])) for train, test in splits]
        assert cut._score(beyond, splits) == free._score(seen, splits) > free._score(beyond, splits)
    assert max(rows.y[splits[0][0]]) < 50.0


@pytest.mark.parametrize("candidate", [Candidate(4, 3, (1e-2,), steps=25), Candidate(0, 4, (1e-2,), 1, 25)])
def test_folds_do_not_see_the_rows_they_leave_out(candidate):
    rows = rows_of()
    left_out = thirds(N)[0][1]
    y = rows.y.copy()
    y[left_out] = np.random.default_rng(1).normal(scale=10.0, size=len(left_out))
    fits = []
    for table in (rows, rows._replace(y=y)):
        search = search_of(table, units=Units.of(*rows))
        search._choose(search.task, thirds(N), Plan([candidate], N, 1, 2, 1))
        compared = dict(search.found.scores)  # as a choice may end in another way, the refit is given one
        assert len(compared) == candidate.rounds + 1
        search._refit([Entry(candidate, candidate.rounds, 1e-2)], thirds(N), Plan([candidate], N, 1, 2, 1))
        fits.append([np.mean([f(rows.X) for (f,) in fold], axis=0) for fold in search.found.fold_functions])
    clean, corrupt = fits
    np.testing.assert_array_equal(clean[0], corrupt[0])
    assert np.abs(clean[1] - corrupt[1]).max() > 0.1 and np.abs(clean[2] - corrupt[2]).max() > 0.1


def test_folds_do_not_see_them_when_they_are_compared_either():
    rows = rows_of()
    plan = Plan([Candidate(4, 3, (1e-2,), steps=25)], N, 1, 1, 1)
    left_out = thirds(N)[0][1]
    y = rows.y.copy()
    y[left_out] += 10.0
    values = []
    for table in (rows, rows._replace(y=y)):
        search = search_of(table, units=Units.of(*rows))
        search._choose(search.task, thirds(N), plan)
        values.append(search.found.left_out)
    np.testing.assert_array_equal(values[0][0], values[1][0])
    assert np.abs(values[0][1] - values[1][1]).max() > 0.1


def test_threads_change_nothing():
    alone = search_of(rows_of()).run(SMALL)
    with ThreadPoolExecutor(2) as pool:
        together = search_of(rows_of(), pool=pool).run(SMALL)
    assert alone.entries == together.entries and alone.score == together.score
    for (f,), (g,) in zip(alone.functions, together.functions, strict=True):
        np.testing.assert_array_equal(f(rows_of().X), g(rows_of().X))


def test_a_sample_is_compared_and_all_rows_are_fitted():
    rows = rows_of()
    search = search_of(rows)
    found = search.run(replace(SMALL, sample=30))
    assert [len(test) for _, test in found.splits] == [len(values) for values in found.left_out] == [20] * 3
    other = rows._replace(y=np.where(np.arange(N) < 30, rows.y, -rows.y))
    mirrored = search_of(other, units=search.task.units).run(replace(SMALL, sample=30))
    assert mirrored.scores == found.scores  # the choice has not seen the other half,
    assert np.abs(mirrored.functions[0][0](rows.X) - found.functions[0][0](rows.X)).max() > 0.1  # the fit has


# ---------------------------------------------------------------- how it ends


@pytest.mark.parametrize("shape", ["dc", "convex"])
def test_without_time_there_is_a_function_at_once(shape):
    rows = rows_of()
    began = time.perf_counter()
    found = search_of(rows, clock=Clock(0.0), shape=shape).run(plan_for(N, 2, plain=shape == "convex"))
    assert time.perf_counter() - began < 0.5
    assert len(found.functions) == 1
    values = found.functions[0][0](rows.X)
    assert np.isfinite(values).all()
    assert np.mean((values - rows.y) ** 2) < 1.5 * np.var(rows.y)


def test_before_anything_is_fitted_there_is_a_line():
    rows = rows_of()
    f = search_of(rows).found.functions[0][0]
    A = np.column_stack([rows.X, np.ones(N)]) * np.sqrt(rows.weight)[:, None]
    best = np.linalg.lstsq(A, rows.y * np.sqrt(rows.weight), rcond=None)[0]
    np.testing.assert_allclose(f(rows.X), rows.X @ best[:2] + best[2], atol=0.01)
    flat = search_of(rows, shape="convex").found.functions[0][0]
    np.testing.assert_allclose(flat(rows.X), np.average(rows.y, weights=rows.weight), atol=1e-9)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_monitor_ends_the_search(calls):
    heard, full = [], []

    def monitor(row):
        heard.append(row)
        return len(heard) == calls

    plan = replace(SMALL, members=5)
    found = search_of(rows_of(), monitor=monitor).run(plan)
    assert len(heard) <= calls + 1  # the one of a fit that is needed for there to be a function
    assert np.isfinite(found.functions[0][0](rows_of().X)).all()
    search_of(rows_of(), monitor=full.append).run(plan)
    assert len(full) >= 2 + 5
    assert {"iteration", "of", "score", "seconds", "comparing"} <= set(full[0])
    assert [r["comparing"] for r in full][:3] == [1.0, 1.0, 0.0]
    assert full[-1]["iteration"] == full[-1]["of"] and np.isfinite(full[-1]["score"])


def test_threads_end_with_the_search():
    search = search_of(rows_of(), monitor=lambda row: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.run(SMALL)
    assert search.clock.over()
    assert np.isfinite(search.found.functions[0][0](rows_of().X)).all()


# ---------------------------------------------------------------- plans


def test_weights_within_places():
    np.testing.assert_array_equal(within(np.array([0, 2]), np.array([3.0, 4.0, 5.0])), [3.0, 0.0, 5.0])


@pytest.mark.parametrize("n", [10, 1000, 1001, 4001, 50_001, 1_000_000])
def test_every_size_has_a_plan(n):
    for d in (1, 5, 100, 1000):
        plan = plan_for(n, d)
        assert plan.candidates and plan.members >= 1 and plan.kept >= 1 and plan.sample >= min(n, 1000)
        assert n <= 50_000 or plan.sample >= 50_000  # 10,000 chose kinds that were worse on all rows
        assert len(set(plan.candidates)) == len(plan.candidates)
        for c in plan.candidates:
            assert c.knots <= 4 or d * (1 + c.knots) <= MOST_COLUMNS
        assert all(c.knots == 0 for c in plan_for(n, d, plain=True).candidates)
        assert all(c.knots > 0 for c in plan_for(n, d, hinged=True).candidates)
        assert plan_for(n, d, plain=True).candidates and plan_for(n, d, hinged=True).candidates


def test_the_final_fits_are_to_all_rows_and_from_starts_that_had_no_part_in_the_choice():
    rows = rows_of()
    search = search_of(rows, seed=7)
    candidate = Candidate(0, 4, (1e-2,), steps=25)
    found = search.run(Plan([candidate], N, 2, 2, 1))
    for s, (f,) in enumerate(found.functions):
        (new,) = fit_member(search.task, candidate, rows.weight[None], [7, NEW_SEED + s], None, lambda: False)
        np.testing.assert_allclose(f(rows.X), new.function(0, 0)(rows.X), atol=1e-6)
    assert NEW_SEED > 100  # far beyond the starts that are compared


def test_of_many_rows_the_folds_are_fitted_from_the_first_starts_alone(monkeypatch):
    monkeypatch.setattr("pldc.compact.search.FEW_ROWS", 20)
    found = search_of(rows_of()).run(SMALL)
    assert len(found.functions) == SMALL.members * len(found.entries)
    assert [len(functions) for functions in found.fold_functions] == [len(found.entries)] * 3
    assert found.score != found.scores[0][1]
    monkeypatch.setattr("pldc.compact.search.MANY_ROWS", 20)  # and of very many not again
    found = search_of(rows_of()).run(SMALL)
    assert len(found.functions) == SMALL.members * len(found.entries)
    assert [len(functions) for functions in found.fold_functions] == [1] * 3 and found.score == found.scores[0][1]


def test_folds_that_leave_nothing_out_are_refused():
    search = search_of(rows_of())
    search.splits = lambda n: []
    with pytest.raises(ValueError, match="leave no row out"):
        search.run(SMALL)


def test_large_tables_have_several_starts():
    """Of which one goes on: as many as their later stages pay for."""
    for n, starts in ((1000, 1), (50_000, 1), (50_001, 2), (200_000, 2), (200_001, 4), (10**9, 4)):
        assert plan_for(n, 5).starts == plan_for_classes(n, 5, 3).starts == starts


def test_the_final_fits_have_the_starts_of_the_plan(monkeypatch):
    seen = []

    def spy(task, candidate, *rest, **more):
        seen.append(candidate.starts)
        return fit_member(task, candidate, *rest, **more)

    monkeypatch.setattr(module, "fit_member", spy)
    search_of(rows_of()).run(replace(SMALL, starts=3))
    compared = SMALL.choosers * len(SMALL.candidates)
    assert set(seen[:compared]) == {1} and set(seen[compared:]) == {3} and len(seen) > compared
