"""Arguments for the fuzzer: fitting ones by the name of the parameter, and junk for any.

A new parameter needs a line in `MAKERS` only if junk alone would never get through to the work.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import KFold
from tests.function.common import random_functions

import pldc
from attack.readers import scratch
from pldc.export import to_milp
from pldc.function import class_regions, explain
from pldc.function.regions import RegionTable
from pldc.select.bound import bound
from pldc.select.discrepancy import discrepancy
from pldc.solve.interpolation import minimal_interpolant

LABELS = np.array(["a", "b", "c"])
TABLE_ROWS = 9  # of the tables that the models at hand were fitted to
SOON = 0.03  # seconds that a fit of few pieces may take
FORMS: tuple[Callable[[Any], Any], ...] = (
    np.asarray,
    np.asarray,
    np.asfortranarray,
    lambda X: X.tolist(),
    lambda X: X.astype(np.float32),
    lambda X: X[::-1][::-1],
)


class Plain:
    """An object that is nothing the package knows."""


class Talker:
    """An object that says too much of itself."""

    def __repr__(self) -> str:
        return "x" * 1_000_000


def table(d: int, n: int = TABLE_ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    return X, np.abs(X[:, 0]) + 0.1 * rng.random(n)


@cache
def regressors(d: int) -> list[Any]:
    """Regressors fitted in different ways, one that was not fitted at the end."""
    X, y = table(d)
    Regressor: Any = pldc.DCRegressor
    models = [
        Regressor(max_seconds=SOON),
        Regressor(n_pieces=2, max_seconds=SOON),
        Regressor(max_seconds=SOON, monotone=[1] * d),
        Regressor(max_seconds=SOON, lam=0.1),
        Regressor(max_seconds=SOON, lam=0.01, loss="absolute", penalty=pldc.Seminorm(free_linear=True), clip=False),
        Regressor(max_seconds=SOON, n_pieces="rows", cv=2),
        Regressor(max_seconds=SOON, loss="poisson"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*(model.fit(X, y) for model in models), Regressor()]


@cache
def classifiers(d: int) -> list[Any]:
    """Classifiers, likewise."""
    X, y = table(d)
    Classifier: Any = pldc.DCClassifier
    two, three = LABELS[(y > np.median(y)).astype(int)], LABELS[np.digitize(y, np.quantile(y, [0.35, 0.7]))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            Classifier(max_seconds=SOON).fit(X, two),
            Classifier(max_seconds=SOON).fit(X, three),
            Classifier(lam=0.1, loss="log").fit(X, two),
            Classifier(),
        ]


@cache
def functions(d: int) -> list[Any]:
    """Functions of every kind."""
    made = list(random_functions(np.random.default_rng(d), d).values())
    return [*made, pldc.PLDC.affine(np.ones(d)), abs(pldc.PLDC.affine(np.arange(1.0, d + 1)))]


class Scene:
    """The things of one call that must fit together: the number of features, and rows of as many.

    Parameters
    ----------
    rng : numpy.random.Generator
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.d = int(rng.integers(1, 4))
        self.X, self.y = table(self.d, int(rng.choice([TABLE_ROWS, 1, 2, 4, 6])), int(rng.integers(3)))
        self.labels, self.target = False, ""

    def pick(self, *options: Any) -> Any:
        """One of them."""
        return options[int(self.rng.integers(len(options)))]

    def numbers(self, *shape: int) -> np.ndarray:
        """Moderate numbers, ties and zeros among them."""
        return np.round(self.rng.normal(size=shape), int(self.rng.integers(0, 3)))

    def box(self) -> Any:
        """Ends for every feature, some of them open."""
        low = self.numbers(self.d)
        pairs = [(a, a + float(self.rng.integers(0, 4))) for a in low]
        return pairs if self.rng.random() < 0.7 else [(None, b) for _, b in pairs]

    def fitted(self) -> Any:
        """A regressor."""
        return self.pick(*regressors(self.d))

    def function(self) -> Any:
        """A function."""
        return self.pick(*functions(self.d), *(m.function_ for m in regressors(self.d)[:-1]))

    def instance(self, cls: type) -> Any:
        """An instance of a public class."""
        if cls.__name__ in INSTANCES:
            return INSTANCES[cls.__name__](self)
        try:
            return cls()
        except TypeError:
            raise NotImplementedError(f"INSTANCES has no line for {cls.__name__}") from None

    def estimator(self, cls: type, junk: float) -> Any:
        """An estimator with settings drawn at random, quick to fit."""
        names = [name for name in cls().get_params() if self.rng.random() < 0.25]
        chosen = {name: self.value(name, junk) for name in names if name != "n_jobs"}
        return cls(**({"max_seconds": SOON, "lam": self.pick("cv", 0.1, 0.01)} | chosen))

    def value(self, name: str, junk: float) -> Any:
        """An argument for a parameter."""
        if name not in MAKERS or (self.rng.random() < junk and name != "arguments"):  # which are words in any case
            return self.pick(*JUNK)()
        return MAKERS[name](self)


