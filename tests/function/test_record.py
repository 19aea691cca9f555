"""Functions as dictionaries, through JSON text."""

import copy
import json

import numpy as np
import pytest
from tests.function.test_regions import functions

from pldc import PLDC, PLDCSum
from pldc.function.record import from_dict


@pytest.mark.parametrize("f", functions())
def test_round_trip_through_json_text_is_exact(f):
    f = f if isinstance(f, PLDCSum) else f / 3.0
    text = json.dumps(f.to_dict())
    back = from_dict(json.loads(text))
    assert type(f).from_dict(json.loads(text)).to_dict() == back.to_dict()
    X = np.random.default_rng(0).standard_normal((50, 2))
    assert type(back) is type(f)
    assert back(X).tobytes() == f(X).tobytes()
    assert back.to_dict() == f.to_dict()


def test_extreme_numbers_come_back_to_the_last_bit():
    f = PLDC.affine([5e-324, 1.7976931348623157e308, 0.1 + 0.2], 1e-17)
    back = PLDC.from_dict(json.loads(json.dumps(f.to_dict())))
    assert back.plus.slopes.tobytes() == f.plus.slopes.tobytes()
    assert back.plus.offsets.tobytes() == f.plus.offsets.tobytes()


def changed(path, value):
    record = copy.deepcopy(functions()[2].to_dict())
    at = record
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return record


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "dictionary"),
        ({}, "version of the format"),
        (changed(["pldc"], 99), "99"),
        (changed(["type"], "eval"), "must be one of"),
        (changed(["terms"], {}), "list"),
        (changed(["terms"], []), "at least one"),
        (changed(["terms", 0, "plus"], None), r"function\.terms\[0\] has no entry 'plus'"),
        (changed(["terms", 0, "plus", "slopes"], [[1.0], [2.0, 3.0]]), r"terms\[0\]\.plus\.slopes"),
        (changed(["terms", 0, "plus", "slopes"], "x"), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], ["1"]), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], [True]), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], [1.0]), r"terms\[0\].*6 slopes but 1 offsets"),
        (changed(["terms", 0, "minus", "offsets"], [float("nan")] * 5), "NaN"),
        (changed(["terms", 1, "knots"], [[0.0, 0.0, 1.0]] * 2), "increasing"),
        (changed(["terms", 1, "function", "type"], "PLDCSum"), "must be of type 'PLDC'"),
        (changed(["terms", 0, "type"], []), "must be one of"),
        (changed(["terms", 0, "type"], "PLDCSum"), "sum of sums"),
        (changed(["terms", 0, "plus", "slopes"], [[]]), "empty"),
        (changed(["pldc"], True), "version"),
    ],
)
def test_malformed_dictionaries_are_refused_with_the_place(record, message):
    with pytest.raises(ValueError, match=message):
        from_dict(record)


def test_the_wrong_type_is_refused():
    with pytest.raises(ValueError, match="holds a PLDCSum, not a PLDC"):
        PLDC.from_dict(functions()[2].to_dict())
