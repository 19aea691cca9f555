"""Faults of the machine, those that take seconds; the long ones shortened."""

import os
import time

import pytest
from attack import faults


@pytest.mark.parametrize("case", ["read_only_arrays", "clock_jumps", "truncated_files"])
def test_faults(case):
    assert faults.check(case) > 0


def test_a_full_disk():  # little memory is for `make attack`: OpenBLAS ends the process where it gets none for a thread
    faults.full_disk()


def test_threads():
    faults.many_threads(8)


def test_memory_does_not_grow():
    faults._no_growth(faults.quick, 60)


def leaking():
    kept.append(bytearray(faults.MIB))
    return faults.quick()


kept = []


def test_growth_is_seen():
    with pytest.raises(AssertionError, match="MiB more after 60 fits"):
        faults._no_growth(leaking, 60)


def test_a_crash_and_a_process_that_hangs_are_seen():
    with pytest.raises(AssertionError, match="ended with -6"):
        faults.apart(os.abort)
    with pytest.raises(AssertionError, match="did not end"):
        faults.apart(time.sleep, 60.0, seconds=3.0)
