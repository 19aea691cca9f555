"""Which engine, and a refusal before the memory runs out."""

import dataclasses

import numpy as np
import pytest
from tests.problems import build, synthetic

from pldc.solve import AdmmSolver, ExactSolver, choose
from pldc.solve.choose import make_solver, memory


def large(n, d=3):
    """A problem of n points without the cost of making one."""
    rng = np.random.default_rng(0)
    problem = build(*synthetic(5, d))
    return dataclasses.replace(problem, X=rng.standard_normal((n, d)))


def test_auto_takes_the_accurate_engine_while_it_is_quick():
    assert isinstance(make_solver("auto", large(200), tol=1e-4), ExactSolver)
    assert isinstance(make_solver("auto", large(choose.LARGEST_EXACT + 1), tol=1e-4), AdmmSolver)
    assert isinstance(make_solver("auto", large(200), tol=1e-4, device="cpu"), ExactSolver)
    assert make_solver("auto", large(choose.LARGEST_EXACT + 1), tol=1e-4, device="cpu").device == "cpu"


def test_auto_takes_the_quick_engine_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: 1e9)
    assert isinstance(make_solver("auto", large(2900), tol=1e-4), AdmmSolver)


def test_a_fit_that_cannot_fit_is_refused_with_numbers_and_a_remedy(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: 2e9)
    with pytest.raises(MemoryError, match=r"about \d+\.\d GB for 20000 .* 2\.0 GB are available.*solver='admm'"):
        make_solver("exact", large(20000), tol=1e-4)
    monkeypatch.setattr(choose, "available", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"1\.0 MB are available. Use fewer rows"):
        make_solver("admm", large(20000), tol=1e-4)


def test_without_knowledge_of_memory_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(choose, "available", lambda: None)
    assert isinstance(make_solver("exact", large(20000), tol=1e-4), ExactSolver)


def test_memory_grows_as_it_should():
    assert memory("exact", large(20000)) > 3.5 * memory("exact", large(10000))
    assert memory("admm", large(5000)) < 2.5 * 5000**2 * 8 + 200e6


def test_limits_are_passed_on():
    assert make_solver("exact", large(50), tol=1e-3, max_iter=7, threads=1) == ExactSolver(1e-3, 7, 1)
    assert make_solver("admm", large(50), tol=1e-3).max_iter == 2000


def test_bad_requests():
    with pytest.raises(ValueError, match="solver must be one of"):
        make_solver("simplex", large(5), tol=1e-4)
    with pytest.raises(ValueError, match="device is for"):
        make_solver("exact", large(5), tol=1e-4, device="cuda")
