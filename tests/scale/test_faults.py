"""A reader that is killed, a disk that is full, a process that is killed while it passes over a file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from joblib import Parallel, delayed
from tests.quick import few_kinds
from tests.scale.test_shards import Processes, blocks_of, rows

from pldc import DCRegressor
from pldc.scale import Block

__all__ = ["rows"]
pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of Unix")
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module", autouse=True)
def quick():
    with few_kinds(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pldc.estimators.sources.FEWEST", 1500)
        patch.setattr("pldc.estimators.sources.MOST", 1500)
        yield


@pytest.fixture
def file(rows, tmp_path):
    X, _, y = rows
    path = tmp_path / "table.parquet"
    parquet.write_table(pyarrow.table({f"x{k}": X[:, k] for k in range(X.shape[1])} | {"y": y}), path)
    return path


class Mortal(Processes):
    """A store whose reader is killed in the third sum: the sample is drawn by then, and a pass is done."""

    sums = 0

    def sum(self, work):
        """Add up, unless it is time."""
        self.sums += 1
        if self.sums == 3:
            Parallel(2)(delayed(killed)() for _ in range(2))
        return super().sum(work)


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_reader_that_is_killed_leaves_what_was_learned(rows, monkeypatch):
    X, _, y = rows
    stores = []

    def mortal(X, y, weight, threads):
        stores.append(Mortal([Block(*b) for b in X()]))
        return stores[-1]

    monkeypatch.setattr("pldc.estimators.sources.shards_of", mortal)
    model = DCRegressor(max_memory=1e7)
    with pytest.raises(Exception, match="terminated|killed|terminate"):
        model.fit(lambda: blocks_of(X, y), None)
    assert stores[0].sums == 3
    assert model.score(X, y) > 0.5
    monkeypatch.undo()
    with few_kinds():  # and nothing is broken for the next one
        assert DCRegressor(max_memory=1e7).fit(X[:500], y[:500]).score(X, y) > 0.5


def alone(code, *words, **more):
    """Run a script in a process of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SOURCE), str(SOURCE.parent)]),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen([sys.executable, "-c", code, *map(str, words)], env=environment, text=True, **more)


FULL = """
import resource, signal, sys
import pldc.estimators.sources as sources
from tests.quick import few_kinds
from pldc import DCRegressor
sources.FEWEST = sources.MOST = 1500
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    with open("probe", "w") as file:
        file.write("not a byte may be written")
except OSError:
    print("full")
with few_kinds():
    model = DCRegressor(max_memory=1e7).fit(sys.argv[1], "y")
print(len(model.predict(sys.argv[1])))
try:
    model.save_model("model.json")
except OSError:
    print("not saved")
"""


def test_a_full_disk_is_no_danger_to_a_fit_and_nothing_half_is_saved(rows, file, tmp_path):
    """Not a byte can be written to any file: the fit and its predictions need none."""
    process = alone(FULL, file, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert out.split("\n")[:3] == ["full", str(len(rows[2])), "not saved"]
    (tmp_path / "probe").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.parquet"]


KILLED = """
import os, signal, sys
import pldc.estimators.sources as sources
from tests.quick import few_kinds
from pldc import DCRegressor
sources.FEWEST = sources.MOST = 1500
def monitor(about):
    if not about["comparing"] and about["of"] == 16:
        os.kill(os.getpid(), signal.SIGKILL)
with few_kinds():
    DCRegressor(max_memory=1e7).fit(sys.argv[1], "y", monitor=monitor)
"""


def test_a_fit_that_is_killed_leaves_the_table_and_no_other_file(rows, file, tmp_path):
    before = file.read_bytes()
    process = alone(KILLED, file, cwd=tmp_path)
    assert process.wait(timeout=300) == -signal.SIGKILL
    assert file.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["table.parquet"]
    assert DCRegressor(max_memory=1e7).fit(file, "y").model_.target_range == (rows[2].min(), rows[2].max())
