"""Some of the random programs of ``make attack`` against CVXPY; and that the check can fail."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack import certificates

SOME = [*range(14), 21, 30]  # every loss twice, every kind of data


@pytest.mark.parametrize("number", SOME)
def test_bounds_hold(number):
    assert certificates.check(certificates.make(number)) == 4


def test_all_kinds_are_drawn():
    cases = certificates.cases()
    assert len(cases) == certificates.CASES
    assert {(c.loss, c.kind) for c in cases} >= {(l, k) for l in certificates.LOSSES for k in certificates.KINDS}
    assert {c.shape for c in cases} == {"dc", "convex", "concave"}
    assert any(c.linear and c.monotone for c in cases) and any(c.X.shape[1] == 7 for c in cases)
    assert any(c.weight is not None and (np.asarray(c.weight) == 0).any() for c in cases)


@pytest.mark.parametrize(
    "claim, words",
    [
        ({"lower": 1.01}, "above the optimum"),
        ({"upper": 0.99}, "below the optimum"),
        ({"gap": 0.5}, "without a warning"),
        ({"upper": 1.02}, "does"),
    ],
)
def test_false_claims_are_seen(claim, words, monkeypatch):
    case = certificates.make(0)
    best = certificates.reference(case)
    claimed = {"lower": best, "upper": best, "gap": 0.0}
    claimed |= {name: value * best if name != "gap" else value for name, value in claim.items()}
    model = SimpleNamespace(certificate_=SimpleNamespace(**claimed))
    monkeypatch.setattr(certificates, "fitted", lambda case: (model, False))
    monkeypatch.setattr(certificates, "claimed", lambda case, model: best)
    with pytest.raises(AssertionError, match=words):
        certificates.check(case)