def _part(s: Scene) -> Any:
    k = int(s.rng.integers(1, 5))
    return pldc.MaxAffine(s.numbers(k, s.d), s.numbers(k))


def _frame(s: Scene) -> Any:
    import pandas as pd

    return pd.DataFrame(s.X, columns=[f"x{k}" for k in range(s.d)])


def _rows(s: Scene) -> Any:
    return _frame(s) if s.rng.random() < 0.1 else s.pick(*FORMS)(s.X)


def _targets(s: Scene) -> Any:
    if s.labels:
        return LABELS[np.arange(len(s.y)) % s.pick(2, 2, 3)]
    return s.pick(s.y, s.y, np.round(s.y), s.y.tolist(), 1e3 * s.y, np.ones(len(s.y)))


def _monitor(s: Scene) -> Any:
    return s.pick(None, lambda state: False, lambda state: state["iteration"] > 1)


def _layers(s: Scene) -> Any:
    return s.pick(*functions(s.d)[-2:], pldc.PLDC(_part(s), _part(s))).to_relu(compact=bool(s.rng.integers(2)))


def _path(s: Scene) -> Any:
    """A path of fits, or that of a file."""
    if s.target.endswith("plot_path") or ".Path" in s.target:
        return _paths(s.d)
    return scratch() / s.pick("model.json", "model.json.gz", "no such folder/model.json")


