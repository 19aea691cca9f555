"""Numbers as people write them: as many digits as matter, and nothing for what is rounding."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10
from unicodedata import category

import numpy as np

BREAKS = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, ends of lines and paragraphs
MOST_LINES = 60  # of what notebooks show
NOTHING = 1e-9  # of the largest number beside it: what is smaller is shown as 0


def number(value: float, digits: int = 4, beside: float = 0.0) -> str:
    """Write a number with so many digits; 0 where it is nothing beside another one.

    Examples
    --------
    >>> number(0.123456), number(123456.7), number(-4.9e-17, beside=3.0), number(1e-7)
    ('0.1235', '123457', '0', '1e-07')
    """
    value = float(value)
    if not isfinite(value):
        return str(value).replace("-", "−").replace("inf", "∞")
    if value == 0 or abs(value) <= NOTHING * abs(beside):
        return "0"
    place = floor(log10(abs(value)))
    if not -5 < place < 9:
        return f"{value:.{digits}g}"
    text = f"{value:.{max(digits - 1 - place, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def numbers(
    values: Sequence[float] | np.ndarray,
    digits: int = 4,
    beside: float | None = None,
    unit: Sequence[float] | np.ndarray | None = None,
) -> list[str]:
    """Write numbers that stand beside each other: what is nothing beside the largest of them is 0.

    Slopes in features of different units are compared over a step in each of them: its `unit`, if positive.
    """
    given = np.asarray(values, dtype=np.float64)
    step = np.ones(len(given)) if unit is None else np.where(np.asarray(unit) > 0, unit, 1.0)
    with np.errstate(over="ignore"):
        sizes = np.abs(given) * step
    largest = max(float(sizes[np.isfinite(sizes)].max(initial=0.0)), 0.0 if beside is None else abs(beside))
    told = [number(v, digits, largest / s) for v, s in zip(given, step.tolist(), strict=True)]
    if any("e+" in text for text in told):  # one notation for all that are large
        large = [text != "0" and isfinite(v) and abs(v) >= 10.0**digits for text, v in zip(told, given, strict=True)]
        told = [f"{v:.{digits}g}" if e else text for text, v, e in zip(told, given, large, strict=True)]
    return told


def simplest_between(low: float, high: float) -> float:
    """Return the number of the fewest digits between two, so that low ≤ it < high: a threshold that people can read.

    Examples
    --------
    >>> simplest_between(0.2317, 0.2523), simplest_between(17.0, 23.5), simplest_between(-0.1, 0.2)
    (0.24, 20.0, 0.0)
    """
    if low <= 0 < high:
        return 0.0
    middle = low + 0.5 * (high - low)
    if not (high > low and isfinite(middle)):
        return low
    for digits in range(1, 17):
        step = 10.0 ** (floor(log10(max(abs(low), abs(high)))) - digits + 1)
        near = float(f"{round(middle / step) * step:.{digits + 1}g}")
        if low <= near < high:
            return near
    return low


def shortened(text: str, longest: int) -> str:
    """Return a text without its middle, if it is too long: names often differ at their ends alone.

    Examples
    --------
    >>> shortened("sold: day of the week (sin)", 20)
    'sold: da…week (sin)'
    """
    text = one_line(text)
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - half]}…{text[-half:]}"


def one_line(text: str) -> str:
    r"""Return a text with its line breaks and the like written out: a name must not break a table.

    Examples
    --------
    >>> print(one_line("price\n(net)"))
    price\n(net)
    """
    return "".join(each.encode("unicode_escape").decode() if category(each) in BREAKS else each for each in text)


def verdict(first: object, second: object) -> str:
    """Say which class a row has, and not which other; a label that is a number or a boolean is called a class.

    Examples
    --------
    >>> verdict("ill", "well"), verdict(1, 0)
    ('ill, and not well', 'class 1, and not class 0')
    """
    return ", and not ".join(f"{label}" if isinstance(label, str) else f"class {label}" for label in (first, second))


class Printed:
    """Shown in notebooks, and by ``repr``, as ``print`` shows it; of a long text the beginning."""

    def __repr__(self) -> str:
        lines = str(self).splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines; print shows all"]
        return "\n".join(lines)


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of a table: the first column to the left, all others to the right."""
    rows = [[one_line(cell) for cell in row] for row in (head, *body)]
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    return [
        "  ".join(
            cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
