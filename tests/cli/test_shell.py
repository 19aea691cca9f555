"""Every command of the shell on a real table, and on files that are none."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.export.test_page import record
from tests.quick import few_kinds, few_starts

import pldc
from pldc import DCRegressor
from pldc.cli import main
from pldc.cli.tables import holds_classes, read_table

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two real tables as CSV, and a model of each."""
    folder = tmp_path_factory.mktemp("shell")
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X[["bmi", "s5", "bp", "sex"]].assign(target=y)[:120].to_csv(folder / "data.csv", index=False)
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(kind=np.array(["setosa", "versicolor", "virginica"])[y]).to_csv(folder / "iris.csv", index=False)
    with few_kinds(), few_starts():
        assert run("fit", folder / "data.csv", "--target", "target", "-o", folder / "model.json", "--quiet") == 0
        assert run("fit", folder / "iris.csv", "--target", "kind", "-o", folder / "iris.json.gz", "--quiet") == 0
    return folder


def run(*words):
    return main([str(word) for word in words])


def said(capsys, *words, code=0):
    """Run a command; return what it said on standard output, or the one line of an error."""
    capsys.readouterr()
    assert run(*words) == code
    out, err = capsys.readouterr()
    if code == 0:
        return out
    assert out == "" and err.startswith("pldc: ") and len(err.splitlines()) == 1 and len(err) < 400
    return err


