"""Sums of terms: what they are made of, and arithmetic on every kind of function."""

import pickle

import numpy as np
import pytest
from tests.function.common import KINDS, random_functions, random_hinged, random_max_affine, random_pldc

from pldc.function import PLDC, Hinges, MaxAffine, explain


def test_equals_the_written_out_sum():
    rng = np.random.default_rng(0)
    functions = [random_pldc(rng, 3, 3, 2) for _ in range(3)]
    total, X = PLDC.total(functions), rng.normal(size=(50, 2))
    plain = total.written_out()
    assert plain.is_plain and not total.is_plain and plain.n_pieces == (27, 27)
    np.testing.assert_allclose(total(X), sum(f(X) for f in functions), atol=1e-12)
    np.testing.assert_allclose(total(X), plain(X), atol=1e-12)
    np.testing.assert_allclose(total.gradient(X), plain.gradient(X), atol=1e-12)
    local = total.local(X)
    np.testing.assert_allclose((local.slope * X).sum(axis=1) + local.intercept, total(X), atol=1e-12)
    for part in (local.plus, local.minus):
        assert part.shape == (50, 3)
    np.testing.assert_array_equal(local.plus, np.column_stack([f.local(X).plus for f in functions]))
    np.testing.assert_allclose(total.prune(X)(X), total(X), atol=1e-12)
    np.testing.assert_allclose(total.drop_dominated()(X), total(X), atol=1e-12)
    assert total.seminorm_bound() == pytest.approx(sum(f.seminorm_bound() for f in functions))
    assert total.seminorm_bound() >= plain.seminorm_bound() - 1e-12
    B, b = rng.normal(size=(2, 2)), rng.normal(size=2)
    np.testing.assert_allclose(total.compose(B, b)(X), total(X @ B.T + b), atol=1e-12)


def test_terms_with_the_same_hinges_are_written_out_too():
    rng = np.random.default_rng(1)
    hinges = Hinges([[-1.0, 0.0, 1.0], [0.0, 0.5]])
    f, g, X = random_hinged(rng, 2, 3, hinges), random_hinged(rng, 3, 2, hinges), rng.normal(size=(60, 2))
    one = PLDC.total([f, g]).written_out()
    assert one.n_pieces == (6, 6) and one.terms[0].hinges == hinges
    np.testing.assert_allclose(one(X), f(X) + g(X), atol=1e-12)
    for other in (random_hinged(rng, 2, 2, Hinges([[-1.0, 0.0, 1.0], [0.0, 0.6]])), random_pldc(rng, 2, 2, 2)):
        with pytest.raises(TypeError, match="different hinges.*simplify"):
            PLDC.total([f, other]).written_out()
    assert f.written_out() == f


def test_totals_and_means_keep_terms_apart():
    rng = np.random.default_rng(2)
    f, g, X = random_pldc(rng, 3, 2, 2), random_pldc(rng, 4, 5, 2), rng.normal(size=(5, 2))
    mean = PLDC.mean([f, g])
    np.testing.assert_allclose(mean(X), (f(X) + g(X)) / 2, atol=1e-12)
    assert len(mean.terms) == 2 and mean.n_pieces == (7, 7) and mean.n_features == 2
    assert len((f + g).terms) == 1 and (f + g).n_pieces == (12, 10)  # a sum of two plain functions is written out
    assert PLDC.mean([f]) == f == PLDC.total([f])
    assert [len(h.terms) for h in (mean + f, f + mean, mean - mean, PLDC.total(h for h in (mean, mean)))] == [
        3,
        3,
        4,
        4,
    ]
    why = explain(mean, X)
    np.testing.assert_allclose(why.intercept + why.contributions.sum(axis=1), mean(X), atol=1e-12)
    assert why.pieces.shape == (5, 4)


def test_refuses_what_makes_no_sum():
    f, number = PLDC.affine([1.0]), np.float64(1.0)
    for make in (PLDC.total, PLDC.mean):
        for wrong in ([], [f, 1.0], [number], [f.plus]):
            with pytest.raises(TypeError, match=r"at least one function|unsupported operand"):
                make(wrong)
        with pytest.raises(ValueError, match="Functions of 1 and 2 variables cannot be combined"):
            make([f, PLDC.affine([1.0, 2.0])])
    part = random_max_affine(np.random.default_rng(2), 50, 2)
    long = PLDC.total([PLDC(part, part)] * 4)
    with pytest.raises(ValueError, match=r"6\.25e\+06 − 6\.25e\+06 pieces.*prune"):
        long.written_out()
    with pytest.raises(ValueError, match="prune"):
        long.minimize([(0, 1)] * 2)


def test_parts_of_a_sum_are_those_of_its_terms():
    f = PLDC.affine([1.0])
    total = PLDC.total([f, -f])
    for name in ("plus", "minus"):
        with pytest.raises(AttributeError, match=rf"2 terms has a {name} of its own: ask f\.terms\[0\]\.{name}"):
            getattr(total, name)
        assert not hasattr(total, name)
        assert getattr(total.terms[0], name) == getattr(f, name)


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic_of_every_kind(kind):
    rng = np.random.default_rng(7)
    f, X = random_functions(rng)[kind], rng.normal(size=(50, 2))
    for other in random_functions(np.random.default_rng(8)).values():
        np.testing.assert_allclose((f + other)(X), f(X) + other(X), atol=1e-9)
        np.testing.assert_allclose((f - other)(X), f(X) - other(X), atol=1e-9)
    for made, expected in (
        (-f, -f(X)),
        (2.5 * f, 2.5 * f(X)),
        (f * -2, -2 * f(X)),
        (f / 4, f(X) / 4),
        (f + 1, f(X) + 1),
        (1.0 - f, 1 - f(X)),
        (f - 3, f(X) - 3),
    ):
        assert len(made.terms) == len(f.terms)
        np.testing.assert_allclose(made(X), expected, atol=1e-9)
    with pytest.raises(TypeError):
        f + "1"


