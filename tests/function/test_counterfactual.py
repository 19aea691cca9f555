"""The nearest point beyond a threshold, against exact searches on a line, a plain MILP and many random points."""

from dataclasses import replace
from time import monotonic

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.function.common import KINDS, random_functions, random_hinged

from pldc import PLDC
from pldc.function import Hinges
from pldc.function.counterfactual import Counterfactual, nearest_crossing, nearest_lead
from pldc.function.curve import partial_dependence
from pldc.function.integer_program import nearest_by_integers
from pldc.function.near_start import near_point


def case(seed, d, kind):
    rng = np.random.default_rng(seed)
    f = random_functions(rng, d)[kind]
    x, cost = rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    box = np.tile([-3.0, 3.0], (d, 1))
    values = f(rng.uniform(-3, 3, (2000, d)))
    return f, x, float(np.quantile(values, rng.uniform(0.1, 0.9))), cost, box


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_on_a_line_it_is_the_nearest_crossing(kind, seed):
    f, x, threshold, cost, box = case(seed, 1, kind)
    curve = partial_dependence(f, 0, x[None], *box[0])
    gap = curve.y - threshold
    i = np.flatnonzero(gap[1:] * gap[:-1] <= 0)
    roots = curve.x[i] - gap[i] * np.diff(curve.x)[i] / np.diff(curve.y)[i]
    found = nearest_crossing(f, x, threshold, cost, box)
    assert len(roots)
    assert found.cost == pytest.approx(cost[0] * np.abs(roots - x[0]).min(), rel=1e-5, abs=1e-9)
    assert found.bound == pytest.approx(found.cost, rel=1e-5)


def by_plain_milp(f, x, threshold, cost, box, big=200.0):
    """The least cost at which a function is beyond a threshold."""
    sign = 1.0 if f(x[None])[0] < threshold else -1.0
    return all_by_plain_milp([sign * f], x, sign * threshold, cost, box, np.zeros(len(x)), big)


