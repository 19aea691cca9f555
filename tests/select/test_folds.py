import numpy as np
import pytest

from pldc.problem.recipe import Rows
from pldc.select.folds import HASH_ROWS, dealt, distinct, divided, group_folds, interleaved, one_by_one


def table(seed=0, n=30):
    rng = np.random.default_rng(seed)
    return Rows(rng.normal(size=(n, 3)), rng.normal(size=n), np.ones(n))


def test_order_units_and_signs_do_not_matter():
    rows = table()
    plain, _ = distinct(rows)
    order = np.random.default_rng(1).permutation(30)
    shuffled, member = distinct(rows.take(order))
    assert np.array_equal(plain.X, shuffled.X) and np.array_equal(plain.y, shuffled.y)
    assert np.allclose(shuffled.X[member], rows.X[order])
    scale = np.array([-2.0, 1e3, 0.1])
    other, _ = distinct(Rows(rows.X * scale + 5.0, -3.0 * rows.y + 1.0, rows.weight))
    assert np.allclose(other.X, plain.X * scale + 5.0) and np.allclose(other.y, -3.0 * plain.y + 1.0)


def test_equal_rows_become_one_with_their_weights():
    rows = table(n=6)
    twice = Rows(np.vstack([rows.X, rows.X[:2]]), np.append(rows.y, rows.y[:2]), np.ones(8))
    merged, member = distinct(twice)
    assert len(merged.y) == 6 and sorted(merged.weight) == [1, 1, 1, 1, 2, 2]
    assert np.array_equal(merged.y[member], twice.y)


def test_interleaved_folds_partition_the_rows_evenly():
    splits = interleaved(23, 5)
    tests = np.concatenate([test for _, test in splits])
    assert sorted(tests) == list(range(23))
    assert {len(test) for _, test in splits} <= {4, 5}
    for train, test in splits:
        assert not set(train) & set(test) and len(train) + len(test) == 23
        assert np.diff(np.sort(test)).max() < 10  # from everywhere in the order


def test_folds_of_classes_are_stratified_and_do_not_know_their_names():
    rng = np.random.default_rng(0)
    X, label = rng.normal(size=(60, 2)), np.repeat(np.arange(3), 20)
    held = {}
    for names in ([0.0, 1.0, 2.0], [2.0, 0.0, 1.0]):
        y = np.array(names)[label]
        rows, member = distinct(Rows(X, y, np.ones(60)), classes=True)
        back = np.array([names.index(v) for v in rows.y])
        folds = interleaved(60, 5)
        assert all(np.bincount(back[test], minlength=3).tolist() == [4, 4, 4] for _, test in folds)
        held[tuple(names)] = [sorted(map(tuple, rows.X[test])) for _, test in folds]
        assert np.array_equal(rows.X[member], X)
    first, second = held.values()
    assert first == second


def test_classes_of_equal_weight_are_ranked_whatever_its_rounding():
    rng = np.random.default_rng(0)
    X, label = rng.normal(size=(41, 2)), np.arange(41.0) % 3
    weight = rng.uniform(0.5, 2.0, 41)
    total = np.bincount(label.astype(int), weights=weight)
    for _ in range(30):
        noise = 1 + 4e-16 * rng.integers(-3, 4, 3)
        one, other = (
            distinct(Rows(Z, label, weight / sums[label.astype(int)]), classes=True)[0]
            for Z, sums in ((X, total * noise), (-X, total))
        )
        assert one.y.tolist() == other.y.tolist()


def test_rows_that_stand_for_many_are_divided_among_the_folds():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 1.0, 3.0])
    rows = Rows(X, y, np.array([20.0, 3.0, 50.0, 1.0]))
    shared = divided(rows, 5)
    assert len(shared.y) == 8 and shared.weight.sum() == 74.0  # at 0 two targets meet; the one at 1 stays whole
    for train, test in interleaved(8, 5):
        part = shared.take(test)
        assert part.weight[(part.X[:, 0] == 0) & (part.y == 1)].tolist() == [4.0]
        assert np.isclose(shared.take(train).weight.sum() + part.weight.sum(), 74.0)
    labels = divided(rows, 5, classes=True)  # three points are too few to leave one out
    assert sorted(labels.weight[labels.X[:, 0] == 1]) == [10.0] * 5
    many = Rows(np.arange(30.0)[:, None], np.arange(30) % 2.0, np.full(30, 50.0))
    assert len(divided(many, 5, classes=True).y) == 30  # each at a point of its own: weights, not repeated rows


