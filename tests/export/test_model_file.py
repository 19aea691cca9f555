"""Model files: what is saved comes back equal to the last bit, and nothing else is believed."""

import dataclasses
import gzip
import hashlib
import json
import os
import subprocess
import sys
import warnings
from types import GenericAlias
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from tests.export import mutations
from tests.export.fits import FRAME, KINDS, NAMES, X, fitted, quick, rows, y
from tests.quick import few_starts

import pldc
from pldc import PLDC, DCClassifier, DCRegressor, MaxAffine, Model, load
from pldc.compact.plan import plan_for
from pldc.compact.start import quantile_knots
from pldc.export import model_file
from pldc.export.model_file import MOST_LISTED, SCHEMA, VERSION, checksum, read_file, write_file, write_model
from pldc.export.plain import read, write
from pldc.fit.few_pieces import FINE
from pldc.function.digits import in_decimals, significant
from pldc.function.errors import Errors

jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked with jsonschema, of the extra dev")


def same(a, b):
    """Whether two values are equal to the last bit, with their types."""
    if dataclasses.is_dataclass(a) and not isinstance(a, PLDC):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, np.ndarray):
        equal = isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape
        return equal and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


def test_same_can_tell():
    one, other = np.array([1.0, 2.0]), np.array([1.0, np.nextafter(2.0, 3.0)])
    assert same({"a": (one, [None, np.nan])}, {"a": (one.copy(), [None, np.nan])})
    assert not same(one, other) and not same([1], (1,)) and not same(one, one.astype(np.float32)) and not same({}, [])
    model = fitted("plain").model_
    assert same(model, dataclasses.replace(model))
    assert not same(model, dataclasses.replace(model, lowest=0.0))
    assert not same(model, dataclasses.replace(model, functions=(model.function + 1e-300 + 1e-9,)))


