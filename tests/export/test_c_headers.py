"""C headers: dates among floats, several models in one file, and what the comment says of the columns."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.export.test_code import needs_gcc
from tests.export.test_columns import of_levels, wanted_of
from tests.quick import few_kinds

from pldc import PLDC, DCClassifier, DCRegressor
from pldc.export import to_c

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wdouble-promotion", "-Werror"]
DATES = """
#include <stdio.h>
#include "model.h"
static const pldc_cell rows[][2] = {
%s
};
int main(void) {
  for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++) printf("%%.9g\\n", (double)pldc_predict(rows[k]));
  return 0;
}
"""


def compiled(folder, *flags):
    return subprocess.run(
        ["gcc", *WARNINGS, *flags, "main.c", "-o", "main", "-lm"], cwd=folder, capture_output=True, text=True
    )


@needs_gcc
def test_dates_keep_the_time_of_day_among_floats(tmp_path):
    rng = np.random.default_rng(0)
    moments = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.uniform(0, 900, 200), unit="D")
    frame = pd.DataFrame({"a": rng.normal(size=200).astype(np.float32).astype(float), "t": moments})
    with few_kinds():
        model = DCRegressor(n_pieces=3).fit(frame, frame["a"].abs() + frame["t"].dt.hour)
    days = (frame["t"] - pd.Timestamp(0)) / pd.Timedelta(1, "D")
    rows = ",\n".join(f"{{{{(float){a!r}, NULL}}, {{{t!r}, NULL}}}}" for a, t in zip(frame["a"], days, strict=True))
    (tmp_path / "model.h").write_text(to_c(model, "float"))
    (tmp_path / "main.c").write_text(DATES % rows)
    assert compiled(tmp_path).stderr == ""
    found = np.array(subprocess.check_output([tmp_path / "main"], text=True).split(), dtype=float)
    wanted = model.predict(frame)
    assert (np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).max() <= 1e-5


@needs_gcc
def test_two_headers_of_one_name_are_an_error(tmp_path):
    """The guard of the first hid the second: its rows were given to the model of the first."""
    f, g = PLDC.affine([1.0]), PLDC.affine([2.0, 1.0])
    main = '#include "a.h"\n#include "a.h"\n#include "b.h"\nint main(void) { return 0; }\n'
    (tmp_path / "main.c").write_text(main)
    (tmp_path / "a.h").write_text(to_c(f))
    (tmp_path / "b.h").write_text(to_c(g))
    assert "Two models are called pldc: give one of them another name" in compiled(tmp_path, "-Wno-unused").stderr
    for name in ("other", "PLDC"):
        (tmp_path / "b.h").write_text(to_c(g, name=name))
        assert compiled(tmp_path, "-Wno-unused").stderr == ""
    (tmp_path / "b.h").write_text(to_c(f))
    assert compiled(tmp_path, "-Wno-unused").stderr == ""


def test_the_header_lists_the_levels():
    """Those of a column of floats are 0 and 1, not 0.0 and 1.0."""
    frame = pd.DataFrame({"k": [0.0, 1.0, 2.5, 1.0] * 10, "a": np.arange(40.0)})
    with few_kinds():
        model = DCRegressor(n_pieces=2, categorical_features=["k"]).fit(frame, frame["a"] + frame["k"])
    assert 'Columns: k, a\n   Levels of k: "0", "1", "2.5" */' in to_c(model)
    assert 'Levels of c: "a ×/ b", "c", "d" */' in to_c(of_levels(["a */\n b", "c", "d"]))


@pytest.mark.parametrize("word", ["single", "float32"])
def test_words_for_single_precision(word):
    f = abs(PLDC.affine([1.0]))
    assert to_c(f, word) == to_c(f, "float") != to_c(f, "float64") == to_c(f)


@needs_gcc
def test_levels_and_labels_with_dollars(tmp_path):
    for levels in (["$5", "$$", "$name"], ["$hash", "${name}", "US$"]):
        model = of_levels(levels)
        cells = ",\n".join(f'{{{{0, "{level}"}}}}' for level in levels)
        (tmp_path / "main.c").write_text(DATES.replace("[][2]", "[][1]") % cells)
        (tmp_path / "model.h").write_text(to_c(model))
        ran = compiled(tmp_path)
        assert not ran.returncode, ran.stderr
        out = subprocess.check_output([tmp_path / "main"], text=True)
        assert [float(line) for line in out.split()] == wanted_of(model, levels)
    X = np.arange(20.0)[:, None]
    with few_kinds():
        classes = DCClassifier(n_pieces=2).fit(X, np.where(X[:, 0] > 9, "$name", "$$x"))
    assert 'labels[2] = {"$$x", "$name"}' in to_c(classes)
