"""All defaults beside Gaussian process, XGBoost and xRFM on seven data sets: normalised test error × 100.

    PLDC_DATA=… python -m experiments.defaults [--jobs 2] [--splits 5]

Split k of a set is the permutation of numpy's default_rng(k): the first 400 rows (or three quarters, if fewer) train,
the rest test. Rows with missing values are left out. Each cell is appended to experiments/results/defaults.csv as it is
done, and a rerun goes on from there; delete the file to begin anew. Rivals that are not installed are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.data import load

RESULTS = Path(__file__).parent / "results" / "defaults.csv"
SETS = ("airfoil", "boston", "concrete", "diabetes", "energy_heating", "qsar_fish_toxicity", "yacht")
COLUMNS = ("dataset", "method", "seed", "n_train", "nmse", "seconds", "lam", "gap")
MOST = 400


def split(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows."""
    data = load(name)
    whole = np.isfinite(data.X).all(axis=1) & np.isfinite(data.y)
    X, y = data.X[whole], data.y[whole]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [min(MOST, int(0.75 * len(y)))])
    return X[train], y[train], X[test], y[test]


def pldc_default(X: np.ndarray, y: np.ndarray) -> object:
    """All defaults."""
    from pldc import DCRegressor

    return DCRegressor(n_jobs=1).fit(X, y)


def gaussian_process(X: np.ndarray, y: np.ndarray) -> object:
    """ARD kernel with noise, marginal likelihood, one restart."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    lengths = RBF(np.full(X.shape[1], 2.0), (1e-2, 1e4))
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * lengths + WhiteKernel(0.1, (1e-6, 10.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def xgboost(X: np.ndarray, y: np.ndarray) -> object:
    """Twenty-five random settings by 5-fold cross-validation."""
    from sklearn.model_selection import RandomizedSearchCV
    from xgboost import XGBRegressor

    grid = {
        "n_estimators": [100, 200, 400, 800],
        "learning_rate": [0.03, 0.1, 0.2],
        "max_depth": [2, 3, 4, 6],
        "subsample": [0.6, 0.8, 1.0],
        "colsample_bytree": [0.6, 0.8, 1.0],
        "min_child_weight": [1, 3, 8],
    }
    model = XGBRegressor(n_jobs=1, random_state=0)
    return RandomizedSearchCV(model, grid, n_iter=25, cv=5, random_state=0, scoring="neg_mean_squared_error").fit(X, y)


def xrfm(X: np.ndarray, y: np.ndarray) -> object:
    """Defaults on standardised columns, a fifth of the rows for validation."""
    import torch
    from sklearn.preprocessing import StandardScaler
    from xrfm import xRFM

    torch.manual_seed(0)
    torch.set_num_threads(1)
    scaler, center, size = StandardScaler().fit(X), y.mean(), y.std()
    Z, t = scaler.transform(X).astype(np.float32), ((y - center) / size).astype(np.float32)[:, None]
    cut = int(0.8 * len(y))
    model = xRFM(device="cpu", verbose=False)
    model.fit(Z[:cut], t[:cut], Z[cut:], t[cut:])

    class Restored:
        def predict(self, new: np.ndarray) -> np.ndarray:
            values = model.predict(scaler.transform(new).astype(np.float32))
            return center + size * np.asarray(values).reshape(len(new))

    return Restored()


METHODS = {
    "pldc": pldc_default,
    "Gaussian process": gaussian_process,
    "XGBoost": xgboost,
    "xRFM": xrfm,
}


def cell(name: str, method: str, seed: int) -> list[dict]:
    """Fit one method to one split."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = split(name, seed)
    start = time.perf_counter()
    model = METHODS[method](X, y)
    seconds = time.perf_counter() - start
    error = 100.0 * float(np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test))
    row = {"dataset": name, "method": method, "seed": seed, "n_train": len(y), "nmse": error, "seconds": seconds}
    row |= {
        "lam": getattr(model, "lam_", ""),
        "gap": model.certificate_.gap if hasattr(model, "certificate_") else "",
    }
    return [row]


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    known = {(r["dataset"], r["method"], int(r["seed"])) for r in read(RESULTS)}
    todo = [(s, m, k) for k in range(arguments.splits) for m in METHODS for s in SETS if (s, m, k) not in known]
    run_missing(RESULTS, COLUMNS, cell, todo, arguments.jobs)
    report()


def report() -> None:
    """Print mean errors and their geometric mean over the sets; write them as a table for the documentation."""
    rows = read(RESULTS)
    table = [["method", *SETS, "geometric mean", "seconds"]]
    print(f"{'method':<18}" + "".join(f"{s[:12]:>14}" for s in SETS) + f"{'geo-mean':>10}{'seconds':>9}")
    for method in METHODS:
        mine = [r for r in rows if r["method"] == method]
        means = [np.mean([float(r["nmse"]) for r in mine if r["dataset"] == s]) for s in SETS] if mine else []
        if mine and np.isfinite(means).all():
            seconds = np.mean([float(r["seconds"]) for r in mine])
            overall = np.exp(np.mean(np.log(means)))
            print(f"{method:<18}" + "".join(f"{v:>14.2f}" for v in means) + f"{overall:>10.2f}{seconds:>9.1f}")
            table.append([method, *(f"{v:.2f}" for v in means), f"{overall:.2f}", f"{seconds:.0f}"])
    write_table(RESULTS.with_suffix(".rst"), table)


if __name__ == "__main__":
    main()