def test_a_row_is_divided_if_each_fold_can_have_one_of_it():
    X, y = np.zeros((3, 1)), np.array([1.0, 2.0, 3.0])
    shared = divided(Rows(X, y, np.array([5.0, 4.9, 1.0])), 5)
    assert sorted(shared.weight[shared.y == 1.0]) == [1.0] * 5
    assert shared.weight[shared.y == 2.0].tolist() == [4.9] and shared.weight[shared.y == 3.0].tolist() == [1.0]


def test_groups_are_dealt_out_whole_and_even_by_weight():
    rows = table(n=40)
    groups = np.random.default_rng(0).integers(0, 11, 40)
    weight = np.where(groups == 3, 4.0, 1.0)
    splits = group_folds(rows._replace(weight=weight), groups, 4)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(40))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test]) and len(train) + len(test) == 40
    loads = [weight[test].sum() for _, test in splits]
    heaviest = np.bincount(groups, weights=weight).max()
    assert max(loads) - min(loads) <= heaviest  # the rule of the lightest fold


def test_groups_go_by_content_and_not_by_number_or_order():
    rows = table(n=40)
    groups = np.arange(40) % 10
    order = np.random.default_rng(1).permutation(40)
    names = np.random.default_rng(2).permutation(10)
    plain, other = group_folds(rows, groups, 3), group_folds(rows.take(order), names[groups[order]], 3)
    for (_, test), (_, shuffled) in zip(plain, other, strict=True):
        assert set(test) == set(order[shuffled])


def test_groups_of_weight_zero_are_in_no_fold():
    rows = table(n=12)._replace(weight=(np.arange(12) >= 3).astype(float))
    splits = group_folds(rows, np.arange(12) // 3, 3)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(3, 12))
    assert min(min(train) for train, _ in splits) == 3


@pytest.mark.parametrize("n", [40, HASH_ROWS + 50])
def test_rows_are_dealt_by_content_and_equal_ones_together(n):
    rng = np.random.default_rng(0)
    rows = Rows(rng.integers(0, 50, (n, 2)) + 0.0, rng.integers(0, 50, n) + 0.0, np.append(0.0, np.ones(n - 1)))
    order = rng.permutation(n)
    splits, count = dealt(rows, 4)
    assert count == len(np.unique(np.column_stack([rows.X, rows.y])[1:], axis=0))
    label = np.full(n, -1)
    for k, (train, test) in enumerate(splits):
        label[test] = k
        assert sorted([*train, *test]) == list(range(1, n))  # the row of weight zero is in no fold
    assert np.bincount(label[1:]).min() > 0.2 * n
    shuffled = np.full(n, -1)
    for k, (_, test) in enumerate(dealt(rows.take(order), 4)[0]):
        shuffled[order[test]] = k
    np.testing.assert_array_equal(shuffled, label)
    kinds = np.unique(np.column_stack([rows.X, rows.y, label])[1:], axis=0)
    assert len(kinds) == count


def test_rows_that_differ_in_their_targets_alone_are_dealt_one_by_one():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 300) + 0.0, rng.integers(0, 2, 300) + 0.0
    x[:60], y[:60] = np.arange(60) + 100.0, 1.0  # each by itself
    x[60:100], y[60:100] = 7.0, 3.0  # the same again and again
    weight = np.where(np.arange(300) % 10 == 9, 0.0, 1.0)
    rows = Rows(x[:, None], y, weight)
    splits, _ = dealt(rows, 4, True)
    found = one_by_one(rows, splits)
    part = np.full(300, -1)
    for k, (there, here) in enumerate(found):
        part[here] = k
        assert sorted([*there, *here]) == np.flatnonzero(weight > 0).tolist()
    for value in range(5):
        for target in (0.0, 1.0):
            own = np.bincount(part[(x == value) & (y == target) & (weight > 0)], minlength=4)
            assert np.ptp(own) <= 1  # so that no fold lacks one of them
    before = np.full(300, -1)
    for k, (_, here) in enumerate(splits):
        before[here] = k
    twice = Rows(np.repeat(np.arange(4.0), 20)[:, None], np.tile(np.repeat(np.arange(10.0), 2), 4), np.ones(80))
    for one, other in zip(one_by_one(twice, dealt(twice, 4)[0]), dealt(twice, 4)[0], strict=True):
        np.testing.assert_array_equal(one[1], np.sort(other[1]))  # a row that is there twice stays together
    alone = (x >= 7) & (weight > 0)
    np.testing.assert_array_equal(part[alone], before[alone])
    order = rng.permutation(300)
    again = one_by_one(rows.take(order), dealt(rows.take(order), 4, True)[0])
    for (_, one), (_, other) in zip(found, again, strict=True):
        assert sorted(zip(x[one], y[one], strict=True)) == sorted(zip(x[order][other], y[order][other], strict=True))
