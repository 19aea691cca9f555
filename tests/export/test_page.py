"""The page of a model: its script in Node says what the model says, and the file holds what was asked for."""

import json
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.export.fits import FRAME, TWO, X, fitted, rows, y
from tests.export.test_code import check, needs_node
from tests.export.test_columns import strange, table
from tests.quick import few_kinds, few_starts

from pldc import DCClassifier, DCRegressor
from pldc.estimators.explorer import columns_of, first_rows, range_of
from pldc.export.page import page, source

KINDS = ["default", "program", "few pieces", "monotone", "counts", "quantiles", "two classes", "hinge loss"]
RUN = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf8")), script = require(process.argv[1]);
const variant = asked.model.variants[asked.model.variants.length - 1];
process.stdout.write(JSON.stringify(asked.rows.map((cells) => {
  const found = script.predict(asked.model, variant, cells);
  return { ...found, sums: asked.model.levels ? null : script.reasons(asked.model, variant, cells, found) };
})));
"""


def record(html):
    """The model in a page."""
    (text,) = re.findall(r'<script id="model" type="application/json">(.*?)</script>', html, re.S)
    return json.loads(text)


def cells(model, X):
    return first_rows(columns_of(model, X), None, len(X)).cells


def answers(model, X, tmp_path):
    """What the script of the page says of rows."""
    script = tmp_path / "model.js"
    script.write_text(source("model.js"), encoding="utf-8")
    asked = {"model": record(page([("all", model.model_)])), "rows": cells(model, X)}
    return node(RUN, script, asked)


def node(code, script, asked):
    """Run code beside the script of the page."""
    given = {"input": json.dumps(asked), "capture_output": True, "text": True, "check": True, "timeout": 60}
    return json.loads(subprocess.run(["node", "-e", code, str(script)], **given).stdout)


def near(found, wanted, tol=1e-9):
    wanted = np.asarray(wanted, dtype=np.float64)
    assert np.shape(found) == wanted.shape
    assert (np.abs(np.asarray(found) - wanted) <= tol * np.maximum(1.0, np.abs(wanted))).all()


@needs_node
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_model(kind, tmp_path):
    model, at = fitted(kind), pd.DataFrame(rows(kind), columns=getattr(fitted(kind), "feature_names_in_", None))
    told = answers(model, at if hasattr(model, "feature_names_in_") else at.to_numpy(), tmp_path)
    if model.model_.classes is None:
        values = [each["values"] for each in told]
        check(kind, {"prediction": values if model.model_.levels else [v for (v,) in values]})
    else:
        found = {"score": [each["values"] for each in told]}
        if model.model_.temperature is None:
            assert all(each["probabilities"] is None for each in told)
        else:
            found["probability"] = [each["probabilities"] for each in told]
        found["label"] = [model.classes_[each["best"]] for each in told]
        check(kind, found)
    if model.model_.errors is not None and model.model_.levels is None:
        low, high = model.model_.interval(at.to_numpy(), 0.9)
        near([each["low"] for each in told], low)
        near([each["high"] for each in told], high)


@needs_node
@pytest.mark.parametrize("kind", ["default", "program", "two classes"])
def test_reasons_are_exact_path_contributions(kind, tmp_path):
    model = fitted(kind)
    at = FRAME[:40] if hasattr(model, "feature_names_in_") else X[:40]
    told = answers(model, at, tmp_path)
    near([each["sums"] for each in told], model.explain(at, method="path").contributions, 1e-8)


@needs_node
@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_categories_dates_and_gaps(kind, tmp_path):
    frame, new = table(250, 0), strange(300)
    target = frame["size"].fillna(20) + 3 * (frame["it's a colour"] == "red") + frame["day"].dt.month.fillna(0)
    with few_kinds():
        if kind == "regression":
            model = DCRegressor(clip=False).fit(frame, target)
        else:
            model = DCClassifier().fit(frame, np.where(target > target.median(), "high", "low"))
    told = answers(model, new, tmp_path)
    if kind == "regression":
        near([each["value"] for each in told], model.predict(new))
    else:
        near([each["probabilities"] for each in told], model.predict_proba(new))


@needs_node
def test_rows_far_from_the_origin(tmp_path):
    far = X + [0.0, 1e9, -1e7]
    with few_kinds():
        model = DCRegressor(clip=False).fit(far, y)
    assert model.function_.center is not None
    told = answers(model, far, tmp_path)
    near([each["value"] for each in told], model.predict(far))
    near([each["sums"] for each in told], model.explain(far, method="path").contributions, 1e-6)


@needs_node
def test_curves_bend_where_the_model_does(tmp_path):
    model, row = fitted("program by folds"), X[:1]  # not cut to a range
    (tmp_path / "model.js").write_text(source("model.js"), encoding="utf-8")
    ends = [[float(each) for each in np.quantile(X[:, k], [0.0, 1.0])] for k in range(3)]
    code = """
    const asked = JSON.parse(require("fs").readFileSync(0, "utf8")), script = require(process.argv[1]);
    const at = (k, v) => asked.row.map((c, j) => (j === k ? v : c)), [f] = asked.model.variants[0].functions;
    process.stdout.write(JSON.stringify(asked.ends.map(([low, high], k) =>
      script.breakpoints(f, at(k, low), at(k, high)).map((t) => low + t * (high - low)))));
    """
    asked = {"model": record(page([("all", model.model_)])), "row": row[0].tolist(), "ends": ends}
    bends = 0
    for k, places in enumerate(node(code, tmp_path / "model.js", asked)):
        wanted = model.curve(k, row, between=tuple(ends[k]))
        found = np.array(places)
        assert found[0] == ends[k][0] and np.isclose(found[-1], ends[k][1])
        assert (np.abs(wanted.x[:, None] - found).min(axis=1) <= 1e-9 * np.abs(ends[k]).max()).all()
        middle = 0.5 * (found[1:] + found[:-1])  # between them the function is linear
        values = [model.predict(np.where(np.arange(3) == k, at[:, None], row)) for at in (found, middle)]
        near(values[1], 0.5 * (values[0][1:] + values[0][:-1]), 1e-8)
        bends += len(wanted.x) - 2
    assert bends > 3


@needs_node
def test_regions_over_two_columns_are_those_of_the_pieces(tmp_path):
    model = fitted("few pieces")
    (tmp_path / "model.js").write_text(source("model.js"), encoding="utf-8")
    known = record(page([("all", model.model_)]))
    row = model.reference_.tolist()
    code = """
    const asked = JSON.parse(require("fs").readFileSync(0, "utf8")), script = require(process.argv[1]);
    const [plus] = script.borders(asked.model, asked.model.variants[0].functions[0], asked.row, 0, 1);
    process.stdout.write(JSON.stringify(plus));
    """
    told = node(code, tmp_path / "model.js", {"model": known, "row": row})
    shapes = [np.array(shape) for shape in told]
    areas = [0.5 * abs(np.dot(s[:, 0], np.roll(s[:, 1], 1)) - np.dot(s[:, 1], np.roll(s[:, 0], 1))) for s in shapes]
    assert np.isclose(sum(areas), 1.0)
    side = (np.arange(200) + 0.5) / 200  # shares of points at which each piece is the largest
    grid = np.tile(model.reference_, (200 * 200, 1))
    for k, share in enumerate(np.meshgrid(side, side)):
        column = known["columns"][k]
        grid[:, k] = column["low"] + (column["high"] - column["low"]) * share.ravel()
    counts = np.bincount(model.function_.terms[0].plus.active(grid)) / len(grid)
    assert len(shapes) == (counts > 0).sum() > 1
    assert np.allclose(sorted(areas), sorted(counts[counts > 0]), atol=5e-3)


def test_page_is_small_and_asks_for_nothing(tmp_path):
    fitted("default").explorer(tmp_path / "page.html", FRAME)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    model = record(html)
    assert len(html.encode()) - len(json.dumps(model)) < 150_000
    assert "default-src 'none'" in html
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", html) and "import(" not in html and "fetch(" not in html
    assert set(re.findall(r"https?://[^\"'\s]+", html.replace(json.dumps(model), ""))) == {"http://www.w3.org/2000/svg"}


def test_no_row_is_in_the_page_unless_asked(tmp_path):
    model = fitted("default")
    for k, asked in enumerate([{}, {"X": FRAME}, {"X": FRAME, "rows": 3}]):
        model.explorer(tmp_path / f"{k}.html", **asked)
    pages = [(tmp_path / f"{k}.html").read_text(encoding="utf-8") for k in range(3)]
    inner = np.argsort(FRAME["heat"].to_numpy())[len(FRAME) // 3]  # neither an end of the range nor the median
    assert all(repr(float(FRAME["heat"][inner])) not in text for text in pages[:2])
    assert [record(text)["rows"] for text in pages[:2]] == [None, None]
    assert record(pages[2])["rows"]["cells"] == FRAME[:3].to_numpy().tolist()


def test_ranges_come_from_the_table_or_from_what_the_model_keeps(tmp_path):
    model = fitted("default")
    model.explorer(tmp_path / "own.html", FRAME)
    model.explorer(tmp_path / "kept.html")
    own, kept = (record((tmp_path / f"{name}.html").read_text(encoding="utf-8"))["columns"] for name in ("own", "kept"))
    assert [c["low"] for c in own] == FRAME.min().tolist() and [c["high"] for c in own] == FRAME.max().tolist()
    assert [c["typical"] for c in own] == FRAME.median().tolist()
    assert [c["typical"] for c in kept] == model.reference_.tolist()
    assert np.allclose([c["high"] - c["low"] for c in kept], 5 * model.spread_)
    level = range_of(np.array(["b", None, "a", "b"], dtype=object))
    assert level.typical == "b" and range_of(np.array([None], dtype=object)).typical is None
    assert range_of(np.array([3.0, np.nan, 1.0])).whole and range_of(np.array([np.nan])).typical is None


def test_simpler_models_come_first_and_say_what_they_cost(tmp_path):
    with few_kinds(), few_starts():
        model = DCRegressor().fit(FRAME, y)
        few = model.simplify(FRAME, y, n_pieces=3)
        model.explorer(tmp_path / "page.html", FRAME, y, simpler=[few, 2])
    found = record((tmp_path / "page.html").read_text(encoding="utf-8"))["variants"]
    sizes = [max(len(t["plus"]["offsets"]) for t in each["functions"][0]["terms"]) for each in found[:2]]
    assert len(found) == 3 and sizes[0] <= 2 and found[1]["functions"][0] == few.function_.to_dict()
    assert found[2]["functions"][0] == model.function_.to_dict()
    assert "R²" in found[1]["about"] and "fidelity" in found[1]["about"] and "a mean of" in found[2]["about"]


def test_certificate_says_what_is_proved(tmp_path):
    program, descent = (record(page([("", fitted(kind).model_)])) for kind in ("program", "default"))
    proved = program["variants"][0]["certificate"]
    assert proved["upper"] == fitted("program").certificate_.upper and proved["lower"] <= proved["upper"]
    assert descent["variants"][0]["certificate"]["upper"] is None


def test_a_model_knows_the_name_of_its_target():
    few = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    for target, name in ((pd.Series([0.0, 1.0, 3.0], name="price"), "price"), (pd.Series([0.0, 1.0, 3.0]), None)):
        assert DCRegressor(lam=0.1).fit(few, target).model_.target == name
    assert DCClassifier().fit(few, pd.Series(["x", "y", "y"], name="kind")).model_.target == "kind"
    assert DCRegressor(lam=0.1).fit([[0.0], [1.0]], [0.0, 1.0]).model_.target is None


def test_the_page_says_what_is_predicted(tmp_path):
    model, found = fitted("default"), []
    named = pd.Series(y, name="yield")
    for asked in (
        {"X": FRAME},
        {"y": y},
        {"y": named},
        {"y": named, "target": "crop"},
        {"target": "crop", "title": "T"},
    ):
        model.explorer(tmp_path / "page.html", **{"X": FRAME} | asked, simpler=())
        page = record((tmp_path / "page.html").read_text(encoding="utf-8"))
        found.append((page["predicted"], page["title"]))
    some = ", ".join(FRAME.columns)
    assert found == [
        *[(None, f"A prediction from {some}")] * 2,
        ("yield", f"yield from {some}"),
        ("crop", f"crop from {some}"),
        ("crop", "T"),
    ]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"path": "page.txt"}, ValueError, "ends in .html"),
        ({"path": "nowhere/page.html"}, ValueError, "no folder"),
        ({"y": y}, ValueError, "give X"),
        ({"rows": 3}, ValueError, "give X"),
        ({"target": 3}, TypeError, "target must be the name"),
        ({"X": FRAME, "rows": -1}, ValueError, "rows"),
        ({"X": FRAME, "y": y, "simpler": "4"}, TypeError, "simpler"),
        ({"X": FRAME, "y": y, "simpler": [fitted]}, TypeError, "simpler"),
        ({"X": FRAME.iloc[:, :2]}, ValueError, "feature"),
    ],
)
def test_what_is_wrong_is_said(asked, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        fitted("default").explorer(asked.pop("path", "page.html"), **asked)
    assert not list(tmp_path.iterdir())


def test_labels_of_any_kind(tmp_path):
    model = fitted("hinge loss")  # True and False
    model.explorer(tmp_path / "page.html", X)
    assert record((tmp_path / "page.html").read_text(encoding="utf-8"))["classes"] == ["False", "True"]
    fitted("two classes").explorer(tmp_path / "page.html", FRAME, TWO, rows=2, simpler=())
    assert record((tmp_path / "page.html").read_text(encoding="utf-8"))["rows"]["targets"] == TWO[:2].tolist()
