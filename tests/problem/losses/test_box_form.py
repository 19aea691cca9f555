"""Residuals as the interior points see them: maps, their transposes, and the correction of multipliers."""

import numpy as np
import pytest
from tests.problems import build

from pldc.problem.losses import Hinge
from pldc.problem.losses.box_form import HingeResiduals, Residuals


def residuals(kind):
    """Of rows at twelve points, some of which have several observations, of equal and of other labels."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(12, 2))] * 2)[:20]
    label = rng.integers(0, 3, 20).astype(float)
    label[12:16] = label[:4]
    weight = rng.uniform(0.5, 2.0, 20)
    if kind == "values":
        problem = build(X, rng.normal(size=20), weight=weight)
        return rng, Residuals(problem, problem.loss), problem, (len(problem.node_weight),)
    problem = build(X, label, loss=Hinge(), weight=weight, outputs=3)
    return rng, HingeResiduals(problem, problem.loss), problem, (3, len(problem.node_weight))


@pytest.mark.parametrize("kind", ["values", "classes"])
def test_transposes_and_second_derivatives(kind):
    rng, form, _, shape = residuals(kind)
    fit, omega, psi = rng.normal(size=shape), rng.normal(size=len(form.weight)), rng.uniform(1, 2, len(form.weight))
    assert omega @ form.change(fit) == pytest.approx(np.sum(form.adjoint(omega) * fit))
    curvature = form.curvature(psi)
    moved = curvature * fit if kind == "values" else np.einsum("nab,bn->an", curvature, fit)
    np.testing.assert_allclose(moved, form.adjoint(psi * form.change(fit)), atol=1e-12)


@pytest.mark.parametrize("kind", ["values", "classes"])
def test_corrected_multipliers_have_the_flow_that_is_asked_for(kind):
    rng, form, problem, shape = residuals(kind)
    omega, psi = rng.uniform(size=len(form.weight)), 10.0 ** rng.uniform(-6, 6, len(form.weight))
    flow = rng.normal(size=shape)
    found = form.adjoint(form.corrected(omega, psi, flow))
    if kind == "values":
        np.testing.assert_allclose(found, flow, atol=1e-9)
        return
    labels = [set(problem.y[problem.node == k].astype(int)) for k in range(shape[1])]
    assert {len(each) for each in labels} == {1, 2}
    for k, (own, *more) in enumerate(labels):
        if more:  # no change
            np.testing.assert_allclose(found[:, k], form.adjoint(omega)[:, k])
        else:
            np.testing.assert_allclose(np.delete(found[:, k], own), np.delete(flow[:, k], own), atol=1e-9)
