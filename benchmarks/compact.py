"""Fits of few pieces beside others on small and middle tables: normalised test error × 100, and seconds.

    PLDC_DATA=… python -m benchmarks.compact [--only small|middle] [--methods NAME,NAME] [--report]

Small: the seven sets and splits of experiments/defaults.py, all defaults, and one function of 8 or 4 pieces a part
beside models that people read. Middle: ten sets, 10,000 rows (or three quarters, if fewer) to train and at most 20,000
to test, beside boosted trees as they come and tuned for a minute on two cores (120 seconds of processor time, random
settings, a fifth of the rows to validate). One cell after the other; each is appended to results/compact.csv as it is
done, and a rerun goes on from there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from experiments.cells import commit, read, run_missing, write_table
from experiments.data import load
from experiments.defaults import SETS, split
from experiments.methods import REGRESSORS, within_range
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

RESULTS = Path(__file__).parent / "results" / "compact.csv"
COLUMNS = ("table", "dataset", "method", "seed", "n_train", "nmse", "seconds", "chosen", "commit")
MIDDLE = (
    "kin8nm",
    "friedman",
    "elevators",
    "naval_propulsion",
    "two_d_planes",
    "diamonds",
    "california_housing",
    "power_plant",
    "protein_casp",
    "bike_sharing_hourly",
)
MOST_TRAIN, MOST_TEST = 10_000, 20_000
SPLITS = 5
BUDGET = 120.0  # seconds of processor time for tuning: a minute on two cores
THREADS = 2


def pldc(**settings: Any) -> Callable:
    """Return our regressor."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        from pldc import DCRegressor

        return DCRegressor(**settings).fit(X, y)

    return fit


def cubist(X: np.ndarray, y: np.ndarray) -> Any:
    """Rules with linear models."""
    from cubist import Cubist

    return Cubist().fit(X, y)


def linear_tree(X: np.ndarray, y: np.ndarray) -> Any:
    """One tree with linear models in its leaves; their number by five folds."""
    from lightgbm import LGBMRegressor
    from sklearn.model_selection import GridSearchCV

    tree = LGBMRegressor(
        n_estimators=1, learning_rate=1.0, linear_tree=True, linear_lambda=0.01, n_jobs=1, verbose=-1, random_state=0
    )
    grid = {"num_leaves": [2, 4, 8, 16], "min_child_samples": [10, 20, 40]}
    return GridSearchCV(tree, grid, scoring="neg_mean_squared_error").fit(X, y)


def boosters() -> dict[str, tuple[Callable, dict[str, list]]]:
    """Return the makers of boosted trees and what is tuned of them."""

    def catboost(**settings: Any) -> Any:
        from catboost import CatBoostRegressor

        return CatBoostRegressor(verbose=0, random_seed=0, thread_count=THREADS, allow_writing_files=False, **settings)

    def lightgbm(**settings: Any) -> Any:
        from lightgbm import LGBMRegressor

        return LGBMRegressor(verbose=-1, random_state=0, n_jobs=THREADS, subsample_freq=1, **settings)

    def xgboost(**settings: Any) -> Any:
        from xgboost import XGBRegressor

        return XGBRegressor(random_state=0, n_jobs=THREADS, **settings)

    trees = {"n_estimators": [200, 400, 800, 1600], "learning_rate": [0.02, 0.05, 0.1], "subsample": [0.6, 0.8, 1.0]}
    return {
        "CatBoost": (
            catboost,
            {
                "iterations": [500, 1000, 2000],
                "learning_rate": [0.03, 0.06, 0.1],
                "depth": [4, 6, 8],
                "l2_leaf_reg": [1, 3, 9],
            },
        ),
        "LightGBM": (
            lightgbm,
            trees
            | {"num_leaves": [15, 31, 63, 127], "min_child_samples": [5, 20, 50], "colsample_bytree": [0.5, 0.8, 1.0]},
        ),
        "XGBoost": (
            xgboost,
            trees | {"max_depth": [4, 6, 8, 10], "min_child_weight": [1, 5, 20], "colsample_bytree": [0.5, 0.8, 1.0]},
        ),
    }


def defaults(name: str) -> Callable:
    """Return boosted trees as they come."""
    return lambda X, y: boosters()[name][0]().fit(X, y)


def tuned(name: str) -> Callable:
    """Return boosted trees with the best of random settings, drawn until the time is spent."""

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        make, space = boosters()[name]
        rng = np.random.default_rng(0)
        cut = int(0.8 * len(y))
        began = time.process_time()
        best, error = {}, np.inf
        while time.process_time() - began < BUDGET:
            settings = {key: values[rng.integers(len(values))] for key, values in space.items()}
            guess = make(**settings).fit(X[:cut], y[:cut]).predict(X[cut:])
            now = float(np.mean((guess - y[cut:]) ** 2))
            if now < error:
                best, error = settings, now
        return make(**best).fit(X, y)

    return fit


