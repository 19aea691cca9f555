"""Packed tables: every number comes back to the last bit, and what is malformed is refused with its place."""

import base64
import json
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pldc.function.packing import pack, unpack


def again(table):
    return unpack(json.loads(json.dumps(pack(table))), "slopes")


rng = np.random.default_rng(0)
TABLES = {
    "decimals": np.round(rng.standard_normal((7, 30)), 6),
    "decimals of each column": np.round(rng.standard_normal((7, 4)), 3) * 10.0 ** np.array([0, 3, 6, -3]),
    "halves of columns are zero": np.round(rng.standard_normal((5, 8)), 7) * (np.arange(8) % 2),
    "whole": rng.integers(-(10**9), 10**9, (3, 4)) * 1.0,
    "thousands": rng.integers(-99, 99, (3, 4)) * 1e9,
    "full precision": rng.standard_normal((6, 5)),
    "one column of full precision": np.round(rng.standard_normal((6, 5)), 4) + np.pi * (np.arange(5) == 2),
    "zeros with a sign": np.array([[0.5, -0.0], [-0.5, 1.0]]),
    "zero": np.zeros((2, 3)),
    "one": np.array([[1.0]]),
    "tiny": rng.standard_normal((4, 3)) * 1e-300,
    "very tiny": np.array([[5e-324, -5e-324]]),
    "huge": rng.standard_normal((4, 3)) * 1e300,
    "the largest": np.array([[sys.float_info.max, -sys.float_info.max, 1e22, 1e-22]]),
    "many decimals": np.array([[1e-21, 3e-22, -7e-20]]),
    "limits of whole numbers": np.array([[32767.0, -32767.0, 32768.0, 8388607.0, -8388608.0, 2147483647.0, 2.0**31]]),
}


@pytest.mark.parametrize("name", TABLES)
def test_numbers_come_back_to_the_last_bit(name):
    table = TABLES[name]
    found = again(table)
    assert found.shape == table.shape and found.dtype == np.float64
    assert found.tobytes() == np.ascontiguousarray(table).tobytes()


def test_the_text_says_what_the_format_promises():
    """Read by Python alone, as the page on model files tells."""
    table = np.hstack([np.round(rng.uniform(-0.1, 0.1, (3, 4)), 7), rng.standard_normal((3, 1))])
    record = pack(table)
    assert record["runs"] == [[4, 7, 3], [1, None, 8]]
    data = base64.b64decode(record["$packed"])
    for k in range(3):
        for j in range(4):
            number = int.from_bytes(data[3 * (4 * k + j) : 3 * (4 * k + j) + 3], "little", signed=True)
            assert number / 10**7 == table[k, j]


def test_seven_digits_take_four_characters():
    table = np.round(rng.uniform(-0.08, 0.08, (20, 128)), 8)
    assert len(pack(table)["$packed"]) == 4 * table.size
    assert len(pack(TABLES["full precision"])["$packed"]) <= 11 * 30


def test_columns_that_need_more_bytes_do_not_widen_the_others():
    table = np.round(rng.uniform(-0.08, 0.08, (20, 128)), 8)
    table[:, 60] = np.round(table[:, 60] + 0.125, 8)
    assert pack(table)["runs"] == [[60, 8, 3], [1, 8, 4], [67, 8, 3]]


def changed(**entries):
    return pack(np.array([[0.5, 0.25], [1.5, 1.0]])) | entries  # twelve bytes


def test_wide_tables_take_time_in_proportion():
    """Columns are looked at once each: a quadratic rule took a minute for the wider one."""
    seconds = []
    for columns in (1000, 4000):
        table = np.round(rng.uniform(-0.08, 0.08, (300, columns)), 8)
        begun = time.perf_counter()
        pack(table)
        seconds.append(time.perf_counter() - begun)
    assert seconds[1] < 10 * seconds[0] + 0.5


def test_reading_takes_little_memory():
    """Text of four characters a number, and doubles of eight bytes: what is between them comes in small pieces."""
    record = pack(np.round(rng.uniform(-0.08, 0.08, (1000, 1000)), 8))
    tracemalloc.start()
    unpack(record, "slopes")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3.5 * len(record["$packed"])


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 6)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.integers(-22, 22),
)
def test_any_table_comes_back(table, decimals):
    for each in (table, np.rint(np.clip(table, -1e9, 1e9)) / 10.0**decimals):
        assert again(each).tobytes() == each.tobytes()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"$packed": "", "rows": 1}, r"slopes must have the entries \$packed, rows and runs"),
        (changed(more=1), "and no others"),
        (changed(rows=0), "a number of rows"),
        (changed(rows=True), "a number of rows"),
        (changed(rows=2.0), "a number of rows"),
        (changed(rows=10**9), "holds 12 bytes; its rows and runs are of 6000000000"),
        (changed(rows=3), "holds 12 bytes; its rows and runs are of 18"),
        (changed(runs=[]), "not empty"),
        (changed(runs=[[2, 2, 3], 3]), r"slopes\.runs must be"),
        (changed(runs=[[2, 2, 2]]), r"slopes\.runs must be"),
        (changed(runs=[[2, 2, 8]]), r"slopes\.runs must be"),
        (changed(runs=[[2, None, 4]]), r"slopes\.runs must be"),
        (changed(runs=[[2, 23, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[2, -23, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[-2, 2, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[0, 2, 3], [2, 2, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[True, 2, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[2, True, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[2, 2, 3.0]]), r"slopes\.runs must be"),
        (changed(runs=[[2, 2, 3, 3]]), r"slopes\.runs must be"),
        (changed(rows=10**5000), "a number of rows"),
        (changed(runs=[[10**5000, 2, 3]]), r"slopes\.runs must be"),
        (changed(runs=[[10**9, 2, 3]]), "holds 12 bytes"),
        (changed(**{"$packed": "a"}), r"slopes\.\$packed is not base64"),
        (changed(**{"$packed": "é" * 12}), r"slopes\.\$packed is not base64"),
        (changed(**{"$packed": "a b="}), r"slopes\.\$packed is not base64"),
        (changed(**{"$packed": ["MgAZAA=="]}), r"a text \$packed"),
        (
            changed(rows=1, runs=[[1, None, 8]], **{"$packed": base64.b64encode(b"\xff" * 8).decode()}),
            "NaN or infinity",
        ),
    ],
)
def test_malformed_records(record, message):
    with pytest.raises(ValueError, match=message):
        unpack(record, "slopes")


def test_signs_and_widths_are_read():
    for width in (3, 4):
        least = -(2 ** (8 * width - 1))
        data = b"".join(v.to_bytes(width, "little", signed=True) for v in (least, -1, 0, 1, -least - 1))
        record = {"$packed": base64.b64encode(data).decode(), "rows": 5, "runs": [[1, 0, width]]}
        assert unpack(record, "slopes")[:, 0].tolist() == [least, -1, 0, 1, -least - 1]
