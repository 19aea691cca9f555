"""Functions as dictionaries, through JSON text."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions

from pldc import PLDC, from_dict
from pldc.function import Hinges, MaxAffine


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_through_json_text_is_exact(kind):
    f = random_functions(np.random.default_rng(0))[kind] / 3.0
    text = json.dumps(f.to_dict())
    X = np.random.default_rng(0).standard_normal((50, 2))
    for read in (PLDC.from_dict, from_dict):
        back = read(json.loads(text))
        assert back == f and back.to_dict() == f.to_dict()
        assert back(X).tobytes() == f(X).tobytes()


def test_extreme_numbers_come_back_to_the_last_bit():
    f = PLDC.affine([5e-324, 1.7976931348623157e308, 0.1 + 0.2], 1e-17)
    back = PLDC.from_dict(json.loads(json.dumps(f.to_dict())))
    assert back.plus.slopes.tobytes() == f.plus.slopes.tobytes()
    assert back.plus.offsets.tobytes() == f.plus.offsets.tobytes()


# ---------------------------------------------------------------- records of version 1

PARTS = {
    "plus": {"slopes": [[1.0, 0.0], [-1.0, 0.5]], "offsets": [0.0, 0.25]},
    "minus": {"slopes": [[0.0, 2]], "offsets": [-1.5]},
}
PLAIN = PLDC(MaxAffine([[1.0, 0.0], [-1.0, 0.5]], [0.0, 0.25]), MaxAffine([[0.0, 2.0]], [-1.5]))
BENT = PLDC(PLAIN.plus, PLAIN.minus, Hinges([[-1.0, 3.0]]))  # of one feature: x and a ramp
STILL = PLDC(PLAIN.plus, PLAIN.minus, Hinges([[], []]))
OLD_PLAIN = {"type": "PLDC", **PARTS}
OLD_BENT = {"type": "HingedPLDC", "function": OLD_PLAIN, "knots": [[-1.0, 3.0]]}
OLD_STILL = {"type": "HingedPLDC", "function": OLD_PLAIN, "knots": [[], []]}
OLD_WARP = {
    "type": "WarpedPLDC",
    "function": OLD_PLAIN,
    "warp": {"knots": [[0.0, 1.0]] * 2, "images": [[0.0, 2.0]] * 2},
}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (OLD_PLAIN, PLAIN),
        (OLD_BENT, BENT),
        ({"type": "PLDCSum", "terms": [OLD_PLAIN, OLD_STILL, OLD_PLAIN]}, PLDC.total([PLAIN, STILL, PLAIN])),
        ({"type": "PLDCSum", "terms": [OLD_BENT]}, BENT),
    ],
)
def test_records_of_version_1_are_read(record, expected):
    assert from_dict(json.loads(json.dumps({"pldc": 1, **record}))) == expected


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (OLD_WARP, "function is a function of warped features, which are no longer supported"),
        ({"type": "PLDCSum", "terms": [OLD_PLAIN, OLD_WARP]}, r"function\.terms\[1\] is a function of warped features"),
        ({"type": "eval"}, "'type' must be PLDC, HingedPLDC or PLDCSum, got 'eval'"),
        ({"type": []}, "'type' must be"),
        ({"type": "PLDCSum", "terms": {}}, "list of at least one"),
        ({"type": "PLDCSum", "terms": []}, "list of at least one"),
        ({"type": "PLDCSum", "terms": [{"type": "PLDCSum", "terms": [OLD_PLAIN]}]}, "sum of sums"),
        ({"type": "HingedPLDC", "function": OLD_PLAIN}, "no entry 'knots'"),
        ({"type": "HingedPLDC", "function": OLD_BENT, "knots": [[], []]}, "no entry 'plus'"),
        ({"type": "PLDC", "plus": PARTS["plus"]}, "no entry 'minus'"),
        ({"terms": [PARTS]}, "no entry 'type'"),
    ],
)
def test_malformed_records_of_version_1(record, message):
    with pytest.raises(ValueError, match=message):
        from_dict({"pldc": 1, **record})


# ---------------------------------------------------------------- what is refused


def changed(path, value):
    record = copy.deepcopy(PLDC.total([PLAIN, STILL]).to_dict())
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
        (changed(["pldc"], True), "version"),
        (changed(["pldc"], 2.0), "version"),
        (changed(["terms"], {}), "list"),
        (changed(["terms"], []), "at least one"),
        (changed(["terms"], None), "function has no entry 'terms'"),
        (changed(["terms", 0], 3), r"function\.terms\[0\] must be a dictionary, got int"),
        (changed(["terms", 0, "plus"], None), r"function\.terms\[0\] has no entry 'plus'"),
        (changed(["terms", 0, "plus", "slopes"], [[1.0], [2.0, 3.0]]), r"terms\[0\]\.plus\.slopes .* equally long"),
        (changed(["terms", 0, "plus", "slopes"], "x"), r"terms\[0\]\.plus\.slopes must be a list of lists"),
        (changed(["terms", 0, "plus", "slopes"], [[1.0, 2.0], 3.0]), r"plus\.slopes\[1\] must be a list of numbers"),
        (changed(["terms", 0, "plus", "slopes"], [[]]), "equally long, and not empty"),
        (changed(["terms", 0, "plus", "slopes"], {"rows": 1}), r"terms\[0\]\.plus\.slopes must have the entries"),
        (changed(["terms", 0, "plus", "slopes"], [[], []]), "equally long"),
        (changed(["terms", 0, "plus", "slopes"], []), "empty"),
        (changed(["terms", 0, "plus", "offsets"], ["1"]), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], [True, 1.0]), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], [[1.0], [2.0]]), "numbers"),
        (changed(["terms", 0, "plus", "offsets"], [1.0]), r"terms\[0\]\.plus needs as many.*got 2 and 1"),
        (changed(["terms", 0, "minus", "offsets"], [float("nan")]), "NaN"),
        (changed(["terms", 0, "minus", "offsets"], [10**400]), "infinity"),
        (changed(["terms", 0, "minus", "slopes"], [[1.0]]), r"terms\[0\]: Functions of 2 and 1 variables"),
        (changed(["terms", 1, "knots"], 3), r"terms\[1\]\.knots must be a list of lists"),
        (changed(["terms", 1, "knots"], []), "at least one feature"),
        (changed(["terms", 1, "knots"], [[1.0, 0.0], []]), r"terms\[1\]: The knots .* increasing"),
        (changed(["terms", 1, "knots"], [[0.0, "x"], []]), r"knots\[0\] must be a list of numbers"),
        (changed(["terms", 1, "knots"], [[], [], []]), r"2 features and the hinges 3 columns"),
        (changed(["terms", 1], {**PARTS, "knots": [[-1.0, 3.0]]}), "Functions of 1 and 2 variables"),
    ],
)
def test_malformed_dictionaries_are_refused_with_the_place(record, message):
    with pytest.raises(ValueError, match=message):
        from_dict(record)


def test_long_strings_are_neither_handed_to_numpy_nor_echoed(monkeypatch):
    long = "a" * 10**6
    array = np.array

    def guarded(values, **settings):
        assert long not in values, "NumPy would take 7 GiB"
        return array(values, **settings)

    monkeypatch.setattr("pldc.function.serialise.np.array", guarded)
    for record in (
        changed(["terms", 0, "plus", "offsets"], [long] + [1.0] * 2000),
        changed(["terms", 0, "plus", "slopes"], [[1.0, long]]),
        changed(["terms", 1, "knots"], [[long], []]),
        changed(["terms", 0, "plus"], long),
        changed(["pldc"], long),
        {"pldc": 1, "type": long},
        {"pldc": 1, "type": "PLDCSum", "terms": long},
    ):
        with pytest.raises(ValueError) as refused:
            from_dict(record)
        assert len(str(refused.value)) < 300


class Sly(list):
    """A list that would open a file if NumPy asked it for an array."""

    def __array__(self, *_, **__):
        pytest.fail("the object's code was run")


@pytest.mark.parametrize(
    "wrong", [Sly([1.0, 2.0]), [Sly([1.0]), 1.0], np.ones(2), Path("x"), (1.0, 2.0), [np.float64(1), 1]]
)
def test_other_objects_than_those_of_json_are_refused(wrong):
    for path in (["terms", 0, "plus", "offsets"], ["terms", 0, "plus", "slopes"], ["terms", 1, "knots"]):
        with pytest.raises(ValueError, match="must be a list"):
            from_dict(changed(path, wrong))
