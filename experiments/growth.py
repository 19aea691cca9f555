"""How excess risk falls with the number of rows."""

from __future__ import annotations

import numpy as np

from experiments.statistics import Values, slope, unique
from experiments.tables import DEFAULTS

CHANGED = 600  # rows beyond which the defaults of version 0.1 were another, quicker method


def exponents(values: Values) -> list[tuple[int, str, float, float, np.ndarray]]:
    """Return d, method, exponent of the excess risk, its half-width and the numbers of rows."""
    out = []
    methods = unique(m for _, m in values)
    for d in unique(s.split()[0] for s, _ in values):
        number = int(d[2:])
        for m in methods:
            found = {
                int(s.split("n=")[1]): v
                for (s, b), v in values.items()
                if b == m and s.split()[0] == d and np.isfinite(list(v.values())).any()
            }
            if m == DEFAULTS:
                found = {n: v for n, v in found.items() if n <= CHANGED}
            sizes = np.array(sorted(found))
            if len(sizes) > 1:
                out.append((number, m, *slope(sizes, [found[n] for n in sizes]), sizes))
    return out


def rate_table(values: Values) -> list[list[str]]:
    """Return exponents of the excess risk beside those of the paper's bound and of the lower bound."""
    lines = [["d", "method", "exponent measured", "paper's bound −2/(d+4)", "lower bound −2/(d+2)", "rows"]]
    for d, m, center, half, sizes in exponents(values):
        text = f"{center:.2f}" if np.isnan(half) else f"{center:.2f} ± {half:.2f}"
        lines.append([str(d), m, text, *(f"{-2 / (d + k):.2f}" for k in (4, 2)), f"{sizes[0]} to {sizes[-1]}"])
    return lines
