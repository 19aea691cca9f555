"""Fits of a sample on all rows: sums of blocks are those of the objective, and every pass goes on."""

import numpy as np
import pytest
from tests.compact.test_members import folds_of, never, task_of
from tests.compact.test_search import SMALL, N, rows_of, search_of

from pldc.compact.members import Candidate, Columns, fit_member
from pldc.compact.polish import MORE_PASSES, Evaluation, Member, RowsLost, Total, polished

CANDIDATE = Candidate(0, 3, (0.1,), steps=5)


@pytest.fixture(params=[None, [1, 0, -1]], ids=["free", "monotone"])
def fit(request):
    """A fit of few steps, of all rows alone."""
    task = task_of(monotone=request.param)
    (found,) = fit_member(task, CANDIDATE, task.rows.weight[None], [0], None, never)
    return task, found


def total_of(task, lost_after=None):
    """The rows in three blocks, which may be lost."""
    calls = []

    def add(evaluation):
        calls.append(evaluation)
        if lost_after is not None and len(calls) > lost_after:
            raise RowsLost
        parts = [evaluation(task.rows.take(at)) for at in np.array_split(np.arange(len(task.rows.y)), 3)]
        return tuple(map(sum, zip(*parts, strict=True)))

    return Total(len(task.rows.y), add)


def test_sums_of_blocks_are_those_of_the_objective(fit):
    task, found = fit
    member = Member.of(found, 0)
    mass, value, gradient = total_of(task).add(Evaluation((member,), (found.x[0],)))
    value, gradient = member.with_ridge(value / mass, gradient / mass, found.x[0])
    wanted, along = found.objective(found.x)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(gradient, along[0], rtol=1e-9, atol=1e-12)
    assert member.columns.X.shape == (0, 3) and isinstance(member.columns, Columns)


def test_every_pass_is_told_and_what_is_minimised_falls(fit):
    task, found = fit
    told = []
    polished([found], total_of(task), never, lambda *words: told.append(words))
    assert [words[:2] for words in told] == [(k + 1, MORE_PASSES + 1) for k in range(MORE_PASSES + 1)]
    before, after = (each.objective(each.x)[0][0] for each in (found, told[-1][2][0]))
    assert after < before
    np.testing.assert_allclose(told[-1][2][0].objective.ridge, found.objective.ridge)


def test_it_ends_when_asked_to_and_where_rows_are_lost(fit):
    task, found = fit
    told = []
    polished([found], total_of(task, lost_after=2), never, lambda *words: told.append(words[0]))
    assert told == [1, 2]
    polished([found], total_of(task), lambda: len(told) > 2, lambda *words: told.append(words[0]))
    assert told == [1, 2, 1]


def test_the_last_group_goes_on():
    """The one of all rows of the sample."""
    task = task_of()
    (found,) = fit_member(task, CANDIDATE, folds_of(task), [0], None, never)
    told = []
    polished([found], total_of(task), never, lambda done, wanted, fits: told.append(fits[0]))
    objective = told[-1].objective
    np.testing.assert_allclose(objective.weight, task.rows.weight[None] / task.rows.weight.sum())
    assert objective(told[-1].x)[0][0] < objective(found.x[-1:])[0][0]


def test_a_search_keeps_the_fits_that_have_seen_all_rows():
    whole, sample = rows_of(300), rows_of(300).take(np.arange(N))
    alone = search_of(sample).run(SMALL)
    total = Total(300, lambda evaluation: evaluation(whole))
    found = search_of(sample, total=total).run(SMALL)
    assert len(found.functions) == len(alone.functions) > 0 and not alone.fits
    for k, functions in enumerate(found.functions):
        after, before = (f[0](whole.X) - whole.y for f in (functions, alone.functions[k]))
        assert np.average(after**2, weights=whole.weight) < np.average(before**2, weights=whole.weight)
