"""Faults of the machine: what a fit does when memory, disk, processes, threads or clocks are not as they should be.

Each case is a function of this module with its name in `FAULTS`; most run in a process of their own (`apart`), so that
a crash is seen as what it is. `scaled` makes the long ones shorter for the ordinary tests.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attack.limits import in_use

LIMIT = 1500.0
MIB = 2**20
FITS = 10_000  # without growth of memory
GROWTH = 24 * MIB  # of which so much is allowed, after the first tenth
THREADS, FITS_IN_THREADS = 16, 100
BLAS_TOLERANCE = 1e-6  # of the range of y, between numbers of BLAS threads
SPAWN = multiprocessing.get_context("spawn")


def table(n: int = 30, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.abs(X[:, 0]) + 0.5 * X[:, -1] + 0.1 * rng.normal(size=n)


def quick(**settings: Any) -> Any:
    """A regressor that solves a small program."""
    from pldc import DCRegressor

    return DCRegressor(**({"lam": 0.1} | settings))


def compact(**settings: Any) -> Any:
    """The default, ended soon."""
    from pldc import DCRegressor

    return DCRegressor(**({"max_seconds": 0.05} | settings))


def usable(model: Any, X: np.ndarray) -> None:
    """A fitted model predicts numbers."""
    assert np.isfinite(model.predict(X)).all()


def unfitted(model: Any, X: np.ndarray) -> None:
    """One whose fit failed says that it is not fitted."""
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        model.predict(X)


def _enter(work: Callable[..., Any], words: tuple) -> None:
    os.setsid()
    work(*words)


def apart(work: Callable[..., Any], *words: Any, seconds: float = 600.0) -> None:
    """Run a function in a process of its own; it must end by itself and well."""
    process = SPAWN.Process(target=_enter, args=(work, words))
    process.start()
    process.join(seconds)
    if process.is_alive():
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        raise AssertionError(f"{work.__name__} did not end in {seconds:g} seconds")
    assert process.exitcode == 0, f"{work.__name__} ended with {process.exitcode}"


def read_only_arrays() -> int:
    """Arrays that may not be written to, of any order, byte order and stride, give the fit of plain ones."""
    X, y = table()
    weight = np.linspace(0.5, 2.0, len(y))
    expected = quick().fit(X, y, sample_weight=weight).predict(X)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", X)
        wide = np.repeat(X, 2, axis=1)[:, ::2]
        for form in (X, np.asfortranarray(X), X.astype(">f8"), wide, np.load(f"{folder}/x.npy", mmap_mode="r")):
            given = [np.array(a) if a.flags.owndata and a is not form else a for a in (form, y, weight)]
            for array in given:
                array.flags.writeable = False
            model = quick().fit(given[0], given[1], sample_weight=given[2])
            np.testing.assert_array_equal(model.predict(given[0]), expected)
            model.explain(given[0])
            model.function_.prune(given[0])
            compact().fit(given[0], given[1], sample_weight=given[2]).predict(given[0])
            np.testing.assert_array_equal(np.asarray(given[0], dtype=float), X)
            count += 1
    return count


def clock_jumps() -> int:
    """A clock that jumps ahead or back by a year ends no fit in error; one without a limit is the same as ever."""
    X, y = table(16)
    expected, count = quick().fit(X, y).predict(X), 0
    for jump in (3e7, -3e7, 1e-9):
        for each in ("perf_counter", "monotonic", "time"):
            true, calls = getattr(time, each), [0]

            def jumping(true: Callable = true, calls: list = calls, jump: float = jump) -> float:
                calls[0] += 1
                return true() + (jump if calls[0] % 7 > 3 else 0.0)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(time, each, jumping)
                np.testing.assert_array_equal(quick().fit(X, y).predict(X), expected)
                usable(compact().fit(X, y), X)
                count += 2
    return count


def _within_memory(more: int) -> None:
    """Fit under a limit of memory: it works or says so; afterwards the same estimator can be fitted."""
    from pldc import DCClassifier

    X, y = table(300, 6)
    small = table(12)
    usable(quick().fit(*small), small[0])  # all imports, before there is a limit
    compact().fit(*small)
    for model, target in ((quick(n_jobs=1), y), (compact(max_seconds=2), y), (DCClassifier(max_seconds=1), y > 0)):
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (in_use() + more, limits[1]))
        try:
            model.fit(X, target)
            failed = False
        except (MemoryError, ValueError):
            failed = True
        except RuntimeError as error:  # "can't start new thread"
            failed = "thread" in str(error)
            if not failed:
                raise
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)
        if failed:
            unfitted(model, X)
        X_small, y_small = small[0], small[1] > np.median(small[1]) if target.dtype == bool else small[1]
        model.fit(X_small, y_small).predict(X_small)


def memory_limits() -> int:
    """Too little memory is an error, not a crash, and leaves nothing behind."""
    sizes = [0, 2, 8, 32, 128, 512]
    for size in sizes:
        apart(_within_memory, size * MIB)
    return len(sizes)


def _kill_a_worker() -> None:
    """Kill a process of a cross-validation; the next fit is the one that would have been."""
    from joblib.externals.loky import get_reusable_executor

    X, y = table(60)
    expected = quick(lam="cv", n_jobs=2).fit(X, y)
    model = quick(lam="cv", n_jobs=2)
    stop = threading.Event()

    def kill() -> None:
        while not stop.wait(0.02):
            for pid in list(get_reusable_executor()._processes or {}):
                os.kill(pid, signal.SIGKILL)
                return

    killer = threading.Thread(target=kill)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        killer.start()
        try:
            model.fit(X, y)
            failed = False
        except Exception as error:
            failed = "worker" in str(error).lower() or "process" in str(error).lower()
            if not failed:
                raise
        stop.set()
        killer.join()
        if failed:
            unfitted(model, X)
        else:
            np.testing.assert_array_equal(model.predict(X), expected.predict(X))
        np.testing.assert_array_equal(model.fit(X, y).predict(X), expected.predict(X))


def killed_workers() -> int:
    """A worker that dies ends the fit in an error, and not in silence or in waiting."""
    apart(_kill_a_worker)
    return 1


def _saved_forms(model: Any) -> dict[str, Callable[[Path], Any]]:
    """The ways to write a model to a file."""
    forms: dict[str, Callable[[Path], Any]] = {"model.pkl": lambda path: path.write_bytes(pickle.dumps(model))}
    if hasattr(model, "save_model"):
        forms |= {"model.json": model.save_model, "model.json.gz": model.save_model}
    return forms


def _full_disk() -> None:
    X, y = table(40, 3)
    model = quick().fit(X, y)
    expected = model.predict(X)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for name, save in _saved_forms(model).items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            save(path)
            before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
            try:
                with pytest.raises(OSError):
                    save(path)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            if "json" in name:  # written whole or not at all
                assert path.read_bytes() == before and os.listdir(folder) == [name]
            with pytest.raises(OSError):
                save(Path("/proc/no such folder") / name)
        np.testing.assert_array_equal(model.predict(X), expected)
    os.environ["JOBLIB_TEMP_FOLDER"] = "/proc/no such folder"
    again = quick(lam="cv", n_jobs=2).fit(X, y)
    usable(again, X)


def full_disk() -> int:
    """A full disk, or a folder that cannot be written to, is an OSError; an older file stays as it was."""
    apart(_full_disk)
    return len(_saved_forms(quick()))


def truncated_files() -> int:
    """A file that was cut off is refused, wherever that was."""
    import pldc

    X, y = table(20)
    model, count = quick().fit(X, y), 0
    text = json.dumps(model.function_.to_dict())
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(text), 40):
        with pytest.raises(ValueError):
            pldc.from_dict(json.loads(text[:cut]))
        count += 1
    with tempfile.TemporaryDirectory() as folder:
        for name, save in _saved_forms(model).items():
            path = Path(folder) / name
            save(path)
            whole = path.read_bytes()
            for cut in rng.integers(0, len(whole), 40):
                path.write_bytes(whole[:cut])
                with pytest.raises((ValueError, EOFError, pickle.UnpicklingError, AttributeError, ImportError)):
                    pickle.loads(path.read_bytes()) if name.endswith("pkl") else pldc.load(path)  # type: ignore[attr-defined]
                count += 1
    return count


def _fit_and_tell(pipe: Any, words: dict[str, Any]) -> None:
    X, y = table()
    pipe.send([quick(**words).fit(X, y).predict(X), quick(lam="cv", cv=2, n_jobs=1).fit(X, y).predict(X)])


def _fork_and_spawn() -> None:
    X, y = table()
    here = [quick(n_jobs=2).fit(X, y).predict(X), quick(lam="cv", cv=2, n_jobs=1).fit(X, y).predict(X)]
    compact(n_jobs=2).fit(X, y)  # threads have been at work before the fork
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        pipe, other = context.Pipe()
        process = context.Process(target=_fit_and_tell, args=(other, {"n_jobs": 2}))
        process.start()
        assert pipe.poll(300), f"{method}: no answer"
        for mine, theirs in zip(here, pipe.recv(), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        process.join(60)
        assert process.exitcode == 0, method


def fork_and_spawn() -> int:
    """Fits in processes that were forked or spawned, after fits with threads, are the same to the last bit."""
    apart(_fork_and_spawn)
    return 3


def _many_threads(fits: int) -> None:
    from pldc import DCClassifier

    X, y = table(20)

    def fit(k: int) -> np.ndarray:
        kinds: list[tuple[Any, np.ndarray]] = [
            (quick(lam=0.05 * (1 + k % 3)), y),
            (quick(loss="absolute", n_jobs=2), y),
            (quick(n_pieces="rows", lam="cv", cv=2, n_jobs=1), y),
            (DCClassifier(lam=0.1, cv=2, n_jobs=1), y > 0.5),
        ]
        model, target = kinds[k % 4]
        return np.asarray(model.fit(X, target).predict(X))

    expected = [fit(k) for k in range(12)]
    with ThreadPoolExecutor(THREADS) as pool:
        for k, found in enumerate(pool.map(fit, range(fits))):
            np.testing.assert_array_equal(found, expected[k % 12])
        for model in pool.map(lambda k: compact(n_jobs=2).fit(X, y), range(fits // 5)):
            usable(model, X)


def many_threads(fits: int = FITS_IN_THREADS) -> int:
    """Fits in 16 threads at once are those of one thread, to the last bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart(_many_threads, fits)
    return fits


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _no_growth(make: Callable[[], Any], fits: int) -> None:
    X, y = table(4, 1)
    first = 0
    for k in range(fits):
        make().fit(X, y).predict(X)
        if k == fits // 10:
            first = resident()
    growth = resident() - first
    assert growth <= GROWTH, f"{growth / MIB:.1f} MiB more after {fits} fits"


