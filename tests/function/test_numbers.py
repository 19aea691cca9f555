"""Numbers as people write them."""

import numpy as np
import pytest

from pldc.function.numbers import number, numbers, one_line, shortened, table


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.123456, "0.1235"),
        (-1234.56, "-1235"),
        (123456.7, "123457"),
        (1.5e12, "1.5e+12"),
        (1e-7, "1e-07"),
        (9.99999, "10"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
    ],
)
def test_a_number(value, text):
    assert number(value) == text


def test_what_is_nothing_beside_others_is_zero():
    assert number(-4.9e-17, beside=1.0) == "0" and number(-4.9e-17) == "-4.9e-17"
    assert numbers([-4.9e-17, 2.0, 1e-5]) == ["0", "2", "1e-05"]
    assert numbers([1e-17, 2e-17], beside=3.0) == ["0", "0"]
    assert numbers([np.nan, 1.0]) == ["nan", "1"]
    assert numbers([3e10, 2e-10, 1e-30], unit=[1e-10, 1e10, 1e10]) == ["3e+10", "2e-10", "0"]
    assert numbers([2.0, 1e-17], unit=[1.0, 0.0]) == ["2", "0"]


def test_a_table_has_its_names_to_the_left():
    assert table(["name", "a"], [["x", "10"], ["longer", "2"]]) == ["name     a", "x       10", "longer   2"]


def test_line_breaks_in_names_are_written_out():
    assert table(["a\nb", "c"], [["x\ty", "größe − ≤"]]) == ["a\\nb          c", "x\\ty  größe − ≤"]


def test_names_stay_in_one_line_and_letters_of_all_scripts_as_they_are():
    assert one_line("a\nb\x07\u2028c\ud800") == "a\\nb\\x07\\u2028c\\ud800"
    for name in ("prix\xa0(€)", "می\u200cروم", "東京\u3000駅", "क्\u200dष"):
        assert one_line(name) == name


def test_large_numbers_beside_each_other_have_one_notation():
    assert numbers([2.1e9, 474616449.0, 3.2e5, 12.0, 0.0], 2) == ["2.1e+09", "4.7e+08", "3.2e+05", "12", "0"]
    assert numbers([474616449.0, 12.0], 2) == ["474616449", "12"]


@pytest.mark.parametrize("longest", [5, 8, 9, 24])
def test_a_long_text_lacks_its_middle(longest):
    text = "a name of thirty letters, sin."
    short = shortened(text, longest)
    assert len(short) == longest and short[0] == "a" and short[-1] == "." and "…" in short
    assert shortened(text[:longest], longest) == text[:longest]
