"""The paper's experiments, and those that judge its claims.

    PLDC_DATA=… python -m experiments.paper [--quick] [--jobs 2] [--studies …] [--datasets …] [--methods …] [--seeds N]
        [--report]

A study is a list of cells (data set, method, seed). The rows of a finished cell are appended at once to
experiments/results/paper_STUDY.csv, or to results/quick/ with --quick; a rerun goes on from there. Then all tables and
figures are drawn from those files, and from nothing else (`experiments.page`).

synthetic   sin(π s) + s², s = Σ x / √d, 50 rows, noise 0.25; 5000 noiseless rows test; error / variance × 100
regression  the eight real sets, random four fifths train; error / variance of all targets × 100
classes     the seven real sets, random halves; error in per cent
surface     figure 1: λ = 2 D̂ and λ by cross-validation
manifold    data on one curve, and in the cube, in growing dimension: discrepancy and error
rate        excess risk against the number of rows
sparse      small real sets: share of zeros, per cent, among slopes at new rows and among those of all pieces; which of
            the paper's ten values of λ was chosen, the largest being 0
wide        all regression sets of up to 10 000 rows, all defaults, 75 % but at most 400 rows train

Missing features are zero, in cereal −1 as in its source, and, but in the wide study, missing targets are the mean of
the others, as in the authors' scripts.
Differences to the paper: rock has 48 rows (the paper prints 16), ecoli 336 (337), heart disease 303 (313).
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells import commit, read, run_missing
from experiments.data import index, load
from experiments.methods import CLASSIFIERS, REGRESSORS

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("study", "dataset", "method", "seed", "metric", "value", "lam", "gap", "seconds", "commit")
SMALL = ("rock", "acetylene", "moore", "reaction", "carsmall", "cereal")
LARGER = ("boston", "forest_fires")
CLASSES = ("bpd", "iris", "balance_scale", "ecoli", "wine", "heart_disease", "ionosphere")
WIDE_ROWS, LARGEST = 400, 10_000
QUICK_ROWS = 80
ZEROS = {"": 1e-4, ", strict": 1e-6}  # of the largest slope; objectives are accurate to 1e-4, slopes less so
DIMENSIONS = (1, 2, 5, 10, 20)
SIZES = (25, 50, 100, 200, 400, 800)
FAIR = ("MLP", "MARS", "kNN")  # the paper's rivals, tuned
TODAY = ("SVR", "Gaussian process", "XGBoost", "HistGradientBoosting", "random forest", "EBM", "xRFM")
NO_CLAIM = ("pldc, componentwise", "pldc, log loss", "XGBoost", "HistGradientBoosting", "random forest")  # of classes
EVERY = ("ridge", "constant")
OURS = tuple(m for m in REGRESSORS if m.startswith("pldc"))
VARIANTS = OURS[2:]  # what lies between the paper's program and the defaults, one step at a time
CODED = tuple(m for m in REGRESSORS if m.endswith("as coded"))


@dataclass(frozen=True)
class Study:
    """What a study runs: data sets with the number of seeds of each, and methods; some on fewer seeds."""

    datasets: dict[str, int]
    methods: tuple[str, ...]
    fewer: dict[str, int] = field(default_factory=dict)

    def cells(self, name: str) -> list[tuple[str, str, str, int]]:
        """Return all cells, first seeds first."""
        most = max(self.datasets.values())
        return [
            (name, dataset, method, seed)
            for seed in range(most)
            for dataset, seeds in self.datasets.items()
            for method in self.methods
            if seed < min(seeds, self.fewer.get(method, seeds))
        ]


def studies(quick: bool) -> dict[str, Study]:
    """Return the studies of the protocol."""
    few = (lambda full, small: small) if quick else (lambda full, small: full)
    wide = [n for n, about in index().items() if about["task"] == "regression" and about["n"] <= LARGEST]
    return {
        "synthetic": Study(
            {f"d={d}": few(100, 2) for d in few(range(1, 11), (1, 2, 5))} | few({"d=20": 20}, {}),
            (*OURS, *CODED, *FAIR, *TODAY, *EVERY),
            dict.fromkeys((*TODAY, *VARIANTS), few(20, 1)),
        ),
        "regression": Study(
            {name: few(100, 1) for name in SMALL} | {name: few(20, 1) for name in LARGER},
            (*OURS, *CODED, *FAIR, *TODAY, *EVERY),
            dict.fromkeys((*TODAY, *VARIANTS), 20),
        ),
        "classes": Study(
            {name: few(20, 1) for name in CLASSES} | {"bpd": few(100, 1)},  # worse than the reference of twenty
            tuple(CLASSIFIERS),
            dict.fromkeys(NO_CLAIM, 20),
        ),
        "surface": Study({"surface": few(20, 2)}, ("2 D", "cv")),
        "manifold": Study(
            {f"{kind} d={d}": few(20, 2) for kind in ("curve", "cube") for d in few(DIMENSIONS, (1, 5))},
            ("discrepancy", "pldc", "pldc, squared, joint", "Gaussian process", "kNN"),
        ),
        "rate": Study(
            {f"d={d} n={n}": few(20, 2) for d in few((1, 2, 4), (1, 2)) for n in few(SIZES, SIZES[:3])},
            ("pldc", "pldc, squared, joint"),
        ),
        "sparse": Study({name: few(20, 1) for name in SMALL}, ("pldc, paper",)),
        "wide": Study(
            {name: few(20, 1) for name in few(wide, ("airfoil", "yacht", "diabetes", "pw_linear"))},
            ("pldc", *FAIR, *TODAY, *EVERY),
        ),
    }


def ridge_function(X: np.ndarray) -> np.ndarray:
    """Return the paper's synthetic function."""
    s = X.sum(axis=1) / np.sqrt(X.shape[1])
    return np.sin(np.pi * s) + s**2


