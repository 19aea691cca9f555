"""Learned functions in mixed-integer programs: `to_milp` beside ReLU networks read by highs-ml and PySCIPOpt-ML.

    python -m benchmarks.milp [--refit] [--limit 60]

Three programs. *Least value*: a random function of 12 − 12 pieces of 3 features over a box. *One mix*: the cheapest
concrete of at least 60 MPa after 28 days, its strength a fit of 8 − 8 pieces to 500 rows. *Ten mixes*: ten such fits to
rows drawn anew, each with a strength of its own to reach, and a limit on the cement of all. One thread each, to a gap
of 1e-6; --limit is in seconds. PySCIPOpt-ML writes a ReLU as a special ordered set, not as a binary: these are counted.

--refit needs PLDC_DATA and fits the ten functions again; otherwise they are read from results/milp_functions.json.
Writes results/milp.json and a table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from experiments.cells import commit, write_table

from pldc import PLDC, DCRegressor, MaxAffine
from pldc.export import add_to_highs, to_milp, to_onnx

RESULTS = Path(__file__).parent / "results" / "milp.json"
FUNCTIONS = RESULTS.with_name("milp_functions.json")
PRICES = (0.11, 0.06, 0.05, 0.001, 2.0, 0.012, 0.011, 0.0)  # of a kilogram; the last feature is the age
AGE, STRENGTH, WEIGHT, CEMENT = 28.0, 60.0, (2200.0, 2450.0), 280.0
GAP = 1e-6  # relative, at which solvers stop


@dataclass(frozen=True)
class Program:
    """Functions, each with inputs of its own in one box. Minimise the cost of all inputs, or of outputs without prices.

    `least` is what outputs must reach; `weight` are limits on the sum of inputs but the last; `shared` is a limit on
    the mean of first inputs.
    """

    name: str
    functions: Sequence[PLDC]
    box: np.ndarray
    prices: Sequence[float] | None = None
    least: Sequence[float] = ()
    weight: tuple[float, float] | None = None
    shared: float | None = None


class Highs:
    """HiGHS, with a way to add a function."""

    def __init__(self, add: Callable[[Any, PLDC, np.ndarray, Sequence[Any], bool], Any], limit: float) -> None:
        import highspy

        self.add, self.model = add, highspy.Highs()
        self.model.silent()
        self.model.setOptionValue("threads", 1)
        self.model.setOptionValue("time_limit", limit)
        self.model.setOptionValue("mip_rel_gap", GAP)

    def variable(self, low: float, high: float) -> Any:
        """Add a variable."""
        return self.model.addVariable(lb=low, ub=high)

    def row(self, expression: Any) -> None:
        """Add a constraint."""
        self.model.addConstr(expression)

    def function(self, f: PLDC, box: np.ndarray, inputs: Sequence[Any], minimised: bool) -> Any:
        """Add a function, and return its output."""
        return self.add(self.model, f, box, inputs, minimised)

    def solve(self, cost: Any) -> dict[str, Any]:
        """Minimise."""
        whole = sum(int(kind) == 1 for kind in self.model.getLp().integrality_)
        start = time.perf_counter(), time.process_time()
        self.model.minimize(cost)
        end = time.perf_counter(), time.process_time()
        status = self.model.modelStatusToString(self.model.getModelStatus())
        info = self.model.getInfo()
        found = np.isfinite(info.objective_function_value) and info.primal_solution_status == 2
        value = float(info.objective_function_value) if found else None
        return {"binaries": whole, "seconds": end[0] - start[0], "processor": end[1] - start[1]} | {
            "value": value,
            "status": status,
        }


class Scip:
    """SCIP, which reads the network."""

    def __init__(self, limit: float) -> None:
        import pyscipopt

        self.model = pyscipopt.Model()
        self.model.hideOutput()
        self.model.setParam("limits/time", limit)
        self.model.setParam("limits/gap", GAP)

    def variable(self, low: float, high: float) -> Any:
        """Add a variable."""
        return self.model.addVar(lb=low, ub=high)

    def row(self, expression: Any) -> None:
        """Add a constraint."""
        self.model.addCons(expression)

    def function(self, f: PLDC, box: np.ndarray, inputs: Sequence[Any], minimised: bool) -> Any:
        """Add a function, and return its output."""
        from pyscipopt_ml.add_predictor import add_predictor_constr

        y = self.model.addVar(lb=None, ub=None)
        prefix = f"f{self.model.getNVars()}_"
        table, out = np.array([inputs], dtype=object), np.array([[y]], dtype=object)
        add_predictor_constr(self.model, to_onnx(f, style="relu"), table, out, unique_naming_prefix=prefix)
        return y

    def solve(self, cost: Any) -> dict[str, Any]:
        """Minimise."""
        self.model.setObjective(cost, "minimize")
        sets = sum(constraint.getConshdlrName() == "SOS1" for constraint in self.model.getConss())
        whole = self.model.getNBinVars() + self.model.getNIntVars() + sets  # each set is a choice, as a binary is
        start = time.perf_counter(), time.process_time()
        self.model.optimize()
        end = time.perf_counter(), time.process_time()
        value = float(self.model.getObjVal()) if self.model.getNSols() else None
        return {"binaries": whole, "seconds": end[0] - start[0], "processor": end[1] - start[1]} | {
            "value": value,
            "status": self.model.getStatus(),
        }


def rows_of(relation: str | None) -> Callable[..., Any]:
    """Return a way to add a function by `to_milp`; without a relation by the one that suffices."""

    def add(model: Any, f: PLDC, box: np.ndarray, inputs: Sequence[Any], minimised: bool) -> Any:
        return add_to_highs(model, to_milp(f, box, relation or (">=" if minimised else "<=")), inputs)

    return add


def network(model: Any, f: PLDC, box: np.ndarray, inputs: Sequence[Any], minimised: bool) -> Any:
    """Add a function as a ReLU network, by highs-ml."""
    from highs_ml import add_predictor_constr

    name = f"f{model.getNumCol()}"
    return add_predictor_constr(model, to_onnx(f, style="relu"), list(inputs), name=name).output_var


WAYS: dict[str, Callable[[float], Any]] = {
    "to_milp, one side": lambda limit: Highs(rows_of(None), limit),
    "to_milp, y = f(x)": lambda limit: Highs(rows_of("="), limit),
    "ReLU, highs-ml": lambda limit: Highs(network, limit),
    "ReLU, PySCIPOpt-ML": Scip,
}


def solved(program: Program, way: str, limit: float) -> dict[str, Any]:
    """Build and solve a program in one way."""
    start, solver = time.perf_counter(), WAYS[way](limit)
    costs, first = [], []
    for k, f in enumerate(program.functions):
        inputs = [solver.variable(low, high) for low, high in program.box]
        y = solver.function(f, program.box, inputs, program.prices is None)
        if program.least:
            solver.row(y >= program.least[k])
        if program.weight is not None:
            total = sum(inputs[1:-1], start=1.0 * inputs[0])
            solver.row(total >= program.weight[0])
            solver.row(total <= program.weight[1])
        prices = program.prices or ()
        costs.append(sum(price * x for price, x in zip(prices, inputs, strict=True)) if prices else 1.0 * y)
        first.append(inputs[0])
    if program.shared is not None:
        solver.row(sum(first[1:], start=1.0 * first[0]) <= program.shared * len(first))
    built = time.perf_counter() - start
    found = solver.solve(sum(costs[1:], start=costs[0]))
    return {"program": program.name, "way": way, "built": built, **found}


def fitted() -> tuple[list[PLDC], np.ndarray]:
    """Fit ten functions to the concrete, and return them with the box of its features."""
    from experiments.data import load

    data, functions = load("concrete"), []
    for seed in range(10):
        rows = np.random.default_rng(seed).permutation(len(data.y))[:500]
        model = DCRegressor(n_pieces=8, random_state=seed).fit(data.X[rows], data.y[rows])
        print(seed, model.simplification_, flush=True)
        functions.append(model.function_)
    return functions, np.column_stack([data.X.min(axis=0), data.X.max(axis=0)])


def programs(functions: list[PLDC], box: np.ndarray) -> list[Program]:
    """Return the three programs."""
    rng = np.random.default_rng(0)
    parts = [MaxAffine(rng.standard_normal((12, 3)), rng.standard_normal(12)) for _ in range(2)]
    box = box.copy()
    box[-1] = AGE
    mixes = {"box": box, "prices": PRICES, "weight": WEIGHT}
    return [
        Program("least value", [PLDC(*parts)], np.array([[-1.0, 1.0]] * 3)),
        Program("one mix", functions[:1], least=[STRENGTH], **mixes),
        Program("ten mixes", functions, least=np.linspace(40.0, 70.0, 10).tolist(), shared=CEMENT, **mixes),
    ]


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--refit", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0)
    arguments = parser.parse_args()
    if arguments.refit:
        functions, box = fitted()
        record = {"box": box.tolist(), "functions": [f.to_dict() for f in functions]}
        FUNCTIONS.write_text(json.dumps(record) + "\n", encoding="utf-8")
    record = json.loads(FUNCTIONS.read_text(encoding="utf-8"))
    functions, box = [PLDC.from_dict(each) for each in record["functions"]], np.array(record["box"])
    cells = []
    for program in programs(functions, box):
        for way in WAYS:
            cells.append(solved(program, way, arguments.limit))
            print(cells[-1], flush=True)
    about = {"commit": commit(), "limit": arguments.limit, "cells": cells}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    lines = [["program", "formulation", "binaries or sets", "processor seconds", "value found"]]
    for c in cells:
        seconds = f"{c['processor']:.2f}" + ("" if c["seconds"] < arguments.limit else ", then stopped")
        value = "none" if c["value"] is None else f"{c['value']:.3f}"
        lines.append([c["program"], c["way"], str(c["binaries"]), seconds, value])
    write_table(RESULTS.with_suffix(".rst"), lines)
    print("\n".join("  ".join(f"{word[:20]:>20}" for word in line) for line in lines))


if __name__ == "__main__":
    main()
