"""SQL: a model as one SELECT statement, so that a table is scored where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, learned, levels, pieces, ramps, refuse_zones
from pldc.function.checks import shown

MOST_COLUMNS = 1500  # of a step: SQLite allows 2000, PostgreSQL 1664
MOST_ARGUMENTS = 50  # of a function: SQLite may allow no more than 100
MOST_SUMMANDS = 200  # side by side: SQLite allows expressions 1000 deep
SMALLEST_EXPONENT = -700.0  # PostgreSQL calls a smaller one an error
SOURCE = "source_row"  # what the table is called in the statement


@dataclass(frozen=True)
class Dialect:
    """What databases say differently; ``{}`` stands for an expression.

    `text` is that of levels, as the model reads cells: whole numbers without a point, booleans as True and False.
    `booleans` is the same where the table cannot tell them from 0 and 1.
    """

    greatest: str
    least: str
    real: str
    text: str
    days: str
    literal: str = "{}"
    booleans: str = ""

    def number(self, value: float) -> str:
        """Return a floating-point number."""
        return self.literal.format(repr(value)) if "e" not in repr(value) else repr(value)

    def largest(self, values: Sequence[str], function: str = "") -> str:
        """Return the largest of several expressions, a few at a time."""
        name, values = function or self.greatest, list(values)
        while len(values) > 1:
            chunks = [values[k : k + MOST_ARGUMENTS] for k in range(0, len(values), MOST_ARGUMENTS)]
            values = [f"{name}({', '.join(chunk)})" if len(chunk) > 1 else chunk[0] for chunk in chunks]
        return values[0]


DIALECTS = {
    "sqlite": Dialect(
        "max",
        "min",
        "CAST({} AS REAL)",
        "CASE WHEN typeof({0}) = 'real' AND {0} = CAST({0} AS INTEGER) THEN CAST(CAST({0} AS INTEGER) AS TEXT) "
        "ELSE CAST({0} AS TEXT) END",
        "((CAST(strftime('%s', {0}) AS REAL) + strftime('%f', {0}) - strftime('%S', {0})) / 86400.0)",
        booleans="CASE WHEN typeof({0}) IN ('integer', 'real') THEN CASE {0} WHEN 1 THEN 'True' WHEN 0 THEN 'False' "
        "ELSE CAST({0} AS TEXT) END ELSE CAST({0} AS TEXT) END",
    ),
    "postgresql": Dialect(
        "GREATEST",
        "LEAST",
        "NULLIF(CAST({} AS DOUBLE PRECISION), 'NaN')",
        "CASE CAST(pg_typeof({0}) AS TEXT) WHEN 'boolean' THEN initcap(CAST({0} AS TEXT)) WHEN 'numeric' THEN "
        "CAST(trim_scale(CAST(CAST({0} AS TEXT) AS NUMERIC)) AS TEXT) ELSE CAST({0} AS TEXT) END",
        "(CAST(EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP)) AS DOUBLE PRECISION) / 86400.0)",
    ),
    "duckdb": Dialect(
        "greatest",
        "least",
        "nullif(CAST({} AS DOUBLE), 'NaN'::DOUBLE)",
        "CASE WHEN typeof({0}) = 'BOOLEAN' THEN replace(replace(CAST({0} AS VARCHAR), 't', 'T'), 'f', 'F') "
        "WHEN typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%' THEN nullif(regexp_replace("
        "CAST(TRY_CAST(CAST({0} AS VARCHAR) AS DOUBLE) AS VARCHAR), '[.]0$', ''), 'nan') "
        "ELSE CAST({0} AS VARCHAR) END",
        "(epoch_us(CAST({} AS TIMESTAMP)) / 86400000000e0)",
        "{}e0",  # without an exponent a number is a decimal there
    ),
}


def to_sql(model: Any, table: str | Sequence[str], dialect: str = "sqlite", keep: Sequence[str] = ()) -> str:
    """Return a SELECT statement that predicts for every row of a table, as the model does.

    Its result has the columns `keep` and ``prediction``; of several quantiles ``prediction_0``, …; of classes also
    ``score_0``, … in the order of ``classes_`` and, if there are any, ``probability_0``, …. A row in which a number is
    missing that the model knows nothing to put in for gets NULL. For large tables take a model of few pieces.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC
    table : str or sequence of str
        Name of the table, or (schema, table). It has the columns of the training by name: x0, x1, … if they had none.
    dialect : {"sqlite", "postgresql", "duckdb"}, default="sqlite"
        SQLite from 3.35, for probabilities and dates built with its mathematical functions, as it mostly is.
    keep : sequence of str, optional
        Columns of the table that stand beside the prediction, such as its key.

    Examples
    --------
    >>> import sqlite3
    >>> from pldc import PLDC
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE points AS SELECT 1 AS id, 5.0 AS x0 UNION SELECT 2, -1.0")
    >>> base.execute(to_sql(abs(PLDC.affine([1.0], -2.0)), "points", keep=["id"])).fetchall()
    [(1, 3.0), (2, 3.0)]
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r:.80}.")
    if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
        raise TypeError(f"keep must be a sequence of names of columns, got {shown(keep)}.")
    refuse_zones(model, "SQL")
    known, words = learned(model), DIALECTS[dialect]
    parts = [table] if isinstance(table, str) else list(table) if isinstance(table, Sequence) else []
    if not parts or not all(isinstance(part, str) for part in parts):
        raise TypeError(f"table must be a name, or (schema, table), got {shown(table)}.")
    source = ".".join(map(_name, parts))
    kept = [f"k{k}" for k in range(len(keep))]
    inputs = [f"x{k}" for k in range(len(known.features))]
    outputs = [f"f{k}" for k in range(len(known.functions))]
    first = [f"{_cell(name)} AS {short}" for name, short in zip(keep, kept, strict=True)]
    first += [f"{expression} AS {short}" for expression, short in zip(_centred(known, words), inputs, strict=True)]
    steps = [_step("s0", [*first, *(f"{words.number(0.0)} AS {short}" for short in outputs)], f"{source} AS {SOURCE}")]
    carried = [*kept, *inputs]
    for number, (hinges, terms) in enumerate(known.groups(), start=1):
        columns, before = list(inputs), f"s{number - 1}"
        if hinges is not None:
            bent = {f"r{k}": _ramp(words, *ramp) for k, ramp in enumerate(ramps(hinges))}
            steps.append(_step(f"b{number}", [*carried, *outputs, *(f"{e} AS {r}" for r, e in bent.items())], before))
            columns, before = [*inputs, *bent], f"b{number}"
        values = []
        for k, short in enumerate(outputs):
            own = [_difference(words, pieces(term), columns) for function, term in terms if function == k]
            values.append(f"{_total([short, *own])} AS {short}" if own else short)
        steps.append(_step(f"s{number}", [*carried, *values], before))
    names = [f"{short} AS {_name(name)}" for name, short in zip(keep, kept, strict=True)]
    finish = _regression if known.classes is None else _classes
    steps_after, results = finish(known, words, carried, outputs, f"s{len(known.groups())}", _gap(known, inputs))
    clash = {result.rsplit(" AS ", 1)[1] for result in results} & set(keep)
    if clash:
        raise ValueError(f"keep names {sorted(clash)}, which the statement itself returns: rename it in a view.")
    steps += steps_after
    last = steps[-1].split(" ", 1)[0]
    return "WITH " + ",\n".join(steps) + f"\nSELECT {', '.join([*names, *results])} FROM {last}"


