"""Tables that users give, turned into what the spine takes: numbers, and the rules by which they were made."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length
from sklearn.utils.validation import validate_data as scikit_learn_validate

from pldc.columns import Encoding
from pldc.columns.cells import Table, cells_as, holds_booleans, is_frame, is_missing
from pldc.columns.learn import Draft, kinds_of, weighted_median
from pldc.estimators.blocks import AllRows
from pldc.estimators.checks import refuse_masked, shown
from pldc.estimators.folds import folds_for_statistics
from pldc.function.max_affine import Array
from pldc.model import Model
from pldc.problem.recipe import Rows, Split
from pldc.scale.files import is_dataset
from pldc.scale.sources import is_blocks, is_source, of_dask
from pldc.scale.stacking import table_of
from pldc.select.folds import ranks_of_classes

LONGEST_MESSAGE = 500  # characters of what scikit-learn says of a table
NUMBERS = "biuf"  # kinds of NumPy's types that hold numbers and nothing else
ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}([ T]|\s*$)")
MANY_LEVELS, NEARLY_ALL = 20, 0.9  # of the cells of a column of text, that are hardly a category
OF_A_CELL = "could not convert", "must be a string or a real", "infinity"  # in messages of NumPy and scikit-learn
READS = ("iter_batches", "scan_batches", "read_next_batch", "fetchall")  # what reads files or a data base
GAPS = "X contains NaN, and this model knows no medians to put there: fill the gaps, or fit again."


class Given(NamedTuple):
    """A table as the spine takes it.

    Attributes
    ----------
    rows : Rows
    columns : Encoding or None
        How it became numbers; None: it was of numbers, without gaps.
    medians : array or None
        Of its columns, where it was of numbers.
    folds : list of (train, test) or None
        Where statistics of the target were learned by them: the folds to choose by.
    as_new : Rows or None
        The rows as they would be read to predict, where that is something else.
    """

    rows: Rows
    columns: Encoding | None = None
    medians: Array | None = None
    folds: list[Split] | None = None
    as_new: Rows | None = None


def validate_data(model: Any, *data: Any, **wanted: Any) -> Any:
    """Check data as scikit-learn does; its errors are shortened where they show a cell of any length."""
    try:
        return scikit_learn_validate(model, *data, **wanted)
    except OverflowError:
        raise ValueError("X and y must be finite; they hold a whole number beyond all floats.") from None
    except ValueError as error:
        if len(str(error)) <= LONGEST_MESSAGE:
            raise
        raise ValueError(f"{error!s:.{LONGEST_MESSAGE}}…") from None


def refuse_no_table(X: Any) -> None:
    """Refuse what looks like a table and is none: nothing, a dictionary, one row or one column; and masks."""
    wanted = "X must be a table of shape (n, d), an array or a frame; got"
    if X is None:
        raise ValueError(f"{wanted} None.")
    if isinstance(X, Iterator):
        raise TypeError(
            f"{wanted} an iterator, {X!r:.80}: give a function that returns blocks, (X, y) each, anew at every call."
        )
    if is_source(X):
        given = f"a {type(X).__name__}" if of_dask(X) or is_blocks(X) else f"{X!r:.80}"
        raise ValueError(f"{wanted} {given}: only fit, predict, predict_interval and score read it.")
    if of_dask(X) or (not is_frame(X) and any(hasattr(X, name) for name in READS)):
        raise TypeError(
            f"X must be a table, or be read block by block: from a path, a dataset of pyarrow, an array or frame of "
            "Dask with two dimensions, a list of blocks, or a function that returns blocks, (X, y) each; got a "
            f"{type(X).__name__}."
        )
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # one kind of sparse matrix is a dict, too
        raise TypeError(
            f"{wanted} a dictionary: make it a frame, pandas.DataFrame(X), or pandas.DataFrame([X]) of a row."
        )
    if hasattr(X, "to_frame") and np.ndim(X) == 1:
        raise ValueError(f"{wanted} a Series. Expected 2D: one row is frame.iloc[[0]], one column frame[['a']].")
    refuse_lazy(X)
    refuse_masked("X", X)


def refuse_name(X: Any, y: Any) -> None:
    """Refuse the name of a column as the targets of a table in memory."""
    if isinstance(y, str):
        there = f"X.drop(columns={y!r})" if hasattr(X, "iloc") else f"X without the column {y!r}"
        raise ValueError(
            f"y is the name of a column, {y!r:.80}, and X is in memory: give {there:.120} and X[{y!r:.80}]. Names are "
            "for tables that are read block by block, such as files."
        )


def refuse_lazy(X: Any) -> None:
    """Refuse a frame of polars that is yet to be computed."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError(f"A {type(X).__name__} holds no cells yet: collect() it first.")


def is_table(given: Any) -> bool:
    """Say whether rows and columns were given, and not one row; cells of any types are not converted to find out."""
    refuse_lazy(given)
    if of_dask(given) or is_dataset(given) or is_blocks(given):
        refuse_no_table(given)
    if isinstance(given, Mapping):
        return False
    shape = getattr(given, "shape", None)
    return len(shape) == 2 if isinstance(shape, tuple) else np.asarray(given, dtype=object).ndim == 2


