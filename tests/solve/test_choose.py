"""Which engine, and a refusal before the memory runs out."""

import dataclasses

import numpy as np
import pytest
from tests.problems import build, synthetic

from pldc import DCRegressor
from pldc.problem import LogLoss
from pldc.solve import Admm, Auto, Exact, Line, choose
from pldc.solve.choose import make_solver, rough_path


def large(n, d=3):
    """A problem of n points without the cost of making one."""
    rng = np.random.default_rng(0)
    problem = build(*synthetic(5, d))
    return dataclasses.replace(problem, X=rng.standard_normal((n, d)))


def test_auto_takes_the_accurate_solver_while_it_is_quick():
    assert isinstance(make_solver("auto", large(200)), Exact)
    assert isinstance(make_solver("auto", large(choose.LARGEST_EXACT + 1)), Admm)
    assert isinstance(make_solver("auto", large(20, 1)), Admm | Exact)  # points that are in no order
    assert isinstance(make_solver("auto", build(*synthetic(20, 1))), Line)


def test_auto_takes_the_quick_solver_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: 1e9)
    assert isinstance(make_solver("auto", large(2900)), Admm)


def test_a_fit_that_cannot_fit_is_refused_with_numbers_and_a_remedy(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: 2e9)
    with pytest.raises(MemoryError, match=r"about \d+\.\d GB for 20000 .* 2\.0 GB are available.*solver='admm'"):
        make_solver("exact", large(20000))
    monkeypatch.setattr(choose, "available", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"1\.0 MB are available. Use fewer rows"):
        make_solver("admm", large(20000))


def test_without_knowledge_of_memory_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: None)
    assert isinstance(make_solver("exact", large(20000)), Exact)


def test_memory_grows_as_it_should():
    assert Exact().memory(large(20000)) > 3.5 * Exact().memory(large(10000))
    assert Admm().memory(large(5000)) < 2.5 * 5000**2 * 8 + 200e6
    assert Line().memory(large(10**6, 1)) < 4e9


def test_names_stand_for_defaults_and_objects_for_themselves():
    assert make_solver("exact", large(50), tol=1e-3, threads=1) == Exact(1e-3, threads=1)
    assert make_solver("admm", large(50)) == Admm()
    mine = Exact(tol=1e-7, max_iter=7)
    assert make_solver(mine, large(50)) is mine
    assert make_solver(Auto(tol=1e-7, max_iter=7), large(50)) == mine
    assert eval(repr(mine)) == mine


def test_a_solver_of_ones_own_needs_no_registration():
    @dataclasses.dataclass(frozen=True)
    class Mine(Exact):
        name = "mine"

    assert make_solver(Mine(), large(50)).name == "mine"


def test_a_solver_with_a_name_is_one_registration(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Named(Exact):
        name = "named"
        rough_points = 2
        realistic_tol = 0.5

        def rough_path(self, problem, lams, iterations, start=None):
            return iter(["rough"] * len(lams))

    assert next(rough_path(build(*synthetic(20, 2)), [0.1], [1])) != "rough"
    monkeypatch.setitem(choose.SOLVERS, "named", Named)
    assert make_solver("named", large(50), tol=1e-3) == Named(tol=0.5)  # not asked for more than it can reach
    assert make_solver("named", large(50), tol=0.7) == Named(tol=0.7) and make_solver("named", large(50)) == Named()
    assert make_solver(Named(tol=1e-3), large(50)) == Named(tol=1e-3)  # but as given by an object
    assert list(rough_path(build(*synthetic(20, 2)), [0.2, 0.1], [1, 1])) == ["rough", "rough"]
    X, y = synthetic(12, 2)
    assert DCRegressor(lam=0.1, solver="named").fit(X, y).solver_ == "named"


def test_rough_solutions_of_many_points_on_a_line_are_those_of_its_own_solver(monkeypatch):
    seen = []
    monkeypatch.setattr(Line, "solve", lambda self, problem: seen.append((self.tol, problem.lam)))
    for n in (Line.rough_points, Line.rough_points + 1):
        list(rough_path(build(*synthetic(n, 1)), [0.2, 0.1], [1, 1], threads=1))
    assert seen == [(1e-2, 0.2), (1e-2, 0.1)]


@pytest.mark.parametrize(
    "solver, message",
    [
        ("simplex", "solver must be one of"),
        (None, "solver must be one of"),
        (Exact(tol=0), "tol must be a positive"),
        (Exact(tol="small"), "tol must be a positive"),
        (Admm(max_iter=0), "max_iter must be a whole number"),
        (Auto(max_iter=1.5), "max_iter must be a whole number"),
        (Auto(max_iter=True), "max_iter must be a whole number"),
        (Line(), "one feature"),
    ],
)
def test_bad_requests(solver, message):
    with pytest.raises(ValueError, match=message):
        make_solver(solver, large(5))


def test_what_a_solver_cannot_do_it_says_before_any_work():
    problem = dataclasses.replace(large(5), loss=LogLoss())
    assert "admm" in Exact().refuses(problem) and Admm().refuses(problem) is None
    with pytest.raises(ValueError, match="log loss has no form"):
        make_solver("exact", problem)
