"""What each command does: read files, call the library, write files."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

import pldc
from pldc import export as formats
from pldc.cli.levels import as_levels, category_columns
from pldc.cli.rivals import MEASURES, rivals
from pldc.cli.stored import stored, text_columns, without
from pldc.cli.tables import (
    COLUMNAR,
    ShellError,
    categories,
    checked_goal,
    holds_classes,
    listed,
    needs,
    output,
    read_table,
    rows_out,
    running_numbers,
    split,
)
from pldc.estimators import DCClassifier, DCRegressor
from pldc.scale.sources import features_of

MODELS = (".json", ".json.gz")
FEW_VALUES = 5  # of a target of numbers: perhaps they stand for classes


def fit(options: argparse.Namespace) -> int:
    """Fit a model, save it, and say what it is."""
    goal = checked_goal(options.output, *MODELS)
    refuse_target(options)
    labels = [options.target] if asks_classes(options) else []
    table: Any = stored(options.data, options.max_memory is not None, options.categorical, labels)
    if table is None:
        X, y = parts(options, read_table(options.data, options.categorical))
        model, rows = estimator(options, X, y), len(X)
        for column in running_numbers(X):
            progress(options, f"column {column!r} looks like a running number: --drop {quote(column)} leaves it out")
    else:
        X, head = without(table, options.target, options.data, options.drop, options.drop_missing_target)
        first, values = split(head, options.target, options.data)
        model, rows, y = estimator(options, first, values, text_columns(X)), X.count_rows(), options.target
        model.set_params(max_memory=options.max_memory)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        if not hasattr(model, "model_"):
            raise
        model.save_model(goal)
        raise KeyboardInterrupt(f"interrupted; {goal} holds the best model so far") from None
    model.model_ = replace(model.model_, target=options.target)
    model.save_model(goal)
    told = {"model": str(goal), "rows": rows, "columns": model.n_features_in_, "seconds": model.model_.seconds}
    told["score"] = getattr(model, "cv_score_", None)
    say(options, told, lambda: f"{model.summary()}\nsaved to {goal}")
    return 0


def predict(options: argparse.Namespace) -> int:
    """Write predictions, intervals, probabilities of classes: as CSV or Parquet. Columnar tables go by in blocks."""
    model = load(options.model)
    if options.interval is not None and isinstance(model, DCClassifier):
        raise ShellError("Classes have probabilities, not intervals: leave out --interval.")
    frame = needs("pandas").DataFrame
    with rows_out(options.output) as add:
        for X in blocks(model, options.data):
            add(frame(answers(model, X, options.interval)))
    return 0


def blocks(model: Any, path: str) -> Iterator[Any]:
    """Read the features of a table: all at once, or block by block."""
    table = stored(path, Path(path).suffix.lower() in COLUMNAR)
    if table is None:
        yield features(model, table_of(model, path), path)
        return
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        lacks(names, table.schema.names, path)
    for block in features_of(table, None if names is None else list(names)):
        yield block if names is not None else block.to_pandas().to_numpy()


def answers(model: Any, X: Any, coverage: float | None) -> dict[str, Any]:
    """Return the columns that are written for some rows."""
    found = model.predict(X)
    columns: dict[str, Any] = {"prediction": found}
    if model.model_.levels is not None:
        columns = {f"quantile {q:g}": values for q, values in zip(model.model_.levels, found.T, strict=True)}
    if coverage is not None:
        columns["low"], columns["high"] = model.predict_interval(X, coverage)
    if isinstance(model, DCClassifier) and model.model_.temperature is not None:
        shares = model.predict_proba(X)
        columns |= {f"probability of {label}": p for label, p in zip(model.classes_, shares.T, strict=True)}
    return columns


def explain(options: argparse.Namespace) -> int:
    """Say why the first rows have their predictions."""
    model = load(options.model)
    X = features(model, table_of(model, options.data), options.data)[: options.rows]
    found = model.explain(X, method="path")
    if not options.json:
        print("\n\n".join(found.table(k) for k in range(len(X))))
        return 0
    rows = [
        {"reference": base, "contributions": dict(zip(found.features, each, strict=True)), "prediction": value}
        for base, each, value in zip(
            np.broadcast_to(found.baseline, len(X)).tolist(),
            found.contributions.tolist(),
            found.prediction.tolist(),
            strict=True,
        )
    ]
    print(json.dumps(rows, ensure_ascii=False))
    return 0


def simplify(options: argparse.Namespace) -> int:
    """Learn few pieces from a model and its table, save them, and say what that costs."""
    goal, model = checked_goal(options.output, *MODELS), load(options.model)
    X, y = parts(options, table_of(model, options.data))
    model.set_params(verbose=int(not options.quiet))
    progress(options, f"simplifying to {options.pieces} pieces: some fits first, then the pieces …")
    simple = model.simplify(features(model, X, options.data), y, n_pieces=options.pieces)
    simple.save_model(goal)
    cost = simple.simplification_
    told = {"model": str(goal), "pieces": list(cost.n_pieces), "fidelity": cost.fidelity}
    told |= {"score": cost.score, "score_before": cost.score_before}
    say(options, told, lambda: f"{cost}\nsaved to {goal}")
    return 0


def score(options: argparse.Namespace) -> int:
    """Cross-validate the model beside linear and boosted ones, on the same folds."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_validate

    refuse_target(options)
    X, y = parts(options, read_table(options.data, options.categorical))
    if not 2 <= options.folds <= len(X):
        raise ShellError(f"--folds must lie between 2 and the number of rows, {len(X)}; got {options.folds}.")
    model = estimator(options, X, y)
    classes = isinstance(model, DCClassifier)
    folds = (StratifiedKFold if classes else KFold)(options.folds, shuffle=True, random_state=0)
    measures, told = MEASURES[classes], {}
    for name, each in {"pldc": model.set_params(verbose=0), **rivals(classes)}.items():
        progress(options, f"{name}: {options.folds} fits …")
        began = time.perf_counter()
        found = cross_validate(each, X, y, cv=folds, scoring={m: scorer for m, (scorer, _) in measures.items()})
        told[name] = {m: sign * float(np.mean(found[f"test_{m}"])) for m, (_, sign) in measures.items()}
        told[name]["seconds a fit"] = float(np.mean(found["fit_time"]))
        progress(options, f"{name}: done in {time.perf_counter() - began:.0f} s")

    def lines() -> str:
        names = [*measures, "seconds a fit"]
        head = f"{'':<20}" + "".join(f"{name:>22}" for name in names)
        return "\n".join([head, *(f"{m:<20}" + "".join(f"{told[m][n]:>22.4g}" for n in names) for m in told)])

    say(options, told, lines)
    return 0


