"""SQL: a model as one SELECT statement, so that a table is scored where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pldc.export.learned import Learned, learned, pieces, ramps, refuse_zones
from pldc.export.sql_columns import (
    DIALECTS,
    SOURCE,
    Dialect,
    all_there,
    cell_of,
    centred_features,
    column_name,
    read_cells,
)
from pldc.export.sql_range import LARGEST, Range, least, product
from pldc.function.checks import shown

MOST_COLUMNS = 1500  # of a step: SQLite allows 2000, PostgreSQL 1664
MOST_SUMMANDS = 200  # side by side: SQLite allows expressions 1000 deep
STORED = "MATERIALIZED "  # a step that is worked out once
SMALLEST_EXPONENT = -700.0  # PostgreSQL calls a smaller one an error


def to_sql(model: Any, table: str | Sequence[str], dialect: str = "sqlite", keep: Sequence[str] = ()) -> str:
    """Return a SELECT statement that predicts for every row of a table, as the model does.

    Its result has the columns `keep` and ``prediction``; of several quantiles ``prediction_0``, …; of classes also
    ``score_0``, … in the order of ``classes_`` and, if there are any, ``probability_0``, …. A row in which a number is
    missing that the model knows nothing to put in for, or infinite, gets NULL; in SQLite also one with a text where a
    number or a date belongs. Blank text is missing there, and a number instead of a date is days since 1970. For large
    tables take a model of few pieces.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC
    table : str or sequence of str
        Name of the table, or (schema, table). It has the columns of the training by name: x0, x1, … if they had none.
    dialect : {"sqlite", "postgresql", "duckdb"}, default="sqlite"
        SQLite from 3.35, for probabilities and dates built with its mathematical functions, as it mostly is; PostgreSQL
        from 12.
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
    _check_names([name for name, _ in known.columns], parts, keep, dialect)
    source = ".".join(map(column_name, parts))
    kept = [f"k{k}" for k in range(len(keep))]
    inputs = [f"x{k}" for k in range(len(known.features))]
    outputs = [f"f{k}" for k in range(len(known.functions))]
    cells = [f"{cell_of(name)} AS {short}" for name, short in zip(keep, kept, strict=True)]
    reach = Range.of_features(known)
    features = zip(centred_features(known, words, reach), inputs, strict=True)
    first = [*kept, *(f"{expression} AS {short}" for expression, short in features)]
    tag = _tag(parts)
    before, zero = f"{tag}cells", words.double.format(words.number(0.0))
    steps = [
        # a cell of a table of numbers is used once: no need to keep it
        _step(before, [*cells, *read_cells(known, words)], f"{source} AS {SOURCE}", "" if known.plain else STORED),
        _step(f"{tag}0", [*first, *(f"{zero} AS {short}" for short in outputs)], before),
    ]
    carried = [*kept, *inputs]
    for number, (hinges, terms) in enumerate(known.groups(), start=1):
        columns, before = reach.named(inputs), f"{tag}{number - 1}"
        if hinges is not None:
            bends = Range.of_ramps([term for _, term in terms], len(inputs))
            bent = {f"r{k}": _ramp(words, bends, k, *ramp) for k, ramp in enumerate(ramps(hinges))}
            steps.append(
                _step(f"{before}_bent", [*carried, *outputs, *(f"{e} AS {r}" for r, e in bent.items())], before)
            )
            columns, before = [*columns, *bends.named(bent)], f"{before}_bent"
        values = []
        for k, short in enumerate(outputs):
            own = [_difference(words, pieces(term), columns) for function, term in terms if function == k]
            values.append(f"{_total([short, *own])} AS {short}" if own else short)
        steps.append(_step(f"{tag}{number}", [*carried, *values], before))
    names = [f"{short} AS {column_name(name)}" for name, short in zip(keep, kept, strict=True)]
    fine = _every(all_there(known, words, inputs, reach))
    finish = _regression if known.classes is None else _classes
    steps_after, results = finish(known, words, carried, outputs, f"{tag}{len(known.groups())}", fine)
    clash = {result.rsplit(" AS ", 1)[1] for result in results} & set(keep)
    if clash:
        raise ValueError(f"keep names {sorted(clash)}, which the statement itself returns: rename it in a view.")
    steps += steps_after
    last = steps[-1].split(" ", 1)[0]
    return "WITH " + ",\n".join(steps) + f"\nSELECT {', '.join([*names, *results])} FROM {last}"


def _tag(table: list[str]) -> str:
    """Return what all names of steps begin with, and the table does not: a step would hide a table of its name."""
    tag = "step"
    while any(part.lower().startswith(tag) for part in table):
        tag += "_"
    return tag


def _check_names(columns: list[str], table: list[str], keep: Sequence[str], dialect: str) -> None:
    """Refuse names that a table of the database cannot have."""
    if not all(table):
        raise ValueError(f"table must be a name, or (schema, table), of at least a letter each, got {shown(table)}.")
    if dialect != "sqlite" and not all([*columns, *keep]):
        raise ValueError(f"A column has the name '', which {dialect} does not allow: rename it, and fit again.")
    for names, whose in ((columns, "The model has"), (keep, "keep names")):
        alike = [DIALECTS[dialect].same_name(name) for name in names]
        twice = [name for name, same in zip(names, alike, strict=True) if alike.count(same) > 1]
        if twice:
            raise ValueError(f"{whose} the columns {shown(twice)}, which are one in {dialect}: give them other names.")


