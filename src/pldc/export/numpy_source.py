"""Python source: a model as a function of NumPy arrays, without pldc."""

from __future__ import annotations

from typing import Any

from pldc.columns.features import MONDAY
from pldc.export.learned import Learned, learned, pieces, ramps, refuse_zones

READING = """
COLUMNS = {names}


def gap(cell):
    return cell is None or type(cell).__name__ == "NAType" or cell != cell


def number(cell, name):
    try:
        return np.nan if gap(cell) else float(cell)
    except (TypeError, ValueError):
        raise ValueError(f"Column {{name!r}} takes numbers, not {{cell!r:.80}}.") from None


def is_length(cell):
    return (isinstance(cell, np.timedelta64) or hasattr(cell, "total_seconds")) and not gap(cell)


def cells(X):
    if hasattr(X, "get_columns") or hasattr(X, "column_names"):
        raise TypeError("X must be an array or a frame of pandas: give X.to_pandas().")
    names, X = list(getattr(X, "columns", ())), np.asarray(X)
    if {named} and all(isinstance(name, str) for name in names) and names not in ([], COLUMNS):
        raise ValueError(f"The columns must be {{COLUMNS}}, in this order, not {{names}}.")
    if X.shape[1:] != ({columns},):
        raise ValueError(f"X must be an array of rows, of shape (n, {columns}); it has shape {{X.shape}}.")
    if X.dtype.kind == "m" or (X.dtype.kind == "O" and any(map(is_length, X.ravel()))):
        raise TypeError("Lengths of time must be numbers of days here: divide them by np.timedelta64(1, 'D').")
    return X

"""
VALUES = """
def values(X):
    X = features(cells(X)) - CENTER
    out = np.zeros((len(X), {count}))
    for k, ramps, plus, minus in TERMS:
        Z = X
        if ramps:
            source, start, width = RAMPS[ramps - 1]
            Z = np.hstack([X, np.clip((X[:, source] - start) / width, 0.0, 1.0)])
        out[:, k] += (Z @ plus[:, :-1].T + plus[:, -1]).max(axis=1) - (Z @ minus[:, :-1].T + minus[:, -1]).max(axis=1)
    return out
"""
CELLS = """
EPOCH, DAY = np.datetime64(0, "us"), np.timedelta64(86_400_000_000, "us")


def moment(cell, name):
    if gap(cell):
        return None
    cell = getattr(cell, "start_time", cell)  # of a period
    try:
        if not isinstance(cell, (int, float, str, np.number)) and getattr(cell, "tzinfo", None) is None:
            return np.datetime64(cell, "us")
    except (TypeError, ValueError):
        pass
    raise ValueError(f"Column {name!r} takes dates, not {cell!r:.80}; they have no time zone.")


def text(cell):
    if not isinstance(cell, (int, float, np.number)) or isinstance(cell, bool):
        return str(cell)
    return str(int(cell)) if float(cell).is_integer() else repr(float(cell))


def features(X):
    X = X.astype("datetime64[us]" if X.dtype.kind == "M" else object).astype(object)
    out = []
"""
PLAIN = """
def features(X):
    if X.dtype.kind not in "biuf":
        X = [[number(cell, name) for cell, name in zip(row, COLUMNS)] for row in X]
    X = np.asarray(X, dtype=float).reshape(-1, len(COLUMNS))
    return {last}
"""
REGRESSION = """

def predict(X):
    return np.clip(values(X)[:, 0], {low}, {high})
"""
LEVELS = """

def predict(X):
    return np.clip(np.sort(values(X), axis=1), {low}, {high})
"""
CLASSES = """

def scores(X):
    return values(X)


def predict(X):
    return np.array({labels})[values(X).argmax(axis=1)]
"""
PROBABILITIES = """

def probabilities(X):
    Z = {temperature} * values(X)
    P = np.exp(Z - Z.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)
"""


