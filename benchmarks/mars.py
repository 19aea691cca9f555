"""Our MARS of the experiments beside the package that installs (`pip install mars-earth`): seconds and test error.

    PLDC_DATA=… python -m benchmarks.mars

200 rows of boston train, the others test. Writes benchmarks/results/mars.json.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
from experiments.data import load
from experiments.mars import Mars
from pymars import Earth  # mars-earth

RESULTS = Path(__file__).parent / "results" / "mars.json"


def main() -> None:
    """Measure and write."""
    warnings.simplefilter("ignore")
    data = load("boston")
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    out = []
    for degree in (1, 2):
        for name, model in (
            ("mars-earth", Earth(max_degree=degree, max_terms=21)),
            ("experiments.mars", Mars(max_degree=degree, max_terms=21)),
        ):
            start = time.perf_counter()
            model.fit(X[:200], y[:200])
            seconds = time.perf_counter() - start
            error = 100 * float(np.mean((model.predict(X[200:]) - y[200:]) ** 2) / np.var(y[200:]))
            out.append({"method": name, "degree": degree, "seconds": round(seconds, 3), "nmse": round(error, 1)})
            print(out[-1], flush=True)
    RESULTS.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