def _soon() -> Any:
    return compact(max_seconds=1e-3)


def no_growth_of_the_program(fits: int = FITS // 2) -> int:
    """Half of 10,000 fits: small programs, without growth of memory."""
    apart(_no_growth, quick, fits, seconds=LIMIT)
    return fits


def no_growth_of_few_pieces(fits: int = FITS // 2) -> int:
    """The other half: fits of few pieces."""
    apart(_no_growth, _soon, fits, seconds=LIMIT)
    return fits


BLAS = """
import json, sys, warnings
import numpy as np
from attack.faults import quick, table
from pldc import DCClassifier, DCRegressor
warnings.simplefilter("ignore")
X, y = table(40, 3)
from tests.quick import few_kinds
with few_kinds():
    models = [DCRegressor().fit(X, y), quick(n_jobs=1).fit(X, y), quick(loss="absolute").fit(X, y)]
    proba = DCClassifier().fit(X, y > 0.5).predict_proba(X)
print(json.dumps([*(m.predict(X).tolist() for m in models), proba[:, 1].tolist()]))
"""


def blas_threads() -> int:
    """The same fits, to 1e-6 of the range of y, whatever number of threads the BLAS has."""
    answers = []
    for threads in (1, 2, 4):
        limits = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL")}
        found = subprocess.run([sys.executable, "-c", BLAS], capture_output=True, text=True, env=os.environ | limits)
        assert found.returncode == 0, found.stderr[-2000:]
        answers.append(np.array(json.loads(found.stdout)))
    spread = np.ptp(table(40, 3)[1])
    for other in answers[1:]:
        error = np.abs(other - answers[0]).max(axis=1) / spread
        assert (error <= BLAS_TOLERANCE).all(), f"differ by {error} of the range of y"
    return len(answers)


CLOSED = """
import os, warnings
from attack.faults import compact, quick, table, usable
X, y = table()
os.close(2)
os.close(0)
for model in (quick(verbose=1), compact(verbose=1)):
    usable(model.fit(X, y), X)
"""


def closed_streams() -> int:
    """Progress that nobody can read ends no fit."""
    found = subprocess.run([sys.executable, "-c", CLOSED], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-2000:]
    return 2


FAULTS: tuple[Callable[[], int], ...] = (
    no_growth_of_the_program,
    no_growth_of_few_pieces,
    many_threads,
    memory_limits,
    killed_workers,
    full_disk,
    truncated_files,
    fork_and_spawn,
    blas_threads,
    clock_jumps,
    read_only_arrays,
    closed_streams,
)


def cases() -> list[str]:
    """Their names, the longest first."""
    return [each.__name__ for each in FAULTS]


def check(case: str) -> int:
    """Bring a fault about."""
    return next(each for each in FAULTS if each.__name__ == case)()