def _step(name: str, columns: list[str], source: str) -> str:
    """Return a step whose columns are worked out once, and not again wherever they are used."""
    if len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"The model needs {len(columns)} columns in a step, and databases allow no more than {MOST_COLUMNS}: "
            "model.simplify(X, y) gives a smaller one."
        )
    return f"{name} AS MATERIALIZED (SELECT {', '.join(columns)} FROM {source})"


def _cell(name: str) -> str:
    """Return a column of the table; by itself, SQLite would read the name of one that is not there as a text."""
    return f"{SOURCE}.{_name(name)}"


def _name(name: str) -> str:
    if "\0" in name:
        raise ValueError(f"{name!r:.80} cannot be the name of a column or table.")
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _label(value: Any) -> str:
    return _text(value) if isinstance(value, str) else str(value).upper()


def _total(summands: list[str]) -> str:
    while len(summands) > MOST_SUMMANDS:
        chunks = [summands[k : k + MOST_SUMMANDS] for k in range(0, len(summands), MOST_SUMMANDS)]
        summands = [f"({' + '.join(chunk)})" for chunk in chunks]
    return " + ".join(summands)


def _difference(words: Dialect, parts: tuple[list[list[float]], list[list[float]]], columns: list[str]) -> str:
    plus, minus = (words.largest([_piece(words, piece, columns) for piece in part]) for part in parts)
    return f"(({plus}) - ({minus}))"


def _piece(words: Dialect, piece: list[float], columns: list[str]) -> str:
    *slopes, offset = piece
    return _total(
        [f"{words.number(s)}*{c}" for s, c in zip(slopes, columns, strict=True) if s] + [words.number(offset)]
    )


def _ramp(words: Dialect, source: int, start: float, width: float) -> str:
    inside = f"(x{source} - {words.number(start)}) / {words.number(width)}"
    return _cut(words, inside, 0.0, 1.0)


def _cut(words: Dialect, value: str, low: float, high: float) -> str:
    if np.isfinite(high):
        value = f"{words.least}({value}, {words.number(high)})"
    return f"{words.greatest}({value}, {words.number(low)})" if np.isfinite(low) else value


def _gap(known: Learned, inputs: list[str]) -> str:
    """Return whether a number is missing that nothing can stand in for; other functions would skip it."""
    free = [short for short, feature in zip(inputs, known.features, strict=True) if np.isnan(_fill(feature))]
    return f"({_total(free)}) IS NULL" if free else ""


