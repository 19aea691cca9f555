import pytest
from experiments.folds import report


def rows(ratio):
    return [
        {"dataset": d, "folds": k, "seed": s, "value": v * (ratio if k == 10 else 1.0), "seconds": k / 5}
        for d, v in (("p", 1.0), ("q", 20.0), ("r", 5.0))
        for s in range(3)
        for k in (5, 10)
    ]


@pytest.mark.parametrize("ratio, better", [(0.5, "3 of 3 sets"), (2.0, "0 of 3 sets")])
def test_errors_are_relative_to_five_folds_seed_by_seed(ratio, better):
    some = [r for r in rows(ratio) if not (r["dataset"] == "p" and r["folds"] == 5 and r["seed"] == 2)]
    _, line = report(some)
    assert line == ["10", f"{ratio:.3f}", f"{ratio:.3f} to {ratio:.3f}", better, "2.0"]