def mars(X: np.ndarray, y: np.ndarray) -> Any:
    """Return MARS, tuned."""
    return REGRESSORS["MARS"](X, y)


def scaled_ridge(X: np.ndarray, y: np.ndarray) -> Any:
    """Return linear regression."""
    from sklearn.linear_model import RidgeCV

    return make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-4, 5))).fit(X, y)


METHODS: dict[str, dict[str, Callable]] = {
    "small": {
        "pldc": pldc(),
        "pldc, 8 pieces": pldc(n_pieces=8),
        "pldc, 4 pieces": pldc(n_pieces=4),
        "EBM": REGRESSORS["EBM"],
        "Cubist": cubist,
        "MARS": mars,
        "linear tree": within_range(linear_tree),
        "ridge": within_range(scaled_ridge),
    },
    "middle": {"pldc": pldc()}
    | {name: defaults(name) for name in ("CatBoost", "LightGBM", "XGBoost")}
    | {f"{name}, tuned": tuned(name) for name in ("CatBoost", "LightGBM", "XGBoost")},
}


def middle_split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows of a middle table."""
    data = load(name)
    whole = np.isfinite(data.X).all(axis=1) & np.isfinite(data.y)
    X, y = data.X[whole], data.y[whole].astype(float)
    order = np.random.default_rng(seed).permutation(len(y))
    count = min(MOST_TRAIN, int(0.75 * len(y)))
    train, test = order[:count], order[count : count + MOST_TEST]
    return X[train], y[train], X[test], y[test]


def cell(table: str, name: str, method: str, seed: int) -> list[dict]:
    """Fit one method to one split."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = split(name, seed) if table == "small" else middle_split(name, seed)
    start = time.perf_counter()
    model = METHODS[table][method](X, y)
    seconds = time.perf_counter() - start
    error = 100.0 * float(np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test))
    chosen = "; ".join(f"{c['features']} {c['knots']} × {c['pieces']}" for c in getattr(model, "chosen_", []))
    row = {"table": table, "dataset": name, "method": method, "seed": seed, "n_train": len(y), "nmse": error}
    return [row | {"seconds": round(seconds, 2), "chosen": chosen, "commit": commit()}]


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("small", "middle"))
    parser.add_argument("--methods", default="")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    arguments = parser.parse_args()
    wanted = [m.strip() for m in arguments.methods.split(";") if m.strip()]
    known = {(r["table"], r["dataset"], r["method"], int(r["seed"])) for r in read(RESULTS)}
    sets = {"small": [(s, k) for k in range(SPLITS) for s in SETS], "middle": [(s, 0) for s in MIDDLE]}
    todo = [
        (table, name, method, seed)
        for table in ("small", "middle")
        if arguments.only in (None, table)
        for name, seed in sets[table]
        for method in METHODS[table]
        if not wanted or method in wanted
    ]
    if not arguments.report:
        run_missing(RESULTS, COLUMNS, cell, [cell for cell in todo if cell not in known], 1)
    report()


def report() -> None:
    """Print the tables and write them for the documentation."""
    rows = read(RESULTS)
    for table, sets in (("small", SETS), ("middle", MIDDLE)):
        lines = [["method", *(s.split("_")[0] for s in sets), "geometric mean", "seconds"]]
        means = {}
        for method in METHODS[table]:
            mine = [r for r in rows if r["table"] == table and r["method"] == method]
            errors = [[float(r["nmse"]) for r in mine if r["dataset"] == s] for s in sets]
            if all(errors):
                means[method] = np.array([np.mean(e) for e in errors])
                seconds = np.mean([float(r["seconds"]) for r in mine])
                overall = np.exp(np.log(means[method]).mean())
                lines.append([method, *(f"{v:.2f}" for v in means[method]), f"{overall:.2f}", f"{seconds:.1f}"])
        if means:
            write_table(RESULTS.with_name(f"compact_{table}.rst"), lines)
            print("\n".join("  ".join(f"{cell[:14]:>14}" for cell in line) for line in lines))
            best = np.min([v for m, v in means.items() if not m.startswith("pldc")] or [[np.inf] * len(sets)], axis=0)
            ranks = np.argsort(np.argsort(np.array(list(means.values())), axis=0), axis=0).mean(axis=1) + 1
            print("mean rank:", ", ".join(f"{m} {r:.2f}" for m, r in zip(means, ranks, strict=True)))
            if "pldc" in means:
                ratio = means["pldc"] / best
                print("pldc over the best other:", ", ".join(f"{s} {r:.3f}" for s, r in zip(sets, ratio, strict=True)))
                print(f"best or within 5 %: {int((ratio <= 1.05).sum())} of {len(sets)}")


if __name__ == "__main__":
    main()
