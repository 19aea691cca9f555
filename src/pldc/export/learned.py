"""What every format writes down: functions, limits, labels, and how cells become features. One reading for all."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from pldc.columns.cells import text_of
from pldc.columns.features import Number
from pldc.function import PLDC, Hinges, Term
from pldc.function.checks import choice
from pldc.function.max_affine import Array
from pldc.model import Model

PRECISIONS = {"double": "double", "float64": "double", "float": "single", "single": "single", "float32": "single"}


class Learned(NamedTuple):
    """A fitted model as the formats see it.

    Attributes
    ----------
    functions : tuple of PLDC
        One, or the score of each class, or one for each of several levels of quantiles; of features less `center`.
    low, high : float
        Predictions of a regression are cut to this range.
    levels : tuple of float or None
        Of several quantiles, whose values are put in order before they are cut.
    classes : list or None
        Labels, as Python's text, numbers and booleans.
    temperature : float or None
        Probabilities are softmax of temperature × scores.
    columns : tuple of (str, str)
        Name and kind of each column of the table: "number", "category" or "date".
    features : tuple of Feature
        How each feature is made of a column; the fill of a number is NaN if nothing is known to put there.
    booleans : tuple of int
        Places of the columns that held nothing but True and False in training.
    center : array
        Typical values of the features: sums around them lose least, in single precision or far from the origin.
    version : str
    """

    functions: tuple[PLDC, ...]
    low: float
    high: float
    levels: tuple[float, ...] | None
    classes: list[Any] | None
    temperature: float | None
    columns: tuple[tuple[str, str], ...]
    features: tuple[Any, ...]
    booleans: tuple[int, ...]
    center: Array
    version: str

    @property
    def title(self) -> str:
        """What the file says of itself."""
        return f"A model fitted with pldc {self.version}." if self.version else "A function of pldc."

    @property
    def plain(self) -> bool:
        """Whether features are numbers of the table, one a column."""
        return all(kind == "number" for _, kind in self.columns) and len(self.features) == len(self.columns)

    def groups(self) -> list[tuple[Hinges | None, list[tuple[int, Term]]]]:
        """Return the terms with the number of their function, those of equal hinges together; those of none first."""
        terms = [(k, term) for k, f in enumerate(self.functions) for term in f.terms]
        known = list(dict.fromkeys(term.hinges for _, term in terms))
        known.sort(key=lambda hinges: hinges is not None)
        place = {hinges: k for k, hinges in enumerate(known)}
        terms.sort(key=lambda pair: place[pair[1].hinges])
        return [(hinges, list(each)) for hinges, each in groupby(terms, key=lambda pair: pair[1].hinges)]


def record_of(model: Any) -> Model:
    """Return the record of a fitted estimator, or one of a function alone."""
    if isinstance(model, PLDC):
        center = np.zeros(model.n_features) if model.center is None else np.array(model.center)
        return Model("simplified", (model,), center, np.ones(model.n_features))
    if isinstance(model, Model):
        return model
    if isinstance(model, type) or not hasattr(model, "_record"):
        wanted = "Expected a fitted DCRegressor or DCClassifier, a Model or a PLDC"
        raise TypeError(f"{wanted}, got {described(model)}")
    record: Model = model._record()
    return record


def described(model: Any) -> str:
    """Say what was given instead of a model, and what to give."""
    if isinstance(model, type):
        return f"the class {model.__name__}: make an object of it, and fit that."
    kind = type(model).__name__
    if hasattr(model, "best_estimator_"):
        return f"a {kind}: give its best_estimator_."
    if hasattr(model, "steps"):
        return f"a {kind}: give its last step, pipeline[-1], and the rows that the other steps make."
    return f"{model!r:.80}."


def precision(dtype: Any) -> str:
    """Return "double" or "single", of any word for it."""
    choice("dtype", dtype, tuple(PRECISIONS))
    return PRECISIONS[dtype]


def learned(model: Any, dtype: type = np.float64) -> Learned:
    """Read a fitted estimator, the record of a fit, or a function alone, to be evaluated with numbers of a type."""
    record = record_of(model)
    count, encoding, center = len(record.center), record.columns, rounded(record.center, dtype)
    if encoding is None:
        names = record.feature_names or tuple(f"x{k}" for k in range(count))
        columns = tuple((name, "number") for name in names)
        fills = [np.nan] * count if record.medians is None else record.medians.tolist()
        features: tuple[Any, ...] = tuple(Number(k, fill) for k, fill in enumerate(fills))
    else:
        columns = tuple((column.name, column.kind) for column in encoding.columns)
        features = encoding.features
    return Learned(
        functions=tuple(f.moved(-center) for f in record.functions),
        low=max(record.limits[0], record.lowest),
        high=max(record.limits[1], record.lowest),
        levels=record.levels,
        classes=None if record.classes is None else record.classes.tolist(),
        temperature=record.temperature,
        columns=columns,
        features=features,
        booleans=record.booleans,
        center=center,
        version=record.version,
    )


def rounded(center: Array, dtype: type) -> Array:
    """Return a centre that numbers of a type can say: functions are moved by what will be subtracted."""
    with np.errstate(over="ignore"):
        said = center.astype(dtype).astype(np.float64)
    return np.where(np.isfinite(said), said, center)


def ramps(hinges: Hinges) -> list[tuple[int, float, float]]:
    """Return feature, start and width of each ramp."""
    return list(zip(hinges.source.tolist(), hinges.start.tolist(), hinges.width.tolist(), strict=True))


def pieces(term: Term) -> tuple[list[list[float]], list[list[float]]]:
    """Return the pieces of both parts, each as its slopes and, last, its offset."""
    plus, minus = (np.column_stack([part.slopes, part.offsets]).tolist() for part in term.parts)
    return plus, minus


def levels(features: tuple[Any, ...], column: int) -> set[str]:
    """Return all levels of a column."""
    own = [feature for feature in features if feature.column == column]
    single = {feature.level for feature in own if feature.kind == "level"}
    return single.union(*({level for level, _ in each.table} for each in own if each.kind == "statistic"))


def single(value: float) -> float:
    """Return a number that sums in single precision can take, and refuse others."""
    if abs(value) > float(np.finfo(np.float32).max):
        raise ValueError(f"{value} is beyond all numbers of single precision: take dtype='double'.")
    return value


def in_single(model: Any) -> Learned:
    """Read a model to be evaluated in single precision, and refuse one whose predictions would be infinite there."""
    known = learned(model, np.float32)
    parts = [part for f in known.functions for term in f.terms for part in term.parts]
    large = [known.center, *(each for part in parts for each in (part.slopes, part.offsets))]
    for numbers in large:
        single(max(numbers.ravel().tolist(), key=abs, default=0.0))
    return known


def number_of(level: str) -> float | None:
    """Return the number whose level this is, if there is one: 1 and 0.25, but not of 1.0, 1e1 or nan."""
    with suppress(ValueError):
        number = float(level)
        return number if np.isfinite(number) and text_of(number) == level else None
    return None


def refuse_zones(model: Any, wanted: str) -> None:
    """Refuse dates with a time zone, whose clock other tools do not know."""
    encoding = record_of(model).columns
    for column in () if encoding is None else encoding.columns:
        if column.zone is not None:
            raise ValueError(
                f"Dates of column {column.name!r} are in the time zone {column.zone}, which {wanted} cannot follow: "
                "fit to dates without a zone."
            )
