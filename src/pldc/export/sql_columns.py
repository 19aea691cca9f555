"""From the columns of a table to the features that functions see, in SQL, and what databases say differently."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, levels, number_of
from pldc.export.sql_range import LARGEST, MEASURED, Range, less_centre, smallest

MOST_ARGUMENTS = 50  # of a function: SQLite may allow no more than 100
MOST_BYTES = 63  # of a name in PostgreSQL, which cuts off what is longer
SOURCE = "source_row"  # what the table is called in the statement


@dataclass(frozen=True)
class Dialect:
    """What databases say differently; ``{}`` or ``{0}`` stands for an expression.

    `real` is the number in a cell, and `days` a date: NULL if it is missing, infinite if it is none. `text` is that of
    a level, as the model reads cells: whole numbers without a point, booleans as True and False. `booleans` is the same
    where the table cannot tell them from 0 and 1. `numeral` is a cell that is no whole number but a number, else NULL:
    databases have other texts for such than Python. `sure` says that literals are read to the last bit.

    `either` is the number in a cell of a column that held booleans in training, which `real` does not take. `double`
    makes a floating-point number of a choice between literals. `strict` says that a product is an error if it is too
    large for a floating-point number, or so small that it would be zero.
    """

    greatest: str
    least: str
    real: str
    text: str
    numeral: str
    days: str
    literal: str = "{}"
    booleans: str = ""
    sure: bool = True
    cases: bool = False  # whether names that differ by capital letters are two
    either: str = ""
    double: str = "{}"
    strict: bool = False
    escapes: bool = False  # whether a setting gives backslashes in texts a meaning

    def text_literal(self, value: str) -> str:
        """Return a text in quotes."""
        if "\0" in value:
            raise ValueError(f"The label or level {value!r:.80} cannot stand in a statement: give it another name.")
        quoted = "'" + value.replace("'", "''") + "'"
        return "E" + quoted.replace("\\", "\\\\") if self.escapes and "\\" in value else quoted

    def same_name(self, name: str) -> bytes:
        """Return what is equal for two names that are one in the database."""
        if not self.cases:  # letters are the same in both cases, those beyond ASCII apart
            return name.encode(errors="surrogatepass").lower()
        return name.encode(errors="surrogatepass")[:MOST_BYTES].decode(errors="ignore").encode()

    def number(self, value: float) -> str:
        """Return a floating-point number."""
        return self.literal.format(repr(value)) if "e" not in repr(value) else repr(value)

    def exact(self, value: float) -> str:
        """Return a number to the last bit, to be compared: a whole number times or by powers of two if need be."""
        if self.sure or (len(repr(abs(value))) <= 16 and "e" not in repr(value)):
            return self.number(value)
        share, power = frexp(value)
        whole, power = int(share * 2.0**53), power - 53
        sign, factors = "*" if power > 0 else "/", [2**62] * (abs(power) // 62) + [2 ** (abs(power) % 62)]
        return f"(CAST({whole} AS REAL){''.join(f' {sign} {factor}' for factor in factors)})"

    def largest(self, values: Sequence[str], function: str = "") -> str:
        """Return the largest of several expressions, a few at a time."""
        name, values = function or self.greatest, list(values)
        while len(values) > 1:
            chunks = [values[k : k + MOST_ARGUMENTS] for k in range(0, len(values), MOST_ARGUMENTS)]
            values = [f"{name}({', '.join(chunk)})" if len(chunk) > 1 else chunk[0] for chunk in chunks]
        return values[0]


# In SQLite any cell may hold a text. A text that is a number, compared to a number, is one; another is beyond all.
TRIMMED = "trim({0}, ' ' || char(9, 10, 13))"
BLANK = f"{TRIMMED} = ''"
SQLITE_REAL = (
    "CASE WHEN typeof({0}) IN ('real', 'integer', 'null') THEN CAST({0} AS REAL) "
    f"WHEN {BLANK} THEN NULL WHEN {{0}} <= CAST(9e999 AS REAL) THEN CAST({{0}} AS REAL) "
    "ELSE CASE lower(trim({0})) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 ELSE 9e999 END END"
)
# A date is read in two parts: its whole seconds, and the digits after them, which SQLite would round. What it
# writes otherwise than it was given is no date: 30 February, 24:00, an offset, "12:00" and "now".
CLOCK = f"replace(substr({TRIMMED}, 1, 19), 'T', ' ')"
DIGITS = f"substr({TRIMMED}, 20)"
SAME = f"substr(datetime({CLOCK}, '+0 days'), 1, length({CLOCK})) = {CLOCK}"
SQLITE_DAYS = (
    "CASE WHEN typeof({0}) IN ('real', 'integer', 'null') THEN CAST({0} AS REAL) "
    f"WHEN {BLANK} THEN NULL WHEN length({CLOCK}) IN (10, 16, 19) AND {SAME} "
    f"AND ({DIGITS} = '' OR ({DIGITS} GLOB '.[0-9]*' AND NOT substr({DIGITS}, 2) GLOB '*[^0-9]*')) "
    f"THEN (CAST(strftime('%s', {CLOCK}) AS REAL) + CAST('0' || {DIGITS} AS REAL)) / 86400.0 ELSE 9e999 END"
)
# PostgreSQL knows the type of a column before it reads a row, and refuses an expression that does not suit it: what
# suits all types goes by text, or by a text that takes the type of the cell. A cell beside NULL has the type that its
# domain is of. A CHAR(n) leaves the database with its blanks, which a cast to TEXT cuts off.
TYPE = "pg_typeof(COALESCE({0}, NULL))"
VIA_TEXT = "CAST(CAST({0} AS TEXT) AS DOUBLE PRECISION)"
VIA_REAL = "CAST(CAST(CAST({0} AS TEXT) AS REAL) AS DOUBLE PRECISION)"
POSTGRESQL_TEXT = (
    f"CASE WHEN {TYPE} = CAST('boolean' AS regtype) THEN initcap(CAST({{0}} AS TEXT)) "
    f"WHEN {TYPE} IN (CAST('double precision' AS regtype), CAST('real' AS regtype), CAST('numeric' AS regtype)) "
    "THEN NULLIF(CAST({0} AS TEXT), 'NaN') "
    f"WHEN {TYPE} = CAST('character' AS regtype) AND {{0}} IS NOT NULL THEN concat({{0}}) "
    'ELSE CAST({0} AS TEXT) END COLLATE "C"'
)
DIALECTS = {
    "sqlite": Dialect(
        "max",
        "min",
        SQLITE_REAL,
        "CAST({0} AS TEXT)",
        "CASE WHEN typeof({0}) = 'real' THEN {0} END",
        SQLITE_DAYS,
        booleans="CASE WHEN typeof({0}) = 'integer' THEN CASE {0} WHEN 1 THEN 'True' WHEN 0 THEN 'False' "
        "ELSE CAST({0} AS TEXT) END ELSE CAST({0} AS TEXT) END",
        sure=False,
    ),
    "postgresql": Dialect(
        "GREATEST",
        "LEAST",
        "NULLIF(CAST({} AS DOUBLE PRECISION), 'NaN')",
        POSTGRESQL_TEXT,
        f"CASE {TYPE} WHEN CAST('real' AS regtype) THEN {VIA_REAL} WHEN CAST('double precision' AS regtype) "
        f"THEN {VIA_TEXT} WHEN CAST('numeric' AS regtype) THEN {VIA_TEXT} END",
        "(CAST(EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400.0)",
        cases=True,
        either="NULLIF(CASE WHEN {0} = '1' THEN 1.0 WHEN {0} = '0' THEN 0.0 "
        f"WHEN {TYPE} = CAST('real' AS regtype) THEN {VIA_REAL} ELSE {VIA_TEXT} END, 'NaN')",
        double="CAST({} AS DOUBLE PRECISION)",
        strict=True,
        escapes=True,
    ),
    "duckdb": Dialect(
        "greatest",
        "least",
        "nullif(CAST({} AS DOUBLE), 'NaN'::DOUBLE)",
        "CASE WHEN typeof({0}) = 'BOOLEAN' THEN replace(replace(CAST({0} AS VARCHAR), 't', 'T'), 'f', 'F') "
        "WHEN typeof({0}) IN ('DOUBLE', 'FLOAT') THEN nullif(CAST({0} AS VARCHAR), 'nan') "
        "ELSE CAST({0} AS VARCHAR) END",
        "CASE WHEN typeof({0}) = 'FLOAT' THEN CAST(TRY_CAST(CAST({0} AS VARCHAR) AS FLOAT) AS DOUBLE) "
        "WHEN typeof({0}) = 'DOUBLE' OR typeof({0}) LIKE 'DECIMAL%' THEN TRY_CAST(CAST({0} AS VARCHAR) AS DOUBLE) END",
        "(epoch_us(CAST({} AS TIMESTAMP)) / 86400000000e0)",
        "{}e0",  # without an exponent a number is a decimal there
    ),
}


def column_name(name: str) -> str:
    """Return a name in quotes."""
    if "\0" in name:
        raise ValueError(f"{name!r:.80} cannot be the name of a column or table.")
    return '"' + name.replace('"', '""') + '"'


def cell_of(name: str) -> str:
    """Return a column of the table; by itself, SQLite would read the name of one that is not there as a text."""
    return f"{SOURCE}.{column_name(name)}"


def read_cells(known: Learned, words: Dialect) -> list[str]:
    """Return what is read of each column that some feature needs: c0, … and, where levels are numbers, n0, …."""
    out = []
    for place in sorted({feature.column for feature in known.features}):
        name, kind = known.columns[place]
        text = words.booleans if _doubtful(known, words, place) else words.text
        number = words.either if words.either and place in known.booleans else words.real
        cell = {"number": number, "category": text, "date": words.days}[kind]
        out.append(f"{cell.format(cell_of(name))} AS c{place}")
        if kind == "category" and _numeric(known, words, place):
            out.append(f"{words.numeral.format(cell_of(name))} AS n{place}")
    return out


def centred_features(known: Learned, words: Dialect, reach: Range) -> list[str]:
    """Return the expression of each feature of the cells, less the centre."""
    out = []
    for k, (feature, middle) in enumerate(zip(known.features, known.center.tolist(), strict=True)):
        value, measured = FEATURES[feature.kind](known, words, feature), feature.kind in MEASURED
        if middle:
            value = less_centre(value, middle) if words.strict else f"{value} - {words.number(middle)}"
        if words.strict:
            value = reach.no_crumbs(value, k, smallest(feature, middle))
        if not measured:
            value = words.double.format(value)
        elif words.strict:
            value = reach.kept(value, k)
        out.append(value)
    return out


def all_there(known: Learned, words: Dialect, inputs: Sequence[str], reach: Range) -> list[str]:
    """Return conditions for a prediction: no number is missing that nothing stands in for, or infinite, or no number.

    A cell that is no number is infinite up to here. Functions would skip it, or cut it to the limits.
    """
    measured = [k for k, feature in enumerate(known.features) if feature.kind in MEASURED]
    return [f"abs({inputs[k]}) <= {reach.room(k) if words.strict else LARGEST}" for k in measured]


def _doubtful(known: Learned, words: Dialect, place: int) -> bool:
    """Say whether 1 and 0 in a column of categories are True and False, for want of booleans in the database."""
    own = levels(known.features, place)
    return bool(words.booleans and own & {"True", "False"} and not own & {"0", "1"})


def _numeric(known: Learned, words: Dialect, place: int) -> bool:
    """Say whether a level of a column may be that of a number, or of a boolean that is stored as one."""
    return _doubtful(known, words, place) or any(map(_looks_like_number, levels(known.features, place)))


def _looks_like_number(level: str) -> bool:
    with suppress(ValueError):
        return bool(np.isfinite(float(level)))
    return False


def _number(known: Learned, words: Dialect, feature: Any) -> str:
    cell = f"c{feature.column}"
    return cell if np.isnan(feature.fill) else f"COALESCE({cell}, {words.number(feature.fill)})"


def _missing(known: Learned, words: Dialect, feature: Any) -> str:
    return f"CASE WHEN c{feature.column} IS NULL THEN {words.number(1.0)} ELSE {words.number(0.0)} END"


def _level(known: Learned, words: Dialect, feature: Any) -> str:
    return _looked_up(known, words, feature.column, [(feature.level, 1.0)], 0.0)


def _statistic(known: Learned, words: Dialect, feature: Any) -> str:
    value = _looked_up(known, words, feature.column, feature.table, feature.default)
    return f"CASE WHEN c{feature.column} IS NULL THEN {words.number(feature.missing)} ELSE {value} END"


def _looked_up(known: Learned, words: Dialect, place: int, table: Sequence[tuple[str, float]], other: float) -> str:
    """Return the value of a level in a table: numbers are compared as numbers, everything else as text."""
    end = f"ELSE {words.number(other)} END"
    value = f"CASE c{place} {' '.join(f'WHEN {words.text_literal(k)} THEN {words.number(v)}' for k, v in table)} {end}"
    if not _numeric(known, words, place):
        return value
    special = {"True": 1.0, "False": 0.0} if _doubtful(known, words, place) else {}
    numbers = [(special.get(level, number_of(level)), v) for level, v in table]
    cases = [f"WHEN n{place} = {words.exact(n)} THEN {words.number(v)}" for n, v in numbers if n is not None]
    return f"CASE {' '.join([f'WHEN n{place} IS NULL THEN {value}', *cases])} {end}"


def _date(known: Learned, words: Dialect, feature: Any) -> str:
    value, number = f"c{feature.column}", words.number
    if feature.wave != "linear":
        since, period = f"({value} + {number(MONDAY if feature.period == 7.0 else 0.0)})", number(feature.period)
        value = f"({since} - {period} * floor({since} / {period}))"
        value = f"{feature.wave}({number(2.0 * np.pi)} * {value} / {period})"
    return f"CASE WHEN c{feature.column} IS NULL THEN {number(feature.fill)} ELSE {value} END"


FEATURES = {"number": _number, "missing": _missing, "level": _level, "statistic": _statistic, "date": _date}
