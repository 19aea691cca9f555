"""C: a model as one header without dependencies, for rows in double or single precision."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from string import Template
from typing import Any

import numpy as np

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, learned, levels, pieces, precision, ramps, single

START = """
#ifdef ${name}_H
#ifndef ${name}_H_$hash
#error "Two models are called $name: give one of them another name, to_c(model, name=...)."
#endif
#else
#define ${name}_H
#define ${name}_H_$hash
#include <$math.h>
#include <string.h>
"""
SINGLE = """
/* Rows and answers are single, sums between are double: far from the data both parts of a sum are large, and cancel.
   -DPLDC_SUM=float is for machines without doubles; far from the data it loses digits. */
#ifndef PLDC_SUM
#define PLDC_SUM double
#endif
"""
TABLES = """
static const $real ${name}_center[] = {$center};
/* Ramps of features less the centre: the feature, where each begins, and how long it is. */
static const int ${name}_source[] = {$source};
static const $real ${name}_start[] = {$start};
static const $real ${name}_width[] = {$length};
/* Terms: the function, first and last ramp, pieces added and pieces subtracted. */
static const int ${name}_terms[][5] = {$term};
static const $real ${name}_pieces[] = {
  $pieces
};

/* Features of a row. */
static inline void ${name}_features(const $cell *row, $real *x) {
$rules
}
"""
BODY = """
/* Largest of some pieces at z: each is its slopes and, last, its offset. */
static inline $real ${name}_largest(const $real *piece, int count, const $real *z, int width) {
  $real best = 0;
  for (int k = 0; k < count; k++, piece += width + 1) {
    $real value = piece[width];
    for (int j = 0; j < width; j++) value += piece[j] * z[j];
    if (k == 0 || value > best) best = value;
  }
  return best;
}

/* Values of the functions: what is predicted before it is cut, or the scores of the classes. */
static inline void ${name}_values(const $cell *row, $real *out) {
  $real x[$features], z[$width];
  ${name}_features(row, x);
  for (int k = 0; k < $functions; k++) out[k] = 0;
  for (int j = 0; j < $features; j++) z[j] = x[j] - ${name}_center[j];
  const $real *piece = ${name}_pieces;
  for (int t = 0; t < $terms; t++) {
    const int *term = ${name}_terms[t];
    int width = $features;
    for (int r = term[1]; r < term[2]; r++, width++) {
      $real rise = (z[${name}_source[r]] - ${name}_start[r]) / ${name}_width[r];
      z[width] = rise < 0 ? 0 : rise > 1 ? 1 : rise;
    }
    const $real *minus = piece + term[3] * (width + 1);
    out[term[0]] += ${name}_largest(piece, term[3], z, width) - ${name}_largest(minus, term[4], z, width);
    piece = minus + term[4] * (width + 1);
  }
}
"""
REGRESSION = """
static inline $outside ${name}_predict(const $cell *row) {
  $real value;
  ${name}_values(row, &value);
$cuts  return ($outside)value;
}
"""
LEVELS = """
/* Predictions of all levels, in order. */
static inline void ${name}_predict(const $cell *row, $outside *out) {
  $real values[$functions];
  ${name}_values(row, values);
  for (int k = 0; k < $functions; k++) {
    $real value = values[k];
    int j = k;
$cuts    for (; j > 0 && out[j - 1] > value; j--) out[j] = out[j - 1];
    out[j] = ($outside)value;
  }
}
"""
CLASSES = """
/* Labels of the classes, in the order of the scores. */
static $label const ${name}_labels[$functions] = {$labels};

static inline void ${name}_scores(const $cell *row, $outside *scores) {
  $real values[$functions];
  ${name}_values(row, values);
  for (int k = 0; k < $functions; k++) scores[k] = ($outside)values[k];
}

/* Place of the class with the highest score. */
static inline int ${name}_predict(const $cell *row) {
  $real scores[$functions];
  int best = 0;
  ${name}_values(row, scores);
  for (int k = 1; k < $functions; k++) {
    if (scores[k] > scores[best]) best = k;
  }
  return best;
}

