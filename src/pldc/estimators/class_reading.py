"""What :class:`pldc.DCClassifier` answers of its scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.estimators.checks import choice, shown
from pldc.estimators.reading import Reading, rows_for_curve, thinned
from pldc.function import PLDC, ClassExplanation, Contributions, Curve, LevelMeans, class_regions
from pldc.function.contributions import METHODS, class_contributions
from pldc.function.regions import RegionTable


class ClassReading(Reading):
    """Why a class and not another, how classes follow a column, and where each wins."""

    def explain(
        self: Any, X: Any, reference: Any = None, neighbourhood: float = 0.1, method: str = "local"
    ) -> ClassExplanation | Contributions:
        """Explain each prediction: the class, the runner-up, the margin between them, and the reasons for it.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        reference : array of shape (d,), Series or dict by feature names, or table of rows, optional
            Where contributions are measured from; the mean of the training rows if not given. "path" and "shapley" take
            a table, too, and are means over its rows.
        neighbourhood : float, default=0.1
            Of "local", in standard deviations of the training features. Rows closer to a kink get mean slopes over a
            ball of this radius. 0 takes the slopes of one piece always.
        method : {"local", "path", "shapley"}, default="local"
            "local": contributions are slope × (x − reference), with the slopes of the margin at the row. "path" and
            "shapley" share the margin less that at the reference, as in :meth:`DCRegressor.explain`.
        """
        X = self._points(X)
        if choice("method", method, ("local", *METHODS)) == "local":
            return self.model_.explain_classes(X, self._reference(reference), neighbourhood)
        model, rows = self.model_, self._references(reference)
        return class_contributions(model.functions, X, rows, self.classes_, method, model.column_names, model.source)

    def curve(
        self: Any, feature: Any, X: Any = None, label: Any = None, between: tuple[float, float] | None = None
    ) -> Curve | LevelMeans:
        """Return how far a class leads as one column moves: the mean over rows, exact, with all kinks.

        Probabilities are no piecewise-linear functions; their logarithms differ by the scores, which are. The curve is
        that of the log-odds of the class: against the other of two; of more, against the mean of all others, log p −
        mean log p. Of scores that were not calibrated it is the lead itself.

        Parameters
        ----------
        feature : str or int
            Name of a column, or its number; one of numbers or of categories.
        X : array or DataFrame of shape (n, d)
            Rows whose other columns stay as they are. Some hundred will do.
        label : optional
            The class. May be left out of two: the second of ``classes_``.
        between : (float, float), optional
            Ends of the curve, beyond which it is NaN; by default as for :meth:`DCRegressor.curve`.

        Returns
        -------
        Curve or LevelMeans
            As for :meth:`DCRegressor.curve`.
        """
        X, names = rows_for_curve(self, X), self.classes_.tolist()
        if label is None and len(names) == 2:
            label = names[1]
        if np.ndim(label) or label not in names:
            raise ValueError(f"label must be one of the classes, {shown(names)}; got {shown(label)}.")
        at, unit = names.index(label), self.model_.temperature or 1.0
        weights = [unit if k == at else -unit / (len(names) - 1) for k in range(len(names))]
        lead = PLDC.total(w * f for w, f in zip(weights, self.functions_, strict=True))
        return self._curve(lead, feature, X, between, (-np.inf, np.inf))

    def region_table(self: Any, X: Any, tol: float | None = None) -> RegionTable:
        """List which class wins where, and by what margin: the rows of `X` in each region, and the margin's slopes.

        For a readable table first call ``model.simplify(X, y)``: it gives each class one function of few pieces.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        tol : float, optional
            Pieces are first dropped as for :meth:`DCRegressor.region_table`, of each score alone.

        Returns
        -------
        RegionTable
            A dict of columns, fullest region first: ``print`` shows it as text, ``pandas.DataFrame`` and
            ``polars.DataFrame`` take it. In a region one class is first
            and one second, and the score of the one less that of the other, the margin, is one linear function.
        """
        X = self._points(X)
        functions = [thinned(f, X, tol) for f in self.functions_]
        return self._told(class_regions(functions, X, self.classes_))
