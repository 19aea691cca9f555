"""Mixed-integer programs of functions: optima against `minimize`, and values at fixed inputs."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.function.common import KINDS, random_functions, random_hinged, random_pldc
from tests.quick import few_kinds

from pldc import PLDC, DCRegressor, Hinges
from pldc.export import to_milp

MODULE = "pldc.export.milp.MOST_ENTRIES"
EXACT = {"mip_rel_gap": 1e-9}


@pytest.fixture(params=["split box", "constants M"])
def formulation(request, monkeypatch):
    """Both ways to write a choice."""
    monkeypatch.setattr(MODULE, 10**9 if request.param == "split box" else 0)
    return request.param


def at(form, x, sign=1.0):
    """The least (or greatest) output when the inputs are fixed."""
    lower, upper = form.lower.copy(), form.upper.copy()
    lower[form.inputs] = upper[form.inputs] = x
    cost = np.zeros(len(form.roles))
    cost[form.output] = sign
    found = milp(**{**form.for_scipy(), "c": cost, "bounds": Bounds(lower, upper)})
    return sign * found.fun if found.status == 0 else found.status


@pytest.mark.parametrize("seed", range(60))
def test_least_and_largest_values_are_those_of_minimize(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 6
    f = random_pldc(rng, *rng.integers(1, 17, size=2), d)
    box = np.column_stack([-1 - rng.random(d), 1 + rng.random(d)])
    low, high = f.bounds_on(box)
    relation = (">=", "<=", "=")[seed % 3]
    form = to_milp(f, box, relation)
    found = milp(**form.for_scipy(), options=EXACT)
    assert found.fun == pytest.approx(-high if relation == "<=" else low, abs=1e-7)
    x = found.x[form.inputs]
    assert f(x[None])[0] == pytest.approx(found.x[form.output], abs=1e-6)
    most = {">=": f.n_pieces[1], "<=": f.n_pieces[0], "=": sum(f.n_pieces)}[relation]
    assert form.n_binaries <= most
    assert set(np.unique(form.integrality)) <= {0, 1}


@pytest.mark.parametrize("seed", range(6))
def test_constants_m_lead_to_the_same_optimum(seed, monkeypatch):
    monkeypatch.setattr(MODULE, 0)
    rng = np.random.default_rng(seed)
    f, box = random_pldc(rng, 7, 7, 3), [(-1, 2)] * 3
    assert milp(**to_milp(f, box, ">=").for_scipy(), options=EXACT).fun == pytest.approx(f.minimize(box).fun, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relation", [">=", "=", "<="])
def test_values_at_fixed_inputs(kind, relation, formulation):
    rng = np.random.default_rng(3)
    f = random_functions(rng, 2)[kind]
    form = to_milp(f, [(-1.5, 1.2), (-0.4, 2.0)], relation)
    corners = [[-1.5, -0.4], [1.2, 2.0], [-1.5, 2.0]]
    knots = [
        [hinges.knots[0][0], 0.5] for t in f.terms if (hinges := t.hinges) is not None and hinges.knots[0][0] > -1.5
    ]
    for x in np.vstack([rng.uniform([-1.5, -0.4], [1.2, 2.0], size=(3, 2)), corners, *knots]):
        value = f(x[None])[0]
        if relation != "<=":
            assert at(form, x) == pytest.approx(value, abs=1e-5)
        if relation != ">=":
            assert at(form, x, -1.0) == pytest.approx(value, abs=1e-5)
        if relation != "=":  # the other side is open
            assert at(form, x, -1.0 if relation == ">=" else 1.0) in (2, 3, 4)


def test_a_point_outside_the_box_is_infeasible():
    form = to_milp(abs(PLDC.affine([1.0])), [(-1, 1)])
    assert at(form, [1.5]) == 2


def test_least_value_of_a_function_with_hinges():
    rng = np.random.default_rng(1)
    f = random_hinged(rng, 3, 3, Hinges([np.linspace(-1, 1, 4), np.linspace(-2, 2, 5)]))
    form = to_milp(f, [(-1.5, 1.5)] * 2, ">=")
    grid = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, 601)] * 2), axis=-1).reshape(-1, 2)
    found = milp(**form.for_scipy(), options=EXACT)
    assert f(found.x[form.inputs][None])[0] == pytest.approx(found.fun, abs=1e-6)
    assert found.fun <= f(grid).min() + 1e-6
    assert f(grid).min() - found.fun < 0.05
    assert form.roles.count("passed") == sum((np.abs(k) < 1.5).sum() for k in f.terms[0].hinges.knots)


def test_a_default_fit_at_fixed_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    with few_kinds():
        f = DCRegressor().fit(X, np.abs(X[:, 0]) - X[:, 1] ** 2).function_
    assert any(term.hinges is not None for term in f.terms)
    form = to_milp(f, np.column_stack([X.min(axis=0), X.max(axis=0)]))
    for x in X[:4]:
        assert at(form, x) == pytest.approx(f(x[None])[0], abs=1e-5)


def test_convex_and_concave_functions_need_no_binaries_and_no_box():
    f = abs(PLDC.affine([1.0, 2.0], -1.0)) + abs(PLDC.affine([1.0, -1.0]))
    form = to_milp(f, [(None, None), (0, None)], ">=")
    assert form.n_binaries == 0
    assert milp(**form.for_scipy()).fun == pytest.approx(0.0, abs=1e-9)
    assert to_milp(-f, [(None, None)] * 2, "<=").n_binaries == 0
    with pytest.raises(ValueError, match=r"finite bounds; features \[0, 1\]"):
        to_milp(f, [(None, None), (0, None)], "<=")


def test_pieces_that_never_rule_in_the_box_take_no_binary():
    f = abs(PLDC.affine([1.0]))
    assert to_milp(f, [(-1, 1)], "<=").n_binaries == 2
    assert to_milp(f, [(1, 2)], "<=").n_binaries == 0


def test_a_fixed_feature_and_numbers_of_any_size():
    rng = np.random.default_rng(2)
    f = random_pldc(rng, 5, 5, 3).compose(np.diag([1e-4, 1.0, 1e3]), [-3.0, 0.0, 0.0])
    box = [(2e4, 4e4), (0.5, 0.5), (-1e-3, 1e-3)]
    for scale in (1e-2, 1.0, 1e8):
        g = scale * f + 100 * scale
        found = milp(**to_milp(g, box, ">=").for_scipy(), options=EXACT)
        assert found.fun == pytest.approx(g.minimize(box).fun, rel=1e-5)  # tolerances of HiGHS are absolute


def test_constraints_of_your_own():
    rng = np.random.default_rng(4)
    f, box = random_pldc(rng, 6, 6, 3), [(-1, 1)] * 3
    form = to_milp(f, box, ">=")
    program = form.for_scipy()
    program["constraints"].append(LinearConstraint(form.on_inputs([[1, 1, 1]]), -np.inf, -0.5))
    expected = f.minimize(box, A_ub=[[1, 1, 1]], b_ub=[-0.5]).fun
    assert milp(**program, options=EXACT).fun == pytest.approx(expected, abs=1e-7)
    with pytest.raises(ValueError, match="3 columns"):
        form.on_inputs([[1, 1]])


def test_ten_concrete_fits_are_the_functions_of_the_benchmark():
    """The functions that benchmarks/milp.py solves with: each reaches its exact optimum."""
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "milp_functions.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    functions = [PLDC.from_dict(each) for each in record["functions"]]
    assert len({f.to_dict().__repr__() for f in functions}) == 10
    assert all(max(f.n_pieces) == 8 and f.n_features == 8 for f in functions)
    for f in functions[:2]:
        form = to_milp(f, record["box"], "<=")
        assert -milp(**form.for_scipy(), options=EXACT).fun == pytest.approx(f.maximize(record["box"]).fun, rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((lambda x: x, [(0, 1)]), TypeError, "takes a PLDC"),
        ((PLDC.affine([1.0]), [(0, 1)], "<"), ValueError, "relation must be one of"),
        ((PLDC.affine([1.0]), [(0, 1)] * 2), ValueError, "1 pairs"),
        ((random_hinged(np.random.default_rng(0), 2, 2, Hinges([[0.0, 1.0]])), [(0, None)]), ValueError, "knots"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        to_milp(*arguments)


@pytest.mark.parametrize("matrix", [10**400, [[1 + 2j]], np.zeros((2, 2, 2)), [[1.0, 2.0, 3.0]], ["a"]])
def test_rows_that_are_none(matrix):
    found = to_milp(PLDC.affine([1.0, 2.0]), [(-1.0, 1.0)] * 2)
    with pytest.raises(ValueError):
        found.on_inputs(matrix)


@pytest.mark.parametrize("relation", ["x" * 100_000, np.array(["a", "b"]), None])
def test_relations_that_are_none_are_said_in_short(relation):
    with pytest.raises(ValueError, match="relation must be one of") as said:
        to_milp(PLDC.affine([1.0]), [(-1.0, 1.0)], relation=relation)
    assert len(str(said.value)) < 300
