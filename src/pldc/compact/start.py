"""Where a descent begins: tangent planes of a parabola on top of a straight line, and the knots of hinges."""

from __future__ import annotations

from typing import Any

import numpy as np

from pldc.function.hinges import Hinges
from pldc.function.max_affine import Array

RIDGE = 1e-3  # of the straight line
NOISE = 0.1  # of the slopes of the pieces, in units of the parabola's: no two pieces begin as one
STEEP = 4.0  # of the logarithm of odds, at even odds
RARE = 1e-3  # share of a class that is not there
CENTRES_ROWS = 2000  # rows that centres are drawn from, at most


def straight_line(F: Array, y: Array, weight: Array, ridge: float = RIDGE) -> tuple[Array, float]:
    """Slope and intercept of ridge regression on the columns F."""
    center, level = weight @ F, weight @ y
    root = np.sqrt(weight)[:, None]
    Z, t = root * (F - center), root[:, 0] * (y - level)
    if Z.shape[1] > len(Z):  # as many unknowns as rows, not as columns
        slope = Z.T @ np.linalg.solve(Z @ Z.T + ridge * np.eye(len(Z)), t)
    else:
        slope = np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T @ t)
    return slope, float(level - center @ slope)


def spread_out(Z: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw `count` rows of Z as k-means++ does, each with a chance that grows with its distance from those before."""
    if len(Z) > CENTRES_ROWS:
        Z = Z[rng.choice(len(Z), CENTRES_ROWS, replace=False)]
    chosen = [int(rng.integers(len(Z)))]
    norm = np.einsum("nd,nd->n", Z, Z)
    far = np.full(len(Z), np.inf)
    for _ in range(count - 1):
        last = Z[chosen[-1]]
        far = np.minimum(far, np.maximum(norm - 2 * (Z @ last) + last @ last, 0.0))
        mass = np.cumsum(far)
        at = np.searchsorted(mass, rng.random() * mass[-1]) if mass[-1] > 0 else rng.integers(len(Z))
        chosen.append(min(int(at), len(Z) - 1))
    return Z[chosen]


def tangent_planes(F: Array, y: Array, weight: Array, signs: tuple[float, ...], count: int, seed: Any) -> Array:
    """Return pieces (parts, count, D + 1): tangents of a parabola in each part, and the straight line shared out.

    The parabola is as steep as the residuals of the line are large; taken away from each other, the parts leave the
    line, and bend it where their centres differ.
    """
    rng = np.random.default_rng(seed)
    slope, level = straight_line(F, y, weight)
    center = weight @ F
    Z = F - center
    size = float(weight @ np.abs(Z).sum(axis=1))
    steep = float(np.sqrt(weight @ (y - F @ slope - level) ** 2)) / size if size > 0 else 0.0
    rows = Z[weight > 0]
    out = np.empty((len(signs), count, F.shape[1] + 1))
    for part, sign in enumerate(signs):
        C = spread_out(rows, count, rng)
        bent = steep * (C + NOISE * rng.standard_normal(C.shape) * np.sqrt(np.mean(rows**2)))
        out[part, :, :-1] = bent + sign * slope / len(signs)
        out[part, :, -1] = -0.5 * steep * (C**2).sum(axis=1) - bent @ center + sign * level / len(signs)
    return out


def class_planes(
    F: Array, y: Array, weight: Array, signs: tuple[float, ...], outputs: int, count: int, seed: Any
) -> Array:
    """Return pieces (all parts, count, D + 1) for the scores of classes: tangents as for targets of a linear score.

    The targets are the logarithm of the share of the class, or its odds where one score stands for two classes, and
    STEEP times how far a row is from that share: the slope that the logarithm of even odds has in the probability.
    `y` are labels (n,), or the probabilities of all classes (n, m).
    """
    parts = []
    for k in range(outputs):
        label = k if outputs > 1 else 1
        own = y[:, label] if y.ndim == 2 else (y == label).astype(np.float64)
        share = float(weight @ own)
        level = np.log((share + RARE) / (1.0 - share + RARE if outputs == 1 else 1.0))
        mine = signs[: len(signs) // outputs]
        parts.append(tangent_planes(F, level + STEEP * (own - share), weight, mine, count, [*seed, k]))
    return np.concatenate(parts)


def apart(levels: Array, spread: float) -> Array:
    """Drop levels that differ from the one below by rounding alone, such as cosines of two days of the week."""
    close = 1e-12 * np.abs(levels[1:]) + 1e-13 * spread
    return levels[np.append(True, np.diff(levels) > close)] if len(levels) > 1 else levels


def deviation(x: Array) -> float:
    """Return the standard deviation of numbers of any size: squares of large ones would be beyond all floats."""
    size = float(np.abs(x).max()) or 1.0
    return float(np.std(x / size)) * size


def quantile_knots(X: Array, count: int, seed: Any) -> Hinges:
    """Return hinges at so many quantiles of each feature, moved a little at random; at its levels, where these are few.

    A feature of two levels, or one, gets none.
    """
    rng = None if seed is None else np.random.default_rng(seed)
    knots = []
    for x in X.T:
        spread = deviation(x)
        levels = apart(np.unique(x), spread)
        at = np.linspace(0.0, 1.0, count + 1)
        if rng is not None:
            at[1:-1] += (rng.random(count - 1) - 0.5) / count
        if len(levels) <= 2:
            levels = levels[:0]
        elif len(levels) > count + 1:
            levels = apart(np.unique(np.quantile(x, at)), spread)
        knots.append(levels if len(levels) > 1 and (np.diff(levels) > 0).all() else levels[:0])
    return Hinges(knots)
