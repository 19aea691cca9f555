"""DCRegressor on tables as they come: categories, dates and missing cells, beside boosted trees that take them, too.

    PLDC_DATA=… python -m benchmarks.columns

- diamonds: cut, colour and clarity as texts.
- bike sharing: the date and hour as one column, season and weather as categories. The collection has left the date
  out; it is put together again from the hour, the weekday and the order of the rows, and checked against month and
  year. The trees take no dates: they get days, year, month, day, weekday and hour in its place.
- california: 20 % of all cells are made missing at random.

Every model has its defaults. Cells that are in benchmarks/results/columns.json already are not run again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.cells import write_table
from experiments.data import load

RESULTS = Path(__file__).parent / "results" / "columns.json"
TRAIN, TEST, SPLITS = 4000, 10_000, 3
CUTS = ["Fair", "Good", "Very Good", "Premium", "Ideal"]
CLARITIES = ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"]
SEASONS = ["winter", "spring", "summer", "autumn"]
SKIES = ["clear", "mist", "light rain or snow", "heavy rain or snow"]
MISSING = 0.2


def named(codes: pd.Series, names: list[str]) -> pd.Series:
    """Return codes 0, 1, … as a column of categories."""
    return pd.Series(pd.Categorical.from_codes(codes.astype(int), categories=names), index=codes.index)


def diamonds() -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table of diamonds with its categories."""
    data = load("diamonds")
    table = pd.DataFrame(data.X, columns=data.features)
    for column, names in (("cut", CUTS), ("color", list("JIHGFED")), ("clarity", CLARITIES)):
        table[column] = named(table[column], names)
    return table, data.y


def bikes() -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table of bicycles with its dates."""
    data = load("bike_sharing_hourly")
    table = pd.DataFrame(data.X, columns=data.features)
    step = table["weekday"].diff().fillna(0.0).to_numpy() % 7  # days since the row before
    hours = pd.to_timedelta(24 * np.cumsum(step) + table["hr"], unit="h")
    when = pd.Timestamp("2011-01-01") + hours
    agree = (when.dt.year - 2011 == table["yr"]) & (when.dt.month == table["mnth"])
    if not (agree.all() and when.is_monotonic_increasing):
        raise RuntimeError("The dates of the bike sharing data cannot be put together again.")
    out = table[["temp", "atemp", "hum", "windspeed"]].assign(
        when=when,
        season=named(table["season"] - 1, SEASONS),
        weather=named(table["weathersit"] - 1, SKIES),
        holiday=table["holiday"] > 0,
        workingday=table["workingday"] > 0,
    )
    return out, data.y


def california() -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table of houses, a fifth of its cells missing."""
    data = load("california_housing")
    gone = np.random.RandomState(5).uniform(size=data.X.shape) < MISSING
    return pd.DataFrame(np.where(gone, np.nan, data.X), columns=data.features), data.y


TABLES = {"diamonds": diamonds, "bike sharing": bikes, "california, 20 % missing": california}


def without_dates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the numbers of a calendar in the place of dates."""
    for name in table.select_dtypes("datetime").columns:
        when = table[name].dt
        days = (table[name] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        parts = {"days": days, "year": when.year, "month": when.month, "day": when.day, "hour": when.hour}
        table = table.drop(columns=name).assign(**parts, weekday=when.day_of_week)
    return table


def pldc(train: pd.DataFrame, y: np.ndarray) -> Callable[[pd.DataFrame], np.ndarray]:
    """Fit as a user would."""
    from pldc import DCRegressor

    return DCRegressor().fit(train, y).predict


def catboost(train: pd.DataFrame, y: np.ndarray) -> Callable[[pd.DataFrame], np.ndarray]:
    """Fit CatBoost, told which columns are categories."""
    from catboost import CatBoostRegressor

    table = without_dates(train)
    categories = list(table.select_dtypes("category").columns)
    model = CatBoostRegressor(verbose=0, allow_writing_files=False, random_seed=0, cat_features=categories)
    model.fit(table, y)
    return lambda new: model.predict(without_dates(new))


def boosting(train: pd.DataFrame, y: np.ndarray) -> Callable[[pd.DataFrame], np.ndarray]:
    """Fit scikit-learn's histogram boosting."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)
    model.fit(without_dates(train), y)
    return lambda new: model.predict(without_dates(new))


MODELS = {"DCRegressor()": pldc, "HistGradientBoosting": boosting, "CatBoost": catboost}


def cell(data: str, model: str, split: int) -> dict[str, Any]:
    """Fit one model to one split of one table."""
    table, y = TABLES[data]()
    order = np.random.RandomState(split).permutation(len(y))
    train, test = order[: min(TRAIN, 2 * len(y) // 3)], order[min(TRAIN, 2 * len(y) // 3) :][:TEST]
    start = time.perf_counter()
    predict = MODELS[model](table.iloc[train], y[train])
    seconds = time.perf_counter() - start
    rmse = float(np.sqrt(np.mean((predict(table.iloc[test]) - y[test]) ** 2)))
    size = {"rows": len(train), "columns": table.shape[1]}
    return {"data": data, "model": model, "split": split, **size, "rmse": rmse, "seconds": round(seconds, 1)}


def main() -> None:
    """Run what is not there yet, and write the table."""
    cells = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    done = {(c["data"], c["model"], c["split"]) for c in cells}
    for key in [(d, m, s) for s in range(SPLITS) for m in MODELS for d in TABLES]:
        if key not in done:
            cells.append(cell(*key))
            print(json.dumps(cells[-1]), flush=True)
            RESULTS.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    lines = [["table", "rows × columns", *MODELS, "DCRegressor() over the better one"]]
    for data in TABLES:
        own = [c for c in cells if c["data"] == data]
        mean = {m: float(np.mean([c["rmse"] for c in own if c["model"] == m])) for m in MODELS}
        ratio = mean["DCRegressor()"] / min(v for m, v in mean.items() if m != "DCRegressor()")
        size = f"{own[0]['rows']} × {own[0]['columns']}"
        lines.append([data, size, *(f"{mean[m]:.4g}" for m in MODELS), f"{ratio:.3f}"])
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
