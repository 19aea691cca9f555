"""Means of the target in the levels of a category, drawn towards the mean of all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pldc.columns.features import Array


def codes_of(cells: Array, levels: list[str]) -> Array:
    """Return the place of each level, −2 where the cell is missing, −1 for a level that is not known."""
    places: dict[str | None, int] = {level: k for k, level in enumerate(levels)}
    places[None] = -2
    return np.array([places.get(cell, -1) for cell in cells], dtype=np.intp)


def level_means(
    codes: Array, label: Array, values: Array, weight: Array, n_levels: int, towards: Array | None = None
) -> Array:
    """Return the mean targets (n_levels + 2, m) in each level, among missing cells and, last, of an unknown level.

    Each mean is drawn towards that of all rows, or what stands for it, as far as the means of levels differ by chance:
    with the variance s² within levels and t² between them, both estimated, a level of n rows keeps the share
    n t² / (n t² + s²). A weight is a number of rows. The order of the rows does not change a bit.

    Parameters
    ----------
    codes : int array of shape (n,)
        The level of each row; −2 where it is missing.
    label : int array of shape (n,)
        The row of `values` that has its targets.
    values : array of shape (u, m)
    weight : array of shape (n,)
    n_levels : int
    towards : array of shape (m,), optional
        What means are drawn towards. The rows of different folds must be drawn towards one number: the means of what
        is left of all rows differ, and would tell which fold a row is in, and so on which side its own target lies.
    """
    here = weight > 0
    if not here.any():
        return np.zeros((n_levels + 2, values.shape[1])) + (0.0 if towards is None else towards)
    codes, label, weight = merged(codes[here], label[here], weight[here])
    places, label = np.unique(label, return_inverse=True)
    values, total = values[places], weight.sum()
    center = np.bincount(label, weights=weight) @ values / total
    scale = np.abs(values - center).max(axis=0)
    scale[scale == 0] = 1.0
    deviation = (values - center) / scale
    begins = np.flatnonzero(np.append(True, np.diff(codes) != 0))  # of the rows of each level that there is
    first, second = np.zeros((2, n_levels + 2, len(center)))
    for power, sums in ((1, first), (2, second)):
        sums[codes[begins] + 2] = np.add.reduceat(weight[:, None] * deviation[label] ** power, begins, axis=0)
    mass = np.bincount(codes + 2, weights=weight, minlength=n_levels + 2)[:, None]
    share, mean = kept_shares(mass, first, second)
    drawn = center if towards is None else towards + share * (center - towards)
    return np.roll(drawn + scale * share * mean, -2, axis=0)


def kept_shares(mass: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Return the share that the mean of each level keeps, and the mean, both (levels, m).

    Parameters
    ----------
    mass : array of shape (levels, 1)
        Rows of each level.
    first, second : arrays of shape (levels, m)
        Sums of their deviations from the mean of all rows, and of the squares of these.
    """
    total, seen = mass.sum(), mass > 0
    groups = int(seen.sum())
    mean = np.divide(first, mass, out=np.zeros_like(first), where=seen)
    share = np.zeros_like(mean)
    if 2 <= groups < total:
        within = np.maximum((second - mass * mean**2).sum(axis=0), 0.0) / (total - groups)
        usual = (total - float((mass**2).sum()) / total) / (groups - 1)
        between = np.maximum(((mass * mean**2).sum(axis=0) / (groups - 1) - within) / usual, 0.0)
        np.divide(mass * between, mass * between + within, out=share, where=mass * between > 0)
    return share, mean


def merged(codes: Array, label: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Sort rows, and merge those of one level and target."""
    order = np.lexsort((weight, label, codes))
    codes, label, weight = codes[order], label[order], weight[order]
    first = np.flatnonzero(np.append(True, (np.diff(codes) != 0) | (np.diff(label) != 0)))
    return codes[first], label[first], np.add.reduceat(weight, first)


@dataclass(frozen=True)
class LevelSums:
    """Sums over all rows of a table, wherever they are, for the levels of one of its columns.

    Attributes
    ----------
    levels : list of str
        In order.
    mass : array of shape (levels + 2, parts)
        Rows of each level, then of missing cells and of levels that are not listed; by the part that a row is in.
    first, second : arrays of shape (levels + 2, parts, m)
        Sums of deviations, (target − center) / scale, and of their squares.
    center, scale : arrays of shape (m,)
    """

    levels: list[str]
    mass: Array
    first: Array
    second: Array
    center: Array
    scale: Array

    @property
    def everywhere(self) -> Array:
        """Means (levels + 2, m) of all rows, as :func:`level_means` returns them."""
        return self._means(np.ones(self.mass.shape[1], dtype=bool), None)

    @property
    def apart(self) -> Array:
        """Means (parts, levels + 2, m) of the rows in the other parts: what a row may know of the targets."""
        everywhere, parts = self.everywhere, np.arange(self.mass.shape[1])
        out = np.array([self._means(parts != part, everywhere[-1]) for part in parts])
        alike = (everywhere == everywhere[-1]).all(axis=0)
        out[..., alike] = everywhere[-1][alike]
        return out

    def _means(self, here: Array, towards: Array | None) -> Array:
        mass = self.mass[:, here].sum(axis=1, keepdims=True)
        first, second = (each[:, here].sum(axis=1) for each in (self.first, self.second))
        total = mass.sum()
        if not total:
            return np.zeros(first.shape) + (self.center if towards is None else towards)
        shift = first.sum(axis=0) / total
        second = np.maximum(second - 2.0 * shift * first + shift**2 * mass, 0.0)
        share, mean = np.zeros((2, *first.shape))  # of levels that are not listed: they are not one level
        share[:-1], mean[:-1] = kept_shares(mass[:-1], (first - shift * mass)[:-1], second[:-1])
        center = self.center + self.scale * shift
        drawn = center if towards is None else towards + share * (center - towards)
        return np.asarray(drawn + self.scale * share * mean)
