"""What a compact fit minimises, for many fits at once over the same rows.

    Σ_i w_i ℓ(f(x_i), y_i) + (ρ/K) Σ_k ‖a_k‖² + ‖b_k‖²,      f = max_k ⟨a_k, φ(x)⟩ + α_k − max_k ⟨b_k, φ(x)⟩ + β_k

Rows and fits are cut into tiles: a tile is two products and a maximum, on a thread of its own. Layout: S[fit, part,
piece, row], so that the maximum over pieces runs along contiguous rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.problem.losses import Loss

TILE = 1 << 18  # numbers of S in a tile: one or two megabytes
ALONE = 1 << 21  # numbers of S up to which one thread is as fast as two: they would wait for each other
PARTS = {"dc": (1.0, -1.0), "convex": (1.0,), "concave": (-1.0,)}


@dataclass(frozen=True)
class Form:
    """How the parameters θ of a fit become pieces.

    Attributes
    ----------
    signs : tuple of float
        Of the parts: (1, −1), or one of them.
    turn : array of shape (B, D, D), or None
        Coordinates in which slopes are penalised: the slope along the columns is ``turn @ slope``.
    monotone : int array of shape (D,), or None
        Sign of the slope of f along each column, 0 for any. Where it is given, θ is the root of the slope.
    """

    signs: tuple[float, ...]
    turn: Array | None = None
    monotone: IntArray | None = None

    def slopes(self, theta: Array) -> Array:
        """Penalised slopes (B, parts, K, D) of θ (B, parts, K, D + 1)."""
        a = theta[..., :-1]
        if self.monotone is None or not self.monotone.any():
            return a
        side = np.array(self.signs)[:, None, None] * self.monotone
        return np.where(self.monotone == 0, a, side * a**2)

    def pieces(self, theta: Array) -> Array:
        """Slopes along the columns, and offsets: (B, parts, K, D + 1)."""
        a = self.slopes(theta)
        if self.turn is not None:
            a = a @ self.turn[:, None].swapaxes(-1, -2)
        return np.concatenate([a, theta[..., -1:]], axis=-1)

    def back(self, theta: Array, gradient: Array, ridge: Array) -> Array:
        """Turn the gradient along the pieces, and that of ridge · ‖slopes‖², into that along θ."""
        g = gradient[..., :-1]
        if self.turn is not None:
            g = g @ self.turn[:, None]
        g = g + 2.0 * ridge[:, None, None, None] * self.slopes(theta)
        if self.monotone is not None and self.monotone.any():
            side = np.array(self.signs)[:, None, None] * self.monotone
            g = np.where(self.monotone == 0, g, 2.0 * side * theta[..., :-1] * g)
        return np.concatenate([g, gradient[..., -1:]], axis=-1)

    def at(self, which: Any) -> Form:
        """Return the form of some of the fits."""
        return self if self.turn is None else Form(self.signs, self.turn[which], self.monotone)


class Scratch(threading.local):
    """Arrays that are used again for every tile, each thread its own: fresh memory costs more than what is done in it.

    Where memory is given back at once, as in the workers of Dask, products took 2.6 times as long without.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return an array; what it holds is left over from before."""
        size = prod(shape)
        if name not in self.arrays or len(self.arrays[name]) < size or self.arrays[name].dtype != dtype:
            self.arrays[name] = np.empty(size, dtype)
        return self.arrays[name][:size].reshape(shape)


class Table:
    """Rows as the products want them: columns φ(x) and a one, cut into blocks of rows, one column a row.

    Parameters
    ----------
    make : callable
        Rows (a slice of places) and a dtype to columns and a one, (size, rows); into the array `out`, if it is given.
    size : int
        Columns and the one.
    n : int
        Number of rows.
    dtype : numpy dtype
    keep : bool
        Hold all columns, instead of making them anew for every product.
    block : int
        Rows of a block.

    Attributes
    ----------
    tile : int
        Numbers of S in a tile.
    """

    tile = TILE

    def __init__(self, make: Callable[..., Array], size: int, n: int, dtype: Any, keep: bool, block: int):
        self.rows = [slice(start, min(start + block, n)) for start in range(0, n, block)]
        self.make, self.size, self.n, self.dtype = make, size, n, dtype
        self.scratch = Scratch()
        self.kept = [self.columns(rows) for rows in self.rows] if keep else None

    def columns(self, rows: slice) -> Any:
        """Columns and ones of some rows, shape (D + 1, rows)."""
        return self.make(rows, self.dtype)

    def block(self, k: int) -> Any:
        """Columns and ones of block k; where they are not kept, until the next one is asked for."""
        if self.kept:
            return self.kept[k]
        rows = self.rows[k]
        return self.make(rows, self.dtype, out=self.scratch("phi", (self.size, rows.stop - rows.start), self.dtype))

    def highest(self, pieces: Array, k: int) -> tuple[Array, Any]:
        """Return the highest pieces of each part in block k, (fits, parts, rows), and what `pulled` needs."""
        phi = self.block(k)
        S = self.scratch("S", (*pieces.shape[:3], phi.shape[1]), phi.dtype)
        np.matmul(pieces.reshape(-1, self.size), phi, out=S.reshape(-1, phi.shape[1]))
        top = S.max(axis=2)
        return top, (S, top, phi)

    def pulled(self, pull: Array, state: Any) -> Array:
        """Return the gradient along the pieces where that along the highest ones is `pull`; the state is used up."""
        S, top, phi = state
        active = self.scratch("active", S.shape, bool)
        np.equal(top[:, :, None], S, out=active)  # pieces that tie, as almost none do, are all counted
        np.multiply(active, pull[:, :, None], out=S)
        gradient = S.reshape(-1, S.shape[-1]) @ phi.T
        return np.asarray(gradient.reshape(*S.shape[:3], self.size))


@dataclass(frozen=True)
class Objective:
    """Loss and ridge of B fits over the rows of a table.

    Attributes
    ----------
    table : Table
    y : array of shape (n,)
    weight : array of shape (groups, n)
        Rows of weight zero are left out; each sums to one.
    group : int array of shape (B,)
        Which weights each fit has.
    loss : Loss
    ridge : array of shape (B,)
        ρ.
    form : Form
    pieces : int
        K.
    pool : ThreadPoolExecutor or None
    outputs : int
        Functions of a fit: scores of classes, whose parts follow each other in `form.signs`; else one.
    """

    table: Table
    y: Array
    weight: Array
    group: IntArray
    loss: Loss
    ridge: Array
    form: Form
    pieces: int
    pool: ThreadPoolExecutor | None = None
    outputs: int = 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Parts, pieces and parameters of a piece."""
        return len(self.form.signs), self.pieces, self.table.size

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Values (B,) and gradients (B, P) at parameters (B, P)."""
        theta = x.reshape(len(x), *self.shape)
        pieces = self.form.pieces(theta).astype(self.table.dtype)
        value, gradient = np.zeros(len(x)), np.zeros(pieces.shape)
        for fits, loss, slope in self._over_tiles(partial(self._tile, pieces)):
            value[fits] += loss
            gradient[fits] += slope
        ridge = self.ridge / self.pieces
        value += ridge * (self.form.slopes(theta) ** 2).sum(axis=(1, 2, 3))
        return value, self.form.back(theta, gradient, ridge).reshape(x.shape)

    def values(self, x: Array) -> Array:
        """F at all rows, (B, n), or (B, outputs, n) of scores."""
        theta = x.reshape(len(x), *self.shape)
        pieces = self.form.pieces(theta).astype(self.table.dtype)
        shape = (len(x), self.outputs, self.table.n) if self.loss.scores else (len(x), self.table.n)
        out = np.empty(shape, dtype=self.table.dtype)
        for fits, rows, f in self._over_tiles(
            lambda tile: (tile[0], self.table.rows[tile[1]], self._f(pieces, *tile)[0])
        ):
            out[fits, ..., rows] = f
        return out

    def _over_tiles(self, work: Callable[[tuple[slice, int]], Any]) -> Any:
        """Do the work of each tile, in the order of tiles whatever the number of threads: sums are the same."""
        across = int(np.prod(self.shape[:2]))
        rows = self.table.rows[0].stop
        step = max(1, self.table.tile // (across * rows))
        total = len(self.group)
        tiles = [
            (slice(b, min(b + step, total)), k) for k in range(len(self.table.rows)) for b in range(0, total, step)
        ]
        if self.pool is None or total * across * self.table.n <= ALONE:
            return map(work, tiles)
        return self.pool.map(work, tiles)

    def _f(self, pieces: Array, fits: slice, k: int) -> tuple[Array, Any]:
        top, state = self.table.highest(pieces[fits], k)
        signed = np.array(self.form.signs, dtype=top.dtype)[:, None] * top
        if self.loss.scores:
            signed = signed.reshape(len(top), self.outputs, -1, top.shape[-1]).swapaxes(1, 2)
        return signed.sum(axis=1), state

    def _tile(self, pieces: Array, tile: tuple[slice, int]) -> tuple[slice, Array, Array]:
        fits, k = tile
        f, state = self._f(pieces, fits, k)
        rows = self.table.rows[k]
        w = self.weight[self.group[fits], rows]
        value, gradient = self.loss.both(f, self.y[rows])
        loss = np.einsum("bn,bn->b", w, value)
        slope = (w[:, None] * gradient.reshape(len(w), self.outputs, -1)).astype(f.dtype)
        parts = len(self.form.signs) // self.outputs
        pull = np.array(self.form.signs, dtype=f.dtype)[:, None] * np.repeat(slope, parts, axis=1)
        return fits, loss, self.table.pulled(pull, state)

    def gradients(self, x: Array, fit: int, phi: Array) -> Array:
        """∇f of one fit along the columns at rows φ, (D + 1, rows): (outputs, rows, D)."""
        theta = x.reshape(len(x), *self.shape)[[fit]]
        pieces = self.form.at([fit]).pieces(theta)[0]
        S = pieces.astype(phi.dtype).reshape(-1, pieces.shape[-1]) @ phi
        best = S.reshape(*pieces.shape[:2], -1).argmax(axis=1)
        slopes = np.array([s * part[at, :-1] for s, part, at in zip(self.form.signs, pieces, best, strict=True)])
        return np.asarray(slopes.reshape(self.outputs, -1, *slopes.shape[1:]).sum(axis=1))