static inline $label ${name}_label(const $cell *row) {
  return ${name}_labels[${name}_predict(row)];
}
"""
PROBABILITIES = """
static inline void ${name}_probabilities(const $cell *row, $outside *p) {
  $real total = 0, top, values[$functions];
  ${name}_values(row, values);
  top = values[0];
  for (int k = 1; k < $functions; k++) {
    if (values[k] > top) top = values[k];
  }
  for (int k = 0; k < $functions; k++) total += values[k] = ($real)exp($temperature * (values[k] - top));
  for (int k = 0; k < $functions; k++) p[k] = ($outside)(values[k] / total);
}
"""
CELLS = """
/* A cell of a row: a text for a category, NULL if it is missing; else a number, NAN if it is missing. Dates are days
   since 1 January 1970, on the clock of the training: a float would lose the time of day. */
typedef struct { $real number; const char *text; } ${name}_cell;
"""


def to_c(model: Any, dtype: str = "double", name: str = "pldc") -> str:
    """Return a C header (C99) that predicts as the model does.

    It defines ``pldc_predict(row)``, where a row is an array of the columns of the training, in their order. Of several
    quantiles it is ``pldc_predict(row, out)``. Of classes it is the place of the class; ``pldc_label(row)`` is its
    label, ``pldc_scores(row, out)`` and, if there are any, ``pldc_probabilities(row, out)`` fill an array. With columns
    of categories or dates, or numbers of which some were missing in the training, a row is an array of ``pldc_cell``,
    each a number or a text. Link with ``-lm``.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC
    dtype : {"double", "float"}, default="double"
        Of rows and answers; "float64", and "single" or "float32", are the same. With "float", sums between and the
        numbers of a ``pldc_cell`` are in double precision; the macro ``PLDC_SUM`` says otherwise, for machines without
        doubles, and then digits are lost, far from the data and of the time of day.
    name : str, default="pldc"
        What all names begin with: give several models different ones.

    Examples
    --------
    >>> from pldc import PLDC
    >>> "static inline float hat_predict(const float *row)" in to_c(abs(PLDC.affine([1.0])), "float", "hat")
    True
    """
    dtype = {"double": "double", "single": "float"}[precision(dtype)]
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be one that C allows, of letters, digits and underscores; got {name!r:.80}.")
    known, (number, inside) = learned(model, TYPES[dtype]), NUMBERS[dtype]
    bent: list[tuple[int, float, float]] = []
    terms, parts, width = [], [], len(known.features)
    for hinges, group in known.groups():
        own = [] if hinges is None else ramps(hinges)
        bent += own
        width = max(width, len(known.features) + len(own))
        for function, term in group:
            both = pieces(term)
            parts += [_row(map(number, piece)) for part in both for piece in part]
            terms.append(f"{{{_row(map(str, [function, len(bent) - len(own), len(bent), *map(len, both)]))}}}")
    source, start, length = zip(*bent or [(0, 0.0, 1.0)], strict=True)
    labels = known.classes or [0]
    words = {
        "name": name,
        "math": "math" if dtype == "double" else "tgmath",
        "real": "double" if dtype == "double" else "PLDC_SUM",
        "outside": dtype,
        "cell": dtype if known.plain else f"{name}_cell",
        "functions": len(known.functions),
        "features": len(known.features),
        "width": width,
        "terms": len(terms),
        "center": _row(map(number, known.center.tolist())),
        "source": _row(map(str, source)),
        "start": _row(map(number, start)),
        "length": _row(map(number, length)),
        "term": _row(terms),
        "pieces": ",\n  ".join(parts),
        "rules": "\n".join(f"  x[{k}] = {rule};" for k, rule in enumerate(_features(known, inside))),
        "cuts": _cuts(known, inside),
        "label": LABELS[type(labels[0])],
        "labels": _row(map(_label, labels)),
        "temperature": inside(known.temperature or 0.0),
    }
    answers = [REGRESSION if known.levels is None else LEVELS]
    if known.classes is not None:
        answers = [CLASSES] if known.temperature is None else [CLASSES, PROBABILITIES]
    templates = [
        START,
        *([SINGLE] if dtype == "float" else []),
        *([] if known.plain else [CELLS]),
        TABLES,
        BODY,
        *answers,
        "\n#endif\n",
    ]
    words["hash"] = sha256(_filled(templates, words | {"hash": ""}).encode()).hexdigest()[:16]
    return _title(known) + _filled(templates, words)


def _filled(templates: list[str], words: dict[str, Any]) -> str:
    """Fill templates, once: texts of users may hold dollars."""
    return "".join(Template(each).substitute(words) for each in templates)


def _title(known: Learned) -> str:
    """Return a comment: the columns, and the levels of those of categories."""
    lines = [f"{known.title} Columns: {', '.join(column for column, _ in known.columns)}"]
    for place, (column, kind) in enumerate(known.columns):
        if kind == "category":
            texts = ", ".join(f'"{level}"' for level in sorted(levels(known.features, place)))
            lines.append(f"Levels of {column}: {texts}")
    lines = [" ".join(line.split()) for line in lines]
    return "/* " + "\n   ".join(lines).replace("*", "×").replace("\\", "/") + " */"


def _double(value: float) -> str:
    return repr(value) if math.isfinite(value) else "NAN"


def _single(value: float) -> str:
    """Return a number that also sums in single precision could take."""
    return _double(single(value))


def _cast(value: float) -> str:
    """Return a number inside an expression: uncast, it would draw the others to double."""
    return f"(PLDC_SUM){_single(value)}"


def _row(values: Iterable[str]) -> str:
    return ", ".join(values)


def _label(value: Any) -> str:
    return _text(value) if isinstance(value, str) else repr(int(value)) if isinstance(value, bool) else repr(value)


def _text(value: str) -> str:
    """Return a text of C, in UTF-8; what is not plain is written byte by byte."""
    plain = frozenset(b" !#$%&'()*+,-./:;<=>@[]^_`{|}~")
    out = (chr(b) if (chr(b).isalnum() and b < 128) or b in plain else f"\\{b:03o}" for b in value.encode())
    return '"' + "".join(out) + '"'


def _cuts(known: Learned, number: Callable[[float], str]) -> str:
    limits = [(sign, limit) for sign, limit in (("<", known.low), (">", known.high)) if math.isfinite(limit)]
    return "".join(f"  if (value {sign} {number(limit)}) value = {number(limit)};\n" for sign, limit in limits)


def _features(known: Learned, number: Callable[[float], str]) -> list[str]:
    """Return the expression of each feature."""
    out = []
    for feature in known.features:
        kind, place = known.columns[feature.column][1], f"row[{feature.column}]"
        cell = place if known.plain else f"{place}.text" if kind == "category" else f"{place}.number"
        gap = f"{cell} == NULL" if kind == "category" else f"isnan({cell})"
        out.append(FEATURES[feature.kind](feature, cell, number).replace(GAP, gap))
    return out


GAP = "/*gap*/"  # where a rule asks whether the cell is missing


def _number(feature: Any, cell: str, number: Callable[[float], str]) -> str:
    return cell if math.isnan(feature.fill) else f"{GAP} ? {number(feature.fill)} : {cell}"


def _missing(feature: Any, cell: str, number: Callable[[float], str]) -> str:
    return f"{GAP} ? 1 : 0"


def _level(feature: Any, cell: str, number: Callable[[float], str]) -> str:
    return f"!({GAP}) && !strcmp({cell}, {_text(feature.level)}) ? 1 : 0"


def _statistic(feature: Any, cell: str, number: Callable[[float], str]) -> str:
    cases = [f"!strcmp({cell}, {_text(level)}) ? {number(value)}" for level, value in feature.table]
    return " :\n    ".join([f"{GAP} ? {number(feature.missing)}", *cases, number(feature.default)])


def _date(feature: Any, cell: str, number: Callable[[float], str]) -> str:
    value = cell
    if feature.wave != "linear":
        since, period = f"({cell} + {number(MONDAY if feature.period == 7.0 else 0.0)})", number(feature.period)
        value = f"({since} - {period} * floor({since} / {period}))"
        value = f"{feature.wave}({number(2.0 * math.pi)} * {value} / {period})"
    return f"{GAP} ? {number(feature.fill)} : {value}"


TYPES: dict[str, type] = {"double": np.float64, "float": np.float32}
NUMBERS: dict[str, tuple[Callable[[float], str], ...]] = {"double": (_double, _double), "float": (_single, _cast)}
LABELS = {str: "const char *", int: "long", bool: "int", float: "double"}
FEATURES = {"number": _number, "missing": _missing, "level": _level, "statistic": _statistic, "date": _date}
