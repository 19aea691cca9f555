"""Classes: error, log loss and calibration of the default classifier beside others, on halves of small tables.

    PLDC_DATA=… python -m benchmarks.classes [--methods NAME;NAME] [--sets NAME,NAME] [--seeds 10] [--report]

The seven sets with classes of the collection (wine is scikit-learn's), breast cancer and the first 1000 rows of digits.
Ten random halves of each; every class keeps its share in both, so that all classes are in training; missing cells are
zero. Every fit has one thread; seconds are of the processor, tuning included. One cell after the other; each is
appended to results/classes.csv as it is done, and a rerun goes on from there. All tables and the figure are made from
that file alone.

Error is that of `predict`. The log loss cuts probabilities to 1e-15 from zero and one. The expected calibration error
is that of the most probable class, in 15 bins of equal width; of each half, beside what chance alone gives to right
probabilities in bins of so few rows, and of all test rows of a set together. The Brier score is summed over classes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from experiments.cells import commit, read, run_missing, write_table
from experiments.paper import CLASSES, table
from experiments.ranks import critical_difference, mean_errors, ranks_of
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.class_methods import METHODS
from benchmarks.class_scores import (
    binned,
    brier,
    calibration_error,
    chance_error,
    log_loss,
    read_bins,
    spread_over,
    written,
)

RESULTS = Path(__file__).parent / "results" / "classes.csv"
SCORES = ("error", "log_loss", "ece", "brier")
COLUMNS = ("dataset", "method", "seed", "n_train", *SCORES, "seconds", "bins", "commit")
SETS = (*CLASSES, "breast_cancer", "digits")
DIGITS_ROWS = 1000
SEEDS = 10
OURS = "pldc"
DRAWN = (OURS, "random forest", "CatBoost", "RBF SVM")


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table, its classes numbered."""
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:DIGITS_ROWS], y[:DIGITS_ROWS]
    return table(name)


