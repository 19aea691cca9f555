"""Functions in models of HiGHS, Pyomo, CVXPY and Gurobi: the optimum of `minimize`, among constraints of one's own."""

import importlib
import sys

import numpy as np
import pytest
from tests.function.common import random_functions, random_pldc
from tests.quick import few_kinds, few_starts

from pldc import PLDC, DCRegressor
from pldc.export import add_to_cvxpy, add_to_gurobi, add_to_highs, add_to_pyomo, gurobi_predictor, to_milp

FIXED = 0.25  # the last feature
WIDE = (-5.0, 5.0)  # bounds of the variables of one's own: the box of the function is smaller


def package(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def by_highs(form):
    model = package("highspy").Highs()
    model.silent()
    x = [model.addVariable(lb=WIDE[0], ub=WIDE[1]) for _ in range(2)]
    y = add_to_highs(model, form, [*x, FIXED])
    model.addConstr(x[0] + x[1] <= 0.5)
    model.minimize(y + 0.1 * x[0])
    return model.getObjectiveValue()


def by_pyomo(form):
    pyo = package("pyomo.environ")
    package("highspy")
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), bounds=WIDE)
    model.f = pyo.Block()
    y = add_to_pyomo(model.f, form, [model.x[0], model.x[1], FIXED])
    model.limit = pyo.Constraint(expr=model.x[0] + model.x[1] <= 0.5)
    model.cost = pyo.Objective(expr=y + 0.1 * model.x[0])
    pyo.SolverFactory("appsi_highs").solve(model)
    return pyo.value(model.cost)


def by_cvxpy(form):
    cp = package("cvxpy")
    package("highspy")
    x = cp.Variable(2)
    y, constraints = add_to_cvxpy(form, cp.hstack([x, FIXED]))
    problem = cp.Problem(cp.Minimize(y + 0.1 * x[0]), [*constraints, cp.sum(x) <= 0.5])
    return problem.solve(solver=cp.HIGHS)


def gurobi_model():
    gp = package("gurobipy")
    try:
        return gp, gp.Model(env=gp.Env(params={"OutputFlag": 0}))
    except gp.GurobiError as error:
        pytest.skip(f"gurobipy has no licence here: {error}")


def by_gurobi(form):
    _, model = gurobi_model()
    x = model.addMVar(2, lb=WIDE[0], ub=WIDE[1])
    y = add_to_gurobi(model, form, [*x.tolist(), FIXED])
    model.addConstr(x.sum() <= 0.5)
    model.setObjective(y.sum() + 0.1 * x[0])
    model.optimize()
    return model.ObjVal


TOOLS = {"highs": by_highs, "pyomo": by_pyomo, "cvxpy": by_cvxpy, "gurobi": by_gurobi}


