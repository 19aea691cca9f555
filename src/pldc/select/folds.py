"""Folds that depend on the rows and not on their order."""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array, IntArray
from pldc.problem.recipe import Rows, Split
from pldc.problem.units import Units

FEW_POINTS = 4  # points for each fold below which no point is left out whole, if its rows are many
HASH_ROWS = 20_000  # rows from which their order is that of a hash
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits as if by chance
DIGITS = 8  # of standardised numbers: what rounding may change does not count


def distinct(rows: Rows, classes: bool = False) -> tuple[Rows, IntArray]:
    """Merge equal rows, adding their weights, in an order that depends on neither order, units nor signs.

    Parameters
    ----------
    rows : Rows
    classes : bool
        y are labels: rows of one class follow each other, those of the heaviest class first.

    Returns
    -------
    rows : Rows
        Sorted by the distance of y from its mean, then by those of the features.
    member : int array
        The merged row that each given row belongs to.
    """
    table, member = np.unique(np.column_stack([rows.X, rows.y]) + 0.0, axis=0, return_inverse=True)
    merged = Rows(table[:, :-1], table[:, -1], np.bincount(member.ravel(), weights=rows.weight))
    units = Units.of(*merged)
    Z = np.column_stack([units.scale_y(merged.y), units.scale_X(merged.X)]).round(DIGITS) + 0.0
    keys = np.column_stack([np.abs(Z), Z])
    if classes:
        keys = np.column_stack([_rank_of_class(merged, Z[:, 1:]), keys[:, 1 : Z.shape[1]], Z[:, 1:]])
    order = np.lexsort(keys.T[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return merged.take(order), place[member.ravel()]


def ordered(rows: Rows) -> Rows:
    """Return the rows, equal ones too, in the order of :func:`distinct`: random draws then do not see the given one."""
    return rows.take(np.argsort(distinct(rows)[1], kind="stable"))


def mixed(rows: Rows) -> Rows:
    """Merge equal rows, adding their weights, and shuffle them: an order by content that means nothing.

    Whatever order the rows are given in, the result is the same. Of many rows the order is that of a hash.
    """
    if len(rows.y) <= HASH_ROWS:
        merged, _ = distinct(rows)
        return merged.take(np.random.RandomState(0).permutation(len(merged.y)))
    table = np.column_stack([rows.X, rows.y]) + 0.0  # −0.0 becomes 0.0
    key = hashes(table)
    even = np.ptp(rows.weight) == 0
    order = np.argsort(key, kind="stable") if even else np.lexsort((rows.weight, key))  # sums in one order
    table, key = table[order], key[order]
    first = np.append(True, key[1:] != key[:-1])
    close = np.flatnonzero(~first)
    first[close] = (table[close] != table[close - 1]).any(axis=1)
    weight = np.add.reduceat(rows.weight[order], np.flatnonzero(first))
    if len(weight) < len(table):
        table = table[first]
    merged = Rows(table[:, :-1], table[:, -1], weight)
    return merged if len(weight) > HASH_ROWS else mixed(merged)


def hashes(table: Array) -> Array:
    """Return a number for each row of a table that looks as if by chance; equal rows have the same."""
    key = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        key = (key ^ np.ascontiguousarray(column).view(np.uint64)) * MIX
        key ^= key >> np.uint64(29)
    return key


def dealt(rows: Rows, folds: int, classes: bool = False) -> tuple[list[Split], int]:
    """Deal rows out to folds by content, equal rows together; return also how many distinct ones there are.

    Rows of weight zero are in no fold.
    """
    at = np.flatnonzero(rows.weight > 0)
    part = rows.take(at)
    if len(at) <= HASH_ROWS:
        merged, member = distinct(part, classes)
        count = len(merged.y)
        fold = np.empty(count, dtype=np.intp)
        for k, (_, test) in enumerate(interleaved(count, min(folds, count))):
            fold[test] = k
        label: np.ndarray = fold[member]
    else:
        key = hashes(np.column_stack([part.X, part.y]) + 0.0)
        label, count = key % np.uint64(folds), len(np.unique(key))
    return [(at[label != k], at[label == k]) for k in range(folds) if (label == k).any()], count


MANY_EQUAL = 2  # rows of each target at one point, from which they are measured again and again


def one_by_one(rows: Rows, splits: list[Split]) -> list[Split]:
    """Return folds in which rows that are equal but for few targets are dealt out one after the other.

    They are measured again and again at one point, as in a table of few categories, so that there are more than
    `MANY_EQUAL` rows for each of several targets. If rows of one target lay in one fold, the others would have less of
    it, and so would tell it. Rows that are merely there twice stay together.
    """
    part, at = np.full(len(rows.y), -1), np.flatnonzero(rows.weight > 0)
    for k, (_, test) in enumerate(splits):
        part[test] = k
    key = hashes(rows.X[at] + 0.0)
    order = np.lexsort((rows.weight[at], rows.y[at], key))
    at, key = at[order], key[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    count = np.diff(np.append(begins, len(at)))
    first = np.repeat(begins, count)
    new = np.append(True, np.diff(rows.y[at]) != 0)
    new[begins] = True
    targets = np.add.reduceat(new.astype(np.intp), begins) if len(begins) else count
    several = np.repeat((targets > 1) & (count > MANY_EQUAL * targets), count)
    turn = (key % np.uint64(len(splits))).astype(np.intp) + np.arange(len(at)) - first
    part[at[several]] = turn[several] % len(splits)
    at = np.sort(at)
    return [(at[part[at] != k], at[part[at] == k]) for k in range(len(splits))]


def ranks_of_classes(rows: Rows, outputs: int) -> IntArray:
    """Return the rank of each of so many classes by content; those without a row come last."""
    rank = _rank_of_class(rows, Units.of(*rows).scale_X(rows.X)).astype(np.intp)
    out = np.full(outputs, -1)
    out[rows.y.astype(np.intp)] = rank
    absent = out < 0
    out[absent] = np.arange(outputs - absent.sum(), outputs)
    return out


def _rank_of_class(rows: Rows, Z: Array) -> Array:
    """Rank the class of each row by weight, then by its features, their mean size first: labels may have any names."""
    names, label = np.unique(rows.y, return_inverse=True)
    weight = np.bincount(label, weights=rows.weight)
    size = np.array([rows.weight[label == k] @ np.abs(Z[label == k]).mean(axis=1) for k in range(len(names))]) / weight
    mean = np.array([rows.weight[label == k] @ Z[label == k] for k in range(len(names))]) / weight[:, None]
    keys = [*mean.T[::-1].round(DIGITS), size.round(DIGITS), -(weight / weight.max()).round(DIGITS)]
    rank = np.empty(len(names))
    rank[np.lexsort(keys)] = np.arange(len(names))
    return rank[label]


def divided(rows: Rows, folds: int, classes: bool = False) -> Rows:
    """Divide distinct rows that stand for many into as many equal shares as there are folds; these come first.

    Left out whole, such a row would be absent from the fit that predicts it, and where others stand at the same point
    with another y, that fit would learn theirs. Divided are rows of a weight of at least `folds` at a point with
    several y; those of classes also where there are too few points to leave any out. Dealt by :func:`interleaved`, the
    shares of a row go to all folds.
    """
    point, count = np.unique(rows.X, axis=0, return_inverse=True, return_counts=True)[1:]
    meet = count[point.ravel()] > 1
    heavy = (rows.weight >= folds) & (meet | (classes and len(count) < FEW_POINTS * folds))
    shares = rows.take(np.repeat(np.flatnonzero(heavy), folds))
    light = rows.take(np.flatnonzero(~heavy))
    return Rows(
        np.vstack([shares.X, light.X]),
        np.append(shares.y, light.y),
        np.append(shares.weight / folds, light.weight),
    )


def interleaved(n: int, folds: int) -> list[Split]:
    """Deal n sorted rows out to the folds in turn: every fold has its share of high and of low targets.

    The order of the folds changes from deal to deal (a fixed pseudo-random sequence), or a period in the data could
    fall together with theirs.
    """
    rng = np.random.RandomState(0)
    deals = -(-n // folds)
    fold: Array = np.concatenate([rng.permutation(folds) for _ in range(deals)])[:n]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def group_folds(rows: Rows, groups: IntArray, folds: int) -> list[Split]:
    """Deal whole groups out, the heaviest first, each to the fold that is lightest: by content, not by name.

    `groups` holds a number for each row; rows of weight zero are in no fold.
    """
    weight = np.bincount(groups, weights=rows.weight)
    units = Units.of(*rows)
    Z = np.column_stack([units.scale_y(rows.y), units.scale_X(rows.X)])
    mean = np.array([np.bincount(groups, weights=rows.weight * z) for z in Z.T]) / np.where(weight > 0, weight, 1.0)
    order = np.lexsort([*mean[::-1].round(DIGITS), -weight])
    fold, load = np.empty(len(weight), dtype=np.intp), np.zeros(folds)
    for group in order:
        fold[group] = load.argmin()
        load[fold[group]] += weight[group]
    of_row = np.where(rows.weight > 0, fold[groups], -1)
    return [(np.flatnonzero((of_row != k) & (of_row >= 0)), np.flatnonzero(of_row == k)) for k in range(folds)]


def subsample(n: int, most: float) -> IntArray:
    """Return all of n places, or `most` of them at random, the same ones every time."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.RandomState(0).choice(n, int(most), replace=False))


def merged_in_folds(rows: Rows, splits: list[Split]) -> tuple[Rows, list[Split]]:
    """Leave out rows of weight zero, merge equal rows of the same folds, and order them by content."""
    keep = rows.weight > 0
    base, member = distinct(rows.take(np.flatnonzero(keep)))
    counts = [np.bincount(part, minlength=len(rows.y))[keep] for fold in splits for part in fold]
    table, place = np.unique(np.column_stack([member, *counts]), axis=0, return_inverse=True)
    weight = np.bincount(place.ravel(), weights=rows.weight[keep])
    parts = [np.repeat(np.arange(len(table)), count) for count in table.T[1:]]
    one = Rows(base.X[table[:, 0]], base.y[table[:, 0]], weight)
    return one, list(zip(parts[::2], parts[1::2], strict=True))
