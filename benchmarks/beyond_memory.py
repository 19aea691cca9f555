"""Tables beyond memory: from Parquet with little of it, on a cluster of Dask, and a table of flights end to end.

    python -m benchmarks.beyond_memory [--rows 20000000] [--memory 500MB] [--dask] [--dask-sizes 1000000,4000000]

The table is that of benchmarks.million, written to a folder that is deleted afterwards. Memory is the highest resident
size of the process that fits, interpreter and libraries included (Linux only). In memory: a fifth of the rows. Every
cell has a process of its own, and is kept in results/beyond_memory.json when it is done: what is there is not run again
(`--again`). With PLDC_DATA also the flights. Writes tables beside.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from experiments.cells import commit, write_table

from benchmarks.million import NOISE, TEST_ROWS, table

RESULTS = Path(__file__).parent / "results" / "beyond_memory.json"
PIECE = 1_000_000  # rows of a file
WORKERS = 2


def peak_of(process: int | str = "self") -> float:
    """Return the highest resident memory of a process so far, in MB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def pieces(rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Make the table, piece by piece: the first ones are those of a shorter table."""
    for k, start in enumerate(range(0, rows, PIECE)):
        yield table(min(PIECE, rows - start), 1000 + k)


def error_of(predict: Callable[[np.ndarray], np.ndarray]) -> dict:
    """Return the mean squared error at fresh rows, and that of the noise alone, in percent of the variance."""
    X, y = table(TEST_ROWS, 1)
    return {
        "error": 100 * float(np.mean((predict(X) - y) ** 2) / np.var(y)),
        "noise": 100 * NOISE**2 / float(np.var(y)),
    }


def write(folder: Path, rows: int) -> dict:
    """Write the table as files of Parquet, with the defaults of pyarrow."""
    import pyarrow
    from pyarrow import parquet

    size = 0
    for k, (X, y) in enumerate(pieces(rows)):
        path = folder / f"part-{k:04d}.parquet"
        parquet.write_table(pyarrow.table({f"x{i}": X[:, i] for i in range(X.shape[1])} | {"y": y}), path)
        size += path.stat().st_size
    return {"bytes": size}


def from_parquet(folder: Path, rows: int, memory: str) -> dict:
    """Fit files."""
    from pldc import DCRegressor

    start = time.perf_counter()
    model = DCRegressor(max_memory=memory).fit(folder, "y")
    seconds = time.perf_counter() - start
    found = {"rows": rows, "seconds": seconds, "megabytes": peak_of(), "max_memory": memory}
    import pyarrow

    names = [f"x{i}" for i in range(10)]
    return found | error_of(lambda X: model.predict(pyarrow.table(dict(zip(names, X.T, strict=True)))))


def in_memory(rows: int) -> dict:
    """Fit arrays."""
    from pldc import DCRegressor

    X, y = (np.concatenate(a) for a in zip(*pieces(rows), strict=True))
    start = time.perf_counter()
    model = DCRegressor().fit(X, y)
    seconds = time.perf_counter() - start
    return {"rows": rows, "seconds": seconds, "megabytes": peak_of()} | error_of(model.predict)


def in_the_shell(*words: str | Path) -> float:
    """Run a command of the shell, and return its peak memory in MB."""
    process = subprocess.Popen([sys.executable, "-m", "pldc", *map(str, words)], stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        with suppress(ValueError, OSError):  # it has just ended
            peak = max(peak, peak_of(process.pid))
        time.sleep(0.01)
    if process.returncode:
        raise RuntimeError(f"pldc {words[0]} ended with {process.returncode}")
    return peak


def flights(method: str) -> dict:
    """Fit four fifths of the flights, read from Parquet, and predict the others."""
    import pandas as pd
    from experiments.data import load
    from sklearn.ensemble import HistGradientBoostingRegressor

    from pldc import DCRegressor

    data = load("flights_nyc13")
    frame = pd.DataFrame(data.X, columns=list(data.features)).assign(arr_delay=data.y)
    test = np.random.default_rng(0).random(len(frame)) < 0.2
    with tempfile.TemporaryDirectory() as folder:
        train, rest = Path(folder, "train.parquet"), Path(folder, "test.parquet")
        frame[~test].to_parquet(train)
        frame[test].drop(columns="arr_delay").to_parquet(rest)
        start, peak = time.perf_counter(), 0.0
        if method.startswith("shell"):
            model, out = Path(folder, "m.json"), Path(folder, "out.csv")
            peak = in_the_shell("fit", train, "--target", "arr_delay", "-o", model, "--quiet", *method.split()[1:])
            peak = max(peak, in_the_shell("predict", model, rest, "-o", out))
        elif method == "pldc":
            found = DCRegressor(max_memory="500MB").fit(train, "arr_delay").predict(rest)
        else:
            known = pd.read_parquet(train)
            rival = HistGradientBoostingRegressor(random_state=0)
            rival.fit(known.drop(columns="arr_delay"), known["arr_delay"])
            found = rival.predict(pd.read_parquet(rest))
        seconds = time.perf_counter() - start
        if peak:
            found = pd.read_csv(out)["prediction"].to_numpy()
    y = frame.loc[test, "arr_delay"].to_numpy()
    share = 100 * float(np.mean((found - y) ** 2) / np.var(y))
    return {"rows": int((~test).sum()), "seconds": seconds, "megabytes": peak or peak_of(), "error": share}


def block_of(k: int, rows: int) -> np.ndarray:
    """Make a block of features and target, on a worker."""
    X, y = table(rows, 5000 + k)
    return np.column_stack([X, y])


def on_dask(rows: int, block: int) -> dict:
    """Fit arrays of Dask on workers of this machine, beside XGBoost's interface to Dask, and one process."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from pldc import DCRegressor

    sizes = [min(block, rows - start) for start in range(0, rows, block)]
    out: dict[str, Any] = {"rows": rows, "workers": WORKERS, "blocks": len(sizes)}
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        parts = [da.from_delayed(dask.delayed(block_of)(k, n), (n, 11), np.float64) for k, n in enumerate(sizes)]
        both = da.concatenate(parts).persist()
        wait(both)
        X, y = both[:, :10], both[:, 10]
        before = peak_of()
        start = time.perf_counter()
        model = DCRegressor().fit(X, y)
        out["seconds"] = time.perf_counter() - start
        out["megabytes"], out["megabytes_before"] = peak_of(), before  # client and scheduler are this process
        out |= error_of(model.predict)
        out["xgboost"] = boosted(client, X, y)
    start = time.perf_counter()
    one = DCRegressor().fit(lambda: ((b[:, :10], b[:, 10]) for b in map(block_of, range(len(sizes)), sizes)), None)
    out["seconds_one_process"] = time.perf_counter() - start  # blocks are made anew for each pass
    X_test, y_test = table(TEST_ROWS, 1)
    out["difference"] = float(np.abs(one.predict(X_test) - model.predict(X_test)).max() / np.ptp(y_test))
    return out


def boosted(client: Any, X: Any, y: Any) -> dict:
    """Fit XGBoost, as many rounds as its estimators take by default."""
    import xgboost
    from xgboost import dask as boosting

    start = time.perf_counter()
    data = boosting.DaskDMatrix(client, X, y)
    found = boosting.train(client, {"tree_method": "hist"}, data, num_boost_round=100)["booster"]
    return {"seconds": time.perf_counter() - start} | error_of(lambda Z: found.predict(xgboost.DMatrix(Z)))


class Results:
    """Cells by name, written whenever one is done.

    Parameters
    ----------
    path : Path
    again : bool
        Run what is there already, too.
    """

    def __init__(self, path: Path, again: bool):
        self.path, self.again = path, again
        self.cells: dict[str, dict] = json.loads(path.read_text("utf-8"))["cells"] if path.exists() else {}

    def run(self, name: str, work: Callable[[], dict]) -> None:
        """Run a cell in a process of its own, unless it is there."""
        if name in self.cells and not self.again:
            return
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            self.cells[name] = alone.submit(work).result() | {"commit": commit(), "load": os.getloadavg()[0]}
        about = {"cores": os.cpu_count(), "cells": self.cells}
        self.path.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        print(name, self.cells[name], flush=True)

    def tables(self) -> None:
        """Write what there is for the documentation."""
        lines = [["", "rows", "seconds", "µs a row", "error", "noise", "peak MB, all included", "load"]]
        for name, c in sorted(self.cells.items(), key=lambda cell: not cell[0].startswith("flights")):
            if name.startswith(("Parquet", "in memory", "flights")):
                noise = f"{c['noise']:.2f}" if "noise" in c else "–"
                numbers = [f"{c['seconds']:.1f}", f"{1e6 * c['seconds'] / c['rows']:.2f}", f"{c['error']:.2f}", noise]
                numbers += [f"{c['megabytes']:.0f}", f"{c['load']:.1f}"]
                lines.append([name.split(":")[0], f"{c['rows']:,}", *numbers])
        write_table(self.path.with_suffix(".rst"), lines)
        head = [
            "rows",
            "seconds",
            "error",
            "XGBoost: seconds",
            "error",
            "peak MB of client and scheduler",
            "difference",
            "load",
        ]
        lines = [head]
        for name, c in self.cells.items():
            if name.startswith("Dask"):
                both = [f"{d[key]:.{k}f}" for d in (c, c["xgboost"]) for key, k in (("seconds", 1), ("error", 2))]
                lines.append([f"{c['rows']:,}", *both, f"{c['megabytes']:.0f}", f"{c['difference']:.0e}"])
                lines[-1].append(f"{c['load']:.1f}")
        write_table(self.path.with_name(self.path.stem + "_dask.rst"), lines)


def main(arguments: list[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000, help="0: none")
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--dask-sizes", default="1000000,4000000")
    parser.add_argument("--block", type=int, default=100_000, help="rows of a block of Dask")
    parser.add_argument("--no-flights", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    results = Results(given.results, given.again)
    if os.environ.get("PLDC_DATA") and not given.no_flights:
        results.run("flights, DCRegressor from Parquet", partial(flights, "pldc"))
        for words in ("", " --max-memory 500MB"):
            results.run(f"flights, pldc fit{words} and predict", partial(flights, f"shell{words}"))
        results.run("flights, HistGradientBoosting", partial(flights, "HistGradientBoosting"))
    if given.rows:
        name = f"Parquet, max_memory={given.memory}: {given.rows}"
        if name not in results.cells or given.again:
            with tempfile.TemporaryDirectory() as folder:
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                    alone.submit(write, Path(folder), given.rows).result()
                results.run(name, partial(from_parquet, Path(folder), given.rows, given.memory))
        results.run(f"in memory: {given.rows // 5}", partial(in_memory, given.rows // 5))
    if given.dask:
        for rows in map(int, given.dask_sizes.split(",")):
            results.run(f"Dask: {rows}", partial(on_dask, rows, given.block))
    results.tables()


if __name__ == "__main__":
    main()
