"""What each command does: read files, call the library, write files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pldc
from pldc.cli.tables import ShellError, checked_goal, output, read_table, split
from pldc.estimators import DCClassifier, DCRegressor

SIMPLER = (4, 8, 16)  # pieces of the simpler models that a page offers


def fit(options: argparse.Namespace) -> int:
    """Fit a model, save it, and say what it is."""
    goal = checked_goal(options.output)
    X, y = split(read_table(options.data), options.target, options.data, options.drop)
    model = estimator(options, y)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(model, "model_"):
            raise
        model.save_model(goal)
        raise KeyboardInterrupt(f"interrupted; {goal} holds the best model so far") from None
    model.save_model(goal)
    told = {"model": str(goal), "rows": len(X), "columns": X.shape[1], "seconds": model.model_.seconds}
    told["score"] = getattr(model, "cv_score_", None)
    say(options, told, lambda: f"{model.summary()}\nsaved to {goal}")
    return 0


def predict(options: argparse.Namespace) -> int:
    """Write predictions as CSV: with intervals, or the probabilities of classes."""
    model = pldc.load(options.model)
    X = features(model, read_table(options.data), options.data)
    found = model.predict(X)
    columns: dict[str, Any] = {"prediction": found}
    if np.ndim(found) == 2:
        columns = {f"quantile {q:g}": values for q, values in zip(model.model_.levels, found.T, strict=True)}
    if options.interval is not None:
        if isinstance(model, DCClassifier):
            raise ShellError("Classes have probabilities, not intervals: leave out --interval.")
        columns["low"], columns["high"] = model.predict_interval(X, options.interval)
    if isinstance(model, DCClassifier):
        shares = model.predict_proba(X)
        columns |= {f"probability of {label}": p for label, p in zip(model.classes_, shares.T, strict=True)}
    from pandas import DataFrame

    with output(options.output) as file:
        DataFrame(columns).to_csv(file, index=False)
    return 0


def explain(options: argparse.Namespace) -> int:
    """Say why the first rows have their predictions."""
    model = pldc.load(options.model)
    X = features(model, read_table(options.data), options.data)[: options.rows]
    found = model.explain(X)
    if options.json:
        rows = [
            {"prediction": plain(found.prediction[k]), "contributions": dict(zip(found.features, map(float, found.contributions[k]), strict=True))}
            for k in range(len(X))
        ]
        print(json.dumps(rows, ensure_ascii=False))
    else:
        print(found)
    return 0


def simplify(options: argparse.Namespace) -> int:
    """Learn few pieces from a model and its table, save them, and say what that costs."""
    goal, model = checked_goal(options.output), pldc.load(options.model)
    X, y = split(read_table(options.data), options.target, options.data, options.drop)
    model.set_params(verbose=int(not options.quiet))
    simple = model.simplify(features(model, X, options.data), y, n_pieces=options.pieces)
    simple.save_model(goal)
    cost = simple.simplification_
    told = {"model": str(goal), "fidelity": cost.fidelity, "score": cost.score, "score_before": cost.score_before}
    say(options, told, lambda: f"{cost}\nsaved to {goal}")
    return 0


def score(options: argparse.Namespace) -> int:
    """Cross-validate the model beside linear and boosted ones, on the same folds."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_validate

    X, y = split(read_table(options.data), options.target, options.data, options.drop)
    model = estimator(options, y)
    classes = isinstance(model, DCClassifier)
    folds = (StratifiedKFold if classes else KFold)(options.folds, shuffle=True, random_state=0)
    measures = {"accuracy": "accuracy", "log loss": "neg_log_loss"} if classes else {"R²": "r2", "mean absolute error": "neg_mean_absolute_error"}
    told: dict[str, dict[str, float]] = {}
    for name, rival in {"pldc": model, **rivals(classes)}.items():
        found = cross_validate(rival, X, y, cv=folds, scoring=measures)
        told[name] = {m: abs(float(np.mean(found[f"test_{m}"]))) * (1 if m != "R²" else np.sign(np.mean(found[f"test_{m}"]))) for m in measures}
        told[name]["seconds a fit"] = float(np.mean(found["fit_time"]))

    def lines() -> str:
        names = [*measures, "seconds a fit"]
        head = f"{'':<22}" + "".join(f"{name:>22}" for name in names)
        return "\n".join([head, *(f"{m:<22}" + "".join(f"{told[m][n]:>22.4g}" for n in names) for m in told)])

    say(options, told, lines)
    return 0


