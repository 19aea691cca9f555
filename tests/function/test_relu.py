"""PLDC ⇄ ReLU networks."""

import itertools

import numpy as np
import pytest
from tests.function.common import random_functions, random_hinged, random_pldc

from pldc import PLDC, DCRegressor, Hinges
from pldc.function.relu import relu_seminorm_bound, to_relu


def run(layers, X):
    h = X.T
    for weight, bias in layers[:-1]:
        h = np.maximum(weight @ h + bias[:, None], 0.0)
    weight, bias = layers[-1]
    return (weight @ h + bias[:, None])[0]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_to_relu_and_back(seed, compact):
    rng = np.random.default_rng(seed)
    k, l, d = (int(v) for v in rng.integers(1, [6, 6, 4]))
    f, X = random_pldc(rng, k, l, d), 3 * rng.standard_normal((200, d))
    layers = f.to_relu(compact)
    K = max(k, l)
    depth, widths = len(layers) - 1, [len(bias) for _, bias in layers]
    assert depth <= (1 if compact else 2) * int(np.ceil(np.log2(K)))
    assert max(widths) <= (3 * K + 1 if compact else 8 * K)
    np.testing.assert_allclose(run(layers, X), f(X), atol=1e-9)
    back = PLDC.from_relu(layers)
    np.testing.assert_allclose(back(X), f(X), atol=1e-9)
    assert max(back.n_pieces) <= 2 * K + 2  # what is carried along cancels


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("kind", ["hinged", "sum"])
@pytest.mark.parametrize("seed", range(6))
def test_hinges_and_sums_are_networks(seed, kind, compact):
    rng = np.random.default_rng(seed)
    f = random_functions(rng, 1 + seed % 3)[kind]
    X = 3 * rng.standard_normal((300, f.n_features))
    X[:10] = f.terms[1 if kind == "sum" else 0].hinges.knots[0][0]  # at a knot
    layers = f.to_relu(compact)
    np.testing.assert_allclose(run(layers, X), f(X), atol=1e-9 * np.abs(f(X)).max())
    K, P = max(max(part.n_pieces for part in term.parts) for term in f.terms), sum(f.n_pieces)
    assert len(layers) - 2 == (1 if compact else 2) * int(np.ceil(np.log2(K)))  # but for the last and that of hinges
    assert max(len(bias) for _, bias in layers[1:]) <= 2 * P


def test_parts_that_are_done_are_carried_as_one():
    rng = np.random.default_rng(0)
    f, X = (
        PLDC.total([random_pldc(rng, 2, 1, 2) for _ in range(8)] + [random_pldc(rng, 8, 8, 2)]),
        rng.normal(size=(50, 2)),
    )
    layers = f.to_relu(compact=True)
    np.testing.assert_allclose(run(layers, X), f(X), atol=1e-9)
    assert [len(bias) for _, bias in layers] == [8 * 3 + 2 * 12 + 2, 2 * 6 + 2, 2 * 3 + 2, 1]


def test_features_without_knots_pass_the_ramps():
    rng = np.random.default_rng(1)
    f, X = random_hinged(rng, 3, 2, Hinges([[], [-1.0, 0.0, 2.0], []])), 2 * rng.normal(size=(200, 3))
    layers = f.to_relu()
    assert layers[0][0].shape == (2 * 3 + 3, 3)
    np.testing.assert_allclose(run(layers, X), f(X), atol=1e-9)


def test_a_default_fit_is_a_network():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * np.abs(X[:, 3]) + 0.1 * rng.normal(size=200)
    f = DCRegressor(random_state=0).fit(X, y).function_
    assert len(f.terms) > 1 and any(term.hinges is not None for term in f.terms)
    new = rng.normal(size=(500, 5))
    for compact in (False, True):
        layers = f.to_relu(compact)
        np.testing.assert_allclose(run(layers, new), f(new), atol=1e-9 * np.abs(f(new)).max())
        assert sum(weight.nbytes + bias.nbytes for weight, bias in layers) < 60e6


