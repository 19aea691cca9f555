"""L-BFGS for many independent problems at once.

All problems are evaluated together: one product serves the folds, ridges and starts that share the rows. Each has a
step, a memory and a line search of its own; one evaluation moves each of them on by a step or a shorter trial of one.

The direction is −H g with H in the compact form of Byrd, Nocedal and Schnabel (1994): with S and Y the last changes of
x and of the gradient, R the upper triangle of S'Y, D its diagonal and γ = s'y / y'y of the newest pair,

    H g = γ g + S [R⁻ᵀ (D + γ Y'Y) R⁻¹ S'g − γ R⁻ᵀ Y'g] − γ Y R⁻¹ S'g.

So a step reads the memory twice; what it needs of R and Y'Y are differences of S'g and Y'g, which are there already.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pldc.function.max_affine import Array, IntArray

MEMORY = 8
ENOUGH = 1e-4  # share of the predicted decrease that a step has to bring
TRIALS = 10  # of one step, before the memory is given up
FIRST = 0.1  # length of the first step
FLAT = 1e-10  # curvature, relative to the gradient's change, below which a pair teaches nothing
SMALLEST = (
    1e-200  # square of a change of the gradient below which nothing can be learned from it: it may be rounded to zero
)

Function = Callable[[Array], tuple[Array, Array]]


class Memory:
    """The last pairs (s, y) of each problem, in slots of a ring, and their products."""

    def __init__(self, problems: int, size: int, slots: int = MEMORY):
        self.S, self.Y = np.zeros((problems, slots, size)), np.zeros((problems, slots, size))
        self.SY = np.tile(np.eye(slots), (problems, 1, 1))
        self.YY = np.zeros((problems, slots, slots))
        self.newest = np.full(problems, slots - 1)
        self.scale = np.zeros(problems)  # γ; zero: nothing is remembered
        self.slots = slots

    @classmethod
    def of(cls, memories: list[Memory], which: IntArray) -> Memory:
        """Return one whose problem b is that of memory ``which[b]``."""
        out, each = cls(*memories[0].S.shape[::2], memories[0].slots), np.arange(len(which))
        for name in ("S", "Y", "SY", "YY", "newest", "scale"):
            setattr(out, name, np.stack([getattr(memory, name) for memory in memories])[which, each])
        return out

    def products(self, g: Array) -> tuple[Array, Array]:
        """S'g and Y'g."""
        return (self.S @ g[:, :, None])[:, :, 0], (self.Y @ g[:, :, None])[:, :, 0]

    def add(self, which: Array, s: Array, y: Array, g: Array, old: tuple[Array, Array]) -> tuple[Array, Array]:
        """Remember pairs of the problems `which`, and return S'g and Y'g; `old` are those of the last gradient."""
        Sg, Yg = self.products(g)
        Sy, Yy = Sg[which] - old[0][which], Yg[which] - old[1][which]
        sy, yy = (s * y).sum(axis=1), (y * y).sum(axis=1)
        good = (sy > FLAT * yy) & (yy > SMALLEST)
        which, s, y, Sy, Yy, sy, yy = (v[good] for v in (which, s, y, Sy, Yy, sy, yy))
        slot = (self.newest[which] + 1) % self.slots
        rows = np.arange(len(which))
        Sy[rows, slot], Yy[rows, slot] = sy, yy
        self.S[which, slot], self.Y[which, slot] = s, y
        self.SY[which, :, slot] = Sy
        self.YY[which, :, slot] = Yy
        self.YY[which, slot, :] = Yy
        self.newest[which], self.scale[which] = slot, sy / yy
        Sg[which, slot], Yg[which, slot] = (s * g[which]).sum(axis=1), (y * g[which]).sum(axis=1)
        return Sg, Yg

    def forget(self, which: Array) -> None:
        """Forget all pairs of the problems `which`."""
        self.S[which] = self.Y[which] = 0.0
        self.SY[which] = np.eye(self.slots)
        self.YY[which] = self.scale[which] = 0.0

    def direction(self, g: Array, Sg: Array, Yg: Array) -> Array:
        """−H g; a short step down the gradient where nothing is remembered."""
        none = self.scale == 0
        steep = np.sqrt((g * g).sum(axis=1))
        gamma = np.where(none, FIRST / np.maximum(steep, np.finfo(float).tiny), self.scale)
        # R is upper triangular with the oldest first; the slots of a ring are the same rows and columns in another
        # order. Empty ones are unit rows, and take no part.
        age = (np.arange(self.slots) - self.newest[:, None] - 1) % self.slots
        R = np.where(age[:, :, None] <= age[:, None, :], self.SY, 0.0)
        u = np.linalg.solve(R, Sg[:, :, None])[:, :, 0]
        D = np.diagonal(R, axis1=1, axis2=2)
        inner = D * u + gamma[:, None] * ((self.YY @ u[:, :, None])[:, :, 0] - Yg)
        v = np.linalg.solve(R.transpose(0, 2, 1), inner[:, :, None])[:, :, 0]
        Hg = gamma[:, None] * g
        Hg += (v[:, None, :] @ self.S)[:, 0]
        Hg -= ((gamma[:, None] * u)[:, None, :] @ self.Y)[:, 0]
        return -Hg


class Descent:
    """Descents of many problems that are told values and gradients: whoever evaluates them may be anywhere.

    Parameters
    ----------
    x : array of shape (B, P)
        Where to begin, one point a problem.
    memory : Memory, optional
        Of a descent on a function much like this one, to go on with; it is changed.

    Attributes
    ----------
    x, f : arrays
        The best points so far, and their values.
    there : array of shape (B, P)
        The points to evaluate next.
    """

    def __init__(self, x: Array, memory: Memory | None = None):
        self.x = self.there = x.copy()
        self.f = self.g = np.zeros(0)
        self.memory = Memory(*x.shape) if memory is None else memory
        self.length, self.trials = np.ones(len(x)), np.zeros(len(x), dtype=int)

    def tell(self, value: Array, gradient: Array) -> None:
        """Take the values (B,) and gradients (B, P) of the points `there`, and move on."""
        if not len(self.f):
            self.f, self.g = value.copy(), gradient.copy()
            self.Sg, self.Yg = self.memory.products(self.g)
            self.d = self.memory.direction(self.g, self.Sg, self.Yg)
            self.slope = (self.g * self.d).sum(axis=1)
        else:
            self._step(value, gradient)
        self.there = self.x + self.length[:, None] * self.d

    def _step(self, value: Array, gradient: Array) -> None:
        length, slope = self.length, self.slope
        with np.errstate(invalid="ignore"):
            down = value <= self.f + ENOUGH * length * slope
        self.trials = np.where(down, 0, self.trials + 1)
        # Where the step was too long: the minimum of the parabola through what is known, within limits.
        with np.errstate(all="ignore"):
            parabola = -slope * length**2 / (2.0 * (value - self.f - length * slope))
        shorter = np.clip(np.nan_to_num(parabola, nan=0.0), 0.1 * length, 0.5 * length)
        stuck = self.trials > TRIALS
        moved = np.flatnonzero(down)
        if len(moved):
            s, y = self.there[moved] - self.x[moved], gradient[moved] - self.g[moved]
            self.x[moved], self.f[moved], self.g[moved] = self.there[moved], value[moved], gradient[moved]
            self.Sg, self.Yg = self.memory.add(moved, s, y, self.g, (self.Sg, self.Yg))
        if stuck.any():
            self.memory.forget(np.flatnonzero(stuck))
            self.Sg[stuck] = self.Yg[stuck] = 0.0
            self.trials[stuck] = 0
        renew = down | stuck
        if renew.any():
            fresh = self.memory.direction(self.g, self.Sg, self.Yg)
            uphill = ~((self.g * fresh).sum(axis=1) < 0)
            fresh[uphill] = -self.g[uphill]
            self.d = np.where(renew[:, None], fresh, self.d)
            self.slope = (self.g * self.d).sum(axis=1)
        self.length = np.where(renew, 1.0, shorter)


def minimise(
    function: Function,
    x: Array,
    steps: int,
    stop: Callable[[], bool] | None = None,
    memory: Memory | None = None,
) -> tuple[Array, Array]:
    """Return the best points found by `steps` evaluations, and their values.

    Parameters
    ----------
    function : callable
        Points (B, P), one a problem, to values (B,) and gradients (B, P).
    x : array of shape (B, P)
    steps : int
    stop : callable, optional
        Asked before every evaluation; true ends the descent where it is.
    memory : Memory, optional
        Of a descent on a function much like this one, to go on with; it is changed.
    """
    descent = Descent(x, memory)
    descent.tell(*function(descent.there))
    for _ in range(steps):
        if stop is not None and stop():
            break
        descent.tell(*function(descent.there))
    return descent.x, descent.f
