"""Upper bounds on the DC seminorm that given pairs of max-affine functions, of features or of curves, prove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from pldc.function.checks import shown
from pldc.function.linear_programs import deepest_point
from pldc.function.max_affine import Array, MaxAffine

Norm = Literal["joint", "componentwise"]
FEASIBLE = 1e-9


def bound_over_all_pairs(plus: MaxAffine, minus: MaxAffine, norm: Norm) -> float:
    """Bound the seminorm by the largest slope of each part, whether or not they ever meet.

    joint: max_k ‖a_k‖₁ + max_l ‖b_l‖₁; componentwise: the same for each coordinate, summed.
    """
    A, B = _sizes(plus, norm), _sizes(minus, norm)
    return float((A.max(axis=0) + B.max(axis=0)).sum())


def bound_over_active_pairs(plus: MaxAffine, minus: MaxAffine, norm: Norm) -> float:
    """Bound the seminorm by pairs of pieces that are active together at some point of space.

    Pairs are tried from the largest sum downwards, each by one LP, so usually few are needed.
    """
    A, B = _sizes(plus, norm), _sizes(minus, norm)
    known: dict[tuple[int, int], bool] = {}

    def meet(k: int, l: int) -> bool:
        if (k, l) not in known:
            known[k, l] = _active_together(plus, minus, k, l)
        return known[k, l]

    total = 0.0
    for a, b in zip(A.T, B.T, strict=True):
        sums = a[:, None] + b[None, :]
        for flat in np.argsort(-sums, axis=None, kind="stable"):
            k, l = divmod(int(flat), len(b))
            if meet(k, l):
                total += float(sums[k, l])
                break
        else:  # some pair is active at every point: if rounding hides them all, fall back to the bound over all pairs
            total += float(sums.max())
    return total


def bound_of_curves(plus: Sequence[Array], minus: Sequence[Array], norm: Norm) -> float:
    """Bound the seminorm of pieces that are sums of curves, given by their slopes (pieces, cells) along each feature.

    Every curve of a piece becomes convex when the convex curve is added whose bends are the largest of all pieces at
    each knot; added to both parts, f is unchanged. The slopes of what is added are at most half the sum of its bends,
    so the bound is Σ_j P_j + M_j + Σ of the bends of feature j, P_j and M_j the largest slopes of the parts. It is the
    same for both norms.
    """
    _check(norm)
    total = 0.0
    for up, down in zip(plus, minus, strict=True):
        bends = np.maximum(-np.diff(np.vstack([up, down]), axis=1), 0.0).max(axis=0, initial=0.0)
        total += float(np.abs(up).max() + np.abs(down).max() + bends.sum())
    return total


def _check(norm: Norm) -> None:
    if not (isinstance(norm, str) and norm in get_args(Norm)):
        raise ValueError(f"norm must be one of {get_args(Norm)}, got {shown(norm)}.")


def _sizes(f: MaxAffine, norm: Norm) -> Array:
    """One column a term of the seminorm: (k, 1) for joint, (k, d) for componentwise."""
    _check(norm)
    sizes = np.abs(f.slopes)
    return sizes.sum(axis=1, keepdims=True) if norm == "joint" else sizes


def _active_together(plus: MaxAffine, minus: MaxAffine, k: int, l: int) -> bool:
    """Whether piece k of `plus` and piece l of `minus` attain their maxima at a common point."""
    A = np.vstack([plus.slopes[k] - plus.slopes, minus.slopes[l] - minus.slopes])
    b = np.concatenate([plus.offsets[k] - plus.offsets, minus.offsets[l] - minus.offsets])
    keep = (A != 0).any(axis=1) | (b != 0)
    A, b = A[keep], b[keep]
    if len(b) == 0:
        return True
    # x ↦ x · (scale of b / scale of A) makes both of order one without changing which pairs meet.
    A = A / max(np.abs(A).max(), np.finfo(float).tiny)
    b = b / max(np.abs(b).max(), np.finfo(float).tiny)
    found = deepest_point(A, b)
    return found is None or found[0] >= -FEASIBLE  # in doubt they meet: the bound stays a bound
