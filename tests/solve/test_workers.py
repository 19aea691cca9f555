"""Threads over blocks, and the limit on the BLAS."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pldc.solve.workers import Workers


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_blocks_cover_everything_in_order():
    with Workers(3) as workers:
        blocks = workers.over_blocks(lambda block: block, 1000)
    assert len(blocks) == 3
    np.testing.assert_array_equal(np.concatenate([np.arange(1000)[block] for block in blocks]), np.arange(1000))


def test_overlapping_users_leave_the_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = Workers(), Workers()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) == {1}
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
        assert second.threads == first.threads == max(before)  # the second does not mistake the limit for the machine


def test_errors_come_out_and_the_limit_is_lifted():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.over_blocks(lambda block: 1 // 0, 1000)
    assert blas_threads() == before


def test_no_threads_is_an_error():
    with pytest.raises(ValueError, match="at least 1"):
        Workers(0)


def test_an_interrupted_shutdown_still_frees_the_blas(monkeypatch):
    from pldc.solve.workers import _limit

    def press(self, *_, **__):
        raise KeyboardInterrupt

    before = _limit._users
    workers = Workers(2)
    workers.__enter__()
    monkeypatch.setattr(type(workers._pool), "shutdown", press)
    with pytest.raises(KeyboardInterrupt):
        workers.__exit__(None, None, None)
    assert _limit._users == before
