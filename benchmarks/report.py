"""Tables and figures of the documentation, from benchmarks/results/engines.json and nothing else.

Run from the repository:  python -m benchmarks.report
"""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def list_table(head: list, rows: list[list]) -> str:
    """Return a table in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *rows]:
        lines += [f"   {'*' if k == 0 else ' '} - {value}".rstrip() for k, value in enumerate(row)]
    return "\n".join(lines) + "\n"


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    return "—" if value is None else f"{value:.3g}"


def main() -> None:
    """Write engines.rst and two figures."""
    stored = json.loads((RESULTS / "engines.json").read_text(encoding="utf-8"))
    cells = [c for c in stored["cells"] if "failed" not in c]
    exact = [c for c in cells if c["kind"] == "solve" and c["engine"] == "exact"]
    quick = [c for c in cells if c["kind"] == "solve" and c["engine"] == "admm"]
    steps = [c for c in cells if c["kind"] == "iterate"]
    authors = {c["n"]: c["seconds"] for c in cells if c["kind"] == "authors" and c["task"] == "iteration"}
    tuned = [c for c in cells if c["kind"] == "authors" and c["task"] == "tuned"]
    objective = [c for c in cells if c["kind"] == "authors" and c["task"] == "objective"]
    peers = [c for c in cells if c["kind"] == "peer"]
    parts = []

    head = ["n", "d", "λ", "loss", "to 1e-2", "to 1e-3", "to 1e-4", "iterations", "gap at the end", "peak MB"]
    rows = [
        [c["n"], c["d"], c["lam"], c["loss"]]
        + [number(c["to_gap"][gap]) for gap in ("0.01", "0.001", "0.0001")]
        + [c["iterations"], f"{c['gap']:.1e}", round(c["peak_megabytes"])]
        for c in sorted(exact, key=lambda c: (c["n"], c["d"], c["loss"], c["lam"]))
    ]
    parts += [title("Accurate engine: seconds to a certified gap"), list_table(head, rows)]

    rows = [
        [c["n"], c["d"], c["lam"], c["loss"], number(c["to_gap"]["0.01"]), number(c["seconds"]), c["iterations"]]
        + [f"{c['gap']:.1e}", round(c["peak_megabytes"])]
        for c in sorted(quick, key=lambda c: (c["n"], c["d"], c["loss"], c["lam"]))
    ]
    head = ["n", "d", "λ", "loss", "seconds to 1e-2", "seconds in all", "iterations", "gap at the end", "peak MB"]
    parts += [title("Quick engine: to a certified 1e-2, or a minute (25 s for n = 5000)"), list_table(head, rows)]

    head = ["n", "rows", "precision", "ms an iteration", "authors' ms", "ratio", "ms a pass", "GFlop/s"]
    head += ["share of a matrix product's", "peak MB"]
    rows = [
        [
            c["n"],
            "weighted" if c["weighted"] else "equal",
            c["dtype"],
            f"{1e3 * c['seconds']:.1f}",
            number(1e3 * authors[c["n"]]) if c["n"] in authors and c["dtype"] == "float64" else "",
            f"{authors[c['n']] / c['seconds']:.1f}" if c["n"] in authors and c["dtype"] == "float64" else "",
            f"{1e3 * c['pass_seconds']:.1f}",
            f"{c['pass_gigaflops']:.1f}",
            f"{100 * c['pass_share_of_multiply']:.0f} %",
            round(c["peak_megabytes"]),
        ]
        for c in steps
    ]
    parts += [title("Quick engine: one iteration, both parts, d = 10"), list_table(head, rows)]
    for c in tuned:
        parts.append(f"The authors' auto-tuned fit at n = {c['n']}, d = {c['d']}: {c['seconds']:.0f} s.\n")

    if objective:
        c = objective[0]
        head = ["iterations", "seconds", "objective", "above its optimum by"]
        rows = [
            [c["iterations"], number(c["seconds"]), number(c["objective"]), f"{100 * c['excess']:.2g} %"]
            for c in objective
        ]
        name = f"The authors' code on its own objective, n = {c['n']}, d = {c['d']}, λ = 0.02 n"
        parts += [title(name), list_table(head, rows)]
        parts.append(f"The accurate engine on ours: {c['our_seconds']:.2g} s to a certified {c['our_gap']:.0e}.\n")

    ours = {(c["n"], c["d"], c["loss"], c["lam"]): c for c in exact}
    head = ["n", "d", "loss", "solver", "seconds", "gap reached", "rounds", "accurate engine", "ratio"]
    rows = []
    for c in peers:
        own = ours[(c["n"], c["d"], c["loss"], c["lam"])]["to_gap"]["0.0001"]
        ratio = f"{c['seconds'] / own:.1f}" if c["gap"] <= 1e-4 else f"> {c['seconds'] / own:.1f}"
        row = [c["n"], c["d"], c["loss"], c["solver"], f"{c['seconds']:.1f}", f"{c['gap']:.1e}", c["rounds"]]
        rows.append([*row, number(own), ratio])
    parts += [title("General solvers on the same program, by row generation, to 1e-4"), list_table(head, rows)]

    rows = [[name, number(value)] for name, value in stored["growth"].items()]
    parts += [title("Growth: fitted exponent of n"), list_table(["what", "exponent"], rows)]
    (RESULTS / "engines.rst").write_text("\n".join(parts), encoding="utf-8")
    draw(exact, steps, authors)


def title(text: str) -> str:
    """Return a heading."""
    return f"{text}\n{'-' * len(text)}\n"


def draw(exact: list[dict], steps: list[dict], authors: dict[int, float]) -> None:
    """Draw time against n for both engines."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "pldc"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    middle = [c for c in exact if c["lam"] == 0.02 and c["loss"] == "squared"]
    for d in sorted({c["d"] for c in middle}):
        line = sorted((c["n"], c["to_gap"]["0.0001"]) for c in middle if c["d"] == d and c["to_gap"]["0.0001"])
        if len(line) > 1:
            axes[0].loglog(*zip(*line, strict=True), marker="o", label=f"d = {d}")
    axes[0].set(xlabel="rows", ylabel="seconds to a certified 1e-4", title="accurate engine, λ = 0.02")
    for weighted, dtype in ((False, "float64"), (False, "float32"), (True, "float64")):
        line = sorted((c["n"], c["seconds"]) for c in steps if c["weighted"] == weighted and c["dtype"] == dtype)
        label = f"{'weighted' if weighted else 'equal weights'}, {dtype}"
        axes[1].loglog(*zip(*line, strict=True), marker="o", label=label)
    if authors:
        axes[1].loglog(*zip(*sorted(authors.items()), strict=True), marker="s", color="grey", label="authors' code")
    axes[1].set(xlabel="rows", ylabel="seconds an iteration", title="quick engine, d = 10")
    for axis in axes:
        axis.legend(fontsize=7)
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(RESULTS / "engines.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
