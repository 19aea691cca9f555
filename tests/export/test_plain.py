"""Values as plain JSON: what marks say comes back, and what they must not say is refused."""

from typing import Any

import numpy as np
import pytest

from pldc.export.plain import read, write


def there_and_back(value):
    return read(write(value, Any), Any, "here")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**62,
        0.1,
        float("inf"),
        (1, (2.5, "a")),
        {1: "a", None: [True], 2.5: {"b": 3}},
        {"$a": 1},
        [{"a": 1, "b": None}, {"a": 2, "b": (1,)}],
        [{}, {}],
        [{"a": 1}, {"b": 1}],
        [{"$a": 1}, {"$a": 2}],
    ],
    ids=repr,
)
def test_values_of_any_kind_come_back(value):
    found = there_and_back(value)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool", "U3", "object"])
def test_arrays_of_any_type_come_back(dtype):
    array = np.array([[0, 1], [1, 1]]).astype(dtype)
    found = there_and_back(array)
    assert found.dtype == array.dtype and found.shape == (2, 2)
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"$float": "nan", "more": 1}, r"here: \$float must be nan, inf or -inf"),
        ({"$float": "1.5"}, r"here: \$float must be nan, inf or -inf"),
        ({"$tuple": [1], "more": 1}, r"here: \$tuple must be a list"),
        ({"$tuple": "ab"}, r"here: \$tuple must be a list"),
        ({"$dict": [[1, 2]], "more": 1}, r"here: \$dict must be a list of pairs"),
        ({"$dict": [[1, 2, 3]]}, r"here: \$dict must be a list of pairs"),
        ({"$dict": {"a": 1}}, r"here: \$dict must be a list of pairs"),
        ({"$dict": [[{"$tuple": [1]}, 2]]}, r"here: \$dict must be a list of pairs of a plain key"),
        ({"$array": [1.5], "dtype": "int64", "shape": [1]}, "here: its values are not of a type 'int64'"),
        ({"$array": [True], "dtype": "float64", "shape": [1]}, "here: its values are not of a type 'float64'"),
        ({"$array": [1], "dtype": "bool", "shape": [1]}, "here: its values are not of a type 'bool'"),
        ({"$array": [300], "dtype": "int8", "shape": [1]}, "^here: "),
    ],
)
def test_marks_that_are_wrong_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        read(data, Any, "here")


def test_an_array_of_texts_may_take_ten_times_its_texts_and_a_thousand_letters_more():
    """Every text takes as much as the longest: 100 letters each, and all together have 100."""
    data = {"$array": ["a" * 100] + [""] * 19, "dtype": "<U100", "shape": [20]}
    assert read(data, Any, "here").tolist() == data["$array"]
    data = {"$array": ["a" * 100] + [""] * 20, "dtype": "<U100", "shape": [21]}
    with pytest.raises(ValueError, match="here: its values are not of a type '<U100'"):
        read(data, Any, "here")
