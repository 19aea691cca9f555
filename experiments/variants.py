"""Which defaults: geometry, rounds, averaging, linear term, penalty, features by rank, over the data directory.

    PLDC_DATA=… python -m experiments.variants [--jobs 2] [--rows 100 400 1000] [--splits 1] [--sets …] [--variants …]

Split k of a set is the permutation of numpy's default_rng(FIRST + k): other splits than those on which the defaults are
then judged (`experiments.defaults`). Every variant is searched for on the same folds; what it predicts comes from the
quick engine. A cell is one (set, training rows, split) and gives one line for each variant and each way to combine its
rounds, and one for each of two rivals. Lines are appended to experiments/results/variants.csv as cells are done; a
rerun goes on from there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.cells import read, run_missing, write_table
from experiments.data import index, load
from experiments.defaults import SETS
from experiments.methods import REGRESSORS
from pldc.problem import make_loss, make_penalty
from pldc.problem.recipe import Recipe, Rows
from pldc.select.coordinates import Step
from pldc.select.folds import distinct, interleaved
from pldc.select.rounds import solve_round
from pldc.select.rules import scale_of_lam
from pldc.select.search import Search
from pldc.solve import AdmmSolver

RESULTS = Path(__file__).parent / "results" / "variants.csv"
FIRST = 10
MOST_TEST = 2000
ROUNDS = 3
# Rounds after the first: what is learned, and the penalty.
WARPED, FEATURES = ("warp", "componentwise"), ("stretch", "componentwise")
DIRECTIONS, JOINT = ("turn", "componentwise"), ("turn", "joint")
BESIDE = ", and a free linear term beside"
CHAIN = "warped features, then directions, joint"
DEFAULT = CHAIN + ", a free linear term and directions of a smoother beside"
MANY = "features, directions of a smoother beside"
VARIANTS = {
    "directions": {"rounds": [DIRECTIONS] * ROUNDS},
    "directions, free linear term": {"rounds": [DIRECTIONS] * ROUNDS, "linear": True},
    "stretched features, then directions, joint": {"rounds": [FEATURES] + [JOINT] * (ROUNDS - 1)},
    CHAIN: {"rounds": [WARPED] + [JOINT] * (ROUNDS - 1), "free": True},
    DEFAULT: {"rounds": [WARPED] + [JOINT] * (ROUNDS - 1), "free": True, "smooth": True},
    MANY: {"rounds": [], "free": True, "smooth": True},
    "directions of ranks": {"rounds": [DIRECTIONS] * ROUNDS, "ranks": True},
}
RIVALS = ("Gaussian process", "XGBoost")
MEANS = {"directions, and those of ranks": ("directions", "directions of ranks")}
COLUMNS = ("dataset", "rows", "seed", "variant", "combine", "nmse", "rounds", "seconds")


def split(name: str, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Return training and test rows; None where the set is too small for so many."""
    data = load(name)
    whole = np.isfinite(data.X).all(axis=1) & np.isfinite(data.y)
    X, y = data.X[whole], data.y[whole]
    order = np.random.default_rng(FIRST + seed).permutation(len(y))
    if rows > 100 and rows > 1.5 * len(y):
        return None
    train, test = np.split(order, [min(rows, int(0.75 * len(y)))])
    test = test[:MOST_TEST]
    return X[train], y[train], X[test], y[test]


