"""Estimators in model files: their parameters beside the record of the fit."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pldc.export.model_file import read_file, read_model, write_file, write_model
from pldc.export.plain import Unwritable, read, write
from pldc.fit import CrossValidation
from pldc.problem.losses import KINDS
from pldc.problem.penalties import Seminorm
from pldc.solve.choose import SOLVERS

if TYPE_CHECKING:
    from pldc.estimators import DCClassifier, DCRegressor

# Settings that are written by name and numbers; no others are read.
OBJECTS: dict[str, type] = {kind.__name__: kind for kind in (*KINDS, *SOLVERS.values(), Seminorm, CrossValidation)}
ENTRIES = {"estimator", "parameters", "n_features_in", "feature_names_in", "model"}


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file; see :meth:`pldc.DCRegressor.save_model`."""
    names = getattr(estimator, "feature_names_in_", None)
    record = {
        "estimator": type(estimator).__name__,
        "parameters": _parameters(estimator),
        "n_features_in": int(estimator.n_features_in_),
        "feature_names_in": None if names is None else list(map(str, names)),
        "model": write_model(estimator.model_),
    }
    _estimator(record)  # what cannot be read again is not written
    write_file(path, record)


def load(path: str | os.PathLike[str]) -> DCRegressor | DCClassifier:
    """Return the fitted estimator of a model file, made by ``save_model``.

    It predicts, explains and gives intervals as the one that was saved, to the last bit, and can be fitted again. No
    code from the file is run; one that is damaged, was changed or is of an unknown version is refused.

    Parameters
    ----------
    path : str or path
        Packed or not, whatever its name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pldc import DCRegressor, load
    >>> model = DCRegressor(lam=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 1.0])
    >>> with TemporaryDirectory() as folder:
    ...     model.save_model(Path(folder) / "zigzag.json")
    ...     again = load(Path(folder) / "zigzag.json")
    >>> again.predict([[0.5]]) == model.predict([[0.5]])
    array([ True])
    """
    try:
        return _estimator(read_file(path))
    except RecursionError:
        raise ValueError(f"{str(path)!r:.200} is not a model file: it is nested too deeply.") from None


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters; what is neither numbers, text nor a known object is left out, with a warning."""
    out, lost = {}, []
    for name, value in estimator.get_params(deep=False).items():
        try:
            out[name] = write(value, Any, OBJECTS)
        except Unwritable:
            lost.append(name)
    if lost:
        warnings.warn(
            f"The file holds numbers and text alone: {', '.join(lost)} cannot be written, and will be the default "
            "after loading. Predictions do not depend on it; set it again before another fit.",
            stacklevel=4,
        )
    return out


def _estimator(record: dict[str, Any]) -> Any:
    from pldc.estimators import DCClassifier, DCRegressor

    if set(record) != ENTRIES:
        raise ValueError(
            f"A model file has the entries {', '.join(sorted(ENTRIES))}; this one {sorted(record)!r:.200}."
        )
    kinds = {kind.__name__: kind for kind in (DCRegressor, DCClassifier)}
    kind = kinds.get(read(record["estimator"], str, "estimator"))
    if kind is None:
        raise ValueError(f"estimator must be one of {', '.join(kinds)}, got {record['estimator']!r:.80}.")
    parameters = read(record["parameters"], dict[str, Any], "parameters", OBJECTS)
    if unknown := sorted(set(parameters) - set(kind().get_params())):
        raise ValueError(f"{kind.__name__} has no parameter {unknown[0]!r:.80}.")
    model = read_model(record["model"])
    if (kind is DCClassifier) != (model.classes is not None):
        raise ValueError(f"The model of a {kind.__name__} has {'classes' if kind is DCClassifier else 'no classes'}.")
    names = read(record["feature_names_in"], list[str] | None, "feature_names_in")
    count = read(record["n_features_in"], int, "n_features_in")
    width = len(model.center) if model.columns is None else len(model.columns.columns)
    if count != width or (names is not None and len(names) != count):
        raise ValueError(f"The model is one of {width} columns; n_features_in and feature_names_in do not suit it.")
    if names is not None and tuple(names) != model.column_names:
        raise ValueError("feature_names_in must be the names of the columns of the model, in their order.")
    out = kind(**parameters)
    out.n_features_in_ = count
    if names is not None:
        out.feature_names_in_ = np.array(names, dtype=object)
    out._keep(model)
    return out
