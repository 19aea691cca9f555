"""What the estimators share: settings for the spine, and what is kept of its model."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

import pldc
from pldc.columns import Encoding
from pldc.compact.clock import Clock
from pldc.estimators.blocks import AllRows
from pldc.estimators.checks import flag, positive, shown, starts_seed, torch_device, whole
from pldc.estimators.folds import cross_validation, folds_of, scorer_of
from pldc.estimators.misses import UNLIMITED, missed_gap, missed_levels
from pldc.estimators.printed import Printed
from pldc.estimators.sources import given_and_rest, settings_left
from pldc.estimators.summary import interruption
from pldc.estimators.tables import Given, booleans_of, points, warn_of_texts
from pldc.fit import Fitted, Settings, fit, simplify
from pldc.fit.spine import FOLDS
from pldc.function.max_affine import Array
from pldc.model import Model
from pldc.problem.losses import Loss
from pldc.problem.penalties import Seminorm, make_seminorm
from pldc.problem.recipe import Recipe, Rows
from pldc.select.cross_fit import CrossFit
from pldc.solve.choose import solver_setting
from pldc.solve.run import Monitor
from pldc.solve.workers import blas_threads, one_blas_thread

MOST_PIECES = 10_000  # of each part, that can be asked for


class DCEstimator(Printed, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Common to DCRegressor and DCClassifier; the parameters are theirs."""

    categorical_features: Any
    n_features_in_: int
    n_pieces: Any
    max_seconds: Any
    max_memory: Any
    device: Any
    lam: Any
    cv: Any
    solver: Any
    penalty: Any
    standardize: bool
    n_jobs: int | None
    random_state: Any
    verbose: int
    # Settings of the convex program, with what they are by default: whoever changes one of them asks for it.
    _of_the_program: ClassVar[dict[str, tuple[Any, ...]]]
    _tol: ClassVar[float] = 1e-4  # of a solver given by name; "admm" has its own
    model_: Model
    _folds: CrossFit | None
    _grouped: tuple[np.ndarray, np.ndarray] | None = None  # targets and groups of the fit, as they were given

    def _fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None, monitor: Monitor | None
    ) -> None:
        """Read the table, run the spine and keep what it learned."""
        self._forget()
        if monitor is not None and not callable(monitor):
            raise TypeError(f"monitor must be callable, got {shown(monitor)}.")
        clock = Clock()
        with one_blas_thread():
            given, rest, X = given_and_rest(self, X, y, sample_weight, groups)
            read = clock.spent()  # counts, too: it may be a pass over a table of any size
            found = fit(given.rows, settings_left(self._settings(given, groups), read), monitor, rest)
        self._take(found, given, booleans_of(X))
        name = y if isinstance(y, str) else getattr(y, "name", None)
        self.model_ = replace(
            self.model_, target=name if isinstance(name, str) and name else None, seconds=clock.spent()
        )
        if rest is not None:
            self.passes_ = rest.passes
        warn_of_texts(self, X, given.columns, given.rows.weight)
        self._grouped = None if groups is None else (np.array(y), np.array(groups))
        self._warn(given.rows, found.interrupted)
        if rest is not None and rest.errors:  # the model is usable: it has seen the sample
            raise rest.errors[0]
        if found.interrupted:
            raise KeyboardInterrupt(interruption(self.model_))

    def simplify(
        self, X: Any, y: Any, n_pieces: int = 8, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Learn one function of few pieces from this model and the rows together; of classes, one for each score.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The rows of the fit; its folds are then used again, if the model was not loaded from a file. Others are
            cross-validated anew, with a fit a fold, which takes several times as long.
        y : array of shape (n,)
        n_pieces : int, default=8
            Pieces of each part, at most.
        sample_weight : array of shape (n,), optional
        groups : array of shape (n,), optional
            Rows of one group stay together, as in `fit`. Not given: those of the fit, if these are its rows in their
            order.

        Returns
        -------
        DCRegressor or DCClassifier
            Fitted. Its `function_`, or each of its `functions_`, is one function of at most `n_pieces` − `n_pieces`
            pieces, with at most as many linear regions as there are pairs of them, and all it says and does is of these
            alone. `fidelity_` is the R² to this model at rows that were left out, or the share of them at which both
            say the same class (where `max_seconds` left no time for the folds, at fresh points between the rows);
            `simplification_` has the cross-validated scores of both. With `monotone` the pieces are sums of monotone
            curves.
        """
        self._points(X)
        whole("n_pieces", n_pieces, 1)
        simple = clone(self).set_params(n_pieces=n_pieces)
        groups = self._groups_of(y) if groups is None else groups
        given = self._as_fitted(simple, X, y, sample_weight, groups)
        if not np.array_equal(mine := getattr(self, "classes_", ()), yours := getattr(simple, "classes_", ())):
            mine, yours = (shown(np.asarray(each).tolist()) for each in (mine, yours))
            raise ValueError(f"y must hold rows of the same classes as the fit, {mine}; got {yours}.")
        if hasattr(self, "feature_names_in_"):
            simple.feature_names_in_ = self.feature_names_in_
        settings = self._settings(given, groups, folds=FOLDS if groups is None and given.folds is None else None)
        with one_blas_thread():
            found = simplify(self.model_, self._folds, given.rows, n_pieces, settings)
        if found.interrupted:
            raise KeyboardInterrupt("Interrupted; nothing was returned.")
        simple._take(found, given, self.model_.booleans)
        return simple

    def _groups_of(self, y: Any) -> ArrayLike | None:
        """Return the groups of the fit for the targets of the same rows; None if it had none."""
        if self._grouped is None:
            return None
        targets, groups = self._grouped
        if not np.array_equal(targets, np.asarray(y)):
            raise ValueError(
                "This model was fitted with groups, and these are not its rows in their order: give groups."
            )
        return groups

    def _as_fitted(
        self, copy: Any, X: Any, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None = None
    ) -> Given:
        """Read rows in the features of this model: those of its training as they were then, others as new rows."""
        given, model = copy._given(X, y, sample_weight, groups), self.model_
        if given.columns == model.columns and given.columns is not None:
            return given
        return Given(given.rows._replace(X=self._points(X)), model.columns, model.medians)

    def _settings(self, given: Given, groups: ArrayLike | None = None, *, folds: int | None = None) -> Settings:
        """Check the parameters, whether this fit uses them or not, and hand them to the spine.

        `folds` takes the place of those of `cv`, where these are not asked for.
        """
        cv = cross_validation(self.cv)
        if not isinstance(self.verbose, bool | np.bool_):
            whole("verbose", self.verbose, 0)
        threads, pieces = self._threads(), self._pieces()
        seed = 0 if self.random_state is None else self.random_state
        return Settings(
            recipe=self._recipe(given.columns),
            n_pieces=pieces,
            device=torch_device(self.device, pieces),
            max_seconds=None if self.max_seconds is None else positive("max_seconds", self.max_seconds, "None or "),
            lam=self._lam(),
            solver=solver_setting(self.solver, self._tol),
            folds=folds or given.folds or folds_of(self, cv, given.rows, groups),
            score=scorer_of(self, cv.scoring, getattr(self, "classes_", None)),
            one_standard_error=cv.one_standard_error,
            max_rows=cv.max_rows if isinstance(cv.folds, Integral) else None,
            threads=threads,
            jobs=threads or (blas_threads() if get_active_backend()[1] is None else None),
            seed=seed,
            starts_seed=starts_seed(seed),
            source=None if given.columns is None else given.columns.source,
            as_new=given.as_new,
            verbose=self.verbose,
        )

    def _pieces(self) -> int | str:
        """Return `n_pieces`, and "rows" where a setting asks for the program."""
        if isinstance(self.n_pieces, Integral) and not isinstance(self.n_pieces, bool):
            if whole("n_pieces", self.n_pieces, 1) > MOST_PIECES:
                raise ValueError(f"n_pieces must be at most {MOST_PIECES}, got {shown(self.n_pieces)}.")
            return int(self.n_pieces)
        if not (isinstance(self.n_pieces, str) and self.n_pieces in ("auto", "rows")):
            raise ValueError(f"n_pieces must be 'auto', 'rows' or a whole number ≥ 1, got {shown(self.n_pieces)}.")
        given = {name: getattr(self, name) for name in self._of_the_program}
        given = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
        plain = all(
            any(type(given[name]) is type(default) and given[name] == default for default in defaults)
            for name, defaults in self._of_the_program.items()
        )
        return self.n_pieces if plain else "rows"

    def _points(self, X: Any) -> Array:
        """Check that the model is fitted, and rows to evaluate it at."""
        check_is_fitted(self, "model_")
        return points(self, X, self.model_)

    def _width(self, columns: Encoding | None) -> int:
        """Return the number of features that the function sees."""
        return int(self.n_features_in_) if columns is None else len(columns.features)

    def _given(self, X: Any, y: Any, weight: Any, groups: Any = None, everywhere: AllRows | None = None) -> Given:
        raise NotImplementedError

    def _recipe(self, columns: Encoding | None) -> Recipe:
        raise NotImplementedError

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _seminorm(self) -> Seminorm:
        flag("standardize", self.standardize)
        return make_seminorm(self.penalty)

    def _lam(self, rules: tuple[str, ...] = ("cv",)) -> float | str:
        if isinstance(self.lam, str):
            names = ", ".join(map(repr, rules))
            if self.lam not in rules:
                raise ValueError(f"lam must be {names} or a positive number, got {shown(self.lam)}.")
            return self.lam
        return positive("lam", self.lam, ", ".join(map(repr, rules)) + " or ")

    def _threads(self) -> int | None:
        if self.n_jobs is None:
            return None
        if not isinstance(self.n_jobs, Integral) or isinstance(self.n_jobs, bool) or self.n_jobs == 0:
            raise ValueError(f"n_jobs must be None, −1 or a whole number ≥ 1, got {shown(self.n_jobs)}.")
        return max(1, cpu_count() + 1 + int(self.n_jobs)) if self.n_jobs < 0 else int(self.n_jobs)

    def _take(self, found: Fitted, given: Given, booleans: tuple[int, ...]) -> None:
        """Keep the model, and its numbers as attributes; what does not apply is not there."""
        columns = given.columns
        names = getattr(self, "feature_names_in_", None) if columns is None else columns.feature_names
        model = replace(
            found.model,
            feature_names=None if names is None else tuple(map(str, names)),
            columns=columns,
            medians=given.medians,
            booleans=booleans,
            classes=getattr(self, "classes_", None),
            version=pldc.__version__,
        )
        self._keep(model, found.folds)

    def _keep(self, model: Model, folds: CrossFit | None = None) -> None:
        """Keep a model, and its numbers as attributes; what does not apply is not there."""
        self.model_, self._folds = model, folds
        self.reference_, self.spread_, self.n_iter_ = model.center, model.spread, model.n_iter
        known: dict[str, Any] = {"cv_score_": model.cv_score, "cv_results_": model.cv_results or None}
        known["feature_importances_"] = model.importances
        known["chosen_"] = None if model.kind == "program" else model.chosen
        if model.simplification is not None:
            known |= {"simplification_": model.simplification, "fidelity_": model.simplification.fidelity}
        if model.program is not None:
            solved = model.program
            known |= {"lam_": solved.lam, "certificate_": solved.certificate, "seminorm_": solved.seminorm}
            known |= {"solver_": solved.solver}
        for name, value in known.items():
            if value is not None:
                setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:
        """Say what tables may hold. Not text: what is said to take it must take any object, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, which :func:`pldc.load` reads: JSON, without code or training rows.

        Everything comes back to the last bit: predictions, intervals, explanations, all fitted attributes but
        `passes_`. Parameters that are neither numbers, text nor objects of this package, such as a splitter as `cv`,
        are left out with a warning, and are the default after loading; only another fit would use them.

        Parameters
        ----------
        path : str or path
            Ends in ``.json``, or in ``.json.gz`` for a smaller file. An older file is replaced, once
            the new one is written whole.
        """
        from pldc.estimators.files import save

        check_is_fitted(self, "model_")
        save(self, path)

    def _record(self) -> Model:
        """Return `model_`; without a fit it is an error of scikit-learn's kind."""
        check_is_fitted(self, "model_")
        return self.model_

    def __getattr__(self, name: str) -> Any:
        """Say where an attribute of the program is to be had, if a model of few pieces is asked for it."""
        if name in ("certificate_", "lam_", "seminorm_", "solver_") and "model_" in vars(self):
            raise AttributeError(f"{name} is of the program: fit with n_pieces='rows', or see pldc.certify.")
        if name == "function_" and "functions_" in vars(self):
            ask = "there is not one to ask"
            if self.model_.kind != "program" and len(self.functions_) == 2 and self.model_.levels is None:
                ask = "of two classes the first has the score zero, ask functions_[1] for that of the second"
            raise AttributeError(f"This model has several functions, functions_: {ask}.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _forget(self) -> None:
        """Delete what an older fit left: one that fails leaves no half of it behind."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._folds = self._grouped = None

    def __getstate__(self) -> Any:
        """Leave the rows out: the fits of the folds, which come with them, are only there to save time."""
        return {**super().__getstate__(), "_folds": None, "_grouped": None}

    def onnx_shape_calculator(self) -> Any:
        """Return what skl2onnx asks for, to set the types of the outputs; see :func:`pldc.export.to_onnx`."""
        from pldc.export.onnx_pipeline import set_types

        return set_types

    def onnx_converter(self) -> Any:
        """Return what skl2onnx asks for, to add the nodes; see :func:`pldc.export.to_onnx`."""
        from pldc.export.onnx_pipeline import add_nodes

        return add_nodes

    def _warn(self, rows: Rows, interrupted: bool) -> None:
        """Say what was missed. The model is complete by now: nothing is lost where the warning is an error."""
        if self.max_seconds is not None and self._pieces() == "rows":
            warnings.warn(UNLIMITED, UserWarning, stacklevel=4)
        free = getattr(self.solver, "name", self.solver) == "auto" and self._loss().boxed
        for missed in (missed_gap(self.model_, free), "" if interrupted else missed_levels(self.model_, rows)):
            if missed:
                warnings.warn(missed, ConvergenceWarning, stacklevel=4)
