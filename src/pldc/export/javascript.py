"""JavaScript: a model as one ES module without dependencies, for browsers and Node."""

from __future__ import annotations

import json
from typing import Any

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, learned, pieces, ramps, refuse_zones

BODY = """
function largest(parts, z) {
  let best = -Infinity;
  for (const piece of parts) {
    let value = piece[piece.length - 1];
    for (let j = 0; j < z.length; j++) value += piece[j] * z[j];
    if (!(value <= best)) best = value;
  }
  return best;
}

// Values of the functions at a row: an array in the order of `columns`, or an object by their names.
function values(row) {
  const cells = Array.isArray(row) ? row : columns.map((name) => row[name]);
  if (cells.length !== columns.length) throw new TypeError(`A row has ${columns.length} cells, not ${cells.length}.`);
  const x = features(cells).map((value, j) => value - center[j]);
  if (!x.every(Number.isFinite)) throw new TypeError(`No number, or no Date, where one belongs: ${cells}`);
  const out = new Array(%(count)d).fill(0);
  for (const [bends, terms] of groups) {
    const ramp = ([j, start, width]) => Math.min(Math.max((x[j] - start) / width, 0), 1);
    const z = x.concat(bends.map(ramp));
    for (const [k, plus, minus] of terms) out[k] += largest(plus, z) - largest(minus, z);
  }
  return out;
}
"""
REGRESSION = """
export function predict(row) {
  return Math.min(Math.max(values(row)[0], %(low)s), %(high)s);
}
"""
LEVELS = """
export const levels = %(levels)s;

export function predict(row) {
  const sorted = values(row).sort((a, b) => a - b);
  return sorted.map((value) => Math.min(Math.max(value, %(low)s), %(high)s));
}
"""
CLASSES = """
export const classes = %(labels)s;

export function scores(row) {
  return values(row);
}

export function predict(row) {
  const s = values(row);
  return classes[s.indexOf(Math.max(...s))];
}
"""
PROBABILITIES = """
export function probabilities(row) {
  const s = values(row);
  const top = Math.max(...s);
  const p = s.map((score) => Math.exp(%(temperature)r * (score - top)));
  const total = p.reduce((a, b) => a + b);
  return p.map((each) => each / total);
}
"""
HELPERS = """
const missing = (c) => c === null || c === undefined || Number.isNaN(c);
const number = (c) => (typeof c === "string" && !c.trim() ? NaN : Number(c));
const days = (c) => (c instanceof Date ? c.getTime() / 86400000 : c);
"""


def to_js(model: Any) -> str:
    """Return an ES module that predicts as the model does.

    It exports ``predict(row)`` and ``columns``; of classes also ``classes``, ``scores(row)`` and, if there are any,
    ``probabilities(row)``. A row is an array in the order of the training, or an object by column names. Null and NaN
    are missing; a date is a ``Date``, read in UTC, or a number of days since 1970. Other cells, and rows of another
    length, are a TypeError.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC

    Examples
    --------
    >>> from pldc import PLDC
    >>> "export function predict(row)" in to_js(PLDC.affine([1.0]))
    True
    """
    known = learned(model)
    refuse_zones(model, "JavaScript")
    groups = [
        f"  [{_json(list(map(list, ramps(hinges))) if hinges is not None else [])}, [\n"
        + "".join(f"    [{k}, {', '.join(map(_json, pieces(term)))}],\n" for k, term in terms)
        + "  ]],\n"
        for hinges, terms in known.groups()
    ]
    parts = [
        f"// {known.title}",
        f"export const columns = {json.dumps([name for name, _ in known.columns], indent=2)};",
        HELPERS,
        f"const center = {_json(known.center.tolist())}; // ramps and pieces are of features less this",
        "// For each set of ramps (feature, start, width): number of the function, pieces added, pieces subtracted.",
        "// A piece is its slopes and, last, its offset.",
        f"const groups = [\n{''.join(groups)}];\n",
        _features(known),
        BODY % {"count": len(known.functions)},
    ]
    if known.classes is None:
        words = {"low": _number(known.low), "high": _number(known.high), "levels": list(known.levels or [])}
        parts.append((REGRESSION if known.levels is None else LEVELS) % words)
    else:
        parts.append(CLASSES % {"labels": _json(known.classes)})
        if known.temperature is not None:
            parts.append(PROBABILITIES % {"temperature": known.temperature})
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _number(value: float) -> str:
    return repr(value) if abs(value) < float("inf") else f"{'-' * (value < 0)}Infinity"


def _features(known: Learned) -> str:
    """Return the function that makes features of cells."""
    rows = []
    for feature in known.features:
        rows.append(f"    {FEATURES[feature.kind](feature, f'c[{feature.column}]')},")
    return "\n".join(["function features(c) {", "  return [", *rows, "  ];", "}"])


def _cells(level: str) -> list[Any]:
    """Return the cells that are of a level: its text, and the number or boolean that has this text."""
    if level in ("True", "False"):
        return [level, level == "True"]
    try:
        number = float(level)
    except ValueError:
        return [level]
    spelt = str(int(number)) if number.is_integer() else repr(number)
    return [level, number] if spelt == level else [level]


def _level(feature: Any, cell: str) -> str:
    return f"{_json(_cells(feature.level))}.includes({cell}) ? 1 : 0"


def _statistic(feature: Any, cell: str) -> str:
    table = [[spelt, value] for level, value in feature.table for spelt in _cells(level)]
    return f"missing({cell}) ? {feature.missing!r} : new Map({_json(table)}).get({cell}) ?? {feature.default!r}"


def _date(feature: Any, cell: str) -> str:
    value = f"days({cell})"
    if feature.wave != "linear":
        since = f"({value} + {MONDAY if feature.period == 7.0 else 0.0})"
        value = f"({since} - {feature.period!r} * Math.floor({since} / {feature.period!r}))"
        value = f"Math.{feature.wave}(2 * Math.PI * {value} / {feature.period!r})"
    return f"missing({cell}) ? {feature.fill!r} : {value}"


FEATURES: dict[str, Any] = {
    "number": lambda f, cell: f"missing({cell}) ? {'NaN' if f.fill != f.fill else repr(f.fill)} : number({cell})",
    "missing": lambda f, cell: f"missing({cell}) ? 1 : 0",
    "level": _level,
    "statistic": _statistic,
    "date": _date,
}
