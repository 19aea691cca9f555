"""The convex program that every fit solves, and what an answer to it looks like.

    min   Σ_o w_o ℓ(f(x_o) − y_o) + λ · penalty(slopes),       f = Σ_p s_p φ_p + ⟨c, ·⟩
    s.t.  φ_pi − φ_pj ≥ ⟨g_pj, x_i − x_j⟩                      for every part p and all points i, j

over the values φ_p and slopes g_p of each convex part at the n distinct points. The signs s are (+1, −1) for a
difference of convex functions, +1 for a convex and −1 for a concave one. The linear term c is there only if it is
free; a monotone feature k asks s_p g_pjk and c_k to have its sign.

A classification has one such f for each class, all in the loss of a row, and the penalties of all are summed. Arrays
then hold the parts of the first class, of the second, and so on, and f has shape (m, n).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from pldc.function.checks import shown
from pldc.function.max_affine import Array, IntArray, MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.term_sum import split_center
from pldc.problem.losses import Loss
from pldc.problem.penalties import EachOutput, Penalty

NEIGHBOURS = 8  # joined to each point in that tree's graph, itself included
NEAR_TREE_POINTS = 1500  # points from which the spanning tree is one of near neighbours
LARGEST = 1e152  # squares must not overflow
SHAPES: dict[str, tuple[float, ...]] = {"dc": (1.0, -1.0), "convex": (1.0,), "concave": (-1.0,)}


@dataclass(frozen=True)
class Solution:
    """An iterate of the program, good or bad.

    Attributes
    ----------
    values : array of shape (P, n)
        φ_p at the points.
    slopes : array of shape (P, n, d)
    linear : array of shape (d,), or (m, d) for m classes
        c, zero unless the linear term is free.
    multipliers : P arrays (or scipy.sparse arrays) of shape (n, n), or None
        Entry [j, i] belongs to φ_i − φ_j ≥ ⟨g_j, x_i − x_j⟩.
    dual : array of shape (o,), or (m, o) for m classes, or None
        A hint for the certificate: weight times the derivative of the loss at each observation.
    status : str
        What happened, for a person to read; "optimal" when the asked gap was certified.
    iterations : int
    history : list of dict
        One row of diagnostics an iteration.
    """

    values: Array
    slopes: Array
    linear: Array
    multipliers: Any = None
    dual: Array | None = None
    status: str = "unsolved"
    iterations: int = 0
    history: list[dict[str, float]] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Problem:
    """One instance of the program. Build it with :meth:`from_data`; nothing in it is ever changed.

    Attributes
    ----------
    X : array of shape (n, d)
        The distinct points.
    y, weight : arrays of shape (m,)
        The distinct observations, sorted by point and value; weights are positive and sum to one.
    node : int array of shape (m,)
        The point each observation belongs to: observations at one place share its value.
    loss, penalty, lam
        The objective.
    shape : {"dc", "convex", "concave"}
    monotone : int array of shape (d,)
        −1, 0 or 1 for each feature.
    linear : bool
        Whether a linear term is free of charge.
    outputs : int
        Number of functions: the number of classes with a loss of classification, and y are their labels 0, 1, …
    """

    X: Array
    y: Array
    weight: Array
    node: IntArray
    loss: Loss
    penalty: Penalty
    lam: float
    shape: str
    monotone: IntArray
    linear: bool
    outputs: int = 1

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        loss: Loss,
        penalty: Penalty,
        lam: float,
        weight: ArrayLike | None = None,
        shape: str = "dc",
        monotone: ArrayLike | None = None,
        linear: bool = False,
        outputs: int = 1,
    ) -> Problem:
        """Check the data, drop rows of weight zero, merge equal rows of X into one point and equal rows into one."""
        X = np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or y.shape != (len(X),) or len(y) == 0:
            raise ValueError(f"X must be (n, d) and y (n,) with n ≥ 1, got shapes {X.shape} and {y.shape}.")
        if not (np.abs(X).max(initial=0.0) < LARGEST and np.abs(y).max() < LARGEST):  # also refuses NaN
            raise ValueError(f"X and y must be finite and below {LARGEST:g} in size: rescale them.")
        if not (lam > 0 and np.isfinite(lam)):
            raise ValueError(f"lam must be a positive finite number, got {shown(lam)}.")
        if shape not in SHAPES:
            raise ValueError(f"shape must be one of {tuple(SHAPES)}, got {shown(shape)}.")
        signs = np.zeros(X.shape[1], dtype=int) if monotone is None else np.asarray(monotone)
        if signs.shape != (X.shape[1],) or not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(f"monotone must hold −1, 0 or 1 for each of {X.shape[1]} features, got {shown(monotone)}.")
        loss.check(y, outputs)
        if outputs > 1 and (linear or signs.any()):
            raise ValueError("Classes have scores without a free linear term and without signs of slopes.")
        w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        if w.shape != y.shape or not (np.isfinite(w).all() and (w >= 0).all()):
            raise ValueError("weight must hold one finite number ≥ 0 for each row.")
        if not (w > 0).any():
            raise ValueError("All weights are zero: there is nothing to fit.")
        w = w / w.max()
        X, y, w = X[w > 0], y[w > 0], w[w > 0]
        # + 0.0 makes −0.0 equal to 0.0. Equal observations become one: repeating a row is exactly a larger weight.
        points, node = np.unique(X + 0.0, axis=0, return_inverse=True)
        distinct, member = np.unique(np.column_stack([node.ravel(), y + 0.0]), axis=0, return_inverse=True)
        mass = np.bincount(member.ravel(), weights=w)
        return cls(
            X=points,
            y=distinct[:, 1],
            weight=mass / mass.sum(),
            node=distinct[:, 0].astype(np.intp),
            loss=loss,
            penalty=penalty if outputs == 1 else EachOutput(penalty, outputs),
            lam=float(lam),
            shape=shape,
            monotone=signs.astype(np.intp),
            linear=bool(linear),
            outputs=outputs,
        )

    @cached_property
    def signs(self) -> Array:
        """s_p: the sign with which each part enters f."""
        return np.tile(SHAPES[self.shape], self.outputs)

    @cached_property
    def node_weight(self) -> Array:
        """Total weight of the observations at each point."""
        return self.at_nodes(self.weight)

    @cached_property
    def slope_sign(self) -> Array:
        """(P, 1, d): the sign that monotonicity asks of the slopes of each part, 0 where it asks nothing."""
        return self.signs[:, None, None] * self.monotone

    @cached_property
    def null_fit(self) -> Any:
        """The best constant; one for each class."""
        return self._null[0]

    @property
    def null_share(self) -> Array:
        """Shares of the observations, weight times the derivative of the loss, that prove the constant best."""
        return self._null[1]

    @cached_property
    def _null(self) -> tuple[Any, Array]:
        return self.loss.constant(self)

    @cached_property
    def null_risk(self) -> float:
        """The loss of the best constant: the natural scale of the objective."""
        return self.risk(np.multiply.outer(self.null_fit, np.ones(len(self.X))))

    @cached_property
    def spread(self) -> float:
        """A typical size of f."""
        return self.loss.spread(self)

    @cached_property
    def centred(self) -> Array:
        """The points, shifted so that their box is centred at the origin: constraints see only differences."""
        return self.X - (0.5 * self.X.min(axis=0) + 0.5 * self.X.max(axis=0))

    @cached_property
    def spanning_tree(self) -> tuple[IntArray, IntArray]:
        """Minimum spanning tree of the points in ℓ_∞: an order in which parents come first, and the parents (Prim).

        With many points, that of a graph of near neighbours: nearly as short, and not quadratic in their number.
        """
        n = len(self.X)
        if self.X.shape[1] == 1:  # a chain
            order = np.argsort(self.X[:, 0], kind="stable")
            parent = np.empty(n, dtype=np.intp)
            parent[order] = np.append(order[:1], order[:-1])
            return order, parent
        if n > NEAR_TREE_POINTS:
            return neighbour_tree(self.X)
        order, parent = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        distance = np.abs(self.X - self.X[0]).max(axis=1, initial=0.0)
        distance[0] = np.inf
        outside = np.ones(n, dtype=bool)
        outside[0] = False
        for k in range(1, n):
            new = order[k] = int(distance.argmin())
            outside[new] = False
            distance[new] = np.inf
            step = np.abs(self.X - self.X[new]).max(axis=1, initial=0.0)
            closer = outside & (step < distance)
            distance[closer] = step[closer]
            parent[closer] = new
        return order, parent

    def at_nodes(self, observed: Array) -> Array:
        """Sum a quantity of the observations, shape (m,) or (outputs, m), over those at each point."""
        n = len(self.X)
        if observed.ndim == 1:
            return np.bincount(self.node, weights=observed, minlength=n)
        return np.array([np.bincount(self.node, weights=row, minlength=n) for row in observed])

    def by_output(self, values: Array) -> Array:
        """Sum values (parts, n), with the sign of each part, over those of each output; (n,) where there is one."""
        if self.outputs == 1:
            return np.asarray(self.signs @ values)
        signed = self.signs[:, None] * values
        return np.asarray(signed.reshape(self.outputs, -1, values.shape[1]).sum(axis=1))

    def to_parts(self, values: Array) -> Array:
        """Give values of each output, (n,) or (outputs, n), to each of its parts, with their signs."""
        parts = len(self.signs) // self.outputs
        return self.signs[:, None] * np.repeat(np.atleast_2d(values), parts, axis=0)

    def fit(self, values: Array, linear: Array) -> Array:
        """Return f at the points: (n,), or (outputs, n)."""
        return self.by_output(values) + linear @ self.X.T

    def risk(self, fit: Array) -> float:
        """Weighted mean loss of the values `fit` at the points."""
        return float(self.weight @ self.loss.at(fit[..., self.node], self.y))

    def objective(self, solution: Solution) -> float:
        """Loss + λ · penalty. Meaningful when the solution satisfies the constraints."""
        fit = self.fit(solution.values, solution.linear)
        return self.risk(fit) + self.lam * self.penalty.value(solution.slopes)

    def function(self, solution: Solution) -> PLDC:
        """f̂(x) = Σ_p s_p max_j [φ_pj + ⟨g_pj, x − x_j⟩] + ⟨c, x⟩, for a single output."""
        (f,) = self.functions(solution)
        return f

    def functions(self, solution: Solution) -> list[PLDC]:
        """Return f̂ of every output."""
        zero, out = MaxAffine.zero(self.X.shape[1]), []
        middle, spread = 0.5 * self.X.min(axis=0) + 0.5 * self.X.max(axis=0), np.abs(self.centred).max(axis=0)
        _, away = split_center(middle, np.where(spread > 0, spread, np.inf))
        X = self.X - away
        linear = np.reshape(solution.linear, (self.outputs, -1))
        groups = (np.split(a, self.outputs) for a in (self.signs, solution.values, solution.slopes))
        for signs, values, slopes, c in zip(*groups, linear, strict=True):
            parts = {1.0: zero, -1.0: zero}
            for sign, phi, g in zip(signs, values, slopes, strict=True):
                parts[sign] = MaxAffine(g, phi - (g * X).sum(axis=1))
            up = MaxAffine(parts[1.0].slopes + c, parts[1.0].offsets + c @ away)
            out.append(PLDC(up, parts[-1.0]).moved(away))
        return out


def neighbour_tree(X: Array) -> tuple[IntArray, IntArray]:
    """Spanning tree of the graph that joins each point to a few near ones; its pieces are joined in a chain."""
    n = len(X)
    distance, near = cKDTree(X).query(X, k=min(NEIGHBOURS, n), p=np.inf)
    start = np.repeat(np.arange(n), near.shape[1])
    graph = coo_array((np.maximum(distance.ravel(), 1e-300), (start, near.ravel())), shape=(n, n))
    tree = minimum_spanning_tree(graph)
    count, piece = connected_components(tree, directed=False)
    if count > 1:
        first = np.unique(piece, return_index=True)[1]
        first = first[np.argsort(X[first, 0], kind="stable")]
        chain = coo_array((np.ones(count - 1), (first[:-1], first[1:])), shape=(n, n))
        tree = tree + chain
    order, parent = breadth_first_order(tree, 0, directed=False)
    parent[0] = 0
    return order.astype(np.intp), parent.astype(np.intp)
