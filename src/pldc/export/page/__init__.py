"""One self-contained page on which a model can be tried: it runs in the browser, and nothing leaves it.

The page is a template, its style and three scripts (`model.js` evaluates, `panels.js` draws, `page.js` has the fields),
with the model as JSON in the middle. Every name from the data goes in as JSON and comes out as text, never as markup.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from pldc.columns.serialise import to_dict
from pldc.export.learned import Learned, learned, levels
from pldc.model import Model

COVERAGE = 0.9
REACH = 2.5  # standard deviations to either side of the mean that sliders span, where no table says more
SCRIPTS = ("model.js", "panels.js", "page.js")
UNSAFE = "<>&\u2028\u2029"  # in JSON within HTML: no end of a script, whatever a column is called


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
    whole : bool
        Whether its numbers are whole ones, or its dates without a time.
    """

    low: float | None
    high: float | None
    typical: Any
    spread: float = 1.0
    whole: bool = False


@dataclass(frozen=True)
class TrainingRows:
    """Rows that the page can step through.

    Attributes
    ----------
    cells : list of lists
        Numbers, texts of levels and days since 1970; None where missing.
    targets : list or None
    """

    cells: list[list[Any]]
    targets: list[Any] | None = None


def page(
    models: Sequence[tuple[str, Model]],
    ranges: Sequence[ColumnRange] | None = None,
    rows: TrainingRows | None = None,
    title: str = "A piecewise-linear model",
    about: Sequence[str] = (),
    target: str | None = None,
) -> str:
    """Return the page of a model as HTML.

    Parameters
    ----------
    models : sequence of (str, Model)
        What the page can switch between, each with a line that says what it is: simpler ones first, last the model
        itself. They share columns and classes.
    ranges : sequence of ColumnRange, optional
        One for each column. By default around the mean, as far as the model knows it.
    rows : TrainingRows, optional
        By default there are none in the page.
    title : str
    about : sequence of str
        Lines under the title.
    target : str, optional
        Name of what is predicted.
    """
    whole = models[-1][1]
    known = learned(whole)
    record = {
        "title": title,
        "about": list(about),
        "predicted": target,
        "columns": columns(whole, known, ranges or default_ranges(whole, known)),
        "names": list(whole.feature_names or whole.column_names),
        "features": to_dict((), known.features)["features"],
        "reference": whole.center.tolist(),
        "spread": whole.spread.tolist(),
        "classes": None if known.classes is None else list(map(str, known.classes)),
        "levels": known.levels,
        "target": whole.target_range,
        "coverage": COVERAGE,
        "variants": [variant(text, model) for text, model in models],
        "rows": None if rows is None else vars(rows),
    }
    text = json.dumps(plain(record), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for mark in UNSAFE:
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    html = source("page.html").replace("/*STYLE*/", source("page.css"))
    html = html.replace("/*SCRIPT*/", "\n".join(map(source, SCRIPTS)))
    return html.replace("/*MODEL*/", text)


def source(name: str) -> str:
    """Return the text of a part of the page."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def columns(model: Model, known: Learned, ranges: Sequence[ColumnRange]) -> list[dict[str, Any]]:
    """Return what the page knows of each column."""
    weight = np.ones(len(known.columns)) if model.importances is None else model.importances
    zones = [None] * len(known.columns) if model.columns is None else [c.zone for c in model.columns.columns]
    return [
        {
            "name": name,
            "kind": kind,
            "levels": sorted(levels(known.features, k)),
            "zone": zone,
            "importance": float(each),
            **vars(span),
        }
        for k, ((name, kind), zone, each, span) in enumerate(zip(known.columns, zones, weight, ranges, strict=True))
    ]


def default_ranges(model: Model, known: Learned) -> list[ColumnRange]:
    """Return ranges around the mean of each column; a category begins with the level that most rows have."""
    out = []
    for k, (_, kind) in enumerate(known.columns):
        own = [j for j, feature in enumerate(known.features) if feature.column == k]
        if kind == "category":
            shares = {known.features[j].level: model.center[j] for j in own if known.features[j].kind == "level"}
            first = next(iter(sorted(levels(known.features, k))), None)
            out.append(ColumnRange(None, None, max(shares, key=shares.__getitem__, default=first)))
        else:
            middle, spread = float(model.center[own[0]]), float(model.spread[own[0]])
            out.append(ColumnRange(middle - REACH * spread, middle + REACH * spread, middle, spread))
    return out


def variant(text: str, model: Model) -> dict[str, Any]:
    """Return what the page needs to evaluate one model, and to say of it."""
    known, errors = learned(model), None
    if model.errors is not None and model.levels is None:
        scale = model.errors.scale
        errors = {
            "quantile": model.errors.quantile(COVERAGE),
            "scale": None if scale is None else scale.to_dict(),
            "limits": model.errors.limits,
        }
    return {
        "about": text,
        "functions": [f.to_dict() for f in model.functions],
        "low": known.low,
        "high": known.high,
        "lowest": model.lowest,
        "temperature": model.temperature,
        "errors": errors,
        "certificate": certificate(model),
    }


def certificate(model: Model) -> dict[str, Any]:
    """Say what is proved of the fit: lines of text and, of the program, the two bounds."""
    if model.program is None:
        why = (
            "Found by descent: nothing is proved of it. How much better a function of any number of pieces could be is "
            "a computation of its own, from the training rows."
        )
        return {"lines": [why], "lower": None, "upper": None}
    proved, solved = model.program.certificate, model.program
    lines = [
        f"Its objective is {proved.upper:.6g}, at λ = {solved.lam:.4g}. No difference of convex functions, of however "
        f"many pieces, is below {proved.lower:.6g}.",
        f"So at most {max(proved.gap, 0.0):.2g} of it could be gained. This is proved from the training rows, whatever "
        "the solver did.",
    ]
    return {"lines": lines, "lower": proved.lower, "upper": proved.upper}


def plain(value: Any) -> Any:
    """Return numbers, texts, lists and dictionaries alone; what is not finite becomes null."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
