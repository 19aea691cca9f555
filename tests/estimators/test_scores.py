"""What `score`, `class_weight` and `scoring` take, and how they refuse the rest."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from pldc import CrossValidation, DCClassifier, DCRegressor
from pldc.view import plot_classes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + np.abs(X[:, 1])
C = (X[:, 0] > 0).astype(int)
pytestmark = pytest.mark.usefixtures("quick_module")


@pytest.fixture(scope="module")
def models():
    return {"regression": DCRegressor().fit(X, Y), "classes": DCClassifier().fit(X, C)}


BAD = {
    "no y": (None, None, "y is missing"),
    "masked": (np.ma.masked_equal(np.arange(30), 3), None, "y is a masked array"),
    "too wide": (np.zeros((30, 2)), None, r"y must have shape \(n,\)"),
    "one number": (3.0, None, r"y must have shape \(n,\)"),
    "NaN": (np.full(30, np.nan), None, "contains NaN"),
    "negative weights": (C, -np.ones(30), "Negative values in sample_weight"),
    "complex weights": (C, np.ones(30) * 1j, "sample_weight must hold real numbers"),
    "too few weights": (C, np.ones(3), "one weight a row"),
    "weights of text": (C, ["a"] * 30, "sample_weight must hold numbers"),
}


@pytest.mark.parametrize("kind", ["regression", "classes"])
@pytest.mark.parametrize("case", BAD)
def test_bad_targets_and_weights(models, kind, case):
    y, weight, words = BAD[case]
    with pytest.raises(ValueError, match=words):
        models[kind].score(X, y, weight)


def test_numbers_beyond_all_floats_and_complex_ones(models):
    with pytest.raises(ValueError, match="y must be finite"):
        models["regression"].score(X, np.array([10**400] * 30, dtype=object))
    with pytest.raises(ValueError, match="y must hold real numbers"):
        models["regression"].score(X, Y + 1j)


def test_scores_are_those_of_scikit_learn(models):
    weight = RNG.random(30)
    for w in (None, weight, 1e307 * weight):
        mine = weight if w is not None else None
        assert models["regression"].score(X, Y, w) == pytest.approx(
            r2_score(Y, models["regression"].predict(X), sample_weight=mine)
        )
        wrong = 1 - C
        assert models["classes"].score(X, wrong, w) == pytest.approx(
            accuracy_score(wrong, models["classes"].predict(X), sample_weight=mine)
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({0: 10**400, 1: 1}, "class_weight must be finite"),
        ({0: 1j}, "class_weight must hold real numbers"),
        ({0: "a"}, "class_weight must hold numbers"),
        ({0: -1.0}, "class_weight must hold finite numbers"),
        ({0: [1.0], 1: 2.0}, "class_weight must hold finite numbers"),
        ({0: 0.0, 1: 0.0}, "class_weight is zero for all classes"),
    ],
)
def test_class_weights_are_named(given, words):
    with pytest.raises(ValueError, match=words):
        DCClassifier(class_weight=given).fit(X, C)


def test_class_weights_of_any_size():
    huge = DCClassifier(class_weight={0: 1e308, 1: 5e307}).fit(X, C, np.full(30, 1e10))
    same = DCClassifier(class_weight={0: 1.0, 1: 0.5}).fit(X, C)
    assert np.isfinite(huge.predict_log_proba(X)).all() and np.isfinite(huge.predict_proba(X)).all()
    assert (huge.predict(X) == same.predict(X)).mean() > 0.9  # so many rows as weights say are certain of more


def test_an_unknown_scorer_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"scoring must be .* got 'junk'\.$") as told:
        DCRegressor(cv=CrossValidation(scoring="junk")).fit(X, Y)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize("kind", [list, tuple])
def test_gaps_and_several_types_in_lists_of_labels(kind):
    text = ["ab"[c] for c in C]
    assert DCClassifier().fit(X, kind(text)).classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="1 of 30 labels are missing"):
        DCClassifier().fit(X, kind([float("nan"), *text[1:]]))
    with pytest.raises(ValueError, match="several types"):
        DCClassifier().fit(X, kind([1, *text[1:]]))


def test_pictures_refuse_masks(models):
    with pytest.raises(ValueError, match="y is a masked array"):
        plot_classes(models["classes"], X, np.ma.masked_equal(C, 1))


@pytest.mark.parametrize("gap", [None, np.nan])
def test_targets_that_are_missing_among_objects(gap):
    y = Y.astype(object)
    y[[2, 5]] = gap
    with pytest.raises(ValueError, match="contains NaN"):
        DCRegressor().fit(X, y)


def test_interactions_of_one_column_are_refused(models):
    with pytest.raises(ValueError, match="of pairs: columns must name two"):
        models["regression"].interactions(X, columns="x0")
    with pytest.raises(ValueError, match="y must have shape"):
        models["regression"].score(X, [[1, 2], [3]])