def surface(X: np.ndarray) -> np.ndarray:
    """Return the two-dimensional function of the authors' script, on the unit square."""
    Z = 3.0 * np.pi * X
    return np.sin(Z[:, 0]) + np.cos(Z[:, 1]) + 3.0 * np.log(np.abs(Z[:, 0] + Z[:, 1]) + 1.0)


def curve(t: np.ndarray, d: int) -> np.ndarray:
    """Return points of one plane curve, seen from d directions of its plane; its length in the largest feature is 2."""
    angle = np.arange(d) * np.pi / d

    def seen(t: np.ndarray) -> np.ndarray:
        return np.outer(t, np.cos(angle)) + np.outer(np.sin(np.pi * t), np.sin(angle))

    steps = np.diff(seen(np.linspace(-1, 1, 10_001)), axis=0)
    return seen(t) * 2.0 / np.abs(steps).max(axis=1).sum()


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a data set with missing cells filled as the authors did."""
    data = load(name)
    X = np.nan_to_num(data.X, nan=float(data.about.get("missing_code_in_source", 0.0)))
    if data.about["task"] == "classification":
        return X, np.unique(data.y, return_inverse=True)[1]
    y = data.y.astype(float)
    return X, np.where(np.isfinite(y), y, np.nanmean(y))


def divided(X: np.ndarray, y: np.ndarray, seed: int, share: float, most: int | None) -> tuple[np.ndarray, ...]:
    """Return training rows and targets, test rows and targets of a random split."""
    order = np.random.default_rng(seed).permutation(len(y))
    cut = int(share * len(y))
    train, test = order[: min(cut, most or cut)], order[cut:]
    return X[train], y[train], X[test], y[test]


def fitted(method: str, X: np.ndarray, y: np.ndarray, classes: bool = False) -> tuple[Any, dict[str, Any]]:
    """Fit, and return the model with what the row says of it."""
    start = time.perf_counter()
    model = (CLASSIFIERS if classes else REGRESSORS)[method](X, y)
    seconds = time.perf_counter() - start
    certificate = getattr(model, "certificate_", None)
    return model, {
        "lam": getattr(model, "lam_", ""),
        "gap": "" if certificate is None else certificate.gap,
        "seconds": seconds,
    }


def synthetic(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """Fifty rows of the ridge function."""
    d = int(dataset[2:])
    rng = np.random.default_rng([seed, d])
    X, X_test = rng.standard_normal((50, d)), rng.standard_normal((5000, d))
    y, truth = ridge_function(X) + 0.25 * rng.standard_normal(50), ridge_function(X_test)
    model, about = fitted(method, X, y)
    return [about | {"metric": "nmse", "value": 100 * np.mean((model.predict(X_test) - truth) ** 2) / np.var(truth)}]


def regression(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """Random four fifths of a real set."""
    everything = table(dataset)
    X, y, X_test, y_test = divided(*everything, seed, 0.8, most)
    model, about = fitted(method, X, y)
    unit = np.var(everything[1], ddof=1)
    return [about | {"metric": "nmse", "value": 100 * np.mean((model.predict(X_test) - y_test) ** 2) / unit}]


def classes(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """Random halves of a real set."""
    X, y, X_test, y_test = divided(*table(dataset), seed, 0.5, most)
    labels, codes = np.unique(y, return_inverse=True)  # classes that the half has, numbered
    model, about = fitted(method, X, codes, classes=True)
    return [about | {"metric": "error", "value": 100 * np.mean(labels[model.predict(X_test).astype(int)] != y_test)}]


def fit_surface(X: np.ndarray, method: str) -> Any:
    """Fit the surface under the absolute loss, with λ = 2 D̂ ("2 D") or by cross-validation."""
    from pldc import DCRegressor
    from pldc.select.discrepancy import discrepancy

    lam = 2 * discrepancy(X, n_splits=2).value if method == "2 D" else "cv"
    model = DCRegressor(
        n_pieces="rows",
        loss="absolute",
        penalty="joint",
        standardize=False,
        clip=False,
        lam=lam,
        n_jobs=1,
    )
    return model.fit(X, surface(X))


def figure_surface(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """One hundred rows of the surface of figure 1."""
    rng = np.random.default_rng(seed)
    X, X_test = rng.uniform(size=(100, 2)), rng.uniform(size=(5000, 2))
    start = time.perf_counter()
    model = fit_surface(X, method)
    about = {"lam": model.lam_, "gap": model.certificate_.gap, "seconds": time.perf_counter() - start}
    truth = surface(X_test)
    values = {
        "nmse": 100 * np.mean((model.predict(X_test) - truth) ** 2) / np.var(truth),
        "seminorm": model.seminorm_,
    }
    return [about | {"metric": metric, "value": value} for metric, value in values.items()]


def manifold(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """One hundred rows on a curve, or in the cube, of d dimensions."""
    from pldc.select.discrepancy import discrepancy

    kind, d = dataset.split()[0], int(dataset.split("=")[1])
    rng = np.random.default_rng([seed, d] if kind == "cube" else seed)  # the same points of the curve for every d
    place = rng.uniform(-1, 1, (1100, d if kind == "cube" else 1))
    X, truth = curve(place[:, 0], d) if kind == "curve" else place, np.sin(2.0 * np.pi * place[:, 0])
    if method == "discrepancy":
        start = time.perf_counter()
        found = discrepancy(X[:100], penalty="joint", n_splits=1, tol=0.05, random_state=seed)
        about = {"lam": "", "gap": found.upper - found.lower, "seconds": time.perf_counter() - start}
        return [about | {"metric": "discrepancy", "value": found.value}]
    model, about = fitted(method, X[:100], truth[:100] + 0.1 * rng.standard_normal(100))
    error = 100 * np.mean((model.predict(X[100:]) - truth[100:]) ** 2) / np.var(truth[100:])
    return [about | {"metric": "nmse", "value": error}]


def rate(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """Mean squared distance from the truth, noise 0.25, uniform in the cube."""
    d, n = (int(part.split("=")[1]) for part in dataset.split())
    rng = np.random.default_rng([seed, d, n])
    X, X_test = rng.uniform(-1, 1, (n, d)), rng.uniform(-1, 1, (5000, d))
    model, about = fitted(method, X, ridge_function(X) + 0.25 * rng.standard_normal(n))
    return [about | {"metric": "excess", "value": np.mean((model.predict(X_test) - ridge_function(X_test)) ** 2)}]


def sparse(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """Slopes, in units of each feature, that are nearly zero; and the place of λ on its grid."""
    X, y, X_test, _ = divided(*table(dataset), seed, 0.8, most)
    model, about = fitted(method, X, y)
    pieces = np.vstack([model.function_.plus.slopes, model.function_.minus.slopes])
    rows = []
    for metric, slopes in (("zeros", model.function_.gradient(X_test)), ("weights", pieces)):
        size = np.abs(slopes * X.std(axis=0))
        for kind, limit in ZEROS.items():
            rows.append({"metric": metric + kind, "value": 100 * np.mean(size <= limit * size.max())})
    grid = np.asarray(model.cv_results_["param_lam"], dtype=float)  # from the largest to the smallest
    rows.append({"metric": "place", "value": int(np.argmin(np.abs(np.log(grid / model.lam_))))})
    return [about | row for row in rows]


def wide(dataset: str, method: str, seed: int, most: int | None) -> list[dict]:
    """All defaults on one of the wider collection."""
    known = np.isfinite(load(dataset).y)
    everything = tuple(part[known] for part in table(dataset))
    X, y, X_test, y_test = divided(*everything, seed, 0.75, most or WIDE_ROWS)
    model, about = fitted(method, X, y)
    error = 100 * np.mean((model.predict(X_test) - y_test) ** 2) / np.var(everything[1])
    return [about | {"metric": "nmse", "value": error}]


RUN = {
    "synthetic": synthetic,
    "regression": regression,
    "classes": classes,
    "surface": figure_surface,
    "manifold": manifold,
    "rate": rate,
    "sparse": sparse,
    "wide": wide,
}


def cell(study: str, dataset: str, method: str, seed: int, most: int | None, code: str) -> list[dict]:
    """Run one cell. What a method cannot do is a row without a value: it counts as done, and is seen."""
    warnings.simplefilter("ignore")
    common = {"study": study, "dataset": dataset, "method": method, "seed": seed, "commit": code}
    try:
        rows = RUN[study](dataset, method, seed, most)
    except ImportError:
        raise
    except Exception as error:
        print(f"{study}, {dataset}, {method}, {seed}: {error!r}", flush=True)
        return [common | {"metric": "failed", "value": np.nan, "lam": "", "gap": "", "seconds": np.nan}]
    return [common | row for row in rows]


def at_least_one(text: str) -> int:
    """Read a positive number of the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def main() -> None:
    """Run what is missing, then draw tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version, for a quarter of an hour")
    parser.add_argument("--jobs", type=at_least_one, default=2)
    parser.add_argument("--studies", nargs="+", choices=list(RUN), default=list(RUN))
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--seeds", type=at_least_one, help="at most so many")
    parser.add_argument("--report", action="store_true", help="only tables and figures")
    arguments = parser.parse_args()
    folder = RESULTS / "quick" if arguments.quick else RESULTS
    folder.mkdir(exist_ok=True)
    if not arguments.report:
        run(parser, arguments, folder)
    from experiments.page import draw

    draw(folder)


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace, folder: Path) -> None:
    """Run all cells that were asked for and are not in the result files."""
    try:
        protocol, code = studies(arguments.quick), commit()
    except RuntimeError as error:  # no data
        parser.error(str(error))
    asked = [protocol[name] for name in arguments.studies]
    for what, names, known in (
        ("data set", arguments.datasets, {name for study in asked for name in study.datasets}),
        ("method", arguments.methods, {name for study in asked for name in study.methods}),
    ):
        unknown = ", ".join(f'"{name}"' for name in sorted(set(names or ()) - known))
        if unknown:
            there = ", ".join(f'"{name}"' for name in sorted(known))
            parser.error(f"no {what} of these studies: {unknown}; there are: {there}")
    for name in arguments.studies:
        path = folder / f"paper_{name}.csv"
        done = {(r["study"], r["dataset"], r["method"], int(r["seed"])) for r in read(path)}
        todo = [
            (*c, QUICK_ROWS if arguments.quick else None, code)
            for c in protocol[name].cells(name)
            if c not in done
            and (arguments.datasets is None or c[1] in arguments.datasets)
            and (arguments.methods is None or c[2] in arguments.methods)
            and (arguments.seeds is None or c[3] < arguments.seeds)
        ]
        run_missing(path, COLUMNS, cell, todo, arguments.jobs)


if __name__ == "__main__":
    main()
