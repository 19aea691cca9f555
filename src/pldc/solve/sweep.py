"""The hot pass of the quick engine: all pairs of points, once an iteration, on threads, without an n × n array.

The two-block ADMM keeps, for every pair row R_ji = φ_i − φ_j − ⟨g_j, x_i − x_j⟩ ≥ 0, one number W: its slack is
max(W, 0), its scaled multiplier M = min(W, 0), and over-relaxation by α makes it

    W ← W + α (R − max(W, 0)) = (1 − α) W + α M + α R.

The rows are linear in (φ, g) and few multipliers are not zero, so W splits for good into

    W = rows(Φ, G) + S,     (Φ, G) ← (1 − α)(Φ, G) + α (φ, g),     S ← (1 − α) S + α M,

a part of rank d + 2 and a sparse one. A pass multiplies two narrow matrices a block of rows at a time, adds S, and
looks for negative entries; nothing of size n² is ever stored. What the next least-squares step should make of the rows
is |W| = rows(Φ, G) + T with the sparse T = S − 2M.

Each pair costs 2 (d + 2) flops and one comparison; the block stays in the cache, so memory traffic is negligible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pldc.function.device import torch_on
from pldc.function.max_affine import Array, IntArray
from pldc.solve.workers import Workers

BLOCK_BYTES = 1 << 21  # fewer, larger blocks: every call hands the interpreter lock from one thread to the other
DEVICE_BYTES = 1 << 26
DENSE_NUMBERS = 500_000  # numbers W of all parts up to which they are held as they are
DENSE = 500  # points up to which T is handed over as a dense array: one of these sizes costs less than a sparse one
FORGET = 1e-9  # of the largest entry of W: what is left of an old multiplier below this is dropped


@dataclass
class Entries:
    """The sparse part of W for one part: sorted flat indices j · n + i, and S and M there."""

    index: IntArray
    S: Array
    M: Array


class Sweep:
    """The numbers W of all parts, and the pass over them.

    Parameters
    ----------
    X : array of shape (n, d)
        Centred points.
    parts : int
    workers : Workers
    dtype : numpy dtype
        float64 or float32, for the product.
    """

    def __init__(self, X: Array, parts: int, workers: Workers, dtype: Any = np.float64):
        n, d = X.shape
        self.X, self.workers, self.dtype = X, workers, np.dtype(dtype)
        self.Phi, self.G = np.zeros((parts, n)), np.zeros((parts, n, d))
        none = np.empty(0)
        self.entries = [Entries(np.empty(0, dtype=np.int64), none, none) for _ in range(parts)]
        self.rows = max(8, BLOCK_BYTES // (n * self.dtype.itemsize))

    def advance(self, phi: Array, g: Array, relax: float) -> None:
        """Make the pass for values φ (P, n) and slopes g (P, n, d), over-relaxed by α = `relax`."""
        self.Phi = (1.0 - relax) * self.Phi + relax * phi
        self.G = (1.0 - relax) * self.G + relax * g
        left, right = factors(self.X, self.Phi, self.G)
        for e in self.entries:
            e.S = (1.0 - relax) * e.S + relax * e.M
        size = max((float(np.abs(e.S).max(initial=0.0)) for e in self.entries), default=0.0)
        forget = FORGET * max(size, float(np.abs(self.Phi).max()))
        self.entries = self._negatives(left, right, forget)

    def _negatives(self, left: Array, right: Array, forget: float) -> list[Entries]:
        """Multiply, add S, and find the negative entries: the new sparse parts."""
        P, n = left.shape[:2]
        left, right = left.astype(self.dtype, copy=False), right.astype(self.dtype, copy=False)

        def work(J: slice) -> list[list[tuple[IntArray, Array, Array]]]:
            R = np.empty((min(self.rows, J.stop - J.start), n), dtype=self.dtype)
            found: list[list[tuple[IntArray, Array, Array]]] = [[] for _ in range(P)]
            for start in range(J.start, J.stop, self.rows):
                stop = min(start + self.rows, J.stop)
                W = R[: stop - start]
                flat = W.reshape(-1)
                for p, e in enumerate(self.entries):
                    np.matmul(left[p, start:stop], right[p], out=W)
                    lo, hi = np.searchsorted(e.index, (start * n, stop * n))
                    old, S = e.index[lo:hi] - start * n, e.S[lo:hi]
                    flat[old] += S
                    flat[start :: n + 1] = 0.0  # a point and itself
                    mark = flat < 0
                    mark[old[np.abs(S) > forget]] = True
                    new = np.flatnonzero(mark)
                    kept = mark[old]
                    mark[:] = False
                    mark[old[kept]] = True
                    still = np.zeros(len(new))
                    still[mark[new]] = S[kept]
                    found[p].append((new + start * n, still, np.minimum(flat[new], 0.0)))
            return found

        blocks = self.workers.over_blocks(work, n)
        merged = [[triple for found in blocks for triple in found[p]] for p in range(P)]
        return [Entries(*(np.concatenate(arrays) for arrays in zip(*m, strict=True))) for m in merged]

    def restart(self, p: int, M: csr_array) -> None:
        """Begin part p at rows(Φ, G) with the scaled multipliers M ≤ 0, sorted by row and column."""
        j = np.repeat(np.arange(len(self.X)), np.diff(M.indptr))
        keep = (M.data < 0) & (j != M.indices)
        index = (j * len(self.X) + M.indices)[keep]
        order = np.argsort(index)
        self.entries[p] = Entries(index[order], M.data[keep][order], M.data[keep][order])

    def scale_multipliers(self, factor: float) -> None:
        """Multiply the scaled multipliers by `factor`: when the penalty parameter changes, they do."""
        for e in self.entries:
            e.S = e.S + (factor - 1.0) * e.M
            e.M = factor * e.M

    def targets(self) -> list[csr_array | Array]:
        """T = |W| − rows(Φ, G), part by part; sparse where there are many points."""
        return [self._target(e) for e in self.entries]

    def _target(self, e: Entries) -> csr_array | Array:
        n = len(self.X)
        if n > DENSE:
            return self._sparse(e.index, e.S - 2.0 * e.M)
        T = np.zeros(n * n)
        T[e.index] = e.S - 2.0 * e.M
        return T.reshape(n, n)

    def multipliers(self, p: int) -> csr_array:
        """−M of part p."""
        e = self.entries[p]
        active = e.M < 0
        return self._sparse(e.index[active], -e.M[active])

    def _sparse(self, index: IntArray, values: Array) -> csr_array:
        n = len(self.X)
        start = np.searchsorted(index, n * np.arange(n + 1))
        i = index - np.repeat(n * np.arange(n), np.diff(start))
        return csr_array((values, i, start), shape=(n, n))


class DenseSweep:
    """The same pass on whole arrays, for few points: there is less to compute than to look for."""

    def __init__(self, X: Array, parts: int):
        n, d = X.shape
        self.X = X
        self.Phi, self.G = np.zeros((parts, n)), np.zeros((parts, n, d))
        self.S, self.M, self.work = (np.zeros((parts, n, n)) for _ in range(3))
        self.diagonal = np.arange(n)

    def advance(self, phi: Array, g: Array, relax: float) -> None:
        """Make the pass for values φ (P, n) and slopes g (P, n, d), over-relaxed by α = `relax`."""
        self.Phi = (1.0 - relax) * self.Phi + relax * phi
        self.G = (1.0 - relax) * self.G + relax * g
        left, right = factors(self.X, self.Phi, self.G)
        self.S *= 1.0 - relax
        self.S += np.multiply(self.M, relax, out=self.work)
        W = np.matmul(left, right, out=self.work)
        W[:, self.diagonal, self.diagonal] = 0.0  # a point and itself
        W += self.S
        np.minimum(W, 0.0, out=self.M)

    def restart(self, p: int, M: csr_array) -> None:
        """Begin part p at rows(Φ, G) with the scaled multipliers M ≤ 0."""
        self.S[p] = np.minimum(M.toarray(), 0.0)
        self.S[p, self.diagonal, self.diagonal] = 0.0
        self.M[p] = self.S[p]

    def scale_multipliers(self, factor: float) -> None:
        """Multiply the scaled multipliers by `factor`: when the penalty parameter changes, they do."""
        self.S = self.S + (factor - 1.0) * self.M
        self.M = factor * self.M

    def targets(self) -> Array:
        """T = |W| − rows(Φ, G) of all parts: (P, n, n), in an array that the next call and pass write over."""
        T = np.multiply(self.M, -2.0, out=self.work)
        T += self.S
        return T

    def multipliers(self, p: int) -> csr_array:
        """−M of part p."""
        return csr_array(-self.M[p])


class TorchSweep(Sweep):
    """The same pass on a torch device; what is sparse stays on the host.

    Parameters
    ----------
    X, parts, workers, dtype
        As for :class:`Sweep`.
    device : str
        Such as "cuda" or "cpu".
    """

    def __init__(self, X: Array, parts: int, workers: Workers, dtype: Any, device: str):
        super().__init__(X, parts, workers, dtype)
        self.torch, self.device = torch_on(device)
        self.rows = max(8, DEVICE_BYTES // (len(X) * self.dtype.itemsize))

    def _negatives(self, left: Array, right: Array, forget: float) -> list[Entries]:
        torch, n = self.torch, left.shape[1]

        def put(a: Array) -> Any:
            return torch.from_numpy(np.ascontiguousarray(a)).to(self.device)

        result = []
        for p, e in enumerate(self.entries):
            L, R = put(left[p].astype(self.dtype)), put(right[p].astype(self.dtype))
            index, S = put(e.index), put(e.S.astype(self.dtype))
            stops = np.searchsorted(e.index, n * np.minimum(np.arange(0, n + self.rows, self.rows), n))
            found = []
            for block, start in enumerate(range(0, n, self.rows)):
                old, value = index[stops[block] : stops[block + 1]] - start * n, S[stops[block] : stops[block + 1]]
                flat = (L[start : start + self.rows] @ R).reshape(-1)
                flat[old] += value
                flat[start :: n + 1] = 0.0
                mark = flat < 0
                mark[old[value.abs() > forget]] = True
                new = mark.nonzero()[:, 0]
                kept = mark[old]
                mark[:] = False
                mark[old[kept]] = True
                still = torch.zeros(len(new), dtype=value.dtype, device=self.device)
                still[mark[new]] = value[kept]
                found.append((new + start * n, still, flat[new].clamp(max=0.0)))
            parts = (torch.cat(arrays).cpu().numpy() for arrays in zip(*found, strict=True))
            result.append(Entries(*(a if a.dtype == np.int64 else a.astype(np.float64) for a in parts)))
        return result


def factors(X: Array, Phi: Array, G: Array) -> tuple[Array, Array]:
    """Return two narrow matrices a part, (P, n, d + 2) and (P, d + 2, n), whose product is rows(Φ, G)."""
    P, n, d = G.shape
    left = np.empty((P, n, d + 2))
    left[:, :, :d] = -G
    left[:, :, d] = 1.0
    left[:, :, d + 1] = np.einsum("pjk,jk->pj", G, X) - Phi
    right = np.empty((P, d + 2, n))
    right[:, :d] = X.T
    right[:, d] = Phi
    right[:, d + 1] = 1.0
    return left, right


def make_sweep(X: Array, parts: int, workers: Workers, dtype: Any, device: str | None) -> Sweep | DenseSweep:
    """Return the pass for so many points, on the device asked for."""
    if device is not None:
        return TorchSweep(X, parts, workers, dtype, device)
    if parts * len(X) ** 2 <= DENSE_NUMBERS and np.dtype(dtype) == np.float64:
        return DenseSweep(X, parts)
    return Sweep(X, parts, workers, dtype)