@pytest.mark.parametrize("kind", ["plain", "hinged", "sum of plain"])
def test_maxima_of_every_kind(kind):
    rng = np.random.default_rng(9)
    functions, X = random_functions(rng), rng.normal(size=(50, 2))
    f = functions.get(kind) or PLDC.total([functions["plain"], random_pldc(rng, 2, 2, 2)])
    for made, expected in (
        (abs(f), np.abs(f(X))),
        (f.maximum(0.5), np.maximum(f(X), 0.5)),
        (f.minimum(-1), np.minimum(f(X), -1)),
        (f.maximum(2 * f + 1), np.maximum(f(X), 2 * f(X) + 1)),
        (f.minimum(-f), -np.abs(f(X))),
    ):
        assert len(made.terms) == 1 and made.terms[0].hinges == f.terms[0].hinges
        np.testing.assert_allclose(made(X), expected, atol=1e-9)


def test_maxima_need_the_same_hinges():
    functions = random_functions(np.random.default_rng(0))
    for compare in (functions["plain"].maximum, functions["plain"].minimum):
        with pytest.raises(TypeError, match="different hinges cannot be compared.*simplify"):
            compare(functions["hinged"])
    with pytest.raises(TypeError, match="different hinges.*simplify"):
        abs(functions["sum"])


@pytest.mark.parametrize("kind", KINDS)
def test_equality_and_hash(kind):
    f, again, other = (random_functions(np.random.default_rng(seed))[kind] for seed in (0, 0, 1))
    assert f == again and hash(f) == hash(again) and f != other and len({f, again, other}) == 2
    assert f != -f and f != f + 1.0 and f != PLDC.total([f, f]) and f != f.terms[0] and f != 0
    assert pickle.loads(pickle.dumps(f)) == f
    assert f in [other, again]


def test_equal_parts_with_other_hinges_are_another_function():
    part = MaxAffine([[1.0, 2.0]], [0.0])
    bent = [PLDC(part, part, Hinges([knots])) for knots in ([0.0, 1.0], [0.0, 2.0])]
    assert bent[0] != bent[1] and bent[0] != PLDC(part, part)


def test_how_they_show_themselves():
    functions = random_functions(np.random.default_rng(0), 3)
    assert repr(functions["plain"]) == "PLDC(6 − 6 pieces in 3 dimensions)"
    assert repr(functions["hinged"]) == "PLDC(3 − 4 pieces in 3 dimensions, with hinges)"
    assert repr(functions["sum"]) == "PLDC(13 − 14 pieces in 3 dimensions, 3 terms, 1 with hinges)"
    assert repr(PLDC.total([functions["plain"]] * 2)) == "PLDC(12 − 12 pieces in 3 dimensions, 2 terms)"


def test_bounds_and_monotony_of_sums_that_cannot_be_written_out():
    rng = np.random.default_rng(3)
    f, g = random_pldc(rng, 3, 3, 2), random_pldc(rng, 3, 3, 2)
    bent = random_hinged(rng, 3, 3, Hinges([[-1.0, 0.0, 1.0], [-0.5, 0.5]]))
    box, X = [(-1.0, 1.0)] * 2, rng.uniform(-1, 1, (3000, 2))
    total = PLDC.total([f, bent])
    low, high = total.bounds_on(box)
    assert low <= total(X).min() and high >= total(X).max()
    assert (low, high) == pytest.approx(np.add(f.bounds_on(box), bent.bounds_on(box)))
    exact = PLDC.total([f, g]).bounds_on(box)  # this one can be
    assert exact == pytest.approx((f + g).bounds_on(box)) and exact[0] >= f.bounds_on(box)[0] + g.bounds_on(box)[0]


def test_monotony_of_sums():
    up, down, box = PLDC.affine([1.0, 0.0]), PLDC.affine([-2.0, 0.0]), [(-1.0, 1.0)] * 2
    parts = (MaxAffine([[0.0, 0.0, 0.5]], [0.0]), MaxAffine.zero(3))
    rising = PLDC(*parts, Hinges([[0.0, 1.0], []]))  # by 1/2 between 0 and 1
    assert PLDC.total([up, rising]).is_monotone(0, box)
    assert not PLDC.total([up, down]).is_monotone(0, box) and PLDC.total([up, down]).is_monotone(
        0, box, increasing=False
    )
    assert not PLDC.total([up / 4, -rising]).is_monotone(0, box)  # a falling slope is found
    with pytest.raises(TypeError, match="could not be decided"):  # it rises, but not term by term
        PLDC.total([up, -rising]).is_monotone(0, box)
    wide = PLDC(random_max_affine(np.random.default_rng(0), 400, 2), MaxAffine.zero(2))  # too many pieces together
    assert not PLDC.total([wide, wide]).is_monotone(0, box)