def public(model):
    """All fitted attributes."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_is_equal_after_loading(kind, suffix, tmp_path, monkeypatch):
    model, path = fitted(kind), tmp_path / f"model{suffix}"
    if suffix == ".json.gz":  # the tables of these small fits are too short to be packed
        monkeypatch.setattr(model_file, "MOST_LISTED", 0)
    model.save_model(path)
    assert os.listdir(tmp_path) == [path.name]  # no draft is left
    again = load(path)
    assert type(again) is type(model)
    assert {name: type(value) for name, value in public(model).items()} == {
        name: type(value) for name, value in public(again).items()
    }
    for name, value in public(model).items():
        assert same(value, getattr(again, name)), name
    assert same(model.get_params(), again.get_params())
    points = pd.DataFrame(rows(kind), columns=NAMES) if hasattr(model, "feature_names_in_") else rows(kind)
    answers = ["predict", "explain", "decision_function", "predict_proba", "predict_interval"]
    if kind == "quantiles":
        answers.remove("explain")
    if model.model_.errors is None or kind == "quantiles":
        answers.remove("predict_interval")
    if model.model_.temperature is None:
        answers.remove("predict_proba")
    for name in answers:
        if hasattr(model, name):
            assert same(getattr(model, name)(points[:200]), getattr(again, name)(points[:200])), name
    record = json.loads(gzip.decompress(path.read_bytes()) if suffix == ".json.gz" else path.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    if suffix == ".json" or kind == "default":
        assert ("$packed" in json.dumps(record)) == (suffix == ".json.gz")
    assert again._folds is None


def test_a_model_of_every_field_is_saved():
    """No field of the record is empty in all fits above: what is added later is tested, too."""
    optional = {field.name: field.default for field in dataclasses.fields(Model)}
    empty = {
        name
        for name, default in optional.items()
        if all(same(value := getattr(fitted(kind).model_, name), default) or same(value, {}) for kind in KINDS)
    }
    assert empty == {"booleans", "columns", "target"}  # test_columns, test_counterfactuals, test_shell have such models


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "bé", 'c"\\'], dtype="<U12"),
        np.array([3, -1, 7]),
        np.array([2, 5, 9], dtype=np.uint8),
        np.array([True, False, True]),
        np.array([1.0, 2.0, -5.0]),
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        pd.Series(["x", "y", "z"], dtype=object),
        pd.Series(["x", "y", "z"]),
    ],
)
def test_labels_of_any_type(labels, tmp_path):
    labels = np.asarray(labels) if isinstance(labels, np.ndarray) else labels
    target = labels[np.digitize(X[:, 0], [0.0, 1.5])]
    target = target.reset_index(drop=True) if isinstance(target, pd.Series) else target
    model = quick(DCClassifier(), X, target)
    model.save_model(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert same(model.classes_, again.classes_) and same(model.predict(X), again.predict(X))
    assert model.classes_.dtype == again.classes_.dtype


def test_parameters_that_cannot_be_written_are_named_and_are_the_default(tmp_path):
    model = quick(DCRegressor(cv=KFold(3), random_state=np.random.RandomState(0), verbose=0), X, y)
    with pytest.warns(UserWarning, match="cv, random_state cannot be written") as caught:
        model.save_model(tmp_path / "m.json")
    assert caught[0].filename == __file__
    again = load(tmp_path / "m.json")
    assert again.cv == 5 and again.random_state is None and same(again.model_, model.model_)


def test_a_loaded_model_can_be_fitted_again_and_simplified(tmp_path):
    model = fitted("plain")
    model.save_model(tmp_path / "m.json")
    again = quick(load(tmp_path / "m.json"), X, y + X[:, 0])
    assert same(dataclasses.replace(again.model_, seconds=model.model_.seconds), model.model_)


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    fitted("plain").save_model(path)
    before = path.read_bytes()

    def fails(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("pldc.export.model_file.os.fsync", fails)
        with pytest.raises(OSError, match="no space"):
            fitted("program").save_model(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["m.json"]
    fitted("program").save_model(path)
    assert load(path).function_ == fitted("program").function_


def test_names_of_files_and_models_that_are_not_fitted(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(ValueError, match=r"ends in .json or .json.gz, got 'm.pkl'"):
        fitted("plain").save_model(tmp_path / "m.pkl")
    with pytest.raises(NotFittedError):
        DCRegressor().save_model(tmp_path / "m.json")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.json")
    assert os.listdir(tmp_path) == []


def test_an_unknown_version_is_named(tmp_path):
    path = tmp_path / "m.json"
    fitted("plain").save_model(path)
    record = json.loads(path.read_text())
    for version in (3, 0, True, 2.0):
        path.write_text(json.dumps(record | {"pldc_model": version}))
        with pytest.raises(ValueError, match=f"of version {version} of the format; this pldc reads versions 1 and 2"):
            load(path)
    path.write_text(json.dumps({"terms": []}))
    with pytest.raises(ValueError, match="no entry 'pldc_model'"):
        load(path)


def test_files_are_small(tmp_path):
    table = np.random.default_rng(0).uniform(size=(400, 8))
    target = 10 * np.sin(3 * table[:, 0] * table[:, 1]) + 20 * (table[:, 2] - 0.5) ** 2 + 5 * table[:, 3]
    with few_starts():
        model = DCRegressor().fit(table, target)
        few = model.simplify(table, target, n_pieces=4)
    assert model.model_.errors.scale is not None and few.model_.errors.scale is not None
    for each, most in ((model, 300e3), (few, 10e3)):
        each.save_model(tmp_path / "m.json")
        assert os.path.getsize(tmp_path / "m.json") < most
    assert len(json.dumps(write_model(dataclasses.replace(few.model_, errors=None)))) < 5e3  # without intervals
    assert "$packed" not in (tmp_path / "m.json").read_text()  # few numbers can be read


def test_the_largest_file_is_small(tmp_path):
    """Twelve functions of the largest kind that is tried on 400 rows, none of whose pieces can be dropped."""
    plan, r = plan_for(400, 8), np.random.default_rng(0)
    kind = max(plan.candidates, key=lambda c: c.pieces * (1 + c.knots))
    table = r.uniform(size=(400, 8)) * 10.0 ** np.arange(-2, 6)
    members = []
    for seed in range(plan.kept * plan.members):
        hinges = quantile_knots(table, kind.knots, seed)
        slopes = r.standard_normal((2, kind.pieces, hinges.n_columns)) / 5
        slopes[:, :, :8] /= np.ptp(table, axis=0)
        members.append(PLDC(*(MaxAffine(each, r.standard_normal(kind.pieces)) for each in slopes), hinges))
    f = PLDC.mean(members)
    spread, sizes = float(np.std(f(table))), np.arange(1, 401) / 7
    f = in_decimals(f, table.mean(axis=0), table.std(axis=0), FINE * spread)
    errors = Errors(significant(sizes, 4, up=True), np.ones(1))
    model = DCRegressor().fit(table[:30], np.arange(30.0))
    model.model_ = dataclasses.replace(model.model_, functions=(f,), errors=errors)
    model.save_model(tmp_path / "m.json")
    assert sum(part.slopes.size for term in f.centred for part in term.parts) > 60_000
    assert 250e3 < os.path.getsize(tmp_path / "m.json") < 300e3
    assert same(load(tmp_path / "m.json").model_, model.model_)


def test_long_tables_are_packed_and_short_ones_are_not():
    slopes = np.random.default_rng(0).standard_normal((2, MOST_LISTED // 2 + 1))
    long, short = MaxAffine(slopes, [0.0, 1.0]), MaxAffine(np.ones((1, 251)), [0.0])
    model = dataclasses.replace(fitted("plain").model_, functions=(PLDC(long, short),))
    (term,) = write_model(model)["functions"][0]["terms"]
    assert set(term["plus"]["slopes"]) == {"$packed", "rows", "runs"}
    assert term["minus"]["slopes"] == [[1] * 251]


def of_slopes(slopes):
    part = MaxAffine(slopes, np.zeros(len(slopes)))
    zeros, d = np.zeros(slopes.shape[1]), slopes.shape[1]
    model = DCRegressor().fit(np.eye(d)[:8], np.arange(8.0))
    model.model_ = dataclasses.replace(
        model.model_, functions=(PLDC(part, MaxAffine.zero(d)),), errors=None, medians=zeros, importances=zeros
    )
    return model


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 1.0])
def test_tables_of_zeros_can_be_read(share, tmp_path):
    """They shrink out of proportion in gzip, and as lists they would be little but commas."""
    r = np.random.default_rng(0)
    slopes = r.standard_normal((500, 300)) * (r.uniform(size=(500, 300)) < share)
    model = of_slopes(slopes)
    for name in ("m.json", "m.json.gz"):
        model.save_model(tmp_path / name)
        (found,) = load(tmp_path / name).model_.functions
        assert found.n_pieces == model.model_.functions[0].n_pieces and found == model.model_.functions[0]


def test_what_is_shorter_as_a_list_stays_one():
    """As where slopes of seventeen digits stand among whole numbers."""
    slopes = np.full((8, 300), 1234567.0)
    slopes[0] = np.random.default_rng(0).standard_normal(300)
    model = dataclasses.replace(fitted("plain").model_, functions=of_slopes(slopes).model_.functions)
    assert write_model(model)["functions"][0]["terms"][0]["plus"]["slopes"][1] == [1234567] * 300


def test_a_file_of_one_large_table_takes_little_memory(tmp_path):
    slopes = np.round(np.random.default_rng(0).uniform(-0.08, 0.08, (2000, 300)), 8)
    of_slopes(slopes).save_model(tmp_path / "m.json")
    _, memory = mutations.one(tmp_path / "m.json")
    assert memory < mutations.MOST_MEMORY * os.path.getsize(tmp_path / "m.json")


def test_scales_of_errors_are_packed_too():
    errors = Errors(np.ones(1), np.ones(1), PLDC(MaxAffine(np.full((3, 300), 0.125), np.zeros(3)), MaxAffine.zero(300)))
    (term,) = write_model(dataclasses.replace(fitted("plain").model_, errors=errors))["errors"]["scale"]["terms"]
    assert set(term["plus"]["slopes"]) == {"$packed", "rows", "runs"}


def test_files_of_version_1_are_read(tmp_path, monkeypatch):
    """They have lists of slopes, however long."""
    model, path = fitted("default"), tmp_path / "m.json"
    monkeypatch.setattr(model_file, "MOST_LISTED", 10)
    model.save_model(path)
    assert "$packed" in path.read_text()
    record = read_file(path)
    record["model"]["functions"] = [f.to_dict() for f in model.model_.functions]
    record["model"]["errors"]["scale"] = model.model_.errors.scale.to_dict()
    path.write_text(json.dumps({"pldc_model": 1, "sha256": checksum(record)} | record))
    assert "$packed" not in path.read_text() and same(load(path).model_, model.model_)


def test_numbers_that_are_whole_and_zeros_with_a_sign():
    array = np.array([1.0, -0.0, 0.0, 2.0**60, 0.5])
    text = json.dumps(write(array, np.ndarray))
    assert text == "[1, -0.0, 0, 1152921504606846976, 0.5]" and same(read(json.loads(text), np.ndarray, "a"), array)


def test_annotations_may_be_names_for_arrays():
    """As NDArray is since NumPy 2.5; and this may be an older one."""

    class Name:
        __value__ = np.ndarray[Any, np.dtype[np.float64]]

    array = np.array([1.5, 2.0])
    for hint in (GenericAlias(Name, (np.float64,)), GenericAlias(Name, (np.float64,)) | None):
        assert write(array, hint) == [1.5, 2] and same(read([1.5, 2], hint, "a"), array)
    with pytest.raises(ValueError, match="a must be of type ndarray"):
        read("text", GenericAlias(Name, (np.float64,)), "a")


def test_lists_of_dictionaries_alike_are_rows():
    alike, others = [{"a": 1, "b": "x"}, {"a": 2.0, "b": None}], [{"a": 1}, {"b": 1}]
    assert write(alike, Any) == {"$rows": [[1, "x"], [2.0, None]], "keys": ["a", "b"]}
    for value in (alike, others, alike[:1], [{}, {}], [{"$a": 1}, {"$a": 2}], [alike, alike]):
        assert same(read(json.loads(json.dumps(write(value, Any))), Any, "v"), value)


def test_a_model_of_rows_far_away_is_one_of_the_schema(tmp_path):
    model = quick(DCRegressor(), X + 1e9, y)
    assert model.function_.center is not None
    model.save_model(tmp_path / "m.json")
    jsonschema.validate(json.loads((tmp_path / "m.json").read_text()), json.loads(SCHEMA.read_text()))
    assert same(load(tmp_path / "m.json").model_, model.model_)


def test_no_training_rows_are_in_the_file(tmp_path):
    """Single numbers of them may be: knots lie at values of features."""
    fitted("default").save_model(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    assert not any(f"{a!r},{b!r}" in text for a, b, _ in X.tolist())
    assert not any(repr(target) in text for target in y.tolist()[:-1] if target not in fitted("default").clip_range_)


def test_it_loads_in_another_process_without_warnings(tmp_path):
    path = tmp_path / "m.json.gz"
    fitted("plain").save_model(path)
    code = f"import pldc; print(pldc.load({str(path)!r}).predict([[0.5, 100.0, 0.1]]).tobytes().hex())"
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == fitted("plain").predict([[0.5, 100.0, 0.1]]).tobytes().hex()


def test_skops_loads_with_the_types_that_are_documented(tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    trusted = [
        "pldc.estimators.regressor.DCRegressor",
        "pldc.function.hinges.Hinges",
        "pldc.function.max_affine.MaxAffine",
        "pldc.function.pldc.PLDC",
        "pldc.function.term.Term",
        "pldc.function.errors.Errors",
        "pldc.model.Model",
    ]
    model, path = fitted("default"), tmp_path / "m.skops"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skops.dump(model, path)
        assert set(skops.get_untrusted_types(file=path)) <= set(trusted)
        again = skops.load(path, trusted=trusted)
    assert same(model.predict(FRAME), again.predict(FRAME))


def damaged(tmp_path, change, reseal=True):
    record = read_file(tmp_path / "m.json")
    change(record)
    text = {"pldc_model": VERSION, "sha256": checksum(record) if reseal else "0" * 64} | record
    (tmp_path / "m.json").write_text(json.dumps(text))
    return tmp_path / "m.json"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(estimator="os.system"), "estimator must be one of DCRegressor, DCClassifier"),
        (lambda r: r.update(estimator="DCClassifier"), "has no parameter 'clip'"),
        (lambda r: r.update(more=1), "entries estimator"),
        (lambda r: r["parameters"].update(loss={"$object": "eval"}), "must be one of Squared"),
        (lambda r: r["parameters"].update(loss={"$object": "Huber", "delta": -1}), "Huber refuses its settings"),
        (lambda r: r["parameters"].update(loss={"$object": "Huber", "sigma": 1}), "Huber refuses its settings"),
        (lambda r: r["parameters"].update(lam={"$code": "1"}), r"unknown mark '\$code'"),
        (lambda r: r["parameters"].update(n_jobs=2**70), "more than 64 bits"),
        (lambda r: r["model"].update(kind="new"), "kind must be one of"),
        (lambda r: r["model"].update(center=[1.0]), "parts are of 1 and 3 features"),
        (lambda r: r["model"].update(center={"$array": [1.0], "dtype": "float64", "shape": []}), "lists of numbers"),
        (lambda r: r["model"].update(center="abc"), r"model\.center must be of type ndarray"),
        (lambda r: r["model"].update(spread=["a" * 10**5, 1.0, 2.0]), "not of a type 'float64'"),
        (lambda r: r["model"].update(limits=[1.0, 0.0]), "limits and target_range"),
        (lambda r: r["model"].update(limits=[1.0]), "must be a list of 2"),
        (lambda r: r["model"].update(functions=[]), "no functions|one function"),
        (lambda r: r["model"].update(functions=r["model"]["functions"] * 2), "one function"),
        (lambda r: r["model"].update(functions=[{"pldc": 2, "terms": 1}]), r"model\.functions\[0\]: function\.terms"),
        (lambda r: r["model"].update(classes=["a"]), "not of a type|must"),
        (lambda r: r["model"].update(n_iter=1.5), r"model\.n_iter must be of type int"),
        (lambda r: r["model"].update(lowest={"$float": "1"}), "must be nan, inf or -inf"),
        (lambda r: r["model"].update(lowest={"$float": "nan"}), "lowest must be a number"),
        (lambda r: r["model"].pop("spread"), "no entry 'spread'"),
        (lambda r: r["model"].update(spreads=1), "entry 'spreads', which this version"),
        (lambda r: r["model"]["errors"].update(weight=[-1.0]), "errors need sizes and weights"),
        (lambda r: r["model"]["errors"].update(weight=[0.0]), "weights not all 0"),
        (lambda r: r["model"]["errors"].update(weight=[1.0, 2.0]), "errors need sizes and weights"),
        (lambda r: r["model"]["errors"].update(size=[], weight=[1.0]), "errors need sizes and weights"),
        (lambda r: r["model"]["errors"].update(size=[2.0, 1.0], weight=[1.0]), "sizes of errors must increase"),
        (lambda r: r["model"]["errors"].update(limits=[{"$float": "nan"}, 1.0]), "limits of errors"),
        (lambda r: r["model"]["errors"].update(limits=[2.0, 1.0]), "limits of errors"),
        (lambda r: r["model"]["errors"].update(scale=PLDC.affine([1.0]).to_dict()), "parts are of 1 and 3 features"),
        (lambda r: r["model"].update(importances=None), "importances must be 3 numbers"),
        (lambda r: r["model"].update(importances=[1.0]), "importances must be 3 numbers"),
        (lambda r: r["model"].update(importances=[1.0] * 4), "importances must be 3 numbers"),
        (lambda r: r["model"].update(spread=[1.0, 0.0, 1.0]), "spread must be positive"),
        (lambda r: r["model"].update(spread=[1.0, -1.0, 1.0]), "spread must be positive"),
        (lambda r: r["model"].update(feature_names=["a", "b"]), "parts are of 2 and 3 features"),
        (lambda r: r["model"].update(feature_names=["a", "b", "a"]), "different names"),
        (lambda r: r["model"].update(chosen=[{}]), "each of chosen must have the entries coordinates_learned"),
        (lambda r: r["model"].update(temperature=0.0), "temperature must be a positive number"),
        (lambda r: r["model"].update(temperature={"$float": "nan"}), "temperature must be a positive number"),
        (lambda r: r["model"].update(temperature={"$float": "inf"}), "temperature must be a positive number"),
        (lambda r: r["model"].update(levels=[1.5]), "levels must lie between 0 and 1"),
        (lambda r: r["model"].update(levels=[0.5, 0.5], functions=r["model"]["functions"] * 2), "and increase"),
        (lambda r: r["model"].update(levels=[0.9, 0.1], functions=r["model"]["functions"] * 2), "and increase"),
        (lambda r: r["model"].update(classes={"$array": [1, 1], "dtype": "int64", "shape": [2]}), "for each class"),
        (lambda r: r.update(feature_names_in=["a", "b", "c"]), "names of the columns of the model"),
        (lambda r: r["model"]["cv_results"]["params"].pop("keys"), r"\$rows has a list of rows and one of keys"),
        (lambda r: r["model"]["cv_results"]["params"].update(keys=["a", "a"]), r"\$rows has a list of rows"),
        (lambda r: r["model"]["cv_results"]["params"].update(keys=["a", 3]), r"\$rows has a list of rows"),
        (lambda r: r["model"]["cv_results"]["params"].update(keys=["a"]), r"\$rows must be a list of 1 values"),
        (lambda r: r.update(n_features_in=4), "of 3 columns"),
        (lambda r: r.update(feature_names_in=["a"]), "of 3 columns"),
    ],
)
def test_what_does_not_belong_together_is_refused(change, message, tmp_path):
    fitted("plain").save_model(tmp_path / "m.json")
    with pytest.raises(ValueError, match=message):
        load(damaged(tmp_path, change))


def test_errors_may_be_zero_and_weigh_nothing(tmp_path):
    fitted("plain").save_model(tmp_path / "m.json")
    model = load(damaged(tmp_path, lambda r: r["model"]["errors"].update(size=[0.0, 1.0], weight=[0.0, 2.0])))
    assert model.model_.errors.size.tolist() == [0.0, 1.0] and model.model_.errors.weight.tolist() == [0.0, 2.0]


def test_arrays_that_would_be_large_are_refused(tmp_path):
    fitted("three classes").save_model(tmp_path / "m.json")
    for values, dtype in ((["a", "b", "c"], "<U999999"), (["a" * 10**5] + ["b"] * 5000, "<U100000")):
        marked = {"$array": values, "dtype": dtype, "shape": [len(values)]}
        with pytest.raises(ValueError, match="not of a type"):
            load(damaged(tmp_path, lambda r, marked=marked: r["model"].update(classes=marked)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a model file"),
        (b"\xff\xfe", "is not a model file"),
        (b"[" * 10**5, "nested too deeply|brackets and commas"),
        (b"[" + b"[]," * 10**6 + b"[]]", "brackets and commas more than"),
        (b"[" + b"0," * 10**6 + b"0]", "brackets and commas more than"),
        (b'{"pldc_model": NaN}', "NaN is not JSON"),
        (b"3", "no entry 'pldc_model'"),
        (gzip.compress(b"0" * 10**8, mtime=0), "more than 20 times its size"),
        (gzip.compress(b"{}", mtime=0)[:-4], "cut off"),
        (gzip.compress(b"{}", mtime=0) + b"x", "goes on after its end"),
        (gzip.compress(b"{}", mtime=0)[:12] + b"\xff\xff\xff\xff", "is not a model file"),
    ],
)
def test_other_files_are_refused(data, message, tmp_path):
    (tmp_path / "m.json").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "m.json")


def test_a_wrong_checksum_is_refused(tmp_path):
    fitted("plain").save_model(tmp_path / "m.json")
    with pytest.raises(ValueError, match="damaged or changed"):
        load(damaged(tmp_path, lambda record: None, reseal=False))


def test_version_of_the_package_is_kept(tmp_path):
    fitted("plain").save_model(tmp_path / "m.json")
    path = damaged(tmp_path, lambda record: record["model"].update(version="0.1.7"))
    assert load(path).model_.version == "0.1.7" and pldc.__version__ != "0.1.7"


def test_records_are_written_whole(tmp_path):
    write_file(tmp_path / "m.json", {"a": [1.5, "é"]})
    assert read_file(tmp_path / "m.json") == {"a": [1.5, "é"]}


def test_a_folder_that_is_not_there(tmp_path):
    """The error names the file that was asked for, and not the draft that is written beside it."""
    with pytest.raises(FileNotFoundError, match="there is no folder '.*missing': '.*missing.m.json'$") as caught:
        fitted("plain").save_model(tmp_path / "missing" / "m.json")
    assert caught.value.filename == str(tmp_path / "missing" / "m.json")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file.m.json'$"):
        fitted("plain").save_model(tmp_path / "file" / "m.json")


def test_the_checksum_of_the_page(tmp_path):
    """As docs/model_files.rst says it: of all entries but the first two."""
    fitted("default").save_model(tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text())
    rest = {name: entry for name, entry in record.items() if name not in ("sha256", "pldc_model")}
    text = json.dumps(rest, separators=(",", ":"), sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == record["sha256"]


def test_damaged_and_hostile_files():
    outcomes, memory = mutations.main(800)
    assert outcomes["refused"] > 600 and outcomes["equal"] > 5 and outcomes["loaded, rewritten"] > 5
    assert memory <= mutations.MOST_MEMORY
