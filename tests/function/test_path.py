"""Contributions along the way from a reference, against all breakpoints by brute force."""

from itertools import pairwise

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions

from pldc.function.contributions import class_contributions, contributions
from pldc.function.path import mean_path_contributions, path_contributions
from pldc.function.segments import stretches

SEEDS = range(40)  # times three kinds of functions


def all_crossings(f, a, b):
    """Every t in (0, 1) at which two pieces of a part meet between neighbouring knots, and the knots themselves."""
    out = [0.0, 1.0]
    for term in f.terms:
        cuts = [0.0, 1.0]
        if term.hinges is not None:
            for j, knots in enumerate(term.hinges.knots):
                cuts += [t for t in (knots - a[j]) / (b[j] - a[j]) if 0 < t < 1]
        cuts = sorted(cuts)
        out += cuts
        for left, right in pairwise(cuts):
            ends = np.array([a + left * (b - a), a + right * (b - a)])
            columns = ends if term.hinges is None else term.hinges(ends)
            for part in term.parts:
                u, v = columns @ part.slopes.T + part.offsets
                for k in range(part.n_pieces):
                    for l in range(k):
                        gap, change = u[k] - u[l], (v[k] - v[l]) - (u[k] - u[l])
                        if change != 0 and 0 < -gap / change < 1:
                            out.append(left + (right - left) * (-gap / change))
    return np.unique(out)


def by_brute_force(f, a, b):
    t = all_crossings(f, a, b)
    middle = 0.5 * (t[1:] + t[:-1])
    return np.diff(t) @ f.gradient(a + middle[:, None] * (b - a)) * (b - a)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_contributions_are_the_integral_between_all_breakpoints(kind, seed):
    rng = np.random.default_rng(seed)
    f = random_functions(rng, d := 1 + seed % 4)[kind]
    a, b = 2.0 * rng.normal(size=(2, d))
    (found,) = path_contributions(f, a[None], b[None])
    np.testing.assert_allclose(found, by_brute_force(f, a, b), rtol=0, atol=1e-10)
    assert found.sum() == pytest.approx(f([b])[0] - f([a])[0], abs=1e-10)


def test_a_stretch_for_every_piece_that_rules():
    f = random_functions(np.random.default_rng(3), 2)["plain"].plus
    start, stop = np.random.default_rng(4).normal(size=(2, 50, 2)) * 3
    found = stretches(f, start, stop)
    middle = 0.5 * (found.begin + found.end)
    points = start[found.segment] + middle[:, None] * (stop - start)[found.segment]
    np.testing.assert_array_equal(f.active(points), found.piece)
    for k in range(50):
        mine = found.segment == k
        np.testing.assert_array_equal(found.begin[mine], np.append(0.0, found.end[mine][:-1]))
        assert found.end[mine][-1] == 1.0
    assert len(found.segment) > 80


def test_features_that_do_not_move_contribute_nothing_and_no_way_is_none():
    f = random_functions(np.random.default_rng(0), 3)["sum"]
    a, b = np.random.default_rng(1).normal(size=(2, 20, 3))
    b[:, 1] = a[:, 1]
    assert (path_contributions(f, a, b)[:, 1] == 0).all()
    assert (path_contributions(f, a, a) == 0).all()


def test_many_references_are_the_mean_and_columns_are_sums_of_features():
    f = random_functions(np.random.default_rng(5), 4)["sum"]
    points, references = np.random.default_rng(6).normal(size=(2, 7, 4))
    each = [path_contributions(f, np.tile(r, (7, 1)), points) for r in references]
    np.testing.assert_allclose(mean_path_contributions(f, points, references), np.mean(each, axis=0), atol=1e-12)
    grouped = contributions(f, points, references, "path", ["a", "b"], np.array([0, 1, 1, 0]))
    mean = np.mean(each, axis=0)
    np.testing.assert_allclose(grouped.contributions[:, 1], mean[:, 1] + mean[:, 2], atol=1e-12)
    total = grouped.baseline + grouped.contributions.sum(axis=1)
    np.testing.assert_allclose(total, grouped.prediction, atol=1e-12)
    assert grouped.features == ("a", "b") and "references" in str(grouped)


@pytest.mark.parametrize("method", ["path", "shapley"])
def test_margins_of_classes_add_up(method):
    rng = np.random.default_rng(7)
    functions = [random_functions(rng, 3)["hinged"] for _ in range(3)]
    points, references = rng.normal(size=(2, 9, 3))
    found = class_contributions(functions, points, references, np.array(["a", "b", "c"]), method)
    scores = np.sort([f(points) for f in functions], axis=0)
    np.testing.assert_allclose(found.prediction, scores[-1] - scores[-2], atol=1e-12)
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), found.prediction, atol=1e-10)
    best = np.array(["a", "b", "c"])[np.argmax([f(points) for f in functions], axis=0)]
    np.testing.assert_array_equal(found.labels[:, 0], best)
    assert found.to_dict(0)["class"] == best[0] and f"{best[0]}, and not" in found.table(0)


def test_cut_predictions_say_so():
    f = random_functions(np.random.default_rng(8), 2)["plain"]
    points = np.random.default_rng(9).normal(size=(30, 2))
    middle = float(np.median(f(points)))
    found = contributions(f, points, points[:1], limits=(middle, np.inf))
    assert found.clipped.sum() == 15 and (found.prediction[found.clipped] == middle).all()
    assert "cut to the range" in found.table(int(np.flatnonzero(found.clipped)[0]))
