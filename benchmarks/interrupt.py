"""Ctrl-C, and `max_seconds`, at random moments of default fits: how soon they end, and with what.

    python -m benchmarks.interrupt [--sizes 10000,1000000] [--moments 10]

Ctrl-C is a real signal, sent to a process that fits. Seconds are counted from the signal, or beyond the limit, to the
end of the fit. "usable" means that the model predicts numbers. Writes results/interrupt.json and a table.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from experiments.cells import write_table

from benchmarks.million import table

RESULTS = Path(__file__).parent / "results" / "interrupt.json"
LONGEST = {10_000: 8.0, 1_000_000: 6.0}  # seconds from which moments are drawn


def child(n: int, limit: float | None) -> None:
    """Fit; tell when it begins and how it ended."""
    from sklearn.exceptions import NotFittedError

    from pldc import DCRegressor

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore Ctrl-C
    X, y = table(n, 0)
    model = DCRegressor(max_seconds=limit)
    print("begin", flush=True)
    start, how = time.time(), "ended by itself"
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        how = "interrupted"
    end = time.time()
    try:
        usable = bool(np.isfinite(model.predict(X[:100])).all())
    except NotFittedError:
        usable = False
    print(json.dumps({"how": how, "usable": usable, "start": start, "end": end}), flush=True)


def attempt(n: int, moment: float, by_signal: bool) -> dict:
    """Fit in a process of its own and end it at a moment."""
    words = [sys.executable, "-m", "benchmarks.interrupt", "--child", str(n)]
    words += [] if by_signal else ["--limit", str(moment)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    sent = time.time() + moment
    if by_signal:
        time.sleep(moment)
        sent = time.time()
        os.kill(process.pid, signal.SIGINT)
    lines = process.stdout.read().splitlines()
    process.wait()
    told = json.loads(lines[-1]) if lines else {"how": "died", "usable": False, "start": sent, "end": time.time()}
    begun = sent if by_signal else told["start"] + moment
    late = max(told["end"] - begun, 0.0)
    kind = "Ctrl-C" if by_signal else "max_seconds"
    return {"rows": n, "kind": kind, "moment": moment, "late": late, "usable": told["usable"], "how": told["how"]}


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10000,1000000")
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--child", type=int)
    parser.add_argument("--limit", type=float)
    arguments = parser.parse_args()
    if arguments.child is not None:
        return child(arguments.child, arguments.limit)
    rng = np.random.default_rng(0)
    cells = []
    for n in map(int, arguments.sizes.split(",")):
        for moment in rng.uniform(0.05, LONGEST.get(n, 5.0), arguments.moments):
            for by_signal in (True, False):
                cells.append(attempt(n, float(moment), by_signal))
                print(cells[-1], flush=True)
    RESULTS.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    lines = [["rows", "ended by", "moments", "usable", "seconds late, at most"]]
    for n, kind in dict.fromkeys((c["rows"], c["kind"]) for c in cells):
        mine = [c for c in cells if (c["rows"], c["kind"]) == (n, kind)]
        usable = sum(c["usable"] for c in mine)
        lines.append([f"{n:,}", kind, str(len(mine)), str(usable), f"{max(c['late'] for c in mine):.1f}"])
    write_table(RESULTS.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