def export(options: argparse.Namespace) -> int:
    """Write a model in another language."""
    model = load(options.model)
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
    goal, model = checked_goal(options.output, ".html", ".htm"), load(options.model)
    X = y = None
    if options.data is not None:
        X = table_of(model, options.data)
        if options.target is not None:
            X, y = parts(options, X)
        X = features(model, X, options.data)
    elif options.target is not None or options.rows:
        raise ShellError("--target and --rows speak of a table: name it after the model.")
    model.set_params(verbose=int(not options.quiet))
    large = model.model_.kind != "simplified" and model.model_.levels is None
    if large and X is not None and y is None and options.pieces:
        progress(options, "with --target the page also gets simpler models, of few pieces (takes longer)")
    if y is not None and options.pieces:
        pieces = ", ".join(map(str, options.pieces))
        progress(options, f"simplifying to {pieces} pieces: some fits first, each time (--pieces 0 for none) …")
    model.explorer(goal, X, y, rows=options.rows, simpler=options.pieces, title=options.title)
    print(goal)
    return 0


def load(path: str) -> Any:
    """Read a model; where it is none, say what may have been meant."""
    if not Path(path).exists():
        raise ShellError(f"There is no file {path}.")
    if path.endswith((".csv", ".tsv", *COLUMNAR)):
        raise ShellError(f"{path} is a table: the model comes first, as in `pldc predict model.json table.csv`.")
    return pldc.load(path)


def refuse_target(options: argparse.Namespace) -> None:
    """Refuse a target that is called a feature."""
    if options.target in options.categorical:
        raise ShellError(f"--categorical names the target {options.target!r}: --classes makes classes of its numbers.")


def parts(options: argparse.Namespace, table: Any) -> tuple[Any, Any]:
    """Return the features and the target of a table, as the options say."""
    return split(table, options.target, options.data, options.drop, options.drop_missing_target)


def table_of(model: Any, path: str) -> Any:
    """Read a table to which a model is to be applied: columns that it takes for categories as its levels."""
    columns = {} if Path(path).suffix.lower() in COLUMNAR else category_columns(model)
    return as_levels(read_table(path, list(columns)), columns, path)


def asks_classes(options: argparse.Namespace) -> bool:
    """Say whether the options ask for classes."""
    return options.classes or options.loss in ("log", "hinge")


def estimator(options: argparse.Namespace, X: Any, y: Any, texts: Sequence[str] | None = None) -> Any:
    """Return the estimator that suits a table, or its beginning with the columns of text, and the options."""
    kind = DCClassifier if holds_classes(y, asks_classes(options), options.data) else DCRegressor
    if texts is None and kind is DCRegressor and y.nunique() <= FEW_VALUES < len(y):
        progress(options, f"The target has {y.nunique()} values, taken as numbers: --classes makes classes of them.")
    given = {"n_pieces": options.pieces, "max_seconds": options.max_seconds, "random_state": options.seed}
    if options.loss is not None:
        given["loss"] = options.loss
    if options.categorical:
        given["categorical_features"] = categories(X, options.categorical, options.data, texts)
    return kind(**given, verbose=int(not options.quiet))


def features(model: Any, table: Any, name: str) -> Any:
    """Return the columns of a table that a model was fitted to; others, such as the target, are left out."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table.to_numpy()
    lacks(names, table.columns, name)
    return table[list(names)]


def lacks(wanted: Any, there: Any, name: str) -> None:
    """Refuse a table without some of the columns."""
    lacking = [column for column in wanted if column not in there]
    if lacking:
        raise ShellError(f"{name} lacks columns of the model: {listed(lacking)}.")


def say(options: argparse.Namespace, told: Mapping[str, Any], text: Callable[[], str]) -> None:
    """Print what was found: for people, or as JSON for machines."""
    print(json.dumps(plain(told), ensure_ascii=False) if options.json else text())


def progress(options: argparse.Namespace, line: str) -> None:
    """Say on standard error how far a command is."""
    if not options.quiet:
        print(line, file=sys.stderr, flush=True)


def plain(value: Any) -> Any:
    """Return numbers and text that JSON can hold; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
