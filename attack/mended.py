"""Reproductions of the defects of issue "It holds", on the code before and on today's: ``python -m attack.mended``.

Each is a few lines that end in one word or number. They run in a process of their own, with 3 GiB and two minutes.
``--before PATH`` runs them on an older checkout, too, and keeps what came out in results/mended.json; without it only
today's outcomes are made anew. The table is results/mended.rst.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from attack.__main__ import write_table
from attack.harness import ROOT

RESULTS = Path(__file__).parent / "results"
MOST_SECONDS, MOST_BYTES, LONGEST = 120.0, 3 << 30, 110
BEGIN = f"""
import resource, warnings
resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES}))
import numpy as np
from pldc import *
import pldc
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = X[:, 0] + np.abs(X[:, 1])
c = (y > 0.8).astype(int)
fit = lambda **s: DCRegressor(lam=0.05, **s).fit(X, y)
def said(call):
    warnings.simplefilter("error")
    try:
        print("answer:", call())
    except BaseException as error:
        long = len(str(error)) > 2000
        print(type(error).__name__ + ":", f"{{len(str(error)):,}} letters" if long else error)
"""
# What was wrong, in the words of the issue → how it is brought about; the last line prints.
CASES: dict[str, str] = {
    "a long text among numbers in from_dict": """
f = DCRegressor(lam=0.05).fit(X, y).function_.to_dict()
part = (f["terms"][0] if "terms" in f else f)["plus"]
part |= {"offsets": ["a" * 10**6] + [1.0] * 2000, "slopes": [[1.0, 2.0]] * 2001}
said(lambda: PLDC.from_dict(f))""",
    "absolute loss, X + 1e14: objective by predict over certified": """
warnings.simplefilter("ignore")
Z = np.round(X * 64) / 64 + 1e14
m = DCRegressor(lam=0.02, loss="absolute", clip=False).fit(Z, y)
print("answer: %.3g" % ((np.abs(y - m.predict(Z)).mean() + 0.02 * m.seminorm_) / m.certificate_.upper))""",
    "prune where values overflow": """
f = fit().function_ * 1e307
said(lambda: (warnings.simplefilter("ignore"), type(f.prune(X * 1e3)).__name__)[1])""",
    "prune with tol and no rows": "said(lambda: fit().function_.prune(tol=1.0))",
    "an object with __array__ in from_dict: is it run?": """
ran = []
class Odd:
    def __array__(self, *given, **named):
        ran.append(1)
        return np.zeros(1)
f = DCRegressor(lam=0.05).fit(X, y).function_.to_dict()
part = (f["terms"][0] if "terms" in f else f)["plus"]
part["offsets"] = Odd()
try:
    PLDC.from_dict(f)
except Exception:
    pass
print("answer:", bool(ran))""",
    "gradient at a row of NaN": """
g = np.asarray(fit().function_.gradient(np.array([[np.nan, 0.0]])))
print("answer:", "NaN" if np.isnan(g).all() else "finite")""",
    "folds that name rows beyond the last": "said(lambda: DCRegressor(cv=[([0, 1], [99])]).fit(X, y))",
    "class_weight beyond all floats": "said(lambda: DCClassifier(class_weight={0: 10**400, 1: 1}).fit(X, c))",
    "PLDC of two numbers": "said(lambda: PLDC(1, 2))",
    "to_relu of nothing": "from pldc.function.relu import to_relu\nsaid(lambda: to_relu(None))",
    "lam beyond all floats": "said(lambda: DCRegressor(lam=10**400).fit(X, y))",
    "complex weights": "said(lambda: DCRegressor(lam=0.05).fit(X, y, np.ones(40) * (1 + 1j)).n_features_in_)",
    "a masked target": "said(lambda: DCRegressor(lam=0.05).fit(X, np.ma.masked_less(y, 0.0)).n_features_in_)",
    'standardize="no"': 'said(lambda: fit(standardize="no").n_features_in_)',
    "junk in scoring, beside a number as lam": """
import inspect
own = "scoring" in inspect.signature(DCRegressor).parameters
said(lambda: fit(**({"scoring": 3} if own else {"cv": CrossValidation(scoring=3)})).n_features_in_)""",
    "a column at 1e-310": "said(lambda: DCRegressor(lam=0.05).fit(X * [1e-310, 1.0], y).n_features_in_)",
    "all columns at 1e-310": """
Z = X[:20] * 1e-310
said(lambda: round(float(DCRegressor().fit(Z, y[:20]).score(Z, y[:20])), 2))""",
    "scikit-learn on DCClassifier(): weights and repeated rows": """
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data as check
try:
    print("answer: passed", check("DCClassifier", DCClassifier()) or "")
except AssertionError as error:
    print("answer:", next(line for line in str(error).splitlines() if "Max absolute" in line))""",
    "poor_score of a quantile at 0.1": """
import inspect
own = "quantile" in inspect.signature(DCRegressor).parameters
m = DCRegressor(**({"loss": "quantile", "quantile": 0.1} if own else {"loss": Quantile(0.1)}))
print("answer:", m.__sklearn_tags__().regressor_tags.poor_score)""",
    "score with negative weights": "m = fit()\nsaid(lambda: round(m.score(X, y, -np.ones(40)), 2))",
}


def outcome(source: Path, code: str) -> str:
    """Run a reproduction on the package of a checkout; return what it said, in one line."""
    environment = os.environ | {"PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-c", BEGIN + code]
    try:
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer in {MOST_SECONDS:g} seconds"
    last = (ran.stdout.strip() or ran.stderr.strip() or f"ended with {ran.returncode}").splitlines()[-1]
    return last if len(last) <= LONGEST else last[:LONGEST] + "…"


def main() -> None:
    """Run all, and write the table."""
    parser = argparse.ArgumentParser(prog="attack.mended")
    parser.add_argument("--before", type=Path)
    path = RESULTS / "mended.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = parser.parse_args().before
    for name, code in CASES.items():
        row = known.setdefault(name, {"before": "–"})
        if before is not None:
            row["before"] = outcome(before, code)
        row["today"] = outcome(ROOT, code)
        print(f"{name}\n    {row['before']}\n    {row['today']}", flush=True)
    path.write_text(json.dumps({name: known[name] for name in CASES}, indent=1, ensure_ascii=False), encoding="utf-8")
    lines = [["what", "before", "today"]]
    lines += [[name, *(f"``{known[name][when]}``" for when in ("before", "today"))] for name in CASES]
    write_table(path.with_suffix(".rst"), lines)


if __name__ == "__main__":
    main()
