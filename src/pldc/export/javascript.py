"""JavaScript: a model as one ES module without dependencies, for browsers and Node."""

from __future__ import annotations

import json
from typing import Any

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, learned, number_of, pieces, ramps, refuse_zones

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

// Cells of a row: an array in the order of `columns`, or an object with a key for each.
function cells(row) {
  if (Array.isArray(row) || ArrayBuffer.isView(row)) {
    if (row.length === columns.length) return Array.from(row);
    throw new TypeError(`A row has ${columns.length} cells, not ${row.length}.`);
  }
  if (row === null || typeof row !== "object") {
    throw new TypeError(`A row is an array, or an object by the names of columns; this is none: ${shown(row)}`);
  }
  for (const name of columns) {
    if (!Object.prototype.hasOwnProperty.call(row, name)) {
      throw new TypeError(`The row lacks the key "${name}": give null where a cell is missing.`);
    }
  }
  return columns.map((name) => row[name]);
}

// Values of the functions at a row.
function values(row) {
  const c = cells(row).map((cell, k) => {
    if (missing(cell)) return null;
    const value = read[kinds[k]](cell);
    if (value !== undefined) return value;
    throw new TypeError(`Column "${columns[k]}" takes ${taken[kinds[k]]}, not ${shown(cell)}`);
  });
  const x = features(c).map((value, j) => value - center[j]);
  if (!x.every(Number.isFinite)) throw new TypeError(`The model needs all numbers; one is missing: ${shown(c)}`);
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
const finite = (value) => (Number.isFinite(value) ? value : undefined);
const decimal = /^\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?\\s*$/i;
const simple = (c) => ["number", "bigint", "boolean"].includes(typeof c);

// A cell as the number, level or days that it is; undefined if it is none.
const read = {
  number: (c) => (simple(c) || (typeof c === "string" && decimal.test(c)) ? finite(Number(c)) : undefined),
  category: (c) => (["string", "number", "boolean"].includes(typeof c) ? c : undefined),
  date(c) {
    if (Object.prototype.toString.call(c) === "[object Date]") return finite(c.getTime() / 86400000);
    return typeof c === "number" ? finite(c) : undefined;
  },
};
const taken = {
  number: "a number, or its text",
  category: "a text, a number or a boolean",
  date: "a Date, or a number of days since 1970",
};

function shown(value) {
  try {
    if (typeof value === "string") return JSON.stringify(value).slice(0, 80);
    const kind = value === null || value === undefined ? "" : ` (${typeof value})`;
    return String(value).slice(0, 80) + kind;
  } catch {
    return `an ${typeof value}`; // one that has no text
  }
}
"""


def to_js(model: Any) -> str:
    """Return an ES module that predicts as the model does.

    It exports ``predict(row)`` and ``columns``; of classes also ``classes``, ``scores(row)`` and, if there are any,
    ``probabilities(row)``. A row is an array in the order of the training, typed or not, or an object with all column
    names as its keys. Null, undefined and NaN are missing. A number may be its text, a boolean or a BigInt; a date is a
    ``Date``, read in UTC, or a number of days since 1970; a category is a text, a number or a boolean, and no BigInt.
    Other cells, and other rows, are a TypeError.

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
        f"const kinds = {_json([kind for _, kind in known.columns])};",
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
    number = number_of(level)
    return [level] if number is None else [level, number]


def _level(feature: Any, cell: str) -> str:
    return f"{_json(_cells(feature.level))}.includes({cell}) ? 1 : 0"


def _statistic(feature: Any, cell: str) -> str:
    table = [[spelt, value] for level, value in feature.table for spelt in _cells(level)]
    return f"{cell} === null ? {feature.missing!r} : new Map({_json(table)}).get({cell}) ?? {feature.default!r}"


def _date(feature: Any, cell: str) -> str:
    value = cell
    if feature.wave != "linear":
        since = f"({value} + {MONDAY if feature.period == 7.0 else 0.0})"
        value = f"({since} - {feature.period!r} * Math.floor({since} / {feature.period!r}))"
        value = f"Math.{feature.wave}(2 * Math.PI * {value} / {feature.period!r})"
    return f"{cell} === null ? {feature.fill!r} : {value}"


FEATURES: dict[str, Any] = {
    "number": lambda f, cell: f"{cell} === null ? {'NaN' if f.fill != f.fill else repr(f.fill)} : {cell}",
    "missing": lambda f, cell: f"{cell} === null ? 1 : 0",
    "level": _level,
    "statistic": _statistic,
    "date": _date,
}
