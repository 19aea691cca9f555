"""Labels of any kind: what they are called, which are refused, and what messages say of them."""

import numpy as np
import pandas as pd
import pytest
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=40), [-0.5, 0.5])
QUICK = {"lam": 0.1, "loss": "log", "n_jobs": 1}


@pytest.mark.parametrize("settings", [{"cv": 2}, {"cv": 2, "loss": "log"}, {"lam": 0.02}])
def test_names_of_classes_change_nothing_in_a_fit_of_the_program(settings):
    names = np.array(["m", "z", "a"])
    a, b = (DCClassifier(n_pieces="rows", n_jobs=1, **settings).fit(X, y) for y in (Y, names[Y]))
    assert b.classes_.tolist() == ["a", "m", "z"] and a.lam_ == b.lam_
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, [1, 2, 0]], atol=1e-9)
    assert a.score(X, Y) == b.score(X, names[Y]) > 0.7 and a.certificate_.gap == pytest.approx(b.certificate_.gap)


def test_names_of_two_classes_change_nothing_in_a_fit_of_the_program():
    y = Y > 0
    a, b = (DCClassifier(n_pieces="rows", cv=2, n_jobs=1).fit(X, each) for each in (y, ~y))
    assert a.lam_ == b.lam_
    np.testing.assert_allclose(a.decision_function(X), -b.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kind, plain", [(bool, np.bool_), (int, np.int64), (float, np.float64)])
def test_a_column_of_objects_may_hold_booleans_and_numbers(kind, plain):
    y = pd.Series([*(kind(label > 0) for label in Y), None], dtype=object).dropna()
    model = DCClassifier(**QUICK).fit(X, y)
    assert model.classes_.dtype == plain and model.score(X, y) > 0.8


@pytest.mark.parametrize(
    "y, match",
    [
        (
            np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")[Y % 2],
            "y holds '202.-01-01', of type datetime64",
        ),
        (pd.to_datetime(pd.Series(["2020-01-01", "2021-01-01"]))[Y % 2], r"Make text of them, y.astype\(str\)"),
        (np.array([pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2021-01-01", tz="UTC")])[Y % 2], "Timestamp"),
        (pd.Series([pd.Interval(0, 1), pd.Interval(1, 2)])[Y % 2].astype(object), "of type Interval: labels are text"),
        (
            np.array([True, 1], dtype=object)[np.arange(40) % 2],
            r"several types, \['bool', 'int'\]: make all of them text",
        ),
    ],
)
def test_labels_of_other_kinds_are_refused_with_a_remedy(y, match):
    with pytest.raises(ValueError, match=match):
        DCClassifier(**QUICK).fit(X, y)


def test_messages_show_labels_as_they_are():
    text = np.array(["se", "ve", "vi"])[Y]
    with pytest.raises(ValueError, match=r"class_weight names \['foo'\], .* give \['se', 've', 'vi'\]"):
        DCClassifier(class_weight={"se": 2, "foo": 3}, **QUICK).fit(X, text)
    with pytest.raises(ValueError, match=r"class_weight names \[7\], .* give \[False, True\]"):
        DCClassifier(class_weight={7: 1}, **QUICK).fit(X, Y > 0)
    model = DCClassifier(**QUICK).fit(X, Y)
    with pytest.raises(ValueError, match=r"as the fit, \[0, 1, 2\]; got \[0, 1\]"):
        model.simplify(X[Y < 2], Y[Y < 2])
    left = X[[X[:, 0].argmin()]]
    for method in ("local", "path"):
        assert "class 0, and not class 1" in str(model.explain(left, method=method))
    assert "\nse, and not ve" in str(DCClassifier(**QUICK).fit(X, text).explain(left, method="path"))


def test_of_two_classes_the_message_names_the_function():
    with few_kinds(), few_starts():
        model = DCClassifier(n_pieces=2, cv=2, n_jobs=1).fit(X, Y > 0)
    with pytest.raises(AttributeError, match=r"ask functions_\[1\] for that of the second"):
        model.function_  # noqa: B018
    assert model.score(X, model.functions_[1](X) > 0) == 1.0


def test_a_limit_on_time_that_is_not_kept_is_told():
    with pytest.warns(UserWarning, match="max_seconds is for fits of few pieces, and this is one of the program"):
        DCClassifier(max_seconds=5, **QUICK).fit(X, Y)
    short = DCClassifier(max_seconds=1e-3, n_pieces=2, n_jobs=1).fit(X, Y)
    assert "no rows were left out before max_seconds ended the fit" in str(short)