def test_what_is_no_function_is_refused():
    for wrong in (None, PLDC.affine([1.0])):
        with pytest.raises(TypeError, match=r"terms of a PLDC, got .*: call f\.to_relu\(\)"):
            to_relu(wrong)
    with pytest.raises(TypeError, match="sequence of layers"):
        PLDC.from_relu(None)


def test_layers_too_large_to_hold_are_refused(monkeypatch):
    f = random_pldc(np.random.default_rng(0), 64, 64, 3)
    monkeypatch.setattr("pldc.function.relu.MOST_WEIGHTS", 10_000)
    with pytest.raises(ValueError, match=r"192 × 256 weights, too many to hold: drop pieces first with prune"):
        f.to_relu()


@pytest.mark.parametrize("seed", range(30))
def test_from_relu_computes_the_network_within_the_seminorm_bound(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    sizes = [d, *rng.integers(1, 5, size=int(rng.integers(1, 3))).tolist(), 1]
    layers = [(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in itertools.pairwise(sizes)]
    if seed % 5 == 0:
        layers[0][0][0] = 0.0  # a dead node
    f, X = PLDC.from_relu(layers), 3 * rng.standard_normal((200, d))
    np.testing.assert_allclose(f(X), run(layers, X), atol=1e-9)
    # The seminorm is at least the Lipschitz constant in the maximum norm.
    assert f.lipschitz(np.inf) <= relu_seminorm_bound(layers) * (1 + 1e-9)
    if len(layers) == 2:  # nothing cancels: the parts themselves prove the bound
        assert f.seminorm_bound() <= relu_seminorm_bound(layers) * (1 + 1e-9)


def test_a_single_layer_is_affine():
    f = PLDC.from_relu([([[1.0, -2.0]], [3.0])])
    assert f([[1.0, 1.0]]) == pytest.approx(2.0)
    assert PLDC.affine([1.0, -2.0], 3.0).to_relu()[0][0].tolist() == [[1.0, -2.0]]


def test_too_many_pieces_are_refused():
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((8, 4)), rng.standard_normal(8)), (rng.standard_normal((1, 8)), np.zeros(1))]
    with pytest.raises(ValueError, match="most_pieces=10"):
        PLDC.from_relu(layers, most_pieces=10)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "at least one layer"),
        ([([[1.0]], [0.0, 1.0])], "bias of 2"),
        ([([[1.0]], [0.0]), ([[1.0, 2.0]], [0.0])], "after 1 nodes"),
        ([([[1.0], [2.0]], [0.0, 0.0])], "2 outputs"),
        ([([[np.nan]], [0.0])], "finite"),
        ([([[1.0]],)], "pair"),
    ],
)
def test_malformed_networks_are_refused(layers, message):
    with pytest.raises(ValueError, match=message):
        PLDC.from_relu(layers)


@pytest.mark.parametrize(
    "layers",
    [
        [([[1.0], [1.0004]], [-1e6, -1e6]), ([[1.0, -1.0]], [0.0])],
        [([[1.0], [2.0]], [-1e10, -1e10]), ([[1.0, 1.0]], [0.0])],
        [([[1e6, 1.0], [1e6, 1.0004]], [0.0, 0.0]), ([[1.0, -1.0]], [0.0])],
    ],
)
def test_nodes_that_are_nearly_alike_are_not_confused(layers):
    layers = [(np.array(w), np.array(b)) for w, b in layers]
    scale = np.abs(layers[0][1]).max()
    X = np.random.default_rng(0).uniform(-3, 3, size=(200, layers[0][0].shape[1])) * max(scale, 1.0)
    values = run(layers, X)
    np.testing.assert_allclose(
        PLDC.from_relu(layers)(X), values, atol=1e-9 * np.abs(X).max() * np.abs(layers[0][0]).max()
    )