def ranked(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replace every feature by its rank among the training rows, linear between them."""
    out = [np.empty(X.shape), np.empty(X_test.shape)]
    for k in range(X.shape[1]):
        values, counts = np.unique(X[:, k], return_counts=True)
        rank = np.cumsum(counts) - 0.5 * counts
        for table, new in zip((X, X_test), out, strict=True):
            new[:, k] = np.interp(table[:, k], values, rank)
    return out[0], out[1]


def search(
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    *,
    rounds: list[tuple[str, str]],
    penalty: str = "componentwise",
    linear: bool = False,
    ranks: bool = False,
    free: bool = False,
    smooth: bool = False,
) -> tuple[Search, np.ndarray]:
    """Run one variant; return it, and what each round predicts at the test rows."""
    if ranks:
        X, X_test = ranked(X, X_test)
    recipe = Recipe(
        loss=make_loss("squared"),
        penalty=make_penalty(penalty),
        shape="dc",
        monotone=np.zeros(X.shape[1], dtype=int),
        linear=linear,
        standardize=True,
    )
    kinds = {kind: Step(replace(recipe, penalty=make_penalty(kind[1])), kind[0]) for kind in rounds}
    rows, _ = distinct(Rows(X, y, np.ones(len(y))))
    unit = rows.y.std()
    found = Search(
        recipe,
        rows,
        interleaved(len(rows.y), min(5, len(rows.y))),
        lambda prediction, test: -recipe.mean_loss(prediction, test, unit),
        jobs=1,
    )
    beside = [Step(replace(recipe, penalty=make_penalty("joint")), "smooth")] if smooth else []
    beside += [Step(replace(recipe, linear=True), "axes")] if free else []
    found.run(scale_of_lam(recipe, rows), [kinds[kind] for kind in rounds], beside)
    quick = AdmmSolver(tol=1e-2, max_iter=400, threads=1)
    fits = [solve_round(rows, r.recipe, r.lam, r.geometry, lambda _: quick, lambda _: None) for r in found.rounds]
    return found, np.array([np.clip(fit.function(X_test), y.min(), y.max()) for fit in fits])


def ways(found: Search) -> dict[str, tuple[int, ...]]:
    """Name the rounds that each way of combining them keeps."""
    return {
        "axes": (0,),
        "best": found.best_rounds(1),
        "two": found.best_rounds(2),
        "three": found.best_rounds(3),
        "all": tuple(range(len(found.rounds))),
    }


def cell(name: str, rows: int, seed: int, variants: tuple[str, ...]) -> list[dict]:
    """Try variants, and rivals, on one split."""
    warnings.simplefilter("ignore")
    parts = split(name, rows, seed)
    if parts is None:
        return []
    X, y, X_test, y_test = parts
    out, kept = [], {}

    def line(variant: str, way: str, prediction: np.ndarray, count: int, seconds: float) -> None:
        error = 100.0 * float(np.mean((prediction - y_test) ** 2) / np.var(y_test))
        out.append(dict(zip(COLUMNS, (name, rows, seed, variant, way, error, count, seconds), strict=True)))

    for variant, settings in ((name, VARIANTS[name]) for name in variants if name in VARIANTS):
        start = time.perf_counter()
        found, predictions = search(X, y, X_test, **settings)
        seconds = time.perf_counter() - start
        names = [variant + BESIDE, variant] if settings.get("free") and variant != DEFAULT else [variant]
        for label in names:
            for way, chosen in ways(found).items():
                kept[label, way] = predictions[list(chosen)].mean(axis=0)
                line(label, way, kept[label, way], len(chosen), seconds)
            found.rounds.pop()  # without the free term, the last round, the variant of the shorter name is left
    for variant, members in MEANS.items():
        for way in ("best", "three") if all((member, "best") in kept for member in members) else ():
            line(variant, way, np.mean([kept[member, way] for member in members], axis=0), 0, 0.0)
    for rival in (name for name in variants if name in RIVALS):
        start = time.perf_counter()
        prediction = REGRESSORS[rival](X, y).predict(X_test)
        line(rival, "", prediction, 0, time.perf_counter() - start)
    return out


def main() -> None:
    """Run what is missing and print the geometric means."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 400, 1000])
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--variants", nargs="*", default=[*VARIANTS, *RIVALS])
    parser.add_argument("--judge-sets", action="store_true", help="only the seven sets of experiments.defaults")
    arguments = parser.parse_args()
    regression = [name for name, about in index().items() if about["task"] == "regression"]
    sets = arguments.sets or (SETS if arguments.judge_sets else regression)
    known = {(r["dataset"], int(r["rows"]), int(r["seed"]), r["variant"]) for r in read(RESULTS)}
    cells = [(s, n, k) for n in arguments.rows for k in range(arguments.splits) for s in sets]
    todo = [(*c, tuple(v for v in arguments.variants if (*c, v) not in known)) for c in cells]
    todo = [c for c in todo if c[-1]]
    run_missing(RESULTS, COLUMNS, cell, todo, arguments.jobs)
    report()


def report() -> None:
    """Print geometric means over the cells of each size, relative to one fit along the axes; write the table."""
    rows = read(RESULTS)
    sizes = sorted({int(r["rows"]) for r in rows})
    values: dict[tuple, dict] = {}
    for r in rows:
        cell_of = values.setdefault((r["variant"], r["combine"]), {})
        cell_of[r["dataset"], int(r["rows"]), int(r["seed"])] = max(float(r["nmse"]), 1e-6)
    reference = values[CHAIN, "axes"]
    lines = [["variant", "rounds kept", *(f"{n} rows" for n in sizes)]]
    for (variant, way), errors in sorted(values.items(), key=lambda item: item[0][0] in RIVALS):
        ratios = []
        for n in sizes:
            logs = [np.log(errors[c] / reference[c]) for c in errors if c[1] == n]
            ratios.append(f"{np.exp(np.mean(logs)):.3f} ({len(logs)})" if logs else "")
        print(f"{variant:<20}{way:<20}" + "".join(f"{value:>14}" for value in ratios))
        lines.append([variant, way, *ratios])
    write_table(RESULTS.with_suffix(".rst"), lines)
    write_table(RESULTS.with_name("variants_sets.rst"), by_set(values, sizes))


def by_set(values: dict[tuple, dict], sizes: list[int]) -> list[list[str]]:
    """Return the error on each set, along the axes, learned, and of both rivals; and how often learned is ahead."""
    shown = {"axes": (DEFAULT, "axes"), "learned": (DEFAULT, "three"), **{rival: (rival, "") for rival in RIVALS}}
    cells = sorted({key for key in values[shown["learned"]] if key[2] == 0})
    sizes = [n for n in sizes if any(key[1] == n for key in cells)]
    lines = [["data set", *(f"{name}, {n}" for n in sizes for name in shown)]]
    for dataset in sorted({key[0] for key in cells}):
        found = [values.get(way, {}).get((dataset, n, 0)) for n in sizes for way in shown.values()]
        lines.append([dataset, *("" if value is None else f"{value:.3g}" for value in found)])
    ahead = ["learned is ahead on"]
    for n in sizes:
        for name, way in shown.items():
            here = [key for key in cells if key[1] == n and key in values.get(way, {})]
            wins = sum(values[shown["learned"]][key] < values[way][key] for key in here)
            ahead.append("" if name == "learned" else f"{wins} of {len(here)}")
    return [*lines, ahead]


if __name__ == "__main__":
    main()
