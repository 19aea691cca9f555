"""The models that `pldc score` puts beside ours, for tables with gaps and categories."""

from __future__ import annotations

from typing import Any

import numpy as np

# Of regressions and of classes: what is measured, scikit-learn's name for it, and the sign that it gives it.
MEASURES: dict[bool, dict[str, tuple[str, int]]] = {
    False: {"R²": ("r2", 1), "mean absolute error": ("neg_mean_absolute_error", -1)},
    True: {"accuracy": ("accuracy", 1), "log loss": ("neg_log_loss", -1)},
}
DATES = ["datetime", "datetimetz"]
NUMBERS = ["number", "bool"]


def rivals(classes: bool) -> dict[str, Any]:
    """Return linear and boosted models; both leave dates out."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    numbers = make_column_selector(dtype_include=NUMBERS)
    texts = make_column_selector(dtype_exclude=NUMBERS + DATES)
    indicators = OneHotEncoder(handle_unknown="ignore", max_categories=30)
    linear = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), numbers), (indicators, texts))
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=200, encoded_missing_value=np.nan
    )
    trees = make_column_transformer(("passthrough", numbers), (codes, texts))
    if classes:
        last: tuple[Any, Any] = LogisticRegression(max_iter=2000), HistGradientBoostingClassifier(random_state=0)
    else:
        last = LinearRegression(), HistGradientBoostingRegressor(random_state=0)
    names = ("logistic regression", "gradient boosting") if classes else ("linear regression", "gradient boosting")
    return dict(zip(names, (make_pipeline(linear, last[0]), make_pipeline(trees, last[1])), strict=True))