@pytest.mark.parametrize("relation", [">=", "="])
@pytest.mark.parametrize("tool", TOOLS)
def test_the_optimum_among_constraints_is_that_of_minimize(tool, relation):
    f, box = random_pldc(np.random.default_rng(1), 6, 6, 3), [(-1, 1)] * 3
    limits = {"A_ub": [[1, 1, 0]], "b_ub": [0.5], "A_eq": [[0, 0, 1]], "b_eq": [FIXED]}
    expected = (f + PLDC.affine([0.1, 0.0, 0.0])).minimize(box, **limits).fun
    assert TOOLS[tool](to_milp(f, box, relation)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", ["hinged", "sum"])
def test_all_tools_agree_on_functions_with_hinges(kind):
    form = to_milp(random_functions(np.random.default_rng(2), 3)[kind], [(-1, 1)] * 3, ">=")
    values = {name: tool(form) for name, tool in TOOLS.items() if name != "gurobi"}
    assert np.ptp(list(values.values())) < 1e-5, values


def test_a_convex_fit_is_a_linear_program_for_cvxpy():
    cp = package("cvxpy")
    f = abs(PLDC.affine([1.0, 2.0], -1.0)) + abs(PLDC.affine([1.0, -1.0]))
    x = cp.Variable(2)
    y, constraints = add_to_cvxpy(to_milp(f, [(None, None)] * 2, ">="), x)
    problem = cp.Problem(cp.Minimize(y + cp.sum_squares(x)), constraints)
    assert not problem.is_mixed_integer()
    problem.solve(solver=cp.CLARABEL)
    # At (1/3, 1/3) both absolute values vanish, and minus the gradient of the squares lies among their slopes.
    assert problem.value == pytest.approx(2 / 9, abs=1e-6)


def test_several_functions_in_one_model():
    highspy = package("highspy")
    rng, box = np.random.default_rng(3), [(-1, 1)] * 2
    f, g = random_pldc(rng, 4, 4, 2), random_pldc(rng, 5, 3, 2)
    model = highspy.Highs()
    model.silent()
    x = [model.addVariable(lb=-1, ub=1) for _ in range(2)]
    total = add_to_highs(model, to_milp(f, box, ">="), x) + add_to_highs(model, to_milp(g, box, ">="), x)
    model.minimize(total)
    assert model.getObjectiveValue() == pytest.approx((f + g).minimize(box).fun, abs=1e-6)


@pytest.fixture(scope="module")
def regressor():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with few_starts(), few_kinds():
        return DCRegressor(n_pieces=3).fit(X, np.abs(X[:, 0]) - np.abs(X[:, 1]))


def test_gurobi_ml_adds_a_fitted_regressor(regressor):
    gurobi_ml = package("gurobi_ml")
    _, model = gurobi_model()
    gurobi_ml.register_predictor_constr(DCRegressor, gurobi_predictor)
    x = model.addMVar((3, 2), lb=-1.0, ub=1.0)
    y = model.addMVar(3, lb=-100.0)
    made = gurobi_ml.add_predictor_constr(model, regressor, x, y)
    model.addConstr(x[0, 0] + x[1, 0] >= 0.7)
    model.setObjective(y.sum())
    model.optimize()
    f, box = regressor.function_, [(-1, 1)] * 2
    assert made.get_error().max() < 1e-5
    assert y.X[2] == pytest.approx(f.minimize(box).fun, abs=1e-5)
    both = PLDC.total([f.compose([[1, 0, 0, 0], [0, 1, 0, 0]]), f.compose([[0, 0, 1, 0], [0, 0, 0, 1]])])
    expected = both.minimize(box * 2, A_ub=[[-1, 0, -1, 0]], b_ub=[-0.7]).fun
    assert y.X[:2].sum() == pytest.approx(expected, abs=1e-5)


def test_a_binary_needs_bounds_of_gurobis_variables(regressor):
    gp, model = gurobi_model()
    with pytest.raises(ValueError, match="finite bounds"):
        gurobi_predictor(model, regressor, model.addMVar(2, lb=-gp.GRB.INFINITY))


@pytest.mark.parametrize("tool", ["highs", "pyomo", "gurobi"])
def test_a_wrong_number_of_inputs_is_refused(tool):
    add = {"highs": add_to_highs, "pyomo": add_to_pyomo, "gurobi": add_to_gurobi}[tool]
    package({"highs": "highspy", "pyomo": "pyomo.environ", "gurobi": "gurobipy"}[tool])
    with pytest.raises(ValueError, match="2 features, got 1 inputs"):
        add(None, to_milp(PLDC.affine([1.0, 2.0]), [(0, 1)] * 2), [0.5])


@pytest.mark.parametrize("tool", TOOLS)
def test_forms_that_are_none_are_refused(tool):
    adds = {"highs": add_to_highs, "pyomo": add_to_pyomo, "gurobi": add_to_gurobi}
    package({"highs": "highspy", "pyomo": "pyomo.environ", "gurobi": "gurobipy"}.get(tool, tool))
    with pytest.raises(TypeError, match="form must be what to_milp returns, got str"):
        add_to_cvxpy("form", None) if tool == "cvxpy" else adds[tool](None, "form", [0.5])


def test_pyomo_says_when_a_number_is_outside_its_bounds():
    pyo = package("pyomo.environ")
    with pytest.raises(ValueError, match="fixed to 2.0"):
        add_to_pyomo(pyo.Block(concrete=True), to_milp(PLDC.affine([1.0]), [(0, 1)]), [2.0])


@pytest.mark.parametrize(("name", "extra"), [("highspy", "milp"), ("pyomo.environ", "milp"), ("gurobipy", "gurobi")])
def test_a_missing_package_is_named(monkeypatch, name, extra):
    monkeypatch.setitem(sys.modules, name, None)
    add = {"highspy": add_to_highs, "pyomo.environ": add_to_pyomo, "gurobipy": add_to_gurobi}[name]
    with pytest.raises(ImportError, match=rf"pldc\[{extra}\]"):
        add(None, to_milp(PLDC.affine([1.0]), [(0, 1)]), [0.5])


def test_what_the_room_offers_can_be_imported():
    room = importlib.import_module("pldc.export")
    assert all(callable(getattr(room, name)) for name in room.FORMATS)
    with pytest.raises(AttributeError, match="no attribute"):
        _ = room.to_fax