def _fill(feature: Any) -> float:
    return float(getattr(feature, "fill", 0.0))


def _regression(
    known: Learned, words: Dialect, carried: list[str], outputs: list[str], before: str, gap: str
) -> tuple[list[str], list[str]]:
    """Return a cut; values of several levels are put in order first, neighbour by neighbour."""
    steps = []
    for turn in range(len(outputs) if known.levels else 0):
        pairs = list(zip(outputs[turn % 2 :: 2], outputs[turn % 2 + 1 :: 2], strict=False))
        ordered = {a: f"{words.least}({a}, {b}) AS {a}" for a, b in pairs}
        ordered |= {b: f"{words.greatest}({a}, {b}) AS {b}" for a, b in pairs}
        steps.append(_step(f"o{turn}", [*carried, *(ordered.get(short, short) for short in outputs)], before))
        before = f"o{turn}"
    values = [_unless(gap, _cut(words, short, known.low, known.high)) for short in outputs]
    names = [f"prediction_{k}" for k in range(len(outputs))] if known.levels else ["prediction"]
    return steps, [f"{value} AS {name}" for value, name in zip(values, names, strict=True)]


def _unless(gap: str, value: str) -> str:
    return f"CASE WHEN {gap} THEN NULL ELSE {value} END" if gap else value


def _classes(
    known: Learned, words: Dialect, carried: list[str], outputs: list[str], before: str, gap: str
) -> tuple[list[str], list[str]]:
    scores = [f"{_unless(gap, short)} AS {short}" for short in outputs]
    steps = [
        _step("scores", [*carried, *scores], before),
        _step("best", [*carried, *outputs, f"{words.largest(outputs)} AS best"], "scores"),
    ]
    cases = " ".join(
        f"WHEN {short} = best THEN {_label(label)}" for short, label in zip(outputs, known.classes or [], strict=True)
    )
    results = [f"CASE {cases} END AS prediction", *(f"{short} AS score_{k}" for k, short in enumerate(outputs))]
    if known.temperature is not None:
        warmth = words.number(known.temperature)
        powers = [_cut(words, f"{warmth}*({short} - best)", SMALLEST_EXPONENT, np.inf) for short in outputs]
        shares = [f"CASE WHEN best IS NULL THEN NULL ELSE exp({power}) END AS p{k}" for k, power in enumerate(powers)]
        steps.append(_step("powers", [*carried, *outputs, "best", *shares], "best"))
        total = _total([f"p{k}" for k in range(len(outputs))])
        results += [f"p{k} / ({total}) AS probability_{k}" for k in range(len(outputs))]
    return steps, results


def _centred(known: Learned, words: Dialect) -> list[str]:
    """Return the expression of each feature less the centre."""
    features = zip(_features(known, words), known.center.tolist(), strict=True)
    return [f"{expression} - {words.number(middle)}" if middle else expression for expression, middle in features]


def _features(known: Learned, words: Dialect) -> list[str]:
    """Return the expression of each feature."""
    out = []
    for feature in known.features:
        name, kind = known.columns[feature.column]
        known_levels = levels(known.features, feature.column) if kind == "category" else set()
        doubtful = known_levels & {"True", "False"} and not known_levels & {"0", "1"}
        text = (words.booleans if doubtful else "") or words.text
        cell = {"number": words.real, "category": text, "date": words.days}[kind].format(_cell(name))
        out.append(FEATURES[feature.kind](words, feature, cell))
    return out


def _number(words: Dialect, feature: Any, cell: str) -> str:
    return cell if np.isnan(feature.fill) else f"COALESCE({cell}, {words.number(feature.fill)})"


def _missing(words: Dialect, feature: Any, cell: str) -> str:
    return f"CASE WHEN {cell} IS NULL THEN {words.number(1.0)} ELSE {words.number(0.0)} END"


def _level(words: Dialect, feature: Any, cell: str) -> str:
    return f"CASE {cell} WHEN {_text(feature.level)} THEN {words.number(1.0)} ELSE {words.number(0.0)} END"


def _statistic(words: Dialect, feature: Any, cell: str) -> str:
    cases = " ".join(f"WHEN {_text(level)} THEN {words.number(value)}" for level, value in feature.table)
    known = f"CASE {cell} {cases} ELSE {words.number(feature.default)} END"
    return f"CASE WHEN {cell} IS NULL THEN {words.number(feature.missing)} ELSE {known} END"


def _date(words: Dialect, feature: Any, cell: str) -> str:
    value, number = cell, words.number
    if feature.wave != "linear":
        since, period = f"({cell} + {number(MONDAY if feature.period == 7.0 else 0.0)})", number(feature.period)
        value = f"({since} - {period} * floor({since} / {period}))"
        value = f"{feature.wave}({number(2.0 * np.pi)} * {value} / {period})"
    return f"COALESCE({value}, {number(feature.fill)})"


FEATURES = {"number": _number, "missing": _missing, "level": _level, "statistic": _statistic, "date": _date}
