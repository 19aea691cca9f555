"""Inputs that are linear expressions, and blocks that hold a function already."""

import numpy as np
import pytest
from tests.export.test_solvers import gurobi_model, package
from tests.function.common import random_pldc

from pldc import PLDC
from pldc.export import add_to_gurobi, add_to_highs, add_to_pyomo, to_milp

BOX = [(-1, 1)] * 2


@pytest.fixture(scope="module")
def function():
    return random_pldc(np.random.default_rng(5), 4, 4, 2)


@pytest.fixture(scope="module")
def least(function):
    """The least f(2 a + 1, b − a) for a and b in [−1, 1] that keep both inputs in the box."""
    moved = function.compose([[2.0, 0.0], [-1.0, 1.0]], [1.0, 0.0])
    rows = [[2, 0], [-2, 0], [-1, 1], [1, -1]]
    return moved.minimize(BOX, A_ub=rows, b_ub=[0, 2, 1, 1]).fun


def test_linear_expressions_for_highs(function, least):
    highs = package("highspy").Highs()
    highs.silent()
    a, b = (highs.addVariable(lb=-1, ub=1) for _ in range(2))
    inputs = [2 * a + 1, b - a]
    y = add_to_highs(highs, to_milp(function, BOX), inputs)
    z = add_to_highs(highs, to_milp(function, BOX), inputs)  # they are as they were
    highs.minimize(0.5 * y + 0.5 * z)
    assert highs.getObjectiveValue() == pytest.approx(least, abs=1e-6)


def test_linear_expressions_for_gurobi(function, least):
    _, model = gurobi_model()
    x = model.addMVar(2, lb=-1.0, ub=1.0)
    a, _ = x.tolist()
    y = add_to_gurobi(model, to_milp(function, BOX), [2 * a + 1, x[1] - x[0]])
    model.setObjective(y.sum())
    model.optimize()
    assert model.ObjVal == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("wrong", ["x", None, [1.0]])
def test_other_inputs_are_refused(wrong):
    form, highs = to_milp(PLDC.affine([1.0, 2.0]), BOX), package("highspy").Highs()
    with pytest.raises(TypeError, match="Input 1 must be a variable, a linear expression or a number, got "):
        add_to_highs(highs, form, [0.5, wrong])
    assert highs.numVariables == 0
    _, model = gurobi_model()
    with pytest.raises(TypeError, match="Input 1 must be a variable, a linear expression or a number, got "):
        add_to_gurobi(model, form, [0.5, wrong])


def test_a_block_of_pyomo_takes_one_function(function):
    pyo = package("pyomo.environ")
    plan = pyo.ConcreteModel()
    plan.x, plan.f = pyo.Var(range(2)), pyo.Block()
    form, inputs = to_milp(function, BOX), [plan.x[0], plan.x[1]]
    first = add_to_pyomo(plan.f, form, inputs)
    with pytest.raises(ValueError, match="The block f has v or rows already: give each function an empty block"):
        add_to_pyomo(plan.f, form, inputs)
    assert plan.f.v[form.output] is first
