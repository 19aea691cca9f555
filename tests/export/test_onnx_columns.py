"""ONNX graphs of models that were fitted to categories, dates and missing cells; several quantiles."""

from dataclasses import replace

import numpy as np
import pytest
from tests.quick import few_kinds

from pldc import DCClassifier, DCRegressor, Quantile
from pldc.columns import Column, Encoding, Level, Missing, Number, Statistic
from pldc.export import to_onnx

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'pldc[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")

rng = np.random.default_rng(0)
DAY = np.timedelta64(86_400_000_000, "us")


def frame(n):
    """Numbers with gaps, categories of two types with gaps, dates before and after 1970 with gaps, a boolean."""
    table = pandas.DataFrame(
        {
            "size": 10.0 * rng.normal(size=n) + 100.0,
            "label": pandas.Categorical(rng.choice(["ä", "b c", "d"], n)),
            "city": rng.choice([f"city {k}" for k in range(12)], n).astype(object),
            "when": pandas.Timestamp("1969-06-01") + pandas.to_timedelta(rng.uniform(0, 20_000, n), unit="h"),
            "open": rng.integers(0, 2, n).astype(bool),
        }
    )
    table.loc[::9, "size"] = np.nan
    table.loc[4::9, "label"] = None
    table.loc[5::9, "city"] = None
    table.loc[6::9, "when"] = pandas.NaT
    return table


def target(table):
    level = table["label"].map({"ä": 1.0, "b c": -1.0}).astype(float).fillna(0.0)
    return np.abs(table["size"].fillna(95.0) - 100.0) / 5.0 + level + table["open"] + table["city"].isna()


TRAIN, TEST = frame(110), frame(1000)
TEST.loc[20, "label"] = None
TEST.loc[30:60, "city"] = "never seen"
Y = np.asarray(target(TRAIN), dtype=float)


@pytest.fixture(scope="module")
def models():
    with few_kinds():
        return {
            "default": DCRegressor().fit(TRAIN, Y),
            "classes": DCClassifier().fit(TRAIN, np.where(np.median(Y) < Y, "high", "low")),
        }


def inputs_of(table, kind=float):
    """The table as inputs of the graph, as a user would prepare them."""
    text = {
        name: np.where(table[name].isna(), "", table[name].astype(object)).astype(object) for name in ("label", "city")
    }
    days = ((table["when"].to_numpy().astype("datetime64[us]") - np.datetime64("1970-01-01", "us")) / DAY).astype(float)
    cells = {"size": table["size"].to_numpy(kind), "open": table["open"].to_numpy(kind), "when": days}
    return {("label " if k == "label" else k): v[:, None] for k, v in (cells | text).items()}


def run(graph, inputs):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in graph.graph.output]
    return dict(zip(names, session.run(names, inputs), strict=True))


@pytest.mark.parametrize(("dtype", "kind", "tol"), [("double", float, 1e-9), ("single", np.float32, 1e-5)])
def test_a_frame_with_categories_dates_and_gaps(models, dtype, kind, tol):
    model = models["default"]
    kinds = {feature.kind for feature in model.model_.columns.features}
    assert {"number", "missing", "level", "date"} <= kinds
    found = run(to_onnx(model, dtype=dtype, explain=True), inputs_of(TEST, kind))
    table = TEST.assign(size=TEST["size"].to_numpy(kind).astype(float))
    expected = model.predict(table)
    assert np.abs(found["prediction"][:, 0] - expected).max() <= tol * 10
    assert found["slopes"].shape == (1000, len(model.model_.columns.features))
    total = found["intercept"][:, 0] + found["contributions"].sum(axis=1)
    raw = model.function_(model.model_.columns.apply(table))
    assert np.abs(total - raw).max() <= tol * (10 + np.abs(found["contributions"]).sum(axis=1).max())


def test_classes_of_such_a_frame(models):
    model = models["classes"]
    found = run(to_onnx(model), inputs_of(TEST))
    assert (found["label"] == model.predict(TEST)).mean() > 0.999
    assert np.abs(found["probabilities"] - model.predict_proba(TEST)).max() < 1e-9


def test_missing_numbers_take_one_input():
    X = rng.normal(size=(60, 3))
    X[::5, 1] = np.nan
    model = DCRegressor(lam=0.05).fit(X, np.nan_to_num(X).sum(axis=1))
    assert model.model_.columns is not None
    points = 5.0 * rng.normal(size=(1000, 3))
    points[rng.random(points.shape) < 0.2] = np.nan
    assert np.abs(run(to_onnx(model), {"X": points})["prediction"][:, 0] - model.predict(points)).max() < 1e-9


def test_numbers_that_were_never_missing_in_training_are_filled_too():
    X = rng.normal(size=(60, 2))
    model = DCRegressor(lam=0.05).fit(X, np.abs(X[:, 0]))
    points = X.copy()
    points[::3, 0] = points[::4, 1] = np.nan
    assert np.abs(run(to_onnx(model), {"X": points})["prediction"][:, 0] - model.predict(points)).max() < 1e-9


def test_statistics_of_levels():
    columns = Encoding(
        (Column("n", "number"), Column("c", "category")),
        (Number(0, 0.5), Statistic(1, (("u", 1.0), ("v", -2.0)), 7.0, 9.0), Missing(1)),
    )
    X = rng.normal(size=(50, 3))
    model = replace(DCRegressor(lam=0.1).fit(X, np.abs(X).sum(axis=1)).model_, columns=columns, medians=None)
    table = {"n": [0.1, np.nan, 2.0, -1.0], "c": ["u", "v", None, "w"]}
    inputs = {"n": np.array(table["n"])[:, None], "c": np.array([["u"], ["v"], [""], ["w"]], dtype=object)}
    expected = model.predict(columns.apply(table))
    assert np.ptp(expected) > 0.5
    assert np.abs(run(to_onnx(model), inputs)["prediction"][:, 0] - expected).max() < 1e-12


def test_an_empty_text_that_is_a_level_is_refused():
    columns = Encoding((Column("c", "category"),), (Level(0, ""), Level(0, "a")))
    model = DCRegressor(lam=0.1).fit(rng.normal(size=(20, 2)), np.arange(20.0)).model_
    with pytest.raises(ValueError, match="empty text"):
        to_onnx(replace(model, columns=columns))


def test_a_column_without_a_name_is_refused():
    columns = Encoding((Column("", "category"),), (Level(0, "b"), Level(0, "a")))
    model = DCRegressor(lam=0.1).fit(rng.normal(size=(20, 2)), np.arange(20.0)).model_
    with pytest.raises(ValueError, match="A column has the name '', and an input of ONNX needs a name"):
        to_onnx(replace(model, columns=columns))


def test_several_quantiles_increase():
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) * np.abs(X[:, 1])
    with few_kinds():
        model = DCRegressor(loss=Quantile([0.1, 0.5, 0.9])).fit(X, y)
    points = 4.0 * rng.normal(size=(1000, 2))
    found = run(to_onnx(model), {"X": points})["prediction"]
    assert found.shape == (1000, 3)
    assert np.abs(found - model.predict(points)).max() < 1e-9
    with pytest.raises(ValueError, match="no explanation"):
        to_onnx(model, explain=True)
    with pytest.raises(ValueError, match="one function"):
        to_onnx(model, style="relu")


def test_skl2onnx_refuses_columns_it_cannot_hand_over(models):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    with pytest.raises(ValueError, match=r"pldc\.export\.to_onnx"):
        skl2onnx.to_onnx(models["default"], np.zeros((1, 5)))