def to_numpy(model: Any) -> str:
    """Return Python source that predicts as the model does, and needs nothing but NumPy.

    It defines ``predict(X)``; of classes also ``scores(X)`` and, if there are any, ``probabilities(X)``. X is an array
    of the columns of the training, in their order; with categories or dates, an array of objects. A frame whose columns
    have other names, or another order, is refused. Lengths of time are numbers of days.

    Parameters
    ----------
    model : fitted DCRegressor or DCClassifier, Model or PLDC

    Examples
    --------
    >>> from pldc import PLDC
    >>> names = {}
    >>> exec(to_numpy(abs(PLDC.affine([1.0], -2.0))), names)
    >>> names["predict"]([[0.0], [3.0]])
    array([2., 1.])
    """
    known = learned(model)
    refuse_zones(model, "this source")
    groups = known.groups()
    first = 0 if groups[0][0] is None else 1
    names = [name for name, _ in known.columns]
    words = {"names": names, "columns": len(names), "named": names != [f"x{k}" for k in range(len(names))]}
    terms = [
        f"    ({k}, {number}, *map(np.array, {pieces(term)})),"
        for number, (_, each) in enumerate(groups, start=first)
        for k, term in each
    ]
    bent = [f"    tuple(map(np.array, {list(zip(*ramps(h), strict=True))}))," for h, _ in groups if h is not None]
    parts = [
        f"# {known.title}",
        "import numpy as np\n",
        f"CENTER = np.array({known.center.tolist()})  # ramps and pieces are of features less this",
        "\n".join(["RAMPS = [  # feature, start and width of each", *bent, "]"]),
        "\n".join(["TERMS = [  # function, ramps, and pieces: slopes and, last, the offset", *terms, "]"]),
        READING.format(**words),
        _features(known),
        VALUES.format(count=len(known.functions)),
    ]
    if known.classes is None:
        answer = REGRESSION if known.levels is None else LEVELS
        parts.append(answer.format(low=_number(known.low), high=_number(known.high)))
    else:
        parts.append(CLASSES.format(labels=known.classes))
        if known.temperature is not None:
            parts.append(PROBABILITIES.format(temperature=known.temperature))
    return "\n".join(parts)


def _number(value: float) -> str:
    return repr(value) if abs(value) < float("inf") else f"{'-' * (value < 0)}np.inf"


def _features(known: Learned) -> str:
    """Return the function that makes features of cells."""
    if known.plain:
        fills = [feature.fill for feature in known.features]
        filled = all(fill == fill for fill in fills)
        last = f"np.where(np.isnan(X), {fills}, X)" if filled else "X"
        return PLAIN.format(last=last).strip("\n") + "\n"
    lines = [CELLS.strip("\n")]
    for column, (name, kind) in enumerate(known.columns):
        lines.append(f"    x = {READ[kind].format(column=column, name=name)}")
        for feature in known.features:
            if feature.column == column:
                lines.append(f"    out.append({FEATURES[feature.kind](feature)})")
    return "\n".join([*lines, "    return np.column_stack(out).astype(float)", ""])


READ = {
    "number": "np.array([number(c, {name!r}) for c in X[:, {column}]])",
    "category": "[None if gap(c) else text(c) for c in X[:, {column}]]",
    "date": '(np.array([moment(c, {name!r}) for c in X[:, {column}]], "datetime64[us]") - EPOCH) / DAY',
}
FEATURES: dict[str, Any] = {
    "number": lambda f: f"np.where(np.isnan(x), {f.fill}, x)",
    "missing": lambda f: "[gap(c) for c in x]",
    "level": lambda f: f"[c == {f.level!r} for c in x]",
    "statistic": lambda f: f"[{dict(f.table) | {None: f.missing}}.get(c, {f.default}) for c in x]",
    "date": lambda f: f"np.where(np.isnan(x), {f.fill}, {_wave(f)})",
}


def _wave(feature: Any) -> str:
    """Return a part of the days x."""
    if feature.wave == "linear":
        return "x"
    phase = f"np.mod(x + {MONDAY if feature.period == 7.0 else 0.0}, {feature.period})"
    return f"np.{feature.wave}(2.0 * np.pi * {phase} / {feature.period})"
