"""The pair rows of the interior point: all ordered pairs of points, or a working set of them.

A row is φ_i − φ_j − ⟨g_j, x_i − x_j⟩ ≥ 0. Quantities of rows are arrays [p, j, k]: slot k of point j in part p. A slot
without a row, and one that stands for the point itself, has i = j: its row is zero, and `mask` is zero there.

Eliminating the slopes of point j leaves, in each part, one column for every slot. `W` of shape (n, P d, C) holds them,
C = P · slots + bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pldc.function.max_affine import Array, IntArray
from pldc.solve.workers import SMALLEST_BLOCK, Workers

CHUNK = 1 << 20  # numbers in the small matrices that are made at once
GROUPS = 12  # of points with about as many rows


class AllPairs:
    """Slot k is the pair (j, k)."""

    def __init__(self, X: Array, parts: int):
        n = len(X)
        self.X, self.parts = X, parts
        self.D = X[None, :, :] - X[:, None, :]
        self.own = np.arange(n)
        self.mask = np.broadcast_to(1.0 - np.eye(n), (parts, n, n))

    def split(self, groups: int) -> list[AllPairs]:
        """Return the rows of each of so many groups of parts."""
        out = []
        for mask in np.split(self.mask, groups):
            one = object.__new__(AllPairs)
            one.X, one.D, one.own, one.mask, one.parts = self.X, self.D, self.own, mask, len(mask)
            out.append(one)
        return out

    def __call__(self, phi: Array, g: Array) -> Array:
        """Evaluate the rows."""
        own = phi - np.einsum("pjk,jk->pj", g, self.X)
        rows = phi[:, None, :] - own[:, :, None]
        rows -= g @ self.X.T
        return rows

    def adjoint(self, Z: Array) -> tuple[Array, Array]:
        """Apply the transposed rows: (Σ_j Z_ji − Σ_j Z_ij for φ, −Σ_i Z_ji (x_i − x_j) for g)."""
        out = Z.sum(axis=2)
        return Z.sum(axis=1) - out, out[:, :, None] * self.X - Z @ self.X

    def degree(self, theta: Array) -> Array:
        """Sum of θ over the rows that each point takes part in."""
        return np.asarray(theta.sum(axis=1) + theta.sum(axis=2))

    def differences(self, J: slice) -> Array:
        """x_i − x_j for the points j in J, to broadcast against [p, j, k, feature]."""
        return self.D[J]

    def columns(self, W: Array, v: Array) -> Array:
        """W v, point by point: (n, P d)."""
        n, rows, C = W.shape
        return np.asarray(W.reshape(n * rows, C) @ v).reshape(n, rows)

    def columns_adjoint(self, W: Array, white: Array) -> Array:
        """W' white."""
        n, rows, C = W.shape
        return np.asarray(white.reshape(n * rows) @ W.reshape(n * rows, C))

    def reduced(self, W: Array, theta: Array, workers: Workers) -> Array:
        """Return the weighted Laplacian of the rows, less W'W."""
        n, C = len(W), W.shape[2]

        def square(J: slice) -> Array:
            block = W[J].reshape(-1, C)
            return block.T @ block

        H = -sum(workers.over_blocks(square, n), start=np.zeros(()))
        degree, at = self.degree(theta), np.arange(n)
        for p in range(self.parts):
            block = H[p * n : (p + 1) * n, p * n : (p + 1) * n]
            block -= theta[p]
            block -= theta[p].T
            block[at, at] += degree[p]
        return H

    def matrix(self, Z: Array) -> Any:
        """Z as one (n, n) array a part."""
        return Z


class Equals(NamedTuple):
    """Points with at most `width` slots: their columns of W, and where their entries stand in one long array."""

    points: IntArray
    width: int
    columns: IntArray
    triangle: tuple[IntArray, IntArray]
    start: int
    stop: int