def _step(name: str, columns: list[str], source: str, how: str = STORED) -> str:
    """Return a step whose columns are worked out once, and not again wherever they are used."""
    if len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"The model needs {len(columns)} columns in a step, and databases allow no more than {MOST_COLUMNS}: "
            "model.simplify(X, y) gives a smaller one."
        )
    return f"{name} AS {how}(SELECT {', '.join(columns)} FROM {source})"


def _label(words: Dialect, value: Any) -> str:
    if isinstance(value, float):
        return words.double.format(words.number(value))
    return words.text_literal(value) if isinstance(value, str) else str(value).upper()


def _total(summands: list[str]) -> str:
    while len(summands) > MOST_SUMMANDS:
        chunks = [summands[k : k + MOST_SUMMANDS] for k in range(0, len(summands), MOST_SUMMANDS)]
        summands = [f"({' + '.join(chunk)})" for chunk in chunks]
    return " + ".join(summands)


def _every(conditions: list[str]) -> str:
    while len(conditions) > MOST_SUMMANDS:
        chunks = [conditions[k : k + MOST_SUMMANDS] for k in range(0, len(conditions), MOST_SUMMANDS)]
        conditions = [f"({' AND '.join(chunk)})" for chunk in chunks]
    return " AND ".join(conditions)


def _difference(
    words: Dialect, parts: tuple[list[list[float]], list[list[float]]], columns: list[tuple[str, float]]
) -> str:
    plus, minus = (words.largest([_piece(words, piece, columns) for piece in part]) for part in parts)
    return f"(({plus}) - ({minus}))"


def _piece(words: Dialect, piece: list[float], columns: list[tuple[str, float]]) -> str:
    """Return slopes times columns, each given with its gentlest slope but those that must be guarded."""
    *slopes, offset = piece
    products = [
        product(s, c) if words.strict and abs(s) < gentlest else f"{words.number(s)}*{c}"
        for s, (c, gentlest) in zip(slopes, columns, strict=True)
        if s
    ]
    return _total([*products, words.number(offset)])


def _ramp(words: Dialect, bends: Range, number: int, source: int, start: float, width: float) -> str:
    inside = f"(x{source} - {words.number(start)})"
    if words.strict:
        return bends.ramp(number, inside, width)
    return _cut(words, f"{inside} / {words.number(width)}", 0.0, 1.0)


def _cut(words: Dialect, value: str, low: float, high: float) -> str:
    if np.isfinite(high):
        value = f"{words.least}({value}, {words.number(high)})"
    return f"{words.greatest}({value}, {words.number(low)})" if np.isfinite(low) else value


def _regression(
    known: Learned, words: Dialect, carried: list[str], outputs: list[str], before: str, fine: str
) -> tuple[list[str], list[str]]:
    """Return a cut; values of several levels are put in order first, neighbour by neighbour."""
    steps, first = [], before
    for turn in range(len(outputs) if known.levels else 0):
        pairs = list(zip(outputs[turn % 2 :: 2], outputs[turn % 2 + 1 :: 2], strict=False))
        ordered = {a: f"{words.least}({a}, {b}) AS {a}" for a, b in pairs}
        ordered |= {b: f"{words.greatest}({a}, {b}) AS {b}" for a, b in pairs}
        ranked = [ordered.get(short, short) for short in outputs]
        steps.append(_step(f"{first}_turn{turn}", [*carried, *ranked], before))
        before = f"{first}_turn{turn}"
    values = [_where(fine, _cut(words, short, known.low, known.high)) for short in outputs]
    names = [f"prediction_{k}" for k in range(len(outputs))] if known.levels else ["prediction"]
    return steps, [f"{value} AS {name}" for value, name in zip(values, names, strict=True)]


def _where(fine: str, value: str) -> str:
    return f"CASE WHEN {fine} THEN {value} END" if fine else value


def _classes(
    known: Learned, words: Dialect, carried: list[str], outputs: list[str], before: str, fine: str
) -> tuple[list[str], list[str]]:
    scores = [f"{_where(fine, short)} AS {short}" for short in outputs]
    steps = [
        _step(f"{before}_scores", [*carried, *scores], before),
        _step(f"{before}_best", [*carried, *outputs, f"{words.largest(outputs)} AS best"], f"{before}_scores"),
    ]
    cases = " ".join(
        f"WHEN {short} = best THEN {_label(words, label)}"
        for short, label in zip(outputs, known.classes or [], strict=True)
    )
    results = [f"CASE {cases} END AS prediction", *(f"{short} AS score_{k}" for k, short in enumerate(outputs))]
    if known.temperature is not None:
        powers = [_power(words, known.temperature, f"({short} - best)") for short in outputs]
        shares = [f"CASE WHEN best IS NULL THEN NULL ELSE exp({power}) END AS p{k}" for k, power in enumerate(powers)]
        steps.append(_step(f"{before}_powers", [*carried, *outputs, "best", *shares], f"{before}_best"))
        total = _total([f"p{k}" for k in range(len(outputs))])
        results += [f"p{k} / ({total}) AS probability_{k}" for k in range(len(outputs))]
    return steps, results


def _power(words: Dialect, warmth: float, lead: str) -> str:
    """Return temperature times lead, which is cut first: PostgreSQL calls too large and too small a product errors."""
    if not words.strict:
        return _cut(words, f"{words.number(warmth)}*{lead}", SMALLEST_EXPONENT, np.inf)
    if not warmth:
        return words.double.format(words.number(0.0))
    power = f"{warmth!r}*{_cut(words, lead, max(SMALLEST_EXPONENT / warmth, -LARGEST), np.inf)}"
    return f"CASE WHEN {lead} > {-least(warmth)} THEN 0.0 ELSE {power} END" if warmth < 1.0 else power
