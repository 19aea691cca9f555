"""What was learned, by itself: predictions, intervals, explanations."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pldc import PLDC, Model, Simplification
from pldc.function.errors import MOST_ERRORS, Errors

CORNER = abs(PLDC.affine([1.0, 0.0]))
MODEL = Model("program", (CORNER,), center=np.array([1.0, 2.0]), spread=np.array([1.0, 4.0]), limits=(0.5, 2.0))


def smallest(sizes, weights, coverage):
    """By trying every size: the first that enough of all weight, and of one more row of mean weight, is not above."""
    need = coverage * (sum(weights) + np.mean(weights))
    for size in sorted(sizes):
        if sum(w for s, w in zip(sizes, weights, strict=True) if s <= size) >= need * (1 - 1e-9):
            return size
    return max(sizes)


# ---------------------------------------------------------------- errors


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=30),
    st.integers(1, 99),
)
def test_the_quantile_is_the_one_of_its_definition(pairs, percent):
    sizes, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = Errors.of(sizes, weights).quantile(percent / 100)
    assert found == smallest(sizes, weights, percent / 100)


def test_of_equal_weights_it_is_the_order_statistic_of_conformal_prediction():
    sizes = np.random.default_rng(0).permutation(np.arange(1.0, 20.0))  # nineteen
    errors = Errors.of(sizes, np.ones(19))
    assert [errors.quantile(c) for c in (0.05, 0.5, 0.9, 0.95)] == [1.0, 10.0, 18.0, 19.0]  # the ⌈20 c⌉-th smallest
    assert errors.quantile(0.99) == 19.0  # there is no twentieth: the largest stands in
    assert np.array_equal(errors.size, np.arange(1.0, 20.0))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 4)), min_size=10, max_size=30), st.integers(1, 99))
def test_a_weight_of_two_is_the_row_twice_but_for_the_size_of_the_one_row_more(pairs, percent):
    sizes, counts = (np.array(column) for column in zip(*pairs, strict=True))
    coverage, n = percent / 100, counts.sum()
    heavy, repeated = Errors.of(sizes, counts), Errors.of(np.repeat(sizes, counts), np.ones(n))
    exact = smallest(np.repeat(sizes, counts), np.ones(n), coverage)
    assert repeated.quantile(coverage) == exact
    ordered = np.sort(np.repeat(sizes, counts))
    place = coverage * (n + counts.mean())  # in place of n + 1
    assert heavy.quantile(coverage) == ordered[min(int(np.ceil(place * (1 - 1e-9))), n) - 1]
    assert exact <= heavy.quantile(coverage)


def test_the_scale_of_weights_does_not_matter():
    rng = np.random.default_rng(0)
    sizes, weights = rng.exponential(size=50), rng.uniform(0.1, 2.0, 50)
    one, other = Errors.of(sizes, weights), Errors.of(sizes, 1e-9 * weights)
    assert all(one.quantile(c) == other.quantile(c) for c in np.linspace(0.01, 0.99, 99))


@pytest.mark.parametrize("even", [True, False])
def test_many_errors_are_kept_as_quantiles_within_two_thousandths_of_the_weight(even):
    rng = np.random.default_rng(0)
    sizes, weights = rng.exponential(size=40_000), np.ones(40_000) if even else rng.uniform(0.0, 2.0, 40_000)
    all_of_them, kept = Errors(np.sort(sizes), weights[np.argsort(sizes)]), Errors.of(sizes, weights)
    assert len(kept.size) == MOST_ERRORS == 1000 and len(kept.weight) == 1  # all alike
    assert 1000 * kept.weight[0] == pytest.approx(weights.sum())
    for coverage in (0.01, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99):
        least, most = (all_of_them.quantile(c) for c in (coverage, min(coverage + 2 / MOST_ERRORS, 0.99999)))
        assert least <= kept.quantile(coverage) <= most  # never too narrow, and wide enough for at most 0.2 % more
    order = rng.permutation(40_000)
    shuffled = Errors.of(sizes[order], weights[order])
    assert np.array_equal(shuffled.size, kept.size)


def test_a_thousand_errors_are_kept_in_four_digits_rounded_up():
    sizes = np.random.default_rng(0).exponential(size=MOST_ERRORS)
    kept, exact = Errors.of(sizes, np.ones(MOST_ERRORS)).size, np.sort(sizes)
    assert (kept >= exact).all() and (kept <= 1.001 * exact).all() and (np.diff(kept) >= 0).all()
    assert max(len(f"{size:e}".split("e")[0].rstrip("0")) for size in kept) == len("1.234")
    assert np.array_equal(Errors.of(kept, np.ones(MOST_ERRORS)).size, kept)


def test_one_weight_stands_for_all():
    sizes = np.arange(1.0, 20.0)
    one, each = Errors.of(sizes, np.full(19, 0.3)), Errors(sizes, np.full(19, 0.3))
    assert len(one.weight) == 1 and len(Errors.of(sizes, np.append(np.ones(18), 2.0)).weight) == 19
    assert [one.quantile(c) for c in (0.1, 0.5, 0.9, 0.99)] == [each.quantile(c) for c in (0.1, 0.5, 0.9, 0.99)]


# ---------------------------------------------------------------- the model


def test_predictions_are_cut_to_the_limits():
    X = np.array([[-3.0, 0.0], [0.0, 0.0], [1.5, 9.0]])
    assert MODEL.predict(X).tolist() == [2.0, 0.5, 1.5]
    assert MODEL.function(X).tolist() == [3.0, 0.0, 1.5]
    assert replace(MODEL, limits=(-np.inf, np.inf)).predict(X).tolist() == [3.0, 0.0, 1.5]


def test_intervals_are_the_prediction_and_as_far_as_errors_went():
    model = replace(MODEL, errors=Errors.of(np.arange(1.0, 20.0), np.ones(19)))
    X = np.array([[-3.0, 0.0], [1.5, 9.0]])
    low, high = model.interval(X, 0.5)
    assert low.tolist() == [2.0 - 10.0, 1.5 - 10.0] and high.tolist() == [12.0, 11.5]
    with pytest.raises(ValueError, match="Intervals come from rows left out, and this fit left out none: fit"):
        MODEL.interval(X, 0.5)


def test_intervals_are_wider_where_the_scale_is_larger():
    errors = replace(
        Errors.of(np.arange(1.0, 20.0), np.ones(19)), scale=PLDC.affine([2.0, 0.0], 1.0), limits=(0.5, 4.0)
    )
    X = np.array([[-3.0, 0.0], [0.5, 0.0], [1.0, 7.0], [9.0, 9.0]])  # below the limits, within twice, above
    np.testing.assert_allclose(errors.width(X, 0.5), 10.0 * np.array([0.5, 2.0, 3.0, 4.0]))
    low, high = replace(MODEL, errors=errors).interval(X, 0.5)
    np.testing.assert_allclose(high - low, 2 * errors.width(X, 0.5))
    np.testing.assert_allclose(low + high, 2 * MODEL.predict(X))


def test_nothing_is_said_below_the_lowest_target_there_can_be():
    errors = Errors.of(np.full(19, 0.7), np.ones(19))
    counts = replace(MODEL, functions=(PLDC.affine([1.0, 0.0]),), limits=(-np.inf, np.inf), lowest=0.0, errors=errors)
    X = np.array([[-3.0, 0.0], [0.5, 0.0], [2.0, 0.0]])
    assert counts.predict(X).tolist() == [0.0, 0.5, 2.0]
    low, high = counts.interval(X, 0.9)
    np.testing.assert_allclose(low, [0.0, 0.0, 1.3])
    np.testing.assert_allclose(high, [0.7, 1.2, 2.7])
    assert counts.explain(X).prediction.tolist() == [0.0, 0.5, 2.0]


def test_a_model_is_frozen_and_goes_through_a_pickle():
    with pytest.raises(FrozenInstanceError):
        MODEL.kind = "compact"
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert np.array_equal(pickle.loads(pickle.dumps(MODEL)).predict(X), MODEL.predict(X))


def test_scores_of_classes_and_their_probabilities():
    model = replace(MODEL, functions=(CORNER, PLDC.affine([0.0, 1.0])), classes=np.array(["a", "b"]), temperature=2.0)
    X = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert model.scores(X).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    np.testing.assert_allclose(model.probabilities(X), [[0.5, 0.5], [1 / (1 + np.e**2), 1 / (1 + np.e**-2)]])
    assert model.explain_classes(X[1:]).prediction.tolist() == ["b"]
    with pytest.raises(ValueError, match="not calibrated"):
        replace(model, temperature=None).probabilities(X)
    with pytest.raises(ValueError, match="no classes"):
        MODEL.explain_classes(X)
    with pytest.raises(ValueError):  # two functions are no regression
        model.predict(X)


def test_contributions_are_from_the_mean_of_the_training_rows_unless_told_otherwise():
    X = np.array([[1.7, 3.0]])
    assert MODEL.explain(X).contributions.tolist() == [[pytest.approx(0.7), 0.0]]
    assert MODEL.explain(X, [0.5, 0.0]).contributions.tolist() == [[pytest.approx(1.2), 0.0]]
    assert MODEL.explain(X).features == ("x0", "x1")


def test_a_reference_may_have_names():
    named = replace(MODEL, feature_names=("dose", "age"))
    assert named.reference().tolist() == [1.0, 2.0]
    for given_ in ({"age": 3.0, "dose": 4.0}, pd.Series({"age": 3.0, "dose": 4.0}), {0: 4.0, 1: 3.0}):
        assert named.reference(given_).tolist() == [4.0, 3.0]
    assert MODEL.reference({1: 3.0, 0: 4.0}).tolist() == [4.0, 3.0]
    for wrong in ({"age": 3.0}, {"age": 3.0, "weight": 4.0}):
        with pytest.raises(ValueError, match=r"reference must name each feature of X, \['dose', 'age'\]"):
            named.reference(wrong)


def test_a_simplification_says_what_it_cost():
    about = Simplification((3, 2), 0.97654, -0.123456, -0.1)
    assert str(about) == "3 − 2 pieces: cross-validated score -0.1235, -0.1 before; fidelity 0.977"
    said = str(replace(about, squared=True))
    assert said == "3 − 2 pieces: cross-validated R² about 0.877 (score -0.1235), 0.900 (-0.1) before; fidelity 0.977"
    early = str(replace(about, score=np.nan, score_before=np.nan))
    assert early == "3 − 2 pieces: not cross-validated, for want of time; fidelity 0.977"


def test_intervals_that_cannot_be_had_say_what_to_do():
    for kind, words in (
        ("program", "fit with lam='cv' and at least four"),
        ("simplified", "raise max_seconds"),
        ("compact", "fit at least four distinct rows, and raise max_seconds"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(MODEL, kind=kind).interval(np.zeros((1, 2)), 0.5)
