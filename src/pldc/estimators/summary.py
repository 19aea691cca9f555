"""A fitted model in five lines: what it is, how well it predicts, what is proved, what was chosen, what matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.estimators.folds import cross_validation
from pldc.fit.rest import Passes
from pldc.function.numbers import number, numbers, one_line
from pldc.function.term import Term
from pldc.model import Model

MOST_NAMED = 4  # columns


def summary(estimator: Any) -> str:
    """Return the five lines."""
    model: Model = estimator.model_
    lines = [
        f"{type(estimator).__name__}: {_what(model)}",
        _score(estimator, model),
        _proved(model),
        _chosen(model),
        _matters(model, getattr(estimator, "passes_", None)),
    ]
    return "\n  ".join(lines)


def interruption(model: Model) -> str:
    """Say what a fit that was interrupted has left."""
    if model.program is None and not model.chosen:
        what = "the shares of the classes" if model.classes is not None else "a straight line, or a constant"
        return f"Interrupted; the model is usable, but nothing was fitted yet: it predicts {what}."
    solved = model.program
    at = "" if solved is None else f" at a certified gap of {solved.certificate.gap:.2g}"
    return f"Interrupted{at}; the model is usable: it holds the best function so far."


def _what(model: Model) -> str:
    terms = [f.centred for f in model.functions]
    count, d = max(map(len, terms)), len(model.center)
    plus, minus = np.sum([f.n_pieces for f in model.functions], axis=0)
    kind = {"program": "the convex program", "simplified": "few pieces"}.get(model.kind, "")
    if not kind:
        kind = f"a mean of {count} functions" if count > 1 else "one function"
    hinged = any(term.hinges is not None for each in terms for term in each)
    many = "classes" if model.levels is None else "levels"
    classes = f" for {len(model.functions)} {many}" if len(model.functions) > 1 else ""
    kink = " of curves" if hinged else ""
    pieces = str(plus) if no_part(terms, 1) else str(minus) if no_part(terms, 0) else f"{plus} − {minus}"
    return f"{kind}{classes}, {pieces} pieces{kink} in {d} feature{'s' * (d > 1)}"


def no_part(terms: list[tuple[Term, ...]], part: int) -> bool:
    """Say whether the plus parts (0) or the minus parts (1) of all terms are zero."""
    parts = [term.parts[part] for each in terms for term in each]
    return all(p.n_pieces == 1 and not p.slopes.any() and not p.offsets.any() for p in parts)


def _score(estimator: Any, model: Model) -> str:
    score, scoring = model.cv_score, cross_validation(estimator.cv).scoring
    if score is None or np.isnan(score):
        return f"score: none, {_unscored(estimator, model)}"
    loss = getattr(estimator.loss, "name", estimator.loss)
    if loss == "auto":
        loss = "hinge" if model.kind == "program" else "log"
    if scoring is None and loss == "squared":
        text = f"R² about {1.0 + score:.3f} at rows left out"
    elif scoring is None:
        over = "" if model.levels is None else f"over {len(model.levels)} levels "
        text = f"mean {loss} loss {number(-score)} {over}at rows left out"
        if model.kind == "compact" and len(model.functions) > 1 and model.levels is None:
            text += ", counting one row more, of all classes alike"
    else:
        text = f"{scoring if isinstance(scoring, str) else 'of the scorer'} {number(score)} at rows left out"
    if model.simplification is not None:
        text += f"; fidelity to the larger model {model.simplification.fidelity:.3f}"
    return f"score: {text}"


def _unscored(estimator: Any, model: Model) -> str:
    """Say why there is no score of rows left out."""
    if model.kind == "program":
        return "no rows were left out"
    ended = "an interruption" if estimator.max_seconds is None else "max_seconds"
    return f"no rows were left out before {ended} ended the fit"


def _proved(model: Model) -> str:
    if model.program is None:
        return "certificate: none, found by descent"
    c = model.program.certificate
    return f"certificate: gap {c.gap:.2g}, the best objective is between {number(c.lower)} and {number(c.upper)}"


def _chosen(model: Model) -> str:
    if model.program is not None:
        return f"settings: lam {number(model.program.lam)}, solver {model.program.solver}"
    kinds = [
        f"{each['features']}, {each['pieces']} pieces"
        + (f", {each['knots']} knots" if each["knots"] else "")
        + f", ridge {number(each['ridge'], 2)}"
        for each in model.chosen
    ]
    few = "learned from " if model.kind == "simplified" else ""
    return f"settings: {few}{'; '.join(kinds) or 'none'}"


def _matters(model: Model, passes: Passes | None) -> str:
    parts = []
    if model.importances is not None:
        order = np.argsort(-model.importances, kind="stable")[:MOST_NAMED]
        sizes = numbers(model.importances[order], 2)
        parts.append(
            "matters: " + ", ".join(f"{one_line(model.column_names[j])} {s}" for j, s in zip(order, sizes, strict=True))
        )
    if model.errors is not None and model.errors.scale is None:
        parts.append("intervals as wide everywhere")
    if model.seconds is not None:
        parts.append(f"fitted in {number(model.seconds, 2)} s" + ("" if passes is None else f" {passes}"))
    return "; ".join(parts)