class WorkingSet:
    """Some of the pairs: slot k of point j in part p is the pair (j, at[p, j, k]); slot 0 is the point itself.

    Parameters
    ----------
    X : array of shape (n, d)
    member : bool array of shape (P, n, n)
        Which pairs [p, j, i] to hold.
    """

    def __init__(self, X: Array, member: Array):
        n, parts = len(X), len(member)
        self.X, self.parts = X, parts
        self.own = np.zeros(n, dtype=np.intp)
        self.member = np.zeros_like(member)
        self.at = np.tile(np.arange(n)[:, None], (parts, 1, 1))
        self.mask: Array = np.zeros(self.at.shape)
        self._forget()
        self.add(member)

    def _forget(self) -> None:
        """Drop what was derived from the rows."""
        self._place: IntArray | None = None
        self._columns: IntArray | None = None
        self._equals: list[Equals] | None = None
        self._groups: list[WorkingSet] | None = None

    def split(self, groups: int) -> list[WorkingSet]:
        """Return the rows of each of so many groups of parts: the same objects until rows are added."""
        if self._groups is None:
            self._groups = []
            for at in np.split(np.arange(self.parts), groups):
                one = object.__new__(WorkingSet)
                one.X, one.own, one.parts = self.X, self.own, len(at)
                one.member, one.at, one.mask, one.D = self.member[at], self.at[at], self.mask[at], self.D[at]
                one._forget()
                self._groups.append(one)
        return self._groups

    def add(self, new: Array) -> tuple[IntArray, IntArray, IntArray]:
        """Hold the pairs `new` (bool) as well; return their part, point and slot. Old rows keep their slots."""
        part, j, i = np.nonzero(new & ~self.member)
        P, n, old = self.at.shape
        count = np.bincount(part * n + j, minlength=P * n)
        held = 1 + self.mask.sum(axis=2).astype(np.intp).ravel()
        slot = np.repeat(held - (np.cumsum(count) - count), count) + np.arange(len(i))
        wider = max(0, int((held + count).max()) - old)
        self.at = np.concatenate([self.at, np.tile(np.arange(n)[:, None], (P, 1, wider))], axis=2)
        self.mask = np.concatenate([self.mask, np.zeros((P, n, wider))], axis=2)
        self.at[part, j, slot] = i
        self.mask[part, j, slot] = 1.0
        self.member |= new
        self.D = self.X[self.at] - self.X[:, None, :]
        self._forget()
        return part, j, slot

    def __call__(self, phi: Array, g: Array) -> Array:
        """Evaluate the rows."""
        rows = np.take_along_axis(phi[:, None, :], self.at.reshape(self.parts, 1, -1), axis=2).reshape(self.at.shape)
        rows -= phi[:, :, None]
        rows -= np.matmul(self.D, g[:, :, :, None])[..., 0]
        return rows

    def adjoint(self, Z: Array) -> tuple[Array, Array]:
        """Apply the transposed rows: (Σ_j Z_ji − Σ_j Z_ij for φ, −Σ_i Z_ji (x_i − x_j) for g)."""
        return self._into(Z) - Z.sum(axis=2), -np.matmul(Z[:, :, None, :], self.D)[:, :, 0]

    def _into(self, Z: Array) -> Array:
        n = len(self.X)
        return np.array([np.bincount(at.ravel(), z.ravel(), minlength=n) for at, z in zip(self.at, Z, strict=True)])

    def degree(self, theta: Array) -> Array:
        """Sum of θ over the rows that each point takes part in."""
        return self._into(theta) + theta.sum(axis=2)

    def differences(self, J: slice) -> Array:
        """x_i − x_j for the points j in J, to broadcast against [p, j, k, feature]."""
        return self.D[:, J]

    def _index(self, C: int) -> IntArray:
        """Which variable each column of W belongs to: (n, C)."""
        if self._columns is None:
            P, n, m = self.at.shape
            values = (self.at + n * np.arange(P)[:, None, None]).transpose(1, 0, 2).reshape(n, P * m)
            bounds = np.broadcast_to(P * n + np.arange(C - P * m), (n, C - P * m))
            self._columns = np.hstack([values, bounds])
        return self._columns

    def columns(self, W: Array, v: Array) -> Array:
        """W v, point by point: (n, P d)."""
        return np.matmul(W, v[self._index(W.shape[2])][:, :, None])[:, :, 0]

    def columns_adjoint(self, W: Array, white: Array) -> Array:
        """W' white."""
        P, n, m = self.at.shape
        C = W.shape[2]
        local = np.matmul(white[:, None, :], W)
        return np.bincount(self._index(C).ravel(), local.ravel(), minlength=P * n + C - P * m)

    def reduced(self, W: Array, theta: Array, workers: Workers) -> Array:
        """Return the weighted Laplacian of the rows, less W'W.

        Each point contributes to the entries of its own slots only: the lower triangles of all these small matrices
        are summed into the large one by `bincount`, and mirrored. Points with about as many rows go together, so that
        few slots are empty.
        """
        P, n, m = self.at.shape
        C = W.shape[2]
        N = P * n + C - P * m
        groups = self._groups_of_equals(C)
        local = np.empty(groups[-1].stop)
        fresh = self._place is None
        place = self._place = np.empty(len(local), dtype=np.int64) if self._place is None else self._place

        def small(group: Equals) -> None:
            width, columns = group.width, group.columns
            k, l = group.triangle
            flat = k * len(columns) + l
            out, into = (a[group.start : group.stop].reshape(-1, len(flat)) for a in (local, place))
            step = max(1, CHUNK // len(columns) ** 2)
            for start in range(0, len(group.points), step):
                block = slice(start, start + step)
                points = group.points[block]
                V = W[points][:, :, columns]
                A = np.matmul(V.transpose(0, 2, 1), -V)
                flat_A = A.reshape(len(A), -1)
                for p in range(P):
                    t, own, beyond = theta[p, points, :width], p * width, (p + 1) * width
                    flat_A[:, own * (len(columns) + 1) : beyond * (len(columns) + 1) : len(columns) + 1] += t
                    A[:, own:beyond, own] -= t
                    A[:, own, own] += t.sum(axis=1)
                np.take(flat_A, flat, axis=1, out=out[block], mode="clip")
                if fresh:
                    index = self._index(C)[points][:, columns]
                    np.take(index * N, k, axis=1, out=into[block], mode="clip")
                    into[block] += index[:, l]

        workers.each(small, groups[::-1])  # the widest first
        H = np.bincount(place, local, minlength=N * N).reshape(N, N)
        # An entry may have landed above or below the diagonal: both halves together are the whole.
        diagonal = H[np.arange(N), np.arange(N)].copy()
        H = H + H.T
        H[np.arange(N), np.arange(N)] = diagonal
        return H

    def _groups_of_equals(self, C: int) -> list[Equals]:
        """Points by the number of their slots, a few groups of them."""
        if self._equals is None:
            P, n, m = self.at.shape
            count = 1 + self.mask.sum(axis=2).max(axis=0).astype(np.intp)
            order = np.argsort(count, kind="stable")
            self._equals, start = [], 0
            self._index(C)  # made here, not by a thread
            for points in np.array_split(order, min(GROUPS, 1 + n // SMALLEST_BLOCK)):
                width = int(count[points].max())
                columns = np.concatenate([*(p * m + np.arange(width) for p in range(P)), np.arange(P * m, C)])
                triangle = np.tril_indices(len(columns))
                stop = start + len(points) * len(triangle[0])
                self._equals.append(Equals(points, width, columns, triangle, start, stop))
                start = stop
        return self._equals

    def matrix(self, Z: Array) -> list[csr_array]:
        """Z as one sparse (n, n) array a part."""
        n = len(self.X)
        out = []
        for at, mask, z in zip(self.at, self.mask, Z, strict=True):
            j, k = np.nonzero(mask)
            out.append(csr_array((z[j, k], (j, at[j, k])), shape=(n, n)))
        return out