def read(model: Any, X: Any, y: Any, **about_y: Any) -> tuple[Array | Table, Array]:
    """Check a table to fit and its targets: an array of numbers, NaN where missing, or columns of several types."""
    X = table_of(X)
    refuse_no_table(X)
    refuse_name(X, y)
    refuse_masked("y", y)
    warn_of_names(model, X)
    table = Table.read(X) if is_frame(X) or is_mixed(X) else None
    if table is None or all(c.values.dtype.kind in NUMBERS and not c.category for c in table.columns):
        numbers, y = numbers_of(model, X, y, **about_y)
        names = getattr(model, "feature_names_in_", None)
        if categorical_mask(model.categorical_features, names, numbers.shape[1]) is None:
            return numbers, y
        table = Table.read(X)  # levels are of the cells as they are given, True or 2**60 + 1
        return Table(table.columns, None if names is None else table.names), y
    table.refuse_empty()
    y = validate_data(model, y=y, **about_y)
    validate_data(model, X, skip_check_array=True)
    check_consistent_length(X, y)
    return Table(table.columns, table.names if hasattr(model, "feature_names_in_") else None), y


def numbers_of(model: Any, X: Any, *y: Any, **wanted: Any) -> Any:
    """Check a table of numbers as scikit-learn does; what is none, or infinite, is told with its column."""
    try:
        return validate_data(model, X, *y, dtype=np.float64, ensure_all_finite="allow-nan", **wanted)
    except (TypeError, ValueError) as error:
        if not any(words in str(error) for words in OF_A_CELL):
            raise
        table = Table.read(X)
        for k, column in enumerate(table.columns):
            cells_as(column, f"x{k}" if table.names is None else table.names[k], "number")
        raise


def warn_of_names(model: Any, X: Any) -> None:
    """Point out names of columns that are whole numbers, where a setting has some: they are taken for places."""
    names = list(getattr(X, "columns", ())) if hasattr(X, "iloc") else []
    given = [*np.ravel(model.categorical_features)] if isinstance(model.categorical_features, Sequence) else []
    monotone = getattr(model, "monotone", None)
    given += [*monotone] if isinstance(monotone, Mapping) else []
    asked = any(isinstance(each, Integral) and not isinstance(each, bool) for each in given)
    if asked and names != list(range(len(names))) and not any(isinstance(name, str) for name in names):
        warnings.warn(
            f"The names of the columns are no text, {shown(names)}: the model knows the columns by their places alone, "
            "x0, x1, …, and whole numbers are places. To use the names, make them text: X.columns = "
            "X.columns.map(str).",
            UserWarning,
            stacklevel=7,
        )


def plain_labels(y: Any) -> Any:
    """Return labels of a nullable type of pandas, none missing, or a column of objects that are numbers as NumPy's.

    scikit-learn would make floats of the first, and refuse the second.
    """
    cells = np.asarray(y)
    if cells.dtype.kind == "O" and cells.ndim == 1 and len(cells) and all(map(is_number, cells)):
        logical = isinstance(cells[0], (bool, np.bool_))  # all are, where one is
        whole_numbers = all(isinstance(cell, Integral) and abs(int(cell)) < 2**63 for cell in cells)
        return cells.astype(bool if logical else np.int64 if whole_numbers else np.float64)
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in NUMBERS or y.isna().any():
        return y
    return y.to_numpy(dtype=dtype)


def is_number(cell: Any) -> bool:
    """Say whether a cell is a number or a boolean, and not missing."""
    return isinstance(cell, (Real, np.bool_)) and not is_missing(cell)


def points(model: Any, X: Any, fitted: Model) -> Array:
    """Return the features of a table to predict at."""
    X = table_of(X)
    refuse_no_table(X)
    if fitted.columns is None:
        numbers = np.asarray(numbers_of(model, X, reset=False), dtype=np.float64)
        gaps = np.isnan(numbers)
        if not gaps.any():
            return numbers
        if fitted.medians is None:
            raise ValueError(GAPS)
        return np.where(gaps, fitted.medians, numbers)
    table = Table.read(X)
    validate_data(model, X, skip_check_array=True, reset=False)
    table.refuse_empty()
    return fitted.columns.apply(Table(table.columns))  # scikit-learn has compared the names


def booleans_of(X: Any) -> tuple[int, ...]:
    """Return the places of the columns of a table to fit that hold nothing but True and False."""
    if not (is_frame(X) or is_mixed(X) or np.asarray(X).dtype.kind == "b"):
        return ()
    return tuple(k for k, column in enumerate(Table.read(X).columns) if holds_booleans(column))