def halves(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places of the training and the test half."""
    return next(StratifiedShuffleSplit(1, train_size=0.5, random_state=seed).split(X, y))


def judged(model: object, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> dict[str, object]:
    """Return the scores of a model at test rows."""
    P = spread_over(np.asarray(model.predict_proba(X), dtype=float), model.classes_, classes)
    label = np.searchsorted(classes, y)
    bins = binned(P, label)
    return {
        "error": float(np.mean(np.ravel(model.predict(X)) != y)),
        "log_loss": log_loss(P, label),
        "ece": calibration_error(bins),
        "brier": brier(P, label),
        "bins": written(bins),
    }


def cell(name: str, method: str, seed: int) -> list[dict]:
    """Fit one method to one half."""
    warnings.simplefilter("ignore")
    X, y = rows_of(name)
    train, test = halves(X, y, seed)
    start = time.process_time()
    model = METHODS[method](X[train], y[train])
    seconds = time.process_time() - start
    row = {"dataset": name, "method": method, "seed": seed, "n_train": len(train), "commit": commit()}
    found = judged(model, X[test], y[test], np.unique(y))
    return [row | {k: f"{v:.6g}" if k in SCORES else v for k, v in found.items()} | {"seconds": f"{seconds:.2f}"}]


def values_of(rows: list[dict], score: str, unit: float = 1.0) -> dict[tuple[str, str], dict[int, float]]:
    """Return a score by set and method, then by half."""
    out: dict[tuple[str, str], dict[int, float]] = {}
    for r in sorted(rows, key=lambda r: (SETS.index(r["dataset"]), list(METHODS).index(r["method"]))):
        out.setdefault((r["dataset"], r["method"]), {})[int(r["seed"])] = unit * float(r[score])
    return out


def summary(rows: list[dict]) -> list[list[str]]:
    """Return mean ranks over the sets, geometric and plain means over them; the best mean rank by log loss first."""
    methods, errors, runs = mean_errors(values_of(rows, "error", 100.0))
    if not methods:
        return [["method"]]
    losses, ece, scores, seconds = (mean_errors(values_of(rows, s))[1] for s in ("log_loss", "ece", "brier", "seconds"))
    ranks = [ranks_of(table).mean(axis=0) for table in (errors, losses)]
    head = ["method", "mean rank by error", "by log loss", "error, geometric mean, %", "log loss, geometric mean"]
    lines = [[*head, "calibration error", "by chance alone", "of all halves together", "Brier score", "seconds"]]
    for k in np.argsort(ranks[1]):
        lines.append(
            [
                methods[k],
                *(f"{rank[k]:.2f}" for rank in ranks),
                f"{geometric(errors[:, k]):.2f}",
                f"{geometric(losses[:, k]):.3f}",
                f"{ece[:, k].mean():.3f}",
                f"{chance(rows, methods[k]):.3f}",
                f"{pooled(rows, methods[k]):.3f}",
                f"{scores[:, k].mean():.3f}",
                f"{seconds[:, k].mean():.1f}",
            ]
        )
    gap = critical_difference(len(methods), len(errors))
    return [*lines, [f"{len(errors)} sets, {runs}", *2 * [f"critical difference {gap:.2f}"], *[""] * 7]]


def pooled(rows: list[dict], method: str) -> float:
    """Return the calibration error of the test rows of all halves together, mean over the sets."""
    sets = {r["dataset"] for r in rows}
    bins = [read_bins(r["bins"] for r in rows if (r["dataset"], r["method"]) == (name, method)) for name in sets]
    return float(np.mean([calibration_error(b) for b in bins]))


def chance(rows: list[dict], method: str) -> float:
    """Return the calibration error that right probabilities would have on the halves, mean over the sets."""
    sets = {r["dataset"] for r in rows}
    mine = [[r for r in rows if (r["dataset"], r["method"]) == (name, method)] for name in sets]
    return float(np.mean([np.mean([chance_error(read_bins([r["bins"]])) for r in some]) for some in mine]))


def geometric(values: np.ndarray) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log(np.maximum(values, 1e-6)).mean()))


def by_set(rows: list[dict], score: str, unit: float, digits: int) -> list[list[str]]:
    """Return the mean of a score of every method on every set; the least in bold."""
    methods, means, _ = mean_errors(values_of(rows, score, unit))
    sets = [s for s in SETS if any(r["dataset"] == s for r in rows)]
    lines = [["data set", *methods]]
    for name, mean in zip(sets, means, strict=False):
        texts = [f"{v:.{digits}f}" for v in mean]
        least = min(texts, key=float)
        lines.append([name.replace("_", " "), *(f"**{t}**" if t == least else t for t in texts)])
    return lines


def draw(rows: list[dict]) -> None:
    """Draw how often the most probable class is right against its probability; all halves of a set together."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "pldc"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(DRAWN), figsize=(3 * len(DRAWN), 3.2), sharex=True, sharey=True)
    for axis, method in zip(axes, DRAWN, strict=True):
        axis.plot([0, 1], [0, 1], color="grey", lw=0.8)
        n, confidence, right = read_bins(r["bins"] for r in rows if r["method"] == method).T
        some = n > 0
        axis.plot(confidence[some] / n[some], right[some] / n[some], lw=1.2)
        axis.scatter(confidence[some] / n[some], right[some] / n[some], s=3 + 200 * n[some] / n.sum())
        axis.set(title=method, xlabel="probability of the most probable class", xlim=(0, 1), ylim=(0, 1.02))
        axis.xaxis.label.set_size(8)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share that was right")
    figure.tight_layout()
    figure.savefig(RESULTS.with_name("classes_reliability.svg"), metadata={"Date": None})


def report() -> None:
    """Write the tables and the figure for the documentation."""
    rows = [r for r in read(RESULTS) if r["method"] in METHODS]
    lines = summary(rows)
    write_table(RESULTS.with_name("classes.rst"), lines)
    write_table(RESULTS.with_name("classes_error.rst"), by_set(rows, "error", 100.0, 1))
    write_table(RESULTS.with_name("classes_log_loss.rst"), by_set(rows, "log_loss", 1.0, 3))
    write_table(RESULTS.with_name("classes_calibration.rst"), by_set(rows, "ece", 1.0, 3))
    draw(rows)
    print("\n".join("  ".join(f"{text[:20]:>20}" for text in line) for line in lines))


def main() -> None:
    """Run what is missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=";".join(METHODS), help="names, with semicolons between them")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--report", action="store_true", help="only write the tables")
    arguments = parser.parse_args()
    known = {(r["dataset"], r["method"], int(r["seed"])) for r in read(RESULTS)}
    todo = [
        (name, method, seed)
        for method in arguments.methods.split(";")
        for seed in range(arguments.seeds)
        for name in arguments.sets.split(",")
    ]
    if not arguments.report:
        run_missing(RESULTS, COLUMNS, cell, [one for one in todo if one not in known], 1)
    report()


if __name__ == "__main__":
    main()
