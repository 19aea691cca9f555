"""Every block of Python in the pages and in the README runs when it is pasted alone."""

import ast
import re
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from tests.quick import few_kinds, few_starts

ROOT = Path(__file__).parents[2]
REQUIRED = {"numpy", "scipy", "sklearn", "joblib", "pldc"}
BEHIND = {"as_frame=True": "pandas", "pldc.view": "matplotlib", "to_parquet": "pyarrow"}  # needed, and not imported


def blocks_of(text, directive=re.compile(r"^( *)(?:\.\. code-block:: python|```python)\n", re.M)):
    """Return (line, source) of each block of Python, in reStructuredText or Markdown."""
    found = []
    for start in directive.finditer(text):
        rest = text[start.end() :]
        if "```" in start[0]:
            source = rest[: rest.index(f"{start[1]}```")]
        else:  # what is indented more than the directive
            source = re.match(rf"(?:{start[1]} +.*\n|[ \t]*\n)*", rest)[0]
        found.append((text.count("\n", 0, start.end()) + 1, textwrap.dedent(source).strip("\n") + "\n"))
    return found


def packages_of(source):
    """Return the optional packages that a block needs."""
    trees = ast.walk(ast.parse(source))
    named = [node for node in trees if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = [a.name for n in named if isinstance(n, ast.Import) for a in n.names]
    modules += [n.module for n in named if isinstance(n, ast.ImportFrom)]
    tops = {module.partition(".")[0] for module in modules} - REQUIRED - set(sys.stdlib_module_names)
    return sorted(tops | {package for sign, package in BEHIND.items() if sign in source})


def run(source):
    """Run a block in a namespace of its own."""
    exec(compile(source, "block", "exec"), {"__name__": "__main__"})


PAGES = [*sorted((ROOT / "docs").glob("*.rst")), ROOT / "README.md"]
ALL = [
    pytest.param(source, id=f"{page.name}:{line}")
    for page in PAGES
    for line, source in blocks_of(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("name", ["docs/start.rst", "docs/simplify.rst", "README.md"])
def test_the_page_says_which_extras_its_blocks_need(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = re.findall(r"pip install [\"'](?:\.|pldc)\[([a-z,]+)\][\"']", text)
    brought = {re.match(r"[\w-]+", need)[0] for each in asked for extra in each.split(",") for need in extras[extra]}
    needed = {package for _, source in blocks_of(text) for package in packages_of(source)}
    assert needed and needed <= brought
    if name == "README.md":  # the line beside the block, and the one on installing
        assert "as_frame=True)  # frames need pandas: pip install '.[shell]'" in text
        assert "your own environment: `pip install '.[shell]'`" in text


@pytest.mark.parametrize("source", ALL)
def test_it_runs_alone(source, tmp_path, monkeypatch):
    for package in packages_of(source):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    with few_kinds(), few_starts(points=300, fresh=100, starts=2):
        run(source)


PAGE = """
Title
=====

.. code-block:: python

   a = 1

   b = a + 1

Text.

* - .. code-block:: python

       c = 2
.. code-block:: console

   $ pldc fit
"""


def test_blocks_are_found_with_their_lines():
    assert blocks_of(PAGE)[0] == (6, "\na = 1\n\nb = a + 1\n".lstrip())
    assert blocks_of("x\n```python\nimport a\n```\ny\n```\nno\n```\n") == [(3, "import a\n")]
    assert blocks_of("   .. code-block:: python\n\n      deep = 1\n   shallow\n")[0][1] == "deep = 1\n"


def test_none_is_missed():
    count = sum(len(re.findall(r"code-block:: python|```python", page.read_text(encoding="utf-8"))) for page in PAGES)
    assert count == len(ALL) > 40


def test_a_block_that_leans_on_another_fails():
    first, second = "X = 1\n", "print(X)\n"
    run(first)
    with pytest.raises(NameError):
        run(second)


def test_packages_are_seen():
    assert packages_of("import torch\nimport json\nfrom pldc.view import plot_model\n") == ["matplotlib", "torch"]
    assert packages_of("import numpy as np\n") == []