def encoded(
    model: Any,
    X: Array | Table,
    y: Array,
    weight: Array,
    targets: Sequence[tuple[str, Array]],
    groups: Any,
    everywhere: AllRows | None = None,
) -> Given:
    """Return the rows of a table that was read, as numbers, with the rules by which they were made.

    Parameters
    ----------
    model : DCEstimator
        With `categorical_features`, `cv`, and the names of the columns.
    X, y
        As :func:`read` returns them; labels as numbers.
    weight : array of shape (n,)
    targets : sequence of (str, array of shape (n,))
        What statistics of a level are taken of: the target, or an indicator of each class.
    groups : array or None
        Rows of one group stay together in the folds.
    everywhere : AllRows or None
        Where statistics are learned, if these rows are a sample.
    """
    names = getattr(model, "feature_names_in_", None)
    width = X.shape[1] if isinstance(X, np.ndarray) else len(X.columns)
    chosen = categorical_mask(model.categorical_features, names, width)
    if isinstance(X, np.ndarray):
        if chosen is None and not np.isnan(X).any():
            return Given(Rows(X, y, weight), medians=medians_of(X, weight))
        X = Table(Table.read(X).columns, None if names is None else tuple(names))
    draft = Draft.of(X, kinds_of(X, chosen, from_types=isinstance(model.categorical_features, str)), weight)
    if not draft.levels:
        columns, numbers = draft.finish((), ())
        return Given(Rows(numbers, y, weight), columns)
    codes = Rows(draft.numbers(), y, weight)
    if len(targets) > 1:  # in an order that does not depend on what classes are called; of two, one share says all
        rank = ranks_of_classes(codes.take(np.flatnonzero(weight > 0)), len(targets))
        targets = [targets[k] for k in np.argsort(rank)][len(targets) == 2 :]
    if everywhere is None:
        learned_by, folds = folds_for_statistics(model, codes, groups)
        columns, numbers = draft.finish(targets, learned_by)
    else:
        folds = None
        columns, numbers = everywhere.learn(draft, targets, y)
    as_new = Rows(columns.apply(Table(X.columns)), y, weight)
    return Given(Rows(numbers, y, weight), columns, folds=folds, as_new=as_new)


def is_mixed(X: Any) -> bool:
    """Say whether a table that is no frame holds anything but numbers: text, dates, None."""
    try:
        array = np.asarray(X)
        if array.ndim != 2 or array.dtype.kind in "biufc":
            return False
        return array.dtype.kind in "Mm" or not np.size(array.astype(np.float64))
    except (ValueError, TypeError):
        return np.ndim(np.asarray(X, dtype=object)) == 2


def warn_of_texts(model: Any, X: Any, columns: Encoding | None, weight: Array) -> None:
    """Point out columns of text that are perhaps none: dates, or a level for nearly every row."""
    if columns is None or not any(column.kind == "category" for column in columns.columns):
        return
    table = Table.read(X)
    chosen = categorical_mask(model.categorical_features, columns.names, len(table.columns))
    for k, (column, raw) in enumerate(zip(columns.columns, table.columns, strict=True)):
        if column.kind != "category" or raw.category or (chosen is not None and chosen[k]):
            continue  # the user has said what it is
        levels, hint = columns.levels(k), ""
        if levels and all(map(ISO_DATE.match, levels)):
            hint = "holds dates as text, each a level of its own: parse it, pandas.to_datetime(...)"
        elif len(levels) >= MANY_LEVELS:
            cells = [cell for cell in np.asarray(raw.values, dtype=object)[weight > 0] if not is_missing(cell)]
            count, different = len(cells), min(len(levels), len(set(map(str, cells))))  # levels may be of more rows
            if different >= NEARLY_ALL * count:
                hint = (
                    f"is text, with {different} different levels in {count} rows: a level that occurs once says "
                    "nothing of new rows. Drop a key; parse numbers and dates, pandas.to_numeric(...)"
                )
        if hint:
            warnings.warn(
                f"Column {column.name!r} {hint}. If it is a category, name it in categorical_features.",
                UserWarning,
                stacklevel=4,
            )


def medians_of(X: Array, weight: Array) -> Array:
    """Return the median of every column."""
    here = weight > 0
    if not here.all():
        X, weight = X[here], weight[here]
    return np.array([weighted_median(column, weight) for column in X.T])


def categorical_mask(given: Any, names: Any, width: int) -> Array | None:
    """Return which columns the parameter `categorical_features` names; None: it names none."""
    wrong = (
        "categorical_features must be 'from_dtype', None, or the names, the places or a mask of columns; got "
        f"{shown(given)}."
    )
    if given is None or (isinstance(given, str) and given == "from_dtype"):
        return None
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise ValueError(wrong)
    wanted = np.asarray(given, dtype=object).ravel()
    mask = np.zeros(width, dtype=bool)
    if len(wanted) and all(isinstance(each, str) for each in wanted):
        unknown = sorted(set(wanted) - set(() if names is None else names))
        if unknown:
            raise ValueError(
                f"categorical_features names {unknown}; X has {'no names' if names is None else [*names]}."
            )
        return np.isin(np.asarray(names, dtype=object), wanted)
    if all(isinstance(each, (bool, np.bool_)) for each in wanted):
        if len(wanted) not in (0, width):
            raise ValueError(f"categorical_features must be a mask of {width} columns, got {len(wanted)} entries.")
        return wanted.astype(bool) if len(wanted) else mask
    if not all(isinstance(each, (int, np.integer)) and 0 <= each < width for each in wanted):
        raise ValueError(wrong)
    mask[wanted.astype(np.intp)] = True
    return mask