@cache
def _paths(d: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return regressors(d)[3].path(*table(d), [0.1, 1.0])


@cache
def encoding() -> Any:
    """How a table with a category, a gap and a date became numbers."""
    import pandas as pd

    X, y = table(1)
    dates = pd.date_range("2024-01-01", periods=len(y), freq="37D")
    frame = pd.DataFrame({"x": X[:, 0], "kind": [*"abcabcab", None], "day": dates, "gap": [np.nan, *range(len(y) - 1)]})
    return pldc.DCRegressor(max_seconds=SOON).fit(frame, y).model_.columns


def _figure(s: Scene) -> Any:
    from matplotlib.figure import Figure

    return s.pick(None, Figure())


MAKERS: dict[str, Callable[[Scene], Any]] = {
    "A_eq": lambda s: s.numbers(1, s.d),
    "A_ub": lambda s: s.numbers(2, s.d),
    "L": lambda s: s.pick(1.0, 2.5),
    "M": lambda s: s.pick(None, 3.0),
    "R": lambda s: s.pick(1.0, 2.5),
    "X": _rows,
    "Y": lambda s: s.X + 1.0,
    "about": lambda s: None,
    "active_pairs": lambda s: s.pick(True, False),
    "arguments": lambda s: [
        s.pick("--help", "demo", "--surprise", "", "no such command", "-x"),
        s.pick("--help", "-h", "é"),
    ],
    "ax": lambda s: None,
    "b_eq": lambda s: s.numbers(1),
    "b_ub": lambda s: s.numbers(2),
    "between": lambda s: s.pick(None, (-1.0, 1.0)),
    "bounds": lambda s: s.pick(None, s.box(), s.box(), {0: (-1.0, 2.0)}),
    "by": lambda s: s.numbers(s.d),
    "categorical_features": lambda s: s.pick(None, "from_dtype", [0]),
    "box": lambda s: s.pick(s.box(), s.box(), None),
    "chosen": lambda s: None,
    "class_weight": lambda s: s.pick(None, "balanced", {"a": 2.0}),
    "classes": lambda s: s.pick(LABELS, LABELS[:2], None),
    "clip": lambda s: s.pick(True, False),
    "column": lambda s: s.pick(0, 1),
    "columns": lambda s: s.pick(None, [0]),
    "compact": lambda s: s.pick(True, False),
    "cost": lambda s: s.pick(None, {0: 2.0}),
    "coverage": lambda s: s.pick(0.5, 0.9, 0.99),
    "cv": lambda s: s.pick(2, 3, KFold(2), pldc.CrossValidation(2, max_rows=None)),
    "d": lambda s: s.pick(1, 2, 3, 8),
    "delta": lambda s: s.pick(0.05, 0.5),
    "device": lambda s: None,
    "dialect": lambda s: s.pick("sqlite", "postgresql", "duckdb"),
    "discrepancy": lambda s: s.pick(0.1, 1.0),
    "dtype": lambda s: s.pick("float64", "float32", "double", "float"),
    "empirical": lambda s: s.pick(0.0, 0.3),
    "feature": lambda s: s.pick(*range(s.d)),
    "fixed": lambda s: s.pick((), [0]),
    "feature_names": lambda s: s.pick(None, [f"x{k}" for k in range(s.d)]),
    "features": lambda s: s.pick(None, [f"x{k}" for k in range(s.d)]),
    "figure": _figure,
    "floor": lambda s: s.pick(1e-3, 0.1),
    "folds": lambda s: s.pick(2, KFold(3)),
    "free_linear": lambda s: s.pick(True, False),
    "function": lambda s: s.pick(s.function(), s.fitted()),
    "functions": lambda s: [s.function() for _ in range(s.pick(1, 2, 3))],
    "given": lambda s: s.pick(None, s.numbers(s.d), dict(enumerate(s.numbers(s.d)))),
    "grid": lambda s: s.pick(2, 5, 12),
    "groups": lambda s: s.pick(None, np.arange(len(s.y)) % 3),
    "hinges": lambda s: None,
    "increasing": lambda s: s.pick(True, False),
    "intercept": lambda s: s.pick(0.0, -2, np.float32(3)),
    "keep": lambda s: s.pick((), ["id"]),
    "knots": lambda s: [np.sort(s.rng.normal(size=3)) for _ in range(s.d)],
    "lam": lambda s: s.pick(0.01, 0.1, 10.0, "cv", "srm"),
    "lams": lambda s: s.pick([0.1], [1.0, 0.1]),
    "layers": _layers,
    "level": lambda s: s.pick(0.1, 0.5),
    "limits": lambda s: s.pick((-np.inf, np.inf), (0.0, 1.0)),
    "loss": lambda s: s.pick(
        *("squared", "absolute", pldc.Huber(0.5), pldc.Quantile(0.8), "poisson", pldc.Squared()),
        *(("log", "hinge", "auto") if s.labels else ()),
    ),
    "matrix": lambda s: s.pick(np.eye(s.d), 2 * np.eye(s.d), s.numbers(s.d, 2)),
    "max_iter": lambda s: s.pick(1, 50),
    "max_rows": lambda s: s.pick(None, 4, 100),
    "max_seconds": lambda s: s.pick(SOON, 1e-6),
    "method": lambda s: s.pick("quadratic", "minimal", "auto"),
    "minus": _part,
    "model": lambda s: s.pick([regressors(s.d)[1]], s.fitted(), *classifiers(s.d)),
    "monitor": _monitor,
    "monotone": lambda s: s.pick(None, s.rng.integers(-1, 2, s.d), {"x0": 1}),
    "most": lambda s: s.pick(1, 10),
    "most_pieces": lambda s: s.pick(10, 5000),
    "n": lambda s: s.pick(2, 100),
    "n_features": lambda s: s.pick(1, 2, 5),
    "n_jobs": lambda s: s.pick(None, 1, 2),
    "n_pieces": lambda s: s.pick("auto", "rows", 1, 2, np.int64(3)),
    "n_splits": lambda s: s.pick(1, 2),
    "name": lambda s: s.pick("squared", "joint", "componentwise"),
    "names": lambda s: ("a", "b"),
    "neighbourhood": lambda s: s.pick(0.0, 0.1, 3),
    "norm": lambda s: s.pick("joint", "componentwise"),
    "offsets": lambda s: s.numbers(3),
    "one_standard_error": lambda s: s.pick(True, False),
    "order": lambda s: s.pick(1, 2, np.inf),
    "other": lambda s: s.pick(s.function(), s.function(), 2, -0.5, np.float32(1.5), s),
    "path": _path,
    "penalty": lambda s: s.pick("joint", "componentwise", "joint", pldc.Seminorm("joint", free_linear=True)),
    "plus": _part,
    "points": lambda s: s.X,
    "random_state": lambda s: s.pick(None, 0, np.random.RandomState(1)),
    "record": lambda s: s.function().to_dict(),
    "reference": lambda s: s.pick(None, s.numbers(s.d), {f"x{k}": 1.0 for k in range(s.d)}),
    "row": lambda s: s.pick(0, 0, -1, len(s.y)),
    "sample_weight": lambda s: s.pick(None, np.ones(len(s.y)), np.arange(len(s.y)), s.rng.random(len(s.y)).tolist()),
    "scoring": lambda s: s.pick(None, "r2", "neg_mean_absolute_error"),
    "seminorm": lambda s: s.pick(0.0, 2.0),
    "shape": lambda s: s.pick("dc", "convex", "concave"),
    "slope": lambda s: s.numbers(s.d),
    "slopes": lambda s: s.numbers(3, s.d),
    "solver": lambda s: s.pick("auto", "exact", "admm", "line", pldc.Auto(tol=1e-2), pldc.Exact(1e-2)),
    "standardize": lambda s: s.pick(True, False),
    "table": lambda s: s.pick("rows", [f"x{k}" for k in range(s.d)], _frame(s)),
    "threads": lambda s: s.pick(None, 1, 2),
    "threshold": lambda s: s.pick(0.5, 3.0),
    "title": lambda s: "surface",
    "tol": lambda s: s.pick(1e-2, 1e-3, None, 0.0),
    "unit": lambda s: s.pick(np.ones(s.d), np.arange(s.d)),
    "vector": lambda s: s.pick(None, s.numbers(s.d)),
    "verbose": lambda s: 0,
    "width": lambda s: s.pick(40, 79),
    "weighted": lambda s: s.pick(None, True, False),
    "x": lambda s: s.X[0],
    "y": _targets,
}
INSTANCES: dict[str, Callable[[Scene], Any]] = {
    "Bound": lambda s: bound(pldc.Squared(), empirical=0.1, seminorm=1.0, discrepancy=0.1, n=9, M=1.0, delta=0.1),
    "Certificate": lambda s: regressors(s.d)[3].certificate_,
    "ClassExplanation": lambda s: s.pick(*classifiers(s.d)[:-1]).explain(table(s.d)[0]),
    "ClassSimplification": lambda s: pldc.ClassSimplification((2, 2), 0.9, -0.2, -0.1, 0.2, 0.1),
    "ClassRegions": lambda s: class_regions(functions(s.d)[:2], table(s.d)[0], LABELS[:2]),
    "Contributions": lambda s: regressors(s.d)[0].explain(table(s.d)[0][:2], method="path"),
    "Counterfactual": lambda s: regressors(s.d)[1].counterfactual(table(s.d)[0][0], 1.0, max_seconds=1.0),
    "Curve": lambda s: regressors(s.d)[1].curve(0, table(s.d)[0]),
    "Comparison": lambda s: pldc.Comparison(2.0, 1.0, 0.5, 1.0, 1.0),
    "DCClassifier": lambda s: s.pick(*classifiers(s.d)),
    "DCRegressor": Scene.fitted,
    "Discrepancy": lambda s: discrepancy(table(s.d)[0], n_splits=1),
    "Encoding": lambda s: encoding(),
    "Interactions": lambda s: regressors(s.d)[1].interactions(table(s.d)[0]),
    "Explanation": lambda s: explain(s.function(), table(s.d)[0]),
    "Interpolability": lambda s: pldc.can_interpolate(*table(s.d)),
    "LevelMeans": lambda s: pldc.function.LevelMeans("kind", ("a", "b", None), np.arange(3.0), 9),
    "LocalModel": lambda s: s.function().local(table(s.d)[0]),
    "MaxAffine": _part,
    "Milp": lambda s: to_milp(functions(s.d)[0], [(-1.0, 1.0)] * s.d),
    "MinimalInterpolant": lambda s: minimal_interpolant(np.arange(4.0)[:, None] * np.ones(s.d), [0, 1, 0, 2], tol=0.1),
    "Model": lambda s: s.pick(*regressors(s.d)[:-1], *classifiers(s.d)[:-1]).model_,
    "Optimum": lambda s: functions(s.d)[0].minimize([(-1, 1)] * s.d),
    "PLDC": Scene.function,
    "Path": _path,
    "Regions": lambda s: s.function().regions(table(s.d)[0]),
    "RegionTable": lambda s: RegionTable(s.function().regions(table(s.d)[0])),
    "Rule": lambda s: s.pick(*functions(s.d)[0].regions(table(s.d)[0]).rules),
    "Simplification": lambda s: regressors(s.d)[1].simplification_,
}
NUMBERS = (0, -1, 1, 7, 2.5, -0.0, np.nan, np.inf, -np.inf, 1e308, 1e-320, 10**400, -(10**400), 10**9, 1e9)
TYPED = (np.float32(2), np.int8(-3), np.uint64(2**63), np.longdouble(1), np.bool_(True), np.datetime64("2020-01-01"))
TEXT = ("", "a", "squared", "rows", "joint", "0", "\x00", "é" * 50, "x" * 100_000, b"bytes", "NaN")
OTHERS = (
    None,
    True,
    False,
    ...,
    NotImplemented,
    1 + 2j,
    Decimal("1.5"),
    Fraction(1, 3),
    range(3),
    slice(2),
    Plain,
    len,
)
JUNK: tuple[Callable[[], Any], ...] = (
    *(lambda value=value: value for value in (*NUMBERS, *TYPED, *TEXT, *OTHERS)),
    Plain,
    Talker,
    list,
    dict,
    tuple,
    set,
    lambda: [[]],
    lambda: [None, "a", 1.0],
    lambda: [[1, 2], [3]],
    lambda: {"a": 1, 3: None},
    lambda: {"pldc": 2, "terms": []},
    lambda: iter([1.0, 2.0]),
    lambda: (k for k in range(2)),
    lambda: np.array(3.0),
    lambda: np.array(["a", "b"]),
    lambda: np.array([None, "a", 2.0], dtype=object),
    lambda: np.array([1 + 1j, 2.0]),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((2, 0)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.full((3, 2), np.nan),
    lambda: np.array([1e308, -1e308, 1e308]),
    lambda: np.array([[1e200, -1e200], [1e-200, 0.0]]),
    lambda: np.array([10**400, 1], dtype=object),
    lambda: np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    lambda: np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]]),
    lambda: np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    lambda: np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    lambda: csr_array(np.eye(2)),
    lambda: pldc.PLDC.affine([1.0, 2.0]),
    lambda: pldc.MaxAffine([[1.0]], [0.0]),
    lambda: pldc.Squared(),
    lambda: pldc.Exact(),
    lambda: pldc.DCRegressor(),
    lambda: pldc.DCRegressor,
)
