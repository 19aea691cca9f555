"""Arithmetic of max-affine functions: every operation is exact, piece by piece; what overflows is refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.max_affine import MaxAffine, real

# Functions with numbers that are not finite are refused, in words; a warning beside that would say nothing more.
quiet = np.errstate(over="ignore", invalid="ignore")


@quiet
def add(f: MaxAffine, g: MaxAffine) -> MaxAffine:
    """Return f + g: max_k a_k + max_l b_l = max_{k,l} (a_k + b_l), so the numbers of pieces multiply."""
    same_domain(f, g)
    slopes = f.slopes[:, None, :] + g.slopes[None, :, :]
    offsets = f.offsets[:, None] + g.offsets[None, :]
    return MaxAffine(slopes.reshape(-1, f.n_features), offsets.ravel())


def maximum(f: MaxAffine, g: MaxAffine) -> MaxAffine:
    """Return the pointwise maximum: the pieces of both."""
    same_domain(f, g)
    return MaxAffine(np.vstack([f.slopes, g.slopes]), np.concatenate([f.offsets, g.offsets]))


@quiet
def scale(f: MaxAffine, factor: float) -> MaxAffine:
    """Return factor × f for a factor that keeps it convex."""
    if not factor >= 0 or not np.isfinite(factor):
        raise ValueError(f"A max-affine function stays convex only under a factor ≥ 0, got {factor}.")
    return MaxAffine(factor * f.slopes, factor * f.offsets)


@quiet
def shift(f: MaxAffine, constant: float) -> MaxAffine:
    """Return f + constant."""
    return MaxAffine(f.slopes, f.offsets + constant)


@quiet
def tilt(f: MaxAffine, slope: ArrayLike) -> MaxAffine:
    """Return x ↦ f(x) + ⟨slope, x⟩."""
    tilted = real(slope, "slope")
    if tilted.shape != (f.n_features,):
        raise ValueError(f"slope must have shape ({f.n_features},), got {tilted.shape}.")
    return MaxAffine(f.slopes + tilted, f.offsets)


@quiet
def compose(f: MaxAffine, matrix: ArrayLike, vector: ArrayLike | None = None) -> MaxAffine:
    """Return x ↦ f(matrix @ x + vector)."""
    M = real(matrix, "matrix")
    if M.ndim != 2 or M.shape[0] != f.n_features:
        raise ValueError(f"matrix must have {f.n_features} rows (one per old variable), got shape {M.shape}.")
    v = np.zeros(f.n_features) if vector is None else real(vector, "vector")
    if v.shape != (f.n_features,):
        raise ValueError(f"vector must have shape ({f.n_features},), got {v.shape}.")
    return MaxAffine(f.slopes @ M, f.offsets + f.slopes @ v)


def same_domain(f: MaxAffine, g: MaxAffine) -> None:
    """Raise unless both functions have the same number of variables."""
    if f.n_features != g.n_features:
        raise ValueError(f"Functions of {f.n_features} and {g.n_features} variables cannot be combined.")
