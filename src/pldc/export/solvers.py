"""Learned functions in models of HiGHS, Pyomo, CVXPY and Gurobi, among constraints of your own.

Each function takes what :func:`pldc.export.to_milp` made and the inputs, adds what is missing, and returns the output:
a variable like any other. Where an input is a number, the feature is fixed to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np

from pldc.export.milp import to_milp
from pldc.export.milp_rows import Milp
from pldc.function.max_affine import Array


def add_to_highs(model: Any, form: Milp, inputs: Sequence[Any]) -> Any:
    """Add a function to a model of HiGHS.

    Parameters
    ----------
    model : highspy.Highs
    form : Milp
    inputs : sequence of variables of the model, linear expressions of them, or numbers
        One for each feature. An expression gets a variable that is equal to it.

    Returns
    -------
    highspy variable
        The output.
    """
    highspy = _package("highspy", "milp")
    _check_inputs(form, inputs)
    _check_model(model, "addVariable", "highspy.Highs")
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    columns, output = np.zeros(len(form.roles), dtype=np.int32), None
    linear = highspy.highs.highs_linear_expression
    _check_kinds(inputs, (Real, highspy.highs.highs_var, linear))
    for place, given in zip(form.inputs, inputs, strict=True):
        if isinstance(given, Real):
            columns[place] = model.addVariable(lb=float(given), ub=float(given)).index
        elif isinstance(given, linear):
            equal = model.addVariable(lb=-np.inf)
            model.addConstr(equal - given == 0.0)
            columns[place] = equal.index
        else:
            columns[place] = given.index
    for place in form.others:
        whole = int(form.integrality[place])
        output = model.addVariable(lb=form.lower[place], ub=form.upper[place], type=kinds[whole])
        columns[place] = output.index
    A, (rows, _) = form.A, form.A.shape
    model.addRows(rows, form.row_lower, form.row_upper, A.nnz, A.indptr[:-1], columns[A.indices], A.data)
    return output


def add_to_pyomo(block: Any, form: Milp, inputs: Sequence[Any]) -> Any:
    """Add a function to a block of Pyomo.

    Parameters
    ----------
    block : pyomo.environ.Block
        An empty one of your model: it gets the variables `v` and the constraints `rows`.
    form : Milp
    inputs : sequence of variables, linear expressions or numbers
        One for each feature.

    Returns
    -------
    Pyomo variable
        The output.
    """
    pyomo = _package("pyomo.environ", "milp")
    _check_inputs(form, inputs)
    _check_model(block, "add_component", "pyomo.environ.Block")
    if block.component("v") is not None or block.component("rows") is not None:
        raise ValueError(f"The block {block.name} has v or rows already: give each function an empty block of its own.")
    ends = [[None if np.isinf(end) else float(end) for end in each] for each in (form.lower, form.upper)]
    block.v = pyomo.Var(form.others.tolist(), bounds=lambda _, place: (ends[0][place], ends[1][place]))
    for place in np.flatnonzero(form.integrality):
        block.v[place].domain = pyomo.Binary
    variables = {**dict(zip(form.inputs, inputs, strict=True)), **{place: block.v[place] for place in form.others}}
    block.rows = pyomo.ConstraintList()
    for start, stop, low, high in zip(form.A.indptr, form.A.indptr[1:], form.row_lower, form.row_upper, strict=False):
        entries = slice(start, stop)
        terms = zip(form.A.data[entries].tolist(), form.A.indices[entries], strict=True)
        body = pyomo.quicksum(factor * variables[place] for factor, place in terms)
        if isinstance(body, Real):  # a bound of an input that is a number
            _check_number(float(body), low, high)
        elif low == high:
            block.rows.add(body == float(low))
        else:
            block.rows.add((None if np.isinf(low) else float(low), body, None if np.isinf(high) else float(high)))
    return block.v[form.output]


def add_to_cvxpy(form: Milp, inputs: Any) -> tuple[Any, list[Any]]:
    """Write a function in the terms of CVXPY. Of a convex fit, with ``relation=">="``, that takes no binary.

    Parameters
    ----------
    form : Milp
    inputs : CVXPY expression of shape (d,)
        Affine.

    Returns
    -------
    output : CVXPY expression
    constraints : list
        For the problem.
    """
    cvxpy = _package("cvxpy", "milp")
    _check_form(form)
    if not isinstance(inputs, cvxpy.Expression):
        raise TypeError(f"inputs must be an expression of CVXPY, got {type(inputs).__name__}.")
    x = cvxpy.reshape(inputs, (len(form.inputs),), order="C")
    variables = [x]
    places = [form.inputs]
    constraints = []
    for whole in (0, 1):
        these = form.others[form.integrality[form.others] == whole]
        if len(these):
            v = cvxpy.Variable(len(these), boolean=bool(whole))
            variables.append(v)
            places.append(these)
            constraints += [] if whole else _between(v, form.lower[these], form.upper[these])
    output = variables[1][int(np.flatnonzero(places[1] == form.output)[0])]
    total = sum(form.A[:, these] @ v for these, v in zip(places, variables, strict=True))
    return output, [*constraints, *_between(total, form.row_lower, form.row_upper)]


def add_to_gurobi(model: Any, form: Milp, inputs: Any) -> Any:
    """Add a function to a model of gurobipy.

    Parameters
    ----------
    model : gurobipy.Model
    form : Milp
    inputs : MVar of shape (d,), or sequence of variables, linear expressions and numbers
        An expression gets a variable that is equal to it.

    Returns
    -------
    gurobipy.MVar
        The output, of one element.
    """
    gurobi = _package("gurobipy", "gurobi")
    listed = inputs.tolist() if hasattr(inputs, "tolist") else inputs
    _check_inputs(form, listed)
    _check_model(model, "addMVar", "gurobipy.Model")
    others, kinds = form.others, np.array([gurobi.GRB.CONTINUOUS, gurobi.GRB.BINARY])
    v = model.addMVar(len(others), form.lower[others], form.upper[others], vtype=kinds[form.integrality[others]])
    listed = [each.item() if hasattr(each, "item") else each for each in listed]
    _check_kinds(listed, (Real, gurobi.Var, gurobi.LinExpr))
    x = []
    for each in listed:
        if isinstance(each, gurobi.LinExpr):
            x.append(model.addVar(lb=-gurobi.GRB.INFINITY))
            model.addConstr(x[-1] == each)
        else:
            x.append(model.addVar(lb=each, ub=each) if isinstance(each, Real) else each)
    total = form.A[:, form.inputs] @ gurobi.MVar.fromlist(x) + form.A[:, others] @ v
    for constraint in _between(total, form.row_lower, form.row_upper):
        model.addConstr(constraint)
    return v[-1:]


@dataclass(frozen=True)
class GurobiPredictor:
    """What :func:`gurobi_predictor` added, under the names that gurobi-ml gives such things."""

    predictor: Any
    input: Any
    output: Any

    def get_error(self) -> Array:
        """Return how far the output of the solution is from the function's values."""
        x, y = (np.asarray(each.X) for each in (self.input, self.output))
        return np.abs(self.predictor.function_(x) - y)