def all_by_plain_milp(functions, x, threshold, cost, box, whole, big=200.0):
    """Both parts of each term of all functions by binary numbers and one large constant; features are not bent."""
    d = len(x)
    terms = [term for f in functions for term in f.terms]
    sizes = [part.n_pieces for term in terms for part in term.parts]
    count = 2 * d + len(sizes) + sum(sizes)
    rows, low, high = [], [], []

    def row(entries, least, most):
        line = np.zeros(count)
        for place, value in entries:
            line[place] += value
        rows.append(line)
        low.append(least)
        high.append(most)

    total, z = [], 2 * d + len(sizes)
    for number, part in enumerate(part for term in terms for part in term.parts):
        value = 2 * d + number
        total.append((value, 1.0 if number % 2 == 0 else -1.0))
        for k in range(part.n_pieces):
            line = [(value, 1.0), *((j, -part.slopes[k, j]) for j in range(d))]
            row(line, part.offsets[k], np.inf)
            row([*line, (z + k, big)], -np.inf, part.offsets[k] + big)
        row([(z + k, 1.0) for k in range(part.n_pieces)], 1.0, 1.0)
        z += part.n_pieces
    begin = 0
    for f in functions:
        row(total[begin : begin + 2 * len(f.terms)], threshold, np.inf)
        begin += 2 * len(f.terms)
    for j in range(d):
        row([(d + j, 1.0), (j, -1.0)], -x[j], np.inf)
        row([(d + j, 1.0), (j, 1.0)], x[j], np.inf)
    lowest = np.concatenate([box[:, 0], np.zeros(d), np.full(len(sizes), -np.inf), np.zeros(sum(sizes))])
    highest = np.concatenate([box[:, 1], np.full(d, np.inf), np.full(len(sizes), np.inf), np.ones(sum(sizes))])
    found = milp(
        np.concatenate([np.zeros(d), cost, np.zeros(count - 2 * d)]),
        integrality=np.concatenate([whole, np.zeros(d + len(sizes)), np.ones(sum(sizes))]),
        bounds=Bounds(lowest, highest),
        constraints=LinearConstraint(np.array(rows), low, high),
        options={"mip_rel_gap": 1e-7},
    )
    return found.fun


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("d", [2, 3])
def test_it_is_the_optimum_of_a_mixed_integer_program(seed, d):
    f, x, threshold, cost, box = case(100 + seed, d, "plain")
    if seed % 2:  # a sum of two terms
        f = PLDC.total([f, case(200 + seed, d, "plain")[0]])
        threshold = float(np.median(f(np.random.default_rng(seed).uniform(-3, 3, (2000, d)))))
    found = nearest_crossing(f, x, threshold, cost, box)
    assert found.cost == pytest.approx(by_plain_milp(f, x, threshold, cost, box), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_score_that_leads_all_others_is_the_optimum_of_a_mixed_integer_program(seed, m):
    rng = np.random.default_rng(1000 * m + seed)
    scores = [random_functions(rng, 2)["plain"] for _ in range(m)]
    x, cost, box = rng.normal(size=2), rng.uniform(0.5, 2.0, 2), np.tile([-3.0, 3.0], (2, 1))
    scores = [f - float(np.median(f(rng.uniform(-3, 3, (500, 2))))) for f in scores]
    wanted = int(np.argmin([f(x[None])[0] for f in scores]))
    found = nearest_lead(scores, wanted, x, cost, box)
    leads = [scores[wanted] - f for k, f in enumerate(scores) if k != wanted]
    oracle = all_by_plain_milp(leads, x, 0.0, cost, box, np.zeros(2))
    assert (found.point is None) == (oracle is None)
    if oracle is not None:
        assert found.cost == pytest.approx(oracle, rel=1e-5, abs=1e-6)
        assert np.argmax([f(found.point[None])[0] for f in scores]) == wanted
        assert nearest_lead(scores, wanted, found.point, cost, box).cost == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_whole_numbers_are_the_optimum_of_a_mixed_integer_program(seed):
    f, x, _, cost, _ = case(100 + seed, 2, "plain")
    x, box, whole = (
        np.array([1.0, x[1]]),
        np.array([[-4.0, 6.0], [-0.7, 0.7]]) + [[0.0], [x[1]]],
        np.array([True, False]),
    )
    corners = f(np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (2000, 2)))
    for threshold in np.quantile(corners, [0.02, 0.3, 0.7, 0.98]):
        found = nearest_crossing(f, x, threshold, cost, box, whole=whole)
        sign = 1.0 if f(x[None])[0] < threshold else -1.0
        oracle = all_by_plain_milp([sign * f], x, sign * threshold, cost, box, whole.astype(float))
        assert (found.point is None) == (oracle is None)
        if oracle is not None:
            assert found.point[0] == np.round(found.point[0])
            assert found.cost == pytest.approx(oracle, rel=1e-5, abs=1e-6)
            assert sign * (f(found.point[None])[0] - threshold) >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_of_bent_features_are_the_best_of_all_of_them(kind):
    f, _, _, _, _ = case(11, 1, kind)
    x, box = np.array([2.0]), np.array([[-6.3, 7.4]])
    ways = np.arange(-6.0, 8.0)
    for threshold in np.quantile(f(ways[:, None]), [0.1, 0.4, 0.6, 0.9]):
        side = np.sign(threshold - f(x[None])[0])
        beyond = ways[side * (f(ways[:, None]) - threshold) > 1e-6]
        found = nearest_crossing(f, x, threshold, np.ones(1), box, whole=np.array([True]))
        if not len(beyond):
            assert found.point is None
        else:
            assert found.cost == pytest.approx(np.abs(beyond - 2.0).min(), abs=1e-9) and found.point[0] in ways


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_nothing_nearer_is_beyond_and_the_point_itself_is(kind, seed):
    f, x, threshold, cost, box = case(50 + seed, 2, kind)
    found = nearest_crossing(f, x, threshold, cost, box)
    side = np.sign(threshold - f(x[None])[0])
    assert side * (f(found.point[None])[0] - threshold) >= 0
    assert cost @ np.abs(found.point - x) == pytest.approx(found.cost, rel=1e-6)
    rng = np.random.default_rng(seed)
    ball = rng.dirichlet(np.ones(2), 20_000) * rng.choice([-1.0, 1.0], (20_000, 2))
    near = x + ball * np.sqrt(rng.random((20_000, 1))) * 0.999 * found.cost / cost
    near = near[((near >= box[:, 0]) & (near <= box[:, 1])).all(axis=1)]
    assert (side * (f(near) - threshold) < 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_features_stay_and_boxes_hold(kind):
    f, x, threshold, cost, box = case(7, 3, kind)
    free = nearest_crossing(f, x, threshold, cost, box)
    moved = int(np.argmax(np.abs(free.point - x) * cost))
    box[moved] = x[moved]
    held = nearest_crossing(f, x, threshold, cost, box)
    assert held.point is None or (held.point[moved] == x[moved] and held.cost >= free.cost - 1e-9)
    box[moved] = [-3.0, 3.0]
    dear = nearest_crossing(f, x, threshold, np.where(np.arange(3) == moved, 100.0 * cost, cost), box)
    assert np.abs(dear.point - x)[moved] <= np.abs(free.point - x)[moved] + 1e-9 and dear.cost >= free.cost - 1e-9


def test_what_cannot_be_reached_is_none_and_what_is_reached_is_free():
    f = abs(PLDC.affine([1.0]))
    box = np.array([[-1.0, 1.0]])
    assert nearest_crossing(f, np.zeros(1), 2.0, np.ones(1), box).point is None
    assert nearest_crossing(f, np.array([0.5]), 0.5, np.ones(1), box).cost == 0
    two = PLDC.total([f, f])
    assert nearest_crossing(two, np.zeros(1), 4.0, np.ones(1), box).point is None
    assert nearest_crossing(two, np.zeros(1), 1.0, np.ones(1), box).cost == pytest.approx(0.5)


def test_too_many_binary_numbers_are_refused(monkeypatch):
    f = random_functions(np.random.default_rng(0), 2)["sum"]
    monkeypatch.setattr("pldc.function.integer_program.MOST_BINARIES", 3)
    with pytest.raises(ValueError, match=r"more than 3: ask a model of few pieces, model.simplify"):
        nearest_by_integers(f.terms, np.zeros(2), 100.0, np.ones(2), np.tile([-3.0, 3.0], (2, 1)), None, 10.0)


def test_the_answer_reads():
    found = Counterfactual(("a", "b"), np.array([1.0, 2.0]), np.array([1.0, 2.5]), 3.0, 4.0, 4.0, 0.5, 0.5)
    assert found.changes == {"b": 0.5} and found.to_dict()["point"] == {"a": 1.0, "b": 2.5}
    assert str(found).splitlines()[1].split() == ["b", "2", "2.5"] and "time was out" not in str(found)
    late = Counterfactual(("a", "b"), np.array([1.0, 2.0]), np.array([1.0, 2.5]), 3.0, 4.0, 4.0, 0.5, 0.1)
    assert "time was out: no row is nearer than 0.1" in str(late)
    assert str(replace(late, bound=0.0)).endswith("time was out: no bound was found")


def test_out_of_time_the_best_so_far_is_returned_with_a_bound():
    f, x, threshold, cost, box = case(7, 3, "sum")
    whole, short = (nearest_crossing(f, x, threshold, cost, box, limit) for limit in (60.0, 1e-6))
    assert short.bound <= whole.cost * (1 + 1e-6) and whole.cost <= short.cost * (1 + 1e-6)
    assert (f(short.point[None])[0] - threshold) * (f(x[None])[0] - threshold) <= 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_features_of_two_values_have_one_of_them(kind, seed):
    f, x, threshold, cost, box = case(300 + seed, 3, kind)
    two = np.array([True, False, True])
    x[two], box[two] = seed % 2, [0.0, 1.0]
    found = nearest_crossing(f, x, threshold, cost, box, whole=two)
    each = []  # all four ways to set them, the rest fixed there
    for a in (0.0, 1.0):
        for b in (0.0, 1.0):
            held, at = box.copy(), x.copy()
            held[0], held[2], at[0], at[2] = a, b, a, b
            if (f(at[None])[0] < threshold) != (f(x[None])[0] < threshold):
                each.append(cost @ np.abs(at - x))
            else:
                each.append(cost @ np.abs(at - x) + nearest_crossing(f, at, threshold, cost, held).cost)
    assert (found.point is None) == np.isinf(min(each))
    if found.point is not None:
        assert np.isin(found.point[two], [0.0, 1.0]).all()
        assert found.cost == pytest.approx(min(each), rel=1e-5, abs=1e-6)


def default_like(rng, d, terms=12, pieces=20, knots=10):
    """A mean of several hinged functions, as a default fit is of skewed columns: many knots near zero."""

    def hinges():
        sizes = 10.0 ** rng.uniform(-3, 0.5, (d, knots)) * rng.choice([-1, 1], (d, knots))
        return Hinges(list(np.sort(sizes)))

    return PLDC.total([random_hinged(rng, pieces, pieces, hinges()) * (1 / terms) for _ in range(terms)])


@pytest.mark.parametrize("holds_whole", [False, True])
@pytest.mark.parametrize(("seed", "d"), [(0, 8), (2, 6), (3, 6)])
def test_out_of_time_random_search_is_no_better(seed, d, holds_whole):
    rng = np.random.default_rng(600 + seed)
    f, whole = default_like(rng, d), np.arange(d) == (1 if holds_whole else d)
    x, cost, box = 0.01 * rng.normal(size=d), rng.uniform(0.5, 2.0, d), np.tile([-4.0, 4.0], (d, 1))
    away = np.where(rng.random((20_000, d)) < 0.5, rng.normal(size=(20_000, d)), 0.0)
    rows = np.clip(x + np.where(whole, np.round(away), away), box[:, 0], box[:, 1])
    rows = np.where(whole, x + np.round(rows - x), rows)
    threshold = float(np.quantile(f(rows), 0.9))
    assert f(x[None])[0] < threshold
    found = nearest_crossing(f, x, threshold, cost, box, 2.0, whole)
    assert f(found.point[None])[0] >= threshold
    assert found.cost == pytest.approx(np.abs(found.point - x) @ cost)
    assert found.cost <= (np.abs(rows - x) @ cost)[f(rows) >= threshold].min()
    assert 0 <= found.bound <= found.cost
    np.testing.assert_allclose((found.point - x)[whole], np.round(found.point - x)[whole])
    if (found.point != x)[~whole].any():  # the threshold is just met
        assert f(found.point[None])[0] - threshold <= 1e-6 * (threshold - f(x[None])[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_quick_start_is_not_far_from_the_optimum(seed):
    f, x, threshold, cost, box = case(seed, 2, "sum")
    side = np.sign(threshold - f(x[None])[0])
    exact = nearest_crossing(f, x, threshold, cost, box, 60.0)
    ends = np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (256, 2))
    none = np.zeros(2, dtype=bool)
    quick = near_point(side * f, x, side * threshold, ends, cost, box, none, monotonic() + 60.0)
    if exact.point is None:
        assert quick is None
        return
    assert side * (f(quick[None])[0] - threshold) >= 0
    assert exact.cost * (1 - 1e-6) <= np.abs(quick - x) @ cost <= 1.5 * exact.cost
