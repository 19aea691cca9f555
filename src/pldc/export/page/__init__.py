"""One self-contained page on which a model can be tried: it runs in the browser, and nothing leaves it.

The page is a template, its style and two scripts (`model.js` evaluates, `page.js` draws), with the model as JSON in the
middle. Every name from the data goes in as JSON and comes out as text, never as markup.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from pldc.function.max_affine import Array
from pldc.model import Model

COVERAGE = 0.9
REACH = 2.5  # standard deviations to either side of the mean that sliders span, where no table says more


@dataclass(frozen=True)
class ColumnRange:
    """What a field of the page offers: the range of a column, and where it begins.

    Attributes
    ----------
    low, high : float or None
        Of numbers and dates (days since 1970).
    typical : float, str or None
        The value that the page begins with; None: missing.
    spread : float
        Standard deviation of numbers.
    """

    low: float | None
    high: float | None
    typical: Any
    spread: float = 1.0


def page(
    models: Sequence[tuple[str, Model]],
    ranges: Sequence[ColumnRange] | None = None,
    rows: Sequence[Sequence[Any]] | None = None,
    title: str = "A piecewise-linear model",
    about: Sequence[str] = (),
) -> str:
    """Return the page of a model as HTML.

    Parameters
    ----------
    models : sequence of (str, Model)
        What the page can switch between, each with a line that says what it is: first the model itself, then simpler
        ones. They share columns and classes.
    ranges : sequence of ColumnRange, optional
        One for each column. By default around the mean, as far as the model knows it.
    rows : sequence of rows, optional
        Training rows to step through, cell by cell. By default there are none in the page.
    title : str
    about : sequence of str
        Lines under the title.
    """
    first = models[0][1]
    known = ranges or default_ranges(first)
    record = {
        "title": title,
        "about": list(about),
        "columns": [
            {"name": name, "kind": kind, "levels": levels, "importance": weight, **vars(span)}
            for (name, kind, levels), weight, span in zip(columns(first), importances(first), known, strict=True)
        ],
        "features": list(first.feature_names or (f"x{k}" for k in range(len(first.center)))),
        "encoding": None if first.columns is None else first.columns.to_dict(),
        "reference": first.center.tolist(),
        "classes": None if first.classes is None else [str(label) for label in first.classes],
        "levels": None if first.levels is None else list(first.levels),
        "coverage": COVERAGE,
        "variants": [variant(text, model) for text, model in models],
        "certificate": certificate(first),
        "rows": None if rows is None else [list(row) for row in rows],
    }
    text = json.dumps(plain(record), allow_nan=False, ensure_ascii=False)
    for mark in "<>&\u2028\u2029":  # no end of a script, whatever a column is called
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    part = {name: files(__package__).joinpath(name).read_text(encoding="utf-8") for name in FILES}
    html = part["page.html"].replace("/*STYLE*/", part["page.css"])
    html = html.replace("/*SCRIPT*/", part["model.js"] + "\n" + part["page.js"])
    return html.replace("/*MODEL*/", text)


FILES = ("page.html", "page.css", "model.js", "page.js")


def columns(model: Model) -> list[tuple[str, str, list[str]]]:
    """Return the name, kind and levels of each column."""
    if model.columns is None:
        return [(name, "number", []) for name in model.column_names]
    return [(c.name, c.kind, list(model.columns.levels(k))) for k, c in enumerate(model.columns.columns)]


def importances(model: Model) -> Array:
    """Return the importance of each column; alike where the model does not know them."""
    return np.ones(len(columns(model))) if model.importances is None else model.importances


def default_ranges(model: Model) -> list[ColumnRange]:
    """Return ranges around the mean of each column; a category begins with its first level."""
    out = []
    for k, (_, kind, levels) in enumerate(columns(model)):
        if kind == "category":
            out.append(ColumnRange(None, None, levels[0] if levels else None))
            continue
        at = k if model.columns is None else int(np.flatnonzero(model.columns.source == k)[0])
        middle, spread = float(model.center[at]), float(model.spread[at])
        out.append(ColumnRange(middle - REACH * spread, middle + REACH * spread, middle, spread))
    return out


def variant(text: str, model: Model) -> dict[str, Any]:
    """Return what the page needs to evaluate one model."""
    errors = None
    if model.errors is not None and model.levels is None:
        scale = model.errors.scale
        errors = {
            "quantile": model.errors.quantile(COVERAGE),
            "scale": None if scale is None else scale.to_dict(),
            "limits": list(model.errors.limits),
        }
    return {
        "about": text,
        "pieces": max(max(f.n_pieces) if f.is_plain else sum(map(len_of, f.terms)) for f in model.functions),
        "functions": [f.to_dict() for f in model.functions],
        "limits": list(model.limits),
        "lowest": model.lowest,
        "temperature": 1.0 if model.temperature is None else model.temperature,
        "errors": errors,
    }


def len_of(term: Any) -> int:
    """Pieces of both parts of a term."""
    return len(term.plus.offsets) + len(term.minus.offsets)


def certificate(model: Model) -> list[str]:
    """Say what is proved of the fit."""
    if model.program is None:
        return [
            "This function was found by descent: nothing is proved about it. pldc.certify puts it beside the best that any "
            "number of pieces could do."
        ]
    proved = model.program.certificate
    return [
        f"Objective {proved.upper:.6g} at λ = {model.program.lam:.4g}; no difference of convex functions is below "
        f"{proved.lower:.6g}.",
        f"Certified gap: {proved.gap:.2g}.",
    ]


def plain(value: Any) -> Any:
    """Return numbers, texts, lists and dictionaries alone; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