def rivals(classes: bool) -> dict[str, Any]:
    """Return linear and boosted models for tables with gaps and categories."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    numbers, dates = make_column_selector(dtype_include=["number", "bool"]), make_column_selector(dtype_include=["datetime", "datetimetz"])
    others = make_column_selector(dtype_exclude=["number", "bool", "datetime", "datetimetz"])
    linear = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", max_categories=30), others),
        ("drop", dates),
    )
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=200, encoded_missing_value=np.nan)
    trees = make_column_transformer(("passthrough", numbers), (codes, others), ("drop", dates))
    return {
        "linear": make_pipeline(linear, LogisticRegression(max_iter=2000) if classes else LinearRegression()),
        "gradient boosting": make_pipeline(trees, HistGradientBoostingClassifier() if classes else HistGradientBoostingRegressor()),
    }


def export(options: argparse.Namespace) -> int:
    """Write a model in another language."""
    from pldc import export as formats

    model = pldc.load(options.model)
    if options.to == "onnx":
        if options.output in (None, "-"):
            raise ShellError("ONNX is no text: name a file with -o.")
        checked_goal(options.output).write_bytes(formats.to_onnx(model).SerializeToString())
        return 0
    if options.to == "sql":
        text = formats.to_sql(model, options.table, options.dialect)
    else:
        text = {"c": formats.to_c, "js": formats.to_js, "numpy": formats.to_numpy}[options.to](model)
    with output(options.output) as file:
        file.write(text if text.endswith("\n") else text + "\n")
    return 0


def explore(options: argparse.Namespace) -> int:
    """Write a page on which the model can be tried."""
    goal, model = checked_goal(options.output), pldc.load(options.model)
    X = y = None
    if options.data is not None:
        table = read_table(options.data)
        if options.target is None:
            X = features(model, table, options.data)
        else:
            X, y = split(table, options.target, options.data, options.drop)
            X = features(model, X, options.data)
    elif options.target is not None or options.rows:
        raise ShellError("--target and --rows speak of a table: name it after the model.")
    model.explorer(goal, X, y, rows=options.rows)
    print(goal)
    return 0


def estimator(options: argparse.Namespace, y: Any) -> Any:
    """Return the estimator that suits the target and the options."""
    classes = options.classes or options.loss in ("log", "hinge") or y.dtype.kind not in "iufb" or y.dtype.kind == "b"
    kind = DCClassifier if classes else DCRegressor
    given: dict[str, Any] = {"n_pieces": pieces(options.pieces), "max_seconds": options.max_seconds}
    given |= {"random_state": options.seed, "verbose": int(not options.quiet)}
    if options.loss is not None:
        given["loss"] = options.loss
    return kind(**given)


def pieces(text: str) -> int | str:
    """Return a number of pieces, or the word."""
    if text in ("auto", "rows"):
        return text
    if text.isdigit():
        return int(text)
    raise ShellError(f"--pieces must be auto, rows or a whole number, got {text!r:.40}.")


def features(model: Any, table: Any, name: str) -> Any:
    """Return the columns of a table that a model was fitted to; others, such as the target, are left out."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table.to_numpy()
    lacking = [column for column in names if column not in table.columns]
    if lacking:
        raise ShellError(f"{name} lacks columns of the model: {', '.join(map(repr, lacking))}.")
    return table[list(names)]


def say(options: argparse.Namespace, told: Mapping[str, Any], text: Callable[[], str]) -> None:
    """Print what was found: for people, or as JSON for machines."""
    print(json.dumps(plain(told), ensure_ascii=False) if options.json else text())


def plain(value: Any) -> Any:
    """Return numbers and text that JSON can hold; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


__all__ = ["Path", "estimator", "explain", "explore", "export", "fit", "predict", "score", "simplify"]
