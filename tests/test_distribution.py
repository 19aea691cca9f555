"""The wheel and the sdist: they build, are well described, and work in an environment that has nothing else."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import pldc

ROOT = Path(__file__).parents[1]
asked = pytest.mark.skipif("PLDC_DISTRIBUTION" not in os.environ, reason="takes minutes: set PLDC_DISTRIBUTION=1")
PARTS = ["py.typed", "export/model.schema.json", *(f"export/page/{n}" for n in ("page.html", "page.css", "page.js"))]


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    (latest, *_) = re.findall(r"^## (\S+),", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert project["version"] == cited == latest == pldc.__version__


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=900, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("build", reason="build is not installed")
    pytest.importorskip("twine", reason="twine is not installed")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)  # the wheel is built from the sdist
    return folder


@asked
def test_they_are_well_described_and_complete(built):
    run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"pldc/{part}" for part in PARTS} <= set(names) and not [n for n in names if n.startswith("tests")]
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        inside = {name.split("/", 1)[1] for name in file.getnames() if "/" in name}
    assert {f"src/pldc/{part}" for part in PARTS} <= inside and "tests/test_distribution.py" in inside


@asked
def test_they_work_in_an_empty_environment(built, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "empty")
    binaries = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    install = (binaries / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt")
    (wheel,) = built.glob("*.whl")
    run(*install, wheel)  # which was built from the sdist
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    assert run(binaries / "pldc", "--version", cwd=tmp_path, env=clean) == f"pldc {pldc.__version__}\n"
    code = (
        "import pldc; model = pldc.DCRegressor(max_seconds=2).fit([[float(k % 7)] for k in range(40)], range(40)); "
        "model.save_model('m.json'); pldc.load('m.json').explorer('page.html'); print(pldc.__file__)"
    )
    place = run(binaries / "python", "-c", code, cwd=tmp_path, env=clean)
    assert str(tmp_path) in place and "<!doctype html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    said = subprocess.run(
        [binaries / "pldc", "predict", "m.json", "x.csv"], cwd=tmp_path, env=clean, capture_output=True
    )
    assert said.returncode == 1 and b"pldc[shell]" in said.stderr  # no pandas here
