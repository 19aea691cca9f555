"""PLDC functions as ReLU networks, and back."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pldc.function import algebra
from pldc.function.checks import whole
from pldc.function.max_affine import Array, MaxAffine, frozen
from pldc.function.prune import prune_exact
from pldc.function.term import Term

Layers = list[tuple[Array, Array]]
Groups = list[tuple[float, Array]]  # a sign and affine functions: one row each, whose last number is the constant
MOST_WEIGHTS = 1 << 27  # of a layer: a GiB


def to_relu(terms: tuple[Term, ...], compact: bool = False, center: tuple[float, ...] | None = None) -> Layers:
    """Return layers (weight, bias) of a ReLU network that computes a sum of terms; see :meth:`pldc.PLDC.to_relu`.

    The first layers take away the centre and make the ramps of hinges, if there are any. Then values are halved in
    number, pair by pair: max(a, b) = relu(a − b) + relu(b) − relu(−b). A value without a partner is carried along as
    relu(v) − relu(−v). Parts that have come down to one value are added up, and carried along as one.
    """
    if not isinstance(terms, tuple):
        raise TypeError(f"to_relu takes the terms of a PLDC, got {type(terms).__name__}: call f.to_relu().")
    layers, columns = _ramps(terms, center)
    groups = [
        (sign, np.column_stack([part.slopes @ matrix, part.offsets]))
        for term, matrix in zip(terms, columns, strict=True)
        for sign, part in zip((1.0, -1.0), term.parts, strict=True)
    ]
    while len(groups := _added_up(groups)) > 1:
        for pair in (True,) if compact else (False, True):
            layer, groups = _layer(groups, pair)
            layers.append(layer)
    [(_, row)] = groups
    return [*layers, (row[:, :-1], row[:, -1])]


def _ramps(terms: tuple[Term, ...], center: tuple[float, ...] | None) -> tuple[Layers, list[Array]]:
    """Return a layer with relu(x), relu(−x) and relu(x − knot), and the columns of each term as sums of its outputs.

    Of neighbouring knots a and b, the ramp is (relu(x − a) − relu(x − b)) / (b − a). A centre is taken away in a layer
    before: a knot added to one that is far away would lose its digits. Without hinges and centre there is no layer.
    """
    d = terms[0].n_features
    eye = np.eye(d)
    knots = [(j, each) for term in terms if term.hinges is not None for j, each in enumerate(term.hinges.knots)]
    if not knots and center is None:
        return [], [eye] * len(terms)
    both = np.vstack([eye, -eye])
    layers = [] if center is None else [(both, both @ -np.array(center))]
    weight = np.vstack([both, *(np.tile(eye[j], (len(each), 1)) for j, each in knots)])
    bias = np.concatenate([np.zeros(2 * d), *(-each for _, each in knots)])
    if knots or center is None:
        layers.append((weight if center is None else weight @ both.T, bias))
    columns, node = [], 2 * d
    for term in terms:
        matrix, ramp = np.zeros((term.plus.n_features, len(bias))), d
        matrix[:d, : 2 * d] = np.hstack([eye, -eye])
        for each in () if term.hinges is None else term.hinges.knots:
            for width in np.diff(each):
                matrix[ramp, node : node + 2] = 1.0 / width, -1.0 / width
                ramp, node = ramp + 1, node + 1
            node += len(each) > 0
        columns.append(matrix)
    return layers, columns


def _added_up(groups: Groups) -> Groups:
    """Join all groups of one row: their sum, with signs."""
    single = [sign * rows for sign, rows in groups if len(rows) == 1]
    several = [group for group in groups if len(group[1]) > 1]
    return [*several, (1.0, np.sum(single, axis=0))] if single else several


def _layer(groups: Groups, pair: bool) -> tuple[tuple[Array, Array], Groups]:
    """Return a hidden layer, and the groups as affine functions of its outputs.

    Values are carried along or, if `pair`, joined by twos with the maximum.
    """
    twos = [len(rows) // 2 if pair else 0 for _, rows in groups]
    width, before = sum(2 * len(rows) - t for t, (_, rows) in zip(twos, groups, strict=True)), groups[0][1].shape[1]
    if width * before > MOST_WEIGHTS:
        raise ValueError(
            f"A layer of the network would have {width} × {before - 1} weights, too many to hold: drop pieces first "
            "with prune(X, tol=...), or try compact=True."
        )
    nodes, after, start = [], [], 0
    for t, (sign, rows) in zip(twos, groups, strict=True):
        a, b, alone = rows[: 2 * t : 2], rows[1 : 2 * t : 2], rows[2 * t :]
        nodes.append(np.vstack([a - b, b, -b, alone, -alone]))
        reading, k, l = np.zeros((t + len(alone), width + 1)), np.arange(t), np.arange(len(alone))
        reading[k, start + k] = reading[k, start + t + k] = 1.0
        reading[k, start + 2 * t + k] = -1.0
        reading[t + l, start + 3 * t + l] = 1.0
        reading[t + l, start + 3 * t + len(alone) + l] = -1.0
        after.append((sign, reading))
        start += len(nodes[-1])
    everything = np.vstack(nodes)
    return (everything[:, :-1], everything[:, -1]), after


def from_relu(layers: Sequence[tuple[ArrayLike, ArrayLike]], most_pieces: int) -> tuple[MaxAffine, MaxAffine]:
    """Return the two convex parts of the function that a ReLU network computes; see :meth:`pldc.PLDC.from_relu`.

    Node by node, relu(φ₁ − φ₂) = max(φ₁, φ₂) − φ₂. A node is kept as a sum of convex functions with coefficients, so
    that those which meet again with opposite signs cancel: relu(v) − relu(−v) is v. Sums are written out, and pruned,
    only where a maximum is taken.
    """
    weights, most_pieces = _checked(layers), whole("most_pieces", most_pieces, 1)
    d = weights[0][0].shape[1]
    nodes = [_Node(np.append(row, 0.0)) for row in np.eye(d)]
    for depth, (weight, bias) in enumerate(weights, start=1):
        sums = [_weighted(nodes, w, float(v)) for w, v in zip(weight, bias, strict=True)]
        if depth < len(weights):
            nodes = [node.relu(most_pieces, depth) for node in sums]
    return sums[0].parts(most_pieces, len(weights))


@dataclass
class _Node:
    """An affine function (slope, offset), and convex ones with coefficients, by what they are up to an affine one."""

    affine: Array
    convex: dict[bytes, tuple[float, MaxAffine]] = field(default_factory=dict)

    def add(self, weight: float, other: _Node) -> None:
        """Add weight × other; what cancels is dropped."""
        self.affine = self.affine + weight * other.affine
        for key, (coefficient, function) in other.convex.items():
            while key in self.convex and not _alike(self.convex[key][1], function):
                key += b"+"
            before, mine = self.convex.get(key, (0.0, function))
            total = before + weight * coefficient
            self.affine = self.affine + weight * coefficient * (_first(function) - _first(mine))
            if abs(total) > 1e-12 * (abs(before) + abs(weight * coefficient)):
                self.convex[key] = (total, mine)
            else:
                self.convex.pop(key, None)

    def parts(self, most_pieces: int, depth: int) -> tuple[MaxAffine, MaxAffine]:
        """Write out both convex parts; each takes half of the affine function."""
        out = []
        for sign in (1.0, -1.0):
            half = 0.5 * sign * self.affine
            part = MaxAffine(half[None, :-1], half[-1:])
            for coefficient, function in self.convex.values():
                if sign * coefficient > 0:
                    count = part.n_pieces * function.n_pieces
                    if count > most_pieces:
                        raise ValueError(
                            f"In layer {depth} a part would have {count} pieces, more than most_pieces={most_pieces}. "
                            "So long a PLDC is no simpler than the network: raise most_pieces, or convert less."
                        )
                    part = prune_exact(algebra.add(part, algebra.scale(function, abs(coefficient))))
            out.append(part)
        return out[0], out[1]

    def relu(self, most_pieces: int, depth: int) -> _Node:
        """max(φ₁, φ₂) − φ₂."""
        plus, minus = self.parts(most_pieces, depth)
        top = prune_exact(algebra.maximum(plus, minus))
        out = _Node(np.zeros_like(self.affine))
        out.add(1.0, _convex(top))
        # φ₂ = Σ |coefficient| · function over the negative ones, less half of the affine function
        negative = {key: (-c, function) for key, (c, function) in self.convex.items() if c < 0}
        out.add(-1.0, _Node(-0.5 * self.affine, negative))
        return out


def _weighted(nodes: list[_Node], weight: Array, bias: float) -> _Node:
    """Σ_j weight_j nodes_j + bias."""
    total = _Node(np.append(np.zeros(len(nodes[0].affine) - 1), bias))
    for w, node in zip(weight, nodes, strict=True):
        if w != 0:
            total.add(float(w), node)
    return total


def _convex(f: MaxAffine) -> _Node:
    """A convex function as a node: its pieces in an order that does not depend on an affine function added to it."""
    pieces = np.column_stack([f.slopes, f.offsets])
    if len(pieces) == 1:
        return _Node(pieces[0])
    size = np.maximum(np.ptp(pieces, axis=0), np.finfo(float).tiny)
    rounded = np.round((pieces - pieces.mean(axis=0)) / size, 9) + 0.0
    order = np.lexsort(rounded.T[::-1])
    pieces = pieces[order]
    relative = np.round((pieces - pieces[0]) / size, 9) + 0.0
    key = np.append(relative.ravel(), np.round(np.log(size), 9)).tobytes()
    return _Node(np.zeros(pieces.shape[1]), {key: (1.0, MaxAffine(pieces[:, :-1], pieces[:, -1]))})


def _alike(f: MaxAffine, g: MaxAffine) -> bool:
    """Whether f and g, pieces in order, are the same up to an affine function and rounding."""
    if f.n_pieces != g.n_pieces:
        return False
    a, b = (np.column_stack([h.slopes, h.offsets]) for h in (f, g))
    size = 1e-12 * (np.abs(a).max(axis=0) + np.abs(b).max(axis=0))
    return bool((np.abs((a - a[0]) - (b - b[0])) <= size).all())


def _first(f: MaxAffine) -> Array:
    """The first piece: equal functions up to an affine one differ by the difference of their first pieces."""
    return np.append(f.slopes[0], f.offsets[0])


def relu_seminorm_bound(layers: Sequence[tuple[ArrayLike, ArrayLike]]) -> float:
    """Bound the DC seminorm of a ReLU network by its weights: ``|w|ᵀ |W_D| ⋯ |W_1| 1``."""
    checked = _checked(layers)
    size = np.ones(checked[0][0].shape[1])
    for weight, _ in checked:
        size = np.abs(weight) @ size
    return float(size[0])


def _checked(layers: Sequence[tuple[ArrayLike, ArrayLike]]) -> Layers:
    """Return the layers as arrays whose shapes fit together."""
    if not isinstance(layers, Sequence):
        raise TypeError(f"A network is a sequence of layers (weight, bias), got {type(layers).__name__}.")
    if len(layers) == 0:
        raise ValueError("A network needs at least one layer (weight, bias).")
    out: Layers = []
    for k, layer in enumerate(layers, start=1):
        if not isinstance(layer, Sized) or len(layer) != 2:
            raise ValueError(f"Layer {k} must be a pair (weight, bias).")
        weight, bias = frozen(layer[0], 2, f"The weight of layer {k}"), frozen(layer[1], 1, f"The bias of layer {k}")
        if len(weight) != len(bias) or (out and weight.shape[1] != len(out[-1][1])):
            before = f" after {len(out[-1][1])} nodes" if out else ""
            raise ValueError(f"Layer {k} has a weight of shape {weight.shape} and a bias of {len(bias)}{before}.")
        out.append((weight, bias))
    if len(out[-1][1]) != 1:
        raise ValueError(
            f"The network has {len(out[-1][1])} outputs; a PLDC has one. Convert one row of the last layer at a time."
        )
    return out
