import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from tests.export.test_page import record
from tests.quick import few_kinds, few_starts

from pldc.cli import demo as cli
from pldc.cli import main


@pytest.fixture
def smaller(monkeypatch):
    """The same demo on a few rows and pieces, so that it takes seconds."""
    diabetes, surface = cli.problems()
    few = (
        diabetes._replace(X=diabetes.X[::9, :3], y=diabetes.y[::9], features=diabetes.features[:3], n_pieces=2),
        surface._replace(X=surface.X[:40], y=surface.y[:40], n_pieces=2),
    )
    monkeypatch.setattr(cli, "problems", lambda: few)
    monkeypatch.setattr(cli, "FOLDS", 2)
    with few_starts(starts=2), few_kinds():
        yield few


def test_demo_prints_tables_and_writes_the_figure(smaller, tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    for p in smaller:
        (scores,) = [line.split() for line in lines if line.startswith(p.name + " ")]
        assert scores[1:3] == [str(len(p.X)), str(p.X.shape[1])]
        linear, rival = [], LinearRegression()
        for train, test in KFold(2, shuffle=True, random_state=0).split(p.X):
            linear.append(rival.fit(p.X[train], p.y[train]).score(p.X[test], p.y[test]))
        assert scores[4] == f"{np.mean(linear):.3f}" and np.isfinite(float(scores[3]))
    (head,) = [k for k, line in enumerate(lines) if line.split()[:2] == ["region", "0"]]
    told = [line.split() for line in lines[head : lines.index("", head)]]
    assert told[1][0] == "rows" and sum(map(int, told[1][1:])) == len(smaller[0].X) // 2
    assert [row[2] for row in told[4:7]] == ["age", "sex", "bmi"] and "precision" in out
    for words in (
        "fidelity",
        "cross-validated R²",
        "prediction",
        "slopes ",
        str(tmp_path / "surface.png"),
        str(tmp_path / "explorer.html"),
    ):
        assert words in out
    assert len(err.splitlines()) == 4 and "s left" in err and "\r" not in err  # a line for each stage
    assert (tmp_path / "surface.png").read_bytes()[:4] == b"\x89PNG"
    model = record((tmp_path / "explorer.html").read_text(encoding="utf-8"))
    assert [c["name"] for c in model["columns"]] == ["age", "sex", "bmi"] and len(model["variants"]) == 2


def test_progress_rewrites_one_line_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = cli.Progress(4.0)
    progress._began -= 3.0
    progress.show("fits", ", 0 done")
    progress.add(1.0)
    progress.show("fits", ", 1 done")
    progress.end()
    err = capsys.readouterr().err
    assert "\n" not in err and err.endswith("\r")
    assert [part.strip() for part in err.split("\r")] == [
        "",
        "fits, 0 done …",
        "fits, 1 done, about 9 s left …",
        "",
        "",
    ]