def shell(*words, code="utf-8", **more):
    """The shell as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": code}
    return subprocess.Popen([sys.executable, "-m", "pldc", *map(str, words)], env=environment, **more)


# ---------------------------------------------------------------- every command


def test_fit_says_what_was_found(files, tmp_path, capsys):
    with few_kinds():
        words = ("fit", files / "data.csv", "--target", "target", "--drop", "sex", "-o", tmp_path / "m.json")
        told = json.loads(said(capsys, *words, "--json", "--max-seconds", "20", "--seed", "1"))
        capsys.readouterr()
        assert run(*words) == 0
    out = capsys.readouterr().out
    assert told["rows"] == 120 and told["columns"] == 3 and told["score"] < 0
    assert "R² about" in out and str(tmp_path / "m.json") in out
    model = pldc.load(tmp_path / "m.json")
    assert list(model.feature_names_in_) == ["bmi", "s5", "bp"] and type(model).__name__ == "DCRegressor"


def test_numbers_that_may_be_classes_are_pointed_out(files, tmp_path, capsys):
    pd.read_csv(files / "iris.csv").assign(kind=np.arange(150) // 50).to_csv(tmp_path / "coded.csv", index=False)
    words = ("fit", tmp_path / "coded.csv", "--target", "kind", "-o", tmp_path / "m.json")
    with few_kinds():
        assert run(*words) == 0
        assert "3 values" in capsys.readouterr().err and not hasattr(pldc.load(tmp_path / "m.json"), "classes_")
        assert run(*words, "--classes") == 0
    assert "3 values" not in capsys.readouterr().err and len(pldc.load(tmp_path / "m.json").classes_) == 3


def test_predict_is_predict(files, tmp_path, capsys):
    table, model = pd.read_csv(files / "data.csv"), pldc.load(files / "model.json")
    out = said(capsys, "predict", files / "model.json", files / "data.csv", "--interval", "0.8")
    head, *lines = [line.split(",") for line in out.splitlines()]
    X = table[list(model.feature_names_in_)]
    assert head == ["prediction", "low", "high"]
    assert np.array_equal(np.array(lines, dtype=float).T, [model.predict(X), *model.predict_interval(X, 0.8)])
    assert said(capsys, "predict", files / "model.json", files / "data.csv", "-o", tmp_path / "file.csv") == ""
    assert len(pd.read_csv(tmp_path / "file.csv")) == 120 and len(list(tmp_path.iterdir())) == 1
    out = said(capsys, "predict", files / "iris.json.gz", files / "iris.csv").splitlines()
    assert out[0] == "prediction,probability of setosa,probability of versicolor,probability of virginica"
    assert out[1].startswith("setosa,")


def test_explain_adds_up(files, capsys):
    told = json.loads(said(capsys, "explain", files / "model.json", files / "data.csv", "--rows", "3", "--json"))
    for each in told:
        assert np.isclose(each["reference"] + sum(each["contributions"].values()), each["prediction"])
    text = said(capsys, "explain", files / "model.json", files / "data.csv", "--rows", "2")
    assert text.count("prediction") == 2 and "bmi" in text
    assert "setosa" in said(capsys, "explain", files / "iris.json.gz", files / "iris.csv")


def test_simplify_and_its_cost(files, tmp_path, capsys):
    with few_kinds(), few_starts():
        words = ("simplify", files / "model.json", files / "data.csv", "--target", "target", "--pieces", "2", "--json")
        told = json.loads(said(capsys, *words, "-o", tmp_path / "few.json", "--quiet"))
        assert run(*words[:-1], "-o", tmp_path / "few.json") == 0
    assert f"cross-validated R² about {1 + told['score']:.3f} (score {told['score']:.4g}), " in capsys.readouterr().out
    assert max(told["pieces"]) <= 2 and told["fidelity"] <= 1 and told["score"] < 0
    assert max(pldc.load(tmp_path / "few.json").function_.n_pieces) <= 2


@pytest.mark.parametrize(("name", "target", "first"), [("data", "target", "R²"), ("iris", "kind", "accuracy")])
def test_score_puts_rivals_beside(files, capsys, name, target, first):
    with few_kinds():
        words = ("score", files / f"{name}.csv", "--target", target, "--folds", "2", "--quiet")
        told = json.loads(said(capsys, *words, "--json"))
    table = pd.read_csv(files / f"{name}.csv")
    X, y = table.drop(columns=target), table[target]
    if name == "data":
        linear, folds = LinearRegression(), KFold(2, shuffle=True, random_state=0)
    else:
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        folds = StratifiedKFold(2, shuffle=True, random_state=0)
    ours, theirs, boosted = told.values()
    assert next(iter(told)) == "pldc" and np.isclose(theirs[first], cross_val_score(linear, X, y, cv=folds).mean())
    assert ours[first] > 0 and boosted[first] > 0 and all(each["seconds a fit"] > 0 for each in told.values())
    assert all(value > 0 for value in ours.values())  # losses, too, have their own sign


@pytest.mark.parametrize(
    ("to", "words"),
    [("sql", "SELECT"), ("c", "double"), ("js", "export function predict"), ("numpy", "import numpy")],
)
def test_export_to_text(files, tmp_path, capsys, to, words):
    out = said(capsys, "export", files / "model.json", "--to", to)
    assert words in out
    said(capsys, "export", files / "model.json", "--to", to, "-o", tmp_path / "file")
    assert (tmp_path / "file").read_text(encoding="utf-8") == out


def test_export_to_onnx(files, tmp_path, capsys):
    assert "name a file" in said(capsys, "export", files / "model.json", "--to", "onnx", code=1)
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    said(capsys, "export", files / "model.json", "--to", "onnx", "-o", tmp_path / "model.onnx")
    onnx.checker.check_model(str(tmp_path / "model.onnx"))


def test_explore_writes_a_page(files, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ("explore", files / "model.json", files / "data.csv", "-o", page, "--quiet")
    assert said(capsys, *words, "--rows", "5", "--title", "T").strip() == str(page)
    model = record(page.read_text(encoding="utf-8"))
    assert model["title"] == "T" and len(model["rows"]["cells"]) == 5 and len(model["variants"]) == 1
    assert model["predicted"] == "target"  # the model file knows
    assert run(*words[:-1]) == 0 and "with --target the page also gets simpler models" in capsys.readouterr().err
    assert record(page.read_text(encoding="utf-8"))["title"] == "target from bmi, s5, bp …"
    assert run(*words[:-1], "--pieces", "0") == 0 and "--target" not in capsys.readouterr().err
    with few_kinds(), few_starts():
        said(capsys, *words, "--target", "target", "--pieces", "2")
    assert len(record(page.read_text(encoding="utf-8"))["variants"]) == 2
    said(capsys, "explore", files / "iris.json.gz", "-o", page)
    assert record(page.read_text(encoding="utf-8"))["classes"] == ["setosa", "versicolor", "virginica"]
    assert "name it after" in said(capsys, "explore", files / "model.json", "--rows", "3", "-o", page, code=1)


def test_version_completion_and_help(capsys):
    with pytest.raises(SystemExit) as end:
        run("--version")
    assert end.value.code == 0 and capsys.readouterr().out == f"pldc {pldc.__version__}\n"
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 2 and "command" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        run("simplify", "a", "b", "--target", "t", "-o", "c.json", "--pieces", "-3")
    assert end.value.code == 2 and "≥ 1" in capsys.readouterr().err
    script = said(capsys, "completion")
    ask = script + 'COMP_WORDS=(pldc ex); COMP_CWORD=1; _pldc; echo "${COMPREPLY[@]}"\n'
    ask += 'COMP_WORDS=(pldc fit --t); COMP_CWORD=2; _pldc; echo "${COMPREPLY[@]}"\n'
    found = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split() for line in found] == [["explain", "export", "explore"], ["--target"]]


def test_codes_are_categories_and_stay_as_they_are(tmp_path, capsys):
    rng = np.random.default_rng(0)
    codes = rng.choice(["01005", "1005", "20000", ""], 90)
    table = pd.DataFrame({" zip": codes, "a,b": rng.integers(0, 3, 90), "x": rng.normal(size=90)})
    table["kind"], table["day"] = rng.choice(["u", "v"], 90), "2024-01-01"
    table["price"] = table["x"] + 3.0 * (codes == "01005") + rng.normal(size=90) / 10
    path, goal = tmp_path / "codes.csv", tmp_path / "m.json"
    table.to_csv(path, index=False)
    words = ("fit", path, "--target", "price", "-o", goal, "--quiet", "--drop", "day")
    with few_kinds():
        assert run(*words, "--categorical", "zip", "--categorical", '"a,b"') == 0
    model = pldc.load(goal)
    assert model.categorical_features == ["zip", "a,b", "kind"]
    assert model.model_.columns.levels(0) == ("01005", "1005", "20000") and model.model_.columns.levels(1) == tuple(
        "012"
    )
    out = said(capsys, "predict", goal, path).splitlines()[1:]
    X = table.rename(columns={" zip": "zip"})[["zip", "a,b", "x", "kind"]].replace({"zip": {"": None}})
    np.testing.assert_allclose([float(each) for each in out], model.predict(X), rtol=1e-12)
    assert "zip" in said(capsys, "explain", goal, path)
    with few_kinds(), few_starts():
        told = json.loads(
            said(
                capsys,
                "simplify",
                goal,
                path,
                "--target",
                "price",
                "--drop",
                "day",
                "--json",
                "--quiet",
                "--pieces",
                "2",
                "-o",
                tmp_path / "few.json",
            )
        )
        assert told["fidelity"] > 0.5
        again = json.loads(
            said(capsys, "score", *words[1:4], "--folds", "2", "--json", "--quiet", "--categorical", "zip")
        )
    assert again["pldc"]["R²"] > 0.5 and again["gradient boosting"]["R²"] > 0.3
    error = said(capsys, *words, "--categorical", "zip,post", code=1)
    assert "--categorical names 'post'; " in error and "'zip', 'a,b', 'x', 'kind'" in error


@pytest.fixture(scope="module")
def coded():
    """A model whose codes were numbers with gaps, and one whose codes were text; their tables."""
    rng = np.random.default_rng(0)
    code = pd.Series(rng.integers(1, 4, 200).astype(float))
    X = pd.DataFrame({"code": code.mask(code.index % 17 == 0), "x": rng.normal(size=200)})
    y = 10.0 * (code == 1) + 5.0 * (code == 3) + X.x
    padded = X.assign(code=X["code"].map({1: "01", 2: "1", 3: "20"}))
    with few_kinds():
        numbers = DCRegressor(categorical_features=["code"], random_state=0).fit(X, y)
        return (numbers, X), (DCRegressor(random_state=0).fit(padded, y), padded)


def predicted(capsys, model, table, folder):
    """What the shell predicts of a model and a frame, by way of files."""
    model.save_model(folder / "coded.json")
    table.to_csv(folder / "coded.csv", index=False)
    lines = said(capsys, "predict", folder / "coded.json", folder / "coded.csv").splitlines()
    return np.array(lines[1:], dtype=float)


@pytest.mark.parametrize("text", ["{:.1f}", "{:.0f}", " {:.2e}", "0{:.0f}"])
def test_codes_that_were_numbers_are_found_in_any_spelling(coded, tmp_path, capsys, text):
    model, X = coded[0]
    assert set(model.model_.columns.levels(0)) == {"1", "2", "3"}
    table = X.assign(code=X["code"].map(text.format, na_action="ignore"))
    np.testing.assert_allclose(predicted(capsys, model, table, tmp_path), model.predict(X), rtol=1e-12)


def test_codes_that_were_text_stay_text(coded, tmp_path, capsys):
    model, X = coded[1]  # its parameter "from_dtype" names no column
    assert set(model.model_.columns.levels(0)) == {"01", "1", "20"}
    np.testing.assert_allclose(predicted(capsys, model, X, tmp_path), model.predict(X), rtol=1e-12)
    strange = X.assign(code=X["code"].replace("20", "020"))
    np.testing.assert_allclose(predicted(capsys, model, strange, tmp_path), model.predict(strange), rtol=1e-12)


def test_many_unknown_levels_are_pointed_out(coded, tmp_path, capsys):
    model, X = coded[0]
    X.assign(code="c" + X["code"].astype(str)).to_csv(tmp_path / "other.csv", index=False)
    model.save_model(tmp_path / "m.json")
    assert run("predict", tmp_path / "m.json", tmp_path / "other.csv", "-o", tmp_path / "out.csv") == 0
    assert "188 of 188 cells in 'code' are levels that training has not seen, such as 'c" in capsys.readouterr().err
    X.to_csv(tmp_path / "other.csv", index=False)
    assert run("predict", tmp_path / "m.json", tmp_path / "other.csv", "-o", tmp_path / "out.csv") == 0
    assert capsys.readouterr().err == ""


def test_the_target_is_no_category(files, tmp_path, capsys):
    words = ("--target", "kind", "--categorical", "kind")
    for command in (("fit", files / "iris.csv", "-o", tmp_path / "m.json"), ("score", files / "iris.csv")):
        assert "--categorical names the target 'kind'" in said(capsys, *command, *words, code=1)


def test_old_line_ends_and_names_that_break(files, tmp_path, capsys):
    table = pd.read_csv(files / "data.csv")
    table.to_csv(tmp_path / "old.csv", index=False, lineterminator="\r")
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "old.csv")), table)
    assert read_table(str(tmp_path / "old.csv"), ["sex"])["sex"].tolist() == table["sex"].map(str).tolist()
    with pytest.raises(SystemExit) as stop:
        run("fit", tmp_path / "old.csv", "--target", "target", "--categorical", "a\rb", "-o", tmp_path / "m.json")
    assert stop.value.code == 2 and "names between commas" in capsys.readouterr().err


# ---------------------------------------------------------------- tables of all kinds


@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas_are_numbers(tmp_path, capsys, mark):
    rows = [["area", "price", "name", "code", "whole", "day"]]
    rows += [["113,5", "1.250.000", "1,5 rooms", "1,2", "7", "2024-01-02"], ["-80", "900.000,25", "3", "3,4", "8", ""]]
    rows += [["-6,42e-05", "-1234567,5", "4,5", "", "9", ""]]
    path = tmp_path / "excel.csv"
    path.write_text("\n".join(map(mark.join, rows)) + "\n", encoding="utf-8")
    table = read_table(str(path), ["code"])
    np.testing.assert_array_equal(table["area"], [113.5, -80.0, -6.42e-05])
    np.testing.assert_array_equal(table["price"], [1250000.0, 900000.25, -1234567.5])
    assert table["name"].tolist() == ["1,5 rooms", "3", "4,5"] and table["code"].tolist()[:2] == ["1,2", "3,4"]
    assert table["whole"].tolist() == [7, 8, 9] and table["day"].dtype.kind == "M"
    assert capsys.readouterr().err == f"{path}: numbers with a decimal comma in 'area', 'price'\n"
    path.write_text('a,b\n"1,5",2\n"1,234",3\n')  # thousands, perhaps: with commas between cells nobody knows
    assert read_table(str(path))["a"].tolist() == ["1,5", "1,234"] and capsys.readouterr().err == ""


def test_a_table_of_excel_goes_all_the_way(files, tmp_path, capsys):
    table = pd.read_csv(files / "data.csv")
    table.to_csv(tmp_path / "excel.csv", index=False, sep=";", decimal=",")
    with few_kinds():
        assert run("fit", tmp_path / "excel.csv", "--target", "target", "-o", tmp_path / "m.json", "--quiet") == 0
    found = said(capsys, "predict", tmp_path / "m.json", tmp_path / "excel.csv")
    assert found == said(capsys, "predict", files / "model.json", files / "data.csv")


def test_many_different_texts_are_classes_if_they_are_called_so(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=220), "name": [f"n{k % 110}" for k in range(220)]})
    table.to_csv(tmp_path / "names.csv", index=False)
    fit = ("fit", tmp_path / "names.csv", "--target", "name", "-o", tmp_path / "m.json")
    assert "110 different values" in said(capsys, *fit, code=1)
    assert "110 different values" in said(capsys, "score", *fit[1:4], code=1)
    assert holds_classes(table["name"], True, "names.csv") and holds_classes(table["name"][:19], False, "names.csv")
    assert holds_classes(pd.Series(["u", "v"] * 10), False, "kinds.csv")


def test_rows_without_a_target_are_left_out_on_demand(files, tmp_path, capsys):
    table = pd.read_csv(files / "data.csv")
    table.loc[[3, 7], "target"] = np.nan
    table.to_csv(tmp_path / "gaps.csv", index=False)
    words = (tmp_path / "gaps.csv", "--target", "target", "-o", tmp_path / "m.json")
    assert "missing in 2 rows, lines 5, 9: --drop-missing-target" in said(capsys, "fit", *words, code=1)
    with few_kinds():
        assert run("fit", *words, "--drop-missing-target") == 0
        out, err = capsys.readouterr()
        wanted = DCRegressor().fit(table.dropna().drop(columns="target"), table["target"].dropna())
    assert "gaps.csv: 2 rows without a target left out\n" in err and "R²" in out
    assert np.array_equal(
        pldc.load(tmp_path / "m.json").predict(table[:9][wanted.feature_names_in_]),
        wanted.predict(table[:9][wanted.feature_names_in_]),
    )
    (tmp_path / "none.csv").write_text("a,target\n1,\n2,\n")
    words = ("fit", tmp_path / "none.csv", *words[1:], "--drop-missing-target")
    assert "missing in all rows" in said(capsys, *words, code=1)


def test_running_numbers_are_pointed_out(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"my id": rng.permutation(60) + 1, "x": rng.normal(size=60), "rank": np.arange(60) % 30})
    table.assign(price=table["x"]).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "price", "-o", tmp_path / "m.json")
    with few_kinds():
        assert run(*words) == 0
        told = capsys.readouterr().err
        assert told.count("looks like a running number") == 1
        assert "column 'my id' looks like a running number: --drop 'my id' leaves it out\n" in told
        assert run(*words, "--drop", "my id") == 0
    assert "running" not in capsys.readouterr().err


def test_tables_of_all_kinds_are_the_same(files, tmp_path, monkeypatch):
    wanted = pd.read_csv(files / "data.csv").assign(when=pd.Timestamp("2024-02-03"))
    text = wanted.to_csv(index=False)
    (tmp_path / "plain.csv").write_text("\ufeff" + text, encoding="utf-8")
    (tmp_path / "semicolon.csv").write_text(wanted.to_csv(index=False, sep=";"))
    (tmp_path / "tab.tsv").write_text(wanted.to_csv(index=False, sep="\t"))
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    wanted.to_parquet(tmp_path / "table.parquet")
    for path in tmp_path.iterdir():
        found = read_table(str(path))
        assert found["when"].dtype.kind == "M", path
        assert found.drop(columns="when").equals(wanted.drop(columns="when")), path


def test_a_pipe_in_and_out(files):
    table = (files / "data.csv").read_bytes()
    first = shell("predict", files / "model.json", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = first.communicate(table, timeout=60)
    assert first.returncode == 0 and len(out.splitlines()) == 121


def test_output_is_utf_8_whatever_the_machine_speaks():
    process = shell("score", "größe.csv", "--target", "y", stderr=subprocess.PIPE, code="ascii")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "größe.csv" in err.decode("utf-8")


# ---------------------------------------------------------------- what goes wrong


@pytest.fixture
def bad(tmp_path):
    (tmp_path / "empty.csv").touch()
    (tmp_path / "head.csv").write_text("bmi,s5,bp,sex,target\n")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "one.csv").write_text("target\n1\n2\n")
    (tmp_path / "gap.csv").write_text("a,target\n1,2\n3,\n")
    (tmp_path / "text.csv").write_text("a,target\n" + "".join(f"{k},{k}\n" for k in range(20)) + "3,oops\n")
    (tmp_path / "spans.csv").write_text('a,b,target\n"1\n2",1,5\n' + "4,3,\n" * 4)  # a cell of two lines
    (tmp_path / "chf.csv").write_text("a,target\n" + "".join(f"{k},CHF {700000 + 100 * k}\n" for k in range(30)))
    (tmp_path / "date.csv").write_text("a,target\n1,2024-01-01\n2,2024-01-02\n")
    (tmp_path / "twice.parquet").write_bytes(b"PAR1 but not really")
    (tmp_path / "words.csv").write_text("bmi,s5,bp,sex\n1,high,3,1\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 50)
    (tmp_path / "latin.csv").write_bytes("größe,target\n1,2\nä,3\n".encode("latin-1"))
    (tmp_path / "packed.csv.gz").write_bytes(b"not gzip at all")
    (tmp_path / "ragged.csv").write_text("a,target\n1,2\n1,2,3,4\n")
    with (tmp_path / "zeros.csv").open("wb") as file:
        file.truncate(1 << 30)  # sparse: it takes no room on the disk
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(5 << 30)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.csv", "no file"),
        (".", "folder"),
        ("empty.csv", "empty"),
        ("head.csv", "no rows"),
        ("other.csv", "no column 'target'; it has 'a', 'b'"),
        ("one.csv", "no column but the target"),
        ("gap.csv", "missing in 1 row, line 3: --drop-missing-target leaves them out"),
        ("text.csv", "for 1 cell, such as 'oops' in line 22"),
        ("spans.csv", "missing in 4 rows, rows 2, 3, 4 … counted from 1"),
        ("chf.csv", "text of 30 different values, such as 'CHF 700000': make numbers of it, or say --classes"),
        ("date.csv", "holds dates"),
        ("twice.parquet", "no Parquet"),
        ("binary.csv", "no text"),
        ("latin.csv", "UTF-8"),
        ("packed.csv.gz", "no CSV"),
        ("ragged.csv", "no CSV"),
        ("zeros.csv", "no text"),
        ("huge.csv", "more than 4 GiB"),
    ],
)
def test_bad_tables_end_in_one_line(bad, capsys, name, words):
    began = time.perf_counter()
    assert words in said(capsys, "fit", bad / name, "--target", "target", "-o", bad / "m.json", code=1)
    assert time.perf_counter() - began < 5 and not (bad / "m.json").exists()


def test_bad_rows_to_predict(files, bad, capsys):
    model = files / "model.json"
    assert "lacks columns of the model: 'bmi'" in said(capsys, "predict", model, bad / "other.csv", code=1)
    said(capsys, "predict", model, bad / "words.csv", code=1)
    assert "interval" in said(capsys, "predict", files / "iris.json.gz", files / "iris.csv", "--interval", "1", code=1)
    assert "coverage" in said(capsys, "predict", model, files / "data.csv", "--interval", "1.5", code=1)


def test_bad_models_and_goals(files, bad, capsys):
    swapped = said(capsys, "predict", files / "data.csv", files / "model.json", code=1)
    assert "is a table: the model comes first" in swapped
    nowhere = said(capsys, "predict", bad / "nowhere.json", files / "data.csv", code=1)
    assert nowhere == f"pldc: There is no file {bad / 'nowhere.json'}.\n"
    fit = ("fit", files / "data.csv", "--target", "target", "-o")
    assert "no folder" in said(capsys, *fit, bad / "no" / "m.json", code=1)
    assert "end in .json" in said(capsys, *fit, bad / "m.pickle", code=1)
    assert "loss" in said(capsys, *fit, bad / "m.json", "--loss", "nonsense", code=1)
    assert "--folds" in said(capsys, "score", files / "data.csv", "--target", "target", "--folds", "500", code=1)


def test_without_pandas_it_says_what_to_install(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "pip install 'pldc[shell]'" in said(capsys, "predict", files / "model.json", files / "data.csv", code=1)


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of Unix")
def test_a_closed_pipe_is_no_error(files, tmp_path):
    table = pd.concat([pd.read_csv(files / "data.csv")] * 100)
    table.to_csv(tmp_path / "long.csv", index=False)
    process = shell(
        "predict", files / "model.json", tmp_path / "long.csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline().startswith(b"prediction")
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(timeout=60) == 0
    process.stderr.close()


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of Unix")
def test_ctrl_c_keeps_the_best_so_far(files, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (4000, 6)), columns=list("abcdef"))
    X.assign(target=np.abs(X).sum(axis=1)).to_csv(tmp_path / "large.csv", index=False)
    goal = tmp_path / "m.json"
    process = shell("fit", tmp_path / "large.csv", "--target", "target", "-o", goal, stderr=subprocess.PIPE, text=True)
    assert re.search(r"\d+ s so far, about \d+ s left", process.stderr.readline())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.splitlines()[-1].startswith("pldc: interrupted")
    assert "Traceback" not in err
    assert goal.exists() == ("best model so far" in err)
    if goal.exists():
        assert pldc.load(goal).predict(X[:2]).shape == (2,)