def gurobi_predictor(
    model: Any, predictor: Any, inputs: Any, output: Any = None, relation: str = "=", **ignored: Any
) -> GurobiPredictor:
    """Add a fitted regressor to a model of gurobipy, row by row, over the bounds of its input variables.

    After ``gurobi_ml.register_predictor_constr(DCRegressor, gurobi_predictor)`` this is what
    ``gurobi_ml.add_predictor_constr`` calls. The function is not cut to the range of the training targets.

    Parameters
    ----------
    model : gurobipy.Model
    predictor : DCRegressor
    inputs : MVar of shape (d,) or (rows, d)
    output : MVar of shape (rows,) or (rows, 1), optional
        Set equal to the values.
    relation : {"=", ">=", "<="}, default="="
        See :func:`pldc.export.to_milp`.
    **ignored
        Settings that gurobi-ml passes to all predictors.
    """
    gurobi = _package("gurobipy", "gurobi")
    _check_model(model, "addMVar", "gurobipy.Model")
    if not hasattr(predictor, "function_"):
        raise TypeError(f"predictor must be a fitted DCRegressor of one function, got {type(predictor).__name__}.")
    model.update()  # bounds can be read
    table = inputs.reshape(-1, predictor.function_.n_features)
    made = []
    for row in table:
        ends = np.column_stack([np.asarray(row.LB), np.asarray(row.UB)])
        ends[np.abs(ends) >= gurobi.GRB.INFINITY] *= np.inf
        made.append(add_to_gurobi(model, to_milp(predictor.function_, ends, relation), row))
    values = gurobi.concatenate(made)
    if output is not None:
        model.addConstr(output.reshape(-1) == values)
    return GurobiPredictor(predictor, table, values)


def _between(total: Any, low: Array, high: Array) -> list[Any]:
    """Return low ≤ total ≤ high as constraints of matrix expressions."""
    equal = low == high
    above, below = np.flatnonzero(np.isfinite(low) & ~equal), np.flatnonzero(np.isfinite(high) & ~equal)
    same = np.flatnonzero(equal)
    out = []
    if len(above):
        out.append(total[above] >= low[above])
    if len(below):
        out.append(total[below] <= high[below])
    if len(same):
        out.append(total[same] == low[same])
    return out


def _check_inputs(form: Milp, inputs: Any) -> None:
    _check_form(form)
    if not hasattr(inputs, "__len__"):
        raise TypeError(f"inputs must be a sequence, one for each feature, got {type(inputs).__name__}.")
    if len(inputs) != len(form.inputs):
        raise ValueError(f"The function has {len(form.inputs)} features, got {len(inputs)} inputs.")


def _check_kinds(inputs: Any, kinds: tuple[type, ...]) -> None:
    for k, given in enumerate(inputs):
        if not isinstance(given, kinds):
            wanted = "a variable, a linear expression or a number"
            raise TypeError(f"Input {k} must be {wanted}, got {type(given).__name__}.")


def _check_form(form: Any) -> None:
    if not isinstance(form, Milp):
        raise TypeError(f"form must be what to_milp returns, got {type(form).__name__}.")


def _check_model(model: Any, method: str, kind: str) -> None:
    if not callable(getattr(model, method, None)):
        raise TypeError(f"The model must be a {kind}, got {type(model).__name__}.")


def _check_number(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"An input is fixed to {value}, which is outside its bounds ({low}, {high}).")


def _package(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"This needs {name.split('.')[0]}: pip install 'pldc[{extra}]'.") from error
